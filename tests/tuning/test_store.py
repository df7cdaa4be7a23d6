"""The store of trials: what it knows again, and what it does with files that are no store."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from annotune.diagnostics import AnnotuneError
from annotune.measure.trial import KernelFacts, Status, Trial
from annotune.tuning.store import STORE_FILE, Store, in_memory, opened, text_of, trial_of

TRIAL = Trial(
    "cuda",
    {"UF": 4, "S0.block": "i"},
    Status.CORRECT,
    1.5e-6,
    1e-8,
    device="a GPU",
    verified=True,
    facts={"registers": 32, "words": "ü\n\udcff"},
    times_s=(1e-6, 2e-6),
    compile_s=0.1,
    run_s=0.2,
    kernels=(KernelFacts("f_1_s0", "sm_90", 32),),
)


def test_a_trial_is_read_as_it_was_written() -> None:
    found = trial_of(text_of(TRIAL))
    assert found == TRIAL
    assert found is not None
    assert found.kernels == TRIAL.kernels
    # What the next run decides anew is not kept.
    assert trial_of(text_of(replace(TRIAL, reused=True, at_s=3.0))) == TRIAL


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '{"status": "correct"}', '{"status": "fine", "x": 1}']
)
def test_a_text_that_is_no_trial_is_not_known(text: str) -> None:
    assert trial_of(text) is None


@pytest.mark.parametrize(
    "edit",
    [
        {"time_s": "fast"},
        {"times_s": ["1"]},
        {"facts": []},
        {"reason": 1},
        {"final": {"time_s": 1}},
    ],
)
def test_a_trial_of_other_types_is_not_known(edit: dict[str, object]) -> None:
    assert trial_of(json.dumps({**json.loads(text_of(TRIAL)), **edit})) is None


def test_a_launch_is_unfinished_until_its_end() -> None:
    store = in_memory()
    assert (store.known("k", 1.0), store.unfinished("k")) == (None, 0)
    store.intend("k", TRIAL.config, TRIAL.target)
    assert (store.known("k", 1.0), store.unfinished("k")) == (None, 1)
    store.intend("k", TRIAL.config, TRIAL.target)
    assert store.unfinished("k") == 2
    store.finish("k", TRIAL, 1.0)
    assert (store.known("k", 1.0), store.unfinished("k")) == (TRIAL, 0)
    store.intend("k", TRIAL.config, TRIAL.target)
    assert (store.known("k", 1.0), store.unfinished("k")) == (None, 1)


def test_what_took_too_long_is_known_only_where_there_is_no_more_time() -> None:
    store = in_memory()
    late = replace(TRIAL, status=Status.TIMEOUT, time_s=None)
    store.intend("k", TRIAL.config, TRIAL.target)
    store.finish("k", late, 5.0)
    assert store.known("k", 5.0) == store.known("k", 2.0) == late
    assert store.known("k", 6.0) is None


def begun(folder: Path) -> Path:
    """Return the file of a store that knows one trial."""
    with opened(folder, False) as (store, warnings):
        assert not warnings
        store.intend("k", TRIAL.config, TRIAL.target)
        store.finish("k", TRIAL, 1.0)
    return folder / STORE_FILE


def test_a_store_outlives_its_process_and_is_one_file(tmp_path: Path) -> None:
    begun(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == [STORE_FILE]
    with opened(tmp_path, False) as (store, warnings):
        assert (store.known("k", 1.0), warnings) == (TRIAL, ())


def test_fresh_keeps_the_old_one_aside(tmp_path: Path) -> None:
    old = begun(tmp_path).read_bytes()
    for number in (1, 2):
        with opened(tmp_path, True) as (store, warnings):
            assert (store.known("k", 1.0), warnings) == (None, ())
            store.intend("other", {}, "cuda")
        aside = tmp_path / f"{STORE_FILE}.kept-{number}"
        assert aside.exists()
    assert (tmp_path / f"{STORE_FILE}.kept-1").read_bytes() == old


def test_a_store_without_a_launch_leaves_nothing(tmp_path: Path) -> None:
    with opened(tmp_path, False):
        pass
    assert not list(tmp_path.iterdir())


def foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE photographs (name TEXT)")
        connection.commit()


def later_schema(path: Path) -> None:
    begun(path.parent)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")


def other_columns(path: Path) -> None:
    begun(path.parent)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("ALTER TABLE trials DROP COLUMN limit_s")


def truncated(path: Path) -> None:
    begun(path.parent)
    path.write_bytes(path.read_bytes()[:5000])


def overwritten(path: Path) -> None:
    begun(path.parent)
    text = bytearray(path.read_bytes())
    text[4096:6000] = b"\xa5" * 1904
    path.write_bytes(text)


def no_database(path: Path) -> None:
    path.write_text("notes of mine\n" * 100)


def a_folder(path: Path) -> None:
    path.mkdir()


def a_link(path: Path) -> None:
    (path.parent / "mine").write_text("mine")
    path.symlink_to("mine")


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (foreign, "another program has written it"),
        (later_schema, "its schema is 99"),
        (other_columns, "it is damaged: no such column: limit_s"),
        (truncated, "it is damaged"),
        (overwritten, "it is damaged"),
        (no_database, "it is damaged: file is not a database"),
        (a_folder, "it is no file"),
        (a_link, "it is no file"),
    ],
)
def test_what_is_no_store_is_kept_aside_and_said(
    tmp_path: Path, spoil: object, reason: str
) -> None:
    path = tmp_path / STORE_FILE
    assert callable(spoil)
    spoil(path)
    before = path.read_bytes() if path.is_file() else b""
    with opened(tmp_path, False) as (store, (warning,)):
        assert (warning.code, warning.severity) == ("AT616", "warning")
        assert reason in warning.message
        assert store.known("k", 1.0) is None
        store.intend("k", {}, "cuda")
        store.finish("k", TRIAL, 1.0)
    aside = tmp_path / f"{STORE_FILE}.kept-1"
    assert aside.is_dir() or aside.read_bytes() == before
    with opened(tmp_path, False) as (store, warnings):
        assert (store.known("k", 1.0), warnings) == (TRIAL, ())


def test_a_store_that_another_program_holds_is_left_alone(tmp_path: Path) -> None:
    begun(tmp_path)
    other = sqlite3.connect(tmp_path / STORE_FILE, isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(AnnotuneError, match="locked") as refused, opened(tmp_path, False):
        pass
    assert refused.value.diagnostics[0].code == "AT615"
    other.execute("ROLLBACK")
    other.close()
    with opened(tmp_path, False) as (store, warnings):
        assert (store.known("k", 1.0), warnings) == (TRIAL, ())


def fill(store: Store) -> int:
    """Launch trials until the disk is full, and return how many fitted."""
    for number in range(10_000):
        try:
            store.intend(f"more {number}", {"long": "x" * 500}, "cuda")
        except AnnotuneError as error:
            (said,) = error.diagnostics
            assert said.code == "AT615"
            assert "full" in said.message
            return number
    raise AssertionError("there was always room")


def test_a_full_disk_is_said_and_the_store_stays_whole(tmp_path: Path) -> None:
    begun(tmp_path)
    with opened(tmp_path, False) as (store, _):
        # SQLite says the same of a file that may not grow as of a disk without room.
        store._connection.execute("PRAGMA max_page_count = 20")
        number = fill(store)
        assert number > 10
    with opened(tmp_path, False) as (store, warnings):
        assert not warnings
        assert store.known("k", 1.0) == TRIAL
        assert store.unfinished(f"more {number - 1}") == 1
        assert store.unfinished(f"more {number}") == 0
