"""A gang for an element in OpenACC: where, and is it right."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from compilers import here
from decide.recipes import Decided, decided_text
from support.regions import text_source

from annotune.analysis.analyse import analyse
from annotune.analysis.normal_form.normalised import normalised
from annotune.annotation.devices import load_device
from annotune.certify.certificate import verify
from annotune.certify.kernels import certify_acc
from annotune.codegen.target import RegionCode, load_target
from annotune.ir.nest import Level
from annotune.measure.check import Checker
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckPlan
from annotune.measure.program import Program
from annotune.measure.trial import Status
from annotune.model.predict import predict
from annotune.schedule.candidate import Candidate
from annotune.space.decision import Base
from annotune.space.points import acc_space, decide_acc
from annotune.space.space import region_space
from annotune.strategies.openacc import ELEMENTS, acc_shapes
from annotune.strategies.registry import AUTO, made
from annotune.transforms.map import Team
from annotune.transforms.spread import ShareArray

TEXT = """\
void f(int m, double u[restrict m][9][5], const double v[restrict m][5][9],
       const double b[restrict 9][9])
{
    /*@ begin PerfTuning ( def input_params { param m = 40; } ) @*/
    for (int e = 0; e < m; e++) {
        double s[5][9];
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < 9; j++) {
                double sum = 0.0;
                for (int k = 0; k < 9; k++)
                    sum += b[j][k] * v[e][i][k];
                s[i][j] = sum;
            }
        for (int j = 0; j < 9; j++)
            for (int i = 0; i < 5; i++)
                u[e][j][i] = s[4 - i][j] + s[i][8 - j];
    }
    /*@ end @*/
}
"""
# More bytes than the arrays of one lane may have.
LARGE = (
    TEXT.replace("restrict 9", "restrict 19")
    .replace("[9]", "[19]")
    .replace("[5]", "[11]")
    .replace("< 9", "< 19")
)
LARGE = LARGE.replace("< 5", "< 11").replace("[4 - i]", "[10 - i]").replace("[8 - j]", "[18 - j]")
SIZES = ({"m": 40}, {"m": 1}, {"m": 7})


def first(one: Decided) -> Candidate:
    (choice,) = decide_acc(one.base, acc_space(one.space).first).choices
    return choice


def test_the_lanes_of_a_gang_share_the_loops_of_each_nest() -> None:
    one = decided_text(LARGE, AUTO)
    choice = first(one)
    assert (choice.shape, choice.blocks) == (ELEMENTS, ("e",))
    assert [step.array for step in choice.of(ShareArray)] == ["s"]
    lanes = [(step.statement, step.loop) for step in choice.of(Team)]
    assert lanes == [(0, "i"), (0, "j"), (3, "j"), (3, "i")]
    assert {step.level for step in choice.of(Team)} == {Level.VECTOR}
    plan = replace(one, decision=decide_acc(one.base, acc_space(one.space).first)).plan()
    assert verify(certify_acc(one.analysis, plan)) == ()


def test_the_model_has_a_block_of_threads_for_it() -> None:
    (unit,) = decided_text(LARGE.replace("m = 40", "m = 4000"), AUTO).base.apart
    device = load_device("h200")
    first, *others = acc_shapes(unit, made(unit))
    alone = next(one for one in others if one.shape == "vector")
    assert first.shape == ELEMENTS
    found, other = (predict(unit, one, device) for one in (first, alone))
    assert found.time_s < other.time_s
    assert found.registers > 0


class Case:
    """The checker of the text, and the first text of each target."""

    def __init__(self, folder: Path) -> None:
        source = text_source(LARGE, "f.c")
        analysis = analyse(normalised(source.regions[0]))
        self.checker = Checker(Oracle(source, analysis, here(), folder))

    def program(self, name: str, resident: bool = False) -> Program:
        target, base = load_target(name), Base.of(self.checker.oracle.analysis)
        points = target.points(base, region_space(base), load_device("h200"))
        return Program(name, name, target.region(points.listing(1).variant(0), resident), "")


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case(tmp_path_factory.mktemp("oracle"))


def test_the_text_has_an_array_for_each_gang(case: Case) -> None:
    body = case.program("openacc").code.body
    assert body.count(" private(s)") == 1
    assert body.count("#pragma acc loop vector collapse(2)") == 2
    assert "vector_length(224)" in body
    assert "__GNUC__ < 12" in body


@pytest.mark.alike(2)
@pytest.mark.parametrize("resident", [False, True], ids=["host", "resident"])
@pytest.mark.parametrize("name", ["openacc", "openmp_target"])
def test_each_target_is_right(name: str, resident: bool, case: Case) -> None:
    plan = CheckPlan(SIZES, resident=resident, sanitize=True, races=True)
    trial = case.checker.check(case.program(name, resident), plan)
    assert trial.status is Status.CORRECT, trial.reason


@pytest.mark.parametrize("clause", ["", " firstprivate(m)"])
def test_one_array_for_all_gangs_is_found(clause: str, case: Case) -> None:
    one = case.program("openacc")
    body = one.code.body.replace(" private(s)", clause)
    program = replace(one, code=RegionCode(body, one.code.helper))
    trial = case.checker.check(program, CheckPlan(SIZES, races=True))
    assert trial.status is not Status.CORRECT
