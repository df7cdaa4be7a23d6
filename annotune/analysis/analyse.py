"""The analysis of one region: everything that later stages ask, or why it is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import combinations
from math import prod

import islpy as isl

from annotune.analysis.choices import with_choices
from annotune.analysis.dependences import (
    Carried,
    Lifetime,
    all_dependences,
    array_use,
    classify,
    flows_into,
    lifetime,
    local_lifetimes,
    read_after_write,
)
from annotune.analysis.domains import (
    IslSpace,
    NotLinear,
    access_map,
    context,
    domain,
    monomial_of,
)
from annotune.analysis.facts import (
    Analysis,
    ArrayShape,
    ArrayUse,
    ElementRange,
    LoopFacts,
    LoopKind,
    Work,
)
from annotune.analysis.inspector import assumption_warnings, inspector_of
from annotune.analysis.messages import (
    ASSUMED_DISJOINT,
    DIVIDES_BY_ZERO,
    OTHERWISE_CALLED,
    OVERLAP,
    PRIVATE_READ_AFTER,
    UNBOUNDED,
    WORK_UNKNOWN,
    listed,
)
from annotune.analysis.model import Demand, Model, build_model, known_values, missing_sizes
from annotune.analysis.sections import ArraySection, Bounds, Hull, Unbounded, section, shape
from annotune.analysis.statements import (
    NestStatement,
    loops_of,
    read_statements,
    unfollowed_writes,
    users_by_name,
)
from annotune.analysis.work import access_facts, missing_for_work, statement_work, total_work
from annotune.diagnostics import AnnotuneError, Diagnostic, Span
from annotune.ir.c_types import is_integer_type, may_share
from annotune.ir.constants import value_at
from annotune.ir.expr import (
    CONNECTIVES,
    Access,
    Binary,
    Call,
    Cast,
    Expr,
    Int,
    Negate,
    Real,
    Select,
    Var,
    children,
    print_expr,
    variables,
)
from annotune.ir.fold import fold
from annotune.ir.functions import is_integer
from annotune.ir.nest import Assign, Loop, Stmt
from annotune.ir.poly import from_expr, integer, product, to_expr
from annotune.ir.region import Array, Region

_NO_WORK = Work(0, 0, 0)


def analyse(region: Region) -> Analysis:
    """Return all that is known of `region`.

    Raises:
        AnnotuneError: A division is by 0, a bound is not affine, or a subscript of what is written
            and no loop is parallel, a size without a value is needed, or a private scalar's last
            value is read after the region.
    """
    undefined = zero_divisors(region)
    if undefined:
        raise AnnotuneError.of(*undefined)
    statements = read_statements(region)
    proven = overlaps(region, statements, IslSpace(known_values(region, statements)))
    if proven:
        raise AnnotuneError.of(*proven)
    lifetimes = _lifetimes(region, statements)
    private = frozenset(name for name, life in lifetimes.items() if not life.is_array)
    # Where the nest runs as written, it has the temporaries that are put where they are read.
    private |= region.as_written.written_scalars() - region.nest.written_scalars()
    statements = with_choices(region, statements, {n: li.homes for n, li in lifetimes.items()})
    bounds, sections, dependences = _proven(region, statements, lifetimes)
    model = bounds.model
    inspector = inspector_of(
        model, _lowest(sections, bounds), private, read_after_write(dependences)
    )
    for name, part in inspector.parts.items():
        sections = {**sections, name: replace(sections[name], touched=Hull(part))}
    loops, flows = classify(model, dependences, lifetimes), flows_into(dependences)
    _refuse_unfollowed(statements, loops)
    missing = missing_for_work(model)
    work = {s.number: _NO_WORK if missing else statement_work(model, s) for s in statements}
    return Analysis(
        region=region,
        loops=loops,
        dependences=tuple(carried.dependence for carried in dependences),
        shapes={n: shape(n, found, bounds) for n, found in sections.items()} | _replaced(region),
        accesses=access_facts(model),
        uses={n: array_use(n, one.exact, model, flows) for n, one in sections.items()}
        | {n: ArrayUse(n, False, True, True, starts_new=True) for n in _replaced(region)},
        private=private,
        work=work,
        total=_NO_WORK if missing else total_work(model, work),
        all_sizes=model.all_sizes,
        warnings=(*_warnings(model, missing), *assumption_warnings(model, sections, inspector)),
        homes={name: _homes(life, statements) for name, life in lifetimes.items()},
        rounded=bounds.rounded,
        conditions=tuple(demand.expr(bounds.rounded) for demand in model.demands),
        inspector=inspector.body,
        unseen=inspector.unseen,
    )


def _replaced(region: Region) -> dict[str, ArrayShape]:
    """Return the arrays that the nest as written alone has, with all that C declares.

    In their place each iteration of the nest has an array of its own (`private_copies`).
    """
    shapes: dict[str, ArrayShape] = {}
    used = region.nest.arrays()
    for array in (a for name, a in region.arrays.items() if name not in used):
        extents = tuple(extent for extent in array.extents if extent is not None)
        polys = [poly for poly in map(from_expr, extents) if poly is not None]
        assert len(polys) == len(array.extents), "no other array has been replaced"
        rows = ElementRange(Int(0), extents[0]) if len(extents) > 1 else None
        length = to_expr(product(polys))
        shapes[array.name] = ArrayShape(array.name, extents, Int(0), length, rows=rows)
    return shapes


def _refuse_unfollowed(
    statements: tuple[NestStatement, ...], loops: tuple[LoopFacts, ...] = ()
) -> None:
    """Raise for elements that are written where no subscript says, unless a loop is parallel."""
    unfollowed = unfollowed_writes(statements)
    if unfollowed and all(loop.kind is LoopKind.SERIAL for loop in loops):
        raise AnnotuneError.of(*unfollowed)


def _lowest(sections: Mapping[str, ArraySection], bounds: Bounds) -> dict[str, Expr]:
    """Return the first element that any call may touch of the arrays that are to be looked at."""
    return {
        name: fold(bounds.in_c(name)(one.lowest))
        for name, one in sections.items()
        if one.is_assumed
    }


def _proven(
    region: Region, statements: tuple[NestStatement, ...], lifetimes: Mapping[str, Lifetime]
) -> tuple[Bounds, Mapping[str, ArraySection], tuple[Carried, ...]]:
    """Return the model of a region in its bounds, the section of each array, and the dependences.

    A column that ends where the next one begins, ``n == k + lda``, makes loops serial at sizes that
    the region has not. Emitted code tests that a call has none of them either.

    Raises:
        AnnotuneError: As `_bounded`.
    """
    bounds, sections = _bounded(region, statements)
    dependences = all_dependences(bounds.model, lifetimes)
    if not _excludes_serial_sizes(bounds, dependences):
        return bounds, sections, dependences
    bounds, sections = _bounded(region, statements, tuple(bounds.demands.found))
    return bounds, sections, all_dependences(bounds.model, lifetimes)


def _excludes_serial_sizes(bounds: Bounds, dependences: Sequence[Carried]) -> bool:
    """Return whether sizes are demanded at which no loop is serial that is not at the region's."""
    model = bounds.model
    is_found = False
    for loop in loops_of(model.statements) if model.all_sizes else ():
        depth, inside = len(loop.position) - 1, {s.number for s in model.inside(loop.position)}
        wrong = [
            one.pieces[depth].params()
            for one in dependences
            if depth in one.pieces
            and one.dependence.source in inside
            and not one.dependence.is_reduction
        ]
        if wrong and not any(_may_be(model.values, sizes) for sizes in wrong):
            is_found |= bounds.demands.exclude(reduce(isl.Set.union, wrong))
    return is_found


