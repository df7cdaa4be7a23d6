"""The wish to end a run early: once for a tidy end, twice for an end at once.

The temporary folder of a run, and the end of those that killed runs have left behind.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from annotune.measure.command import kill_running

# What shells report of a program that a signal has ended.
SIGNALLED = 128


class Stop:
    """Whether a run is to end, and the signal that says so; 0 while there is none."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self.signal = 0

    @property
    def is_set(self) -> bool:
        return self._event.is_set()

    def set(self, number: int = 0) -> None:
        """Ask for the end; `number` is the signal that did, if any."""
        self.signal = number
        self._event.set()


NEVER = Stop()
"""That of a run which nobody interrupts: it is never set."""


@contextmanager
def interrupts(once: Callable[[], object], twice: Callable[[], object]) -> Iterator[Stop]:
    """Give a `Stop` that the first Ctrl-C or SIGTERM sets; a second one ends the process at once.

    `once` and `twice` are called then, to tell whoever watches. The handlers from before are back
    at the end.
    """
    stop = Stop()

    def handle(number: int, frame: FrameType | None) -> None:
        if not stop.is_set:
            stop.set(number)
            once()
            return
        twice()
        # Measuring children end with their standard input; compilers have groups of their own.
        kill_running()
        os._exit(SIGNALLED + number)

    before = {n: signal.signal(n, handle) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


PREFIX = "annotune-run-"
_LOCK = "lock"


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Give a folder that goes at the end, or with the next run where this one is killed."""
    _remove_abandoned(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=PREFIX, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        # Locked before it has the name that other runs look for.
        lock = os.open(folder / "new-lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            os.rename(folder / "new-lock", folder / _LOCK)
            yield folder
        finally:
            os.close(lock)


def _remove_abandoned(place: Path) -> None:
    """Remove our user's scratch folders in `place` whose process is no more.

    A lock of the file system ends with the process that holds it.
    """
    for folder in place.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if folder.is_symlink() or folder.stat().st_uid != os.geteuid():
                continue
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
