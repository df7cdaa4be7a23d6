"""What the host runs before it copies, to learn which elements a call touches."""

from __future__ import annotations

from dataclasses import replace

from annotune.analysis.facts import Analysis, ArrayShape, ElementRange
from annotune.analysis.inspector import FAR
from annotune.analysis.sections import rows_of
from annotune.codegen.c_stmt import Dialect
from annotune.codegen.guards import in_long
from annotune.codegen.writer import Writer
from annotune.diagnostics import AnnotuneError, Severity
from annotune.ir.expr import Binary, Expr, Int, Select, Var
from annotune.ir.fold import fold
from annotune.ir.nest import Assign, Local, Loop, Stmt
from annotune.transforms.tree import rebuilt


def look_text(analysis: Analysis, dialect: Dialect) -> str:
    """Return what the host runs, empty where sizes and switches alone say what is touched.

    Raises:
        AnnotuneError: The conditions have no value yet when copies are made.
    """
    if analysis.unseen:
        errors = (replace(one, severity=Severity.ERROR) for one in analysis.unseen)
        raise AnnotuneError.of(*errors)
    out = Writer()
    if analysis.inspector:
        out.line("/* Conditions decide which elements are touched, and no others need be there: */")
        starts = (stmt for stmt in analysis.inspector if isinstance(stmt, Local))
        ends = frozenset(s.name for s in starts if s.value in (Int(FAR), Int(-FAR)))
        dialect.write_body(out, _wide(analysis.inspector, ends))
    return out.text()


def _wide(body: tuple[Stmt, ...], ends: frozenset[str]) -> tuple[Stmt, ...]:
    """Return statements in which `ends`, and what they leave, are numbers of 64 bits with a sign.

    Where C computes one in several types, less of it may be left in those than it needs.
    """
    out: list[Stmt] = []
    for stmt in body:
        match stmt:
            case Loop():
                out.append(rebuilt(stmt, body=_wide(stmt.body, ends)))
            case Assign(target=Var(name) as end, value=Select(Binary(op, place, _))) if (
                name in ends
            ):
                place = in_long(place)
                out.append(replace(stmt, value=Select(Binary(op, place, end), place, end)))
            case Local(value=Select(Binary(_, Var(name), _) as test, found, otherwise)) if (
                name in ends
            ):
                out.append(replace(stmt, value=Select(test, found, in_long(otherwise))))
            case _:
                out.append(stmt)
    return tuple(out)


def wholly_there(analysis: Analysis) -> Analysis:
    """Return an analysis for data on the device, of which nothing is looked for or copied."""
    shapes = {
        name: replace(shape, touched=None, rows=_rows(analysis, shape), is_inspected=False)
        if shape.is_inspected
        else shape
        for name, shape in analysis.shapes.items()
    }
    return replace(analysis, shapes=shapes, inspector=())


def _rows(analysis: Analysis, shape: ArrayShape) -> ElementRange | None:
    """Return the rows of all elements that calls may touch, None of an array without rows."""
    if shape.rows is None:
        return None
    row: Expr = Int(1)
    for extent in analysis.region.arrays[shape.array].extents[1:]:
        row = row if extent is None else fold(Binary("*", row, extent))
    return rows_of(ElementRange(shape.lowest, shape.length), row)
