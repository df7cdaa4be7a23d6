"""OpenACC as emitted: read, compiled without a warning, and run against the original."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from codegen.emitted import (
    RUNS,
    SIZES,
    analysed,
    analysed_text,
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
from annotune.codegen.openacc import OpenAccTarget
from annotune.codegen.target import Provenance
from annotune.measure.trial import Status
from annotune.space.variants import Variant

TARGET = OpenAccTarget()
GCC = ("-fopenacc", "-foffload=disable")
needs_gcc = pytest.mark.skipif(here().c is None, reason="no C compiler")


def emitted(name: str) -> str:
    """Return the whole file for an example: the first choice for each of its regions."""
    source = example(name)
    codes = [
        TARGET.region(variants(TARGET, analyse(region), 1)[0], False) for region in source.regions
    ]
    return TARGET.files(source, codes, Provenance("0", name))["_acc.c"]


@pytest.mark.parametrize("name", ["gemm/gemm.c", "nekbone/local_grad3.c"])
def test_the_file_reads_well(name: str, golden: Golden) -> None:
    golden.check(f"codegen/acc_{Path(name).name}", emitted(name))


@pytest.mark.alike(8)
@needs_gcc
@pytest.mark.parametrize("name", SIZES)
def test_the_file_compiles_without_a_warning(name: str, tmp_path: Path) -> None:
    assert warnings(emitted(name), GCC, tmp_path) == ""


@needs_gcc
@pytest.mark.parametrize("name", RUNS)
def test_kernels_equal_the_original_at_awkward_sizes(name: str, tmp_path: Path) -> None:
    found = variants(TARGET, analysed(name), 3 if IS_THOROUGH else 2)
    codes = {str(v.config): TARGET.region(v, False) for v in found}
    trials = checked(example(name), analysed(name), "openacc", codes, SIZES[name], tmp_path)
    assert {n: t.reason for n, t in trials.items() if t.status is not Status.CORRECT} == {}


@pytest.mark.alike(3)
@pytest.mark.parametrize("name", SIZES)
def test_sizes_are_those_that_gcc_accepts_and_every_kernel_may_have(name: str) -> None:
    for variant in variants(TARGET, analysed(name), 8):
        text = TARGET.region(variant, False).body.replace("\\\n", " ")
        for workers, vector in re.findall(r"num_workers\((\d+)\)\s+vector_length\((\d+)\)", text):
            assert int(vector) % 32 == 0
            assert int(workers) * int(vector) <= 256


def test_sixteen_by_sixteen_threads_are_one_vector_or_eight_workers() -> None:
    found = {
        variant.config["S0.shape"]: TARGET.region(variant, False).body.replace("\\\n", "")
        for variant in reversed(variants(TARGET, analysed("nwchem/sd_t_d1.c"), 3))
    }
    assert list(found) == ["workers", "merged", "registers"]
    assert "num_workers(1) vector_length(256)" in " ".join(found["merged"].split())
    assert "#pragma acc loop vector collapse(2)" in found["merged"]
    assert "num_workers(8) vector_length(32)" in " ".join(found["workers"].split())
    assert "#pragma acc loop worker\n" in found["workers"]


def test_several_kernels_share_one_data_region() -> None:
    body = TARGET.region(variants(TARGET, analysed("nekbone/local_grad3.c"), 1)[0], False).body
    assert body.count("#pragma acc data") == 1
    assert body.count(" present(") == body.count("#pragma acc parallel loop") == 3


def test_resident_arrays_are_present() -> None:
    body = TARGET.region(variants(TARGET, analysed("gemm/gemm.c"), 1)[0], True).body
    assert "present(A[0:m][0:k], B[0:k][0:n], C[0:m][0:n])" in body
    assert "copy" not in body


def test_claims_for_one_set_of_sizes_are_kept_to_them() -> None:
    variant = variants(TARGET, analysed("gemm/gemm.c"), 1)[0]
    alone: Variant = replace(variant, general=None)
    body = TARGET.region(alone, False).body
    assert "if (m == 512 && n == 512 && k == 512" in body
    assert body.count("#pragma acc parallel loop") == 1


OBJECTS = """
static double u[40][50];
void f(int n, double *restrict b)
{
    double w[n];
    /*@ begin PerfTuning ( def input_params { param n = 50; } ) @*/
    for (int i = 0; i < n; i++)
        w[i] = 2.0 * b[i];
    for (int i = 0; i < 40; i++)
        for (int j = 0; j < 50; j++)
            u[i][j] = 2.0;
    /*@ end @*/
}
"""


def test_array_objects_have_sections_too() -> None:
    # The check calls the region with pointers in their places.
    body = TARGET.region(variants(TARGET, analysed_text(OBJECTS), 1)[0], False).body
    assert "copyin(b[0:n]) copyout(u[0:40][0:50]) create(w[0:n])" in body


HOST = """
void relax(int t, int n, double *restrict a, double *restrict b)
{
    static double w[4];
    int s, i;
    /*@ begin PerfTuning ( def input_params { param t = 3; param n = 64; } ) @*/
    for (s = 0; s < t; s++) {
        for (i = 1; i < n - 1; i++)
            b[i] = w[0] + a[i - 1] + a[i + 1];
        for (i = 1; i < n - 1; i++)
            a[i] = b[i];
    }
    /*@ end @*/
}
"""


@needs_gcc
def test_a_serial_loop_stays_around_its_kernels(tmp_path: Path, golden: Golden) -> None:
    source = source_of(HOST)
    analysis = analyse(source.regions[0])
    code = TARGET.region(variants(TARGET, analysis, 1)[0], False)
    golden.check("codegen/acc_host_loop.c", code.body)
    sizes = ({"t": 3, "n": 64}, {"t": 1, "n": 3}, {"t": 2, "n": 2})
    trials = checked(source, analysis, "openacc", {"first": code}, sizes, tmp_path)
    assert [(t.status, t.reason) for t in trials.values()] == [(Status.CORRECT, "")]
