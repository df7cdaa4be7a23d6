"""Loops whose iterator C compares with its bound as unsigned numbers.

Where one of the two is unsigned, C11 6.3.1.8 converts the other: from -2, a loop to ``64u`` does
not run at all, since -2 becomes a large number. A nest counts among all the integers.

A loop that one such comparison alone ends is taken to have a bound of 0 or above: it would run
for a long time. Beside another comparison the converted bound is one like any other.

The header of a ``for`` loop, normalised to ``var in lower:upper step n``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pycparser import c_ast

from annotune.diagnostics import AnnotuneError, Span, Template
from annotune.frontend import messages
from annotune.frontend.lower.expressions import Expressions
from annotune.frontend.lower.names import Left, Names
from annotune.frontend.lower.unsigned import signed, widened
from annotune.frontend.read.syntax import (
    assigned_in,
    changed_by,
    names_in,
    token_place,
    walk_tree,
)
from annotune.frontend.types.kinds import Interval, Typed, common, is_unsigned, of_type, width
from annotune.frontend.types.symbols import INTEGERS, Symbol
from annotune.ir.c_types import PROMOTED
from annotune.ir.expr import Binary, Call, Expr, Int, Negate, Select, Var, accesses, variables, walk
from annotune.ir.fold import fold

# No iterator comes so far, and its distance from any that one does come to is a long.
_BEYOND = 2**62


@dataclass(frozen=True, slots=True)
class LoopTest:
    """The comparison of a loop: ``symbol op bound``, from `start` on by `step`."""

    symbol: Symbol
    op: str
    bound: Typed
    start: Typed
    step: int

    @property
    def kind(self) -> str:
        """Return the type in which C compares."""
        return common(self.symbol.base, self.bound.kind)


def check(compared: LoopTest, node: c_ast.Node, expressions: Expressions) -> None:
    """Refuse a comparison that differs from one among all the integers; `node` is the bound.

    Raises:
        AnnotuneError: Nothing shows that both sides are the numbers that C compares.
    """
    template = _problem(compared, expressions)
    if template is not None:
        var, kind = compared.symbol.name, compared.kind
        raise expressions.refuse(template, node, var=var, type=kind)


def as_compared(compared: LoopTest, is_mixed: bool, expressions: Expressions) -> Expr:
    """Return the bound of a comparison, one of several, as the number that C compares with.

    One that the steps never meet is beyond all that they may meet. Among bounds that are not
    `is_mixed`, C itself chooses the least one.
    """
    start, is_up = compared.start.expr, compared.step > 0
    bound = _as_unsigned(compared, is_mixed, expressions)
    way = Binary("-", bound, start) if is_up else Binary("-", start, bound)
    if compared.op != "!=" or expressions.names.is_nonnegative(fold(way)):
        return bound
    beyond = Int(_BEYOND) if is_up else Negate(Int(_BEYOND))
    start, bound = signed(start, expressions.names), signed(bound, expressions.names)
    return Select(Binary("<" if is_up else ">", bound, start), beyond, bound)


def _as_unsigned(compared: LoopTest, is_mixed: bool, expressions: Expressions) -> Expr:
    """Return the bound in the type in which C compares."""
    bound, bound_kind = compared.bound.expr, compared.bound.kind
    is_met = compared.op == "!=" and not is_unsigned(compared.symbol.base)
    if is_met and is_unsigned(compared.kind):
        # Equal numbers are equal in both types: -1 meets the largest unsigned one.
        return bound
    kind = bound_kind if is_unsigned(bound_kind) else compared.kind
    span = expressions.names.range_of(bound)
    # No loop around comes as far as a parameter may be.
    is_near = variables(bound) <= expressions.names.spans.keys() or not (
        is_mixed or compared.step < 0
    )
    if not is_unsigned(kind) or (
        span is not None and span[0] >= 0 and (is_near or span[1] < 2**63)
    ):
        return bound
    if width(kind) < 64:
        return Call("(long)", (Call(f"({kind})", (bound,)),))
    bound = signed(bound, expressions.names)
    return Select(Binary("<", bound, Int(0)), Int(_BEYOND), bound)


def _problem(compared: LoopTest, expressions: Expressions) -> Template | None:
    base, kind, step = compared.symbol.base, compared.kind, compared.step
    bound = expressions.names.range_of(compared.bound.expr)
    if not is_unsigned(kind) and not is_unsigned(base):
        # -1u is a large number, also where the comparison is one of longs.
        is_below = is_unsigned(compared.bound.kind) and bound is not None and bound[1] < 0
        return messages.UNSIGNED_BOUND if is_below else None
    if bound is not None and bound[1] < 0:
        return messages.UNSIGNED_BOUND
    starts_above = _starts_above(compared.start.expr, expressions)
    if compared.op == "!=":
        return _meeting_problem(compared, starts_above, expressions)
    if step > 0:
        if not starts_above:
            return messages.UNSIGNED_START
        return messages.NEVER_ENDS if _passes_end(compared) else None
    if not starts_above and (not is_unsigned(base) or bound is None or bound[0] < 0):
        # Where both go round, the one may be above the other again.
        return messages.UNSIGNED_START
    return None if _stays_above(compared, expressions) else messages.NEVER_ENDS


def _starts_above(start: Expr, expressions: Expressions) -> bool:
    """Return whether a start is 0 or more also as a long, however a cast has made it so."""
    casts = {"(unsigned long)", "(unsigned long long)"}
    calls = (part for part in walk(start) if isinstance(part, Call) and part.function in casts)
    inside = (argument for call in calls for argument in call.arguments)
    return expressions.names.is_nonnegative(start) and all(
        map(expressions.names.is_nonnegative, inside)
    )


def _meeting_problem(
    compared: LoopTest, starts_above: bool, expressions: Expressions
) -> Template | None:
    """Return why an iterator may meet another number than the bound is, None where it may not.

    Equal numbers are equal in both types, but a signed iterator meets below 0 what an unsigned
    bound has above it. Upwards from 0 it would have to pass the end of its type first.
    """
    if is_unsigned(compared.symbol.base) or not is_unsigned(compared.bound.kind):
        return None
    if compared.step > 0 and starts_above:
        return None
    bound, held = expressions.names.range_of(compared.bound.expr), of_type(compared.symbol.base)
    is_held = bound is not None and held is not None and bound[1] <= held[1]
    return None if is_held else messages.UNSIGNED_MEETING


def _passes_end(compared: LoopTest) -> bool:
    """Return whether an unsigned iterator goes round before it reaches a constant bound."""
    bound, held = compared.bound.expr, of_type(compared.symbol.base)
    if held is None or not is_unsigned(compared.symbol.base) or not isinstance(bound, Int):
        return False
    first_outside = bound.value + (compared.op == "<=")
    return first_outside + compared.step - 1 > held[1]


def _stays_above(compared: LoopTest, expressions: Expressions) -> bool:
    """Return whether a loop that counts down ends before it would go below 0.

    The first value that ends it may be as much below the bound as a step is long, less 1.
    """
    bound, step = compared.bound.expr, -compared.step
    if compared.op == ">" and step == 1:
        return True
    distance = fold(Binary("-", compared.start.expr, bound))
    if compared.op == ">" and isinstance(distance, Int) and distance.value % step == 0:
        return True
    span, held = expressions.names.range_of(bound), of_type(compared.kind)
    if span is None or held is None or span[1] > held[1]:
        return False
    return span[0] - (compared.op == ">=") >= step - 1


_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}
_STEPS = {"++": 1, "p++": 1, "--": -1, "p--": -1}


@dataclass(frozen=True, slots=True)
class Split:
    """A ``for`` with one iterator: what its header does beside that stands before or inside.

    `place` is the node to point at; `start` is None where the loop goes on from the value that
    the iterator has. `before` runs before the loop, `after` at the end of each iteration.
    """

    var: str
    start: c_ast.Node | None
    place: c_ast.Node
    advance: c_ast.Node | None
    before: tuple[c_ast.Node, ...] = ()
    after: tuple[c_ast.Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Header:
    """A counted loop's header; `symbol` is the user's iterator, `var` of type `kind` the nest's.

    `value` is the user's iterator in an iteration, `final` after the loop. A loop that counts
    down becomes one that counts its distance from the start up from 0. `trips` is how often the
    loop runs, where that is at least once.
    """

    symbol: Symbol
    var: str
    kind: str
    lower: Expr
    upper: Expr
    step: int
    value: Expr
    final: Expr
    trips: Expr


def _trips(distance: Expr, step: int) -> Expr:
    if step == 1:
        return distance
    return fold(Binary("/", Binary("+", distance, Int(step - 1)), Int(step)))


def _distance(lower: Expr, upper: Expr, expressions: Expressions) -> Expr:
    """Return how far `upper` is above `lower`; what is not above it may be 0 above it."""
    names, distance = expressions.names, fold(Binary("-", upper, lower))
    if isinstance(distance, Var) or expressions.names.is_sized(distance):
        return distance
    longs = signed(distance, names, is_far=True)
    scalars = [scalar for name in variables(distance) if (scalar := names.used.scalars.get(name))]
    if all(width(scalar.type) < width("long") for scalar in scalars):
        return longs
    # Not even a long may hold it, where the one is far below 0 and the other far above.
    return Select(Binary("<", signed(lower, names), signed(upper, names)), longs, Int(0))


def times(trips: Expr, names: Names) -> Expr:
    """Return how often a loop of so many trips runs, by a name if it may not run."""
    return names.leave(Left(trips, fold(Call("max", (Int(0), trips))), trips))


def split(loop: c_ast.For) -> Split | None:
    """Return a loop's iterator and what else its header sets; None without an iterator."""
    starts = list(_starts(loop.init))
    steps = _parts(loop.next) if isinstance(loop.next, c_ast.ExprList) else (loop.next,)
    if len(starts) == len(steps) == 1:
        return Split(*starts[0], loop.next)
    compared = set(names_in(loop.cond))
    for advance in steps:
        var = _stepped(advance)
        if var is None or var not in compared or advance is None:
            continue
        own = [(start, place) for name, start, place in starts if name == var]
        if len(own) > 1:
            return None
        start, place = own[0] if own else (None, advance)
        before = tuple(node for node in _parts(loop.init) if _started(node) != var)
        after = tuple(step for step in _parts(loop.next) if step is not advance)
        return Split(var, start, place, advance, before, after)
    return Split(*starts[0], loop.next) if len(starts) == 1 else None


