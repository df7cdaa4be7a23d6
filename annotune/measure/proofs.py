"""What a text must stand before it is handed to a user, beyond what each trial of it stood."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from annotune.analysis.facts import Analysis
from annotune.measure.borne import bears_special
from annotune.measure.evaluate import iterations, known_values
from annotune.measure.flags import OPENACC
from annotune.measure.inputs import SPECIAL, ZERO_VALUES, Values, buffers_of
from annotune.measure.near_limits import near_limits
from annotune.measure.overlaps import ENDING, WHOLE, Overlap, overlaps
from annotune.measure.plan import DETECT_AT_MOST, CheckPlan
from annotune.measure.sizes import (
    BORDER_ITERATIONS,
    border_sizes,
    condition_sizes,
    middle_sizes,
    small_sizes,
    tuned_sizes,
)
from annotune.measure.variant import Variant, texts_of
from annotune.measure.way_out import has_way_out
from annotune.measure.zeros import bears_zeros

Sizes = Mapping[str, int]

# Sizes past this make the original run for long loops too, when a call fails.
SHORT = 255

# What of the CUDA run-time library a text calls, each of which may fail.
_CALLS = re.compile(r"\bcuda(?:Malloc|Mem|DeviceSynchronize|GetLastError|Func)\w*\s*\(|<<<")


def proofs(
    variant: Variant, analysis: Analysis, plan: CheckPlan, awkward: Sequence[Sizes]
) -> Iterator[CheckPlan]:
    """Yield what a text that is about to win must stand, the cheap proofs first.

    `plan` is the one by which it was tried. Right values in the order in which threads happened to
    run say nothing of another order, at one size nothing of others, and of usual values nothing of
    equal ones; a branch that nothing has run is not known to be right.
    """
    plan = replace(plan, timing=None, device_name="", environ={}, arch="", grids=False)
    small = tuple(awkward) or plan.sizes
    # Large enough that what is compared takes every turn, and small enough for a detector.
    (one,) = middle_sizes(analysis) or small[:1]
    borders = border_sizes(analysis)
    if borders:
        yield replace(plan, sizes=borders, may_fall_back=True)
    long = tuple(sizes for sizes in borders if max(sizes.values()) > SHORT)
    yield from _on_other_values(variant, analysis, plan, (*small, one))
    if long and not variant.device_text and Values.ZEROS in _odd_values(analysis):
        # Sums that are asked for their signs run again, in loops that nothing else enters.
        yield replace(plan, sizes=long, values=(Values.ZEROS,), may_fall_back=True)
    if has_way_out(variant):
        yield replace(plan, sizes=(*small, *borders), takes_way_out=True)
    near = near_limits(texts_of(variant).values(), analysis)
    if near:
        yield replace(plan, sizes=near, has_near_limits=True, may_fall_back=True)
    # A detector is slow at the tuned sizes, which have been checked.
    beside = condition_sizes(analysis)
    yield replace(plan, sizes=(*small, *beside), sanitize=True, races=True)
    if not plan.resident and any(shape.touched for shape in analysis.shapes.values()):
        # Nothing else need be there: a sanitizer sees what is copied beside it.
        values = (Values.USUAL, Values.EQUAL)
        narrow = replace(plan, sizes=(*small, one), values=values, is_narrow=True)
        yield replace(narrow, sanitize=True, may_fall_back=True)
    shared = _overlaps(variant, analysis, one)
    if shared:
        yield replace(plan, sizes=(one,), overlaps=shared, races=True, may_fall_back=True)
        if long:
            # Past 16 bits in one of the arrays at least.
            halves = tuple(overlap for overlap in shared if overlap.shared == 1)
            yield replace(plan, sizes=long[-1:], overlaps=halves, may_fall_back=True)
    tuned = tuned_sizes(analysis.region)
    if shared and tuned != one:
        # What is written for these sizes alone asks nothing at others.
        found = overlaps(analysis, tuned, has_inputs=variant.kind in OPENACC)
        if found and _assignments(analysis, tuned) * len(found) <= BORDER_ITERATIONS:
            yield replace(plan, sizes=(tuned,), overlaps=found, may_fall_back=True)
    for overlap in shared:
        sizes = tuple(_other_way_round(analysis, overlap, one)) if overlap.shared == ENDING else ()
        if sizes:
            ends = (replace(overlap, shared=WHOLE), overlap)
            yield replace(plan, sizes=sizes, overlaps=ends, races=True, may_fall_back=True)
    failures: tuple[int, ...] = ()
    if variant.device_text:
        yield replace(plan, sizes=small, has_small_grids=True)
        failures = tuple(range(1, 1 + len(_CALLS.findall(variant.device_text))))
        yield replace(plan, sizes=(one,), failures=failures, may_fall_back=True)
        if long:
            yield replace(plan, sizes=long, failures=(1,), may_fall_back=True)
    # The last, for its trial tells what all of them together have run.
    others = [sizes for sizes in (one, *small, *borders) if sizes not in plan.sizes]
    sizes = (*_distinct(others), *plan.sizes)
    way_out = has_way_out(variant)
    plan = replace(
        plan, sizes=sizes, values=_odd_values(analysis), overlaps=shared, failures=failures
    )
    yield replace(plan, has_marks=True, takes_way_out=way_out)


def _overlaps(variant: Variant, analysis: Analysis, sizes: Sizes) -> tuple[Overlap, ...]:
    """Return the ways to share memory that a text must stand at `sizes`.

    Of runs that take long, as where C fixes large sizes, only those with one element in common:
    both orders of two arrays ask for each half of a test.
    """
    # OpenACC's data region alone asks whether what is only read is there in part.
    found = overlaps(analysis, sizes, has_inputs=variant.kind in OPENACC)
    assignments = _assignments(analysis, sizes) * len(found)
    return tuple(o for o in found if assignments <= DETECT_AT_MOST or o.shared == 1)


def _assignments(analysis: Analysis, sizes: Sizes) -> int:
    return iterations(analysis.region.nest, known_values(analysis.region, sizes))


def _other_way_round(analysis: Analysis, overlap: Overlap, sizes: Sizes) -> Iterator[Sizes]:
    """Yield small sizes, if any, at which the other one of two arrays is longer than at `sizes`.

    Of two that are equally long there the first ones at which they are not.
    """
    missing = {overlap.first, overlap.second} - {_longer(analysis, overlap, sizes)}
    for other in small_sizes(analysis):
        longer = _longer(analysis, overlap, other)
        if longer in missing:
            missing.remove(longer)
            yield other
        if not missing:
            return


def _longer(analysis: Analysis, overlap: Overlap, sizes: Sizes) -> str:
    """Return which of two arrays has more bytes, empty for none."""
    values = known_values(analysis.region, sizes)
    found = {buffer.name: buffer.size_bytes for buffer in buffers_of(analysis, values)}
    first, second = found[overlap.first], found[overlap.second]
    return "" if first == second else overlap.first if first > second else overlap.second


def _on_other_values(
    variant: Variant, analysis: Analysis, plan: CheckPlan, small: Sequence[Sizes]
) -> Iterator[CheckPlan]:
    """Yield the proofs on values other than the usual ones."""
    every = _distinct((*small, *plan.sizes))
    yield replace(plan, sizes=every, values=(Values.EQUAL,))
    odd = _odd_values(analysis)
    if set(SPECIAL) <= set(odd):
        # What one order of threads makes of two zeros another need not.
        yield replace(plan, sizes=every, values=tuple(SPECIAL), races=not variant.device_text)
    if Values.ZEROS in odd:
        yield replace(plan, sizes=every, values=ZERO_VALUES)


def _odd_values(analysis: Analysis) -> tuple[Values, ...]:
    """Return the values beside numbers that a region bears, and of which C says what it makes."""
    special = tuple(SPECIAL) if bears_special(analysis.region) else ()
    return (*special, *ZERO_VALUES) if bears_zeros(analysis) else special


def _distinct(sizes: Sequence[Sizes]) -> tuple[Sizes, ...]:
    return tuple(one for number, one in enumerate(sizes) if one not in sizes[:number])
