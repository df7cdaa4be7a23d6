"""Threads that have an iteration each find its rows of arrays in the block's memory."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.executed import Call, Executable, Part, emitted

from annotune.pipeline import Emission

TEXT = (Path(__file__).parent / "rows.c").read_text()
# How many elements of each array an iteration has, in the order of the parameters.
ROWS = {
    "lu8": (64,),
    "cholesky": (36,),
    "unit": (3,),
    "solve4": (16, 4),
    "column": (20, 20, 20),
    "sort4": (4,),
    "rotated": (6, 9),
    "apart": (12, 12),
    "jordan5": (25, 5),
}
FLOATS = {"cholesky": (0,), "jordan5": (0, 1)}
# At other sizes threads have its iterations with the arrays where they are.
AT_TUNED_SIZES_ALONE = "jordan5"


@pytest.fixture(scope="module")
def emission(tmp_path_factory: pytest.TempPathFactory) -> Emission:
    return emitted(tmp_path_factory.mktemp("rows"), TEXT)


def test_every_call_gives_what_the_c_gives(emission: Emission, tmp_path: Path) -> None:
    built = Executable(tmp_path, TEXT, emission.files, "-Wno-parentheses")
    calls = [
        Call(
            name,
            (n, *(Part(k) for k in range(len(rows)))),
            tuple(max(1, n * row) for row in rows),
            floats=FLOATS.get(name, ()),
        )
        for name, rows in ROWS.items()
        for n in (96, 1, 33, 0, 161)
    ]
    built.check(*calls)


def test_each_of_their_kernels_has_rows_in_shared_memory_at_all_sizes(emission: Emission) -> None:
    texts = re.split(r"(?m)^__global__ void ", emission.files[".cu"])[1:]
    kernels = [text.partition("\n}\n")[0] for text in texts]
    without = [one[:60] for one in kernels if "__shared__" not in one and "_original(" not in one]
    without = [one for one in without if f"{AT_TUNED_SIZES_ALONE}_1_s0(" not in one]
    assert f"{AT_TUNED_SIZES_ALONE}_1_s0_tuned(" in emission.files[".cu"]
    assert len(kernels) >= len(ROWS)
    assert not without
