"""Loops whose iterator C compares with its bound as unsigned numbers.

Where one of the two is unsigned, C11 6.3.1.8 converts the other: from -2, a loop to ``64u`` does
not run at all, since -2 becomes a large number. A nest counts among all the integers.

A loop that one such comparison alone ends is taken to have a bound of 0 or above: it would run
for a long time. Beside another comparison the converted bound is one like any other.

The header of a ``for`` loop, normalised to ``var in lower:upper step n``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from pycparser import c_ast

from annotune.diagnostics import AnnotuneError, Template
from annotune.frontend import messages
from annotune.frontend.lower.expressions import Expressions
from annotune.frontend.lower.names import Left, Names
from annotune.frontend.lower.unsigned import signed, widened
from annotune.frontend.read.counted import stepping_part
from annotune.frontend.read.syntax import (
    assigned_in,
    changed_by,
    names_in,
    text_of,
    token_place,
    walk_tree,
)
from annotune.frontend.types.kinds import Typed, common, is_unsigned, of_type, promoted, width
from annotune.frontend.types.symbols import INTEGERS, Symbol
from annotune.frozen import dataclass
from annotune.ir.c_types import PROMOTED
from annotune.ir.ctype import LONG, named
from annotune.ir.expr import (
    Binary,
    Call,
    Cast,
    Expr,
    Int,
    Negate,
    Select,
    Var,
    accesses,
    variables,
    walk,
)
from annotune.ir.fold import fold
from annotune.ir.typing import Interval

# No iterator comes so far, and its distance from any that one does come to is a long.
_BEYOND = 2**62


@dataclass(frozen=True, slots=True)
class LoopTest:
    """The comparison of a loop, ``symbol op bound``, from `start` on by `step`.

    `node` is the bound as the user has it.
    """

    names: Names
    symbol: Symbol
    op: str
    node: c_ast.Node
    bound: Typed
    start: Typed
    step: int

    @property
    def kind(self) -> str:
        """Return the type in which C compares."""
        return common(self.symbol.base, self.bound.kind)

    def end(self, is_alone: bool, is_mixed: bool) -> Expr:
        """Return the first value on the way that ends the loop.

        The loop may have other comparisons, unless this one `is_alone`; their bounds and its
        iterator `is_mixed` where some of these are unsigned and some are not.

        Raises:
            AnnotuneError: The loop may never end, or nothing shows that both sides are the numbers
                that C compares.
        """
        is_taken = is_alone and (self.step > 0 or self.op == "!=")
        bound = self.bound.expr if is_taken else self._as_compared(is_mixed)
        if self.op == "<" and self.names.is_nonnegative(self.start.expr):
            bound = _halved(bound)
        match self.op:
            case "!=":
                ends = self._meets(bound)
            case "<" | "<=":
                ends = self.step > 0
            case _:
                ends = self.step < 0
        problem = self._problem() if ends else messages.NEVER_ENDS
        if problem is not None:
            span, var = self.names.place(self.node), self.symbol.name
            raise AnnotuneError.of(problem.at(span, var=var, type=self.kind))
        if self.op in ("<=", ">="):
            return self._past(bound)
        return bound

    def _past(self, bound: Expr) -> Expr:
        """Return the first value beyond a bound that does not end the loop.

        Beyond the least of several that other loops move is what is beyond the first of them.
        """
        match bound:
            case Call("min" | "max" as function, arguments):
                if variables(bound) & self.names.spans.keys():
                    return Call(function, tuple(map(self._past, arguments)))
        return fold(Binary("+" if self.op == "<=" else "-", bound, Int(1)))

    def _as_compared(self, is_mixed: bool) -> Expr:
        """Return the bound of a comparison, one of several, as the number that C compares with.

        One that the steps never meet is beyond all that they may meet. Among bounds that are not
        `is_mixed`, C itself chooses the least one.
        """
        start, is_up = self.start.expr, self.step > 0
        bound = self._as_unsigned(is_mixed)
        way = Binary("-", bound, start) if is_up else Binary("-", start, bound)
        if self.op != "!=" or self.names.is_nonnegative(fold(way)):
            return bound
        beyond = Int(_BEYOND) if is_up else Negate(Int(_BEYOND))
        start, bound = signed(start, self.names), signed(bound, self.names)
        return Select(Binary("<" if is_up else ">", bound, start), beyond, bound)

    def _as_unsigned(self, is_mixed: bool) -> Expr:
        """Return the bound in the type in which C compares."""
        names, bound = self.names, self.bound.expr
        is_met = self.op == "!=" and not is_unsigned(self.symbol.base)
        if is_met and is_unsigned(self.kind):
            # Equal numbers are equal in both types: -1 meets the largest unsigned one.
            return bound
        kind = self.bound.kind if is_unsigned(self.bound.kind) else self.kind
        if not is_unsigned(kind):
            return bound
        span = names.range_of(bound)
        # No loop around comes as far as a parameter may be.
        is_near = variables(bound) <= names.spans.keys() or not (is_mixed or self.step < 0)
        if span is not None and span[0] >= 0 and (is_near or span[1] < 2**63):
            return bound
        if width(kind) < 64:
            return Cast(LONG, Cast(named(kind), bound))
        bound = signed(bound, names)
        return Select(Binary("<", bound, Int(0)), Int(_BEYOND), bound)

    def _problem(self) -> Template | None:
        """Return why a comparison may differ from one among all the integers."""
        base, bound = self.symbol.base, self.names.range_of(self.bound.expr)
        is_below = bound is not None and bound[1] < 0
        if not is_unsigned(self.kind) and not is_unsigned(base):
            # -1u is a large number, also where the comparison is one of longs.
            is_large = is_below and is_unsigned(self.bound.kind)
            return messages.UNSIGNED_BOUND if is_large else None
        if is_below:
            return messages.UNSIGNED_BOUND
        starts_above = self._starts_above()
        if self.op == "!=":
            return None if self._meets_itself(starts_above) else messages.UNSIGNED_MEETING
        if self.step > 0:
            if not starts_above:
                return messages.UNSIGNED_START
            return messages.NEVER_ENDS if self._passes_end() else None
        if not starts_above and (not is_unsigned(base) or bound is None or bound[0] < 0):
            # Where both go round, the one may be above the other again.
            return messages.UNSIGNED_START
        return None if self._stays_above() else messages.NEVER_ENDS

    def _starts_above(self) -> bool:
        """Return whether the start is 0 or more also as a long, however a cast has made it so."""
        casts = (part for part in walk(self.start.expr) if isinstance(part, Cast))
        inside = (c.operand for c in casts if c.type.is_unsigned and c.type.bits == LONG.bits)
        return all(map(self.names.is_nonnegative, (self.start.expr, *inside)))

    def _meets_itself(self, starts_above: bool) -> bool:
        """Return whether an iterator meets no other number than the bound is.

        Equal numbers are equal in both types, but a signed iterator meets below 0 what an unsigned
        bound has above it. Upwards from 0 it would have to pass the end of its type first.
        """
        if is_unsigned(self.symbol.base) or not is_unsigned(self.bound.kind):
            return True
        bound, held = self.names.range_of(self.bound.expr), of_type(self.symbol.base)
        is_held = bound is not None and held is not None and bound[1] <= held[1]
        return is_held or (self.step > 0 and starts_above)

    def _passes_end(self) -> bool:
        """Return whether an unsigned iterator goes round before it reaches a constant bound."""
        bound, held = self.bound.expr, of_type(self.symbol.base)
        if held is None or not is_unsigned(self.symbol.base) or not isinstance(bound, Int):
            return False
        first_outside = bound.value + (self.op == "<=")
        return first_outside + self.step - 1 > held[1]

    def _stays_above(self) -> bool:
        """Return whether a loop that counts down ends before it would go below 0.

        The first value that ends it may be as much below the bound as a step is long, less 1.
        """
        bound, step = self.bound.expr, -self.step
        if self.op == ">" and step == 1:
            return True
        distance = fold(Binary("-", self.start.expr, bound))
        if self.op == ">" and isinstance(distance, Int) and distance.value % step == 0:
            return True
        span, held = self.names.range_of(bound), of_type(self.kind)
        if span is None or held is None or span[1] > held[1]:
            return False
        return span[0] - (self.op == ">=") >= step - 1

    def _meets(self, bound: Expr) -> bool:
        """Return whether steps from the start come to `bound` exactly.

        Steps by 1 do: where the bound lies the other way the user's loop would overflow, which C
        leaves undefined for signed integers; unsigned ones would go round.
        """
        start, step = self.start.expr, self.step
        if is_unsigned(self.symbol.base) and (start if step > 0 else bound) != Int(0):
            return False
        if abs(step) == 1:
            return True
        match fold(Binary("-", bound, start)):
            case Int(distance) | Binary("*", Int(distance), _):
                return distance % step == 0
        return False


def _halved(bound: Expr) -> Expr:
    """Return ``n >> 1`` as the bound of a loop that starts at 0 or above: ``n / 2``.

    They differ for a negative n, where the loop does not run either way.
    """
    match bound:
        case Select(
            Binary(">=", x, Int(0)),
            Binary("/", y, Int()) as quotient,
            Binary("-", Binary("/", Binary("+", z, Int(1)), Int()), Int(1)),
        ) if x == y == z:
            return quotient
    return bound


_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}
_STEPS = {"++": 1, "p++": 1, "--": -1, "p--": -1}


@dataclass(frozen=True, slots=True)
class Split:
    """A ``for`` with one iterator: what its header does beside that stands before or inside.

    `place` is the node to point at; `start` is None where the loop goes on from the value that
    the iterator has. `before` runs before the loop, `after` at the end of each iteration. Where the
    condition itself `steps` the iterator, as in ``i-- > 0``, that is `advance`.
    """

    var: str
    start: c_ast.Node | None
    place: c_ast.Node
    advance: c_ast.Node | None
    before: tuple[c_ast.Node, ...] = ()
    after: tuple[c_ast.Node, ...] = ()
    steps: bool = False


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


def _distance(lower: Expr, upper: Expr, names: Names) -> Expr:
    """Return how far `upper` is above `lower`; what is not above it may be 0 above it."""
    distance = fold(Binary("-", upper, lower))
    if isinstance(distance, Var) or names.is_sized(distance):
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
    stepping = stepping_part(loop.cond)
    if stepping is not None:
        return _with_start(loop, stepping, _parts(loop.next), starts, steps=True)
    steps = _parts(loop.next) if isinstance(loop.next, c_ast.ExprList) else (loop.next,)
    if len(starts) == len(steps) == 1:
        return Split(*starts[0], loop.next)
    compared = set(names_in(loop.cond))
    for advance in steps:
        var = _stepped(advance)
        if var is None or var not in compared or advance is None:
            continue
        after = tuple(step for step in _parts(loop.next) if step is not advance)
        return _with_start(loop, advance, after, starts)
    return Split(*starts[0], loop.next) if len(starts) == 1 else None


_Start: TypeAlias = tuple[str, c_ast.Node | None, c_ast.Node]


def _with_start(
    loop: c_ast.For,
    advance: c_ast.Node,
    after: tuple[c_ast.Node, ...],
    starts: Sequence[_Start],
    steps: bool = False,
) -> Split | None:
    """Return the parts of a loop whose iterator `advance` moves; None where it has two starts."""
    var = _stepped(advance)
    own = [(start, place) for name, start, place in starts if name == var]
    if var is None or len(own) > 1:
        return None
    start, place = own[0] if own else (None, advance)
    before = tuple(node for node in _parts(loop.init) if _started(node) != var)
    return Split(var, start, place, advance, before, after, steps)


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


@dataclass(frozen=True)
class _Head:
    """The header of a loop as the user has it."""

    loop: c_ast.For
    parts: Split
    here: Expressions

    def refused(self, template: Template, node: c_ast.Node, **values: str) -> AnnotuneError:
        return self.here.refuse(template, node, var=self.parts.var, **values)

    def is_own(self, node: c_ast.Node) -> bool:
        """Return whether an expression is the iterator, or the step of it in the condition."""
        if self.parts.steps and node is self.parts.advance:
            return True
        return isinstance(node, c_ast.ID) and node.name == self.parts.var

    def step(self) -> int | c_ast.Node:
        """Return by how much the iterator moves each time: a number that is not 0, or what it is.

        What the loop itself changes is no step.
        """
        advance, names = self.parts.advance, self.here.names
        if advance is None:
            raise self.refused(messages.LOOP_STEP, self.loop.init or self.loop)
        by: c_ast.Node | None = None
        sign = 1
        if _stepped(advance) == self.parts.var:
            match advance:
                case c_ast.UnaryOp():
                    return _STEPS[advance.op]
                case c_ast.Assignment(op="+=" | "-=" as op):
                    by, sign = advance.rvalue, 1 if op == "+=" else -1
                case c_ast.Assignment(op="=", rvalue=c_ast.BinaryOp(op="+" | "-" as op) as moved):
                    left, right = moved.left, moved.right
                    if op == "+" and not self.is_own(left):
                        left, right = right, left
                    by = right if self.is_own(left) else None
                    sign = 1 if op == "+" else -1
        step = None if by is None else names.fixed_value(by)
        moving = {self.parts.var, *self.changed()}
        if by is None or step == 0 or not moving.isdisjoint(names_in(by)):
            raise self.refused(messages.LOOP_STEP, advance)
        if step is not None:
            return sign * step
        return by if sign > 0 else c_ast.UnaryOp("-", by, by.coord)

    @property
    def moves_first(self) -> bool:
        """Whether the condition compares what it has moved, as in ``++i < n``."""
        advance = self.parts.advance
        return self.parts.steps and isinstance(advance, c_ast.UnaryOp) and advance.op[0] != "p"

    def changed(self) -> Mapping[str, c_ast.ID]:
        """Return the scalars that the body, or the rest of the header, assigns."""
        after = c_ast.ExprList(list(self.parts.after))
        return {**assigned_in(self.loop.stmt), **assigned_in(after)}

    def way(self, step: c_ast.Node) -> tuple[str, c_ast.Node]:
        """Return how the one comparison of a loop compares its iterator, and with what.

        Of f2c's ``step < 0 ? i >= n : i <= n`` it is the latter with a sign of its own, ``?``.
        """
        match self.loop.cond:
            case c_ast.TernaryOp(
                cond=c_ast.BinaryOp(op="<", left=asked, right=c_ast.Constant(value="0")),
                iftrue=c_ast.BinaryOp(op=">=") as down,
                iffalse=c_ast.BinaryOp(op="<=") as up,
            ):
                same = ((up.right, down.right), (asked, step))
                is_one = all(text_of(one) == text_of(other) for one, other in same)
                if is_one and self.is_own(down.left) and self.is_own(up.left):
                    return "?", up.right
                raise self.refused(messages.LOOP_CONDITION, self.loop.cond)
        ((op, bound),) = self.sides()
        return op, bound

    def sides(self) -> Iterator[tuple[str, c_ast.Node]]:
        """Yield how each comparison of the condition compares the iterator, and with what."""
        if self.loop.cond is None:
            place = self.loop.init or self.loop.next or self.loop
            raise self.refused(messages.LOOP_CONDITION, place)
        waiting = [self.loop.cond]
        while waiting:
            node = waiting.pop()
            match node:
                case c_ast.UnaryOp() if node is self.parts.advance:
                    yield "!=", c_ast.Constant("int", "0", node.expr.coord)
                case c_ast.ID() if self.is_own(node):
                    yield "!=", c_ast.Constant("int", "0", node.coord)
                case c_ast.BinaryOp(op="&&"):
                    waiting += [node.right, node.left]
                case c_ast.BinaryOp(op=op, left=left, right=right) if op in _MIRRORED:
                    if self.parts.var not in names_in(left):
                        op, left, right = _MIRRORED[op], right, left
                    bound = self._moved_over(left, right)
                    if bound is None or self.parts.var in names_in(bound):
                        raise self.refused(messages.LOOP_CONDITION, node)
                    yield op, bound
                case _:
                    raise self.refused(messages.LOOP_CONDITION, node)

    def _moved_over(self, side: c_ast.Node, bound: c_ast.Node) -> c_ast.Node | None:
        """Return the bound of the iterator alone, ``n - 3`` for ``i + 3 < n``; None for none.

        Where a number has no sign, the sum and the difference may go round, each elsewhere.
        """
        if self.is_own(side):
            return bound
        if not isinstance(side, c_ast.BinaryOp) or side.op not in ("+", "-"):
            return None
        inner, by = side.left, side.right
        if side.op == "+" and not self.is_own(inner):
            inner, by = by, inner
        kinds = [self.here.whole(node).kind for node in (by, bound)]
        symbol = self.here.names.find(self.parts.var)
        kinds += [symbol.base] if symbol is not None else []
        if not self.is_own(inner) or any(map(is_unsigned, kinds)):
            return None
        return c_ast.BinaryOp("-" if side.op == "+" else "+", bound, by, bound.coord)

    def check_changes(self) -> None:
        """Refuse a loop whose iterator or bound its body, or the rest of its header, changes."""
        var, loop, changed = self.parts.var, self.loop, self.changed()
        if var in changed:
            inner_loops = [n for n in walk_tree(loop.stmt) if isinstance(n, c_ast.For)]
            reused = [s for s in map(split, inner_loops) if s and s.var == var]
            if reused and not isinstance(reused[0].place, c_ast.Decl):
                raise self.refused(messages.ITERATOR_REUSED, reused[0].place)
            raise self.refused(messages.ITERATOR_CHANGES, changed[var])
        for name in sorted(names_in(loop.cond)):
            if name in changed:
                raise self.refused(messages.BOUND_CHANGES, changed[name], name=name)

    def first(self, symbol: Symbol) -> Typed:
        """Return what the iterator starts from: what the header says, or what it has."""
        names, var = self.here.names, self.parts.var
        first = self.parts.start
        if self.moves_first:
            # The first value that is compared is one step behind the start.
            place = self.parts.place.coord
            sign, one = "+" if self.step() == 1 else "-", c_ast.Constant("int", "1", place)
            first = c_ast.BinaryOp(sign, first or c_ast.ID(var, place), one, place)
        if first is not None:
            return self.bound(first)
        if var in names.formulas:
            return Typed(names.resolved(names.formulas[var].index), symbol.base)
        names.sets.asked.add(var)
        span = names.function.file.source.span(*token_place(self.loop))
        raise AnnotuneError.of(messages.LOOP_GOES_ON.at(span, var=var))

    def bound(self, node: c_ast.Node) -> Typed:
        found = self.here.whole(node)
        bound = Typed(self.here.names.resolved(found.expr), found.kind)
        for read in accesses(bound.expr):
            name = self.here.names.function.scope.spelled(read.array)
            shown = {"var": self.parts.var, "name": name}
            raise AnnotuneError.of(messages.BOUND_READS_ARRAY.at(read.span, **shown))
        return bound


def header(loop: c_ast.For, expressions: Expressions) -> Header:
    """Return the normal form of a loop's header, or raise why it has none.

    The iterator must be declared already when the header itself declares it.
    """
    names = expressions.names
    source = names.function.file.source
    parts = _known_parts(loop, expressions)
    var, head = parts.var, _Head(loop, parts, expressions)
    place = source.span(*token_place(parts.place))
    if var in names.iterators:
        raise AnnotuneError.of(messages.ITERATOR_REUSED.at(place, var=var))
    symbol = names.symbol(c_ast.ID(var, parts.place.coord))
    step = head.step()
    sides = list(head.sides()) if isinstance(step, int) else []
    if symbol.is_array or symbol.base not in INTEGERS or not _counts(symbol.base, step, sides):
        raise AnnotuneError.of(messages.ITERATOR_TYPE.at(place, var=var, type=symbol.base))
    names.use(symbol)
    head.check_changes()
    first = head.first(symbol)
    if not isinstance(step, int):
        return _strided(head, symbol, first, step)
    if step > 0:
        first = widened(first, names)
    own, kind = symbol, promoted(symbol.base)
    if kind != symbol.base:
        first, own = _narrowed(first, symbol.base, names), replace(symbol, base=kind)
        if names.may_be_read_after(symbol) and var not in names.sets.assigned:
            # The nest's own iterator is an int.
            names.sets.needed.add(var)
    unmoved = _unmoved(first, kind, names)
    first = _converted(first, kind, step, names)
    limits = [head.bound(right) for _, right in sides]
    if step < 0 or len(limits) > 1:
        # A loop up to one bound is taken not to be endless, and its bound to be above 0.
        limits = [widened(limit, names) for limit in limits]
    tests = [
        LoopTest(names, own, op, right, limit, first, step)
        for (op, right), limit in zip(sides, limits, strict=True)
    ]
    start, ends = _bounds(tests)
    made = replace(_normal(own, start, ends, step, unmoved, names), symbol=symbol)
    if not parts.steps or head.moves_first:
        return made
    # It has moved once more by the time that the body runs, and after the last comparison.
    value, final = (fold(Binary("+", e, Int(step))) for e in (made.value, made.final))
    if names.may_be_read_after(symbol) and var not in names.sets.assigned:
        names.sets.needed.add(var)
    return replace(made, value=value, final=final)


def _known_parts(loop: c_ast.For, expressions: Expressions) -> Split:
    """Return the parts of a loop's header, or raise that it has no one iterator."""
    parts = split(loop)
    if parts is not None:
        return parts
    for node in walk_tree(loop.cond):
        if isinstance(node, c_ast.UnaryOp) and (var := _stepped(node)) is not None:
            raise expressions.refuse(messages.LOOP_CONDITION, loop.cond or loop, var=var)
    if loop.init is None:
        source = expressions.names.function.file.source
        raise AnnotuneError.of(messages.LOOP_START.at(source.span(*token_place(loop))))
    raise expressions.refuse(messages.LOOP_START, loop.init)


