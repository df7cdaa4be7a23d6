"""The numbered points of a region's space for one target, each made a variant when asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from annotune.codegen.target import Variant


@dataclass(frozen=True)
class Listing:
    """What a search chooses from.

    `configs` are the settings of each point, the rules' first choice first. `predicted_s` are the
    model's times in seconds, None where no model speaks. Points fulfil the constraints;
    `variant` may still refuse one.
    """

    configs: tuple[Mapping[str, str | int], ...]
    predicted_s: tuple[float | None, ...]
    make: Callable[[int], Variant]

    def __len__(self) -> int:
        return len(self.configs)

    def variant(self, number: int) -> Variant:
        """Return a point planned, without its text.

        Raises:
            AnnotuneError: A transformation that the point asks for is illegal.
        """
        return self.make(number)


def listed(variants: Iterable[Variant]) -> Listing:
    """Return the listing of variants that are made already."""
    found = tuple(variants)
    return Listing(
        tuple(one.config for one in found),
        tuple(one.predicted_s for one in found),
        found.__getitem__,
    )
