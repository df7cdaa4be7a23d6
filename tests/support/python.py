"""Python scripts in processes of their own that do not start anew: forks of one that waits.

To start Python and to import numpy takes longer than most scripts do.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

_WAITS = """
import ctypes, functools, json, os, pickle, random, runpy, sys, tempfile, types
import numpy
import numpy.ctypeslib

answers = os.fdopen(os.dup(1), "w", buffering=1)
for line in sys.stdin:
    given = json.loads(line)
    if not (own := os.fork()):
        break
    print(own, file=answers)
    print(os.waitstatus_to_exitcode(os.waitpid(own, 0)[1]), file=answers)
else:
    sys.exit()
answers.close()
for number, how in enumerate((os.O_RDONLY, os.O_WRONLY, os.O_WRONLY)):
    os.dup2(os.open(os.path.join(given["folder"], str(number)), how), number)
sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w", buffering=1)
os.chdir(given["place"])
os.environ.clear()
os.environ.update(given["environ"])
sys.argv = given["arguments"]
main = types.ModuleType("__main__")
sys.modules["__main__"] = main
if given["file"]:
    sys.path.insert(0, os.path.dirname(given["file"]))
    main.__file__ = given["file"]
exec(compile(given["text"], given["file"] or "<string>", "exec"), main.__dict__)
"""


@functools.cache
def _waiting() -> subprocess.Popen[bytes]:
    """Return the process that forks; it ends with this one, which counts the time that it used."""
    waiting = subprocess.Popen(
        [sys.executable, "-c", _WAITS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,  # what is read ahead `select` does not see
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    atexit.register(waiting.communicate)
    return waiting


def python(
    script: str | Path,
    *arguments: str | Path,
    timeout: float,
    input: str = "",
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Return how a script ended, which is a text or stands in a file, and what it wrote.

    Raises:
        subprocess.TimeoutExpired: It has been killed after so many seconds.
    """
    is_file = isinstance(script, Path)
    words = [str(one) for one in (script if is_file else "-c", *arguments)]
    with tempfile.TemporaryDirectory() as folder:
        texts = [Path(folder, str(number)) for number in range(3)]
        for path, text in zip(texts, (input, "", ""), strict=True):
            path.write_text(text)
        request = {
            "text": script.read_text() if isinstance(script, Path) else script,
            "file": str(script) if is_file else "",
            "arguments": words,
            "folder": folder,
            "place": str(Path.cwd()),
            "environ": dict(os.environ if env is None else env),
        }
        code, is_late = _asked(json.dumps(request), timeout)
        out, errors = (path.read_text(errors="replace") for path in texts[1:])
    if is_late:
        raise subprocess.TimeoutExpired(words, timeout, out, errors)
    return subprocess.CompletedProcess(words, code, out, errors)


def _asked(request: str, timeout: float) -> tuple[int, bool]:
    """Return the exit code of a fork, and whether it was killed."""
    waiting = _waiting()
    assert waiting.stdin is not None
    assert waiting.stdout is not None
    waiting.stdin.write(f"{request}\n".encode())
    own = int(waiting.stdout.readline())
    is_late = not select.select([waiting.stdout], [], [], timeout)[0]
    if is_late:
        os.kill(own, signal.SIGKILL)
    return int(waiting.stdout.readline()), is_late
