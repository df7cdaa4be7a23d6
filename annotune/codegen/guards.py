"""The run-time tests before generated code: what must hold for it to replace the user's nest.

Among them that iterators stay within their types, for tiles and strides go beyond an end: in
``for (i_t = 0; i_t < n; i_t += 256)`` the last value is up to 255 above `n`, which an int may not
hold where it holds `n` itself; the loop of the text, a step at a time, stops there. And what the
host runs before it copies, to learn which elements a call touches. What has been tested need not be
asked again: the kernels are written without the choices that the tests decide (`plainly`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from annotune.analysis.facts import Analysis, ArrayShape, ElementRange
from annotune.analysis.inspector import FAR
from annotune.analysis.messages import INDICES_AWAY
from annotune.analysis.schedule import space_of
from annotune.analysis.sections import rows_of
from annotune.codegen.c_expr import in_64_bits, of_one_sign, plain_c
from annotune.codegen.c_stmt import Dialect
from annotune.codegen.names import Interface, interface, narrow_scalars, spelled
from annotune.codegen.renaming import Renaming
from annotune.codegen.writer import Writer
from annotune.diagnostics import AnnotuneError, Severity
from annotune.frontend.types.kinds import of_type
from annotune.frozen import dataclass
from annotune.ir.c_types import is_unsigned_type, may_share
from annotune.ir.ctype import LONG, CType, pointer_to
from annotune.ir.expr import (
    PRECEDENCE,
    Binary,
    Call,
    Cast,
    Expr,
    Int,
    Real,
    Select,
    Var,
    accesses,
    conjuncts,
    is_truth,
    substitute,
    variables,
    walk,
)
from annotune.ir.fold import fold
from annotune.ir.nest import Assign, Local, Loop, Stmt, walk_stmts
from annotune.ir.plain import Plain, where
from annotune.ir.poly import from_expr
from annotune.ir.region import Array, Region
from annotune.ir.typing import in_long, may_wrap
from annotune.schedule.plan import HostLoop, Kernel, Step
from annotune.space.variants import Variant
from annotune.transforms.tree import Body, target_name

Stretch = tuple[Expr, Expr]
"""A part of memory: the address of its first byte, and that behind its last."""


def runs_tests(analysis: Analysis, tested: Mapping[str, int]) -> tuple[Expr, ...]:
    """Return tests that each loop runs at least once, where sizes alone decide that.

    `tested` are the sizes that another test fixes. A nest that does not run touches nothing,
    while a copy of its output would; and the proofs take for granted what is tested here. Nor does
    one touch anything whose loops stand in an ``if`` that does not hold, however often they would
    run in there: with an ``int`` below 0 for the end of an unsigned loop, say.
    """
    region = analysis.region
    iterators = {loop.var for loop in region.nest.loops()}
    out: list[Expr] = []
    for loop in region.nest.loops():
        for lower, upper in _bounds(analysis, loop, iterators):
            is_known = isinstance(fold(lower, tested), Int) and isinstance(fold(upper, tested), Int)
            if not is_known:
                out.append(_runs(lower, upper, region))
    return tuple(dict.fromkeys([*out, *_common_conditions(region)]))


def _common_conditions(region: Region) -> Iterator[Expr]:
    """Yield what the conditions of all statements ask of scalars that none of them changes.

    Only what compares numbers with a sign, as it stands: that is so in the types of any test.
    """
    body = list(region.nest.assigns())
    asked = [() if one.guard is None else tuple(conjuncts(one.guard)) for one in body]
    changed = {target_name(one) for one in body} | {loop.var for loop in region.nest.loops()}
    for condition in asked[0]:
        names = variables(condition)
        if (
            all(condition in others for others in asked)
            and names <= region.scalars.keys() - changed
            and all(_has_sign(region.scalars[name].type) for name in names)
            and all(
                isinstance(part, Var | Int | Real) or is_truth(part) for part in walk(condition)
            )
        ):
            yield condition


def _has_sign(type_: str) -> bool:
    return not is_unsigned_type(type_) and "complex" not in type_


def _bounds(
    analysis: Analysis, loop: Loop, iterators: Collection[str]
) -> Iterator[tuple[Expr, Expr]]:
    """Yield the bounds between which a loop runs, less what depends on loops around it.

    Both bounds may move with an outer loop and their distance not: from ``i + 1`` to ``i + m``
    it is that from 1 to m.
    """
    lower, upper = fold(loop.lower), fold(loop.upper)
    if not (variables(lower) | variables(upper)).intersection(iterators):
        yield lower, upper
        return
    still = {name: Int(0) for name in iterators}
    named = space_of(analysis).named
    for low in _operands(lower, "max"):
        for high in _operands(upper, "min"):
            distance = from_expr(Binary("-", high, low), named)
            if distance is not None and distance.names.isdisjoint(iterators):
                yield fold(substitute(low, still)), fold(substitute(high, still))


def _operands(expr: Expr, function: str) -> tuple[Expr, ...]:
    """Return the arguments of a call of `function`, else `expr` alone."""
    if isinstance(expr, Call) and expr.function == function:
        return expr.arguments
    return (expr,)


def condition_tests(analysis: Analysis, tested: Mapping[str, int]) -> tuple[Expr, ...]:
    """Return tests of the conditions on sizes that the proofs need, such as ``ldc >= n``.

    `tested` are the sizes that another test fixes.
    """
    scalars = analysis.region.scalars
    out: list[Expr] = []
    for one in analysis.conditions:
        if isinstance(fold(one, tested), Int):
            continue
        # Sums and products of ints may exceed one, and -1 compares as large with a size_t.
        is_plain = not any(isinstance(part, Binary) for part in walk(one) if part is not one)
        types = {scalars[name].type for name in variables(one)}
        if not is_plain or any(is_unsigned_type(type_) for type_ in types):
            one = in_long(one)
        out.append(one)
    return tuple(out)


def divisor_tests(analysis: Analysis, tested: Mapping[str, int]) -> tuple[Expr, ...]:
    """Return tests that no size in the other tests, or in a copy's length, is divided by 0.

    The nest divides where it gets that far; what is emitted before it divides at once.
    """
    loops = analysis.region.nest.loops()
    exprs = [bound for loop in loops for bound in (loop.lower, loop.upper)]
    exprs += [e for s in analysis.shapes.values() for e in (s.lowest, s.length)]
    found = (divisor for expr in exprs for divisor in divisors(expr, tested))
    return tuple(Binary("!=", divisor, Int(0)) for divisor in dict.fromkeys(found))


def divisors(expr: Expr, tested: Mapping[str, int]) -> tuple[Expr, ...]:
    """Return what an expression divides by that is no number, the tested sizes being known."""
    parts = (p for p in walk(expr) if isinstance(p, Binary) and p.op in ("/", "%"))
    found = dict.fromkeys(fold(part.right) for part in parts)
    return tuple(one for one in found if not isinstance(fold(one, tested), Int))


def null_tests(analysis: Analysis) -> tuple[Expr, ...]:
    """Return tests that what is to be copied is there, where memory decides if it is touched."""
    out: list[Expr] = []
    for shape in analysis.shapes.values():
        if shape.may_be_null:
            test: Expr = Binary("!=", Var(shape.array), Int(0))
            if shape.part.may_be_none:
                test = Binary("||", Binary("<=", in_long(shape.part.count), Int(0)), test)
            out.append(test)
    return tuple(out)


def counts_tests(loops: Iterable[Loop], region: Region) -> tuple[Expr, ...]:
    """Return tests that `loops` run, where iterators around them or offsets set their bounds.

    OpenACC compilers multiply the counts of collapsed loops, and two negative ones make a
    positive number of iterations.
    """
    out: list[Expr] = []
    for loop in loops:
        lower, upper = fold(loop.lower, region.constants), fold(loop.upper, region.constants)
        is_size = lower == Int(0) and isinstance(upper, Var)
        if not is_size and not (isinstance(lower, Int) and isinstance(upper, Int)):
            out.append(_runs(fold(loop.lower), fold(loop.upper), region))
    return tuple(dict.fromkeys(out))


def _runs(lower: Expr, upper: Expr, region: Region) -> Expr:
    """Return the test that a loop from `lower` to `upper` runs."""
    types = region.types
    wrapped = [in_long(inner) for inner in _made_unsigned(upper)]
    if _made_unsigned(lower):
        wrapped.append(Cast(LONG, lower))
    if may_wrap(upper, types):
        wrapped.append(in_long(upper))
    # An end below 0 would be a large number beside a start without a sign.
    sides = [
        {is_unsigned_type(types[n]) for n in variables(e) & types.keys()} for e in (lower, upper)
    ]
    if wrapped or (all(sides) and len(sides[0] | sides[1]) > 1):
        lower, upper = Cast(LONG, lower), Cast(LONG, upper)
    if not wrapped and not any(map(any, sides)):
        return _at_least(lower, upper)
    test = of_one_sign(Binary("<", lower, upper), types)
    # What lies below 0 lies beyond every end where C computes it unsigned, and as an end is one
    # that takes a nest very long to reach, with nothing to do where the user's `if` says so.
    for one in wrapped:
        test = Binary("&&", Binary("<=", Int(0), one), test)
    return test


def _at_least(lower: Expr, upper: Expr) -> Expr:
    """Return that `lower` is less than `upper`, both with a sign: ``n >= 1`` for ``1 < n + 1``.

    No sum is left that could overflow where `n` is the greatest int.
    """
    match lower, upper:
        case Int(first), Binary("+" | "-" as op, size, Int(beyond)):
            least = first + 1 - (beyond if op == "+" else -beyond)
            if abs(least) < 2**31:
                return Binary(">=", size, Int(least))
    return Binary("<", lower, upper)


def _made_unsigned(bound: Expr) -> list[Expr]:
    """Return the parts of a bound that a cast makes unsigned."""
    casts = [part for part in walk(bound) if isinstance(part, Cast)]
    return [cast.operand for cast in casts if cast.type.is_unsigned]


def touched_stretch(analysis: Analysis, array: Array) -> Stretch:
    """Return the part of memory that calls may touch of an array."""
    shape = analysis.shapes[array.name]
    end = fold(Binary("+", shape.lowest, shape.length))
    return address(analysis, array, fold(shape.lowest)), address(analysis, array, end)


def overlap_tests(
    analysis: Analysis,
    outer: Interface,
    stretch: Callable[[Analysis, Array], Stretch] = touched_stretch,
) -> tuple[Expr, ...]:
    """Return tests that no written array overlaps another, where the C does not say so.

    `stretch` gives the part of memory that is taken for an array's.
    """
    return tuple(
        disjoint(*comparable(one, two, stretch(analysis, one), stretch(analysis, two)))
        for one, two in may_overlap(outer)
    )


def comparable(one: Array, two: Array, *stretches: Stretch) -> Iterator[Stretch]:
    """Yield parts of the memory of two arrays as C compares them: as bytes where types differ."""
    is_alike = one.element == two.element and is_flat(one) and is_flat(two)
    for first, end in stretches:
        yield (_of_elements(first), _of_elements(end)) if is_alike else (first, end)


def _of_elements(place: Expr) -> Expr:
    """Return an address in an array that is a pointer to its elements, as such a pointer."""
    match place:
        case Cast(type_, inner) if type_ == _BYTES:
            return inner
    raise AssertionError(place)


def is_flat(array: Array) -> bool:
    """Return whether the user's name of an array is a pointer to its elements."""
    return array.is_pointer and len(array.extents) == 1 and not array.is_enumeration


