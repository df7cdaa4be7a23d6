"""Give every worker of a reduction loop a partial result of its own.

What is written for the cases in which the order of a reduction may show in its result.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import reduce
from typing import ClassVar

import islpy as isl

from annotune.analysis.facts import Analysis, Dependence
from annotune.analysis.reductions import (
    OrderDoubt,
    doubts,
    drops_fractions,
    may_leave_range,
    may_stay_negative_zero,
    needed,
    reduction_operator,
)
from annotune.analysis.schedule import names_of
from annotune.diagnostics import NOWHERE, Diagnostic, Span
from annotune.frozen import dataclass
from annotune.ir.ctype import FLOAT
from annotune.ir.expr import (
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
    conjunction,
    negated,
    place_name,
    rewrite,
)
from annotune.ir.identity import once_for_each
from annotune.ir.nest import (
    NO_STATEMENT,
    Assign,
    Combine,
    Level,
    Local,
    Loop,
    Operator,
    Stmt,
    walk_stmts,
)
from annotune.transforms.legality import missing, neutral
from annotune.transforms.messages import (
    MAY_NOT_RUN,
    NO_REDUCTION,
    READ_ELSEWHERE,
    ROUNDED_SUM,
    TARGET_MOVES,
)
from annotune.transforms.transform import (
    Context,
    Described,
    PhaseRank,
    StepPhase,
)
from annotune.transforms.tree import (
    Body,
    bound_names,
    find_assign,
    fresh_name,
    is_surely_touched,
    local_types,
    mapped,
    may_not_run,
    names_in,
    numbers,
    path,
    replace_loop,
    restrict,
    shown,
    target_name,
)

_SUFFIX = {
    Operator.SUM: "sum",
    Operator.PRODUCT: "product",
    Operator.MIN: "min",
    Operator.MAX: "max",
    Operator.AND: "and",
    Operator.OR: "or",
    Operator.XOR: "xor",
}
_FINAL = {Operator.SUM: "+=", Operator.PRODUCT: "*="}
# Nothing is lost where the bits of all are joined with no bit, or with all bits.
_OF_BITS = {Operator.AND: Int(-1), Operator.OR: Int(0), Operator.XOR: Int(0)}


_NAN = "_nan"
# Workers whose partial sums begin at 0.0, as clauses have it.
_BY_CLAUSE = frozenset({Level.GANG, Level.WORKER, Level.VECTOR, Level.CPU_THREAD, Level.SIMD})


@dataclass(frozen=True, slots=True)
class Reduce(Described):
    """Accumulate `statement` over `loops` into a scalar that those loops combine.

    ``Reduce(0, ("k",))``: ``for k: S0: s += a[k]`` becomes ``double s_sum = -0.0``,
    ``for k combines + s_sum: S0: s_sum += a[k]`` and ``S0: s += s_sum``. So do all statements
    inside the outermost of `loops` that accumulate into the same target by the same operator: they
    have one partial result. That of
    ``min`` and ``max`` starts from the target itself. Where no iteration may reach the target's
    element, a flag says whether one did. Where the order of the elements may show (see
    `nan_and_zero`), the loops run a second time, in order and with the statements alone that this
    one needs; so they do where the partial result of a sum has lost a sign, which clauses of C's
    targets begin at 0.0, or that of a product has left its type's range. Where they overwrite what
    they would need, a flag says whether anything but -0.0 was added.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.REGISTERS, 1)
    statement: int
    loops: tuple[str, ...]
    span: Span = field(default=NOWHERE, compare=False)

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason partial results would be wrong, or None when they are right."""
        if absent := missing(body, self.statement, self.loops, self.span):
            return absent
        assign = find_assign(body, self.statement)
        outer = self._outermost(body)
        operator = reduction_operator(assign)
        if operator is None:
            return NO_REDUCTION.at(self.span, statement=self.statement, loop=outer.var)
        members = self.members(body)
        numbers_of = frozenset(one.number for one in members)
        bound = frozenset(x.var for n in numbers_of for x in self._around(body, n))
        moving = names_in(assign.target) & bound if isinstance(assign.target, Access) else set()
        if moving:
            return TARGET_MOVES.at(
                self.span, statement=self.statement, loop=outer.var, moving=min(moving)
            )
        meets = self._meets(body, context.analysis, numbers_of)
        elsewhere = _elsewhere(outer, assign.target, numbers_of, meets)
        elsewhere = elsewhere or self._shared_otherwise(body, numbers_of)
        if elsewhere is not None:
            return READ_ELSEWHERE.at(
                self.span,
                statement=self.statement,
                target=_text(assign.target),
                other=elsewhere,
                loop=outer.var,
            )
        if any(drops_fractions(one, context.types) for one in members):
            return ROUNDED_SUM.at(
                self.span, statement=self.statement, type=self._element(body, context)
            )
        if Operator(operator) in (Operator.MIN, Operator.MAX) and self._may_miss(body):
            idle = may_not_run(path(body, self.statement), self._depth(body)) or outer
            return MAY_NOT_RUN.at(
                self.span,
                array=_text(assign.target),
                loop=idle.var,
                outer=", ".join(sorted(bound_names(idle))) or "the condition of the statement",
            )
        return None

    def members(self, body: Body) -> tuple[Assign, ...]:
        """Return the statements that accumulate together, in the order of `body`."""
        one = find_assign(body, self.statement)
        return _accumulating(self._outermost(body))[one.target, reduction_operator(one)]

    def _shared_otherwise(self, body: Body, members: frozenset[int]) -> str | None:
        """Return in words that workers of other loops run another member, None where they do not.

        What one worker adds beside a loop that others share would be added by each of them.
        """
        placed = {
            n: [id(x) for x in self._around(body, n) if x.place is not Level.SERIAL]
            for n in sorted(members)
        }
        own = placed[self.statement]
        other = next((n for n, loops in placed.items() if loops != own), None)
        return None if other is None else f"it in statement {other}"

    def _meets(self, body: Body, analysis: Analysis, members: frozenset[int]) -> frozenset[int]:
        """Return the statements inside the loops that may touch the element of the target.

        Other elements of its array do no harm; those that are touched in other iterations of
        the loops outside are others.
        """
        around = path(body, self.statement)[: self._depth(body)]
        known = {x.var for x in analysis.paths[self.statement]}
        every = (name for x in around for name in (*names_of(x), x.root))
        # Tiles of merged loops say of no loop alone where it is.
        outer = [name for name in every if name in known]
        inside = numbers(self._outermost(body))
        found: set[int] = set()
        touching = _touching(analysis)
        for own in (touching[n] for n in sorted(members) if n in touching):
            # Where all that a statement accumulates with are members, no pair of them counts.
            sums = () if own.partners <= members else own.sums
            for dependence in (*own.others, *sums):
                ends = {dependence.source, dependence.sink}
                is_own = dependence.is_reduction and ends <= members
                if not ends <= inside or is_own or ends <= found:
                    continue
                if not _within(analysis, dependence, outer).is_empty():
                    found |= ends
        return frozenset(found)

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the partial result, which `why_not` has accepted."""
        assign, element = find_assign(body, self.statement), self._element(body, context)
        members, region = self.members(body), context.analysis.region
        found = reduction_operator(assign)
        assert found is not None
        operator = Operator(found)
        name = fresh_name(f"{target_name(assign)}_{_SUFFIX[operator]}", body, context.names)
        partial = Var(name)
        own = {
            one.number: [one.rewritten(lambda expr: partial if expr == assign.target else None)]
            for one in members
        }
        made = _Partial(
            [Local(name, element, _identity(operator, assign.target, element))],
            own,
            [Combine(operator, name)],
        )
        doubted = [
            Doubts(one, member, partial, len(members) > 1)
            for member, one in zip(members, doubts(region, members), strict=False)
        ]
        flags: list[Var] = []
        if any(one.doubt.nan_element for one in doubted):
            flag = Var(fresh_name(f"{target_name(assign)}{_NAN}", body, {*context.names, name}))
            yes, no = (_real(text, element) for text in ("1.0", "0.0"))
            noting = [one.noted(flag, yes) for one in doubted if one.doubt.nan_element]
            made.note(Local(flag.name, element, no), noting)
            flags.append(flag)
        guard: Expr | None = self._touched(body, members, context, made)
        outer = self._outermost(body)
        shared = self._combined(outer, target_name(assign), made)
        tests = [test for one in doubted if one.doubt.may_show for test in one.tests(flags)]
        tests = [*dict.fromkeys(tests or self._tests(body, members, context, partial))]
        end: list[Stmt] = []
        if tests:
            taken = {*context.names, *(local.name for local in made.start)}
            once_more = Var(fresh_name(f"{target_name(assign)}_again", body, taken))
            # What nothing is added to may not be there.
            end.append(Local(once_more.name, "int", conjunction((guard, reduce(_either, tests)))))
            assigns = region.nest.assigns()
            again = frozenset[int]().union(*(needed(assigns, one) for one in members))
            end.append(_second_run(outer, again, once_more))
            guard = conjunction((guard, Binary("==", once_more, Int(0))))
        value = doubted[0].value() if doubted else partial
        if operator in _OF_BITS:
            value = _joined_bits(assign, partial)
        op = _FINAL.get(operator, "=")
        final = Assign(assign.number, assign.target, op, value, assign.span, guard)
        return replace_loop(body, outer, (*made.start, shared, *end, final))

    def _touched(
        self, body: Body, members: Sequence[Assign], context: Context, made: _Partial
    ) -> Var | None:
        """Return the flag for the target to be touched at all, noted from then on; None for none.

        There is one where the loops may miss the target, or where it alone tells of a lost sign.
        """
        element, number = self._element(body, context), self.statement
        notes_signs = self._loses_sign(body, members, context) and not _runs_again(number, context)
        # Of a complex number each part would want a flag of its own.
        notes_signs = notes_signs and "omplex" not in element
        if not self._may_miss(body) and not notes_signs:
            return None
        taken = {*context.names, made.start[0].name}
        flag = Var(fresh_name(f"{target_name(members[0])}_any", body, taken))
        noting = []
        for one in members:
            any_: Expr = Int(1)
            if notes_signs:
                any_ = Select(adds_more(one, element), any_, flag)
            noting.append(Assign(one.number, flag, "=", any_, one.span, one.guard))
        made.note(Local(flag.name, "int", Int(0)), noting)
        return flag

    def _tests(
        self, body: Body, members: Sequence[Assign], context: Context, partial: Var
    ) -> list[Expr]:
        """Return in which cases, any of them, the loops of a sum must run once more, in order."""
        element = self._element(body, context)
        if any(may_leave_range(context.analysis.region, one) for one in members):
            return lost_size(partial, element)
        is_lost = self._loses_sign(body, members, context)
        if is_lost and _runs_again(self.statement, context):
            return lost_sign(members[0].target, partial, element)
        return []

    def _element(self, body: Body, context: Context) -> str:
        """Return the C type of what the statement writes."""
        name = target_name(find_assign(body, self.statement))
        return local_types(body).get(name) or context.types[name]

    def _loses_sign(self, body: Body, members: Sequence[Assign], context: Context) -> bool:
        """Return whether a sum may be -0.0, which partial sums that begin at 0.0 are not."""
        loops = path(body, self.statement)
        by_clause = any(x.place in _BY_CLAUSE for x in loops if x.var in self.loops)
        region = context.analysis.region
        return by_clause and all(may_stay_negative_zero(region, one) for one in members)

    def _combined(self, loop: Loop, target: str, made: _Partial) -> Loop:
        """Return `loop` with the partial result in the statements' place, and what it combines."""
        body: list[Stmt] = []
        for stmt in loop.body:
            if isinstance(stmt, Assign) and stmt.number in made.inner:
                body += made.inner[stmt.number]
            elif isinstance(stmt, Loop) and numbers(stmt) & made.inner.keys():
                body.append(self._combined(stmt, target, made))
            else:
                body.append(stmt)
        combines = loop.combines
        # The workers of every placed loop have variables of their own, whatever it carries.
        if loop.var in self.loops or loop.place is not Level.SERIAL:
            combines = (*(c for c in combines if c.name != target), *made.added)
        return replace(loop, body=tuple(body), combines=combines)

    def _may_miss(self, body: Body) -> bool:
        """Return whether the loops may leave the target untouched, which others may then use."""
        depth = self._depth(body)
        for one in self.members(body):
            if one.guard is None and may_not_run(path(body, one.number), depth) is None:
                return False
        target = find_assign(body, self.statement).target
        if isinstance(target, Var):
            return not self._is_own(body, target)
        return not is_surely_touched(beside(body, self._outermost(body)), target)

    def _is_own(self, body: Body, scalar: Var) -> bool:
        """Return whether only the worker that runs the loops may use `scalar` while it does.

        So it is outside all placed loops, and where the worker sets or reads it in any case.
        """
        around = path(body, self.statement)[: self._depth(body)]
        placed = [depth for depth, x in enumerate(around) if x.place is not Level.SERIAL]
        if not placed:
            return True
        return any(is_surely_touched(x.body, scalar) for x in around[placed[-1] :])

    def _outermost(self, body: Body) -> Loop:
        return path(body, self.statement)[self._depth(body)]

    def _depth(self, body: Body) -> int:
        names = [x.var for x in path(body, self.statement)]
        return min(names.index(name) for name in self.loops)

    def _around(self, body: Body, member: int) -> tuple[Loop, ...]:
        """Return the loops around a member from the outermost of `loops` on."""
        return path(body, member)[self._depth(body) :]


