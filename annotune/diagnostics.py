"""What annotune tells a user about one place in one file; the pages that explain each code."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace
from enum import StrEnum
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from annotune.frozen import dataclass
from annotune.printable import cells, printable


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A place in a file: 1-based line and column, and a length in characters of that line."""

    file: str
    line: int
    column: int
    length: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def shown(self) -> str:
        """Return the place for a terminal: a file's name can hold anything, also newlines.

        An option of the command line has no lines.
        """
        place = self.file if self.file.startswith("--") else str(self)
        return printable(place.replace("\n", "\ufffd"))


_NO_TEXTS: Mapping[str, str] = {}
NOWHERE = Span("<nowhere>", 1, 1)


class Severity(StrEnum):
    """How much a diagnostic matters: an error refuses the input, the others do not."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing to tell the user about one place in a C or YAML file.

    `notes` point at further places, such as the dependence behind a refused command. `trace` is the
    traceback of a mistake of annotune's own.
    """

    code: str
    message: str
    span: Span
    help: str = ""
    severity: Severity = Severity.ERROR
    notes: tuple[Diagnostic, ...] = ()
    trace: str = field(default="", compare=False, repr=False)

    def with_note(self, note: Diagnostic) -> Diagnostic:
        """Return this diagnostic with `note` after its other notes."""
        return replace(self, notes=(*self.notes, note))

    def placed(self, span: Span) -> Diagnostic:
        """Return this diagnostic, at `span` where it has no place of its own."""
        return replace(self, span=span) if self.span == NOWHERE else self

    def render(self, source: str, others: Mapping[str, str] = _NO_TEXTS) -> str:
        """Return the message, its source line, and carets under the place.

        `source` is the text of its file. A note on a file that is not in `others`, name to
        text, is named without its line.
        """
        place = "" if self.span == NOWHERE else f"{self.span.shown()}: "
        head = f"{place}{self.severity}: {printable(self.message)} [{self.code}]"
        parts = [head, *_excerpt(source, self.span)]
        if self.help:
            parts.append(f"  help: {printable(self.help)}")
        for note in self.notes:
            parts.append(f"{note.span.shown()}: {note.severity}: {printable(note.message)}")
            own = note.span.file == self.span.file
            parts.extend(_excerpt(source if own else others.get(note.span.file, ""), note.span))
        return "\n".join(parts)


