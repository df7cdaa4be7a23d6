"""The command line, called in this process, and C texts with a marked place."""

from __future__ import annotations

import json
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from annotune.cli import cli

OPEN = "/*@ begin PerfTuning () @*/"
CLOSE = "/*@ end @*/"
# Marks the place at which a refusal is expected; taken out of the text.
MARK = "«»"


@dataclass(frozen=True)
class Outcome:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def annotune(*arguments: str | Path) -> Outcome:
    """Return the outcome of a command; an exception other than its exit fails the test."""
    done = CliRunner().invoke(cli, [str(a) for a in arguments], prog_name="annotune")
    if done.exc_info is not None and not isinstance(done.exception, SystemExit | None):
        raise AssertionError("".join(traceback.format_exception(done.exception)))
    return Outcome(done.exit_code, done.stdout, done.stderr)


def marked(text: str) -> tuple[str, int, int]:
    """Return `text` without its marks, and the line and column of the opening one."""
    at = text.index(MARK[0]) if MARK[0] in text else 0
    line = text.count("\n", 0, at) + 1
    column = at - text.rfind("\n", 0, at)
    return text.replace(MARK[0], "").replace(MARK[1], ""), line, column


def function(body: str, parameters: str = "int n, double *restrict a, const double *b") -> str:
    """Return a C function with the lines of `body`."""
    return f"void f({parameters})\n{{\n{body}\n}}\n"


def region(loops: str, recipe: str = "", sizes: str = "param n = 64;") -> str:
    """Return annotated loops, with a recipe where one is given."""
    tuning = f"/*@ begin PerfTuning (def input_params {{ {sizes} }}) @*/"
    if not recipe:
        return f"  {tuning}\n  {loops}\n  {CLOSE}"
    return (
        f"  {tuning}\n  /*@ begin CHiLL (\n    {recipe}\n  ) @*/\n  {loops}\n  {CLOSE}\n  {CLOSE}"
    )