def _may_be(values: Mapping[str, int], sizes: isl.Set) -> bool:
    """Return whether the sizes that have `values` may be among some."""
    for place in range(sizes.dim(isl.dim_type.param)):
        name = sizes.get_dim_name(isl.dim_type.param, place)
        assert name is not None, "parameters have names"
        factors = monomial_of(name)
        if not values.keys() >= set(factors):
            return True
        value = isl.Val(prod(values[factor] for factor in factors))
        sizes = sizes.fix_val(isl.dim_type.param, place, value)
    return not sizes.is_empty()


def _bounded(
    region: Region, statements: tuple[NestStatement, ...], demands: tuple[Demand, ...] = ()
) -> tuple[Bounds, Mapping[str, ArraySection]]:
    """Return the model of a region, in its bounds, and the section of each array.

    Raises:
        AnnotuneError: Something is not affine, or has no bound, even at the region's sizes.
    """
    try:
        return _with_sections(region, statements, demands)
    except AnnotuneError:
        _refuse_unfollowed(statements)
        raise


def _with_sections(
    region: Region, statements: tuple[NestStatement, ...], demands: tuple[Demand, ...]
) -> tuple[Bounds, Mapping[str, ArraySection]]:
    is_by_call = False
    while True:
        bounds = Bounds.of(build_model(region, statements, demands=demands), is_by_call)
        try:
            sections = _sections(bounds)
        except Unbounded as unbounded:
            missing = _missing_values(region, unbounded, bounds)
            if missing and not is_by_call:
                is_by_call = True
                continue
            model = _model_at_sizes(region, statements, unbounded, missing)
            break
        demands = tuple(bounds.demands.found)
        # What the sections demand of the sizes becomes a fact of the model.
        if demands == bounds.model.demands:
            return bounds, sections
    bounds = Bounds.of(model, is_by_call=True)
    try:
        return bounds, _sections(bounds)
    except Unbounded as still:
        where = still.reference
        raise AnnotuneError.of(UNBOUNDED.at(where.span, array=where.name)) from None


