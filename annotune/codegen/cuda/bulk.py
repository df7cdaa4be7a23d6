"""Copies of neighbours that the device makes by itself, between memory and what a block shares.

One thread asks for the copy. Of one into the block's memory an mbarrier knows when all its bytes
are there; one back has left when the thread has waited for it. Loads and stores of threads and
these copies reach shared memory on ways of their own, so that a fence stands between what threads
have written there and a copy of it (PTX ISA, Async proxy; CUDA C++ Programming Guide, Asynchronous
Data Copies using the Tensor Memory Accelerator, one-dimensional). Before sm_90 the threads of the
block copy.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import TypeGuard

from annotune.frozen import dataclass
from annotune.ir.expr import Access, Expr, Int, substitute
from annotune.ir.fold import fold
from annotune.ir.nest import Assign, Level, Loop, Stmt, walk_paths, walk_stmts
from annotune.transforms.tree import Body, target_name

ARRIVALS, PHASE = "annotune_arrivals", "annotune_phase"
BEGIN, LOAD, WAIT = "annotune_bulk_begin", "annotune_bulk_load", "annotune_bulk_wait"
FENCE, STORE, FINISH = "annotune_bulk_fence", "annotune_bulk_store", "annotune_bulk_finish"
# An mbarrier is a word of 8 bytes.
ARRIVAL_TYPE = "std::uint64_t"


def _at_start(place: Expr, loop: str) -> Access:
    """Return an element where a loop begins."""
    element = fold(substitute(place, {loop: Int(0)}))
    assert isinstance(element, Access)
    return element


@dataclass(frozen=True, slots=True)
class BulkCopy:
    """One copy: `count` neighbours from the element `source` on to `target` and those behind it.

    `held` is the block's array, and `is_load` whether the copy fills it.
    """

    target: Access
    source: Access
    count: Int
    held: str
    is_load: bool

    @classmethod
    def of(cls, loop: Loop, shared: Collection[str]) -> BulkCopy:
        """Return what a loop says that copies one array of the block, of those called `shared`."""
        (assign,) = loop.body
        assert isinstance(assign, Assign)
        target, source = (_at_start(x, loop.var) for x in (assign.target, assign.value))
        assert isinstance(loop.upper, Int)
        is_load = target.array in shared
        held = target.array if is_load else source.array
        return cls(target, source, loop.upper, held, is_load)


def bulk_loops(body: Body) -> Iterator[Loop]:
    """Yield the loops that stand for such copies."""
    for stmt in walk_stmts(body):
        if is_bulk(stmt):
            yield stmt


def is_bulk(stmt: Stmt) -> TypeGuard[Loop]:
    """Return whether a statement stands for such a copy."""
    return isinstance(stmt, Loop) and stmt.place is Level.BULK


class BulkText:
    """What is under way while a kernel is written, and the calls for it.

    Each array that is filled has an mbarrier, of which the phase is that of the block's iteration.
    """

    def __init__(self, body: Body, shared: Collection[str], is_once: bool) -> None:
        self._shared = shared
        copies = [self.copy(loop) for loop in bulk_loops(body)]
        filled = dict.fromkeys(copy.held for copy in copies if copy.is_load)
        self._arrivals = {name: number for number, name in enumerate(filled)}
        # Filled again after the threads have written to it.
        self.is_rewritten = any(
            target_name(s) in filled
            for s, loops in walk_paths(body)
            if not any(x.place is Level.BULK for x in loops)
        )
        self._changes_phase = bool(filled) and not is_once
        self._under_way: list[str] = []
        self.is_leaving = False
        self.is_fenced = False

    def copy(self, loop: Loop) -> BulkCopy:
        """Return what a loop says."""
        return BulkCopy.of(loop, self._shared)

    def first_lines(self) -> Iterator[str]:
        """Yield what stands before the block's work."""
        if self._arrivals:
            count = len(self._arrivals)
            yield f"__shared__ {ARRIVAL_TYPE} {ARRIVALS}[{count}];"
            yield f"{BEGIN}({ARRIVALS}, {count});"
        if self._changes_phase:
            yield f"unsigned {PHASE} = 0;"

    def last_lines(self, loop: Loop) -> Iterator[str]:
        """Yield what stands at the end of an iteration of a loop on blocks."""
        loads = (self.copy(x).is_load for x in loop.body if is_bulk(x))
        if self._changes_phase and any(loads):
            yield f"{PHASE} ^= 1;"

    def moved(self, loop: Loop, expr: Callable[[Expr], str]) -> str:
        """Return the call that begins a copy."""
        copy = self.copy(loop)
        call = f"&{expr(copy.target)}, &{expr(copy.source)}, {copy.count.value}"
        if not copy.is_load:
            self.is_leaving = True
            return f"{STORE}({call});"
        self._under_way.append(copy.held)
        return f"{LOAD}({call}, &{ARRIVALS}[{self._arrivals[copy.held]}]);"

    def waits(self, names: Collection[str] | None = None) -> Iterator[str]:
        """Yield the calls that wait for what is filled, of some names or all."""
        phase = PHASE if self._changes_phase else "0"
        for name in tuple(self._under_way):
            if names is None or name in names:
                self._under_way.remove(name)
                yield f"{WAIT}(&{ARRIVALS}[{self._arrivals[name]}], {phase});"

    def finishes(self) -> Iterator[str]:
        """Yield the call after which what has left may be written again."""
        if self.is_leaving:
            yield f"{FINISH}();"
        self.is_leaving = False
