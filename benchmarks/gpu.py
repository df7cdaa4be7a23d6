"""Measures annotune's kernels on a GPU beside torch, CuPy and cuTENSOR, and what is to be reached.

    python benchmarks/gpu.py [--only ax local_grad3] [--targets cuda] [--points N] [--write]
                             [--time SECONDS] [-o DIR] [--check]

Of each workload of `on_gpu/suite.yaml` the first choice and the points that the model ranks best
are programs of their own (`point_programs.py`), which compare them with the nest as written where
that is over in a second, and time the kernels alone, with what they read in the caches and not.
OpenACC's first choice is run as `annotune table` runs it. What has been written, compiled and
measured is kept in the folder, and the same command goes on from there: `--write` writes the
programs alone, for a machine whose time is dear. `on_gpu/goals.tsv` has the marks of other
kernels, measured on an NVIDIA H200, and the goals. Written are `gpu.txt` and `gpu.json`. Without a
GPU the model's times stand in the table, marked so. With `--check` a missed goal is an exit code
of 1.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path

from machine_code import workloads
from on_gpu import peers
from on_gpu.peers import PeerTime
from point_programs import write

from annotune.annotation.devices import load_device
from annotune.diagnostics import AnnotuneError
from annotune.measure.machine import Gpu, find_gpu, usable_cores
from annotune.options import settings_of_suite
from annotune.report.suite import Suite, Workload, WorkloadFamily, load_suite
from annotune.report.tables import WorkloadResult
from annotune.suites import SuiteRun
from annotune.tuning.config import RunConfig, interrupts
from annotune.tuning.results import FIRST_ALONE, RowStatus

HERE = Path(__file__).parent / "on_gpu"
TIME_S = 600.0
POINTS = 6
# A program that takes longer hangs. Results differ from those of the nest by rounding at most.
PROGRAM_S, TOLERANCE = 60, 1e-9
FIRST, COLD, BEST = "CUDA, first, warm", "CUDA, first, cold", "CUDA, best, warm"
OPENACC = "OpenACC, first, warm"
TARGETS = ("cuda", "openacc")


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


@dataclass(frozen=True, slots=True)
class PointTime:
    """A point of a workload: the model's time, and what its program said, in microseconds.

    `error` is the largest relative difference from the nest as written, -1 where that takes too
    long; `problem` says why there are no times.
    """

    name: str
    point: str
    predicted_us: float | None
    roof_us: float
    warm_us: float | None = None
    cold_us: float | None = None
    error: float = -1.0
    problem: str = ""

    @classmethod
    def of_line(cls, line: str) -> PointTime:
        """Return a point of the line that `point_programs.write` has for it."""
        name, predicted, roof, point = line.split("\t")
        return cls(name, point, float(predicted) if predicted else None, float(roof))

    def told(self, output: str) -> PointTime:
        """Return the point with what its program has printed."""
        words = output.strip().split("\t")
        if len(words) != 5:
            return replace(self, problem=output.strip() or "nothing was printed")
        _, warm, error, status, cold = words
        if status != "no error":
            return replace(self, problem=status)
        known = replace(self, warm_us=float(warm), cold_us=float(cold), error=float(error))
        if known.error > TOLERANCE:
            wrong = f"differs from the nest as written by {known.error:.1e}"
            return replace(known, warm_us=None, cold_us=None, problem=wrong)
        return known


def written(suite: Suite, points: int, folder: Path, cores: int) -> dict[str, list[PointTime]]:
    """Write the programs of all workloads that are not there, and return the points of each."""
    missing = [work for work in suite.workloads if not _list_of(folder, work).is_file()]
    if missing and cores > 1:
        with ProcessPoolExecutor(cores, mp_context=get_context("spawn")) as pool:
            jobs: list[Future[str]] = [pool.submit(_write, w, points, folder) for w in missing]
            said = [job.result() for job in jobs]
    else:
        said = [_write(work, points, folder) for work in missing]
    for line in filter(None, said):
        print(line, file=sys.stderr)
    found = {}
    for work in suite.workloads:
        listed = _list_of(folder, work)
        lines = listed.read_text().splitlines() if listed.is_file() else []
        found[work.name] = [PointTime.of_line(line) for line in lines]
    return found


def _list_of(folder: Path, work: Workload) -> Path:
    return folder / f"{work.name}.tsv"


def _write(work: Workload, points: int, folder: Path) -> str:
    """Write the programs of a workload, and return why there are none, if so."""
    by = "define" if work.is_macro else "set"
    one = workloads.Workload(work.name, str(work.file), work.function, by, work.values)
    try:
        lines = write(one, points, "", folder)
    except AnnotuneError as refusal:
        return f"{work.name}: {refusal.diagnostics[0].message}"
    _list_of(folder, work).write_text("".join(f"{line}\n" for line in lines))
    return ""


def compiled(names: Sequence[str], folder: Path, arch: str, cores: int) -> None:
    """Compile the programs that have not been compiled, on all cores at once."""

    def one(name: str) -> None:
        source, program = folder / f"{name}.cu", folder / f"{name}.program"
        if not program.is_file():
            new = program.with_suffix(".new")
            command = ["nvcc", "-O3", f"-arch={arch}", str(source), "-o", str(new)]
            with (folder / f"{name}.log").open("w") as log:
                done = subprocess.run(command, stdout=log, stderr=log, check=False)
            if done.returncode == 0:
                new.rename(program)

    with ThreadPoolExecutor(cores) as pool:
        list(pool.map(one, names))


def timed(every: Sequence[PointTime], folder: Path, until: float) -> Iterator[PointTime]:
    """Yield the points with what their programs say, from an earlier command where that is known.

    First choices come before others.
    """
    for point in sorted(every, key=lambda one: not one.name.endswith("-0")):
        kept, program = folder / f"{point.name}.txt", folder / f"{point.name}.program"
        if not kept.is_file():
            if not program.is_file():
                yield replace(point, problem=f"nvcc failed: see {folder / point.name}.log")
                continue
            if time.monotonic() > until:
                yield replace(point, problem="there was no time for it")
                continue
            try:
                told = subprocess.run([program], timeout=PROGRAM_S, text=True, capture_output=True)
                kept.write_text(told.stdout or f"exit code {told.returncode}")
            except subprocess.TimeoutExpired:
                kept.write_text(f"took more than {PROGRAM_S} s")
        yield point.told(kept.read_text())


def measured_openacc(suite: Suite, folder: Path, time_s: float) -> Mapping[str, WorkloadResult]:
    """Return what is known of OpenACC's first choice of each workload, by their names."""
    cores, base = usable_cores(), settings_of_suite(suite, os.environ)
    config = RunConfig(
        budget=FIRST_ALONE, is_cold=False, compilers=cores, jobs=cores, begun=time.monotonic()
    )

    def say() -> None:
        print("ending; the same command goes on from here", file=sys.stderr)

    with interrupts(say, say) as stop:
        run = SuiteRun(suite, base, config, os.environ, folder, time_s, None, stop, False, cores)
        return {result.workload.name: result for result in run.results()}


