"""One bad input, and the pieces from which its text is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from support.cli import CLOSE, OPEN, function, region

LOOP = "for (int i = 0; i < n; i++)"
TWO = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
COPY = f"{TWO} a[i*n + j] = b[i*n + j];"
SUM = f"{TWO} «»a[i] += b[i*n + j];"
# a[i][j] needs a[i-1][j+1]: distance (1, -1).
SKEWED = (
    "for (int i = 1; i < n; i++) for (int j = 0; j < n - 1; j++)"
    " a[i*n + j] = a[(i-1)*n + j+1] + b[i];"
)
GOOD = function(region(f"{LOOP} a[i] = b[i];"))


@dataclass(frozen=True)
class Bad:
    """An input with its mistake in «…», and what is said of it.

    `message` and `help` are parts of what is said. `options` follow the file's name; `files`
    lie beside it, and one of them may hold the marks. `command` is empty where `check` and
    `emit` must say the same. `place` is where the report points if no text has marks.
    """

    text: str
    code: str
    message: str
    help: str = ""
    note: str = ""
    options: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    command: str = ""
    place: str = ""


@dataclass(frozen=True)
class Misuse:
    """A command line that click refuses: exit code 2, and part of what it says."""

    arguments: tuple[str, ...]
    message: str


def plain(body: str, parameters: str = "", before: str = "", top: str = "") -> str:
    """Return a function with one region that holds `body`, without sizes."""
    head = f"  {before}\n" if before else ""
    text = f"{head}  {OPEN}\n  {body}\n  {CLOSE}"
    return top + (function(text, parameters) if parameters else function(text))


def sized(body: str, parameters: str = "", before: str = "", top: str = "") -> str:
    """Return a function with one region that holds `body`, with n = 64."""
    head = f"  {before}\n" if before else ""
    text = head + region(body)
    return top + (function(text, parameters) if parameters else function(text))


def tuning(text: str) -> str:
    """Return a sound nest under a PerfTuning that holds `text`."""
    return function(
        f"  /*@ begin PerfTuning (\n    {text}\n  ) @*/\n  {LOOP} a[i] = b[i];\n  {CLOSE}"
    )


def inputs(text: str) -> str:
    """Return a sound nest whose input parameters are `text`."""
    return tuning(f"def input_params {{ {text} }}")


def with_recipe(recipe: str, loops: str = COPY, parameters: str = "") -> str:
    """Return loops under a recipe, with n = 64."""
    body = region(loops.replace("«»", ""), recipe)
    return function(body, parameters) if parameters else function(body)
