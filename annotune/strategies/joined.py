"""The `elements` strategy for nests one after another, each with a loop over the elements.

Where what one of them hands on stays within an element, one block has the element in all of them:
what several read it copies once.

Source: S. Świrydowicz, N. Chalmers, A. Karakus and T. Warburton, "Acceleration of tensor-product
operations for high-order finite element methods", IJHPCA 33(4), 2019,
doi:10.1177/1094342018816368.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from annotune.model.shape import element_of, moves
from annotune.schedule.launch_sizes import TEAM
from annotune.schedule.units import Unit, join
from annotune.strategies.elements import elements
from annotune.transforms.legality import OWN_SHARED_BYTES

# Points of an element that a block runs over in 16 turns of its threads; with more of them a loop
# further inside is that over elements.
MOST_POINTS = 16 * TEAM


def joined_elements(units: Sequence[Unit]) -> tuple[Unit, ...]:
    """Return units with those neighbours joined that a block may have together for an element."""
    groups: list[Unit] = []
    for unit in units:
        both = _joined(groups[-1], unit) if groups else None
        groups[-1:] = [both] if both is not None else [*groups[-1:], unit]
    return tuple(one for group in groups for one in _able(group))


def _able(unit: Unit) -> tuple[Unit, ...]:
    """Return a unit, or what it joins where that has no block for an element."""
    if not unit.members or not (_too_much(unit) or isinstance(elements(unit), str)):
        return (unit,)
    return unit.members


def _joined(first: Unit, second: Unit) -> Unit | None:
    """Return two neighbours with the loops over elements in common, or None."""
    loop = first.joined or _element_loop(first, second)
    if not loop or not _shared(first, second, loop):
        return None
    return join(first.analysis, first, second, loop)


def _element_loop(first: Unit, second: Unit) -> str:
    """Return the outermost loop whose iterations are small enough for a block, empty for none."""
    pairs = zip(first.parallel, second.parallel, strict=False)
    for depth, (one, two) in enumerate(pairs):
        if one != two:
            return ""
        if max(_points(unit, depth + 1) for unit in (first, second)) <= MOST_POINTS:
            return one
    return ""


def _points(unit: Unit, depth: int) -> int:
    """Return the parallel iterations inside so many loops; more than a block takes, if unknown."""
    trips = [unit.trips[name] for name in unit.parallel[depth:]]
    return MOST_POINTS + 1 if None in trips else prod(n or 1 for n in trips)


def _shared(first: Unit, second: Unit, loop: str) -> set[str]:
    """Return the arrays of which an iteration of a loop has its own part in both units."""
    one, two = (
        {f.access.array for f in (*u.reads, *u.writes) if f.strides.get(loop) != 0}
        for u in (first, second)
    )
    return one & two


def _too_much(unit: Unit) -> str:
    """Return in words that an element reads more of an array than a block has, empty if it does
    not."""
    for fact in unit.reads:
        inside = [n for n in fact.strides if n not in unit.parallel and moves(fact, n)]
        trips = [unit.trip(fact.statement, name) for name in inside]
        if None in trips:
            return f"how much an element reads of '{fact.access.array}' varies"
        size = element_of(unit, fact) * prod(n or 1 for n in trips)
        if size > OWN_SHARED_BYTES:
            return f"an element reads {size} bytes of '{fact.access.array}', too many for a block"
    return ""
