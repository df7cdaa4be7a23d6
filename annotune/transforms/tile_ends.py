"""Tiles that a loop may end inside.

`Pad` runs them whole all the same, and the surplus touches no memory of others. `Peel` tests once
for a whole tile, so that what runs in it needs no conditions; `whole_tiles` is what is then left of
it: no ends, no conditions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import ClassVar

from annotune.analysis.domains import Premises
from annotune.annotation.commands import Kind
from annotune.diagnostics import Diagnostic
from annotune.frozen import dataclass
from annotune.ir.expr import (
    Access,
    Binary,
    Call,
    Expr,
    Int,
    Real,
    Select,
    Var,
    accesses,
    conjunction,
    conjuncts,
    rewrite,
    variables,
)
from annotune.ir.fold import fold
from annotune.ir.nest import (
    COPY_LEVELS,
    Assign,
    Await,
    Level,
    Local,
    LocalArray,
    Loop,
    MemorySpace,
    Stmt,
    walk_paths,
    walk_stmts,
)
from annotune.transforms.legality import TEAM_LEVELS, missing
from annotune.transforms.messages import NOT_PADDED, NOT_PEELED, PEEL_DIVERGES
from annotune.transforms.transform import (
    JOINT,
    KIM_2019,
    Context,
    Copying,
    Feature,
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
    cut_end,
    cut_ends,
    full_end,
    full_length,
    only_fetches,
    path,
    picks_piece,
    replace_loop,
    top_of,
)

# Iterations that one worker runs itself, in order or in lanes.
_OWN = (Level.SERIAL, Level.SIMD)


@dataclass(frozen=True, slots=True)
class Pad(Copying):
    """Give every tile of some loops around `statement` its full length.

    ``Pad(0, ("i",))``: ``for i in i_t:min(i_t + 4, n): c[i] += s`` becomes
    ``for i in i_t:i_t + 4: c[i] += s if i < n``. What reads or writes memory beside local
    arrays keeps the condition; what a local array holds of the surplus iterations is zero when
    loaded, and never stored. So loops over registers have a constant length, and all threads
    of a block come to the same barriers.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.STATEMENT, 7)
    feature: ClassVar[str | None] = Feature.TILE_ENDS
    schedule_part: ClassVar[SchedulePart | None] = SchedulePart.TILE_ENDS
    word: ClassVar[Word] = Word(
        "pad",
        "run tiles in full where a loop ends inside one, without touching what lies beyond",
        'pad(0, ("h3","h2"))',
        KIM_2019,
    )
    loops: tuple[str, ...] = takes(Kind.LOOPS)

    def comes_late(self, awaited: Collection[str]) -> bool:
        """Return whether statements have a block in common: later copies ask where tiles end."""
        return JOINT in awaited

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason a loop has no full length, or None. Padding breaks no order."""
        if absent := missing(body, self.statement, self.loops, self.span):
            return absent
        for loop in path(body, self.statement):
            if loop.var not in self.loops or cut_end(loop) is None:
                continue
            is_own = loop.place in _OWN or loop.place in TEAM_LEVELS
            if not is_own or full_length(loop, context.sizes) is None:
                return NOT_PADDED.at(self.span, loop=loop.var)
        return None

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with full tiles, which `why_not` has accepted."""
        place = top_of(body, self.statement)
        nest = body[place]
        local = {s.name for s in walk_stmts(body) if isinstance(s, LocalArray)}
        return (*body[:place], *self._padded((nest,), (), local, context), *body[place + 1 :])

    def _padded(self, body: Body, cut: tuple[Loop, ...], local: set[str], context: Context) -> Body:
        """Return `body`, which stands in the padded loops `cut`."""
        out: list[Stmt] = []
        for stmt in body:
            match stmt:
                case Loop(place=place) if place in COPY_LEVELS:
                    # The threads fill it together, whatever their own iterations are.
                    out.append(stmt)
                case Loop() if only_fetches(stmt):
                    # What lies beyond the end need not be near.
                    out.append(stmt)
                case Loop():
                    is_cut = stmt.var in self.loops and cut_end(stmt) is not None
                    within = (*cut, stmt) if is_cut else cut
                    upper = full_end(stmt) if is_cut else stmt.upper
                    inner = self._padded(stmt.body, within, local, context)
                    out.append(replace(stmt, upper=upper, body=inner))
                case Assign():
                    out.append(_guarded(stmt, cut, local, context))
                case Local(name, type_, value) if value is not None and _memory(value, local):
                    out.append(Local(name, type_, _or_zero(value, cut, context)))
                case _:
                    out.append(stmt)
        return tuple(out)


