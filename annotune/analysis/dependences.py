"""Exact dependences, and what they let each loop do, with the proof in words.

A dependence is pairs of instances that touch one element, in the order of the text. None of them
is between iterations of a loop that writes a scalar before it reads it: each has its own. Whether
a loop does is found by a walk that follows the text: where may the value that a read sees come
from? Loops may run no iteration, so a value also flows around a loop; that is sound for every
size. A guarded statement writes on some paths only, and a read under a guard sees those alone.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from itertools import pairwise
from typing import TypeAlias

import islpy as isl

from annotune.analysis.facts import (
    ArrayUse,
    Conflict,
    Dependence,
    DependenceKind,
    LoopFacts,
    LoopKind,
)
from annotune.analysis.messages import listed
from annotune.analysis.model import Model, agreeing, least_value, negative
from annotune.analysis.reductions import (
    doubts,
    is_complex_product,
    may_leave_range,
    needed,
    reduction_operator,
    rounds_to_integer,
)
from annotune.analysis.statements import (
    Counted,
    DataReference,
    NestStatement,
    local_arrays,
    loops_of,
    users_by_name,
)
from annotune.frozen import dataclass
from annotune.ir.expr import (
    Access,
    Binary,
    Expr,
    Int,
    Var,
    names_read,
    negated,
    place_name,
    print_expr,
)
from annotune.ir.identity import once_for_each
from annotune.ir.poly import ONE, ZERO, Poly, product
from annotune.ir.region import Region


class ValueOrigin(Enum):
    """Who wrote the value that a scalar has, seen from one iteration of a loop."""

    OUTSIDE = "before or outside the loop"
    HERE = "this iteration of the loop"
    PAST = "an earlier iteration of the loop"


# Tests and their outcomes, all of which hold on a path.
Outcomes: TypeAlias = frozenset[tuple[Expr, bool]]
# On which paths the value has which origin.
State: TypeAlias = frozenset[tuple[ValueOrigin, Outcomes]]

_ALWAYS: Outcomes = frozenset()
_BEFORE: State = frozenset({(ValueOrigin.OUTSIDE, _ALWAYS)})
# Paths told from each other for one scalar, and disjuncts of one condition; beyond, less is known.
_MOST_PATHS = 64
_MOST_DISJUNCTS = 8


@dataclass(frozen=True, slots=True)
class Lifetime:
    """Where a written scalar lives: the innermost loops to whose iterations it is private.

    `homes` are positions of loops in the text. Every statement that uses the scalar is in
    exactly one of them. `is_array` marks an array that the region declares in a loop.
    """

    name: str
    homes: tuple[tuple[int, ...], ...]
    is_array: bool = False

    def home(self, position: tuple[int, ...]) -> tuple[int, ...]:
        """Return the home of the statement at `position`."""
        return next(home for home in self.homes if position[: len(home)] == home)

    def is_private_to(self, loop: tuple[int, ...]) -> bool:
        """Return whether each iteration of `loop` has a scalar of its own: a home is in it."""
        return any(home[: len(loop)] == loop for home in self.homes)


def lifetimes(names: Iterable[str], statements: tuple[NestStatement, ...]) -> dict[str, Lifetime]:
    """Return where those of the written scalars `names` live that are private to a loop."""
    found = {name: lifetime(name, statements) for name in names}
    return {name: life for name, life in found.items() if life is not None}


def local_lifetimes(region: Region) -> dict[str, Lifetime]:
    """Return where the arrays live that the region declares in loops."""
    homes = local_arrays(region).homes.items()
    return {name: Lifetime(name, own, is_array=True) for name, own in homes if () not in own}


def lifetime(name: str, statements: tuple[NestStatement, ...]) -> Lifetime | None:
    """Return where the written scalar `name` lives, None when it is private to no loop."""
    users = users_by_name(statements).get(name, ())
    homes: dict[tuple[int, ...], None] = {}
    walked = _with_tests(name, users, statements)
    for user in users:
        home = _innermost_home(name, user, walked)
        if home is None:
            return None
        homes.setdefault(home.position)
    # A home inside another home of the same scalar: the outer one is the scalar's.
    outer = [h for h in homes if not any(h != o and h[: len(o)] == o for o in homes)]
    return Lifetime(name, tuple(outer))


def inner_lives(
    name: str, statements: tuple[NestStatement, ...], is_read_after: bool
) -> tuple[Counted, ...]:
    """Return the loops whose iterations have a scalar for themselves that is used outside them too.

    Each iteration writes it before it reads it, and nothing outside reads what it has written, nor
    does the function later where it `is_read_after` the region. No loop is in another one.
    """
    users = users_by_name(statements).get(name, ())
    walked = _with_tests(name, users, statements)
    homes = [_innermost_home(name, user, walked) for user in users]
    inner = {
        home.position: home
        for home in homes
        if home is not None and any(_is_around(other, home) for other in homes)
        if not is_read_after or not _leaves(name, home.position, walked)
    }
    return tuple(
        home for home in inner.values() if not any(_is_around(o, home) for o in inner.values())
    )


def _innermost_home(name: str, user: NestStatement, walked: list[NestStatement]) -> Counted | None:
    """Return the innermost loop around a statement to whose iterations a scalar is private."""
    homes = (loop for loop in reversed(user.loops) if _is_home(name, loop.position, walked))
    return next(homes, None)


def _is_around(other: Counted | None, home: Counted) -> bool:
    """Return whether the loop `home` is in another one, or other uses are in no home at all."""
    if other is None:
        return True
    return other != home and home.position[: len(other.position)] == other.position


def _leaves(name: str, loop: tuple[int, ...], users: list[NestStatement]) -> bool:
    """Return whether a value that `loop` writes may be the scalar's after all statements."""
    after = _Walk(name, loop).body(users, (), _BEFORE)
    return any(origin is not ValueOrigin.OUTSIDE for origin, _ in after)


