"""The finals of one target: the best few and the original timed in turns, and what that tells."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from annotune.measure.timing import (
    LEAST_ROUNDS,
    Interval,
    Turns,
    is_apart,
    median_interval,
    ratio_interval,
)
from annotune.measure.trial import Final, Status, Trial, Verdict
from annotune.tune.bench import Bench
from annotune.tune.rounds import Contestant, Course, take_rounds

# The finals have this share of a target's time, and no more seconds than these.
SHARE = 0.15
BUDGET_S = 10.0
# Whoever took this many times the best one's time in the search had more than bad luck.
NEAR = 1.25
FEWEST, MOST = 3, 8
# What takes this many times the fastest one's time by its median is never named in its place.
AS_FAST = 1.02
# The original may take this share of the finals' time: the figures of the others matter more.
ORIGINALS_SHARE = 0.3


@dataclass(frozen=True)
class Finals:
    """The rounds of each contestant that took part, by name, and the order of the variants.

    `waited` is the share of the time in which some task on this machine waited for a processor,
    None where that is not known.
    """

    rounds_s: Mapping[str, tuple[float, ...]]
    ranking: tuple[str, ...]
    waited: float | None = None

    def of(self, name: str, winner: str) -> Final | None:
        """Return what is known of a contestant beside the winner, None where one is missing."""
        own, best = self.rounds_s.get(name), self.rounds_s.get(winner)
        if own is None or best is None:
            return None
        time_s, ratio = median_interval(own), ratio_interval(own, best)
        return Final(
            _verdict(ratio, name == winner),
            time_s.value,
            time_s.low,
            time_s.high,
            ratio.value,
            ratio.low,
            ratio.high,
            tuple(own),
        )


NO_FINALS = Finals({}, ())


def reserved_s(bench: Bench) -> float:
    """Return how many of the seconds that are left belong to the finals."""
    return min(BUDGET_S, SHARE * max(0.0, bench.until - time.monotonic()))


def finalists(trials: Mapping[int, Trial]) -> tuple[int, ...]:
    """Return the numbers of the best few in the search, and of all others that were near."""
    times = {n: t.time_s for n, t in trials.items() if t.status is Status.CORRECT and t.time_s}
    order = sorted(times, key=lambda n: (times[n], n))
    near = [n for n in order if times[n] <= NEAR * min(times.values())]
    return tuple(order[: max(FEWEST, min(MOST, len(near)))])


def finals(
    bench: Bench, contestants: Sequence[Contestant], budget_s: float, by_crew: bool = False
) -> Finals:
    """Return the contestants' times, taken in turns for about `budget_s` seconds.

    The original takes no part where it would take the others' time. With `by_crew` they run where
    the crew's workers are, where there is one.
    """
    taking_part = [one for one in contestants if _is_affordable(one, budget_s)]
    if sum(one.number is not None for one in taking_part) == 0 or len(taking_part) < 2:
        return NO_FINALS
    oracle = bench.checker.oracle
    course = Course(bench.sizes[0], bench.is_cold, bench.arch, bench.environ)
    if by_crew and bench.crew is not None:
        taken = bench.crew.take_rounds(oracle, taking_part, course, budget_s)
    else:
        taken = take_rounds(oracle, taking_part, course, budget_s, lambda: bench.stop.is_set)
    return replace(decided(taking_part, taken.turns), waited=taken.waited)


def decided(contestants: Sequence[Contestant], turns: Sequence[Turns]) -> Finals:
    """Return the finals that these turns make."""
    rounds = {
        one.name: taken.times_s
        for one, taken in zip(contestants, turns, strict=True)
        if not taken.problem
    }
    numbers = {one.name: one.number for one in contestants if one.number is not None}
    left = sorted((name for name in rounds if name in numbers), key=lambda name: numbers[name])
    ranking = []
    while left:
        ranking.append(first_of(left, rounds))
        left.remove(ranking[-1])
    return Finals(rounds, tuple(ranking))


def first_of(names: Sequence[str], rounds_s: Mapping[str, Sequence[float]]) -> str:
    """Return the first of `names` that is as fast as the fastest of them, as far as can be told.

    The order is the listing's, the rules' own choice before all others: two runs that see the
    same differences name the same winner, whatever the noise in each. Where there is much noise,
    only what seems as fast is taken for it.
    """
    fastest = min(names, key=lambda name: median(rounds_s[name]))
    ratios = ((name, ratio_interval(rounds_s[name], rounds_s[fastest])) for name in names)
    return next(n for n, ratio in ratios if not is_apart(ratio) and ratio.value <= AS_FAST)


def _verdict(ratio: Interval, is_winner: bool) -> Verdict:
    if is_winner:
        return Verdict.WINNER
    if not is_apart(ratio):
        return Verdict.TIED
    return Verdict.SLOWER if ratio.value > 1 else Verdict.FASTER


def _is_affordable(one: Contestant, budget_s: float) -> bool:
    # Each turn is a first run and one that counts.
    return one.number is not None or 2 * one.time_s * LEAST_ROUNDS <= ORIGINALS_SHARE * budget_s
