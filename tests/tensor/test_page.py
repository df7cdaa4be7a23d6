"""docs/tensor.md says what is so: every example is run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from support.cli import annotune

from annotune.tensor.names import FUNCTIONS
from annotune.tensor.parse import ATTRIBUTES, OPTIONS, SECTIONS

PROJECT = Path(__file__).parents[2]
PAGE = (PROJECT / "docs" / "tensor.md").read_text()
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def test_every_example_gives_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c_examples").symlink_to(PROJECT / "c_examples")
    out = ""
    seen = 0
    for kind, text in _BLOCK.findall(PAGE):
        if kind == "tensor":
            Path("example.tensor").write_text(text)
        elif kind == "console":
            done = annotune(*shlex.split(text.removeprefix("$ annotune ")))
            assert done.code == 0, done.err
            out = done.out
        else:
            seen += 1
            assert out == text
    assert seen == 5


def test_the_page_names_all_that_there_is() -> None:
    for name in (*FUNCTIONS, *ATTRIBUTES):
        assert re.search(rf"`[^`]*\b{name}\b[^`]*`", PAGE), name
    for name in (*OPTIONS, *SECTIONS):
        assert f"`{name}:" in PAGE
