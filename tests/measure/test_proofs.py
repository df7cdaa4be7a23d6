"""What a text stands before it wins finds what its trials do not: each rule, and its mistake."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from compilers import here
from support.regions import analysis_of, text_source

from annotune.analysis.analyse import analyse
from annotune.annotation.devices import load_device
from annotune.codegen.code import RegionCode
from annotune.codegen.target import load_target
from annotune.decide.decision import Base
from annotune.decide.space import region_space
from annotune.measure.check import Checker, CheckPlan
from annotune.measure.cuda_text import with_small_grids
from annotune.measure.inputs import Values, make_inputs
from annotune.measure.oracle import Oracle
from annotune.measure.overlaps import WHOLE, Overlap, overlaps
from annotune.measure.proofs import proofs
from annotune.measure.sizes import awkward_sizes, border_sizes, tuned_sizes
from annotune.measure.trial import Status
from annotune.measure.variant import Variant

needs_compilers = pytest.mark.skipif(
    here().cxx is None or not here().openmp, reason="no C++ compiler with OpenMP"
)
TEXT = """\
void f(int n, int m, int ld, const double *x, double *y, const int *restrict at,
       const float z[9])
{
    /*@ begin PerfTuning ( def input_params { param n = 12; param m = 8; param ld = 8; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            if (x[i * ld + j] < 0.625)
                y[i * ld + j] = x[i * ld + j] + z[at[j]];
    /*@ end @*/
}
"""


def test_sizes_lie_at_the_borders_of_the_tuned_ones_of_none_and_of_the_conditions() -> None:
    analysis = analysis_of(TEXT)
    found = [tuple(sizes.values()) for sizes in border_sizes(analysis)]
    assert {(13, 8, 8), (11, 8, 8), (12, 7, 8), (12, 8, 9), (24, 8, 8), (24, 16, 16)} <= {*found}
    assert {(0, 13, 13), (11, 0, 13), (0, 0, 0)} <= {*found}
    assert any(sizes[0] > 1 << 16 for sizes in found)
    # The proofs need ld >= m: one less, just so, and one more.
    assert {(11, 13, 12), (11, 13, 13), (11, 13, 14)} <= {*found}
    assert len(found) == len({*found})
    assert border_sizes(analysis, limit=100) == tuple(
        sizes for sizes in border_sizes(analysis) if sizes["n"] * sizes["m"] <= 100
    )


def test_arrays_share_memory_only_where_c_lets_them_and_values_stay_what_they_are() -> None:
    found = overlaps(analysis_of(TEXT), {"n": 2, "m": 3, "ld": 4})
    assert set(found) == {
        *(Overlap("x", "y", n) for n in (0, 1, WHOLE)),
        *(Overlap("y", "x", n) for n in (0, 1)),
    }
    restricted = TEXT.replace("double *y", "double *restrict y")
    assert overlaps(analysis_of(restricted), {"n": 2, "m": 3, "ld": 4}) == ()


@pytest.mark.parametrize(("shared", "first"), [(0, 8), (1, 7), (WHOLE, 0)])
def test_a_shared_element_is_one_element(shared: int, first: int, tmp_path: Path) -> None:
    sizes = {"n": 2, "m": 4, "ld": 4}
    overlap = Overlap("y", "x", shared)
    made = make_inputs(analysis_of(TEXT), sizes, 1, tmp_path, overlap=overlap)
    x, y = (next(b for b in made.buffers if b.name == name) for name in "xy")
    assert x.block == y.block
    assert (x.offset - y.offset) // 8 == first
    others = [b for b in made.buffers if b.name not in "xy"]
    assert all(b.offset + b.size_bytes <= min(x.offset, y.offset) for b in others)


def test_equal_values_hold_what_the_region_compares_with(tmp_path: Path) -> None:
    sizes = {"n": 20, "m": 20, "ld": 20}
    made = make_inputs(analysis_of(TEXT), sizes, 1, tmp_path, Values.EQUAL)
    x = next(b for b in made.buffers if b.name == "x")
    values = {float(v) for v in made.read(x)}
    assert 0.625 in values
    assert len(values) < 10


RIGHT = """\
{
    const long size = (long)(n - 1) * ld + m;
    if (0 < n && 0 < m && ld >= m && (x + size <= y || y + size <= x)) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                if (x[i * ld + j] < 0.625)
                    y[i * ld + j] = x[i * ld + j] + z[at[j]];
    } else {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < m; j++)
                if (x[i * ld + j] < 0.625)
                    y[i * ld + j] = x[i * ld + j] + z[at[j]];
    }
}
"""
MISTAKES = {
    "a comparison holds at its border too": ("< 0.625", "<= 0.625"),
    "arrays may share an element": ("x + size <= y", "x + size - 1 <= y"),
    "arrays may be one": ("(x + size <= y || y + size <= x)", "1"),
    "the last row counts as long as the others": ("ld >= m", "ld >= m - 1"),
    "the way out does too little": ("else {\n        for (int i = 0", "else {\n for (int i = 1"),
    "long loops are cut short": ("{\n    const", "{\n    if (n > 65535) n = 65535;\n    const"),
    "the tuned size is told apart wrongly": ("m; j++", "m - (n == 13); j++"),
}


@pytest.fixture(scope="module")
def checker(tmp_path_factory: pytest.TempPathFactory) -> Checker:
    source = text_source(TEXT, "f.c")
    analysis = analyse(source.regions[0])
    return Checker(Oracle(source, analysis, here(), tmp_path_factory.mktemp("oracle")))


def _fate(checker: Checker, body: str) -> tuple[bool, str]:
    """Return whether the trial of a text finds it right, and what its proofs find."""
    variant = Variant("openmp", "openmp", RegionCode(body))
    analysis = checker.oracle.analysis
    awkward = awkward_sizes(analysis)
    plan = CheckPlan((*awkward, tuned_sizes(analysis.region)), threads=2)
    trial = checker.check(variant, plan)
    for proof in proofs(variant, analysis, plan, awkward):
        found = checker.check(variant, proof)
        if found.is_wrong:
            return trial.verified, found.reason
    return trial.verified, ""


@needs_compilers
def test_a_right_text_stands_its_proofs(checker: Checker) -> None:
    assert _fate(checker, RIGHT) == (True, "")


@needs_compilers
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_that_no_trial_sees_is_found(name: str, checker: Checker) -> None:
    old, new = MISTAKES[name]
    assert old in RIGHT
    is_tried_right, reason = _fate(checker, RIGHT.replace(old, new))
    assert is_tried_right
    assert reason


GRID = """\
void f(int n, int m, const double *restrict x, double *restrict y)
{
    /*@ begin PerfTuning ( def input_params { param n = 12; param m = 40; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[i * m + j] = 2.0 * x[i * m + j];
    /*@ end @*/
}
"""


@needs_compilers
def test_cuda_is_run_on_grids_too_small_and_with_failing_calls(tmp_path: Path) -> None:
    source = text_source(GRID, "f.c")
    analysis = analyse(source.regions[0])
    target, base = load_target("cuda"), Base.of(analysis)
    for one in target.candidates(base, region_space(base), load_device("h200"), 20):
        text = target.standalone(target.region(one, False))
        if "+= gridDim.x" in text:
            break
    assert with_small_grids(text) != text
    checker = Checker(Oracle(source, analysis, here(), tmp_path))
    right = Variant("cuda", "cuda-cpu", target.region(one, False), text)
    plan = CheckPlan(({"n": 12, "m": 40}, {"n": 5, "m": 7}))
    # Sizes at borders find some of these too: what the others find is shown here.
    found = list(proofs(right, analysis, plan, ({"n": 5, "m": 7},)))
    small = next(one for one in found if one.has_small_grids)
    failing = next(one for one in found if one.failures)
    for proof, old, new in (
        (small, "+= gridDim.x", "+= n * m"),
        (failing, "\n    f_1_original(", "\n    if (n > 99) f_1_original("),
        (failing, "status == cudaSuccess)\n            return;", "1) return;"),
    ):
        assert old in text
        wrong = replace(right, device=text.replace(old, new))
        assert checker.check(wrong, plan).status is Status.CORRECT
        assert checker.check(wrong, proof).is_wrong
        assert not checker.check(right, proof).is_wrong
