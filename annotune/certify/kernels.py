"""Which inputs the statements of a plan read from copies, as its certificate lists them.

Makes the certificate of a plan from the launches that the CUDA target would write.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from annotune.analysis.facts import Analysis
from annotune.analysis.reductions import reduction_operator
from annotune.analysis.schedule import elements
from annotune.analysis.statements import value_at
from annotune.certify.certificate import Certificate, Copied, Stored, Touch
from annotune.certify.isl_schedule import Maker, text_order
from annotune.certify.isl_text import ALWAYS, IslText, reads_of
from annotune.certify.versions import versions
from annotune.codegen.c_expr import plain_c
from annotune.codegen.cuda.grid import THREADS
from annotune.ir.expr import Access, Binary, Expr, Int, Var, accesses
from annotune.ir.nest import (
    NO_STATEMENT,
    Assign,
    Level,
    LocalArray,
    Loop,
    MemorySpace,
    Stmt,
    walk_paths,
)
from annotune.ir.region import flattened
from annotune.schedule.plan import Plan
from annotune.transforms.tree import Body, numbers

_PLACES = {
    MemorySpace.SHARED: "shared memory",
    MemorySpace.DEALT: "registers",
    MemorySpace.PRIVATE: "an array of each thread",
}
# Loops that are no turns of a block: its threads fill a shared copy together.
_TOGETHER = (*THREADS, Level.COOPERATIVE, Level.ASYNC)


def copies(plan: Plan) -> tuple[Copied, ...]:
    """Return each copy of an input that the kernels of a plan make, with who reads it."""
    return tuple(one for kernel in plan.kernels() for one in _of_kernel(kernel.body))


def _of_kernel(body: Body) -> Iterator[Copied]:
    found = list(_walk(body, ()))
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
        yield Copied(tuple(sorted(readers)), source, name, _PLACES[space], tuple(own))


def _walk(body: Body, outer: tuple[Loop, ...]) -> Iterator[tuple[Stmt, tuple[Loop, ...]]]:
    for stmt in body:
        yield stmt, outer
        if isinstance(stmt, Loop):
            yield from _walk(stmt.body, (*outer, stmt))


def _readers(stmt: Stmt, name: str) -> frozenset[int]:
    """Return the statements of the region that read a copy by themselves."""
    if not isinstance(stmt, Assign) or stmt.number == NO_STATEMENT:
        return frozenset()
    read = any(a.array == name for e in stmt.sources() for a in accesses(e))
    return numbers(stmt) if read else frozenset()


def _loops_around(found: list[tuple[Stmt, tuple[Loop, ...]]], name: str) -> frozenset[str]:
    """Return the names of the loops around the statements that read a copy."""
    return frozenset(x.var for s, around in found if _readers(s, name) for x in around)


def certify(analysis: Analysis, plan: Plan, kind: type[Maker] = Maker) -> Certificate:
    """Return the certificate of a plan at the region's sizes; `kind` knows where loops run."""
    maker = kind(analysis)
    maker.steps(plan.steps, (), ())
    region = analysis.region
    domains: dict[int, str] = {}
    original: dict[int, str] = {}
    for assign, around in walk_paths(region.nest.body):
        number = assign.number
        condition = " and ".join(maker.bounds(assign, around)) or "true"
        domains[number] = f"{{ {maker.instance(number)} : {condition} }}"
        own = maker.values(number, around)
        original[number] = maker.relation(number, text_order(region.nest.body, number, own))
    lengths = {
        name: (_number(shape.lowest, region.sizes), _end(shape.lowest, shape.length, region.sizes))
        for name, shape in analysis.shapes.items()
        if name in region.arrays
    }
    return Certificate(
        region.sizes,
        domains,
        original,
        maker.launch,
        maker.worker,
        maker.time,
        maker.grids,
        tuple(_touches(maker, lengths)),
        lengths,
        maker.phase,
        frozenset(maker.joined),
        _conditions(analysis),
        tuple(_stored(maker, plan)),
        versions(region, plan),
        copies(plan),
    )


def _stored(maker: Maker, plan: Plan) -> Iterator[Stored]:
    """Yield where statements find the private scalars that arrays of the plan stand for."""
    for scalar, found in elements(plan.scheduled()).items():
        for number, place in found.items():
            home = maker.analysis.homes[scalar][number]
            value = maker.values(number, (*place.around, *place.inside))
            element = [value[loop.var] for loop in place.around]
            element += [_counted(maker, index, number, value) for index in place.indices]
            life = [f"i{depth}" for depth in range(len(home))]
            yield Stored(
                number,
                f"{scalar} of {'.'.join(map(str, home))}",
                maker.relation(number, life, "A"),
                maker.relation(number, element, "A"),
                place.array.extents,
            )


