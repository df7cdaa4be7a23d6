"""What a shell is offered for the start of a word."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import BashComplete, CompletionItem

from annotune import plugins
from annotune.annotation.devices import device_names
from annotune.cli import cli
from annotune.diagnostics import pages
from annotune.options import SEARCH_NAMES, STRATEGY_NAMES, TARGET_NAMES


def offered(*words: str) -> list[CompletionItem]:
    """Return what the last of the words of a command line may become."""
    shell = BashComplete(cli, {}, "annotune", "_ANNOTUNE_COMPLETE")
    return shell.get_completions(list(words[:-1]), words[-1])


def values(*words: str) -> list[str]:
    return [item.value for item in offered(*words)]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("run", "--search", ""), SEARCH_NAMES),
        (("run", "--search", "r"), ("random", "rf")),
        (("check", "--device", ""), device_names()),
        (("check", "--device", "h"), ("h100", "h200")),
        (("emit", "--strategy", ""), STRATEGY_NAMES),
        (("emit", "--target", ""), TARGET_NAMES),
        (("emit", "--target", "cuda,open"), ("cuda,openacc", "cuda,openmp", "cuda,openmp_target")),
        (("emit", "--target", "openmp,cuda,openm"), ("openmp,cuda,openmp_target",)),
        (("run", "--cache", ""), ("cold", "warm")),
        (("explain", "AT11"), [p.code for p in pages() if p.code.startswith("AT11")]),
        (("explain", "at253"), ("AT253",)),
        (("explain", "x"), ()),
        (("expl",), ("explain",)),
        (("run", "--orig"), ("--original-time",)),
    ],
)
def test_words_are_offered(words: tuple[str, ...], expected: tuple[str, ...]) -> None:
    assert values(*words) == list(expected)


def test_a_code_comes_with_its_title() -> None:
    (found,) = offered("explain", "AT253")
    assert found.help == next(page.title for page in pages() if page.code == "AT253")


@pytest.mark.parametrize(
    "words", [("check", "--device", "./my"), ("check", "mm"), ("run", "-o", "o")]
)
def test_a_file_is_left_to_the_shell(words: tuple[str, ...]) -> None:
    assert [(item.type, item.value) for item in offered(*words)] == [("file", words[-1])]


def test_what_packages_add_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    added = {
        plugins.SEARCHES: ("backwards",),
        plugins.STRATEGIES: ("rows",),
        plugins.TARGETS: ("plain",),
    }
    monkeypatch.setattr(plugins, "names", added.__getitem__)
    assert values("run", "--search", "b") == ["backwards"]
    assert values("run", "--strategy", "ro") == ["rows"]
    assert values("run", "--target", "cuda,p") == ["cuda,plain"]


def test_bash_completes(tmp_path: Path) -> None:
    """By the line that the documentation gives, in a bash that calls what the user calls."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is not installed")
    command = tmp_path / "annotune"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m annotune "$@"\n')
    command.chmod(0o755)
    page = (Path(__file__).parents[1] / "docs/completion.md").read_text()
    line = page.split("`~/.bashrc` | `")[1].split("`")[0]
    script = f"""\
PATH="{tmp_path}:$PATH"
{line}
COMP_WORDS=(annotune run --search ra) COMP_CWORD=3
_annotune_completion annotune
printf '%s\\n' "${{COMPREPLY[@]}}"
complete -p annotune
"""
    done = subprocess.run([bash, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == "random"
    assert "_annotune_completion annotune" in done.stdout.splitlines()[-1]
