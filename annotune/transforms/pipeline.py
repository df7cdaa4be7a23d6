"""When memory is asked for what a kernel touches, and what caches keep of it.

Copies of later iterations begin before the work of the present one, a core prefetches what a later
iteration updates, and what is touched once passes by the caches.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

from annotune.annotation.commands import Kind
from annotune.diagnostics import Diagnostic
from annotune.frozen import dataclass
from annotune.ir.expr import (
    Access,
    Binary,
    Expr,
    Int,
    Select,
    Var,
    accesses,
    conjunction,
    names_read,
    substitute,
    variables,
)
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import (
    COPY_LEVELS,
    NO_STATEMENT,
    Assign,
    Await,
    Fetch,
    Level,
    Local,
    LocalArray,
    Loop,
    MemorySpace,
    Stmt,
    expressions,
    map_assigns,
    walk_paths,
    walk_stmts,
)
from annotune.transforms.legality import missing, serial_refusal
from annotune.transforms.messages import (
    NO_PREFETCH,
    NO_WORD,
    NOT_AHEAD,
    NOT_PIPELINED,
    NOT_RELAYED,
    NOT_STREAMED,
    STAGES,
)
from annotune.transforms.transform import (
    CUDA_GUIDE,
    Context,
    Feature,
    Moving,
    OnStatement,
    PhaseRank,
    SchedulePart,
    SettingGroup,
    StepPhase,
    StepSetting,
    Word,
    takes,
)
from annotune.transforms.tree import (
    Body,
    bound_names,
    find_assign,
    fresh_name,
    mapped,
    named_loop,
    names_in,
    nest_loops,
    path,
    replace_loop,
    target_name,
    top_of,
)

# Where the next tile waits: in a ring in shared memory, or in the registers of all threads.
THROUGH = {"shared": MemorySpace.SHARED, "registers": MemorySpace.DEALT}
# With more copies under way than three tiles of them, shared memory holds no block beside.
MOST_STAGES = 4
# Elements of the widest vector that a thread copies at once: four floats.
WIDEST = 4
# Types of 4 or 8 bytes, which one asynchronous copy moves.
WORDS = frozenset(
    {"double", "float", "unsigned"}
    | {f"{u}{i}" for u in ("", "unsigned ") for i in ("int", "long", "long long")}
)


@dataclass(frozen=True, slots=True)
class Pipeline(Moving):
    """Let the copies at the start of `loop` around `statement` run ahead of its work.

    ``Pipeline(0, "k", 2)``: ``shared double t[8]``, ``for k in 0:n: { copy: t[i] = a[k][i];
    c += t[j] }`` becomes ``shared double t[16]``, a first ``async`` copy of ``a[0]``, and
    ``for k in 0:n: { await 0; async copy: t[8*((k + 1) % 2) + i] = a[k + 1][i] if k + 1 < n;
    c += t[8*(k % 2) + j] }``. With 3 stages two copies are under way and the ring has three parts.
    With 1 no copy runs ahead, ``for k in 0:n: { async copy: t[i] = a[k][i]; await 0; c += t[j] }``,
    but none goes through registers, and what else a thread has begun to load arrives meanwhile.

    Through `DEALT` memory, which takes 2 stages, each thread loads its share of the next tile into
    registers before the work and stores it to shared memory after it; there is one copy.

    Source:
        Simultaneous copies and work: CUDA C++ Programming Guide, Asynchronous Data Copies.
        The ring with one barrier for each step: CUTLASS, Efficient GEMM in CUDA, Pipelining.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.STATEMENT, 1)
    setting: ClassVar[StepSetting | None] = StepSetting("stages", SettingGroup.MOVEMENT, 0)
    feature: ClassVar[str | None] = Feature.BLOCK_THREADS
    schedule_part: ClassVar[SchedulePart | None] = SchedulePart.STAGING
    word: ClassVar[Word] = Word(
        "pipeline",
        "copy the inputs of later steps of the sum while the present one is multiplied",
        'pipeline(0, 2, "registers")',
        "CUTLASS, Efficient GEMM in CUDA",
        slots=("statement", "stages", "through", "loop"),
        kept=False,
    )
    loop: str = takes(Kind.LOOP, "", by_name=True, exact=True)
    stages: int = takes(Kind.COUNT, 2, required=True)
    through: MemorySpace = takes(Kind.NAME, MemorySpace.SHARED, words=THROUGH)

    @property
    def set_to(self) -> int:
        """Return how many parts of the sum are on their way."""
        return self.stages

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the copies cannot run ahead, or None when they can."""
        if absent := missing(body, self.statement, (self.loop,), self.span):
            return absent
        is_ring = self.through is MemorySpace.SHARED
        least, most = (1, MOST_STAGES) if is_ring else (2, 2)
        if not least <= self.stages <= most:
            expected = f"{least} to {most}" if is_ring else str(most)
            return STAGES.at(self.span, stages=self.stages, space=self.through, expected=expected)
        loop = named_loop(body, self.statement, self.loop)
        if refusal := serial_refusal("pipeline", body, self.statement, loop, self.span):
            return refusal
        arrays, nests, rest = _parts(loop)
        if not nests or any(_is_cooperative(s) for s in walk_stmts(rest)):
            return NOT_PIPELINED.at(self.span, loop=loop.var)
        wide = next((a for a in arrays if a.type not in WORDS), None)
        if wide is not None and self.through is MemorySpace.SHARED:
            return NO_WORD.at(self.span, command="pipeline", array=wide.name, type=wide.type)
        if self.stages == 1:
            return None
        changed = _changed(body[top_of(body, self.statement)], arrays, loop)
        names = sorted(frozenset[str]().union(*map(_needed, nests)) & changed)
        if names:
            return NOT_AHEAD.at(self.span, loop=loop.var, name=names[0])
        return None

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the copies ahead, which `why_not` has accepted."""
        loop = named_loop(body, self.statement, self.loop)
        ahead = self._in_ring if self.through is MemorySpace.SHARED else self._in_registers
        return replace_loop(body, loop, ahead(body, loop, context))

    def _in_ring(self, body: Body, loop: Loop, context: Context) -> Body:
        """Return the loop with its copies in a ring of buffers, and the first of them before."""
        arrays, nests, rest = _parts(loop)
        if self.stages == 1:
            begun = tuple(_placed(nest, Level.ASYNC) for nest in nests)
            return (*arrays, replace(loop, body=(*begun, Await(0), *rest)))
        lengths = {a.name: part_length(a.extents[0]) for a in arrays}
        part = fresh_name(f"{loop.var}_part", body, context.names)
        first = fresh_name(f"{loop.var}_first", body, context.names)
        nests = tuple(_placed(nest, Level.ASYNC) for nest in nests)
        early = self.stages - 1
        turn = fold(Binary("/", Binary("-", Var(loop.var), loop.lower), Int(loop.step)))
        declared = Local(part, "int", Binary("%", turn, Int(self.stages)))
        coming = Binary("%", fold(Binary("+", Var(part), Int(early))), Int(self.stages))

        def copies(at: Expr, to: Expr) -> Body:
            moved = map_assigns(nests, lambda s: _at(s, loop, at, context))
            return map_assigns(moved, lambda s: _in_part(s, lengths, to))

        before = copies(_after(loop.lower, loop, Var(first)), Var(first))
        if early == 1:
            before = copies(loop.lower, Int(0))
        else:
            before = (Loop(first, Int(0), Int(early), before),)
        work = map_assigns(rest, lambda s: _in_part(s, lengths, Var(part)))
        later = copies(_after(Var(loop.var), loop, Int(early)), coming)
        inner = (declared, Await(early - 1), *later, *work)
        rings = (
            LocalArray(a.name, a.type, (self.stages * lengths[a.name],), a.space) for a in arrays
        )
        return (*rings, *before, replace(loop, body=inner))

    def _in_registers(self, body: Body, loop: Loop, context: Context) -> Body:
        """Return the loop with the next tile in registers while the present one is in use."""
        arrays, nests, rest = _parts(loop)
        shares = {a.name: fresh_name(f"{a.name}_next", body, context.names) for a in arrays}
        dealt = (LocalArray(shares[a.name], a.type, a.extents, MemorySpace.DEALT) for a in arrays)
        following = _after(Var(loop.var), loop, Int(1))

        def load(assign: Assign) -> Assign:
            moved, target = _at(assign, loop, following, context), assign.target
            assert isinstance(target, Access)
            share = Access(shares[target.array], target.indices)
            return Assign(moved.number, share, "=", moved.value, moved.span, moved.guard)

        def store(assign: Assign) -> Assign:
            target = assign.target
            assert isinstance(target, Access)
            share, guard = (
                Access(shares[target.array], target.indices),
                _runs(loop, following, context),
            )
            return Assign(assign.number, target, "=", share, assign.span, guard)

        before = map_assigns(nests, lambda s: _at(s, loop, loop.lower, context))
        inner = (*map_assigns(nests, load), *rest, *map_assigns(nests, store))
        return (*arrays, *dealt, *before, replace(loop, body=inner))


