"""The text form of local arrays, printed and read back."""

from __future__ import annotations

import pytest
from support.nest_text import parse_nest, print_nest

from annotune.ir.nest import LocalArray

TEXT = """\
for i in 0:n
  local double rows[4][16]
  local double sums[4] for sum
  local double t = 0.0
  S0: rows[0][1] = a[i]
"""


def test_print_and_parse_are_inverse() -> None:
    nest = parse_nest(TEXT)
    assert print_nest(nest) == TEXT
    assert LocalArray("rows", "double", (4, 16)) in nest.loops()[0].body


def test_an_extent_is_a_number() -> None:
    with pytest.raises(ValueError, match="expected an integer at 'n"):
        parse_nest("local double rows[n]")