def may_overlap(outer: Interface) -> tuple[tuple[Array, Array], ...]:
    """Return the pairs of arrays, one of them written, that C lets overlap."""
    return tuple(
        (one, two)
        for one, two in combinations(outer.arrays, 2)
        if (one.name in outer.written or two.name in outer.written) and may_share(one, two)
    )


def conjunct(test: Expr) -> str:
    """Return a test as C that may stand on either side of ``&&``."""
    return plain_c(test, PRECEDENCE["&&"] + 1)


def joined(tests: Iterable[Expr]) -> str:
    """Return the conjunction of tests as C, empty when there are none."""
    return " && ".join(map(conjunct, tests))


def disjoint(one: Stretch, two: Stretch) -> Expr:
    """Return the test that two stretches share no byte."""
    (first, last), (begin, end) = one, two
    return Binary("||", Binary("<=", last, begin), Binary("<=", end, first))


def same_or_disjoint(one: Stretch, two: Stretch, are_as_long: bool) -> Expr:
    """Return the test that two stretches are one, or share no byte."""
    same = Binary("==", one[0], two[0])
    if not are_as_long:
        same = Binary("&&", same, Binary("==", one[1], two[1]))
    return Binary("||", disjoint(one, two), same)


def signed(expr: Expr, region: Region) -> Expr:
    """Return an offset, in 64 bits where C computes what may lie below 0 without a sign."""
    return in_long(expr) if may_wrap(expr, region.types) else expr


