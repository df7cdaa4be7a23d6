"""What OpenACC's ``cache`` directive may name: elements that all lanes of a gang read again.

The first element of a section must not change in the loop that the directive stands in, and the
length is a constant (OpenACC 3.3, section 2.10).
"""

from __future__ import annotations

from collections.abc import Iterator

from annotune.analysis.facts import AccessFacts
from annotune.decide.plan import CachedSection, KernelChoice
from annotune.decide.units import Unit
from annotune.ir.expr import Expr, Var, substitute, variables
from annotune.ir.fold import fold
from annotune.transforms.tile import tile_name

# Bytes of the sections of a gang together: what a block may have of shared memory, where a
# compiler may put them, without asking for more (CUDA C++ Programming Guide).
CACHED_BYTES = 48 * 1024
_BYTES = {"double": 8, "float": 4}


def cached_sections(unit: Unit, choice: KernelChoice) -> tuple[CachedSection, ...]:
    """Return the sections that a gang reads more than once under `choice`, in text order.

    They are contiguous, of arrays that the kernel does not write, and no lane's own.
    """
    written = {fact.access.array for fact in unit.writes}
    found: dict[str, CachedSection] = {}
    room = CACHED_BYTES
    for access in unit.reads:
        array = access.access.array
        if array in written or array in found or not unit.is_in_memory(access.access):
            continue
        section = _section(unit, choice, access)
        if section is None:
            continue
        size = section.length * _BYTES.get(unit.analysis.region.arrays[array].element, 8)
        if size <= room:
            found[array] = section
            room -= size
    return tuple(found.values())


def _section(unit: Unit, choice: KernelChoice, access: AccessFacts) -> CachedSection | None:
    """Return what one access reads in a gang for each place of its gang loops, None for no row."""
    if any(access.strides.get(name) != 0 for name in choice.threads):
        return None
    inside = [pair for pair in _serial(unit, choice) if access.strides.get(pair[0]) != 0]
    *outer, last = access.access.indices
    if any(name in variables(index) for index in outer for name, _ in inside):
        return None
    length = 1
    for name, count in sorted(inside, key=lambda pair: abs(access.strides.get(pair[0]) or 0)):
        # Each loop goes on where the one before it ends.
        if count is None or access.strides.get(name) != length:
            return None
        length *= count
    starts = {name: _start(unit, choice, name) for name, _ in inside}
    known = {name: start for name, start in starts.items() if start is not None}
    if length == 1 or len(known) < len(starts):
        return None
    first = (*outer, fold(substitute(last, known)))
    return CachedSection(access.access.array, first, length)


def _serial(unit: Unit, choice: KernelChoice) -> Iterator[tuple[str, int | None]]:
    """Yield the loops that run inside a lane, with their trip counts: whole ones and tiles'."""
    tiles = dict(choice.tiles)
    taken = {*choice.blocks, *choice.threads, *choice.host}
    for name in unit.loops_around(unit.leader):
        if name not in taken:
            yield name, tiles[name] if tile_name(name) in taken else unit.trips[name]


def _start(unit: Unit, choice: KernelChoice, name: str) -> Expr | None:
    """Return where a loop starts in a gang, None for one of another nest."""
    if name in dict(choice.tiles):
        return Var(tile_name(name))
    return next((loop.lower for loop in unit.band if loop.var == name), None)
