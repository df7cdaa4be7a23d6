"""The points of a region's own parameters: what the constraints and the recipe leave of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product

from annotune.annotation.commands import argument_of, before_targets
from annotune.annotation.evaluate import free_names, holds
from annotune.annotation.spec import Command, Constraint, Formula, Parameter, Value
from annotune.decide.asked import read_asked
from annotune.decide.decision import Base
from annotune.decide.direct import MAX_UNROLL
from annotune.decide.limits import Limits, is_of_axes
from annotune.diagnostics import AnnotuneError

Values = Mapping[str, tuple[Value, ...]]

# More points of the annotation's own parameters than this are not listed at once.
MAX_PARAMETER_POINTS = 100_000


def parameter_points(base: Base, params: Sequence[Parameter]) -> tuple[Mapping[str, Value], ...]:
    """Return the values that the parameters of a region may have together, the rules' own first.

    Raises:
        AnnotuneError: The constraints leave none, or no values let the recipe be read.
    """
    spec = base.analysis.region.spec
    sizes: dict[str, Value] = dict(base.analysis.region.sizes)
    factors = _unroll_factors(spec.commands)
    values = {p.name: _tried_first(p) if p.name in factors else p.values for p in params}
    constraints = tuple(c for c in spec.constraints if not is_of_axes(c))
    # However many points there are, those that constraints speak of tell whether there is none.
    for some, own in _connected(values, constraints):
        if next(fulfilling(some, own, sizes), None) is None:
            every = (dict(zip(some, point, strict=True)) for point in product(*some.values()))
            found = Limits((), own, sizes).why_empty(islice(every, MAX_PARAMETER_POINTS))
            raise AnnotuneError.of(found)
    points = list(islice(fulfilling(values, constraints, sizes), MAX_PARAMETER_POINTS))
    return _placeable(base, points)


def fulfilling(
    values: Values, constraints: Sequence[Constraint], sizes: Mapping[str, Value]
) -> Iterator[Mapping[str, Value]]:
    """Yield the points of the product of `values` that fulfil the constraints, in its order.

    A constraint is asked as soon as all that it names is known, and those before it: what it
    removes is not gone through.
    """
    names = tuple(values)
    due: list[list[Constraint]] = [[] for _ in range(len(names) + 1)]
    depth = 0
    for one in constraints:
        needed = free_names(one.formula)
        depth = max([depth, *(names.index(name) + 1 for name in needed if name in values)])
        due[depth].append(one)

    def extended(known: dict[str, Value]) -> Iterator[Mapping[str, Value]]:
        if not all(holds(one.formula, {**sizes, **known}) for one in due[len(known)]):
            return
        if len(known) == len(names):
            yield known
            return
        name = names[len(known)]
        for value in values[name]:
            yield from extended({**known, name: value})

    return extended({})


def _connected(
    values: Values, constraints: Sequence[Constraint]
) -> Iterator[tuple[Values, tuple[Constraint, ...]]]:
    """Yield the parameters that constraints tie together, with these constraints.

    What they say of one group they say whatever the others are.
    """
    left = [
        (one, {name for name in free_names(one.formula) if name in values}) for one in constraints
    ]
    while left:
        first, group = left.pop(0)
        own = [first]
        while more := [pair for pair in left if pair[1] & group]:
            left = [pair for pair in left if not pair[1] & group]
            group = group.union(*(names for _, names in more))
            own += [one for one, _ in more]
        in_order = tuple(one for one in constraints if one in own)
        yield {name: found for name, found in values.items() if name in group}, in_order


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
    commands = before_targets(base.analysis.region.spec.commands)
    refused: dict[object, AnnotuneError | None] = {}
    kept = []
    for point in points:
        # A number names no loop: points that differ in numbers alone are alike here.
        key = tuple((k, v) for k, v in point.items() if not isinstance(v, int | float))
        if key not in refused:
            try:
                read_asked(commands, point, body)
                refused[key] = None
            except AnnotuneError as error:
                refused[key] = error
        if refused[key] is None:
            kept.append(point)
    if not kept:
        raise next(error for error in refused.values() if error is not None)
    return tuple(kept)
