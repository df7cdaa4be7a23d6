"""A transform, the strategy that proposes it and a target that prints it: three files and a page.

Nothing of annotune names the class; the rest follows from what the class says of itself.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from annotune.transforms.language import own_kinds, turn_of
from annotune.transforms.transform import LATE, OnStatement, StepPhase

ROOT = Path(__file__).parents[1]
TRANSFORMS = "annotune.transforms"
TRANSFORM = '''\
from dataclasses import dataclass
from typing import ClassVar

from annotune.annotation.commands import Kind
from annotune.diagnostics import Diagnostic
from annotune.transforms.permute import Permute
from annotune.transforms.transform import (
    Context,
    OnStatement,
    PhaseRank,
    SettingGroup,
    StepPhase,
    StepSetting,
    Subject,
    Word,
    takes,
)
from annotune.transforms.tree import Body


@dataclass(frozen=True, slots=True)
class Outward(OnStatement):
    """Move `loop` to the place of `past`: ``for k: for l: S0`` becomes ``for l: for k: S0``."""

    turn: ClassVar[PhaseRank] = PhaseRank(StepPhase.SHAPING)
    setting: ClassVar[StepSetting | None] = StepSetting("outward", SettingGroup.BLOCK)
    feature: ClassVar[str | None] = "moved loops"
    word: ClassVar[Word] = Word(
        "outward",
        "move a loop to the place of one around it",
        'outward(0, "l", "k")',
        "Wolfe 1996, 9",
        names=Subject.LOOP,
    )
    loop: str = takes(Kind.LOOP)
    past: str = takes(Kind.LOOP)

    @property
    def set_to(self) -> str:
        return self.loop

    def why_not(self, body: Body, context: Context) -> Diagnostic | None:
        return self._order().why_not(body, context)

    def apply(self, body: Body, context: Context) -> Body:
        return self._order().apply(body, context)

    def _order(self) -> Permute:
        return Permute(self.statement, (self.loop, self.past), span=self.span)
'''
STRATEGY = """\
from annotune.schedule.candidate import Candidate, Reason
from annotune.schedule.units import Unit
from annotune.strategies.registry import Strategy

from four.outward import Outward


def inside_out(unit: Unit) -> tuple[Candidate, ...] | str:
    if len(unit.parallel) < 4:
        return "fewer than four parallel loops"
    block, thread, *_, past, loop = unit.parallel
    return (
        Candidate.of_axes(
            unit.parts,
            Outward(unit.leader, loop, past),
            blocks=(block,),
            threads=(thread,),
            host=unit.host,
            reasons=(Reason("strategy", "inside-out", "the last loop outside the one around it"),),
        ),
    )


ROW = Strategy("inside-out", "the innermost loop moved one outward", inside_out)
"""
PRINTER = '''\
from dataclasses import replace

from annotune.codegen.cuda.target import CudaTarget

from four.outward import Outward


class MovedTarget(CudaTarget):
    """CUDA that says which loops were moved."""

    name = "moved"
    endings = (".cu", "_moved.c")
    vocabulary = replace(
        CudaTarget.vocabulary, features=CudaTarget.vocabulary.features | {"moved loops"}
    )

    def region(self, variant, resident):
        code = super().region(variant, resident)
        moved = (step for step in variant.tuned.schedule if isinstance(step, Outward))
        notes = "".join(f"/* {step.loop} runs around {step.past} */\\n" for step in moved)
        return replace(code, device=notes + code.device)

    def files(self, source, codes, provenance):
        found = super().files(source, codes, provenance)
        return {".cu": found[".cu"], "_moved.c": found["_cuda.c"]}
'''
POINTS = """\
[annotune.transforms]
outward = four.outward:Outward
[annotune.strategies]
inside-out = four.inside_out:ROW
[annotune.targets]
moved = four.moved:MovedTarget
"""
TEXT = """\
void f(int n, double b[n][n][n][n], const double a[n][n][n][n])
{
    /*@ begin PerfTuning ( def input_params { param n = 12; } ) @*/
    /*@ begin CHiLL (
RECIPE
    ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                for (int l = 0; l < n; l++)
                    b[i][j][k][l] = 2.0 * a[i][j][k][l];
    /*@ end @*/
    /*@ end @*/
}
"""
# Here k may not run inside l: a value goes to the next k and the l before.
CARRIED = (
    TEXT.replace("2.0 * a[i][j][k][l]", "b[i][j][k - 1][l + 1] + a[i][j][k][l]")
    .replace("int k = 0", "int k = 1")
    .replace("l < n;", "l < n - 1;")
)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files of the package, as an installer leaves them."""
    folder = tmp_path_factory.mktemp("site")
    package, points = folder / "four", folder / "four-1.dist-info"
    package.mkdir()
    points.mkdir()
    texts = {"__init__": "", "outward": TRANSFORM, "inside_out": STRATEGY, "moved": PRINTER}
    for name, text in texts.items():
        (package / f"{name}.py").write_text(text)
    (points / "METADATA").write_text("Metadata-Version: 2.1\nName: four\nVersion: 1\n")
    (points / "entry_points.txt").write_text(POINTS)
    return folder


