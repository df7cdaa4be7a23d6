"""Exact dependences: pairs of instances that touch one element, in the order of the text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import islpy as isl

from annotune.analysis.domains import parsed_map, tuple_text
from annotune.analysis.facts import Dependence, DependenceKind
from annotune.analysis.model import Model
from annotune.analysis.privatise import Lifetime
from annotune.analysis.reductions import reduction_operator
from annotune.analysis.statements import Reference, Statement
from annotune.ir.expr import walk

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
    source: Reference
    sink: Reference
    pieces: Mapping[int, isl.Map]


def all_dependences(model: Model, lifetimes: Mapping[str, Lifetime]) -> tuple[Carried, ...]:
    """Return every dependence of `model`, those on private scalars within one iteration.

    A private variable is a new one in each iteration of the loop to which it is private,
    so that only pairs of one such iteration depend on each other.
    """
    found: list[Carried] = []
    for name, references in model.references.items():
        if not any(reference.is_write for reference in references):
            continue
        lifetime = lifetimes.get(name)
        for source in references:
            for sink in references:
                if source.is_write or sink.is_write:
                    found.extend(_between(model, source, sink, lifetime))
    return tuple(found)


def _between(
    model: Model, source: Reference, sink: Reference, lifetime: Lifetime | None
) -> Iterator[Carried]:
    """Yield the dependence from `source` to `sink`, if there is one."""
    first, second = model.statement(source.statement), model.statement(sink.statement)
    inside = 0
    if lifetime is not None:
        home = lifetime.home(first.position)
        if home != lifetime.home(second.position):
            return
        inside = len(home)
    conflicts = model.maps[source].apply_range(model.maps[sink].reverse())
    if conflicts.is_empty():
        return
    pieces: dict[int, isl.Map] = {}
    common = first.common_depth(second)
    for depth in range(inside, common):
        piece = conflicts.intersect(_carried_at(first, second, depth))
        if not piece.is_empty():
            pieces[depth] = piece
    if first.position < second.position:
        piece = conflicts.intersect(_same_iteration(first, second, common))
        if not piece.is_empty():
            pieces[-1] = piece
    if not pieces:
        return
    relation, *others = pieces.values()
    for piece in others:
        relation = relation.union(piece)
    dependence = Dependence(
        source.name,
        _KINDS[source.is_write, sink.is_write],
        source.statement,
        sink.statement,
        relation,
        _is_reduction(first, source, sink),
        source.span,
        sink.span,
    )
    yield Carried(dependence, source, sink, pieces)


def _is_reduction(statement: Statement, source: Reference, sink: Reference) -> bool:
    """Return whether both references are the accumulated target of one statement."""
    assign = statement.assign
    return (
        source.statement == sink.statement
        and source.access == sink.access == assign.target
        and reduction_operator(assign) is not None
        # What has been accumulated so far decides what follows.
        and (assign.guard is None or assign.target not in walk(assign.guard))
    )


def _carried_at(first: Statement, second: Statement, depth: int) -> isl.Map:
    """Return the pairs that agree on the loops outside `depth` and ascend at `depth`."""
    facts = [f"i{d} = j{d}" for d in range(depth)] + [f"i{depth} < j{depth}"]
    return _ordered(first, second, facts)


def _same_iteration(first: Statement, second: Statement, common: int) -> isl.Map:
    return _ordered(first, second, [f"i{d} = j{d}" for d in range(common)])


def _ordered(first: Statement, second: Statement, facts: list[str]) -> isl.Map:
    pair = f"{tuple_text(first)} -> {tuple_text(second, 'j')}"
    return parsed_map(f"{{ {pair} : {' and '.join(facts) or 'true'} }}")


def distance(carried: Carried, depth: int) -> int | None:
    """Return how far apart source and sink are on the loop at `depth`, if always the same."""
    return constant_distance(carried.pieces[depth], depth, depth)


def constant_distance(pairs: isl.Map, source_dim: int, sink_dim: int) -> int | None:
    """Return sink minus source on the given dimensions, None when it varies."""
    value = _distances(pairs, source_dim, sink_dim).plain_get_val_if_fixed(isl.dim_type.set, 0)
    return int(value.to_python()) if value.is_int() else None


def shortest_distance(pairs: isl.Map, source_dim: int, sink_dim: int) -> int | None:
    """Return the least distance between sink and source that is not 0, at any sizes."""
    steps = _distances(pairs, source_dim, sink_dim)
    steps = steps.project_out(isl.dim_type.param, 0, steps.dim(isl.dim_type.param))
    away = isl.Set("{ d[x] : x > 0 }")
    least = steps.union(steps.neg()).intersect(away).lexmin()
    value = least.plain_get_val_if_fixed(isl.dim_type.set, 0)
    return int(value.to_python()) if value.is_int() else None


def _distances(pairs: isl.Map, source_dim: int, sink_dim: int) -> isl.Set:
    """Return all values of sink minus source on the given dimensions."""
    for kind, dim in ((isl.dim_type.in_, source_dim), (isl.dim_type.out, sink_dim)):
        pairs = pairs.project_out(kind, dim + 1, pairs.dim(kind) - dim - 1)
        pairs = pairs.project_out(kind, 0, dim).set_tuple_name(kind, "d")
    return pairs.deltas()
