"""A warm process that forks one child per task and ends it when its time is up.

Run as ``python -m annotune.measure.forker``. Each line of standard input is a task: a list of
jobs that one child runs in turn. Each line of standard output says how the child ended:
``status`` is its wait status, null when a limit killed it, and ``used_mib`` is not 0 when that
was the one of memory; ``results`` holds what each job that ended well has to tell, in order.
Ends when standard input does.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import json
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from annotune.measure.child import run_jobs

FAILED = 70
"""The exit code of a child that could not run its job: sysexits.h, EX_SOFTWARE."""

PR_SET_PDEATHSIG = 1
"""From <linux/prctl.h>: the signal that a process gets when its parent ends."""

LOOK_EVERY_S = 0.05
"""How often a child's memory is looked at: in this time a core fills some 100 MiB."""

_PIPE_BYTES = 1 << 16


def main() -> None:
    """Serve tasks until standard input ends."""
    replies = os.fdopen(os.dup(1), "w")
    # A collection in a child would write to, and so copy, every page that it shares with us.
    gc.disable()
    gc.freeze()
    for line in iter(sys.stdin.readline, ""):
        start = time.monotonic()
        reply = _serve(json.loads(line))
        reply["time_s"] = time.monotonic() - start
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


def _serve(task: dict[str, Any]) -> dict[str, Any]:
    """Return how the child of `task` ended, and the results of its jobs."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _be_child(task, writing)
    os.close(writing)
    journal = _Journal(reading, task["limit_s"])
    handle = os.pidfd_open(child)
    try:
        finished, used_mib = _watch(child, handle, journal, task["memory_mib"])
    finally:
        os.close(handle)
    # Also after a good end: the job may have left processes of its own.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    if not finished:
        # The child may not have made its group yet.
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    journal.close()
    status_told = status if finished else None
    return {"status": status_told, "used_mib": used_mib, "results": journal.results}


class _Journal:
    """What a child tells of its jobs: an empty line before each, and its result after it.

    Each job has `limit_s` seconds from its beginning.
    """

    def __init__(self, pipe: int, limit_s: float) -> None:
        os.set_blocking(pipe, False)
        self.pipe = pipe
        self.results: list[Any] = []
        self.until = time.monotonic() + limit_s
        self._limit_s = limit_s
        self._rest = b""

    def read(self) -> bool:
        """Take in what the pipe holds; return whether more may come."""
        while True:
            try:
                new = os.read(self.pipe, _PIPE_BYTES)
            except BlockingIOError:
                return True
            if not new:
                return False
            *lines, self._rest = (self._rest + new).split(b"\n")
            for line in lines:
                if line:
                    self.results.append(json.loads(line))
                else:
                    self.until = time.monotonic() + self._limit_s

    def close(self) -> None:
        """Take in what is left, and close the pipe."""
        self.read()
        os.close(self.pipe)


def _watch(child: int, handle: int, journal: _Journal, most_mib: int) -> tuple[bool, int]:
    """Wait for a child's end or for a limit; return whether it ended, and the MiB over the limit.

    What it holds is looked at, not its address space: sanitizers and CUDA reserve terabytes.
    """
    # Standard input turns readable only at its end: one task at a time is sent.
    watched = [handle, sys.stdin.fileno(), journal.pipe]
    while True:
        left_s = journal.until - time.monotonic()
        if left_s <= 0:
            return False, 0
        wait_s = min(left_s, LOOK_EVERY_S) if most_mib else left_s
        ready, _, _ = select.select(watched, [], [], wait_s)
        if handle in ready:
            return True, 0
        if sys.stdin.fileno() in ready:
            return False, 0
        if journal.pipe in ready and not journal.read():
            watched.remove(journal.pipe)
        if most_mib and not ready and (used_mib := _held_mib(child)) > most_mib:
            return False, used_mib


def _held_mib(child: int) -> int:
    """Return the MiB of memory that belong to a process alone; 0 where it has just ended.

    Pages of files, such as the inputs, can be had again and do not count.
    """
    try:
        text = Path(f"/proc/{child}/status").read_text()
    except OSError:
        return 0
    rows = (line.split() for line in text.splitlines())
    return sum(int(row[1]) for row in rows if row and row[0] in ("RssAnon:", "RssShmem:")) >> 10


def _be_child(task: dict[str, Any], journal: int) -> None:
    """Run the jobs of `task` and end this process, whatever happens."""
    code = FAILED
    try:
        os.setpgid(0, 0)
        # A job that kills its forker must not outlive it, out of reach of every limit.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        # Where the machine has no memory left, the system ends this process and not the run.
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("1000")
        silence = os.open(os.devnull, os.O_RDONLY)
        words = os.open(task["words"], os.O_WRONLY | os.O_TRUNC)
        os.dup2(silence, 0)
        os.dup2(words, 1)
        os.dup2(words, 2)
        run_jobs(task, _teller(journal))
        code = 0
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        # Not sys.exit: a library's destructors could hang or crash after a good result.
        os._exit(code)


def _teller(journal: int) -> Callable[[str], None]:
    """Return what writes one line to the journal."""

    def tell(line: str) -> None:
        left = line.encode() + b"\n"
        while left:
            left = left[os.write(journal, left) :]

    return tell


if __name__ == "__main__":
    main()