def _guarded(assign: Assign, cut: tuple[Loop, ...], local: set[str], context: Context) -> Assign:
    """Return a statement that does no harm in surplus iterations of the loops `cut`."""
    target = assign.target
    is_own = isinstance(target, Access) and target.array in local
    if is_own:
        cut = tuple(x for x in cut if _may_harm(assign, x, local))
    condition = _condition(cut, context)
    if condition is None:
        return assign
    if is_own and assign.op == "=" and assign.guard is None:
        value = _or_zero(assign.value, cut, context)
        return Assign(assign.number, target, "=", value, assign.span)
    guard = conjunction((condition, assign.guard))
    return Assign(assign.number, target, assign.op, assign.value, assign.span, guard)


def _or_zero(value: Expr, cut: tuple[Loop, ...], context: Context) -> Expr:
    condition = _condition(cut, context)
    return value if condition is None else Select(condition, value, Real("0.0"))


def _condition(cut: tuple[Loop, ...], context: Context) -> Expr | None:
    """Return the condition for an iteration of full tiles to be one of the original's."""
    # Where the loop over one tile is inside its bounds, those that pick the tile are.
    own = [x for x in cut if not any(picks_piece(x, other) for other in cut)]
    tests = (Binary("<", Var(x.var), end) for x in own for end in cut_ends(x))
    found = conjunction(tests)
    return None if found is None else context.folded(found)


def _may_harm(assign: Assign, loop: Loop, local: set[str]) -> bool:
    """Return whether surplus iterations of `loop` may do harm to a local array, or elsewhere.

    Not where each has an element of its own and loads nothing but what others do as well.
    """
    if loop.place in _OWN and loop.var not in variables(assign.target):
        return True
    read = [a for source in assign.sources() for a in accesses(source) if a.array not in local]
    inner = (stmt for stmt in walk_stmts(loop.body) if isinstance(stmt, Loop))
    if any(loop.var in bound_names(x) for x in inner):
        # What these loops come to in a surplus iteration they may come to nowhere else.
        return bool(read)
    if assign.guard is not None and loop.var in variables(assign.guard) and read:
        return not _is_off(assign.guard, loop, local)
    return any(loop.var in variables(access) for access in read)


def _is_off(guard: Expr, loop: Loop, local: set[str]) -> bool:
    """Return whether a condition holds in no surplus iteration of `loop`, where copies are zero."""
    for test in conjuncts(guard):
        match test:
            case Binary(
                "!=", Access(array) as element, Int(0) | Real("0." | "0.0" | "0.f" | "0.0f")
            ):
                if array in local and loop.var in variables(element):
                    return True
    return False


def _memory(expr: Expr, local: set[str]) -> bool:
    """Return whether an expression reads an array that others see."""
    return any(access.array not in local for access in accesses(expr))


# Levels on which a loop is no launch by itself.
_INSIDE = (Level.SERIAL, Level.SIMD)


