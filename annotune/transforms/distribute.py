"""Which statements share loops: taken apart into nests of their own, or fused.

Scalars that pass between statements are expanded to arrays before these are taken apart, and arrays
that only pass between statements of one iteration become scalars.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import ClassVar

from annotune.analysis.facts import Analysis
from annotune.annotation.commands import Kind
from annotune.diagnostics import NOWHERE, Diagnostic, Span
from annotune.frozen import dataclass
from annotune.ir.expr import Access, Var, accesses
from annotune.ir.nest import Assign, Level, Local, LocalArray, Loop, Stmt, walk_stmts
from annotune.transforms.legality import (
    Changed,
    missing,
    order_refusal,
    serial_refusal,
    split_nests,
)
from annotune.transforms.messages import (
    LOOPS_DIFFER,
    NO_ARRAY,
    NOT_PRIVATE,
    NOT_SCALAR,
    REVERSES_DEPENDENCE,
    SETS_BOUNDS,
)
from annotune.transforms.transform import (
    CHILL,
    NESTS,
    THESIS,
    Context,
    Described,
    OnStatement,
    PhaseRank,
    StepPhase,
    Subject,
    Word,
    takes,
)
from annotune.transforms.tree import (
    Body,
    band_with,
    bound_names,
    exchanged,
    find_assign,
    fresh_name,
    full_length,
    is_declaration,
    named_loop,
    names_in,
    numbers,
    path,
    replace_loop,
    restrict,
    same_bounds,
    target_name,
    top_of,
    turn,
    used_names,
)


@dataclass(frozen=True, slots=True)
class Distribute(Described):
    """Give each group of statements its own copy of the loops around it.

    ``Distribute(((0,), (1,)))``: ``for i: S0; S1`` becomes ``for i: S0`` then ``for i: S1``.
    A statement that no group names stays with the group before it.

    With `loop`, one around the first statement named, the loops from there inwards get copies and
    those around it stay: ``Distribute(((0,), (1,)), loop="j")``: ``for i: for j: S0; S1`` becomes
    ``for i: (for j: S0) (for j: S1)``.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.SHAPING, 0)
    is_decided: ClassVar[bool] = True
    word: ClassVar[Word] = Word(
        "distribute",
        "give each of the statements loops of its own",
        "distribute(0,1)",
        CHILL,
    )
    groups: tuple[tuple[int, ...], ...] = takes(Kind.GROUP, name="statements", repeated=1)
    loop: str = takes(Kind.LOOP, "", by_name=True, exact=True)
    span: Span = field(default=NOWHERE, compare=False)

    @property
    def awaited(self) -> tuple[str, ...]:
        """Return that there are other nests after it."""
        return (NESTS,)

    def comes_late(self, awaited: Collection[str]) -> bool:
        """Return whether steps change which nests there are: it stays where it is among these."""
        return NESTS in awaited

    @property
    def statements(self) -> tuple[int, ...]:
        """Return all statements that are named."""
        return tuple(number for group in self.groups for number in group)

    @property
    def statement(self) -> int:
        """Return the first of the statements."""
        return self.groups[0][0]

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the groups may not be taken apart, or None when they may."""
        for statement in self.statements:
            if absent := missing(body, statement, (), self.span):
                return absent
        if self.loop and (absent := missing(body, self.statement, (self.loop,), self.span)):
            return absent
        help_, apart = "leave the two statements in one nest", self.apply(body, context)
        if parted := _parted(body, apart):
            loop, name = parted
            text = f"{name} belongs to one iteration of {loop}, whose statements are taken apart"
            return REVERSES_DEPENDENCE.at(
                self.span, command="distribute", loop=loop, array=name, text=text, help=help_
            )
        # Parts of one nest stand where that stood: nothing changes between two nests.
        changed = split_nests(body, apart, context)
        return order_refusal("distribute", changed, context, self.span, help_)

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with one nest per group, in the order of their first statements."""
        owner = {n: k for k, group in enumerate(self.groups) for n in group}
        if not self.loop:
            return tuple(part for stmt in body for part in _parts(stmt, owner))
        whole = named_loop(body, self.statement, self.loop)
        return replace_loop(body, whole, _parts(whole, owner))


