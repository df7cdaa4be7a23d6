"""Variables of ``decl`` that a region writes are results, also where C passes them by value."""

from __future__ import annotations

import pytest
from support.regions import text_regions

TEXT = """\
void f(int n, double r, double s, double *x)
{{
    double t = 0;
    /*@ begin PerfTuning (
      def input_params {{ param n = 8; }}
      def input_vars {{ {declared} decl double t = 0; decl double x[n] = random; }}
    ) @*/
    for (int i = 0; i < n; i++) {{
        r += x[i];
        s += 2 * x[i];
        t += 3 * x[i];
    }}
    /*@ end @*/
{after}}}
"""


@pytest.mark.parametrize(
    ("declared", "after", "expected"),
    [
        ("", "", set()),
        ("decl double r = 0;", "", {"r"}),
        ("decl double r = 0; decl double s = 0;", "", {"r", "s"}),
        # A pointer's target and a local variable are what C says they are.
        ("decl double r[1] = 0;", "    x[0] = t;\n", {"t"}),
    ],
)
def test_what_outlives_the_region(declared: str, after: str, expected: set[str]) -> None:
    (region,) = text_regions(TEXT.format(declared=declared, after=after))
    assert {s.name for s in region.scalars.values() if s.read_after} == expected