@dataclass(frozen=True, slots=True)
class Peel(Copying):
    """Set whole tiles of some loops around `statement` apart from those that are cut short.

    ``Peel(0, ("i",))``: ``for i_t in 0:n step 8: for i in i_t:min(i_t + 8, n)`` becomes
    ``for i_t in 0:n step 8 peeled n - i_t >= 8: …``. The nest keeps each statement once: where the
    test holds, the body of the marked loop may be written without the ends and conditions that it
    makes true (see `whole_tiles`), elsewhere as it is. One test stands for all the loops together,
    inside the loop that is the last to pick one of their tiles, and inside the first loop that is
    mapped. Conditions that `Pad` adds later go with the others. A loop that is never cut needs no
    test.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.STATEMENT, 6)
    setting: ClassVar[StepSetting | None] = StepSetting("peel", SettingGroup.STATEMENT, 0)
    feature: ClassVar[str | None] = Feature.BLOCK_THREADS
    schedule_part: ClassVar[SchedulePart | None] = SchedulePart.TILE_ENDS
    word: ClassVar[Word] = Word(
        "peel",
        "test once whether the tiles of these loops are whole, and run whole ones unconditioned",
        'peel(0, ("h3","h2"))',
        "Wolfe 1996, 9",
    )
    loops: tuple[str, ...] = takes(Kind.LOOPS)

    @property
    def set_to(self) -> str:
        """Return the loops whose whole tiles are apart."""
        return ",".join(self.loops)

    def comes_late(self, awaited: Collection[str]) -> bool:
        """Return whether statements have a block in common: later copies ask where tiles end."""
        return JOINT in awaited

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason whole tiles cannot be told apart, or None. It breaks no order."""
        around = self._loops(body)
        if around is None:
            return missing(body, self.statement, self.loops, self.span)
        for loop in around:
            if loop.var in self.loops and not _tiles(loop, around):
                return NOT_PEELED.at(self.span, loop=loop.var, reason="is no loop over one tile")
        team = _team_loop(body[top_of(body, self.statement)])
        if team is not None:
            reason = "is shared by workers that combine a sum, or do not share the whole nest"
            return NOT_PEELED.at(self.span, loop=team.var, reason=reason)
        tests = self._tests(around, context)
        for loop in self._cut(around):
            if not self._are_whole(loop, around, tests, context):
                reason = "may be cut short in tiles that no test of their starts tells apart"
                return NOT_PEELED.at(self.span, loop=loop.var, reason=reason)
        marked = _marked(around, tests)
        apart = sorted(_differing(around) & _names(tests))
        if apart and any(map(_meets, walk_stmts(marked.body))):
            return PEEL_DIVERGES.at(self.span, loop=apart[0], loops=", ".join(self.loops))
        return None

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the test at its loop, which `why_not` has accepted."""
        around = self._loops(body)
        assert around is not None
        tests = self._tests(around, context)
        if not tests:
            return body
        marked = _marked(around, tests)
        peeled = tuple(dict.fromkeys((*marked.peeled, *tests)))
        return replace_loop(body, marked, (replace(marked, peeled=peeled),))

    def _loops(self, body: Body) -> tuple[Loop, ...] | None:
        """Return the loops around the statement where it has all the named ones.

        It also loads and stores blocks that are held, outside some of them.
        """
        places = (around for assign, around in walk_paths(body) if assign.number == self.statement)
        wanted = set(self.loops)
        return next((x for x in places if wanted <= {loop.var for loop in x}), None)

    def _cut(self, around: Sequence[Loop]) -> tuple[Loop, ...]:
        """Return the named loops that may be cut short."""
        return tuple(x for x in around if x.var in self.loops and cut_end(x) is not None)

    def _tests(self, around: Sequence[Loop], context: Context) -> tuple[Expr, ...]:
        """Return the tests that the tiles are whole, none that follows from bounds and others."""
        tests: list[Expr] = []
        for tile in dict.fromkeys(_own_tile(x, around) for x in self._cut(around)):
            for end in (full_end(tile), *cut_ends(tile)):
                test = _test(tile, end, context)
                here = self._around(around, around.index(tile) + 1, context).where(tests)
                if not here.implies(test):
                    tests.append(test)
        return tuple(tests)

    def _are_whole(
        self, loop: Loop, around: Sequence[Loop], tests: Sequence[Expr], context: Context
    ) -> bool:
        """Return whether `tests` show that nothing cuts a loop short."""
        depth = next(k for k, x in enumerate(around) if x is loop)
        known = self._around(around, depth, context).where(tests)
        known = known.inside(replace(loop, upper=full_end(loop)))
        return all(known.implies(Binary("<", Var(loop.var), end)) for end in cut_ends(loop))

    def _around(self, around: Sequence[Loop], depth: int, context: Context) -> Premises:
        """Return what holds inside the first `depth` loops, the named ones in full."""
        known = Premises.of(context.types, context.sizes)
        for loop in around[:depth]:
            upper = full_end(loop) if loop.var in self.loops else loop.upper
            known = known.inside(replace(loop, upper=upper))
        return known


def _test(tile: Loop, end: Expr, context: Context) -> Expr:
    """Return the test that a tile ends before `end`, after which it does not start."""
    last = context.folded(end)
    if isinstance(last, Int):
        return Binary("<=", fold(Binary("+", Var(tile.var), Int(tile.step))), last)
    # The sum may be more than an int holds; the difference is not.
    return Binary(">=", fold(Binary("-", last, Var(tile.var))), Int(tile.step))


def _tiles(loop: Loop, around: Sequence[Loop]) -> tuple[Loop, ...]:
    """Return the loops around `loop` that pick a tile of the same loop of the text."""
    outside = around[: next(k for k, x in enumerate(around) if x is loop)]
    return tuple(x for x in outside if x.tile_of and x.root == loop.root)


def _own_tile(loop: Loop, around: Sequence[Loop]) -> Loop:
    """Return the loop whose tiles are tested: the last one that all threads of a block share."""
    tiles, apart = _tiles(loop, around), _differing(around)
    shared = [x for x in tiles if x.var not in apart]
    return (shared or tiles)[-1]


def _differing(around: Sequence[Loop]) -> frozenset[str]:
    """Return the loops whose iterators differ between the threads of a block."""
    found: set[str] = set()
    for loop in around:
        if loop.place in TEAM_LEVELS or bound_names(loop) & found:
            found.add(loop.var)
    return frozenset(found)


def _marked(around: Sequence[Loop], tests: Sequence[Expr]) -> Loop:
    """Return the outermost loop in which all iterators of the tests are known."""
    names = _names(tests)
    last = max((k for k, x in enumerate(around) if x.var in names), default=0)
    first = next((k for k, x in enumerate(around) if x.place not in _INSIDE), 0)
    return around[max(last, first)]


def _names(tests: Sequence[Expr]) -> frozenset[str]:
    return frozenset[str]().union(*map(variables, tests))


def _meets(stmt: Stmt) -> bool:
    """Return whether all threads of a block must come to a statement together."""
    match stmt:
        case Await():
            return True
        case LocalArray(space=space):
            return space is not MemorySpace.PRIVATE
        case Loop(place=place):
            return place in COPY_LEVELS
        case _:
            return False


def _team_loop(nest: Stmt) -> Loop | None:
    """Return a mapped loop whose workers combine a sum or meet beside it, None if there is none."""
    return next(_teams((nest,), is_outer=True), None)


def _teams(body: Body, is_outer: bool) -> Iterator[Loop]:
    for stmt in body:
        if not isinstance(stmt, Loop) or stmt.place in COPY_LEVELS:
            continue
        is_mapped = stmt.place not in _INSIDE
        if stmt.combines or (is_mapped and not (is_outer and len(body) == 1)):
            yield stmt
        # Serial loops around the mapped ones are run by the host, which launches what is inside.
        yield from _teams(stmt.body, is_outer and (is_mapped or _holds_mapped(stmt)))


def _holds_mapped(loop: Loop) -> bool:
    return any(isinstance(x, Loop) and x.place not in _INSIDE for x in walk_stmts(loop.body))


def whole_tiles(body: Body, known: Premises) -> Body:
    """Return `body`, in which `known` holds, without what that makes true.

    A tile that cannot be cut short ends where a full one does, and a condition that is sure to
    hold is left out. Nothing else changes: the statements and loops are those of `body`, one for
    one.
    """
    out: list[Stmt] = []
    for stmt in body:
        match stmt:
            case Loop():
                loop = _full(stmt, known)
                here = known.inside(loop)
                tests = tuple(test for test in loop.peeled if not here.implies(test))
                out.append(replace(loop, body=whole_tiles(loop.body, here), peeled=tests))
            case Assign():
                out.append(_assign(stmt, known))
            case Local(name, type_, value) if value is not None:
                out.append(Local(name, type_, rewrite(value, partial(_chosen, known))))
            case _:
                out.append(stmt)
    return tuple(out)


def _full(loop: Loop, known: Premises) -> Loop:
    """Return a loop without the ends that do not cut it."""
    ends = cut_ends(loop)
    if not ends:
        return loop
    here = known.inside(replace(loop, upper=full_end(loop)))
    short = [end for end in ends if not here.implies(Binary("<", Var(loop.var), end))]
    if len(short) == len(ends):
        return loop
    bounds = (full_end(loop), *short)
    return replace(loop, upper=reduce(lambda end, full: Call("min", (full, end)), bounds[::-1]))


def _assign(assign: Assign, known: Premises) -> Assign:
    """Return a statement without the conditions that hold."""
    guard = None if assign.guard is None else known.without(assign.guard)
    value = rewrite(assign.value, partial(_chosen, known))
    return replace(assign, guard=guard, value=value)


def _chosen(known: Premises, expr: Expr) -> Expr | None:
    """Return what a choice comes to, None for what is no choice."""
    if not isinstance(expr, Select):
        return None
    choose = partial(_chosen, known)
    condition, if_true = known.without(expr.condition), rewrite(expr.if_true, choose)
    if condition is None:
        return if_true
    return Select(condition, if_true, rewrite(expr.if_false, choose))
