"""Preprocessing keeps every position, and macros mean what a compiler says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from source_text import SIZES, load_region
from support.nest_text import print_nest

from annotune.diagnostics import AnnotuneError
from annotune.frontend.read.macros import evaluate
from annotune.frontend.read.preprocess import preprocess
from annotune.frontend.read.tokens import SourceText

PIECES = st.sampled_from(
    [
        *("/* c */", "// c\n", "/*\n*/", "#define N 3\n", "#if 0\n", "#else\n", "#endif\n"),
        *("int a;", "\n", "\r\n", "\t", '"/* s */"', "'\"'", "x", "\\\n", "\ufeff"),
        "#define M \\\n 4\n",
    ]
)


@given(st.lists(PIECES).map("".join))
def test_length_and_lines_stay(text: str) -> None:
    try:
        clean = preprocess(SourceText("t.c", text))
    except AnnotuneError:
        return
    assert len(clean.text) == len(text)
    assert [i for i, c in enumerate(clean.text) if c == "\n"] == [
        i for i, c in enumerate(text) if c == "\n"
    ]
    assert all(new in (old, " ") for new, old in zip(clean.text, text, strict=True))


MACROS = {
    "#define N 10": 10,
    "#define N (10)": 10,
    "#define N 0x10 /* hex */": 16,
    "#define M 4\n#define N (2*M + 1)": 9,
    "#ifndef N\n#define N 10\n#endif": 10,
    "#define N 1\n#undef N\n#define N 2": 2,
    "#if 0\n#define N 1\n#elif 1\n#define N 2\n#else\n#define N 3\n#endif": 2,
    "#ifdef X\n#define N 1\n#else\n#define N 2\n#endif": 2,
    "#if defined(__GNUC__) && __STDC_VERSION__ >= 199901L\n#define N 5\n#endif": 5,
    "#define N \\\n 7": 7,
    "#if 0\n#if 1\n#endif\n#else\n#define N 6\n#endif": 6,
    "# define N (1 ? 3 : 4)": 3,
    "#define N -3 + 0\n#undef N\n#define N +(3)": 3,
}


@pytest.mark.parametrize("head", MACROS)
def test_integer_macros_keep_their_names(head: str) -> None:
    found = load_region("for (i = 0; i < N; i++) a[i] = 0;", head=head + "\n")
    assert print_nest(found.nest).startswith("for i in 0:N\n")
    assert found.scalars["N"].value == MACROS[head]
    assert found.scalars["N"].is_macro


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("1 + 2", "for i in 0:2 * 1 + 2\n  S0: a[i * 1 + 2] = 0\n"),
        ("(1) + (2)", "for i in 0:2 * 1 + 2\n  S0: a[i * 1 + 2] = 0\n"),
        ("7u", "for i in 0:2 * 7\n  S0: a[i * 7] = 0\n"),
        ("7L", "for i in 0:2 * 7\n  S0: a[i * 7] = 0\n"),
    ],
)
def test_a_macro_that_is_no_int_by_itself_is_expanded(body: str, wanted: str) -> None:
    # 2 * N is 2 * 1 + 2 in C, and k - 7u is unsigned.
    found = load_region("for (i = 0; i < 2 * N; i++) a[i * N] = 0;", head=f"#define N {body}\n")
    assert print_nest(found.nest) == wanted
    assert "N" not in found.scalars


def test_dash_d_wins_under_ifndef_only() -> None:
    body = "for (i = 0; i < N; i++) a[i] = 0;"
    guarded = load_region(body, head="#ifndef N\n#define N 10\n#endif\n", defines={"N": "12"})
    assert guarded.sizes == {**SIZES, "N": 12}
    plain = load_region(body, head="#define N 10\n", defines={"N": "12"})
    assert plain.sizes == {**SIZES, "N": 10}
    assert load_region(body, defines={"N": "12"}).sizes == {**SIZES, "N": 12}


def test_other_macros_are_expanded() -> None:
    head = "#define REAL double\n#define HALF 0.5\n#define AT (i*n + 1)\n"
    head += "#define EACH i = 0; i < n; i++\n"
    found = load_region("for (EACH) { REAL t = HALF; a[AT] = t; }", head=head)
    assert print_nest(found.nest) == "for i in 0:n\n  S0: t = 0.5\n  S1: a[i * n + 1] = t\n"
    (_, assign) = found.nest.assigns()
    assert assign.target.span.length == len("a[AT]")


def test_a_macro_of_itself_ends() -> None:
    head = "#define n n\n#define x y\n#define y x\n"
    found = load_region("for (i = 0; i < n; i++) a[i] = x;", head=head)
    assert "x" in print_nest(found.nest) or "y" in print_nest(found.nest)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("1 << 4 | 1", 17),
        ("!0 && ~0", 1),
        ("0 ? 1 : 2 ? 3 : 4", 3),
        ("010", 8),
        ("1 / 0", None),
        ("2.0", None),
        ("sizeof(int)", None),
        ("", None),
        ("(1", None),
        ("1 2", None),
        ("f(1)", None),
    ],
)
def test_constant_expressions(text: str, value: int | None) -> None:
    assert evaluate(text, lambda name: None) == value
