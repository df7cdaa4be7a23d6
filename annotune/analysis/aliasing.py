"""Which pointers a region assumes not to overlap."""

from __future__ import annotations

from collections.abc import Sequence

from annotune.analysis.messages import ASSUMED_APART
from annotune.analysis.statements import Statement
from annotune.analysis.text import listed
from annotune.diagnostics import Diagnostic
from annotune.ir.region import Array, Region


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
            if {one.name, other.name} & written and _may_overlap(one, other):
                doubtful.setdefault(one.name)
                doubtful.setdefault(other.name)
    return tuple(name for name in region.arrays if name in doubtful)


def _may_overlap(one: Array, other: Array) -> bool:
    if one.is_restrict or other.is_restrict:
        return False
    return one.is_pointer or other.is_pointer


def overlap_warnings(region: Region, statements: Sequence[Statement]) -> tuple[Diagnostic, ...]:
    """Return the warning about assumed pointers, none when C promises all that is needed."""
    names = assumed_apart(region, statements)
    if not names:
        return ()
    quoted = listed([f"'{name}'" for name in names])
    return (ASSUMED_APART.at(region.arrays[names[0]].span, names=quoted),)
