"""Aligned: it changes nothing of a nest, and names what starts where a vector may."""

from __future__ import annotations

from support.nests import refused
from support.regions import analysis_of

from annotune.diagnostics import Span
from annotune.schedule.apply import apply
from annotune.schedule.plan import Kernel, Plan
from annotune.transforms.cache import Aligned
from annotune.transforms.transform import Context

COMMAND = Span("t.c", 77, 3, 9)
TEXT = """\
void f(int n, double *restrict a, const double b[restrict n][2], const double *restrict c)
{
    /*@ begin PerfTuning ( def input_params { param n = 5; } ) @*/
    for (int i = 0; i < n; i++)
        a[i] = b[i][0] * b[i][1] + c[i + 3];
    /*@ end @*/
}
"""


def test_the_nest_stays_as_it_is() -> None:
    one = analysis_of(TEXT)
    found = apply((Aligned(0, "b"),), Context(one, one.region.sizes))
    assert isinstance(found, Plan)
    (kernel,) = found.steps
    assert isinstance(kernel, Kernel)
    assert kernel.body == one.region.nest.body
    assert kernel.aligned == {"b"}


def test_what_need_not_start_there() -> None:
    one = analysis_of(TEXT)
    body = one.region.nest.body
    whys = {
        "a": "is no array that the nest reads",
        "n": "is no array that the nest reads",
        # The device has it from its fourth element on.
        "c": "is not on the device from its first element on",
    }
    for array, why in whys.items():
        found = refused(Aligned(0, array, span=COMMAND), body, one)
        assert (found.code, found.span) == ("AT344", COMMAND)
        assert found.message == f"aligned: '{array}' {why}"
    assert refused(Aligned(7, "b"), body, one).code != "AT344"
