"""A variant for smaller sizes than those to tune for, with the same text but for its numbers.

Where the original takes long at the tuned sizes, nothing on this machine may run what stands in a
text for these alone. The same schedule makes the same text for smaller ones, at which it is run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import product
from math import ceil, lcm

from annotune.analysis.analyse import analyse
from annotune.analysis.facts import Analysis
from annotune.codegen.several_sizes import can_share
from annotune.codegen.target import RegionCode, Target
from annotune.diagnostics import AnnotuneError, Diagnostic
from annotune.frozen import dataclass
from annotune.ir.expr import variables
from annotune.measure.sizes import (
    OTHER_ITERATIONS,
    Sizes,
    distinct,
    is_possible,
    open_sizes,
    tuned_sizes,
)
from annotune.schedule.apply import apply
from annotune.schedule.plan import Plan
from annotune.space.variants import Variant, has_general
from annotune.transforms.transform import Context, Transform

FULL_TILES = (2, 3, 4, 1)
"""So many full tiles a loop has at least, where that is possible; that tried first comes first."""

FLOORS = (9, 2, 40, 300, 1100)
"""No size is made smaller than one of these: blocks have a length too, and loops are unrolled."""

MOST_TEXTS = 16
"""So many texts are made at most to find one that is the same but for its numbers."""

# Fields of a step that count iterations of its loop which belong together.
_TOGETHER = frozenset({"size", "factor", "workers", "steps"})
_NUMBER = re.compile(r"(?<![\w.])\d+")


@dataclass(frozen=True, slots=True)
class Reduced:
    """A variant for smaller `sizes`, and its text."""

    sizes: Sizes
    variant: Variant
    code: RegionCode


def reduced_variant(
    target: Target, variant: Variant, code: RegionCode, limit: int = OTHER_ITERATIONS
) -> Reduced | None:
    """Return a variant for smaller sizes whose text is that of `variant` but for numbers.

    Its loops have full tiles and the same left over. At its sizes the nest makes at most `limit`
    assignments. None where there is no such text.
    """
    shape = _without_numbers(code)
    for sizes in reduced_choices(variant, limit):
        found = _made_for(target, variant, sizes)
        if found is not None and _without_numbers(found.code) == shape:
            return found
    return None


def reduced_choices(variant: Variant, limit: int) -> tuple[Sizes, ...]:
    """Return smaller sizes that may be tried: loops have full tiles, and as much left over.

    Where that is too many iterations, something is left over where it is at the tuned sizes.
    """
    analysis, tuned = variant.analysis, tuned_sizes(variant.analysis.region)
    lengths = _lengths(analysis, variant.tuned)
    found = [
        {
            name: _smaller(size, lengths.get(name, []), (fulls, floor), is_exact)
            for name, size in tuned.items()
        }
        for floor, fulls, is_exact in product(FLOORS, FULL_TILES, (True, False))
    ]
    possible = [s for s in distinct(found) if s != tuned and is_possible(analysis, s, limit)]
    return tuple(possible[:MOST_TEXTS])


def _smaller(size: int, lengths: list[int], least: tuple[int, int], is_exact: bool) -> int:
    """Return the smallest number with so many full tiles at `least`, and no less than a floor.

    As much is left over of it as of `size`, or if not `is_exact` something where that is so there.
    """
    fulls, floor = least
    begin = max(fulls * max(lengths, default=1), floor)
    if is_exact:
        unit = lcm(*lengths)
        return min(size, begin + (size - begin) % unit)
    alike = (
        n
        for n in range(begin, size)
        if all((n % length == 0) == (size % length == 0) for length in lengths)
    )
    return next(alike, size)


def _lengths(analysis: Analysis, plan: Plan) -> dict[str, list[int]]:
    """Return by the sizes that bound loops how many iterations the steps of a plan take together.

    Of a merged loop each of its own has the root of that. What a step does to a loop of which
    nobody can tell what it is made of counts for all.
    """
    region = analysis.region
    names = open_sizes(region)
    bounds: dict[str, set[str]] = {}
    for loop in region.nest.loops():
        own = variables(loop.lower) | variables(loop.upper)
        bounds.setdefault(loop.var, set()).update(name for name in names if name in own)
    merged: dict[str, int] = {}
    tiles: dict[str, int] = {}
    found: dict[str, list[int]] = {name: [] for name in names}
    for step in plan.schedule:
        if step.joined_loops:
            own_bounds = (bounds.get(loop, set(names)) for loop in step.joined_loops)
            bounds["".join(step.joined_loops)] = set().union(*own_bounds)
            merged["".join(step.joined_loops)] = len(step.joined_loops)
            continue
        name, count = _step_length(step)
        if count < 2:
            continue
        source = max((v for v in bounds if name == v or name.startswith(f"{v}_")), default="")
        # Tiles of tiles are so many times as long.
        length = count if name == source else count * tiles.get(source, 1)
        tiles[source] = max(length, tiles.get(source, 1))
        if source in merged:
            length = ceil(length ** (1 / merged[source]))
        for size in bounds.get(source, names):
            found[size].append(length)
    return found


def _step_length(step: Transform) -> tuple[str, int]:
    """Return the loop that a step takes iterations of together, and how many."""
    own = {f.name: getattr(step, f.name) for f in fields(step)}  # type: ignore[arg-type]
    counts = (n for name, n in own.items() if name in _TOGETHER and isinstance(n, int))
    return str(own.get("loop", "")), max(counts, default=1)


def _made_for(target: Target, variant: Variant, sizes: Sizes) -> Reduced | None:
    """Return the variant that the same schedule makes for other sizes, None where it is none."""
    first = variant.analysis
    region = replace(first.region, sizes={**first.region.sizes, **sizes}, other_sizes=())
    try:
        analysis = analyse(region)
        if not can_share(first, analysis):
            return None
        is_whole = has_general(analysis)
        constants = region.tuned_constants if is_whole else region.sizes
        plan = apply(variant.tuned.schedule, Context(analysis, constants, is_whole))
        if isinstance(plan, Diagnostic):
            return None
        plan = replace(plan, choices=variant.tuned.choices)
        made = replace(variant, analysis=analysis, tuned=plan, partly=None, others=())
        return Reduced(sizes, made, target.region(made, resident=False))
    except AnnotuneError:
        return None


def _without_numbers(code: RegionCode) -> tuple[str, ...]:
    """Return a text with a mark in the place of each number."""
    texts: Iterator[str] = iter((code.body, code.helper, code.device, *code.functions, code.ahead))
    return tuple(_NUMBER.sub("#", text) for text in texts)