def _homes(life: Lifetime, statements: tuple[NestStatement, ...]) -> dict[int, tuple[int, ...]]:
    """Return the statements that use a private variable, with the loops that own it."""
    users = users_by_name(statements).get(life.name, ())
    return {user.number: life.home(user.position) for user in users}


def _lifetimes(region: Region, statements: tuple[NestStatement, ...]) -> dict[str, Lifetime]:
    found: dict[str, Lifetime] = {}
    refused: list[Diagnostic] = []
    for name in sorted(region.nest.written_scalars()):
        scalar = region.scalars.get(name)
        is_wanted = scalar is not None and scalar.read_after
        users = users_by_name(statements).get(name, ())
        references = [r for s in users for r in s.references if r.name == name]
        if is_wanted and all(reference.is_write for reference in references):
            continue  # the user's own variable, whose writes must keep their order
        life = lifetime(name, statements)
        if life is None:
            continue
        found[name] = life
        if is_wanted:
            user = users[0]
            loop = user.loops[len(life.home(user.position)) - 1].var
            refused.append(PRIVATE_READ_AFTER.at(user.assign.span, name=name, loop=loop))
    if refused:
        raise AnnotuneError.of(*refused)
    return found | local_lifetimes(region)


def _sections(bounds: Bounds) -> Mapping[str, ArraySection]:
    """Return the section of each array, in the order of the text."""
    return {
        name: section(name, bounds)
        for name, used in bounds.model.references.items()
        if isinstance(used[0].access, Access) and name in bounds.model.region.arrays
    }


def _missing_values(region: Region, unbounded: Unbounded, bounds: Bounds) -> list[str]:
    """Return the numbers without a value that a section hangs on which has no bound."""
    where = unbounded.reference
    statement = bounds.model.statement(where.statement)
    polys = [p for loop in statement.loops for p in (*loop.lower, *loop.upper)]
    names = {n for poly in (unbounded.poly, *polys) for n in poly.names}
    used = {v for name in names for v in bounds.variables_of(name)}
    used |= {v for condition in where.conditions for v in variables(condition)}
    return sorted((used & _open_sizes(region)) - bounds.model.values.keys())


def _model_at_sizes(
    region: Region,
    statements: tuple[NestStatement, ...],
    unbounded: Unbounded,
    missing: Sequence[str],
) -> Model:
    """Return the model for the region's sizes, because a section has no bound for all.

    Raises:
        AnnotuneError: Values are `missing`.
    """
    where = unbounded.reference
    if missing:
        reason = f"without it nothing bounds the part of '{where.name}' that is touched"
        raise AnnotuneError.of(missing_sizes(region, where.span, missing, reason))
    return build_model(region, statements, at_sizes=(where, unbounded.poly))


