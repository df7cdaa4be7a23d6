"""The loop over one tile: where it starts, how long a full tile is, and where it may be cut."""

from __future__ import annotations

from collections.abc import Mapping

from annotune.ir.expr import Binary, Call, Expr, Int, Var
from annotune.ir.fold import fold
from annotune.ir.nest import Loop


def full_end(loop: Loop) -> Expr:
    """Return the end of a loop; of one that may be cut short, that of a full tile."""
    match loop.upper:
        case Call("min", (full, _)):
            return full
        case upper:
            return upper


def cut_end(loop: Loop) -> Expr | None:
    """Return the bound that may cut a tile short, None where there is none."""
    match loop.upper:
        case Call("min", (_, end)):
            return end
        case _:
            return None


def cut_ends(loop: Loop) -> tuple[Expr, ...]:
    """Return all bounds that may cut a tile short, the least of which does."""
    found: list[Expr] = []
    end = cut_end(loop)
    while end is not None:
        match end:
            case Call("min", (first, rest)):
                found.append(first)
                end = rest
            case _:
                found.append(end)
                end = None
    return tuple(found)


def full_length(loop: Loop, constants: Mapping[str, int]) -> int | None:
    """Return the most iterations of a loop, None where it is not known."""
    for end in (full_end(loop), *cut_ends(loop)):
        distance = fold(Binary("-", end, loop.lower), constants)
        if isinstance(distance, Int) and distance.value > 0:
            return -(-distance.value // loop.step)
    return None


def turn(loop: Loop) -> Expr:
    """Return how many iterations of a loop come before this one."""
    distance = Binary("-", Var(loop.var), loop.lower)
    return fold(distance if loop.step == 1 else Binary("/", distance, Int(loop.step)))
