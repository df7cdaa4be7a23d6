"""The inspector that finds what a call touches where memory decides it, before the nest runs.

Behind ``if (mask[i])`` elements may be missing, and a copy of them all would leave the array. A
slice of the nest says which are touched: its loops, its conditions, what these are made of, and
for each array the first and the last element instead of the work.

Source:
    The inspector of Saltz, Mirchandaney and Crowley, "Run-Time Parallelization and Scheduling of
    Loops", IEEE Transactions on Computers 40(5), 1991, doi:10.1109/12.88484.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from annotune.analysis.facts import ElementRange
from annotune.analysis.messages import ASSUMED_IN_RANGE, LOOKED_FOR, UNSEEN
from annotune.analysis.model import Model
from annotune.analysis.statements import DataReference
from annotune.diagnostics import Diagnostic
from annotune.frozen import dataclass
from annotune.ir.ctype import LONG
from annotune.ir.expr import (
    Access,
    Binary,
    Cast,
    Expr,
    Int,
    Select,
    Var,
    accesses,
    children,
    conjunction,
    print_expr,
    rewrite,
    variables,
)
from annotune.ir.fold import fold
from annotune.ir.nest import NO_STATEMENT, Assign, Local, Loop, Stmt, walk_stmts
from annotune.ir.poly import Poly, from_expr, to_expr, variable
from annotune.ir.region import Region, flattened

Body = tuple[Stmt, ...]

FAR = 2**62
"""No element is as far away: where the first and the last one are before any has been seen."""


@dataclass(frozen=True, slots=True)
class Inspector:
    """What the host runs, the parts that it finds, and why it can find none of an array."""

    body: Body
    parts: Mapping[str, ElementRange]
    unseen: tuple[Diagnostic, ...]


def inspector_of(
    model: Model,
    lowest: Mapping[str, Expr],
    private: Collection[str],
    changed: Collection[tuple[int, Access]],
) -> Inspector:
    """Return how the host learns what a call touches of the arrays of which memory decides it.

    These are those in `lowest`, with the first element that any call may touch. `private` are the
    scalars that have no value before the region, `changed` the reads, with their statements, of
    what the region may have written before.
    """
    region = model.region
    ends: dict[str, tuple[str, str]] = {}
    unseen: list[Diagnostic] = []
    for name in lowest:
        references = model.references[name]
        if _can_inspect(region, references, changed):
            ends[name] = (_fresh(f"{name}_low", region), _fresh(f"{name}_high", region))
            continue
        where = next(r for r in references if not model.is_known(r))
        unseen.append(UNSEEN.at(where.span, array=name, condition=_decider(where)))
    if not ends:
        return Inspector((), {}, tuple(unseen))
    references = tuple(r for name in ends for r in model.references[name])
    copies = {n: _fresh(f"{n}_seen", region) for n in sorted(_deciding(region, references))}
    places = {
        r.name: _fresh(f"{r.name}_at", region)
        for r in references
        if any(map(accesses, children(r.access)))
    }
    found = _Slice(region, references, ends, copies, places).body(region.nest.body)
    parts = {
        name: ElementRange(
            Var(_fresh(f"{name}_first", region)), Var(_fresh(f"{name}_count", region)), True
        )
        for name in ends
    }
    starts = (
        *_starts(region, ends, copies, private),
        *(Local(at, "long", Int(0)) for at in places.values()),
    )
    body = (*starts, *found, *_results(ends, parts, lowest))
    return Inspector(body, parts, tuple(unseen))


def _can_inspect(
    region: Region, references: Sequence[DataReference], changed: Collection[tuple[int, Access]]
) -> bool:
    """Return whether what decides about references is the same before the region as in it.

    `changed` are the reads, with their statements, of what the region may have written before.
    """
    needed = _deciding(region, references)
    if not needed <= region.scalars.keys():
        return False
    bounds = (bound for loop in region.nest.loops() for bound in (loop.lower, loop.upper))
    if any(accesses(bound) for bound in bounds):
        return False
    asked = [(r.statement, c) for r in references for c in r.conditions]
    asked += [(r.statement, index) for r in references for index in children(r.access)]
    for assign in _assigns_to(region, needed):
        asked += [(assign.number, source) for source in assign.sources()]
    return all(
        access.array in region.arrays and (statement, access) not in changed
        for statement, expr in asked
        for access in accesses(expr)
    )


def _deciding(region: Region, references: Sequence[DataReference]) -> frozenset[str]:
    """Return the scalars of the region's assignments on which it hangs what references touch."""
    assigned = {a.target.name for a in region.nest.assigns() if isinstance(a.target, Var)}
    assigned |= {s.name for s in walk_stmts(region.nest.body) if isinstance(s, Local)}
    used = {
        n for loop in region.nest.loops() for n in variables(loop.lower) | variables(loop.upper)
    }
    for reference in references:
        used |= {name for condition in reference.conditions for name in variables(condition)}
        used |= variables(reference.access)
    needed: frozenset[str] = frozenset()
    while not needed >= (found := frozenset(used & assigned)):
        needed = found
        sources = (e for assign in _assigns_to(region, needed) for e in assign.sources())
        used |= {name for source in sources for name in variables(source)}
    return needed