def address(analysis: Analysis, array: Array, offset: Expr) -> Expr:
    """Return C for the address of an element; as bytes, so that any two of them compare."""
    if offset == Int(0):
        return Cast(_BYTES, Var(array.name), is_bare=True)
    first: Expr = Var(array.name)
    offset = in_64_bits(signed(offset, analysis.region), narrow_scalars(analysis.region))
    if not is_flat(array):
        first = Cast(pointer_to(f"const {spelled(array.element)}"), first, is_bare=True)
        # A row and a column may each be an int while their product is none.
        offset = in_long(offset)
    return Cast(_BYTES, Binary("+", first, offset))


_BYTES = pointer_to("const char")


# Types of which no memory has an element for each value.
WIDE = frozenset({"long", "unsigned long", "long long", "unsigned long long"})
# The least and the greatest value of an iterator, None where only memory knows.
Range = tuple[Expr | None, Expr | None]
Beyond = Callable[[Loop], int]


def next_step(loop: Loop) -> int:
    """Return how far past its greatest value one worker takes the iterator of a loop.

    What unrolling leaves to a loop is a multiple of its step.
    """
    return loop.step // loop.unrolled


def reach_tests(
    analysis: Analysis,
    plans: Iterable[tuple[Sequence[Step], Mapping[str, int]]],
    beyond: Callable[[Kernel], Beyond] = lambda kernel: next_step,
) -> tuple[Expr, ...]:
    """Return tests that every value that an iterator of `plans` is given fits its type.

    Each plan is its steps and the sizes that are fixed where it runs. `beyond` says for a kernel
    how far past the greatest value of an iterator of it the next one may be.
    """
    finder = _ReachFinder(analysis, beyond)
    most: dict[Expr, int] = {}
    for steps, constants in plans:
        for size, limit in finder.steps(steps, {}):
            known = fold(size, constants)
            if not isinstance(known, Int) or known.value > limit:
                most[size] = min(limit, most.get(size, limit))
    return tuple(finder.test(size, limit) for size, limit in most.items())


