"""What the model says of one kernel."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prediction:
    """The terms of one kernel's predicted time, in seconds; `time_s` joins them.

    `l1_s` is the time of the L1 or, where inputs are staged, of the shared memory in its place.
    `occupancy` is the share of an SM's threads that are resident, `limit` the name of the
    slowest term.
    """

    time_s: float
    memory_s: float
    l2_s: float
    l1_s: float
    arithmetic_s: float
    issue_s: float
    occupancy: float
    limit: str
