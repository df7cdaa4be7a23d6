"""Runs many programs on several cores, counts what came of them, and keeps what failed."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import shutil
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from pathlib import Path

from .choices import Choices, Seeded
from .contractions import Contraction, ContractionOptions, contraction, long_product
from .elements import accumulation, element_nest
from .examine import examine
from .execute import Builder, Wrong, execute
from .fortran import numbered as fortran
from .found import kept, kept_garbage, shrunk, wrongs
from .functions.batch import numbered as numbered_function
from .functions.batch import outcome
from .functions.build import Gpu
from .functions.positions import numbered as numbered_position
from .functions.source import Source
from .garbage import judge, numbered
from .nests import Options, nest
from .program import Program

BATCH = 50
GARBAGE_BATCH = 200
RACES_EVERY = 10
"""Of so many batches one is run under the race detector too."""

SHRINK_AT_MOST = 3
"""So many failures of one batch are cut down; the others are likely to be the same."""

STALLED_S = 900
"""A batch that has not ended by then has died or hangs."""

KINDS = (
    "nests",
    "contractions",
    "elements",
    "accumulations",
    "products",
    "functions",
    "positions",
    "fortran",
    "garbage",
)
LONG: Mapping[str, Callable[[Choices, str], Program | Contraction]] = {
    "elements": element_nest,
    "accumulations": accumulation,
    "products": long_product,
}
"""Kinds whose programs are executed alone: too long for every claim to be tried."""
FILES: Mapping[str, Callable[[int, int], Source]] = {
    "functions": numbered_function,
    "positions": numbered_position,
    "fortran": fortran,
}
"""Kinds of which each program is a file of whole functions."""


@dataclass(frozen=True)
class Batch:
    """Programs ``first`` to ``last - 1`` of one kind."""

    kind: str
    first: int
    last: int

    @property
    def key(self) -> str:
        return f"{self.kind} {self.first} {self.last}"


@dataclass
class Tally:
    """What came of some batches: numbers by what they count, failures in words, and seconds.

    `digests` tell of which files another state of annotune makes the same.
    """

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    time_s: float = 0.0
    digests: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.counts += other.counts
        self.failures += other.failures
        self.time_s += other.time_s


@dataclass(frozen=True)
class Plan:
    """What a run is asked for. `before` is what came of batches of its seed, by their keys."""

    seed: int
    with_guards: bool
    with_f2c: bool
    shrink: bool
    folder: Path
    gpu: Gpu | None = None
    before: Mapping[str, Tally] = field(default_factory=dict)


def program(plan: Plan, kind: str, number: int) -> Program | Contraction:
    """Return the program with a number: the same in every run with the seed."""
    choose = Seeded(kind, plan.seed, number)
    name = f"f{number}"
    if kind in LONG:
        return LONG[kind](choose, name)
    if kind == "nests":
        return nest(choose, Options(with_guards=plan.with_guards), name)
    return contraction(choose, ContractionOptions(plan.with_f2c), name)


def run_batch(plan: Plan, batch: Batch) -> Tally:
    """Return what comes of a batch: every program analysed, what is accepted executed."""
    start = time.monotonic()
    kinds = {"garbage": _garbage, **dict.fromkeys(FILES, _functions)}
    tally = kinds.get(batch.kind, _programs)(plan, batch)
    tally.time_s = time.monotonic() - start
    return tally


def _programs(plan: Plan, batch: Batch) -> Tally:
    tally = Tally()
    numbers = range(batch.first, batch.last)
    programs = [program(plan, batch.kind, k) for k in numbers]
    texts = {k: one.text() for k, one in zip(numbers, programs, strict=True)}
    is_claimed = batch.kind not in LONG
    ones = [examine(text, k, k % 2 == 1, with_claims=is_claimed) for k, text in texts.items()]
    where = {one.text: k for k, one in zip(numbers, ones, strict=True)}
    faults: list[Wrong] = []
    for one in ones:
        tally.counts[f"{batch.kind}: analysed"] += 1
        tally.counts.update(f"{batch.kind}: {word}" for word in one.told.elements())
        for code in one.refused:
            tally.counts[f"{batch.kind}: refused {code}"] += 1
        tally.counts[f"{batch.kind}: accepted"] += not one.refused and not one.crashes
        faults += wrongs(one)
    nvcc = "" if plan.gpu is None else plan.gpu.nvcc
    builder = Builder(plan.folder / f"build-{os.getpid()}", 1, nvcc)
    builder.folder.mkdir(parents=True, exist_ok=True)
    races = (batch.first // BATCH) % RACES_EVERY == 0
    ran = execute([one for one in ones if not one.is_wrong], builder, batch.kind, races)
    for library, count in ran.executed.items():
        tally.counts[f"{batch.kind}: executed {library}"] += count
    tally.counts[f"{batch.kind}: launched kernels"] += ran.launched
    tally.counts[f"{batch.kind}: compared bit by bit"] += ran.exact
    faults += ran.faults
    tally.counts[f"{batch.kind}: wrong"] += len({where[fault.text] for fault in faults})
    for count, fault in enumerate(faults):
        number = where[fault.text]
        words = f"{batch.kind} {number} ({fault.library}): {fault.fault.strip()[-300:]}"
        if plan.shrink and count < SHRINK_AT_MOST:
            one = program(plan, batch.kind, number)
            text = shrunk(one, number, number % 2 == 1, fault, builder.folder)
            words += f"\n  kept as {kept(text, number, number % 2 == 1, fault)}"
        tally.failures.append(words)
    return tally


def _functions(plan: Plan, batch: Batch) -> Tally:
    numbers = range(batch.first, batch.last)
    build = plan.folder / f"{batch.kind}-{os.getpid()}"
    most = SHRINK_AT_MOST if plan.shrink else 0
    before = plan.before.get(batch.key, Tally()).digests
    made = outcome(plan.seed, numbers, build, most, plan.gpu, before, FILES[batch.kind])
    shutil.rmtree(build, ignore_errors=True)
    counts = {f"{batch.kind}: {k}": v for k, v in made.counts.items()}
    failures = [f"{batch.kind} {words}" for words in made.failures]
    return Tally(Counter(counts), failures, digests=made.digests)


def _garbage(plan: Plan, batch: Batch) -> Tally:
    tally = Tally()
    folder = plan.folder / f"garbage-{os.getpid()}"
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(batch.first, batch.last):
        (folder / "number").write_text(str(number))
        one = numbered(plan.seed, number)
        verdict = judge(one, folder)
        tally.counts["garbage: analysed"] += 1
        tally.counts[f"garbage: {verdict.outcome}"] += 1
        tally.counts.update(f"garbage: refused {code}" for code in verdict.codes)
        slowest = tally.counts["garbage: slowest, ms"]
        tally.counts["garbage: slowest, ms"] = max(slowest, int(verdict.time_s * 1000))
        if verdict.is_wrong:
            tally.counts["garbage: wrong"] += 1
            words = f"garbage {number}: {verdict.outcome}: {verdict.words[-300:]}"
            if plan.shrink and tally.counts["garbage: wrong"] <= SHRINK_AT_MOST:
                words += f"\n  kept as {kept_garbage(one, verdict.outcome, folder)}"
            tally.failures.append(words)
    return tally


# Many batches -----------------------------------------------------------------------------


def batches(wanted: dict[str, int]) -> Iterator[Batch]:
    """Yield the batches of a run, the kinds taking turns."""
    each = []
    for kind in KINDS:
        size = GARBAGE_BATCH if kind == "garbage" else BATCH
        starts = range(0, wanted[kind], size)
        each.append([Batch(kind, k, min(k + size, wanted[kind])) for k in starts])
    yield from (b for b in chain.from_iterable(zip_longest(*each)) if b is not None)


def _work(plan: Plan, batch: Batch, pipe: multiprocessing.connection.Connection) -> None:
    os.setpgrp()
    pipe.send(run_batch(plan, batch))


class _Worker:
    """One batch in a process of its own: what dies or hangs there is a failure of its own."""

    def __init__(self, plan: Plan, batch: Batch) -> None:
        self.batch, self.start = batch, time.monotonic()
        self.pipe, far = multiprocessing.Pipe(duplex=False)
        self.process = multiprocessing.Process(target=_work, args=(plan, batch, far))
        self.process.start()
        far.close()

    def result(self) -> Tally | None:
        """Return the tally of an ended batch, None while it runs."""
        if self.pipe.poll(0.05):
            try:
                tally: Tally = self.pipe.recv()
                self.process.join()
                return tally
            except EOFError:
                return self._lost(f"died of {self.process.exitcode}")
        if time.monotonic() - self.start > STALLED_S:
            self.stop()
            return self._lost(f"took longer than {STALLED_S} s")
        return None

    def stop(self) -> None:
        if self.process.pid is not None and self.process.is_alive():
            os.killpg(self.process.pid, signal.SIGKILL)

    def _lost(self, how: str) -> Tally:
        self.process.join()
        counts = Counter({f"{self.batch.kind}: wrong": 1})
        return Tally(counts, [f"the batch {self.batch.key} {how}"], time.monotonic() - self.start)


def run_all(
    plan: Plan, wanted: dict[str, int], jobs: int, limit_s: float, state: Path
) -> tuple[Tally, bool]:
    """Run the batches that `state` does not hold yet; return the sum and whether all are there."""
    known = recalled(state)
    total = Tally()
    for tally in known.values():
        total = _summed(total, tally)
    waiting = [b for b in batches(wanted) if b.key not in known]
    waiting.reverse()
    end = time.monotonic() + limit_s
    working: list[_Worker] = []
    while working or (waiting and time.monotonic() < end):
        while waiting and len(working) < jobs and time.monotonic() < end:
            working.append(_Worker(plan, waiting.pop()))
        for worker in list(working):
            tally = worker.result()
            if tally is None:
                continue
            working.remove(worker)
            total = _summed(total, tally)
            with state.open("a") as file:
                row = [tally.failures, tally.time_s, tally.digests]
                file.write(json.dumps([worker.batch.key, dict(tally.counts), *row]) + "\n")
            _progress(worker.batch, tally)
    return total, not waiting


def _summed(total: Tally, tally: Tally) -> Tally:
    slowest = "garbage: slowest, ms"
    most = max(total.counts[slowest], tally.counts[slowest])
    total.add(tally)
    if most:
        total.counts[slowest] = most
    return total


def recalled(state: Path) -> dict[str, Tally]:
    """Return what a file says of the batches of a run, by their keys."""
    found = {}
    for line in state.read_text().splitlines() if state.exists() else ():
        key, counts, *rest = json.loads(line)
        found[key] = Tally(Counter(counts), *rest)
    return found


def _progress(batch: Batch, tally: Tally) -> None:
    print(f"{batch.key}: {tally.time_s:.1f} s, {len(tally.failures)} wrong", flush=True)
    for words in tally.failures:
        print(f"  {words}", flush=True)


def table(total: Tally, wall_s: float) -> str:
    """Return the summary: one row per kind of program and per thing counted."""
    rows = []
    for kind in KINDS:
        found = {k.split(": ", 1)[1]: v for k, v in total.counts.items() if k.startswith(kind)}
        if not found:
            continue
        count = found.get("analysed", 0)
        rows.append(f"{kind}: {count}, wrong: {found.pop('wrong', 0)}")
        for name, number in sorted(found.items()):
            share = f"{100 * number / count:6.1f} %" if count and "ms" not in name else ""
            rows.append(f"  {name:32} {number:8} {share}")
    rows.append(f"{total.time_s:.0f} s of work in {wall_s:.0f} s")
    return "\n".join(rows)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    for kind in KINDS:
        parser.add_argument(f"--{kind}", type=int, default=0, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--no-guards", action="store_true", help="nests without conditions")
    parser.add_argument("--no-f2c", action="store_true", help="no contractions as f2c writes them")
    parser.add_argument("--no-shrink", action="store_true", help="only count failures")
    parser.add_argument("--folder", type=Path, help="where to build, and to go on from")
    parser.add_argument(
        "--since",
        type=Path,
        help="the folder of a run of this seed: build only files with other texts",
    )
    parser.add_argument("--gpu", action="store_true", help="run CUDA on this machine's GPU too")
    parser.add_argument(
        "--acc-gcc", default="", help="a gcc that offloads functions' OpenACC to the GPU"
    )
    parser.add_argument("--annotune", type=Path, help="another checkout of annotune to run")
    given = parser.parse_args(arguments)
    gpu = Gpu(shutil.which("nvcc") or "nvcc", given.acc_gcc) if given.gpu else None
    folder = given.folder or Path(tempfile.gettempdir()) / f"annotune-fuzz-{given.seed}"
    folder.mkdir(parents=True, exist_ok=True)
    asked = not given.no_guards, not given.no_f2c, not given.no_shrink
    before = recalled(given.since / "batches.jsonl") if given.since else {}
    plan = Plan(given.seed, *asked, folder, gpu, before)
    wanted = {kind: getattr(given, kind) for kind in KINDS}
    start = time.monotonic()
    total, is_whole = run_all(
        plan, wanted, given.jobs, given.minutes * 60, folder / "batches.jsonl"
    )
    wall_s = time.monotonic() - start
    print(table(total, wall_s))
    summary = {"seed": given.seed, "wanted": wanted, "whole": is_whole, "work_s": total.time_s}
    summary |= {"wall_s": wall_s, "counts": dict(total.counts), "failures": total.failures}
    (folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    if not is_whole:
        print(f"stopped before all were done; the same command goes on ({folder})")
    return 1 if total.failures else 0