@dataclass(frozen=True, slots=True)
class _Partial:
    """What a partial result needs: locals before the loops, the statements in their midst that
    take the place of each accumulation, and what the workers combine."""

    start: list[Local]
    inner: dict[int, list[Assign]]
    added: list[Combine]

    def note(self, flag: Local, assigns: Iterable[Assign]) -> None:
        """Add a flag that statements set; it is set where any worker has done so."""
        self.start.append(flag)
        self.added.append(Combine(Operator.MAX, flag.name))
        for assign in assigns:
            self.inner[assign.number].append(assign)


def _runs_again(statement: int, context: Context) -> bool:
    """Return whether the loops of a reduction may compute its terms a second time."""
    touching = _touching(context.analysis).get(statement)
    sums = touching.sums if touching is not None else ()
    return all(d.may_run_again for d in sums if d.source == statement)


def _real(text: str, element: str) -> Real:
    return Real(f"{text}f" if "float" in element else text)


def _identity(operator: Operator, target: Access | Var, element: str) -> Expr:
    """Return what a partial result starts from."""
    if operator in (Operator.MIN, Operator.MAX):
        return target
    if operator in _OF_BITS:
        return _OF_BITS[operator]
    if operator is Operator.SUM:
        return neutral(element)
    return _real("1.0", element) if "double" in element or "float" in element else Int(1)


