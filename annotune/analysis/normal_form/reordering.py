"""Sums taken apart, triangles turned, and steps along columns put inside the columns' loop.

A product with half of a symmetric matrix adds to the rows above, and to its own row the sum of
those: ``for j: (s = 0; for i < j: (y[i] += t * a[j][i]; s += a[j][i] * x[i]); y[j] += s)``. Each
iteration of j adds to elements that others add to, by two statements. Taken apart, the loop is
``for j: for i < j: y[i] += t * a[j][i]`` and ``for j: (s = 0; …; y[j] += s)``, of which the second
has a parallel loop outside. So has the first once turned: ``for i: for j > i: y[i] += …``.

A serial loop around several nests, ``for k: (for i: c[k][i] = …; for i: x[k][i] = …)``, would have
each of them started once a step. Where all go over the same columns the loop of these goes around,
``for i: for k: (c[k][i] = …; x[k][i] = …)``, and is started once.

As in `forwarding`, this makes a region of a region before anything is asked of it; only the
outermost loops are looked at. Those that are taken apart or turned carry nothing but sums of reals.
Where a recipe names statements or loops, all stays.

Why taking apart is exact. Every dependence between two parts is one between statements that both
add to its element and read it for nothing else: to move all of one part behind all of the other
changes the order of additions alone, as partial sums do, which the check tolerates. No other value
that one part reads is written by another. A temporary that several parts read is put where it is
read first, or they stay together.

Why turning is exact. The pairs (outer, inner) that run are those that fulfil all bounds, each of
which is linear in the outer loop with a factor of 1, 0 or -1; the new bounds say the same of the
same pairs, the outer one's range being as wide as any pair needs. Nothing but sums is carried by
the outer loop and nothing by the inner one; each element gets its terms in the order of the text.

Why exchanging is exact. No pair of statements touches one element in two iterations of the loops
that go outside, unless both only read it; those of one iteration keep their order, which is that of
the serial loop and then of the text. A variable that is set beside the nests, by nothing that they
write and for one step alone, has the same value each time that it is set again.

What the proofs took of sizes is tested by emitted code (`Region.never_negative`).

Source: Allen and Kennedy, "Optimizing Compilers for Modern Architectures", 2001, sections 5.2.4
(interchange of triangles) and 2.4.2, 5.6 (distribution).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import islpy as isl

from annotune.analysis.dependences import (
    Carried,
    all_dependences,
    lifetimes,
    local_lifetimes,
)
from annotune.analysis.facts import Dependence
from annotune.analysis.messages import listed
from annotune.analysis.model import Model, build_model
from annotune.analysis.normal_form.forwarding import with_all_forwarded
from annotune.analysis.normal_form.private_copies import in_text_order, only_these_sizes
from annotune.analysis.reductions import reduction_operator
from annotune.analysis.statements import Counted, read_statements
from annotune.annotation.commands import before_targets
from annotune.diagnostics import AnnotuneError
from annotune.frontend.types.kinds import COMPLEX
from annotune.frontend.types.symbols import REALS
from annotune.frozen import dataclass
from annotune.ir.c_types import is_unsigned_type
from annotune.ir.expr import Access, Call, Expr, Var, print_expr, variables
from annotune.ir.nest import Assign, Loop, Nest, Stmt, walk_stmts
from annotune.ir.poly import ONE, Poly, to_expr, variable
from annotune.ir.region import Normalised, Region


def with_loops_reordered(region: Region) -> Region:
    """Return `region` with its outermost loops taken apart and turned where sums allow it."""
    if before_targets(region.spec.commands):
        return region
    for index in reversed(range(len(region.nest.body))):
        before = len(region.nest.body)
        region = _apart(region, index) or region
        for place in range(index, index + 1 + len(region.nest.body) - before):
            region = _turned(region, place) or _exchanged(region, place) or region
    return region


@dataclass(frozen=True)
class _Proofs:
    """What is known of an outermost loop of a region, at `index`."""

    model: Model
    dependences: tuple[Carried, ...]
    index: int

    @classmethod
    def of(cls, region: Region, index: int) -> _Proofs | None:
        """Return the proofs of a loop that does not run in any order as it is."""
        try:
            statements = read_statements(region)
            # Which iteration is the last one to write a scalar, another order may change.
            left = [n for n in region.nest.written_scalars() if not region.scalars[n].read_after]
            lives = lifetimes(left, statements) | local_lifetimes(region)
            model = build_model(region, statements)
        except AnnotuneError:
            return None  # what is wrong with it, the analysis says
        inside = {one.number for one in model.inside((index,))}
        found = tuple(
            one
            for one in all_dependences(model, lives)
            if {one.dependence.source, one.dependence.sink} <= inside
        )
        return cls(model, found, index)

    @property
    def carried(self) -> tuple[Carried, ...]:
        """Return the dependences that the loop carries."""
        return tuple(one for one in self.dependences if 0 in one.pieces)

    def commutes(self, one: Carried) -> bool:
        """Return whether a dependence is one between additions of reals to an element."""
        assign = self.model.statement(one.dependence.source).assign
        is_real = self.model.region.types.get(one.source.name) in REALS | COMPLEX
        return one.dependence.is_free and reduction_operator(assign) == "+" and is_real

    def demands(self) -> tuple[Poly, ...] | None:
        """Return what must not be negative for the proofs to hold, None where that is no test."""
        if any(demand.differs for demand in self.model.demands):
            return None
        found = (*(d.poly for d in self.model.demands), *only_these_sizes(self.model))
        scalars = {*self.model.region.scalars}
        return found if all(poly.names <= scalars for poly in found) else None


def _changed(
    region: Region, proofs: _Proofs, body: Iterable[Stmt], proof: str, like: Loop
) -> Region | None:
    """Return `region` with other statements, in the order of the text, None if that may not be."""
    demands = proofs.demands()
    if demands is None:
        return None
    return in_text_order(
        replace(
            region,
            nest=Nest(tuple(body)),
            original=region.as_written,
            steps=(*region.steps, Normalised(proof, like.span)),
            never_negative=tuple(dict.fromkeys((*region.never_negative, *demands))),
        )
    )


# Taking apart ----------------------------------------------------------------------------


def _apart(region: Region, index: int) -> Region | None:
    """Return `region` with the loop at `index` taken apart, None where no part gains by it."""
    if not _adds_twice(region.nest.body[index]):
        return None
    region = with_all_forwarded(region, (index,))
    loop = region.nest.body[index]
    assert isinstance(loop, Loop)
    proofs = _Proofs.of(region, index)
    if proofs is None or not all(map(proofs.commutes, proofs.carried)):
        return None
    groups = _groups(proofs)
    parts = [_restricted(loop, group) for group in groups]
    if len(groups) < 2 or None in parts:
        return None
    names = sorted({one.dependence.array for one in proofs.carried})
    proof = (
        f"{loop.var} runs {len(groups)} times, each with a part of its statements: all that ties "
        f"them is what they add to {listed(names)}, in another order"
    )
    body = region.nest.body
    found = (*body[:index], *(p for p in parts if p is not None), *body[index + 1 :])
    return _changed(region, proofs, found, proof, loop)


def _adds_twice(stmt: Stmt) -> bool:
    """Return whether a loop adds to one array in two ways, and declares nothing."""
    if not isinstance(stmt, Loop):
        return False
    inside = tuple(walk_stmts(stmt.body))
    if not all(isinstance(one, Loop | Assign) for one in inside):
        return False
    targets: dict[str, set[Access]] = {}
    for one in inside:
        is_sum = isinstance(one, Assign) and reduction_operator(one) == "+"
        if is_sum and isinstance(one, Assign) and isinstance(one.target, Access):
            targets.setdefault(one.target.array, set()).add(one.target)
    return any(len(of) > 1 for of in targets.values())


def _groups(proofs: _Proofs) -> list[frozenset[int]]:
    """Return the statements that stay together, in the order of the text.

    Those do that anything but additions ties, and those whose additions meet in one iteration
    alone.
    """
    numbers = [one.number for one in proofs.model.inside((proofs.index,))]
    parts = [{number} for number in numbers]
    for one in proofs.dependences:
        if not proofs.commutes(one):
            ends = {one.dependence.source, one.dependence.sink}
            tied = [part for part in parts if part & ends]
            parts = [part for part in parts if not part & ends] + [set().union(*tied)]
    apart = {(one.dependence.source, one.dependence.sink) for one in proofs.carried}
    apart = {pair for pair in apart if pair[0] != pair[1]}
    groups: list[set[int]] = []
    for part in sorted(parts, key=min):
        for group in groups:
            both = {(a, b) for a in group for b in part} | {(b, a) for a in group for b in part}
            if not both & apart:
                group |= part
                break
        else:
            groups.append(set(part))
    return [frozenset(group) for group in groups]


def _restricted(stmt: Stmt, numbers: frozenset[int]) -> Stmt | None:
    """Return what a statement does of the assignments `numbers`, None if nothing."""
    if not isinstance(stmt, Loop):
        return stmt if isinstance(stmt, Assign) and stmt.number in numbers else None
    inner = tuple(part for one in stmt.body if (part := _restricted(one, numbers)) is not None)
    return replace(stmt, body=inner) if inner else None


# Turning ---------------------------------------------------------------------------------


def _turned(region: Region, index: int) -> Region | None:
    """Return `region` with the two loops at `index` turned, None where neither gains by it."""
    if not _is_triangle(region, region.nest.body[index]):
        return None
    region = with_all_forwarded(region, (index,))
    outer = region.nest.body[index]
    assert isinstance(outer, Loop)
    inner = outer.body[0]
    if len(outer.body) > 1 or not isinstance(inner, Loop):
        return None
    proofs = _Proofs.of(region, index)
    if proofs is None or not proofs.carried:
        return None
    is_sum = all(map(proofs.commutes, proofs.carried))
    is_picked = all(outer.var not in p.names for c in proofs.carried for p in c.sink.subscripts)
    if not (is_sum and is_picked) or any(1 in one.pieces for one in proofs.dependences):
        return None
    around = proofs.model.inside((index,))[0].loops
    bounds = _Triangle.of(around[0], around[1], frozenset(region.scalars))
    if bounds is None:
        return None
    names = sorted({one.dependence.array for one in proofs.carried})
    proof = (
        f"{inner.var} goes around {outer.var}: {outer.var} does no more than add to "
        f"{listed(names)}, and for each {inner.var} it runs from "
        f"{_text(bounds.inner_lower, 'max')} to before {_text(bounds.inner_upper, 'min')}"
    )
    low, high = _extremum(bounds.inner_lower, "max"), _extremum(bounds.inner_upper, "min")
    turned = replace(outer, lower=low, upper=high, body=inner.body)
    low, high = _extremum(bounds.outer_lower, "max"), _extremum(bounds.outer_upper, "min")
    new = replace(inner, lower=low, upper=high, body=(turned,))
    body = region.nest.body
    return _changed(region, proofs, (*body[:index], new, *body[index + 1 :]), proof, outer)


def _is_triangle(region: Region, stmt: Stmt) -> bool:
    """Return whether a loop ends or begins where one around it is, and picks what is added to."""
    if not isinstance(stmt, Loop) or stmt.step != 1:
        return False
    loops = [inner for inner in stmt.body if isinstance(inner, Loop)]
    if len(loops) != 1 or not all(isinstance(s, Loop | Assign) for s in walk_stmts((stmt,))):
        return False
    inner = loops[0]
    scalars = (region.scalars.get(name) for name in (stmt.var, inner.var))
    if any(one is None or one.read_after or is_unsigned_type(one.type) for one in scalars):
        return False
    if inner.step != 1 or stmt.var not in variables(inner.lower) | variables(inner.upper):
        return False
    targets = [one.target for one in walk_stmts(inner.body) if isinstance(one, Assign)]
    indices = [index for t in targets if isinstance(t, Access) for index in t.indices]
    return any(inner.var in variables(index) for index in indices)


# Exchanging ------------------------------------------------------------------------------


def _exchanged(region: Region, index: int) -> Region | None:
    """Return `region` with the loops that all nests of a serial one share around it, or None."""
    outer = region.nest.body[index]
    shared = _shared(region, outer)
    if not shared:
        return None
    assert isinstance(outer, Loop)
    proofs = _Proofs.of(region, index)
    if proofs is None or not proofs.carried:
        return None
    again = {stmt.number: stmt.target for stmt in outer.body if isinstance(stmt, Assign)}
    if not all(_stays(one.dependence, again, len(shared)) for one in proofs.dependences):
        return None
    names = listed([loop.var for loop in shared])
    goes = "goes" if len(shared) == 1 else "go"
    count = len(outer.body) - len(again)
    one = f", and its {count} nests are one" if count > 1 else ""
    proof = (
        f"{names} {goes} around {outer.var}{one}: nothing that is written in one iteration of "
        f"{names} is touched in another"
    )
    if again:
        each = listed(sorted({print_expr(target) for target in again.values()}))
        proof += f", and {each} may be worked out in each"
    body: tuple[Stmt, ...] = tuple(s for one in outer.body for s in _inside(one, shared))
    for loop in (outer, *reversed(shared)):
        body = (replace(loop, body=body),)
    around = region.nest.body
    return _changed(region, proofs, (*around[:index], *body, *around[index + 1 :]), proof, outer)


def _shared(region: Region, outer: Stmt) -> tuple[Loop, ...]:
    """Return the loops, outermost first, with which each nest inside a loop begins.

    Beside the nests there may be variables that are set for all iterations of these.
    """
    if not isinstance(outer, Loop) or len(outer.body) < 2:
        return ()
    if not all(isinstance(stmt, Loop | Assign) for stmt in walk_stmts((outer,))):
        return ()
    nests = [stmt for stmt in outer.body if isinstance(stmt, Loop)]
    found: list[Loop] = []
    set_beside = {stmt.target for stmt in outer.body if isinstance(stmt, Assign)}
    changing = {outer.var, *(t.name for t in set_beside if isinstance(t, Var))}
    for loop, *same in zip(*map(_perfect, nests), strict=False):
        heads = {(one.var, one.lower, one.upper, one.step) for one in (loop, *same)}
        if len(heads) > 1 or changing & (variables(loop.lower) | variables(loop.upper)):
            break
        found.append(loop)
    scalars = [region.scalars.get(name) for name in (*changing, *(loop.var for loop in found))]
    is_free = all(one is not None and not one.read_after for one in scalars)
    # What else picks elements may run in any order too, but not inside a serial loop.
    left = [stmt for nest in nests for stmt in walk_stmts(_inside(nest, found))]
    picks = {loop.var for loop in left if isinstance(loop, Loop)}
    places = [stmt.target for stmt in left if isinstance(stmt, Assign)]
    is_free = is_free and all(isinstance(t, Var) and t not in places for t in set_beside)
    return tuple(found) if is_free and not any(picks & variables(p) for p in places) else ()


def _stays(dependence: Dependence, again: Mapping[int, Access | Var], count: int) -> bool:
    """Return whether what a dependence ties is tied in each iteration of the loops outside.

    They are `count`, from the second on. What statements `again` set is set in each of them anew,
    by nothing that the others write, and read in the iteration of the serial loop that sets it.
    """
    ends = {dependence.source, dependence.sink}
    places = range(1, 1 + count)
    if ends & set(again):
        if not any(isinstance(t, Var) and t.name == dependence.array for t in again.values()):
            return False
        places = range(1)
    same = dependence.pairs
    for place in places:
        same = same.equate(isl.dim_type.in_, place, isl.dim_type.out, place)
    return bool(dependence.pairs.is_subset(same))


def _perfect(stmt: Stmt) -> Iterator[Loop]:
    """Yield the loops of a perfect nest, outermost first."""
    while isinstance(stmt, Loop):
        yield stmt
        if len(stmt.body) != 1:
            return
        (stmt,) = stmt.body


def _inside(stmt: Stmt, loops: Sequence[Loop]) -> tuple[Stmt, ...]:
    """Return what stands inside as many loops of a nest, an assignment as it is."""
    body: tuple[Stmt, ...] = (stmt,)
    for _ in loops if isinstance(stmt, Loop) else ():
        (loop,) = body
        assert isinstance(loop, Loop)
        body = loop.body
    return body


@dataclass(frozen=True)
class _Triangle:
    """The bounds of two loops that trade places; all of each hold."""

    outer_lower: tuple[Poly, ...]
    outer_upper: tuple[Poly, ...]
    inner_lower: tuple[Poly, ...]
    inner_upper: tuple[Poly, ...]

    @classmethod
    def of(cls, outer: Counted, inner: Counted, known: frozenset[str]) -> _Triangle | None:
        """Return the bounds once `inner` is outside, None where some are not linear enough.

        Of ``inner >= f(outer)`` and ``inner < f(outer)`` each is one of `outer` as well; what it
        says of `inner` alone is that it holds for the first or the last `outer`.
        """
        starts, ends = [], []
        lower, upper = [*outer.lower], [*outer.upper]
        i, names = variable(inner.var), known - {inner.var}
        if any(not p.names <= names - {outer.var} for p in (*outer.lower, *outer.upper)):
            return None
        for poly in (*inner.lower, *inner.upper):
            found = poly.linear_in({outer.var})
            if found is None or not poly.names <= names:
                return None
            factor = found[0].get(outer.var, Poly()).constant
            if factor not in (-1, 0, 1):
                return None
        for poly in inner.lower:
            factor, rest = _split(poly, outer.var)
            lasts = [end - ONE for end in outer.upper]
            ranges = {0: [rest], 1: [p + rest for p in outer.lower], -1: [rest - p for p in lasts]}
            starts += ranges[factor]
            upper += [i - rest + ONE] if factor == 1 else []
            lower += [rest - i] if factor == -1 else []
        for poly in inner.upper:
            factor, rest = _split(poly, outer.var)
            lasts = [end - ONE for end in outer.upper]
            ranges = {0: [rest], 1: [p + rest for p in lasts], -1: [rest - p for p in outer.lower]}
            ends += ranges[factor]
            lower += [i - rest + ONE] if factor == 1 else []
            upper += [rest - i] if factor == -1 else []
        starts, ends = _tightest(starts, -1), _tightest(ends, 1)
        between = _Range(inner.var, tuple(starts), tuple(end - ONE for end in ends))
        return cls(
            tuple(starts),
            tuple(ends),
            between.needed(lower, -1),
            between.needed(upper, 1),
        )


@dataclass(frozen=True)
class _Range:
    """A loop that runs from the largest of `starts` to the smallest of `lasts`."""

    var: str
    starts: tuple[Poly, ...]
    lasts: tuple[Poly, ...]

    def needed(self, bounds: Sequence[Poly], sign: int) -> tuple[Poly, ...]:
        """Return bounds of a loop inside, upper ones with a `sign` of 1, without the idle ones."""
        kept = _tightest(bounds, sign)
        for one in tuple(kept):
            others = [other for other in kept if other != one]
            rooms = ((one - other) if sign > 0 else (other - one) for other in others)
            if any(map(self._is_never_negative, rooms)):
                kept = others
        return tuple(kept)

    def _is_never_negative(self, poly: Poly) -> bool:
        """Return whether a value, linear in the loop, is not negative where it is least."""
        factor, _ = _split(poly, self.var)
        ends = self.starts if factor > 0 else self.lasts
        least = (poly.substitute({self.var: end}).constant for end in ends)
        return any(value is not None and value >= 0 for value in least)


def _split(poly: Poly, name: str) -> tuple[int, Poly]:
    """Return the factor of a loop in a bound, and the rest."""
    found = poly.linear_in({name})
    assert found is not None
    factor = found[0].get(name, Poly()).constant
    assert factor is not None
    return factor, found[1]


def _tightest(bounds: Sequence[Poly], sign: int) -> list[Poly]:
    """Return bounds without those that another one implies by a constant distance.

    With `sign` 1 they are upper bounds, with -1 lower ones.
    """
    kept: list[Poly] = []
    for one in dict.fromkeys(bounds):
        distances = [((one - other) if sign > 0 else (other - one)).constant for other in kept]
        if any(d is not None and d >= 0 for d in distances):
            continue
        kept = [
            other
            for other in kept
            if (d := ((other - one) if sign > 0 else (one - other)).constant) is None or d < 0
        ]
        kept.append(one)
    return kept


def _extremum(bounds: Sequence[Poly], function: str) -> Expr:
    """Return the bound that holds them all."""
    first, *others = (to_expr(bound) for bound in bounds)
    for other in others:
        first = Call(function, (first, other))
    return first


def _text(bounds: Sequence[Poly], function: str) -> str:
    return print_expr(_extremum(bounds, function))
