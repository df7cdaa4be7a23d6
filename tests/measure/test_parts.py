"""A part of an original: a sample leaves what the whole does, and an excerpt tells its time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from compilers import here
from support.regions import analysis_of, text_source

from annotune.analysis.analyse import analyse
from annotune.measure.inputs import Values
from annotune.measure.oracle import Oracle, Pace
from annotune.measure.parts.pace import (
    FIRST_WORK,
    LONG_WORK,
    WHOLE_SHARE,
    extrapolated,
    original_pace,
)
from annotune.measure.parts.sample import (
    STRIDES,
    Excerpt,
    Sample,
    excerpt_of,
    sample_of,
    sliced_loops,
    work_of,
)
from annotune.measure.sizes import tuned_sizes

needs_c = pytest.mark.skipif(here().c is None, reason="no C compiler")


def region(parameters: str, sizes: str, body: str) -> str:
    """Return a C file with one region."""
    params = " ".join(f"param {one};" for one in sizes.split())
    return (
        f"{parameters.partition('|')[2]}\nvoid f({parameters.partition('|')[0]})\n{{\n"
        f"    /*@ begin PerfTuning ( def input_params {{ {params} }} ) @*/\n{body}\n"
        "    /*@ end @*/\n}\n"
    )


PRODUCT = region(
    "int n, int m, int k, double c[n][m], const double a[n][k], const double b[k][m]",
    "n=31 m=29 k=37",
    """    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int l = 0; l < k; l++)
                c[i][j] += a[i][l] * b[l][j];""",
)
SUMS_OUTERMOST = region(
    "int n, int m, int k, double c[n][m], const double a[n][k], const double b[k][m]",
    "n=31 m=29 k=37",
    """    for (int l = 0; l < k; l++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                c[i][j] += a[i][l] * b[l][j];""",
)
FLAT = region(
    "int n, int m, int k, double *restrict c, const double *restrict a, const double *restrict b",
    "n=31 m=29 k=37",
    """    int i, j, l;
    for (j = m - 1; j >= 0; --j)
        for (i = 1; i <= n; ++i)
            for (l = 0; l < k; l += 1)
                c[j * n + i - 1] = c[j * n + i - 1] + a[l * n + i - 1] * b[j * k + l];""",
)
SCALAR_TEMPORARY = region(
    "int n, int k, float *restrict y, const float a[n][k], const float *restrict x",
    "n=97 k=41",
    """    for (int i = 0; i < n; i++) {
        float s = 0.0f;
        for (int l = 0; l < k; l++)
            s += a[i][l] * x[l];
        if (s > 0.0f)
            y[i] = s;
        else
            y[i] -= s * 0.5f;
    }""",
)
TRIANGLE = region(
    "int n, double c[n][n], const double a[n][n]",
    "n=43",
    """    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            for (int l = 0; l < n; l++)
                c[i][j] += a[i][l] * a[j][l];""",
)
SWEEPS = region(
    "int n, int t, double a[n][n]",
    "n=33 t=5",
    """    for (int s = 0; s < t; s++)
        for (int i = 1; i < n - 1; i++)
            for (int j = 0; j < n; j++)
                a[i][j] = a[i][j] * 0.5 + a[i - 1][j];""",
)
ELEMENTS = region(
    "int e, double u[e][4][6], const double d[4][6], double w[e][6]",
    "e=57",
    """    for (int i = 0; i < e; i++) {
        for (int j = 0; j < 6; j++)
            for (int l = 0; l < 4; l++)
                w[i][j] += d[l][j] * u[i][l][j];
        for (int j = 0; j < 6; j++)
            u[i][3][j] = w[i][j];
    }""",
)
FIXED = region(
    "double c[N][N], const double a[N][N]|#define N 40",
    "",
    """    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int l = 0; l < N; l++)
                c[i][j] += a[i][l] * a[l][j];""",
)
SUM = region(
    "int n, double *restrict s, const double *restrict x",
    "n=999",
    """    for (int i = 0; i < n; i++)
        s[0] += x[i];""",
)
COMPLEX = region(
    "int n, int k, double complex c[n][n], const double complex a[n][k]|#include <complex.h>",
    "n=23 k=19",
    """    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int l = 0; l < k; l++)
                c[i][j] += a[i][l] * a[j][l];""",
)
LOOPS = {
    "product": (PRODUCT, ("i", "j")),
    "sums outermost": (SUMS_OUTERMOST, ("i", "j")),
    "flat, backwards, from 1": (FLAT, ("j", "i")),
    "a scalar in between": (SCALAR_TEMPORARY, ("i",)),
    "triangle": (TRIANGLE, ("i", "j")),
    "sweeps": (SWEEPS, ("j",)),
    "several nests for an element": (ELEMENTS, ("i",)),
    "sizes that C fixes": (FIXED, ("i", "j")),
    "complex": (COMPLEX, ("i", "j")),
    "one sum": (SUM, ()),
}
SAMPLED = {name: text for name, (text, loops) in LOOPS.items() if loops}


@pytest.mark.parametrize("name", LOOPS)
def test_only_loops_whose_iterations_share_no_written_element_are_taken_apart(name: str) -> None:
    text, loops = LOOPS[name]
    assert sliced_loops(analysis_of(text)) == loops


def oracle_of(text: str, folder: Path) -> Oracle:
    """Return the oracle of a text's only region."""
    source = text_source(text)
    return Oracle(source, analyse(source.regions[0]), here(), folder)


# The whole takes longer than it may: an assignment takes a second.
LONG = Pace(each_s=1.0, runs=2, whole_s=0.0, sample_s=0.0)


