"""Preprocessing that keeps every position: what C does not read becomes spaces.

Comments, directives and the branches of ``#if`` that are not taken are blanked with spaces
of equal length, so every offset stays the user's. Headers beside the file and in the folders
of ``-I`` are read in the same way, each as a text of its own; those of the system only when
`Given` brings them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from annotune.diagnostics import AnnotuneError
from annotune.frontend.clean import Clean, Directive, Doubt, Included, Range, Test, Unread
from annotune.frontend.conditions import Conditions, as_expression, may_define
from annotune.frontend.constant import evaluate
from annotune.frontend.headers import Headers, Search
from annotune.frontend.macro import Macro, is_one_operand, read_define
from annotune.frontend.messages import LONE_CONDITIONAL, OPEN_COMMENT
from annotune.frontend.source import Source
from annotune.frontend.standard_macros import STANDARD_MACROS

_COMMENT = re.compile(
    r"(?P<comment>/\*.*?\*/|//(?:\\\r?\n|[^\n])*)"
    r"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|(?P<open>/\*)",
    re.DOTALL,
)
_DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(?P<word>\w*)(?P<rest>(?:\\[ ]?\n|[^\n])*)", re.MULTILINE)
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
Given = Mapping[int, Source]
"""What a compiler made of the headers of an ``#include``, by the line of the directive."""


def blank(text: str) -> str:
    """Return `text` with everything but its newlines turned to spaces."""
    return re.sub(r"[^\n]", " ", text)


def preprocess(
    source: Source,
    search: Search | None = None,
    given: Given | None = None,
) -> Clean:
    """Return the C of `source`, with the macros of `search` in place as if given with ``-D``.

    As for a compiler, a plain ``#define`` in the file wins over ``-D``; one under ``#ifndef``
    does not. `given` takes the place of the headers themselves.

    Raises:
        AnnotuneError: A comment is never closed, or ``#endif`` stands without ``#if``.
    """
    search = search or Search()
    reader = _Preprocessor(source, {}, Headers(search), given, 0)
    for name, body in {**PREDEFINED, **search.defines}.items():
        reader.define(Macro(name, body), 0)
    return reader.run(without_comments(source))


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
    doubts: set[str] = field(default_factory=set)
    tests: list[tuple[int, str, bool]] = field(default_factory=list)


class _Preprocessor:
    """One text read from its start; `macros` holds what is defined before it and grows."""

    def __init__(
        self,
        source: Source,
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
        self.directives: list[Directive] = []
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
            self.directives.append(Directive(word, start, end))
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
        elif word in ("include", "include_next", "import"):
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
            Source(path, text), macros, finder, {} if given is not None else None, depth
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
