"""Where random decisions come from: a seeded generator, or Hypothesis, which can shrink them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Protocol, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class Choices(Protocol):
    """The decisions of a generator, one after the other."""

    def integer(self, low: int, high: int) -> int: ...

    def pick(self, options: Sequence[T]) -> T: ...

    def chance(self, percent: int) -> bool: ...


class Seeded:
    """Decisions of Python's generator: fast, and the same for the same words of seed."""

    def __init__(self, *seed: object) -> None:
        # A string, since only its hash is the same in every process.
        self.random = random.Random("/".join(map(str, seed)))

    def integer(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def pick(self, options: Sequence[T]) -> T:
        return options[int(self.random.random() * len(options))]

    def chance(self, percent: int) -> bool:
        return self.random.random() * 100 < percent


class Drawn:
    """Decisions of Hypothesis; the first option and a chance that fails are the simplest."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw

    def integer(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    def pick(self, options: Sequence[T]) -> T:
        return options[self.draw(st.integers(0, len(options) - 1))]

    def chance(self, percent: int) -> bool:
        return self.draw(st.integers(0, 99)) >= 100 - percent