def _counts(base: str, step: int | c_ast.Node, sides: Sequence[tuple[str, c_ast.Node]]) -> bool:
    """Return whether an iterator of a type counts among all the integers.

    A short comes to every number up to its end, and then starts anew: up to a bound beyond that
    the loop has no end, but wider steps may pass the bound there, and `!=` may find one behind it.
    """
    is_near = step in (1, -1) and all(op != "!=" for op, _ in sides)
    return base not in PROMOTED or (base != "_Bool" and is_near)


def _narrowed(first: Typed, base: str, names: Names) -> Typed:
    """Return the first value of an iterator of less bits than an int, which C converts."""
    span, held = names.range_of(first.expr), of_type(base)
    is_held = span is not None and held is not None and held[0] <= span[0] <= span[1] <= held[1]
    return Typed(first.expr if is_held else Cast(named(base), first.expr), promoted(base))


def _bounds(tests: Sequence[LoopTest]) -> tuple[Expr, Sequence[Expr]]:
    """Return where a loop starts, and the values any of which ends it."""
    names, symbol = tests[0].names, tests[0].symbol
    start, step = tests[0].start.expr, tests[0].step
    others = [test.bound.kind for test in tests if not isinstance(test.bound.expr, Int)]
    is_mixed = len({is_unsigned(kind) for kind in (symbol.base, *others)}) > 1
    ends = [test.end(len(tests) == 1, is_mixed) for test in tests]
    is_converted = any(is_unsigned(test.kind) for test in tests)
    # From below 0 on, what is left has `!=`, and comes to the same number in both types.
    is_above = names.is_nonnegative(start)
    is_met = not is_unsigned(symbol.base) and not is_above
    if step < 0 or (is_converted and not is_met):
        return start, ends
    # With a sign where C compares such numbers: without the cast of ``i < (long)n - 1`` an
    # unsigned `n` of 0 would be far above `i`.
    if is_above:
        return start, [e if names.is_nonnegative(e) else signed(e, names) for e in ends]
    return signed(start, names), [signed(end, names) for end in ends]