def _parts(stmt: Stmt, owner: Mapping[int, int]) -> Body:
    """Return a statement once for each group that it has something of."""
    parts = (restrict(stmt, group) for group in _complete(owner, numbers(stmt)))
    return tuple(part for part in parts if part is not None)


def _complete(owner: Mapping[int, int], inside: frozenset[int]) -> tuple[frozenset[int], ...]:
    """Return the groups cut to the statements `inside` one nest, all of which they cover.

    `owner` has the group of each statement that one names.
    """
    parts: dict[int, set[int]] = {}
    current = -1
    for number in sorted(inside):
        current = owner.get(number, current)
        parts.setdefault(current, set()).add(number)
    return tuple(frozenset(p) for p in sorted(parts.values(), key=min))


def _parted(body: Body, apart: Body) -> tuple[str, str] | None:
    """Return a loop and its scalar that statements set for each other, where each has its own now.

    Those that a loop computes anew from others, ``int i = m / n;``, may be there twice.
    """
    before, after = (
        [
            (loop.var, stmt.name)
            for loop in walk_stmts(whole)
            if isinstance(loop, Loop)
            for stmt in loop.body
            if isinstance(stmt, Local) and stmt.value is None
        ]
        for whole in (body, apart)
    )
    return next((one for one in after if after.count(one) > before.count(one)), None)


