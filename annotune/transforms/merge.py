"""Merge loops: run several nested ones as one, and work out once at which iterations it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from math import prod
from typing import ClassVar

from annotune.annotation.commands import Kind
from annotune.diagnostics import Diagnostic
from annotune.frozen import dataclass
from annotune.ir.c_types import is_unsigned_type
from annotune.ir.expr import Access, Binary, Expr, Int, Var, rewrite, substitute
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import (
    COPY_LEVELS,
    Level,
    Local,
    Loop,
    MergedLoop,
    Stmt,
    rewritten,
    walk_stmts,
)
from annotune.ir.poly import ZERO, from_expr, integer
from annotune.transforms.legality import changed_nest, missing, order_refusal
from annotune.transforms.messages import NOT_DECODED, NOT_MERGED, NOT_ONE_BAND
from annotune.transforms.tile import tile_name
from annotune.transforms.transform import (
    TALK,
    Context,
    Feature,
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
    declared_name,
    fresh_name,
    mapped,
    named_loop,
    nest_loops,
    numbers,
    path,
    replace_loop,
    top_of,
)

# The largest number that every C compiler here can count to in an int.
INT_MAX = 2**31 - 1

# Of arrays that lie flat in memory, the extents of their dimensions, outermost first.
Extents = Mapping[str, Sequence[Expr | None]]


@dataclass(frozen=True, slots=True)
class Merge(OnStatement):
    """Run nested loops around `statement` as one loop over all their iterations, in their order.

    ``Merge(0, ("i", "j"))``: ``for i in 0:4: for j in 0:6: c[6*i + j] += a[j]`` becomes
    ``for ij in 0:24: c[ij] += a[ij % 6]``. An element that lies where the iterations count it
    is found without i and j; elsewhere they are ``ij / 6`` and ``ij % 6``. Loops of one perfect
    nest are first put next to each other in the order given, at the place of the innermost.
    Fixed sizes give each loop its number of iterations. Arrays lie flat in memory: an element may
    have one index for all dimensions.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.SHAPING, 2)
    feature: ClassVar[str | None] = Feature.BLOCK_THREADS
    is_decided: ClassVar[bool] = True
    word: ClassVar[Word] = Word(
        "merge",
        "run nested loops as one that is called by their names together, outermost first",
        'merge(0, ("h2","h3"))',
        TALK,
        names=Subject.LOOP,
    )
    loops: tuple[str, ...] = takes(Kind.LOOPS)

    @property
    def joined_loops(self) -> tuple[str, ...]:
        """Return the loops, outermost first."""
        return self.loops

    @property
    def made_loops(self) -> tuple[str, ...]:
        """Return the one loop, and that over tiles of it."""
        return (merged_name(self.loops), tile_name(merged_name(self.loops)))

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason the loops cannot be one, or None. Their order does not change."""
        if absent := missing(body, self.statement, self.loops, self.span):
            return absent
        around = path(body, self.statement)
        listed = ", ".join(self.loops)
        if band_with(body, self.statement, self.loops) is None:
            return NOT_ONE_BAND.at(
                self.span, command="merge", loops=listed, statement=self.statement
            )
        if len(set(self.loops)) < max(2, len(self.loops)):
            reason = "is named alone, or twice"
            return NOT_MERGED.at(self.span, loop=self.loops[0], reason=reason)
        band = self._band(body)
        for loop in band:
            reason = self._reason(loop, around, context)
            if reason:
                return NOT_MERGED.at(self.span, loop=loop.var, reason=reason)
        if prod(_counts(band, context)) > INT_MAX:
            reason = "runs too often for an int together with the others"
            return NOT_MERGED.at(self.span, loop=band[0].var, reason=reason)
        name = merged_name(self.loops)
        nest = body[top_of(body, self.statement)]
        if name in context.names or fresh_name(name, _apart(nest, self.loops, around)) != name:
            reason = f"cannot be called '{name}' with the others, a name that is used already"
            return NOT_MERGED.at(self.span, loop=band[0].var, reason=reason)
        advice = f"the text's order is ({', '.join(x.var for x in around)})"
        gathered = changed_nest(body, self._gathered(body), self.statement, context)
        return order_refusal("merge", gathered, context, self.span, advice)

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the loops as one, which `why_not` has accepted."""
        body = self._gathered(body)
        band = self._band(body)
        counts = _counts(band, context)
        strides = [prod(counts[k + 1 :]) for k in range(len(band))]
        parts = tuple(
            self._part(body, loop, stride, context)
            for loop, stride in zip(band, strides, strict=True)
        )
        index = _Index(merged_name(self.loops), parts, context)
        merged = Loop(
            index.name,
            Int(0),
            Int(prod(counts)),
            rewritten(band[-1].body, index.change),
            merges=parts,
            span=band[0].span,
        )
        return replace_loop(body, band[0], (merged,))

    def _part(self, body: Body, loop: Loop, stride: int, context: Context) -> MergedLoop:
        """Return what a loop is as a part of the merged one."""
        part = MergedLoop(loop.var, _number(loop.lower, context), stride)
        if not loop.deal_of:
            return part
        dealt = named_loop(body, self.statement, loop.deal_of)
        first = fold(substitute(dealt.lower, {loop.var: Int(0)}), context.sizes)
        assert isinstance(first, Int)
        return replace(part, deal_of=loop.deal_of, workers=dealt.step, first=first.value)

    def _band(self, body: Body) -> tuple[Loop, ...]:
        """Return the loops to merge, in the order in which they are named."""
        by_name = {x.var: x for x in path(body, self.statement)}
        return tuple(by_name[name] for name in self.loops)

    def _gathered(self, body: Body) -> Body:
        """Return `body` with the loops next to each other, at the place of the innermost."""
        band = band_with(body, self.statement, self.loops)
        assert band is not None
        inner = max(place for place, x in enumerate(band) if x.var in self.loops)
        before = [x for x in band[: inner + 1] if x.var not in self.loops]
        nest = (*before, *self._band(body), *band[inner + 1 :])
        return replace_loop(body, band[0], nest_loops(nest, band[-1].body))

    def _reason(self, loop: Loop, around: Sequence[Loop], context: Context) -> str:
        """Return in words why a loop cannot be a part of another, empty when it can."""
        if loop.place is not Level.SERIAL or loop.unrolled > 1 or loop.merges:
            return "is mapped, unrolled or merged already"
        if loop.tile_of or any(x.tile_of == loop.var for x in around):
            return "is tiled already"
        if loop.step != 1:
            return f"steps by {loop.step}"
        count = context.folded(trip_count(loop))
        lower = context.folded(loop.lower)
        if not isinstance(lower, Int) or not isinstance(count, Int) or count.value < 1:
            return "has a start or a number of iterations that is not fixed"
        inner = (x for x in walk_stmts(loop.body) if isinstance(x, Loop))
        # Where a worker begins its share changes nothing of how long that is.
        others = [x for x in inner if x.var != loop.deal_of or not _is_even(x, loop, context)]
        user = next((x.var for x in others if loop.var in bound_names(x)), "")
        if user:
            return f"is in the bounds of '{user}'"
        scalar = context.analysis.region.scalars.get(loop.var)
        # A quotient with a sign stands for it, and -1 compares as large with an unsigned one.
        if scalar is not None and is_unsigned_type(scalar.type):
            return f"counts in '{scalar.type}'"
        return ""


