"""A warm process that forks one child per task and ends it when its time is up.

Run as ``python -m annotune.measure.forker N``, where descriptor N is a connection. Each message
that comes is a task, a list of jobs that one child runs in turn, with the memory for their outputs
and the file for what they print. Each answer says how the child ended:
``status`` is its wait status, null when a limit killed it, and ``used_mib`` is not 0 when that
was the one of memory; ``results`` holds what each job that ended well has to tell, in order, and
``is_legible`` whether something of it was overwritten. With ``is_spent`` this process is not what
it was and takes no further task. Ends when the connection does, and no process that a variant
leaves behind lives on beside the next one.
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import gc
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from annotune.measure.child import Journal, run_jobs

Message = dict[str, Any]

_LENGTH = struct.Struct("=Q")
_MOST_DESCRIPTORS = 8
_CHUNK_BYTES = 1 << 16


class Channel:
    """One end of a connection. Messages are JSON, each behind its length.

    `look` is called whenever nothing has moved for `look_every_s` seconds, and may raise.
    """

    def __init__(
        self,
        end: socket.socket,
        look_every_s: float | None = None,
        look: Callable[[], None] = lambda: None,
    ) -> None:
        self._end = end
        self._look = look
        end.settimeout(look_every_s)

    def fileno(self) -> int:
        """Return the descriptor, which turns readable when a message or the end comes."""
        return self._end.fileno()

    def send(self, message: Message, descriptors: Sequence[int] = ()) -> None:
        """Send one message, and open descriptors with it.

        Raises:
            OSError: The other end is closed.
        """
        text = json.dumps(message).encode()
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))
        head, ancillary = _LENGTH.pack(len(text)), [rights] if descriptors else []
        # Its few bytes go at once or not at all.
        self._patiently(self._end.sendmsg, [head], ancillary)
        sent = 0
        while sent < len(text):
            sent += self._patiently(self._end.send, text[sent : sent + _CHUNK_BYTES])

    def receive(self) -> tuple[Message, list[int]] | None:
        """Return the next message with its descriptors, None where the other end is closed.

        Raises:
            OSError: It was closed in the middle of something.
        """
        head, descriptors, _, _ = self._patiently(
            socket.recv_fds, self._end, _LENGTH.size, _MOST_DESCRIPTORS
        )
        if not head:
            return None
        (length,) = _LENGTH.unpack(head)
        text = bytearray()
        while len(text) < length:
            chunk = self._patiently(self._end.recv, min(_CHUNK_BYTES, length - len(text)))
            if not chunk:
                raise ConnectionResetError("closed within a message")
            text += chunk
        return json.loads(text), list(descriptors)

    def close(self) -> None:
        self._end.close()

    def _patiently(self, step: Callable[..., Any], *arguments: Any) -> Any:
        """Return what `step` gives for its arguments, looking around while it cannot be done."""
        while True:
            try:
                return step(*arguments)
            except TimeoutError:
                self._look()


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
    until = time.monotonic() + LIMIT_S
    while time.monotonic() < until:
        left = [pid for pid in _running() if text in _read(pid, "environ")]
        if not left:
            return
        _kill(left)
        time.sleep(_PAUSE_S)


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


FAILED = 70
"""The exit code of a child that could not run its job: sysexits.h, EX_SOFTWARE."""

PR_SET_PDEATHSIG = 1
"""From <linux/prctl.h>: the signal that a process gets when its parent ends."""

PR_SET_CHILD_SUBREAPER = 36
"""From <linux/prctl.h>: orphans among the descendants of this process become its children."""

LOOK_EVERY_S = 0.05
"""How often a child's memory is looked at: in this time a core fills some 100 MiB."""

MOST_WAITED = 9
"""So many times its limit a child may wait for processors, on a machine that does much else."""


def main() -> None:
    """Serve tasks until the connection ends."""
    channel = Channel(socket.socket(fileno=int(sys.argv[1])))
    # A collection in a child would write to, and so copy, every page that it shares with us.
    gc.disable()
    gc.freeze()
    # So that not even a daemon of a variant's gets away.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    condition = _condition()
    # Who asked may have ended, or given this process up.
    with contextlib.suppress(OSError):
        while received := channel.receive():
            task, (outputs, words) = received
            reply = _serve(task, outputs, words, channel)
            os.close(outputs)
            os.close(words)
            reply["is_spent"] |= _condition() != condition
            channel.send(reply)