def _with_tests(
    name: str, users: Sequence[NestStatement], statements: tuple[NestStatement, ...]
) -> list[NestStatement]:
    """Return the users and every statement that changes what their conditions read."""
    tested = {
        read
        for user in users
        for reference in user.references
        if reference.name == name
        for condition in reference.conditions
        for read in names_read(condition)
    }
    by_name = users_by_name(statements)
    setting = (s for t in tested for s in by_name.get(t, ()) if s.references[-1].name == t)
    found = {s.position: s for s in (*users, *setting)}
    return [found[position] for position in sorted(found)]


def _is_home(name: str, loop: tuple[int, ...], users: list[NestStatement]) -> bool:
    """Return whether every read inside `loop` sees its own iteration, and none outside sees it."""
    walk = _Walk(name, loop)
    walk.body(users, (), _BEFORE)
    return all(
        origins <= {ValueOrigin.HERE} if inside else ValueOrigin.PAST not in origins
        for inside, origins in walk.found
    )


class _Walk:
    """Collects for each read of `name`, in or out of `loop`, where its value may come from."""

    def __init__(self, name: str, loop: tuple[int, ...]) -> None:
        self.name, self.loop = name, loop
        self.found: list[tuple[bool, frozenset[ValueOrigin]]] = []

    def body(self, users: list[NestStatement], place: tuple[int, ...], state: State) -> State:
        """Return the state after the body at `place`, given the one before it."""
        depth = len(place)
        children: dict[tuple[int, ...], list[NestStatement]] = {}
        for user in users:
            children.setdefault(user.position[: depth + 1], []).append(user)
        for child, inner in sorted(children.items()):
            if child == inner[0].position:
                state = self.statement(inner[0], state)
            else:
                state = self.iterations(inner, child, state)
        return state

    def iterations(self, inner: list[NestStatement], child: tuple[int, ...], state: State) -> State:
        """Return the state after a loop, which may run any number of times."""
        var = inner[0].loops[len(child) - 1].var
        state = _forget(state, {var})
        while True:
            after = _forget(self.body(inner, child, state), {var})
            if child == self.loop:
                past = {ValueOrigin.HERE: ValueOrigin.PAST}
                after = frozenset((past.get(origin, origin), paths) for origin, paths in after)
            new = frozenset(path for path in after if not _is_covered(path, state))
            if not new:
                return state
            state = _bounded(state | new)

    def statement(self, user: NestStatement, state: State) -> State:
        inside = user.position[: len(self.loop)] == self.loop
        for read in user.references:
            if read.name == self.name and not read.is_write:
                disjuncts = _disjuncts(read.conditions)
                seen = {
                    o
                    for o, paths in state
                    if any(_agree(paths, disjunct) for disjunct in disjuncts)
                }
                self.found.append((inside, frozenset(seen)))
        target = user.assign.target
        if isinstance(target, Var) and target.name == self.name:
            state = self.written(user, ValueOrigin.HERE if inside else ValueOrigin.OUTSIDE, state)
        return _forget(state, {user.references[-1].name})

    def written(self, user: NestStatement, origin: ValueOrigin, state: State) -> State:
        guard = user.assign.guard
        if guard is None:
            return frozenset({(origin, _ALWAYS)})
        new = {(origin, disjunct) for disjunct in _disjuncts((guard,))}
        for old, paths in state:
            for disjunct in _disjuncts((negated(guard),)):
                if _agree(paths, disjunct):
                    new.add((old, paths | disjunct))
        return _bounded(frozenset(new))


