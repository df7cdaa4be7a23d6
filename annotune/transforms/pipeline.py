"""Begin the copies of later iterations before the work of the present one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from annotune.annotation.commands import Kind
from annotune.diagnostics import Diagnostic
from annotune.ir.expr import Access, Binary, Expr, Int, Var, conjunction, names_read, substitute
from annotune.ir.fold import fold
from annotune.ir.nest import (
    Assign,
    Await,
    Level,
    Local,
    LocalArray,
    Loop,
    MemorySpace,
    map_assigns,
    walk_stmts,
)
from annotune.transforms.copies import names_in
from annotune.transforms.legality import missing, serial_refusal
from annotune.transforms.messages import NO_WORD, NOT_AHEAD, NOT_PIPELINED, STAGES
from annotune.transforms.transform import Context, OnStatement
from annotune.transforms.tree import (
    Body,
    fresh_name,
    named_loop,
    replace_loop,
    target_name,
    top_of,
)
from annotune.transforms.word import Word, takes

# Where the next tile waits: in a ring in shared memory, or in the registers of all threads.
THROUGH = {"shared": MemorySpace.SHARED, "registers": MemorySpace.DEALT}
# With more copies under way than two tiles of them, shared memory holds no block beside.
MOST_STAGES = 3
# Elements of the widest vector that a thread copies at once: four floats.
WIDEST = 4
# Types of 4 or 8 bytes, which one asynchronous copy moves.
WORDS = frozenset(
    {"double", "float", "unsigned"}
    | {f"{u}{i}" for u in ("", "unsigned ") for i in ("int", "long", "long long")}
)


@dataclass(frozen=True, slots=True)
class Pipeline(OnStatement):
    """Let the copies at the start of `loop` around `statement` run ahead of its work.

    ``Pipeline(0, "k", 2)``: ``shared double t[8]``, ``for k in 0:n: { copy: t[i] = a[k][i];
    c += t[j] }`` becomes ``shared double t[16]``, a first ``async`` copy of ``a[0]``, and
    ``for k in 0:n: { await 0; async copy: t[8*((k + 1) % 2) + i] = a[k + 1][i] if k + 1 < n;
    c += t[8*(k % 2) + j] }``. With 3 stages two copies are under way and the ring has three parts.
    With 1 no copy runs ahead, ``for k in 0:n: { async copy: t[i] = a[k][i]; await 0; c += t[j] }``,
    but none goes through registers, and what else a thread has begun to load arrives meanwhile.

    Through `DEALT` memory, which takes 2 stages, each thread loads its share of the next tile into
    registers before the work and stores it to shared memory after it; there is one copy.

    Source:
        Simultaneous copies and work: CUDA C++ Programming Guide, Asynchronous Data Copies.
        The ring with one barrier for each step: CUTLASS, Efficient GEMM in CUDA, Pipelining.
    """

    is_inner: ClassVar[bool] = True
    word: ClassVar[Word] = Word(
        "pipeline",
        "copy the inputs of later steps of the sum while the present one is multiplied",
        'pipeline(0, 2, "registers")',
        "CUTLASS, Efficient GEMM in CUDA",
        slots=("statement", "stages", "through", "loop"),
    )
    loop: str = takes(Kind.LOOP, "", by_name=True, exact=True)
    stages: int = takes(Kind.COUNT, 2, required=True)
    through: MemorySpace = takes(Kind.NAME, MemorySpace.SHARED, words=THROUGH)

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the copies cannot run ahead, or None when they can."""
        if absent := missing(body, self.statement, (self.loop,), self.span):
            return absent
        is_ring = self.through is MemorySpace.SHARED
        least, most = (1, MOST_STAGES) if is_ring else (2, 2)
        if not least <= self.stages <= most:
            expected = f"{least} to {most}" if is_ring else str(most)
            return STAGES.at(self.span, stages=self.stages, space=self.through, expected=expected)
        loop = named_loop(body, self.statement, self.loop)
        if refusal := serial_refusal("pipeline", body, self.statement, loop, self.span):
            return refusal
        arrays, nests, rest = _parts(loop)
        if not nests or any(_is_cooperative(s) for s in walk_stmts(rest)):
            return NOT_PIPELINED.at(self.span, loop=loop.var)
        wide = next((a for a in arrays if a.type not in WORDS), None)
        if wide is not None and self.through is MemorySpace.SHARED:
            return NO_WORD.at(self.span, command="pipeline", array=wide.name, type=wide.type)
        if self.stages == 1:
            return None
        changed = _changed(body[top_of(body, self.statement)], arrays, loop)
        names = sorted(frozenset[str]().union(*map(_needed, nests)) & changed)
        if names:
            return NOT_AHEAD.at(self.span, loop=loop.var, name=names[0])
        return None

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the copies ahead, which `why_not` has accepted."""
        loop = named_loop(body, self.statement, self.loop)
        ahead = self._in_ring if self.through is MemorySpace.SHARED else self._in_registers
        return replace_loop(body, loop, ahead(body, loop, context))

    def _in_ring(self, body: Body, loop: Loop, context: Context) -> Body:
        """Return the loop with its copies in a ring of buffers, and the first of them before."""
        arrays, nests, rest = _parts(loop)
        if self.stages == 1:
            begun = tuple(_placed(nest, Level.ASYNC) for nest in nests)
            return (*arrays, replace(loop, body=(*begun, Await(0), *rest)))
        lengths = {a.name: part_length(a.extents[0]) for a in arrays}
        part = fresh_name(f"{loop.var}_part", body, context.names)
        first = fresh_name(f"{loop.var}_first", body, context.names)
        nests = tuple(_placed(nest, Level.ASYNC) for nest in nests)
        early = self.stages - 1
        turn = fold(Binary("/", Binary("-", Var(loop.var), loop.lower), Int(loop.step)))
        declared = Local(part, "int", Binary("%", turn, Int(self.stages)))
        coming = Binary("%", fold(Binary("+", Var(part), Int(early))), Int(self.stages))

        def copies(at: Expr, to: Expr) -> Body:
            moved = map_assigns(nests, lambda s: _at(s, loop, at, context))
            return map_assigns(moved, lambda s: _in_part(s, lengths, to))

        before = copies(_after(loop.lower, loop, Var(first)), Var(first))
        if early == 1:
            before = copies(loop.lower, Int(0))
        else:
            before = (Loop(first, Int(0), Int(early), before),)
        work = map_assigns(rest, lambda s: _in_part(s, lengths, Var(part)))
        later = copies(_after(Var(loop.var), loop, Int(early)), coming)
        inner = (declared, Await(early - 1), *later, *work)
        rings = (
            LocalArray(a.name, a.type, (self.stages * lengths[a.name],), a.space) for a in arrays
        )
        return (*rings, *before, replace(loop, body=inner))

    def _in_registers(self, body: Body, loop: Loop, context: Context) -> Body:
        """Return the loop with the next tile in registers while the present one is in use."""
        arrays, nests, rest = _parts(loop)
        shares = {a.name: fresh_name(f"{a.name}_next", body, context.names) for a in arrays}
        dealt = (LocalArray(shares[a.name], a.type, a.extents, MemorySpace.DEALT) for a in arrays)
        following = _after(Var(loop.var), loop, Int(1))

        def load(assign: Assign) -> Assign:
            moved, target = _at(assign, loop, following, context), assign.target
            assert isinstance(target, Access)
            share = Access(shares[target.array], target.indices)
            return Assign(moved.number, share, "=", moved.value, moved.span, moved.guard)

        def store(assign: Assign) -> Assign:
            target = assign.target
            assert isinstance(target, Access)
            share, guard = (
                Access(shares[target.array], target.indices),
                _runs(loop, following, context),
            )
            return Assign(assign.number, target, "=", share, assign.span, guard)

        before = map_assigns(nests, lambda s: _at(s, loop, loop.lower, context))
        inner = (*map_assigns(nests, load), *rest, *map_assigns(nests, store))
        return (*arrays, *dealt, *before, replace(loop, body=inner))


def _at(assign: Assign, loop: Loop, at: Expr, context: Context) -> Assign:
    """Return a copy for the iteration in which the loop is `at`, if there is one."""
    place = {loop.var: at}
    moved = assign.rewritten(lambda e: substitute(e, place) if isinstance(e, Var) else None)
    guard = conjunction((_runs(loop, at, context), moved.guard))
    return Assign(moved.number, moved.target, moved.op, fold(moved.value), moved.span, guard)


def _runs(loop: Loop, at: Expr, context: Context) -> Expr | None:
    """Return the condition for the loop to have an iteration `at`, None where it has one."""
    inside = fold(Binary("<", at, loop.upper))
    known = context.folded(inside)
    return None if isinstance(known, Int) and known.value else inside


def part_length(elements: int) -> int:
    """Return the elements from one part of a ring to the next, so that vectors stay aligned."""
    return -(-elements // WIDEST) * WIDEST


def _after(start: Expr, loop: Loop, count: Expr) -> Expr:
    """Return what the iterator is `count` iterations after `start`."""
    return fold(Binary("+", start, Binary("*", Int(loop.step), count)))


def _in_part(assign: Assign, lengths: Mapping[str, int], part: Expr) -> Assign:
    """Return a statement that uses part `part` of the rings, each `lengths` long."""

    def change(expr: Expr) -> Expr | None:
        if not isinstance(expr, Access) or expr.array not in lengths:
            return None
        start = Binary("*", Int(lengths[expr.array]), part)
        return Access(expr.array, (fold(Binary("+", start, expr.indices[0])),), expr.span)

    return assign.rewritten(change)


def _placed(loop: Loop, level: Level) -> Loop:
    """Return a nest of copies with its cooperative loops on another level."""
    inner = tuple(_placed(s, level) if isinstance(s, Loop) else s for s in loop.body)
    place = level if loop.place is Level.COOPERATIVE else loop.place
    return replace(loop, body=inner, place=place)


def _parts(loop: Loop) -> tuple[tuple[LocalArray, ...], tuple[Loop, ...], Body]:
    """Return the shared arrays and the copies that a loop begins with, and the rest of it."""
    arrays: list[LocalArray] = []
    nests: list[Loop] = []
    for place, stmt in enumerate(loop.body):
        if isinstance(stmt, LocalArray) and stmt.space is MemorySpace.SHARED:
            arrays.append(stmt)
        elif isinstance(stmt, Loop) and stmt.place is Level.COOPERATIVE:
            nests.append(stmt)
        else:
            return tuple(arrays), tuple(nests), loop.body[place:]
    return tuple(arrays), tuple(nests), ()


def _is_cooperative(stmt: object) -> bool:
    return isinstance(stmt, Loop) and stmt.place is Level.COOPERATIVE


def _needed(nest: Loop) -> frozenset[str]:
    """Return the names that a nest of copies reads, its own iterators left out."""
    own = {s.var for s in walk_stmts((nest,)) if isinstance(s, Loop)}
    names: set[str] = set()
    for stmt in walk_stmts((nest,)):
        if isinstance(stmt, Assign):
            names |= names_in(stmt.target).union(*map(names_read, stmt.sources()))
    return frozenset(names - own)


def _changed(nest: object, arrays: tuple[LocalArray, ...], loop: Loop) -> frozenset[str]:
    """Return the scalars and arrays with other values in a later iteration, but the iterator."""
    assert isinstance(nest, Loop)
    copied = {a.name for a in arrays}
    assigns = (s for s in walk_stmts((nest,)) if isinstance(s, Assign))
    written = {target_name(s) for s in assigns} - copied
    inside = {s.name for s in walk_stmts(loop.body) if isinstance(s, Local)}
    return frozenset(written | inside)
