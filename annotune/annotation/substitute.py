"""Puts values in the place of names in a formula."""

from __future__ import annotations

from collections.abc import Mapping

from annotune.annotation.evaluate import literal, names_in
from annotune.annotation.expression import parse_expression
from annotune.annotation.spec import Formula, Value


def substitute(formula: Formula, values: Mapping[str, Value]) -> Formula:
    """Return `formula` with the names of `values` replaced; raises ExpressionError."""
    text = formula.text
    found = [name for name in names_in(parse_expression(text)) if name.name in values]
    for name in reversed(found):
        value = literal(values[name.name])
        # A negative number needs parentheses: X ** 2 must not become -2 ** 2.
        value = f"({value})" if value.startswith("-") else value
        text = text[: name.start] + value + text[name.end :]
    return Formula(text, formula.span)
