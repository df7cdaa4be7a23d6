"""The values at which a plot has marks are round."""

from __future__ import annotations

import math
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from annotune.report.plots import MOST_TICKS, _round_values


@given(st.floats(0, 1e6), st.floats(1e-6, 1e6), st.sampled_from((0.0, 1.0)))
def test_marks_are_multiples_of_a_round_step(low: float, span: float, least_step: float) -> None:
    values = _round_values(low, low + span, least_step)
    assert len(values) <= MOST_TICKS + 1
    for one, other in pairwise(values):
        step = other - one
        digits = step / 10 ** math.floor(math.log10(step * 1.0001))
        assert min(abs(digits - round_one) for round_one in (1, 2, 5, 10)) < 1e-3
        assert step >= least_step * 0.999
    slack = 1e-9 * (low + span)
    assert all(low - slack <= value <= low + span + slack for value in values)
