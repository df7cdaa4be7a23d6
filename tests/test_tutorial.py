"""The tutorial: its commands, in a folder with its files, print what the page says."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.cli import annotune
from support.figures import masked

from annotune.tuning.bench import BUSY_WORDS

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = (DOCS / "tutorial.md").read_text()
FILES = DOCS / "tutorial"
LEFT_OUT = "…"
# What takes tuning, and cannot go without it.
TUNES = "annotune run "
TUNED = ("annotune-out/", "grad3.json", "./after", "cmake", "build/")


@dataclass(frozen=True)
class Command:
    """A command of the page, and the lines that it prints there."""

    words: str
    printed: tuple[str, ...]

    @property
    def is_untuned(self) -> bool:
        """Whether it neither tunes nor needs what a command that tunes has written."""
        return not self.words.startswith(TUNES) and not any(p in self.words for p in TUNED)


def blocks(language: str) -> list[str]:
    """Return the page's blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def commands() -> Iterator[Command]:
    """Yield the page's commands in their order."""
    for block in blocks("console"):
        _, *parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
        for part in parts:
            words, *printed = part.splitlines()
            yield Command(words, tuple(printed))


def differs(printed: Sequence[str], expected: Sequence[str]) -> str:
    """Return the first run of expected lines that is not there in its place, nothing if all are.

    Lines may stand where the page has left some out, and nowhere else.
    """
    left = [masked(line) for line in printed]
    groups = "\n".join(map(masked, expected)).split(LEFT_OUT)
    is_bound = True
    for number, group in enumerate(groups):
        wanted = [line for line in group.split("\n") if line]
        is_last = number == len(groups) - 1
        starts = range(len(left) - len(wanted) + 1)
        if is_last and wanted and not is_bound:
            starts = starts[-1:]
        found = next((at for at in starts if left[at : at + len(wanted)] == wanted), None)
        if found is None or (is_bound and found):
            return group
        left = left[found + len(wanted) :]
        is_bound = False
    return "\n".join(left) if len(groups) == 1 else ""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a copy of the tutorial's files, in which commands run, annotune's among them."""
    folder = tmp_path / "tutorial"
    shutil.copytree(FILES, folder)
    program = tmp_path / "bin" / "annotune"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m annotune "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.chdir(folder)
    return folder


def ran(words: str) -> str:
    """Return what a command prints, which is to succeed."""
    name, *arguments = shlex.split(words)
    if name == "annotune":
        # Here, where all that it imports is there already.
        done = annotune(*arguments)
        code, said = done.code, done.out + done.err
    else:
        shell = subprocess.run(words, shell=True, capture_output=True, text=True)
        code, said = shell.returncode, shell.stdout + shell.stderr
    assert code == 0, f"{words}\n{said}"
    return said


def follow(chosen: Iterable[Command]) -> None:
    """Run commands one after the other, and compare what they print with what the page has."""
    for command in chosen:
        said = ran(command.words)
        if BUSY_WORDS in said:
            # What wins there, and by how much, is not for a page to say; a file is written.
            continue
        progress = r"(tuning \w+|original): |$"
        # What OpenACC's row says is a matter of the GPU.
        lines = [
            line
            for line in said.splitlines()
            if not re.match(progress, line) and not line.startswith("OpenACC as written ")
        ]
        wrong = differs(lines, [line for line in command.printed if line])
        assert not wrong, f"{command.words}\n{said}\nthe page has\n{wrong}"


def test_what_the_page_shows_of_files_is_in_them() -> None:
    texts = {path.name: path.read_text() for path in FILES.iterdir()}
    (fortran,) = blocks("fortran")
    assert fortran in texts["grad3.f"]
    (listing,) = blocks("cmake")
    assert listing == texts["CMakeLists.txt"]
    assert blocks("c")[0] in texts["grad3.c"]


@pytest.mark.skipif(shutil.which("f2c") is None, reason="it takes f2c")
def test_the_c_file_is_what_f2c_makes_of_the_fortran(tmp_path: Path) -> None:
    shutil.copy(FILES / "grad3.f", tmp_path)
    assert "`f2c -A grad3.f`" in PAGE
    subprocess.run(["f2c", "-A", "grad3.f"], cwd=tmp_path, check=True, capture_output=True)
    made, kept = ((folder / "grad3.c").read_text() for folder in (tmp_path, FILES))
    # The first lines tell of f2c's version, and where its library is.
    assert made.partition("#include")[2] == kept.partition("#include")[2]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="it takes gcc")
def test_commands_that_tune_nothing_print_what_the_page_says(folder: Path) -> None:
    untuned = [command for command in commands() if command.is_untuned]
    assert len(untuned) == 7
    follow(untuned)
    text = (folder / "grad3.c").read_text()
    begin, *_, last = blocks("c")[1].splitlines()
    assert text.count(begin) == 1
    assert text.count(last) == 1


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cmake") is None, reason="it takes cmake")
@pytest.mark.usefixtures("folder")
def test_all_commands_print_what_the_page_says() -> None:
    follow(commands())


@pytest.mark.parametrize(
    ("printed", "expected", "is_wrong"),
    [
        ("a b", "a b", False),
        ("a b c", "a b", True),
        ("a b", "a b c", True),
        ("a x b", "a … b", False),
        ("a x b y", "a … b", True),
        ("a b y", "a b …", False),
        ("x a b", "a b …", True),
        ("1.5ms", "2.5ms", False),
    ],
)
def test_lines_may_be_left_out_where_the_page_says_so(
    printed: str, expected: str, is_wrong: bool
) -> None:
    assert bool(differs(printed.split(), expected.split())) == is_wrong
