"""What each test takes of the processor, its child processes included.

Time by the clock says little where other programs run on the same machine.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest


class ProcessorTimes:
    """A plugin that appends a line to a file for the collection and for each test."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._start = 0.0

    @pytest.hookimpl
    def pytest_collection_finish(self) -> None:
        self._append("collection")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._start = seconds_used()
        result = yield
        self._append(item.nodeid)
        return result

    def _append(self, what: str) -> None:
        with self._file.open("a") as out:  # one short line at a time: processes may share it
            out.write(f"{seconds_used() - self._start:.3f}\t{what}\n")


def seconds_used() -> float:
    """Return the seconds of processor time of this process and of its children."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    ended = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    return ended + sum(map(_seconds_alive, _children()))


def _children() -> Iterator[str]:
    """Yield the process ids of children that have not ended, as Linux tells them."""
    for thread in Path("/proc/self/task").glob("*/children"):
        yield from thread.read_text().split()


def _seconds_alive(process: str) -> float:
    """Return what a process and its own ended children have used; nothing once it has ended."""
    try:
        words = Path("/proc", process, "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK")
