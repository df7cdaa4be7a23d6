"""The trials of a folder in SQLite: what was launched, how it ended, and what is known again."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any, TypeVar

from annotune.diagnostics import AnnotuneError, Diagnostic, Severity, Span, Template
from annotune.measure.trial import KernelFacts, Status, Trial

STORE_FILE = "trials.sqlite"
# "antu", in the header of the file: tells a store from any other database.
APPLICATION = 0x616E7475
SCHEMA = 1

STORE_FAILED = Template(
    "AT615",
    "the trials of this run cannot be kept in '{path}': {reason}",
    "what was kept so far is intact: make room or mend the folder, and run again to go on",
)
KEPT_ASIDE = Template(
    "AT616",
    "'{path}' cannot be used: {reason}; it is now '{aside}', and a new one has begun",
    "{hint}",
    Severity.WARNING,
)

_TABLE = """
CREATE TABLE trials (
    key TEXT PRIMARY KEY,
    target TEXT NOT NULL,
    config TEXT NOT NULL,
    launches INTEGER NOT NULL,
    limit_s REAL NOT NULL,
    trial TEXT
)
"""

# So long another program may hold a store that is to be opened.
BUSY_S = 1.0
# A full or failing disk, missing rights, and another program that holds the file.
_NO_FAULT_OF_THE_FILE = (
    *(sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_FULL),
    *(sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED),
)

T = TypeVar("T")


class Store:
    """The trials of one folder by the hash of all that decides them. Safe for many threads.

    A launch is committed before it happens, so that a launch without an end is seen by the next
    run, however this one ends.
    """

    def __init__(self, connection: sqlite3.Connection, path: str) -> None:
        self._connection = connection
        self._path = path
        self._lock = threading.Lock()

    def known(self, key: str, limit_s: float) -> Trial | None:
        """Return how a trial ended, None where that is not known.

        One that took too long is known only if it had no less time than `limit_s`, the seconds
        that one compilation or run has now.
        """
        row = self._ask("SELECT trial, limit_s FROM trials WHERE key = ?", key)
        if row is None or row[0] is None:
            return None
        trial = trial_of(row[0])
        if trial is None or (trial.status is Status.TIMEOUT and row[1] < limit_s):
            return None
        return trial

    def unfinished(self, key: str) -> int:
        """Return how many launches of a trial have no end."""
        row = self._ask("SELECT launches FROM trials WHERE key = ? AND trial IS NULL", key)
        return int(row[0]) if row is not None else 0

    def intend(self, key: str, config: Mapping[str, Any], target: str) -> None:
        """Write down that a trial is about to be launched."""
        self._ask(
            "INSERT INTO trials VALUES (?, ?, ?, 1, 0, NULL) ON CONFLICT (key) DO UPDATE SET"
            " launches = iif(trial IS NULL, launches, 0) + 1, trial = NULL",
            key,
            target,
            json.dumps(dict(config)),
            waits_for_disk=True,
        )

    def finish(self, key: str, trial: Trial, limit_s: float) -> None:
        """Write down how a trial ended, whose compilations and runs had `limit_s` seconds.

        No end of this process can lose it. What ends the machine may, until the next launch is
        written down; the trial then counts as one that did not end.
        """
        self._ask(
            "UPDATE trials SET trial = ?, limit_s = ? WHERE key = ?", text_of(trial), limit_s, key
        )

    def forget(self, key: str) -> None:
        """Take back that a trial was launched: how it ended says nothing of the next run."""
        self._ask("DELETE FROM trials WHERE key = ?", key)

    @property
    def is_empty(self) -> bool:
        """Return whether nothing was ever launched."""
        return self._ask("SELECT 1 FROM trials") is None

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _ask(self, statement: str, *values: Any, waits_for_disk: bool = False) -> Any:
        """Return the first row of a statement, which is a transaction of its own.

        One that waits for the disk takes with it what was committed before.

        Raises:
            AnnotuneError: The disk is full, or the file is not what it was.
        """
        with self._lock:
            return _or_refused(self._path, lambda: self._row(statement, values, waits_for_disk))

    def _row(self, statement: str, values: tuple[Any, ...], waits_for_disk: bool) -> Any:
        if not waits_for_disk:
            return self._connection.execute(statement, values).fetchone()
        # Against a variant that takes the machine with it.
        self._connection.execute("PRAGMA synchronous = FULL")
        try:
            return self._connection.execute(statement, values).fetchone()
        finally:
            self._connection.execute("PRAGMA synchronous = NORMAL")


def in_memory() -> Store:
    """Return a store that ends with this process."""
    return Store(_begun(":memory:"), ":memory:")


@contextmanager
def opened(folder: Path | None, is_fresh: bool) -> Iterator[tuple[Store, tuple[Diagnostic, ...]]]:
    """Give the store of a folder, and warnings about a file there that could not be used.

    Without a folder it is one in memory. With `is_fresh`, an old store is kept aside and a new
    one begun.

    Raises:
        AnnotuneError: The folder cannot be written, or its disk is full.
    """
    if folder is None:
        yield in_memory(), ()
        return
    path = folder / STORE_FILE
    reason = _unusable(path)
    warnings: tuple[Diagnostic, ...] = ()
    if os.path.lexists(path) and (reason or is_fresh):
        aside = _or_refused(str(path), lambda: _keep_aside(path))
        if reason:
            hint = "nothing of it is reused; delete it when you need it no more"
            values = {"path": path, "reason": reason, "aside": aside.name, "hint": hint}
            warnings = (KEPT_ASIDE.at(Span(str(path), 1, 1), **values),)
    store = Store(_or_refused(str(path), lambda: _begun(str(path))), str(path))
    is_empty = False
    try:
        yield store, warnings
    finally:
        with suppress(AnnotuneError):
            is_empty = store.is_empty
        store.close()
        if is_empty:  # a run that was refused leaves nothing behind
            path.unlink(missing_ok=True)


def _begun(path: str) -> sqlite3.Connection:
    """Return the store at `path`, made where it is not there yet."""
    # No isolation level: every statement is committed by itself.
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    # Nothing that a prepared file defines is run.
    connection.execute("PRAGMA trusted_schema = OFF")
    # The folder is ours alone, and without shared memory the log works on any file system.
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("PRAGMA journal_mode = WAL")
    # What is committed survives the end of this process; a launch waits for the disk as well.
    connection.execute("PRAGMA synchronous = NORMAL")
    if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
        connection.execute("BEGIN")
        connection.execute(_TABLE)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {SCHEMA}")
        connection.execute("COMMIT")
    return connection


def _unusable(path: Path) -> str:
    """Return why the file at `path` is no store of ours, nothing where it is one or is absent."""
    if not os.path.lexists(path):
        return ""
    if path.is_symlink() or not path.is_file():
        return "it is no file"
    connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)
    try:
        found = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if not tables and not found and not version:
            return ""  # ended before anything was written
        if found != APPLICATION:
            return "another program has written it"
        if version != SCHEMA:
            return f"its schema is {version}, and this annotune knows {SCHEMA}"
        problem = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        connection.execute("SELECT key, target, config, launches, limit_s, trial FROM trials")
        return "" if problem == "ok" else f"it is damaged: {problem}"
    except sqlite3.DatabaseError as error:
        # The rest of a code says more than is asked here.
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _NO_FAULT_OF_THE_FILE:
            raise _refused(str(path), str(error)) from error
        return f"it is damaged: {error}"
    finally:
        connection.close()


def _keep_aside(path: Path) -> Path:
    """Rename a store and its log to the first name that is free, and return that."""
    number = 1
    while os.path.lexists(aside := path.with_name(f"{path.name}.kept-{number}")):
        number += 1
    for ending in ("", "-wal", "-shm", "-journal"):
        if os.path.lexists(path.with_name(path.name + ending)):
            os.rename(path.with_name(path.name + ending), aside.with_name(aside.name + ending))
    return aside


def _or_refused(path: str, deed: Callable[[], T]) -> T:
    """Return what `deed` returns; its failure is the user's to mend."""
    try:
        return deed()
    except sqlite3.Error as error:
        raise _refused(path, str(error)) from error
    except OSError as error:
        raise _refused(path, error.strerror or str(error)) from error


