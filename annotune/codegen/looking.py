"""What the host runs before it copies, to learn which elements a call touches."""

from __future__ import annotations

from dataclasses import replace

from annotune.analysis.facts import Analysis, Part, Shape
from annotune.analysis.touched import rows_of
from annotune.codegen.c_stmt import Dialect
from annotune.codegen.writer import Writer
from annotune.diagnostics import AnnotuneError, Severity
from annotune.ir.expr import Binary, Expr, Int
from annotune.ir.fold import fold


def look_text(analysis: Analysis, dialect: Dialect) -> str:
    """Return what the host runs, empty where sizes and switches alone say what is touched.

    Raises:
        AnnotuneError: The conditions have no value yet when copies are made.
    """
    if analysis.unseen:
        errors = (replace(one, severity=Severity.ERROR) for one in analysis.unseen)
        raise AnnotuneError.of(*errors)
    out = Writer()
    if analysis.look:
        out.line("/* Conditions decide which elements are touched, and no others need be there: */")
        dialect.write_body(out, analysis.look)
    return out.text()


def wholly_there(analysis: Analysis) -> Analysis:
    """Return an analysis for data on the device, of which nothing is looked for or copied."""
    shapes = {
        name: replace(shape, touched=None, rows=_rows(analysis, shape), is_looked_for=False)
        if shape.is_looked_for
        else shape
        for name, shape in analysis.shapes.items()
    }
    return replace(analysis, shapes=shapes, look=())


def _rows(analysis: Analysis, shape: Shape) -> Part | None:
    """Return the rows of all elements that calls may touch, None of an array without rows."""
    if shape.rows is None:
        return None
    row: Expr = Int(1)
    for extent in analysis.region.arrays[shape.array].extents[1:]:
        row = row if extent is None else fold(Binary("*", row, extent))
    return rows_of(Part(shape.lowest, shape.length), row)
