"""The form that a recipe's ``acc`` asks for: its ``cache`` and its ``clause``, kept or refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from annotune.decide.acc_cache import cacheable
from annotune.decide.plan import AccForm, KernelChoice
from annotune.decide.units import Unit
from annotune.transforms.tile import tile_name

RECIPE = "recipe"
TILE = "tile"


def as_asked(unit: Unit, choice: KernelChoice) -> KernelChoice | str:
    """Return a choice whose ``acc`` names loops in the form that it asks for, or why it cannot be.

    Tiles that it does not name are left out.
    """
    axes = choice.acc
    assert axes is not None
    named = axes.names
    choice = replace(choice, tiles=tuple(t for t in choice.tiles if tile_name(t[0]) in named))
    if not axes.clause and not choice.cached:
        return choice
    if axes.clause:
        why_not = _why_no_clause(unit, choice, axes.clause)
        if why_not:
            return why_not
    # What the loops are for CUDA says nothing here.
    threads = (*axes.on("worker"), *axes.on("vector"))
    mapped = replace(choice, blocks=axes.on("gang"), threads=threads)
    known = cacheable(unit, mapped) if choice.cached else ()
    for array in choice.cached:
        if array not in known:
            what = f"a gang does not read one box of '{array}' again and again"
            return f"{what}; of these it does: {', '.join(known) or 'none'}"
    form = AccForm(RECIPE, tile_clause=bool(axes.clause), cached=choice.cached)
    # The lengths of a section are those of the tuned sizes.
    other = replace(choice, form=replace(form, cached=())) if choice.cached else None
    return replace(choice, form=form, elsewhere=other)


def _why_no_clause(unit: Unit, choice: KernelChoice, clause: str) -> str:
    """Return why the ``tile`` clause cannot say the loops of an ``acc``, empty when it can."""
    axes = choice.acc
    assert axes is not None
    if clause != TILE:
        return f"there is no clause '{clause}', only '{TILE}'"
    lanes = axes.on("vector")
    tiles = [tile_name(loop) for loop in lanes]
    cut = [tile_name(loop) for loop, _ in choice.tiles]
    if axes.on("worker") or list(axes.on("gang")) != tiles or not set(tiles) <= set(cut):
        wanted = _listed(tiles)
        return f"`{TILE}` needs the vector's loops in tiles, and these as gangs: gang={wanted}"
    if choice.cached:
        return f"`{TILE}` and `cache` do not go together: a gang has no loop of its own"
    if not all(unit.may_have_lanes(loop) for loop in lanes):
        return "lanes of these loops would lose the order inside an iteration"
    return ""


def _listed(names: Sequence[str]) -> str:
    return "{" + ",".join(f'"{name}"' for name in names) + "}"