def _counted(maker: Maker, index: Expr, number: int, value: Mapping[str, str]) -> str:
    """Return an index of an array of a schedule's own as isl text: a number of iterations.

    Where it were negative, C would round it to another number, and no array has its element.
    """
    match index:
        case Binary("/", distance, Int(step)):
            return f"floor(({maker.text_of(distance, number, value)})/{step})"
        case _:
            return maker.text_of(index, number, value)


def _conditions(analysis: Analysis) -> dict[str, str]:
    """Return the tests before the kernels, with their truth at the region's sizes."""
    text = IslText({}, analysis.region.sizes)
    return {plain_c(one): f"{{ : {text.where(one)[0]} }}" for one in analysis.conditions}


def _touches(maker: Maker, lengths: Mapping[str, tuple[int, int]]) -> list[Touch]:
    """Return every access of every statement, reads before the write."""
    out: list[Touch] = []
    for assign in maker.analysis.region.nest.assigns():
        guard = () if assign.guard is None else (assign.guard,)
        reads = [] if assign.guard is None else list(reads_of(assign.guard))
        reads += reads_of(assign.value, guard)
        if isinstance(assign.target, Access):
            reads += (read for index in assign.target.indices for read in reads_of(index, guard))
        if assign.op != "=":
            reads.append((assign.target, guard))
        touched = [(place, conditions, False) for place, conditions in reads]
        for place, conditions, is_write in [*touched, (assign.target, guard, True)]:
            is_sum = place == assign.target and reduction_operator(assign) is not None
            found = _touch(maker, assign.number, place, conditions, lengths)
            if found is not None:
                combined = maker.combined.get((assign.number, _name(place)), ()) if is_sum else ()
                out.append(Touch(assign.number, *found, is_write, is_sum, combined))
    return list(dict.fromkeys(out))


def _name(place: Access | Var) -> str:
    return place.array if isinstance(place, Access) else place.name


def _touch(
    maker: Maker,
    number: int,
    place: Access | Var,
    conditions: tuple[Expr, ...],
    lengths: Mapping[str, tuple[int, int]],
) -> tuple[str, str] | None:
    """Return the variable behind a place and its element in each iteration.

    None for a scalar that stays as it is. A private variable is another one in each iteration
    of the loop that owns it, and in another loop.
    """
    name, analysis, text = _name(place), maker.analysis, maker.text(number)
    home = analysis.homes.get(name, {}).get(number)
    own = [f"i{depth}" for depth in range(len(home or ()))]
    variable = name if home is None else f"{name} of {'.'.join(map(str, home))}"
    where = " and ".join(text.where(condition)[0] for condition in conditions) or ALWAYS
    if isinstance(place, Var):
        if name not in _written_scalars(analysis):
            return None
        pairs = [(own, where)]
    else:
        flat = flattened(place, analysis.region.arrays) or place
        assert isinstance(flat, Access)
        pairs = _elements(flat, text, where, own, lengths.get(name))
    elements = "; ".join(
        f"{maker.instance(number)} -> A[{', '.join(element)}] : {holds}" for element, holds in pairs
    )
    return variable, f"{{ {elements} }}"


def _elements(
    access: Access,
    text: IslText,
    where: str,
    own: Sequence[str],
    length: tuple[int, int] | None,
) -> list[tuple[list[str], str]]:
    """Return the cases of an access: an element, and where it is that one.

    An index that memory decides may be any; the array is taken to hold it.
    """
    found = [(list(own), where)]
    for place, index in enumerate(access.indices):
        cases = text.cases(index)
        if cases is None:
            any_index = f"x{place}"
            inside = f"{length[0]} <= {any_index} < {length[1]}" if length else ALWAYS
            found = [([*e, any_index], f"{w} and {inside}") for e, w in found]
        else:
            found = [([*e, c.value], f"{w} and {c.where}") for e, w in found for c in cases]
    return found


def _written_scalars(analysis: Analysis) -> frozenset[str]:
    assigns = analysis.region.nest.assigns()
    return frozenset(a.target.name for a in assigns if isinstance(a.target, Var))


def _number(expr: Expr, sizes: Mapping[str, int]) -> int:
    value = value_at(expr, sizes)
    assert value is not None, expr
    return value


def _end(lowest: Expr, length: Expr, sizes: Mapping[str, int]) -> int:
    return _number(lowest, sizes) + _number(length, sizes)