def _parts(init: c_ast.Node | None) -> tuple[c_ast.Node, ...]:
    match init:
        case None:
            return ()
        case c_ast.DeclList():
            return tuple(init.decls)
        case c_ast.ExprList():
            return tuple(init.exprs)
    return (init,)


def _started(node: c_ast.Node) -> str | None:
    match node:
        case c_ast.Decl():
            return node.name if node.init is not None else None
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name)):
            return name
    return None


def _starts(init: c_ast.Node | None) -> Iterator[tuple[str, c_ast.Node | None, c_ast.Node]]:
    for node in _parts(init):
        name = _started(node)
        if name is not None and isinstance(node, c_ast.Decl):
            yield name, node.init, node
        elif name is not None and isinstance(node, c_ast.Assignment):
            yield name, node.rvalue, node.lvalue


def _stepped(node: c_ast.Node | None) -> str | None:
    target = changed_by(node) if node is not None else None
    return target.name if isinstance(target, c_ast.ID) else None


def header(loop: c_ast.For, expressions: Expressions) -> Header:
    """Return the normal form of a loop's header, or raise why it has none.

    The iterator must be declared already when the header itself declares it.
    """
    names = expressions.names
    parts = split(loop)
    if parts is None:
        if loop.init is None:
            raise AnnotuneError.of(messages.LOOP_START.at(_name_span(loop, names)))
        raise expressions.refuse(messages.LOOP_START, loop.init)
    var, place = parts.var, parts.place
    if var in names.iterators:
        raise AnnotuneError.of(messages.ITERATOR_REUSED.at(_name_span(place, names), var=var))
    symbol = names.symbol(c_ast.ID(var, place.coord))
    if symbol.is_array or symbol.base not in INTEGERS or symbol.base in PROMOTED:
        span = _name_span(place, names)
        raise AnnotuneError.of(messages.ITERATOR_TYPE.at(span, var=var, type=symbol.base))
    names.use(symbol)
    step = _step(loop, parts, expressions)
    conditions = [_side(part, var, expressions) for part in _conditions(loop, var, expressions)]
    _check_changes(loop, parts, expressions)
    if parts.start is not None:
        first = _bound(parts.start, var, expressions)
    elif var in names.formulas:
        first = Typed(names.resolved(names.formulas[var].index), symbol.base)
    else:
        raise AnnotuneError.of(messages.LOOP_START.at(_name_span(loop, names)))
    if step > 0:
        first = widened(first, names)
    unmoved = _unmoved(first, symbol.base, expressions)
    first = _converted(first, symbol.base, step, expressions)
    start, ends = _bounds(symbol, first, step, conditions, expressions)
    return _normal(symbol, start, ends, step, unmoved, expressions)


