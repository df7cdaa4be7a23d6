"""Building and running a program that records its regions."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from annotune.diagnostics import NOWHERE, AnnotuneError, Span, Template
from annotune.measure.capture.instrumented import Recording
from annotune.measure.command import signal_name

FILE = "{file}"
"""What stands for the instrumented file in a build command."""

BUILD_FAILED = Template(
    "AT693",
    "the build ended with {ending}: {command}",
    "its own words stand above; the text that it compiles is '{path}'",
)
NO_PROGRAM = Template(
    "AT694",
    "cannot run '{program}': {reason}",
    "name the program after --, such as: annotune capture {source} -- ./program",
)


def forget(folder: Path, stem: str) -> None:
    """Remove the records of a file in a folder: those that this run of the program replaces."""
    start = f"{stem}-"
    with suppress(FileNotFoundError):
        for path in folder.iterdir():
            is_record = path.name.startswith(start) and path.suffix in (".json", ".bin", ".part")
            if is_record and path.name[len(start) :].split("-")[0].isdecimal():
                path.unlink(missing_ok=True)
        (folder / f"{stem}.taken").unlink(missing_ok=True)


def build(command: str, path: Path, source: Path, environ: Mapping[str, str]) -> None:
    """Run the shell's line `command` with the instrumented file at `path` in place of `source`.

    Headers beside the source are found as before.

    Raises:
        AnnotuneError: It ends with an error.
    """
    line = command.replace(FILE, shlex.quote(str(path)))
    beside = [str(source.absolute().parent), environ.get("CPATH", "")]
    own = {**environ, "CPATH": os.pathsep.join(filter(None, beside))}
    ended = subprocess.run(["/bin/sh", "-c", line], env=own, check=False).returncode
    if ended:
        where = Span("--build", 1, 1)
        values = {"ending": _ending(ended), "command": line, "path": path}
        raise AnnotuneError.of(BUILD_FAILED.at(where, **values))


def record(words: Sequence[str], how: Recording, source: Path, environ: Mapping[str, str]) -> str:
    """Run a program to its end, with this terminal; return how it ended, nothing where well.

    Ctrl-C is the program's: what it has recorded by then is told as ever.

    Raises:
        AnnotuneError: There is no such program.
    """
    own = {
        **environ,
        "ANNOTUNE_CAPTURE": str(how.folder.absolute()),
        "ANNOTUNE_CAPTURE_BYTES": str(how.max_bytes),
        "ANNOTUNE_CAPTURE_CALLS": str(how.calls),
    }
    # Not ignored: whoever is started by one who ignores a signal ignores it as well.
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    try:
        ended = subprocess.run([*words], env=own, check=False).returncode
    except OSError as error:
        reason = error.strerror or str(error)
        values = {"program": words[0], "reason": reason, "source": source}
        raise AnnotuneError.of(NO_PROGRAM.at(NOWHERE, **values)) from error
    finally:
        signal.signal(signal.SIGINT, before)
    return _ending(ended) if ended else ""


def _ending(code: int) -> str:
    return signal_name(-code) if code < 0 else f"exit code {code}"
