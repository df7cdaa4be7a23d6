"""Dimensions recovered from flat subscripts, and the sections that regions touch."""

from __future__ import annotations

import pytest
from support.regions import analysis_of

from annotune.analysis.analyse import analyse
from annotune.analysis.facts import Analysis
from annotune.diagnostics import AnnotuneError
from annotune.ir.expr import print_expr

from .regions import D1_1, D1_1_SIZES, GRAD3, GRAD3_SIZES, region


def _shape(analysis: Analysis, array: str) -> tuple[str, str, str]:
    shape = analysis.shapes[array]
    extents = "".join(f"[{'' if e is None else print_expr(e)}]" for e in shape.extents)
    return extents, print_expr(shape.lowest), print_expr(shape.length)


def _indices(analysis: Analysis, array: str) -> set[str]:
    return {
        "".join(f"[{print_expr(index)}]" for index in facts.indices)
        for some in analysis.accesses.values()
        for facts in some
        if facts.access.array == array
    }


def test_horner_subscripts_of_a_triples_kernel() -> None:
    analysis = analyse(region(D1_1, sizes=D1_1_SIZES))
    assert analysis.all_sizes
    assert _shape(analysis, "t3") == (
        "[][p5u][p6u][h1u][h2u][h3u]",
        "0",
        "h3u * h2u * h1u * p6u * p5u * p4u",
    )
    assert _indices(analysis, "t2") == {"[h1][p5][p4][h7]"}
    assert _indices(analysis, "v2") == {"[h7][p6][h2][h3]"}


def test_expanded_subscripts_with_sizes_that_c_fixes() -> None:
    analysis = analyse(region(GRAD3, fixed=GRAD3_SIZES))
    assert analysis.all_sizes
    assert _shape(analysis, "Ur") == ("[][lx][ly][lz]", "0", "lz * ly * lx * nelt")
    assert _indices(analysis, "U") == {"[e][i][j][m]", "[e][i][m][k]", "[e][m][j][k]"}


