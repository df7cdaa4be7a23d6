"""The recorded calls that a region is tuned and checked on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from annotune.codegen.several_sizes import sizes_text
from annotune.diagnostics import AnnotuneError, Diagnostic, Severity, Template
from annotune.ir.recorded import RecordedCall
from annotune.ir.region import Region
from annotune.measure.capture.instrumented import size_names
from annotune.measure.capture.records import AtSizes, RecordedRegion
from annotune.measure.sizes import open_sizes

NONE_AT_THESE_SIZES = Template(
    "AT696",
    "no call of this region was recorded at the sizes of --set; the calls were at {sizes}",
    "leave out --set, or give sizes that the program has",
)
NONE_RECORDED = Template(
    "AT697",
    "{what}: annotune makes values of its own",
    "record a run of the program that calls it so, with a larger --max-bytes if need be",
    Severity.WARNING,
)
NOT_TUNED_FOR = Template(
    "AT698",
    "not tuned for {count} further recorded sizes, which took {share:.0%} of this region's time",
    "the code for all other sizes runs there; --set chooses among the recorded sizes",
    Severity.WARNING,
)

MOST_SIZES = 4
"""For so many of the recorded sizes a region is tuned."""

MOST_CALLS = 6
"""On so many calls at each of the sizes what wins is checked."""

LEAST_SHARE = 0.05
"""Sizes that take less of a region's time are not tuned for."""

SAID_SHARE = 0.1
"""A warning says so where others take more than this together."""


def with_recorded(
    region: Region, found: RecordedRegion | None, asked: Mapping[str, object]
) -> tuple[Region, tuple[Diagnostic, ...]]:
    """Return `region` with its recorded calls and their sizes, and warnings of what is not used.

    Those sizes that took longest are tuned for. `asked` are sizes that the user gives: only calls
    with these count.

    Raises:
        AnnotuneError: There are calls, and none with the sizes that are asked for.
    """
    if found is None:
        what = "the program that was recorded did not call this region"
        return region, (NONE_RECORDED.at(region.span, what=what),)
    at = [one for one in found.at if _fits(one, asked)]
    if not at:
        listed = "; ".join(sizes_text(one.sizes) for one in found.at[:MOST_SIZES])
        raise AnnotuneError.of(NONE_AT_THESE_SIZES.at(region.span, sizes=listed or "none"))
    time_s = sum(one.time_s for one in at)
    chosen = [one for one in at[:MOST_SIZES] if one.time_s >= LEAST_SHARE * time_s] or at[:1]
    calls = tuple(
        replace(call, time_s=one.time_s, region_s=time_s) for one in chosen for call in _some(one)
    )
    tuned = with_sizes(region, [_integers(one) for one in chosen])
    return replace(tuned, recorded=calls), tuple(_unused(region, found, chosen, time_s))


def with_sizes(region: Region, each: Sequence[Mapping[str, int]]) -> Region:
    """Return `region` with these sizes to tune for in the place of the annotation's.

    What is no length, such as an offset, has a value for the work and the checks alone.
    """
    names = frozenset(open_sizes(region))
    first, *others = (
        {**region.sizes, **{name: size for name, size in one.items() if name in names}}
        for one in each
    )
    varying = names - size_names(region)
    varied = (n for n in first if any(one.get(n) != first[n] for one in others))
    return replace(
        region,
        sizes=first,
        other_sizes=tuple(others),
        varied=tuple(name for name in varied if name not in varying),
        varying=varying,
    )


def _fits(one: AtSizes, asked: Mapping[str, object]) -> bool:
    return all(asked.get(name, size) == size for name, size in one.sizes.items())


def _some(one: AtSizes) -> Sequence[RecordedCall]:
    """Return the kept calls at one of the sizes, the first and some of all processes if many."""
    step = -(-len(one.kept) // MOST_CALLS)
    return one.kept[:: max(1, step)]


def _integers(one: AtSizes) -> Mapping[str, int]:
    """Return the integers of the first call that was kept, the sizes without one."""
    return {**one.kept[0].integers, **one.sizes} if one.kept else one.sizes


def _unused(
    region: Region, found: RecordedRegion, chosen: Sequence[AtSizes], time_s: float
) -> Iterator[Diagnostic]:
    for one in chosen:
        if not one.kept:
            what = f"no call at {sizes_text(one.sizes) or 'any size'} was kept"
            yield NONE_RECORDED.at(region.span, what=what)
    rest_s = time_s - sum(one.time_s for one in chosen)
    if rest_s > SAID_SHARE * time_s:
        values = {"count": len(found.at) - len(chosen), "share": rest_s / time_s}
        yield NOT_TUNED_FOR.at(region.span, **values)