def _joined_bits(assign: Assign, partial: Var) -> Expr:
    """Return the target with the bits of the partial result, by the user's own operator."""
    match assign.value:
        case Cast(type_, Call(function, _)):
            return Cast(type_, Call(function, (assign.target, partial)))
    raise AssertionError(assign)


def _either(one: Expr, other: Expr) -> Expr:
    return Binary("||", one, other)


def _second_run(loop: Loop, statements: frozenset[int], test: Var) -> Loop:
    """Return a loop with `statements` alone, in order, that runs where `test` holds."""
    kept = restrict(loop, statements)
    assert isinstance(kept, Loop)
    return replace(_serial(kept), upper=Select(test, loop.upper, loop.lower))


def _serial(loop: Loop) -> Loop:
    def again(stmt: Stmt) -> Body | None:
        match stmt:
            case Loop():
                return (_serial(stmt),)
            case Assign():
                return (replace(stmt, number=NO_STATEMENT),)
            case _:
                return None

    body = mapped(loop.body, again)
    return replace(loop, body=body, place=Level.SERIAL, combines=(), peeled=())


@dataclass(frozen=True, slots=True)
class _Touching:
    """The dependences of one statement: those by which it accumulates, with whom, and others."""

    sums: tuple[Dependence, ...]
    partners: frozenset[int]
    others: tuple[Dependence, ...]


