"""Every shape of OpenACC as text: read, compiled without a warning, and run in any order."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import pytest
from codegen.emitted import analysed_text, checked, here, source_of, variants, warnings
from conftest import Golden
from support.acc_as_openmp import as_openmp
from support.acc_texts import contraction, product

from annotune.analysis.facts import Analysis
from annotune.annotation.devices import load_device
from annotune.codegen.openacc import OpenAccTarget
from annotune.codegen.target import Provenance
from annotune.measure.trial import Status
from annotune.schedule.candidate import Candidate
from annotune.space.decision import Base, Point
from annotune.space.points import AccPoints
from annotune.space.space import region_space
from annotune.space.variants import Variant
from annotune.strategies.openacc import on_acc

TARGET = OpenAccTarget()
GCC = ("-fopenacc", "-foffload=disable")
# The texts have one signature for several statements.
UNUSED = "-Wno-unused-parameter"
TEXTS = {"contraction": contraction(8), "product": product("c[i][j] += a[i][k];", 128)}
# What each text's kernels are wanted for; the others of its shapes are the other text's.
SHAPES = {
    "contraction": ("registers", "merged", "workers", "gang and worker", "one gang loop"),
    "product": ("workers, cache", "tile clause"),
}
CASES = [(text, shape) for text, found in SHAPES.items() for shape in found]
needs_gcc = pytest.mark.skipif(here().c is None, reason="no C compiler")


@lru_cache
def analysis_of(text: str) -> Analysis:
    return analysed_text(TEXTS[text])


@lru_cache
def every(text: str) -> dict[str, Variant]:
    """Return the first variant of each shape."""
    found: dict[str, Variant] = {}
    for variant in variants(TARGET, analysis_of(text), 12):
        found.setdefault(str(variant.config["S0.shape"]), variant)
    return found


def tuned(text: str, shape: str) -> str:
    """Return the kernels for the tuned sizes alone."""
    body = TARGET.region(every(text)[shape], False).body
    lines = body.split("\n")
    start = next(k for k, line in enumerate(lines) if "#pragma acc parallel" in line)
    after = (k for k, line in enumerate(lines) if k > start and line.strip() == "else {")
    return "\n".join(lines[start : next(after)]) + "\n"


@pytest.mark.parametrize(("text", "shape"), CASES)
def test_the_kernel_reads_well(text: str, shape: str, golden: Golden) -> None:
    name = shape.replace(", ", "_").replace(" ", "_")
    golden.check(f"codegen/acc_shape_{name}.c", tuned(text, shape))


@pytest.mark.alike(3)
@needs_gcc
@pytest.mark.parametrize(("text", "shape"), CASES)
def test_gcc_has_nothing_to_say(text: str, shape: str, tmp_path: Path) -> None:
    code = TARGET.region(every(text)[shape], False)
    file = TARGET.files(source_of(TEXTS[text]), [code], Provenance("0", "user.c"))["_acc.c"]
    assert warnings(file, (*GCC, UNUSED), tmp_path) == ""


# The checking build plays each iteration as a thread of its own.
SLOW = ("merged", "workers", "gang and worker", "one gang loop", "workers, cache")
RUNS = [
    pytest.param(text, shape, marks=(pytest.mark.slow,) if shape in SLOW else ())
    for text, shape in CASES
]


@pytest.mark.alike(4)
@needs_gcc
@pytest.mark.parametrize(("text", "shape"), RUNS)
def test_the_kernel_equals_the_original_in_any_order(text: str, shape: str, tmp_path: Path) -> None:
    sizes = ({"n": 8 if text == "contraction" else 128}, {"n": 1}, {"n": 5})
    codes = {shape: TARGET.region(every(text)[shape], False)}
    trials = checked(source_of(TEXTS[text]), analysis_of(text), "openacc", codes, sizes, tmp_path)
    assert [(t.status, t.reason) for t in trials.values()] == [(Status.CORRECT, "")]


def test_the_clause_runs_both_loops_in_any_order_when_it_is_checked() -> None:
    text = TARGET.region(every("product")["tile clause"], False).body
    assert "tile(32, 8)" in text
    assert "parallel for collapse(2)" in as_openmp(text)


COPY = """\
void f(int n, double T[restrict n][n][n], const double v[restrict n][n][n])
{
    /*@ begin PerfTuning ( def input_params { param n = 512; } ) @*/
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            for (int c = 0; c < n; c++)
                T[a][b][c] = v[a][b][c];
    /*@ end @*/
}
"""


def test_gangs_fit_into_what_libgomp_keeps() -> None:
    body = TARGET.region(variants(TARGET, analysed_text(COPY), 1)[0], False).body
    # 512 * 512 * 2 gangs of 256 lanes would arrive as 0: nine turns of 58255.
    assert "num_gangs(58255)" in body
    assert "vector_length(256)" in body


def test_a_shape_that_turns_out_illegal_makes_room_for_the_next() -> None:
    base = Base.of(analysed_text(contraction(8)))
    wrong = replace(
        on_acc(Candidate.of_axes(((0,),), threads=("k",))), shape="wrong", origin="test"
    )
    points = (Point(picked={0: wrong}), Point())
    device = load_device("h200")
    gpu = AccPoints.of(base, region_space(base), device)
    found = list(gpu.first_of(points, 2).variants())
    assert [variant.config["S0.shape"] for variant in found] == ["merged"]
