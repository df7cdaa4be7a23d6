"""The sizes at which an analysis claims anything: those that emitted code tests for."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.brute import Machine

from annotune.analysis.facts import Analysis


def fulfils(analysis: Analysis, sizes: Mapping[str, int]) -> bool:
    """Return whether all conditions of an analysis hold at `sizes`."""
    machine = Machine(analysis.region, {**analysis.region.sizes, **sizes})
    return all(machine.value(one, {}, set()) for one in analysis.conditions)
