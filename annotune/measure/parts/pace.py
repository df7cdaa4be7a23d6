"""How long the original takes, told by runs of a part of it before anything waits for the whole."""

from __future__ import annotations

from collections.abc import Sequence

from annotune.measure.oracle import Oracle, Pace
from annotune.measure.parts.sample import Excerpt, excerpt_of, work_of
from annotune.measure.sizes import Sizes

LONG_WORK = 100_000_000
"""An original is asked for its pace if it makes more assignments: a tenth of a second and more."""

FIRST_WORK, GROWTH = 4_000_000, 8
"""So many assignments the first run makes, and each further one so many times as many."""

ENOUGH_S = 0.02
"""A run of so many seconds tells the pace; what it is begun with takes far longer."""

WHOLE_SHARE = 0.03
"""A whole run may take this share; what tells how exact it is takes twice as long."""

SAMPLE_SHARE = 0.01
"""One run of a sample may take this share."""

LEAST_S = 0.05
"""Whatever time is left, a run may take so long."""

FEWEST = 2
"""A line needs two runs."""


def original_pace(oracle: Oracle, sizes: Sizes, seed: int, left_s: float) -> Pace | None:
    """Return the pace of an original that makes many assignments at `sizes`.

    None where it does not, or where no part of it tells.
    """
    try:
        work = work_of(oracle.analysis, sizes)
        if work <= LONG_WORK:
            return None
        known = _timed_parts(oracle, sizes, seed, work)
    except ValueError:
        return None
    if len(known) < FEWEST:
        return None
    limits = (max(LEAST_S, share * left_s) for share in (WHOLE_SHARE, SAMPLE_SHARE))
    return Pace(extrapolated(known, work) / work, len(known), *limits)


def _timed_parts(oracle: Oracle, sizes: Sizes, seed: int, work: int) -> list[tuple[int, float]]:
    """Return the assignments of growing parts of the original, and the seconds that they took.

    Raises:
        ValueError: C has no such arrays at these sizes.
    """
    known: list[tuple[int, float]] = []
    excerpts: list[Excerpt] = []
    wanted = FIRST_WORK
    while GROWTH * wanted <= work:
        excerpt = excerpt_of(oracle.analysis, sizes, wanted)
        wanted *= GROWTH
        if excerpt is None or excerpt in excerpts:
            continue
        excerpts.append(excerpt)
        took_s = oracle.took_s(sizes, seed, excerpt)
        if took_s > 0:
            known.append((work_of(oracle.analysis, sizes, excerpt), took_s))
        if took_s >= ENOUGH_S and len(known) >= FEWEST:
            break
    return known


def extrapolated(known: Sequence[tuple[int, float]], work: int) -> float:
    """Return the seconds of so much work, by the line through the last two of what is `known`."""
    (before, before_s), (done, took_s) = known[-2:]
    slope = (took_s - before_s) / (done - before) if done > before else 0.0
    each_s = slope if slope > 0 else took_s / done
    return took_s + each_s * (work - done)
