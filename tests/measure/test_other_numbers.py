"""Regions on integers and complex numbers, with conditions and indirect reads, end to end."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from compilers import here
from made_by_hand import CLOSE, OPEN, Use, integers, made

from annotune.analysis.facts import Analysis
from annotune.codegen.target import RegionCode
from annotune.ir.region import Scalar, SourceFile
from annotune.measure.check import Checker
from annotune.measure.inputs import make_inputs
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckPlan
from annotune.measure.program import Program
from annotune.measure.tolerance import UNIT_ROUNDOFF, shadow_of
from annotune.measure.trial import Status, Trial
from annotune.measure.values import Family, element_of

needs_gcc = pytest.mark.skipif(here().c is None, reason="no C compiler")
U = UNIT_ROUNDOFF["double"]
N = {"n": 40}


def region(
    c_text: str, nest: str, arrays: Mapping[str, Use], *scalars: Scalar, head: str = ""
) -> tuple[SourceFile, Analysis]:
    """Return a function of n around `c_text`, and its analysis with `nest` in it."""
    names = [f"{s.type} {s.name}" for s in scalars if not s.is_local]
    parameters = ", ".join(["int n", *names, *(use.parameter for use in arrays.values())])
    text = f"{head}void f({parameters})\n{{\n  {OPEN}\n{c_text}\n  {CLOSE}\n}}\n"
    iterators = tuple(Scalar(name, "int", is_local=True) for name in ("i", "j"))
    return made(text, nest, arrays, (*integers("n"), *iterators, *scalars), N)


def trial(made_region: tuple[SourceFile, Analysis], body: str, folder: Path) -> Trial:
    """Return the trial of `body` in the place of the region."""
    source, analysis = made_region
    checker = Checker(Oracle(source, analysis, here(), folder))
    return checker.check(
        Program("c", "c", RegionCode(body)), CheckPlan((N, {"n": 1}, {"n": 7}), sanitize=True)
    )


def for_i(statement: str) -> str:
    return f"for (int i = 0; i < n; i++) {{ {statement} }}"


@pytest.mark.parametrize(
    ("type_", "family", "bytes_"),
    [
        ("int", "integer", 4),
        ("const unsigned long", "integer", 8),
        ("unsigned", "integer", 4),
        ("short int", "integer", 2),
        ("long long", "integer", 8),
        ("size_t", "integer", 8),
        ("uint8_t", "integer", 1),
        ("float", "real", 4),
        ("double complex", "complex", 16),
        ("float _Complex", "complex", 8),
    ],
)
def test_what_a_type_is(type_: str, family: str, bytes_: int) -> None:
    found = element_of(type_)
    assert (found.family, found.dtype.itemsize) == (Family(family), bytes_)


@pytest.mark.parametrize("type_", ["long double", "struct s", "void", ""])
def test_a_type_that_is_no_number_here(type_: str) -> None:
    with pytest.raises(ValueError, match="is no number"):
        element_of(type_)


COUNTS = region(
    for_i("k[i] = k[i] + 3 * w[i];"),
    "for i in 0:n: k[i] = k[i] + 3 * w[i]",
    {
        "k": Use("long *k", "n", "rw", element="long"),
        "w": Use("const unsigned char *w", "n", element="unsigned char"),
    },
)


@pytest.mark.alike(2)
@needs_gcc
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (for_i("k[i] += 3 * w[i];"), ""),
        (for_i("k[i] += 3 * w[i] + (i == 6);"), "k[6] is"),
        # No tolerance: the difference is far below a double's precision.
        (for_i("k[i] += 3 * w[i] + (i == 6 ? (1L << 60) : 0); k[i] -= i == 6 ? 1L << 60 : 0;"), ""),
    ],
)
def test_integers_are_compared_exactly(body: str, words: str, tmp_path: Path) -> None:
    found = trial(COUNTS, body, tmp_path)
    assert words in found.reason
    assert found.verified is not bool(words)


def test_large_integers_that_differ_by_one(tmp_path: Path) -> None:
    from annotune.measure.tolerance import compare

    big = np.array([2**62, 2**62 + 1], np.int64)
    assert compare("k", big, big.copy(), np.zeros(2)) is None
    found = compare("k", big, big[[0, 0]], np.zeros(2))
    assert found is not None
    assert found.wrong == 1


COMPLEX = region(
    for_i("z[i] += w[i] * x[i] / c;"),
    "for i in 0:n: z[i] += w[i] * x[i] / c",
    {
        "z": Use("double complex *z", "n", "rw", element="double complex"),
        "w": Use("const double complex *w", "n", element="double complex"),
        "x": Use("const float complex *x", "n", element="float complex"),
    },
    Scalar("c", "double complex"),
    head="#include <complex.h>\n",
)


@pytest.mark.alike(2)
@needs_gcc
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (for_i("z[i] = z[i] + x[i] / c * w[i];"), ""),
        (for_i("z[i] += conj(w[i]) * x[i] / c;"), "z["),
        (for_i("z[i] += w[i] * x[i] / c + (i == 5 ? 1e-4 * I : 0);"), "z[5].imag is"),
        (for_i("z[i] += w[i] * x[i] / c + (i == 5 ? 1e-4 : 0);"), "z[5].real is"),
    ],
)
def test_both_parts_of_complex_numbers_are_compared(body: str, words: str, tmp_path: Path) -> None:
    found = trial(COMPLEX, body, tmp_path)
    assert words in found.reason
    assert found.verified is not bool(words)


TOTAL = region(
    for_i("s += w[i];"),
    "for i in 0:n: s += w[i]",
    {"w": Use("const double complex *w", "n", element="double complex")},
    Scalar("s", "double complex", read_after=True),
    head="#include <complex.h>\n",
)


@pytest.mark.alike(2)
@needs_gcc
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (for_i("s = w[i] + s;"), ""),
        (for_i("s += creal(w[i]);"), "s is"),
        (for_i("s += 1.0001 * w[i];"), "s is"),
    ],
)
def test_a_complex_scalar_goes_in_and_comes_back(body: str, words: str, tmp_path: Path) -> None:
    found = trial(TOTAL, body, tmp_path)
    assert words in found.reason
    assert found.verified is not bool(words)


@needs_gcc
def test_the_bound_of_a_complex_product(tmp_path: Path) -> None:
    source, analysis = region(
        for_i("z[i] = w[i] * x[i];"),
        "for i in 0:n: z[i] = w[i] * x[i]",
        {
            "z": Use("double complex *z", "n", "wo", element="double complex"),
            "w": Use("double complex *w", "n", element="double complex"),
            "x": Use("double complex *x", "n", element="double complex"),
        },
        head="#include <complex.h>\n",
    )
    oracle = Oracle(source, analysis, here(), tmp_path)
    reference = oracle.reference(N, 1)
    _, w, x = (reference.inputs.read(b) for b in reference.inputs.buffers)
    wanted = np.repeat(2 * 3 * U * np.abs(w) * np.abs(x), 2)
    assert oracle.tolerance(reference).arrays["z"] == pytest.approx(wanted, rel=1e-9)


GATHER = {
    "y": Use("double *y", "n", "rw"),
    "x": Use("const double *x", "2*n"),
    "col": Use("const int *col", "n", element="int"),
}


@pytest.mark.parametrize(
    ("nest", "low", "high"),
    [
        ("for i in 0:n: y[i] += x[col[i]]", 0, 79),
        # Fortran's counting from 1.
        ("for i in 0:n: y[i] += x[col[i] - 1]", 1, 80),
        ("for i in 0:n: for j in 0:5: y[i] += x[col[i] + j]", 0, 75),
        ("for i in 0:n: for j in 0:4: y[i] += x[col[i]*4 + j]", 0, 19),
        ("for i in 0:n: y[i] += x[n - col[i]]", -39, 40),
        ("for i in 0:n: y[i] += x[col[i] % n]", 0, 79),
        ("for i in 0:n: y[i] += x[col[col[i]]]", 0, 39),
        ("for i in 0:n\n  k = col[i]\n  y[i] += x[k + 1]\n", -1, 78),
    ],
)
def test_index_arrays_hold_indices(nest: str, low: int, high: int, tmp_path: Path) -> None:
    _, analysis = region("", nest, GATHER, Scalar("k", "int", is_local=True))
    inputs = make_inputs(analysis, N, 1, tmp_path)
    values = inputs.read(inputs.buffers[2])
    assert low <= values.min() < values.max() <= high
    # Most of the range is used, or nothing would be checked there.
    assert values.max() - values.min() > (high - low) / 2


def test_indices_that_nobody_can_choose_are_a_reason(tmp_path: Path) -> None:
    _, analysis = region("", "for i in 0:n: y[i] += x[col[i] + 3*i]", GATHER)
    with pytest.raises(ValueError, match=r"no values of 'col' keep all subscripts inside"):
        make_inputs(analysis, {"n": 60, "k": 0}, 1, tmp_path)


@needs_gcc
def test_a_gather_is_checked_under_the_sanitizer(tmp_path: Path) -> None:
    made_region = region(for_i("y[i] += x[col[i]];"), "for i in 0:n: y[i] += x[col[i]]", GATHER)
    found = trial(made_region, for_i("y[n-1-i] += x[col[n-1-i]];"), tmp_path / "a")
    assert (found.status, found.reason) == (Status.CORRECT, "")
    wrong = trial(made_region, for_i("y[i] += x[col[n-1-i]];"), tmp_path / "b")
    assert wrong.status is Status.CORRECTNESS


MASKED = {
    "y": Use("double *y", "n", "rw"),
    "x": Use("const double *x", "n"),
    "m": Use("const int *m", "n", element="int"),
}


@pytest.mark.alike(3)
@needs_gcc
@pytest.mark.parametrize(
    ("c_text", "nest", "right", "wrong"),
    [
        (
            for_i("if (m[i] > 20 && x[i] < 0.5) y[i] = 2.0 * x[i];"),
            "for i in 0:n: y[i] = 2.0 * x[i] if m[i] > 20 && x[i] < 0.5",
            for_i("y[i] = m[i] <= 20 || !(x[i] < 0.5) ? y[i] : x[i] + x[i];"),
            for_i("if (m[i] >= 20 && x[i] < 0.5) y[i] = 2.0 * x[i];"),
        ),
        (
            for_i("y[i] += x[i]; if (y[i] > 0.25) y[i] = x[i] * y[i];"),
            "for i in 0:n\n  y[i] += x[i]\n  y[i] = x[i] * y[i] if y[i] > 0.25\n",
            for_i("double t = x[i] + y[i]; y[i] = t > 0.25 ? t * x[i] : t;"),
            for_i("double t = x[i] + y[i]; y[i] = t > 0.0 ? t * x[i] : t;"),
        ),
        (
            for_i("y[i] = x[i] > y[i] ? x[i] : y[i];"),
            "for i in 0:n: y[i] = x[i] > y[i] ? x[i] : y[i]",
            for_i("if (!(y[i] >= x[i])) y[i] = x[i];"),
            for_i("if (!(y[i] >= x[i])) y[i] = x[i] * (1 + 1e-15);"),
        ),
    ],
    ids=["inputs decide", "results decide", "maximum"],
)
def test_conditions(c_text: str, nest: str, right: str, wrong: str, tmp_path: Path) -> None:
    made_region = region(c_text, nest, MASKED)
    found = trial(made_region, right, tmp_path / "right")
    assert (found.status, found.reason) == (Status.CORRECT, "")
    assert trial(made_region, wrong, tmp_path / "wrong").status is Status.CORRECTNESS


@pytest.mark.parametrize(
    ("nest", "magnitude", "count"),
    [
        (
            "for i in 0:n: y[i] = x[i] * y[i] if m[i] > 2",
            "if (m[i] > 2) y[i] = __builtin_fabs(x[i]) * __builtin_fabs(y[i]);",
            "if (m[i] > 2) y[i] = y[i] + 1;",
        ),
        (
            "for i in 0:n: y[i] = x[i] * y[i] if y[i] > 0.5",
            "y[i] = __builtin_fmax(__builtin_fabs(y[i]), "
            "__builtin_fabs(x[i]) * __builtin_fabs(y[i]));",
            "y[i] = __builtin_fmax(y[i], y[i] + 1);",
        ),
        (
            "for i in 0:n: y[i] = y[i] > x[i] ? y[i] : 2.0 * y[i]",
            "y[i] = __builtin_fmax(__builtin_fabs(y[i]), __builtin_fabs(2.0) * "
            "__builtin_fabs(y[i]));",
            "y[i] = __builtin_fmax(y[i], y[i] + 1);",
        ),
    ],
)
def test_shadows_of_conditions(nest: str, magnitude: str, count: str) -> None:
    _, analysis = region("", nest, MASKED)
    shadow = shadow_of(analysis.region)
    assert magnitude in shadow.magnitude
    assert count in shadow.count


def test_an_integer_that_a_computed_real_decides_is_no_certain_condition() -> None:
    nest = "for i in 0:n\n  k = y[i] > 0.5\n  y[i] = 2.0 * y[i] if k\n"
    _, analysis = region("", nest, MASKED, Scalar("k", "int", is_local=True))
    assert "__builtin_fmax(__builtin_fabs(y[i])" in shadow_of(analysis.region).magnitude
    nest = nest.replace("k = y[i]", "k = x[i]")
    _, analysis = region("", nest, MASKED, Scalar("k", "int", is_local=True))
    assert "if (k) y[i] = " in shadow_of(analysis.region).magnitude
