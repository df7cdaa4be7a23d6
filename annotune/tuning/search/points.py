"""The legal points of a space as a search sees them, and what a search is.

Points are numbered, with axes and a distance. A search asks for some, is told their times, and
never asks for one twice. Those that need no times, in order or in a random one, stand here too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from annotune.frozen import dataclass

Value = str | int | float
Floats = NDArray[np.float64]
# What stands on an axis that a point does not have, such as a tile of a loop left whole.
ABSENT = ""
# A failed point counts as this many times slower than the slowest right one.
FAILED = 1.5


@dataclass(frozen=True)
class Axis:
    """One parameter and the values it takes among the points; numbers ascend."""

    name: str
    values: tuple[Value, ...]

    @property
    def is_ordered(self) -> bool:
        """Return whether all values are numbers, so that neighbours are alike."""
        return all(isinstance(v, int | float) for v in self.values)


@dataclass(frozen=True)
class Points:
    """The points among which a search chooses, in the order of their numbers.

    `configs` maps axes to values, point by point. `predicted_s` are the model's times in
    seconds, None where no model speaks.

    Raises:
        ValueError: The two have different lengths, or there is no point.
    """

    configs: tuple[Mapping[str, Value], ...]
    predicted_s: tuple[float | None, ...] = field(default=())

    def __post_init__(self) -> None:
        if not self.configs:
            raise ValueError("there is no point to search")
        if self.predicted_s and len(self.predicted_s) != len(self.configs):
            raise ValueError(f"{len(self.predicted_s)} predictions for {len(self.configs)} points")

    def __len__(self) -> int:
        return len(self.configs)

    @cached_property
    def axes(self) -> tuple[Axis, ...]:
        """Return the axes on which points differ."""
        names = dict.fromkeys(name for config in self.configs for name in config)
        found = []
        for name in names:
            values = dict.fromkeys(config.get(name, ABSENT) for config in self.configs)
            if len(values) > 1:
                numbers = all(isinstance(v, int | float) for v in values)
                found.append(Axis(name, tuple(sorted(values) if numbers else values)))
        return tuple(found)

    @cached_property
    def codes(self) -> NDArray[np.int64]:
        """Return the number of each point's value on each axis, shape (points, axes)."""
        places = [{value: k for k, value in enumerate(axis.values)} for axis in self.axes]
        rows = [
            [
                place[config.get(axis.name, ABSENT)]
                for axis, place in zip(self.axes, places, strict=True)
            ]
            for config in self.configs
        ]
        return np.array(rows, dtype=np.int64).reshape(len(self.configs), len(self.axes))

    @cached_property
    def features(self) -> Floats:
        """Return each point in a space with a distance, shape (points, features).

        A number's place among its axis's values is scaled to [0, 1], for sizes and factors grow
        by multiples; any other value has a feature of its own. Where all points are
        predicted, so is the logarithm of that time, which knows more than any axis.
        """
        columns: list[Floats] = []
        for k, axis in enumerate(self.axes):
            code = self.codes[:, k]
            if axis.is_ordered:
                columns.append(code / (len(axis.values) - 1))
            else:
                columns += [(code == value) * np.sqrt(0.5) for value in range(len(axis.values))]
        times = [t for t in self.predicted_s if t]
        if times and len(times) == len(self) and max(times) > min(times):
            logs = np.log(times)
            columns.append((logs - logs.min()) / (logs.max() - logs.min()))
        if not columns:
            return np.zeros((len(self), 1))
        return np.column_stack([np.asarray(c, dtype=np.float64) for c in columns])

    def neighbours(self, point: int) -> tuple[int, ...]:
        """Return the points that differ from one on a single axis, the nearest values first."""
        differs = self.codes != self.codes[point]
        near = np.flatnonzero(differs.sum(axis=1) == 1)
        distance = np.abs(self.codes[near] - self.codes[point])
        ordered = np.array([axis.is_ordered for axis in self.axes], dtype=bool)
        # Values without an order are all equally near.
        steps = np.where(ordered, distance, distance > 0).sum(axis=1)
        return tuple(int(p) for p in near[np.argsort(steps, kind="stable")])

    def nearest(self, codes: Sequence[int], among: NDArray[np.int64]) -> int:
        """Return the point of `among` with the most axes as in `codes`, then the least steps."""
        wanted = np.asarray(codes, dtype=np.int64)
        away = self.codes[among] - wanted
        spans = np.array([max(1, len(axis.values) - 1) for axis in self.axes])
        cost = (away != 0).sum(axis=1) + (np.abs(away) / (spans * (len(spans) + 1))).sum(axis=1)
        return int(among[int(np.argmin(cost))])


