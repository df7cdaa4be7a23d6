"""The ends of tiles that may be cut short, as constants before the loops: C has no `min`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from annotune.codegen.c_stmt import Dialect
from annotune.codegen.writer import Writer
from annotune.ir.expr import Call, Expr, Var, variables
from annotune.ir.nest import Loop, Stmt, walk_stmts
from annotune.ir.region import Region
from annotune.transforms.tree import Body, rebuilt


@dataclass(frozen=True, slots=True)
class Cut:
    """A loop over one tile: it ends with the tile, at `full`, or with the whole loop, at `end`."""

    loop: Loop
    full: Expr
    end: Expr


def cut_loops(body: Body) -> tuple[Cut, ...]:
    """Return the tiles in `body` that may be cut short and are chosen outside it."""
    inside = {s.var for s in walk_stmts(body) if isinstance(s, Loop)}
    out = []
    for stmt in walk_stmts(body):
        if isinstance(stmt, Loop) and isinstance(stmt.upper, Call):
            assert stmt.upper.function == "min", stmt.upper
            full, end = stmt.upper.arguments
            if not variables(stmt.upper) & inside:
                out.append(Cut(stmt, full, end))
    return tuple(out)


def write_ends(out: Writer, dialect: Dialect, body: Body, cuts: Sequence[Cut]) -> Body:
    """Write the end of each tile as a constant, and return `body` with these as bounds."""
    ends: dict[str, Expr] = {}
    for cut in cuts:
        name = cut.loop.var
        if name in ends:
            continue
        full, end = dialect.expr(cut.full), dialect.expr(cut.end)
        kind = dialect.iterator_type(cut.loop).replace("const ", "")
        own = _own_name(f"{name}_end", dialect.region)
        out.line(f"const {kind} {own} = {full} < {end} ? {full} : {end};")
        ends[name] = Var(own)
    return with_uppers(body, ends) if ends else body


def _own_name(wanted: str, region: Region) -> str:
    """Return `wanted`, longer where the user has something of that name."""
    while wanted in region.scalars or wanted in region.arrays:
        wanted += "_"
    return wanted


def with_uppers(body: Body, uppers: Mapping[str, Expr]) -> Body:
    """Return `body` with the ends of tiles replaced, by the name of their loop."""
    out: list[Stmt] = []
    for stmt in body:
        if isinstance(stmt, Loop):
            is_cut = stmt.var in uppers and isinstance(stmt.upper, Call)
            upper = uppers[stmt.var] if is_cut else stmt.upper
            out.append(rebuilt(stmt, upper=upper, body=with_uppers(stmt.body, uppers)))
        else:
            out.append(stmt)
    return tuple(out)
