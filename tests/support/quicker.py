"""What compilers are asked so that they end sooner: a quick linker, and a header compiled once.

The header is that of CUDA for this CPU, compiled once for all of a test session's texts. g++ takes
``cuda_on_cpu.h.gch`` of a folder that it looks into earlier than into the run-time folder, where
the flags are those that it was made with; else it reads the header.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
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
_OF_A_TEXT = ("-ffile-prefix-map=", "-fuse-ld=", "-Wl,")
# No text for this CPU throws, and nobody unwinds its stack.
_WITHOUT_TABLES = ("-fno-exceptions", "-fno-asynchronous-unwind-tables", "-fno-stack-protector")
_LEVELS = ("-O1", "-O2", "-O3")
_used = Counter[tuple[str, ...]]()
# GNU's usual one takes as long to link libstdc++ as g++ takes for a short text.
_GOLD = ("-fuse-ld=gold",) if shutil.which("ld.gold") else ()


def quicker(command: Sequence[str]) -> Sequence[str]:
    """Return a command, a compiler's with what lets it end sooner.

    An object of the run-time folder is made once, too, and copied then.
    """
    if "-c" in command and FOLDER in os.environ:
        source, made = RUNTIME_FOLDER / command[-3], command[-1]
        # A name without a folder is that of a copy.
        if source.parent == RUNTIME_FOLDER and source.exists():
            words = [*command[:-3], str(source)]
            return ["cp", str(made_once(words, f"{source.stem}.o")), made]
    if Path(command[0]).name == "g++" and "-c" not in command:
        command = [command[0], *_GOLD, *command[1:]]
    if HEADER not in command or FOLDER not in os.environ:
        return command
    if not any(word.startswith("-fsanitize") for word in command):
        command = [command[0], *_WITHOUT_TABLES, *command[1:]]
    flags = (word for word in command[1:] if word.startswith(_OF_THE_LANGUAGE))
    key = (command[0], *(flag for flag in flags if not flag.startswith(_OF_A_TEXT)))
    _used[key] += 1
    words = (*key, "-x", "c++-header", str(RUNTIME_FOLDER / HEADER))
    if _used[key] < _USES and not _place(words, Path(os.environ[FOLDER])).exists():
        return command
    return [command[0], f"-I{made_once(words, f'{HEADER}.gch').parent}", *command[1:]]


def unoptimised(command: Sequence[str]) -> Sequence[str]:
    """Return a command, that for a text of annotune's or a user's with nothing to be optimised.

    gcc's passes take most of its time, and sizes are small. Code for a GPU stays as it is.
    """
    compiler = Path(command[0]).name
    is_text = compiler in ("gcc", "cc") or (compiler == "g++" and HEADER in command)
    if not is_text or any("nvptx" in word for word in command):
        return command
    return ["-O0" if word in _LEVELS else word for word in command]


def made_once(words: Sequence[str], name: str, otherwise: Path | None = None) -> Path:
    """Return a file that a compiler makes where no process of the session has done so before.

    Where there is no session its folder is `otherwise`.
    """
    place = _place(words, Path(os.environ.get(FOLDER, otherwise or tempfile.gettempdir())))
    if not place.exists():
        aside = Path(tempfile.mkdtemp(dir=place.parent))
        subprocess.run([*words, "-o", str(aside / name)], check=True, capture_output=True)
        with contextlib.suppress(OSError):  # it is there by now
            aside.rename(place)
    return place / name


def _place(words: Sequence[str], folder: Path) -> Path:
    return folder / hashlib.sha256("\0".join(words).encode()).hexdigest()[:16]
