"""What the model says of a region's kernels on a device, beside what no kernel can beat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from annotune.analysis.facts import Analysis, Work
from annotune.annotation.devices import Device
from annotune.decide.bounds import least_time, magma_time
from annotune.decide.host_link import copies, copy_time
from annotune.decide.kernel_shape import host_trips
from annotune.decide.model import predict
from annotune.decide.plan import Candidate
from annotune.decide.prediction import Compiled, Prediction
from annotune.decide.units import Unit

NOTHING_COMPILED: Mapping[int, Compiled] = {}


@dataclass(frozen=True, slots=True)
class KernelForecast:
    """One kernel: the model's prediction and two bounds, in seconds for all of its launches.

    `magma_s` is None where MAGMA's model does not speak of the kernel, and `why_no_magma` says
    why.
    """

    statements: tuple[int, ...]
    prediction: Prediction
    roofline_s: float
    magma_s: float | None
    why_no_magma: str = ""


@dataclass(frozen=True, slots=True)
class Forecast:
    """A region's kernels one after another on a device, and the copies around them.

    `copies_s` is None where `why_no_copies` says why their time is not known.
    """

    device: str
    kernels: tuple[KernelForecast, ...]
    copies_s: float | None
    why_no_copies: str = ""

    @property
    def kernels_s(self) -> float:
        return sum(kernel.prediction.time_s for kernel in self.kernels)

    @property
    def end_to_end_s(self) -> float | None:
        """Return the time with the copies between host and device."""
        return None if self.copies_s is None else self.kernels_s + self.copies_s


@dataclass(frozen=True)
class RegionModel:
    """A region's kernels as they are chosen, ready to be predicted for a device."""

    analysis: Analysis
    units: tuple[Unit, ...]
    choices: tuple[Candidate, ...]
    device: Device

    def forecast(self, compiled: Mapping[int, Compiled] = NOTHING_COMPILED) -> Forecast:
        """Return the predictions; `compiled` has what a compiler said, by a kernel's leader."""
        kernels = tuple(
            self._kernel(unit, choice, compiled.get(choice.leader))
            for unit, choice in zip(self.units, self.choices, strict=True)
        )
        moved = copies(self.analysis)
        name = self.device.vendor_name
        if isinstance(moved, str):
            return Forecast(name, kernels, None, moved)
        return Forecast(name, kernels, copy_time(moved, self.device))

    def _kernel(self, unit: Unit, choice: Candidate, compiled: Compiled | None) -> KernelForecast:
        prediction = predict(unit, choice, self.device, compiled)
        roofline_s = least_time(self._work(unit), self.analysis.region, self.device)
        magma = magma_time(unit, self.device)
        if host_trips(unit, choice):
            magma = "the host launches the kernel in a loop"
        if isinstance(magma, str):
            return KernelForecast(choice.statements, prediction, roofline_s, None, magma)
        return KernelForecast(choice.statements, prediction, roofline_s, magma)

    def _work(self, unit: Unit) -> Work:
        """Return work that the unit's kernel does at the least.

        What its statements share is known of the whole region alone; else the one that moves most
        stands for all.
        """
        if {*unit.statements} == {*self.analysis.work}:
            return self.analysis.total
        own = [self.analysis.work[statement] for statement in unit.statements]
        flop = sum(work.flop for work in own)
        most = max(own, key=lambda work: work.bytes_read + work.bytes_written)
        return Work(flop, most.bytes_read, most.bytes_written)
