"""Operations, strides and least memory traffic of statements at the region's sizes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from annotune.analysis.facts import AccessFacts, Work
from annotune.analysis.footprints import distinct_elements, instance_count
from annotune.analysis.model import Model
from annotune.analysis.named import Size, plain_names
from annotune.analysis.poly import ZERO, Poly, to_expr
from annotune.analysis.sections import whole_length
from annotune.analysis.statements import Reference, Statement
from annotune.ir.c_types import element_bytes
from annotune.ir.expr import (
    COMPARISONS,
    CONNECTIVES,
    Access,
    Binary,
    Call,
    Expr,
    Int,
    Negate,
    Real,
    Select,
    Var,
    children,
)
from annotune.ir.functions import FUNCTIONS, is_integer
from annotune.ir.nest import Assign
from annotune.ir.region import Region

_REAL_TYPES = frozenset(("double", "float", "long double"))


def operations(assign: Assign, region: Region) -> int:
    """Return the floating-point operations of one instance of `assign`."""
    compound = 0 if assign.op == "=" else 1
    return compound + sum(_count(source, region) for source in assign.sources())


def _count(expr: Expr, region: Region) -> int:
    if isinstance(expr, Access):
        return 0  # subscripts are integer arithmetic
    inside = sum(_count(child, region) for child in children(expr))
    match expr:
        case Binary(op, left, right) if op in COMPARISONS:
            return inside + int(_is_real(left, region) or _is_real(right, region))
        case Binary():
            return inside + int(_is_real(expr, region))
        case Call(function, _) if function in FUNCTIONS and not is_integer(function):
            return inside + FUNCTIONS[function].flops
    return inside


def _is_real(expr: Expr, region: Region) -> bool:
    match expr:
        case Access() | Real():
            return True
        case Int():
            return False
        case Var(name):
            scalar = region.scalars.get(name)
            return scalar is not None and scalar.type in _REAL_TYPES
        case Negate(operand):
            return _is_real(operand, region)
        case Binary(op, _, _) if op in COMPARISONS | CONNECTIVES:
            return False
        case Binary(_, left, right):
            return _is_real(left, region) or _is_real(right, region)
        case Call(function, _):
            return not is_integer(function)
        case Select(_, if_true, if_false):
            return _is_real(if_true, region) or _is_real(if_false, region)


def missing_for_work(model: Model) -> tuple[str, ...]:
    """Return the sizes without a value that the amount of work depends on."""
    polys: list[Poly] = []
    for statement in model.statements:
        polys += [p for loop in statement.loops for p in (*loop.lower, *loop.upper)]
    for layout in model.layouts.values():
        polys += layout.flat or ()
    iterators = {loop.var for loop in model.region.nest.loops()}
    names = {name for poly in polys for name in poly.names} - model.values.keys()
    parts = {name: part for s in model.statements for name, part in s.parts.items()}
    unknown = {n for s in model.statements for r in s.references for n in r.unknown}
    plain = plain_names(names - unknown, parts)
    # What C's types make of known sizes need not be known.
    plain |= {name for name in names if isinstance(parts.get(name), Size)}
    return tuple(sorted(plain - iterators - model.values.keys()))


def statement_work(model: Model, statement: Statement) -> Work:
    """Return the work of all instances of one statement."""
    instances = instance_count(statement, model.values)
    flop = instances * operations(statement.assign, model.region)
    return _work(model, flop, statement.references)


def total_work(model: Model, work: Mapping[int, Work]) -> Work:
    """Return the region's work: every touched element is read once and written once."""
    flop = sum(one.flop for one in work.values())
    return _work(model, flop, [r for s in model.statements for r in s.references])


def _work(model: Model, flop: int, references: Iterable[Reference]) -> Work:
    read: defaultdict[str, list[Reference]] = defaultdict(list)
    written: defaultdict[str, list[Reference]] = defaultdict(list)
    for reference in dict.fromkeys(references):
        if isinstance(reference.access, Access):
            (written if reference.is_write else read)[reference.name].append(reference)
    return Work(flop, _bytes(model, read), _bytes(model, written))


def _bytes(model: Model, touched: Mapping[str, list[Reference]]) -> int:
    sizes = model.values
    total = 0
    for name, references in touched.items():
        flat = _flat(model, name)
        array = model.region.arrays.get(name)
        if array is None:
            continue  # a local array needs no memory traffic
        addresses = [
            (model.statement(r.statement), flat[r])
            for r in references
            if r in flat and not r.unknown
        ]
        count = distinct_elements(addresses, sizes)
        gathers = {r.statement for r in references if r.unknown}
        if gathers:
            # Which elements a gather reads is not known: at most one in each run, or all.
            count += sum(instance_count(model.statement(g), sizes) for g in gathers)
            whole = whole_length(name, model)
            length = None if whole is None else whole.at(sizes).constant
            count = count if length is None else min(count, length)
        total += element_bytes(array.element) * count
    return total


def _flat(model: Model, name: str) -> dict[Reference, Poly]:
    flat = model.layouts[name].flat
    return dict(zip(model.references[name], flat, strict=True)) if flat is not None else {}


def access_facts(model: Model) -> dict[int, tuple[AccessFacts, ...]]:
    """Return the facts of each statement's array accesses, reads first, as often as written."""
    flat = {r: p for name in model.references for r, p in _flat(model, name).items()}
    sizes = model.values
    found: dict[int, tuple[AccessFacts, ...]] = {}
    for statement in model.statements:
        facts = []
        named = {name: part.expr for name, part in statement.parts.items()}
        for reference in statement.references:
            if isinstance(reference.access, Access) and reference.name in model.region.arrays:
                rows = model.rows[reference]
                indices = tuple(to_expr(row, opaque=named) for row in rows)
                strides = _strides(statement, flat.get(reference), sizes)
                facts.append(
                    AccessFacts(
                        reference.access, statement.number, reference.is_write, indices, strides
                    )
                )
        found[statement.number] = tuple(facts)
    return found


def _strides(
    statement: Statement, address: Poly | None, sizes: Mapping[str, int]
) -> dict[str, int | None]:
    """Return for each loop how far one iteration moves `address`, in elements."""
    split = None if address is None else address.linear_in(statement.moving)
    if address is None or split is None:
        return dict.fromkeys(statement.iterators)
    irregular = plain_names(split[0].keys() - set(statement.iterators), statement.parts)
    through_memory = irregular - set(statement.iterators) - sizes.keys()
    strides: dict[str, int | None] = {}
    for loop in statement.loops:
        factor = split[0].get(loop.var, ZERO).at(sizes).constant
        is_regular = factor is not None and loop.var not in irregular and not through_memory
        strides[loop.var] = factor * loop.loop.step if factor is not None and is_regular else None
    return strides
