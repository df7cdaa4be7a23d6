"""The sections of arrays that a region's kernels use on a device, and the clauses that bring them.

These are the least copies that a region's dependences allow.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

from annotune.analysis.facts import Analysis
from annotune.codegen.c_expr import in_64_bits, plain_c
from annotune.codegen.guards import (
    Stretch,
    address,
    comparable,
    disjoint,
    same_or_disjoint,
)
from annotune.codegen.names import narrow_scalars
from annotune.ir.c_types import may_share, may_share_unchanged
from annotune.ir.expr import Binary, Call, Cast, Expr, Int, Select, variables, walk
from annotune.ir.fold import fold
from annotune.ir.poly import from_expr
from annotune.ir.region import Array, Assertion, Region
from annotune.ir.typing import in_long, may_wrap

# What a clause of OpenACC's begins with, by what it does: arrays that are there already, copies to
# the device, both ways, and back, and memory there alone.
ACC_MOVES: Mapping[str, str] = {
    "present": "present(",
    "copyin": "copyin(",
    "copy": "copy(",
    "copyout": "copyout(",
    "create": "create(",
}


def data_clauses(
    analysis: Analysis,
    resident: bool = False,
    is_inside: bool = False,
    is_part: bool = False,
    among: Collection[str] | None = None,
    moves: Mapping[str, str] = ACC_MOVES,
    is_tested: bool = True,
) -> str:
    """Return the clauses that bring a region's arrays to the device and back.

    What is only read is copied in, what is wholly overwritten first is only copied out, and what
    nothing reads before or afterwards is not copied where the language has a word for it. With
    `resident` the caller's arrays are there already, and all that `is_inside` clauses for all of a
    region; `is_part` of a region may overwrite a part only, and may use no arrays but those of
    `among`. `moves` are a language's words (`ACC_MOVES`). Where it `is_tested` before that loops
    run no section has fewer elements than none.
    """
    sections: dict[str, list[str]] = {}
    for array in analysis.region.arrays.values():
        if among is not None and array.name not in among:
            continue
        is_whole = not is_inside and not is_part and "create" in moves
        clause = "present" if resident or is_inside else _clause(analysis, array, is_part)
        if is_whole and analysis.stays_on_device(array.name):
            clause = "create"
        sections.setdefault(clause, []).append(section(analysis, array, is_tested))
    return _joined(sections, moves)


def _joined(sections: Mapping[str, Sequence[str]], moves: Mapping[str, str]) -> str:
    """Return the clauses for sections, by what they do, as far as a language has words for them."""
    found = (c for c in ACC_MOVES if c in moves and sections.get(c))
    return " ".join(f"{moves[c]}{', '.join(sections[c])})" for c in found)


def present_elements(analysis: Analysis, moves: Mapping[str, str]) -> str:
    """Return the clauses by which the device finds resident arrays at sizes of any kind.

    An element of each must be there, as a rule one that is touched: how many are is not known at
    all sizes, nor need a section be one where none is. What the region has for itself is made.
    """
    found: list[str] = []
    made: list[str] = []
    for array in analysis.region.arrays.values():
        if analysis.has_own_memory(array.name):
            made.append(section(analysis, array, is_tested=False))
            continue
        shape = analysis.shapes[array.name]
        part = shape.part if shape.rows is None else shape.rows
        first = fold(part.first)
        if first != Int(0):
            first = fold(Select(Binary(">", in_long(part.count), Int(0)), first, Int(0)))
        rest = "".join(f"[0:{plain_c(e)}]" for e in array.extents[1:] if e is not None)
        found.append(f"{array.name}[{_counted(first, analysis.region)}:1]{rest}")
    if "create" not in moves:
        found += made
    return _joined({"present": found, "create": made}, moves)


def section(analysis: Analysis, array: Array, is_tested: bool = True) -> str:
    """Return the part of an array that a call touches, as OpenACC and OpenMP write it.

    Of an array of rows whole rows are taken, also where that is all of an array object: its name
    alone would be another thing where a function gets it as a pointer, as in `measure`.
    Unless it `is_tested` before that loops run, ``b[0:n - 2]`` of fewer than two is none at all.
    """
    if not array.extents and not array.is_pointer:
        return array.name
    shape = analysis.shapes[array.name]
    inner = [extent for extent in array.extents[1:] if extent is not None]
    part = shape.part if shape.rows is None else shape.rows
    first, count = fold(part.first), fold(part.count)
    if not is_tested and _may_be_negative(count, analysis.region):
        count = Select(Binary(">", in_long(count), Int(0)), count, Int(0))
    rest = "".join(f"[0:{plain_c(extent)}]" for extent in inner)
    bounds = (_counted(bound, analysis.region) for bound in (first, count))
    return f"{array.name}[{':'.join(bounds)}]{rest}"


def lengths_read(analysis: Analysis) -> tuple[Assertion, ...]:
    """Return what must hold of constants for sections of as many elements as at the tuned sizes.

    A compiler that knows the extents of an array takes no longer section.
    """
    names: dict[str, None] = {}
    for array in analysis.region.arrays.values():
        shape = analysis.shapes[array.name]
        part = shape.part if shape.rows is None else shape.rows
        if isinstance(fold(part.count), Int) and not array.is_pointer:
            found = (variables(extent) for extent in array.extents if extent is not None)
            names |= dict.fromkeys(name for used in found for name in sorted(used))
    known = analysis.region.text.lengths
    return tuple(known[name] for name in names if name in known)


def _may_be_negative(count: Expr, region: Region) -> bool:
    """Return whether a count may be less than none at sizes none of which is negative."""
    found = from_expr(fold(count, region.constants))
    return found is None or any(factor < 0 for _, factor in found.terms)


def section_tests(analysis: Analysis) -> tuple[Expr, ...]:
    """Return tests that no section lies in a part of another, beside those for what C lets overlap.

    What is only read may overlap, ``restrict`` or not, and so may what is not touched at all where
    conditions decide. But a section of which a part alone is present ends the program (OpenACC
    3.3, 2.7.2), also where the part is empty, and compilers take clauses in any order: gcc's last
    one is the first.
    """
    region = analysis.region
    if region.spec.assumptions.disjoint:
        return ()
    tests: list[Expr] = []
    for one, two in combinations(region.arrays.values(), 2):
        if not may_share_unchanged(one, two):
            continue
        if not any(analysis.uses[array.name].is_written for array in (one, two)):
            tests.append(_same_or_disjoint(analysis, one, two))
        elif not may_share(one, two) and _is_inspected(analysis, one, two):
            tests.append(disjoint(*_stretches(analysis, one, two)))
    return tuple(tests)


def _same_or_disjoint(analysis: Analysis, one: Array, two: Array) -> Expr:
    """Return the test that two inputs are one and the same, if they may well be, or lie apart."""
    stretches = _stretches(analysis, one, two)
    if _is_inspected(analysis, one, two):
        return disjoint(*stretches)
    counts = _elements(analysis, one)[1], _elements(analysis, two)[1]
    if one.element != two.element or _is_longer(analysis.region, *counts):
        return disjoint(*stretches)
    return same_or_disjoint(*stretches, counts[0] == counts[1])


def _stretches(analysis: Analysis, one: Array, two: Array) -> tuple[Stretch, Stretch]:
    both = section_stretch(analysis, one), section_stretch(analysis, two)
    first, second = comparable(one, two, *both)
    return first, second


def _is_inspected(analysis: Analysis, *arrays: Array) -> bool:
    """Return whether it is looked for what is touched of one of some arrays."""
    return any(analysis.shapes[array.name].is_inspected for array in arrays)


def _is_longer(region: Region, *counts: Expr) -> bool:
    """Return whether one of two counts is the larger, but where it has factors that are 1."""
    one, two = (from_expr(fold(count, region.constants)) for count in counts)
    if one is None or two is None or one.is_zero or two.is_zero:
        return False
    if (one - two).constant not in (None, 0):
        return True
    pairs = ((one, two), (two, one)) if one != two else ()
    return any(large.divide(small)[1].is_zero for large, small in pairs)


def section_stretch(analysis: Analysis, array: Array) -> Stretch:
    """Return the memory of an array's section: of an array of rows more than is touched.

    Before it is looked for, it is all that there could be.
    """
    first, count = _elements(analysis, array)
    end = fold(Binary("+", first, count))
    return address(analysis, array, first), address(analysis, array, end)


def _elements(analysis: Analysis, array: Array) -> tuple[Expr, Expr]:
    """Return the first element of the section of an array, and how many there are."""
    shape = analysis.shapes[array.name]
    row: Expr = Int(1)
    for extent in array.extents[1:] if shape.rows is not None else ():
        row = row if extent is None else fold(Binary("*", row, extent))
    if shape.is_inspected:
        beside = fold(Binary("-", row, Int(1)))
        first = Binary("-", shape.lowest, beside)
        return fold(first), fold(Binary("+", shape.length, Binary("*", Int(2), beside)))
    part = shape.part if shape.rows is None else shape.rows
    return fold(Binary("*", part.first, row)), fold(Binary("*", part.count, row))


def _counted(expr: Expr, region: Region) -> str:
    """Return a bound of a section as C, in 64 bits where it is more than a sum of products."""
    is_plain = not any(isinstance(part, Select | Call | Cast) for part in walk(expr))
    is_plain = is_plain and not may_wrap(expr, region.types)
    return plain_c(in_64_bits(expr, narrow_scalars(region)) if is_plain else in_long(expr))


def _clause(analysis: Analysis, array: Array, is_part: bool) -> str:
    use, rows = analysis.uses[array.name], analysis.shapes[array.name].rows
    if not use.is_written:
        return "copyin"
    is_whole = rows is None or rows.is_whole
    return "copyout" if use.overwritten and is_whole and not is_part else "copy"
