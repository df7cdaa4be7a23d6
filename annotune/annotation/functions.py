"""The functions and the arithmetic of annotation expressions, with their bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

from annotune.annotation.expression import Node
from annotune.annotation.messages import TOO_LARGE, WRONG_CALL
from annotune.annotation.spec import Value
from annotune.annotation.tokens import ExpressionError

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
