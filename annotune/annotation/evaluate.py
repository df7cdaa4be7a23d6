"""The functions and the arithmetic of annotation expressions, with their bounds.

Evaluates expressions of the annotation language, bounded in size and depth.

Python's meaning, with two exceptions: the quotient of two integers is an integer where it
is exact, and everything that would be huge is refused.

Puts values in the place of names in a formula.

Finds names in an annotation that have no value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import assert_never

from annotune.annotation import expression as ex
from annotune.annotation.expression import ExpressionError, Node, parse_expression, placed
from annotune.annotation.messages import (
    DIVISION_BY_ZERO,
    TOO_LARGE,
    UNKNOWN_FUNCTION,
    UNKNOWN_NAME,
    WRONG_CALL,
    WRONG_TYPES,
    did_you_mean,
)
from annotune.annotation.spec import Formula, Spec, Value
from annotune.diagnostics import Diagnostic, Span

# Larger than any size or factor in use, and small enough to compute with at once.
MAX_INTEGER = 2**63 - 1
# Items of a list or a range, letters of a string.
MAX_ITEMS = 100_000
# Up to here every integer is exact as a double, so 8/2 may be the integer 4.
_EXACT = 2**53

FUNCTIONS = {
    "range": "range(stop), range(start, stop) or range(start, stop, step)",
    "min": "min(a, b, …) or min(list)",
    "max": "max(a, b, …) or max(list)",
    "abs": "abs(number)",
    "len": "len(list)",
    "list": "list(range(…))",
    "product": "product(list, …): every choice of one item from each",
    "map": "map(join, product(…)): the items of each choice in one string, a space between",
    "int": "int(number)",
    "round": "round(number)",
}


def kind(value: Value) -> str:
    """Return what `value` is, in the words of a diagnostic."""
    match value:
        case bool():
            return "a truth value"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case _:
            return "a list"


def bounded(node: Node, value: Value) -> Value:
    """Return `value`; raises ExpressionError at `node` when it is too large."""
    match value:
        case bool():
            return value
        case int() if abs(value) > MAX_INTEGER:
            what, hint = "the number", "integers have 63 bits"
        case float() if not math.isfinite(value):
            what, hint = "the number", ""
        case str() if len(value) > MAX_ITEMS:
            what, hint = "the string", f"at most {MAX_ITEMS} letters"
        case tuple() if _weight(value) > MAX_ITEMS:
            what, hint = "the list", f"at most {MAX_ITEMS} items"
        case _:
            return value
    raise ExpressionError(TOO_LARGE, node.start, node.end, what=what, hint=hint)


def _weight(value: Value) -> int:
    """Return how many items `value` holds at all levels, or some number above MAX_ITEMS."""
    total = 0
    pending = [value]
    while pending and total <= MAX_ITEMS:
        item = pending.pop()
        total += 1
        if isinstance(item, tuple):
            total += len(item)
            pending.extend(part for part in item if isinstance(part, tuple))
    return total


def quotient(left: int | float, right: int | float) -> int | float:
    """Return left / right: an integer where that is exact, else a float."""
    if isinstance(left, int) and isinstance(right, int) and left % right == 0:
        exact = left // right
        if abs(left) <= _EXACT and abs(right) <= _EXACT:
            return exact
    return left / right


def add(left: Value, right: Value) -> Value:
    """Return the sum, or the two strings or lists in a row; raises TypeError for others."""
    match left, right:
        case ((int() | float()), (int() | float())):
            return left + right
        case str(), str():
            return left + right
        case tuple(), tuple():
            return left + right
        case _:
            raise TypeError


def multiply(node: Node, left: Value, right: Value) -> Value:
    """Return the product, or a list or string repeated; raises TypeError for others."""
    if isinstance(left, int) and not isinstance(right, int | float):
        left, right = right, left
    match left, right:
        case ((int() | float()), (int() | float())):
            return left * right
        case ((str() | tuple()), int()):
            if len(left) * right > MAX_ITEMS:
                hint = f"at most {MAX_ITEMS} items"
                raise ExpressionError(TOO_LARGE, node.start, node.end, what="the list", hint=hint)
            return left * right
        case _:
            raise TypeError


def power(node: Node, base: int | float, exponent: int | float) -> int | float:
    """Return base ** exponent; raises ExpressionError before anything huge is computed."""
    if isinstance(base, int) and isinstance(exponent, int) and abs(base) > 1 and exponent > 64:
        raise ExpressionError(
            TOO_LARGE, node.start, node.end, what="the power", hint="integers have 63 bits"
        )
    if isinstance(exponent, int) and isinstance(base, int) and abs(base) <= 1 and exponent > 0:
        exponent = 2 - exponent % 2  # (-1, 0, 1) ** n depends only on whether n is odd
    result = base**exponent
    if isinstance(result, complex):
        raise TypeError
    return float(result) if isinstance(result, float) else int(result)


def call(node: Node, name: str, values: Sequence[Value]) -> Value:
    """Return what one of `FUNCTIONS` gives for `values`."""
    try:
        return _call(node, name, values)
    except (TypeError, ValueError):
        given = ", ".join(map(kind, values)) or "no arguments"
        raise ExpressionError(
            WRONG_CALL, node.start, node.end, name=name, given=given, hint=FUNCTIONS[name]
        ) from None


def _call(node: Node, name: str, values: Sequence[Value]) -> Value:
    if name == "range":
        return _range(node, values)
    if name == "product":
        return _product(node, values)
    if name in ("min", "max"):
        single = values[0] if len(values) == 1 else tuple(values)
        if not isinstance(single, tuple):
            raise TypeError
        choose = min if name == "min" else max
        return choose(single)
    if len(values) != 1:
        raise TypeError
    value = values[0]
    if name == "list" and isinstance(value, tuple):
        return value
    if name == "map":
        return _joined(value)
    if name == "len" and isinstance(value, str | tuple):
        return len(value)
    if not isinstance(value, int | float):
        raise TypeError
    if name == "abs":
        return abs(value)
    return int(value) if name == "int" else round(value)


def _range(node: Node, values: Sequence[Value]) -> Value:
    integers = [value for value in values if isinstance(value, int)]
    if len(integers) != len(values) or not 1 <= len(integers) <= 3:
        raise TypeError
    items = range(*integers)
    # Slicing first, because len() of a range beyond sys.maxsize raises OverflowError.
    if len(items[: MAX_ITEMS + 1]) > MAX_ITEMS - 1:
        hint = f"at most {MAX_ITEMS} items"
        raise ExpressionError(TOO_LARGE, node.start, node.end, what="the range", hint=hint)
    return tuple(items)


def _product(node: Node, values: Sequence[Value]) -> Value:
    lists = [value for value in values if isinstance(value, tuple)]
    if len(lists) < len(values) or not lists:
        raise TypeError
    if math.prod(len(items) + 1 for items in lists) > MAX_ITEMS:
        hint = f"at most {MAX_ITEMS} items"
        raise ExpressionError(TOO_LARGE, node.start, node.end, what="the product", hint=hint)
    return tuple(product(*lists))


def _joined(value: Value) -> Value:
    """Return what Orio's ``map(join, …)`` gives: each list of strings as one string."""
    if not isinstance(value, tuple):
        raise TypeError
    rows = [item if isinstance(item, tuple) else (item,) for item in value]
    texts = [[part for part in row if isinstance(part, str)] for row in rows]
    if any(len(row) < len(whole) for row, whole in zip(texts, rows, strict=True)):
        raise TypeError
    return tuple(" ".join(row) for row in texts)


