"""Every option is explained, by the help of its command and in the documentation."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import pytest
from support.cli import annotune

from annotune.cli import cli
from annotune.codegen import target
from annotune.options import DEFAULT_TARGETS, SEARCH_NAMES, STRATEGY_NAMES, TARGET_NAMES
from annotune.pipeline import Settings
from annotune.strategies import registry as strategies
from annotune.tuning.search.names import SEARCHES

PROJECT = Path(__file__).parent.parent
COMMANDS = ("check", "emit", "run", "capture", "table", "report", "doctor", "init", "diff")


def options_of(command: str) -> list[click.Option]:
    return [one for one in cli.commands[command].params if isinstance(one, click.Option)]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_in_the_documentation(command: str) -> None:
    guides = ("build", "tuning", "table", "capture", "init", "diff")
    names = (*(f"docs/{name}.md" for name in guides), "README.md")
    documents = "".join((PROJECT / name).read_text() for name in names)
    named = {
        max(names, key=len)
        for one in options_of(command)
        for names in (one.opts, one.secondary_opts)
        if names
    }
    assert {name for name in named if not re.search(rf"`{name}\b", documents)} == set()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_a_sentence_in_the_help(command: str) -> None:
    done = annotune(command, "--help")
    assert done.code == 0
    said = " ".join(done.out.split())
    for one in options_of(command):
        assert one.help is not None
        assert one.opts[0] in said
        assert one.help.split("-")[0].strip() in said


def test_the_help_names_every_target_strategy_and_search() -> None:
    assert target.TARGET_NAMES == TARGET_NAMES
    assert target.DEFAULT_TARGETS == DEFAULT_TARGETS
    assert strategies.STRATEGY_NAMES == STRATEGY_NAMES
    assert tuple(SEARCHES) == SEARCH_NAMES
    assert Settings(Path("a.c")).strategy == strategies.AUTO


# What help may import beyond Python's own library: others take longer than it.
_FOR_HELP = {"annotune", "click"}
_PROBE = """\
import sys
from annotune.__main__ import main
try:
    main()
finally:
    names = {name.split(".")[0] for name in sys.modules} - sys.stdlib_module_names
    print(*names, file=sys.stderr)
"""


def _imported(words: Sequence[str]) -> tuple[str, set[str]]:
    """Return what a command prints, and what it imports beyond Python's own library."""
    command = [sys.executable, "-I", "-c", f"import sys; sys.path[:0] = {sys.path}\n{_PROBE}"]
    done = subprocess.run([*command, *words], check=True, capture_output=True, text=True)
    # An editable installation has a finder of its own, a distribution's Python what it likes, and
    # a library in C what made it.
    found = {n for n in done.stderr.splitlines()[-1].split() if not n.startswith("_")}
    return done.stdout, found - {"sitecustomize", "cython_runtime"}


@pytest.mark.parametrize("words", [("--help",), ("run", "--help")], ids=" ".join)
def test_help_imports_no_library(words: tuple[str, ...]) -> None:
    text, found = _imported(words)
    assert text.startswith("Usage: ")
    assert found == _FOR_HELP


@pytest.mark.parametrize("example", ["gemm/gemm.c", "nekbone/local_grad3.c"])
def test_check_imports_what_reads_and_proves_alone(example: str) -> None:
    text, found = _imported(("check", str(PROJECT / "c_examples" / example)))
    assert "dependences proven for all sizes" in text
    assert found == _FOR_HELP | {"islpy", "lark", "pycparser", "yaml"}