def _apart(nest: Stmt, loops: tuple[str, ...], around: Sequence[Loop]) -> Body:
    """Return a nest without loops beside those `around` a statement that merge `loops`, too.

    Loops beside each other may have one name.
    """

    def left(stmt: Stmt) -> Body | None:
        is_other = isinstance(stmt, Loop) and not any(stmt is x for x in around)
        merges = tuple(part.var for part in stmt.merges) if isinstance(stmt, Loop) else ()
        return () if is_other and merges == loops else None

    return mapped((nest,), left)


def _is_even(dealt: Loop, worker: Loop, context: Context) -> bool:
    """Return whether all workers have as many iterations, the first one from a fixed place on."""
    first = fold(substitute(dealt.lower, {worker.var: Int(0)}), context.sizes)
    second = fold(substitute(dealt.lower, {worker.var: Int(1)}), context.sizes)
    count, trip = context.folded(trip_count(worker)), context.folded(trip_count(dealt))
    if not isinstance(first, Int) or not isinstance(count, Int) or not isinstance(trip, Int):
        return False
    return second == Int(first.value + 1) and dealt.step == count.value


def merged_name(loops: Sequence[str]) -> str:
    """Return the name of the loop that runs `loops`, given outermost first."""
    return "".join(loops)


def _counts(band: Sequence[Loop], context: Context) -> list[int]:
    return [_number(trip_count(loop), context) for loop in band]


def _number(expr: Expr, context: Context) -> int:
    found = context.folded(expr)
    assert isinstance(found, Int)
    return found.value


