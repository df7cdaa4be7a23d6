"""Fortran 77 as f2c writes it: what annotune says of each routine, and that it is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from legacy_calls import Routines
from legacy_corpus import (
    F2C,
    FOLDER,
    c_routines,
    found_in,
    is_worse,
    is_wrong,
    nest_loops,
    routines,
    translated,
)
from legacy_page import PAGE

from annotune.codegen.target import DEFAULT_TARGETS

ROUTINES = routines()
FILES = sorted({row.file for row in ROUTINES})
# Many nests that are alike, and large ones.
LONG = {"triples", "blas2", "blas3", "zblas", "nekbone", "lapack"}
READ = [pytest.param(f, marks=(pytest.mark.slow,) if f in LONG else ()) for f in FILES]


def test_the_table_has_every_routine_and_every_loop() -> None:
    listed = {(row.file, row.name) for row in ROUTINES}
    assert len(listed) == len(ROUTINES)
    there = {}
    for path in FOLDER.glob("*.c"):
        for name, (first, text) in c_routines(path.read_text()).items():
            there[path.stem, name] = len(nest_loops(text, first))
    assert listed == set(there)
    for row in ROUTINES:
        assert len(row.mathematics) == there[row.file, row.name], row.name
        assert {*row.mathematics} <= {*"PRS"}, row.name


@pytest.mark.skipif(F2C is None, reason="f2c is not installed")
@pytest.mark.parametrize("file", FILES)
def test_the_text_is_what_f2c_writes(file: str) -> None:
    assert translated(FOLDER / f"{file}.f") == (FOLDER / f"{file}.c").read_text()


@pytest.mark.alike(9)
@pytest.mark.parametrize("file", READ)
def test_no_routine_is_read_worse_or_better_than_it_is(file: str) -> None:
    found = found_in(FOLDER / f"{file}.c")
    for row in ROUTINES:
        if row.file == file:
            state = found[row.name].state
            assert not is_wrong(state, row.mathematics), (row.name, state, row.mathematics)
            # What is better goes into the table by benchmarks/legacy.py --update.
            assert not is_worse(state, row.state), (row.name, state, row.state)


# A small file for one target; all files for all targets are slow.
QUICK = {("fft", "cuda")}
RUNS = [
    pytest.param(file, target, marks=() if (file, target) in QUICK else (pytest.mark.slow,))
    for file in FILES
    for target in DEFAULT_TARGETS
]


@pytest.mark.parametrize(("file", "target"), RUNS)
def test_what_is_written_does_what_the_fortran_does(file: str, target: str, tmp_path: Path) -> None:
    rows = [row for row in ROUTINES if row.file == file and row.is_accepted]
    if rows:
        assert not Routines(tmp_path, rows, target).faults()


def test_the_page_has_every_routine() -> None:
    rows = re.findall(r"^\| (\w+) \| [^|]* \| ([PRS]+) \|", PAGE.read_text(), re.MULTILINE)
    assert rows == [(row.name, row.mathematics) for row in ROUTINES]
