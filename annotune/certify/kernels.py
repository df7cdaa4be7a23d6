"""The certificate of a plan, made of the launches that its target would write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from annotune.analysis.facts import Analysis, ArrayShape
from annotune.analysis.reductions import reduction_operator, rounds_to_integer
from annotune.analysis.schedule import elements
from annotune.certify.certificate import Certificate, CopiedInput, GrowingRows, Stored, Touch
from annotune.certify.isl_schedule import AccPlacer, CorePlacer, Placer
from annotune.certify.isl_text import ALWAYS, IslText, reads_of
from annotune.certify.packed_arrays import PackedAccess, growing_rows, twice
from annotune.certify.versions import block_versions, versions
from annotune.codegen.c_expr import plain_c
from annotune.codegen.cuda.grid import THREADS
from annotune.frozen import dataclass
from annotune.ir.constants import value_at
from annotune.ir.expr import Access, Binary, Expr, Int, Var, accesses, place_name, rewrite
from annotune.ir.nest import (
    COPY_LEVELS,
    NO_STATEMENT,
    Assign,
    LocalArray,
    Loop,
    MemorySpace,
    Stmt,
    walk_places,
)
from annotune.ir.region import Region, flattened
from annotune.schedule.plan import Plan
from annotune.transforms.tree import Body, numbers

_PLACES = {
    MemorySpace.SHARED: "shared memory",
    MemorySpace.DEALT: "registers",
    MemorySpace.PRIVATE: "an array of each thread",
}
# Loops that are no turns of a block: its threads fill a shared copy together.
_TOGETHER = (*THREADS, *COPY_LEVELS)


def copies(plan: Plan) -> tuple[CopiedInput, ...]:
    """Return each copy of an input that the kernels of a plan make, with who reads it."""
    return tuple(one for kernel in plan.kernels() for one in _of_kernel(kernel.body))


def _of_kernel(body: Body) -> Iterator[CopiedInput]:
    found = [(stmt, around) for stmt, around, _ in walk_places(body)]
    arrays = {s.name: s for s, _ in found if isinstance(s, LocalArray)}
    filled: dict[str, tuple[str, tuple[Loop, ...]]] = {}
    for stmt, around in found:
        if isinstance(stmt, Assign) and stmt.number == NO_STATEMENT:
            source = next((a.array for e in stmt.sources() for a in accesses(e)), "")
            target = stmt.target
            if not source or not isinstance(target, Access) or target.array not in arrays:
                continue
            # Of a copy that runs ahead, the first is made before the loop of the others.
            if len(around) >= len(filled.get(target.array, ("", ()))[1]):
                filled[target.array] = (source, around)
    for name, (source, around) in filled.items():
        readers = {n for s, _ in found for n in _readers(s, name)}
        if not readers:
            continue
        # What threads load ahead goes through their registers first.
        while source in filled:
            source, around = filled[source]
        space = arrays[name].space
        beside = _TOGETHER if space is MemorySpace.SHARED else ()
        around_readers = _loops_around(found, name)
        own = [x.var for x in around if x.place not in beside and x.var in around_readers]
        yield CopiedInput(tuple(sorted(readers)), source, name, _PLACES[space], tuple(own))


def _readers(stmt: Stmt, name: str) -> frozenset[int]:
    """Return the statements of the region that read a copy by themselves."""
    if not isinstance(stmt, Assign) or stmt.number == NO_STATEMENT:
        return frozenset()
    read = any(a.array == name for e in stmt.sources() for a in accesses(e))
    return numbers(stmt) if read else frozenset()


def _loops_around(found: list[tuple[Stmt, tuple[Loop, ...]]], name: str) -> frozenset[str]:
    """Return the names of the loops around the statements that read a copy."""
    return frozenset(x.var for s, around in found if _readers(s, name) for x in around)


def certify(analysis: Analysis, plan: Plan, kind: type[Placer] = Placer) -> Certificate:
    """Return the certificate of a plan at the region's sizes; `kind` knows where loops run."""
    placer = kind(analysis)
    placer.steps(plan.steps, (), ())
    region = analysis.region
    lengths = {
        name: _section(shape, region.sizes)
        for name, shape in analysis.shapes.items()
        if name in region.arrays
    }
    packed = _packed(placer)
    return Certificate(
        region.sizes,
        {number: placer.placed[number] for number in placer.written},
        tuple(_touches(placer, lengths, packed)),
        lengths,
        _conditions(analysis),
        tuple(_stored(placer, plan)),
        versions(region, plan),
        copies(plan),
        {name: rows for name, (rows, _) in packed.items()},
    )


