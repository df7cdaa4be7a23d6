"""The processes that fork measuring children, from the side of those who ask."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import os
import queue
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import annotune
from annotune.measure.channel import Channel
from annotune.measure.forker import MOST_WAITED
from annotune.measure.stragglers import MARK, end_marked, is_stopped

WORDS_LIMIT = 8000
"""How many characters of what a child printed are read."""

LOOK_EVERY_S = 0.25
"""How often the wait for a forker looks whether it is stopped."""

GRACE_S = 60.0
"""What a forker may take beyond the longest time that its jobs may."""

ENDED = "the measuring process ended"
STOPPED = "the measuring process was stopped"
SILENT = "the measuring process did not answer"


@dataclass(frozen=True, slots=True)
class Reply:
    """How a task ended: what its child printed, and what its forker tells of it.

    `problem` is what became of the forker where it told nothing. The others are described in
    `annotune.measure.forker`.
    """

    words: str
    problem: str = ""
    status: int | None = None
    used_mib: int = 0
    results: tuple[dict[str, Any], ...] = ()
    is_legible: bool = True


class _Gone(Exception):
    """A forker of which no answer comes, in words."""


class Forker:
    """The client's end of one `annotune.measure.forker` process."""

    def __init__(self, preload: str) -> None:
        self._mark = secrets.token_hex(16)
        environ = dict(os.environ)
        root = str(Path(annotune.__file__).parent.parent)
        environ["PYTHONPATH"] = os.pathsep.join(filter(None, [root, environ.get("PYTHONPATH")]))
        environ[MARK] = self._mark
        # A process with threads must not fork, and numpy's BLAS starts some on import.
        environ.update(OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
        if preload:
            environ["LD_PRELOAD"] = preload
            # Python leaks by design; an abort would hide the report behind a core dump.
            environ["ASAN_OPTIONS"] = "detect_leaks=0:abort_on_error=0:exitcode=86"
            environ["UBSAN_OPTIONS"] = "halt_on_error=1:exitcode=86"
            environ["PYTHONMALLOC"] = "malloc"
        own, theirs = socket.socketpair()
        self._until = 0.0
        self._channel = Channel(own, LOOK_EVERY_S, self._look)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "annotune.measure.forker", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environ,
                start_new_session=True,
                pass_fds=(theirs.fileno(),),
            )

    def ask(self, message: dict[str, Any], outputs: int, words: int) -> dict[str, Any]:
        """Return the forker's reply to one task.

        Raises:
            _Gone: It has ended, is stopped, or says nothing although all limits are over.
        """
        longest_s = (1 + MOST_WAITED) * message["limit_s"] * len(message["jobs"])
        self._until = time.monotonic() + longest_s + GRACE_S
        try:
            self._channel.send(message, (outputs, words))
            received = self._channel.receive()
        except OSError:
            received = None
        if received is None:
            raise _Gone(ENDED)
        return received[0]

    def _look(self) -> None:
        if is_stopped(self._process.pid):
            raise _Gone(STOPPED)
        if time.monotonic() > self._until:
            raise _Gone(SILENT)

    @property
    def is_fit(self) -> bool:
        """Return whether it can be asked."""
        return self._process.poll() is None and not is_stopped(self._process.pid)

    def close(self) -> None:
        """End the process, the child it may be waiting for and all that it has left behind."""
        self._channel.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            # At the end of its connection it kills its child and leaves.
            self._process.wait(0.0 if is_stopped(self._process.pid) else 2.0)
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait()
        if self._process.returncode != 0:
            end_marked(self._mark)


class _Forkers:
    """The idle forkers of this process, by what they preload. Safe for many threads."""

    def __init__(self) -> None:
        self._idle: dict[str, queue.SimpleQueue[Forker]] = {}
        self._lock = threading.Lock()

    def ask(self, preload: str, message: dict[str, Any], outputs: int) -> Reply:
        """Return how a task ends in a child of a forker that nobody else uses meanwhile.

        A forker may be lost through somebody else, who has all processes of a batch job wait, say.
        So a task has a second one, and only what loses that one too is at fault.
        """
        reply = self._attempt(self._lent(preload), preload, message, outputs)
        if reply.problem in (ENDED, STOPPED):
            reply = self._attempt(Forker(preload), preload, message, outputs)
        return reply

    def _attempt(
        self, forker: Forker, preload: str, message: dict[str, Any], outputs: int
    ) -> Reply:
        # For each task its own: what somebody writes later is in nobody's way.
        words = os.memfd_create("annotune-words")
        is_fit = False
        try:
            told = forker.ask(message, outputs, words)
            is_fit = not told["is_spent"]
            results = tuple(told["results"])
            return Reply(
                _read(words), "", told["status"], told["used_mib"], results, told["is_legible"]
            )
        except _Gone as gone:
            return Reply(_read(words), str(gone))
        finally:
            os.close(words)
            if is_fit:
                self._idle[preload].put(forker)
            else:
                forker.close()

    def _lent(self, preload: str) -> Forker:
        with self._lock:
            idle = self._idle.setdefault(preload, queue.SimpleQueue())
        with contextlib.suppress(queue.Empty):
            while True:
                forker = idle.get_nowait()
                if forker.is_fit:
                    return forker
                forker.close()
        return Forker(preload)

    def close(self) -> None:
        """End every idle forker."""
        for idle in self._idle.values():
            with contextlib.suppress(queue.Empty):
                while True:
                    idle.get_nowait().close()


def _read(words: int) -> str:
    return os.pread(words, WORDS_LIMIT, 0).decode("utf-8", "replace")


@contextlib.contextmanager
def outputs_of(size_bytes: int) -> Iterator[tuple[int, Path]]:
    """Lend a file of so many zeros: its descriptor, and its name in this process.

    It is memory that no name in a file system refers to, so that nothing is left behind, however
    this process ends. Nobody can make it shorter than those who read it believe it to be.
    """
    memory = os.memfd_create("annotune-outputs", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(memory, size_bytes)
        seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
        fcntl.fcntl(memory, fcntl.F_ADD_SEALS, seals)
        yield memory, Path(f"/proc/self/fd/{memory}")
    finally:
        os.close(memory)


FORKERS = _Forkers()
atexit.register(FORKERS.close)
