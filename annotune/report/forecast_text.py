"""What the model says, in words: a kernel's time beside its bounds, and the copies around it."""

from __future__ import annotations

from annotune.decide.forecast import Forecast, KernelForecast
from annotune.report.figures import share_text, time_text


def kernel_lines(forecast: Forecast) -> dict[tuple[int, ...], list[str]]:
    """Return what is said of each kernel, by its statements: prediction and bounds, a line each."""
    return {kernel.statements: _lines(kernel, forecast.device) for kernel in forecast.kernels}


def _lines(kernel: KernelForecast, device: str) -> list[str]:
    found = kernel.prediction
    origin = "read from ptxas" if found.is_compiled else "estimated"
    share = share_text(kernel.roofline_s / found.time_s)
    return [
        f"predicted for {device}: {time_text(found.time_s)}, bound by {found.limit}, "
        f"{found.registers} registers a thread ({origin}), occupancy {share_text(found.occupancy)}",
        f"roofline: {time_text(kernel.roofline_s)}, {share} of the prediction",
        f"bound of MAGMA's model: {magma_text(kernel)}",
    ]


def magma_text(kernel: KernelForecast) -> str:
    """Return the bound of MAGMA's model for tiny batched products, or why there is none."""
    if kernel.magma_s is None:
        return f"not available because {kernel.why_no_magma}"
    share = share_text(kernel.magma_s / kernel.prediction.time_s)
    return f"{time_text(kernel.magma_s)}, {share} of the prediction"


def end_to_end_text(forecast: Forecast) -> str:
    """Return the kernels' predicted time and that with the copies of a user's arrays."""
    kernels = time_text(forecast.kernels_s)
    if forecast.copies_s is None:
        return (
            f"predicted for {forecast.device}: {kernels} for the kernels; copies not available "
            f"because {forecast.why_no_copies}"
        )
    return (
        f"predicted for {forecast.device}: {kernels} for the kernels, "
        f"{time_text(forecast.copies_s)} for the copies, "
        f"{time_text(forecast.end_to_end_s)} end to end"
    )