def _at(assign: Assign, loop: Loop, at: Expr, context: Context) -> Assign:
    """Return a copy for the iteration in which the loop is `at`, if there is one."""
    place = {loop.var: at}
    moved = assign.rewritten(lambda e: substitute(e, place) if isinstance(e, Var) else None)
    guard = conjunction((_runs(loop, at, context), moved.guard))
    return Assign(moved.number, moved.target, moved.op, fold(moved.value), moved.span, guard)


def _runs(loop: Loop, at: Expr, context: Context) -> Expr | None:
    """Return the condition for the loop to have an iteration `at`, None where it has one."""
    inside = fold(Binary("<", at, loop.upper))
    known = context.folded(inside)
    return None if isinstance(known, Int) and known.value else inside


def part_length(elements: int) -> int:
    """Return the elements from one part of a ring to the next, so that vectors stay aligned."""
    return -(-elements // WIDEST) * WIDEST


def _after(start: Expr, loop: Loop, count: Expr) -> Expr:
    """Return what the iterator is `count` iterations after `start`."""
    return fold(Binary("+", start, Binary("*", Int(loop.step), count)))


def _in_part(assign: Assign, lengths: Mapping[str, int], part: Expr) -> Assign:
    """Return a statement that uses part `part` of the rings, each `lengths` long."""

    def change(expr: Expr) -> Expr | None:
        if not isinstance(expr, Access) or expr.array not in lengths:
            return None
        start = Binary("*", Int(lengths[expr.array]), part)
        return Access(expr.array, (fold(Binary("+", start, expr.indices[0])),), expr.span)

    return assign.rewritten(change)


def _placed(loop: Loop, level: Level) -> Loop:
    """Return a nest of copies with its cooperative loops on another level."""
    inner = tuple(_placed(s, level) if isinstance(s, Loop) else s for s in loop.body)
    place = level if loop.place is Level.COOPERATIVE else loop.place
    return replace(loop, body=inner, place=place)


def _parts(loop: Loop) -> tuple[tuple[LocalArray, ...], tuple[Loop, ...], Body]:
    """Return the shared arrays and the copies that a loop begins with, and the rest of it."""
    arrays: list[LocalArray] = []
    nests: list[Loop] = []
    for place, stmt in enumerate(loop.body):
        if isinstance(stmt, LocalArray) and stmt.space is MemorySpace.SHARED:
            arrays.append(stmt)
        elif isinstance(stmt, Loop) and stmt.place is Level.COOPERATIVE:
            nests.append(stmt)
        else:
            return tuple(arrays), tuple(nests), loop.body[place:]
    return tuple(arrays), tuple(nests), ()


def _is_cooperative(stmt: object) -> bool:
    return isinstance(stmt, Loop) and stmt.place is Level.COOPERATIVE


def _needed(nest: Loop) -> frozenset[str]:
    """Return the names that a nest of copies reads, its own iterators left out."""
    own = {s.var for s in walk_stmts((nest,)) if isinstance(s, Loop)}
    names: set[str] = set()
    for stmt in walk_stmts((nest,)):
        if isinstance(stmt, Assign):
            names |= names_in(stmt.target).union(*map(names_read, stmt.sources()))
    return frozenset(names - own)


def _changed(nest: object, arrays: tuple[LocalArray, ...], loop: Loop) -> frozenset[str]:
    """Return the scalars and arrays with other values in a later iteration, but the iterator."""
    assert isinstance(nest, Loop)
    copied = {a.name for a in arrays}
    assigns = (s for s in walk_stmts((nest,)) if isinstance(s, Assign))
    written = {target_name(s) for s in assigns} - copied
    inside = {s.name for s in walk_stmts(loop.body) if isinstance(s, Local)}
    return frozenset(written | inside)


@dataclass(frozen=True, slots=True)
class Relay(OnStatement):
    """Let the copies of each statement begin in the last step of the one before it.

    ``Relay(0, (1,))``: ``for k in 0:n step 8: {shared double t[64]; copy: t[i] = a[k + i]; S0},
    for l in 0:m step 8: {shared double t[64]; copy: t[i] = b[l + i]; S1}``, whose copies `Overlay`
    has put in one place, becomes a ring ``shared double t[128]`` for both. An ``async`` copy of
    ``a[0]`` comes first; each step of `k` then is ``await 0; async copy of the next step, which is
    the first of l behind the last of k; S0``, with the other part of the ring each time. So the
    copies of every step but the very first go on while another one is computed, and there is one
    barrier for each step: behind it all threads are done with the step before, whose part is filled
    next.

    All loops run a number of times that is known, once at least: else nobody would begin the
    copies that the next one waits for.

    Source:
        The ring with one barrier for each step: CUTLASS, Efficient GEMM in CUDA, Pipelining.
        Work of a following tile that begins in the present one's end: the same, Persistent Kernels.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.STATEMENT, 5)
    setting: ClassVar[StepSetting | None] = StepSetting("relayed", SettingGroup.MOVEMENT, 1)
    feature: ClassVar[str | None] = Feature.BLOCK_THREADS
    schedule_part: ClassVar[SchedulePart | None] = SchedulePart.STAGING
    is_decided: ClassVar[bool] = True
    word: ClassVar[Word] = Word(
        "relay",
        "begin the copies of each statement while the one before it is computed",
        "relay(0, 1)",
        "CUTLASS, Efficient GEMM in CUDA",
        exact=True,
    )
    others: tuple[int, ...] = takes(Kind.GROUP)

    @property
    def set_to(self) -> int:
        """Return how many statements hand on their copies."""
        return 1 + len(self.others)

    def comes_late(self, awaited: Collection[str]) -> bool:
        """Return that it comes after the steps of all statements, whose copies it moves."""
        return True

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the copies cannot begin before their loops, or None when they can."""
        for number in (self.statement, *self.others):
            if absent := missing(body, number, (), self.span):
                return absent
            loop = _copying(body, number)
            if loop is None:
                return self._refusal(number, "its loop does not begin with all of its copies")
            wide = next((a for a in _parts(loop)[0] if a.type not in WORDS), None)
            if wide is not None:
                return NO_WORD.at(self.span, command="relay", array=wide.name, type=wide.type)
            if why := _why_not_counted(loop, context):
                return self._refusal(number, why)
        return self._order_refusal(body) or self._use_refusal(body)

    def _refusal(self, number: int, why: str) -> Diagnostic:
        return NOT_RELAYED.at(self.span, statement=number, why=why)

    def _order_refusal(self, body: Body) -> Diagnostic | None:
        """Return which statement's loop does not stand behind that of the one before, or None."""
        first, siblings = self._loops(body)[0], self._siblings(body)
        places = {id(stmt): place for place, stmt in enumerate(siblings)}
        last = places[id(first)]
        for number, loop in zip(self.others, self._loops(body)[1:], strict=True):
            if places.get(id(loop), -1) <= last:
                return self._refusal(number, "its loop does not stand behind that of the last one")
            last = places[id(loop)]
        return None

    def _use_refusal(self, body: Body) -> Diagnostic | None:
        """Return what is changed, or used, where the copies are made early; or None."""
        loops, siblings = self._loops(body), self._siblings(body)
        ends = [next(k for k, s in enumerate(siblings) if s is x) for x in (loops[0], loops[-1])]
        within = siblings[ends[0] : ends[1] + 1]
        others = tuple(s for s in within if not any(s is x for x in loops))
        if any(isinstance(s, Await) or _is_copying(s) for s in walk_stmts(others)):
            return self._refusal(self.statement, "other copies stand between the loops")
        names = {a.name for loop in loops for a in _parts(loop)[0]}
        inside = {id(s) for loop in loops for s in walk_stmts((loop,))}
        nest = body[top_of(body, self.statement)]
        for stmt in walk_stmts((nest,)):
            used = {a.array for part in expressions(stmt) for a in accesses(part)} & names
            if used and id(stmt) not in inside:
                return self._refusal(
                    self.statement, f"'{min(used)}' is in use outside of the loops as well"
                )
        declared = {s.name for s in within if isinstance(s, Local | LocalArray)}
        for loop in loops:
            arrays, nests, _ = _parts(loop)
            changed = (_changed(nest, arrays, loop) - names) | declared
            early = sorted(frozenset[str]().union(*map(_needed, nests)) & changed)
            if early:
                return NOT_AHEAD.at(self.span, loop=loop.var, name=early[0])
        return None

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the copies ahead, which `why_not` has accepted."""
        loops = self._loops(body)
        lengths: dict[str, int] = {}
        types: dict[str, LocalArray] = {}
        for array in (a for loop in loops for a in _parts(loop)[0]):
            types[array.name] = array
            length = part_length(array.extents[0])
            lengths[array.name] = max(length, lengths.get(array.name, 0))
        rings = (replace(types[name], extents=(2 * each,)) for name, each in lengths.items())
        part = fresh_name(f"{loops[0].var}_part", body, context.names)
        ring = _Ring(lengths, part, context)
        made: dict[int, Body] = {}
        start = 0
        for loop, following in zip(loops, (*loops[1:], None), strict=True):
            made[id(loop)] = (ring.step(loop, following, start),)
            start += _trips(loop, context)
        first = loops[0]
        made[id(first)] = (*rings, *ring.copies(first, first.lower, Int(0)), *made[id(first)])
        return mapped(body, lambda stmt: made.get(id(stmt)))

    def _loops(self, body: Body) -> tuple[Loop, ...]:
        """Return the loop of each statement that begins with its copies."""
        found = (_copying(body, number) for number in (self.statement, *self.others))
        return tuple(loop for loop in found if loop is not None)

    def _siblings(self, body: Body) -> Body:
        """Return the statements among which the first loop stands."""
        first = self._loops(body)[0]
        inside = (s.body for s in walk_stmts(body) if isinstance(s, Loop))
        return next(some for some in (body, *inside) if any(s is first for s in some))


@dataclass(frozen=True, slots=True)
class _Ring:
    """Two parts of memory, each `lengths` long, that the steps of several loops use in turn.

    `part` is the name of the variable that says which of them a step uses.
    """

    lengths: Mapping[str, int]
    part: str
    context: Context

    def copies(self, loop: Loop, at: Expr, to: Expr, when: Expr | None = None) -> Body:
        """Return the copies of the step in which `loop` is `at`, into a part, where `when` holds"""

        def moved(assign: Assign) -> Assign:
            made = _in_part(_at(assign, loop, at, self.context), self.lengths, to)
            return replace(made, guard=conjunction((when, made.guard)))

        nests = tuple(_placed(nest, Level.ASYNC) for nest in _parts(loop)[1])
        return map_assigns(nests, moved)

    def step(self, loop: Loop, following: Loop | None, start: int) -> Loop:
        """Return the loop with the copies of the next step in each, `start` steps behind the first.

        Behind its last step are the first of the loop `following`.
        """
        is_once = _trips(loop, self.context) == 1
        turn = fold(Binary("/", Binary("-", Var(loop.var), loop.lower), Int(loop.step)))
        turn = fold(Binary("+", turn, Int(start % 2)))
        own: Expr = Int(start % 2) if is_once else Var(self.part)
        other = fold(Binary("%", fold(Binary("+", own, Int(1))), Int(2)))
        after = _after(Var(loop.var), loop, Int(1))
        later: Body = () if is_once else self.copies(loop, after, other)
        if following is not None:
            is_last = None if is_once else Binary(">=", after, loop.upper)
            later = (*later, *self.copies(following, following.lower, other, is_last))
        work = map_assigns(_parts(loop)[2], lambda s: _in_part(s, self.lengths, own))
        declared = () if is_once else (Local(self.part, "int", Binary("%", turn, Int(2))),)
        return replace(loop, body=(*declared, Await(0), *later, *work))


def _trips(loop: Loop, context: Context) -> int:
    """Return how often a loop runs, 0 where that is not known."""
    count = context.folded(trip_count(loop))
    return count.value if isinstance(count, Int) else 0


def _why_not_counted(loop: Loop, context: Context) -> str:
    """Return why it is not known that a loop runs, empty if it is."""
    return "" if _trips(loop, context) > 0 else f"'{loop.var}' runs a number of times not known"


def _copying(body: Body, statement: int) -> Loop | None:
    """Return the thread's loop around a statement that begins with all of its copies, or None."""
    for assign, loops in walk_paths(body):
        own = loops if assign.number == statement else ()
        for loop in (x for x in own if x.place is Level.SERIAL):
            _, nests, rest = _parts(loop)
            if nests and not any(_is_cooperative(s) for s in walk_stmts(rest)):
                return loop
    return None


def _is_copying(stmt: object) -> bool:
    return isinstance(stmt, Loop) and stmt.place in COPY_LEVELS


@dataclass(frozen=True, slots=True)
class Prefetch(OnStatement):
    """Before `inside`, ask for what `statement` updates there in the next iteration of `ahead`.

    ``Prefetch(0, "i", "k", 8)``: ``for i: for k: for j in 0:16: c[i][j] += …`` gets
    ``for j in 0:16 step 8: fetch c[i + 1][j]`` before ``for k``; the last iteration of `i` asks
    for its own row. The elements are those of `line` steps of the innermost loop that picks
    them: as many lie in a line of the cache. Only elements that the nest touches in any case are
    asked for, so `ahead` must not set the bounds of a loop inside it.

    Source:
        Mowry, Lam and Gupta, "Design and Evaluation of a Compiler Algorithm for Prefetching",
        ASPLOS 1992, doi:10.1145/143365.143488.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.STATEMENT, 3)
    feature: ClassVar[str | None] = Feature.CORE_VECTORS
    schedule_part: ClassVar[SchedulePart | None] = SchedulePart.STAGING
    is_decided: ClassVar[bool] = True
    word: ClassVar[Word] = Word(
        "prefetch",
        "ask before the second loop for what the next iteration of the first updates there",
        'prefetch(0, "i_t", "k", 8)',
        "Mowry, Lam and Gupta 1992",
        exact=True,
    )
    ahead: str = takes(Kind.LOOP)
    inside: str = takes(Kind.LOOP)
    line: int = takes(Kind.COUNT, 1)

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the elements are not those of a later iteration, or None."""
        if absent := missing(body, self.statement, (self.ahead, self.inside), self.span):
            return absent
        why = self._why_no_element(body) or self._why_no_next(body)
        if not why:
            return None
        return NO_PREFETCH.at(self.span, statement=self.statement, loop=self.ahead, why=why)

    def _why_no_element(self, body: Body) -> str:
        """Return why the statement may update no element of an array, empty if it does."""
        assign = find_assign(body, self.statement)
        target = assign.target
        if isinstance(target, Var):
            return f"'{target.name}' is no element of an array"
        if assign.guard is not None:
            return "the statement runs under a condition"
        return ""

    def _why_no_next(self, body: Body) -> str:
        """Return why the next iteration touches no other elements like these, empty if it does."""
        loops = path(body, self.statement)
        names = [loop.var for loop in loops]
        target = find_assign(body, self.statement).target
        ahead = loops[names.index(self.ahead)]
        if names.index(self.ahead) >= names.index(self.inside):
            return f"'{self.inside}' is not inside it"
        if ahead.place is not Level.SERIAL:
            return f"its iterations run as {ahead.place}"
        if self.ahead not in variables(target):
            return "it picks no element"
        for loop in loops[names.index(self.ahead) + 1 :]:
            if self.ahead in bound_names(loop):
                return f"it sets the bounds of '{loop.var}'"
        picking = self._picking(body)
        kept = {loop.var for loop in picking}
        for loop in picking:
            left_out = bound_names(loop) & set(names[names.index(self.inside) :]) - kept
            if left_out:
                return f"'{min(left_out)}' sets the bounds of '{loop.var}'"
        return ""

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the requests, which `why_not` has accepted."""
        loops = path(body, self.statement)
        target = find_assign(body, self.statement).target
        assert isinstance(target, Access)
        ahead = next(loop for loop in loops if loop.var == self.ahead)
        inside = next(loop for loop in loops if loop.var == self.inside)
        following = _following(ahead)
        indices = tuple(substitute(index, {self.ahead: following}) for index in target.indices)
        picking = [replace(x, place=Level.SERIAL, combines=()) for x in self._picking(body)]
        if picking:
            last = picking[-1]
            picking[-1] = replace(last, step=last.step * self.line)
        fetch = Fetch(Access(target.array, indices, target.span))
        return replace_loop(body, inside, (*nest_loops(picking, (fetch,)), inside))

    def _picking(self, body: Body) -> tuple[Loop, ...]:
        """Return the loops from `inside` on that pick the element, outermost first."""
        loops = path(body, self.statement)
        names = [loop.var for loop in loops]
        used = variables(find_assign(body, self.statement).target)
        return tuple(x for x in loops[names.index(self.inside) :] if x.var in used)


def _following(loop: Loop) -> Expr:
    """Return the value of a loop's iterator in its next iteration; the last one's own there."""
    own = Var(loop.var)
    after = Binary("+", own, Int(loop.step))
    return Select(Binary("<", after, loop.upper), after, own)


@dataclass(frozen=True, slots=True)
class Stream(Moving):
    """Let what `statement` accumulates into pass by the caches: it is read and written once.

    ``Stream(0)``: ``c_block[i] = c[i]``, ``for k: c_block[i] += a[k]``, ``c[i] = c_block[i]``
    becomes the same with ``streamed`` behind the first and the last. `Hold` or `Registers` come
    before: an element that the loop reads and writes each time is refused. It changes no value.

    Source:
        CUDA C++ Programming Guide, Store Functions Using Cache Hints (``__ldcs``, ``__stcs``);
        PTX ISA, Cache Operators: "ld.cs, likely to be accessed once".
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.LAST, 2)
    feature: ClassVar[str | None] = Feature.BLOCK_THREADS
    word: ClassVar[Word] = Word(
        "stream",
        "let what the statement accumulates into pass by the caches",
        "stream(0)",
        CUDA_GUIDE,
        kept=False,
    )

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the elements are touched more than once, or None when they are not."""
        if absent := missing(body, self.statement, (), self.span):
            return absent
        nest = body[top_of(body, self.statement)]
        array = _output(nest, self.statement)
        if array is None:
            return NOT_STREAMED.at(self.span, statement=self.statement, name="a scalar")
        element = context.analysis.region.arrays[array].element
        if element not in WORDS:
            return NO_WORD.at(self.span, command="stream", array=array, type=element)
        refusal = NOT_STREAMED.at(self.span, statement=self.statement, name=array)
        loads = stores = 0
        for read, written, around in _touched(nest, array):
            if any(_repeats(access, around) for access in (*read, *written)):
                return refusal
            loads += len(read)
            stores += len(written)
        return refusal if loads > 1 or stores > 1 else None

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the marks, which `why_not` has accepted."""
        place = top_of(body, self.statement)
        array = _output(body[place], self.statement)
        assert array is not None
        return (*body[:place], *_marked((body[place],), array), *body[place + 1 :])


