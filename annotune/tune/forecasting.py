"""A variant's forecast with what the compiler said of its kernels, where it was asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from annotune.codegen.code import TUNED_SUFFIX
from annotune.codegen.target import Variant
from annotune.measure.messages import KernelFacts
from annotune.measure.trial import Trial
from annotune.model.predict import Forecast
from annotune.model.traffic import Compiled
from annotune.schedule.plan import Kernel


def forecast_of(variant: Variant, kernels: Sequence[KernelFacts]) -> Forecast | None:
    """Return what the model says of a variant, None where no model speaks.

    `kernels` is what ptxas said of the compiled text, none where it was not asked.
    """
    if variant.model is None:
        return None
    return variant.model.forecast(_compiled(variant, kernels))


def predicted_trial(variant: Variant, trial: Trial) -> Trial:
    """Return a trial with the model's time of its variant."""
    found = forecast_of(variant, trial.kernels)
    return replace(trial, predicted_s=variant.predicted_s if found is None else found.kernels_s)


def compiled_kernels(
    variant: Variant, kernels: Sequence[KernelFacts]
) -> Iterator[tuple[Kernel, KernelFacts]]:
    """Yield the kernels for the tuned sizes with the compiler's facts of each."""
    facts = {one.plain_name: one for one in kernels}
    suffix = TUNED_SUFFIX if variant.general is not None else ""
    for kernel in variant.tuned.kernels():
        if one := facts.get(kernel.name + suffix):
            yield kernel, one


def _compiled(variant: Variant, kernels: Sequence[KernelFacts]) -> dict[int, Compiled]:
    """Return the compiler's facts of the kernels for the tuned sizes, by their leaders."""
    return {
        kernel.statements[0]: Compiled(
            one.registers, one.spill_store_bytes, one.spill_load_bytes, one.shared_bytes
        )
        for kernel, one in compiled_kernels(variant, kernels)
    }
