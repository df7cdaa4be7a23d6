"""Measures annotune's kernels on a GPU beside torch, CuPy and cuTENSOR, and what is to be reached.

    python benchmarks/gpu.py [--only ax local_grad3] [--targets cuda] [--passes "first, warm"]
                             [--time SECONDS] [-o DIR] [--check]

Each workload of `on_gpu/suite.yaml` is run as `annotune table` runs it, compared with the original
C: the first choice of CUDA and OpenACC with what it reads in the caches and without, and the best
of a short search. Times are those of the kernels. What has been measured is kept in the folder, and
the same command goes on from there. `on_gpu/goals.tsv` has the marks of other kernels, measured on
an NVIDIA H200, and the goals. Written are `gpu.txt` and `gpu.json`. Without a GPU the model's times
stand in the table, marked so. With `--check` a missed goal is an exit code of 1.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from on_gpu import peers
from on_gpu.peers import PeerTime

from annotune.annotation.devices import load_device
from annotune.measure.machine import Gpu, find_gpu, usable_cores
from annotune.options import settings_of_suite
from annotune.report.suite import Suite, WorkloadFamily, load_suite
from annotune.report.tables import VersionTime, WorkloadResult
from annotune.suites import SuiteRun
from annotune.tune.config import RunConfig, Stop, interrupts
from annotune.tune.results import FIRST_ALONE, RowStatus

HERE = Path(__file__).parent / "on_gpu"
TIME_S = 600.0


@dataclass(frozen=True, slots=True)
class Pass:
    """One way to measure all workloads, in a folder of its own, with a `share` of the time."""

    name: str
    budget: int
    is_cold: bool
    share: float


PASSES = (
    Pass("first, warm", FIRST_ALONE, False, 0.3),
    Pass("first, cold", FIRST_ALONE, True, 0.25),
    Pass("best, warm", 40, False, 0.3),
)
TARGETS = {"cuda": "CUDA", "openacc": "OpenACC"}


@dataclass(frozen=True, slots=True)
class Goal:
    """What another kernel took on an NVIDIA H200, and what is to be reached there: microseconds."""

    mark_us: float | None
    mark: str
    goal_us: float | None


@dataclass(frozen=True, slots=True)
class Cell:
    """A time in seconds, or why there is none."""

    time_s: float | None = None
    is_predicted: bool = False
    why: str = ""

    def __str__(self) -> str:
        if self.time_s is None:
            return "-"
        text = f"{self.time_s * 1e6:.4g}"
        return f"(~{text})" if self.is_predicted else text


@dataclass(frozen=True, slots=True)
class GpuRow:
    """What is known of a workload: annotune's times by target and pass, and those of libraries.

    `roof_s` is the least time that the device's peak and memory bandwidth allow.
    """

    name: str
    own: Mapping[str, Cell]
    peers: Sequence[PeerTime] = ()
    roof_s: float | None = None
    goal: Goal | None = field(default=None)

    @property
    def best_peer(self) -> PeerTime | None:
        known = [one for one in self.peers if one.warm_s is not None]
        return min(known, key=lambda one: one.warm_s or 0.0) if known else None

    @property
    def best_s(self) -> float | None:
        """Return CUDA's least measured time, warm."""
        warm = (
            cell for name, cell in self.own.items() if name.startswith("CUDA") and "warm" in name
        )
        known = [cell.time_s for cell in warm if cell.time_s is not None and not cell.is_predicted]
        return min(known) if known else None

    @property
    def is_missed(self) -> bool:
        """Return whether there is a goal that a measured time does not reach."""
        if self.goal is None or self.goal.goal_us is None or self.best_s is None:
            return False
        return self.best_s * 1e6 > self.goal.goal_us


def goals(path: Path = HERE / "goals.tsv") -> dict[str, Goal]:
    """Return the goals by the names of workloads."""

    def number(text: str) -> float | None:
        return float(text) if text else None

    with path.open() as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return {
        row["workload"]: Goal(number(row["mark_us"]), row["mark"], number(row["goal_us"]))
        for row in rows
    }


