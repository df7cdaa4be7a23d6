"""What one run says of another's winner: the same, a tie, slower, or nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import repeatability
from repeatability import Named, main, named

from annotune.measure.trial import Final, Status, Trial, Verdict
from annotune.tuning.results import RegionResult, Results, Row, RowStatus

WON = Final(Verdict.WINNER, 1.0, 0.9, 1.1, 1.0, 1.0, 1.0, (1.0,) * 9)
TIED = replace(WON, verdict=Verdict.TIED, ratio=1.002, ratio_low=0.99)
SLOWER = replace(WON, verdict=Verdict.SLOWER, ratio=1.2, ratio_low=1.1, ratio_high=1.3)


def _results(winner: str, finals: dict[str, Final | None]) -> Results:
    trials = tuple(
        Trial("openmp", {"UF": name}, Status.CORRECT, 1.0, final=final)
        for name, final in finals.items()
    )
    row = Row("openmp", RowStatus.MEASURED, "a CPU", 1.0, config={"UF": winner}, final=WON)
    region = RegionResult("f", 1, 1, {}, 1, 1, (row,), trials)
    return Results("0", "f.c", "h200", (region,))


FIRST = _results("a", {"a": WON, "b": TIED, "c": SLOWER, "d": None})


def test_a_run_agrees_by_name_or_by_a_tie() -> None:
    first = named(FIRST)
    assert first.verdict({"UF": "a"}) == "the same winner"
    assert first.verdict({"UF": "b"}).endswith("statistical tie, 1.002x (0.990x to 1.000x)")
    assert "slower" in first.verdict({"UF": "c"})
    assert first.verdict({"UF": "d"}) == "not among the finalists"
    assert first.verdict({"UF": "e"}) == "not tried"
    agreeing = {name: first.agrees(_named(name)) for name in "abcde"}
    assert agreeing == {"a": True, "b": True, "c": False, "d": False, "e": False}


def _named(winner: str) -> Named:
    return Named({"UF": winner}, WON, (), ({"UF": winner},))


@pytest.mark.parametrize(("other", "code"), [("b", 0), ("a", 0), ("c", 1)])
def test_the_share_is_printed_and_checked(
    other: str,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    second = _results("a", {"a": WON, "b": TIED, "c": SLOWER})
    runs = iter([_results(other, {other: WON}), second])
    monkeypatch.setattr(repeatability, "_run", lambda _: next(runs))
    path = tmp_path / "runs.json"
    assert main(["--runs", "2", "--check", "--json", str(path)]) == code
    shown = capsys.readouterr().out
    assert f"{2 - code} of 2 runs ({100 - 50 * code}%) name the winner of the first" in shown
    rows = json.loads(path.read_text())
    assert [row["agrees"] for row in rows] == [True, not code]
    assert rows[1]["others"][0][1]["verdict"] == "statistical tie"


def test_a_run_without_finals_says_so() -> None:
    (region,) = FIRST.regions
    row = Row("openmp", RowStatus.UNAVAILABLE, reason="no compiler")
    with pytest.raises(SystemExit, match="no finals of openmp: no compiler"):
        named(replace(FIRST, regions=(replace(region, rows=(row,)),)))
