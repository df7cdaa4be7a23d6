"""OpenACC data clauses: the least copies that a region's dependences allow."""

from __future__ import annotations

from collections.abc import Iterable

from annotune.analysis.facts import Analysis, ArrayUse
from annotune.codegen.c_expr import plain_c
from annotune.ir.expr import Binary, Expr, Int
from annotune.ir.fold import fold
from annotune.ir.region import Array


def data_clauses(analysis: Analysis, resident: bool = False, is_part: bool = False) -> str:
    """Return the clauses that bring a region's arrays to the device and back.

    What is only read is copied in, what is wholly overwritten first is only copied out. With
    `resident` the arrays are there already; `is_part` of a region may overwrite a part only.
    """
    sections: dict[str, list[str]] = {}
    for array in analysis.region.arrays.values():
        clause = "present" if resident else _clause(analysis.uses[array.name], is_part)
        sections.setdefault(clause, []).append(section(analysis, array))
    order = ("present", "copyin", "copy", "copyout")
    return " ".join(f"{c}({', '.join(sections[c])})" for c in order if c in sections)


def section(analysis: Analysis, array: Array) -> str:
    """Return the part of an array that the region touches, as OpenACC writes it.

    An array object is named as a whole; of a pointer to rows, whole rows are taken.
    """
    if not array.is_pointer:
        return array.name
    shape = analysis.shapes[array.name]
    inner = array.extents[1:]
    if not inner:
        return f"{array.name}[{plain_c(fold(shape.lowest))}:{plain_c(fold(shape.length))}]"
    rows = f"[0:{plain_c(_rows(array, fold(shape.lowest), fold(shape.length)))}]"
    rest = "".join(f"[0:{plain_c(extent)}]" for extent in inner if extent is not None)
    return f"{array.name}{rows}{rest}"


def _clause(use: ArrayUse, is_part: bool) -> str:
    if not use.is_written:
        return "copyin"
    return "copyout" if use.overwritten and not is_part else "copy"


def _rows(array: Array, lowest: Expr, length: Expr) -> Expr:
    """Return the number of rows from the array's start to the last element touched."""
    inner = [extent for extent in array.extents[1:] if extent is not None]
    rows = _without(_factors((length,)), _factors(inner))
    if rows is not None and lowest == Int(0):
        # No division, which rows without elements would make one by zero.
        return rows
    row = inner[0]
    for extent in inner[1:]:
        row = Binary("*", row, extent)
    end = Binary("-", Binary("+", Binary("+", lowest, length), row), Int(1))
    return fold(Binary("/", fold(end), row))


def _factors(exprs: Iterable[Expr]) -> list[Expr]:
    """Return the factors of a product."""
    out: list[Expr] = []
    for expr in exprs:
        match expr:
            case Binary("*", left, right):
                out += _factors((left, right))
            case _:
                out.append(fold(expr))
    return out


def _without(factors: list[Expr], others: list[Expr]) -> Expr | None:
    """Return the product of `factors` less `others`, or None where some are not among them."""
    left = list(factors)
    for other in others:
        if other not in left:
            return None
        left.remove(other)
    product: Expr = Int(1)
    for factor in left:
        product = Binary("*", product, factor)
    return fold(product)