def _open_sizes(region: Region) -> set[str]:
    """Return the integers that stay as they are during the region."""
    integers = {s.name for s in region.scalars.values() if is_integer_type(s.type)}
    return integers - region.nest.iterators() - region.nest.written_scalars()


def _warnings(model: Model, missing: tuple[str, ...]) -> tuple[Diagnostic, ...]:
    warnings = list(overlap_warnings(model.region, model.statements))
    if model.why_sizes is not None and not model.region.spec.assumptions.strides:
        warnings.append(model.why_sizes)
    if missing:
        asked = [model.region.text.user_name(name) for name in missing]
        names = listed([f"'{name}'" for name in asked])
        span = (
            model.statements[0].loops[0].loop.span
            if model.statements[0].loops
            else (model.statements[0].assign.span)
        )
        hint = _otherwise_called(model.region, missing)
        example = asked[0]
        warnings.append(WORK_UNKNOWN.at(span, names=names, hint=hint, example=example))
    return tuple(warnings)


def _otherwise_called(region: Region, missing: tuple[str, ...]) -> str:
    """Return a hint where the annotation gives a size under its name in other letters."""
    by_lower = {name.lower(): name for name in missing}
    for param in region.spec.input_params:
        size = by_lower.get(param.name.lower())
        if size is not None and param.name not in region.scalars:
            return OTHERWISE_CALLED.format(given=param.name, size=size)
    return ""


def overlap_warnings(region: Region, statements: Sequence[NestStatement]) -> tuple[Diagnostic, ...]:
    """Return the warning about pointers that may name memory which the region writes under another.

    Two arrays may overlap unless both are array objects, or the C text promises otherwise:
    a written `restrict` pointer is the only way to what it points at, and so is a read one
    to what is written. No warning when the user promises it.
    """
    written = {r.name for s in statements for r in s.references if r.is_write}
    doubtful = {
        array.name
        for pair in combinations(region.arrays.values(), 2)
        if any(array.name in written for array in pair) and may_share(*pair)
        for array in pair
    }
    if not doubtful or region.spec.assumptions.disjoint:
        return ()
    names = [name for name in region.arrays if name in doubtful]
    quoted = listed([f"'{name}'" for name in names])
    return (ASSUMED_DISJOINT.at(region.arrays[names[0]].span, names=quoted),)


# A size without a value counts as at least this: a smaller nest is not worth a kernel.
_SMALL_SIZE = 16


def overlaps(
    region: Region, statements: Sequence[NestStatement], space: IslSpace
) -> list[Diagnostic]:
    """Return a refusal for each two pointers of which the text proves that they overlap.

    Both are set to places of one array, and the region writes an element under one name and
    touches it under the other. `space` has the sizes that are known.
    """
    found: list[Diagnostic] = []
    for one, other in combinations(region.arrays.values(), 2):
        if (one.root or one.name) != (other.root or other.name):
            continue
        if _meet(one, other, statements, space):
            late = max(one, other, key=lambda array: array.span)
            early = other if late is one else one
            sign = "-" if late.offset < 0 else "+"
            place = f"{late.root} {sign} {abs(late.offset)}" if late.offset else late.root
            found.append(OVERLAP.at(late.span, name=late.name, place=place, other=early.name))
    return found


def _meet(one: Array, other: Array, statements: Sequence[NestStatement], space: IslSpace) -> bool:
    """Return whether some element is touched under both names and written under one."""
    sizes = context(statements, space, ())
    try:
        pairs = [
            first.intersect(second)
            for is_write, first in _touched(one, statements, space, sizes)
            for also_written, second in _touched(other, statements, space, sizes)
            if is_write or also_written
        ]
    except NotLinear:
        return False
    shared = isl.Set("{ [x] : false }")
    for pair in pairs:
        shared = shared.union(pair)
    large = sizes
    for k in range(large.dim(isl.dim_type.param)):
        large = large.lower_bound_val(isl.dim_type.param, k, isl.Val(_SMALL_SIZE))
    return not shared.is_empty() and bool(large.is_subset(shared.params()))


