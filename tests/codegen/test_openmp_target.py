"""OpenMP for devices as emitted: read, compiled without a warning, and run against the original."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from codegen.emitted import (
    RUNS,
    SIZES,
    analysed,
    checked,
    example,
    here,
    source_of,
    variants,
    warnings,
)
from conftest import Golden
from support.laws import IS_THOROUGH

from annotune.analysis.analyse import analyse
from annotune.codegen.openmp_target import OpenMpOffloadTarget
from annotune.codegen.target import Provenance
from annotune.ir.region import SourceFile
from annotune.measure.trial import Status

TARGET = OpenMpOffloadTarget()
GCC = ("-fopenmp", "-foffload=disable")
needs_gcc = pytest.mark.skipif(here().c is None, reason="no C compiler")


def emitted(source: SourceFile) -> str:
    """Return the whole file: the first choice for each of its regions."""
    codes = [
        TARGET.region(variants(TARGET, analyse(region), 1)[0], False) for region in source.regions
    ]
    return TARGET.files(source, codes, Provenance("0", source.path))["_omp_target.c"]


@pytest.mark.parametrize("name", ["gemm/gemm.c", "nekbone/local_grad3.c"])
def test_the_file_reads_well(name: str, golden: Golden) -> None:
    golden.check(f"codegen/omp_target_{Path(name).name}", emitted(example(name)))


def test_a_kernel_of_nwchem_reads_well(golden: Golden) -> None:
    code = TARGET.region(variants(TARGET, analysed("nwchem/sd_t_d1.c"), 1)[0], False)
    golden.check("codegen/omp_target_sd_t_d1_1.c", code.body)


@pytest.mark.alike(8)
@needs_gcc
@pytest.mark.parametrize("name", SIZES)
def test_the_file_compiles_without_a_warning(name: str, tmp_path: Path) -> None:
    assert warnings(emitted(example(name)), GCC, tmp_path) == ""


@pytest.mark.alike(3)
@pytest.mark.skipif(shutil.which("clang") is None, reason="no clang")
@pytest.mark.parametrize("name", SIZES)
def test_clang_reads_the_file(name: str, tmp_path: Path) -> None:
    (tmp_path / "t.c").write_text(emitted(example(name)))
    command = ["clang", "-fopenmp", "-fsyntax-only", "-Wall", str(tmp_path / "t.c")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@needs_gcc
@pytest.mark.parametrize("name", RUNS)
def test_kernels_equal_the_original_at_awkward_sizes(name: str, tmp_path: Path) -> None:
    found = variants(TARGET, analysed(name), 3 if IS_THOROUGH else 2)
    codes = {str(v.config): TARGET.region(v, False) for v in found}
    trials = checked(example(name), analysed(name), "openmp_target", codes, SIZES[name], tmp_path)
    assert {n: t.reason for n, t in trials.items() if t.status is not Status.CORRECT} == {}


def test_several_kernels_share_one_data_region() -> None:
    body = TARGET.region(variants(TARGET, analysed("nekbone/local_grad3.c"), 1)[0], False).body
    assert body.count("#pragma omp target data") == 1
    assert body.count("map(alloc:") == body.count("#pragma omp target teams distribute") == 3


def test_resident_arrays_are_mapped_without_a_copy() -> None:
    body = TARGET.region(variants(TARGET, analysed("gemm/gemm.c"), 1)[0], True).body
    assert "map(alloc: A[0:m][0:k], B[0:k][0:n], C[0:m][0:n])" in body
    assert "map(to" not in body
    assert "map(from" not in body


SUMS = """
static double twice(double x) { return 2.0 * x; }
double total(int n, int m, const double *restrict a, double *restrict rows)
{
    double sum = 0.0;
    /*@ begin PerfTuning (
      def input_params { param n = 60; param m = 40; }
      def assume { arg pure = ['twice']; }
    ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            sum += twice(a[i * m + j]);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            rows[i] += a[i * m + j];
    /*@ end @*/
    return sum;
}
"""


@needs_gcc
def test_sums_come_back_and_functions_are_the_devices_too(tmp_path: Path, golden: Golden) -> None:
    source = source_of(SUMS)
    analysis = analyse(source.regions[0])
    code = TARGET.region(variants(TARGET, analysis, 1)[0], False)
    golden.check("codegen/omp_target_sums.c", code.helper + code.body)
    sizes = ({"n": 60, "m": 40}, {"n": 7, "m": 3})
    trials = checked(source, analysis, "openmp_target", {"first": code}, sizes, tmp_path)
    assert [(t.status, t.reason) for t in trials.values()] == [(Status.CORRECT, "")]
