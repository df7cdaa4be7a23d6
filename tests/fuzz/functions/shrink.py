"""Cuts a failing file down line by line, as long as it fails in the same way."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from ..execute import Builder
from .emitted import BEGIN, END, annotations, emitted
from .families import family
from .run import Fault, run
from .source import Entry, Source


def faults_of(source: Source, builder: Builder, folder: Path) -> list[Fault]:
    """Return what is wrong with one file, built in `folder`."""
    folder = folder / "one"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    made = emitted(source, folder, source.point)
    found = [Fault(0, "crash", words) for words in made.crashes]
    found += [Fault(0, "claims", words) for words in made.faults]
    return found + (run([made], builder, folder).faults if made.files else [])


def shrunk(source: Source, fault: Fault, builder: Builder, folder: Path, limit_s: float) -> Source:
    """Return the smallest file found within `limit_s` seconds that fails like `fault`."""
    wanted = fault.library, family(source, fault.library, fault.words, fault.call)[:16]
    end = time.monotonic() + limit_s

    def is_wrong(candidate: Source) -> bool:
        if time.monotonic() > end:
            return False
        found = faults_of(candidate, builder, folder)
        kinds = {(f.library, family(candidate, f.library, f.words, f.call)[:16]) for f in found}
        return wanted in kinds

    one = _with_one_call(source, fault.call)
    if one is source or not is_wrong(one):
        one = source
    return _with_fewer_lines(one, is_wrong)


def _with_one_call(source: Source, call: int) -> Source:
    """Return the file with one call alone: numbers of calls go through all functions."""
    if call < 0:
        return source
    entries: list[Entry] = []
    for entry in source.entries:
        kept = tuple(c for k, c in enumerate(entry.calls) if k == call)
        call -= len(entry.calls)
        entries.append(replace(entry, calls=kept))
    return replace(source, entries=tuple(entries))


def _with_fewer_lines(source: Source, is_wrong: Callable[[Source], bool]) -> Source:
    changed = True
    while changed:
        changed = False
        for candidate in _smaller(source.text):
            one = source.with_text(candidate)
            if is_wrong(one):
                source, changed = one, True
                break
    return source


def _smaller(text: str) -> Iterator[str]:
    """Yield texts with fewer lines: whole blocks first, then single lines, then blocks' heads."""
    rows = text.split("\n")
    spans = sorted(_spans(rows), key=lambda s: s[0] - s[1])
    for first, last in spans:
        # What calls and headers need stays.
        if any(
            row.strip() == "{" or row.startswith(("void ", "int ", "double "))
            for row in rows[first:last]
        ) and not rows[first].startswith((" ", "static", "#")):
            continue
        yield "\n".join(rows[:first] + rows[last:])
    for begin, end in annotations(rows):
        yield "\n".join(rows[:begin] + rows[begin + 1 : end] + rows[end + 1 :])
    for first, last in spans:
        if last - first > 2 and rows[first].rstrip().endswith("{"):
            yield "\n".join(rows[:first] + rows[first + 1 : last - 1] + rows[last:])


def _spans(rows: list[str]) -> Iterator[tuple[int, int]]:
    """Yield what can go together: a statement with its block, a region, a line."""
    ends = annotations(rows)
    for k, row in enumerate(rows):
        if not row.strip() or (row.strip() in ("{", "}") and not row.startswith(" ")):
            continue
        if BEGIN in row:
            yield from ((k, end + 1) for begin, end in ends if begin == k)
            continue
        if END in row or row.strip().startswith("}"):
            continue
        if row.rstrip().endswith("{"):
            depth = 0
            for j in range(k, len(rows)):
                depth += rows[j].count("{") - rows[j].count("}")
                if depth == 0 and not rows[j].rstrip().endswith("{"):
                    yield k, j + 1
                    break
        elif row.strip().startswith("for (") and not row.rstrip().endswith(";"):
            yield k, k + 2
        else:
            yield k, k + 1


def kept(source: Source, folder: Path, words: str) -> Path:
    """Write a failing file with what fails, and return its place."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{source.name}_{words}.c"
    path.write_text(source.whole())
    return path
