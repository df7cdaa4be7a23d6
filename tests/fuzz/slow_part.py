"""Chunks of random programs: the first in every run of the tests, the others in the long one."""

from __future__ import annotations

from typing import Any

import pytest


def chunks(count: int, quick: int) -> list[Any]:
    """Return the numbers below `count`, those from `quick` on marked as slow."""
    return [pytest.param(k, marks=(pytest.mark.slow,) if k >= quick else ()) for k in range(count)]