@dataclass(frozen=True, slots=True)
class Fuse(Described):
    """Merge the nests of several statements, as many loops deep as they agree.

    ``Fuse((0, 1))``: ``for i: S0`` and ``for i: S1`` become ``for i: S0; S1``. Loops agree
    when name, bounds and step do, once the sizes that are fixed are put in.

    With `loop` the nests share no loop inside that one, but all down to it: ``Fuse((0, 1),
    loop="i")``: ``for i: for k: S0`` and ``for i: for k: S1`` become ``for i: (for k: S0) (for k:
    S1)``, as sums need it that are over other loops, or kept in registers one after the other, and
    what an iteration of ``i`` hands from one nest to the next.

    The nest stands where the first of them stood, with `late` where the last did: so what they read
    may be written by nests between them.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.SHAPING, 4)
    is_decided: ClassVar[bool] = True
    word: ClassVar[Word] = Word(
        "fuse",
        "run the statements in the same loops",
        "fuse(0,1)",
        THESIS,
        kept=False,
    )
    statements: tuple[int, ...] = takes(Kind.STATEMENT, repeated=2)
    loop: str = takes(Kind.LOOP, "", by_name=True)
    late: bool = takes(Kind.FLAG, False, by_name=True, exact=True)
    span: Span = field(default=NOWHERE, compare=False)

    @property
    def awaited(self) -> tuple[str, ...]:
        """Return other nests where they are one down to some loop, or where the last one stood."""
        return (NESTS,) if self.loop or self.late else ()

    def comes_late(self, awaited: Collection[str]) -> bool:
        """Return whether the step stays where it is given among others that change nests."""
        return bool(self.awaited)

    @property
    def statement(self) -> int:
        """Return the first of the statements."""
        return self.statements[0]

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the nests may not be merged, or None when they may."""
        for statement in self.statements:
            if absent := missing(body, statement, (self.loop,) if self.loop else (), self.span):
                return absent
        tops = [body[k] for k in self._places(body)]
        first = tops[0]
        for statement, top in zip(self.statements[1:], tops[1:], strict=False):
            if (
                not isinstance(first, Loop)
                or not isinstance(top, Loop)
                or first.var != top.var
                or not same_bounds(first, top, context.folded)
            ):
                return LOOPS_DIFFER.at(
                    self.span,
                    first=self.statements[0],
                    second=statement,
                    what="outer loop",
                    first_loop=first.var if isinstance(first, Loop) else "none",
                    second_loop=top.var if isinstance(top, Loop) else "none",
                )
        if self.loop and (refusal := self._why_not_down_to(body, context)):
            return refusal
        return order_refusal(
            "fuse",
            self._passed(body, context),
            context,
            self.span,
            "leave the statements in their own nests",
        )

    def _passed(self, body: Body, context: Context) -> Changed:
        """Return what of the fused region has to be asked: the nests from the first to the last.

        Of these the statements that come from another nest than the one that keeps its place; all
        of the region where variables of iterations may pass from one nest to another.
        """
        whole, places = self.apply(body, context), self._places(body)
        if context.analysis.homes:
            return Changed(whole)
        moved = (numbers(body[place]) for place in places if place != self._kept(places))
        nests = whole[min(places) : max(places) + 2 - len(places)]
        return Changed(nests, frozenset[int]().union(*moved))

    def _why_not_down_to(self, body: Body, context: Context) -> Diagnostic | None:
        """Return why the nests may not share all loops down to the one that is named, or None."""
        for statement in self.statements:
            if absent := missing(body, statement, (self.loop,), self.span):
                return absent
        whole = self.apply(body, context)
        shared = named_loop(whole, self.statement, self.loop)
        apart = next((s for s in self.statements if s not in numbers(shared)), None)
        if apart is None:
            return None
        return LOOPS_DIFFER.at(
            self.span,
            first=self.statement,
            second=apart,
            what=f"outer loops down to '{self.loop}'",
            first_loop=self.loop,
            second_loop=self.loop,
        )

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the nests merged where the first, or the last, of them stands."""
        places = self._places(body)
        loops = [body[place] for place in places]
        merged = loops[0]
        if len(loops) > 1:
            merged = _merge_loops([x for x in loops if isinstance(x, Loop)], self.loop, context)
        kept = self._kept(places)
        out = list(body)
        out[kept] = merged
        for place in sorted(set(places) - {kept}, reverse=True):
            del out[place]
        return tuple(out)

    def _kept(self, places: Sequence[int]) -> int:
        """Return the place of the nest that the others join."""
        return max(places) if self.late else places[0]

    def _places(self, body: Body) -> tuple[int, ...]:
        return tuple(dict.fromkeys(top_of(body, statement) for statement in self.statements))


def _merge_loops(loops: Sequence[Loop], innermost: str, context: Context) -> Loop:
    """Return the loops as one; inner loops merge where the last and first agree.

    None does inside the loop `innermost`.
    """
    first, *others = loops
    body = [*first.body]
    while others:
        inner = [] if first.var == innermost else [*_alike_inside(body, others, context)]
        if inner:
            body = [_merge_loops(inner, innermost, context)]
            others = others[len(inner) - 1 :]
            continue
        # Both nests may have brought the declaration of one variable.
        second = others.pop(0).body
        body += [stmt for stmt in second if not (is_declaration(stmt) and stmt in body)]
    return replace(first, body=tuple(body))


def _alike_inside(body: Sequence[Stmt], others: Sequence[Loop], context: Context) -> Iterator[Loop]:
    """Yield the loop that is all of `body`, and those that are all of the next of the others.

    Nothing where these do not begin with one of the same bounds.
    """
    last = body[0]
    if len(body) > 1 or not isinstance(last, Loop):
        return
    for number, other in enumerate(others):
        head = other.body[0]
        is_alike = len(other.body) == 1 and isinstance(head, Loop) and head.var == last.var
        if not isinstance(head, Loop) or not is_alike:
            return
        if not same_bounds(last, head, context.folded):
            return
        if not number:
            yield last
        yield head


@dataclass(frozen=True, slots=True)
class Expand(OnStatement):
    """Make the private `scalar` of `statement` a local array with an index for each of `loops`.

    ``Expand(0, "s", ("i",))``: ``for i in i_t:i_t+4: (s = 0; for k: s += a[i][k]; c[i] = s)``
    becomes ``double s_block[4]``, ``for i: (s_block[i - i_t] = 0; for k: s_block[i - i_t] +=
    a[i][k]; c[i] = s_block[i - i_t])``. The loops, outermost first, follow each other in a perfect
    nest, and the last of them owns the scalar. They run a number of iterations that is known:
    tiles, or loops whose count fixed sizes tell.

    The order stays, so nothing can break. What it is for is ``Distribute(groups, loop="i")``,
    which now may take the statements apart, and then an order for each: with the sum's loop
    outside the loops that pick its elements, the array is a register block. All of `loops` run in
    one worker, on a core or in a thread of a GPU: expand after tiling and permuting, before
    mapping.

    Source: Allen and Kennedy, "Optimizing Compilers for Modern Architectures", 2001, section 5.3.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.SHAPING, 1)
    is_decided: ClassVar[bool] = True
    word: ClassVar[Word] = Word(
        "expand",
        "give a private scalar an element for each iteration of the loops",
        'expand(0, "s", ("i","j"))',
        "Allen and Kennedy 2001, 5.3",
        exact=True,
        names=Subject.ARRAY,
    )
    scalar: str = takes(Kind.NAME)
    loops: tuple[str, ...] = takes(Kind.LOOPS)

    @property
    def awaited(self) -> tuple[str, ...]:
        """Return that there are other nests after it."""
        return (NESTS,)

    def comes_late(self, awaited: Collection[str]) -> bool:
        """Return whether steps change which nests there are: it stays where it is among these."""
        return NESTS in awaited

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the scalar cannot become an array, or None when it can."""
        if absent := missing(body, self.statement, self.loops, self.span):
            return absent
        if not self._is_private(body, context.analysis):
            return NOT_PRIVATE.at(
                self.span,
                scalar=self.scalar,
                loop=self.loops[-1],
                loops=", ".join(self.loops),
                statement=self.statement,
            )
        band = self._band(body)
        inside = [stmt for stmt in walk_stmts((band[0],)) if isinstance(stmt, Loop)]
        placed = next((x for x in inside if x.place is not Level.SERIAL), None)
        if placed is not None:
            return serial_refusal("expand", body, self.statement, placed, self.span)
        for inner in band:
            is_known = full_length(inner, context.sizes) is not None
            if not is_known or bound_names(inner) & set(self.loops):
                return NO_ARRAY.at(
                    self.span, scalar=self.scalar, inner=inner.var, loop=self.loops[0]
                )
        counted = next((x for x in inside if self.scalar in bound_names(x)), None)
        if counted is not None:
            return SETS_BOUNDS.at(self.span, scalar=self.scalar, loop=counted.var)
        return None

    def _is_private(self, body: Body, analysis: Analysis) -> bool:
        """Return whether the loops are one perfect nest, and the scalar lives in the last."""
        users = analysis.homes.get(self.scalar, {})
        home = users.get(self.statement)
        if home is None or self.scalar not in analysis.region.scalars:
            return False
        if analysis.paths[self.statement][len(home) - 1].var != self.loops[-1]:
            return False
        band = self._band(body)
        if not band_with(body, self.statement, self.loops):
            return False
        if self.loops != tuple(x.var for x in band):
            return False
        own = [number for number, where in users.items() if where == home]
        if not set(own) <= numbers(band[-1]):
            return False
        uses = (find_assign(body, number) for number in own)
        return all(Var(self.scalar) in (use.target, *use.reads()) for use in uses)

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the array in place of the scalar, which `why_not` has accepted."""
        band = self._band(body)
        name = fresh_name(f"{self.scalar}_block", body, context.names)
        place = Access(name, tuple(turn(x) for x in band))
        lengths = (full_length(x, context.sizes) for x in band)
        extents = tuple(length for length in lengths if length is not None)

        inside = exchanged((band[0],), {Var(self.scalar): place})
        array = LocalArray(name, context.types[self.scalar], extents, stands_for=self.scalar)
        return replace_loop(body, band[0], (array, *inside))

    def _band(self, body: Body) -> tuple[Loop, ...]:
        """Return the loops around the statement from the first of `loops` to the last."""
        around = path(body, self.statement)
        names = [x.var for x in around]
        return around[names.index(self.loops[0]) : names.index(self.loops[-1]) + 1]


