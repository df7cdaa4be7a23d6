"""The statements of a region with their loops and references as polynomials.

A polynomial holds an integer part that is none as a name, the part's C text: ``n / 2`` is a size
like any other, ``j % 8`` a value that each iteration has, ``col[i]`` one that only the run knows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TypeAlias, assert_never

from annotune.analysis.messages import (
    BOUND_CHANGES,
    BOUND_NOT_AFFINE,
    INDIRECT_WRITE,
    NOT_AFFINE,
    SCALAR_SUBSCRIPT,
    listed,
)
from annotune.diagnostics import AnnotuneError, Diagnostic, Span
from annotune.frozen import HashedOnce, dataclass
from annotune.ir.c_types import is_integer_type
from annotune.ir.constants import value_at
from annotune.ir.expr import (
    Access,
    Binary,
    Call,
    Cast,
    Expr,
    Int,
    Real,
    Select,
    Var,
    accesses,
    children,
    conjuncts,
    extremum_operands,
    negated,
    place_name,
    print_expr,
    variables,
    walk,
)
from annotune.ir.fold import fold
from annotune.ir.functions import is_integer
from annotune.ir.identity import once_for_each
from annotune.ir.nest import (
    Assign,
    Await,
    Fetch,
    Local,
    LocalArray,
    Loop,
    Stmt,
    walk_places,
    walk_stmts,
)
from annotune.ir.poly import Poly, from_expr, integer, product, variable
from annotune.ir.region import Array, Region


@dataclass(frozen=True, slots=True)
class Size:
    """A part that is the same for the whole region: ``n / 2``, ``min(n, m)``."""

    expr: Expr


@dataclass(frozen=True, slots=True)
class Rounded:
    """``left / right`` or ``left % right``, rounded as C does, at the iterations of a loop."""

    op: str
    left: Poly
    right: Poly
    expr: Expr


@dataclass(frozen=True, slots=True)
class Halved:
    """``j * (j - 1) / 2``: half of a polynomial in loops that is even whatever they are.

    So C rounds nothing. Rows of packed storage start there.
    """

    twice: Poly
    expr: Expr


@dataclass(frozen=True, slots=True)
class Unknown:
    """A part that memory decides, ``col[i]``, or of a form that no stage can follow.

    It lies between the sizes `low` and `high` where there are such.
    """

    expr: Expr
    low: str = ""
    high: str = ""


NamedPart: TypeAlias = Size | Rounded | Halved | Unknown

# Casts that bounds and subscripts are read without, as no integer in them is taken to overflow.
WIDE_CASTS = frozenset({"int", "long", "long long"})


class Namer:
    """Reads integer expressions of one region as polynomials and keeps the parts it names."""

    def __init__(self, region: Region, written: frozenset[str], iterators: frozenset[str]) -> None:
        self.region, self.written, self.iterators = region, written, iterators
        self.parts: dict[str, NamedPart] = {}

    def poly(self, expr: Expr) -> Poly | None:
        """Return `expr` as a polynomial with names for its other parts; None when it is real."""
        return from_expr(expr, self._other)

    def unknown(self, expr: Expr) -> Poly:
        """Return the name of an expression that is not looked into."""
        ranges = self.region.index_ranges
        if isinstance(expr, Access) and expr.array in ranges:
            return self._named(Unknown(expr, *ranges[expr.array]))
        return self._named(Unknown(expr))

    def _other(self, expr: Expr) -> Poly | None:
        if not self._is_integer(expr):
            return None
        names = variables(expr)
        if accesses(expr) or names & self.written:
            return self.unknown(expr)
        if not names & self.iterators:
            return self._named(Size(fold(expr)))
        match expr:
            case Cast(type_, operand) if type_.name in WIDE_CASTS:
                return self.poly(operand)
            case Select(runs, Binary("/", _, step) as trips, Int(0)) if self._steps(runs, step):
                return self.poly(trips)
            case Binary("/" | "%" as op, left, right):
                numerator, divisor = self.poly(left), self.poly(right)
                if numerator is None or divisor is None:
                    return None
                inside = numerator.names | divisor.names
                if any(isinstance(self.parts.get(name), Unknown) for name in inside):
                    return self.unknown(expr)
                is_curved = numerator.linear_in(self.iterators) is None
                if op == "/" and divisor.constant == 2 and is_curved and numerator.is_even:
                    return self._named(Halved(numerator, expr))
                if not (variables(right) & self.iterators):
                    return self._named(Rounded(op, numerator, divisor, expr))
        return self.unknown(expr)

    def _steps(self, runs: Expr, step: Expr) -> bool:
        """Return whether the trips of a loop by `step` are a quotient: at the sizes with a value.

        Others are not spoken of, since it takes the value of a step to divide loops by it.
        """
        is_open = not variables(step) <= self.region.constants.keys()
        holds = value_at(runs, self.region.known_sizes)
        return is_open and variables(runs) <= variables(step) and bool(holds)

    def _is_integer(self, expr: Expr) -> bool:
        """Return whether nothing in `expr` is known to be a real outside of subscripts."""
        scalars = self.region.scalars
        for part in walk(expr):
            match part:
                case Real():
                    return False
                case Var(name) if name in scalars and not is_integer_type(scalars[name].type):
                    return False
                case Call(function, _) if not is_integer(function):
                    return False
                case Cast(type_, _) if type_.is_floating:
                    return False
        return True

    def _named(self, part: NamedPart) -> Poly:
        text = print_expr(part.expr)
        if isinstance(part, Size) and isinstance(part.expr, Int | Var):
            folded = from_expr(part.expr)
            assert folded is not None
            return folded
        self.parts[text] = part
        return variable(text)


def with_values(known: Mapping[str, int], sizes: Mapping[str, Expr]) -> dict[str, int]:
    """Return the `known` values and those of the named sizes that follow from them."""
    values = dict(known)
    for name, expr in sizes.items():
        value = value_at(expr, known)
        if value is not None:
            values[name] = value
    return values


def may_be_computed(expr: Expr, may_call: Callable[[Call | Cast], bool]) -> bool:
    """Return whether C may compute `expr` where the nest would not run."""
    for part in walk(expr):
        match part:
            case Access():
                return False
            case Binary("/" | "%", _, divisor) if not isinstance(divisor, Int) or divisor == Int(0):
                return False
            case Call() | Cast() if not may_call(part):
                return False
    return True


def parts_within(names: Iterable[str], parts: Mapping[str, NamedPart]) -> frozenset[str]:
    """Return those of `names` that are parts, and the parts inside them."""
    found: set[str] = set()
    open_names = [name for name in names if name in parts]
    while open_names:
        name = open_names.pop()
        part = parts[name]
        found.add(name)
        if isinstance(part, Rounded):
            inner = part.left.names | part.right.names
            open_names += [n for n in inner if n in parts and n not in found]
    return frozenset(found)


def plain_names(names: Iterable[str], parts: Mapping[str, NamedPart]) -> frozenset[str]:
    """Return the scalars of C behind `names`."""
    found: set[str] = set()
    for name in names:
        found |= variables(parts[name].expr) if name in parts else {name}
    return frozenset(found)


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
class DataReference(HashedOnce):
    """One read or write of an element by a statement, or of a scalar without subscripts.

    It happens where all `conditions` hold: the guard, and what ``&& || ?:`` test before it.
    `unknown` are the names in the subscripts that memory decides, such as ``col[i]``.
    """

    statement: int
    access: Access | Var
    is_write: bool
    subscripts: tuple[Poly, ...]
    conditions: tuple[Expr, ...] = ()
    unknown: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        return place_name(self.access)

    @property
    def span(self) -> Span:
        return self.access.span

    @property
    def tests(self) -> tuple[Expr, ...]:
        """Return the conditions, each operand of ``&&`` by itself."""
        return tuple(test for condition in self.conditions for test in conjuncts(condition))

    @property
    def unknown_index(self) -> Expr:
        """Return the first index that memory decides; there must be one."""
        assert isinstance(self.access, Access)
        pairs = zip(self.access.indices, self.subscripts, strict=True)
        return next(index for index, poly in pairs if poly.names & self.unknown)


@dataclass(frozen=True, slots=True)
class NestStatement:
    """One assignment: the loops around it, its references, and its place in the text.

    `parts` has what the names in its polynomials stand for that are no scalars of C. A reference
    whose subscripts the text chooses has `cases`: others, each under conditions of its own. What
    else memory decides may lie `between` some values, by the name that it has in subscripts.
    """

    assign: Assign
    loops: tuple[Counted, ...]
    position: tuple[int, ...]
    references: tuple[DataReference, ...]
    parts: Mapping[str, NamedPart] = field(default_factory=dict, compare=False, repr=False)
    cases: Mapping[DataReference, tuple[DataReference, ...]] = field(
        default_factory=dict, compare=False, repr=False
    )
    between: Mapping[str, tuple[Poly, ...]] = field(default_factory=dict, compare=False, repr=False)

    @property
    def told_apart(self) -> tuple[DataReference, ...]:
        """Return the references, those of each case in the place of one that has cases."""
        return tuple(one for r in self.references for one in self.cases.get(r, (r,)))

    @property
    def number(self) -> int:
        return self.assign.number

    @property
    def iterators(self) -> tuple[str, ...]:
        return tuple(loop.var for loop in self.loops)

    @property
    @once_for_each(1 << 12)
    def moving(self) -> frozenset[str]:
        """Return the names that differ from one run to another: loops, and parts over them."""
        unknown = frozenset(name for r in self.references for name in r.unknown)
        return unknown | moving_parts(self.parts) | frozenset(self.iterators)

    def common_depth(self, other: NestStatement) -> int:
        """Return how many loops of the text surround both statements."""
        depth = 0
        for mine, its in zip(self.loops, other.loops, strict=False):
            if mine.position != its.position:
                break
            depth += 1
        return depth


def moving_parts(parts: Mapping[str, NamedPart]) -> frozenset[str]:
    """Return the names of the parts that are no sizes."""
    return frozenset(name for name, part in parts.items() if not isinstance(part, Size))


def range_of(name: str, parts: Mapping[str, NamedPart]) -> tuple[Poly, Poly] | None:
    """Return between which sizes a part lies that memory decides, None where none are known."""
    part = parts.get(name)
    if not isinstance(part, Unknown) or not part.low:
        return None
    return variable(part.low), variable(part.high)


def end_of(
    poly: Poly, unknown: Iterable[str], parts: Mapping[str, NamedPart], sign: int
) -> Poly | None:
    """Return a bound of `poly` from above (`sign` 1) or below (-1) without its `unknown` names.

    None where a name has no range, or a factor other than a number.
    """
    for name in unknown:
        split, ends = poly.linear_in((name,)), range_of(name, parts)
        factor = None if split is None else split[0].get(name, Poly()).constant
        if split is None or ends is None or factor is None:
            return None
        poly = product((integer(factor), ends[int(factor * sign > 0)])) + split[1]
    return poly


def named_sizes(statements: Iterable[NestStatement]) -> dict[str, Expr]:
    """Return the sizes that are no scalars of C, such as ``n / 2``, by their names."""
    parts = ((name, part) for one in statements for name, part in one.parts.items())
    return {name: part.expr for name, part in parts if isinstance(part, Size)}


@dataclass(frozen=True, slots=True)
class LocalArrays:
    """The arrays that the region declares, as arrays, and the loops whose iterations own them."""

    arrays: Mapping[str, Array]
    homes: Mapping[str, tuple[tuple[int, ...], ...]]


@once_for_each(1 << 4)
def local_arrays(region: Region) -> LocalArrays:
    """Return the arrays that are declared inside the region."""
    arrays: dict[str, Array] = {}
    homes: dict[str, tuple[tuple[int, ...], ...]] = {}
    for stmt, _, place in walk_places(region.nest.body):
        if not isinstance(stmt, LocalArray):
            continue
        extents: tuple[Expr | None, ...] = tuple(Int(extent) for extent in stmt.extents)
        before = arrays.get(stmt.name)
        if before is not None and before.extents != extents:
            extents = (None,) * len(extents)  # two shapes under one name: neither is known
        arrays[stmt.name] = Array(stmt.name, stmt.type, extents, is_pointer=False)
        homes[stmt.name] = (*homes.get(stmt.name, ()), place[:-1])
    return LocalArrays(arrays, homes)


def loops_of(statements: Sequence[NestStatement]) -> tuple[Counted, ...]:
    """Return each loop around any statement once, in text order."""
    found = {loop.position: loop for statement in statements for loop in statement.loops}
    return tuple(found[position] for position in sorted(found))


@once_for_each(1 << 4)
def read_statements(region: Region) -> tuple[NestStatement, ...]:
    """Return the statements of `region` in text order.

    Raises:
        AnnotuneError: Every subscript and bound that is no polynomial in the loops and in
            scalars that stay fixed, in the order of the source.
    """
    reader = _StatementReader(region)
    statements = tuple(reader.statements(region.nest.body, ()))
    if reader.problems:
        raise AnnotuneError.of(*reader.problems)
    return statements


class _StatementReader:
    """Walks one region; collects all that is wrong instead of stopping at the first."""

    def __init__(self, region: Region) -> None:
        self.written = region.nest.written_scalars()
        self.iterators = region.nest.iterators()
        self.namer = Namer(region, self.written, self.iterators)
        self.problems: list[Diagnostic] = []
        for stmt in walk_stmts(region.nest.body):
            # A declaration with a value would be an assignment without a number.
            assert not isinstance(stmt, Local) or stmt.value is None, stmt

    def statements(
        self,
        body: tuple[Stmt, ...],
        loops: tuple[Counted, ...],
        place: tuple[int, ...] = (),
    ) -> Iterator[NestStatement]:
        for index, stmt in enumerate(body):
            match stmt:
                case Loop():
                    counted = self.counted(stmt, loops, (*place, index))
                    yield from self.statements(stmt.body, (*loops, counted), (*place, index))
                case Assign():
                    references = tuple(self.references(stmt, loops))
                    polys = [p for loop in loops for p in (*loop.lower, *loop.upper)]
                    polys += [p for r in references for p in r.subscripts]
                    parts = self.parts_of(polys)
                    yield NestStatement(stmt, loops, (*place, index), references, parts)
                case Local() | LocalArray() | Await() | Fetch():
                    pass
                case _:
                    assert_never(stmt)

    def parts_of(self, polys: Iterable[Poly]) -> dict[str, NamedPart]:
        """Return the named parts in `polys`, and those inside them."""
        names = (name for poly in polys for name in poly.names)
        known = self.namer.parts
        return {name: known[name] for name in sorted(parts_within(names, known))}

    def counted(self, loop: Loop, outer: tuple[Counted, ...], position: tuple[int, ...]) -> Counted:
        lower = tuple(
            self.bound(loop, part, outer) for part in extremum_operands(loop.lower, "max")
        )
        upper = tuple(
            self.bound(loop, part, outer) for part in extremum_operands(loop.upper, "min")
        )
        return Counted(loop, position, lower, upper)

    def bound(self, loop: Loop, expr: Expr, outer: tuple[Counted, ...]) -> Poly:
        around = {one.var for one in outer}
        shown = print_expr(expr)
        changing = variables(expr) & (self.written | self.iterators) - around
        poly = self.namer.poly(expr)
        if poly is not None and not changing and not self.unknown_in(poly):
            return poly
        if accesses(expr) or not changing:
            self.problems.append(BOUND_NOT_AFFINE.at(loop.span, bound=shown, loop=loop.var))
            return Poly()
        for name in sorted(changing):
            self.problems.append(BOUND_CHANGES.at(loop.span, bound=shown, loop=loop.var, name=name))
        return Poly()

    def references(self, assign: Assign, loops: tuple[Counted, ...]) -> Iterator[DataReference]:
        around = frozenset(loop.var for loop in loops)
        target = assign.target
        used = {name for part in (target, *assign.sources()) for name in variables(part)}
        # The front end lets a loop alone change its variable, and puts in what it is elsewhere.
        assert not (used & self.iterators) - around, "a loop variable outside its loop"
        assert not (isinstance(target, Var) and target.name in self.iterators), target
        guard = () if assign.guard is None else (assign.guard,)
        reads: list[tuple[Access | Var, tuple[Expr, ...]]] = []
        if assign.guard is not None:
            reads += evaluated(assign.guard, ())
        reads += evaluated(assign.value, guard)
        for index in target.indices if isinstance(target, Access) else ():
            reads += evaluated(index, guard)
        if assign.op != "=":
            reads.append((target, guard))
        for read, conditions in reads:
            if isinstance(read, Access) or read.name in self.written:
                yield self.reference(assign, read, around, conditions, is_write=False)
        yield self.reference(assign, target, around, guard, is_write=True)

    def reference(
        self,
        assign: Assign,
        access: Access | Var,
        around: frozenset[str],
        conditions: tuple[Expr, ...],
        *,
        is_write: bool,
    ) -> DataReference:
        if isinstance(access, Var):
            return DataReference(assign.number, access, is_write, (), conditions)
        subscripts = tuple(self.subscript(index, around) for index in access.indices)
        unknown = frozenset(name for poly in subscripts for name in self.unknown_in(poly))
        return DataReference(assign.number, access, is_write, subscripts, conditions, unknown)

    def unknown_in(self, poly: Poly) -> frozenset[str]:
        """Return the names in `poly` that memory decides, also inside a rounded part."""
        parts = self.parts_of([poly])
        inside = {name for name, part in parts.items() if isinstance(part, Unknown)}
        return frozenset(inside) | (poly.names & self.written)

    def subscript(self, index: Expr, around: frozenset[str]) -> Poly:
        """Return a subscript, one name for all of it where no sum of loop variables says it."""
        poly = self.namer.poly(index)
        parts = {} if poly is None else self.parts_of([poly])
        moving = around | self.written | moving_parts(parts)
        if poly is None or poly.linear_in(moving) is None:
            return self.namer.unknown(index)
        return poly


@once_for_each(1 << 4)
def users_by_name(
    statements: tuple[NestStatement, ...],
) -> Mapping[str, tuple[NestStatement, ...]]:
    """Return the statements that touch each scalar and array, in order."""
    found: defaultdict[str, list[NestStatement]] = defaultdict(list)
    for statement in statements:
        for name in dict.fromkeys(reference.name for reference in statement.references):
            found[name].append(statement)
    return {name: tuple(users) for name, users in found.items()}


def unfollowed_writes(statements: Iterable[NestStatement]) -> list[Diagnostic]:
    """Return a refusal for each element that is written where no subscript says, in text order."""
    found: list[Diagnostic] = []
    statements = tuple(statements)
    written = {r.name for s in statements for r in s.references if isinstance(r.access, Var)}
    for statement in statements:
        for reference in statement.references:
            if not reference.is_write or not reference.unknown:
                continue
            assert isinstance(reference.access, Access)
            index, array = reference.unknown_index, reference.name
            changing = sorted(variables(index) & written)
            shown, span = print_expr(index), reference.span
            if changing and not accesses(index):
                name = changing[0]
                found.append(SCALAR_SUBSCRIPT.at(span, subscript=shown, array=array, name=name))
                continue
            kind = INDIRECT_WRITE if accesses(index) else NOT_AFFINE
            iterators = listed(sorted(statement.iterators)) or "the sizes"
            found.append(kind.at(span, subscript=shown, array=array, iterators=iterators))
    return list(dict.fromkeys(found))


def evaluated(
    expr: Expr, conditions: tuple[Expr, ...]
) -> Iterator[tuple[Access | Var, tuple[Expr, ...]]]:
    """Yield each element and scalar that `expr` may read, with the conditions for that.

    C reads the right operand of ``&&`` and ``||`` and the operands of ``?:`` only where the
    left one, or the condition, lets it.
    """
    match expr:
        case Access() | Var():
            yield expr, conditions
        case Binary("&&" | "||" as op, left, right):
            yield from evaluated(left, conditions)
            decided = left if op == "&&" else negated(left)
            yield from evaluated(right, (*conditions, decided))
            return
        case Select(condition, if_true, if_false):
            yield from evaluated(condition, conditions)
            yield from evaluated(if_true, (*conditions, condition))
            yield from evaluated(if_false, (*conditions, negated(condition)))
            return
    for child in children(expr):
        yield from evaluated(child, conditions)