def _condition() -> list[Any]:
    """Return what another process could have changed of this one that children inherit."""
    limits = [n for name, n in vars(resource).items() if name.startswith("RLIMIT_")]
    return [
        os.getpriority(os.PRIO_PROCESS, 0),
        os.sched_getscheduler(0),
        os.sched_getaffinity(0),
        *(resource.getrlimit(limit) for limit in limits),
    ]


def _serve(task: dict[str, Any], outputs: int, words: int, channel: Channel) -> dict[str, Any]:
    """Return how the child of `task` ended, and the results of its jobs."""
    journal = Journal()
    child = os.fork()
    if child == 0:
        _be_child(task, outputs, words, journal)
    handle = os.pidfd_open(child)
    try:
        finished, used_mib = _watch(child, handle, task, journal, channel)
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
    is_spent = not end_descendants()
    _, results, is_legible = journal.read()
    journal.close()
    return {
        "status": status if finished else None,
        "used_mib": used_mib,
        "results": results,
        "is_legible": is_legible,
        "is_spent": is_spent,
    }


def _watch(
    child: int, handle: int, task: dict[str, Any], journal: Journal, channel: Channel
) -> tuple[bool, int]:
    """Wait for a child's end or for a limit; return whether it ended, and the MiB over the limit.

    Each job has its time from its own beginning, and as much again as it has waited for a
    processor: it is not at fault for what else runs. All of them end after ``most_s``. What the
    child holds is looked at, not its address space: sanitizers and CUDA reserve terabytes.
    """
    limit_s, most_mib = task["limit_s"], task["memory_mib"]
    # The connection turns readable only at its end: one task at a time is sent.
    waiting = select.poll()
    waiting.register(handle, select.POLLIN)
    waiting.register(channel, select.POLLIN)
    begun, waited_s = time.monotonic(), 0.0
    until = begun + task["most_s"]
    while True:
        now = time.monotonic()
        if now >= until:
            return False, 0
        left_s = begun + limit_s + waited_s - now
        if left_s <= 0:
            before = begun, waited_s
            begun = max([begun, *journal.read()[0]])
            waited_s = min(_waited_s(child), MOST_WAITED * limit_s)
            if (begun, waited_s) == before:
                return False, 0
            continue
        wait_s = min(left_s, until - now, LOOK_EVERY_S if most_mib else left_s)
        ready = {descriptor for descriptor, _ in waiting.poll(wait_s * 1000)}
        if handle in ready:
            return True, 0
        if channel.fileno() in ready:
            return False, 0
        # The pages of the outputs belong to it as soon as it has written them.
        if most_mib and (used_mib := _held_mib(child)) > most_mib + (task["outputs_bytes"] >> 20):
            return False, used_mib


def _waited_s(child: int) -> float:
    """Return the seconds that the thread of a child which waited longest was kept from running."""
    waited_ns = 0
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{child}/task"):
            # Linux's scheduler statistics: time on a processor, and time spent waiting for one.
            text = Path(f"/proc/{child}/task/{task}/schedstat").read_text()
            waited_ns = max(waited_ns, int(text.split()[1]))
    return waited_ns * 1e-9


def _held_mib(child: int) -> int:
    """Return the MiB of memory that belong to a child alone, and to all that it has forked.

    Pages of files, such as the inputs, can be had again and do not count.
    """
    # What has left it is a child of this process.
    family = list(dict.fromkeys([child, *children_of(os.getpid())]))
    for pid in family:  # grows while it is walked
        family += children_of(pid)
    if len(family) == 1:
        return _own_kib(child, "status", ("RssAnon:", "RssShmem:")) >> 10
    # A page that several share counts once. It takes longer to tell, and few variants fork.
    parts = ("Pss_Anon:", "Pss_Shmem:")
    return sum(_own_kib(pid, "smaps_rollup", parts) for pid in family) >> 10


def _own_kib(pid: int, name: str, parts: tuple[str, ...]) -> int:
    """Return the KiB that a file about a process tells of; 0 where it has just ended."""
    try:
        text = Path(f"/proc/{pid}/{name}").read_text()
    except OSError:
        return 0
    rows = (line.split() for line in text.splitlines())
    return sum(int(row[1]) for row in rows if row and row[0] in parts)


def _be_child(task: dict[str, Any], outputs: int, words: int, journal: Journal) -> None:
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
        os.dup2(silence, 0)
        os.dup2(words, 1)
        os.dup2(words, 2)
        # As a program of C finds them, and not as Python sets them.
        for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        run_jobs(task, outputs, journal)
        code = 0
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        # Not sys.exit: a library's destructors could hang or crash after a good result.
        os._exit(code)


if __name__ == "__main__":
    main()
