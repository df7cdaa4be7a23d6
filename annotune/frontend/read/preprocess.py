"""Preprocessing that keeps every position: what C does not read becomes spaces.

Comments, directives and the branches of ``#if`` that are not taken are blanked with spaces
of equal length, so every offset stays the user's. Headers beside the file and in the folders
of ``-I`` are read in the same way, each as a text of its own; those of the system only when
`Given` brings them.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path

from annotune.diagnostics import AnnotuneError
from annotune.frontend.messages import LONE_CONDITIONAL, OPEN_COMMENT
from annotune.frontend.read.macros import (
    STANDARD_MACROS,
    Expander,
    Macro,
    evaluate,
    is_one_operand,
    read_define,
)
from annotune.frontend.read.tokens import IDENTIFIER, SourceText, Tokens
from annotune.frozen import dataclass
from annotune.ir.ctype import LONG
from annotune.ir.identity import once_for_each

# gcc stops at 200 nested headers; a header that includes itself twice needs the other two.
_MAXIMUM_DEPTH = 100
_MAXIMUM_HEADERS = 5_000
_MAXIMUM_BYTES = 64_000_000
_NO_DEFINES: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class HeaderSearch:
    """What the user's compiler is told about the source.

    `include` are the folders of ``-I`` in order, `defines` the macros of ``-D``. `compiler` are
    the words that start the C compiler; without any it is not asked.
    """

    include: tuple[str, ...] = ()
    defines: Mapping[str, str] = field(default_factory=dict)
    compiler: tuple[str, ...] = ()


class Headers:
    """The headers that one file reaches by its own folder and ``-I``, read when asked for."""

    def __init__(self, search: HeaderSearch) -> None:
        self.search = search
        self._texts: dict[Path, str | None] = {}
        self._bytes = 0
        self.count = 0
        # Headers with `#pragma once`.
        self.read_once: set[str] = set()

    def find(self, name: str, is_quoted: bool, includer: str, depth: int) -> tuple[str, str]:
        """Return the path and the text of a header; no path, and why, when it is not read."""
        if depth > _MAXIMUM_DEPTH or self.count >= _MAXIMUM_HEADERS:
            return "", "headers include each other without end"
        folders = [Path(includer).parent] if is_quoted else []
        for folder in [*folders, *map(Path, self.search.include)]:
            path = folder / name
            text = self._read(path)
            if text is not None:
                self.count += 1
                return str(path), text
        return "", "it is not beside the file nor in a folder of -I"

    def _read(self, path: Path) -> str | None:
        if path not in self._texts:
            text = None
            try:
                if path.is_file() and self._bytes + path.stat().st_size <= _MAXIMUM_BYTES:
                    text = path.read_bytes().decode("utf-8", "surrogateescape")
                    self._bytes += len(text)
            except (OSError, ValueError):
                text = None
            self._texts[path] = text if text is None or "\0" not in text else None
        return self._texts[path]


Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class CppDirective:
    """A directive other than ``#pragma``: its word and its place."""

    word: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Unread:
    """An ``#include`` whose header was not read, and why."""

    name: str
    start: int
    end: int
    reason: str


@dataclass(frozen=True, slots=True)
class Doubt:
    """An ``#if`` about a name that an unread header may define; to its ``#endif``."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Test:
    """A condition of ``#if``, ``#ifdef`` or ``#elif`` that was asked, and whether it holds.

    `text` is the expression after ``#if``. `opens` and `closes` are where the ``#if`` and its
    ``#endif`` start.
    """

    start: int
    text: str
    holds: bool
    opens: int
    closes: int


@dataclass(frozen=True)
class Included:
    """A header's own text, and the place of the ``#include`` that reads it."""

    start: int
    end: int
    clean: Clean


