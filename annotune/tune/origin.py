"""What a worker process elsewhere makes the checker of a region from: plain values alone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from annotune import __version__
from annotune.analysis.analyse import analyse
from annotune.ir.region import Region, SourceFile
from annotune.measure.check import Checker
from annotune.measure.command import run_command
from annotune.measure.compile import COMPILE_LIMIT_S
from annotune.measure.oracle import Oracle
from annotune.measure.toolchain import Toolchains
from annotune.tune.scratch import scratch_folder

_FOLDER_FLAG = re.compile(r"(-I|-iquote)(/.*)")


@dataclass(frozen=True)
class Origin:
    """One region, and all that its checker is made from.

    `flags` are those of the oracle, `tools` what `tools_text` says of the run's compilers.
    `headers` are the user's own that the source includes, by absolute path: no file system has to
    be shared. Workers on the run's own machine find the libraries that it has compiled in `folder`,
    which is empty for others. `name` is there once.
    """

    name: str
    source: SourceFile
    region: Region
    flags: tuple[str, ...]
    tools: str
    headers: Mapping[str, str]
    folder: str = ""


def origin_of(oracle: Oracle, is_here: bool) -> Origin:
    """Return what a worker on this machine, or on another one, makes an oracle's checker from."""
    return Origin(
        uuid.uuid4().hex,
        oracle.source,
        oracle.region,
        oracle.flags,
        tools_text(oracle.tools),
        {} if is_here else _headers(oracle),
        str(oracle.folder) if is_here else "",
    )


def tools_text(tools: Toolchains) -> str:
    """Return what must be the same wherever the trials of one run are compiled."""
    found = [tools.role(role) for role in ("c", "cxx", "nvcc")]
    versions = (tool.version if tool is not None else "none" for tool in found)
    return f"annotune {__version__}; " + "; ".join(versions)


def _headers(oracle: Oracle) -> dict[str, str]:
    """Return the texts of what the source includes and no system folder holds."""
    compiler = oracle.tools.c
    assert compiler is not None, "the original has been compiled"
    path = oracle.folder / "origin.c"
    path.write_bytes(oracle.source.text.encode("utf-8", "surrogateescape"))
    command = [*compiler.command, *compiler.flags, *oracle.flags, "-MM", str(path)]
    finished = run_command(command, COMPILE_LIMIT_S)
    # A rule of make: the goal, a colon, and files with a backslash before a space in a name.
    _, _, listed = finished.output.partition(":")
    names = re.findall(r"(?:\\[ #]|\$\$|[^\s\\$])+", listed) if finished.ok else []
    files = [Path(re.sub(r"\\([ #])", r"\1", name).replace("$$", "$")) for name in names]
    return {
        str(file.absolute()): file.read_bytes().decode("utf-8", "surrogateescape")
        for file in files
        if file != path
    }


class _Checkers:
    """The checker of the region at hand in this worker process; that of the one before is dropped.

    Regions come one after the other. Safe for many threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._name = ""
        self._checker: Checker | None = None
        self._open = ExitStack()

    def of(self, origin: Origin, tools: Toolchains) -> Checker:
        """Return the checker of `origin`, made where it is not the one at hand."""
        with self._lock:
            if self._checker is None or self._name != origin.name:
                self._open.close()
                self._checker = None
                self._checker = self._made(origin, tools)
                self._name = origin.name
            return self._checker

    def _made(self, origin: Origin, tools: Toolchains) -> Checker:
        if origin.folder:
            scratch = Path(origin.folder) / f"worker-{os.getpid()}"
            scratch.mkdir()
            # Checks look here for what is compiled; the same machine makes the same of a text.
            (scratch / "compiled").symlink_to(Path(origin.folder) / "compiled")
        else:
            scratch = self._open.enter_context(scratch_folder())
            self._open.enter_context(_removed_after_us(scratch))
        flags = _with_headers(origin, scratch / "headers")
        # What is known of a region holds objects of isl, which do not travel.
        analysis = analyse(origin.region)
        return Checker(Oracle(origin.source, analysis, tools, scratch, flags))


CHECKERS = _Checkers()


# Waits for the end of its input, which is that of the process that began it, however that ends.
_REMOVER = "import shutil, sys; sys.stdin.read(); shutil.rmtree(sys.argv[1], ignore_errors=True)"


@contextmanager
def _removed_after_us(folder: Path) -> Iterator[None]:
    """Have a folder removed when this process ends: engines kill their workers."""
    with subprocess.Popen(
        [sys.executable, "-S", "-c", _REMOVER, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ):
        yield


def _with_headers(origin: Origin, root: Path) -> tuple[str, ...]:
    """Write an origin's headers below `root`, and return the flags with which they are found."""
    for name, text in origin.headers.items():
        path = root / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    if not origin.headers:
        return origin.flags
    # The same tree below another root, so that headers find each other as they did.
    moved = (_FOLDER_FLAG.fullmatch(flag) for flag in origin.flags)
    return (*(f"{one[1]}{root}{one[2]}" for one in moved if one), *origin.flags)
