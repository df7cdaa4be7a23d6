"""Keep an element, or a block of elements, in registers while a loop accumulates into them.

The warps of a block may multiply such blocks together, by the instructions of the tensor cores.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from annotune.analysis.facts import Analysis
from annotune.analysis.reductions import drops_fractions, reduction_operator
from annotune.annotation.commands import Kind
from annotune.diagnostics import NOWHERE, Diagnostic, Span
from annotune.frozen import dataclass
from annotune.ir.expr import (
    Access,
    Binary,
    Expr,
    Int,
    Negate,
    Real,
    Var,
    accesses,
    conjuncts,
    names_read,
    place_name,
    print_expr,
    rewrite,
    substitute,
    variables,
)
from annotune.ir.fold import exact_quotient, fold, trip_count
from annotune.ir.nest import (
    COPY_LEVELS,
    Assign,
    Level,
    Local,
    LocalArray,
    Loop,
    MemorySpace,
    Stmt,
    walk_paths,
    walk_stmts,
)
from annotune.transforms.legality import (
    combines,
    is_no_narrower,
    missing,
    neutral,
    serial_refusal,
)
from annotune.transforms.messages import (
    GUARDED,
    MAY_NOT_RUN,
    NO_BLOCK,
    NO_JOINT_BLOCK,
    NO_REDUCTION,
    NO_TENSOR_CORES,
    NOT_INVARIANT,
    OTHER_ACCESS,
    READ_ELSEWHERE,
    ROUNDED_SUM,
)
from annotune.transforms.transform import (
    JOINT,
    KIM_2018,
    THESIS,
    Context,
    Copying,
    Feature,
    PhaseRank,
    SchedulePart,
    SettingGroup,
    Shaping,
    StepPhase,
    StepSetting,
    Subject,
    Word,
    takes,
)
from annotune.transforms.tree import (
    Body,
    bound_names,
    exchanged,
    find_assign,
    fresh_name,
    full_length,
    is_surely_touched,
    local_types,
    may_not_run,
    named_loop,
    names_in,
    nest_loops,
    other_user,
    path,
    replace_loop,
    shown,
    target_name,
    top_of,
    turn,
)


@dataclass(frozen=True, slots=True)
class Registers(Shaping):
    """Load the target of `statement` before `loop`, work on a scalar, store it after.

    ``Registers(0, "k")``: ``for k: c[i] += a[k]`` becomes ``double c_acc = c[i];``
    ``for k: c_acc += a[k]`` ``c[i] = c_acc``. A target that is a scalar already stays.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.REGISTERS, 0)
    feature: ClassVar[str | None] = Feature.DEVICE_THREADS
    schedule_part: ClassVar[SchedulePart | None] = SchedulePart.REGISTERS
    word: ClassVar[Word] = Word(
        "registers",
        "keep values that are reused across the loop in registers",
        'registers(0, "h7")',
        THESIS,
        names=Subject.LOOP,
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
class Hold(Copying):
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
    after `l`. Each element gets the same terms in the same order. A statement without a sum is one
    of them, or the first, as well: its outermost loop that picks the element is then the `loop`.

    So is one that only reads the elements, ``for i: y[i] = f(c[i])`` or a sum of them: it finds
    them in the block. Elements that the first statement sets, ``for i: c[i] = 0``, are not loaded,
    and where nobody else reads what is held then, it is not stored (`Analysis.stays_on_device`).

    Under a condition, ``for k: c[i] += a[k] if b[k] != 0``, elements may not be there to which
    nothing is added. Their sums are -0.0 still, which changes nothing where it is added, so that
    the end is ``for i: c[i] += c_block[i - i_t] if c_block[i - i_t] is not -0.0``: it touches only
    what the statement has. Without `from_zero` such a statement is refused.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.STATEMENT, 4)
    setting: ClassVar[StepSetting | None] = StepSetting("hold", SettingGroup.COPY, 1)
    schedule_part: ClassVar[SchedulePart | None] = SchedulePart.REGISTER_BLOCK
    word: ClassVar[Word] = Word(
        "hold",
        "keep the block of elements that the statement updates in the loop in registers",
        'hold(0, "h7_t")',
        KIM_2018,
        names=Subject.LOOP,
    )
    loop: str = takes(Kind.LOOP)
    from_zero: bool = takes(Kind.FLAG, False, by_name=True, exact=True)
    others: tuple[int, ...] = takes(Kind.GROUP, (), by_name=True)

    @property
    def set_to(self) -> str:
        """Return the loop over which the block is held."""
        return self.loop

    @property
    def awaited(self) -> tuple[str, ...]:
        """Return that statements have the block in common, where there are others."""
        return (JOINT,) if self.others else ()

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
        if self.loop in used and not self.others:
            fixed = [x.var for x in path(body, self.statement) if x.var not in used]
            return NOT_INVARIANT.at(
                self.span,
                statement=self.statement,
                loop=self.loop,
                loops=", ".join(fixed) or "none",
            )
        inside = {x.var for x in self._inside(body)} | {self.loop}
        for inner in self._picking(body):
            is_known = full_length(inner, context.sizes) is not None
            if not is_known or bound_names(inner) & inside or self._meets(inner, context.analysis):
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
            if self._only_reads(body, number):
                if refusal := serial_refusal("hold", body, number, own, self.span):
                    return refusal
                continue
            # Its own loop would be held around as well, with the same block.
            alone = replace(self, statement=number, loop=own.var)
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
        reads = self._only_reads(body, number)
        if assign.target != first.target and not reads:
            return f"it updates {print_expr(assign.target)}, not {print_expr(first.target)}"
        if reads and self.from_zero:
            return "it reads the elements, to which the block is added at the end"
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
        if first.guard is not None or (assign.guard is not None and not reads):
            return "one of them runs under a condition"
        used = _index_names(first.target) if isinstance(first.target, Access) else frozenset()
        its = around[len(outer) :]
        mine = {(x.var, x.lower, x.upper, x.step) for x in self._picking(body)}
        if mine != {(x.var, x.lower, x.upper, x.step) for x in its if x.var in used}:
            return "other loops pick its elements"
        return ""

    def _only_reads(self, body: Body, number: int) -> bool:
        """Return whether a statement reads the element, and writes none of its array."""
        assign, target = find_assign(body, number), find_assign(body, self.statement).target
        return target_name(assign) != place_name(target) and target in assign.reads()

    def _meets(self, loop: Loop, analysis: Analysis) -> bool:
        """Return whether iterations of a loop touch one element, which has one place in the block.

        ``for i: for j: c[i + j] += …`` does.
        """
        around = {id(x) for x in analysis.paths[self.statement] if x.var == loop.root}
        return any(
            {dependence.source, dependence.sink} == {self.statement}
            for facts in analysis.loops
            if id(facts.loop) in around
            for dependence in facts.carried
        )

    def _is_new(self, body: Body) -> bool:
        """Return whether the first statement sets every element of the block."""
        assign = find_assign(body, self.statement)
        is_set = assign.op == "=" and assign.guard is None and not self.from_zero
        return is_set and assign.target not in assign.reads()

    def _is_dropped(self, body: Body, context: Context) -> bool:
        """Return whether nobody reads the elements once the block is no longer held."""
        array = target_name(find_assign(body, self.statement))
        own = {self.statement, *self.others}
        others = (s for s in walk_stmts(body) if isinstance(s, Assign) and s.number not in own)
        touched = {one.array for assign in others for one in _elements(assign)}
        is_passed = self._is_new(body) and array not in touched
        return is_passed and context.analysis.stays_on_device(array)

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
        is_new, is_dropped = self._is_new(body), self._is_dropped(body, context)
        return self._replaced(
            body,
            (
                LocalArray(name, element, extents),
                *(() if is_new else nest_loops(picking, (load,))),
                *exchanged(self._held(body), {target: held}),
                *(() if is_dropped else nest_loops(picking, (store,))),
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
        """Return the loops around the statement that are inside `loop`, outermost first.

        Beside `others` a statement need have no sum: then `loop` itself picks the element.
        """
        loops = path(body, self.statement)
        start = [x.var for x in loops].index(self.loop)
        target = find_assign(body, self.statement).target
        assert isinstance(target, Access)
        is_picking = bool(self.others) and self.loop in _index_names(target)
        return loops[start if is_picking else start + 1 :]

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


# The output of one matrix instruction: 16 rows by 8 columns, over 4 steps of the sum. The lanes of
# a warp have the rows 8 apart, and 4 lanes share a row (PTX ISA, "Matrix Fragments for
# mma.m16n8k4 with .f64 floating point type").
ROW_LANES, DEPTH_LANES = 8, 4
# Steps of the sum in one instruction; with more of them a lane has several of each operand.
DEPTHS = (4, 8, 16)
# Registers of a thread along rows and columns for one instruction.
FRAGMENT = 2


def column_distance(registers: int) -> int:
    """Return how far apart the two columns of a thread in one instruction are, in its registers.

    Of columns dealt out to 4 threads, two that are 2 registers apart are 8 columns apart: then the
    lanes that read a row of the copy together find it in as many banks as they are.
    """
    return 2 if registers % (2 * FRAGMENT) == 0 else 1


@dataclass(frozen=True, slots=True)
class Fragments:
    """The product of a block of registers, as warps compute it with matrix instructions.

    ``for sum: for … : for …: target += left * right`` in a warp of 4 threads `x` by 8 of `y`:
    `left` differs along `rows`, loops over registers, and `y`; `right` along `columns` and `x`.
    Further threads are other warps. Registers are counted with the innermost loop fastest.
    """

    sum: Loop
    rows: tuple[Loop, ...]
    columns: tuple[Loop, ...]
    x: Loop
    y: Loop
    assign: Assign
    left: Expr
    right: Expr

    def placed(
        self, expr: Expr, row: Expr, column: Expr, x: Expr | None = None, y: Expr | None = None
    ) -> Expr:
        """Return an operand, or the target, for numbers of registers and of threads.

        Where it is for no other thread, what is along that axis stays as it is.
        """
        return self.at({**_digits(self.rows, row), **_digits(self.columns, column)}, expr, x, y)

    def at(
        self, numbers: Mapping[str, Expr], expr: Expr, x: Expr | None = None, y: Expr | None = None
    ) -> Expr:
        """Return an expression for the numbers of the iterations of loops over registers."""
        loops = (*self.rows, *self.columns)
        made = substitute(expr, {one.var: _iteration(one, numbers[one.var]) for one in loops})
        # Loops over registers start where those over threads have come to.
        for loop, at in ((self.y, y), (self.x, x)):
            made = made if at is None else substitute(made, {loop.var: _iteration(loop, at)})
        return simplified(made)

    def apart(self, registers: int) -> int:
        """Return how far apart the two columns of one instruction are, of so many registers."""
        return column_distance(registers) if len(self.columns) == 1 else 1


def _digits(loops: Sequence[Loop], number: Expr) -> dict[str, Expr]:
    """Return the iteration of each loop that a number of a register stands for."""
    found: dict[str, Expr] = {}
    for loop in reversed(loops[1:]):
        count = fold(trip_count(loop))
        found[loop.var] = fold(Binary("%", number, count))
        number = fold(Binary("/", number, count))
    return {**found, loops[0].var: number}


def lanes(threads: Sequence[Loop]) -> list[Loop]:
    """Return the loops on the threads of a block, that with neighbouring threads first."""
    levels = (Level.THREAD_X, Level.THREAD_Y, Level.THREAD_Z)
    return [x for level in levels for x in threads if x.place is level]


def fragments(threads: Sequence[Loop], total: Loop) -> Fragments | str:
    """Return the product that a loop over a sum makes in `threads`, or in words why it is none."""
    nest = [total]
    while len(nest[-1].body) == 1 and isinstance(nest[-1].body[0], Loop):
        nest.append(nest[-1].body[0])
    assign = nest[-1].body[0]
    if len(nest) < 3 or len(nest[-1].body) != 1 or not isinstance(assign, Assign):
        return f"'{total.var}' is not around two loops over registers and their statement alone"
    own = lanes(threads)
    if len(own) < 2:
        return "the threads of a block have no loop along x and one along y"
    x, y, *_ = own
    if not (isinstance(assign.value, Binary) and assign.value.op == "*"):
        return f"statement {assign.number} does not add products"
    factors = assign.value.left, assign.value.right
    for left, right in (factors, factors[::-1]):
        found = _outer_product(Fragments(total, (), tuple(nest[1:]), x, y, assign, left, right))
        if found is not None:
            return found
    return "neither factor is the same for all columns and the other for all rows of the block"


# Stand for what a place depends on; no name of C is like these.
_AN_X, _A_Y = Var("an x"), Var("a y")


def _register(loop: Loop) -> Var:
    """Return what stands for the number of an iteration over registers."""
    return Var(f"a {loop.var}")


def _outer_product(one: Fragments) -> Fragments | None:
    """Return a product with each loop over registers as one of rows or columns, None for none.

    The left factor has the rows and the right one the columns. The loop that starts where threads
    along x have come to is the innermost one of these: its registers make one instruction's.
    """
    numbers = {loop.var: _register(loop) for loop in one.columns}
    left, right = (variables(one.at(numbers, e, _AN_X, _A_Y)) for e in (one.left, one.right))
    unknown = {x.var for x in (*one.columns, one.x, one.y)}
    if (left | right) & unknown or _AN_X.name in left or _A_Y.name in right:
        return None
    rows = tuple(x for x in one.columns if _register(x).name in left)
    columns = tuple(x for x in one.columns if _register(x).name in right)
    if {*rows} & {*columns} or len(rows) + len(columns) != len(one.columns):
        return None
    if not rows or not columns:
        return None
    columns = tuple(sorted(columns, key=lambda x: one.x.var in bound_names(x)))
    # A number stands for iterations of several loops where it is known how many each has.
    counts = [fold(trip_count(x)) for x in one.columns]
    if len(counts) > 2 and not all(isinstance(count, Int) for count in counts):
        return None
    return replace(one, rows=rows, columns=columns)


def _iteration(loop: Loop, number: Expr) -> Expr:
    return Binary("+", loop.lower, Binary("*", Int(loop.step), number))


def simplified(index: Expr) -> Expr:
    """Return an index without the divisions that leave nothing: ``8*i / 8`` is ``i``."""

    def divided(expr: Expr) -> Expr | None:
        match expr:
            case Binary("/", dividend, Int(divisor)):
                return exact_quotient(simplified(dividend), divisor)
            case _:
                return None

    return fold(rewrite(index, divided))


@dataclass(frozen=True, slots=True)
class TensorCores(Copying):
    """Let the warps of a block multiply the block of registers of `statement` in the sum `loop`.

    ``TensorCores(0, "k")``: ``for k: for i: for j: c[i][j] += a[i] * b[j]`` in 4 by 8 threads and
    more is done for 4 steps of `k`, 16 rows and 8 columns at a time by one instruction of a warp.
    The nest stays as it is, for each iteration is done once and where it was; `Loop.by_warps`
    says how. What is left of a sum that 4 does not divide, each thread does for itself. Where the
    loop around begins copies for later tiles, iterations that make all of them are told apart
    (`Loop.peeled`), for copies without a condition may begin between instructions.

    Elements and factors are doubles: nothing is rounded to fewer digits. Of the loops on
    threads the fastest has 4 and the next one a multiple of 8, the lanes of a warp. Each input has
    one of them, and a loop over registers belongs to the input that it picks elements of.
    All of them come to the instruction together. They read each other's operands, which are
    copies that the block shares, or what the nest only reads.

    Source:
        PTX ISA 8, "Multiply-and-Accumulate Instruction: mma": the fragments of each lane.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.LAST, 1)
    feature: ClassVar[str | None] = Feature.BLOCK_THREADS
    word: ClassVar[Word] = Word(
        "mma",
        "multiply the block of registers by the tensor cores, in double precision",
        'mma(0, "k")',
        "PTX ISA, mma",
        names=Subject.LOOP,
    )
    loop: str = takes(Kind.LOOP)
    steps: int = takes(Kind.COUNT, DEPTH_LANES, by_name=True)

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the warps cannot multiply it, or None when they can."""
        around = self._around(body)
        if not around:
            return missing(body, self.statement, (self.loop,), self.span)
        *outer, loop = around
        if refusal := serial_refusal("mma", body, self.statement, loop, self.span):
            return refusal
        nest = body[top_of(body, self.statement)]
        why = _why_no_warps(nest, outer, loop, context)
        if self.steps not in DEPTHS:
            why = f"an instruction has 4, 8 or 16 steps of it, not {self.steps}"
        if not why:
            found = fragments(outer, loop)
            why = found if isinstance(found, str) else _why_no_product(nest, found, body, context)
        return NO_TENSOR_CORES.at(self.span, loop=self.loop, why=why) if why else None

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the loop marked, which `why_not` has accepted."""
        *outer, loop = self._around(body)
        marked = replace_loop(body, loop, (replace(loop, by_warps=self.steps),))
        ahead = _run_ahead(outer[-1]) if outer else ()
        if not ahead or outer[-1].place is not Level.SERIAL or outer[-1].peeled:
            return marked
        around = self._around(marked)[-2]
        return replace_loop(marked, around, (replace(around, peeled=ahead),))

    def _around(self, body: Body) -> tuple[Loop, ...]:
        """Return the sum's loop and those around it, outermost first; none where it is not there.

        What is held in registers has its statement's number where it is loaded and stored as well.
        """
        for assign, loops in walk_paths(body):
            names = [x.var for x in loops]
            if assign.number == self.statement and self.loop in names:
                return loops[: names.index(self.loop) + 1]
        return ()


def _run_ahead(loop: Loop) -> tuple[Expr, ...]:
    """Return the conditions under which all copies that a loop begins for a later tile are made.

    Apart from the last iterations nothing is asked then, and nothing keeps the compiler from
    putting copies between instructions of the tensor cores.
    """
    inside = [s for s in loop.body if isinstance(s, Loop) and s.place is Level.ASYNC]
    asked = [
        frozenset(() if assign.guard is None else conjuncts(assign.guard))
        for assign, _ in walk_paths(tuple(inside))
    ]
    if not asked:
        return ()
    iterators = {x.var for x in walk_stmts(loop.body) if isinstance(x, Loop)}
    local = iterators | {s.name for s in walk_stmts(loop.body) if isinstance(s, Local)}
    common = frozenset.intersection(*asked)
    return tuple(sorted((e for e in common if not variables(e) & local), key=print_expr))


def _why_no_warps(nest: Stmt, outer: Sequence[Loop], loop: Loop, context: Context) -> str:
    """Return why not all lanes of a warp come to the loop together, as 4 by 8; empty if they do."""
    every = [x for x in walk_stmts((nest,)) if isinstance(x, Loop) and x.place in _THREADS]
    if len(every) != sum(x.place in _THREADS for x in outer):
        return "the threads of the block have other loops"
    for number, x in enumerate(lanes(outer)):
        count = fold(trip_count(x), context.sizes)
        if not isinstance(count, Int) or x.step < 1:
            return f"'{x.var}' does not run a fixed number of times in every block"
        is_whole = count.value % ROW_LANES == 0 if number else count.value == DEPTH_LANES
        if number < 2 and not is_whole:
            expected = "a multiple of 8" if number else "4"
            return f"'{x.var}' has {count.value} threads, expected {expected}"
    apart = _apart(nest)
    for x in (*outer, loop):
        if x.place not in _THREADS and bound_names(x) & apart:
            return f"the threads of a warp do not run '{x.var}' alike"
        if frozenset[str]().union(*map(variables, x.peeled)) & apart:
            return f"the threads of a warp have different versions in '{x.var}'"
    if loop.step != 1 or loop.unrolled != 1 or loop.peeled or loop.by_warps:
        return f"'{loop.var}' is unrolled, or has steps"
    return ""


_THREADS = (Level.THREAD_X, Level.THREAD_Y, Level.THREAD_Z)


def _why_no_product(nest: Stmt, one: Fragments, body: Body, context: Context) -> str:
    """Return why the instructions would not add the same products, empty if they do."""
    assign, types = one.assign, {**context.types, **local_types(body)}
    if assign.guard is not None or assign.op not in ("+=", "-="):
        return f"statement {assign.number} runs under a condition, or does not add"
    for loops in (one.rows, one.columns):
        registers = 1
        for x in loops:
            count = fold(trip_count(x), context.sizes)
            if x.place is not Level.SERIAL or x.peeled or not isinstance(count, Int):
                return f"'{x.var}' runs no fixed number of times"
            registers *= max(0, count.value)
        if registers < 1 or registers % FRAGMENT:
            names = "', '".join(x.var for x in loops)
            return f"'{names}' has {registers} registers, expected an even number"
    arrays = {s.name: s for s in walk_stmts((nest,)) if isinstance(s, LocalArray)}
    target = assign.target
    if not isinstance(target, Access) or target.array not in arrays:
        return "its sums are not in registers"
    if arrays[target.array].space is not MemorySpace.PRIVATE:
        return "its sums are not in registers"
    if any(combines(x, target.array) for x in walk_stmts((nest,)) if isinstance(x, Loop)):
        return "the threads of the block combine its sums"
    own = (*one.rows, *one.columns)
    numbers = {x.var: _register(x) for x in own}
    places = [one.at(numbers, index) for index in target.indices]
    others = frozenset[str]().union(*(variables(p) for p in places if p not in numbers.values()))
    if any(places.count(pick) != 1 for pick in numbers.values()) or others:
        names = "' and '".join(x.var for x in own)
        return f"not each iteration of '{names}' has a sum of its own"
    if not multiplies_doubles(assign, types):
        return f"statement {assign.number} does not multiply two factors in double, one by one"
    return _why_apart(nest, one, arrays, context)


def _why_apart(
    nest: Stmt, one: Fragments, arrays: Mapping[str, LocalArray], context: Context
) -> str:
    """Return which operand a lane must not read for another, empty where there is none."""
    written: set[str] = set()
    for stmt, around in walk_paths((nest,)):
        if not any(x.place in COPY_LEVELS for x in around):
            written.add(target_name(stmt))
    own = written | (_apart(nest) & {s.name for s in walk_stmts((nest,)) if isinstance(s, Local)})
    own |= {a.name for a in arrays.values() if a.space is not MemorySpace.SHARED}
    for factor in (one.left, one.right):
        names = names_read(factor) & own
        if names:
            return f"each thread has a '{min(names)}' of its own, or the nest writes it"
    return ""


def _apart(nest: Stmt) -> set[str]:
    """Return the iterators and scalars that may differ between the threads of a block."""
    every = list(walk_stmts((nest,)))
    found = {x.var for x in every if isinstance(x, Loop) and x.place in _THREADS}
    found |= {s.target.name for s in every if isinstance(s, Assign) and isinstance(s.target, Var)}
    # What is later in the text has what is before it in its bounds and values.
    for stmt in every:
        match stmt:
            case Loop() if bound_names(stmt) & found:
                found.add(stmt.var)
            case Local(name, _, value):
                if value is None or any(accesses(value)) or variables(value) & found:
                    found.add(name)
    return found


def multiplies_doubles(assign: Assign, types: Mapping[str, str]) -> bool:
    """Return whether a statement adds products of two factors that C multiplies in double.

    Each has elements of arrays of its own; what is narrower in one of them is made a double where
    C makes it one.
    """
    value = assign.value
    if not (isinstance(value, Binary) and value.op == "*"):
        return False
    sides = [{one.array for one in accesses(e)} for e in (value.left, value.right)]
    if not all(sides) or sides[0] & sides[1]:
        return False
    if not (_is_plain(value.left, types) and _is_plain(value.right, types)):
        return False
    return types.get(target_name(assign)) == "double" and is_no_narrower(assign, types)


def _is_plain(expr: Expr, types: Mapping[str, str]) -> bool:
    """Return whether an expression is arithmetic of doubles, floats and integers alone."""
    match expr:
        case Access(array=name) | Var(name):
            kind = types.get(name, "")
            return bool(kind) and "omplex" not in kind and kind != "long double"
        case Int():
            return True
        case Real(text):
            return text[-1] not in "lL"
        case Binary("+" | "-" | "*" | "/", left, right):
            return _is_plain(left, types) and _is_plain(right, types)
        case Negate(operand):
            return _is_plain(operand, types)
        case _:
            return False
