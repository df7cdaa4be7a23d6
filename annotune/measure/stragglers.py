"""The processes that a variant leaves behind, and how none of them lives on beside the next one."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable
from pathlib import Path

MARK = "ANNOTUNE_FORKER"
"""In the environment that a forker starts with, and that all it forks keep: its own number."""

LIMIT_S = 5.0
"""Who forks faster than it can be killed for so long is left to the user."""

_PAUSE_S = 0.001


def end_descendants() -> bool:
    """Kill all that descend from this process, which reaps orphans; return whether none is left."""
    until = time.monotonic() + LIMIT_S
    while time.monotonic() < until:
        try:
            # Also what has ended before, and waits to be asked how.
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return True
        _kill(_descendants(os.getpid()))
        time.sleep(_PAUSE_S)
    return False


def end_marked(mark: str) -> None:
    """Kill all that a forker, which has ended itself, has left behind."""
    text = f"{MARK}={mark}\0".encode()
    _repeat(lambda: [pid for pid in _running() if text in _read(pid, "environ")])


def is_stopped(pid: int) -> bool:
    """Return whether a process is stopped by a signal or by who traces it."""
    return _stat(pid)[:1] in ([b"T"], [b"t"])


def wake_workers() -> None:
    """Let the children of this process that are stopped go on, unless they lead their own session.

    Those who do, forkers and compilers, have somebody who waits for each.
    """
    session = str(os.getsid(0)).encode()
    for pid in children_of(os.getpid()):
        if is_stopped(pid) and _stat(pid)[3:4] == [session]:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGCONT)


def children_of(pid: int) -> list[int]:
    """Return what a process has forked; nothing where the system does not tell, or it has ended."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            found += map(int, Path(f"/proc/{pid}/task/{task}/children").read_text().split())
    return found


def _repeat(found: Callable[[], list[int]]) -> None:
    until = time.monotonic() + LIMIT_S
    while (left := found()) and time.monotonic() < until:
        _kill(left)
        time.sleep(_PAUSE_S)


def _kill(pids: Iterable[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _descendants(ancestor: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for pid in _running():
        fields = _stat(pid)
        if len(fields) > 1:
            children.setdefault(int(fields[1]), []).append(pid)
    found = list(children.get(ancestor, ()))
    for pid in found:  # grows while it is walked
        found += children.get(pid, ())
    return found


def _running() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdecimal()]


def _stat(pid: int) -> list[bytes]:
    """Return what Linux tells of a process behind its name: its state, its parent and more."""
    return _read(pid, "stat").rpartition(b")")[2].split()


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""
