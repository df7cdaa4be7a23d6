"""AnySize: it changes nothing of a nest, and what it leaves open no step knows."""

from __future__ import annotations

from dataclasses import replace

from support.nests import refused
from support.regions import analysis_of

from annotune.schedule.apply import apply
from annotune.schedule.plan import Plan
from annotune.transforms.cache import AnySize
from annotune.transforms.transform import Context
from annotune.transforms.unroll import Unroll

TEXT = """\
#define K 3
void f(int n, int m, double *restrict a, const double *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 5; param m = 6; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i * m + j] += K * b[j];
    /*@ end @*/
}
"""


def test_the_other_steps_do_not_know_it() -> None:
    one = analysis_of(TEXT)
    known = Context(one, one.region.sizes)
    fixed = apply((Unroll(0, "j", 3),), known)
    open_ = apply((Unroll(0, "j", 3), AnySize(0, "m")), known)
    assert isinstance(fixed, Plan)
    assert isinstance(open_, Plan)
    assert fixed.constants.keys() == open_.constants.keys() | {"m"}
    # Six is a multiple of three, and m need not be.
    assert len(str(open_.steps)) > len(str(fixed.steps))
    unchanged = apply((AnySize(0, "m"), AnySize(0, "n")), known)
    assert isinstance(unchanged, Plan)
    assert unchanged.steps[0].body == one.region.nest.body


def test_what_no_call_gives_is_refused() -> None:
    one = analysis_of(TEXT)
    body = one.region.nest.body
    for name in ("K", "i", "k"):
        found = refused(AnySize(0, name), body, one)
        assert (found.code, f"'{name}'" in found.message) == ("AT339", True)
    found = refused(AnySize(0, "m"), body, replace(one, all_sizes=False))
    assert "the proofs hold at the tuned sizes alone" in found.message
    assert refused(AnySize(7, "m"), body, one).code != "AT339"