@once_for_each(1 << 4)
def _touching(analysis: Analysis) -> Mapping[int, _Touching]:
    """Return the dependences that each statement is an end of."""
    found: dict[int, tuple[list[Dependence], list[Dependence]]] = {}
    for one in analysis.dependences:
        for number in {one.source, one.sink}:
            found.setdefault(number, ([], []))[not one.is_reduction].append(one)
    partners = {
        number: frozenset(end for one in sums for end in (one.source, one.sink))
        for number, (sums, _) in found.items()
    }
    return {
        number: _Touching(tuple(sums), partners[number], tuple(others))
        for number, (sums, others) in found.items()
    }


def _within(analysis: Analysis, dependence: Dependence, outer: Sequence[str]) -> isl.Map:
    """Return the pairs of a dependence that agree on the loops `outer`."""
    pairs = dependence.pairs
    names = [[x.var for x in analysis.paths[n]] for n in (dependence.source, dependence.sink)]
    for name in outer:
        one, two = (own.index(name) for own in names)
        pairs = pairs.equate(isl.dim_type.in_, one, isl.dim_type.out, two)
    return pairs


def _elsewhere(
    loop: Loop, target: Access | Var, members: frozenset[int], meets: frozenset[int]
) -> str | None:
    """Return how `loop` uses the target beside the accumulations, None when it does not.

    Of the statements that use the target's array, only those in `meets` may touch the element.
    """
    name = place_name(target)
    for stmt in _users(loop).get(name, ()):
        if not isinstance(stmt, Assign):
            return name
        if isinstance(target, Var) or stmt.number in meets:
            places: list[Access | Var] = [*stmt.reads(), stmt.target]
            same = [p for p in places if place_name(p) == name]
            if stmt.number in members:
                same = [p for p in same if p != target]
            if same:
                return _text(same[0])
    return None


