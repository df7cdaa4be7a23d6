"""Preprocessing that keeps every position: what C does not read becomes spaces.

Comments, directives and the branches of ``#if`` that are not taken are blanked with spaces
of equal length, so every offset stays the user's. Headers are not read. Macros that are
integer constants keep their names; others are expanded token by token in `parse`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field

from annotune.diagnostics import AnnotuneError
from annotune.frontend.constant import evaluate
from annotune.frontend.messages import LONE_CONDITIONAL, OPEN_COMMENT
from annotune.frontend.source import Source

_COMMENT = re.compile(
    r"(?P<comment>/\*.*?\*/|//(?:\\\r?\n|[^\n])*)"
    r"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|(?P<open>/\*)",
    re.DOTALL,
)
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(?P<word>\w*)(?P<rest>(?:\\[ ]?\n|[^\n])*)", re.MULTILINE)
_DEFINE = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)(?P<parameters>\([^)]*\))?(?P<body>.*)", re.DOTALL)
_DEFINED = re.compile(r"\bdefined\s*(?:\(\s*(\w+)\s*\)|(\w+))")
# Users compile with gcc, clang, nvc or nvcc, all of which define these.
_PREDEFINED = {
    "__STDC__": "1",
    "__STDC_VERSION__": "201710L",
    "__GNUC__": "12",
    "__linux__": "1",
    "__unix__": "1",
    "__x86_64__": "1",
}
_CONDITIONALS = frozenset({"if", "ifdef", "ifndef", "elif", "else", "endif"})


@dataclass(frozen=True, slots=True)
class Macro:
    """A ``#define``: its body, and its value when the body is an integer constant."""

    name: str
    body: str
    is_function: bool = False
    value: int | None = None


@dataclass(frozen=True, slots=True)
class Directive:
    """A directive other than ``#pragma``: its word and its place."""

    word: str
    start: int
    end: int


@dataclass(frozen=True)
class Clean:
    """A file after preprocessing: text of the same length that is C without directives.

    `macros` lists each name's definitions with the offsets from which they hold, None from an
    ``#undef`` on. `left_out` are the ranges of the text that ``#if`` leaves out.
    """

    source: Source
    text: str
    macros: Mapping[str, list[tuple[int, Macro | None]]]
    directives: tuple[Directive, ...]
    left_out: tuple[tuple[int, int], ...]
    headers: frozenset[str] = field(default=frozenset())

    def macro(self, name: str, offset: int) -> Macro | None:
        """Return the macro that `name` means at `offset`, None when it is no macro there."""
        history = self.macros.get(name)
        if not history:
            return None
        at = bisect_right(history, offset, key=lambda entry: entry[0])
        return history[at - 1][1] if at else None

    def directives_in(self, start: int, end: int) -> tuple[Directive, ...]:
        """Return the directives that start between two offsets."""
        low = bisect_left(self.directives, start, key=lambda d: d.start)
        high = bisect_left(self.directives, end, key=lambda d: d.start)
        return self.directives[low:high]

    def is_left_out(self, offset: int) -> bool:
        """Return whether ``#if`` leaves out the text at `offset`."""
        at = bisect_right(self.left_out, offset, key=lambda r: r[0])
        return at > 0 and offset < self.left_out[at - 1][1]


def blank(text: str) -> str:
    """Return `text` with everything but its newlines turned to spaces."""
    return re.sub(r"[^\n]", " ", text)


def preprocess(source: Source, defines: Mapping[str, str]) -> Clean:
    """Return the C of `source`, with `defines` in place as if given with ``-D``.

    As for a compiler, a plain ``#define`` in the file wins over ``-D``; one under ``#ifndef``
    does not.

    Raises:
        AnnotuneError: A comment is never closed, or ``#endif`` stands without ``#if``.
    """
    return _Preprocessor(source, defines).run()


def without_comments(source: Source) -> str:
    """Return the text with comments, carriage returns and a byte-order mark blanked."""
    parts, last = [], 0
    for found in _COMMENT.finditer(source.text):
        if found["open"]:
            place = source.span(found.start(), found.end())
            raise AnnotuneError.of(OPEN_COMMENT.at(place))
        if found["comment"]:
            parts += [source.text[last : found.start()], blank(found["comment"])]
            last = found.end()
    text = "".join([*parts, source.text[last:]]).replace("\r", " ")
    return " " + text[1:] if text.startswith("\ufeff") else text


@dataclass
class _Branch:
    """An open ``#if``: whether its current branch is read, and whether one was already."""

    start: int
    active: bool
    taken: bool
    outer: bool


