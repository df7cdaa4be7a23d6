"""The checkers themselves: a wrong claim, plan, certificate or text does not pass them."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.regions import text_regions

from annotune.analysis.analyse import analyse
from annotune.analysis.facts import Analysis, LoopKind
from annotune.schedule.apply import build
from annotune.schedule.plan import Plan
from annotune.space.decision import Base, Point, decide

from . import schedules
from .batch_child import differs
from .c_reader import functions
from .choices import Seeded
from .claims import wrong_claims
from .examine import examine
from .execute import TOLERANCE, Builder, execute, jobs
from .nests import Options, nest
from .program import statements
from .reduce import reduced, smaller
from .schedules import Runs, wrong_certificate, wrong_plan

SIZES = "/* fuzz f: n=5; n=3 */\n"
HEAD = "void f(int n, double a[n + 1], double b[n])\n{\n"
OPEN = "/*@ begin PerfTuning (def input_params { param n = 5; }) @*/\n"
CHAIN = (
    SIZES
    + HEAD
    + OPEN
    + "for (int i = 0; i < n; i++) {\n  a[i + 1] = a[i] + 1.0;\n}\n/*@ end @*/\n}\n"
)
COPY = SIZES + HEAD + OPEN + "for (int i = 0; i < n; i++) {\n  b[i] = a[i];\n}\n/*@ end @*/\n}\n"


def analysed(text: str) -> Analysis:
    (region,) = text_regions(text)
    return analyse(region)


def faults(analysis: Analysis, text: str) -> str:
    (function,) = functions(text)
    return "\n".join(wrong_claims(analysis, function, 1))


def test_right_claims_pass() -> None:
    assert faults(analysed(CHAIN), CHAIN) == ""
    assert faults(analysed(COPY), COPY) == ""


@pytest.mark.parametrize("kind", [LoopKind.PARALLEL, LoopKind.REDUCTION])
def test_a_serial_loop_called_otherwise_is_seen(kind: LoopKind) -> None:
    right = analysed(CHAIN)
    assert [facts.kind for facts in right.loops] == [LoopKind.SERIAL]
    wrong = replace(right, loops=tuple(replace(facts, kind=kind) for facts in right.loops))
    word = "called parallel" if kind is LoopKind.PARALLEL else "no reduction"
    assert word in faults(wrong, CHAIN)


def test_a_missing_dependence_is_seen() -> None:
    assert "no dependence holds" in faults(replace(analysed(CHAIN), dependences=()), CHAIN)


@pytest.mark.parametrize(
    ("array", "changes", "words"),
    [
        ("b", {"is_written": False}, "b is written"),
        ("a", {"is_read": False}, "a is read"),
        ("a", {"overwritten": True}, "a is not wholly written"),
    ],
)
def test_a_wrong_use_is_seen(array: str, changes: dict[str, bool], words: str) -> None:
    right = analysed(COPY)
    uses = {**right.uses, array: replace(right.uses[array], **changes)}
    assert words in faults(replace(right, uses=uses), COPY)


def test_a_section_too_short_is_seen() -> None:
    right = analysed(COPY)
    shapes = {**right.shapes, "a": replace(right.shapes["a"], length=right.shapes["b"].lowest)}
    assert "a is touched outside" in faults(replace(right, shapes=shapes), COPY)


def planned(text: str) -> tuple[Runs, Plan]:
    analysis = analysed(text)
    (function,) = functions(text)
    base = Base.of(analysis)
    decision = decide(base, Point())
    plan = build(analysis, decision.choices, decision.groups, analysis.region.sizes)
    assert isinstance(plan, Plan)
    return Runs(analysis, function), plan


def test_a_plan_of_another_nest_is_seen() -> None:
    runs, plan = planned(COPY)
    assert wrong_plan(runs, plan, False) == ""
    other, _ = planned(COPY.replace("b[i] = a[i]", "b[i] = a[i] * 2.0"))
    assert "b is wrong" in wrong_plan(other, plan, False)


@pytest.mark.parametrize(
    ("part", "text", "words"),
    [
        ("domain", "{ S0[i0] : 0 <= i0 < 4 }", "runs outside its iterations"),
        ("domain", "{ S0[i0] : 0 <= i0 < 6 }", "has other iterations"),
        ("original", "{ S0[i0] -> [0, -i0, 0] }", "does not come after"),
    ],
)
def test_an_untrue_certificate_is_seen(
    part: str, text: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs, plan = planned(COPY)
    assert list(wrong_certificate(runs, plan)) == []
    made = schedules.certify(runs.analysis, plan)
    placed = {0: replace(made.placed[0], **{part: text})}
    monkeypatch.setattr(schedules, "certify", lambda *_: replace(made, placed=placed))
    monkeypatch.setattr(schedules, "verify", lambda _: ())
    assert words in "\n".join(wrong_certificate(runs, plan))


def test_racing_workers_in_a_certificate_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    runs, plan = planned(CHAIN)
    made = schedules.certify(runs.analysis, plan)
    worker, time = "{ S0[i0] -> [0, 0, 0, i0, 0, 0] }", "{ S0[i0] -> [0] }"
    placed = {0: replace(made.placed[0], worker=worker, time=time)}
    monkeypatch.setattr(schedules, "certify", lambda *_: replace(made, placed=placed))
    monkeypatch.setattr(schedules, "verify", lambda _: ())
    assert "race on a" in "\n".join(wrong_certificate(runs, plan))


@pytest.mark.slow
def test_a_wrong_text_is_seen_for_every_target(tmp_path: Path) -> None:
    one = examine(COPY, 1, False)
    for target, code in one.made.items():
        changed = {
            name: getattr(code, name).replace("= a[", "= 1.0 + a[")
            for name in ("body", "helper", "device")
        }
        one.made[target] = replace(code, **changed)
    ran = execute([one], Builder(tmp_path), "wrong", races=False)
    assert {fault.library for fault in ran.faults} == {"cuda", "openacc", "openmp"}


@pytest.mark.slow
def test_a_text_that_does_not_compile_is_told_and_hides_no_other(tmp_path: Path) -> None:
    renamed = CHAIN.replace("fuzz f:", "fuzz g:").replace("void f(", "void g(")
    good, bad = examine(COPY, 1, False), examine(renamed, 1, False)
    bad.made["openmp"] = replace(bad.made["openmp"], body="nonsense;")
    ran = execute([good, bad], Builder(tmp_path), "bad", races=False)
    assert [fault.library for fault in ran.faults] == ["compiler"]
    assert ran.executed["openmp"] == 1


def test_the_reference_computes_what_c_does() -> None:
    text = """\