def certify_cores(analysis: Analysis, plan: Plan) -> Certificate:
    """Return the certificate of an OpenMP plan at the region's sizes."""
    made = certify(analysis, plan, CorePlacer)
    # The text has blocks of registers twice wherever their tiles may be cut short.
    return replace(made, versions=block_versions(analysis.region, plan))


def certify_acc(analysis: Analysis, plan: Plan) -> Certificate:
    """Return the certificate of an OpenACC plan at the region's sizes."""
    return certify(analysis, plan, AccPlacer)


def _stored(placer: Placer, plan: Plan) -> Iterator[Stored]:
    """Yield where statements find the private scalars that arrays of the plan stand for."""
    for scalar, found in elements(plan.scheduled()).items():
        for number, place in found.items():
            home = placer.analysis.homes[scalar][number]
            value = placer.values(number, (*place.around, *place.inside))
            element = [value[loop.var] for loop in place.around]
            element += [_counted(placer, index, value) for index in place.indices]
            life = [f"i{depth}" for depth in range(len(home))]
            yield Stored(
                number,
                f"{scalar} of {'.'.join(map(str, home))}",
                placer.relation(number, life, "A"),
                placer.relation(number, element, "A"),
                place.array.extents[: place.array.lives],
            )


def _counted(placer: Placer, index: Expr, value: Mapping[str, str]) -> str:
    """Return an index of an array of a schedule's own as isl text: a number of iterations.

    Where it were negative, C would round it to another number, and no array has its element.
    """
    match index:
        case Binary("/", distance, Int(step)):
            return f"floor(({placer.text_of(distance, value)})/{step})"
        case _:
            return placer.text_of(index, value)


def _conditions(analysis: Analysis) -> dict[str, str]:
    """Return the tests before the kernels, with their truth at the region's sizes."""
    text = IslText({}, analysis.region.sizes)
    return {plain_c(one): f"{{ : {text.where(one)[0]} }}" for one in analysis.conditions}


@dataclass(frozen=True, slots=True)
class _Reached:
    """A place that a statement reads or writes, and the conditions under which it does."""

    place: Access | Var
    conditions: tuple[Expr, ...]
    is_write: bool = False


def _places(assign: Assign) -> Iterator[_Reached]:
    """Yield what a statement touches, reads before the write."""
    guard = () if assign.guard is None else (assign.guard,)
    reads = [] if assign.guard is None else list(reads_of(assign.guard))
    reads += reads_of(assign.value, guard)
    if isinstance(assign.target, Access):
        reads += (read for index in assign.target.indices for read in reads_of(index, guard))
    if assign.op != "=":
        reads.append((assign.target, guard))
    yield from (_Reached(place, conditions) for place, conditions in reads)
    yield _Reached(assign.target, guard, is_write=True)


def _touches(
    placer: Placer, lengths: Mapping[str, tuple[int, int]], packed: _Packed
) -> list[Touch]:
    """Return every access of every statement, reads before the write."""
    out: list[Touch] = []
    for assign in placer.analysis.region.nest.assigns():
        for one in _places(assign):
            place = one.place
            operator = (reduction_operator(assign) or "") if place == assign.target else ""
            found = _touch(placer, assign.number, place, one.conditions, lengths, packed)
            if found is not None:
                known = placer.combined if operator else {}
                combined = known.get((assign.number, place_name(place)), ())
                is_free = operator == "+" and not rounds_to_integer(placer.analysis.region, assign)
                out.append(Touch(assign.number, *found, one.is_write, operator, combined, is_free))
    return list(dict.fromkeys(out))


_Packed: TypeAlias = Mapping[str, tuple[GrowingRows, Mapping[tuple[int, Expr], tuple[str, str]]]]
"""By the name of an array: its rows, and the row and column of each index of each statement."""


