"""Which type rounds on the way to an output: the unit of its tolerance."""

from __future__ import annotations

import pytest
from support.regions import find_annotations

from annotune.frontend.load import load
from annotune.ir.region import Region
from annotune.measure.tolerance import coarsest_type

TEXT = """\
void f(int n, double *a, const double *b, double *c, const float *x, float *y, double *z)
{{
    float half;
    /*@ begin PerfTuning () @*/
    for (int i = 0; i < n; i++) {{
        {body}
    }}
    /*@ end @*/
}}
"""


def region(body: str) -> Region:
    text = TEXT.format(body=body)
    return load("f.c", text, find_annotations(text, "f.c")).regions[0]


@pytest.mark.parametrize(
    ("body", "output", "element"),
    [
        ("a[i] += b[i]; y[i] = x[i];", "a", "double"),
        ("a[i] += b[i]; y[i] = x[i];", "y", "float"),
        ("a[i] = x[i] * b[i];", "a", "float"),
        ("z[i] = x[i]; a[i] = z[i];", "a", "float"),
        ("half = b[i]; a[i] = half;", "a", "float"),
        ("a[i] = 0.5f * b[i];", "a", "float"),
        ("a[i] = 0.5 * b[i]; c[i] = 0.5f;", "a", "double"),
    ],
)
def test_a_float_counts_where_it_flows(body: str, output: str, element: str) -> None:
    assert coarsest_type(region(body), {output}) == element
