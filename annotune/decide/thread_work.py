"""What one thread of a direct kernel does: its loads, what it holds, and how long it waits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, prod

from annotune.analysis.facts import AccessFacts
from annotune.decide.kernel_shape import Shape
from annotune.decide.plan import Candidate
from annotune.decide.units import Unit

# nvcc unrolls a loop of known count that is no longer by itself (seen with counts 24 and 28).
UNROLLED_BY_COMPILER = 32
# Values that stay in registers over a loop at most: 24 doubles were seen to, 28 spilled.
MOST_HELD = 28


@dataclass(frozen=True, slots=True)
class Load:
    """An access of a thread: how often it is executed, and for how many values at a time.

    `held` values stay in registers over loops that do not move them; 0 for what is loaded and
    used at once.
    """

    access: AccessFacts
    runs: int
    held: int


@dataclass(frozen=True, slots=True)
class ThreadWork:
    """What a thread does for one statement, at the region's sizes.

    It runs `rounds` times through the loops that no compiler unrolls; in each round it adds
    `chain` terms to one sum, one after another. `iterations` are those of the statement.
    """

    statement: int
    loads: tuple[Load, ...]
    rounds: int
    chain: int
    iterations: int
    unrolled: int

    @property
    def held(self) -> int:
        """Return the values that a thread holds in registers for the statement."""
        return sum(load.held for load in self.loads)


def thread_work(unit: Unit, choice: Candidate, form: Shape) -> Iterator[ThreadWork]:
    """Yield what a thread does for each statement of a unit."""
    factors = {statement: factor for statement, _, factor in choice.unroll}
    in_register = dict(choice.registers)
    for statement in unit.statements:
        own = {*unit.loops_around(statement)}
        inside = [(name, count) for name, count in form.serial if name in own]
        rolled, flat = _split(inside, factors.get(statement, 1))
        loads = tuple(
            _load(access, rolled, flat, statement in in_register)
            for access in unit.analysis.accesses[statement]
        )
        target = next((a for a in unit.analysis.accesses[statement] if a.is_write), None)
        chain = prod(n for name, n in flat.items() if target and not _moves(target, name))
        iterations = prod(count for _, count in inside)
        unrolled = max(factors.get(statement, 1), prod(flat.values()))
        yield ThreadWork(statement, loads, prod(rolled.values()), chain, iterations, unrolled)


def _split(inside: Sequence[tuple[str, int]], factor: int) -> tuple[dict[str, int], dict[str, int]]:
    """Return the trip counts of the serial loops, and what is unrolled of the innermost one."""
    if not inside:
        return {}, {}
    (*outer, (innermost, count)) = inside
    if count <= max(factor, UNROLLED_BY_COMPILER):
        return dict(outer), {innermost: count}
    return {**dict(outer), innermost: ceil(count / factor)}, {innermost: factor}


def _load(
    access: AccessFacts, rolled: Mapping[str, int], flat: Mapping[str, int], keeps: bool
) -> Load:
    """Return how often an access runs that compilers hoist out of loops that do not move it.

    What the innermost loop moves is loaded for the whole of it first, if that is unrolled and
    registers hold it.
    """
    values = prod(count for name, count in flat.items() if _moves(access, name))
    names = list(rolled)
    depth = max((k + 1 for k, name in enumerate(names) if _moves(access, name)), default=0)
    is_hoisted = depth < len(names) and values <= MOST_HELD
    if access.is_write and not keeps:
        is_hoisted = False
    if not is_hoisted:
        depth = len(names)
    runs = values * prod(rolled[name] for name in names[:depth])
    return Load(access, runs, values if is_hoisted else 0)


def _moves(access: AccessFacts, loop: str) -> bool:
    return access.strides.get(loop, 0) != 0


def lanes(unit: Unit, form: Shape, warp_size: int) -> list[dict[str, int]]:
    """Return the thread indices of the first warp's lanes, x fastest, for loops of the text."""
    found = []
    # The lanes' places along each loop are few, and come again and again.
    along = [
        (count, [dict(unit.in_parts(name, index)) for index in range(min(count, warp_size))])
        for name, count in form.thread_trips
    ]
    for lane in range(min(warp_size, max(1, form.threads))):
        rest, place = lane, dict[str, int]()
        for count, places in along:
            place |= places[rest % count]
            rest //= count
        found.append(place)
    return found
