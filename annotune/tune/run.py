"""A whole run: every region of a file tuned, and the files of the winners."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from annotune.annotation.devices import Device
from annotune.annotation.flags import macros
from annotune.codegen.several_sizes import sizes_text
from annotune.codegen.target import Provenance, RegionCode, Target
from annotune.ir.region import SourceFile
from annotune.measure.check import Checker
from annotune.measure.compile import COMPILE_LIMIT_S
from annotune.measure.machine import (
    Cpu,
    Gpu,
    NoGpu,
    cpu_facts,
    find_gpu,
    memory_limit_mib,
    usable_cores,
)
from annotune.measure.oracle import Oracle
from annotune.measure.sizes import awkward_sizes, other_sizes, tuned_sizes
from annotune.measure.toolchain import Toolchains
from annotune.space.decision import Base
from annotune.space.space import Space
from annotune.tune.asked import Asked, Wanted, wanted
from annotune.tune.bench import Bench, Listener
from annotune.tune.crew import Crew, Wish, crew_of
from annotune.tune.ending import NEVER, Stop, scratch_folder
from annotune.tune.region_run import Job, Tuned, tune
from annotune.tune.results import Results
from annotune.tune.several_sizes import AtSize, Clock, SizeListener, tune_each
from annotune.tune.store import Store, in_memory

# However short a run is to be, one compilation may take this many seconds.
LEAST_LIMIT_S = 5.0
# One compilation that hangs may take this share of a region's time.
ONE_HANG = 0.25


@dataclass(frozen=True)
class Limits:
    """What the command line asks for, and how many compilations and checks run at once.

    With `is_cold` what is timed begins with nothing of its data in a cache. `workers` are processes
    of their own that are to do the checks; None for this one.
    """

    asked: Asked
    compilers: int
    jobs: int
    is_cold: bool = True
    workers: Wish | None = None


@dataclass(frozen=True)
class Ready:
    """A region that the stages before have accepted; `others` are its other problem sizes."""

    base: Base
    space: Space
    others: tuple[Ready, ...] = ()

    @property
    def by_size(self) -> tuple[Ready, ...]:
        """Return what is to be tuned, one problem size after the other."""
        return (self, *self.others)


def run(
    source: SourceFile,
    regions: Sequence[Ready],
    targets: Sequence[Target],
    device: Device,
    tools: Toolchains,
    limits: Limits,
    flags: tuple[str, ...] = (),
    arch: str = "",
    listener: Listener | None = None,
    store: Store | None = None,
    stop: Stop = NEVER,
) -> tuple[tuple[Tuned, ...], Mapping[str, str]]:
    """Return every region's result, and the versions of the tools behind them.

    `flags` go to every compilation of the user's file, such as ``-D``. The command line's time is
    shared by the regions evenly, and a region's by its problem sizes. What `store` knows is not
    measured again; without one, nothing outlives the run.

    Raises:
        AnnotuneError: An annotation asks for no search that there is, the original does not compile
            here, so nothing can be checked, there are no such workers, or the disk is full.
    """
    share = 1.0 / len(regions)
    searches = [wanted(limits.asked, ready.base.analysis.region, share) for ready in regions]
    out: list[Tuned] = []

    def wait() -> None:
        if listener is not None:
            listener.stage("waiting for the first worker", 0)

    with scratch_folder() as scratch, crew_of(limits.workers, stop, wait) as crew:
        own = _Run(
            source,
            targets,
            device,
            tools,
            limits,
            flags,
            arch,
            listener,
            in_memory() if store is None else store,
            stop,
            time.monotonic(),
            find_gpu() if crew is None else crew.home.gpu,
            cpu_facts(tools),
            scratch,
            crew,
        )
        for number, (ready, search) in enumerate(zip(regions, searches, strict=True)):
            names = [sizes_text(tuned_sizes(one.base.analysis.region)) for one in ready.by_size]
            at_size = partial(own.at_size, number, ready, search)
            clock = Clock(search.time_s, len(names))
            out.append(tune_each(names, at_size, search.budget, clock, targets, stop))
    return tuple(out), _versions(tools)


@dataclass(frozen=True)
class _Run:
    """What the regions of one run have in common; for the rest see `run`."""

    source: SourceFile
    targets: Sequence[Target]
    device: Device
    tools: Toolchains
    limits: Limits
    flags: tuple[str, ...]
    arch: str
    listener: Listener | None
    store: Store
    stop: Stop
    start: float
    gpu: Gpu | NoGpu
    cpu: Cpu
    scratch: Path
    crew: Crew | None

    def at_size(
        self, number: int, ready: Ready, search: Wanted, place: int, budget: int, share_s: float
    ) -> AtSize:
        """Return a region tuned at one of its problem sizes, with a share of what it may do."""
        one, search = ready.by_size[place], replace(search, budget=budget, time_s=share_s)
        bench = self._bench(one, self.scratch / f"{number}-{place}", share_s)
        if ready.others:
            listener = self.listener and SizeListener(self.listener, sizes_text(bench.sizes[0]))
            bench = replace(bench, listener=listener, others=_checked_only(ready, place))
        offloads = "nvptx-none" in self.tools.offload
        job = Job(
            self.source, one.base, one.space, self.device, self.cpu, search, self.gpu, offloads
        )
        return AtSize(bench, tune(job, self.targets, bench))

    def _bench(self, ready: Ready, folder: Path, share_s: float) -> Bench:
        analysis, tools = ready.base.analysis, self.tools
        region = analysis.region
        given = (*self.flags, *macros(region.spec, {*region.scalars, *region.arrays}))
        can_compile = tools.nvcc is not None and self.device.can_compile
        return Bench(
            Checker(Oracle(self.source, analysis, tools, folder, given)),
            (tuned_sizes(region),),
            awkward_sizes(analysis),
            usable_cores(),
            self.limits.jobs,
            time.monotonic() + share_s,
            self.cpu.model,
            self.arch or (self.device.arch if can_compile else ""),
            self.listener,
            others=other_sizes(analysis),
            limit_s=min(COMPILE_LIMIT_S, max(LEAST_LIMIT_S, share_s * ONE_HANG)),
            compilers=self.limits.compilers,
            start=self.start,
            memory_mib=memory_limit_mib(),
            arrays_mib=(analysis.total.bytes_read + analysis.total.bytes_written) >> 20,
            store=self.store,
            stop=self.stop,
            is_cold=self.limits.is_cold,
            crew=self.crew,
        )


def _checked_only(ready: Ready, place: int) -> tuple[Mapping[str, int], ...]:
    """Return the annotation's problem sizes for which nothing is tuned, at the first one alone."""
    if place:
        return ()
    tuned = [tuned_sizes(one.base.analysis.region) for one in ready.others]
    return tuple(sizes for sizes in other_sizes(ready.base.analysis) if sizes not in tuned)


