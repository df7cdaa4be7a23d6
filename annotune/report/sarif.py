"""Diagnostics as SARIF 2.1.0, which editors and code-review services read.

Source: OASIS Standard, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0".
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from annotune import __version__
from annotune.diagnostics import Diagnostic, Severity, Span, page_of
from annotune.files import WHOLE_FILE
from annotune.printable import printable

VERSION = "2.1.0"
SCHEMA_URI = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}
_LAST_OF_THE_FIRST_PLANE = 0xFFFF


def sarif_log(
    diagnostics: Sequence[Diagnostic], texts: Mapping[str, str], exit_code: int
) -> dict[str, Any]:
    """Return the log of one run of annotune.

    `texts` holds the text of each file that a diagnostic points into, by name: columns are
    counted there in UTF-16 code units. A file that is not in it is named without a region.
    """
    codes = list(dict.fromkeys(d.code for d in diagnostics))
    driver = {
        "name": "annotune",
        "version": __version__,
        "rules": [_rule(code) for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "utf16CodeUnits",
        "invocations": [{"executionSuccessful": exit_code == 0, "exitCode": exit_code}],
        "results": [_result(d, codes.index(d.code), texts) for d in diagnostics],
    }
    return {"$schema": SCHEMA_URI, "version": VERSION, "runs": [run]}


def _rule(code: str) -> dict[str, Any]:
    page = page_of(code)
    if page is None:
        return {"id": code}
    return {
        "id": code,
        "shortDescription": {"text": page.title},
        "fullDescription": {"text": page.meaning},
        "help": {"text": page.text, "markdown": page.text},
    }


def _result(diagnostic: Diagnostic, rule: int, texts: Mapping[str, str]) -> dict[str, Any]:
    help_ = f"\nhelp: {diagnostic.help}" if diagnostic.help else ""
    is_whole = diagnostic.code in WHOLE_FILE
    found: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "ruleIndex": rule,
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": printable(diagnostic.message + help_)},
        "locations": [_location(diagnostic.span, texts, is_whole)],
    }
    if diagnostic.notes:
        found["relatedLocations"] = [
            {
                "id": number,
                **_location(note.span, texts),
                "message": {"text": printable(note.message)},
            }
            for number, note in enumerate(diagnostic.notes)
        ]
    return found


def _location(span: Span, texts: Mapping[str, str], is_whole: bool = False) -> dict[str, Any]:
    if span.file.startswith("--"):
        # An option of the command line is a place without a file.
        return {"logicalLocations": [{"fullyQualifiedName": span.file}]}
    place: dict[str, Any] = {"artifactLocation": {"uri": file_uri(span.file)}}
    text = "" if is_whole else texts.get(span.file, "")
    lines = text.split("\n")
    if text and span.line <= len(lines):
        place["region"] = _region(span, lines[span.line - 1].rstrip("\r"))
    return {"physicalLocation": place}


def _region(span: Span, line: str) -> dict[str, int]:
    # A byte-order mark is no character of the text that an editor shows.
    first = 1 if span.line == 1 and line.startswith("\ufeff") else 0
    start = utf16_units(line[first : span.column - 1])
    length = utf16_units(line[max(first, span.column - 1) :][: span.length])
    return {
        "startLine": span.line,
        "startColumn": start + 1,
        "endLine": span.line,
        "endColumn": start + max(1, length) + 1,
    }


def utf16_units(text: str) -> int:
    """Return the length of `text` in UTF-16 code units; an undecodable byte counts as one."""
    return sum(2 if ord(char) > _LAST_OF_THE_FIRST_PLANE else 1 for char in text)


def file_uri(name: str) -> str:
    """Return the URI of a file: relative as the user named it, its bytes percent-encoded."""
    if Path(name).is_absolute():
        return "file://" + quote(os.fsencode(name))
    return quote(os.fsencode(name))
