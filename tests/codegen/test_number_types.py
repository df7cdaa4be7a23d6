"""Integers and floats keep C's own arithmetic: unrolled, widened for subscripts, and summed.

Every text is executed; small integers make each result exact.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from support.executed import Call, Part, emitted, executable

SIZES = "def input_params { param n = 8; }"


def nest(parameters: str, body: str) -> str:
    return (
        f"int f({parameters})\n{{\n/*@ begin PerfTuning ({SIZES}) @*/\n{body}\n/*@ end @*/\n"
        "return 0;\n}\n"
    )


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("parameters", "body"),
    [
        # Each term fits an int, the sum of an unrolled sixteen does not.
        (
            "int n, double *restrict x",
            "for (int i = 0; i < n; i++)\n"
            "for (int j = 0; j < 64; j++) x[i] += (j + 30000) * (j + 30000);",
        ),
        # A difference below zero is 2^32 more in unsigned, with an iterator and with its number.
        (
            "unsigned n, double *restrict x",
            "for (unsigned i = 0; i < n; i++)\nfor (unsigned j = 0; j < 8; j++) x[i] -= i - j;",
        ),
        (
            "unsigned n, double *restrict x",
            "for (unsigned i = 0; i < n; i++)\nfor (unsigned j = 0; j < 8; j++) x[i] -= j - 5;",
        ),
        # Rows of run-time length make subscripts long, and only those.
        (
            "unsigned n, double x[][n]",
            "for (unsigned i = 0; i < n; i++)\nfor (unsigned j = 0; j < n; j++) x[i][j] = i - j;",
        ),
        # 70000 * 70000 is a long where the iterator is one.
        (
            "long n, double *restrict x",
            "for (long i = 0; i < n; i++)\nfor (long j = 70000; j < 70008; j++) x[i] -= j * j;",
        ),
        (
            "int n, double *restrict x",
            "for (int i = 0; i < n; i++)\nfor (int j = 0; j < 8; j++) x[i] += (i - j) / 2 + j % 3;",
        ),
    ],
)
def test_integer_values_are_the_original_s(tmp_path: Path, parameters: str, body: str) -> None:
    made = executable(tmp_path, nest(parameters, body))
    made.check(*(Call("f", (n, Part(0)), (300,)) for n in (8, 5)), launches=True)


def test_terms_of_float_are_added_to_a_double_one_by_one(tmp_path: Path) -> None:
    text = nest(
        "int n, double *restrict y, const float *restrict x",
        "for (int i = 0; i < n; i++)\nfor (int j = 0; j < 16; j++) y[i] += x[i * 16 + j];",
    )
    assert "+ x[" not in emitted(tmp_path, text).files[".cu"]


def test_terms_of_the_accumulator_s_type_are_added_first(tmp_path: Path) -> None:
    for element in ("double", "float"):
        text = nest(
            f"int n, {element} *restrict y, const {element} *restrict x",
            "for (int i = 0; i < n; i++)\nfor (int j = 0; j < 16; j++) y[i] += x[i * 16 + j];",
        )
        assert "+ x[" in emitted(tmp_path, text).files[".cu"]
