"""docs/annotation.md: its examples are sound, and it names every command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.regions import find_annotations

from annotune.annotation.commands import signatures
from annotune.annotation.expressions import FUNCTIONS
from annotune.annotation.perf_tuning import BLOCKS
from annotune.annotation.sidecar import load_sidecar

PAGE = (Path(__file__).parents[2] / "docs" / "annotation.md").read_text()


@pytest.mark.parametrize("text", re.findall(r"```c\n(.*?)```", PAGE, re.DOTALL))
def test_annotated_c(text: str) -> None:
    assert len(find_annotations(text, "annotation.md")) == 1


def test_sidecar(tmp_path: Path) -> None:
    (text,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "a.yaml").write_text(text)
    (entry,) = load_sidecar(tmp_path / "a.yaml")
    assert [p.name for p in entry.spec.performance_params] == ["UF", "U2", "TX"]


def test_names() -> None:
    for row in signatures().values():
        assert f"`{row.example}`" in PAGE
    for name in (*FUNCTIONS, *BLOCKS):
        assert name in PAGE