def _packed(placer: Placer) -> _Packed:
    """Return the arrays of the region whose accesses all lie in rows that grow or shrink."""
    found: dict[str, dict[tuple[int, Expr], PackedAccess | None]] = {}
    for assign in placer.analysis.region.nest.assigns():
        number = assign.number
        text, instance = placer.text(number), placer.instance(number)
        for one in _places(assign):
            if not isinstance(one.place, Access) or one.place.array in placer.analysis.homes:
                continue
            flat = flattened(one.place, placer.analysis.region.arrays) or one.place
            assert isinstance(flat, Access)
            terms = twice(flat.indices[0], text.names, text.sizes)
            made = PackedAccess(instance, placer.domain(number), terms or {})
            is_plain = len(flat.indices) > 1 or terms is None
            accesses = found.setdefault(one.place.array, {})
            accesses[number, flat.indices[0]] = None if is_plain else made
    packed: dict[str, tuple[GrowingRows, Mapping[tuple[int, Expr], tuple[str, str]]]] = {}
    for name, accesses in found.items():
        known = [one for one in accesses.values() if one is not None]
        rows = growing_rows(known) if len(known) == len(accesses) else None
        if rows is not None:
            packed[name] = rows[0], dict(zip(accesses, rows[1], strict=True))
    return packed


def _touch(
    placer: Placer,
    number: int,
    place: Access | Var,
    conditions: tuple[Expr, ...],
    lengths: Mapping[str, tuple[int, int]],
    packed: _Packed,
) -> tuple[str, str] | None:
    """Return the variable behind a place and its element in each iteration.

    None for a scalar that stays as it is. A private variable is another one in each iteration
    of the loop that owns it, and in another loop.
    """
    name, analysis, text = place_name(place), placer.analysis, placer.text(number)
    home = analysis.homes.get(name, {}).get(number)
    own = [f"i{depth}" for depth in range(len(home or ()))]
    variable = name if home is None else f"{name} of {'.'.join(map(str, home))}"
    where = " and ".join(text.where(condition)[0] for condition in conditions) or ALWAYS
    if isinstance(place, Var):
        if name not in analysis.region.nest.written_scalars():
            return None
        pairs = [(own, where)]
    else:
        flat = flattened(place, analysis.region.arrays) or place
        assert isinstance(flat, Access)
        if name in packed:
            pairs = [(list(packed[name][1][number, flat.indices[0]]), where)]
        else:
            pairs = _elements(flat, text, where, own, lengths.get(name), analysis.region)
    elements = "; ".join(
        f"{placer.instance(number)} -> A[{', '.join(element)}] : {holds}"
        for element, holds in pairs
    )
    return variable, f"{{ {elements} }}"


def _elements(
    access: Access,
    text: IslText,
    where: str,
    own: Sequence[str],
    length: tuple[int, int] | None,
    region: Region,
) -> list[tuple[list[str], str]]:
    """Return the cases of an access: an element, and where it is that one.

    An index that memory decides may be any, between the sizes that say so; the array is taken to
    hold it.
    """
    found = [(list(own), where)]
    for place, index in enumerate(access.indices):
        cases = text.cases(index)
        if cases is None:
            any_index = f"x{place}"
            inside = f"{length[0]} <= {any_index} < {length[1]}" if length else ALWAYS
            inside = f"{inside} and {_within(any_index, index, text, region)}"
            found = [([*e, any_index], f"{w} and {inside}") for e, w in found]
        else:
            found = [([*e, c.value], f"{w} and {c.where}") for e, w in found for c in cases]
    return found


def _within(name: str, index: Expr, text: IslText, region: Region) -> str:
    """Return what is known in isl's syntax of `name`, an index made of numbers with a range."""
    between: dict[str, str] = {}

    def named(expr: Expr) -> Expr | None:
        if not isinstance(expr, Access) or expr.array not in region.index_ranges:
            return None
        own = f"u{len(between)}"
        low, high = (region.sizes[size] for size in region.index_ranges[expr.array])
        between[own] = f"{low} <= {own} <= {high}"
        return Var(own)

    plain = rewrite(index, named)
    cases = replace(text, names={**text.names, **{own: own for own in between}}).cases(plain)
    if not between or cases is None:
        return ALWAYS
    ranges = " and ".join(between.values())
    found = " or ".join(f"({one.where} and {name} = {one.value})" for one in cases)
    return f"(exists {', '.join(between)} : {ranges} and ({found}))"


def _section(shape: ArrayShape, sizes: Mapping[str, int]) -> tuple[int, int]:
    """Return the first element of an array, and one past its last."""
    lowest = value_at(shape.lowest, sizes, in_long=True)
    length = value_at(shape.length, sizes, in_long=True)
    assert lowest is not None, shape
    assert length is not None, shape
    return lowest, lowest + length
