"""Regions for tests: from C text, and from the text form of a nest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from annotune.analysis.analyse import analyse
from annotune.analysis.facts import Analysis
from annotune.annotation.regions import AnnotationBlock, scan_annotations
from annotune.annotation.spec import Spec, Value
from annotune.diagnostics import AnnotuneError, Span
from annotune.frontend.load import load
from annotune.ir.expr import Access, Expr, Var, rewrite, variables, walk
from annotune.ir.nest import Assign, Loop, Nest, Stmt
from annotune.ir.region import Array, Extent, Region, Scalar, SourceFile
from annotune.transforms.tree import Body

from .nest_text import parse_nest, print_nest

EXAMPLES = Path(__file__).parents[2] / "c_examples"


def find_annotations(
    text: str,
    file: str,
    settings: Mapping[str, Value] | None = None,
    spec_file: Path | None = None,
) -> tuple[AnnotationBlock, ...]:
    """Return the annotated regions of `text`, all of which must be sound."""
    found = scan_annotations(text, file, settings, spec_file)
    if found.diagnostics:
        raise AnnotuneError.of(*found.diagnostics)
    return found.blocks


def regions_of(
    path: Path, sizes: Mapping[str, int] | None = None, defines: Mapping[str, str] | None = None
) -> tuple[Region, ...]:
    """Return the annotated regions of a C file."""
    known = (tuple((given or {}).items()) for given in (sizes, defines))
    return _regions_of(path.read_text(), str(path), *known)


@lru_cache(maxsize=64)
def _regions_of(
    text: str, path: str, sizes: tuple[tuple[str, int], ...], defines: tuple[tuple[str, str], ...]
) -> tuple[Region, ...]:
    return text_regions(text, path, dict(sizes), dict(defines))


def text_source(
    text: str,
    path: str = "t.c",
    sizes: Mapping[str, int] | None = None,
    defines: Mapping[str, str] | None = None,
) -> SourceFile:
    """Return a C text with its annotated regions."""
    blocks = find_annotations(text, path)
    return load(path, text, blocks, dict(sizes or {}), dict(defines or {}))


def text_regions(
    text: str,
    path: str = "t.c",
    sizes: Mapping[str, int] | None = None,
    defines: Mapping[str, str] | None = None,
) -> tuple[Region, ...]:
    """Return the annotated regions of a C text."""
    return text_source(text, path, sizes, defines).regions


def analysis_of(text: str, sizes: Mapping[str, int] | None = None) -> Analysis:
    """Return the analysis of the only region of a C text."""
    (only,) = text_regions(text, sizes=sizes)
    return analyse(only)


def nest_region(
    text: str,
    sizes: Mapping[str, int] | None = None,
    extents: Mapping[str, tuple[Expr | None, ...]] | None = None,
    types: Mapping[str, str] | None = None,
) -> Region:
    """Return a region around a nest's text form; each loop and statement has a line in ``t.c``.

    Arrays and assigned scalars are doubles, all others ints unless `types` says otherwise.
    """
    nest = Nest(_placed(parse_nest(text).body, iter(range(1, 1000))))
    parts: list[Expr] = []
    for loop in nest.loops():
        parts += [loop.lower, loop.upper, Var(loop.var)]
    for assign in nest.assigns():
        parts += [assign.target, *assign.sources()]
    arrays: dict[str, Array] = {}
    names: dict[str, None] = {}
    for part in (inner for outer in parts for inner in walk(outer)):
        if isinstance(part, Access) and part.array not in arrays:
            shape = (extents or {}).get(part.array, (None,) * len(part.indices))
            element = (types or {}).get(part.array, "double")
            arrays[part.array] = Array(part.array, element, shape, True, True)
        names.update(dict.fromkeys(sorted(variables(part))))
    for array in arrays.values():
        for extent in array.extents:
            names.update(dict.fromkeys(sorted(variables(extent)) if extent is not None else ()))
    written = {a.target.name for a in nest.assigns() if isinstance(a.target, Var)}
    scalars = {
        name: Scalar(name, (types or {}).get(name, "double" if name in written else "int"))
        for name in names
    }
    extent = Extent(0, 0, 0, 0, 0)
    return Region("f", 1, nest, arrays, scalars, dict(sizes or {}), Spec(), extent)


def nest_analysis(
    text: str,
    sizes: Mapping[str, int] | None = None,
    extents: Mapping[str, tuple[Expr | None, ...]] | None = None,
    types: Mapping[str, str] | None = None,
) -> Analysis:
    """Return the analysis of a nest's text form."""
    return analyse(nest_region(text, sizes, extents, types))


def positions(body: Body, place: tuple[int, ...] = ()) -> list[tuple[int, ...]]:
    """Return each loop's place in the text, one number per level, in textual order."""
    found: list[tuple[int, ...]] = []
    for index, stmt in enumerate(body):
        if isinstance(stmt, Loop):
            found += [(*place, index), *positions(stmt.body, (*place, index))]
    return found


def text_of(body: Body) -> str:
    """Return the text form of a body."""
    return print_nest(Nest(body))


def _placed(body: Body, lines: Iterator[int]) -> Body:
    """Return `body` with a span of its own for each loop and statement, line by line."""
    out: list[Stmt] = []
    for stmt in body:
        span = Span("t.c", next(lines), 1)
        if isinstance(stmt, Loop):
            out.append(replace(stmt, body=_placed(stmt.body, lines), span=span))
        elif isinstance(stmt, Assign):
            out.append(_spanned(stmt, span))
        else:
            out.append(stmt)
    return tuple(out)


def _spanned(stmt: Assign, span: Span) -> Assign:
    def place(expr: Expr) -> Expr | None:
        if isinstance(expr, Access):
            return Access(expr.array, tuple(rewrite(i, place) for i in expr.indices), span)
        return None

    target = rewrite(stmt.target, place)
    assert isinstance(target, Access | Var)
    return replace(stmt, target=target, value=rewrite(stmt.value, place), span=span)
