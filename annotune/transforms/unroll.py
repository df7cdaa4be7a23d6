"""Unroll an innermost loop, or one around a block of registers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import reduce
from math import isqrt
from typing import ClassVar

from annotune.annotation.commands import Kind
from annotune.diagnostics import Diagnostic
from annotune.frozen import dataclass
from annotune.ir.ctype import named
from annotune.ir.expr import (
    Access,
    Binary,
    Cast,
    Expr,
    Int,
    Negate,
    Var,
    names_read,
    rewrite,
    substitute,
    variables,
)
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import (
    Assign,
    Local,
    LocalArray,
    Loop,
    Stmt,
    rewritten,
    walk_paths,
    walk_stmts,
)
from annotune.transforms.legality import is_no_narrower, missing, serial_refusal
from annotune.transforms.messages import (
    FACTOR_DOES_NOT_DIVIDE,
    FACTOR_TOO_SMALL,
    NOT_INNERMOST,
    UNSIGNED_BOUND,
)
from annotune.transforms.transform import (
    THESIS,
    Context,
    OnStatement,
    PhaseRank,
    SchedulePart,
    StepPhase,
    Subject,
    Word,
    takes,
)
from annotune.transforms.tree import (
    Body,
    bound_names,
    fresh_name,
    is_declaration,
    local_types,
    path,
    replace_loop,
    target_name,
)


@dataclass(frozen=True, slots=True)
class Unroll(OnStatement):
    """Write `factor` iterations of a loop into one.

    ``Unroll(0, "k", 2)``: ``for k: s += a[k]`` becomes ``for k step 2: s += a[k] + a[k+1]``:
    the accumulations of one statement become one expression (Rivera 2014, Fig. 4.5), and
    ``s -= a[k]`` becomes ``s += -a[k] - a[k+1]``. A
    factor that is the whole trip count removes the loop. Loops inside that go over a block of
    registers are copied with it; the order of iterations stays. Where fixed
    sizes do not show that `factor` divides the trip count, a remainder loop follows; it divides
    that of the tuned sizes. An accumulator of double whose terms are float or integers keeps its
    own additions.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.LAST, 0)
    schedule_part: ClassVar[SchedulePart | None] = SchedulePart.UNROLL
    is_decided: ClassVar[bool] = True
    word: ClassVar[Word] = Word(
        "unroll",
        "unroll by a factor of the tuned trip count; other sizes get a remainder loop",
        'unroll(0, "h7", UF)',
        THESIS,
        names=Subject.LOOP,
    )
    loop: str = takes(Kind.LOOP)
    factor: int = takes(Kind.COUNT)

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the loop cannot be unrolled so, or None when it can."""
        absent = missing(body, self.statement, (self.loop,), self.span)
        if absent is not None and not self._found(body):
            return absent
        loop = self._loop(body)
        if refusal := serial_refusal("unroll", body, self.statement, loop, self.span):
            return refusal
        held = {s.name for s in walk_stmts(body) if isinstance(s, LocalArray)}
        if not all(_is_copied(stmt, held, context) for stmt in loop.body):
            inner = path(body, self.statement)[-1].var
            return NOT_INNERMOST.at(self.span, loop=self.loop, inner=inner)
        trip = fold(trip_count(loop), context.tuned)
        factors = divisors(trip.value) if isinstance(trip, Int) else (1, 2, 4, 8)
        listed = ", ".join(map(str, factors))
        if self.factor < 1:
            return FACTOR_TOO_SMALL.at(
                self.span, command="unroll", factor=self.factor, loop=self.loop, factors=listed
            )
        if isinstance(trip, Int) and trip.value % self.factor:
            return FACTOR_DOES_NOT_DIVIDE.at(
                self.span,
                command="unroll",
                factor=self.factor,
                trip=trip.value,
                loop=self.loop,
                factors=listed,
            )
        return self._unsigned(body, loop, context)

    def _unsigned(self, body: Body, loop: Loop, context: Context) -> Diagnostic | None:
        """Return the refusal of a remainder whose start would wrap around below zero."""
        scalars = context.analysis.region.scalars
        scalar = scalars.get(loop.var)
        outer = bound_names(loop) & {x.var for x in path(body, self.statement)}
        if scalar is None or "unsigned" not in scalar.type or not outer or self.factor == 1:
            return None
        if isinstance(context.folded(trip_count(loop)), Int):
            return None
        return UNSIGNED_BOUND.at(self.span, loop=loop.var, type=scalar.type, outer=min(outer))

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the loop unrolled, which `why_not` has accepted."""
        loop = self._loop(body)
        if self.factor == 1:
            return body
        trip = context.folded(trip_count(loop))
        if isinstance(trip, Int) and trip.value == self.factor:
            return replace_loop(body, loop, self._copies(loop, loop.lower, body, context))
        copies = self._copies(loop, Var(loop.var), body, context)
        # What is peeled off asks about one iteration.
        main = replace(
            loop,
            body=copies,
            step=loop.step * self.factor,
            unrolled=loop.unrolled * self.factor,
            peeled=(),
        )
        if isinstance(trip, Int) and trip.value % self.factor == 0:
            return replace_loop(body, loop, (main,))
        # The whole part is counted, not found by stepping back from the end: an unsigned
        # `n - 3` would wrap around, and a longer step need not end at the upper bound.
        left = Binary("%", trip, Int(self.factor))
        whole = Binary("*", Binary("-", trip, left), Int(loop.step))
        begin = fold(Binary("+", loop.lower, whole), context.sizes)
        return replace_loop(body, loop, (replace(main, upper=begin), replace(loop, lower=begin)))

    def _loop(self, body: Body) -> Loop:
        return self._found(body)[0]

    def _found(self, body: Body) -> list[Loop]:
        """Return the loop, empty where there is none.

        A block of registers is loaded and stored under the statement's number too, elsewhere.
        """
        own = (loops for assign, loops in walk_paths(body) if assign.number == self.statement)
        return [loop for loops in own for loop in loops if loop.var == self.loop]

    def _copies(self, loop: Loop, start: Expr, around: Body, context: Context) -> Body:
        """Return the statements of `factor` iterations, the first of which runs at `start`.

        Each iteration has locals of its own, under names that `around` does not use.
        """
        points = [
            _Point(loop.var, fold(Binary("+", start, Int(k * loop.step))), _cast(loop, context))
            for k in range(self.factor)
        ]
        assigns = [stmt for stmt in loop.body if isinstance(stmt, Assign)]
        out: list[Stmt] = []
        if len(assigns) < len(loop.body) or not _independent(assigns):
            used: set[str] = set()
            for k, point in enumerate(points):
                copy = tuple(_at(stmt, point) for stmt in loop.body)
                out += _renamed(copy, around, used) if k else copy
            return tuple(out)
        types = {**context.types, **local_types(around)}
        for assign in assigns:
            if _accumulates(assign, loop.var) and is_no_narrower(assign, types):
                terms = [point.put_into(assign.value) for point in points]
                total = _total(terms, "+" if assign.op == "+=" else "-")
                out.append(Assign(assign.number, assign.target, "+=", total, assign.span))
            else:
                out += [_at(assign, point) for point in points]
        return tuple(out)


