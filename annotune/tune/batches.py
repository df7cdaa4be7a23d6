"""How many variants are compiled before the clock begins, and in which parts they are compiled."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from annotune.measure.ahead import TOGETHER
from annotune.measure.check import Variant as Program

# So many variants are made, and then compiled, before the search must hear of the first.
BATCH = 8
# What a search will ask for in any case is compiled in batches of up to so many,
MOST = 128
# as long as the compilers take no more than so many seconds for one: nothing is timed meanwhile.
COMPILING_S = 4.0
# No compiler is quicker.
LEAST_S = 1e-3


class Batches:
    """The batches of one search, after what was learnt of the compilers in those before.

    `original_s` is what it took to compile the original: what is known before the first one.
    """

    def __init__(self, compilers: int, original_s: float) -> None:
        self._compilers, self._original_s = compilers, original_s
        self._each_s: dict[object, float] = {}

    @property
    def size(self) -> int:
        """Return how many variants to compile at once.

        The first batch is small, for the compilers do nothing while its texts are made.
        """
        known = self._each_s.values() or (self._original_s,)
        most = MOST if self._each_s else TOGETHER * self._compilers
        each_s = max(LEAST_S, sum(known) / len(known))
        return max(BATCH, min(most, int(COMPILING_S * self._compilers / each_s)))

    def learn(self, program: Program, each_s: float) -> None:
        """Take in that a compiler took so many seconds for each of the variants with such flags."""
        self._each_s[_command(program)] = each_s

    def parts(self, programs: Sequence[Program]) -> list[list[int]]:
        """Return the places of programs in the parts that one call of a compiler each takes.

        Only those of the same flags share a call, and none is more than a compiler's equal share.
        What takes longest comes first, so that no compiler works alone at the end.
        """
        groups: dict[object, list[int]] = {}
        for place, one in enumerate(programs):
            groups.setdefault(_command(one), []).append(place)
        most = min(TOGETHER, ceil(len(programs) / self._compilers))
        found: list[tuple[float, list[int]]] = []
        for command, group in groups.items():
            size = ceil(len(group) / ceil(len(group) / most))
            for first in range(0, len(group), size):
                part = group[first : first + size]
                found.append((self._each_s.get(command, 1.0) * len(part), part))
        return [part for _, part in sorted(found, key=lambda one: -one[0])]


def _command(program: Program) -> object:
    return program.kind, program.optimisation, program.nvcc
