"""What the terminal and the page say of the model: its times beside bounds and measurements."""

from __future__ import annotations

from collections.abc import Iterator

from annotune.printable import one_line
from annotune.report.figures import estimated, factor_text, number_text, share_text, time_text
from annotune.report.summary import PEOPLE_SAY
from annotune.tune.results import KernelModel, RegionResult, TargetModel

MODEL_COLUMNS = ("kernel", "predicted", "bound by", "registers", "roofline", "MAGMA's bound")


def model_texts(region: RegionResult) -> tuple[str, ...]:
    """Return lines on the model of each target: kernels, copies, and the rank correlation."""
    return tuple(line for model in region.models for line in _texts(model))


def _texts(model: TargetModel) -> Iterator[str]:
    yield f"model of {target_text(model)}: {total_text(model)}"
    for kernel in model.kernels:
        name, predicted, limit, registers, roofline, magma = kernel_words(kernel)
        yield (
            f"  kernel of statement {name}: predicted {predicted}, bound by {limit}, registers "
            f"{registers}; roofline {roofline}; MAGMA's bound {magma}"
        )
    yield f"  {agreement_text(model)}"


def target_text(model: TargetModel) -> str:
    """Return how people call a model's target."""
    return PEOPLE_SAY.get(model.target, one_line(model.target))


def total_text(model: TargetModel) -> str:
    """Return the predicted time of the kernels, and that with the copies around them."""
    kernels = estimated(time_text(model.predicted_s))
    text = f"predicted for {one_line(model.device)}: {kernels}"
    if model.copies_s is None:
        return f"{text}; with copies not available because {one_line(model.why_no_copies)}"
    whole = model.predicted_s + model.copies_s
    return f"{text}, {estimated(time_text(whole))} with copies between host and device"


def kernel_words(kernel: KernelModel) -> tuple[str, ...]:
    """Return the cells of a kernel, one for each of `MODEL_COLUMNS`."""
    origin = "ptxas" if kernel.is_compiled else "estimated"
    magma = f"not available because {one_line(kernel.why_no_magma)}"
    if kernel.magma_s is not None:
        magma = f"{time_text(kernel.magma_s)}, {_share(kernel.magma_s, kernel)}"
    return (
        ", ".join(map(str, kernel.statements)),
        estimated(time_text(kernel.predicted_s)),
        one_line(kernel.limit),
        f"{kernel.registers}, {origin}",
        f"{time_text(kernel.roofline_s)}, {_share(kernel.roofline_s, kernel)}",
        magma,
    )


def agreement_text(model: TargetModel) -> str:
    """Return how predictions and measurements of the trials agree, or why that is not known."""
    if model.correlation is None:
        text = f"rank correlation not available because {one_line(model.why_no_correlation)}"
    else:
        rho = number_text(abs(model.correlation))
        sign = "-" if model.correlation < 0 else ""
        text = f"rank correlation of predictions and measurements: {sign}{rho}"
    if model.error is None:
        return text
    return f"{text}; {model.pairs} trials, mean error {factor_text(model.error)}"


def _share(least_s: float, kernel: KernelModel) -> str:
    share = least_s / kernel.predicted_s if kernel.predicted_s else None
    return f"{share_text(share)} of the prediction"
