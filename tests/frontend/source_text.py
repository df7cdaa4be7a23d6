"""C text for the front end's tests: annotated regions, and marks around what is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping

from support.regions import find_annotations

from annotune.diagnostics import AnnotuneError, Diagnostic, Span
from annotune.frontend.load import load
from annotune.ir.region import Region, SourceFile

OPEN, CLOSE = "/*@ begin PerfTuning () @*/", "/*@ end @*/"
SIZES = {"n": 8, "m": 6}
_HEADER = "void f(int n, int m, double *a, double *b, double A[n][m], double x, float y, int *p)\n"


def region(body: str, before: str = "", after: str = "") -> str:
    """Return a file with one function `f` whose region is `body`."""
    return (
        f"{_HEADER}{{\n    int i, j, k, off;\n    double s;\n{before}\n    {OPEN}\n"
        f"{body}\n    {CLOSE}\n{after}\n}}\n"
    )


def load_text(
    text: str,
    overrides: Mapping[str, int] | None = None,
    defines: Mapping[str, str] | None = None,
) -> SourceFile:
    return load("t.c", text, find_annotations(text, "t.c"), overrides or {}, defines or {})


def load_region(
    body: str,
    before: str = "",
    after: str = "",
    head: str = "",
    defines: dict[str, str] | None = None,
) -> Region:
    (only,) = load_text(head + region(body, before, after), SIZES, defines).regions
    return only


def marked(text: str) -> tuple[str, Span | None]:
    """Return `text` without its marks « and », and the place between them."""
    found = re.search("«(.*?)»", text, re.DOTALL)
    if not found:
        return text, None
    before = text[: found.start()]
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    first_line = found[1].split("\n")[0]
    return text.replace("«", "").replace("»", ""), Span("t.c", line, column, len(first_line))


def refusals(text: str, defines: Mapping[str, str] | None = None) -> tuple[Diagnostic, ...]:
    """Return why `text` is refused; nothing when it is accepted."""
    try:
        load_text(text, defines=defines)
    except AnnotuneError as error:
        return error.diagnostics
    return ()
