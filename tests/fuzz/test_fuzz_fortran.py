"""Random Fortran 77: f2c takes all of it, and the texts of all targets run as what f2c wrote."""

from __future__ import annotations

from pathlib import Path

import pytest
from legacy_corpus import F2C
from support.laws import IS_THOROUGH

from .choices import Seeded
from .execute import Builder
from .fortran import drawn, numbered
from .functions.batch import outcome
from .functions.emitted import emitted
from .functions.run import run
from .functions.source import read
from .slow_part import chunks

pytestmark = pytest.mark.skipif(F2C is None, reason="f2c is not installed")
CHUNK = 20 if IS_THOROUGH else 4


def test_no_statement_is_longer_than_a_line_of_fortran() -> None:
    for number in range(60):
        text, _ = drawn(Seeded("fortran", 1, number), f"t{number}")
        assert all(len(row) <= 72 for row in text.splitlines() if row[:1] != "C")


def test_a_routine_comes_back_from_its_text() -> None:
    for number in range(5):
        source = numbered(1, number)
        assert read(source.whole()) == source
        assert numbered(1, number) == source


def test_a_mistake_is_noticed(tmp_path: Path) -> None:
    """A step of the original's loops is left out in the text of OpenMP."""
    (tmp_path / "emitted").mkdir()
    made = emitted(numbered(1, 12), tmp_path / "emitted", None)
    assert made.files
    text = made.source.text
    made.files = {"openmp": {"_omp.c": text.replace("i__ <= i__1", "i__ < i__1")}}
    assert made.files["openmp"]["_omp.c"] != text
    assert run([made], Builder(tmp_path, 1), tmp_path).faults


@pytest.mark.parametrize("chunk", chunks(5, 1))
def test_texts_of_random_fortran_run_as_the_original(chunk: int, tmp_path: Path) -> None:
    numbers = range(chunk * CHUNK, (chunk + 1) * CHUNK)
    found = outcome(2, numbers, tmp_path / "build", 0, draw=numbered)
    assert not found.failures, "\n".join(found.failures)
    assert found.counts["calls of cuda"] > CHUNK