@dataclass(frozen=True)
class _Index:
    """The iterator `name` of a merged loop, and what it makes of those of its parts."""

    name: str
    parts: tuple[MergedLoop, ...]
    context: Context

    def put_into(self, expr: Expr) -> Expr:
        """Return an expression with the iterators of the parts replaced."""
        return rewrite(expr, self.change)

    def change(self, expr: Expr) -> Expr | None:
        if isinstance(expr, Access):
            flat = self._flat(expr)
            if flat is not None and self._counts_it(flat):
                return Access(expr.array, (fold(substitute(flat, self._whole())),), expr.span)
            return Access(expr.array, tuple(map(self.put_into, expr.indices)), expr.span)
        if isinstance(expr, Var):
            return self._decoded.get(expr.name)
        return None

    def _flat(self, access: Access) -> Expr | None:
        """Return the one index of an element, None where it has several that stay apart."""
        if len(access.indices) == 1:
            return access.indices[0]
        extents = self.context.extents.get(access.array, ())
        inner = [e for e in extents[1:] if e is not None]
        if len(inner) != len(access.indices) - 1:
            return None
        pairs = zip(access.indices[1:], inner, strict=True)
        return reduce(
            lambda whole, pair: Binary("+", Binary("*", whole, pair[1]), pair[0]),
            pairs,
            access.indices[0],
        )

    def _counts_it(self, index: Expr) -> bool:
        """Return whether neighbouring iterations of the merged loop are evenly apart in `index`."""
        poly = from_expr(index)
        names = [part.var for part in self.parts]
        linear = None if poly is None else poly.at(self.context.sizes).linear_in(names)
        if linear is None:
            return False
        factors = [linear[0].get(name, ZERO) for name in names]
        if all(factor.is_zero for factor in factors):
            return False
        own = zip(factors, self.parts, strict=True)
        return all(factor == factors[-1] * integer(part.stride) for factor, part in own)

    def _whole(self) -> dict[str, Expr]:
        """Return the parts' values where the last of them counts for all."""
        starts: dict[str, Expr] = {part.var: Int(part.lower) for part in self.parts}
        last = self.parts[-1]
        return {**starts, last.var: fold(Binary("+", Int(last.lower), Var(self.name)))}

    @cached_property
    def _decoded(self) -> dict[str, Expr]:
        """Return the parts' values by division."""
        return _by_division(self.name, self.parts)


def decoded(loop: Loop) -> dict[str, Expr]:
    """Return what the iterators of the parts of a merged loop are in each of its iterations."""
    return _by_division(loop.var, loop.merges)


def _by_division(name: str, parts: Sequence[MergedLoop]) -> dict[str, Expr]:
    found: dict[str, Expr] = {}
    for place, part in enumerate(parts):
        own: Expr = Var(name)
        if part.stride > 1:
            own = Binary("/", own, Int(part.stride))
        if place > 0:
            own = Binary("%", own, Int(parts[place - 1].stride // part.stride))
        found[part.var] = fold(Binary("+", Int(part.lower), own))
    return found


@dataclass(frozen=True, slots=True)
class Decode(OnStatement):
    """Give the iterators of the parts of a merged loop a place of their own, once for all uses.

    ``Decode(0, "ij")``: ``for ij in 0:24: for k: c[ij] += a[k*4 + ij / 6]`` becomes
    ``for ij in 0:24: local int i = ij / 6: for k: c[ij] += a[k*4 + i]``. It stands inside the
    placed loops that the merged loop holds alone, so that a thread divides once. A part that
    no expression asks for is not worked out.
    """

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.LAST, 6)
    feature: ClassVar[str | None] = Feature.BLOCK_THREADS
    is_decided: ClassVar[bool] = True
    asked_with: ClassVar[tuple[str, ...]] = ("merge",)
    word: ClassVar[Word] = Word(
        "decode",
        "work out once at which iterations of its parts a merged loop stands",
        'decode(0, "h2h3")',
        TALK,
        exact=True,
    )
    loop: str = takes(Kind.LOOP)

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        """Return the reason there is nothing to decode, or no name for it, or None."""
        if absent := missing(body, self.statement, (self.loop,), self.span):
            return absent
        loop = named_loop(body, self.statement, self.loop)
        if not loop.merges:
            return NOT_DECODED.at(self.span, loop=self.loop, reason="runs no other loops")
        if loop.unrolled > 1:
            reason = "is unrolled: each copy of its body has parts of its own"
            return NOT_DECODED.at(self.span, loop=self.loop, reason=reason)
        names = {declared_name(stmt) for stmt in walk_stmts(loop.body)}
        taken = next((part.var for part in loop.merges if part.var in names), "")
        if taken:
            reason = f"holds another '{taken}'"
            return NOT_DECODED.at(self.span, loop=self.loop, reason=reason)
        return None

    def apply(self, body: Body, context: Context) -> Body:
        """Return `body` with the parts worked out, which `why_not` has accepted."""

        def known(stmt: Stmt) -> Body | None:
            # Where a block is loaded, updated and stored, there are several loops of the name.
            if not isinstance(stmt, Loop) or stmt.var != self.loop or not stmt.merges:
                return None
            if stmt.place in COPY_LEVELS:
                return None
            return (_with_parts(stmt, {part: name for name, part in decoded(stmt).items()}),)

        return tuple(
            mapped((stmt,), known)[0] if self.statement in numbers(stmt) else stmt for stmt in body
        )


def _with_parts(loop: Loop, parts: Mapping[Expr, str]) -> Loop:
    """Return a loop with its parts, by what each of them is, known at the start of its work."""
    if len(loop.body) == 1:
        inner = loop.body[0]
        if isinstance(inner, Loop) and inner.place not in (Level.SERIAL, *COPY_LEVELS):
            return replace(loop, body=(_with_parts(inner, parts),))
    used: dict[str, Expr] = {}

    def change(expr: Expr) -> Expr | None:
        name = parts.get(expr)
        if name is None:
            return None
        used[name] = expr
        return Var(name)

    renewed = rewritten(loop.body, change)
    ordered = [name for name in parts.values() if name in used]
    return replace(loop, body=(*(Local(n, "int", used[n]) for n in ordered), *renewed))
