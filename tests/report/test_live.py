"""The display of a run that goes on: what it says on a terminal, and silence elsewhere."""

from __future__ import annotations

import io
import re
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from rich.console import Console
from rich.progress import Task, TaskID

from annotune.measure.trial import Status, Trial
from annotune.report import terminal
from annotune.report.terminal import LiveProgress

RIGHT = Trial("openmp", {}, Status.CORRECT, 0.0126, device="a CPU")
WRONG = Trial("openmp", {}, Status.CORRECTNESS, reason="a[3] is 1, expected 2")


def shown(trials: list[Trial], least_s: float = 0.0, encoding: str = "utf-8") -> str:
    """Return the last that a terminal shows of a stage of ten trials."""
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="")
    console = Console(file=file, force_terminal=True, width=120)
    with LiveProgress(console) as progress:
        progress.stage("original", 4)
        progress.trial(replace(RIGHT, time_s=1e-9))
        progress.stage("tuning openmp", 10, least_s)
        for trial in trials:
            progress.trial(trial)
        progress._display.refresh()
        file.flush()
        written = file.buffer.getvalue().decode(encoding)  # type: ignore[attr-defined]
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written)
    return plain[plain.rindex("tuning openmp") :]


def test_it_shows_the_stage_the_best_and_the_failures() -> None:
    failed = [replace(WRONG, status=Status.COMPILE), replace(WRONG, status=Status.TIMEOUT)]
    text = shown([replace(RIGHT, time_s=0.02), *failed, RIGHT, failed[0]], least_s=0.0054)
    assert "5/10" in text
    assert "elapsed 0:00:00" in text
    assert re.search(r"left +\d:\d\d:\d\d", text)
    assert "best 12.6 ms; 43% of the roofline; 3 failed: 2 compile, 1 timeout" in text


def test_every_stage_begins_anew() -> None:
    text = shown([])
    assert "0/10" in text
    assert "best" not in text
    assert "failed" not in text


def test_a_prediction_is_called_one_and_no_roof_none() -> None:
    text = shown([replace(RIGHT, is_predicted=True)])
    assert "best (~12.6 ms)" in text
    assert "roofline" not in text


def test_a_terminal_without_unicode_is_spared_it() -> None:
    assert "best 412 us" in shown([replace(RIGHT, time_s=412e-6)], encoding="ascii")
    assert "best 412 µs" in shown([replace(RIGHT, time_s=412e-6)])


def test_many_threads_may_tell() -> None:
    with (
        LiveProgress(Console(file=io.StringIO(), force_terminal=True)) as progress,
        ThreadPoolExecutor(8) as pool,
    ):
        progress.stage("tuning cuda", 4000)
        list(pool.map(progress.trial, [WRONG, RIGHT] * 2000))
        assert progress._display.tasks[0].completed == 4000
        assert progress._display.words == "best 12.6 ms; 2000 failed: 2000 correctness"


def told(monkeypatch: pytest.MonkeyPatch, is_quiet: bool) -> str:
    """Return what is printed of a stage of two trials where there is no terminal."""
    monkeypatch.setattr(terminal, "EVERY_S", 0.01)
    file = io.StringIO()
    with LiveProgress(Console(file=file, width=30), is_quiet=is_quiet) as progress:
        progress.stage("tuning openmp", 2, 0.01)
        progress.trial(RIGHT)
        end = time.monotonic() + (0.1 if is_quiet else 60.0)
        while not file.getvalue() and time.monotonic() < end:
            time.sleep(0.01)
    return file.getvalue()


def test_elsewhere_a_line_is_told_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    said = told(monkeypatch, is_quiet=False)
    assert said.startswith("tuning openmp: 1 of 2; best 12.6 ms; 79% of the roofline\n")


def test_what_a_stage_waits_for_is_told_until_it_goes_on() -> None:
    with LiveProgress(Console(file=io.StringIO(), force_terminal=True)) as progress:
        progress.stage("tuning cuda", 2)
        progress.waits("waiting for process 7, which measures on NVIDIA H200")
        assert progress._said() == [
            "tuning cuda: 0 of 2; waiting for process 7, which measures on NVIDIA H200"
        ]
        progress.waits("")
        assert progress._said() == ["tuning cuda: 0 of 2"]


def test_quiet_it_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    assert told(monkeypatch, is_quiet=True) == ""


def test_the_time_left_obeys_the_limit() -> None:
    task = Task(TaskID(0), "", 100, 0, _get_time=time.monotonic)
    assert terminal._Left(None).render(task).plain == "-:--:--"
    assert terminal._Left(time.monotonic() + 90.2).render(task).plain == "0:01:30"
    assert terminal._Left(time.monotonic() - 5).render(task).plain == "0:00:00"
