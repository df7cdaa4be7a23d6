"""The ways to read a file, the cheapest first: by ourselves, with pcpp, with the C compiler, and
with what is well known of ``f2c.h`` where that is nowhere.

The first reads the user's own headers and leaves those of the system unread. The others are
tried only when a region stays open because of that, so that a file that needs no compiler is
read without one. Of it only the directives are handed on, with a mark before and after each
``#include``: what comes out between two marks is what that header defines and declares.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import field
from functools import cached_property
from glob import glob
from pathlib import Path
from typing import Any

from annotune.diagnostics import AnnotuneError, Diagnostic
from annotune.frontend import messages
from annotune.frontend.read.filescope import File, unread_headers, words_of_headers
from annotune.frontend.read.parse import TopLevel
from annotune.frontend.read.preprocess import (
    DIRECTIVE,
    INCLUDES,
    PREDEFINED,
    Clean,
    Given,
    HeaderSearch,
    is_standard,
    preprocess,
    without_comments,
)
from annotune.frontend.read.region_finder import ParsedFunction
from annotune.frontend.read.tokens import SourceText
from annotune.frozen import dataclass

# What an unread header may be the reason of: a syntax error, a name or a type that is unknown, an
# included text in a function, a region that an `#if` leaves out.
_OPEN = frozenset(
    template.code
    for template in (
        *(messages.SYNTAX, messages.UNDECLARED, messages.UNKNOWN_TYPE),
        *(messages.UNREAD_HEADER, messages.LEFT_OUT),
    )
)


@dataclass(frozen=True)
class Rung:
    """A file as one way of reading gives it; `problem` says what did not work on the way.

    One that is read `from_table` knows f2c's header by heart. `functions` are those parsed already,
    by their first tokens, the macros without their definitions, and where the text that will be
    replaced starts, None where all stays; the trees stay as they are.
    """

    file: File
    problem: str = ""
    from_table: bool = False
    functions: dict[tuple[int, frozenset[str], tuple[int, ...] | None], ParsedFunction] = field(
        default_factory=dict, compare=False, repr=False
    )

    def is_in_doubt(self, part: TopLevel) -> list[str]:
        """Return the names that an ``#if`` asks for, which matter for `part` and are not known."""
        tokens, clean = self.file.tokens, self.file.clean
        if not clean.doubts:
            return []
        opens, closes = tokens.starts[part.first], tokens.ends[part.last]
        words = self.file.reach(part)
        entries = [at for word in words for at, _ in clean.macros.get(word, ())]
        return [
            doubt.name
            for doubt in clean.doubts
            if opens < doubt.start < closes or any(doubt.start <= at <= doubt.end for at in entries)
        ]


class Ladder:
    """The rungs of one file, each climbed at most once; one that gives nothing is left out."""

    def __init__(self, source: SourceText, search: HeaderSearch) -> None:
        self.source = source
        self.search = search
        self.first = Rung(File(self._clean()))
        self.problems: list[str] = []
        self._higher: list[Rung | None] = []

    def _clean(self, given: Given | None = None) -> Clean:
        return preprocess(self.source, self.search, given)

    def rungs(self) -> Iterator[Rung]:
        """Yield the rungs from the first, climbing higher only when asked for more."""
        yield self.first
        if not self.first.file.clean.unread:
            return
        for height, read in enumerate((by_pcpp, by_compiler, by_table)):
            if len(self._higher) <= height:
                self._higher.append(self._climb(read(self.source, self.search), read is by_table))
            rung = self._higher[height]
            if rung is not None:
                yield rung

    def _climb(self, reading: HeadersRead, from_table: bool) -> Rung | None:
        if reading.problem:
            self.problems.append(reading.problem)
        if not reading.given:
            return None
        return Rung(File(self._clean(reading.given)), reading.problem, from_table)

    def may_help(self, refusal: AnnotuneError) -> bool:
        """Return whether an unread header may be the reason of a refusal."""
        codes = {diagnostic.code for diagnostic in refusal.diagnostics}
        if codes & _OPEN:
            return True
        # A call may be a macro of a header; those of ISO C are functions.
        unread = self.first.file.clean.unread
        is_foreign = any(not is_standard(header.name) for header in unread)
        return messages.CALL.code in codes and is_foreign

    def explained(self, refusal: AnnotuneError) -> AnnotuneError:
        """Return a refusal with notes on the headers that were not read, and why."""
        if not self.may_help(refusal):
            return refusal
        notes = self.unread_notes()
        diagnostics = list(refusal.diagnostics)
        for number, diagnostic in enumerate(diagnostics):
            if diagnostic.code in _OPEN or diagnostic.code == messages.CALL.code:
                for note in notes:
                    diagnostics[number] = diagnostics[number].with_note(note)
                break
        return AnnotuneError(tuple(diagnostics))

    def unread_notes(self) -> list[Diagnostic]:
        """Return a note for each header that no rung could read."""
        higher = [rung for rung in self._higher if rung is not None]
        left = [{unread.start for unread in rung.file.clean.unread} for rung in higher]
        return [
            messages.NOT_READ.at(
                self.source.span(unread.start, unread.end),
                name=unread.name,
                reason="; ".join([unread.reason, *self.problems]),
            )
            for unread in self.first.file.clean.unread
            if all(unread.start in starts for starts in left)
        ]


