"""Random positions and scopes of regions: gcc takes all originals, and their texts run alike."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.laws import IS_THOROUGH

from .functions.batch import outcome
from .functions.emitted import without_annotations
from .functions.positions import numbered
from .functions.source import read
from .slow_part import chunks

CHUNK = 20 if IS_THOROUGH else 4
WANTED = {"Data", "do", "f2c", "label", "neighbours", "switch", "view", "while", "without braces"}


def test_a_file_comes_back_from_its_text() -> None:
    for number in range(40):
        source = numbered(1, number)
        assert read(source.whole()) == source
        assert numbered(1, number) == source


def test_gcc_takes_what_is_drawn(tmp_path: Path) -> None:
    sources = [numbered(1, number) for number in range(60)]
    path = tmp_path / "positions.c"
    path.write_text("\n".join(one.text + one.harness for one in sources))
    command = ["gcc", "-std=gnu11", "-fsyntax-only", "-Werror=uninitialized", str(path)]
    subprocess.run(command, check=True)
    assert set().union(*(one.features for one in sources)) >= WANTED


NESTED = """\
/*@ begin Data ( enter = "a[n]"; exit = "a" ) @*/
/*@ begin PerfTuning () @*/
first
/*@ end @*/
host
/*@ begin PerfTuning () @*/
second
/*@ end @*/
/*@ end @*/"""


def test_a_refused_region_leaves_the_block_of_data_around_it() -> None:
    source = numbered(1, 0).with_text(NESTED)
    assert without_annotations(source, [7]).text.split("\n") == [
        "" if number in (6, 8) else row for number, row in enumerate(NESTED.split("\n"), 1)
    ]
    assert without_annotations(source, [5]).text.split("\n")[0] == ""
    assert without_annotations(source, [3, 7]).text.count("begin") == 1
    assert "begin" not in without_annotations(source, [99]).text


@pytest.mark.parametrize("chunk", chunks(5, 0))
def test_texts_of_random_positions_run_as_the_original(chunk: int, tmp_path: Path) -> None:
    numbers = range(chunk * CHUNK, (chunk + 1) * CHUNK)
    found = outcome(2, numbers, tmp_path / "build", 0, draw=numbered)
    assert not found.failures, "\n".join(found.failures)
    assert found.counts["calls of cuda"] > CHUNK
    assert found.counts["with arrays that stay"] > 0
