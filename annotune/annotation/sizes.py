"""The problem sizes of an annotation, the first of which the analysis starts from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice, product

from annotune.annotation.evaluate import free_names, holds
from annotune.annotation.messages import NO_SIZES
from annotune.annotation.spec import Constraint, Parameter, Spec, Value
from annotune.diagnostics import AnnotuneError, Diagnostic

# More combinations than this are not looked at: each costs microseconds, all of them seconds.
MAX_COMBINATIONS = 100_000
# So many problem sizes are looked at: each is tuned, and shares a run's time with the others.
MAX_SIZES = 9


def problem_sizes(spec: Spec, limit: int) -> tuple[Mapping[str, Value], ...]:
    """Return at most `limit` combinations of ``input_params``, in the order of their lists.

    All fulfil the constraints among the sizes.
    """
    return tuple(islice(_combinations(spec), limit))


def with_first_sizes(spec: Spec) -> Spec:
    """Return `spec` with the first sizes that fulfil the constraints at the lists' heads.

    Raises:
        AnnotuneError: No combination does; at the constraint that refuses the last ones.
    """
    first = next(_combinations(spec), None)
    if first is None:
        raise AnnotuneError.of(_refusal(spec))
    params = tuple(
        replace(param, values=_headed(param.values, first[param.name]))
        for param in spec.input_params
    )
    return replace(spec, input_params=params)


def _headed(values: tuple[Value, ...], head: Value) -> tuple[Value, ...]:
    at = values.index(head)
    return (head, *values[:at], *values[at + 1 :])


def _combinations(spec: Spec) -> Iterator[dict[str, Value]]:
    names = [param.name for param in spec.input_params]
    among = _among_sizes(spec.constraints, spec.input_params)
    every = product(*(param.values for param in spec.input_params))
    for values in islice(every, MAX_COMBINATIONS):
        sizes = dict(zip(names, values, strict=True))
        if all(holds(constraint.formula, sizes) for constraint in among):
            yield sizes


def _among_sizes(
    constraints: tuple[Constraint, ...], params: tuple[Parameter, ...]
) -> tuple[Constraint, ...]:
    """Return the constraints that name sizes alone, and at least one of them."""
    sizes = {param.name for param in params}
    found = []
    for constraint in constraints:
        names = set(free_names(constraint.formula))
        if names and names <= sizes:
            found.append(constraint)
    return tuple(found)


def _refusal(spec: Spec) -> Diagnostic:
    """Return the refusal at the constraint that leaves no combination of the sizes."""
    among = _among_sizes(spec.constraints, spec.input_params)
    for count, constraint in enumerate(among, 1):
        fewer = replace(spec, constraints=among[:count])
        if next(_combinations(fewer), None) is None:
            return NO_SIZES.at(constraint.span, name=constraint.name)
    raise AssertionError("no sizes are refused without a constraint")
