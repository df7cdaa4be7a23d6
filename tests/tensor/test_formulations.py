"""Formulations of a tensor program compute the same, and a run takes the best for each target."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cli import annotune
from support.laws import tried
from support.little import tune_little
from support.regions import text_source
from support.tensors import computed, random_arrays, short_program, short_programs

from annotune import formulated, pipeline
from annotune.analysis.analyse import analyse
from annotune.codegen.target import load_target
from annotune.measure.check import Checker
from annotune.measure.oracle import Oracle
from annotune.measure.toolchain import find_toolchains
from annotune.pipeline import RunReport, Settings
from annotune.report.results_json import read_results
from annotune.report.summary import formulation_texts
from annotune.tensor.program import TensorProgram
from annotune.tensor.read import read_program
from annotune.tensor.translate import Translated, formulations, translated
from annotune.tuning.bench import Bench, Request, Session
from annotune.tuning.calls import Called, Entrant, Standing, beside
from annotune.tuning.config import RunConfig
from annotune.tuning.results import Results, Row, RowStatus

EIGHT = dict.fromkeys("eijklmnp", 8)
# Its order, its sharing and its loops may be others.
TWO = """two
define: n = 6
sizes: ne = 40
variables: R: (ne, n, n) S: (ne, n, n) A: (n, n) B: (n, n) u: (ne, n, n)
operations:
  R:(e, i, j) = A:(i, k) * B:(j, l) * u:(e, k, l)
  S:(e, i, j) = A:(i, k) * B:(j, l) * u:(e, k, l) + R:(e, i, j)
"""
TARGETS = ("cuda", "openacc", "openmp")


def names(program: TensorProgram, is_factored: bool = True) -> list[str]:
    return [one.name for one in formulations(program, is_factored)]


def every(text: str = TWO, is_factored: bool = True) -> Translated:
    return translated(read_program("two.tensor", text), "two.tensor", "0", is_factored, None, None)


def test_a_program_has_those_that_are_programs_of_their_own() -> None:
    assert names(short_program(EIGHT, "R:ij = A:ik*B:kj")) == ["usual", "strided"]
    assert names(short_program(EIGHT, "R:eij = A:eik*B:kj")) == ["usual", "matrix", "strided"]
    found = names(short_program(EIGHT, "d:eijk = A:kl*B:jm*C:in*u:elmn"))
    assert found == [
        *("usual", "around-e", "around-e-k", "matrix", "strided"),
        *("order-2", "order-3", "order-4", "as-written"),
    ]
    lines = ("R:ij = A:ik*B:kj", "S:ij = A:ik*B:kj*D:ij")
    assert names(short_program(EIGHT, *lines)) == [
        *("usual", "around-i", "around-i-j", "matrix", "strided", "as-written", "apart"),
    ]


def test_operations_stay_as_they_are_written_where_that_is_asked_for() -> None:
    program = read_program("two.tensor", TWO)
    for one in formulations(program, is_factored=False):
        assert one.made.program.operations == program.operations
    assert names(program, is_factored=False) == ["usual", "strided"]


@tried(200)
@given(short_programs(), st.integers(0, 2**16), st.booleans())
def test_every_formulation_computes_the_same(
    program: TensorProgram, seed: int, is_factored: bool
) -> None:
    arrays = random_arrays(program, seed)
    before = computed(program, arrays)
    found = formulations(program, is_factored)
    assert len({one.name for one in found}) == len(found)
    for one in found:
        after = computed(one.made.program, arrays)
        for name, array in before.items():
            np.testing.assert_array_equal(after[name], array)


def test_a_temporary_of_an_iteration_is_local_where_its_room_is_known() -> None:
    texts = {one.formulation.name: one.c.source for one in every().every}
    assert "double t1[n * n];" in texts["around-e"]
    assert "malloc" not in texts["around-e"]
    open_n = {
        one.formulation.name: one.c.source
        for one in every(TWO.replace("define: n = 6\nsizes:", "sizes: n = 6")).every
    }
    # On the stack a large n would be the end of the program.
    assert "malloc(sizeof(double) * n * n)" in open_n["around-e"]
    assert "malloc(sizeof(double) * ne * n * n)" in open_n["usual"]
    assert "from two.tensor, in the formulation around-e. */" in texts["around-e"]
    unknown = every(TWO.replace("define: n = 6\nsizes:", "sizes: n"))
    assert "around-e" not in [one.formulation.name for one in unknown.every]


VIEWS = """views define: n = 4 m = 3 variables: R: (m, n, n) S: (n, n) T: (m, n, n) leading 5
 u: (m, n, n) v: (m, n, n) column A: (n, n)
 operations:
  R:(e, i, j) = A:(j, l) * u:(e, i, l)
  R:(e, i, j) += A:(i, l) * u:(e, l, j)
  R:(e, i, j) += v:(e, i, j)
  R:(e, i, j) += T:(e, i, j)
  S:(i, j) += A:(i, j) + A:(j, i)