@once_for_each(1 << 10)
def _accumulating(loop: Loop) -> Mapping[tuple[Access | Var, str | None], tuple[Assign, ...]]:
    """Return the statements inside a loop, in order, by their targets and operators."""
    found: defaultdict[tuple[Access | Var, str | None], list[Assign]] = defaultdict(list)
    for stmt in walk_stmts((loop,)):
        if isinstance(stmt, Assign):
            found[stmt.target, reduction_operator(stmt)].append(stmt)
    return {key: tuple(members) for key, members in found.items()}


@once_for_each(1 << 10)
def _users(loop: Loop) -> Mapping[str, Sequence[Stmt]]:
    """Return the statements inside a loop, in order, by the names that they use.

    Of a loop in it that are those of its bounds.
    """
    found: defaultdict[str, list[Stmt]] = defaultdict(list)
    for stmt in walk_stmts(loop.body):
        names: Iterable[str] = ()
        if isinstance(stmt, Loop):
            names = bound_names(stmt)
        elif isinstance(stmt, Assign):
            names = dict.fromkeys(map(place_name, (*stmt.reads(), stmt.target)))
        elif isinstance(stmt, Local) and stmt.value is not None:
            names = names_in(stmt.value)
        for name in names:
            found[name].append(stmt)
    return found


def _text(place: Access | Var) -> str:
    return shown(place) if isinstance(place, Access) else place.name


