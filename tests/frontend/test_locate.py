"""Loops that a sidecar names, and text put in their place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotune.diagnostics import AnnotuneError
from annotune.frontend.loop_places import locate_loop
from annotune.frontend.read.filescope import File
from annotune.frontend.read.ladder import ladder_of
from annotune.frontend.read.preprocess import HeaderSearch
from annotune.frontend.read.tokens import newline_of, splice

TEXT = """/* for (i = 0;) */ void g(void) { for (int i = 0; i < 2; i++) ; }
static void f(int n, double *a)
{
    int i;
    for (i = 0; i < n; i++) /* } */
        for (int j = 0; j < n; j++) { a[i] = ";"[0]; }
    if (n) for (i = 0; i < n; i++) if (a[i]) a[i] = 0; else a[i] = 1;
    do for (int k = 0; k < n; ++k) a[k] = 1; while (0);
}
"""


def file_of(text: str) -> File:
    return ladder_of("s.c", text, HeaderSearch()).first.file


@pytest.mark.parametrize(
    ("loop", "occurrence", "start", "end"),
    [
        ("i", 1, "for (i = 0; i < n; i++) /* }", '";"[0]; }'),
        ("", 1, "for (i = 0; i < n; i++) /* }", '";"[0]; }'),
        ("j", 1, "for (int j", '";"[0]; }'),
        ("i", 2, "for (i = 0; i < n; i++) if", "a[i] = 1;"),
        ("k", 1, "for (int k", "a[k] = 1;"),
        ("", 4, "for (int k", "a[k] = 1;"),
    ],
)
def test_finds_a_loop(loop: str, occurrence: int, start: str, end: str) -> None:
    first, last = locate_loop(file_of(TEXT), "f", loop, occurrence)
    found = TEXT[first:last]
    assert found.startswith(start)
    assert found.endswith(end)


@pytest.mark.parametrize(
    ("function", "loop", "occurrence", "code", "words"),
    [
        ("h", "i", 1, "AT116", "g, f"),
        ("f", "q", 1, "AT117", "i, j, i, k"),
        ("f", "i", 3, "AT117", "i, j, i, k"),
        ("f", "i", 0, "AT117", "i, j, i, k"),
    ],
)
def test_says_what_there_is(
    function: str, loop: str, occurrence: int, code: str, words: str
) -> None:
    with pytest.raises(AnnotuneError) as raised:
        locate_loop(file_of(TEXT), function, loop, occurrence)
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.code == code
    assert words in diagnostic.help


@st.composite
def replacements(draw: st.DrawFn) -> tuple[str, list[tuple[int, int, str]]]:
    text = draw(st.text("ab \r\n", max_size=40))
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pairs = zip(cuts[::2], cuts[1::2], strict=False)
    return text, [(a, b, draw(st.text("XY\n", max_size=4))) for a, b in pairs]


@given(replacements())
def test_splice_keeps_all_else(case: tuple[str, list[tuple[int, int, str]]]) -> None:
    text, parts = case
    expected, at = "", 0
    for start, end, new in parts:
        expected += text[at:start] + new.replace("\n", newline_of(text))
        at = end
    assert splice(text, parts) == expected + text[at:]


def test_splice_follows_the_newlines() -> None:
    assert splice("a\r\nb\r\n", [(3, 4, "x\ny")]) == "a\r\nx\r\ny\r\n"
    assert splice("a\nb", [(0, 1, "x\r\ny")]) == "x\ny\nb"


def test_splice_refuses_overlaps() -> None:
    with pytest.raises(ValueError, match="overlaps"):
        splice("abcd", [(0, 2, ""), (1, 3, "")])


def test_finds_a_loop_that_a_macro_makes() -> None:
    head = "#define FOR(i, n) for (int i = 0; i < n; i++)\n#define NAME(x) x##_1\n"
    text = head + "void NAME(f)(int n, double *a) { FOR(c, n) { a[c] = 0; } FOR(k, 3) a[k] = 1; }\n"
    start, end = locate_loop(file_of(text), "f_1", "k")
    assert text[start:end] == "FOR(k, 3) a[k] = 1;"
    start, end = locate_loop(file_of(text), "f_1")
    assert text[start:end] == "FOR(c, n) { a[c] = 0; }"
    with pytest.raises(AnnotuneError) as raised:
        locate_loop(file_of(text), "f_1", "q")
    assert "its loops are: c, k" in raised.value.diagnostics[0].help
