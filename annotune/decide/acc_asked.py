"""The form that a recipe's ``acc`` asks for: its ``cache`` and its ``clause``, kept or refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from annotune.decide.acc_cache import cacheable
from annotune.decide.acc_shapes import RECIPE, in_form
from annotune.decide.placement import on_acc
from annotune.decide.plan import Candidate
from annotune.decide.units import Unit
from annotune.transforms.cache import Cache
from annotune.transforms.map import TILE, Map
from annotune.transforms.tile import Tile, tile_name


def as_asked(unit: Unit, choice: Candidate, asked: Map, arrays: tuple[str, ...]) -> Candidate | str:
    """Return a choice whose loops ``acc`` names in the form that it asks for, or why it cannot be.

    Tiles that it does not name are left out. `arrays` are those that it has in its ``cache``.
    """
    made = in_form(unit, choice, asked)
    own = (step for step in made.of(Tile) if tile_name(step.loop) in asked.names)
    made = made.having(*own, without=(Tile,))
    if not asked.clause and not arrays:
        return made
    if asked.clause:
        why_not = _why_no_clause(unit, made, asked, arrays)
        if why_not:
            return why_not
        made = on_acc(made, clause=TILE, asked=asked)
    known = cacheable(unit, made) if arrays else ()
    for array in arrays:
        if array not in known:
            what = f"a gang does not read one box of '{array}' again and again"
            return f"{what}; of these it does: {', '.join(known) or 'none'}"
    made = replace(made, shape=RECIPE)
    # The lengths of a section are those of the tuned sizes.
    return replace(made.having(Cache(made.leader, arrays)), elsewhere=made) if arrays else made


def _why_no_clause(unit: Unit, choice: Candidate, asked: Map, arrays: tuple[str, ...]) -> str:
    """Return why the ``tile`` clause cannot say the loops of an ``acc``, empty when it can."""
    if asked.clause != TILE:
        return f"there is no clause '{asked.clause}', only '{TILE}'"
    lanes = asked.on("vector")
    tiles = [tile_name(loop) for loop in lanes]
    cut = [tile_name(loop) for loop, _ in choice.tiles]
    if asked.on("worker") or list(asked.on("gang")) != tiles or not set(tiles) <= set(cut):
        wanted = _listed(tiles)
        return f"`{TILE}` needs the vector's loops in tiles, and these as gangs: gang={wanted}"
    if arrays:
        return f"`{TILE}` and `cache` do not go together: a gang has no loop of its own"
    if not all(unit.may_have_lanes(loop) for loop in lanes):
        return "lanes of these loops would lose the order inside an iteration"
    return ""


def _listed(names: Sequence[str]) -> str:
    return "{" + ",".join(f'"{name}"' for name in names) + "}"
