"""Variants that are compiled together are what they are alone, and each keeps its own fate."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from compilers import here, wrapper
from made_by_hand import matvec

from annotune.codegen.target import RegionCode
from annotune.ir.region import UserFunction
from annotune.measure import program as ahead
from annotune.measure.check import Checker
from annotune.measure.compile import CompileResult, compile_job, digest_of, recall
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckPlan
from annotune.measure.program import (
    REACHED_ALONE,
    REGION,
    Program,
    compile_ahead,
    compile_job_of,
    file_scope_names,
    joint_source,
    may_join,
    numbered,
)
from annotune.measure.toolchain import Compiler, Toolchains
from annotune.measure.trial import Status

pytestmark = pytest.mark.skipif(here().c is None, reason="no C compiler")

PLAN = CheckPlan(({"n": 20, "m": 30}, {"n": 1, "m": 1}))
# Every variant has a helper of the same name, and some are the same function but for that.
HELPER = """\
#if defined(__GNUC__)
__attribute__((noinline))
#endif
static double row(int m, const double *a, const double *x)
{
    double s = 0;
    for (int j = 0; j < m; j += {step}) s += a[j] * x[j];
    for (int j = 1; j < m; j += 2) if ({step} == 2) s += a[j] * x[j];
    return s;
}
static double last[1];
"""
BODY = "for (int r = 0; r < n; r++) {{ last[0] = row(m, A[r], x); y[r] += last[0] * {factor}; }}"


def variant(step: int = 1, factor: str = "1", **settings: object) -> Program:
    code = RegionCode(BODY.format(factor=factor), HELPER.replace("{step}", str(step)))
    return Program("openmp", "c", code, optimisation=("-O3",), **settings)  # type: ignore[arg-type]


def oracle_with(tools: Toolchains, folder: Path) -> Oracle:
    source, analysis = matvec()
    return Oracle(source, analysis, tools, folder)


@pytest.fixture
def oracle(tmp_path: Path) -> Oracle:
    return oracle_with(here(), tmp_path / "oracle")


def found(one: Program, oracle: Oracle) -> CompileResult | None:
    job = compile_job_of(one, one.kind, oracle)
    return recall(digest_of(job, oracle.tools), oracle.folder / "compiled")


def functions(library: Path) -> dict[str, list[str]]:
    """Return the instructions of every function, without addresses and the names of others."""
    command = ["objdump", "-d", "--no-show-raw-insn", "--no-addresses", str(library)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    blocks = re.findall(r"^<([^>]+)>:\n((?:.+\n)*)", text, re.MULTILINE)
    return {
        name: [re.sub(r"\s+", " ", _PLACE.sub("", row)).strip() for row in rows.splitlines()]
        for name, rows in blocks
    }


# What the linker fills in: where a constant or another function lies.
_PLACE = re.compile(r"#.*|<[^>]*>|-?0x[0-9a-f]+(?=\(%rip\))|\b[0-9a-f]{3,}\b(?=\s*$|\s*<)")


def test_one_library_holds_many_variants_and_each_is_checked(oracle: Oracle) -> None:
    right = [variant(1), variant(2), variant(1, "1.0")]
    wrong = variant(1, "(n > 1 ? 2 : 1)")
    compile_ahead([*right, wrong, right[0]], oracle, PLAN.limits.compile_s)
    made = [found(one, oracle) for one in (*right, wrong)]
    assert len({result.path for result in made if result}) == 1
    assert [result.entry for result in made if result] == [f"annotune_call_{n}" for n in range(4)]
    checker = Checker(oracle)
    assert [checker.check(one, PLAN).status for one in right] == [Status.CORRECT] * 3
    trial = checker.check(wrong, PLAN)
    assert (trial.status, "at n=20, m=30: y[" in trial.reason) == (Status.CORRECTNESS, True)


@pytest.mark.skipif(shutil.which("objdump") is None, reason="no objdump")
@pytest.mark.skipif("clang" in (here().c or Compiler((), "")).version, reason="not gcc")
def test_the_machine_code_is_that_of_a_variant_alone(oracle: Oracle, tmp_path: Path) -> None:
    some = [variant(1), variant(1, "1.0"), variant(2), variant(1, "3")]
    compile_ahead(some, oracle, PLAN.limits.compile_s)
    names = ("row", REGION)
    for number, one in enumerate(some):
        together = found(one, oracle)
        assert together is not None
        job = compile_job_of(one, one.kind, oracle)
        alone = functions(compile_job(job, here(), tmp_path / "alone").path)
        joint = functions(together.path)
        for name in names:
            # A part that is equal to another one is there all the same.
            assert joint[numbered(name, number)] == alone[name], f"{name} of {number}"


@pytest.mark.skipif(shutil.which("objdump") is None, reason="no objdump")
@pytest.mark.skipif("clang" in (here().c or Compiler((), "")).version, reason="not gcc")
def test_what_the_region_does_not_reach_is_not_compiled(oracle: Oracle, tmp_path: Path) -> None:
    others = "void other(int n, double *x) { for (int i = 0; i < n; i++) x[i] *= 2.0; }\n"
    text = oracle.source.text + others
    own = Oracle(replace(oracle.source, text=text), oracle.analysis, here(), tmp_path / "own")
    job = compile_job_of(variant(1), "openmp", own)
    assert REACHED_ALONE in job.flags
    alone = compile_job(job, here(), tmp_path / "alone")
    every = replace(job, flags=tuple(flag for flag in job.flags if flag != REACHED_ALONE))
    whole = compile_job(every, here(), tmp_path / "whole")
    assert alone.ok
    assert whole.ok
    found, expected = functions(alone.path), functions(whole.path)
    # The rest of the machine code is the same: what is timed does not change.
    assert {name: found[name] for name in ("row", REGION)} == {
        name: expected[name] for name in ("row", REGION)
    }
    assembly = [tmp_path / name for name in ("alone.s", "whole.s")]
    for given, place in zip((job, every), assembly, strict=True):
        words = ["-x", "c", "-", "-S", "-O2", "-fPIC", "-fopenmp", *given.flags, "-o", str(place)]
        subprocess.run(["gcc", *words], input=job.sources[0].text, text=True, check=True)
    assert ["other:" in place.read_text() for place in assembly] == [False, True]


def test_a_function_that_the_region_calls_is_compiled_as_in_the_users_program(
    oracle: Oracle,
) -> None:
    assert REACHED_ALONE in oracle.flags_of("openmp")
    oracle.region = replace(oracle.region, functions=(UserFunction("g"),))
    assert REACHED_ALONE not in oracle.flags_of("openmp")


def test_what_nvcc_tells_of_kernels_is_asked_ahead(
    oracle: Oracle, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = replace(variant(1), target="cuda", kind="cuda-cpu", device="__global__ void f() {}")
    asked: list[str] = []
    monkeypatch.setattr(oracle, "compile", lambda job, niceness: asked.append(job.kind))
    for arch, kinds in (("", ["cuda-cpu"]), ("sm_90", ["cuda-cpu", "cuda-cubin"])):
        asked.clear()
        compile_ahead([one], oracle, PLAN.limits.compile_s, arch)
        assert asked == kinds
    # The same kernels are asked for once.
    asked.clear()
    compile_ahead([one, replace(one, config={"n": 1})], oracle, PLAN.limits.compile_s, "sm_90")
    assert asked == ["cuda-cpu", "cuda-cubin"]


def test_a_variant_that_does_not_compile_leaves_the_others_theirs(oracle: Oracle) -> None:
    bad = replace(variant(1), code=RegionCode("no C at all"))
    some = [variant(1), bad, variant(2), variant(1, "1.0")]
    compile_ahead(some, oracle, PLAN.limits.compile_s)
    assert [found(one, oracle) is not None for one in some] == [True, False, True, True]
    trial = Checker(oracle).check(bad, PLAN)
    assert trial.status is Status.COMPILE
    assert "annotune_f_1.c:1" in trial.reason


@pytest.mark.alike(3)
@pytest.mark.parametrize("marker", ["MARK_CRASH", "MARK_HANG", "MARK_NOTHING"])
def test_a_compiler_that_fails_at_one_of_them(
    marker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = here()
    assert tools.c is not None
    script = wrapper(tmp_path, tools.c.path)
    oracle = oracle_with(replace(tools, c=Compiler((str(script),), tools.c.version)), tmp_path)
    bad = variant(1)
    bad = replace(bad, code=replace(bad.code, body=f"/* {marker} */ {bad.code.body}"))
    monkeypatch.setattr(ahead, "AHEAD_LIMIT_S", 1.0)
    compile_ahead([variant(2), bad, variant(1, "1.0")], oracle, PLAN.limits.compile_s)
    assert found(bad, oracle) is None
    assert found(variant(2), oracle)
    assert found(variant(1, "1.0"), oracle)


def test_flags_are_not_shared(oracle: Oracle) -> None:
    fast, slow = variant(1), replace(variant(2), optimisation=("-O1",))
    compile_ahead([fast, slow], oracle, PLAN.limits.compile_s)
    first, second = found(fast, oracle), found(slow, oracle)
    assert first is not None
    assert second is not None
    assert first.path != second.path


def test_a_macro_of_one_variant_reaches_no_other(oracle: Oracle) -> None:
    one = variant(1)
    leaky = replace(one, code=replace(one.code, helper=f"#define FACTOR 2\n{one.code.helper}"))
    with pytest.raises(ValueError, match="a directive that lasts"):
        joint_source(oracle.source, oracle.region, [one.code, leaky.code])
    user = replace(
        one,
        code=RegionCode("\n#ifdef FACTOR\ny[0] = 9;\n#endif\n" + one.code.body, one.code.helper),
    )
    compile_ahead([leaky, user], oracle, PLAN.limits.compile_s)
    assert all(found(each, oracle) for each in (leaky, user))
    assert Checker(oracle).check(user, PLAN).verified


def test_who_may_share_a_compilation() -> None:
    region = matvec()[1].region
    assert may_join("openmp", region, "gcc (Debian 12.2.0) 12.2.0")
    assert not may_join("openmp", region, "Debian clang version 14.0.6")
    assert not may_join("openmp-race", region, "gcc 12.2.0")
    assert not may_join("cuda-cpu", region, "gcc 12.2.0")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (HELPER, {"row", "last"}),
        ("static int n = 3, k; typedef double real;", {"n", "k", "real"}),
        ("struct pair { int a, b; };", {"pair"}),
        ("/* int a; */ // int b;\nextern int c(int d);", {"c"}),
        ("static _Alignas(64) double t[8] = { 1 };", {"t"}),
        ('#pragma omp declare simd\nstatic char *s = "int q;";', {"s"}),
    ],
)
def test_the_names_of_a_file(text: str, names: set[str]) -> None:
    assert file_scope_names(text) == names
