"""Loops on the axes of a grid as indices: one loop to an axis, or several that share one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from annotune.codegen.c_stmt import Dialect
from annotune.codegen.grid import CUDA_INDEX, Grid, own_count, wide
from annotune.ir.expr import PRECEDENCE, SUM, Binary, Expr, Int, Var
from annotune.ir.fold import fold
from annotune.ir.nest import Loop

FLAT_INDEX = "annotune_b"


def placed_head(dialect: Dialect, loop: Loop) -> tuple[str, str]:
    """Return a placed loop's index as one constant, and as a loop in strides of the axis."""
    index, extent = CUDA_INDEX[loop.place]
    kind = dialect.iterator_type(loop)
    if kind not in ("int", "unsigned int"):
        # An index of 32 unsigned bits would make a 64-bit sum of a negative bound positive.
        index = f"({kind}){index}"
    start = _start(dialect, loop, index)
    jump = extent if loop.step == 1 else f"{loop.step} * {extent}"
    upper = dialect.bound(loop, loop.upper)
    head = f"for ({kind} {loop.var} = {start}; {loop.var} < {upper}; {loop.var} += {jump})"
    return f"const {kind} {loop.var} = {start};", head


def flat_heads(
    dialect: Dialect, loops: Sequence[Loop], shape: Grid, constants: Mapping[str, int]
) -> tuple[str, tuple[str, ...]]:
    """Return what the indices of loops that share an axis are: a head, empty for none, and lines.

    The first loop, the outermost, runs fastest, as x does among the axes. Where the axis is
    shorter than all iterations together, the head is a loop in strides of it.
    """
    level = loops[0].place
    index, extent = CUDA_INDEX[level]
    counts = [fold(own_count(loop), constants) for loop in loops]
    head = ""
    if not shape.is_covered(level, constants):
        total = dialect.expr(wide(fold(shape.trips[level], constants)), SUM)
        head = (
            f"for (long {FLAT_INDEX} = {index}; {FLAT_INDEX} < {total}; {FLAT_INDEX} += {extent})"
        )
        index = FLAT_INDEX
    lines = []
    faster: Expr = Int(1)
    for place, (loop, count) in enumerate(zip(loops, counts, strict=True)):
        own: Expr = Var(index) if faster == Int(1) else Binary("/", Var(index), wide(faster))
        if place < len(loops) - 1:
            own = Binary("%", own, count)
        faster = fold(Binary("*", faster, count))
        kind = dialect.iterator_type(loop)
        if count == Int(1):
            start = dialect.expr(fold(loop.lower))
        else:
            text = dialect.expr(own, PRECEDENCE["*"] + 1 if loop.step > 1 else 0)
            start = _start(dialect, loop, text if kind == "int" else f"({kind}){text}")
        lines.append(f"const {kind} {loop.var} = {start};")
    return head, tuple(lines)


def _start(dialect: Dialect, loop: Loop, index: str) -> str:
    """Return the value of a loop's iterator in the iteration with a number."""
    lower = fold(loop.lower)
    scaled = index if loop.step == 1 else f"{loop.step} * {index}"
    return scaled if lower == Int(0) else f"{dialect.bound(loop, lower)} + {scaled}"
