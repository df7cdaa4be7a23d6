"""Runs that are interrupted, that meet another one in their folder, and that go on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from annotune.cli import ENDING
from annotune.diagnostics import AnnotuneError
from annotune.files import LOCK_FILE, held_folder
from annotune.tuning.store import STORE_FILE

# Whatever waits so long waits for ever, however busy the machine is.
PATIENCE_S = 600.0
SOURCE = """\
void mm(int n, const double *restrict a, const double *restrict b, double *restrict c)
{
    /*@ begin PerfTuning ( def input_params { param n = 48; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                c[i*n + j] += a[i*n + k] * b[k*n + j];
    /*@ end @*/
}
"""


def command(folder: Path, *arguments: str) -> list[str]:
    source = folder / "mm.c"
    source.write_text(SOURCE)
    common = ["run", str(source), "-o", str(folder / "out"), "--target", "openmp", "--json"]
    return [sys.executable, "-m", "annotune", *common, *arguments]


@contextmanager
def running(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Give a run that has begun its first trials."""
    # A group of its own, as a shell gives it: what a terminal sends reaches every process of it.
    child = subprocess.Popen(
        command(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        end = time.monotonic() + PATIENCE_S
        while not (folder / "out" / STORE_FILE).exists():
            assert child.poll() is None
            assert time.monotonic() < end
            time.sleep(0.05)
        yield child
    finally:
        child.kill()
        child.wait()


def test_one_interrupt_writes_everything(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with running(tmp_path) as child:
        os.killpg(child.pid, signal.SIGINT)
        said, err = child.communicate(timeout=PATIENCE_S)
        assert child.returncode == 130, err
    assert "Traceback" not in err
    assert ENDING in err
    written = json.loads((out / "results.json").read_text())
    assert json.loads(said) == written
    assert (out / "report.html").exists()
    assert not (out / LOCK_FILE).exists()
    (region,) = written["regions"]
    (row,) = (row for row in region["rows"] if row["name"] == "openmp")
    assert (out / "mm_omp.c").exists() == row["verified"]


@pytest.mark.slow
def test_a_second_run_waits_for_the_first_and_goes_on_after_it(tmp_path: Path) -> None:
    with running(tmp_path) as child:
        second = subprocess.run(command(tmp_path), capture_output=True, text=True, check=False)
        assert second.returncode == 1
        assert "[AT617]" in second.stderr
        assert f"(process {child.pid})" in second.stderr
        time.sleep(2)
        child.send_signal(signal.SIGINT)
        said, _ = child.communicate(timeout=PATIENCE_S)
    (first,) = json.loads(said)["regions"]
    done = [t for t in first["trials"] if t["target"] == "openmp"]
    again = subprocess.run(command(tmp_path), capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    (region,) = json.loads(again.stdout)["regions"]
    assert len(done) == sum(t["reused"] for t in region["trials"] if t["target"] == "openmp")
    (searched,) = region["searches"]
    assert searched["reused"] == len(done) <= searched["evaluated"]


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_a_second_interrupt_ends_it_at_once(tmp_path: Path, number: signal.Signals) -> None:
    with running(tmp_path) as child:
        os.killpg(child.pid, number)
        time.sleep(0.05)
        os.killpg(child.pid, number)
        _, err = child.communicate(timeout=PATIENCE_S)
        # The run may have been so near its end that one was enough.
        assert child.returncode == 128 + number
        assert "Traceback" not in err
    assert (tmp_path / "out" / STORE_FILE).exists()


def test_a_lock_that_nobody_holds_is_none(tmp_path: Path) -> None:
    (tmp_path / LOCK_FILE).write_text("1\n")
    with held_folder(tmp_path):
        assert (tmp_path / LOCK_FILE).read_text() == f"{os.getpid()}\n"
        with pytest.raises(AnnotuneError, match="another run writes into"), held_folder(tmp_path):
            pass
    assert not list(tmp_path.iterdir())


def test_a_lock_is_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    (tmp_path / LOCK_FILE).symlink_to("mine")
    with pytest.raises(AnnotuneError, match="cannot write in"), held_folder(tmp_path):
        pass
    assert (tmp_path / "mine").read_text() == "mine"


@pytest.mark.alike(4)
@pytest.mark.parametrize("delay_s", [0.05, 0.15, 0.3, 0.6])
def test_quitting_while_it_starts_prints_nothing(tmp_path: Path, delay_s: float) -> None:
    source = tmp_path / "mm.c"
    source.write_text(SOURCE)
    # Python itself is through once this is printed; what follows is ours.
    start = "from annotune.__main__ import main; print('here', flush=True); main()"
    child = subprocess.Popen(
        [sys.executable, "-c", start, "check", str(source)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "here\n"
    time.sleep(delay_s)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=PATIENCE_S)
    assert child.returncode in (0, -signal.SIGINT)
    assert err == ""
