"""Texts whose limits near 2^31 lie near 2^15, so that sizes on both sides of them can be run.

A loop in steps of 16 may go up to 15 beyond its last iteration, which an int near its end cannot
(`annotune.codegen.reach`). No memory holds an array of so many elements; with a shorter counter,
and the limit as near to its end, a few thousand show what lies beyond.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from annotune.analysis.facts import Analysis
from annotune.measure.sizes import fulfilling, is_possible, open_sizes

NEAR_LIMITS_ITERATIONS = 3_000_000
"""How many assignments a run near a limit may make."""

# How far a limit lies below the end of a type at the most: beyond it is no limit of a step. That
# of a whole grid is some multiple of 2^26 elements.
_NEAR = 1 << 14
_GRID = 1 << 16
_ENDS = {1 << 31: 1 << 15, 1 << 32: 1 << 16}
_LIMIT = re.compile(r"\b(\w+) <= (\d{10})\b")
_EXTENT = re.compile(r"(\bannotune_extent\([^;\n]*?, )(\d+)\)")
_STEPS = re.compile(r"\bfor \((?:(unsigned)(?: int)?|int) (?=(\w+) = [^;]*;[^;]*; \2 \+= )")


def with_near_limits(text: str) -> str:
    """Return `text` with each limit near the end of a type, and counters in steps, 16 bits less."""
    text = _LIMIT.sub(lambda found: f"{found[1]} <= {_nearer(int(found[2]))}", text)
    text = _EXTENT.sub(lambda found: f"{found[1]}{_fewer(int(found[2]))})", text)
    return _STEPS.sub(lambda found: f"for ({found[1] or ''} short ".replace("( ", "("), text)


def near_limits(texts: Iterable[str], analysis: Analysis) -> tuple[Mapping[str, int], ...]:
    """Return sizes of which one is at a limit of `texts` `with_near_limits`, or one more."""
    names = open_sizes(analysis.region)
    found = []
    for name, limit in dict.fromkeys(_limits(texts)):
        for size in (limit, limit + 1) if name in names else ():
            sizes = fulfilling(analysis, {**dict.fromkeys(names, 1), name: size})
            if is_possible(analysis, sizes, NEAR_LIMITS_ITERATIONS):
                found.append(sizes)
    return tuple(found)


def _limits(texts: Iterable[str]) -> Iterator[tuple[str, int]]:
    for text in texts:
        for name, digits in _LIMIT.findall(text):
            if _nearer(int(digits)) != int(digits):
                yield name, _nearer(int(digits))


def _nearer(limit: int) -> int:
    """Return a limit as far from the end of 16 bits as from that of 32; another as it is."""
    for end, near in _ENDS.items():
        if 0 < end - limit < _NEAR:
            return near - (end - limit)
        if 0 < end - limit < end // 2 and (end - limit) % _GRID == 0:
            return near - (end - limit) // _GRID
    return limit


def _fewer(blocks: int) -> int:
    """Return a limit of blocks for shorter counters; a device's own as it is."""
    return blocks // _GRID if blocks % _GRID == 0 else blocks