"""


def test_the_matrix_view_has_one_loop_for_indices_that_stay_adjacent() -> None:
    matrix = next(one for one in every(VIEWS).every if one.formulation.name == "matrix")
    loops = [re.findall(r"for \(int (\w+) =", part) for part in matrix.c.source.split("/* ")[2:]]
    # Columns lie the other way round, room that is not used is a gap, and so is a transpose.
    assert loops == [
        ["e_i", "j", "l"],
        ["e", "i", "j", "l"],
        ["e", "i", "j"],
        ["e_i", "j"],
        ["i", "j"],
    ]
    assert "e_i < m * n;" in matrix.c.source
    assert "u[l + n*e_i]" in matrix.c.source
    multidimensional = every(VIEWS.replace("views", "views access: multidimensional"))
    assert "matrix" not in [one.formulation.name for one in multidimensional.every]


@pytest.fixture
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tune_little(monkeypatch)
    Path("two.tensor").write_text(TWO)


@pytest.mark.usefixtures("_here")
def test_one_is_chosen_by_its_name() -> None:
    listed = annotune("tensor", "two.tensor", "--formulations", "--json").json
    assert [one["name"] for one in listed["formulations"]][:3] == [
        "usual",
        "around-e",
        "around-e-i",
    ]
    around = listed["formulations"][1]
    assert around["around"] == ["e"]
    assert [one["bytes"] for one in around["temporaries"]] == [8 * 36, 8 * 36]
    for command in ("tensor", "emit"):
        output = ("-o", "out/two.c") if command == "tensor" else ("-o", "out")
        done = annotune(command, "two.tensor", "--formulation", "around-e", *output)
        assert done.code == 0, done.err
        assert "for (long e = 0; e < ne; e++) {" in Path("out/two.c").read_text()
    assert "two.c, formulation around-e." in Path("out/two.cu").read_text()
    assert "around-e" not in annotune("check", "two.tensor").out


@pytest.mark.usefixtures("_here")
@pytest.mark.parametrize("command", ["tensor", "check", "emit", "run"])
def test_one_that_there_is_not_is_refused(command: str) -> None:
    done = annotune(command, "two.tensor", "--formulation", "around-x")
    assert done.code == 1
    assert "this program has no formulation 'around-x' [AT727]" in done.err
    assert "did you mean 'around-" in done.err
    assert "its formulations: usual, around-e, around-e-i" in done.err
    few = annotune(command, "two.tensor", "--formulation", "order-2", "--no-factor")
    assert "its formulations: usual, strided\n" in few.err
    assert not Path("annotune-out").exists()


@pytest.mark.usefixtures("_here")
def test_a_c_file_has_none() -> None:
    Path("a.c").write_text("int x;")
    assert annotune("check", "a.c", "--formulation", "usual").code == 2
    assert annotune("tensor", "two.tensor", "--formulations", "-o", "a.c").code == 2


@pytest.mark.usefixtures("_here")
def test_the_summary_says_that_sums_are_added_in_another_order() -> None:
    said = "sums are added in another order than as written"
    assert said in annotune("tensor", "two.tensor").err
    assert said not in annotune("tensor", "two.tensor", "--no-factor").err
    own = ("--formulation", "strided", "--no-factor")
    assert said not in annotune("tensor", "two.tensor", *own).err


SUMS = """\
void f(long n, double *restrict y, double *restrict t, const double *restrict x)
{
    /*@ begin PerfTuning (def input_params { param n = 300; }) @*/
    for (long i = 0; i < n; i++)
        t[i] = 2 * x[i];
    for (long i = 0; i < n; i++)
        y[i] = 3 * t[i];
    /*@ end @*/
}
"""
# The original has a temporary, which its own text alone sets.
OWN = SUMS.replace("double *restrict t, ", "").replace("{\n", "{\n    double t[n];\n", 1)
RIGHT = "void f(long n, double *y, double *t, const double *x) { for (long i = 0; i < n; i++) %s; }"


def _standing(folder: Path, text: str, **texts: str) -> Standing:
    source = text_source(text)
    oracle = Oracle(source, analyse(source.regions[0]), find_toolchains(os.environ), folder)
    until = time.monotonic() + 600
    session = Session(RunConfig(), cores=1)
    bench = Bench(session, Checker(oracle), ({"n": 300},), ({"n": 3},), until, "this CPU")
    entrants = [Entrant(name, text) for name, text in texts.items()]
    # Of `OWN` the region has t all the same.
    called = Called("f", ("n", "y", "t", "x"))
    return beside(bench, called, {load_target("openmp"): entrants}, 1.0)["openmp"]


def test_functions_are_compared_with_the_original_as_wholes(tmp_path: Path) -> None:
    right, wrong = RIGHT % "y[i] = 6 * x[i]", RIGHT % "y[i] = 6 * x[i] + 1e-6"
    slow = RIGHT % "for (int k = 0; k < 30000; k++) ((volatile double *)y)[i] = 6 * x[i]"
    found = _standing(tmp_path, OWN, slow=slow, wrong=wrong, right=right)
    assert found.wrong.keys() == {"wrong"}
    assert found.wrong["wrong"].startswith("correctness: ")
    assert found.calls_s.keys() >= {"right", "slow"}
    assert found.best == "right"


def test_what_others_may_look_at_is_compared_too(tmp_path: Path) -> None:
    found = _standing(tmp_path, SUMS, right=RIGHT % "y[i] = 6 * x[i]")
    assert found.wrong.keys() == {"right"}
    assert not found.best


def test_what_promises_to_be_better_is_tuned_for_its_targets_alone() -> None:
    made = every()
    by_name = {one.formulation.name: one for one in made.every}
    targets = [load_target(name) for name in TARGETS]

    def looked(name: str, cuda_s: float) -> formulated.Looked:
        rows = {t: Row(t, RowStatus.PREDICTED, "", cuda_s) for t in TARGETS[:2]}
        return formulated.Looked(by_name[name], None, rows)

    every_one = [
        looked("usual", 5.0),
        looked("strided", 4.0),
        looked("around-e", 9.0),
        looked("order-2", 1.0),
        looked("as-written", 1.9),
    ]
    found = {
        one.name: [target.name for target in own]
        for one, own in formulated.promising(every_one, targets, 9)
    }
    # What takes four times the least is not worth it, nor what takes longer than the usual one.
    assert found == {
        "usual": [*TARGETS],
        "order-2": ["cuda", "openacc"],
        "around-e": ["openmp"],
        "as-written": ["cuda", "openacc"],
    }
    few = formulated.promising(every_one, targets, 3)
    assert [one.name for one, _ in few] == ["usual", "order-2", "around-e"]
    assert len(formulated.promising(every_one, targets, 1)) == 1


@pytest.mark.slow
@pytest.mark.usefixtures("_here")
def test_a_run_names_the_formulation_of_each_winner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formulated, "EACH_S", 10.0)
    options = ("--target", "openmp,cuda", "--time", "25s", "--budget", "2", "-v")
    done = annotune("run", "two.tensor", "-o", "out", *options)
    assert done.code == 0, done.err
    (region,) = read_results(Path("out/results.json")).regions
    listed = {one.name: one for one in region.formulations}
    assert [*listed][:2] == ["usual", "around-e"]
    assert listed["usual"].tried == ("openmp", "cuda")
    assert listed["around-e"].tried == ("openmp",)
    for row in region.rows:
        if row.name in ("openmp", "cuda") and row.verified:
            chosen = [one.name for one in region.formulations if row.name in one.chosen]
            # None is where the original is as fast as its best variant.
            assert chosen in ([row.config["formulation"]], [])
    tried_names = {t.config.get("formulation") for t in region.trials if t.target == "openmp"}
    assert tried_names == {"usual", "around-e"}
    assert {t.config.get("formulation") for t in region.trials if t.target == "sequential"} == {
        None
    }
    said = "\n".join(formulation_texts(region))
    assert "formulations of tuned OpenMP: usual" in said
    assert "formulations of tuned OpenMP: " in re.sub(r"\n", " ", done.out)
    # The original is the C text of the usual one, whatever has won.
    assert Path("out/two.c").read_text() == annotune("tensor", "two.tensor").out
    again = annotune("emit", "two.tensor", "--from", "out", "-o", "again")
    assert again.code == 0, again.err
    for path in Path("out").glob("two*"):
        assert Path("again", path.name).read_bytes() == path.read_bytes()


def test_a_short_run_has_the_usual_one_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Settings] = []

    def run(settings: Settings, *_: object) -> RunReport:
        asked.append(settings)
        return RunReport(Results("0", "", "", ()), ())

    monkeypatch.setattr(pipeline, "run", run)
    settings = Settings(Path("two.c"), translated=every())
    formulated.run(settings, Request(RunConfig(time_s=50.0), os.environ))
    assert [one.translated and one.translated.formulation.name for one in asked] == ["usual"]
