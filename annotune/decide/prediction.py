"""What the model says of one kernel, and what a compiler may have told it before."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Compiled:
    """What a compiler made of a kernel, in the place of estimates.

    `registers` are 32-bit ones of a thread. The bytes of spills are those of the instructions
    that store and load them, of one thread; `shared_bytes` is the shared memory of a block.
    """

    registers: int
    spill_store_bytes: int = 0
    spill_load_bytes: int = 0
    shared_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Prediction:
    """The terms of one kernel's predicted time, in seconds; `time_s` joins them.

    `l1_s` is the time of the L1 or, where inputs are staged, of the shared memory in its place.
    `latency_s` is the time in which nothing is busy, since what one thread does next waits for
    what it did before. `occupancy` is the share of an SM's threads that are resident, `limit` the
    name of the slowest term. `registers` are those of a thread: a compiler's word where
    `is_compiled`, else an estimate.
    """

    time_s: float
    memory_s: float
    l2_s: float
    l1_s: float
    arithmetic_s: float
    issue_s: float
    latency_s: float
    occupancy: float
    limit: str
    registers: int
    is_compiled: bool