def _is_covered(path: tuple[ValueOrigin, Outcomes], state: State) -> bool:
    """Return whether `state` says as much already: the same origin under fewer outcomes."""
    return any(origin is path[0] and outcomes <= path[1] for origin, outcomes in state)


def _bounded(state: State) -> State:
    """Return `state`, with less said of its paths when there are too many."""
    if len(state) <= _MOST_PATHS:
        return state
    return frozenset((origin, _ALWAYS) for origin, _ in state)


def _forget(state: State, changed: set[str]) -> State:
    """Return `state` without the outcomes of tests that read what changed."""
    return frozenset(
        (origin, frozenset(t for t in paths if changed.isdisjoint(names_read(t[0]))))
        for origin, paths in state
    )


def _agree(paths: Outcomes, disjunct: Outcomes) -> bool:
    return not any((test, not outcome) in paths for test, outcome in disjunct)


def _disjuncts(conditions: Iterable[Expr]) -> tuple[Outcomes, ...]:
    """Return that all `conditions` hold in disjunctive normal form: outcomes of tests."""
    found: list[Outcomes] = [_ALWAYS]
    for condition in conditions:
        found = [
            a | b for a, b in itertools.product(found, _disjuncts_of(condition)) if _agree(a, b)
        ]
        if len(found) > _MOST_DISJUNCTS:
            return (_ALWAYS,)
    return tuple(found)


def _disjuncts_of(condition: Expr) -> tuple[Outcomes, ...]:
    match condition:
        case Int(value):
            return (_ALWAYS,) if value else ()
        case Binary("&&", left, right):
            return _disjuncts((left, right))
        case Binary("||", left, right):
            return (*_disjuncts((left,)), *_disjuncts((right,)))
        case Binary("==", inner, Int(0)) if negated(condition) == inner:
            match inner:
                case Binary("&&" | "||", _, _):
                    return _disjuncts((negated(inner),))
            return tuple(_flipped(disjunct) for disjunct in _disjuncts_of(inner))
        case Binary("!=", left, right):
            return (frozenset({(Binary("==", left, right), False)}),)
        case Var():
            # The stored outcome of a test: what it is not, `negated` compares with 0.
            return (frozenset({(Binary("==", condition, Int(0)), False)}),)
        case _:
            return (frozenset({(condition, True)}),)


def _flipped(disjunct: Outcomes) -> Outcomes:
    ((test, outcome),) = disjunct
    return frozenset({(test, not outcome)})


_KINDS = {
    (True, False): DependenceKind.FLOW,
    (False, True): DependenceKind.ANTI,
    (True, True): DependenceKind.OUTPUT,
}


@dataclass(frozen=True, slots=True)
class Carried:
    """A dependence and how it comes about.

    `source` and `sink` are its two references; `pieces` has, for the depth of each common
    loop that carries it, the part of the relation that it carries; depth -1 stands for pairs
    of one iteration of all common loops.
    """

    dependence: Dependence
    source: DataReference
    sink: DataReference
    pieces: Mapping[int, isl.Map]


def all_dependences(model: Model, lifetimes: Mapping[str, Lifetime]) -> tuple[Carried, ...]:
    """Return every dependence of `model`, those on private scalars within one iteration.

    A private variable is a new one in each iteration of the loop to which it is private,
    so that only pairs of one such iteration depend on each other.
    """
    # A pass that changes nothing leaves the next one the same question.
    known = _known_dependences(model)
    for earlier, found in known:
        if earlier == lifetimes:
            return found
    known.append((lifetimes, _all_dependences(model, lifetimes)))
    return known[-1][1]


@once_for_each(1 << 3)
def _known_dependences(model: Model) -> list[tuple[Mapping[str, Lifetime], tuple[Carried, ...]]]:
    """Return what dependences are known of a model, by the lifetimes of its variables."""
    return []


