"""Axes of a space that change nothing in the text or the command of a variant."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from annotune.tune.search.points import ABSENT, Value


def inert_axes(made: Sequence[tuple[Mapping[str, Value], str]]) -> tuple[str, ...]:
    """Return the axes along which points differ and their texts, by their hashes, never do.

    Only points that agree on every other axis say something of one; an axis of which no two such
    points were made is none of these.
    """
    names = dict.fromkeys(name for config, _ in made for name in config)
    return tuple(name for name in names if _is_inert(name, made))


def _is_inert(name: str, made: Sequence[tuple[Mapping[str, Value], str]]) -> bool:
    texts: dict[tuple[tuple[str, Value], ...], set[str]] = defaultdict(set)
    values: dict[tuple[tuple[str, Value], ...], set[Value]] = defaultdict(set)
    for config, text in made:
        others = tuple(sorted((k, v) for k, v in config.items() if k != name))
        texts[others].add(text)
        values[others].add(config.get(name, ABSENT))
    told = [others for others, found in values.items() if len(found) > 1]
    return bool(told) and all(len(texts[others]) == 1 for others in told)
