"""How busy a machine is, beside what is measured on it. Imports only what a child may."""

from __future__ import annotations

import os
import re

PRESSURE = "/proc/pressure/cpu"
"""Linux's pressure stall information, documented in its admin-guide/psi.rst; absent elsewhere."""

BUSY = 0.1
"""Tasks that wait for a processor in more than this share of a time disturb what is timed in it."""

IDLE_LOAD = 0.5
"""A load average above this share of the processors, before anything is measured, is a busy one."""


def waited_s(path: str = PRESSURE) -> float | None:
    """Return the seconds since the start of the machine in which a task waited for a processor.

    None where the system does not tell.
    """
    try:
        with open(path) as file:
            found = re.search(r"^some .*\btotal=(\d+)", file.read(), re.MULTILINE)
    except OSError:
        return None
    return int(found[1]) * 1e-6 if found else None


def load_average() -> float | None:
    """Return how many tasks ran or waited in the last minute, on average."""
    try:
        return os.getloadavg()[0]
    except OSError:
        return None


def share_waited(before: float | None, wall_s: float) -> float | None:
    """Return the share of a time in which a task waited for a processor, None if unknown."""
    now = waited_s()
    if before is None or now is None or wall_s <= 0:
        return None
    return min(1.0, max(0.0, now - before) / wall_s)
