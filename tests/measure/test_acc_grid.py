"""The grid that OpenACC asks for, and the one that a compiler says it has chosen."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import pytest
from codegen.emitted import analysed, example, here, variants

from annotune.codegen.openacc import OpenAccTarget
from annotune.measure.check import Checker
from annotune.measure.compile import CompileJob, TranslationUnit
from annotune.measure.grids import (
    MOST_LAUNCHES,
    GangGrid,
    asked_grids,
    asked_text,
    chosen_grids,
    grids_of_feedback,
    grids_text,
    parse_func_map,
    parse_nvc_feedback,
)
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckPlan
from annotune.measure.program import Program
from annotune.measure.toolchain import Compiler, Toolchains
from annotune.measure.trial import Status, Trial

# gcc 12.2 for nvptx-none: the last function comes first, and a size of 0 is libgomp's.
PTX = """\
// BEGIN PREAMBLE
\t.version\t7.0
\t.target\tsm_80
//:FUNC_MAP "g$_omp_fn$0", 0, 0x8, 0x20
//:FUNC_MAP "f$_omp_fn$10", 0x10000, 0x1, 0x100
//:FUNC_MAP "f$_omp_fn$1", 0x10, 0x20, 0x20
//:FUNC_MAP "f$_omp_fn$0", 0x1000, 0x1, 0x100
//:FUNC_MAP "open$_omp_fn$0"
//:VAR_MAP "table"
"""

# Written after the samples in NVIDIA's HPC compilers guide; nvc has not been run here.
NVC = """\
f:
     12, Generating copyin(A[:m][:k],B[:k][:n]) [if not already present]
         Generating copy(C[:m][:n]) [if not already present]
         Generating NVIDIA GPU code
         15, #pragma acc loop gang(1024) collapse(2) /* blockIdx.x */
         16,   /* blockIdx.x collapsed */
         18, #pragma acc loop worker(8) /* threadIdx.y */
         20, #pragma acc loop vector(32) /* threadIdx.x */
         23, #pragma acc loop seq
     23, Loop is parallelizable
     31, Generating NVIDIA GPU code
         33, #pragma acc loop gang, vector(128) /* blockIdx.x threadIdx.x */
g:
     41, Generating NVIDIA GPU code
         43, #pragma acc loop gang(64) /* blockIdx.x */
