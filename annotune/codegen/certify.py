"""Makes the certificate of a plan from the launches that the CUDA target would write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from annotune.analysis.facts import Analysis
from annotune.analysis.reductions import reduction_operator
from annotune.analysis.schedule import elements
from annotune.analysis.statements import value_at
from annotune.codegen.c_expr import plain_c
from annotune.codegen.certify_copies import copies
from annotune.codegen.certify_versions import versions
from annotune.codegen.isl_schedule import Maker, text_order
from annotune.codegen.isl_text import ALWAYS, IslText, reads_of
from annotune.decide.certificate import Certificate, Stored, Touch
from annotune.decide.plan import Plan
from annotune.ir.expr import Access, Binary, Expr, Int, Var
from annotune.ir.nest import walk_paths
from annotune.ir.region import flattened


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
