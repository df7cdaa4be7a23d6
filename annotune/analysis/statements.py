"""The statements of a region with their loops and references as polynomials."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import assert_never

from annotune.analysis.messages import (
    BOUND_CHANGES,
    BOUND_NOT_AFFINE,
    ITERATOR_ASSIGNED,
    ITERATOR_READ_OUTSIDE,
    NOT_AFFINE,
    SCALAR_SUBSCRIPT,
)
from annotune.analysis.poly import Poly, from_expr
from annotune.analysis.text import listed
from annotune.diagnostics import AnnotuneError, Diagnostic, Span
from annotune.ir.expr import Access, Call, Expr, Var, accesses, variables, walk
from annotune.ir.nest import Assign, Local, LocalArray, Loop, Stmt, walk_stmts
from annotune.ir.region import Region
from annotune.ir.text import print_expr


@dataclass(frozen=True, slots=True)
class Counted:
    """A loop with its bounds as polynomials: every ``lower <= var < upper`` holds.

    `position` is the place of the loop in the text, one number per level: unlike the names
    on its path it tells sibling loops apart.
    """

    loop: Loop
    position: tuple[int, ...]
    lower: tuple[Poly, ...]
    upper: tuple[Poly, ...]

    @property
    def var(self) -> str:
        return self.loop.var


@dataclass(frozen=True, slots=True)
class Reference:
    """One read or write of an element by a statement, or of a scalar without subscripts."""

    statement: int
    access: Access | Var
    is_write: bool
    subscripts: tuple[Poly, ...]

    @property
    def name(self) -> str:
        return self.access.array if isinstance(self.access, Access) else self.access.name

    @property
    def span(self) -> Span:
        return self.access.span


@dataclass(frozen=True, slots=True)
class Statement:
    """One assignment: the loops around it, its references, and its place in the text."""

    assign: Assign
    loops: tuple[Counted, ...]
    position: tuple[int, ...]
    references: tuple[Reference, ...]

    @property
    def number(self) -> int:
        return self.assign.number

    @property
    def iterators(self) -> tuple[str, ...]:
        return tuple(loop.var for loop in self.loops)

    def common_depth(self, other: Statement) -> int:
        """Return how many loops of the text surround both statements."""
        depth = 0
        for mine, its in zip(self.loops, other.loops, strict=False):
            if mine.position != its.position:
                break
            depth += 1
        return depth


def written_scalars(region: Region) -> frozenset[str]:
    """Return the scalars that an assignment of the region writes."""
    return frozenset(
        assign.target.name for assign in region.nest.assigns() if isinstance(assign.target, Var)
    )


def loops_of(statements: Sequence[Statement]) -> tuple[Counted, ...]:
    """Return each loop around any statement once, in text order."""
    found = {loop.position: loop for statement in statements for loop in statement.loops}
    return tuple(found[position] for position in sorted(found))


def read_statements(region: Region) -> tuple[Statement, ...]:
    """Return the statements of `region` in text order.

    Raises:
        AnnotuneError: Every subscript and bound that is no polynomial in the loops and in
            scalars that stay fixed, in the order of the source.
    """
    reader = _Reader(region)
    statements = tuple(reader.statements(region.nest.body, ()))
    if reader.problems:
        raise AnnotuneError.of(*reader.problems)
    return statements


class _Reader:
    """Walks one region; collects all that is wrong instead of stopping at the first."""

    def __init__(self, region: Region) -> None:
        self.written = written_scalars(region)
        self.iterators = frozenset(loop.var for loop in region.nest.loops())
        self.problems: list[Diagnostic] = []
        for stmt in walk_stmts(region.nest.body):
            # A declaration with a value would be an assignment without a number.
            assert not isinstance(stmt, Local) or stmt.value is None, stmt

    def statements(
        self,
        body: tuple[Stmt, ...],
        loops: tuple[Counted, ...],
        place: tuple[int, ...] = (),
    ) -> Iterator[Statement]:
        for index, stmt in enumerate(body):
            match stmt:
                case Loop():
                    counted = self.counted(stmt, loops, (*place, index))
                    yield from self.statements(stmt.body, (*loops, counted), (*place, index))
                case Assign():
                    references = tuple(self.references(stmt, loops))
                    yield Statement(stmt, loops, (*place, index), references)
                case Local() | LocalArray():
                    pass
                case _:
                    assert_never(stmt)

    def counted(self, loop: Loop, outer: tuple[Counted, ...], position: tuple[int, ...]) -> Counted:
        lower = tuple(self.bound(loop, part, outer) for part in _parts(loop.lower, "max"))
        upper = tuple(self.bound(loop, part, outer) for part in _parts(loop.upper, "min"))
        return Counted(loop, position, lower, upper)

    def bound(self, loop: Loop, expr: Expr, outer: tuple[Counted, ...]) -> Poly:
        poly = from_expr(expr)
        around = {one.var for one in outer}
        if poly is None:
            self.problems.append(
                BOUND_NOT_AFFINE.at(loop.span, bound=print_expr(expr), loop=loop.var)
            )
            return Poly()
        for name in sorted(poly.names & (self.written | self.iterators) - around):
            self.problems.append(
                BOUND_CHANGES.at(loop.span, bound=print_expr(expr), loop=loop.var, name=name)
            )
        return poly

    def references(self, assign: Assign, loops: tuple[Counted, ...]) -> Iterator[Reference]:
        around = frozenset(loop.var for loop in loops)
        target = assign.target
        if isinstance(target, Var) and target.name in self.iterators:
            self.problems.append(ITERATOR_ASSIGNED.at(assign.span, name=target.name))
        for name in sorted((variables(assign.value) & self.iterators) - around):
            self.problems.append(ITERATOR_READ_OUTSIDE.at(assign.span, name=name))
        reads: list[Access | Var] = [
            expr
            for expr in walk(assign.value)
            if isinstance(expr, Access) or (isinstance(expr, Var) and expr.name in self.written)
        ]
        if assign.op != "=":
            reads.append(target)
        for read in reads:
            yield self.reference(assign, read, around, is_write=False)
        yield self.reference(assign, target, around, is_write=True)

    def reference(
        self, assign: Assign, access: Access | Var, around: frozenset[str], *, is_write: bool
    ) -> Reference:
        if isinstance(access, Var):
            return Reference(assign.number, access, is_write, ())
        subscripts = tuple(self.subscript(access, index, around) for index in access.indices)
        return Reference(assign.number, access, is_write, subscripts)

    def subscript(self, access: Access, index: Expr, around: frozenset[str]) -> Poly:
        shown, array = print_expr(index), access.array
        changing = sorted((variables(index) & (self.written | self.iterators)) - around)
        problem: Diagnostic | None = None
        poly = from_expr(index)
        if changing and not accesses(index):
            problem = SCALAR_SUBSCRIPT.at(
                access.span, subscript=shown, array=array, name=changing[0]
            )
        elif poly is None or poly.linear_in(around) is None:
            iterators = listed(sorted(around)) or "the sizes"
            problem = NOT_AFFINE.at(access.span, subscript=shown, array=array, iterators=iterators)
        if problem is not None and problem not in self.problems:
            self.problems.append(problem)
        return poly if poly is not None and problem is None else Poly()


def _parts(bound: Expr, function: str) -> tuple[Expr, ...]:
    """Return the operands of a ``min`` or ``max`` bound, else the bound itself."""
    if isinstance(bound, Call) and bound.function == function:
        return tuple(part for one in bound.arguments for part in _parts(one, function))
    return (bound,)