def files(
    source: SourceFile,
    tuned: Sequence[Tuned],
    targets: Sequence[Target],
    provenance: Mapping[str, Provenance],
) -> dict[str, str]:
    """Return the files of every target that has a winner for each region, by suffix."""
    out: dict[str, str] = {}
    for target in targets:
        codes = [t.codes.get(target.name) for t in tuned]
        complete: list[RegionCode] = [code for code in codes if code is not None]
        if len(complete) == len(codes):
            out |= target.files(source, complete, provenance[target.name])
    return out


def results(
    version: str,
    source: SourceFile,
    device: Device,
    tuned: Sequence[Tuned],
    tools: Mapping[str, str],
    warnings: Sequence[str],
) -> Results:
    """Return a run as the value that reports show."""
    name = Path(source.path).name
    regions = tuple(t.result for t in tuned)
    said = (*warnings, *(words for one in tuned for words in one.warnings))
    return Results(version, name, device.vendor_name, regions, tools, (), said)


def with_files(results: Results, texts: Mapping[str, str]) -> Results:
    """Return `results` with the names and texts of the files that were written."""
    return replace(results, files=tuple(texts), texts=dict(texts))


def _versions(tools: Toolchains) -> dict[str, str]:
    found = {name: tools.role(name) for name in ("c", "cxx", "nvcc", "nvc")}
    return {name: tool.version for name, tool in found.items() if tool is not None}
