"""The clock of a measuring child: how often a call is timed, and from which state of the caches.

Imports only what a child needs.
"""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy.typing as npt

from annotune.measure.load import share_waited, waited_s

SHORTEST_SAMPLE_S = 20e-6
"""Calls shorter than this are timed several at once: a call through ctypes costs 1 us."""

LARGEST_BATCH = 64
"""So many calls at most between restorations, so that repeated updates stay finite."""

ROTATING_BYTES = 64 << 20
"""The buffers of the calls of one batch hold no more than this together."""

EVICTED_BYTES = 256 << 20
"""Of more than this, no cache holds what the next run begins with; emptying it would take long."""

CLEARLY_WORSE = 1.5
"""A variant whose fastest run takes this many times the best one's is given up."""

_NORMAL_95 = 1.96

Values = npt.NDArray[Any]


class Call(Protocol):
    """A run of the region on arrays of its own."""

    @property
    def values(self) -> Sequence[Values]:
        """Return the arrays, in the order of the job's buffers."""

    def restore(self) -> None:
        """Set the scalars to what they were."""

    def __call__(self) -> None:
        """Run once."""


class Clock:
    """Times the calls of a library as `plan` says.

    `pristine` are the arrays before a run, of which those in `written` are restored before each
    sample. `another` makes a further call on arrays of its own. `evictor` is the library that
    empties this processor's caches, empty where they shall stay as they are.
    """

    def __init__(
        self,
        library: ctypes.CDLL,
        plan: dict[str, Any],
        pristine: Sequence[Values],
        written: Sequence[bool],
        evictor: str,
    ) -> None:
        self._plan, self._pristine, self._written = plan, pristine, written
        flush = getattr(library, "annotune_flush_l2", None)
        self._flush = flush if plan["is_cold"] else None
        self._kernel_clock = _seconds(library, "annotune_kernel_seconds")
        self._flush_clock = _seconds(library, "annotune_flush_seconds")
        self._bytes = sum(values.nbytes for values in pristine)
        self._evict: Any = None
        if plan["is_cold"] and flush is None and evictor and self._bytes <= EVICTED_BYTES:
            self._evict = ctypes.CDLL(evictor).annotune_evict
        # What is larger than every cache is as good as cold: each run ends with other data there.
        is_large = plan["is_cold"] and self._bytes > EVICTED_BYTES
        self._is_cold = is_large or self._flush is not None
        self._kernel_s: list[float] = []

    def times(self, call: Call, first_s: float, another: Callable[[], Call]) -> dict[str, Any]:
        """Return seconds per call, each from restored inputs, and how they were taken.

        The first call of all, for the outputs, took `first_s` and was one warm-up already. On a
        GPU the time in kernels is told apart. At the end `call` has run once from restored inputs.
        """
        plan = self._plan
        warm_s = first_s
        if self._kernel_clock is not None:
            self._kernel_clock()  # what the first call took is no part of a sample
        for _ in range(plan["warm_ups"]):
            warm_s = min(warm_s, self._sample([call]))
        # On a GPU it is the kernels that may be too short to be timed one by one.
        warm_s = min((s for s in self._kernel_s if s > 0), default=warm_s)
        calls = self._batch(call, warm_s, another)
        give_up_s = CLEARLY_WORSE * plan["best_s"] if plan["best_s"] else math.inf
        times_s: list[float] = []
        self._kernel_s.clear()
        censored = False
        begin, waited = time.perf_counter(), waited_s()
        while len(times_s) < plan["runs"]:
            times_s.append(self._sample(calls))
            if len(times_s) < plan["least_runs"]:
                continue
            told = self._kernel_s or times_s
            censored = min(told) > give_up_s
            is_over = time.perf_counter() - begin > plan["budget_s"]
            if censored or is_over or is_narrow(told, plan["narrow"]):
                break
        found = {
            "times_s": times_s,
            "kernel_s": list(self._kernel_s),
            "censored": censored,
            "is_cold": self._is_cold,
            "waited": share_waited(waited, time.perf_counter() - begin),
        }
        if calls.count(call) > 1:
            # Its arrays hold the work of several calls on top of each other.
            self._sample([call])
        return found

    def _batch(self, call: Call, warm_s: float, another: Callable[[], Call]) -> list[Call]:
        """Return the calls of one sample, so many that it is long enough to be timed.

        Where caches are to be cold each has arrays of its own, or all but the first were warm.
        """
        batch = max(1, min(LARGEST_BATCH, math.ceil(SHORTEST_SAMPLE_S / max(warm_s, 1e-9))))
        if self._evict is None and self._flush is None:
            return [call] * batch
        most = max(1, ROTATING_BYTES // max(1, self._bytes))
        return [call, *(another() for _ in range(min(batch, most) - 1))]

    def _sample(self, calls: Sequence[Call]) -> float:
        """Return the seconds of one call, as the mean over `calls`."""
        for call in dict.fromkeys(calls):
            self._prepare(call)
        start = time.perf_counter()
        for call in calls:
            if self._flush is not None:
                self._flush()
            call()
        flushing_s = 0.0 if self._flush_clock is None else self._flush_clock()
        time_s = max(0.0, time.perf_counter() - start - flushing_s) / len(calls)
        if self._kernel_clock is not None:
            self._kernel_s.append(self._kernel_clock() / len(calls))
        return time_s

    def _prepare(self, call: Call) -> None:
        for values, start, is_written in zip(
            call.values, self._pristine, self._written, strict=True
        ):
            if is_written:
                values[:] = start
        call.restore()
        for values in call.values if self._evict is not None else ():
            address, size = ctypes.c_void_p(values.ctypes.data), ctypes.c_size_t(values.nbytes)
            self._is_cold = bool(self._evict(address, size))


def _seconds(library: ctypes.CDLL, name: str) -> Any:
    """Return a function that tells seconds since its last call, or None where there is none."""
    clock = getattr(library, name, None)
    if clock is not None:
        clock.restype = ctypes.c_double
    return clock


def is_narrow(times_s: Sequence[float], share: float) -> bool:
    """Return whether the median is known to this share of it, at 95%.

    The interval is between two of the sorted times, whatever their distribution. Source: W. J.
    Conover, "Practical Nonparametric Statistics", 1999, section 3.2.
    """
    count = len(times_s)
    first = math.floor((count - _NORMAL_95 * math.sqrt(count)) / 2)
    if first < 0 or count < 6:
        return False
    ordered = sorted(times_s)
    return ordered[count - 1 - first] - ordered[first] <= share * ordered[count // 2]
