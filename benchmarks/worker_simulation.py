"""Simulates a run with 1 to 64 workers, from the recorded times of a real one. Nothing is measured.

    python benchmarks/worker_simulation.py [--record FILE] [--searches random,gp] [--budget 100]
    python benchmarks/worker_simulation.py --from RESULTS.json --target cuda --record FILE

Each point of a record has the seconds that it took to compile and to check, and its measured time.
The searches are the real ones: they ask, wait for what they must know, and their own seconds count.
The loop is that of annotune: one process leads, makes the text of one variant after the other, and
keeps a queue for its workers; a worker compiles, then measures on a device of its own. A batch
system's queue, machines that differ and busy networks are not simulated. With --from, a record is
made from a finished run.
"""

from __future__ import annotations

import argparse
import gzip
import heapq
import json
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from annotune.report.results_json import read_results
from annotune.tuning.experiment import BATCH
from annotune.tuning.results import Results
from annotune.tuning.search.names import make_search
from annotune.tuning.search.points import Points

RECORD = Path(__file__).parent / "recorded" / "workers-local_grad3.json.gz"
WORKERS = (1, 2, 4, 8, 16, 32, 64)
SEARCHES = "random,gp,tpe"
# What sending a job and taking its answer adds, in seconds. Parsl answers an empty job on one
# machine in 1.4 ms; this leaves room for a network.
LATENCY_S = 0.01
# What making the text of a variant takes the process that leads, in seconds: 9.6 ms for a CUDA
# variant of local_grad3.
LEAD_S = 0.01


@dataclass(frozen=True)
class Record:
    """The trials of one run: each point, its measured time or None, and what it took."""

    about: str
    configs: tuple[Mapping[str, Any], ...]
    times_s: tuple[float | None, ...]
    compile_s: tuple[float, ...]
    run_s: tuple[float, ...]


@dataclass(frozen=True)
class Simulated:
    """One simulated run: how many trials in how many seconds, and the best time found over the
    best recorded."""

    trials: int
    time_s: float
    found: float

    @property
    def rate(self) -> float:
        return self.trials / self.time_s


def simulate(
    record: Record,
    name: str,
    workers: int,
    budget: int,
    seed: int = 0,
    clock: Callable[[], float] = time.perf_counter,
    lead_s: float = LEAD_S,
    latency_s: float = LATENCY_S,
) -> Simulated:
    """Return what a run of a search with so many workers comes to.

    `clock` tells the seconds that the search itself takes.
    """
    budget = min(budget, len(record.configs))
    search = make_search(name, Points(record.configs), budget, seed)
    now, told = 0.0, 0
    asked: deque[int] = deque()
    queue: deque[int] = deque()
    running: list[tuple[float, int]] = []
    best = None

    def timed(deed: Callable[[], Any]) -> Any:
        nonlocal now
        start = clock()
        answer = deed()
        now += clock() - start
        return answer

    def launch() -> None:
        while queue and len(running) < workers:
            point = queue.popleft()
            end = now + latency_s + record.compile_s[point] + record.run_s[point]
            heapq.heappush(running, (end, point))

    def room() -> int:
        under_way = len(asked) + len(queue) + len(running)
        return min(max(BATCH, 2 * workers) - len(queue) - len(asked), budget - told - under_way)

    try:
        while True:
            # One text at a time, as long as no worker has an answer or nothing to do.
            if not asked and (count := room()) > 0:
                asked.extend(timed(lambda: search.ask(count)))
            if asked and not (running and running[0][0] <= now):
                queue.append(asked.popleft())
                now += lead_s
                launch()
                continue
            launch()
            if not running:
                break
            end, point = heapq.heappop(running)
            now = max(now, end)
            time_s = record.times_s[point]
            timed(lambda: search.tell(point, time_s))  # noqa: B023
            told += 1
            if time_s is not None:
                best = time_s if best is None else min(best, time_s)
    finally:
        search.close()
    least = min((t for t in record.times_s if t is not None), default=0.0)
    return Simulated(told, now, least / best if best else 0.0)


def record_of(results: Results, target: str) -> Record:
    """Return what a finished run says of a target's trials that were compiled and checked in it."""
    (region,) = results.regions
    kept = [
        trial
        for trial in region.trials
        if trial.target == target and trial.compile_s is not None and trial.run_s is not None
    ]
    how = " and ".join(
        sorted({"predicted for " * t.is_predicted + t.device for t in kept if t.time_s})
    )
    about = f"{region.function} of {results.source}, {target}, times {how}"
    return Record(
        about,
        tuple(dict(trial.config) for trial in kept),
        tuple(trial.time_s for trial in kept),
        tuple(round(trial.compile_s or 0.0, 4) for trial in kept),
        tuple(round(trial.run_s or 0.0, 4) for trial in kept),
    )


def write(record: Record, path: Path) -> None:
    """Write a record as compressed JSON, the same bytes for the same record."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(
        {
            "about": record.about,
            "points": [
                {"config": config, "time_s": time_s, "compile_s": compile_s, "run_s": run_s}
                for config, time_s, compile_s, run_s in zip(
                    record.configs, record.times_s, record.compile_s, record.run_s, strict=True
                )
            ],
        }
    )
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def read(path: Path) -> Record:
    """Return the record at `path`."""
    values = json.loads(gzip.decompress(path.read_bytes()))
    points = values["points"]
    names = ("config", "time_s", "compile_s", "run_s")
    return Record(values["about"], *(tuple(p[name] for p in points) for name in names))


def lines(record: Record, searches: Sequence[str], budget: int, seeds: int) -> Iterator[str]:
    """Yield the lines of the table."""
    compile_s, run_s = median(record.compile_s), median(record.run_s)
    yield f"SIMULATED from {len(record.configs)} recorded trials: {record.about}."
    yield (
        f"Recorded, median: compile {compile_s:.3f} s, check and measure {run_s:.3f} s. "
        f"Assumed: {LEAD_S} s to make a text, {LATENCY_S} s to send a job."
    )
    yield f"Budget {budget}; seeds: {seeds}. No cluster was used for these figures."
    yield ""
    yield f"{'search':<12} {'workers':>7} {'trials/s':>9} {'efficiency':>10} {'of the best':>11}"
    for name in searches:
        alone = 0.0
        for workers in WORKERS:
            runs = [simulate(record, name, workers, budget, seed) for seed in range(seeds)]
            rate, found = median(r.rate for r in runs), median(r.found for r in runs)
            alone = alone or rate
            share = rate / (workers * alone)
            yield f"{name:<12} {workers:>7} {rate:>9.2f} {share:>10.0%} {found:>11.0%}"
        yield ""
    yield "efficiency: trials/s over those of one worker times the workers; of the best: the best"
    yield "recorded time over the best that the search found within its budget"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, or make a record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", type=Path, default=RECORD)
    parser.add_argument("--searches", default=SEARCHES)
    parser.add_argument("--budget", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--from", dest="results", type=Path, help="results.json of a run")
    parser.add_argument("--target", default="cuda")
    given = parser.parse_args(arguments)
    if given.results is not None:
        record = record_of(read_results(given.results), given.target)
        write(record, given.record)
        print(f"{given.record}: {len(record.configs)} trials")
        return 0
    for line in lines(read(given.record), given.searches.split(","), given.budget, given.seeds):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
