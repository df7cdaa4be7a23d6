"""A contraction's tile as the recipe's ``contract`` asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from annotune.decide.contraction_tile import Assignment, ContractionTile
from annotune.decide.occupancy import SHARED_BYTES
from annotune.decide.plan import Candidate
from annotune.decide.rules import MAX_THREADS
from annotune.decide.two_level import (
    Contraction,
    choose_tile,
    contraction,
    copied_bytes,
    has_own_sums,
    taken_name,
)
from annotune.decide.units import Unit
from annotune.transforms.requests import Contract


def wished(unit: Unit, wish: Contract) -> Candidate | str:
    """Return the choice for a tile that somebody asks for, or in words why it cannot be."""
    found = contraction(unit)
    if isinstance(found, str):
        return found
    tile = _as_wished(found, wish)
    if isinstance(tile, str):
        return tile
    roles = (
        ((tile.thread_x, tile.register_x), found.x, found.a),
        ((tile.thread_y, tile.register_y), found.y, found.b),
    )
    for pair, loops, access in roles:
        names = [loop for loop, _ in pair if loop]
        if len(names) < 2 or not set(names) <= set(loops):
            own = " and ".join(names) or "none"
            return f"{own}: not two of the loops of {access.access.array} alone, {_list(loops)}"
    if not has_own_sums(unit, found, tile):
        return f"each iteration of {unit.band[-1].var} has a sum, so it must be in registers"
    taken = taken_name(unit, tile)
    if taken:
        return f"the region uses the name {taken}"
    if tile.contracted[0] not in found.contracted:
        return f"{tile.contracted[0]} is none of the summed loops: {_list(found.contracted)}"
    if tile.threads > MAX_THREADS:
        return f"a block would have {tile.threads} threads, more than {MAX_THREADS}"
    if copied_bytes(unit, found, tile) > SHARED_BYTES:
        return f"the copies need more than {SHARED_BYTES // 1024} KiB of shared memory"
    return choose_tile(unit, found, tile)


def _as_wished(found: Contraction, wish: Contract) -> ContractionTile | str:
    """Return the tile that is asked for, or what of it is no input of the statement and no word.

    A role without a loop has an empty name.
    """
    wrong = next((word for word in wish.assign if word not in list(Assignment)), "")
    if wrong:
        return f"'{wrong}' is no assignment: {_list(tuple(Assignment))}"
    inputs = (found.a.access.array, found.b.access.array)
    staged = inputs if wish.stage is None else wish.stage
    other = next((name for name in staged if name not in inputs), "")
    if other:
        return f"{other} is no input of the statement: {_list(inputs)}"
    thread, register = (*wish.thread, "", ""), (*wish.register, "", "")
    tile = ContractionTile(
        (thread[0], wish.thread_x),
        (thread[1], wish.thread_y),
        (register[0], wish.register_x),
        (register[1], wish.register_y),
        (wish.sum, wish.step),
        stage_x=inputs[0] in staged,
        stage_y=inputs[1] in staged,
    )
    usual = (tile.assign_x, tile.assign_y)
    assigned = (*map(Assignment, wish.assign), *usual[len(wish.assign) :])
    return replace(tile, assign_x=assigned[0], assign_y=assigned[1])


def _list(loops: Sequence[str]) -> str:
    return ", ".join(loops)
