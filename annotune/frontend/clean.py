"""A file after preprocessing: its C, its macros, and what was left out or not read."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from annotune.frontend.constant import evaluate
from annotune.frontend.macro import Macro
from annotune.frontend.source import Source

Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Directive:
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

    source: Source
    text: str
    macros: Mapping[str, list[tuple[int, Macro | None]]]
    directives: tuple[Directive, ...]
    left_out: tuple[Range, ...]
    headers: frozenset[str] = field(default=frozenset())
    included: tuple[Included, ...] = ()
    unread: tuple[Unread, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    tests: tuple[Test, ...] = ()

    def macro(self, name: str, offset: int) -> Macro | None:
        """Return the macro that `name` means at `offset`, None when it is no macro there."""
        history = self.macros.get(name)
        if not history:
            return None
        at = bisect_right(history, offset, key=lambda entry: entry[0])
        found = history[at - 1][1] if at else None
        if found is not None and found.is_stale:
            value = evaluate(found.body, lambda word: self._value(word, offset, {name}))
            return replace(found, value=value, is_stale=False)
        return found

    def _value(self, name: str, offset: int, asked: set[str]) -> int | None:
        if name in asked:
            return None
        history = self.macros.get(name, [])
        at = bisect_right(history, offset, key=lambda entry: entry[0])
        found = history[at - 1][1] if at else None
        if found is None or not found.is_stale:
            return found.value if found else None
        return evaluate(found.body, lambda word: self._value(word, offset, asked | {name}))

    def keeps_to_end(self, name: str, macro: Macro) -> bool:
        """Return whether `name` still means `macro` where the file ends."""
        return self.macro(name, len(self.source.text)) == macro

    def directives_in(self, start: int, end: int) -> tuple[Directive, ...]:
        """Return the directives that start between two offsets."""
        low = bisect_left(self.directives, start, key=lambda d: d.start)
        high = bisect_left(self.directives, end, key=lambda d: d.start)
        return self.directives[low:high]

    def is_left_out(self, offset: int) -> bool:
        """Return whether ``#if`` leaves out the text at `offset`."""
        at = bisect_right(self.left_out, offset, key=lambda r: r[0])
        return at > 0 and offset < self.left_out[at - 1][1]