"""

ASKED = """\
#pragma acc data copyin(a[0:n])
{
    #pragma acc parallel loop gang collapse(2) num_gangs(1024) num_workers(8) \\
        vector_length(32) default(present)
    for (int i = 0; i < n; i++) ;
    #pragma acc loop vector
    for (int i = 0; i < n; i++) ;
#pragma acc parallel loop seq num_gangs(1) num_workers(1) vector_length( 32 )
    for (int once = 0; once < 1; once++) ;
#pragma acc kernels copy(a[0:n])
}
"""


def test_the_ptx_of_gcc() -> None:
    assert parse_func_map(PTX, "f") == (
        *(GangGrid(4096, 1, 256), GangGrid(16, 32, 32)),
        # 65536 does not fit into the table that libgomp reads.
        GangGrid(None, 1, 256),
    )
    assert parse_func_map(PTX, "g") == (GangGrid(None, 8, 32),)
    assert parse_func_map(PTX, "open") == (GangGrid(),)
    assert len(parse_func_map(PTX)) == 5
    assert parse_func_map("// nothing\n") == ()


def test_the_words_of_nvc() -> None:
    feedback = parse_nvc_feedback(NVC)
    assert grids_of_feedback(feedback, "f") == (GangGrid(1024, 8, 32), GangGrid(None, 1, 128))
    assert grids_of_feedback(feedback, "g") == (GangGrid(64, 1, 1),)
    assert grids_of_feedback(feedback, "h") == ()


def test_what_the_clauses_ask_for() -> None:
    assert asked_grids(ASKED) == (GangGrid(1024, 8, 32), GangGrid(1, 1, 32), GangGrid())
    assert asked_text(ASKED) == "1024 x 8 x 32; 1 x 1 x 32; ? x ? x ?"
    assert asked_text("#pragma acc kernels loop\n") == "nothing, the grid is the compiler's choice"


def test_of_many_launches_the_first_are_told() -> None:
    assert grids_text([GangGrid(1, 1, 32)] * (MOST_LAUNCHES + 2)).endswith("; 1 x 1 x 32; 2 more")


def test_without_a_compiler_for_a_gpu_the_reason_stands_there(tmp_path: Path) -> None:
    tools = replace(here(), offload=(), nvc=None)
    found = chosen_grids(
        CompileJob((TranslationUnit("int x;\n"),), "openacc"), "f", tools, tmp_path
    )
    assert str(found) == (
        "not available because no compiler here makes OpenACC code for a GPU: gcc has no "
        "nvptx-none, and there is no nvc"
    )


def offloading(folder: Path, words: str, ptx: str, code: int = 0) -> Toolchains:
    """Return the tools of this machine with a C compiler that answers as gcc with nvptx does."""
    script = folder / "gcc-nvptx"
    (folder / "ptx").write_text(ptx)
    script.write_text(
        "#!/bin/sh\n"
        'case "$*" in *nvptx-none*)\n'
        f"echo \"{words}\" >&2; cp '{folder}/ptx' out.so.xnvptx-none.mkoffload.s\n"
        f"touch out.so; exit {code};; esac\n"
        'exec gcc "$@"\n'
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    c = here().c
    assert c is not None
    return replace(here(), c=Compiler((str(script),), c.version), offload=("nvptx-none",))


def test_other_sizes_than_asked_for_are_told(tmp_path: Path) -> None:
    job = CompileJob((TranslationUnit("int x;\n"),), "openacc")
    found = chosen_grids(job, "f", offloading(tmp_path, "", PTX), tmp_path / "out")
    assert str(found) == "4096 x 1 x 256; 16 x 32 x 32; ? x 1 x 256 (gcc)"
    assert chosen_grids(job, "none", offloading(tmp_path, "", PTX), tmp_path / "out").reason == (
        "gcc has left no sizes"
    )


def test_a_compiler_that_fails_is_no_reason_to_stop(tmp_path: Path) -> None:
    job = CompileJob((TranslationUnit("int x;\n"),), "openacc")
    words = "ptxas fatal : error: Value 'sm_35' is not defined"
    found = chosen_grids(job, "f", offloading(tmp_path, words, PTX, 1), tmp_path / "out")
    assert str(found) == f"not available because gcc does not compile it for a GPU: {words}"


def trial(folder: Path, tools: Toolchains) -> Trial:
    """Return the trial of the first variant of a product, its grids asked for."""
    source, analysis = example("gemm/gemm.c"), analysed("gemm/gemm.c")
    target = OpenAccTarget()
    code = target.region(variants(target, analysis, 1)[0], False)
    plan = CheckPlan(({"m": 2, "n": 3, "k": 4},), grids=True)
    oracle = Oracle(source, analysis, tools, folder / "oracle")
    return Checker(oracle).check(Program("openacc", "openacc", code), plan)


GEMM_PTX = '//:FUNC_MAP "annotune_region$_omp_fn$0", 0x400, 0x8, 0x20\n'
needs_gcc = pytest.mark.skipif(here().c is None, reason="no C compiler")


@needs_gcc
def test_both_grids_stand_beside_a_trial(tmp_path: Path) -> None:
    found = trial(tmp_path, offloading(tmp_path, "", GEMM_PTX))
    assert found.status is Status.CORRECT
    assert found.facts["grid_asked"] == "1024 x 8 x 32; 1024 x 8 x 32"
    assert found.facts["grid_chosen"] == "1024 x 8 x 32 (gcc)"


@needs_gcc
def test_a_point_whose_sizes_gcc_does_not_take_is_invalid(tmp_path: Path) -> None:
    warning = "x.c:1:9: warning: using 'vector_length (32)', ignoring 48"
    found = trial(tmp_path, offloading(tmp_path, warning, GEMM_PTX))
    assert found.status is Status.CONSTRAINTS
    assert found.reason == "using 'vector_length (32)', ignoring 48"


@pytest.mark.skipif("nvptx-none" not in here().offload, reason="gcc has no nvptx-none here")
def test_gcc_itself_takes_what_the_clauses_ask_for(tmp_path: Path) -> None:
    found = trial(tmp_path, here())
    assert found.facts["grid_chosen"] == f"{found.facts['grid_asked']} (gcc)"
