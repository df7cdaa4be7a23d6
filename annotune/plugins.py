"""What other packages add to annotune, found by their entry points.

The groups are ``annotune.transforms`` (classes with a `word`), ``annotune.strategies`` (`Strategy`
values), ``annotune.targets`` (classes with what `Target` has), ``annotune.searches`` (functions of
points, budget and seed) and ``annotune.modules`` (functions of the text in ``begin NAME ( text )``
that return a recipe).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any

TRANSFORMS, STRATEGIES, SEARCHES = "annotune.transforms", "annotune.strategies", "annotune.searches"
TARGETS, MODULES = "annotune.targets", "annotune.modules"
# What installed packages give of every group: their files are read once.
_points = cache(entry_points)


@cache
def names(group: str) -> tuple[str, ...]:
    """Return the names that installed packages give of a group; nothing of them is imported."""
    return tuple(dict.fromkeys(point.name for point in _points().select(group=group)))


@cache
def loaded(group: str) -> Mapping[str, Any]:
    """Return what installed packages give of a group by its names, imported."""
    return {point.name: point.load() for point in _points().select(group=group)}
