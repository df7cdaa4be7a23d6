"""What OpenACC's ``cache`` directive may name: elements that a gang's lanes read again and again.

The first element of a section must not change in the loop that the directive stands in, and its
lengths are constants (OpenACC 3.3, section 2.10). A compiler may read all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from annotune.analysis.facts import AccessFacts
from annotune.decide.plan import CachedSection, KernelChoice
from annotune.decide.units import Unit
from annotune.ir.element_bytes import element_bytes
from annotune.ir.expr import Binary, Expr, Int, Select, Var, substitute, walk
from annotune.ir.fold import fold
from annotune.transforms.tile import tile_name
from annotune.transforms.tree import find_assign

# Bytes of the sections of a gang together: what a block may have of shared memory, where a
# compiler may put them, without asking for more (CUDA C++ Programming Guide).
CACHED_BYTES = 48 * 1024


def cached_sections(unit: Unit, choice: KernelChoice) -> tuple[CachedSection, ...]:
    """Return the sections that a gang reads more than once under `choice`, in text order.

    They are boxes of arrays that the kernel does not write, and every gang reads all of its box:
    the last tile of a loop is whole, and no condition leaves elements out. Without gang loops
    nothing stays in place for a gang.
    """
    inside = dict(_inside(unit, choice))
    if not choice.blocks or any(count is None for count in inside.values()):
        return ()
    counts = {name: count for name, count in inside.items() if count is not None}
    written = {fact.access.array for fact in unit.writes}
    found: dict[str, CachedSection] = {}
    room = CACHED_BYTES
    for access in unit.reads:
        array = access.access.array
        if array in written or array in found or not unit.is_in_memory(access.access):
            continue
        if _leaves_out(unit, choice, access):
            continue
        section = _section(unit, choice, access, counts)
        if section is None:
            continue
        element = element_bytes(unit.analysis.region.arrays[array].element)
        size = element * prod(length for _, length in section.rows)
        if size <= room:
            found[array] = section
            room -= size
    return tuple(found.values())


def _leaves_out(unit: Unit, choice: KernelChoice, access: AccessFacts) -> bool:
    """Return whether some gang reads less by an access than its loops run over."""
    cut = (name for name, size in choice.tiles if (unit.trips[name] or 0) % size)
    if any(access.strides.get(name, 0) != 0 for name in cut):
        return True
    assign = find_assign(unit.body, access.statement)
    parts = (part for source in assign.sources() for part in walk(source))
    return assign.guard is not None or any(isinstance(part, Select) for part in parts)


def _section(
    unit: Unit, choice: KernelChoice, access: AccessFacts, counts: Mapping[str, int]
) -> CachedSection | None:
    """Return what a gang reads by one access, None where that is no box, or read once."""
    if all(access.strides.get(name) != 0 for name in counts):
        return None
    starts = {name: _start(unit, choice, name) for name in counts}
    known = {name: start for name, start in starts.items() if start is not None}
    if len(known) < len(starts):
        return None
    rows = []
    for index in access.access.indices:
        length = _length(unit, index, counts)
        if length is None:
            return None
        rows.append((fold(substitute(index, known)), length))
    size = prod(length for _, length in rows)
    return CachedSection(access.access.array, tuple(rows)) if size > 1 else None


def _length(unit: Unit, index: Expr, counts: Mapping[str, int]) -> int | None:
    """Return how many neighbours a subscript takes over all `counts`, None where it leaves gaps."""
    steps = []
    for name, count in counts.items():
        after = substitute(index, {name: Binary("+", Var(name), Int(1))})
        step = fold(Binary("-", after, index), unit.analysis.region.sizes)
        if not isinstance(step, Int) or step.value < 0:
            return None
        if step.value:
            steps.append((step.value, count))
    length = 1
    for step_length, count in sorted(steps):
        # Each loop goes on where the one before it ends.
        if step_length != length:
            return None
        length *= count
    return length


def _inside(unit: Unit, choice: KernelChoice) -> Iterator[tuple[str, int | None]]:
    """Yield the loops that run inside a gang, with their counts: whole ones, and tiles of one."""
    tiles = dict(choice.tiles)
    outside = {*choice.blocks, *choice.host}
    for name in dict.fromkeys(n for s in unit.statements for n in unit.loops_around(s)):
        # The user may have a loop `k_t` beside one `k` that is in no tiles.
        if name in tiles and tile_name(name) in outside:
            yield name, tiles[name]
        elif name not in outside:
            yield name, unit.trips[name]


def _start(unit: Unit, choice: KernelChoice, name: str) -> Expr | None:
    """Return where a loop starts in a gang, None where the kernel has several of the name."""
    if name in dict(choice.tiles) and tile_name(name) in choice.blocks:
        return Var(tile_name(name))
    paths = (unit.analysis.paths[s] for s in unit.statements)
    lowers = {loop.lower for path in paths for loop in path if loop.var == name}
    return lowers.pop() if len(lowers) == 1 else None
