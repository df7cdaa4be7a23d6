"""Temporaries that only carry an expression, put where they are read.

``for l: t = alpha * b[l]; for i: c[i] += t * a[i][l]`` is no perfect nest, though the mathematics
is: t stands between the loops only because its author would not compute it twice. It becomes
``for l: for i: c[i] += alpha * b[l] * a[i][l]``, the nest of the textbook, to which every strategy
applies; compilers take what does not move with a loop out of it again.

This is a step from a region to a region, before anything is asked of it, not a transform of a
schedule: all targets and all points of a space begin with the same nest, whose loops are other
ones (more are parallel, since none shares the temporary), and a recipe is read for that nest.
Statements keep the numbers of the user's text. `Region.original` keeps the text's own nest for
whatever runs as written.

Why it is exact. A read sees the value of one assignment ``t = e``: that stands before it in the
same iteration of the loops around it, nothing writes t in between, and the read happens only where
the assignment has. Nothing that e reads is written in between. So e has the same value there: the
same operations on the same numbers, in the order that C gives them, converted to the type of t
where e has another. Operations on doubles and floats are rounded to their types, as on every
machine that annotune writes for (C11's FLT_EVAL_METHOD of 0). Nothing else reads t, and the
function does not read it later, so that the assignment itself is left out. No element is read that
was not before: a read of e runs after the assignment has computed it.

Only where that helps: nothing but loops, or nothing but statements that accumulate, is left
where the temporary stood, and one of the loops can then go around or beside those outside it (in a
triangle, whose inner loop ends where the outer one has come, nothing is gained). And only what is
cheap is computed again, and what is short: temporaries that are read twice by each other would
double the text each time, so that one whose copies would be long stays, as a private scalar.

Source: Allen and Kennedy, "Optimizing Compilers for Modern Architectures", 2001, section 4.4
(forward expression substitution, here for reals).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import islpy as isl

from annotune.analysis.messages import listed
from annotune.analysis.model import Model, agreeing, build_model
from annotune.analysis.normal_form.own_type import in_own_type
from annotune.analysis.reductions import reduction_operator
from annotune.analysis.statements import DataReference, read_statements
from annotune.annotation.commands import before_targets, statements
from annotune.diagnostics import AnnotuneError
from annotune.frontend.types.kinds import Typed, cast
from annotune.frozen import dataclass
from annotune.ir.c_types import is_integer_type
from annotune.ir.ctype import INT, TYPES, CType, TypeKind
from annotune.ir.expr import (
    COMPARISONS,
    CONNECTIVES,
    Access,
    Binary,
    Call,
    Expr,
    Int,
    Var,
    conjunction,
    conjuncts,
    names_read,
    negated,
    print_expr,
    rewrite,
    variables,
    walk,
)
from annotune.ir.identity import once_for_each
from annotune.ir.nest import (
    Assign,
    LocalArray,
    Loop,
    Nest,
    Stmt,
    expressions,
    is_stored,
    walk_places,
    walk_stmts,
)
from annotune.ir.region import Normalised, Region, types_of
from annotune.ir.typing import ctype, scope_of

# Where a statement stands: its number in each body, outermost first.
Place = tuple[int, ...]

# Operations of a double that one more multiply-add hides; a division or a call takes ten times as
# long (Fog, "Instruction tables"), so that it stays where it is computed once.
_CHEAP = frozenset({"+", "-", "*", *COMPARISONS, *CONNECTIVES})
_CHEAP_CALLS = frozenset({"fabs", "fabsf", "creal", "cimag", "conj"})
# Operators and operands that all copies of one temporary's value may have together. Formulas that
# people write have at most some dozens of them.
_MOST_COPIED_PARTS = 512


def with_temporaries_forwarded(region: Region) -> Region:
    """Return `region` with the temporaries that stand between its loops put where they are read."""
    named = {n for c in before_targets(region.spec.commands) for n in statements(c)}
    bodies = [place for stmt, _, place in walk_places(region.nest.body) if isinstance(stmt, Loop)]
    # What is left out of a body moves nothing of those that are deeper.
    for body in sorted((*bodies, ()), key=len, reverse=True):
        region = _without_temporaries(region, body, frozenset(named))
    return region


def with_indices_forwarded(region: Region) -> Region:
    """Return `region` with the integers that only carry an index put where they are read.

    ``l = ipvt[k]; for j: a[l + j * lda] = …`` becomes ``for j: a[ipvt[k] + j * lda] = …``, so that
    each iteration of j, whoever runs it, knows the row by itself.
    """
    named = {n for c in before_targets(region.spec.commands) for n in statements(c)}
    places = [place for stmt, _, place in walk_places(region.nest.body) if isinstance(stmt, Assign)]
    # What is left out moves nothing that stands before it.
    for place in reversed(places):
        found = _index(region, place, frozenset(named))
        if found is not None:
            region = found.forwarded()
    return region


def _index(region: Region, place: Place, named: frozenset[int]) -> _Temporary | None:
    """Return the integer that the statement at `place` sets, if it carries an element's index."""
    assign = _body(region, place[:-1])[place[-1]]
    if not isinstance(assign, Assign) or assign.op != "=" or assign.number in named:
        return None
    target, value = assign.target, assign.value
    scalar = region.scalars.get(target.name) if isinstance(target, Var) else None
    if scalar is None or scalar.read_after or scalar.name in region.nest.iterators():
        return None
    # A store of another type would be a conversion.
    is_own = is_integer_type(scalar.type) and _type_of(value, region) == TYPES.get(scalar.type)
    if not is_own or not isinstance(value, Access) or is_stored(assign):
        return None
    uses = _Uses(region, scalar.name).of(place)
    if not uses or any(_may_differ(region, place, assign, one) for one in uses):
        return None
    found = _Temporary(region, place, assign, value, uses)
    if found.copied_parts > _MOST_COPIED_PARTS:
        return None
    return found if _Between(region, place, uses).keeps(_sources(assign), found) else None


