"""Every gap says what it costs and how it is closed."""

from __future__ import annotations

import os
from dataclasses import replace

from compilers import here

from annotune.measure.machine import Gpu, Need, NoGpu, examine, report

NOTHING = replace(
    here(),
    c=None,
    cxx=None,
    nvcc=None,
    nvc=None,
    openmp=False,
    openacc=False,
    offload=(),
    asan="",
    problems={"c": "CC=/no/such: exit code 127"},
)


def test_every_gap_has_its_cost_and_its_remedy() -> None:
    found = report(NOTHING, NoGpu("pycuda is not installed"))
    assert not found.is_usable
    for item in found.missing():
        assert item.problem
        assert item.cost
        assert item.remedy, item.name
    first = found.missing()[0]
    assert (first.name, first.need) == ("C compiler", Need.REQUIRED)
    assert first.problem == "CC=/no/such: exit code 127"


def test_what_is_here_says_where() -> None:
    gpu = Gpu(0, "NVIDIA H200", "GPU-5a1e", "sm_90", 150 << 30, 132, 50 << 20)
    items = {item.name: item for item in report(here(), gpu).items}
    assert items["GPU"].where == "NVIDIA H200 (GPU-5a1e)"
    assert items["GPU"].version == "sm_90, 150 GiB"
    for item in items.values():
        assert item.is_found == (item.problem == "")
        assert bool(item.where) == item.is_found


def test_examine_uses_the_environment_it_is_given() -> None:
    items = {i.name: i for i in examine({"PATH": os.environ["PATH"], "CC": "/no/such"}).items}
    assert not items["C compiler"].is_found
    assert "/no/such" in items["C compiler"].problem
