"""Evaluates expressions of the annotation language, bounded in size and depth.

Python's meaning, with two exceptions: the quotient of two integers is an integer where it
is exact, and everything that would be huge is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import assert_never

from annotune.annotation import expression as ex
from annotune.annotation.expression import Node, parse_expression
from annotune.annotation.functions import (
    FUNCTIONS,
    add,
    bounded,
    call,
    kind,
    multiply,
    power,
    quotient,
)
from annotune.annotation.messages import (
    DIVISION_BY_ZERO,
    UNKNOWN_FUNCTION,
    UNKNOWN_NAME,
    WRONG_TYPES,
    did_you_mean,
)
from annotune.annotation.spec import Formula, Value
from annotune.annotation.tokens import ExpressionError
from annotune.diagnostics import Span

_NO_NAMES: Mapping[str, Value] = {}


def evaluate(formula: str | Formula, names: Mapping[str, Value] = _NO_NAMES) -> Value:
    """Return the value of an expression where `names` gives the parameters' values.

    Raises:
        AnnotuneError: The text is no expression, a name is unknown, types do not fit, a
            divisor is zero, or a value would be too large; at the place in the formula.
    """
    formula = Formula(formula) if isinstance(formula, str) else formula
    try:
        return evaluate_node(parse_expression(formula.text), names)
    except ExpressionError as error:
        raise error.at(lambda start, end: span_in(formula, start, end)) from None


def holds(formula: str | Formula, names: Mapping[str, Value]) -> bool:
    """Return whether a constraint's formula is true; raises like `evaluate`."""
    return bool(evaluate(formula, names))


def span_in(formula: Formula, start: int, end: int) -> Span:
    """Return the place of ``formula.text[start:end]``, or all of it where that is unknown."""
    span = formula.span
    # Only a formula that stands on one line, letter by letter, can be pointed into.
    if "\n" in formula.text or span.length != len(formula.text):
        return span
    return replace(span, column=span.column + start, length=max(1, end - start))


def free_names(formula: str | Formula) -> tuple[str, ...]:
    """Return the names that an expression needs, each once, in the order of the text."""
    formula = Formula(formula) if isinstance(formula, str) else formula
    try:
        node = parse_expression(formula.text)
    except ExpressionError as error:
        raise error.at(lambda start, end: span_in(formula, start, end)) from None
    return tuple(dict.fromkeys(name.name for name in names_in(node)))


def names_in(node: Node) -> Iterator[ex.Name]:
    """Yield every name in a tree, from left to right."""
    pending = [node]
    while pending:
        part = pending.pop()
        if isinstance(part, ex.Name):
            yield part
        pending.extend(reversed(ex.children(part)))


def literal(value: Value) -> str:
    """Return `value` as an expression that evaluates to it again."""
    match value:
        case bool() | int():
            return str(value)
        case float():
            return repr(value)
        case str():
            text = value.replace("\\", "\\\\").replace('"', '\\"')
            for letter, escape in (("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
                text = text.replace(letter, escape)
            return f'"{text}"'
        case tuple():
            return f"[{', '.join(map(literal, value))}]"
        case _:
            assert_never(value)


def evaluate_node(node: Node, names: Mapping[str, Value]) -> Value:
    """Return the value of a tree; raises ExpressionError with the offsets of the mistake."""
    match node:
        case ex.Literal(value):
            return value
        case ex.Name(name):
            if name in names:
                return names[name]
            hint = did_you_mean(name, names)
            raise ExpressionError(UNKNOWN_NAME, node.start, node.end, name=name, hint=hint)
        case ex.Sequence(items):
            return bounded(node, tuple(evaluate_node(item, names) for item in items))
        case ex.Unary(operator, operand):
            return _unary(node, operator, evaluate_node(operand, names))
        case ex.Binary(operator, left, right):
            return _binary(node, operator, evaluate_node(left, names), evaluate_node(right, names))
        case ex.Logic(operator, operands):
            return _logic(operator, operands, names)
        case ex.Comparison(first, rest):
            return _comparison(node, first, rest, names)
        case ex.Conditional(condition, then, otherwise):
            chosen = then if evaluate_node(condition, names) else otherwise
            return evaluate_node(chosen, names)
        case ex.Call(function, arguments):
            if function not in FUNCTIONS:
                hint = did_you_mean(function, FUNCTIONS)
                raise ExpressionError(
                    UNKNOWN_FUNCTION, node.start, node.end, name=function, hint=hint
                )
            values = [evaluate_node(argument, names) for argument in _valued(function, arguments)]
            return bounded(node, call(node, function, values))
        case _:
            assert_never(node)


def _valued(function: str, arguments: Sequence[Node]) -> Sequence[Node]:
    """Return the arguments that have a value: in ``map(join, …)``, `join` is only a word."""
    if function != "map" or not arguments:
        return arguments
    first, rest = arguments[0], arguments[1:]
    return rest if isinstance(first, ex.Name) and first.name == "join" else ()


def _mismatch(node: Node, operator: str, *operands: Value) -> ExpressionError:
    types = " and ".join(map(kind, operands))
    return ExpressionError(WRONG_TYPES, node.start, node.end, operator=operator, types=types)


def _unary(node: Node, operator: str, value: Value) -> Value:
    if operator == "not":
        return not value
    if not isinstance(value, int | float):
        raise _mismatch(node, operator, value)
    return -value if operator == "-" else +value


_ARITHMETIC: Mapping[str, Callable[[int | float, int | float], int | float]] = {
    "-": lambda a, b: a - b,
    "/": quotient,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
}


def _binary(node: Node, operator: str, left: Value, right: Value) -> Value:
    try:
        if operator == "+":
            result = add(left, right)
        elif operator == "*":
            result = multiply(node, left, right)
        elif isinstance(left, int | float) and isinstance(right, int | float):
            apply = _ARITHMETIC.get(operator)
            result = apply(left, right) if apply else power(node, left, right)
        else:
            raise TypeError
    except TypeError:
        raise _mismatch(node, operator, left, right) from None
    except ZeroDivisionError:
        raise ExpressionError(DIVISION_BY_ZERO, node.start, node.end) from None
    except OverflowError:
        result = math.inf
    return bounded(node, result)


def _logic(operator: str, operands: Sequence[Node], names: Mapping[str, Value]) -> Value:
    """Return the operand that decides, as Python does; the rest stays unevaluated."""
    value: Value = operator == "and"
    for operand in operands:
        value = evaluate_node(operand, names)
        if bool(value) == (operator == "or"):
            break
    return value


def _comparison(
    node: Node, first: Node, rest: Sequence[tuple[str, Node]], names: Mapping[str, Value]
) -> bool:
    left = evaluate_node(first, names)
    for operator, operand in rest:
        right = evaluate_node(operand, names)
        if not _compare(node, operator, left, right):
            return False
        left = right
    return True


def _compare(node: Node, operator: str, left: Value, right: Value) -> bool:
    if operator in ("==", "!="):
        return (left == right) == (operator == "==")
    try:
        if operator in ("in", "not in"):
            return (left in right) == (operator == "in")  # type: ignore[operator]  # TypeError below
        ordered: dict[str, Callable[[], bool]] = {
            "<": lambda: left < right,  # type: ignore[operator]  # TypeError below
            "<=": lambda: left <= right,  # type: ignore[operator]  # TypeError below
            ">": lambda: left > right,  # type: ignore[operator]  # TypeError below
            ">=": lambda: left >= right,  # type: ignore[operator]  # TypeError below
        }
        return ordered[operator]()
    except TypeError:
        raise _mismatch(node, operator, left, right) from None
