"""The page on writing a strategy, followed to the letter: a module's function and a row."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from decide.recipes import decided_text
from support.executed import Call, Part, executable

from annotune.schedule.candidate import Candidate, Reason
from annotune.schedule.units import Unit
from annotune.strategies import registry as strategies
from annotune.strategies.registry import Strategy

PAGE = Path(__file__).parents[2] / "docs/strategies/write-a-strategy.md"
TEXT = """\
void f(int n, double *restrict a, const double *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 12; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            a[i*n + j] = 2.0 * b[j*n + i];
    /*@ end @*/
}
"""


@pytest.fixture
def row(monkeypatch: pytest.MonkeyPatch) -> Strategy:
    """Return the page's row, put into the table."""
    module, line, *others = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert not others
    known = {"Candidate": Candidate, "Reason": Reason, "Unit": Unit, "Strategy": Strategy}
    exec(module, known)
    rows = type("rows", (), {"alternatives": staticmethod(known["alternatives"])})
    made: Strategy = eval(line, {**known, "rows": rows})
    monkeypatch.setattr(strategies, "_ROWS", (*strategies._ROWS, made))
    return made


def test_its_choice_is_taken_and_right(row: Strategy, tmp_path: Path) -> None:
    (choice,) = decided_text(TEXT, row.name).decision.choices
    assert (choice.blocks, choice.threads) == (("i",), ("j",))
    assert "strategy: rows (a block for each i)" in map(str, choice.reasons)
    program = executable(tmp_path, TEXT, strategy=row.name)
    sizes = (12, 1, 7, 40)
    program.check(*(Call("f", (n, Part(0), Part(1)), (n * n, n * n)) for n in sizes))
    assert "blockIdx.x" in program.cuda


def test_check_says_why_it_does_not_apply(row: Strategy) -> None:
    text = TEXT.replace("b[j*n + i]", "b[j*n + i] + a[i*n + j - 1]")
    (choice,) = decided_text(text, row.name).decision.choices
    first = str(choice.reasons[0])
    assert first == "strategy: direct (rows does not apply: fewer than two parallel loops)"


def test_without_the_row_nothing_is_left_of_it() -> None:
    assert "rows" not in strategies.STRATEGY_NAMES
    (choice,) = decided_text(TEXT).decision.choices
    assert not any("rows" in str(reason) for reason in choice.reasons)
