"""The runtime of emitted CUDA texts, played on this CPU: compiled once in a session of tests."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from annotune.measure.compile import RUNTIME_FOLDER
from annotune.measure.cuda_text import translate
from annotune.runtime.texts import CUDA_RUNTIME, RUNTIME_TEXTS
from support.quicker import FOLDER, HEADER, made_once

SHARED = ("-fPIC", "-fvisibility=default", "-fno-gnu-unique")
CUDA = (
    "-std=c++17",
    f"-I{RUNTIME_FOLDER}",
    f"-I{RUNTIME_TEXTS}",
    "-include",
    HEADER,
    "-x",
    "c++",
)
"""What has g++ take translated CUDA; all files after it are taken for C++."""
APART = ("-DANNOTUNE_APART", *CUDA)
"""The same for a text that is linked with the object of `cuda_player`, and ends sooner."""

CALLS_THE_RUNTIME = """
extern "C" int annotune_test(double *x)
{
    void *own = NULL;
    const cudaError_t status = annotune_allocate(&own, 8);
    annotune_free(own, status);
    return x == own;
}
"""
"""A text of CUDA that calls the runtime, without its head."""


def cuda_runtime(*flags: str, otherwise: Path | None = None) -> Path:
    """Return the object of the runtime, compiled with `flags`.

    Where there is no session of tests it lies in the folder `otherwise`.
    """
    folder = Path(os.environ.get(FOLDER, otherwise or tempfile.gettempdir()))
    source = folder / f"annotune_runtime_{CUDA_RUNTIME.hashed_version()}.cpp"
    if not source.exists():
        handle, aside = tempfile.mkstemp(dir=folder)
        with os.fdopen(handle, "w") as file:
            file.write(translate(CUDA_RUNTIME.texts[CUDA_RUNTIME.source]))
        os.replace(aside, source)
    words = ("g++", "-O0", *flags, *SHARED, *CUDA, "-c", str(source))
    return made_once(words, "runtime.o", otherwise)


def cuda_player(*flags: str, otherwise: Path | None = None) -> Path:
    """Return the object of what plays CUDA, compiled with `flags`, for texts that are apart."""
    source = RUNTIME_FOLDER / "cuda_on_cpu.cpp"
    words = ("g++", "-O0", *flags, *SHARED, *CUDA, "-DANNOTUNE_HERE", "-c", str(source))
    return made_once(words, "player.o", otherwise)