class _Preprocessor:
    def __init__(self, source: Source, defines: Mapping[str, str]) -> None:
        self.source = source
        self.macros: dict[str, list[tuple[int, Macro | None]]] = {}
        self.branches: list[_Branch] = []
        self.directives: list[Directive] = []
        self.left_out: list[tuple[int, int]] = []
        self.headers: set[str] = set()
        for name, body in {**_PREDEFINED, **defines}.items():
            self.define(name, body, False, 0)

    def run(self) -> Clean:
        text = without_comments(self.source)
        parts, last = [], 0
        for found in _DIRECTIVE.finditer(text):
            between = text[last : found.start()]
            parts.append(between if self.active else blank(between))
            parts.append(blank(found[0]))
            last = found.end()
            self.directive(found)
        if self.branches:
            start = self.branches[-1].start
            place = self.source.span(start, self.text_end(start))
            raise AnnotuneError.of(LONE_CONDITIONAL.at(place, directive="if", partner="endif"))
        # A backslash at a line's end joins lines only inside a token, which nobody writes.
        rest = re.sub(r"\\(?=[ ]?\n)", " ", text[last:])
        code = re.sub(r"\\(?=[ ]?\n)", " ", "".join(parts)) + rest
        return Clean(
            self.source,
            code,
            self.macros,
            tuple(self.directives),
            tuple(self.left_out),
            frozenset(self.headers),
        )

    @property
    def active(self) -> bool:
        return not self.branches or self.branches[-1].active

    def text_end(self, start: int) -> int:
        end = self.source.text.find("\n", start)
        return end if end >= 0 else len(self.source.text)

    def directive(self, found: re.Match[str]) -> None:
        word, rest = found["word"], found["rest"]
        start = found.start() + len(found[0]) - len(found[0].lstrip())
        was_active = self.active
        if word in _CONDITIONALS:
            self.conditional(word, rest, start)
        if word != "pragma" and word and (was_active or word in _CONDITIONALS):
            self.directives.append(Directive(word, start, found.start() + len(found[0].rstrip())))
        if was_active and not self.active:
            self.left_out.append((found.end(), len(self.source.text)))
        elif self.active and not was_active:
            self.left_out[-1] = (self.left_out[-1][0], found.start())
        if not self.active or word in _CONDITIONALS:
            return
        body = re.sub(r"\\[ ]?\n", " ", rest)
        if word == "define" and (macro := _DEFINE.match(body)):
            is_function = macro["parameters"] is not None
            self.define(macro["name"], macro["body"].strip(), is_function, found.end())
        elif word == "undef":
            self.macros.setdefault(body.strip(), []).append((found.end(), None))
        elif word == "include":
            self.headers.add(body.strip().strip('<>"'))

    def define(self, name: str, body: str, is_function: bool, offset: int) -> None:
        value = None if is_function else evaluate(body, self.value_of)
        macro = Macro(name, body, is_function, value)
        self.macros.setdefault(name, []).append((offset, macro))

    def current(self, name: str) -> Macro | None:
        history = self.macros.get(name)
        return history[-1][1] if history else None

    def value_of(self, name: str) -> int | None:
        macro = self.current(name)
        return macro.value if macro else None

    def conditional(self, word: str, rest: str, start: int) -> None:
        if word in ("if", "ifdef", "ifndef"):
            outer = self.active
            holds = outer and self.holds(word, rest)
            self.branches.append(_Branch(start, holds, holds, outer))
            return
        if not self.branches:
            place = self.source.span(start, self.text_end(start))
            raise AnnotuneError.of(LONE_CONDITIONAL.at(place, directive=word, partner="if"))
        branch = self.branches[-1]
        if word == "endif":
            self.branches.pop()
            return
        holds = branch.outer and not branch.taken and (word == "else" or self.holds("if", rest))
        branch.active = holds
        branch.taken = branch.taken or holds

    def holds(self, word: str, rest: str) -> bool:
        """Return whether a condition holds; a name that nobody defines is 0, as in C."""
        name = rest.strip().split()[0] if rest.strip() else ""
        if word == "ifdef":
            return self.current(name) is not None
        if word == "ifndef":
            return self.current(name) is None
        condition = _DEFINED.sub(
            lambda d: "1" if self.current(d[1] or d[2]) is not None else "0", rest
        )
        return bool(evaluate(re.sub(r"\\[ ]?\n", " ", condition), self.value_or_zero))

    def value_or_zero(self, name: str) -> int:
        return self.value_of(name) or 0