@dataclass(frozen=True)
class _ReachFinder:
    analysis: Analysis
    beyond: Callable[[Kernel], Beyond]

    def steps(self, steps: Sequence[Step], around: Mapping[str, Range]) -> Iterator[_Limit]:
        """Yield each expression of sizes that must not exceed a number, with this."""
        for step in steps:
            match step:
                case Kernel(body=body):
                    yield from self._body(self.beyond(step), body, around)
                case HostLoop(loop, inner):
                    yield from self.steps(inner, _inside(loop, around))

    def _body(self, beyond: Beyond, body: Body, around: Mapping[str, Range]) -> Iterator[_Limit]:
        """Yield the limits of the loops in `body`, which stand in iterators `around` them."""
        for loop in body:
            if not isinstance(loop, Loop):
                continue
            inside = _inside(loop, around)
            kind = Dialect(self.analysis.region).iterator_type(loop).replace("const ", "")
            held = of_type(kind)
            if held is not None and kind not in WIDE:
                last = inside[loop.var][1]
                ahead = beyond(loop)
                reached = [] if last is None or ahead <= 1 else [fold(_plus(last, ahead))]
                for bound in (*_chosen(loop.lower), *_chosen(loop.upper)):
                    edge = _edge(bound, around, 1) if variables(bound) & around.keys() else None
                    reached += [] if edge is None else [edge]
                for most in reached:
                    yield from self._limits(most, held[1])
            yield from self._body(beyond, loop.body, inside)

    def _limits(self, most: Expr, limit: int) -> Iterator[_Limit]:
        """Yield `most` without its constant summand, if it can exceed `limit` at all."""
        match fold(most):
            case Binary("+", size, Int(value)):
                limit -= value
            case Binary("-", size, Int(value)):
                limit += value
            case size:
                pass
        scalars = self.analysis.region.scalars
        given = {s.name: of_type(s.type) for s in interface(self.analysis).scalars}
        if accesses(size) or not variables(size) <= given.keys():
            return
        if isinstance(size, Var):
            own = of_type(scalars[size.name].type)
            if own is not None and own[1] <= limit:
                return
        yield size, limit

    def test(self, size: Expr, limit: int) -> Expr:
        """Return the test that an expression is no more than a number, computed in 64 bits."""
        return Binary("<=", size if isinstance(size, Var) else in_long(size), Int(limit))


_Limit = tuple[Expr, int]


def _inside(loop: Loop, around: Mapping[str, Range]) -> dict[str, Range]:
    """Return the ranges of iterators inside `loop`, given those around it."""
    first, end = _edge(loop.lower, around, -1), _edge(loop.upper, around, 1)
    return {**around, loop.var: (first, None if end is None else fold(_plus(end, -1)))}


