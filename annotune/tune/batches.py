"""How many variants are compiled before the clock begins, and in which parts they are compiled."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from annotune.measure.ahead import TOGETHER
from annotune.measure.check import Variant as Program

# So many variants are made, and then compiled, before the search must hear of the first.
BATCH = 8
# What a search will ask for in any case is compiled in batches of up to so many,
MOST = 96
# as long as the compilers take no more than so many seconds for one: nothing is timed meanwhile.
COMPILING_S = 3.0


class BatchSize:
    """How many variants to compile at once, learnt from how long the last ones took.

    Until something is known, as many as share a compilation.
    """

    def __init__(self, compilers: int) -> None:
        self._compilers = compilers
        self.size = TOGETHER

    def learn(self, count: int, time_s: float) -> None:
        """Take in that one compiler took so many seconds for so many variants."""
        fits = COMPILING_S * self._compilers * count / time_s if time_s else MOST
        self.size = max(BATCH, min(MOST, int(fits)))


def parts(programs: Sequence[Program], compilers: int) -> list[list[int]]:
    """Return the places of programs in the parts that one call of a compiler each takes.

    Only those of the same flags share a call. There are parts for all compilers, the largest
    first, so that none works alone for long at the end.
    """
    groups: dict[tuple[object, ...], list[int]] = {}
    for place, one in enumerate(programs):
        groups.setdefault((one.kind, one.optimisation, one.nvcc), []).append(place)
    most = min(TOGETHER, ceil(len(programs) / compilers)) or 1
    found: list[list[int]] = []
    for group in groups.values():
        size = ceil(len(group) / ceil(len(group) / most))
        found += [group[first : first + size] for first in range(0, len(group), size)]
    return sorted(found, key=len, reverse=True)