def _excerpt(source: str, span: Span) -> list[str]:
    """Return the source line of `span` and its carets; nothing when it is not in `source`."""
    lines = _lines(source)
    if span.line > len(lines) or not source:
        return []
    line = lines[span.line - 1].rstrip("\r")
    start, end = span.column - 1, min(len(line), span.column - 1 + span.length)
    first, last = 0, len(line)
    if len(line) > _LONGEST_LINE:
        first = max(0, start - _LONGEST_LINE // 2)
        last = first + _LONGEST_LINE
    left, right = "…" * (first > 0), "…" * (last < len(line))
    # Tabs stay tabs, so the carets line up however wide a terminal shows them.
    indent = left and " "
    indent += "".join(c if c == "\t" else " " * cells(c) for c in line[first:start])
    carets = "^" * max(1, sum(map(cells, line[start : min(end, last)])))
    shown = printable(line[first:last])
    return [f"{span.line:5} | {left}{shown}{right}", f"      | {indent}{carets}"]


@lru_cache(maxsize=2)
def _lines(source: str) -> tuple[str, ...]:
    """Return the lines of a text, which thousands of diagnostics may be about."""
    # split, not splitlines: an empty file has one line, and a form feed ends none.
    return tuple(source.split("\n"))


# A generated or minified file may have lines of a megabyte; this much of one is shown.
_LONGEST_LINE = 240


@dataclass(frozen=True, slots=True)
class Template:
    """A kind of diagnostic: a stable code and the words, with `{names}` for values.

    ``NOT_AFFINE.at(span, array="x")`` is the diagnostic for one place.
    """

    code: str
    message: str
    help: str = ""
    severity: Severity = Severity.ERROR

    def at(self, span: Span, **values: Any) -> Diagnostic:
        """Return this kind of diagnostic for one place, with `values` filled in."""
        return Diagnostic(
            self.code,
            self.message.format(**values),
            span,
            self.help.format(**values),
            self.severity,
        )


@dataclass(eq=False)
class AnnotuneError(Exception):
    """The input was refused. Carries every reason, in the order of the source.

    `exit_code` is 1 for a refused input or run and 3 when no variant passed its check. `lines` are
    what the command line says of it, where somebody has seen to that; without them the messages
    alone stand for it.
    """

    diagnostics: tuple[Diagnostic, ...] = field(default=())
    exit_code: int = 1
    lines: str = ""

    @classmethod
    def of(cls, *diagnostics: Diagnostic) -> AnnotuneError:
        """Return the error for one or more diagnostics."""
        return cls(tuple(diagnostics))

    def __str__(self) -> str:
        return self.lines or "; ".join(d.message for d in self.diagnostics)


INTERNAL = Template(
    "AT169",
    "annotune itself fails here, in {place}: {error}",
    "this is a mistake of annotune: send it this file and what --debug adds to this message",
)


@contextmanager
def internal_errors_at(span: Span) -> Iterator[None]:
    """Turn a mistake of annotune's own in one region into a diagnostic, so that others go on.

    What the machine lacks is no such mistake.

    Raises:
        AnnotuneError: There was one, or the region is refused.
    """
    try:
        yield
    except (AnnotuneError, OSError, MemoryError):
        raise
    except Exception as error:
        raise internal_error(error, span) from error


def internal_error(error: Exception, span: Span) -> AnnotuneError:
    """Return the refusal of a region for a mistake of annotune's own, with its traceback."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(frame.filename).name}:{frame.lineno}"
    words = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": ")
    found = INTERNAL.at(span, place=place, error=words)
    trace = "".join(traceback.format_exception(error))
    return AnnotuneError.of(replace(found, trace=trace))


NO_SUCH_CODE = Template("AT607", "there is no diagnostic '{code}'", "{hint}")

_CODE = re.compile(r"AT[0-9]{3}")
_TITLE = re.compile(r"# (?P<code>AT[0-9]{3}): (?P<title>[^\n]+)\n+")


@dataclass(frozen=True, slots=True)
class Page:
    """What the catalogue says of one code; `text` is the whole page as Markdown."""

    code: str
    title: str
    text: str

    @property
    def meaning(self) -> str:
        """Return the page's first paragraph, on one line."""
        body = _TITLE.sub("", self.text, count=1)
        return " ".join(body.split("\n\n", 1)[0].split())


def pages_folder() -> Path:
    """Return the folder of the pages: the checkout's, else the one in the wheel."""
    package = Path(__file__).resolve().parent
    checkout = package.parent / "docs" / "diagnostics"
    return checkout if checkout.is_dir() else package / "_diagnostics"


@cache
def pages() -> tuple[Page, ...]:
    """Return every page, in the order of the codes."""
    paths = sorted(p for p in pages_folder().glob("AT*.md") if _CODE.fullmatch(p.stem))
    return tuple(_read(path) for path in paths)


def page_of(code: str) -> Page | None:
    """Return the page of a code, whatever its case; None when there is no such code."""
    return next((page for page in pages() if page.code == code.strip().upper()), None)


def nearest_page(code: str) -> str:
    """Return ``did you mean 'ATnnn'? `` with the page whose number is nearest_page, if any."""
    number = re.search(r"[0-9]{1,4}", code)
    if number is None or not pages():
        return ""
    wanted = int(number[0])
    found = min(pages(), key=lambda page: abs(int(page.code[2:]) - wanted))
    return f"did you mean '{found.code}'? "


def _read(path: Path) -> Page:
    text = path.read_text(encoding="utf-8")
    found = _TITLE.match(text)
    assert found is not None, f"{path.name} does not begin with '# {path.stem}: title'"
    assert found["code"] == path.stem, f"{path.name} is the page of {found['code']}"
    return Page(path.stem, found["title"], text)
