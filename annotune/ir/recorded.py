"""The arguments of a call of a region that a program has recorded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from annotune.frozen import dataclass


@dataclass(frozen=True, slots=True)
class RecordedArray:
    """The part of an array that a call touches: `count` elements from `first` on.

    They begin at byte `offset` of the call's file. `type` is that of an element as NumPy names it,
    such as ``<f8``.
    """

    name: str
    type: str
    first: int
    count: int
    offset: int


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One call that was kept: its scalars, and the file of its arrays.

    `number` counts the region's calls in its process from 1. All calls at these `sizes` took
    `time_s` seconds together, and all of the region `region_s`. `integers` are these sizes and all
    others that have a value before the region. A complex scalar has two `reals`,
    its parts. `digest` tells the bytes of the arrays apart from others.
    """

    path: Path
    number: int
    sizes: Mapping[str, int]
    integers: Mapping[str, int]
    reals: tuple[tuple[str, float], ...]
    arrays: tuple[RecordedArray, ...]
    digest: str = ""
    time_s: float = 0.0
    region_s: float = 0.0

    @property
    def share(self) -> float:
        """Return the share of the region's time that calls at these sizes took."""
        return min(1.0, self.time_s / self.region_s) if self.region_s else 0.0

    def part(self, array: str) -> RecordedArray | None:
        """Return what is recorded of an array, None where nothing is."""
        return next((one for one in self.arrays if one.name == array), None)