@dataclass(frozen=True, slots=True)
class Scalarize(OnStatement):
    """Have a scalar in place of an `array` whose elements live in one iteration of a loop.

    ``Scalarize(0, "t")``: ``for i: (t[i] = a[i]; t[i] += b[i]; c[i] += t[i])`` becomes ``for i:
    (double t_own; t_own = a[i]; t_own += b[i]; c[i] += t_own)``. All that touches the array stands
    in the innermost loop around `statement`, uses the same element, and sets it first; nobody reads
    the array afterwards (`Analysis.stays_on_device`). The order stays, so nothing can break. It is
    what `Fuse` brings together that can be so, and undoes what `Expand` does.

    Source: V. Sarkar and G. Gao, "Optimization of array accesses by collective loop
    transformations", ICS 1991, doi:10.1145/109025.109077 (array contraction).
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.SHAPING, 5)
    is_decided: ClassVar[bool] = True
    word: ClassVar[Word] = Word(
        "scalarize",
        "have a scalar in place of an array whose elements live in one iteration",
        'scalarize(0, "t")',
        "Sarkar and Gao 1991",
        exact=True,
        names=Subject.ARRAY,
    )
    array: str = takes(Kind.NAME)

    def comes_late(self, awaited: Collection[str]) -> bool:
        """Return whether steps change which nests there are: it stays where it is among these."""
        return NESTS in awaited

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the array must be in memory, or None where a scalar does."""
        if absent := missing(body, self.statement, (), self.span):
            return absent
        why = self._why_kept(body, context)
        return NOT_SCALAR.at(self.span, array=self.array, why=why) if why else None

    def _why_kept(self, body: Body, context: Context) -> str:
        """Return in words why the array must be in memory, empty where a scalar does."""
        around = path(body, self.statement)
        users = [stmt for stmt in walk_stmts(body) if self.array in used_names(stmt)]
        if not around or not users:
            return "no loop around the statement uses it"
        if not context.analysis.stays_on_device(self.array):
            return "its elements are read after the region, or before they are written"
        assigns = [stmt for stmt in around[-1].body if isinstance(stmt, Assign)]
        if not all(any(stmt is one for one in assigns) for stmt in users):
            return f"it is used outside the loop '{around[-1].var}' as well"
        own = [one for one in assigns if self.array in used_names(one)]
        places = {a for one in own for a in _elements(one) if a.array == self.array}
        if len(places) > 1:
            return "its statements use several elements in one iteration"
        if any(names_in(place) & {*map(target_name, assigns)} for place in places):
            return "what its element is picked by changes within an iteration"
        first = own[0]
        is_set = first.op == "=" and first.guard is None and first.target in places
        if not is_set or places & {*first.reads()}:
            return f"statement {first.number} does not set the element before all others use it"
        return ""

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the scalar in place of the element, which `why_not` has accepted."""
        around = path(body, self.statement)[-1]
        assigns = [stmt for stmt in around.body if isinstance(stmt, Assign)]
        place = next(a for one in assigns for a in _elements(one) if a.array == self.array)
        name = fresh_name(f"{self.array}_own", body, context.names)
        inside = exchanged(around.body, {place: Var(name)})
        own = Local(name, context.types[self.array])
        return replace_loop(body, around, (replace(around, body=(own, *inside)),))


def _elements(assign: Assign) -> Iterator[Access]:
    """Yield the elements of arrays that an assignment touches, also those that it reads an index
    from."""
    for place in (assign.target, *assign.reads()):
        yield from accesses(place)