@pytest.mark.alike(2)
@needs_c
@pytest.mark.parametrize("name", SAMPLED)
@pytest.mark.parametrize("values", [Values.USUAL, Values.EQUAL])
def test_a_sample_leaves_what_the_whole_leaves_there(
    name: str, values: Values, tmp_path: Path
) -> None:
    oracle = oracle_of(SAMPLED[name], tmp_path)
    sizes = tuned_sizes(oracle.region)
    whole = oracle.reference(sizes, 1, values)
    bound = oracle.tolerance(whole)
    oracle.pace = replace(LONG, sample_s=0.999 * work_of(oracle.analysis, sizes))
    part = oracle.reference(sizes, 1, values)
    assert part.asked.sample is not None
    assert not part.problem
    compared = {name: places.size for name, places in part.places.items()}
    assert all(0 < count < whole.expected[name].size for name, count in compared.items())
    exact = oracle.tolerance(part)
    for array, places in part.places.items():
        assert np.array_equal(part.expected[array], whole.expected[array][places])
        parts = bound.arrays[array].size // whole.expected[array].size
        there = bound.arrays[array].reshape(-1, parts)[places].ravel()
        # A bound of its own largest result where there is no linear one.
        assert np.all(exact.arrays[array] <= there * (1 + 1e-12))


@needs_c
def test_a_wrong_element_of_a_sample_is_named_by_its_place(tmp_path: Path) -> None:
    oracle = oracle_of(PRODUCT, tmp_path)
    sizes = tuned_sizes(oracle.region)
    whole = oracle.reference(sizes, 1)
    oracle.pace = replace(LONG, sample_s=0.999 * work_of(oracle.analysis, sizes))
    part = oracle.reference(sizes, 1)
    place = int(part.places["c"][-1])
    path = tmp_path / "left"
    (buffer,) = (b for b in part.inputs.buffers if b.name == "c")
    left = np.zeros(part.inputs.size_bytes // 8)
    first = buffer.offset // 8
    left[first : first + buffer.count] = whole.expected["c"]

    def mismatch() -> str:
        left.tofile(path)
        from annotune.measure.run import Computed

        return oracle.mismatch(part, Computed(path, 0, (), ()))

    assert mismatch() == ""
    left[first + place] += 1.0
    assert f"c[{place}]" in mismatch()
    left[first + place] -= 1.0
    unseen = next(n for n in range(buffer.count) if n not in part.places["c"])
    left[first + unseen] += 1.0
    assert mismatch() == "", "no sample sees all"


def test_a_sample_keeps_the_last_iteration_and_meets_every_place_of_a_tile() -> None:
    analysis = analysis_of(PRODUCT)
    sizes = {"n": 4096, "m": 4096, "k": 64}
    found = sample_of(analysis, sizes, work_of(analysis, sizes) / 1000)
    assert found is not None
    assert found.loops == ("i", "j")
    assert all(stride % 2 and stride % 3 for stride in STRIDES)
    assert len({n % 96 for n in range(0, 4096, found.stride)}) == min(96, 4096 // found.stride + 1)
    (outer,) = analysis.region.nest.body
    assert "i + 1 >= n" in found.left_out(outer, 0)  # type: ignore[arg-type]
    assert sample_of(analysis_of(SUM), {"n": 10**9}, 1e6) is None


def test_what_is_proved_for_other_sizes_alone_has_no_sample() -> None:
    analysis = replace(analysis_of(PRODUCT), all_sizes=False)
    own = tuned_sizes(analysis.region)
    assert sample_of(analysis, own, 1e9) is not None
    assert sample_of(analysis, {**own, "n": own["n"] + 1}, 1e9) is None


def test_an_excerpt_has_the_work_that_is_wanted_at_any_depth() -> None:
    analysis = analysis_of(PRODUCT)
    sizes = {"n": 1000, "m": 1000, "k": 1000}
    for wanted in (5_000, 40_000, 2_000_000, 900_000_000):
        found = excerpt_of(analysis, sizes, wanted)
        assert found is not None
        assert wanted <= work_of(analysis, sizes, found) <= 2 * wanted
    assert excerpt_of(analysis, sizes, 2_000_000) == Excerpt((2,))
    assert excerpt_of(analysis, sizes, 40_000) == Excerpt((1, 41))


@needs_c
def test_the_pace_of_a_long_original_is_told_by_parts_of_it(tmp_path: Path) -> None:
    oracle = oracle_of(PRODUCT, tmp_path)
    each_s, asked = 3e-9, list[float]()

    def took_s(sizes: dict[str, int], seed: int, part: Excerpt | Sample) -> float:
        asked.append(work_of(oracle.analysis, sizes, part))
        return 0.001 + each_s * asked[-1]

    oracle.took_s = took_s  # type: ignore[method-assign, assignment]
    sizes = {"n": 4000, "m": 4000, "k": 4000}
    found = original_pace(oracle, sizes, 1, left_s=60.0)
    assert found is not None
    assert found.each_s == pytest.approx(each_s, rel=1e-6)
    assert found.runs == len(asked) == 2
    assert asked[0] >= FIRST_WORK
    assert found.whole_s == pytest.approx(WHOLE_SHARE * 60.0)
    asked.clear()
    small = {"n": 100, "m": 100, "k": LONG_WORK // 10_000}
    assert original_pace(oracle, small, 1, 60.0) is None
    assert not asked, "a short original is just run"


def test_a_line_through_two_runs_leaves_out_what_each_begins_with() -> None:
    assert extrapolated([(100, 1.1), (200, 1.2)], 1000) == pytest.approx(2.0)
    # Noise: the longer one was the quicker.
    assert extrapolated([(100, 1.1), (200, 1.0)], 400) == pytest.approx(2.0)