def annotune(installed: Path, *words: str, code: int = 0) -> str:
    python_path = os.pathsep.join([str(installed), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-m", "annotune", *words],
        env={**os.environ, "PYTHONPATH": python_path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stderr if code else done.stdout


def emitted(installed: Path, folder: Path, recipe: str, *words: str) -> str:
    """Return the text for the device that a recipe comes to."""
    folder.mkdir()
    (folder / "f.c").write_text(TEXT.replace("RECIPE", recipe))
    out = str(folder / "out")
    annotune(installed, "emit", "--target", "moved", *words, "-o", out, str(folder / "f.c"))
    return (folder / "out" / "f.cu").read_text()


def test_a_strategy_proposes_the_step_and_the_recipe_says_it_again(
    installed: Path, tmp_path: Path
) -> None:
    (tmp_path / "f.c").write_text(TEXT.replace("RECIPE", ""))
    words = ("--strategy", "inside-out", "--target", "moved", str(tmp_path / "f.c"))
    (region,) = json.loads(annotune(installed, "check", "--json", "--space", *words))["regions"]
    recipe, whole = region["recipe"], region["recipes"]["moved"]
    assert 'outward(0, "l", "k")' in recipe
    assert 'outward(0, "l", "k")' in whole
    text = emitted(installed, tmp_path / "chosen", "", *words[:2])
    out = str(tmp_path / "out")
    assert '"S0.outward": "l"' in annotune(installed, "emit", "--json", "-o", out, *words)
    loops = re.findall(r"for \(\w+ (\w+) = ", text.partition("/* l runs around k */")[2])
    assert loops[:2] == ["l", "k"]
    assert emitted(installed, tmp_path / "recipe", recipe) == text
    note = "/* l runs around k */"
    again = emitted(installed, tmp_path / "whole", whole)
    assert again.partition(note)[1:] == text.partition(note)[1:]


def test_the_certificate_proves_the_step(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(TEXT.replace("RECIPE", 'outward(0, "l", "k")'))
    assert "proven" in annotune(installed, "check", "--certificate", str(tmp_path / "f.c"))


def test_an_illegal_step_is_refused_at_its_command(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "f.c").write_text(CARRIED.replace("RECIPE", 'outward(0, "l", "k")'))
    said = annotune(installed, "check", str(tmp_path / "f.c"), code=1)
    assert "f.c:5:1: error:" in said
    assert "AT253" in said


def test_a_target_without_the_feature_refuses_the_step(installed: Path, tmp_path: Path) -> None:
    recipe = 'target("cuda")\noutward(0, "l", "k")\ncuda(0, block={"i"}, thread={"j"})'
    (tmp_path / "f.c").write_text(TEXT.replace("RECIPE", recipe))
    words = ("emit", "--target", "cuda", "-o", str(tmp_path / "out"), str(tmp_path / "f.c"))
    said = annotune(installed, *words, code=1)
    assert "outward" in said
    assert "cuda" in said


def test_a_place_in_the_order_of_work_belongs_to_one_class() -> None:
    turns = [made.turn for made in own_kinds()]
    assert sorted(set(turns)) == turns
    assert all(turn.rank < LATE for turn in turns)


def test_a_class_that_states_is_inner_alone_comes_last() -> None:
    class Inner(OnStatement):
        is_inner = True

    assert turn_of(Inner) == (StepPhase.LAST, LATE)
    assert turn_of(OnStatement) == (StepPhase.SHAPING, LATE)


def test_what_tunes_reports_and_proves_names_no_class() -> None:
    classes = {made.__name__ for made in own_kinds() if made.turn.phase is not StepPhase.ASKED}
    printer = ROOT / "annotune/codegen/cuda/both.py"
    folders = ("codegen", "certify", "measure", "tuning", "report")
    paths = (path for name in folders for path in (ROOT / "annotune" / name).rglob("*.py"))
    naming = {
        f"{path.name}: {name}"
        for path in (*paths, *(ROOT / "annotune").glob("*.py"))
        if path != printer
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(TRANSFORMS)
        for name in {alias.name for alias in node.names} & classes
    }
    assert not naming