def _chosen(bound: Expr) -> tuple[Expr, ...]:
    """Return what a bound is chosen from: all of it is computed."""
    if isinstance(bound, Call) and bound.function in ("min", "max"):
        return tuple(part for argument in bound.arguments for part in _chosen(argument))
    return (bound,)


def _plus(expr: Expr, number: int) -> Expr:
    return Binary("+", expr, Int(number))


def _edge(expr: Expr, around: Mapping[str, Range], sign: int) -> Expr | None:
    """Return a greatest value (`sign` 1) or a least one (-1) of an expression of iterators."""
    if not variables(expr) & around.keys():
        return None if accesses(expr) else fold(expr)
    match expr:
        case Var(name):
            return around[name][sign > 0]
        case Binary("+" | "-" as op, left, right):
            one = _edge(left, around, sign)
            two = _edge(right, around, sign if op == "+" else -sign)
            return None if one is None or two is None else fold(Binary(op, one, two))
        case Binary("*", Int(factor), right):
            inner = _edge(right, around, sign if factor > 0 else -sign)
            return None if inner is None else fold(Binary("*", Int(factor), inner))
        case Binary("/", left, Int(divisor)) if divisor > 0:
            inner = _edge(left, around, sign)
            return None if inner is None else fold(Binary("/", inner, Int(divisor)))
        case Call("min" | "max" as function, arguments):
            return _edge_of_choice(function, arguments, around, sign)
        case Cast(CType("int" | "long" | "long long"), argument):
            return _edge(argument, around, sign)
        case _:
            return None


def _edge_of_choice(
    function: str, arguments: Sequence[Expr], around: Mapping[str, Range], sign: int
) -> Expr | None:
    """Return the edge of a choice: of what no iterator moves, where that will do."""
    is_any = (function == "min") == (sign > 0)
    still = [a for a in arguments if not variables(a) & around.keys() and not accesses(a)]
    edges = [_edge(a, around, sign) for a in (still if is_any and still else arguments)]
    known = [edge for edge in edges if edge is not None]
    if not known or (len(known) < len(edges) and not is_any):
        return None
    return fold(Call(function, tuple(dict.fromkeys(known)))) if len(known) > 1 else known[0]


def look_text(analysis: Analysis, dialect: Dialect) -> str:
    """Return what the host runs, empty where sizes and switches alone say what is touched.

    Raises:
        AnnotuneError: The conditions have no value yet when copies are made.
    """
    if analysis.unseen:
        errors = (replace(one, severity=Severity.ERROR) for one in analysis.unseen)
        raise AnnotuneError.of(*errors)
    out = Writer()
    if analysis.inspector:
        out.line("/* Conditions decide which elements are touched, and no others need be there: */")
        starts = (stmt for stmt in analysis.inspector if isinstance(stmt, Local))
        ends = frozenset(s.name for s in starts if s.value in (Int(FAR), Int(-FAR)))
        dialect.write_body(out, _wide(analysis.inspector, ends))
    return out.text()


def _wide(body: tuple[Stmt, ...], ends: frozenset[str]) -> tuple[Stmt, ...]:
    """Return statements in which `ends`, and what they leave, are numbers of 64 bits with a sign.

    Where C computes one in several types, less of it may be left in those than it needs.
    """
    out: list[Stmt] = []
    for stmt in body:
        match stmt:
            case Loop():
                out.append(replace(stmt, body=_wide(stmt.body, ends)))
            case Assign(target=Var(name) as end, value=Select(Binary(op, place, _))) if (
                name in ends
            ):
                place = in_long(place)
                out.append(replace(stmt, value=Select(Binary(op, place, end), place, end)))
            case Local(value=Select(Binary(_, Var(name), _) as test, found, otherwise)) if (
                name in ends
            ):
                out.append(replace(stmt, value=Select(test, found, in_long(otherwise))))
            case _:
                out.append(stmt)
    return tuple(out)


def refuse_indices_away(region: Region) -> None:
    """Raise for indices that the host reads before the nest where arrays are on the device.

    Raises:
        AnnotuneError: The region has sizes for the range of indices.
    """
    if region.index_ranges:
        away = (
            INDICES_AWAY.at(region.arrays[name].span, array=name) for name in region.index_ranges
        )
        raise AnnotuneError.of(*away)


def wholly_there(analysis: Analysis) -> Analysis:
    """Return an analysis for data on the device, of which nothing is looked for or copied.

    Raises:
        AnnotuneError: As `refuse_indices_away`.
    """
    refuse_indices_away(analysis.region)
    shapes = {
        name: replace(shape, touched=None, rows=_rows(analysis, shape), is_inspected=False)
        if shape.is_inspected
        else shape
        for name, shape in analysis.shapes.items()
    }
    return replace(analysis, shapes=shapes, inspector=())


