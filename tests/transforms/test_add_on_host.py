"""AddOnHost: it changes nothing of a nest, and names what is added to and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.nests import refused
from support.regions import analysis_of

from annotune.annotation.devices import load_device
from annotune.diagnostics import Span
from annotune.model.bounds import need_not_be_sent
from annotune.schedule.apply import apply
from annotune.schedule.plan import Kernel, Plan
from annotune.space.points import sums_on_host
from annotune.transforms.cache import AddOnHost, why_not_added
from annotune.transforms.transform import Context

COMMAND = Span("t.c", 77, 3, 9)


def text(statements: str, size: int = 5) -> str:
    """Return a function that does something to `c` in each of its iterations."""
    return (
        "void f(int n, double *restrict c, double *restrict d, float *restrict s,\n"
        "       int *restrict k, const double *restrict a, const int *restrict at)\n{\n"
        f"    /*@ begin PerfTuning ( def input_params {{ param n = {size}; }} ) @*/\n"
        f"    for (int i = 0; i < n; i++) {{ {statements} }}\n    /*@ end @*/\n}}\n"
    )


ADDED = {
    "c[i] += a[i];": "c",
    "c[i] -= a[i]; c[i] += 2.0 * a[i];": "c",
    "c[i] = c[i] + a[i] * a[n - 1 - i];": "c",
    "c[i] = a[i] - 1.0 + c[i];": "c",
    "if (a[i] > 0.0) c[i] += a[i];": "c",
    "for (int j = 0; j < n; j++) c[i] += a[j];": "c",
    "s[i] += (float)a[i]; d[i] = a[i];": "s",
}


@pytest.mark.parametrize("statements", ADDED)
def test_the_nest_stays_as_it_is(statements: str) -> None:
    one, array = analysis_of(text(statements)), ADDED[statements]
    found = apply((AddOnHost(0, array),), Context(one, one.region.sizes))
    assert isinstance(found, Plan)
    assert all(isinstance(kernel, Kernel) for kernel in found.steps)
    assert tuple(s for kernel in found.kernels() for s in kernel.body) == one.region.nest.body
    assert found.added == {array}


NOT_ADDED = "is read or set, and not only added to as a real number"
LOOKED = "is read by the host before the kernels"
FOR_ITSELF = "is read for what is added"
REFUSED = {
    "c[i] = a[i];": NOT_ADDED,
    "c[i] *= a[i];": NOT_ADDED,
    "c[i] = a[i] - c[i];": NOT_ADDED,
    "c[i] = c[i] + a[i] + c[i];": NOT_ADDED,
    "c[i] += a[i]; d[i] = c[i];": NOT_ADDED,
    "c[i] += a[i]; d[i] += c[n - 1 - i];": NOT_ADDED,
    "c[i] = 0.0; c[i] += a[i];": NOT_ADDED,
    "if (c[i] > 0.0) c[i] += a[i];": LOOKED,
    "c[i] = c[i] > a[i] ? c[i] : a[i];": NOT_ADDED,
    "c[i] += a[i] * c[n + i];": FOR_ITSELF,
    "if (c[n + i] > 0.0) c[i] += a[i];": LOOKED,
    "d[i] = a[i];": "is no array of the region",
}


@pytest.mark.parametrize("statements", REFUSED)
def test_what_has_to_be_sent(statements: str) -> None:
    one = analysis_of(text(statements))
    found = refused(AddOnHost(0, "c", span=COMMAND), one.region.nest.body, one)
    assert (found.code, found.span) == ("AT351", COMMAND)
    assert found.message == f"add_on_host: 'c' {REFUSED[statements]}"
    assert not sums_on_host(one, load_device("h200"))


def test_integers_narrow_sums_and_what_may_stay_on_the_device_are_sent() -> None:
    one = analysis_of(text("k[i] += at[i];"))
    assert why_not_added(one, "k") == NOT_ADDED
    assert why_not_added(one, "at") == NOT_ADDED
    # The sum of the two may have the range that one of them leaves.
    narrow = analysis_of(text("s[i] += a[i];"))
    assert why_not_added(narrow, "s").startswith("is narrower than what is added")
    real = analysis_of(text("c[i] += a[i];"))
    there = replace(real, region=replace(real.region, is_resident=True))
    assert why_not_added(there, "c") == "may stay on the device, where its values are"
    assert refused(AddOnHost(7, "c"), real.region.nest.body, real).code != "AT351"


def test_the_rules_have_it_added_where_the_bus_would_take_longer() -> None:
    device = load_device("h200")
    # 5 us of a launch are 275 KB on the bus.
    for size, pays in ((30_000, False), (60_000, True)):
        one = analysis_of(text("c[i] += a[i];", size))
        assert need_not_be_sent(one, "c", device) is pays
        assert sums_on_host(one, device) == ((AddOnHost(0, "c"),) if pays else ())
        # What is only read has to be sent.
        assert not need_not_be_sent(one, "a", device)