def chosen(suite: Suite, names: Sequence[str], targets: Sequence[str] = ()) -> Suite:
    """Return a suite of the families of some names and some targets alone, all if none is given.

    Raises:
        ValueError: There is no such family.
    """
    every = {family.name: family for family in suite.tables[0].families}
    if unknown := [name for name in names if name not in every]:
        raise ValueError(f"no family is called {unknown[0]}; there are {', '.join(every)}")
    families: tuple[WorkloadFamily, ...] = tuple(every[name] for name in names or every)
    tables = (replace(suite.tables[0], families=families),)
    return replace(suite, tables=tables, targets=tuple(targets) or suite.targets)


def measured(
    suite: Suite, passes: Sequence[Pass], folder: Path, time_s: float, stop: Stop
) -> dict[str, dict[str, WorkloadResult]]:
    """Return what each pass knows of each workload, by their names."""
    begun = time.monotonic()
    found: dict[str, dict[str, WorkloadResult]] = {}
    cores = usable_cores()
    base = settings_of_suite(suite, os.environ)
    left = sum(one.share for one in passes)
    for one in passes:
        now = time.monotonic()
        own_s = max(0.0, time_s - (now - begun)) * one.share / left
        left -= one.share
        config = RunConfig(
            budget=one.budget, is_cold=one.is_cold, compilers=cores, jobs=cores, begun=now
        )
        place = folder / re.sub(r"\W+", "-", one.name)
        run = SuiteRun(suite, base, config, os.environ, place, own_s, None, stop, False, cores)
        found[one.name] = {result.workload.name: result for result in run.results()}
        print(f"{one.name}: {time.monotonic() - now:.0f} s", file=sys.stderr)
    return found


def rows_of(
    suite: Suite,
    known: Mapping[str, Mapping[str, WorkloadResult]],
    device: str,
    timed: Mapping[str, Sequence[PeerTime]],
) -> tuple[GpuRow, ...]:
    """Return a row for each workload of a suite, of what is known of it on a device."""
    every, wanted = [], goals()
    for name in dict.fromkeys(work.name for work in suite.workloads):
        own = {}
        for target, title in ((name, TARGETS[name]) for name in suite.targets):
            for one, results in known.items():
                own[f"{title}, {one}"] = _cell(results[name].on(target, device))
        first = next(iter(known.values()))[name]
        every.append(
            GpuRow(name, own, timed.get(name, ()), _roof_s(first, device), wanted.get(name))
        )
    return tuple(every)


def _cell(found: VersionTime) -> Cell:
    return Cell(found.time_s, found.status is RowStatus.PREDICTED, found.why)


def _roof_s(result: WorkloadResult, device: str) -> float | None:
    bound = result.bound(device)
    flop = sum(region.flop for region in result.run or next(iter(result.forecasts), ()))
    return flop / (bound * 1e9) if bound and flop else None


def timed_peers(suite: Suite, folder: Path, until: float) -> dict[str, Sequence[PeerTime]]:
    """Return what libraries take for each workload, from an earlier command where that is known."""
    kept = folder / "peers.json"
    known: dict[str, Sequence[PeerTime]] = {}
    if kept.is_file():
        read = json.loads(kept.read_text())
        known = {name: [PeerTime(**one) for one in every] for name, every in read.items()}
    base = settings_of_suite(suite, os.environ)
    run = SuiteRun(suite, base, RunConfig(), os.environ, folder, 0.0)
    for work in suite.workloads:
        if work.name in known or time.monotonic() > until:
            continue
        found = run.accepted(work)
        if found is None or found.regions[0].analysis is None:
            continue
        known[work.name] = tuple(peers.times(work.function, found.regions[0].analysis))
        every = {name: [asdict(one) for one in own] for name, own in known.items()}
        kept.write_text(json.dumps(every, indent=1))
    return known


