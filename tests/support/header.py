"""The header of CUDA for this CPU, compiled once for all of a test session's texts.

g++ takes ``cuda_on_cpu.h.gch`` of a folder that it looks into earlier than into the run-time
folder, where the flags are those that it was made with; else it reads the header.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from annotune.measure.compile import RUNTIME_FOLDER

HEADER = "cuda_on_cpu.h"
FOLDER = "ANNOTUNE_TESTS_HEADERS"
"""The environment's name of the folder where the processes of a session share what they make."""

# Making it takes as long as it saves in so many texts.
_USES = 4
_OF_THE_LANGUAGE = ("-std=", "-D", "-U", "-O", "-f", "-g", "-m", "-W", "-w")
_OF_A_TEXT = ("-ffile-prefix-map=", "-Wl,")
_used = Counter[tuple[str, ...]]()


def with_header(command: Sequence[str]) -> Sequence[str]:
    """Return a command of a compiler that finds the header compiled, if that has it at all."""
    if HEADER not in command or FOLDER not in os.environ:
        return command
    flags = (word for word in command[1:] if word.startswith(_OF_THE_LANGUAGE))
    key = (command[0], *(flag for flag in flags if not flag.startswith(_OF_A_TEXT)))
    _used[key] += 1
    place = Path(os.environ[FOLDER]) / hashlib.sha256("\0".join(key).encode()).hexdigest()[:16]
    if not place.exists():
        if _used[key] < _USES:
            return command
        _make(key, place)
    return [command[0], f"-I{place}", *command[1:]]


def _make(key: Sequence[str], place: Path) -> None:
    """Have the header compiled in a folder `place`, which another process may make too."""
    aside = Path(tempfile.mkdtemp(dir=place.parent))
    made = ("-x", "c++-header", str(RUNTIME_FOLDER / HEADER), "-o", str(aside / f"{HEADER}.gch"))
    subprocess.run([*key, *made], check=True, capture_output=True)
    try:
        aside.rename(place)
    except OSError:  # it is there
        return
