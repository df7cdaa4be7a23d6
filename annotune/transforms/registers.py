"""Keep an element, or a block of elements, in registers while a loop accumulates into them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from annotune.analysis.reductions import reduction_operator
from annotune.annotation.commands import Kind
from annotune.diagnostics import NOWHERE, Diagnostic, Span
from annotune.ir.expr import Access, Binary, Expr, Int, Real, Var, accesses, print_expr, variables
from annotune.ir.nest import (
    Assign,
    Level,
    Local,
    LocalArray,
    Loop,
    walk_stmts,
)
from annotune.transforms.legality import drops_fractions, missing, neutral, serial_refusal
from annotune.transforms.messages import (
    GUARDED,
    MAY_NOT_RUN,
    NO_BLOCK,
    NO_JOINT_BLOCK,
    NO_REDUCTION,
    NOT_INVARIANT,
    OTHER_ACCESS,
    READ_ELSEWHERE,
    ROUNDED_SUM,
)
from annotune.transforms.transform import KIM_2018, THESIS, Context, OnStatement, Word, takes
from annotune.transforms.tree import (
    Body,
    bound_names,
    exchanged,
    find_assign,
    fresh_name,
    full_length,
    is_surely_touched,
    may_not_run,
    named_loop,
    names_in,
    nest_loops,
    other_user,
    path,
    replace_loop,
    shown,
    target_name,
    turn,
)


@dataclass(frozen=True, slots=True)
class Registers(OnStatement):
    """Load the target of `statement` before `loop`, work on a scalar, store it after.

    ``Registers(0, "k")``: ``for k: c[i] += a[k]`` becomes ``double c_acc = c[i];``
    ``for k: c_acc += a[k]`` ``c[i] = c_acc``. A target that is a scalar already stays.
    """

    is_inner: ClassVar[bool] = True
    word: ClassVar[Word] = Word(
        "registers",
        "keep values that are reused across the loop in registers",
        'registers(0, "h7")',
        THESIS,
    )
    loop: str = takes(Kind.LOOP)

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the copy would be wrong, or None when it is right."""
        if absent := missing(body, self.statement, (self.loop,), self.span):
            return absent
        target = find_assign(body, self.statement).target
        if isinstance(target, Var):
            return None
        loop = named_loop(body, self.statement, self.loop)
        varying = {x.var for x in walk_stmts((loop,)) if isinstance(x, Loop)}
        moving = names_in(target) & varying
        if loop.place == Level.SERIAL and moving:
            fixed = [x.var for x in path(body, self.statement) if x.place == Level.SERIAL]
            return NOT_INVARIANT.at(
                self.span,
                statement=self.statement,
                loop=min(moving),
                loops=", ".join(x for x in fixed if x not in names_in(target)) or "none",
            )
        return copy_refusal("registers", body, self.statement, loop, self.span)

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the element in a scalar, which `why_not` has accepted."""
        assign = find_assign(body, self.statement)
        target = assign.target
        if isinstance(target, Var):
            return body
        loop = named_loop(body, self.statement, self.loop)
        name = fresh_name(f"{target.array}_acc", body, context.names)
        held = Var(name)
        inside = replace(loop, body=exchanged(loop.body, {target: held}))
        store = Assign(assign.number, target, "=", held, assign.span)
        return replace_loop(
            body, loop, (Local(name, context.types[target.array], target), inside, store)
        )


def copy_refusal(
    command: str, body: Body, statement: int, loop: Loop, span: Span, is_sparing: bool = False
) -> Diagnostic | None:
    """Return why a copy of the statement's target around `loop` would be wrong, or None.

    The copy is loaded before the loop and stored after it, so the loop must touch that element
    in any case, must run in one worker, and must use no other element of the array. A condition
    of the statement does no harm to a copy that `is_sparing` with what is not touched.
    """
    assign = find_assign(body, statement)
    target = assign.target
    assert isinstance(target, Access)
    loops = path(body, statement)
    if refusal := serial_refusal(command, body, statement, loop, span):
        return refusal
    idle = may_not_run(loops, next(k for k, x in enumerate(loops) if x is loop))
    if idle is not None:
        # The copy would touch elements that the loop never does, perhaps none at all.
        outer = bound_names(idle) & {x.var for x in loops}
        return MAY_NOT_RUN.at(
            span, array=target.array, loop=idle.var, outer=", ".join(sorted(outer))
        )
    is_touched = assign.guard is None or is_surely_touched(loops[-1].body, target)
    if not is_touched and not is_sparing:
        return GUARDED.at(span, statement=statement, array=target.array)
    for other in array_accesses(loop):
        # Only the very same element, written the same way, is known to be the copy.
        if other.array == target.array and other != target:
            return OTHER_ACCESS.at(
                other.span if span is NOWHERE else span,
                array=target.array,
                other=shown(other),
                loop=loop.var,
            )
    return None


def array_accesses(loop: Loop) -> list[Access]:
    """Return every array element that the assignments in `loop` read or write."""
    assigns = (stmt for stmt in walk_stmts((loop,)) if isinstance(stmt, Assign))
    return [one for assign in assigns for one in _elements(assign)]


def _elements(assign: Assign) -> list[Access]:
    """Return every array element that an assignment reads or writes."""
    out = [r for r in assign.reads() if isinstance(r, Access)]
    if isinstance(assign.target, Access):
        out.append(assign.target)
        out += [a for index in assign.target.indices for a in accesses(index)]
    return out


@dataclass(frozen=True, slots=True)
class Hold(OnStatement):
    """Load the elements that `statement` updates inside `loop` into a local array, store after.

    ``Hold(0, "k")``: ``for k: for i in i_t:i_t+4: c[i] += a[k]`` becomes
    ``double c_block[4]``, ``for i: c_block[i - i_t] = c[i]``,
    ``for k: for i: c_block[i - i_t] += a[k]`` and ``for i: c[i] = c_block[i - i_t]``. The
    loops inside `loop` that pick the element run a number of iterations that is known: tiles,
    or loops whose count fixed sizes tell. `Registers` is the case without any.

    With `from_zero` the block starts from zeros and is added to the elements at the end:
    ``for i: c_block[i - i_t] = -0.0`` and ``for i: c[i] += c_block[i - i_t]``. The loop then
    need not wait for the elements, which only a sum allows that nothing else in it reads.
    `others` are statements whose loops stand behind `loop`, one after the other: they update the
    same elements, which stay in the block between them. ``Hold(0, "k", others=(1,))``: ``for k:
    for i: c[i] += a[k]`` and ``for l: for i: c[i] += b[l]`` have one load before `k` and one store
    after `l`. Each element gets the same terms in the same order.

    Under a condition, ``for k: c[i] += a[k] if b[k] != 0``, elements may not be there to which
    nothing is added. Their sums are -0.0 still, which changes nothing where it is added, so that
    the end is ``for i: c[i] += c_block[i - i_t] if c_block[i - i_t] is not -0.0``: it touches only
    what the statement has. Without `from_zero` such a statement is refused.
    """

    is_inner: ClassVar[bool] = True
    word: ClassVar[Word] = Word(
        "hold",
        "keep the block of elements that the statement updates in the loop in registers",
        'hold(0, "h7_t")',
        KIM_2018,
    )
    loop: str = takes(Kind.LOOP)
    from_zero: bool = takes(Kind.FLAG, False, by_name=True, exact=True)
    others: tuple[int, ...] = takes(Kind.GROUP, (), by_name=True)

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the copy would be wrong, or None when it is right."""
        if absent := missing(body, self.statement, (self.loop,), self.span):
            return absent
        target = find_assign(body, self.statement).target
        if isinstance(target, Var):
            return NO_BLOCK.at(self.span, loop=self.loop, inner=target.name)
        return self._alone_refusal(body, target, context) or self._joint_refusal(body, context)

    def _alone_refusal(self, body: Body, target: Access, context: Context) -> Diagnostic | None:
        """Return why the elements of the statement itself have no copy around `loop`, or None."""
        loop = named_loop(body, self.statement, self.loop)
        used = _index_names(target)
        if loop.place != Level.SERIAL:
            return copy_refusal("hold", body, self.statement, loop, self.span)
        if self.loop in used:
            fixed = [x.var for x in path(body, self.statement) if x.var not in used]
            return NOT_INVARIANT.at(
                self.span,
                statement=self.statement,
                loop=self.loop,
                loops=", ".join(fixed) or "none",
            )
        inside = {x.var for x in self._inside(body)} | {self.loop}
        for inner in self._picking(body):
            if full_length(inner, context.sizes) is None or bound_names(inner) & inside:
                return NO_BLOCK.at(self.span, loop=self.loop, inner=inner.var)
        element = context.types[target.array]
        is_sparing = self.from_zero and is_something(target, element) is not None
        refusal = copy_refusal("hold", body, self.statement, loop, self.span, is_sparing)
        return refusal or (self._sum_refusal(body, context) if self.from_zero else None)

    def _joint_refusal(self, body: Body, context: Context) -> Diagnostic | None:
        """Return why the statements' loops have no block in common, or None when they have."""
        first = find_assign(body, self.statement)
        for number in self.others:
            if absent := missing(body, number, (), self.span):
                return absent
            why = self._why_apart(body, number)
            if why:
                return NO_JOINT_BLOCK.at(self.span, first=self.statement, second=number, why=why)
            assert isinstance(first.target, Access)
            own = self._loop_of(body, number)
            # Its own loop would be held around as well, with the same block.
            alone = replace(self, statement=number, loop=own.var, others=())
            if refusal := alone._alone_refusal(body, first.target, context):
                return refusal
        other = next(self._other_users(body), None) if self.others else None
        if other is not None:
            why = f"{shown(other)} is touched between them by another statement"
            last = self.others[-1]
            return NO_JOINT_BLOCK.at(self.span, first=self.statement, second=last, why=why)
        return None

    def _other_users(self, body: Body) -> Iterator[Access]:
        """Yield the elements of the array that are touched while the block is held, but for it."""
        own = {self.statement, *self.others}
        target = find_assign(body, self.statement).target
        assert isinstance(target, Access)
        for assign in (s for s in walk_stmts(self._held(body)) if isinstance(s, Assign)):
            for one in _elements(assign):
                if one.array == target.array and (one != target or assign.number not in own):
                    yield one

    def _why_apart(self, body: Body, number: int) -> str:
        """Return in words why a statement has no block with the first one, empty if it has."""
        assign, first = find_assign(body, number), find_assign(body, self.statement)
        if assign.target != first.target:
            return f"it updates {print_expr(assign.target)}, not {print_expr(first.target)}"
        around, outer = path(body, number), self._outer(body)
        if len(around) <= len(outer) or any(
            x is not y for x, y in zip(around, outer, strict=False)
        ):
            return f"they have not all loops around '{self.loop}' in common"
        if self._loop_of(body, number) is named_loop(body, self.statement, self.loop):
            return f"'{self.loop}' is the loop of both"
        siblings = self._siblings(body)
        place = next(k for k, x in enumerate(siblings) if x is self._loop_of(body, number))
        if place < self._start(body):
            return f"its loop stands before '{self.loop}'"
        if assign.guard is not None or first.guard is not None:
            return "one of them runs under a condition"
        mine = {(x.var, x.lower, x.upper, x.step) for x in self._picking(body)}
        its = replace(self, statement=number, loop=self._loop_of(body, number).var)
        if mine != {(x.var, x.lower, x.upper, x.step) for x in its._picking(body)}:
            return "other loops pick its elements"
        return ""

    def _outer(self, body: Body) -> tuple[Loop, ...]:
        """Return the loops around `loop`, outermost first."""
        loops = path(body, self.statement)
        return loops[: [x.var for x in loops].index(self.loop)]

    def _loop_of(self, body: Body, number: int) -> Loop:
        """Return the loop around a statement that stands beside `loop`."""
        return path(body, number)[len(self._outer(body))]

    def _siblings(self, body: Body) -> Body:
        """Return the statements among which `loop` stands."""
        outer = self._outer(body)
        return outer[-1].body if outer else body

    def _start(self, body: Body) -> int:
        """Return where `loop` stands among them."""
        loop = named_loop(body, self.statement, self.loop)
        return next(k for k, x in enumerate(self._siblings(body)) if x is loop)

    def _held(self, body: Body) -> Body:
        """Return what runs while the block is held: `loop`, and all up to the others' loops."""
        siblings, start = self._siblings(body), self._start(body)
        ends = [self._loop_of(body, number) for number in self.others]
        last = max((k for k, x in enumerate(siblings) if any(x is e for e in ends)), default=start)
        return siblings[start : last + 1]

    def _sum_refusal(self, body: Body, context: Context) -> Diagnostic | None:
        """Return why the terms may not be added to each other before the target, or None."""
        assign = find_assign(body, self.statement)
        if reduction_operator(assign) != "+":
            return NO_REDUCTION.at(self.span, statement=self.statement, loop=self.loop)
        other = other_user(named_loop(body, self.statement, self.loop), assign)
        if other is not None:
            return READ_ELSEWHERE.at(
                self.span,
                statement=self.statement,
                target=print_expr(assign.target),
                other=f"it in statement {other}",
                loop=self.loop,
            )
        if drops_fractions(assign, context.types):
            return ROUNDED_SUM.at(
                self.span, statement=self.statement, type=context.types[target_name(assign)]
            )
        return None

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the block in a local array, which `why_not` has accepted."""
        assign = find_assign(body, self.statement)
        target = assign.target
        assert isinstance(target, Access)
        picking = self._picking(body)
        name = fresh_name(f"{target.array}_block", body, context.names)
        places = tuple(turn(x) for x in picking)
        held = Access(name, places)

        lengths = (full_length(x, context.sizes) for x in picking)
        extents = tuple(length for length in lengths if length is not None)
        element = context.types[target.array]
        start = neutral(element) if self.from_zero else target
        load = Assign(assign.number, held, "=", start, assign.span)
        is_certain = is_surely_touched(path(body, self.statement)[-1].body, target)
        spared = None if assign.guard is None or is_certain else is_something(held, element)
        store = Assign(
            assign.number, target, "+=" if self.from_zero else "=", held, assign.span, spared
        )
        return self._replaced(
            body,
            (
                LocalArray(name, element, extents),
                *nest_loops(picking, (load,)),
                *exchanged(self._held(body), {target: held}),
                *nest_loops(picking, (store,)),
            ),
        )

    def _replaced(self, body: Body, renewed: Body) -> Body:
        """Return `body` with other statements in the place of those that the block is held for."""
        siblings, start = self._siblings(body), self._start(body)
        end = start + len(self._held(body))
        beside = (*siblings[:start], *renewed, *siblings[end:])
        outer = self._outer(body)
        if not outer:
            return beside
        return replace_loop(body, outer[-1], (replace(outer[-1], body=beside),))

    def _inside(self, body: Body) -> tuple[Loop, ...]:
        """Return the loops around the statement that are inside `loop`, outermost first."""
        loops = path(body, self.statement)
        names = [x.var for x in loops]
        return loops[names.index(self.loop) + 1 :]

    def _picking(self, body: Body) -> tuple[Loop, ...]:
        """Return the loops inside `loop` that pick the element, outermost first."""
        target = find_assign(body, self.statement).target
        assert isinstance(target, Access)
        used = _index_names(target)
        return tuple(x for x in self._inside(body) if x.var in used)


def is_something(total: Access, element: str) -> Expr | None:
    """Return the test that a sum of a C type is not what `neutral` begins it with.

    None of a complex sum, which begins with other signs than the sum of its parts might have.
    """
    if "omplex" in element:
        return None
    start = neutral(element)
    if start == Int(0):
        return Binary("!=", total, start)
    suffix = "f" if element == "float" else ""
    zero, one = Real(f"0.0{suffix}"), Real(f"1.0{suffix}")
    is_positive = Binary("<", zero, Binary("/", one, total))
    return Binary("||", Binary("!=", total, zero), is_positive)


def _index_names(target: Access) -> frozenset[str]:
    return frozenset[str]().union(*(variables(index) for index in target.indices))