/* fuzz f: n=4 */
void f(int n, double a[n], double b[n])
{
  double s = 0.0;
  /*@ begin PerfTuning () @*/
  for (int i = n - 1; i >= 0; i -= 2) {
    if (a[i] > 1.0 && i != 1) {
      s += a[i];
    } else {
      b[i] = a[i] < 0.0 ? -a[i] : i / 2 + 0.5;
    }
  }
  /*@ end @*/
  b[0] = s;
}
"""
    (function,) = functions(text)
    run = function.run({"n": 4}, exact=False, first=lambda name, index: float(index - 1))
    found = {index: value.value for index, value in run.memory["b"].written.items()}
    assert found == {1: 0.5, 0: 2.0}
    assert [event.line for event in run.events] == [7, 8, 7, 10]


def test_a_failure_is_cut_down_to_its_cause() -> None:
    program = nest(Seeded("cut", 2), Options(), "f")
    start = len(list(statements(program.body)))

    def is_wrong(candidate: Any) -> bool:
        return "+=" in candidate.text()

    assert is_wrong(program)
    small = reduced(program, smaller, is_wrong, limit_s=20)
    assert is_wrong(small)
    assert len(list(statements(small.body))) <= 2 < start


@pytest.mark.parametrize(("n", "tolerance"), [(10, 0.0), (50, TOLERANCE), (100, math.inf)])
def test_floats_are_compared_as_far_as_any_order_stays_in_their_range(
    n: int, tolerance: float
) -> None:
    text = f"""\
/* fuzz f: n={n} */
void f(int n, float a[1])
{{
  /*@ begin PerfTuning () @*/
  for (int i = 0; i < n; i++) {{
    a[0] *= 3.0;
  }}
  /*@ end @*/
}}
"""
    (job,) = jobs(1, text, ())
    assert job["tolerance"] == tolerance


def test_what_is_left_of_a_sum_is_judged_by_what_was_added() -> None:
    """1 + 1e20 - 1e20 is 0 or 1 by its order; an array is judged by its own numbers."""
    job = {"tolerance": TOLERANCE, "objects": []}
    large, small = np.array([1e20, -1e20]), np.array([1.0])
    expected = {"A": large, "B": small, "out": np.array([0.0])}
    assert not differs(job, expected, {**expected, "out": np.array([1.0])})
    assert differs(job, expected, {**expected, "out": np.array([1e15])})
    assert differs(job, expected, {**expected, "B": np.array([1.1])})
