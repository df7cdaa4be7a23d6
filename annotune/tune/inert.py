"""Which axes of a space change no generated text, as far as the points that were tried tell."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from annotune.tune.search.points import Points


def inert_axes(points: Points, texts: Mapping[int, str]) -> tuple[str, ...]:
    """Return the axes that changed no text wherever they alone changed.

    Args:
        points: The points of the space.
        texts: The hash of text and command of each point that was tried, by its number.

    An axis is inert only where two of those points differ in it and in nothing else, and each such
    pair has one text. What no pair shows is not said of an axis.
    """
    found = []
    for column, axis in enumerate(points.axes):
        groups: dict[tuple[int, ...], list[str]] = {}
        for point, text in texts.items():
            codes = points.codes[point].tolist()
            rest = (*codes[:column], *codes[column + 1 :])
            groups.setdefault(rest, []).append(text)
        pairs = [group for group in groups.values() if len(group) > 1]
        if pairs and all(one == other for group in pairs for one, other in pairwise(group)):
            found.append(axis.name)
    return tuple(found)
