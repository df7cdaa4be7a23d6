"""Nests whose every iteration stands alone: what `elementwise` and `stencil` have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from annotune.analysis.facts import AccessFacts
from annotune.decide.plan import Candidate, Reason
from annotune.decide.units import Unit
from annotune.ir.expr import Access
from annotune.transforms.context import Context
from annotune.transforms.halo import offset_of
from annotune.transforms.pad import Pad
from annotune.transforms.stage import Stage
from annotune.transforms.tile import Tile, name_is_taken, tile_name
from annotune.transforms.transform import Transform
from annotune.transforms.tree import bound_names


@dataclass(frozen=True)
class Pointwise:
    """A nest of parallel loops around statements alone.

    `loops` are its loops from the one contiguous in most accesses outward, by their strides in
    what is written. `families` are the accesses of each array that is read and not written, those
    that differ by constants together.
    """

    unit: Unit
    loops: tuple[str, ...]
    families: tuple[tuple[AccessFacts, ...], ...]

    def trip(self, loop: str) -> int:
        return self.unit.trips[loop] or 1


def pointwise(unit: Unit) -> Pointwise | str:
    """Return the nest of a unit, or in words why its iterations do not stand alone."""
    own = [loop for loop in unit.band if loop.var not in unit.host]
    names = tuple(loop.var for loop in own)
    if not names or set(names) != set(unit.parallel):
        return "not every loop of the nest is parallel"
    for statement in unit.statements:
        if unit.loops_around(statement)[-len(names) :] != names:
            return "a statement has a loop of its own, or the loops are no perfect nest"
    if any(bound_names(loop) & set(names) or unit.count(loop) is None for loop in own):
        return "the bounds of a loop use another loop"
    if any(loop.step != 1 for loop in own):
        return "a loop has a step"
    taken = next((n for n in names if name_is_taken(n, unit.analysis)), "")
    if taken:
        return f"the region uses the name {tile_name(taken)}"
    every = (*unit.writes, *unit.reads)
    contiguous = [n for n in names if any(abs(a.strides.get(n) or 0) == 1 for a in every)]
    if not contiguous:
        return "no loop is contiguous in an array"
    inner = max(reversed(contiguous), key=lambda n: _contiguous(unit, n))
    others = sorted((n for n in names if n != inner), key=lambda n: _stride(unit, n))
    return Pointwise(unit, (inner, *others), tuple(_families(unit, names)))


def _contiguous(unit: Unit, loop: str) -> int:
    """Return in how many accesses a loop is contiguous; what is written counts twice."""
    return sum(
        abs(a.strides.get(loop) or 0) == 1 for a in (*unit.writes, *unit.writes, *unit.reads)
    )


def _stride(unit: Unit, loop: str) -> int:
    strides = (a.strides.get(loop) for a in (*unit.writes, *unit.reads))
    return min((abs(s) for s in strides if s), default=1 << 62)


def _families(unit: Unit, names: Sequence[str]) -> Iterator[tuple[AccessFacts, ...]]:
    written = {access.access.array for access in unit.writes}
    found: list[list[AccessFacts]] = []
    for access in dict.fromkeys(_key(a) for a in unit.reads):
        facts = next(a for a in unit.reads if _key(a) == access)
        if facts.access.array in written:
            continue
        near = (f for f in found if offset_of(facts.access, f[0].access, names) is not None)
        family = next(near, None)
        if family is None:
            found.append([facts])
        else:
            family.append(facts)
    yield from map(tuple, found)


def _key(access: AccessFacts) -> Access:
    return access.access


def offsets(nest: Pointwise, family: Sequence[AccessFacts]) -> tuple[Mapping[str, int], ...]:
    """Return by how many iterations each access of a family is ahead of the first."""
    found = (offset_of(a.access, family[0].access, nest.loops) for a in family)
    return tuple(offset for offset in found if offset is not None)


def tiled(
    nest: Pointwise,
    tiles: Sequence[tuple[str, int]],
    threads: Sequence[str],
    reasons: Sequence[Reason],
    staged: Sequence[str] = (),
    padding: int = 0,
    max_blocks: int = 0,
) -> Candidate:
    """Return the choice with `tiles` on blocks, and all other loops after them.

    Loops of tiles that are in `threads` run there, the others inside the thread. A block has
    copies of what it reads of the arrays in `staged`, made before the statements.
    """
    unit, cut = nest.unit, dict(tiles)
    names = [tile_name(n) if n in cut else n for n in nest.loops]
    taken = {n for n in threads if n not in cut}
    blocks = tuple(n for n in names if n not in taken)
    copies: list[Transform] = []
    for array in staged:
        reader = next(a.statement for a in unit.reads if a.access.array == array)
        copies.append(Stage(reader, array, padding=padding))
    copies.sort(key=lambda copy: copy.statement)
    padded = tuple(loop for loop, _ in tiles if loop in threads)
    if copies and padded:
        copies.append(Pad(copies[0].statement, padded))
    return Candidate.of_axes(
        unit.parts,
        *copies,
        tiles=tiles,
        blocks=blocks,
        threads=threads,
        host=unit.host,
        max_blocks=max_blocks,
        reasons=reasons,
    )


def may_copy(nest: Pointwise, choice: Candidate) -> bool:
    """Return whether all the copies of a choice are right, and fit a block."""
    unit = nest.unit
    body, context = unit.body, Context(unit.analysis, unit.analysis.region.sizes)
    for step in choice.of(Tile):
        body = step.apply(body, context)
    if choice.mapping is not None:
        body = choice.mapping.apply(body, context)
    for stage in choice.of(Stage):
        if stage.why_not(body, Context(unit.analysis)) is not None:
            return False
        body = stage.apply(body, Context(unit.analysis))
    return True


def tiles_of(nest: Pointwise, loop: str, size: int) -> int:
    """Return how many tiles of a size a loop has."""
    return ceil(nest.trip(loop) / size)