def _bounds(
    symbol: Symbol,
    first: Typed,
    step: int,
    conditions: Sequence[tuple[str, c_ast.Node]],
    expressions: Expressions,
) -> tuple[Expr, Sequence[Expr]]:
    """Return where a loop starts, and the values any of which ends it."""
    names, start = expressions.names, first.expr
    limits = [_bound(right, symbol.name, expressions) for _, right in conditions]
    if step < 0 or len(limits) > 1:
        # A loop up to one bound is taken not to be endless, and its bound to be above 0.
        limits = [widened(limit, names) for limit in limits]
    others = [limit.kind for limit in limits if not isinstance(limit.expr, Int)]
    is_mixed = len({is_unsigned(kind) for kind in (symbol.base, *others)}) > 1
    ends: list[Expr] = []
    for (op, right), limit in zip(conditions, limits, strict=True):
        compared = LoopTest(symbol, op, limit, first, step)
        is_taken = len(conditions) == 1 and (step > 0 or op == "!=")
        bound = limit.expr if is_taken else as_compared(compared, is_mixed, expressions)
        if op == "<" and expressions.names.is_nonnegative(start):
            bound = _halved(bound)
        ends.append(_end(compared, bound, right, expressions))
        check(compared, right, expressions)
    is_converted = any(is_unsigned(common(symbol.base, limit.kind)) for limit in limits)
    # From below 0 on, what is left has `!=`, and comes to the same number in both types.
    is_met = not is_unsigned(symbol.base) and not expressions.names.is_nonnegative(start)
    if step > 0 and (is_met or not is_converted):
        return _below_zero(start, ends, expressions)
    return start, ends