def rows_of(
    suite: Suite,
    points: Mapping[str, Sequence[PointTime]],
    openacc: Mapping[str, WorkloadResult],
    peers_of: Mapping[str, Sequence[PeerTime]],
    device: str,
) -> tuple[GpuRow, ...]:
    """Return a row for each workload of a suite, of what is known of it on a device."""
    every, wanted = [], goals()
    for name in dict.fromkeys(work.name for work in suite.workloads):
        own = dict(_cells(points.get(name, ())))
        roof_s = points[name][0].roof_us / 1e6 if points.get(name) else None
        if name in openacc:
            told = openacc[name].on("openacc", device)
            own[OPENACC] = Cell(told.time_s, told.status is RowStatus.PREDICTED, told.why)
        every.append(GpuRow(name, own, peers_of.get(name, ()), roof_s, wanted.get(name)))
    return tuple(every)


def _cells(points: Sequence[PointTime]) -> Iterator[tuple[str, Cell]]:
    """Yield the cells of a workload's points: the first choice's, and the best one's."""
    if not points:
        none = Cell(why="no program: see what was said when they were written")
        yield from ((FIRST, none), (COLD, none), (BEST, none))
        return
    first = next(point for point in points if point.name.endswith("-0"))
    known = [p for p in points if p.warm_us is not None]
    best = min(known, key=lambda p: p.warm_us or 0.0, default=first)
    for name, point, us in (
        (FIRST, first, first.warm_us),
        (COLD, first, first.cold_us),
        (BEST, best, best.warm_us),
    ):
        if us is None and not point.problem and point.predicted_us is not None:
            yield name, Cell(point.predicted_us / 1e6, is_predicted=True)
        else:
            yield name, Cell(None if us is None else us / 1e6, why=point.problem)


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
    until = time.monotonic() + options.time
    try:
        suite = chosen(load_suite(HERE / "suite.yaml"), options.only, options.targets)
    except ValueError as mistake:
        print(f"error: {mistake}", file=sys.stderr)
        return 2
    folder: Path = options.output
    folder.mkdir(parents=True, exist_ok=True)
    points = written(suite, options.points, folder, usable_cores())
    if options.write:
        print(f"{sum(map(len, points.values()))} programs in {folder}")
        return 0
    openacc: Mapping[str, WorkloadResult] = {}
    peers_of: Mapping[str, Sequence[PeerTime]] = {}
    gpu = find_gpu()
    if isinstance(gpu, Gpu):
        device = gpu.name
        points = _measured_points(points, folder, gpu, until)
        peers_of = timed_peers(suite, folder, until)
        copied = peers.copy_bytes_s()
        about = f"measured on {gpu.name}" + (f", copy {copied / 1e12:.2f} TB/s" if copied else "")
    else:
        device = load_device(suite.devices[0]).vendor_name
        about = f"predicted for {device}: {gpu.reason}"
    if "openacc" in suite.targets:
        only = replace(suite, targets=("openacc",))
        openacc = measured_openacc(only, folder / "openacc", max(0.0, until - time.monotonic()))
    rows = rows_of(suite, points, openacc, peers_of, device)
    text = table(rows, f"{time.strftime('%Y-%m-%d')}, microseconds of kernels, {about}")
    (folder / "gpu.txt").write_text(text)
    kept = {"rows": [asdict(row) for row in rows]}
    kept |= {"points": [asdict(one) for every in points.values() for one in every]}
    (folder / "gpu.json").write_text(json.dumps(kept, indent=1) + "\n")
    print(text, end="")
    return int(options.check and any(row.is_missed for row in rows))


def _measured_points(
    points: Mapping[str, Sequence[PointTime]], folder: Path, gpu: Gpu, until: float
) -> dict[str, list[PointTime]]:
    """Return the points with their times, each compiled and run where it has not been."""
    begun = time.monotonic()
    every = [point for one in points.values() for point in one]
    compiled([point.name for point in every], folder, gpu.arch, usable_cores())
    print(f"compiled after {time.monotonic() - begun:.0f} s", file=sys.stderr)
    found = {point.name: point for point in timed(every, folder, until)}
    print(f"timed after {time.monotonic() - begun:.0f} s", file=sys.stderr)
    return {name: [found[point.name] for point in own] for name, own in points.items()}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[], metavar="FAMILY", help="of suite.yaml")
    parser.add_argument("--targets", nargs="+", default=[], choices=TARGETS)
    parser.add_argument("--points", type=int, default=POINTS, metavar="N", help="of each workload")
    parser.add_argument("--write", action="store_true", help="write the programs, run none")
    parser.add_argument("--time", type=float, default=TIME_S, metavar="SECONDS", help="of all")
    parser.add_argument("-o", "--output", type=Path, default=Path("annotune-out/gpu"))
    parser.add_argument("--check", action="store_true", help="exit with 1 if a goal is missed")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
