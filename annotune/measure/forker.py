"""A warm process that forks one child per job and ends it when its time is up.

Run as ``python -m annotune.measure.forker``. Each line of standard input is a job, each line
of standard output says how its child ended: ``{"status": <wait status>}`` or
``{"status": null}`` when the time limit killed it; ``used_mib`` is not 0 when the memory limit
did. Ends when standard input does.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from annotune.measure.child import run_job

FAILED = 70
"""The exit code of a child that could not run its job: sysexits.h, EX_SOFTWARE."""

PR_SET_PDEATHSIG = 1
"""From <linux/prctl.h>: the signal that a process gets when its parent ends."""

LOOK_EVERY_S = 0.05
"""How often a child's memory is looked at: in this time a core fills some 100 MiB."""


def main() -> None:
    """Serve jobs until standard input ends."""
    replies = os.fdopen(os.dup(1), "w")
    for line in iter(sys.stdin.readline, ""):
        start = time.monotonic()
        status, used_mib = _serve(json.loads(line))
        time_s = time.monotonic() - start
        reply = {"status": status, "used_mib": used_mib, "time_s": time_s}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


def _serve(job: dict[str, Any]) -> tuple[int | None, int]:
    """Return a child's wait status, None where it took too long, and the MiB it was killed for."""
    child = os.fork()
    if child == 0:
        _be_child(job)
    handle = os.pidfd_open(child)
    try:
        finished, used_mib = _watch(child, handle, job)
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
    return (status if finished else None), used_mib


def _watch(child: int, handle: int, job: dict[str, Any]) -> tuple[bool, int]:
    """Wait for a child's end or for a limit; return whether it ended, and the MiB over the limit.

    What it holds is looked at, not its address space: sanitizers and CUDA reserve terabytes.
    """
    end = time.monotonic() + job["limit_s"]
    while (left := end - time.monotonic()) > 0:
        wait_s = min(left, LOOK_EVERY_S) if job["memory_mib"] else left
        # Standard input turns readable only at its end: one job at a time is sent.
        ready, _, _ = select.select([handle, sys.stdin.fileno()], [], [], wait_s)
        if ready:
            return handle in ready, 0
        if job["memory_mib"] and (used_mib := _held_mib(child)) > job["memory_mib"]:
            return False, used_mib
    return False, 0


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


def _be_child(job: dict[str, Any]) -> None:
    """Run `job` and end this process, whatever happens."""
    code = FAILED
    try:
        os.setpgid(0, 0)
        # A job that kills its forker must not outlive it, out of reach of every limit.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        # Where the machine has no memory left, the system ends this process and not the run.
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("1000")
        silence = os.open(os.devnull, os.O_RDONLY)
        words = os.open(job["words"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(silence, 0)
        os.dup2(words, 1)
        os.dup2(words, 2)
        run_job(job)
        code = 0
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        # Not sys.exit: a library's destructors could hang or crash after a good result.
        os._exit(code)


if __name__ == "__main__":
    main()