def _assigns_to(region: Region, names: Collection[str]) -> list[Assign]:
    assigns = region.nest.assigns()
    return [a for a in assigns if isinstance(a.target, Var) and a.target.name in names]


def _starts(
    region: Region,
    ends: Mapping[str, tuple[str, str]],
    copies: Mapping[str, str],
    private: Collection[str],
) -> Iterator[Local]:
    """Yield what the slice declares: ends of arrays of which nothing is seen, copies of scalars."""
    for low, high in ends.values():
        yield Local(low, "long", Int(FAR))
        yield Local(high, "long", Int(-FAR))
    for name, copy in copies.items():
        scalar = region.scalars[name]
        is_own = scalar.is_local or name in private
        yield Local(copy, scalar.type, Int(0) if is_own else Var(name))


def _results(
    ends: Mapping[str, tuple[str, str]],
    parts: Mapping[str, ElementRange],
    lowest: Mapping[str, Expr],
) -> Iterator[Local]:
    """Yield what the slice declares at its end: the first element and the number of them.

    No elements are none of an array's own, the `lowest` that it may touch: the array may begin
    inside of another, and a device's memory does not take even nothing from there.
    """
    for name, (low, high) in ends.items():
        is_any = Binary("<=", Var(low), Var(high))
        count = Binary("+", Binary("-", Var(high), Var(low)), Int(1))
        first = Select(is_any, Var(low), lowest[name])
        results = ((parts[name].first, first), (parts[name].count, Select(is_any, count, Int(0))))
        for place, value in results:
            assert isinstance(place, Var)
            yield Local(place.name, "long", value)


@dataclass(frozen=True)
class _Slice:
    """Makes the slice of a nest that sees the `references`, with `copies` for its scalars.

    `places` are what it first stores an index in that reads memory, by the names of arrays.
    """

    region: Region
    references: tuple[DataReference, ...]
    ends: Mapping[str, tuple[str, str]]
    copies: Mapping[str, str]
    places: Mapping[str, str]

    def body(self, body: Body) -> Body:
        """Return what the slice has of some statements."""
        out: list[Stmt] = []
        for stmt in body:
            match stmt:
                case Assign():
                    out += self._assign(stmt)
                case Loop():
                    out += self._loop(stmt)
                case _:
                    pass
        return tuple(out)

    def _assign(self, assign: Assign) -> Iterator[Stmt]:
        groups = dict.fromkeys(
            tuple(self._seen(reference))
            for reference in self.references
            if reference.statement == assign.number
        )
        yield from (seen for group in groups for seen in group)
        target = assign.target
        if isinstance(target, Var) and target.name in self.copies:
            yield replace(self._renamed(assign), number=NO_STATEMENT)

    def _seen(self, reference: DataReference) -> Iterator[Assign]:
        """Yield the statements that move the ends of an array to what a reference touches."""
        access, guard = reference.access, conjunction(reference.conditions)
        assert isinstance(access, Access)
        flat = flattened(access, self.region.arrays) or access
        assert isinstance(flat, Access)
        place = fold(flat.indices[0])
        if accesses(place):
            own = Var(self.places[reference.name])
            yield self._renamed(Assign(NO_STATEMENT, own, "=", place, guard=guard))
            place = own
        for end, op in zip(self.ends[reference.name], ("<", ">"), strict=True):
            value = Select(Binary(op, place, Var(end)), place, Var(end))
            yield self._renamed(Assign(NO_STATEMENT, Var(end), "=", value, guard=guard))

    def _renamed(self, assign: Assign) -> Assign:
        return assign.rewritten(
            lambda e: (
                Var(self.copies[e.name]) if isinstance(e, Var) and e.name in self.copies else None
            )
        )

    def _loop(self, loop: Loop) -> Iterator[Stmt]:
        """Yield a loop, or its first and last iteration where these touch the ends of it all."""
        inner = self.body(loop.body)
        if not inner or not self._is_stretch(loop, inner):
            yield from (replace(loop, body=inner),) if inner else ()
            return
        last = fold(Binary("-", loop.upper, Int(1)))
        if loop.step > 1:
            steps = Binary("/", Binary("-", last, loop.lower), Int(loop.step))
            last = fold(Binary("+", loop.lower, Binary("*", steps, Int(loop.step))))
        runs = self._runs(loop)
        found = dict.fromkeys(
            stmt for at in (loop.lower, last) for stmt in _at(inner, {loop.var: at}, runs)
        )
        yield from found

    def _runs(self, loop: Loop) -> tuple[Expr, ...]:
        """Return the test that a loop runs, none where constants say so."""
        ends = [fold(one, self.region.constants) for one in (loop.lower, loop.upper)]
        match ends:
            case [Int(first), Int(end)] if first < end:
                return ()
        return (Binary("<", loop.lower, loop.upper),)

    def _fixed_in(self, loop: Loop) -> Callable[[Expr], Poly | None]:
        """Return what names a part of an index that `loop` does not move, ``j * (j - 1) / 2``."""

        def named(part: Expr) -> Poly | None:
            is_moved = loop.var in variables(part) or accesses(part)
            return None if is_moved else variable(print_expr(part))

        return named

    @property
    def _own(self) -> frozenset[Var]:
        return frozenset(map(Var, self.places.values()))

    def _is_stretch(self, loop: Loop, inner: Body) -> bool:
        """Return whether the ends of a loop are those of what it touches, all else alike."""
        for stmt in walk_stmts(inner):
            if isinstance(stmt, Loop):
                if loop.var in variables(stmt.lower) | variables(stmt.upper):
                    return False
                continue
            assert isinstance(stmt, Assign)
            assert isinstance(stmt.target, Var)
            if stmt.target.name in self.copies.values():
                return False
            if stmt.guard is not None and loop.var in variables(stmt.guard):
                return False
            if not isinstance(stmt.value, Select) or stmt.value.if_true in self._own:
                return False
            place = stmt.value.if_true
            poly = from_expr(rewrite(place, _uncast), self._fixed_in(loop))
            if loop.var in variables(place) and (poly is None or not poly.linear_in((loop.var,))):
                return False
        return True


