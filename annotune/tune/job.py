"""One region that is to be tuned, and how each target of it is built and measured here."""

from __future__ import annotations

from dataclasses import dataclass

from annotune.analysis.facts import Analysis
from annotune.annotation.devices import Device
from annotune.codegen.listing import Listing
from annotune.codegen.recipes import listing_of
from annotune.codegen.target import Target
from annotune.ir.region import SourceFile
from annotune.measure.gpu import Gpu, NoGpu
from annotune.measure.machine import Cpu
from annotune.space.decision import Base
from annotune.space.space import Space
from annotune.tune.asked import Wanted

# Points among which a search chooses, at most. To list one for a GPU takes 5 ms, for a CPU 1 ms.
MOST_ON_CPU = 5000
MOST_ON_GPU = 300
# Which target is built how. The CPU's is measured on this machine.
CPU_KINDS = {"openmp": "openmp"}
# The others are checked here and predicted for the device,
GPU_KINDS = {"openacc": "openacc", "cuda": "cuda-cpu"}
# or measured where a GPU answers.
ON_GPU = {"openacc": "openacc-gpu", "cuda": "cuda-gpu"}


@dataclass(frozen=True)
class Job:
    """One region to be tuned: its text, what is known of it, and where it is to run.

    `wanted` is how its space is searched. `gpu` is what CUDA is measured on, or the reason why it
    is not; OpenACC too, where the C compiler `offloads` to it.
    """

    source: SourceFile
    base: Base
    space: Space
    device: Device
    cpu: Cpu
    wanted: Wanted
    gpu: Gpu | NoGpu
    offloads: bool = False

    @property
    def analysis(self) -> Analysis:
        return self.base.analysis

    def on_gpu(self, name: str) -> Gpu | None:
        """Return the GPU on which a target of that name is measured, None where it is not."""
        is_built = name in ON_GPU and (name != "openacc" or self.offloads)
        return self.gpu if is_built and isinstance(self.gpu, Gpu) else None

    def listing(self, target: Target) -> Listing:
        """Return the points among which the search of a target chooses.

        Where the model alone judges, only those that it likes best need be checked.
        """
        limit = self.wanted.budget
        if target.name in CPU_KINDS:
            limit = max(limit, MOST_ON_CPU)
        elif self.on_gpu(target.name) is not None:
            limit = max(limit, MOST_ON_GPU)
        return listing_of(target, self.base, self.space, self.device, limit)

    def timed_on(self, target: Target) -> str:
        """Return the name of what the times of a target's trials are for."""
        gpu = self.on_gpu(target.name)
        if gpu is not None:
            return gpu.name
        return self.cpu.model if target.name in CPU_KINDS else self.device.vendor_name
