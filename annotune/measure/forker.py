"""A warm process that forks one child per job and ends it when its time is up.

Run as ``python -m annotune.measure.forker``. Each line of standard input is a job, each line
of standard output says how its child ended: ``{"status": <wait status>}`` or
``{"status": null}`` when the limit killed it. Ends when standard input does.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import time
import traceback
from typing import Any

from annotune.measure.child import run_job

FAILED = 70
"""The exit code of a child that could not run its job: sysexits.h, EX_SOFTWARE."""


def main() -> None:
    """Serve jobs until standard input ends."""
    replies = os.fdopen(os.dup(1), "w")
    for line in iter(sys.stdin.readline, ""):
        start = time.monotonic()
        status = _serve(json.loads(line))
        reply = {"status": status, "time_s": time.monotonic() - start}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


def _serve(job: dict[str, Any]) -> int | None:
    child = os.fork()
    if child == 0:
        _be_child(job)
    handle = os.pidfd_open(child)
    try:
        # Standard input turns readable only at its end: one job at a time is sent.
        ready, _, _ = select.select([handle, sys.stdin.fileno()], [], [], job["limit_s"])
        finished = handle in ready
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
    return status if finished else None


def _be_child(job: dict[str, Any]) -> None:
    """Run `job` and end this process, whatever happens."""
    code = FAILED
    try:
        os.setpgid(0, 0)
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
