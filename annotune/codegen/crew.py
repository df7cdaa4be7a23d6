"""Which threads of a block copy what: whole rows each round, so that indices are worked out once.

A thread that takes every so-manieth element of a copy has another place in each round, and
where the extents are no powers of two ptxas keeps the addresses of all rounds in registers
(seen for sm_90: 254 registers at extents of 24, where 168 do). Threads that stay at their place
in a row and go from row to row add one constant per round.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

from annotune.ir.expr import Binary, Expr, Int, Var
from annotune.ir.fold import fold


@dataclass(frozen=True, slots=True)
class Crew:
    """The `size` threads of a block that copy a nest, and what places each of them in it.

    The loops in `fixed`, fastest first with their counts, have one value in a thread. In each of
    its rounds a thread has another iteration of the `turns`, fastest first with the rounds over
    them: of the first of these loops `rows` iterations, of `count` in all, are copied at a time.
    """

    size: int
    fixed: tuple[tuple[str, int], ...]
    turns: tuple[tuple[str, int], ...] = ()
    rows: int = 1
    count: int = 1

    @property
    def rounds(self) -> int:
        """Return how many iterations a thread runs at most."""
        return prod(turns for _, turns in self.turns)

    def places(self, thread: Expr, turn: Expr) -> Iterator[tuple[str, Expr]]:
        """Yield the value of each loop in a thread's round, by the numbers of both."""
        faster = 1
        for var, count in self.fixed:
            yield var, _digit(thread, faster, count, faster * count == self.size)
            faster *= count
        first, slower = _digit(thread, faster, 1, True), 1
        for place, (var, turns) in enumerate(self.turns):
            own = _digit(turn, slower, turns, slower * turns == self.rounds)
            if place == 0 and self.rows > 1:
                own = Binary("+", first, fold(Binary("*", Int(self.rows), own)))
            yield var, own
            slower *= turns

    def idle(self, thread: Expr, threads: int) -> Expr | None:
        """Return the condition for a thread to have a place in a round, None for always."""
        tests: list[Expr] = []
        if self.size < threads:
            tests.append(Binary("<", thread, Int(self.size)))
        if self.turns and self.rows * self.turns[0][1] > self.count:
            tests.append(Binary("<", Var(self.turns[0][0]), Int(self.count)))
        if not tests:
            return None
        return tests[0] if len(tests) == 1 else Binary("&&", *tests)


def crew(counts: Mapping[str, int], threads: int) -> Crew:
    """Return how `threads` share a nest of loops with `counts`, outermost first.

    They take as many whole inner loops as there are threads for, and rows of the next loop with
    the threads that are left over.
    """
    loops = list(counts.items())
    fixed: list[tuple[str, int]] = []
    size = 1
    while loops and size * loops[-1][1] <= threads:
        fixed.append(loops.pop())
        size *= fixed[-1][1]
    if not loops:
        return Crew(size, tuple(fixed))
    moving, count = loops.pop()
    turns = -(-count // (threads // size))
    # The fewest rows that need no more rounds leave the fewest threads without a row at the end.
    rows = -(-count // turns)
    outer = reversed(loops)
    return Crew(size * rows, tuple(fixed), ((moving, turns), *outer), rows, count)


def _digit(number: Expr, faster: int, count: int, is_last: bool) -> Expr:
    """Return a digit of a number, below which others count to `faster`."""
    if count == 1 and not is_last:
        return Int(0)
    own = number if faster == 1 else Binary("/", number, Int(faster))
    return own if is_last else Binary("%", own, Int(count))
