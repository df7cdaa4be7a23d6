"""The numbered points of a region's space for one target, each made a variant when asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from annotune.diagnostics import AnnotuneError

if TYPE_CHECKING:
    from annotune.codegen.target import Variant

SAMPLED = "drawn at random of {size} legal points, the same ones every time"


@dataclass(frozen=True)
class Listing:
    """What a search chooses from.

    `configs` are the settings of each point, the rules' first choice first. `predicted_s` are the
    model's times in seconds, None where no model speaks. Points fulfil the constraints;
    `variant` may still refuse one, but not the first. `note` says where the points are not all
    of the space.
    """

    configs: tuple[Mapping[str, str | int], ...]
    predicted_s: tuple[float | None, ...]
    make: Callable[[int], Variant]
    note: str = ""

    def __len__(self) -> int:
        return len(self.configs)

    def variant(self, number: int) -> Variant:
        """Return a point planned, without its text.

        Raises:
            AnnotuneError: A transformation that the point asks for is illegal.
        """
        return self.make(number)

    def with_second(self, other: Variant) -> Listing:
        """Return the listing with a variant after its first point."""

        def make(number: int) -> Variant:
            return other if number == 1 else self.make(number - (number > 1))

        one, *rest = self.configs
        first_s, *rest_s = self.predicted_s
        times = (first_s, other.predicted_s, *rest_s)
        return Listing((one, other.config, *rest), times, make, self.note)

    def cut(self, limit: int) -> Listing:
        """Return the first points of the listing."""
        return replace(self, configs=self.configs[:limit], predicted_s=self.predicted_s[:limit])

    def variants(self) -> Iterator[Variant]:
        """Yield every legal point planned, in order."""
        for number in range(len(self)):
            try:
                found = self.variant(number)
            except AnnotuneError:
                continue
            yield found
