"""Which branches the check of a winner has run is told, and which are not there to be run."""

from __future__ import annotations

from pathlib import Path

import pytest
from compilers import here
from made_by_hand import scale

from annotune.codegen.target import RegionCode
from annotune.measure.check import BRANCHES, Checker
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckPlan, Odd
from annotune.measure.program import Program, TextForm, blocks, marked, told

TEXT = """\
static void f(int n, double *y) {
    #pragma omp parallel for collapse(2)
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) { y[i] += 1.0; /* { */ }
    }
    if (n > 3) {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) y[i] = "){"[0];
    } else { double t[2] = {0.0, 1.0}; y[0] = t[1]; }
}
"""


def test_blocks_are_functions_loops_and_both_ways_of_a_test() -> None:
    assert [block.line for block in blocks(TEXT)] == [1, 4, 6, 9]
    text = marked(TEXT, "m")
    assert text.count("\n") == TEXT.count("\n")
    # A loop that is collapsed with the next has nothing between the two.
    assert "i++) {\n        for (int j = 0; j < n; j++) { m[1] = 1;" in text
    assert "if (n > 3) { m[2] = 1;" in text
    assert "else { m[3] = 1;" in text


def test_what_no_run_has_reached_is_told_with_its_line() -> None:
    texts = {"annotune_reached_helper": "", "annotune_reached_body": TEXT}
    assert told(texts, {"annotune_reached_body": {0, 1, 2, 3}}) == "all 4 reached"
    words = told(texts, {"annotune_reached_body": {0, 1, 3}})
    assert words == "1 of 4 not reached: body line 6, if (n > 3) {"


@pytest.mark.skipif(not here().openmp, reason="no C compiler with OpenMP")
@pytest.mark.parametrize("kind", ["openmp", "openacc"])
def test_a_variant_tells_which_of_its_branches_were_run(kind: str, tmp_path: Path) -> None:
    source, analysis = scale()
    checker = Checker(Oracle(source, analysis, here(), tmp_path))
    way = "for (int i = 1; i < n; i++) { b[i] = alpha * a[i]; }"
    body = f"if (n > 5) {{\n{way}\n}} else {{\n{way}\n}}\n"
    variant = Program(kind, kind, RegionCode(body))
    at = {n: {"n": n} for n in (3, 8)}

    def facts(*sizes: int) -> str | int | float:
        plan = CheckPlan(tuple(at[n] for n in sizes), odd=Odd(TextForm.MARKED))
        trial = checker.check(variant, plan)
        assert trial.verified, trial.reason
        return trial.facts[BRANCHES]

    assert facts(3, 8) == "all 4 reached"
    assert str(facts(3)).startswith("2 of 4 not reached: body line 1, if (n > 5) {; body line 2,")
