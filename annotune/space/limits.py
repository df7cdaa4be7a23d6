"""What a user says of the space's own axes: the values of some, and formulas over them.

An axis is named in tables as ``S0.lanes``; where a name may hold no dot, it is ``S0_lanes``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace

from annotune.annotation.expressions import free_names, holds
from annotune.annotation.spec import Constraint, Formula, Parameter, Spec, Value
from annotune.diagnostics import NOWHERE, Diagnostic, Span
from annotune.frozen import dataclass
from annotune.schedule.messages import EMPTY_SPACE

# The axes of a statement, and those of a whole region that are no parameter of the annotation.
_AXIS = re.compile(r"S\d+[._][A-Za-z]\w*|flags")
# The places of what the command line says.
PARAM, CONSTRAINT = "--param", "--constraint"


def is_axis(name: str) -> bool:
    """Return whether a name is that of an axis of the space, which no annotation declares."""
    return _AXIS.fullmatch(name) is not None


def plain(name: str) -> str:
    """Return the name of an axis as a formula has it."""
    return name.replace(".", "_")


def dotted(text: str) -> str:
    """Return a name, or a formula, with its axes as tables name them."""
    return re.sub(r"\bS(\d+)_(?=[A-Za-z])", r"S\1.", text)


def plain_names(text: str) -> str:
    """Return a formula with its axes as formulas name them."""
    return re.sub(r"\bS(\d+)\.(?=[A-Za-z])", r"S\1_", text)


def with_asked(
    spec: Spec, params: Mapping[str, tuple[Value, ...]], formulas: Sequence[str]
) -> Spec:
    """Return an annotation with what the command line says of parameters and axes.

    Values for a parameter of the annotation take the place of its own.
    """
    place = Span(PARAM, 1, 1)
    own = tuple(
        replace(p, values=params[p.name], span=place) if p.name in params else p
        for p in spec.performance_params
    )
    known = {p.name for p in own}
    more = tuple(Parameter(n, v, place) for n, v in params.items() if n not in known and is_axis(n))
    where = Span(CONSTRAINT, 1, 1)
    constraints = tuple(Constraint(dotted(text), Formula(text, where), where) for text in formulas)
    return replace(
        spec,
        performance_params=(*own, *more),
        constraints=(*spec.constraints, *constraints),
    )


@dataclass(frozen=True)
class AxisLimits:
    """The values that some axes may take, by their names in formulas, and the constraints.

    `sizes` are what the formulas may name beside axes. What an axis that a point does not have
    is limited to does not touch that point.
    """

    params: tuple[Parameter, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    sizes: Mapping[str, Value] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.params or self.constraints)

    def values(self, name: str) -> tuple[Value, ...]:
        """Return the values that an axis is limited to, none where it is not."""
        return next((p.values for p in self.params if plain(p.name) == plain(name)), ())

    def admit(self, settings: Mapping[str, Value]) -> bool:
        """Return whether a point fulfils everything."""
        return all(test(settings) for _, _, test in self._tests())

    def why_empty(self, points: Iterable[Mapping[str, Value]]) -> Diagnostic:
        """Return the refusal that names the fewest limits which together leave none of `points`."""
        known = list(points)
        needed = list(self._tests())
        for one in tuple(needed):
            rest = [other for other in needed if other is not one]
            if not any(all(test(p) for _, _, test in rest) for p in known):
                needed = rest
        return empty_space([(name, span) for name, span, _ in needed])

    def _tests(self) -> list[tuple[str, Span, Callable[[Mapping[str, Value]], bool]]]:
        out: list[tuple[str, Span, Callable[[Mapping[str, Value]], bool]]] = []
        for param in self.params:
            out.append((param.name, param.span, _among(param)))
        for constraint in self.constraints:
            out.append((constraint.name, constraint.span, self._formula(constraint)))
        return out

    def _formula(self, constraint: Constraint) -> Callable[[Mapping[str, Value]], bool]:
        needed = frozenset(free_names(constraint.formula))

        def test(settings: Mapping[str, Value]) -> bool:
            known = {**self.sizes, **{plain(name): v for name, v in settings.items()}}
            return not needed <= known.keys() or holds(constraint.formula, known)

        return test


NO_LIMITS = AxisLimits()


def _among(param: Parameter) -> Callable[[Mapping[str, Value]], bool]:
    # As text, so that what a table prints as 8 is found however a point has it.
    words = {str(value) for value in param.values}

    def test(settings: Mapping[str, Value]) -> bool:
        own = (v for name, v in settings.items() if plain(name) == plain(param.name))
        return all(str(value) in words for value in own)

    return test


def empty_space(needed: Sequence[tuple[str, Span]]) -> Diagnostic:
    """Return the refusal of a space that some limits, by name and place, leave empty together."""
    names = [f"'{name}'" for name, _ in needed]
    what = f"constraints {' and '.join(names)} together remove"
    if len(names) == 1:
        what = f"constraint {names[0]} removes"
    return EMPTY_SPACE.at(needed[-1][1] if needed else NOWHERE, what=what)


def limits_of(spec: Spec, sizes: Mapping[str, Value]) -> AxisLimits:
    """Return what an annotation, and the command line with it, say of the space's own axes."""
    params = tuple(p for p in spec.performance_params if is_axis(p.name))
    constraints = tuple(c for c in spec.constraints if is_of_axes(c))
    others: dict[str, Value] = dict(sizes)
    return AxisLimits(params, constraints, others)


def is_of_axes(constraint: Constraint) -> bool:
    """Return whether a constraint speaks of an axis of the space."""
    return any(is_axis(name) for name in free_names(constraint.formula))