def _converted(first: Typed, base: str, step: int, expressions: Expressions) -> Typed:
    """Return the first value of an iterator of type `base`, as C converts it.

    Down from one that went round in a narrower type a loop would run for very long.
    """
    start, kind, held = first.expr, first.kind, of_type(base)
    loses_sign = is_unsigned(kind) and not is_unsigned(base)
    if not (loses_sign or width(base) < width(kind)):
        return first
    is_wider, span = width(base) > width(kind), expressions.names.range_of(start)
    if span is not None and held is not None:
        least = 0 if loses_sign else held[0]
        if least <= span[0] and span[1] <= held[1]:
            return first
    if expressions.names.is_sized(start) and not (is_wider and step > 0):
        return first
    start = Call(f"({kind})", (start,)) if is_unsigned(kind) else start
    return Typed(start if is_wider else Call(f"({base})", (start,)), base)


def _unmoved(first: Typed, base: str, expressions: Expressions) -> Expr:
    """Return what an iterator of type `base` has before it is compared, as C computes it."""
    is_wider = width(base) > width(first.kind)
    if is_wider and is_unsigned(first.kind) and not expressions.names.is_nonnegative(first.expr):
        return Call(f"({first.kind})", (first.expr,))
    return _converted(first, base, 1, expressions).expr


def _below_zero(
    start: Expr, ends: Sequence[Expr], expressions: Expressions
) -> tuple[Expr, list[Expr]]:
    """Return where a loop starts and ends, with a sign where C compares such numbers.

    Without the cast of ``i < (long)n - 1`` an unsigned `n` of 0 would be far above `i`.
    """
    names = expressions.names
    if expressions.names.is_nonnegative(start):
        return start, [e if expressions.names.is_nonnegative(e) else signed(e, names) for e in ends]
    return signed(start, names), [signed(end, names) for end in ends]


