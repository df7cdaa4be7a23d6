"""Which pointers a region assumes not to overlap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl

from annotune.analysis.domains import NotLinear, Space, access_map, context, domain
from annotune.analysis.messages import ASSUMED_APART, OVERLAP, listed
from annotune.analysis.poly import integer
from annotune.analysis.statements import Reference, Statement
from annotune.diagnostics import Diagnostic
from annotune.ir.region import Array, Region
from annotune.ir.sharing import may_share


def assumed_apart(region: Region, statements: Sequence[Statement]) -> tuple[str, ...]:
    """Return the pointers that may name one memory although the region writes through one.

    Two arrays may overlap unless both are array objects, or the C text promises otherwise:
    a written `restrict` pointer is the only way to what it points at, and so is a read one
    to what is written.
    """
    written = {r.name for s in statements for r in s.references if r.is_write}
    arrays = tuple(region.arrays.values())
    doubtful: dict[str, None] = {}
    for index, one in enumerate(arrays):
        for other in arrays[index + 1 :]:
            if {one.name, other.name} & written and may_share(one, other):
                doubtful.setdefault(one.name)
                doubtful.setdefault(other.name)
    return tuple(name for name in region.arrays if name in doubtful)


def overlap_warnings(region: Region, statements: Sequence[Statement]) -> tuple[Diagnostic, ...]:
    """Return the warning about assumed pointers, none when C or the user promises it."""
    names = assumed_apart(region, statements)
    if not names or region.spec.assumptions.disjoint:
        return ()
    quoted = listed([f"'{name}'" for name in names])
    return (ASSUMED_APART.at(region.arrays[names[0]].span, names=quoted),)


# A size without a value counts as at least this: a smaller nest is not worth a kernel.
_SMALL_SIZE = 16


def overlaps(region: Region, statements: Sequence[Statement], space: Space) -> list[Diagnostic]:
    """Return a refusal for each two pointers of which the text proves that they overlap.

    Both are set to places of one array, and the region writes an element under one name and
    touches it under the other. `space` has the sizes that are known.
    """
    arrays = tuple(region.arrays.values())
    found: list[Diagnostic] = []
    for index, one in enumerate(arrays):
        for other in arrays[index + 1 :]:
            if (one.root or one.name) != (other.root or other.name):
                continue
            if _meet(one, other, statements, space):
                late = max(one, other, key=lambda array: array.span)
                early = other if late is one else one
                sign = "-" if late.offset < 0 else "+"
                place = f"{late.root} {sign} {abs(late.offset)}" if late.offset else late.root
                found.append(OVERLAP.at(late.span, name=late.name, place=place, other=early.name))
    return found


def _meet(one: Array, other: Array, statements: Sequence[Statement], space: Space) -> bool:
    """Return whether some element is touched under both names and written under one."""
    sizes = context(statements, space, ())
    try:
        pairs = [
            first.intersect(second)
            for is_write, first in _touched(one, statements, space, sizes)
            for also_written, second in _touched(other, statements, space, sizes)
            if is_write or also_written
        ]
    except NotLinear:
        return False
    shared = isl.Set("{ [x] : false }")
    for pair in pairs:
        shared = shared.union(pair)
    large = sizes
    for k in range(large.dim(isl.dim_type.param)):
        large = large.lower_bound_val(isl.dim_type.param, k, isl.Val(_SMALL_SIZE))
    return not shared.is_empty() and bool(large.is_subset(shared.params()))


def _touched(
    array: Array, statements: Sequence[Statement], space: Space, sizes: isl.Set
) -> Iterator[tuple[bool, isl.Set]]:
    """Yield the elements that each reference of an array touches, counted from its root."""
    for statement in statements:
        # What memory decides proves nothing.
        own = [
            r
            for r in statement.references
            if r.name == array.name and not r.conditions and not r.unknown and r.subscripts
        ]
        for reference in own:
            yield reference.is_write, _elements(reference, array, statement, space, sizes)


def _elements(
    reference: Reference, array: Array, statement: Statement, space: Space, sizes: isl.Set
) -> isl.Set:
    (subscript,) = reference.subscripts
    address = subscript + integer(array.offset)
    return access_map(statement, [address], space, domain(statement, space, sizes)).range()
