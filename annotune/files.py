"""Reading a user's files and writing our own, so that nothing is ever half done."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from annotune.diagnostics import AnnotuneError, Span, Template

NO_SUCH_FILE = Template("AT601", "cannot read '{path}': {reason}", "check the name and its rights")
NOT_WRITABLE = Template(
    "AT602", "cannot write in '{path}': {reason}", "choose another folder with -o DIR"
)
NOT_OURS = Template(
    "AT603",
    "'{path}' exists and was not written by annotune",
    "move it away, or choose another folder with -o DIR",
)

# A line of a file that is only in the way would explain nothing.
WHOLE_FILE = frozenset(template.code for template in (NO_SUCH_FILE, NOT_WRITABLE, NOT_OURS))

# What annotune writes says so near its beginning; anything else is the user's.
MARK = "annotune"


def read_source(path: Path) -> str:
    """Return a file's text, undecodable bytes and newlines kept as they are.

    Raises:
        AnnotuneError: The file does not exist or cannot be read.
    """
    try:
        with path.open(encoding="utf-8", errors="surrogateescape", newline="") as file:
            return file.read()
    except OSError as error:
        reason = error.strerror or str(error)
        where = Span(str(path), 1, 1)
        raise AnnotuneError.of(NO_SUCH_FILE.at(where, path=path, reason=reason)) from error


def prepare_folder(folder: Path) -> None:
    """Make `folder` and see that it can be written, before hours of work depend on it.

    Raises:
        AnnotuneError: The folder cannot be made or written.
    """
    where = Span(str(folder), 1, 1)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = error.strerror or str(error)
        raise AnnotuneError.of(NOT_WRITABLE.at(where, path=folder, reason=reason)) from error


def write_files(folder: Path, files: Mapping[str, str]) -> tuple[Path, ...]:
    """Write `files`, name to text, into `folder`; all of them, or none on an error.

    Each file is written beside its goal and moved onto it. A file that exists is replaced
    only when annotune wrote it.

    Raises:
        AnnotuneError: The folder cannot be made or written, or holds a file of the user's.
    """
    where = Span(str(folder), 1, 1)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in files:
            _refuse_foreign(folder / name)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".annotune-") as scratch:
            for name, text in files.items():
                beside = Path(scratch) / name
                with beside.open(
                    "w", encoding="utf-8", errors="surrogateescape", newline=""
                ) as file:
                    file.write(text)
            for name in files:
                os.replace(Path(scratch) / name, folder / name)
    except OSError as error:
        reason = error.strerror or str(error)
        raise AnnotuneError.of(NOT_WRITABLE.at(where, path=folder, reason=reason)) from error
    return tuple(folder / name for name in files)


def _refuse_foreign(path: Path) -> None:
    """Raise when `path` exists and does not carry annotune's mark."""
    if not path.exists():
        return
    if not path.is_file():
        raise AnnotuneError.of(NOT_OURS.at(Span(str(path), 1, 1), path=path))
    if MARK not in path.read_text(encoding="utf-8", errors="surrogateescape"):
        raise AnnotuneError.of(NOT_OURS.at(Span(str(path), 1, 1), path=path))
