"""The README's example: what `check` prints of it, and the shape of what `run` prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.cli import annotune

from annotune.report.terminal import SHORT_WIDTH

README = (Path(__file__).parent.parent / "README.md").read_text()
LINES = 12


def block(begin: str) -> str:
    """Return the block of the README that has a line which begins so, from that line on."""
    at = README.index(f"\n{begin}") + 1
    return README[at : README.index("```", at)]


def test_check_prints_of_the_example_what_the_readme_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mm.c").write_text(block("void mm("))
    done = annotune("check", "mm.c")
    assert done.code == 0
    assert done.out.rstrip() == block("mm.c:3:5: mm, region 1").rstrip()


def test_the_run_of_the_readme_has_its_answer_last() -> None:
    _, *lines = block("$ annotune run mm.c").splitlines()
    assert re.fullmatch(
        r"mm, region 1 \(line 3\) at n=480: .* wins with .*; link: gcc .*", lines[-1]
    )
    assert max(map(len, lines[:-1])) <= SHORT_WIDTH
    assert lines.index("") < LINES
