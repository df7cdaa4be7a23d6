"""The peak that a region is held against is that of the reals it computes with."""

from __future__ import annotations

import pytest

from annotune.tune.region_run import bytes_of_real


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        (["double", "int"], 8),
        (["float", "long"], 4),
        (["float", "double"], 8),
        (["float complex"], 4),
        (["double complex", "float"], 8),
        (["int"], 8),
        ([], 8),
    ],
)
def test_integers_have_no_peak(types: list[str], expected: int) -> None:
    assert bytes_of_real(types) == expected
