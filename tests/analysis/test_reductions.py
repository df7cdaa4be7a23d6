"""Which statements accumulate, and with what operator."""

from __future__ import annotations

import pytest
from support.nest_text import parse_nest

from annotune.analysis.reductions import reduction_operator

OPERATORS = {
    "s += a[i]": "+",
    "s = s - a[i] * b[i]": "+",
    "s *= a[i]": "*",
    "s = fmax(s, a[i])": "max",
    "s = a[i] > s ? a[i] : s": "max",
    "s = a[i] >= s ? a[i] : s": "max",
    "s = s < a[i] ? a[i] : s": "max",
    "s = s <= a[i] ? a[i] : s": "max",
    "s = s > a[i] ? s : a[i]": "max",
    "s = s >= a[i] ? s : a[i]": "max",
    "s = a[i] < s ? s : a[i]": "max",
    "s = a[i] < s ? a[i] : s": "min",
    "s = s > a[i] ? a[i] : s": "min",
    "s = s <= a[i] ? s : a[i]": "min",
    "s = a[i] >= s ? s : a[i]": "min",
    "c[j] = fabs(a[i]) > c[j] ? fabs(a[i]) : c[j]": "max",
    "s += a[i] if b[i] > 0": "+",
    "s = a[i] > s ? a[i] : s if i > 2": "max",
    "s = s + (b[i] > 0 ? a[i] : 0)": "+",
    "s += a[i] if s < 10": None,
    "s += s": None,
    "s = a[i] > s ? b[i] : s": None,
    "s = a[i] > t ? a[i] : s": None,
    "s = a[i] == s ? a[i] : s": None,
    "s = a[i] + s > s ? a[i] + s : s": None,
    "s = s > s ? s : s": None,
    "c[j] = c[j + 1] > c[j] ? c[j + 1] : c[j]": "max",
    "s = a[i] > 0 ? s + a[i] : s": "+",
    "s = a[i] > 0 ? s + a[i] : s - 1": "+",
    "s = a[i] > 0 ? s + a[i] : s * 2": None,
    "s = s > 0 ? s + a[i] : s": None,
    "s = b[i] + (s - a[i])": "+",
    "s = b[i] - (a[i] - s)": "+",
    "s = (s + a[i]) * b[i]": None,
    "s = fmax(a[i], fmax(s, b[i]))": "max",
    "s = fmax(a[i], fmin(s, b[i]))": None,
}


@pytest.mark.parametrize("statement", OPERATORS)
def test_the_operator(statement: str) -> None:
    (assign,) = parse_nest(statement).assigns()
    assert reduction_operator(assign) == OPERATORS[statement]