ROWS = {
    "a sum as row length": (
        "for k in 0:kk: for j in 0:x_max: a[(x_max+4)*k + j + 2] = 1.0",
        ("[][x_max + 4]", "2", "x_max * kk + 4 * kk - 4"),
        {"[k][j + 2]"},
    ),
    "loops that count from 1": (
        "for j in 1:n+1: for i in 1:m+1: a[i + j*m - (1 + m)] = 1.0",
        ("[][m]", "0", "m * n"),
        {"[j - 1][i - 1]"},
    ),
    "a row read backwards": (
        "for i in 0:n: for j in 0:n: a[(i+1)*n - 1 - j] = 1.0",
        ("[][n]", "0", "n * n"),
        {"[i][n - j - 1]"},
    ),
    "the last element of each row": (
        "for i in 0:n: a[(i+1)*n - 1] = a[i*n]",
        ("[][n]", "0", "n * n"),
        {"[i][n - 1]", "[i][0]"},
    ),
    "the diagonal alone": (
        "for i in 0:n: a[i*n + i] = 1.0",
        ("[][n + 1]", "0", "n * n"),
        {"[i][0]"},
    ),
    "the diagonal beside rows": (
        "for i in 0:n: for j in 0:n: a[i*n + i] += a[i*n + j]",
        ("[][n]", "0", "n * n"),
        {"[i][i]", "[i][j]"},
    ),
    "a collapsed loop": (
        "for e in 0:E: for j in 0:lx*ly: for i in 0:lz: a[e*lx*ly*lz + j*lz + i] = 1.0",
        ("[][lx * ly][lz]", "0", "lz * lx * ly * E"),
        {"[e][j][i]"},
    ),
    "an upper triangle": (
        "for i in 0:n-1: for j in i+1:n: a[i*n + j] = 1.0",
        ("[][n]", "1", "n * n - n - 1"),
        {"[i][j]"},
    ),
    "every other element": (
        "for i in 0:n step 2: a[i] = 1.0",
        ("[]", "0", "2 * ((n - 1) / 2) + 1"),
        {"[i]"},
    ),
    "names that isl reserves": (
        "for i in 0:mod: for j in 0:or: a[i*or + j] = 1.0",
        ("[][or]", "0", "or * mod"),
        {"[i][j]"},
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_for_all_sizes(name: str) -> None:
    text, shape, indices = ROWS[name]
    analysis = analyse(region(text))
    assert analysis.all_sizes
    assert _shape(analysis, "a") == shape
    assert _indices(analysis, "a") == indices


def test_elements_that_may_coincide_are_proven_at_the_sizes() -> None:
    """C[i*n + j*l]: which multiples of n are multiples of l is no condition to be tested."""
    text = "for i in 0:m: for j in 0:p: C[i*n + j*l] = 1.0"
    apart = analyse(region(text, sizes={"m": 4, "n": 10, "p": 5, "l": 2}))
    assert not apart.all_sizes
    assert not apart.conditions
    assert [facts.kind for facts in apart.loops] == ["parallel", "parallel"]
    assert [w.code for w in apart.warnings] == ["AT222"]


def test_rows_that_overlap_are_proven_at_the_sizes() -> None:
    """C[i*n + j] with j < p: for p > n two rows share elements."""
    text = "for i in 0:m: for j in 0:p: C[i*n + j] = 1.0"
    overlapping = analyse(region(text, sizes={"m": 4, "n": 5, "p": 6}))
    assert not overlapping.all_sizes
    assert [facts.kind for facts in overlapping.loops] == ["serial", "parallel"]
    assert "(distance 1)" in overlapping.loops[0].proof


def test_declared_rows_that_are_overrun_count_as_flat_memory() -> None:
    """A[i][j] and A[i+1][j-5] are one element of double A[][5]."""
    text = "for i in 0:4: for j in 0:6: A[i][j] = 1.0"
    analysis = analyse(region(text, extents={"A": (None, 5)}))
    assert [facts.kind for facts in analysis.loops] == ["serial", "parallel"]


def test_the_whole_declaration_is_the_section() -> None:
    text = "for i in 1:n-1: A[i] = 1.0"
    assert _shape(analyse(region(text, extents={"A": ("n",)})), "A") == ("[n]", "0", "n")


def test_a_declaration_is_not_believed_where_it_is_overrun() -> None:
    text = "for i in 0:m: A[i] = 1.0"
    assert _shape(analyse(region(text, extents={"A": ("n",)})), "A") == ("[n]", "0", "m")


def test_a_section_has_no_element_that_is_not_touched() -> None:
    """With n = 1 nothing is touched, so that the section is said for greater n alone."""
    triangle = "for i in 0:n: for j in 0:i: a[i*n + j] = 1.0"
    analysis = analyse(region(triangle, sizes={"n": 6}))
    assert [print_expr(one) for one in analysis.conditions] == ["n >= 2"]
    assert _shape(analysis, "a") == ("[][n]", "n", "n * n - n - 1")
    assert not analysis.warnings
    single = analyse(region(triangle, sizes={"n": 1}))
    assert not single.all_sizes
    bounds = analyse(region("for i in 0:12: for j in 0:min(i+1, 10): a[i*10 + j] = 1.0"))
    assert _shape(bounds, "a") == ("[]", "0", "120")


def test_a_declared_triangle_needs_no_sizes() -> None:
    triangle = "for i in 0:n: for j in 0:i: A[i][j] = 1.0"
    analysis = analyse(region(triangle, extents={"A": ("n", "n")}))
    assert analysis.all_sizes
    assert _shape(analysis, "A") == ("[n][n]", "0", "n * n")


def test_a_longer_step_needs_only_the_sizes_that_its_loop_uses() -> None:
    text = (
        "void f(int n, double *restrict y, double *restrict x)\n{\n"
        "/*@ begin PerfTuning ({sizes}) @*/\n"
        "for (int i = 0; i < n; i += 3)\n    for (int j = 0; j < n; j++)\n"
        "        y[i*n + j] = x[i] * x[j];\n/*@ end @*/\n}\n"
    )
    known = analysis_of(text.replace("{sizes}", "def input_params { param n = 8; }"))
    assert not known.all_sizes
    with pytest.raises(AnnotuneError) as refused:
        analysis_of(text.replace("{sizes}", ""))
    assert "the value of 'n' is needed" in refused.value.diagnostics[0].message