def _without_temporaries(region: Region, body: Place, named: frozenset[int]) -> Region:
    """Return `region` with nothing but loops, or sums, left in a body, if that can be.

    Else those alone are put where they are read that have the value of a sum on its way.
    """
    changed = with_all_forwarded(region, body, named, is_asked=False)
    if changed is region or _is_plain(_body(changed, body)):
        return changed
    return _forwarded(region, body, lambda region, at: _sum_on_its_way(region, at, named))


def with_all_forwarded(
    region: Region, body: Place, named: frozenset[int] = frozenset(), is_asked: bool = True
) -> Region:
    """Return `region` with all temporaries of a body put where they are read that can be.

    Where it `is_asked` for, also those which leave the loops inside as they are.
    """
    return _forwarded(
        region, body, lambda region, place: _forwardable(region, place, named, is_asked)
    )


def _forwarded(
    region: Region, body: Place, temporary: Callable[[Region, Place], _Temporary | None]
) -> Region:
    """Return `region` with what `temporary` finds in a body put where it is read."""
    kept = 0
    while kept < len(_body(region, body)):
        found = temporary(region, (*body, kept))
        if found is None:
            kept += 1
        else:
            region = found.forwarded()
    return region


def _sum_on_its_way(region: Region, place: Place, named: frozenset[int]) -> _Temporary | None:
    """Return a temporary that accumulates for the statements that read it, or None.

    ``t = s + x; s = t;`` is ``s += x``.
    """
    found = _forwardable(region, place, named, is_asked=False)
    if found is None or not all(use.target in set(walk(found.value)) for _, use in found.uses):
        return None
    return found if all(map(_accumulates, found.uses_forwarded())) else None


def _accumulates(stmt: Stmt) -> bool:
    return isinstance(stmt, Assign) and reduction_operator(stmt) is not None


def _is_plain(body: Sequence[Stmt]) -> bool:
    """Return whether a body holds nothing but loops, or nothing but statements that accumulate."""
    if all(isinstance(stmt, Loop | LocalArray) for stmt in body):
        return True
    return all(map(_accumulates, body))


def _body(region: Region, place: Place) -> tuple[Stmt, ...]:
    """Return the statements of the loop at `place`, or of the region."""
    body = region.nest.body
    for index in place:
        loop = body[index]
        assert isinstance(loop, Loop), "only a loop has a body"
        body = loop.body
    return body