def _converted(first: Typed, base: str, step: int, names: Names) -> Typed:
    """Return the first value of an iterator of type `base`, as C converts it.

    Down from one that went round in a narrower type a loop would run for very long.
    """
    start, kind, held = first.expr, first.kind, of_type(base)
    loses_sign = is_unsigned(kind) and not is_unsigned(base)
    if not (loses_sign or width(base) < width(kind)):
        return first
    is_wider, span = width(base) > width(kind), names.range_of(start)
    if span is not None and held is not None:
        least = 0 if loses_sign else held[0]
        if least <= span[0] and span[1] <= held[1]:
            return first
    if names.is_sized(start) and not (is_wider and step > 0):
        return first
    start = Cast(named(kind), start) if is_unsigned(kind) else start
    return Typed(start if is_wider else Cast(named(base), start), base)


def _unmoved(first: Typed, base: str, names: Names) -> Expr:
    """Return what an iterator of type `base` has before it is compared, as C computes it."""
    is_wider = width(base) > width(first.kind)
    if is_wider and is_unsigned(first.kind) and not names.is_nonnegative(first.expr):
        return Cast(named(first.kind), first.expr)
    return _converted(first, base, 1, names).expr


def iterator_range(own: Header, names: Names) -> Interval | None:
    """Return the values of a loop's iterator inside its body, None where its start is unknown."""
    lower, upper = (names.range_of(bound) for bound in (own.lower, own.upper))
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
    names: Names,
) -> Header:
    """Return the header of a loop from `start` until it reaches one of `ends`.

    From where a row of packed storage starts, a product of iterators, it counts from 0. What it
    leaves is `unmoved` where it does not run: C's start, which may have gone round.
    """
    var = symbol.name
    own = _own_name(symbol, names)
    is_renamed = own != var
    from_start = [fold(Binary("-", end, start)) for end in ends]
    if step == 1 and _is_curved(start) and not any(map(_is_curved, from_start)):
        if names.may_be_read_after(symbol) and not is_renamed:
            names.sets.needed.add(var)
        upper = _least(from_start)
        last = fold(Binary("+", start, _reached(Int(0), upper, step, upper, names)))
        value: Expr = fold(Binary("+", start, Var(own)))
        return Header(symbol, own, symbol.base, Int(0), upper, step, value, last, upper)
    if step > 0:
        upper = _least(ends)
        value = Var(own)
        trips = _trips(_distance(start, upper, names), step)
        last = _reached(start, upper, step, trips, names)
        return Header(symbol, own, symbol.base, start, upper, step, value, last, trips)
    if names.may_be_read_after(symbol) and not is_renamed:
        # What is left in the nest's own iterator would be the distance.
        names.sets.needed.add(var)
    distances = [fold(Binary("-", start, end)) for end in ends]
    longs, kind = [signed(_distance(e, start, names), names) for e in ends], symbol.base
    may_wrap = is_unsigned(kind) or longs != distances
    if may_wrap and not all(map(names.is_nonnegative, distances)):
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


