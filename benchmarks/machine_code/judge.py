"""From a workload to what its emitted CUDA is like: compiled and disassembled, never run."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from pathlib import Path

from annotune.analysis.facts import Analysis
from annotune.annotation.devices import Device, load_device
from annotune.codegen.cuda.grid import grid
from annotune.codegen.target import load_target
from annotune.diagnostics import AnnotuneError
from annotune.ir.expr import Int
from annotune.ir.fold import fold, trip_count
from annotune.measure.compile import CompileJob, CompileResult, TranslationUnit, compile_job
from annotune.measure.toolchain import Toolchains
from annotune.measure.trial import KernelFacts
from annotune.model.bounds import least_time
from annotune.model.traffic import Residency, residency
from annotune.pipeline import Settings, emit
from annotune.schedule.candidate import ContractionTile
from annotune.schedule.plan import Kernel
from annotune.space.variants import Variant
from annotune.strategies.registry import AUTO
from annotune.tuning.tuner import forecast_of
from machine_code.global_access import GlobalAccess, global_accesses
from machine_code.hot import Part, hottest
from machine_code.sass import Function, parse_sass
from machine_code.shared import SharedAccess, shared_accesses
from machine_code.workloads import Workload

DISASSEMBLY_LIMIT_S = 60.0


@dataclass(frozen=True)
class KernelRow:
    """One kernel: what ptxas says, what an SM holds of it, and its hottest part.

    `hot` is None where `why_not` says why there is no such part to be told of. `accesses` are
    those to the user's arrays, `tile` a contraction's, `trips` the counts of the kernel's loops.
    """

    kernel: str
    facts: KernelFacts
    threads: int
    residency: Residency
    shared: tuple[SharedAccess, ...]
    hot: Part | None
    why_not: str = ""
    accesses: tuple[GlobalAccess, ...] = ()
    tile: ContractionTile | None = None
    trips: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class WorkloadRow:
    """One workload: its kernels, and the model's time of all of them for the device.

    `problem` says why there are none; the times are None where no model speaks.
    """

    workload: Workload
    kernels: tuple[KernelRow, ...] = ()
    predicted_s: float | None = None
    roofline_share: float | None = None
    problem: str = ""


@dataclass(frozen=True)
class Judge:
    """Judges workloads for one device; compiled files are kept in `folder`."""

    tools: Toolchains
    device_name: str
    folder: Path
    strategy: str = AUTO

    @cached_property
    def device(self) -> Device:
        return load_device(self.device_name)

    @property
    def no_machine_code(self) -> str:
        """Return why no machine code can be shown here, empty where it can."""
        if self.tools.nvcc is None:
            return f"no nvcc: {self.tools.problems.get('nvcc', 'none was found')}"
        if not self.tools.nvdisasm:
            return (
                "no nvdisasm on PATH, beside nvcc, or among this Python's packages "
                "(pip install nvidia-cuda-nvdisasm)"
            )
        return ""

    def row(self, workload: Workload) -> WorkloadRow:
        """Return what annotune's first choice for a workload is like."""
        target = load_target("cuda")
        try:
            made = emit(self._settings(workload), [target])
        except AnnotuneError as refusal:
            return WorkloadRow(workload, problem=refusal.diagnostics[0].message)
        variant = made.variants[0]["cuda"]
        source = TranslationUnit(made.files[".cu"], "cuda")
        job = CompileJob((source,), "cuda-cubin", arch=self.device.arch)
        compiled = compile_job(job, self.tools, self.folder)
        forecast = forecast_of(variant, compiled.kernels)
        predicted_s = forecast.kernels_s if forecast is not None else None
        share = _roofline_share(variant, predicted_s, self.device)
        if not compiled.ok:
            reason = _first_error(compiled.output)
            return WorkloadRow(workload, (), predicted_s, share, reason)
        return WorkloadRow(workload, self._kernels(variant, compiled), predicted_s, share)

    def _settings(self, workload: Workload) -> Settings:
        settings = workload.settings()
        return replace(settings, device=self.device_name, strategy=self.strategy)

    def _kernels(self, variant: Variant, compiled: CompileResult) -> tuple[KernelRow, ...]:
        """Return a row for each kernel that runs at the tuned sizes, in order of launch."""
        found = self._functions(compiled.path)
        facts = {Function(one.name, ()).plain_name: one for one in compiled.kernels}
        suffix = "_tuned" if variant.general is not None else ""
        sizes = {**variant.analysis.region.sizes, **variant.tuned.constants}
        rows = []
        for kernel in variant.tuned.kernels():
            name = kernel.name + suffix
            row = self._kernel(kernel, facts[name], sizes, found.get(name))
            own = {*kernel.statements}
            tiles = (c.contract for c in variant.tuned.choices if own <= {*c.statements})
            accesses = global_accesses(kernel, variant.analysis, sizes)
            trips = _trip_counts(variant.analysis, kernel.statements)
            rows.append(replace(row, accesses=accesses, tile=next(tiles, None), trips=trips))
        return tuple(rows)

    def _kernel(
        self, kernel: Kernel, facts: KernelFacts, sizes: Mapping[str, int], code: Function | None
    ) -> KernelRow:
        threads = prod(grid(kernel, sizes).threads)
        held = residency(self.device, threads, facts.registers, facts.shared_bytes)
        hot = hottest(code) if code is not None else None
        why = "" if hot else self.no_machine_code or "it multiplies and adds no reals"
        return KernelRow(
            kernel.name, facts, threads, held, shared_accesses(kernel, sizes), hot, why
        )

    def _functions(self, cubin: Path) -> dict[str, Function]:
        """Return the machine code of each kernel in a file, none where it cannot be read."""
        if self.no_machine_code:
            return {}
        done = subprocess.run(
            [self.tools.nvdisasm, "-c", str(cubin)],
            capture_output=True,
            text=True,
            check=True,
            timeout=DISASSEMBLY_LIMIT_S,
        )
        return {function.plain_name: function for function in parse_sass(done.stdout)}


def _roofline_share(variant: Variant, predicted_s: float | None, device: Device) -> float | None:
    """Return the least time of a region on the device over the predicted one."""
    if not predicted_s:
        return None
    least = least_time(variant.analysis.total, variant.analysis.region, device)
    return least / predicted_s


def _trip_counts(analysis: Analysis, statements: Sequence[int]) -> Mapping[str, int]:
    """Return the counts of the loops around some statements that are known at the sizes."""
    loops = [loop for statement in statements for loop in analysis.paths[statement]]
    counts = ((loop.var, fold(trip_count(loop), analysis.region.sizes)) for loop in loops)
    return {name: count.value for name, count in counts if isinstance(count, Int)}


def _first_error(output: str) -> str:
    """Return the first line in which a compiler speaks of an error, else its first line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line.lower()), (lines or [""])[0])
