"""Long lines of S.cu are broken; what a compiler reads of them stays."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.executed import emitted
from support.regions import EXAMPLES

from annotune.codegen.cuda.columns import COLUMNS, fitted

LONG = "a_rather_long_name_of_an_array[first_index * 1024 + second_index]"
CASES = {
    "a call goes on behind its bracket": (
        f"    copied(&{LONG}, &{LONG});",
        f"    copied(&{LONG},\n           &{LONG});",
    ),
    "a sum is broken at what binds least": (
        f"    const double sum = {LONG} * 2.0 + {LONG};",
        f"    const double sum = {LONG} * 2.0 +\n                       {LONG};",
    ),
    "a choice begins a line": (
        f"    return first < second ? {LONG} : {LONG};",
        f"    return first < second ? {LONG}\n           : {LONG};",
    ),
    "a directive stays": ("#define LONG " + "x + " * 40 + "x",) * 2,
    "a comment up to the end of its line stays": ("x = 1; // " + "word " * 30,) * 2,
    "a comment goes on with a star": (
        "/* " + "word " * 30 + "*/",
        "/* " + " ".join(["word"] * 19) + "\n * " + " ".join(["word"] * 11) + " */",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_line(name: str) -> None:
    line, expected = CASES[name]
    assert fitted(line) == expected


def words(text: str) -> str:
    """Return a text without white space and without what begins the lines of a comment."""
    return re.sub(r"\s+", "", re.sub(r"\n\s*\*(?!/)\s", " ", text))


EXPRESSIONS = st.recursive(
    st.sampled_from(["x", "n", "4", "annotune_thread", "u[i]", '"a string, of words"']),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/%<"), inner).map(" ".join),
        inner.map(lambda one: f"({one})"),
        st.lists(inner, min_size=1, max_size=4).map(lambda some: f"call({', '.join(some)})"),
        st.tuples(inner, inner, inner).map(lambda some: "{} ? {} : {}".format(*some)),
    ),
    max_leaves=40,
)


@given(expression=EXPRESSIONS, depth=st.integers(1, 8))
def test_words_and_order_stay(expression: str, depth: int) -> None:
    line = f"{4 * depth * ' '}const double value = {expression};"
    made = fitted(line)
    assert words(made) == words(line)
    assert fitted(made) == made


@pytest.mark.parametrize("name", ["gemm/gemm.c", "nwchem/sd_t_d2.c"])
def test_an_emitted_text_has_100_columns(name: str, tmp_path: Path) -> None:
    text = emitted(tmp_path, (EXAMPLES / name).read_text()).files[".cu"]
    assert [line for line in text.splitlines() if len(line) > COLUMNS] == []