def ladder_of(path: str, text: str, search: HeaderSearch) -> Ladder:
    """Return the ways to read a C file.

    Raises:
        AnnotuneError: It is empty or binary.
    """
    source = SourceText(path, text)
    if "\0" in text:
        at = text.index("\0")
        raise AnnotuneError.of(messages.BINARY_FILE.at(source.span(at, at + 1)))
    if not text.strip():
        raise AnnotuneError.of(messages.EMPTY_FILE.at(source.span(0, 1)))
    return Ladder(source, search)


class HeaderNames:
    """The names in a C text's headers, which are read when one is asked for.

    In a header that is not to be had there may be any.
    """

    def __init__(self, path: str, text: str, search: HeaderSearch) -> None:
        self._place = (path, text, search)

    def __contains__(self, name: str) -> bool:
        return self._may_be_any or name in self._words

    @cached_property
    def _clean(self) -> Clean:
        return ladder_of(*self._place).first.file.clean

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(words_of_headers(self._clean))

    @cached_property
    def _may_be_any(self) -> bool:
        return any(not is_standard(header.name) for header in unread_headers(self._clean))


COMPILER_LIMIT_S = 20.0
"""How long the compiler may preprocess a file's headers; it takes 0.05 s as a rule."""

_MAXIMUM_RETRIES = 8
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
class HeadersRead:
    """The headers by the line of their ``#include``, and why some are missing."""

    given: Given = field(default_factory=dict)
    problem: str = ""


def by_pcpp(source: SourceText, search: HeaderSearch) -> HeadersRead:
    """Return the headers as pcpp reads them, which needs no compiler."""
    import pcpp  # type: ignore[import-untyped]  # ships no types

    problems: list[str] = []
    missing: set[str] = set()

    class Reader(pcpp.Preprocessor):  # type: ignore[misc]  # as above
        """Keeps the definitions in what it writes, and goes on after every error."""

        def on_include_not_found(self, *where: object) -> None:
            missing.add(str(where[-1]))
            problems.append(f"{where[-1]} is not found")
            raise pcpp.OutputDirective(pcpp.Action.IgnoreAndRemove)

        def on_directive_handle(self, directive: Any, *rest: object) -> Any:
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
        return HeadersRead(problem=f"pcpp stops: {error}")
    given = _between_marks(out.getvalue(), source)
    found = {line: h for line, h in given.items() if not any(m in h.path for m in missing)}
    return HeadersRead(found, f"pcpp: {problems[0]}" if problems else "")


# The types and macros of f2c's output; those of input and output stand in no region.
_F2C_HEADER = """
typedef int integer; typedef unsigned int uinteger; typedef short shortint; typedef int logical;
typedef short shortlogical; typedef char logical1; typedef char integer1; typedef int ftnlen;
typedef int ftnint; typedef int flag; typedef char *address;
typedef float real; typedef double doublereal;
typedef struct { real r, i; } complex;
typedef struct { doublereal r, i; } doublecomplex;
typedef int (*U_fp)(); typedef int (*S_fp)(); typedef integer (*I_fp)(); typedef real (*R_fp)();
typedef doublereal (*D_fp)(); typedef doublereal (*E_fp)(); typedef logical (*L_fp)();
typedef void (*C_fp)(); typedef void (*Z_fp)(); typedef void (*H_fp)(); typedef void C_f;
typedef void H_f; typedef void Z_f; typedef doublereal E_f;
#define TRUE_ (1)
#define FALSE_ (0)
#define Extern extern
#define VOID void
#define abs(x) ((x) >= 0 ? (x) : -(x))
#define dabs(x) (doublereal)abs(x)
#define min(a,b) ((a) <= (b) ? (a) : (b))
#define max(a,b) ((a) >= (b) ? (a) : (b))
#define dmin(a,b) (doublereal)min(a,b)
#define dmax(a,b) (doublereal)max(a,b)
"""


def by_table(source: SourceText, search: HeaderSearch) -> HeadersRead:
    """Return f2c's header as it is known, for files that ask for it where it is nowhere."""
    given: dict[int, SourceText] = {}
    for found in DIRECTIVE.finditer(without_comments(source)):
        if found["word"] in INCLUDES and re.search(r"[\"</]f2c\.h[\">]", found["rest"]):
            start = found.start() + len(found[0]) - len(found[0].lstrip())
            given[source.span(start, start + 1).line] = SourceText(found[0].strip(), _F2C_HEADER)
    return HeadersRead(given)


def by_compiler(source: SourceText, search: HeaderSearch) -> HeadersRead:
    """Return the headers as the user's compiler preprocesses them."""
    if not search.compiler:
        return HeadersRead(problem="no C compiler is named")
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
    return HeadersRead(found, problem)


def _run(command: Sequence[str], text: str) -> tuple[str, str]:
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


def _folder(source: SourceText) -> str:
    return str(Path(source.path).absolute().parent)


def _directives(source: SourceText) -> str:
    """Return the directives of a file, each ``#include`` between marks that name its line."""
    text = without_comments(source)
    parts = []
    for found in DIRECTIVE.finditer(text):
        directive = found[0].strip()
        if found["word"] in INCLUDES:
            start = found.start() + len(found[0]) - len(found[0].lstrip())
            line = source.span(start, start + 1).line
            directive = f"annotune_begin_{line};\n{directive}\nannotune_end_{line};"
        if found["word"] not in ("pragma", "error", "warning", "line"):
            parts.append(directive + "\n")
    return "".join(parts)


def _between_marks(stream: str, source: SourceText) -> Given:
    lines = source.text.split("\n")
    given = {}
    for found in _MARKED.finditer(stream):
        line = int(found["line"])
        name = lines[line - 1].strip()
        given[line] = SourceText(name, _LINE_MARKER.sub("", found["text"]))
    return given
