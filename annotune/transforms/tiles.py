"""The loop over one tile: where it starts, how long a full tile is, and where it may be cut."""

from __future__ import annotations

from collections.abc import Mapping

from annotune.ir.expr import Binary, Call, Expr, Int
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


def full_length(loop: Loop, constants: Mapping[str, int]) -> int | None:
    """Return the most iterations of a loop of step 1, None where it is not known."""
    if loop.step != 1:
        return None
    ends = loop.upper.arguments if isinstance(loop.upper, Call) else (loop.upper,)
    for end in ends:
        count = fold(Binary("-", end, loop.lower), constants)
        if isinstance(count, Int) and count.value > 0:
            return count.value
    return None
