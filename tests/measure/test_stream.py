"""The processor's rates have their units and a plausible size."""

from __future__ import annotations

from dataclasses import replace

import pytest
from compilers import here

from annotune.measure.machine import cpu_facts, cpu_model, usable_cores


@pytest.mark.skipif(here().c is None, reason="no C compiler")
def test_rates_are_bytes_and_flop_per_second() -> None:
    cpu = cpu_facts(here())
    assert cpu.problem == ""
    assert cpu.cores == usable_cores() >= 1
    assert cpu.model == cpu_model() != ""
    # From a small board to a large server.
    assert 1e8 < cpu.bandwidth_bytes_s < 1e13
    assert 1e8 < cpu.peak_flop_s < 1e14
    assert cpu_facts(here()) is cpu


def test_without_a_compiler_there_are_no_rates() -> None:
    cpu = cpu_facts(replace(here(), c=None, problems={"c": "not on PATH"}))
    assert cpu.bandwidth_bytes_s == 0.0
    assert "not on PATH" in cpu.problem