@dataclass(frozen=True)
class Clean:
    """A file after preprocessing: text of the same length that is C without directives.

    `macros` lists each name's definitions with the offsets from which they hold, None from an
    ``#undef`` on. `left_out` are the ranges of the text that ``#if`` leaves out. `headers` are
    the names in ``#include``, of `included` headers too. `tests` are in the order of the text.
    """

    source: SourceText
    text: str
    macros: Mapping[str, list[tuple[int, Macro | None]]]
    directives: tuple[CppDirective, ...]
    left_out: tuple[Range, ...]
    headers: frozenset[str] = field(default=frozenset())
    included: tuple[Included, ...] = ()
    unread: tuple[Unread, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    tests: tuple[Test, ...] = ()

    def macro(self, name: str, offset: int) -> Macro | None:
        """Return the macro that `name` means at `offset`, None when it is no macro there.

        What a header declares stands where its ``#include`` starts, and has the header's macros.
        """
        history = self.macros.get(name)
        if not history:
            return None
        offset = self._ends.get(offset, offset)
        at = bisect_right(history, offset, key=lambda entry: entry[0])
        found = history[at - 1][1] if at else None
        if found is not None and found.is_stale:
            value = evaluate(found.body, lambda word: self._value(word, offset, {name}))
            return replace(found, value=value, is_stale=False)
        return found

    @cached_property
    def _ends(self) -> Mapping[int, int]:
        """Where each ``#include`` that was read ends, by where it starts."""
        return {one.start: one.end for one in self.included}

    def _value(self, name: str, offset: int, asked: set[str]) -> int | None:
        if name in asked:
            return None
        history = self.macros.get(name, [])
        at = bisect_right(history, offset, key=lambda entry: entry[0])
        found = history[at - 1][1] if at else None
        if found is None or not found.is_stale:
            return found.value if found else None
        return evaluate(found.body, lambda word: self._value(word, offset, asked | {name}))

    @property
    def has_f2c(self) -> bool:
        """Whether the file reads, or asks for, the header of f2c."""
        return "f2c.h" in {header.split("/")[-1] for header in self.headers}

    def keeps_to_end(self, name: str, macro: Macro) -> bool:
        """Return whether `name` still means `macro` where the file ends."""
        return self.macro(name, len(self.source.text)) == macro

    def directives_in(self, start: int, end: int) -> tuple[CppDirective, ...]:
        """Return the directives that start between two offsets."""
        low = bisect_left(self.directives, start, key=lambda d: d.start)
        high = bisect_left(self.directives, end, key=lambda d: d.start)
        return self.directives[low:high]

    def is_left_out(self, offset: int) -> bool:
        """Return whether ``#if`` leaves out the text at `offset`."""
        at = bisect_right(self.left_out, offset, key=lambda r: r[0])
        return at > 0 and offset < self.left_out[at - 1][1]


# How a header that a compiler has read is called: by the directive that asks for it.
INCLUDE_LINE = re.compile(r"#[ \t]*include[ \t]*[<\"]([^>\"]+)")
DEFINED = re.compile(r"\bdefined\s*(?:\(\s*(\w+)\s*\)|(\w+))")
_NAME = re.compile(r"[A-Za-z_$]\w*")
# The headers of ISO C, POSIX and the compilers' own libraries, by their names.
_STANDARD = frozenset(
    {
        *("assert", "complex", "ctype", "errno", "fenv", "float", "inttypes", "iso646", "limits"),
        *("locale", "math", "setjmp", "signal", "stdalign", "stdarg", "stdatomic", "stdbool"),
        *("stddef", "stdint", "stdio", "stdlib", "stdnoreturn", "string", "strings", "tgmath"),
        *("threads", "time", "uchar", "wchar", "wctype", "unistd", "sys/time", "sys/types"),
        *("sys/resource", "sys/stat", "sched", "pthread", "malloc", "memory", "omp", "openacc"),
    }
)
# What those headers define as macros that a program may ask for.
_STANDARD_MACRO = re.compile(
    r"_\w*|M_\w+|\w+_(?:MAX|MIN|DIG|EPSILON|BIT|EXP|WIDTH)|(?:FP|EXIT|CLOCK|SEEK|FLT|DBL)_\w+"
    r"|NULL|EOF|BUFSIZ|INFINITY|NAN|HUGE\w*|CHAR_BIT|MAXFLOAT|CLOCKS_PER_SEC|BIG_ENDIAN"
    r"|I|complex|bool|true|false|assert|stdin|stdout|stderr|offsetof|and|or|not|xor|linux|unix"
)


def is_standard(header: str) -> bool:
    """Return whether a header is one of ISO C's or of the compiler's own."""
    return header.removesuffix(".h") in _STANDARD


def may_define(header: str, name: str) -> bool:
    """Return whether a header that was not read may define the macro `name`."""
    return not is_standard(header) or bool(_STANDARD_MACRO.fullmatch(name))


def as_expression(word: str, rest: str) -> str:
    """Return what ``#if`` would ask in the place of ``#ifdef`` and ``#ifndef``, on one line."""
    text = " ".join(re.sub(r"\\[ ]?\n", " ", rest).split())
    found = _NAME.match(text)
    if word not in ("ifdef", "ifndef"):
        return text
    return f"{'!' if word == 'ifndef' else ''}defined {found[0] if found else '_'}"


@dataclass(frozen=True, slots=True)
class ConditionValue:
    """The value of a condition, None when it is no integer expression.

    `undefined` are the names that it asks for and nothing defines.
    """

    value: int | None
    undefined: frozenset[str]


class Conditions:
    """Decides conditions where `current` gives the macros in force, `known` their values."""

    def __init__(
        self,
        source: SourceText,
        current: Callable[[str], Macro | None],
        known: Callable[[str], int | None],
    ) -> None:
        self.source = source
        self.current = current
        self.known = known

    def decide(self, word: str, rest: str) -> ConditionValue:
        """Return the value of ``#if rest``, ``#ifdef rest`` or ``#ifndef rest``."""
        undefined: set[str] = set()

        def is_defined(name: str) -> bool:
            if self.current(name) is None:
                undefined.add(name)
                return False
            return True

        def value_of(name: str) -> int:
            if self.current(name) is None:
                undefined.add(name)
            return self.known(name) or 0

        if word in ("ifdef", "ifndef"):
            found = _NAME.match(rest.strip())
            holds = is_defined(found[0]) if found else False
            return ConditionValue(int(holds == (word == "ifdef")), frozenset(undefined))
        text = re.sub(r"\\[ ]?\n", " ", rest)
        text = DEFINED.sub(lambda d: str(int(is_defined(d[1] or d[2]))), text)
        try:
            value = evaluate(self.expanded(text), value_of, LONG)
        except AnnotuneError:
            value = None
        return ConditionValue(value, frozenset(undefined))

    def expanded(self, text: str) -> str:
        """Return `text` with its macros expanded, but for those that are integers."""
        if all(not self._expands(name) for name in _NAME.findall(text)):
            return text
        tokens = Tokens.of(text)
        expander = Expander(self.source, lambda name, _: self._expands(name))
        return " ".join(expander.expand(tokens, 0, len(tokens) - 1).texts)

    def _expands(self, name: str) -> Macro | None:
        macro = self.current(name) if IDENTIFIER.match(name) else None
        return macro if macro is not None and self.known(name) is None else None


_COMMENT = re.compile(
    r"(?P<comment>/\*.*?\*/|//(?:\\\r?\n|[^\n])*)"
    r"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|(?P<open>/\*)",
    re.DOTALL,
)
DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(?P<word>\w*)(?P<rest>(?:\\[ ]?\n|[^\n])*)", re.MULTILINE)
_INCLUDE = re.compile(r"\s*(?:\"(?P<quoted>[^\"\n]+)\"|<(?P<angled>[^>\n]+)>)")
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once\b", re.MULTILINE)
# Users compile with gcc, clang, nvc or nvcc, all of which define these.
PREDEFINED: Mapping[str, str] = {
    "__STDC__": "1",
    "__STDC_VERSION__": "201710L",
    "__STDC_HOSTED__": "1",
    "__GNUC__": "12",
    "__GNUC_MINOR__": "2",
    "__linux__": "1",
    "__unix__": "1",
    "__x86_64__": "1",
    "__LP64__": "1",
    "__CHAR_BIT__": "8",
}
_CONDITIONALS = frozenset({"if", "ifdef", "ifndef", "elif", "else", "endif"})
INCLUDES = frozenset({"include", "include_next", "import"})
Given = Mapping[int, SourceText]
"""What a compiler made of the headers of an ``#include``, by the line of the directive."""


def blank(text: str) -> str:
    """Return `text` with everything but its newlines turned to spaces."""
    return re.sub(r"[^\n]", " ", text)


def preprocess(
    source: SourceText,
    search: HeaderSearch | None = None,
    given: Given | None = None,
) -> Clean:
    """Return the C of `source`, with the macros of `search` in place as if given with ``-D``.

    As for a compiler, a plain ``#define`` in the file wins over ``-D``; one under ``#ifndef``
    does not. `given` takes the place of the headers themselves.

    Raises:
        AnnotuneError: A comment is never closed, or ``#endif`` stands without ``#if``.
    """
    search = search or HeaderSearch()
    reader = _Preprocessor(source, {}, Headers(search), given, 0)
    for name, body in {**PREDEFINED, **search.defines}.items():
        reader.define(Macro(name, body), 0)
    return reader.run(without_comments(source))


@once_for_each(1 << 4)
def without_comments(source: SourceText) -> str:
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
    doubts: set[str] = field(default_factory=set)
    tests: list[tuple[int, str, bool]] = field(default_factory=list)


class _Preprocessor:
    """One text read from its start; `macros` holds what is defined before it and grows."""

    def __init__(
        self,
        source: SourceText,
        macros: dict[str, list[tuple[int, Macro | None]]],
        finder: Headers,
        given: Given | None,
        depth: int,
    ) -> None:
        self.source = source
        self.macros = macros
        self.finder = finder
        self.given = given
        self.depth = depth
        self.branches: list[_Branch] = []
        self.directives: list[CppDirective] = []
        self.left_out: list[Range] = []
        self.headers: set[str] = set()
        self.included: list[Included] = []
        self.unread: list[Unread] = []
        self.doubts: list[Doubt] = []
        self.tests: list[Test] = []
        # The values found so far, and for each name the macros whose value was made with it.
        self.values: dict[str, int | None] = {}
        self.users: dict[str, set[str]] = defaultdict(set)

    def run(self, text: str) -> Clean:
        parts, last = [], 0
        for found in DIRECTIVE.finditer(text):
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
        code = re.sub(r"\\(?=[ ]?\n)", " ", "".join([*parts, text[last:]]))
        return Clean(
            self.source,
            code,
            self.macros,
            tuple(self.directives),
            tuple(self.left_out),
            frozenset(self.headers),
            tuple(self.included),
            tuple(self.unread),
            tuple(self.doubts),
            tuple(sorted(self.tests, key=lambda test: test.start)),
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
        end = found.start() + len(found[0].rstrip())
        was_active = self.active
        if word in _CONDITIONALS:
            self.conditional(word, rest, start)
        if word != "pragma" and word and (was_active or word in _CONDITIONALS):
            self.directives.append(CppDirective(word, start, end))
        if was_active and not self.active:
            self.left_out.append((found.end(), len(self.source.text)))
        elif self.active and not was_active:
            self.left_out[-1] = (self.left_out[-1][0], found.start())
        if not self.active or word in _CONDITIONALS:
            return
        body = re.sub(r"\\[ ]?\n", " ", rest)
        if word == "define" and (macro := read_define(body)):
            self.define(macro, found.end())
        elif word == "undef":
            self.forget(body.strip(), found.end())
        elif word in INCLUDES:
            self.include(body, start, end)

    def define(self, macro: Macro, offset: int) -> None:
        self._set(macro.name, macro, offset)
        if not macro.is_function:
            valued = replace(macro, value=self.value_of(macro.name))
            self.macros[macro.name][-1] = (offset, valued)

    def forget(self, name: str, offset: int) -> None:
        if self.current(name) is not None:
            self._set(name, None, offset)

    def _set(self, name: str, macro: Macro | None, offset: int) -> None:
        """Give `name` a new meaning, which leaves the values made of it stale."""
        self.values.pop(name, None)
        self.macros.setdefault(name, []).append((offset, macro))
        waiting = [name]
        while waiting:
            for user in self.users.pop(waiting.pop(), ()):
                old = self.current(user)
                if user in self.values and old is not None and user != name:
                    del self.values[user]
                    self.macros[user].append((offset, replace(old, value=None, is_stale=True)))
                    waiting.append(user)

    def current(self, name: str) -> Macro | None:
        history = self.macros.get(name)
        return history[-1][1] if history else None

    def value_of(self, name: str) -> int | None:
        """Return the value of a macro as things stand, None when it is no integer constant."""
        macro = self.current(name)
        if macro is None or macro.is_function or not is_one_operand(macro.body):
            return None
        if name not in self.values:
            # A macro that is made of itself has none.
            self.values[name] = None
            self.values[name] = evaluate(macro.body, lambda word: self._asked(word, name))
        return self.values[name]

    def _asked(self, name: str, user: str) -> int | None:
        self.users[name].add(user)
        return self.value_of(name)

    def include(self, rest: str, start: int, end: int) -> None:
        """Read a header, or note why it is not read."""
        found = _INCLUDE.match(rest) or _INCLUDE.match(self.conditions().expanded(rest))
        if found is None:
            self.unread.append(Unread(rest.strip(), start, end, "its name is not understood"))
            return
        name = found["quoted"] or found["angled"]
        self.headers.add(name)
        given = None
        if self.given is not None:
            given = self.given.get(self.source.span(start, end).line)
            path, text = (given.path, given.text) if given else ("", "it was not read")
        else:
            is_quoted = found["quoted"] is not None
            path, text = self.finder.find(name, is_quoted, self.source.path, self.depth + 1)
        if not path:
            self.unread.append(Unread(name, start, end, text))
            for macro, body in STANDARD_MACROS.get(name, {}).items():
                self.define(Macro(macro, body), end)
            return
        if path in self.finder.read_once:
            return
        if _ONCE.search(text):
            self.finder.read_once.add(path)
        before = {name for name, history in self.macros.items() if history[-1][1] is not None}
        macros: dict[str, list[tuple[int, Macro | None]]] = {
            n: [(0, h[-1][1])] for n, h in self.macros.items() if h[-1][1] is not None
        }
        finder, depth = self.finder, self.depth + 1
        # What a compiler gives has its headers in it already.
        inner = _Preprocessor(
            SourceText(path, text), macros, finder, {} if given is not None else None, depth
        )
        # Sequential as they are, both have one view of what is defined.
        inner.values, inner.users = self.values, self.users
        try:
            clean = inner.run(without_comments(inner.source))
        except AnnotuneError as error:
            self.unread.append(Unread(name, start, end, f"{path}: {error}"))
            return
        self.included.append(Included(start, end, clean))
        self.headers |= clean.headers
        self.unread += [
            Unread(u.name, start, end, f"{u.reason} (included by {path})") for u in clean.unread
        ]
        self.doubts += [Doubt(d.name, start, end) for d in clean.doubts]
        for changed, history in clean.macros.items():
            if len(history) > 1 or changed not in before:
                self.macros.setdefault(changed, []).append((end, history[-1][1]))

    def conditions(self) -> Conditions:
        return Conditions(self.source, self.current, self.value_of)

    def conditional(self, word: str, rest: str, start: int) -> None:
        if word in ("if", "ifdef", "ifndef"):
            outer = self.active
            branch = _Branch(start, False, False, outer)
            self.branches.append(branch)
            branch.active = branch.taken = outer and self.holds(word, rest, start)
            return
        if not self.branches:
            place = self.source.span(start, self.text_end(start))
            raise AnnotuneError.of(LONE_CONDITIONAL.at(place, directive=word, partner="if"))
        branch = self.branches[-1]
        if word == "endif":
            self.branches.pop()
            self.doubts += [Doubt(n, branch.start, start) for n in sorted(branch.doubts)]
            self.tests += [Test(*test, branch.start, start) for test in branch.tests]
            return
        holds = (
            branch.outer and not branch.taken and (word == "else" or self.holds("if", rest, start))
        )
        branch.active = holds
        branch.taken = branch.taken or holds

    def holds(self, word: str, rest: str, start: int) -> bool:
        """Return whether a condition holds; a name that nobody defines is 0, as in C."""
        branch = self.branches[-1]
        found = self.conditions().decide(word, rest)
        for name in found.undefined:
            if any(may_define(unread.name, name) for unread in self.unread):
                branch.doubts.add(name)
        if found.value is None:
            branch.doubts.add(rest.strip())
        branch.tests.append((start, as_expression(word, rest), bool(found.value)))
        return bool(found.value)
