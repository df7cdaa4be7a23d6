"""A space as the product of parts that know nothing of each other, listed or drawn from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from random import Random
from typing import Generic, TypeVar

T = TypeVar("T")
# Points beyond which a space is not listed whole: more than any search measures, and some 100 MB
# of settings.
MOST_LISTED = 200_000
# Draws for each point that is wanted, before what the constraints leave counts as found.
MOST_DRAWS = 50


@dataclass(frozen=True)
class Product(Generic[T]):
    """All ways to take one alternative of each part; the first of each make the first."""

    parts: tuple[Sequence[T], ...]

    @property
    def size(self) -> int:
        """Return how many there are; more than `len` could say."""
        return prod(map(len, self.parts))

    @property
    def is_listed(self) -> bool:
        """Return whether there are few enough to go through them all."""
        return self.size <= MOST_LISTED

    def every(self) -> Iterator[tuple[T, ...]]:
        """Yield all of them, the first choice first and the last part fastest."""
        yield from product(*self.parts)

    def diagonal(self, count: int) -> Iterator[tuple[T, ...]]:
        """Yield the k-th alternatives of all parts together, `count` at most.

        What suits one nest of a region suits its neighbours of the same form.
        """
        longest = max(map(len, self.parts), default=0)
        for k in range(min(count, longest)):
            yield tuple(part[min(k, len(part) - 1)] for part in self.parts)

    def drawn(self, seed: int, count: int) -> Iterator[tuple[T, ...]]:
        """Yield points at random, each as likely as any other, the same ones for a seed.

        At most `MOST_DRAWS` for each of the `count` that are wanted; one may come again.
        """
        random = Random(seed)
        for _ in range(MOST_DRAWS * count):
            yield tuple(part[random.randrange(len(part))] for part in self.parts)
