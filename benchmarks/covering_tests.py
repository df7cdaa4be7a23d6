"""Tells which tests run which lines of annotune, and runs those of a line, the quickest first.

pytest is given this module as a plugin (``-p covering_tests``) by what the environment has: where
``COVERED`` names a folder each process writes what its tests run into a file there; where
``CHOSEN`` names a file, the tests that it lists are run alone, file by file in its order; where
``FAILED`` names one, the tests that fail are listed in it. What child processes run does not count.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

COVERED, CHOSEN = "ANNOTUNE_TESTS_COVERED", "ANNOTUNE_TESTS_CHOSEN"
FAILED = "ANNOTUNE_TESTS_FAILED"
# A test that takes so much longer than it took by itself hangs.
HANGS_TIMES, HANGS_LEAST_S = 20, 30
_PACKAGE = str(Path(__file__).resolve().parent.parent / "annotune") + os.sep


@dataclass
class Covered:
    """The tests that pass, with their seconds, and which of them run a line.

    The tests of a line of a file are the bits of a number, by their places in `seconds`.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    lines: dict[str, dict[int, int]] = field(default_factory=dict)

    def files(self) -> dict[str, list[int]]:
        """Return the lines that are run of each file."""
        return {file: sorted(lines) for file, lines in self.lines.items()}

    def tests_of(self, file: str, line: int) -> list[str]:
        """Return the tests of a line, file by file, those that take the least time first.

        What is run while modules are imported is of every test that runs anything of its file.
        """
        bits = self.lines[file].get(line, 0)
        if not bits:
            for each in self.lines[file].values():
                bits |= each
        chosen = [name for place, name in enumerate(self.seconds) if bits >> place & 1]
        totals: dict[str, float] = {}
        for name in chosen:
            totals[_file_of(name)] = totals.get(_file_of(name), 0.0) + self.seconds[name]
        return sorted(chosen, key=lambda name: (totals[_file_of(name)], _file_of(name)))


def covered(folder: Path) -> Covered:
    """Return what the processes of a run have written into a folder."""
    found = Covered()
    for path in sorted(folder.glob("*.json")):
        told = json.loads(path.read_text())
        begin = len(found.seconds)
        found.seconds |= told["seconds"]
        for file, lines in told["lines"].items():
            own = found.lines.setdefault(file, {})
            for line, bits in lines.items():
                own[int(line)] = own.get(int(line), 0) | int(bits, 16) << begin
    return found


def files_of(tests: Sequence[str]) -> list[str]:
    """Return the files of some tests, in their order."""
    return list(dict.fromkeys(map(_file_of, tests)))


def _file_of(test: str) -> str:
    return test.partition("::")[0]


class _Recorder:
    """Follows what this process runs, a test at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._now: dict[str, set[int]] = {}
        self._made = Covered()
        self._has_failed = False
        if sys.version_info >= (3, 12):
            self._monitor_lines()
        else:
            threading.settrace(self._called)
            sys.settrace(self._called)

    def _monitor_lines(self) -> None:
        """Have each line told once a test, which takes hardly any time."""
        monitoring = sys.monitoring
        monitoring.use_tool_id(monitoring.COVERAGE_ID, "annotune's covering tests")

        def line_run(code: CodeType, line: int) -> Any:
            if code.co_filename.startswith(_PACKAGE):
                self._now.setdefault(code.co_filename, set()).add(line)
            return monitoring.DISABLE

        monitoring.register_callback(monitoring.COVERAGE_ID, monitoring.events.LINE, line_run)
        monitoring.set_events(monitoring.COVERAGE_ID, monitoring.events.LINE)

    def _begin_test(self) -> None:
        self._now.clear()
        if sys.version_info >= (3, 12):
            sys.monitoring.restart_events()

    def _called(self, frame: FrameType, event: str, argument: Any) -> Any:
        file = frame.f_code.co_filename
        if not file.startswith(_PACKAGE):
            return None
        seen = self._now.setdefault(file, set())
        seen.add(frame.f_lineno)

        def line_run(frame: FrameType, event: str, argument: Any) -> Any:
            if event == "line":
                seen.add(frame.f_lineno)
            return line_run

        return line_run

    def pytest_runtest_logreport(self, report: Any) -> None:
        self._has_failed |= report.outcome != "passed"

    def pytest_collection_finish(self) -> None:
        """Keep what is run while modules are imported, as lines of no test."""
        self._keep(0)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        begin, self._has_failed = time.monotonic(), False
        self._begin_test()
        result = yield
        if not self._has_failed:
            self._keep(1 << len(self._made.seconds))
            self._made.seconds[item.nodeid] = time.monotonic() - begin
        return result

    def _keep(self, bits: int) -> None:
        for file, seen in tuple(self._now.items()):
            own = self._made.lines.setdefault(file, {})
            for line in tuple(seen):
                own[line] = own.get(line, 0) | bits

    def pytest_unconfigure(self) -> None:
        if sys.version_info >= (3, 12):
            sys.monitoring.set_events(sys.monitoring.COVERAGE_ID, 0)
        else:
            sys.settrace(None)
        lines = {
            file: {line: f"{bits:x}" for line, bits in of_file.items()}
            for file, of_file in self._made.lines.items()
        }
        told = {"seconds": self._made.seconds, "lines": lines}
        (self._folder / f"{os.getpid()}.json").write_text(json.dumps(told))


class _Chosen:
    """Leaves the tests that a file lists, with their seconds, in its order."""

    def __init__(self, seconds: Mapping[str, float]) -> None:
        self._seconds = seconds
        self._places = {name: place for place, name in enumerate(seconds)}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        left = [item for item in items if item.nodeid in self._places]
        items[:] = sorted(left, key=lambda item: self._places[item.nodeid])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: Any) -> Iterator[None]:
        """Stop a test that hangs."""
        signal.signal(signal.SIGALRM, _stop)
        limit = HANGS_LEAST_S + HANGS_TIMES * self._seconds[item.nodeid]
        signal.setitimer(signal.ITIMER_REAL, limit)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)


class _Failing:
    """Lists in a file which tests fail, by their whole names, and what cannot be collected."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def pytest_collectreport(self, report: Any) -> None:
        self.pytest_runtest_logreport(report)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            with self._file.open("a") as out:
                out.write(f"{report.nodeid}\n")


def _stop(number: int, frame: FrameType | None) -> None:
    raise TimeoutError("it hangs")


def pytest_configure(config: Any) -> None:
    """Record, choose, or list what fails, as the environment says."""
    if folder := os.environ.get(COVERED):
        config.pluginmanager.register(_Recorder(Path(folder)))
    if path := os.environ.get(CHOSEN):
        config.pluginmanager.register(_Chosen(json.loads(Path(path).read_text())))
    if path := os.environ.get(FAILED):
        config.pluginmanager.register(_Failing(Path(path)))