def iterator_range(own: Header, expressions: Expressions) -> Interval | None:
    """Return the values of a loop's iterator inside its body, None where its start is unknown."""
    lower, upper = (expressions.names.range_of(bound) for bound in (own.lower, own.upper))
    held = of_type(own.symbol.base)
    if lower is None or held is None:
        return None
    last = held[1] if upper is None else min(upper[1] - 1, held[1])
    return lower[0], max(lower[0], last)


def _normal(
    symbol: Symbol,
    start: Expr,
    ends: Sequence[Expr],
    step: int,
    unmoved: Expr,
    expressions: Expressions,
) -> Header:
    """Return the header of a loop from `start` until it reaches one of `ends`.

    What it leaves is `unmoved` where it does not run: C's start, which may have gone round.
    """
    names, var = expressions.names, symbol.name
    is_renamed = var in names.sets.assigned
    own = f"annotune_{var}" if is_renamed else var
    if step > 0:
        upper = _least(ends)
        value: Expr = Var(own)
        trips = _trips(_distance(start, upper, expressions), step)
        last = _reached(start, upper, step, trips, names)
        return Header(symbol, own, symbol.base, start, upper, step, value, last, trips)
    if names.may_be_read_after(symbol) and not is_renamed:
        # What is left in the nest's own iterator would be the distance.
        names.sets.needed.add(var)
    distances = [fold(Binary("-", start, end)) for end in ends]
    longs, kind = [signed(_distance(e, start, expressions), names) for e in ends], symbol.base
    may_wrap = is_unsigned(kind) or longs != distances
    if may_wrap and not all(map(expressions.names.is_nonnegative, distances)):
        # From a start below its bound the distance is negative, and the loop does not run.
        distances, kind = longs, "long"
    upper = _least(distances)
    if not is_unsigned(symbol.base):
        # The iterator may come below 0 where what it starts from does not.
        start, unmoved = signed(start, names), signed(unmoved, names)
    value = fold(Binary("-", start, Var(own)))
    trips = _trips(upper, -step)
    last = fold(Binary("-", unmoved, _reached(Int(0), upper, -step, trips, names)))
    return Header(symbol, own, kind, Int(0), upper, -step, value, last, trips)


def _least(ends: Sequence[Expr]) -> Expr:
    least = ends[0]
    for end in ends[1:]:
        least = Call("min", (least, end))
    return least if len(ends) == 1 else fold(least)


def _reached(lower: Expr, upper: Expr, step: int, trips: Expr, names: Names) -> Expr:
    """Return the first value at or above `upper` that a loop from `lower` reaches."""
    if step == 1:
        return names.leave(Left(trips, fold(Call("max", (lower, upper))), upper))
    return fold(Binary("+", lower, Binary("*", Int(step), times(trips, names))))


def _name_span(place: c_ast.Node, names: Names) -> Span:
    """Return the place of a declared name, an identifier or a statement's keyword."""
    return names.function.file.source.span(*token_place(place))


def _step(loop: c_ast.For, parts: Split, expressions: Expressions) -> int:
    var, advance = parts.var, parts.advance
    if advance is None:
        raise expressions.refuse(messages.LOOP_STEP, loop.init or loop, var=var)
    step: int | None = None
    if _stepped(advance) == var:
        match advance:
            case c_ast.UnaryOp():
                step = _STEPS[advance.op]
            case c_ast.Assignment(op="+=" | "-=" as op):
                by = expressions.names.fixed_value(advance.rvalue)
                step = by if by is None or op == "+=" else -by
            case c_ast.Assignment(op="=", rvalue=c_ast.BinaryOp(op="+" | "-" as op) as moved):
                step = _moved(moved, var, op, expressions)
    if not step:
        raise expressions.refuse(messages.LOOP_STEP, advance, var=var)
    return step


def _moved(moved: c_ast.BinaryOp, var: str, op: str, expressions: Expressions) -> int | None:
    """Return the step of ``i = i + 2`` or ``i = 2 + i``, None when it is not constant."""
    left, right = moved.left, moved.right
    if op == "+" and not (isinstance(left, c_ast.ID) and left.name == var):
        left, right = right, left
    if not (isinstance(left, c_ast.ID) and left.name == var):
        return None
    by = expressions.names.fixed_value(right)
    return -by if by is not None and op == "-" else by


