"""Arrays that stay on the device between regions: what the host's text says for it, and where."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field
from enum import StrEnum
from typing import TypeAlias

from annotune.frozen import dataclass


class DataCall(StrEnum):
    """What the host's text calls, as the end of the function's name."""

    BEGIN = "begin"
    ENTER = "enter"
    EXIT = "exit"
    END = "end"
    ON_HOST = "on_host"
    ASIDE = "aside"
    FORGET = "forget"


Called: TypeAlias = tuple[DataCall, tuple[str, ...]]
"""A call with its arguments as C."""


@dataclass(frozen=True, slots=True)
class DataEdit:
    """Calls before and behind ``text[start:end]``, a statement, or a comment to be replaced.

    `function_start` is the start of the line on which the enclosing function begins, `indent` the
    white space before `start`; another statement stands before it where it `is_inside_line`. A
    statement that `is_alone` is the body of a loop or a branch, and needs braces. Of a `comment`,
    `title` says what it was. With a `region`, that begins there, the calls are for where it runs
    as it is written.
    """

    start: int
    end: int
    function_start: int
    indent: str
    before: tuple[Called, ...] = ()
    behind: tuple[Called, ...] = ()
    title: str = ""
    is_alone: bool = False
    is_inside_line: bool = False
    region: int | None = None


@dataclass(frozen=True, slots=True)
class GivenPointer:
    """A parameter as it was given, kept under a `name` of ours where its function's body begins.

    The function moves it, perhaps before its array. `place` is behind the body's brace, `joint` the
    white space from there to the body.
    """

    place: int
    function_start: int
    name: str
    parameter: str
    joint: str = " "


@dataclass(frozen=True, slots=True)
class DataText:
    """What the text of a file needs where arrays stay on the device, perhaps nothing.

    `present` are functions whose callers may have left arrays there, with where they begin, and
    `calls` those of other files for which that is taken to be so. `macros` are those of the file,
    `given` the pointers that some of the edits name.
    """

    edits: tuple[DataEdit, ...] = ()
    present: Mapping[str, int] = field(default_factory=dict)
    calls: Mapping[str, int] = field(default_factory=dict)
    macros: frozenset[str] = frozenset()
    given: tuple[GivenPointer, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.edits or self.present)

    def for_regions(self, starts: Collection[int]) -> tuple[DataEdit, ...]:
        """Return the edits where the regions that begin at `starts` run on the device."""
        return tuple(one for one in self.edits if one.region not in starts)
