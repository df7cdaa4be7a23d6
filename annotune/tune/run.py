"""A whole run: every region of a file tuned, and the files of the winners."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from annotune.annotation.devices import Device
from annotune.annotation.flags import macros
from annotune.codegen.code import RegionCode
from annotune.codegen.target import Provenance, Target
from annotune.decide.decision import Base
from annotune.decide.space import Space
from annotune.ir.region import SourceFile
from annotune.measure.check import Checker
from annotune.measure.compile import COMPILE_LIMIT_S
from annotune.measure.gpu import find_gpu
from annotune.measure.memory import memory_limit_mib
from annotune.measure.oracle import Oracle
from annotune.measure.sizes import awkward_sizes, other_sizes, tuned_sizes
from annotune.measure.stream import cpu_facts, usable_cores
from annotune.measure.toolchain import Toolchains
from annotune.tune.asked import Asked, wanted
from annotune.tune.bench import Bench, Listener
from annotune.tune.region_run import Job, Tuned, tune
from annotune.tune.results import Results
from annotune.tune.scratch import scratch_folder
from annotune.tune.stop import NEVER, Stop
from annotune.tune.store import Store, in_memory

# However short a run is to be, one compilation may take this many seconds.
LEAST_LIMIT_S = 5.0
# One compilation that hangs may take this share of a region's time.
ONE_HANG = 0.25


@dataclass(frozen=True)
class Limits:
    """What the command line asks for, and how many compilations and checks run at once."""

    asked: Asked
    compilers: int
    jobs: int


@dataclass(frozen=True)
class Ready:
    """A region that the stages before have accepted."""

    base: Base
    space: Space


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
    shared by the regions evenly. What `store` knows is not measured again; without one, nothing
    outlives the run.

    Raises:
        AnnotuneError: An annotation asks for no search that there is, the original does not compile
            here, so nothing can be checked, or the disk is full.
    """
    share = 1.0 / len(regions)
    searches = [wanted(limits.asked, ready.base.analysis.region, share) for ready in regions]
    start = time.monotonic()
    gpu = find_gpu()
    cpu = cpu_facts(tools)
    store = in_memory() if store is None else store
    out: list[Tuned] = []
    with scratch_folder() as scratch:
        for number, (ready, search) in enumerate(zip(regions, searches, strict=True)):
            analysis = ready.base.analysis
            region = analysis.region
            named = {*region.scalars, *region.arrays}
            given = (*flags, *macros(region.spec, named))
            bench = Bench(
                Checker(Oracle(source, analysis, tools, scratch / str(number), given)),
                (tuned_sizes(analysis.region),),
                awkward_sizes(analysis),
                usable_cores(),
                limits.jobs,
                time.monotonic() + search.time_s,
                cpu.model,
                arch or (device.arch if tools.nvcc is not None and device.can_compile else ""),
                listener,
                others=other_sizes(analysis),
                limit_s=min(COMPILE_LIMIT_S, max(LEAST_LIMIT_S, search.time_s * ONE_HANG)),
                compilers=limits.compilers,
                start=start,
                memory_mib=memory_limit_mib(limits.jobs),
                store=store,
                stop=stop,
            )
            job = Job(source, ready.base, ready.space, device, cpu, search, gpu)
            out.append(tune(job, targets, bench))
    return tuple(out), _versions(tools)


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
