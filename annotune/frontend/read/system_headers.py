"""What the system's headers give, when the user's own do not say what a name is.

Only the directives of the user's file are handed on, with a mark before and after each
``#include``: what comes out between two marks is what that header defines and declares.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from glob import glob
from pathlib import Path
from typing import Any

from annotune.frontend.read.preprocess import PREDEFINED, Given, Search, without_comments
from annotune.frontend.read.tokens import Source

COMPILER_LIMIT_S = 20.0
"""How long the compiler may preprocess a file's headers; it takes 0.05 s as a rule."""

_MAXIMUM_RETRIES = 8
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(?P<word>\w*)(?:\\[ ]?\n|[^\n])*", re.MULTILINE)
_MARKED = re.compile(
    r"^[ ]*annotune_begin_(?P<line>\d+)[ ]*;(?P<text>.*?)^[ ]*annotune_end_(?P=line)[ ]*;",
    re.MULTILINE | re.DOTALL,
)
_LINE_MARKER = re.compile(r"^[ \t]*#[ \t]*(?:line[ \t]+)?\d+.*$", re.MULTILINE)
_MISSING = re.compile(r"^<stdin>:(\d+):\d+: fatal error: (.*)$", re.MULTILINE)
# Where Linux and BSD keep them; the compiler itself is asked when this is not enough.
_FOLDERS = (
    "/usr/local/include",
    "/usr/include",
    "/usr/include/*-linux-gnu",
    "/usr/lib/gcc/*/*/include",
)


@dataclass(frozen=True)
class Reading:
    """The headers by the line of their ``#include``, and why some are missing."""

    given: Given = field(default_factory=dict)
    problem: str = ""


def by_pcpp(source: Source, search: Search) -> Reading:
    """Return the headers as pcpp reads them, which needs no compiler."""
    import pcpp  # type: ignore[import-untyped]  # ships no types

    problems: list[str] = []
    missing: set[str] = set()

    class Reader(pcpp.Preprocessor):  # type: ignore[misc]  # as above
        """Keeps the definitions in what it writes, and goes on after every error."""

        def on_include_not_found(self, *where: Any) -> None:
            missing.add(str(where[-1]))
            problems.append(f"{where[-1]} is not found")
            raise pcpp.OutputDirective(pcpp.Action.IgnoreAndRemove)

        def on_directive_handle(self, directive: Any, *rest: Any) -> Any:
            handled = super().on_directive_handle(directive, *rest)
            return None if directive.value in ("define", "undef") else handled

        def on_error(self, file: str, line: int, message: str) -> None:
            problems.append(message)

    reader = Reader()
    folders = [path for pattern in _FOLDERS for path in sorted(glob(pattern))]
    for folder in [_folder(source), *search.include, *folders]:
        reader.add_path(folder)
    for name, body in {**PREDEFINED, "__SIZE_TYPE__": "unsigned long", **search.defines}.items():
        reader.define(f"{name} {body}")
    out = io.StringIO()
    try:
        reader.parse(_directives(source), "annotune.c")
        reader.write(out)
    except Exception as error:  # a foreign parser on any text: a failed rung
        return Reading(problem=f"pcpp stops: {error}")
    given = _between_marks(out.getvalue(), source)
    found = {line: h for line, h in given.items() if not any(m in h.path for m in missing)}
    return Reading(found, f"pcpp: {problems[0]}" if problems else "")


def by_compiler(source: Source, search: Search) -> Reading:
    """Return the headers as the user's compiler preprocesses them."""
    if not search.compiler:
        return Reading(problem="no C compiler is named")
    options = [f"-iquote{_folder(source)}"]
    options += [f"-I{folder}" for folder in search.include]
    options += [f"-D{name}={body}" for name, body in search.defines.items()]
    command = [*search.compiler, "-E", "-dD", "-P", *options, "-x", "c", "-"]
    lines = _directives(source).split("\n")
    problem = ""
    missing: set[str] = set()
    for _ in range(_MAXIMUM_RETRIES):
        out, error = _run(command, "\n".join(lines))
        if not error:
            break
        stopped = _MISSING.search(error)
        problem = problem or f"{search.compiler[0]} -E: {stopped[2] if stopped else error}"
        if stopped is None:
            break
        # A missing header ends gcc's output; the others are read without it.
        at = int(stopped[1]) - 1
        missing.add(lines[at - 1].strip())
        lines[at] = ""
    given = _between_marks(out, source)
    found = {line: h for line, h in given.items() if f"annotune_begin_{line};" not in missing}
    return Reading(found, problem)


def _run(command: Sequence[str], text: str) -> tuple[str, str]:
    """Return what a preprocessor writes, and its complaint when it fails."""
    try:
        done = subprocess.run(
            list(command),
            input=text.encode("utf-8", "surrogateescape"),
            capture_output=True,
            timeout=COMPILER_LIMIT_S,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except OSError as error:
        return "", f"{error.strerror or error}"
    except subprocess.TimeoutExpired:
        return "", f"no answer within {COMPILER_LIMIT_S:g} s"
    complaint = done.stderr.decode("utf-8", "replace").strip() if done.returncode else ""
    return done.stdout.decode("utf-8", "surrogateescape"), complaint


def _folder(source: Source) -> str:
    return str(Path(source.path).absolute().parent)


def _directives(source: Source) -> str:
    """Return the directives of a file, each ``#include`` between marks that name its line."""
    text = without_comments(source)
    parts = []
    for found in _DIRECTIVE.finditer(text):
        directive = found[0].strip()
        if found["word"] in ("include", "include_next", "import"):
            start = found.start() + len(found[0]) - len(found[0].lstrip())
            line = source.span(start, start + 1).line
            directive = f"annotune_begin_{line};\n{directive}\nannotune_end_{line};"
        if found["word"] not in ("pragma", "error", "warning", "line"):
            parts.append(directive + "\n")
    return "".join(parts)


def _between_marks(stream: str, source: Source) -> Given:
    lines = source.text.split("\n")
    given = {}
    for found in _MARKED.finditer(stream):
        line = int(found["line"])
        name = lines[line - 1].strip()
        given[line] = Source(name, _LINE_MARKER.sub("", found["text"]))
    return given
