"""The accesses of a planned kernel to shared memory, with the bank conflicts they cause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from annotune.codegen.cuda.copies import copy_layout
from annotune.codegen.cuda.grid import THREADS, grid, own_count
from annotune.ir.expr import Access, Binary, Expr, Int, accesses, print_expr, substitute, variables
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import (
    Assign,
    Level,
    Local,
    LocalArray,
    Loop,
    MemorySpace,
    walk_stmts,
)
from annotune.measure.values import element_of
from annotune.schedule.plan import Kernel
from annotune.strategies.copy_layout import Passes
from annotune.transforms.registers import DEPTH_LANES, fragments
from annotune.transforms.tree import turn
from machine_code.bank_passes import ThreadLoop, access_passes
from machine_code.parts import spelled_out, with_parts


@dataclass(frozen=True)
class SharedAccess:
    """One access to an array in shared memory: what the warps of a block need for it once.

    `is_filling` marks the accesses by which all threads together fill the array.
    """

    text: str
    is_write: bool
    is_filling: bool
    passes: Passes


def shared_accesses(kernel: Kernel, sizes: Mapping[str, int]) -> tuple[SharedAccess, ...]:
    """Return every access of `kernel` to shared memory, each written once however often it runs.

    Serial loops stand at their first iteration, which may be another one in each thread: a
    further one moves all lanes alike, as another part of a ring of copies does.
    """
    arrays = {
        stmt.name: stmt
        for stmt in walk_stmts(kernel.body)
        if isinstance(stmt, LocalArray) and stmt.space is MemorySpace.SHARED
    }
    block = prod(grid(kernel, sizes).threads)
    unset = {stmt.name: 0 for stmt in walk_stmts(kernel.body) if isinstance(stmt, Local)}
    found: dict[str, SharedAccess] = {}
    for assign, loops, parts in with_parts(kernel.body) if arrays else ():
        for named, is_write in _by_warps(assign, loops) or _accesses(assign):
            if named.array not in arrays:
                continue
            access = spelled_out(named, parts)
            one = _counted(access, is_write, arrays[access.array], loops, {**unset, **sizes}, block)
            found.setdefault(f"{is_write} {one.text}", one)
    return tuple(found.values())


def _accesses(assign: Assign) -> Iterator[tuple[Access, bool]]:
    """Yield the elements that a statement reads, and the one that it writes."""
    for source in assign.sources():
        yield from ((access, False) for access in accesses(source))
    if isinstance(assign.target, Access):
        yield assign.target, True


def _by_warps(assign: Assign, loops: Sequence[Loop]) -> list[tuple[Access, bool]]:
    """Return what a lane reads for the tensor cores, in the first step; none of other statements.

    It has one of four steps of the sum, its own rows, and the columns of other lanes
    (`annotune.codegen.cuda.fragments`).
    """
    total = next((loop for loop in loops if loop.by_warps), None)
    if total is None:
        return []
    one = fragments([loop for loop in loops if loop.place in THREADS], total)
    assert not isinstance(one, str), one
    x, y = turn(one.x), turn(one.y)
    counts = [own_count(loop) for loop in one.columns]
    columns = prod(count.value for count in counts if isinstance(count, Int))
    side = Binary("*", Int(one.apart(columns)), Binary("%", y, Int(2)))
    pair = Binary("%", Binary("/", y, Int(2)), Int(DEPTH_LANES))
    step = {total.var: Binary("+", total.lower, x)}
    left, right = one.placed(one.left, Int(0), Int(0)), one.placed(one.right, Int(0), side, pair)
    placed = (fold(substitute(factor, step)) for factor in (left, right))
    return [(access, False) for factor in placed for access in accesses(factor)]


def _counted(
    access: Access,
    is_write: bool,
    array: LocalArray,
    loops: Sequence[Loop],
    sizes: Mapping[str, int],
    block: int,
) -> SharedAccess:
    values = dict(sizes)
    for loop in loops:
        first = fold(loop.lower, values)
        values[loop.var] = first.value if isinstance(first, Int) else 0
    team = [loop for loop in loops if loop.place in (Level.COOPERATIVE, Level.ASYNC)]
    # Neighbours that a thread copies at once are one access.
    together = prod(_count(loop, values) for loop in loops if loop.place is Level.SIMD)
    # The innermost loop that all threads share, and of the axes x, varies fastest.
    placed = team[::-1] or [loop for level in THREADS for loop in loops if loop.place is level]
    threads = [
        ThreadLoop(loop.var, max(1, _count(loop, values)), values[loop.var], loop.step)
        for loop in placed
    ]
    if team:
        block = copy_layout({loop.var: _count(loop, values) for loop in team}, block).size
    starts = _starts(loops, {t.var for t in threads})
    open_names = {*starts, *(t.var for t in threads)}
    known = {name: value for name, value in values.items() if name not in open_names}
    element = element_of(array.type).dtype.itemsize
    indices = [fold(substitute(index, starts)) for index in access.indices]
    passes = access_passes(array.extents, element, indices, threads, known, together, block)
    return SharedAccess(print_expr(access), is_write, bool(team), passes)


def _starts(loops: Sequence[Loop], threads: set[str]) -> dict[str, Expr]:
    """Return the first values of serial loops that are others in each of the `threads`."""
    starts: dict[str, Expr] = {}
    for loop in loops:
        first = substitute(loop.lower, starts)
        if loop.var not in threads and variables(first) & threads:
            starts[loop.var] = first
    return starts


def _count(loop: Loop, values: Mapping[str, int]) -> int:
    """Return how many iterations a loop has where the loops around it begin."""
    known = {name: value for name, value in values.items() if name != loop.var}
    count = fold(trip_count(loop), known)
    return count.value if isinstance(count, Int) else 1


def conflict_factor(found: Sequence[SharedAccess], filling: bool) -> float | None:
    """Return the transactions over the least possible of all accesses of a kind, None for none.

    `filling` chooses the accesses that fill the arrays, else those that use them.
    """
    kept = [one.passes for one in found if one.is_filling is filling]
    ideal = sum(passes.ideal for passes in kept)
    return sum(passes.transactions for passes in kept) / ideal if ideal else None