def _refused(path: str, reason: str) -> AnnotuneError:
    return AnnotuneError.of(STORE_FAILED.at(Span(path, 1, 1), path=path, reason=reason))


def text_of(trial: Trial) -> str:
    """Return a trial as JSON, all but what the next run decides anew."""
    values = asdict(replace(trial, reused=False, at_s=None, final=None))
    return json.dumps(values)


def trial_of(text: str) -> Trial | None:
    """Return the trial that `text_of` wrote; None for any other text."""
    try:
        values = json.loads(text)
        if values.keys() - {field.name for field in fields(Trial)}:
            return None
        values["status"] = Status(values["status"])
        values["times_s"] = tuple(values["times_s"])
        values["kernels"] = tuple(KernelFacts(**one) for one in values["kernels"])
        trial = Trial(**values)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    return trial if _is_sound(trial) else None


def _is_sound(trial: Trial) -> bool:
    """Return whether what was read is of the types that a trial has: a file may be edited."""
    figures = (trial.time_s, trial.spread_s, trial.predicted_s, trial.compile_s, trial.run_s)
    return (
        all(isinstance(one, int | float) for one in (*trial.times_s, *figures) if one is not None)
        and all(isinstance(words, str) for words in (trial.target, trial.device, trial.reason))
        and isinstance(trial.config, dict)
        and isinstance(trial.facts, dict)
        and trial.final is None
    )