def _all_dependences(model: Model, lifetimes: Mapping[str, Lifetime]) -> tuple[Carried, ...]:
    found: list[Carried] = []
    meetings = _Meetings(model)
    for name, references in model.references.items():
        if not any(reference.is_write for reference in references):
            continue
        lifetime = lifetimes.get(name)
        ends = [_End.of(model, reference, meetings, lifetime) for reference in references]
        places = meetings.apart(ends)
        together: defaultdict[tuple[int | None, ...], list[_End]] = defaultdict(list)
        for end in ends:
            together[places[end.form]].append(end)
        for source in ends:
            for sink in together[places[source.form]]:
                if source.is_write or sink.is_write:
                    met = meetings.between(source, sink)
                    if met is not None:
                        found.append(_dependence_between(source, sink, met))
    return _with_doubts(model, lifetimes, found)


@dataclass(frozen=True, slots=True)
class _End:
    """A reference as one end of dependences, with what each of its pairs asks of it.

    References of one `form` touch the same elements in the same iterations, whatever their
    statements and arrays are called. `home` is the loop that owns a private variable. `operator` is
    that by which a statement accumulates into the reference, None where it does not, or does more.
    """

    reference: DataReference
    statement: NestStatement
    is_write: bool
    form: int
    home: tuple[int, ...] | None
    operator: str | None

    @classmethod
    def of(
        cls, model: Model, one: DataReference, meetings: _Meetings, lifetime: Lifetime | None
    ) -> _End:
        statement = model.statement(one.statement)
        assign = statement.assign
        is_target = one.access == assign.target and not one.unknown
        is_accumulation = is_target and not is_complex_product(model.region, assign)
        return cls(
            one,
            statement,
            one.is_write,
            meetings.form(one),
            None if lifetime is None else lifetime.home(statement.position),
            reduction_operator(assign) if is_accumulation else None,
        )


@dataclass(frozen=True, slots=True)
class _Met:
    """The pairs of instances of two references that touch one element, as `Carried` has them."""

    pairs: isl.Map
    pieces: Mapping[int, isl.Map]
    known: dict[object, Conflict | None]


@dataclass(frozen=True, slots=True)
class _IndexSpan:
    """The polynomials of sizes between which an index lies, and their values at known sizes."""

    low: Poly
    high: Poly
    first: int
    last: int

    @classmethod
    def of(cls, index: Poly, statement: NestStatement, model: Model) -> _IndexSpan | None:
        """Return the span of an index, None where loops or sizes leave it open."""
        low, opposite = least_value(index, statement), least_value(-index, statement)
        if low is None or opposite is None:
            return None
        high = -opposite
        first, last = low.at(model.values).constant, high.at(model.values).constant
        return None if first is None or last is None else cls(low, high, first, last)


# Ends of two neighbouring parts of a dimension that are compared, each with each.
_MOST_ENDS = 64


