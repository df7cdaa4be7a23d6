"""Routines that f2c wrote, and what each target makes of them, called with the same arguments.

All arguments are references. Those that a row of the table names hold its values; other integers
are 1, other numbers small integers. Every element of every argument and COMMON block is compared,
to the rounding of sums in another order.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from legacy_corpus import FOLDER, Routine, c_routines, selected
from support.executed import SHARED, run
from support.python import python
from wrong.called import LIMIT_S, THREADS, Program

from annotune.codegen.target import load_target
from annotune.diagnostics import AnnotuneError
from annotune.pipeline import Settings, emit

CHILD = Path(__file__).with_name("legacy_child.py")
ELEMENTS = 3000
# Elements of a variable of each of f2c's types, and numpy's name of their type.
TYPES = {
    "integer": ("i4", 1),
    "logical": ("i4", 1),
    "shortint": ("i2", 1),
    "real": ("f4", 1),
    "doublereal": ("f8", 1),
    "complex": ("f4", 2),
    "doublecomplex": ("f8", 2),
}
_COMMON = re.compile(r"^struct \{\n(.*?)^\} (\w+);", re.MULTILINE | re.DOTALL)


def parameters(routine: str) -> list[tuple[str, str]]:
    """Return the names and f2c's types of a routine's parameters."""
    given = routine[routine.index("(") + 1 : routine.index(")")]
    found = []
    for one in given.split(","):
        type_name, name = one.replace("*", " ").split()
        found.append((name, type_name))
    return found


def commons(text: str) -> dict[str, list[tuple[str, str, int]]]:
    """Return the COMMON blocks of a C file: name, numpy's type and length of each member."""
    blocks: dict[str, list[tuple[str, str, int]]] = {}
    for body, symbol in _COMMON.findall(text):
        members = blocks.setdefault(symbol, [])
        for line in re.sub(r"/\*.*?\*/", "", body).split(";")[:-1]:
            type_name, _, names = line.strip().partition(" ")
            dtype, parts = TYPES[type_name]
            for name in names.split(","):
                length = re.search(r"\[(\d+)\]", name)
                count = int(length.group(1)) if length else 1
                members.append((name.split("[")[0].strip(), dtype, parts * count))
    return blocks


def jobs(row: Routine, text: str) -> list[dict[str, Any]]:
    """Return the calls of a routine, as the child takes them."""
    _, routine = c_routines(text)[row.name]
    returned = routine.split()[0]
    out = []
    for number, given in enumerate(row.arguments()):
        arguments = []
        for name, type_name in parameters(routine):
            dtype, parts = TYPES[type_name]
            values = given.pop(name.rstrip("_"), [])
            arguments.append([name, dtype, parts * ELEMENTS, values])
        assert not given, (row.name, given)
        out.append(
            {
                "function": f"{row.name}_",
                "number": number,
                "arguments": arguments,
                "commons": commons(text),
                "returns": TYPES[returned][0] if returned in TYPES else "",
            }
        )
    return out


# What a region makes decides which elements are to be copied: no target with a memory of its own
# can have it.
NOT_FOR_DEVICES = "AT225"


def emitted(folder: Path, text: str, rows: Sequence[Routine], target: str) -> list[Routine]:
    """Return those of the routines for which a target writes something."""
    written = []
    for row in rows:
        source = folder / "one.c"
        source.write_text(selected(text, [row.name]))
        try:
            emit(Settings(source, (target,)), [load_target(target)])
        except AnnotuneError as refusal:
            codes = {d.code for d in refusal.diagnostics}
            assert target != "openmp", (row.name, codes)
            assert codes == {NOT_FOR_DEVICES}, (row.name, codes)
        else:
            written.append(row)
    return written


class Routines:
    """Routines of one file built as f2c wrote them and as a target emits them."""

    def __init__(self, folder: Path, rows: Sequence[Routine], target: str) -> None:
        (file,) = {row.file for row in rows}
        text = (FOLDER / f"{file}.c").read_text()
        source = folder / "written"
        source.mkdir()
        shutil.copy(FOLDER / "f2c.h", source)
        self.rows = emitted(source, text, rows, target)
        (source / f"{file}.c").write_text(selected(text, [row.name for row in self.rows]))
        self.program = Program(folder, source / f"{file}.c", (target,))
        self.library = folder / "f2c_calls.so"
        run("gcc", "-w", *SHARED, "-shared", FOLDER / "f2c_calls.c", "-o", self.library, "-lm")
        self.jobs = [job for row in self.rows for job in jobs(row, text)]

    def faults(self) -> list[str]:
        """Return what the target's text leaves otherwise than the original, a line for each."""
        request = {
            "beside": str(self.library),
            "libraries": {name: str(path) for name, path in self.program.libraries.items()},
            "jobs": self.jobs,
        }
        child = python(
            CHILD,
            input=json.dumps(request),
            timeout=LIMIT_S,
            env={**os.environ, "OMP_NUM_THREADS": THREADS, "ACC_DEVICE_TYPE": "host"},
        )
        assert child.returncode == 0, child.stderr[-2000:]
        return child.stdout.splitlines()
