"""Arrays that a region declares: one of each iteration, with what braces start it with."""

from __future__ import annotations

import pytest
from source_text import OPEN, load_region, marked, refusals, region
from support.nest_text import print_nest

LOOP = "for (i = 0; i < n; i++)"


def test_a_small_array_of_each_iteration() -> None:
    found = load_region(f"{LOOP} {{ double t[2][3]; t[1][i] = b[i]; a[i] = t[0][1]; }}")
    assert print_nest(found.nest) == (
        "for i in 0:n\n  local double t[2][3]\n  S0: t[1][i] = b[i]\n  S1: a[i] = t[0][1]\n"
    )
    assert "t" not in found.arrays


def test_braces_give_every_element_its_value() -> None:
    found = load_region(f"{LOOP} {{ double t[2][2] = {{{{1.0, x}}, {{2.0}}}}; a[i] = t[1][1]; }}")
    assert print_nest(found.nest).splitlines()[2:6] == [
        "  S0: t[0][0] = 1.0",
        "  S1: t[0][1] = x",
        "  S2: t[1][0] = 2.0",
        "  S3: t[1][1] = 0",
    ]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (f"{LOOP} {{ double «t»[n]; a[i] = t[0]; }}", "AT127"),
        (f"{LOOP} {{ double *«t»; a[i] = t[0]; }}", "AT127"),
        (f"{LOOP} {{ double t[2] = {{«1.0, 2.0, 3.0»}}; a[i] = t[0]; }}", "AT139"),
        (f"{LOOP} {{ static double «t»[2]; a[i] = t[0]; }}", "AT123"),
        (f"{LOOP} {{ double t[2]; a[i] = «t[0][1]»; }}", "AT136"),
    ],
)
def test_refusals(body: str, code: str) -> None:
    text, place = marked(region(body))
    assert OPEN in text
    found = refusals(text)
    assert [(d.code, d.span) for d in found] == [(code, place)]