def table(rows: Sequence[GpuRow], about: str) -> str:
    """Return the rows as text, in microseconds."""
    own = list(rows[0].own)
    heads = ["workload", *own, "roof", "best library", "", "mark", "", "goal"]
    lines = [heads]
    for row in rows:
        peer, goal = row.best_peer, row.goal
        cells = [row.name, *(str(row.own[name]) for name in own)]
        cells.append(f"{row.roof_s * 1e6:.4g}" if row.roof_s else "-")
        cells += [f"{(peer.warm_s or 0) * 1e6:.4g}", peer.library] if peer else ["-", ""]
        cells += [_us(goal.mark_us), goal.mark] if goal else ["-", ""]
        cells.append(_us(goal.goal_us) + " missed" * row.is_missed if goal else "-")
        lines.append(cells)
    widths = [max(len(line[n]) for line in lines) for n in range(len(heads))]
    text = []
    for first, *others in lines:
        right = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        text.append("  ".join((first.ljust(widths[0]), *right)).rstrip())
    marks = "Marks and goals are of an NVIDIA H200, marks of 2026-11-22."
    return "\n".join([about, "", *text, "", marks, *_notes(rows)]) + "\n"


def _us(value: float | None) -> str:
    return "-" if value is None else f"{value:g}"


def _notes(rows: Sequence[GpuRow]) -> list[str]:
    """Return why cells are empty, each reason once."""
    why: dict[str, list[str]] = {}
    for row in rows:
        for name, cell in row.own.items():
            if cell.time_s is None:
                why.setdefault(cell.why or "not known", []).append(f"{row.name} ({name})")
        for peer in row.peers:
            if peer.warm_s is None:
                why.setdefault(f"{peer.library}: {peer.problem}", []).append(row.name)
    return [f"{', '.join(names)}: {reason}" for reason, names in why.items()]


def main(words: Sequence[str]) -> int:
    """Measure what the command line asks for, and print it; return the exit code."""
    options = _parser().parse_args(words)
    begun = time.monotonic()
    try:
        suite = chosen(load_suite(HERE / "suite.yaml"), options.only, options.targets)
    except ValueError as mistake:
        print(f"error: {mistake}", file=sys.stderr)
        return 2
    folder: Path = options.output
    folder.mkdir(parents=True, exist_ok=True)

    def say() -> None:
        print("ending; the same command goes on from here", file=sys.stderr)

    gpu = find_gpu()
    # What is predicted is the same in each.
    asked = [one for one in PASSES if one.name in (options.passes or [p.name for p in PASSES])]
    passes = asked if isinstance(gpu, Gpu) else asked[:1]
    with interrupts(say, say) as stop:
        known = measured(suite, passes, folder, options.time, stop)
    if isinstance(gpu, Gpu):
        rows = rows_of(suite, known, gpu.name, timed_peers(suite, folder, begun + options.time))
        copied = peers.copy_bytes_s()
        about = f"measured on {gpu.name}" + (f", copy {copied / 1e12:.2f} TB/s" if copied else "")
    else:
        vendor = load_device(suite.devices[0]).vendor_name
        rows, about = rows_of(suite, known, vendor, {}), f"predicted for {vendor}: {gpu.reason}"
    text = table(rows, f"{time.strftime('%Y-%m-%d')}, microseconds of kernels, {about}")
    (folder / "gpu.txt").write_text(text)
    (folder / "gpu.json").write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    print(text, end="")
    return int(options.check and any(row.is_missed for row in rows))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[], metavar="FAMILY", help="of suite.yaml")
    parser.add_argument("--targets", nargs="+", default=[], choices=[*TARGETS])
    names = [one.name for one in PASSES]
    parser.add_argument("--passes", nargs="+", default=[], choices=names, metavar="PASS")
    parser.add_argument("--time", type=float, default=TIME_S, metavar="SECONDS", help="of all")
    parser.add_argument("-o", "--output", type=Path, default=Path("annotune-out/gpu"))
    parser.add_argument("--check", action="store_true", help="exit with 1 if a goal is missed")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
