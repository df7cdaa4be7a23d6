"""The numbered points of a region's space for one target, each made a variant when asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from annotune.diagnostics import AnnotuneError

if TYPE_CHECKING:
    from annotune.codegen.target import Variant

RANKED = "those of {legal} legal points that the model ranks first"
ADMITTED = "those that --param and the constraints admit and the model ranks first"
SAMPLED = "drawn at random of {size} legal points, the same ones every time"


@dataclass(frozen=True)
class Listing:
    """What a search chooses from.

    `configs` are the settings of each point, the rules' first choice first. `predicted_s` are the
    model's times in seconds, None where no model speaks. Points fulfil the constraints;
    `variant` may still refuse one, but not the first. `note` says where the points are not all
    of the space, of which `size` points are before constraints and `legal` after them, None where
    nobody counted.
    """

    configs: tuple[Mapping[str, str | int], ...]
    predicted_s: tuple[float | None, ...]
    make: Callable[[int], Variant]
    note: str = ""
    size: int = 0
    legal: int | None = None

    @property
    def axes(self) -> Mapping[str, tuple[str | int, ...]]:
        """Return the axes that differ among the listed points, with their values."""
        names = dict.fromkeys(name for config in self.configs for name in config)
        found = {}
        for name in names:
            values = dict.fromkeys(c[name] for c in self.configs if name in c)
            numbers = [v for v in values if isinstance(v, int)]
            if len(values) > 1 or any(name not in c for c in self.configs):
                is_ordered = len(numbers) == len(values)
                found[name] = tuple(sorted(numbers)) if is_ordered else tuple(values)
        return found

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
        legal = None if self.legal is None else self.legal + 1
        configs = (one, other.config, *rest)
        return Listing(configs, times, make, self.note, self.size, legal)

    def of(self, size: int, legal: int) -> Listing:
        """Return the listing as the model's best of a space of so many points, if it is not all."""
        note = RANKED.format(legal=legal) if len(self) < legal else ""
        return replace(self, note=note, size=size, legal=legal)

    def admitted(self, size: int, is_all: bool) -> Listing:
        """Return the listing as those points of a space that the user's limits admit.

        Where they are not all of these, nobody knows how many there are.
        """
        note, legal = ("", len(self)) if is_all else (ADMITTED, None)
        return replace(self, note=note, size=size, legal=legal)

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
