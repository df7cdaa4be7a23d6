"""Finds names in an annotation that have no value."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from annotune.annotation.evaluate import names_in, span_in
from annotune.annotation.expression import parse_expression
from annotune.annotation.messages import UNKNOWN_NAME, did_you_mean
from annotune.annotation.spec import Formula, Spec
from annotune.diagnostics import Diagnostic

# An axis of a statement, or of the whole region, in a formula.
_AXIS = re.compile(r"S\d+_[A-Za-z]\w*|flags")


def unknown_names(spec: Spec, sizes: Collection[str] = ()) -> tuple[Diagnostic, ...]:
    """Return a diagnostic for each name in `spec` that is no parameter and not in `sizes`.

    `sizes` are the names that the C text or ``--set`` give a value.
    """
    params = {param.name for param in (*spec.input_params, *spec.performance_params)}
    known = params | set(sizes)
    found: list[Diagnostic] = []
    for formula in _formulas(spec):
        for name in names_in(parse_expression(formula.text)):
            # Axes of the space are known once it is.
            if name.name not in known and not _AXIS.fullmatch(name.name):
                span = span_in(formula, name.start, name.end)
                hint = did_you_mean(name.name, known)
                # The usual cause in a recipe: registers(0, h7) for registers(0, "h7").
                hint = hint if hint.startswith("did") else f'a loop\'s name is "{name.name}"'
                found.append(UNKNOWN_NAME.at(span, name=name.name, hint=hint))
    return tuple(found)


def _formulas(spec: Spec) -> Iterator[Formula]:
    for constraint in spec.constraints:
        yield constraint.formula
    for command in spec.commands:
        for argument in command.arguments:
            value = argument.value
            for item in value if isinstance(value, tuple) else (value,):
                if isinstance(item, Formula):
                    yield item
