"""A test, its fixtures of any scope and its child processes find nothing that others have left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.python import python

ROOT = Path(__file__).resolve().parents[1]
LISTS = """
import json, os
home = os.path.expanduser("~")
print(json.dumps([os.getcwd(), home, os.listdir(), os.listdir(home)]))
"""


@pytest.fixture(scope="module")
def seen_by_a_module() -> list[str]:
    return [str(Path.cwd()), *os.listdir()]


def test_a_place_is_empty_and_outside_the_checkout(seen_by_a_module: list[str]) -> None:
    place = Path.cwd()
    assert not list(place.iterdir())
    assert ROOT not in (place, *place.parents)
    assert seen_by_a_module == [str(place)]


@pytest.mark.parametrize("number", range(2))
def test_what_a_test_leaves_is_gone_in_the_next(number: int) -> None:
    assert not list(Path.cwd().iterdir())
    Path("annotune-out").mkdir()
    Path("annotune.toml").write_text("nonsense")


def test_children_have_the_place_and_a_home_without_files() -> None:
    begun = subprocess.run([sys.executable, "-c", LISTS], capture_output=True, text=True)
    forked = python(LISTS, timeout=60)
    for done in (begun, forked):
        place, home, *found = json.loads(done.stdout)
        assert place == str(Path.cwd())
        assert found == [[], []]
        assert ROOT not in (Path(home), *Path(home).parents)


def test_a_test_outlives_a_place_that_it_removes() -> None:
    """A later test has a place of its own all the same."""
    Path.cwd().rmdir()


def test_continuous_integration_tests_after_the_demo_in_an_empty_home() -> None:
    text = (ROOT / ".ci/run").read_text()
    run = [line for line in text.splitlines() if line.startswith("make ")]
    assert run == ["make demo", "make test", "make check", "make docs"]
    assert text.index("export HOME LOCK") < text.index("make demo")
