"""Calls whose arrays start or end exactly where what the original touches does.

    check_borders(program.libraries, Call("f", 6, 12, Array("f8", 400)))

finds for each array the first and the last element that the original touches at that very call,
and calls every library with the array between pages that may not be touched: once with the first
element at a page's start, once with the last one at a page's end. Of an array that the original
does not touch no byte is there, and the pointer dangles or is NULL. What a call leaves is compared
byte by byte with what the original leaves.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from support.python import python

CHILD = Path(__file__).with_name("borders_child.py")
# A limit for what hangs; nothing that works comes near it.
LIMIT_S = 300
THREADS = "3"


class Called(Protocol):
    """A call as `wrong.called.Call` writes it."""

    @property
    def job(self) -> dict[str, Any]: ...


def check_borders(libraries: Mapping[str, Path], *calls: Called) -> None:
    """Assert that no library touches a byte outside of what ``original`` touches, and all agree."""
    for call, faults in zip(calls, border_faults(libraries, *calls), strict=True):
        assert not faults, f"{call}: {'; '.join(faults)}"


def border_faults(libraries: Mapping[str, Path], *calls: Called) -> list[list[str]]:
    """Return for each call what was seen to go wrong: library, placing, and what."""
    given = {name: str(path) for name, path in libraries.items()}
    child = python(
        CHILD,
        input=json.dumps({"libraries": given, "jobs": [call.job for call in calls]}),
        timeout=LIMIT_S,
        env={**os.environ, "OMP_NUM_THREADS": THREADS, "ACC_DEVICE_TYPE": "host"},
    )
    assert child.returncode == 0, (calls, child.returncode, child.stderr[-2000:])
    return [json.loads(line) for line in child.stdout.splitlines()]
