"""Odd nests through OpenACC, OpenMP and the baselines: each equals the original when run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from codegen.emitted import checked, here, source_of, variants, warnings

from annotune.analysis.analyse import analyse
from annotune.analysis.facts import Analysis
from annotune.codegen.baseline import naive_openacc, naive_openmp
from annotune.codegen.target import Provenance, RegionCode, load_target
from annotune.codegen.users_file import assembled
from annotune.ir.region import SourceFile
from annotune.measure.trial import Status

pytestmark = pytest.mark.skipif(here().c is None, reason="no C compiler")
FLAGS = {"openmp": ("-fopenmp",), "openacc": ("-fopenacc", "-foffload=disable")}
SIZES = ({"n": 20}, {"n": 7}, {"n": 1}, {"n": 0})


def text_of(nest: str, before: str = "", recipe: str = "", rows: bool = False) -> str:
    """Return a C function around a nest on two arrays, tuned for n = 20."""
    inner = f"/*@ begin CHiLL ( {recipe} ) @*/\n{nest}\n/*@ end @*/" if recipe else nest
    kind = "double a[n][n], double b[n][n]" if rows else "double *restrict a, double *restrict b"
    return (
        f"void f(int n, {kind})\n{{\n{before}\n"
        "/*@ begin PerfTuning ( def input_params { param n = 20; } ) @*/\n"
        f"{inner}\n/*@ end @*/\n}}\n"
    )


SUM = "for (int i = 0; i < n; i++) s += b[i];\nfor (int i = 0; i < n; i++) a[i] = s * b[i];"
PRODUCT = (
    "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) "
    "a[i*n+j] += b[i*n+k] * b[k*n+j];"
)
HOST = (
    "for (int k = 0; k < n; k++) for (int i = k+1; i < n; i++) for (int j = 0; j < n; j++) "
    "a[i*n+j] += b[i*n+k] * a[k*n+(n-1-j)];"
)
LATE = (
    "for (int k = 0; k < n; k++) for (int i = k+3; i < n; i++) for (int j = k+2; j < n; j++) "
    "a[i][j] += b[i][k] * a[k][j];"
)
JACOBI = (
    "for (int t = 0; t < 2; t++) {\n"
    "for (int i = 1; i < n-1; i++) for (int j = 1; j < n-1; j++) "
    "b[i][j] = a[i-1][j] + a[i+1][j] + a[i][j-1] + a[i][j+1];\n"
    "for (int i = 1; i < n-1; i++) for (int j = 1; j < n-1; j++) a[i][j] = 0.25 * b[i][j];\n}"
)
SIBLINGS = (
    "for (int i = 1; i < n; i++) a[i] += a[i-1];\n"
    "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) "
    "b[i*n+j] += a[i*n+k] * a[k*n+j];"
)
TIMES = (
    "for (k = 0; k < 3; k++) {\ns = 0.0;\nfor (i = 0; i < n; i++) s += b[i];\n"
    "for (i = 0; i < n; i++) a[i] += s * b[i];\n}"
)

# The value that a loop leaves is a maximum, and C has no function for it.
AFTER = (
    "for (int i = 0; i < n; i++) { int k; a[i] = 0; "
    "for (k = 0; k < n; k++) a[i] += b[k]; a[i] += k; }"
)
AFTER_STEPS = (
    "for (int i = 0; i < n; i++) { int k; a[i] = 0; "
    "for (k = 0; k < n; k += 3) a[i] += b[k]; a[i] += b[k + 1]; }"
)
# Bounds that are a least of two, which inner loops choose and a tile ends at.
LEAST = (
    "for (int i = 0; i < (n < 13 ? n : 13); i++) for (int j = 0; j < n; j++) "
    "for (int k = i; k < (j < 9 ? j : 9); k++) a[i*n+j] += (i < j ? i : j) * b[k];"
)

CASES: Mapping[str, str] = {
    "sum_outside": text_of(f"s = 0.0;\n{SUM}", "double s;"),
    "sum_declared_inside": text_of(f"double s = 0.0;\n{SUM}"),
    "sum_and_its_double": text_of(f"double s = 0.0, q;\n{SUM}\nq = 2.0 * s;\na[0] = q;"),
    "sum_in_a_time_loop": text_of(TIMES, "double s;\nint i, k;"),
    "unrolled_tile": text_of(PRODUCT, recipe='tile(0,"k",4) unroll(0,"k",2)'),
    "unrolled_tile_in_a_register": text_of(
        PRODUCT, recipe='tile(0,"k",4) registers(0,"k_t") unroll(0,"k",2)'
    ),
    "host_bounds": text_of(HOST, recipe='cuda(0, block={"i"}, thread={"j"})'),
    "two_host_bounds": text_of(LATE, rows=True),
    "jacobi": text_of(JACOBI, rows=True),
    "siblings": text_of(SIBLINGS),
    "tile_and_loop_on_gangs": text_of(
        PRODUCT, recipe='tile(0,"i",4) cuda(0, block={"i_t","i"}, thread={"j"})'
    ),
    "tile_and_loop_on_one_vector": text_of(
        PRODUCT, recipe='tile(0,"i",4) cuda(0, block={"j"}, thread={"i","i_t"})'
    ),
    "tile_and_loop_on_asked_gangs": text_of(
        PRODUCT, recipe='tile(0,"i",3) acc(0, gang={"i_t","i"}, vector={"j"})'
    ),
    "iterator_as_value": text_of(AFTER),
    "iterator_as_subscript": text_of(AFTER_STEPS),
    "least": text_of(LEAST),
    "tiles_of_least": text_of(LEAST, recipe='tile(0,"i",4)'),
    "planes": text_of(
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < 3; k++) "
        "c[i][j][k] += a[i*n+j];",
        # Of what a pointer points to, rows are whole, and there are none for n = 0.
    ).replace("double *restrict b", "double (*c)[n][3]"),
}


def codes_of(
    source: SourceFile, analysis: Analysis
) -> Iterator[tuple[str, str, Mapping[str, RegionCode]]]:
    """Yield (name, compiler's kind, codes) for each target and the baselines."""
    for name in ("openmp", "openacc"):
        target = load_target(name)
        found = variants(target, analysis, 1)
        yield name, name, {str(k): target.region(v, False) for k, v in enumerate(found)}
    yield "openmp as written", "openmp", {"parallel for": naive_openmp(source, analysis)}
    yield "openacc as written", "openacc", naive_openacc(source, analysis)


# Each of these has a neighbour among the others.
LONG = (
    *("sum_and_its_double", "unrolled_tile", "two_host_bounds", "tile_and_loop_on_one_vector"),
    *("tile_and_loop_on_asked_gangs", "sum_outside", "host_bounds", "siblings"),
    *("tile_and_loop_on_gangs", "unrolled_tile_in_a_register", "tiles_of_least"),
    *("sum_in_a_time_loop", "iterator_as_value"),
    *("jacobi", "iterator_as_subscript", "planes", "sum_declared_inside"),
)
RUNS = [pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in CASES]


@pytest.mark.parametrize("name", RUNS)
def test_every_text_equals_the_original(name: str, tmp_path: Path) -> None:
    source = source_of(CASES[name])
    analysis = analyse(source.regions[0])
    for way, kind, codes in codes_of(source, analysis):
        folder = tmp_path / way
        folder.mkdir()
        # The race detector nests three parallel regions, and ``kernels`` marks every loop.
        trials = checked(source, analysis, kind, codes, SIZES, folder, way != "openacc as written")
        failed = {n: t.reason for n, t in trials.items() if t.status is not Status.CORRECT}
        assert failed == {}, way
        for code in codes.values():
            text = assembled(source, [code], Provenance("0", "user.c"))
            assert warnings(text, FLAGS[kind], folder) == "", way


def test_a_minimum_is_named_wherever_it_stands() -> None:
    analysis = analyse(source_of(CASES["unrolled_tile"]).regions[0])
    target = load_target("openacc")
    body = target.region(variants(target, analysis, 1)[0], False).body
    assert "min(" not in body
    assert "const int k_end = k_t + 4 < n ? k_t + 4 : n;" in body
    assert "for (int k = k_t; k < k_end - (k_end - k_t) % 2; k += 2)" in body


def test_a_launch_is_sized_for_the_longest_end_of_the_host_loop() -> None:
    analysis = analyse(source_of(CASES["host_bounds"]).regions[0])
    target = load_target("openacc")
    assert "num_gangs(19)" in target.region(variants(target, analysis, 1)[0], False).body


def test_a_loop_on_the_level_of_its_tiles_is_serial() -> None:
    analysis = analyse(source_of(CASES["tile_and_loop_on_gangs"]).regions[0])
    target = load_target("openacc")
    assert (
        "i_t -> gang; j -> vector */" in target.region(variants(target, analysis, 1)[0], False).body
    )


def test_collapsed_loops_that_may_count_backwards_are_tested_first() -> None:
    source = source_of(CASES["jacobi"])
    code = naive_openacc(source, analyse(source.regions[0]))["parallel loop"]
    assert re.search(
        r"if \(n >= 3\)\n#pragma acc parallel loop \\?\s*present\(.*\) \\?\s*collapse", code.body
    )
