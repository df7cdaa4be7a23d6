"""The processes that fork measuring children, from the side of those who ask."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import annotune

WORDS_LIMIT = 8000
"""How many characters of what a child printed are read."""


class Forker:
    """The client's end of one `annotune.measure.forker` process.

    What its children print and what they compute goes into memory that both sides share, and
    that no name in a file system refers to: nothing is left behind, however this process ends.
    """

    def __init__(self, preload: str) -> None:
        self._words = os.memfd_create("annotune-words")
        self._outputs = os.memfd_create("annotune-outputs")
        environ = dict(os.environ)
        root = str(Path(annotune.__file__).parent.parent)
        environ["PYTHONPATH"] = os.pathsep.join(filter(None, [root, environ.get("PYTHONPATH")]))
        # A process with threads must not fork, and numpy's BLAS starts some on import.
        environ.update(OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
        if preload:
            environ["LD_PRELOAD"] = preload
            # Python leaks by design; an abort would hide the report behind a core dump.
            environ["ASAN_OPTIONS"] = "detect_leaks=0:abort_on_error=0:exitcode=86"
            environ["UBSAN_OPTIONS"] = "halt_on_error=1:exitcode=86"
            environ["PYTHONMALLOC"] = "malloc"
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "annotune.measure.forker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environ,
            text=True,
            start_new_session=True,
            pass_fds=(self._words, self._outputs),
        )

    @property
    def words(self) -> str:
        """Return what the job that ran last has printed."""
        return os.pread(self._words, WORDS_LIMIT, 0).decode("utf-8", "replace")

    @property
    def words_path(self) -> Path:
        """Return the name under which this process's children open what they print to."""
        return Path(f"/proc/self/fd/{self._words}")

    @contextlib.contextmanager
    def outputs(self, size: int) -> Iterator[Path]:
        """Lend so many bytes of zeros, under a name for this process and its children alike."""
        os.ftruncate(self._outputs, size)
        try:
            yield Path(f"/proc/self/fd/{self._outputs}")
        finally:
            os.ftruncate(self._outputs, 0)

    def ask(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Return the forker's reply to one task, or None when it has ended itself."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(message) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except OSError:
            line = ""
        return json.loads(line) if line else None

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        """End the process and the child it may be waiting for."""
        with contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        try:
            # At the end of its input it kills its child and leaves.
            self._process.wait(2.0)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        os.close(self._words)
        os.close(self._outputs)


class _Forkers:
    """The idle forkers of this process, by what they preload. Safe for many threads."""

    def __init__(self) -> None:
        self._idle: dict[str, queue.SimpleQueue[Forker]] = {}
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def lent(self, preload: str) -> Iterator[Forker]:
        """Lend a forker that nobody else uses meanwhile."""
        with self._lock:
            idle = self._idle.setdefault(preload, queue.SimpleQueue())
        try:
            forker = idle.get_nowait()
        except queue.Empty:
            forker = Forker(preload)
        try:
            yield forker
        except BaseException:
            forker.close()
            raise
        if forker.is_alive:
            idle.put(forker)
        else:
            forker.close()

    def close(self) -> None:
        """End every idle forker."""
        for idle in self._idle.values():
            with contextlib.suppress(queue.Empty):
                while True:
                    idle.get_nowait().close()


FORKERS = _Forkers()
atexit.register(FORKERS.close)