def _touched(
    array: Array, statements: Sequence[NestStatement], space: IslSpace, sizes: isl.Set
) -> Iterator[tuple[bool, isl.Set]]:
    """Yield the elements that each reference of an array touches, counted from its root."""
    for statement in statements:
        # What memory decides proves nothing.
        for reference in statement.references:
            is_proven = not reference.conditions and not reference.unknown
            if reference.name == array.name and reference.subscripts and is_proven:
                (subscript,) = reference.subscripts
                address = subscript + integer(array.offset)
                instances = domain(statement, space, sizes)
                elements = access_map(statement, [address], space, instances).range()
                yield reference.is_write, elements


def zero_divisors(region: Region) -> list[Diagnostic]:
    """Return a refusal for each bound, subscript and value that surely divides by 0.

    What stands behind a condition may never be computed.
    """
    finder = _ZeroDivisions(region)
    found = finder.statements(region.nest.body)
    return list(dict.fromkeys(found))


class _ZeroDivisions:
    def __init__(self, region: Region) -> None:
        self.region = region
        self.sizes: Mapping[str, int] = region.known_sizes
        written = {a.target.name for a in region.nest.assigns() if isinstance(a.target, Var)}
        inner = written | region.nest.iterators()
        self.sizes = {name: value for name, value in self.sizes.items() if name not in inner}

    def statements(self, body: tuple[Stmt, ...]) -> Iterator[Diagnostic]:
        for stmt in body:
            if isinstance(stmt, Loop):
                yield from self.divisions(stmt.lower, stmt.span)
                yield from self.divisions(stmt.upper, stmt.span)
                yield from self.statements(stmt.body)
            elif isinstance(stmt, Assign) and stmt.guard is not None:
                yield from self.divisions(stmt.guard, stmt.span)
            elif isinstance(stmt, Assign):
                yield from self.divisions(stmt.target, stmt.span)
                yield from self.divisions(stmt.value, stmt.span)
                if stmt.op == "/=" and self.is_zero(stmt.value) and self.is_whole(stmt.target):
                    yield self.problem(Binary("/", stmt.target, stmt.value), stmt.span)

    def divisions(self, expr: Expr, span: Span) -> Iterator[Diagnostic]:
        """Yield the divisions by 0 in all that computing an expression surely computes."""
        match expr:
            case Select(condition, if_true, if_false):
                chosen = value_at(condition, self.sizes)
                yield from self.divisions(condition, span)
                if chosen is not None:
                    yield from self.divisions(if_true if chosen else if_false, span)
                return
            case Binary(op, left, right) if op in CONNECTIVES:
                yield from self.divisions(left, span)
                decided = value_at(left, self.sizes)
                if decided is not None and bool(decided) == (op == "&&"):
                    yield from self.divisions(right, span)
                return
            case Binary("/" | "%", left, right) if self.is_zero(right) and self.is_whole(left):
                yield self.problem(expr, span)
            case Access(_, _, own):
                span = own
        for child in children(expr):
            yield from self.divisions(child, span)

    def is_zero(self, expr: Expr) -> bool:
        """Return whether an expression is the integer 0 at the region's sizes."""
        return self.is_whole(expr) and value_at(expr, self.sizes) == 0

    def is_whole(self, expr: Expr) -> bool:
        """Return whether an expression is known to be an integer."""
        match expr:
            case Int():
                return True
            case Real():
                return False
            case Var(name):
                scalar = self.region.scalars.get(name)
                return scalar is not None and is_integer_type(scalar.type)
            case Access(name, _):
                array = self.region.arrays.get(name)
                return array is not None and is_integer_type(array.element)
            case Call(function, _):
                return is_integer(function)
            case Cast(type_, _):
                return not type_.is_floating
            case Select(_, if_true, if_false):
                return self.is_whole(if_true) and self.is_whole(if_false)
            case Negate() | Binary():
                return all(map(self.is_whole, children(expr)))

    def problem(self, expr: Binary, span: Span) -> Diagnostic:
        divisor = print_expr(expr.right)
        return DIVIDES_BY_ZERO.at(span, expression=print_expr(expr), divisor=divisor)