def _rows(analysis: Analysis, shape: ArrayShape) -> ElementRange | None:
    """Return the rows of all elements that calls may touch, None of an array without rows."""
    if shape.rows is None:
        return None
    row: Expr = Int(1)
    for extent in analysis.region.arrays[shape.array].extents[1:]:
        row = row if extent is None else fold(Binary("*", row, extent))
    return rows_of(ElementRange(shape.lowest, shape.length), row)


@dataclass(frozen=True)
class _Plainly(Renaming):
    """A text in plain expressions, under its own names."""

    plain: Plain

    def expr(self, expr: Expr) -> Expr:
        """Return an expression as it is best read."""
        return self.plain.expr(expr)

    def change(self, part: Expr) -> Expr | None:
        """Return a whole expression as it is best read."""
        return self.plain.expr(part)

    def _stmt(self, stmt: Stmt) -> Stmt:
        made = super()._stmt(stmt)
        if isinstance(made, Assign) and isinstance(made.guard, Int):
            assert isinstance(stmt, Assign)
            return replace(made, guard=None if made.guard.value else stmt.guard)
        if isinstance(made, Loop):
            # What is asked of tiles is said as their ends are.
            assert isinstance(stmt, Loop)
            return replace(made, peeled=stmt.peeled)
        return made


def plainly(variant: Variant, resident: bool) -> Variant:
    """Return a variant in plain expressions, in which no kernel asks what has been tested.

    The nest as written runs where a test fails, and takes none for granted; nor does what finds
    `resident` arrays for it. What else is said of arrays is asked behind the tests; what is
    computed of them before is of no account where one fails, but must not divide by 0 there.
    """
    types = _types(variant)
    always, tested = _Plainly({}, Plain(types)), _Plainly({}, where(_held(variant), types))

    def analysis(one: Analysis) -> Analysis:
        made = always.analysis(one)
        asked = frozenset(map(always.expr, one.region.text.asked_first))
        text = replace(made.region.text, asked_first=asked)
        shapes = {
            name: shape if resident or _divides(shape) else tested.shape(shape)
            for name, shape in made.shapes.items()
        }
        return replace(made, region=replace(made.region, text=text), shapes=shapes)

    return variant.rewritten(analysis, tested.plan)


def _held(variant: Variant) -> Iterator[Expr]:
    """Yield what is tested before all kernels of a variant, of what no statement changes."""
    analysis, region = variant.analysis, variant.analysis.region
    changed = {target_name(stmt) for stmt in region.nest.assigns()}
    changed |= {loop.var for loop in region.nest.loops()}
    known = region.constants
    tests = *runs_tests(analysis, known), *condition_tests(analysis, known)
    for test in (*divisor_tests(analysis, known), *tests):
        # Where all sizes are fixed they are tested instead.
        fixed = (fold(test, plan.constants) for plan in variant.plans())
        if not variables(test) & changed and Int(0) not in fixed:
            yield from conjuncts(test)


def _divides(shape: ArrayShape) -> bool:
    ranges = [part for part in (shape.part, shape.rows) if part is not None]
    exprs = [shape.lowest, shape.length, *(e for part in ranges for e in (part.first, part.count))]
    parts = (part for expr in exprs for part in walk(expr))
    return any(isinstance(part, Binary) and part.op in ("/", "%") for part in parts)


def _types(variant: Variant) -> dict[str, str]:
    """Return the C types of all names in a variant's texts, as the user has them."""
    region = variant.analysis.region
    types = {**region.types}
    plans = (plan for one in variant.by_size for plan in one.plans())
    kernels = (kernel for plan in plans for kernel in plan.kernels())
    loops = [step for plan in variant.plans() for step in _host_loops(plan.steps)]
    for stmt in (*loops, *(s for kernel in kernels for s in walk_stmts(kernel.body))):
        match stmt:
            case Loop(var=name):
                own = region.scalars.get(name) or region.scalars.get(stmt.root)
                types[name] = own.type if own is not None else "int"
            case Local(name=name, type=kind):
                types.setdefault(name, kind)
            case _:
                pass
    return types


def _host_loops(steps: Sequence[Step]) -> Iterator[Loop]:
    for step in steps:
        if isinstance(step, HostLoop):
            yield step.loop
            yield from _host_loops(step.steps)
