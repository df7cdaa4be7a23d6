"""``x = x + e`` is the statement that ``x += e`` is, and what only looks like it stays as it is."""

from __future__ import annotations

from itertools import islice, product

import pytest
from support.each import check_each
from support.regions import text_regions

from annotune.analysis.analyse import analyse
from annotune.ir.region import Region
from annotune.space.openmp import CpuSpace

TYPES = ("int", "unsigned char", "long", "float", "double", "double _Complex")
SAME = {
    "+=": ("x[i][j] + E", "E + x[i][j]"),
    "-=": ("x[i][j] - E",),
    "*=": ("x[i][j] * E", "E * x[i][j]"),
    "/=": ("x[i][j] / E",),
}
OTHER = (
    "E - x[i][j]",
    "E / x[i][j]",
    "x[i][j] - E + y[j]",
    "x[i][j] + E + y[j]",
    "x[j][i] + E",
    "x[i][j + 1] + E",
    "-x[i][j] + E",
)


def region(statement: str, x: str, y: str) -> Region:
    (only,) = text_regions(
        f"void f(int n, {x} x[n][n], {y} y[n])\n{{\n"
        "/*@ begin PerfTuning (def input_params { param n = 40; }) @*/\n"
        "for (int i = 0; i < n; i++) for (int j = 0; j < n - 1; j++) for (int k = 0; k < n; k++)\n"
        f"    {statement};\n/*@ end @*/\n}}\n"
    )
    return only


def test_both_spellings_are_one_statement() -> None:
    def check(case: tuple[tuple[str, str], str, str, str]) -> None:
        (op, value), x, y, e = case
        short = region(f"x[i][j] {op} {e}", x, y)
        long = region(f"x[i][j] = {value.replace('E', e)}", x, y)
        assert long.nest == short.nest
        assert long.arrays == short.arrays

    spellings = [(op, value) for op, each in SAME.items() for value in each]
    others = ("int", "float", "double", "double _Complex")
    every = product(spellings, TYPES, others, ("y[k]", "(y[k] - x[j][i])"))
    # Five has no divisor with any of the four lists in common: all pairs are among them.
    check_each(islice(every, None, None, 5), check)


@pytest.mark.parametrize("value", OTHER)
def test_what_takes_the_element_otherwise_stays_an_assignment(value: str) -> None:
    made = region(f"x[i][j] = {value.replace('E', 'y[k]')}", "double", "double")
    (assign,) = made.nest.assigns()
    assert assign.op == "="


def test_a_scalar_sum_is_one_too() -> None:
    def made(statement: str) -> Region:
        (only,) = text_regions(
            "double f(int n, double *x)\n{\ndouble s = 0;\n"
            "/*@ begin PerfTuning (def input_params { param n = 40; }) @*/\n"
            f"for (int i = 0; i < n; i++)\n    {statement};\n/*@ end @*/\nreturn s;\n}}\n"
        )
        return only

    assert made("s = s + x[i]").nest == made("s += x[i]").nest == made("s = (x[i]) + s").nest


def test_both_spellings_have_the_same_claims_and_the_same_space() -> None:
    both = [
        analyse(region(text, "double", "double"))
        for text in ("x[i][j] += y[k] * y[j]", "x[i][j] = x[i][j] + y[k] * y[j]")
    ]
    assert both[0].dependences == both[1].dependences
    assert both[0].total == both[1].total
    sizes = [CpuSpace(analysis).size for analysis in both]
    assert sizes[0] == sizes[1] > 12
