"""Regions and analyses for tests of `measure`, written out without front end or analysis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from support.nest_text import parse_nest

from annotune.analysis.facts import Analysis, ArrayShape, ArrayUse, Work
from annotune.annotation.spec import Spec
from annotune.ir.expr import Expr
from annotune.ir.nest import Assign
from annotune.ir.region import Array, Extent, Region, Scalar, SourceFile

OPEN, CLOSE = "/*@ begin PerfTuning () @*/", "/*@ end @*/"


@dataclass(frozen=True)
class Use:
    """One array of a hand-made region: its declaration, its length, and how it is used."""

    parameter: str
    length: str
    use: str = "r"  # any of r(ead), w(ritten), o(verwritten)
    extents: tuple[str | None, ...] = (None,)
    is_pointer: bool = True
    lowest: str = "0"
    element: str = "double"


def expr(text: str) -> Expr:
    """Return the integer expression that `text` spells."""
    (stmt,) = parse_nest(f"x = {text}").body
    assert isinstance(stmt, Assign)
    return stmt.value


def made(
    text: str,
    nest: str,
    arrays: Mapping[str, Use],
    scalars: tuple[Scalar, ...],
    sizes: Mapping[str, int],
    path: str = "user.c",
    function: str = "f",
) -> tuple[SourceFile, Analysis]:
    """Return the file `text`, annotated once, and the analysis of its region."""
    start = text.index(OPEN)
    end = text.index(CLOSE) + len(CLOSE)
    body = (start + len(OPEN), text.index(CLOSE))
    region = Region(
        function=function,
        index=1,
        nest=parse_nest(nest),
        arrays={
            name: Array(
                name,
                use.element,
                tuple(None if e is None else expr(e) for e in use.extents),
                use.is_pointer,
                parameter=use.parameter,
            )
            for name, use in arrays.items()
        },
        scalars={s.name: s for s in scalars},
        sizes=sizes,
        spec=Spec(),
        extent=Extent(start, end, *body, function_start=0),
    )
    analysis = Analysis(
        region=region,
        loops=(),
        dependences=(),
        shapes={
            name: ArrayShape(name, (None,), expr(use.lowest), expr(use.length))
            for name, use in arrays.items()
        },
        accesses={},
        uses={
            name: ArrayUse(name, "r" in use.use, "w" in use.use, "o" in use.use)
            for name, use in arrays.items()
        },
        private=frozenset(),
        work={},
        total=Work(0, 0, 0),
        all_sizes=True,
    )
    return SourceFile(path, text, (region,)), analysis


def integers(*names: str) -> tuple[Scalar, ...]:
    """Return open `int` scalars."""
    return tuple(Scalar(name, "int") for name in names)


def matvec(sizes: Mapping[str, int] | None = None) -> tuple[SourceFile, Analysis]:
    """Return ``y[i] += A[i][j] * x[j]`` on VLA parameters, in a file with a `main`."""
    text = (
        "#include <stdio.h>\nvoid elsewhere(int);\n"
        "void f(int n, int m, double A[n][m], const double *x, double *y)\n{\n"
        f"  int i, j;\n  {OPEN}\n"
        "  for (i = 0; i < n; i++)\n    for (j = 0; j < m; j++)\n"
        f"      y[i] += A[i][j] * x[j];\n  {CLOSE}\n"
        "}\nint main(void) { elsewhere(1); return 0; }\n"
    )
    return made(
        text,
        "for i in 0:n: for j in 0:m: y[i] += A[i][j] * x[j]",
        {
            "y": Use("double *y", "n", "rw"),
            "A": Use("double A[n][m]", "n*m", extents=("n", "m")),
            "x": Use("const double *x", "m"),
        },
        integers("n", "m", "i", "j"),
        sizes or {"n": 20, "m": 30},
    )


def scale(sizes: Mapping[str, int] | None = None) -> tuple[SourceFile, Analysis]:
    """Return ``b[i] = alpha * a[i]`` for i in 1..n-1: b is only written, and not all of it."""
    text = (
        "void f(int n, double alpha, const double *a, double *b)\n{\n"
        f"  {OPEN}\n  for (int i = 1; i < n; i++)\n    b[i] = alpha * a[i];\n  {CLOSE}\n}}\n"
    )
    return made(
        text,
        "for i in 1:n: b[i] = alpha * a[i]",
        {
            "b": Use("double *b", "n-1", "wo", lowest="1"),
            "a": Use("const double *a", "n-1", lowest="1"),
        },
        (Scalar("n", "int"), Scalar("alpha", "double"), Scalar("i", "int", is_local=True)),
        sizes or {"n": 100},
    )