_NO_NAMES: Mapping[str, Value] = {}


def evaluate(formula: str | Formula, names: Mapping[str, Value] = _NO_NAMES) -> Value:
    """Return the value of an expression where `names` gives the parameters' values.

    Raises:
        AnnotuneError: The text is no expression, a name is unknown, types do not fit, a
            divisor is zero, or a value would be too large; at the place in the formula.
    """
    formula = Formula(formula) if isinstance(formula, str) else formula
    with placed(partial(span_in, formula)):
        return evaluate_node(parse_expression(formula.text), names)


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
    with placed(partial(span_in, formula)):
        node = parse_expression(formula.text)
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


# An axis of a statement, or of the whole region, in a formula.
_AXIS = re.compile(r"S\d+_[A-Za-z]\w*|flags")


def unknown_names(spec: Spec, sizes: Collection[str] = ()) -> tuple[Diagnostic, ...]:
    """Return a diagnostic for each name in `spec` that is no parameter and not in `sizes`.

    `sizes` are the names that the C text or ``--set`` give a value.
    """
    params = {param.name for param in (*spec.input_params, *spec.performance_params)}
    known = params | set(sizes)
    found: list[Diagnostic] = []
    constraints = [constraint.formula for constraint in spec.constraints]
    for formula in (*constraints, *(f for command in spec.commands for f in command.formulas)):
        for name in names_in(parse_expression(formula.text)):
            # Axes of the space are known once it is.
            if name.name not in known and not _AXIS.fullmatch(name.name):
                span = span_in(formula, name.start, name.end)
                hint = did_you_mean(name.name, known)
                # The usual cause in a recipe: registers(0, h7) for registers(0, "h7").
                hint = hint if hint.startswith("did") else f'a loop\'s name is "{name.name}"'
                found.append(UNKNOWN_NAME.at(span, name=name.name, hint=hint))
    return tuple(found)
