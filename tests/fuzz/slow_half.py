"""Chunks of random programs: a first half in every run of the tests, the others in the long one."""

from __future__ import annotations

from typing import Any

import pytest


def halves(count: int) -> list[Any]:
    """Return the numbers below `count`, the later half of them marked as slow."""
    return [
        pytest.param(k, marks=(pytest.mark.slow,) if 2 * k >= count else ()) for k in range(count)
    ]
