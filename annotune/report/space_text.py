"""What `check --space` says of the points of every target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from annotune.annotation.devices import Device
from annotune.annotation.evaluate import literal
from annotune.codegen.listing import Listing
from annotune.codegen.recipes import listing_of
from annotune.codegen.target import Target
from annotune.report.findings import CheckReport

# Points of each target that are looked through for its axes.
SHOWN = 500


def spaces(
    report: CheckReport, targets: Sequence[Target], device: Device
) -> list[Mapping[str, Listing]]:
    """Return for each region the listings of the targets by their names, none where it has no plan.

    Raises:
        AnnotuneError: What the user says of the axes leaves no point.
    """
    return [
        {
            target.name: listing_of(target, region.base, region.space, device, SHOWN)
            for target in targets
            if region.base is not None and region.space is not None and region.plan is not None
        }
        for region in report.regions
    ]


def space_lines(report: CheckReport, spaces: Sequence[Mapping[str, Listing]]) -> Iterator[str]:
    """Yield each region's spaces as lines of text: size, legal size, and axes with values."""
    for region, listings in zip(report.regions, spaces, strict=True):
        yield f"{region.place}: space of {region.region.function}, region {region.region.index}"
        for name, listing in listings.items():
            legal = "not counted" if listing.legal is None else str(listing.legal)
            yield f"  {name}: {listing.size} points, {legal} legal"
            if listing.note:
                yield f"    axes of {len(listing)} points, {listing.note}"
            for axis, values in listing.axes.items():
                yield f"    {axis}: {', '.join(map(_shown, values))}"


def _shown(value: str | int) -> str:
    """Return a value as `--param` takes it: in quotes where a comma would end it."""
    return literal(value) if isinstance(value, str) and "," in value else str(value)
