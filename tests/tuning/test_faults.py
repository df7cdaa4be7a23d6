"""Variants that crash, hang, lie, eat all memory or do not compile: each is a row, and no more."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from tuning.seeded import FATES, LIMIT_S, bench, listing, searched

from annotune.measure.toolchain import find_toolchains
from annotune.measure.trial import Status
from annotune.tuning.experiment import GIVEN_UP
from annotune.tuning.store import STORE_FILE

TOOLS = find_toolchains(os.environ)
pytestmark = pytest.mark.skipif(not TOOLS.openmp or TOOLS.cxx is None, reason="no OpenMP")

WORDS = {
    "segfault": "SEGV",
    "hang": f"killed after {LIMIT_S:g} s",
    "wrong": "y[",
    "memory": "used more than",
    "no C": "error:",
    "parricide": "the measuring process ended",
    "refused": "asks for what cannot be",
}


@pytest.mark.slow
@pytest.mark.parametrize("slots", [1, 4])
def test_every_fault_is_a_row_with_its_words(tmp_path: Path, slots: int) -> None:
    outcome = searched(bench(tmp_path, slots), listing())
    rows = {str(t.config["deed"]): t for t in outcome.trials}
    assert list(rows) == list(FATES)
    assert {name: t.status for name, t in rows.items()} == {n: s for n, (_, s) in FATES.items()}
    for name, words in WORDS.items():
        assert words in rows[name].reason, name
        assert rows[name].time_s is None
    assert outcome.best is not None
    assert FATES[str(outcome.best.config["deed"])][1] is Status.CORRECT
    assert outcome.searched is not None
    assert (outcome.searched.evaluated, outcome.searched.duplicates) == (len(FATES) - 1, 1)
    assert rows["same as right"].reused
    assert rows["same as right"].time_s == rows["right"].time_s
    assert rows["right"].run_s
    assert rows["right"].at_s


def kept(folder: Path) -> dict[str, str]:
    """Return the trials that a folder's store knows the end of."""
    if not (folder / STORE_FILE).exists():
        return {}
    with closing(sqlite3.connect(folder / STORE_FILE)) as connection:
        try:
            return dict(connection.execute("SELECT key, trial FROM trials WHERE trial NOT NULL"))
        except sqlite3.OperationalError:  # killed before there was a table
            return {}


def start(folder: Path, slots: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tuning.seeded", str(folder), str(slots)]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


@pytest.mark.parametrize(
    ("slots", "kills"),
    [
        pytest.param(4, 1, marks=pytest.mark.slow),
        pytest.param(1, 20, marks=pytest.mark.slow),
        pytest.param(4, 20, marks=pytest.mark.slow),
    ],
)
def test_a_run_that_is_killed_at_any_moment_goes_on(tmp_path: Path, slots: int, kills: int) -> None:
    moments = random.Random(slots)
    known: dict[str, str] = {}
    for _ in range(kills):
        child = start(tmp_path, slots)
        # It takes about a second to begin, and a few for all variants.
        time.sleep(moments.uniform(0.5, 4.0))
        child.send_signal(signal.SIGKILL)
        child.communicate()
        now = kept(tmp_path)
        # What had ended stays, and is not run again: its times would differ.
        assert known.items() <= now.items()
        known = now
    out, err = start(tmp_path, slots).communicate(timeout=600)
    rows = {
        name: (status, reason, reused)
        for name, status, reason, reused in map(json.loads, out.splitlines())
    }
    assert list(rows) == list(FATES), err
    assert known.items() <= kept(tmp_path).items()
    for name, (status, reason, _) in rows.items():
        if reason != GIVEN_UP:
            assert status == FATES[name][1], name
            assert WORDS.get(name, "") in reason, name
    # The record also has the winner's proof, under the same settings.
    ended = {json.loads(text)["config"]["deed"] for text in known.values()}
    assert all(reused for name, (_, _, reused) in rows.items() if name in ended)