class Search(Protocol):
    """Chooses which points of a space to measure next."""

    def ask(self, count: int) -> tuple[int, ...]:
        """Return at most `count` points to measure, none of them asked for before.

        Fewer come where the search must hear of some first; none, with nothing left to be told,
        means that it is done.
        """

    @property
    def foreseen(self) -> int:
        """Return how many of the points it asks for next do not depend on what it is told."""

    def tell(self, point: int, time_s: float | None) -> None:
        """Take the time of a point in seconds, or None where it failed.

        Points that were not asked for are known too from then on.
        """

    def close(self) -> None:
        """End what the search keeps running."""


class Known:
    """The points asked for and told so far, which every search keeps."""

    def __init__(self, points: Points) -> None:
        self.points = points
        self.times: dict[int, float | None] = {}
        self._is_free = np.ones(len(points), dtype=bool)

    def take(self, found: Iterable[int]) -> tuple[int, ...]:
        """Mark points as asked for, and return those that were not before."""
        fresh = tuple(p for p in dict.fromkeys(found) if self._is_free[p])
        self._is_free[list(fresh)] = False
        return fresh

    def tell(self, point: int, time_s: float | None) -> None:
        """Keep the time of a point, None for a failure."""
        self._is_free[point] = False
        self.times[point] = time_s

    def is_free(self, point: int) -> bool:
        """Return whether a point was neither asked for nor told."""
        return bool(self._is_free[point])

    @property
    def free(self) -> NDArray[np.int64]:
        """Return the points neither asked for nor told, ascending."""
        return np.flatnonzero(self._is_free)

    @property
    def right(self) -> dict[int, float]:
        """Return the points that have a time."""
        return {p: t for p, t in self.times.items() if t is not None}

    def cost_s(self, point: int) -> float:
        """Return the time of a point that was told, more than the slowest's where it failed."""
        time_s = self.times[point]
        return FAILED * max(self.right.values(), default=1.0) if time_s is None else time_s

    @property
    def best(self) -> int | None:
        """Return the fastest point so far, the first of equals."""
        return min(self.right, key=lambda p: self.right[p], default=None)


class Listed:
    """Asks for points in a fixed order."""

    def __init__(self, points: Points, order: Sequence[int]) -> None:
        self.known = Known(points)
        self._left = [int(p) for p in reversed(order)]

    def ask(self, count: int) -> tuple[int, ...]:
        """Return the next points of the order."""
        found: list[int] = []
        while self._left and len(found) < count:
            found += self.known.take([self._left.pop()])
        return tuple(found)

    @property
    def foreseen(self) -> int:
        return len(self._left)

    def also(self, found: Iterable[int]) -> tuple[int, ...]:
        """Mark points that another asks for as asked, and return those that were not before."""
        return self.known.take(found)

    def tell(self, point: int, time_s: float | None) -> None:
        """Keep the time; the order stays."""
        self.known.tell(point, time_s)

    def close(self) -> None:
        """Nothing runs."""


def exhaustive(points: Points, budget: int, seed: int) -> Listed:
    """Return the search of all points in their own order, the rules' first choice first."""
    return Listed(points, range(len(points)))


def at_random(points: Points, budget: int, seed: int) -> Listed:
    """Return the search in an order drawn from `seed`."""
    order = np.random.default_rng(seed).permutation(len(points))
    return Listed(points, [int(p) for p in order])
