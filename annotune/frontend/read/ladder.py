"""The ways to read a file, the cheapest first: by ourselves, with pcpp, with the C compiler.

The first reads the user's own headers and leaves those of the system unread. The others are
tried only when a region stays open because of that, so that a file that needs no compiler is
read without one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from annotune.diagnostics import AnnotuneError, Diagnostic
from annotune.frontend import messages
from annotune.frontend.read.filescope import File
from annotune.frontend.read.preprocess import Clean, Given, Search, is_standard, preprocess
from annotune.frontend.read.region_finder import Function
from annotune.frontend.read.system_headers import Reading, by_compiler, by_pcpp
from annotune.frontend.read.tokens import Source
from annotune.frontend.read.toplevel import TopLevel

# What an unread header may be the reason of: a syntax error, a name or a type that is unknown, an
# included text in a function, a region that an `#if` leaves out.
_OPEN = frozenset(
    template.code
    for template in (
        *(messages.SYNTAX, messages.UNDECLARED, messages.UNKNOWN_TYPE),
        *(messages.UNREAD_HEADER, messages.LEFT_OUT),
    )
)


@dataclass
class Rung:
    """A file as one way of reading gives it, with the functions parsed so far.

    `problem` says what did not work on the way.
    """

    file: File
    problem: str = ""
    functions: dict[TopLevel, Function] = field(default_factory=dict)

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

    def __init__(self, source: Source, search: Search) -> None:
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
        for height, read in enumerate((by_pcpp, by_compiler)):
            if len(self._higher) <= height:
                self._higher.append(self._climb(read(self.source, self.search)))
            rung = self._higher[height]
            if rung is not None:
                yield rung

    def _climb(self, reading: Reading) -> Rung | None:
        if reading.problem:
            self.problems.append(reading.problem)
        return Rung(File(self._clean(reading.given)), reading.problem) if reading.given else None

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
