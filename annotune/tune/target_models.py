"""What the model says of each target's best variant, and how right it was over the trials."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from annotune.measure.trial import Trial
from annotune.model.predict import KernelForecast
from annotune.tune.agreement import agreement
from annotune.tune.results import KernelModel, TargetModel
from annotune.tune.tuner import Outcome


def target_models(
    outcomes: Mapping[str, Outcome], trials: Sequence[Trial]
) -> Iterator[TargetModel]:
    """Yield for each target with a forecast what the model says, beside all of its trials."""
    for target, outcome in outcomes.items():
        if outcome.forecast is None:
            continue
        found = outcome.forecast
        agreed = agreement(target, trials)
        yield TargetModel(
            target,
            found.device,
            tuple(_kernel_model(kernel) for kernel in found.kernels),
            found.copies_s,
            found.why_no_copies,
            agreed.pairs,
            agreed.correlation,
            agreed.error,
            agreed.reason,
        )


def _kernel_model(kernel: KernelForecast) -> KernelModel:
    found = kernel.prediction
    return KernelModel(
        kernel.statements,
        found.time_s,
        found.limit,
        found.registers,
        found.is_compiled,
        kernel.roofline_s,
        kernel.magma_s,
        kernel.why_no_magma,
    )
