"""Scratch folders go at the end of a run, or with the next one."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from annotune.tuning.jobs import PREFIX, scratch_folder


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_folder_goes_at_its_end(place: Path) -> None:
    with scratch_folder() as folder:
        assert folder.parent == place
        (folder / "made").write_text("text")
    assert not list(place.iterdir())


def test_what_a_killed_run_left_goes_and_what_a_living_one_has_stays(place: Path) -> None:
    dead = place / f"{PREFIX}dead"
    dead.mkdir()
    (dead / "lock").touch()
    (dead / "inputs").write_text("large")
    # Somebody else's, or just being made.
    unlocked = place / f"{PREFIX}without-lock"
    unlocked.mkdir()
    target = place / "mine"
    target.mkdir()
    (target / "lock").touch()
    link = place / f"{PREFIX}link"
    link.symlink_to(target)
    with scratch_folder() as living, scratch_folder() as other:
        assert not dead.exists()
        assert living.exists()
        assert other.exists()
        assert unlocked.exists()
        assert target.exists()


def test_a_workers_folder_goes_with_its_process(place: Path) -> None:
    text = (
        "from annotune.tuning import jobs\n"
        "folder = jobs.CHECKERS._open.enter_context(jobs.scratch_folder())\n"
        "assert folder.is_dir()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", text],
        env={**os.environ, "TMPDIR": str(place)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert not list(place.iterdir())