def _own_name(symbol: Symbol, names: Names) -> str:
    """Return the name of the nest's own iterator: the user's, unless that has another meaning.

    So it has where a statement of the nest sets it, and where a loop starts from what it has: then
    it stands for its value before the region.
    """
    var, goes_on = symbol.name, symbol.name in names.sets.continued
    if goes_on and names.may_be_read_after(symbol) and var not in names.sets.assigned:
        names.sets.needed.add(var)
    return f"annotune_{var}" if goes_on or var in names.sets.assigned else var


def _strided(head: _Head, symbol: Symbol, first: Typed, step: c_ast.Node) -> Header:
    """Return the header of a loop whose step is an argument: one that counts its trips from 0.

    From `start` on by `step` as far as `bound` these are ``(bound - start + step) / step`` for
    steps of either sign, and none where that is below 1 (Fortran 77, 11.10.3). A step of 0, or the
    wrong way, leaves a loop that does not run, or that C lets a compiler take to end (C11 6.8.5):
    none, too, so that nothing is divided by 0.
    """
    names, var = head.here.names, symbol.name
    op, node = head.way(step)
    by, bound = head.bound(step), head.bound(node)
    kinds = (symbol.base, first.kind, by.kind, bound.kind)
    if op == "!=" or any(map(is_unsigned, kinds)):
        raise head.refused(messages.LOOP_STEP, head.parts.advance or head.loop)
    start = _converted(first, symbol.base, 1, names).expr
    distance = _distance(start, bound.expr, names)
    within = {"<": Int(-1), ">": Int(1)}.get(op, Int(0))
    steps = Binary("+", Binary("+", distance, within), by.expr)
    runs = Binary({"?": "!="}.get(op, ">" if op in ("<", "<=") else "<"), by.expr, Int(0))
    trips = fold(Select(runs, Binary("/", steps, by.expr), Int(0)))
    own = _own_name(symbol, names)
    if names.may_be_read_after(symbol) and own == var:
        names.sets.needed.add(var)
    is_wide = any(width(kind) == 64 for kind in kinds)
    value = fold(Binary("+", start, Binary("*", Var(own), by.expr)))
    last = fold(Binary("+", start, Binary("*", times(trips, names), by.expr)))
    kind = "long" if is_wide or _is_in_longs(distance) else symbol.base
    return Header(symbol, own, kind, Int(0), trips, 1, value, last, trips)


def _is_in_longs(distance: Expr) -> bool:
    return any(isinstance(part, Cast) and part.type == LONG for part in walk(distance))


def _is_curved(start: Expr) -> bool:
    """Return whether a part of `start` divides a product of variables."""
    for part in walk(start):
        match part:
            case Binary("/", left, _) if any(map(_is_product, walk(left))):
                return True
    return False


def _is_product(expr: Expr) -> bool:
    match expr:
        case Binary("*", left, right):
            return bool(variables(left)) and bool(variables(right))
    return False


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
