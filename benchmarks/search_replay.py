"""Replays spaces whose every point was measured, and tells how soon each search finds the best.

    python benchmarks/search_replay.py [--spaces FILE ...] [--strategies auto,gp] [--seeds 10]
    python benchmarks/search_replay.py --record sd_t_d1_1 --folder DIR [--constraint FORMULA]

A figure is the best time of the whole space over the best time among the points asked for so far:
median of the seeds, and the worst and best seed. Recording compiles and times every point on this
machine; nothing else should run meanwhile.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from pathlib import Path
from statistics import median

from recorded_spaces import KERNELS, RECORDS, Config, Record, read_record, record, write_record
from threadpoolctl import threadpool_limits

from annotune.annotation.expressions import holds
from annotune.annotation.spec import Value
from annotune.space.limits import plain
from annotune.tuning.search.names import SEARCHES, make_search
from annotune.tuning.search.points import Points

AT = (25, 50, 100, 200)
# What is promised of the search that is used when none is named, at which evaluation.
PROMISED, PROMISED_AT, PROMISED_OF = 0.95, 100, "auto"
# Points asked for at once, as many as a machine compiles ahead.
ASKED = 4


def replayed(
    points: Points, times: Sequence[float | None], name: str, budget: int, seed: int
) -> list[float]:
    """Return the best time after each evaluation of one search, infinite before the first."""
    search = make_search(name, points, budget, seed)
    best: list[float] = []
    least = float("inf")
    while len(best) < budget:
        asked = search.ask(min(ASKED, budget - len(best)))
        if not asked:
            break
        for point in asked:
            search.tell(point, times[point])
            time_s = times[point]
            least = least if time_s is None else min(least, time_s)
            best.append(least)
    search.close()
    return best


def shares(space: Record, name: str, seeds: int, jobs: Executor) -> Mapping[int, list[float]]:
    """Return the share of the optimum of every seed at each of `AT`."""
    # What a search does late may depend on what it was told that it may measure.
    found = {
        count: [jobs.submit(share, space, name, count, seed) for seed in range(seeds)]
        for count in reversed(AT)
    }
    return {count: [one.result() for one in found[count]] for count in AT}


def share(space: Record, name: str, budget: int, seed: int) -> float:
    """Return the share of the optimum that one search reaches with its budget."""
    best = replayed(Points(space.configs), space.times, name, budget, seed)
    return min(t for t in space.times if t is not None) / best[-1]


def show(space: Record, strategies: Sequence[str], seeds: int, jobs: Executor) -> bool:
    """Print a space's table; return whether the promised search reaches what it should."""
    right = [t for t in space.times if t is not None]
    settings = {**space.configs[0], **({"flags": "-O3"} if "flags" in space.configs[0] else {})}
    # The rules' flags are -O3; when the spaces were recorded, the first were gcc's -O2.
    first = space.times[space.configs.index(settings)]
    own = f"; the rules' first choice {min(right) / first:.3f}" if first else ""
    print(f"\n{space.name}: {len(space.times)} points, {len(right)} right, best {min(right):.4g} s")
    print(f"  share of the optimum: median of points {min(right) / median(right):.3f}{own}")
    print("  " + "; ".join(f"{name} {value}" for name, value in space.about.items()))
    header = "  ".join(f"{count:>5} evaluations  " for count in AT)
    print(f"  {'search':<11} {header}   (median [worst, best] of {seeds} seeds)")
    is_kept = True
    for name in strategies:
        found = shares(space, name, seeds, jobs)
        cells = (f"{median(v):.3f} [{min(v):.3f}, {max(v):.3f}]" for v in found.values())
        print(f"  {name:<11} {'  '.join(cells)}", flush=True)
        if name == PROMISED_OF:
            each = " ".join(f"{share:.3f}" for share in found[PROMISED_AT])
            is_kept = median(found[PROMISED_AT]) >= PROMISED
            print(f"  {'':<11} {PROMISED_AT} evaluations, by seed: {each}")
    return is_kept


def _alone_on_a_core() -> None:
    """Have the libraries of linear algebra use one thread: each process has a search of its own."""
    threadpool_limits(1)


def _kept(formula: str, config: Config) -> bool:
    names: dict[str, Value] = {plain(name): value for name, value in config.items()}
    return not formula or holds(formula, names)


def main() -> int:
    """Record a space, or print what every search makes of the recorded ones."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    spaces = [RECORDS / f"{kernel.name}.json.gz" for kernel in KERNELS]
    parser.add_argument("--spaces", type=Path, nargs="*", default=spaces)
    parser.add_argument("--strategies", default=",".join(SEARCHES))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--record", choices=[kernel.name for kernel in KERNELS])
    parser.add_argument("--constraint", default="", help="of the points to record")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=Path("recorded-libraries"))
    parser.add_argument("--lock", type=Path, default=Path("recorded-libraries.lock"))
    given = parser.parse_args()
    if given.record:
        (kernel,) = (one for one in KERNELS if one.name == given.record)
        found = record(
            kernel,
            given.folder,
            lambda config: _kept(given.constraint, config),
            given.rounds,
            given.jobs,
            given.lock,
        )
        if given.constraint:
            found = Record(
                found.name,
                {**found.about, "constraint": given.constraint},
                found.configs,
                found.times,
            )
        write_record(RECORDS / f"{kernel.name}.json.gz", found)
        return 0
    strategies = [name for name in given.strategies.split(",") if name]
    with ProcessPoolExecutor(given.jobs, initializer=_alone_on_a_core) as jobs:
        kept = {
            space.name: show(space, strategies, given.seeds, jobs)
            for space in map(read_record, given.spaces)
        }
    if PROMISED_OF not in strategies:
        return 0
    for name, is_kept in kept.items():
        word = "reaches" if is_kept else "does NOT reach"
        print(
            f"{name}: {PROMISED_OF} {word} {PROMISED:.0%} of the best within {PROMISED_AT} "
            f"evaluations, median of {given.seeds} seeds"
        )
    return 0 if all(kept.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