def _marked(body: Body, array: str) -> Body:
    """Return `body` with what touches the array marked; a declaration that loads is split."""

    def marked(stmt: Stmt) -> Body | None:
        match stmt:
            case Assign() if _of(array, expressions(stmt)):
                return (replace(stmt, streamed=True),)
            case Local(name, kind, value) if value is not None and _of(array, (value,)):
                load = Assign(NO_STATEMENT, Var(name), "=", value, streamed=True)
                return (Local(name, kind), load)
            case _:
                return None

    return mapped(body, marked)


def _of(array: str, parts: Iterable[Expr]) -> list[Access]:
    """Return the elements of the array in some expressions."""
    return [a for part in parts for a in accesses(part) if a.array == array]


def _touched(
    nest: Stmt, array: str, around: tuple[Loop, ...] = ()
) -> Iterator[tuple[list[Access], list[Access], tuple[Loop, ...]]]:
    """Yield what each statement reads and writes of the array, and the loops around it."""
    match nest:
        case Loop():
            for stmt in nest.body:
                yield from _touched(stmt, array, (*around, nest))
        case Assign():
            written = _of(array, (nest.target,))
            read = _of(array, nest.sources())
            yield read + (written if nest.op != "=" else []), written, around
        case Local(value=value) if value is not None:
            yield _of(array, (value,)), [], around
        case _:
            pass


def _output(nest: Stmt, statement: int) -> str | None:
    """Return the array that others see and the statement writes, None where it writes none."""
    local = {s.name for s in walk_stmts((nest,)) if isinstance(s, LocalArray)}
    for assign, _ in walk_paths((nest,)):
        target = assign.target
        if assign.number == statement and isinstance(target, Access) and target.array not in local:
            return target.array
    return None


def _repeats(access: Access, around: tuple[Loop, ...]) -> bool:
    """Return whether a serial loop goes around an element that it does not pick."""
    used = frozenset[str]().union(*map(variables, access.indices))
    for loop in reversed(around):
        used |= bound_names(loop) if loop.var in used else frozenset()
    return any(x.place is Level.SERIAL and x.var not in used for x in around)
