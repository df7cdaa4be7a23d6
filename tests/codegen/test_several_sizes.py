"""One text for several problem sizes: which kernel runs at which, and that all are right."""

from __future__ import annotations

import ctypes
import random
import re
import subprocess
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest
from conftest import Golden
from hypothesis import given, settings
from hypothesis import strategies as st
from support.executed import Executable
from support.regions import analysis_of

from annotune.analysis.analyse import analyse
from annotune.annotation.devices import load_device
from annotune.certify.certificate import verify
from annotune.certify.kernels import certify, certify_acc, certify_cores
from annotune.codegen.guards import joined
from annotune.codegen.in_place import region_block
from annotune.codegen.several_sizes import (
    OTHERS,
    Definitions,
    any_of,
    at_other_sizes,
    call_sizes,
    can_share,
    combined,
    suffixes,
)
from annotune.codegen.target import load_target
from annotune.ir.expr import Binary, Expr, Int, Var
from annotune.pipeline import Settings, emit
from annotune.space.decision import Base
from annotune.space.space import region_space
from annotune.space.variants import Variant

PRODUCT = """\
void mm(int n, int m, const double *restrict a, const double *restrict b, double *restrict c)
{
    /*@ begin PerfTuning ( def input_params { param n[] = [8,10,12]; param m = 7; } ) @*/
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                c[i*n + j] += a[i*n + k] * b[k*n + j];
    /*@ end @*/
}
"""
SUFFIXES = {"cuda": ".cu", "openacc": "_acc.c", "openmp": "_omp.c"}
TARGETS = tuple(SUFFIXES)


def written(folder: Path, text: str, *targets: str) -> dict[str, str]:
    """Return what `emit` makes of a C text, by suffix."""
    source = folder / "user.c"
    source.write_text(text)
    return dict(emit(Settings(source, targets), [load_target(t) for t in targets]).files)


@pytest.mark.parametrize("target", TARGETS)
def test_the_text_for_three_sizes_reads_well(target: str, golden: Golden) -> None:
    code = load_target(target).region(combination(target, PRODUCT), resident=False)
    text = code.device or f"{code.helper}\n{code.body}".lstrip()
    golden.check(f"codegen/sizes{SUFFIXES[target]}", text)


# Which kernels ran ------------------------------------------------------------------------

NOTES = '{0}const char *annotune_test_ran = "none";\n'
LAUNCH = re.compile(r"^( *)(\w+)<<<", re.M)
HELPER = re.compile(r"^(static void (mm_1_\w+)\([^)]*\)\n\{\n)", re.M)
BRANCH = re.compile(r"^( +)(?:(?:else )?if \(([^)]*== [^)]*)\)|else) \{\n(?=\s*/\* S0)", re.M)


def noting(target: str, text: str) -> str:
    """Return a generated text that leaves in `annotune_test_ran` what of it ran last."""
    if target == "cuda":
        noted = LAUNCH.sub(r'\1annotune_test_ran = "\2"; \2<<<', text)
        return noted.replace("#include", NOTES.format('extern "C" ') + "#include", 1)
    if target == "openmp":
        return NOTES.format("") + HELPER.sub(r'\1annotune_test_ran = "\2";\n', text)
    heads = BRANCH.sub(lambda m: f'{m[0]}annotune_test_ran = "{m[2] or "others"}";\n', text)
    return NOTES.format("") + heads


@dataclass(frozen=True)
class Built:
    """The original and a text made of it, as libraries."""

    original: ctypes.CDLL
    made: ctypes.CDLL

    def ran(self, n: int, m: int) -> str:
        """Call both, compare what they leave, and return what ran of the text."""
        results = []
        note = ctypes.c_char_p.in_dll(self.made, "annotune_test_ran")
        note.value = b"none"
        for library in (self.original, self.made):
            numbers = random.Random(n * 100 + m)
            arrays = [
                (ctypes.c_double * (count + 1))(*(numbers.randrange(9) for _ in range(count + 1)))
                for count in (n * m, n * n, n * m)
            ]
            library.mm(n, m, *arrays)
            results.append([bytes(one) for one in arrays])
        assert results[0] == results[1], (n, m)
        assert note.value is not None
        return note.value.decode()


