"""Functions that are easily got wrong, run as written and as every target makes them.

The program calls each function at several sizes, where nothing runs among them, and prints what
it leaves; what the emitted files print must be the same, character by character.
"""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

import pytest
from support.executed import run
from support.runtime import APART, cuda_player, cuda_runtime

from annotune.codegen.target import DEFAULT_TARGETS, load_target
from annotune.measure.compile import ACC_MEMORY, RUNTIME_FOLDER
from annotune.measure.cuda_text import translate
from annotune.measure.directives import as_openmp_with_memory
from annotune.pipeline import Settings, emit
from annotune.report.findings import Emission

PROGRAM = Path(__file__).parent / "awkward.c"
# What is never set is not 0, or something useful, by accident.
C = ("gcc", "-std=gnu11", "-w", "-O1", "-ftrivial-auto-var-init=pattern")
LIMIT_S = 600


@cache
def emitted() -> Emission:
    return emit(Settings(PROGRAM, DEFAULT_TARGETS), [load_target(name) for name in DEFAULT_TARGETS])


def printed(program: Path) -> list[str]:
    done = subprocess.run([program], capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    program = tmp_path_factory.mktemp("awkward") / "original"
    run(*C, "-fsanitize=undefined", "-fno-sanitize-recover", PROGRAM, "-o", program)
    return printed(program)


def built(target: str, folder: Path) -> Path:
    """Return a program made of what `target` emits, run by several threads or in odd orders."""
    files = emitted().files
    program, host = folder / "made", folder / "host.c"
    if target == "cuda":
        host.write_text(files["_cuda.c"])
        (folder / "device.cu").write_text(translate(files[".cu"]))
        run(*C, "-c", host, "-o", folder / "host.o")
        run("g++", "-O0", "-w", *APART, "-c", folder / "device.cu", "-o", folder / "device.o")
        played = cuda_runtime(), cuda_player()
        run("g++", folder / "host.o", folder / "device.o", *played, "-o", program)
        return program
    # gcc would run OpenACC with one thread, and in one memory.
    is_acc = target == "openacc"
    host.write_text(as_openmp_with_memory(files["_acc.c"]) if is_acc else files["_omp.c"])
    memory = (*ACC_MEMORY, RUNTIME_FOLDER / "acc_memory.c") if is_acc else ()
    run(*C, "-fopenmp", *memory, host, "-o", program)
    return program


@pytest.mark.alike(3)
@pytest.mark.parametrize("target", DEFAULT_TARGETS)
def test_emitted_files_do_what_the_program_does(
    target: str, expected: list[str], tmp_path: Path
) -> None:
    found = printed(built(target, tmp_path))
    assert len(found) == len(expected)
    for got, wanted in zip(found, expected, strict=True):
        name = wanted.split(":")[0]
        assert got == wanted, name
