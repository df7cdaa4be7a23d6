"""Damaged files are refused or accepted; nothing else happens. And what was found stays mended."""

from __future__ import annotations

from pathlib import Path

import pytest

from .found import FOUND, replayed
from .garbage import Case, judge, numbered

CASES = 240
CHUNKS = 16


@pytest.mark.alike(CHUNKS)
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_damaged_files_are_never_a_surprise(chunk: int, tmp_path: Path) -> None:
    wrong = []
    outcomes = set()
    for number in range(chunk, CASES, CHUNKS):
        verdict = judge(numbered(0, number), tmp_path)
        outcomes.add(verdict.outcome)
        if verdict.is_wrong:
            wrong.append(f"{number}: {verdict.outcome}: {verdict.words[-500:]}")
    assert not wrong, "\n".join(wrong)
    assert "refused" in outcomes


def test_a_sound_file_is_accepted(tmp_path: Path) -> None:
    text = """\
void f(int n, double *restrict a)
{
  /*@ begin PerfTuning (def input_params { param n = 8; }) @*/
  for (int i = 0; i < n; i++)
    a[i] = 2.0 * a[i];
  /*@ end @*/
}
"""
    assert judge(Case("sound", text.encode()), tmp_path).outcome == "accepted"


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(FOUND.glob("*.c")), ids=lambda path: path.stem)
def test_what_was_found_stays_mended(path: Path) -> None:
    assert replayed(path) == []


@pytest.mark.slow
def test_sums_that_read_what_another_adds_to_keep_their_order() -> None:
    """Reads and writes of the same pairs: those that may swap say nothing of the others."""
    assert replayed(FOUND / "refused_lanes_beside_other_statements.c") == []