@dataclass(frozen=True)
class _Temporary:
    """An assignment to a scalar whose value every one of `uses`, and nothing else, reads."""

    region: Region
    place: Place
    assign: Assign
    value: Expr
    uses: tuple[tuple[Place, Assign], ...]

    @property
    def name(self) -> str:
        assert isinstance(self.assign.target, Var)
        return self.assign.target.name

    @cached_property
    def reads(self) -> int:
        """Return how many times the scalar is read."""
        return sum(part == self.assign.target for _, use in self.uses for part in _parts(use))

    @property
    def copied_parts(self) -> int:
        """Return how many operators and operands all copies of the value have together."""
        return self.reads * sum(1 for _ in walk(self.value))

    def forwarded(self) -> Region:
        """Return the region with the value in place of the scalar, and without the assignment."""
        new = {stmt.number: stmt for stmt in self.uses_forwarded()}

        def changed(body: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
            out: list[Stmt] = []
            for stmt in body:
                match stmt:
                    case Assign(number=number) if number == self.assign.number:
                        continue
                    case Assign(number=number):
                        out.append(new.get(number, stmt))
                    case Loop():
                        inside = changed(stmt.body)
                        out.append(stmt if inside is stmt.body else replace(stmt, body=inside))
                    case _:
                        out.append(stmt)
            is_same = len(out) == len(body) and all(map(operator.is_, out, body))
            return body if is_same else tuple(out)

        region = self.region
        nest = Nest(changed(region.nest.body))
        steps = (*region.steps, Normalised(self._proof(), self.assign.span))
        return replace(region, nest=nest, original=region.as_written, steps=steps)

    def uses_forwarded(self) -> tuple[Assign, ...]:
        """Return the statements that read the scalar with its value in place of it."""
        types = types_of(self.region)
        read = (_reading(use, self._value_of) for _, use in self.uses)
        return tuple(_accumulating(in_own_type(use, types)) for use in read)

    def _value_of(self, expr: Expr) -> Expr | None:
        """Return what takes the place of the scalar, or of its opposite, for `rewrite`."""
        match expr:
            case Var(name) if name == self.name:
                return self.value
            case Binary("==", Var(name), Int(0)) if name == self.name and is_stored(self.assign):
                return negated(self.value)
        return None

    def _proof(self) -> str:
        # Loops and sizes stay as they are in any case.
        scalars = self.region.scalars
        read = [
            name
            for name in sorted(_sources(self.assign))
            if name not in scalars or not is_integer_type(scalars[name].type)
        ]
        kept = f", for nothing writes what it reads of {listed(read)} in between" if read else ""
        what = "the condition" if is_stored(self.assign) else self.name
        return f"{what} is {print_expr(self.value)} where it is read{kept}"


def _reading(assign: Assign, put: Callable[[Expr], Expr | None]) -> Assign:
    """Return a statement with `put` in what it reads, and a guard that asks nothing twice."""
    target, guard = assign.target, assign.guard
    if isinstance(target, Access):
        target = replace(target, indices=tuple(rewrite(index, put) for index in target.indices))
    if guard is not None:
        guard = conjunction(dict.fromkeys(conjuncts(rewrite(guard, put))))
    return replace(assign, target=target, value=rewrite(assign.value, put), guard=guard)


def _accumulating(assign: Assign) -> Assign:
    """Return ``x = x + e`` and ``x = e + x`` as ``x += e``, which C11 6.5.16.2 makes the same."""
    match assign.value:
        case Binary("+" | "-" | "*" | "/" as op, left, right) if assign.op == "=":
            if left == assign.target:
                return replace(assign, op=f"{op}=", value=right)
            if right == assign.target and op in "+*":
                return replace(assign, op=f"{op}=", value=left)
    return assign


def _forwardable(
    region: Region, place: Place, named: frozenset[int], is_asked: bool
) -> _Temporary | None:
    """Return the temporary that the statement at `place` sets, None where it is to stay."""
    assign = _body(region, place[:-1])[place[-1]]
    if not isinstance(assign, Assign) or assign.op != "=" or assign.number in named:
        return None
    value = _carried(region, assign)
    if value is None:
        return None
    assert isinstance(assign.target, Var)
    uses = _Uses(region, assign.target.name).of(place)
    if not uses or any(_may_differ(region, place, assign, one) for one in uses):
        return None
    found = _Temporary(region, place, assign, value, uses)
    is_moved = any(len(use) > len(place) for use, _ in uses)
    if found.copied_parts > _MOST_COPIED_PARTS:
        return None
    if (is_moved or found.reads > 1) and not _is_cheap(value):
        return None
    if is_moved and not is_asked and not any(_frees(region, place, use) for use in uses):
        return None
    return found if _Between(region, place, uses).keeps(_sources(assign), found) else None


def _frees(region: Region, place: Place, use: tuple[Place, Assign]) -> bool:
    """Return whether a loop inside picks what is written, as one outside does, or as none need.

    It must not end where that one has come: one worker would have to run both.
    """
    at, assign = use
    if not isinstance(assign.target, Access):
        return False
    picking = frozenset[str]().union(*map(variables, assign.target.indices))
    loops = _around(region, at)
    outside, inside = loops[: len(place) - 1], loops[len(place) - 1 :]
    for inner in inside:
        if inner.var in picking:
            bounds = variables(inner.lower) | variables(inner.upper)
            free = [loop.var for loop in outside if loop.var not in bounds]
            if len(free) == len(outside) or any(name in picking for name in free):
                return True
    return False


def _around(region: Region, place: Place) -> list[Loop]:
    """Return the loops around the statement at `place`, outermost first."""
    body, found = region.nest.body, []
    for index in place[:-1]:
        loop = body[index]
        assert isinstance(loop, Loop), "only a loop has a body"
        found.append(loop)
        body = loop.body
    return found


def _carried(region: Region, assign: Assign) -> Expr | None:
    """Return the value of a temporary in its own type, None of what is none or of another type."""
    scalar = region.scalars.get(assign.target.name) if isinstance(assign.target, Var) else None
    if scalar is None or scalar.read_after or scalar.name in region.nest.iterators():
        return None
    if is_stored(assign):
        return assign.value if _type_of(assign.value, region) == INT else None
    type_, own = _type_of(assign.value, region), TYPES.get(scalar.type)
    if type_ is None or own is None or not own.is_floating:
        return None
    if type_.kind is TypeKind.COMPLEX and type_ != own:
        return None
    return cast(Typed(assign.value, type_.name), own.name)


def _type_of(expr: Expr, region: Region) -> CType | None:
    """Return the C type of an expression's value, None where it is not known."""
    return ctype(expr, scope_of(types_of(region)))


def _is_cheap(value: Expr) -> bool:
    """Return whether a value is as well computed again and again as kept."""
    for part in walk(value):
        match part:
            case Binary(op, _, _) if op not in _CHEAP:
                return False
            case Call(function, _) if function not in _CHEAP_CALLS:
                return False
    return True


def _sources(assign: Assign) -> frozenset[str]:
    """Return what the value and the guard of a statement are made of."""
    return frozenset[str]().union(*map(names_read, assign.sources()))


def _parts(assign: Assign) -> Iterator[Expr]:
    for expr in expressions(assign):
        yield from walk(expr)


def _may_differ(region: Region, place: Place, assign: Assign, use: tuple[Place, Assign]) -> bool:
    """Return whether a statement may run where the assignment has not, or reads it otherwise.

    What asks the temporary itself whether to run is not known to ask the assignment's guard first.
    """
    if assign.guard is None:
        return False
    guard = use[1].guard
    if guard is None or assign.target in set(walk(guard)):
        return True
    return not set(conjuncts(assign.guard)) <= set(conjuncts(guard))


@dataclass(frozen=True)
class _Uses:
    """The statements that read a scalar, and which assignment each of them sees."""

    region: Region
    name: str

    def of(self, place: Place) -> tuple[tuple[Place, Assign], ...]:
        """Return the statements that read what the one at `place` wrote.

        None where some read of the scalar may see several writes, or one before the loops.
        """
        found: list[tuple[Place, Assign]] = []
        for stmt, _, at in walk_places(self.region.nest.body):
            if isinstance(stmt, Assign):
                if not self._reads(stmt):
                    continue
                seen = self._seen(at)
                if seen is None or (stmt.target == Var(self.name) and stmt.op != "="):
                    return ()
                if seen == place:
                    found.append((at, stmt))
            elif any(self.name in variables(expr) for expr in expressions(stmt)):
                return ()
        return tuple(found)

    def _reads(self, assign: Assign) -> bool:
        return self.name in _scalars_read(assign)

    def _seen(self, place: Place) -> Place | None:
        """Return the one assignment whose value a read at `place` sees, None if not one does."""
        for depth in range(len(place) - 1, -1, -1):
            body, index = _body(self.region, place[:depth]), place[depth]
            for before in range(index - 1, -1, -1):
                if self._writes(body[before]):
                    one = body[before]
                    is_whole = isinstance(one, Assign) and one.op == "="
                    return (*place[:depth], before) if is_whole else None
            # The iteration before may have written it behind the read.
            if any(map(self._writes, body[index:])):
                return None
        return None

    def _writes(self, stmt: Stmt) -> bool:
        return self.name in _scalars_written(stmt)


@once_for_each(1 << 14)
def _scalars_read(assign: Assign) -> frozenset[str]:
    """Return the scalars that a statement reads, also those that it adds to."""
    target = assign.target
    within = target.indices if isinstance(target, Access) else ()
    read = frozenset[str]().union(*map(variables, (*assign.sources(), *within)))
    return read | {target.name} if isinstance(target, Var) and assign.op != "=" else read


@once_for_each(1 << 14)
def _scalars_written(stmt: Stmt) -> frozenset[str]:
    """Return the scalars that the assignments in a statement write."""
    if isinstance(stmt, Loop):
        return frozenset[str]().union(*map(_scalars_written, stmt.body))
    is_scalar = isinstance(stmt, Assign) and isinstance(stmt.target, Var)
    return frozenset({_target(stmt)}) if is_scalar and isinstance(stmt, Assign) else frozenset()


@dataclass(frozen=True)
class _Between:
    """What runs between a temporary's assignment and its uses."""

    region: Region
    place: Place
    uses: tuple[tuple[Place, Assign], ...]

    @cached_property
    def stmts(self) -> tuple[Stmt, ...]:
        body, own = _body(self.region, self.place[:-1]), self.place[-1]
        last = max(use[len(self.place) - 1] for use, _ in self.uses)
        # A statement reads before it writes, but a loop comes back to its first one.
        stop = last + isinstance(body[last], Loop)
        return tuple(walk_stmts(body[own + 1 : stop]))

    def keeps(self, names: frozenset[str], found: _Temporary) -> bool:
        """Return whether nothing in between writes what the temporary is made of."""
        if any(isinstance(stmt, Loop) and stmt.var in names for stmt in self.stmts):
            return False
        writes = [s for s in self.stmts if isinstance(s, Assign) and _target(s) in names]
        if any(isinstance(write.target, Var) for write in writes):
            return False
        read = [part for part in _parts(found.assign) if isinstance(part, Access)]
        doubtful = [
            write
            for write in writes
            if isinstance(write.target, Access)
            and not all(_differ(write.target, e) for e in read if e.array == write.target.array)
        ]
        return not doubtful or self._are_elsewhere(doubtful, found)

    def _are_elsewhere(self, writes: Sequence[Assign], found: _Temporary) -> bool:
        """Return whether it is proven that `writes` touch other elements of their arrays.

        The emitted code tests what such a proof demands of sizes only where that of the new nest
        demands it as well.
        """
        try:
            model = build_model(self.region, read_statements(self.region))
            after = found.forwarded()
            tested = build_model(after, read_statements(after))
        except AnnotuneError:
            return False  # what is wrong with it, the analysis says
        if not (model.all_sizes and set(model.demands) <= set(tested.demands)):
            return False
        return all(_is_elsewhere(model, found.assign, write, self.place) for write in writes)


def _differ(one: Access, other: Access) -> bool:
    """Return whether some subscript of two elements is a constant each, and not the same one."""
    pairs = zip(one.indices, other.indices, strict=True)
    return any(isinstance(a, Int) and isinstance(b, Int) and a != b for a, b in pairs)


def _is_elsewhere(model: Model, assign: Assign, write: Assign, place: Place) -> bool:
    """Return whether in one iteration around `place` no element is read here and written there."""
    first, second = model.statement(assign.number), model.statement(write.number)
    apart = agreeing(len(first.loops), len(second.loops), len(place) - 1)

    def touched(reference: DataReference) -> isl.Map:
        return model.maps[reference].set_tuple_name(isl.dim_type.in_, "S")

    return all(
        touched(read).apply_range(touched(written).reverse()).intersect(apart).is_empty()
        for read in first.references
        for written in second.references
        if written.is_write and not read.is_write and read.name == written.name
    )


def _target(assign: Assign) -> str:
    return assign.target.array if isinstance(assign.target, Access) else assign.target.name
