"""A command in a child of its own that can be killed with everything it started."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from annotune.frozen import dataclass

OUTPUT_LIMIT_BYTES = 1 << 20
"""How much of a command's output is kept; a compiler in a loop writes without end."""

NOT_STARTED = 127
"""The return code of a command that could not be started, as a shell gives it."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended. `returncode` is None when the time limit killed it.

    `output` is standard output and standard error together, in the order they were written.
    """

    command: tuple[str, ...]
    returncode: int | None
    output: str
    time_s: float

    @property
    def ok(self) -> bool:
        return self.returncode == 0

    @property
    def timed_out(self) -> bool:
        return self.returncode is None

    def ending(self) -> str:
        """Return in words how the command ended: its exit code, its signal or the limit."""
        if self.returncode is None:
            return f"killed after {self.time_s:.1f} s"
        if self.returncode < 0:
            return f"died of {signal_name(-self.returncode)}"
        return f"exit code {self.returncode}"


def signal_name(number: int) -> str:
    """Return a signal's name, such as ``SIGSEGV``, or ``signal 77`` for an unknown one."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


# The process groups of the commands that run now.
_running: set[int] = set()


def kill_running() -> None:
    """Kill every command that runs now, with all that it started: this process is about to end."""
    for group in tuple(_running):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


def run_command(
    command: Sequence[str],
    limit_s: float,
    folder: Path | None = None,
    environ: Mapping[str, str] | None = None,
    niceness: int = 0,
) -> Finished:
    """Return how `command` ended, killing its whole process group after `limit_s` seconds.

    With a `niceness` it makes way for other processes, as nice(1) says. Nothing about the command
    raises: a program that is not there ends with `NOT_STARTED` and the operating system's words
    as its output.
    """
    start = time.monotonic()
    # A file and not a pipe: a grandchild that outlives the command keeps a pipe open, and
    # reading it to its end would then wait for that grandchild.
    with tempfile.TemporaryFile() as output:
        try:
            child = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env=None if environ is None else dict(environ),
                start_new_session=True,
            )
        except OSError as error:
            return Finished(tuple(command), NOT_STARTED, str(error), 0.0)
        if niceness:
            with contextlib.suppress(OSError):
                own = os.getpriority(os.PRIO_PROCESS, 0)
                os.setpriority(os.PRIO_PROCESS, child.pid, own + niceness)
        returncode: int | None = None
        _running.add(child.pid)
        try:
            if _ends_within(child, limit_s):
                returncode = child.wait()
        finally:
            # Also after Ctrl-C, which a session of its own does not get from the terminal.
            if child.poll() is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
                child.wait()
            _running.discard(child.pid)
        output.seek(0)
        text = output.read(OUTPUT_LIMIT_BYTES).decode("utf-8", "replace")
    return Finished(tuple(command), returncode, text, time.monotonic() - start)


# What poll(2) takes at most.
_LONGEST_MS = 2**31 - 1


def _ends_within(child: subprocess.Popen[bytes], limit_s: float) -> bool:
    """Wait for a child to end, for at most `limit_s` seconds, and return whether it has.

    It is told at once by the system where that can: Popen.wait asks up to 50 ms too late.
    """
    try:
        ending = os.pidfd_open(child.pid)
    except (AttributeError, OSError):
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(limit_s)
        return child.returncode is not None
    try:
        events = select.poll()
        events.register(ending, select.POLLIN)
        return bool(events.poll(min(limit_s * 1000, _LONGEST_MS)))
    finally:
        os.close(ending)
