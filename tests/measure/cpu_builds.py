"""Builds and child processes for the tests of the CPU runtimes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from support.laws import IS_THOROUGH
from support.python import python
from support.quicker import HEADER, made_once, quicker

import annotune.measure

RUNTIME = Path(annotune.measure.__file__).parent / "runtime"
CHILD_LIMIT_S = 60
SHARED = ("-fPIC", "-fvisibility=default", "-fno-gnu-unique")
CUDA = ("-std=c++17", f"-I{RUNTIME}", "-include", HEADER, "-x", "c++")
ASAN = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-g1")
# As fast as can be where tests are run often.
LEVEL = "-O1" if IS_THOROUGH else "-O0"
# A memcpy that gcc expands itself would go unseen.
SEEN = tuple(f"-fno-builtin-{name}" for name in ("memcpy", "memmove", "memset"))
ALLOCATIONS = ("malloc", "calloc", "aligned_alloc", "posix_memalign")
WRAPPED = tuple(f"-Wl,--wrap={name}" for name in (*ALLOCATIONS, "memcpy", "memmove", "memset"))

# What a child's script finds defined. `call` runs an entry on n doubles in and n out.
_PRELUDE = """
import ctypes, json, sys
lib = ctypes.CDLL(sys.argv[1])
def text(name, *arguments):
    function = getattr(lib, name)
    function.restype = ctypes.c_char_p
    return function(*arguments).decode()
def call(name, n, values, size=None):
    source = (ctypes.c_double * len(values))(*values)
    result = (ctypes.c_double * (size or len(values)))()
    return getattr(lib, name)(n, source, result), list(result)
def races():
    return [text("annotune_race_message", i) for i in range(min(5, lib.annotune_race_count()))]
def say(*values):
    print(json.dumps(values))
"""


def run(*command: str | Path) -> None:
    words = quicker([str(part) for part in command])
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def build(folder: Path, name: str, text: str, compile_flags: Sequence[str]) -> Path:
    """Return the object file of `text`, which is C or C++ as the suffix of `name` says."""
    source = folder / name
    source.write_text(text)
    compiler = "gcc" if name.endswith(".c") else "g++"
    # The file last: -x holds for what follows it.
    run(compiler, LEVEL, *SHARED, *compile_flags, "-c", source, "-o", source.with_suffix(".o"))
    return source.with_suffix(".o")


def runtime_object(folder: Path, name: str) -> Path:
    words = ("g++", "-std=c++17", "-O2", "-fPIC", "-c", str(RUNTIME / f"{name}.cpp"))
    return made_once(words, f"{name}.o", folder)


def child(
    library: Path, script: str, environ: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run `script` with `library` loaded in a process of its own."""
    text, env = _PRELUDE + script, {**os.environ, **(environ or {})}
    if "LD_PRELOAD" not in env:
        return python(text, library, timeout=CHILD_LIMIT_S, env=env)
    return subprocess.run(
        [sys.executable, "-c", text, str(library)],
        capture_output=True,
        text=True,
        timeout=CHILD_LIMIT_S,
        env=env,
    )


def answers(library: Path, script: str, environ: Mapping[str, str] | None = None) -> list[object]:
    """Return what `script` said, a list for each call of ``say``."""
    done = child(library, script, environ)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def asan_environ() -> dict[str, str]:
    found = subprocess.run(
        ["g++", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    )
    return {"LD_PRELOAD": found.stdout.strip(), "ASAN_OPTIONS": "detect_leaks=0"}