def _conditions(loop: c_ast.For, var: str, expressions: Expressions) -> Iterator[c_ast.Node]:
    if loop.cond is None:
        place = loop.init or loop.next or loop
        raise expressions.refuse(messages.LOOP_CONDITION, place, var=var)
    waiting = [loop.cond]
    while waiting:
        node = waiting.pop()
        if isinstance(node, c_ast.BinaryOp) and node.op == "&&":
            waiting += [node.right, node.left]
        else:
            yield node


def _side(condition: c_ast.Node, var: str, expressions: Expressions) -> tuple[str, c_ast.Node]:
    if not isinstance(condition, c_ast.BinaryOp) or condition.op not in _MIRRORED:
        raise expressions.refuse(messages.LOOP_CONDITION, condition, var=var)
    op, left, right = condition.op, condition.left, condition.right
    if not (isinstance(left, c_ast.ID) and left.name == var):
        op, left, right = _MIRRORED[op], right, left
    is_own = isinstance(left, c_ast.ID) and left.name == var
    if not is_own or var in names_in(right):
        raise expressions.refuse(messages.LOOP_CONDITION, condition, var=var)
    return op, right


def _end(test: LoopTest, bound: Expr, node: c_ast.Node, expressions: Expressions) -> Expr:
    """Return the first value on the way that ends the loop, or raise that it may never end."""
    match test.op:
        case "!=":
            ends = _meets(test.start.expr, bound, test.step, test.symbol)
        case "<" | "<=":
            ends = test.step > 0
        case _:
            ends = test.step < 0
    if not ends:
        raise expressions.refuse(messages.NEVER_ENDS, node, var=test.symbol.name)
    if test.op in ("<=", ">="):
        return fold(Binary("+" if test.op == "<=" else "-", bound, Int(1)))
    return bound


def _meets(start: Expr, bound: Expr, step: int, symbol: Symbol) -> bool:
    """Return whether steps from `start` come to `bound` exactly.

    Steps by 1 do: where the bound lies the other way the user's loop would overflow, which C
    leaves undefined for signed integers; unsigned ones would go round.
    """
    if is_unsigned(symbol.base) and (start if step > 0 else bound) != Int(0):
        return False
    if abs(step) == 1:
        return True
    match fold(Binary("-", bound, start)):
        case Int(distance) | Binary("*", Int(distance), _):
            return distance % step == 0
    return False


def _bound(node: c_ast.Node, var: str, expressions: Expressions) -> Typed:
    found = expressions.whole(node)
    bound = Typed(expressions.names.resolved(found.expr), found.kind)
    read = accesses(bound.expr)
    if read:
        problem = messages.BOUND_READS_ARRAY.at(read[0].span, var=var, name=read[0].array)
        raise AnnotuneError.of(problem)
    return bound


def _halved(bound: Expr) -> Expr:
    """Return ``n >> 1`` as the bound of a loop that starts at 0 or above: ``n / 2``.

    They differ for a negative n, where the loop does not run either way.
    """
    match bound:
        case Select(Binary(">=", x, Int(0)), Binary("/", y, Int()) as quotient, Negate()) if x == y:
            return quotient
    return bound


def _check_changes(loop: c_ast.For, parts: Split, expressions: Expressions) -> None:
    """Refuse a loop whose iterator or bound its own body, or the rest of its header, changes."""
    var = parts.var
    changed = {**assigned_in(loop.stmt), **assigned_in(c_ast.ExprList(list(parts.after)))}
    if var in changed:
        inner_loops = [n for n in walk_tree(loop.stmt) if isinstance(n, c_ast.For)]
        reused = [s for s in map(split, inner_loops) if s and s.var == var]
        if reused and not isinstance(reused[0].place, c_ast.Decl):
            raise expressions.refuse(messages.ITERATOR_REUSED, reused[0].place, var=var)
        raise expressions.refuse(messages.ITERATOR_CHANGES, changed[var], var=var)
    for name in sorted(names_in(loop.cond)):
        if name in changed:
            raise expressions.refuse(messages.BOUND_CHANGES, changed[name], name=name, var=var)