def _is_copied(stmt: Stmt, held: Collection[str], context: Context) -> bool:
    """Return whether a statement is no loop, or one that goes over arrays of the schedule."""
    if not isinstance(stmt, Loop):
        return True
    if not isinstance(context.folded(trip_count(stmt)), Int):
        return False
    targets = [s for s in stmt.body if isinstance(s, Assign)]
    return all(target_name(s) in held for s in targets) and all(
        _is_copied(inner, held, context) for inner in stmt.body
    )


def _cast(loop: Loop, context: Context) -> str:
    """Return the type that a number in the iterator's place needs, empty for ``int``."""
    type_ = context.types.get(loop.var) or context.types.get(loop.root) or "int"
    return "" if type_ == "int" else type_


def divisors(number: int) -> tuple[int, ...]:
    """Return the divisors of a positive number, ascending."""
    # A sum may have a hundred million terms: up to the root, the others are quotients.
    small = [d for d in range(1, isqrt(number) + 1) if number % d == 0]
    large = [number // d for d in reversed(small) if d * d != number]
    return (*small, *large)


def _renamed(body: Body, around: Body, used: set[str]) -> Body:
    """Return `body` with new names for its locals, none in `around` or `used`; adds them to it."""
    names: dict[str, str] = {}
    for stmt in body:
        if isinstance(stmt, Local | LocalArray):
            names[stmt.name] = fresh_name(stmt.name, around, used)
            used.add(names[stmt.name])

    def change(expr: Expr) -> Expr | None:
        if isinstance(expr, Var):
            return Var(names.get(expr.name, expr.name), expr.span)
        if isinstance(expr, Access) and expr.array in names:
            return Access(names[expr.array], tuple(rewrite(i, change) for i in expr.indices))
        return None

    renewed = rewritten(body, change)
    return tuple(replace(s, name=names[s.name]) if is_declaration(s) else s for s in renewed)


@dataclass(frozen=True, slots=True)
class _Point:
    """One iteration: what stands for the iterator, and the type that C computes with there."""

    var: str
    value: Expr
    cast: str

    def put_into(self, expr: Expr) -> Expr:
        """Return `expr` with the iterator put in, the subscripts that it changes simplified."""
        return rewrite(expr, self.change)

    def change(self, part: Expr) -> Expr | None:
        """Return what stands for the iterator or a subscript with it, None for other parts."""
        if isinstance(part, Var) and part.name == self.var:
            return self._typed()
        if isinstance(part, Access) and self.var in variables(part):
            indices = (substitute(i, {self.var: self.value}) for i in part.indices)
            return Access(part.array, tuple(map(fold, indices)), part.span)
        return None

    def _typed(self) -> Expr:
        # 0 - 5 is no unsigned difference, and 70000 * 70000 is no int.
        if not self.cast or self.value == Var(self.var):
            return self.value
        return Cast(named(self.cast), self.value)


def _at(stmt: Stmt, point: _Point) -> Stmt:
    """Return a statement of the body with the iterator put in."""
    if not isinstance(stmt, Loop):
        return rewritten((stmt,), point.change)[0]
    there = {point.var: point.value}
    return replace(
        stmt,
        lower=fold(substitute(stmt.lower, there)),
        upper=fold(substitute(stmt.upper, there)),
        peeled=tuple(substitute(condition, there) for condition in stmt.peeled),
        body=tuple(_at(inner, point) for inner in stmt.body),
    )


def _total(terms: list[Expr], op: str) -> Expr:
    """Return the sum of what `op` adds to a target or takes from it.

    Each term keeps its own sign: -0.0 - (1.0 + -1.0) is -0.0, and -0.0 - 1.0 - -1.0 is 0.0.
    """
    first = terms[0] if op == "+" else Negate(terms[0])
    return reduce(lambda a, b: Binary(op, a, b), terms[1:], first)


def _accumulates(assign: Assign, var: str) -> bool:
    """Return whether the iterations of `var` only add to or subtract from one place."""
    target = assign.target
    fixed = isinstance(target, Var) or all(var not in variables(i) for i in target.indices)
    return assign.op in ("+=", "-=") and fixed and assign.guard is None


def _independent(assigns: list[Assign]) -> bool:
    """Return whether no statement writes what another reads or writes, by name.

    Then the iterations of each may be gathered into one expression; otherwise they stay in
    the order of the text.
    """
    for one in assigns:
        written = target_name(one)
        for other in assigns:
            used = {name for source in other.sources() for name in names_read(source)}
            if written in used or (other is not one and written == target_name(other)):
                return False
    return True