def built(folder: Path, target: str, text: str) -> Built:
    files = written(folder, text, target)
    files[SUFFIXES[target]] = noting(target, files[SUFFIXES[target]])
    if target == "cuda":
        Executable(folder, text, files)
    else:
        flags = {"openmp": ["-fopenmp"], "openacc": ["-fopenacc", "-foffload=disable"]}[target]
        for name, source, more in (
            ("original", text, []),
            ("made", files[SUFFIXES[target]], flags),
        ):
            (folder / f"{name}.c").write_text(source)
            command = ["gcc", "-O1", "-Wall", "-Werror", *more, "-shared", "-fPIC"]
            command += [str(folder / f"{name}.c"), "-o", str(folder / f"{name}.so")]
            done = subprocess.run(command, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
    return Built(*(ctypes.CDLL(str(folder / f"{name}.so")) for name in ("original", "made")))


# What runs for a listed n with its m, with another m, and for all other sizes. The directives for
# any m are those for 7.
EXPECTED = {
    "cuda": ("mm_1_s0_n{n}", "mm_1_s0_n{n}_any", "mm_1_s0"),
    "openmp": ("mm_1_s0_n{n}", "mm_1_s0_n{n}_any", "mm_1_s0"),
    "openacc": ("n == {n}", "n == {n}", "others"),
}


@pytest.mark.alike(3)
@pytest.mark.parametrize("target", TARGETS)
def test_each_size_runs_its_own_kernel_and_all_others_the_general_one(
    target: str, tmp_path: Path
) -> None:
    one = built(tmp_path, target, PRODUCT)
    own, of_any, general = EXPECTED[target]
    for n in (8, 10, 12):
        assert one.ran(n, 7) == own.format(n=n)
        for m in (1, 2, 3, 6, 8, 13, 37, 70):
            assert one.ran(n, m) == of_any.format(n=n), (n, m)
    for n, m in ((9, 7), (1, 1), (37, 19), (11, 7)):
        assert one.ran(n, m) == general, (n, m)
    # What does not run at all has no kernel.
    assert one.ran(0, 7) == one.ran(8, 0) == "none"


CERTIFY = {"cuda": certify, "openacc": certify_acc, "openmp": certify_cores}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("m", [1, 7, 13])
def test_the_plan_for_any_m_has_a_certificate_at_each(target: str, m: int) -> None:
    for one in combination(target, PRODUCT).by_size:
        assert one.partly is not None
        assert one.partly.constants == {"n": one.analysis.region.sizes["n"]}
        region = replace(one.analysis.region, sizes={**one.analysis.region.sizes, "m": m})
        assert verify(CERTIFY[target](analyse(region), one.partly)) == ()


# The rows of c are apart where m is even, which is proven for each of the sizes alone.
ALONE = """\
void mm(int n, int m, const double *restrict a, const double *restrict b, double *restrict c)
{
    /*@ begin PerfTuning ( def input_params { param n[] = [8,10,12]; param m = 8; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int k = 0; k < n; k++)
                c[i*(m/2*2) + j] += a[k*m + j] * b[i*n + k];
    /*@ end @*/
}
"""


@pytest.mark.alike(2)
@pytest.mark.parametrize("target", ["cuda", "openmp"])
def test_without_a_proof_for_all_sizes_the_others_run_as_written(
    target: str, tmp_path: Path
) -> None:
    one = built(tmp_path, target, ALONE)
    for n in (8, 10, 12):
        assert one.ran(n, 8) == f"mm_1_s0_n{n}"
    for n, m in ((9, 8), (8, 7), (12, 10), (3, 3)):
        assert one.ran(n, m) == "none"


# Laws of the dispatch -----------------------------------------------------------------------

COPY = """\
void f(int n, int m, double *restrict y, const double *restrict x)
{{
    /*@ begin PerfTuning ( def input_params {{ param n[] = {n}; param m[] = {m}; }} ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[i*m + j] += x[j*n + i];
    /*@ end @*/
}}
"""


@cache
def combination(target: str, text: str) -> Variant:
    """Return the first choice at every size of a text's only region, as one variant."""
    first = analysis_of(text)
    regions = (first.region, *at_other_sizes(first.region, first))
    found = []
    for region in regions:
        base = Base.of(analyse(region))
        space = region_space(base)
        found.append(
            load_target(target).points(base, space, load_device("h200")).listing(1).variant(0)
        )
    return combined(found)


def chosen(text: str, sizes: dict[str, int]) -> str:
    """Return what stands in the branch of a text that a call with `sizes` takes."""
    head = re.compile(r"^( *)(?:else )?(if \([^{]*==[^{]*|else) \{\n(.*?)\n\1\}", re.M | re.S)
    for _, test, inside in head.findall(text):
        formula = test.removeprefix("if ").replace("&&", "and").replace("||", "or")
        if test == "else" or eval(" ".join(formula.split()), {}, sizes):
            return str(inside).strip()
    raise AssertionError("no branch is taken")


LISTS = {
    "n": st.lists(st.integers(2, 70), min_size=1, max_size=3, unique=True),
    "m": st.lists(st.integers(2, 70), min_size=2, max_size=2, unique=True),
}
MISSES = ({"n": 71, "m": 71}, {"n": 1, "m": 1})


def for_any_n(variant: Variant) -> Variant:
    """Return a variant that has a plan for its m alone beside that for its sizes."""
    plan = variant.tuned
    return replace(variant, partly=replace(plan, constants={"m": plan.constants["m"]}))


@settings(max_examples=5, deadline=None)
@given(**LISTS)
def test_a_text_in_place_takes_the_plan_for_exactly_its_size(n: list[int], m: list[int]) -> None:
    variant = combination("openmp", COPY.format(n=n, m=m))
    assert [call_sizes(one.analysis) for one in variant.by_size] == [
        {"n": one, "m": two} for one in n for two in m
    ]
    # Plans that are told apart, though some may be alike. Where n has one value, m alone is listed.
    parts = [for_any_n(one) if len(n) == 1 else one for one in variant.by_size]
    apart = replace(parts[0], others=tuple(parts[1:]), general=replace(variant.tuned, steps=()))
    assert len(apart.size_cases) == len(n) * len(m) * (2 if len(n) == 1 else 1)
    ends = suffixes(apart)
    assert len(set(ends)) == len(ends)
    text = region_block(apart, lambda out, analysis, plan, suffix: out.line(f"run{suffix};"))
    for one, suffix in zip(apart.size_cases, ends, strict=True):
        sizes = call_sizes(one.analysis)
        sizes |= {name: 71 for name in sizes if name not in one.tuned.constants}
        assert chosen(text, sizes) == f"run{suffix};"
    for sizes in (*MISSES, {"n": n[0], "m": 71}):
        assert chosen(text, sizes) == "run;"


@settings(max_examples=5, deadline=None)
@given(**LISTS)
def test_a_launch_takes_a_kernel_made_for_its_size(n: list[int], m: list[int]) -> None:
    variant = combination("cuda", COPY.format(n=n, m=m))
    text = load_target("cuda").region(variant, resident=False).device
    launch = text[text.index("static cudaError_t f_1_launch") :]
    said = dict(re.findall(r"/\* For ([^:]*): \*/\n/\*[^/]*/\n[^(]*\([^)]*\) (\w+)\(", text))
    served = {name: label.split("; ") for label, name in said.items()}
    for one in variant.by_size:
        sizes = call_sizes(one.analysis)
        (name,) = re.findall(r"(\w+)<<<", chosen(launch, sizes))
        assert f"n={sizes['n']}, m={sizes['m']}" in served[name]
    for sizes in (*MISSES, {"n": n[0], "m": 71}):
        (name,) = re.findall(r"(\w+)<<<", chosen(launch, sizes))
        assert OTHERS in served[name]


# Parts ----------------------------------------------------------------------------------------


def sizes_of(text: str) -> list[dict[str, int]]:
    """Return the other sizes for which the only region of a text is tuned."""
    first = analysis_of(text)
    return [dict(region.sizes) for region in at_other_sizes(first.region, first)]


def test_a_name_of_a_kernel_has_the_sizes_that_differ() -> None:
    def ends(n: str, m: str) -> tuple[str, ...]:
        return suffixes(combination("openmp", COPY.format(n=n, m=m)))

    assert ends("[4, 5]", "[3]") == ("_n4", "_n5")
    assert ends("[4]", "[3, 9]") == ("_m3", "_m9")
    assert ends("[4, 5]", "[3, 9]") == ("_n4_m3", "_n4_m9", "_n5_m3", "_n5_m9")
    assert ends("[4]", "[3]") == ("_tuned",)


def test_digits_at_the_end_of_a_name_stay_apart_from_the_size() -> None:
    text = COPY.format(n=[4, 5], m=[3]).replace("n", "n1").replace("in1t", "int")
    text = text.replace("begin1", "begin").replace("en1d", "end").replace("Tun1in1g", "Tuning")
    text = text.replace("in1put", "input").replace("con1st", "const")
    assert suffixes(combination("openmp", text)) == ("_n1_4", "_n1_5")


def test_what_c_fixes_has_one_size() -> None:
    fixed = "#define n 4\n" + COPY.format(n=[4, 5], m=[3, 9]).replace("int n, ", "")
    assert sizes_of(fixed) == [{"n": 4, "m": 9}]


def test_sizes_that_no_call_tells_apart_are_one() -> None:
    text = COPY.format(n=[4], m=[3, 9]).replace("param n[]", "param W[] = [1,2]; param n[]")
    assert sizes_of(text) == [{"W": 1, "n": 4, "m": 9}]


def test_facts_that_hold_at_one_size_alone_are_not_shared() -> None:
    one = analysis_of(COPY.format(n=[4, 5], m=[3]))
    (region,) = at_other_sizes(one.region, one)
    other = analyse(region)
    assert can_share(one, other)
    assert not can_share(one, replace(other, conditions=(Binary(">=", Var("m"), Var("n")),)))
    assert not can_share(one, replace(other, all_sizes=False))


def is_size(name: str, size: int) -> Expr:
    return Binary("==", Var(name), Int(size))


def test_what_alternatives_have_in_common_is_tested_once() -> None:
    n4, n5, m3, m9 = (is_size(*pair) for pair in (("n", 4), ("n", 5), ("m", 3), ("m", 9)))
    assert joined(any_of([(n4, m3)])) == "n == 4 && m == 3"
    assert joined(any_of([(n4, m3), (n5, m3)])) == "m == 3 && (n == 4 || n == 5)"
    assert joined(any_of([(n4, m3), (n5, m9)])) == "((n == 4 && m == 3) || (n == 5 && m == 9))"
    assert joined(any_of([(n4, m3), (m3,)])) == "m == 3"


def test_a_text_that_two_sizes_share_stands_there_once() -> None:
    found = Definitions()
    assert found.add("k", "void k() { all(); }\n", OTHERS) == "k"
    assert found.add("k_n4", "void k_n4() { k_n4_rest(); }\n", "n=4") == "k_n4"
    assert found.add("k_n5", "void k_n5() { k_n5_rest(); }\n", "n=5") == "k_n4"
    assert found.add("k_n6", "void k_n6() { all(); }\n", "n=6") == "k"
    assert found.texts() == (
        "/* For n=4; n=5: */\nvoid k_n4() { k_n4_rest(); }\n",
        "/* For all other sizes; n=6: */\nvoid k() { all(); }\n",
    )


def test_plans_that_come_out_alike_are_one_branch() -> None:
    text = COPY.format(n=[64, 128], m=[16]).replace("x[j*n + i]", "x[i*m + j]")
    # One kernel, whose grid alone knows how often it is needed.
    cuda = load_target("cuda").region(combination("cuda", text), False).device
    assert "/* For n=64, m=16; n=128, m=16: */" in cuda
    assert re.findall(r"__global__ .* (\w+)\(", cuda) == ["f_1_s0_n64", "f_1_s0"]
    assert re.findall(r"(\w+)<<<", cuda) == ["f_1_s0_n64", "f_1_s0_n64", "f_1_s0"]
    # The directives of the general plan say it all.
    acc = load_target("openacc").region(combination("openacc", text), False).body
    assert "==" not in acc
    assert acc.count("#pragma acc parallel") == 1


def test_one_function_for_two_sizes_is_called_in_one_branch() -> None:
    inner = "for (int k = 0; k < m; k++) y[i*m + j] += x[i*m + k] * y[0];"
    text = COPY.format(n=[64, 128], m=[16]).replace("y[i*m + j] += x[j*n + i];", inner)
    text = text.replace("* y[0]", "* x[k*m + j]")
    made = load_target("openmp").region(combination("openmp", text), False)
    assert "if (m == 16 && (n == 64 || n == 128))" in made.body
    assert "/* For n=64, m=16; n=128, m=16: */" in made.helper
