"""The points of a region's own parameters: what the constraints and the recipe leave of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice, product

from annotune.annotation.commands import argument_of
from annotune.annotation.evaluate import holds
from annotune.annotation.spec import Command, Formula, Parameter, Value
from annotune.decide.decision import Base
from annotune.decide.direct import MAX_UNROLL
from annotune.decide.limits import Limits, is_of_axes
from annotune.decide.wishes import read_wishes
from annotune.diagnostics import AnnotuneError

# More points of the annotation's own parameters than this are not listed at once.
MAX_PARAMETER_POINTS = 100_000


def parameter_points(base: Base, params: Sequence[Parameter]) -> tuple[Mapping[str, Value], ...]:
    """Return the values that the parameters of a region may have together, the rules' own first.

    Raises:
        AnnotuneError: The constraints leave none, or no values let the recipe be read.
    """
    spec = base.analysis.region.spec
    sizes: dict[str, Value] = dict(base.analysis.region.sizes)
    names = [param.name for param in params]
    factors = _unroll_factors(spec.commands)
    values = [_tried_first(p) if p.name in factors else p.values for p in params]
    constraints = tuple(c for c in spec.constraints if not is_of_axes(c))
    every = (dict(zip(names, p, strict=True)) for p in product(*values))
    legal = (p for p in every if all(holds(c.formula, {**sizes, **p}) for c in constraints))
    points = list(islice(legal, MAX_PARAMETER_POINTS))
    if not points:
        every = (dict(zip(names, p, strict=True)) for p in product(*values))
        limits = Limits((), constraints, sizes)
        raise AnnotuneError.of(limits.why_empty(islice(every, MAX_PARAMETER_POINTS)))
    return _placeable(base, points)


def _unroll_factors(commands: Sequence[Command]) -> frozenset[str]:
    """Return the parameters that stand as the factor of an ``unroll``."""
    found = (argument_of(c, "factor") for c in commands if c.name == "unroll")
    return frozenset(a.value.text for a in found if a is not None and isinstance(a.value, Formula))


def _tried_first(param: Parameter) -> tuple[Value, ...]:
    """Return unroll factors largest first, the order of the decision algorithm's own."""
    numbers = [v for v in param.values if isinstance(v, int)]
    if len(numbers) < len(param.values):
        return param.values
    within = sorted((n for n in numbers if n <= MAX_UNROLL), reverse=True)
    return (*within, *sorted(n for n in numbers if n > MAX_UNROLL))


def _placeable(
    base: Base, points: Sequence[Mapping[str, Value]]
) -> tuple[Mapping[str, Value], ...]:
    """Return the points at which no command gives a loop two places.

    Raises:
        AnnotuneError: There is none; what is wrong with the first.
    """
    body = base.analysis.region.nest.body
    refused: dict[object, AnnotuneError | None] = {}
    kept = []
    for point in points:
        # A number names no loop: points that differ in numbers alone are alike here.
        key = tuple((k, v) for k, v in point.items() if not isinstance(v, int | float))
        if key not in refused:
            try:
                read_wishes(base.analysis.region.spec.commands, point, body)
                refused[key] = None
            except AnnotuneError as error:
                refused[key] = error
        if refused[key] is None:
            kept.append(point)
    if not kept:
        raise next(error for error in refused.values() if error is not None)
    return tuple(kept)