class _Meetings:
    """Where references meet: isl is asked once for all pairs of references that are alike.

    A body of many statements has few forms of references, ``a[i]`` and ``a[i - 1]``, and the
    square of its statements in pairs of them.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.forms: dict[str, int] = {}
        self.maps: list[isl.Map] = []
        # The indices of each form, where they are numbers, and between what they lie.
        self.places: list[tuple[int | None, ...]] = []
        self.spans: list[tuple[_IndexSpan | None, ...]] = []
        self.met: dict[tuple[object, ...], _Met | None] = {}
        # What orders are known of equal pairs: so have statements that differ in arrays alone.
        self.orders: dict[str, dict[object, Conflict | None]] = {}

    def form(self, reference: DataReference) -> int:
        """Return the number of all references that touch what this one does, when it does."""
        touched = self.model.maps[reference].set_tuple_name(isl.dim_type.in_, "S")
        touched = touched.set_tuple_name(isl.dim_type.out, "A")
        number = self.forms.setdefault(str(touched), len(self.maps))
        if number == len(self.maps):
            self.maps.append(touched)
            row = self.model.rows[reference]
            self.places.append(tuple(index.constant for index in row))
            statement = self.model.statement(reference.statement)
            known = not reference.unknown
            self.spans.append(
                tuple(_IndexSpan.of(i, statement, self.model) if known else None for i in row)
            )
        return number

    def apart(self, ends: Iterable[_End]) -> Mapping[int, tuple[int | None, ...]]:
        """Return for each form of an array's references what keeps it apart from other forms.

        That are its indices where those of all are numbers, and which of several parts of a
        dimension they lie in.
        """
        forms = list(dict.fromkeys(end.form for end in ends))
        columns = zip(*(self.places[form] for form in forms), strict=True)
        spans = zip(*(self.spans[form] for form in forms), strict=True)
        kept = [
            self._parts(own) if None in column else column
            for column, own in zip(columns, spans, strict=True)
        ]
        return {form: tuple(column[k] for column in kept) for k, form in enumerate(forms)}

    def _parts(self, spans: Sequence[_IndexSpan | None]) -> Sequence[int]:
        """Return for each form in which part of a dimension its indices lie, at all sizes.

        The parts follow one another at the sizes that are known. All have an index, so that it is
        enough to prove of each that it ends before the next one begins.
        """
        together = [0] * len(spans)
        found = [span for span in spans if span is not None]
        if len(found) < len(spans):
            return together
        order = sorted(range(len(found)), key=lambda k: found[k].first)
        parts: list[list[int]] = []
        last = 0
        for k in order:
            if not parts or found[k].first > last:
                parts.append([])
                last = found[k].last
            parts[-1].append(k)
            last = max(last, found[k].last)
        for one, other in pairwise(parts):
            highs = {found[k].high for k in one}
            lows = {found[k].low for k in other}
            if len(highs) * len(lows) > _MOST_ENDS:
                return together
            if not all(self._is_positive(low - high) for high in highs for low in lows):
                return together
            if not self._is_positive(found[one[0]].high - found[one[0]].low + ONE):
                return together
        return [place for _, place in sorted((k, n) for n, part in enumerate(parts) for k in part)]

    def _is_positive(self, poly: Poly) -> bool:
        """Return whether a polynomial of sizes is greater than 0 at all of them."""
        constant = poly.constant
        if constant is not None:
            return constant > 0
        where = negative(poly - ONE, self.model.space)
        return where is not None and bool(where.intersect(self.model.sizes).is_empty())

    def between(self, source: _End, sink: _End) -> _Met | None:
        """Return the pairs of `source` and a later instance of `sink`, None for none."""
        if source.home != sink.home:
            return None
        first, second = source.statement, sink.statement
        inside, common = len(source.home or ()), first.common_depth(second)
        is_before = first.position < second.position
        key = source.form, sink.form, inside, common, is_before
        if key not in self.met:
            self.met[key] = self._ask_isl(source.form, sink.form, (inside, common), is_before)
        return self.met[key]

    def _ask_isl(
        self, source: int, sink: int, depths: tuple[int, int], is_before: bool
    ) -> _Met | None:
        """Return where two forms meet inside the loops that both have, from one depth to another.

        With `is_before` also in one iteration of all these loops.
        """
        places = zip(self.places[source], self.places[sink], strict=True)
        if any(None not in (one, two) and one != two for one, two in places):
            return None  # as of ``u[i][j][0]`` and ``u[i][j - 1][1]``
        first, second = self.maps[source], self.maps[sink]
        conflicts = first.apply_range(second.reverse())
        if conflicts.is_empty():
            return None
        inside, common = depths
        sizes = first.dim(isl.dim_type.in_), second.dim(isl.dim_type.in_)
        pieces: dict[int, isl.Map] = {}
        for depth in range(inside, common):
            piece = conflicts.intersect(agreeing(*sizes, depth, f"i{depth} < j{depth}"))
            if not piece.is_empty():
                pieces[depth] = piece
        if is_before:
            piece = conflicts.intersect(agreeing(*sizes, common))
            if not piece.is_empty():
                pieces[-1] = piece
        if not pieces:
            return None
        pairs, *others = pieces.values()
        for piece in others:
            pairs = pairs.union(piece)
        return _Met(pairs, pieces, self.orders.setdefault(str(pairs), {}))


def _dependence_between(source: _End, sink: _End, met: _Met) -> Carried:
    """Return the dependence from one end to the other, whose instances meet."""
    one, other = source.reference, sink.reference
    dependence = Dependence(
        one.name,
        _KINDS[source.is_write, sink.is_write],
        one.statement,
        other.statement,
        met.pairs,
        source.operator is not None and source.operator == sink.operator,
        span=one.span,
        known=met.known,
    )
    return Carried(dependence, one, other, met.pieces)


def _with_doubts(
    model: Model, lifetimes: Mapping[str, Lifetime], found: Sequence[Carried]
) -> tuple[Carried, ...]:
    """Return dependences in which a reduction whose order may show is marked, or is none.

    Its loops then run again in order where it shows. They must find what they have read before.
    """
    groups = _reduction_groups(found)
    depths: dict[int, int] = {}
    for one in found:
        if one.dependence.is_reduction:
            least = min((depth for depth in one.pieces if depth >= 0), default=0)
            for number in (one.dependence.source, one.dependence.sink):
                depths[number] = min(depths.get(number, least), least)
    touching = _by_statement(found)
    known: dict[int, _KnownOrder] = {}
    for number, depth in depths.items():
        if number not in known:
            # What holds of one statement of a loop holds of all that are one reduction with it.
            loop = model.statement(number).position[: depth + 1]
            inside = {s.number: s for s in model.inside(loop)}
            members = frozenset(groups[number] & inside.keys())
            order = _known_order(model.region, lifetimes, touching, inside, members, depth)
            known |= dict.fromkeys((n for n in members if depths[n] == depth), order)
    return tuple(_with_order(one, known) if one.dependence.is_reduction else one for one in found)


def _by_statement(found: Iterable[Carried]) -> Mapping[int, Sequence[Carried]]:
    """Return the dependences that each statement is an end of."""
    touching: defaultdict[int, list[Carried]] = defaultdict(list)
    for one in found:
        for number in {one.dependence.source, one.dependence.sink}:
            touching[number].append(one)
    return touching


def _reduction_groups(found: Iterable[Carried]) -> Mapping[int, frozenset[int]]:
    """Return for each statement that accumulates all those that are one reduction with it."""
    groups: dict[int, frozenset[int]] = {}
    for one in found:
        if one.dependence.is_reduction:
            ends = one.dependence.source, one.dependence.sink
            own, other = (groups.get(n, frozenset({n})) for n in ends)
            both = own if own is other else own | other
            if ends[0] not in groups or own is not other:
                groups |= dict.fromkeys(both, both)
    return groups


@dataclass(frozen=True, slots=True)
class _KnownOrder:
    """Whether a statement stays a reduction, must keep its order, and may be computed again."""

    is_kept: bool
    is_ordered: bool
    may_run_again: bool


def _known_order(
    region: Region,
    lifetimes: Mapping[str, Lifetime],
    touching: Mapping[int, Sequence[Carried]],
    inside: Mapping[int, NestStatement],
    members: frozenset[int],
    depth: int,
) -> _KnownOrder:
    """Return what the order of terms means for the statements `members` of a reduction.

    `inside` are all statements of the loop at `depth`, `touching` each statement's dependences.
    """
    assigns = [inside[n].assign for n in sorted(members)]
    doubted = doubts(region, assigns)
    leaves = any(may_leave_range(region, a) for a in assigns)
    rounds = any(rounds_to_integer(region, a) for a in assigns)
    again = _may_run_again(lifetimes, touching, members, inside, depth)
    shows = leaves or any(one.may_show for one in doubted)
    is_ordered = leaves or rounds or any(one.is_ordered for one in doubted)
    return _KnownOrder(again or not shows, is_ordered, again)


def _with_order(one: Carried, known: Mapping[int, _KnownOrder]) -> Carried:
    """Return a reduction with what is known of the order of its two statements."""
    old = one.dependence
    source, sink = known[old.source], known[old.sink]
    new = Dependence(
        old.array,
        old.kind,
        old.source,
        old.sink,
        old.pairs,
        source.is_kept and sink.is_kept,
        source.is_ordered or sink.is_ordered,
        source.may_run_again and sink.may_run_again,
        old.span,
        old.known,
    )
    return Carried(new, one.source, one.sink, one.pieces)


def _may_run_again(
    lifetimes: Mapping[str, Lifetime],
    touching: Mapping[int, Sequence[Carried]],
    members: frozenset[int],
    inside: Mapping[int, NestStatement],
    depth: int,
) -> bool:
    """Return whether the loop at `depth` may compute the statements `members` a second time.

    The scalars that they need are those of one iteration, and what they read is not written later.
    `inside` are all statements of the loop, `touching` each statement's dependences.
    """
    assigns = [s.assign for s in inside.values()]
    again = frozenset[int]().union(*(needed(assigns, inside[n].assign) for n in members))
    for other in again - members:
        target = inside[other].assign.target
        life = lifetimes.get(place_name(target))
        if life is None or len(life.home(inside[other].position)) <= depth:
            return False
    for one in (one for number in again for one in touching.get(number, ())):
        dependence = one.dependence
        if dependence.is_reduction and {dependence.source, dependence.sink} <= members:
            continue
        life = lifetimes.get(dependence.array)
        if life is not None and not life.is_array:
            continue
        if life is not None:
            return False
        is_within = dependence.source in again and dependence.sink in inside
        is_here = any(at == -1 or at >= depth for at in one.pieces)
        if dependence.kind is DependenceKind.ANTI and is_within and is_here:
            return False
    return True


def constant_distance(pairs: isl.Map, source_dim: int, sink_dim: int) -> int | None:
    """Return sink minus source on the given dimensions, None when it varies."""
    value = _distances(pairs, source_dim, sink_dim).plain_get_val_if_fixed(isl.dim_type.set, 0)
    return int(value.to_python()) if value.is_int() else None


def shortest_distance(pairs: isl.Map, source_dim: int, sink_dim: int) -> int | None:
    """Return the least distance between sink and source that is not 0, at any sizes."""
    steps = _distances(pairs, source_dim, sink_dim)
    steps = steps.project_out(isl.dim_type.param, 0, steps.dim(isl.dim_type.param))
    away = isl.Set("{ d[x] : x > 0 }")
    value = steps.union(steps.neg()).intersect(away).dim_min_val(0)
    return int(value.to_python()) if value.is_int() else None


def _distances(pairs: isl.Map, source_dim: int, sink_dim: int) -> isl.Set:
    for kind, dim in ((isl.dim_type.in_, source_dim), (isl.dim_type.out, sink_dim)):
        pairs = pairs.project_out(kind, dim + 1, pairs.dim(kind) - dim - 1)
        pairs = pairs.project_out(kind, 0, dim).set_tuple_name(kind, "d")
    return pairs.deltas()


def flows_into(dependences: Iterable[Carried]) -> Mapping[int, Sequence[Carried]]:
    """Return for each statement the flow dependences that end there."""
    found: dict[int, list[Carried]] = {}
    for one in dependences:
        if one.dependence.kind is DependenceKind.FLOW:
            found.setdefault(one.dependence.sink, []).append(one)
    return found


def sees_writes(
    read: DataReference,
    model: Model,
    flows: Mapping[int, Sequence[Carried]],
    counts: Callable[[Carried, int], bool] = lambda _, __: True,
) -> bool:
    """Return whether each instance of `read` has an earlier one that surely wrote the element.

    `counts` says of a dependence on a write which of its pieces do. Where memory decides which
    element is meant, nothing is sure.
    """
    if read.unknown:
        return False
    instances = model.instances(read).set_tuple_name("S")
    seen = isl.Set.empty(instances.get_space())
    for one in flows.get(read.statement, ()):
        if one.sink != read or one.source.unknown:
            continue
        wrote = model.surely(one.dependence.source).set_tuple_name("S")
        for depth, piece in one.pieces.items():
            if counts(one, depth):
                seen = seen.union(piece.intersect_domain(wrote).range())
    return bool(instances.is_subset(seen))


def array_use(
    name: str,
    exact: tuple[Poly, Poly] | None,
    model: Model,
    flows: Mapping[int, Sequence[Carried]],
) -> ArrayUse:
    """Return how the region uses an array of which each call touches the same part.

    `exact` are the first element and the length of that, None where calls differ.
    """
    references = model.references[name]
    is_read = any(not reference.is_write for reference in references)
    is_written = any(reference.is_write for reference in references)
    starts_new = is_written and all(r.is_write or sees_writes(r, model, flows) for r in references)
    overwritten = starts_new and _writes_cover(name, exact, model)
    return ArrayUse(name, is_read, is_written, overwritten, starts_new)


def _writes_cover(name: str, found: tuple[Poly, Poly] | None, model: Model) -> bool:
    """Return whether every element of `found`, what each call touches, is written.

    That must be whole rows of the layout: a box of indices, all of them written.
    """
    values = model.space.values
    layout = model.layouts[name]
    if not layout.extents:
        return any(model.surely_runs(r.statement) for r in model.references[name] if r.is_write)
    inner = [extent for extent in layout.extents[1:] if extent is not None]
    if len(inner) != len(layout.extents) - 1:
        return False
    if found is None:
        return False
    lowest, length = found
    row = product(inner)
    begin = lowest - layout.offset
    first, rest = begin.divide(row) if not row.is_zero else (ZERO, ONE)
    count, more = length.divide(row)
    if not rest.at(values).is_zero or not more.at(values).is_zero:
        return False
    written: isl.Set | None = None
    for reference in model.references[name]:
        if reference.is_write and not reference.unknown:
            wrote = model.surely(reference.statement)
            image = model.maps[reference].intersect_domain(wrote).range()
            # Of many strides isl would try each against each.
            written = image if written is None else written.union(image).coalesce()
    if written is None:
        return False
    section = model.box([(first, first + count), *((ZERO, extent) for extent in inner)])
    return bool(section.is_subset(written))


def read_after_write(dependences: Iterable[Carried]) -> frozenset[tuple[int, Access]]:
    """Return the reads, with their statements, of what the region may have written before."""
    flow = (c.sink for c in dependences if c.dependence.kind is DependenceKind.FLOW)
    return frozenset((r.statement, r.access) for r in flow if isinstance(r.access, Access))


def classify(
    model: Model, dependences: Sequence[Carried], lifetimes: Mapping[str, Lifetime]
) -> tuple[LoopFacts, ...]:
    """Return the facts of every loop, in text order."""
    return tuple(_facts(model, loop, dependences, lifetimes) for loop in loops_of(model.statements))


def _facts(
    model: Model,
    loop: Counted,
    dependences: Sequence[Carried],
    lifetimes: Mapping[str, Lifetime],
) -> LoopFacts:
    depth = len(loop.position) - 1
    inside = model.inside(loop.position)
    numbers = {statement.number for statement in inside}
    carried = [d for d in dependences if depth in d.pieces and d.dependence.source in numbers]
    lives = [life for life in lifetimes.values() if life.is_private_to(loop.position)]
    private = tuple(life.name for life in lives if not life.is_array)
    against = [d for d in carried if not d.dependence.is_reduction]
    if against:
        kind = LoopKind.SERIAL
        proof = _why_serial(min(against, key=_interest), loop.var, depth)
    elif carried:
        kind = LoopKind.REDUCTION
        targets = dict.fromkeys(d.dependence.array for d in carried)
        verb = "is" if len(targets) == 1 else "are"
        proof = f"{listed(list(targets))} {verb} accumulated over {loop.var}"
    else:
        kind = LoopKind.PARALLEL
        proof = _why_parallel(loop.var, inside, tuple(life.name for life in lives))
    if not model.all_sizes:
        proof += " (at these sizes)"
    path = inside[0].iterators[: depth + 1]
    return LoopFacts(loop.loop, path, kind, private, proof, tuple(d.dependence for d in carried))


def _interest(carried: Carried) -> int:
    """Rank what best explains a serial loop: a value that travels, then an order of writes."""
    return list(DependenceKind).index(carried.dependence.kind)


def _why_serial(carried: Carried, var: str, depth: int) -> str:
    """Return such as ``a[i] is written at i and read as a[i - 1] at i+1 (distance 1)``."""
    first, then = {
        DependenceKind.FLOW: ("written", "read"),
        DependenceKind.ANTI: ("read", "written"),
        DependenceKind.OUTPUT: ("written", "written again"),
    }[carried.dependence.kind]
    source, sink = print_expr(carried.source.access), print_expr(carried.sink.access)
    name = "" if source == sink else f" as {sink}"
    distance = constant_distance(carried.pieces[depth], depth, depth)
    if distance is None:
        return f"{source} is {first} in one iteration of {var} and {then}{name} in a later one"
    later = f"{var}+{distance} (distance {distance})"
    return f"{source} is {first} at {var} and {then}{name} at {later}"


def _why_parallel(var: str, inside: Sequence[NestStatement], private: tuple[str, ...]) -> str:
    references = [r for statement in inside for r in statement.references]
    written = dict.fromkeys(r.name for r in references if r.is_write and r.name not in private)
    # Where iterations may read one element together, only its writing is exclusive.
    targets = {statement.assign.target for statement in inside}
    shared = any(r.name in written and r.access not in targets for r in references)
    names = listed(list(written), "or")
    own = listed(list(private))
    proof = f"each iteration of {var} has its own {own}" if own else ""
    if not names:
        return proof
    joined = f"{proof}, and " if proof else ""
    if shared:
        return f"{joined}no iteration of {var} touches an element of {names} that another writes"
    return f"{joined}no two iterations of {var} touch the same element of {names}"