@dataclass(frozen=True, slots=True)
class Doubts:
    """What is written for the doubts of a statement whose workers have each a `partial` result.

    With `is_joint` other statements accumulate into that, too.
    """

    doubt: OrderDoubt
    assign: Assign
    partial: Var
    is_joint: bool = False

    def noted(self, flag: Var, yes: Expr) -> Assign:
        """Return the statement that notes an element that is NaN, which alone is not itself."""
        element, assign = self.doubt.element, self.assign
        assert element is not None
        value = Select(Binary("!=", element, element), yes, flag)
        return Assign(assign.number, flag, "=", value, assign.span, assign.guard)

    def value(self) -> Expr:
        """Return what becomes of the target and the partial result, by the user's own choice."""
        return self.partial if self.doubt.element is None else self._chosen(self.assign.value)

    def _chosen(self, expr: Expr) -> Expr:
        return rewrite(expr, lambda part: self.partial if part == self.doubt.element else None)

    def tests(self, seen: Sequence[Var]) -> list[Expr]:
        """Return where the order of the elements may show, any of it; `seen` are flags for NaN."""
        doubt, target = self.doubt, self.assign.target
        tests: list[Expr] = [Binary("!=", flag, Real("0.0")) for flag in seen]
        if doubt.nan_start:
            tests.append(Binary("!=", target, target))
        is_zero = Binary("==", self.partial, Real("0.0"))
        if doubt.zero_start:
            tests.append(Binary("&&", is_zero, Binary("==", target, Real("0.0"))))
        if doubt.zero:
            choice = self.assign.value
            if not isinstance(choice, Select) or self.is_joint:
                return [*tests, is_zero]
            is_taken = self._chosen(choice.condition)
            if choice.if_true == target:
                is_taken = negated(is_taken)
            tests.append(is_zero if doubt.is_narrow else Binary("&&", is_zero, is_taken))
        return tests


def lost_sign(target: Access | Var, partial: Var, element: str) -> list[Expr]:
    """Return, for each part of a number, whether that of the target is -0.0 and none came."""
    suffix = "f" if "float" in element else ""
    zero, one = Real(f"0.0{suffix}"), Real(f"1.0{suffix}")
    parts: list[tuple[Expr, Expr]] = [(target, partial)]
    if "omplex" in element:
        names = ("__real__", "__imag__")
        parts = [(Call(name, (target,)), Call(name, (partial,))) for name in names]
    found: list[Expr] = []
    for whole, added in parts:
        is_negative = Binary("<", Binary("/", one, whole), zero)
        both = Binary("&&", Binary("==", added, zero), Binary("==", whole, zero))
        found.append(Binary("&&", both, is_negative))
    return found


def adds_more(assign: Assign, element: str) -> Expr:
    """Return whether what a statement adds to a real number is anything but -0.0.

    -0.0 changes no number of its own type, and all else makes 0.0 of -0.0 or another number.
    """
    suffix = "f" if element == "float" else ""
    zero, one = Real(f"0.0{suffix}"), Real(f"1.0{suffix}")
    nothing = Negate(zero)
    match assign.op:
        case "+=":
            added = assign.value
        case "-=":
            added = Binary("-", nothing, assign.value)
        case _:
            added = rewrite(assign.value, lambda part: nothing if part == assign.target else None)
    if element == "float":
        # A term that is a double is rounded when it is added.
        added = Cast(FLOAT, added)
    is_positive = Binary(">", Binary("/", one, added), zero)
    return Binary("||", Binary("!=", added, zero), is_positive)


def lost_size(partial: Var, element: str) -> list[Expr]:
    """Return where a product has left its type's range, or digits below it: C's order may not.

    0.0 times what has become infinite is NaN.
    """
    is_float = element == "float"
    least = Real("1.17549435e-38f" if is_float else "2.2250738585072014e-308")
    is_great = Binary("!=", Binary("-", partial, partial), Real("0.0f" if is_float else "0.0"))
    is_small = Binary("&&", Binary("<", partial, least), Binary("<", Negate(partial), least))
    return [is_great, is_small]


def beside(body: Body, loop: Loop) -> Body:
    """Return the statements among which `loop` stands."""
    if any(stmt is loop for stmt in body):
        return body
    inner = (beside(stmt.body, loop) for stmt in body if isinstance(stmt, Loop))
    return next((found for found in inner if found), ())