def _uncast(expr: Expr) -> Expr | None:
    """Return what is cast to long, without the cast; None for anything else."""
    if isinstance(expr, Cast) and expr.type == LONG:
        return rewrite(expr.operand, _uncast)
    return None


def _at(body: Body, values: Mapping[str, Expr], runs: tuple[Expr, ...]) -> Iterator[Stmt]:
    """Yield statements with values for some variables, under the test `runs`."""
    for stmt in body:
        if isinstance(stmt, Loop):
            yield replace(stmt, body=tuple(_at(stmt.body, values, runs)))
            continue
        assert isinstance(stmt, Assign)
        made = stmt.rewritten(lambda e: values.get(e.name) if isinstance(e, Var) else None)
        made = replace(made, value=fold(made.value))
        yield replace(made, guard=conjunction((*runs, made.guard)))


def _fresh(wanted: str, region: Region) -> str:
    """Return a name that stands for nothing of the user's."""
    name = f"annotune_{wanted}"
    while name in region.taken:
        name += "_"
    return name


def assumption_warnings(
    model: Model, names: Iterable[str], found: Inspector
) -> tuple[Diagnostic, ...]:
    """Return the warnings about gathers in range and about elements that a condition guards.

    ``def assume { arg extent = [...]; }`` with the array's length silences both.
    """
    stated = model.region.spec.assumptions.extents
    warnings: list[Diagnostic] = []
    for name in names:
        if name not in stated:
            warnings += _in_range(name, model)
        if name in found.parts:
            warnings += _looked_for(name, model)
    return (*warnings, *found.unseen)


def _in_range(name: str, model: Model) -> Iterator[Diagnostic]:
    gather = next((r for r in model.references[name] if r.unknown), None)
    if gather is None:
        return
    whole = model.whole_length(name)
    if whole is None:
        return
    extents = f"[{print_expr(to_expr(whole))}]"
    index = print_expr(gather.unknown_index)
    yield ASSUMED_IN_RANGE.at(gather.span, subscript=index, array=name, extents=extents)


def _looked_for(name: str, model: Model) -> Iterator[Diagnostic]:
    for reference in model.references[name]:
        if not model.is_known(reference):
            yield LOOKED_FOR.at(reference.span, array=name, condition=_decider(reference))
            return


def _decider(reference: DataReference) -> str:
    """Return what decides which elements a reference touches, when memory does, as text."""
    return print_expr(reference.unknown_index if reference.unknown else reference.conditions[-1])
