"""Integer constant expressions of the preprocessor: ``#define N (2*M)``, ``#if N > 2``.

The value of an integer constant expression as a syntax tree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from annotune.frontend.read.syntax import c_ast
from annotune.ir.fold import divide, remainder

_TOKEN = re.compile(
    r"\s*(?P<text>0[xX][0-9a-fA-F]+[uUlL]*|\d+[uUlL]*(?![\w.])|[A-Za-z_]\w*"
    r"|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>!~&|^()?:])"
)
_PRECEDENCE: Mapping[str, int] = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7,
    ">=": 7, "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip
_COMPUTE: Mapping[str, Callable[[int, int], int]] = {
    "||": lambda a, b: int(bool(a or b)),
    "&&": lambda a, b: int(bool(a and b)),
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "&": lambda a, b: a & b,
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
    "<<": lambda a, b: a << min(b, 64),
    ">>": lambda a, b: a >> b,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": divide,
    "%": remainder,
}


def compute(op: str, left: int, right: int) -> int | None:
    """Return ``left op right`` as C computes it, None for an operator without a value."""
    return _COMPUTE[op](left, right) if op in _COMPUTE else None


# More digits than any 64-bit number has, its leading zeros included.
_MOST_DIGITS = 64


def integer(text: str) -> int | None:
    """Return the value of a C integer literal, or None when `text` is none."""
    digits = text.rstrip("uUlL")
    value: int | None = None
    if len(digits) > _MOST_DIGITS:
        return None
    if re.fullmatch(r"0[xX][0-9a-fA-F]+", digits):
        value = int(digits, 16)
    elif re.fullmatch(r"0[0-7]*", digits):
        value = int(digits, 8)
    elif re.fullmatch(r"[1-9]\d*", digits):
        value = int(digits)
    return value if value is not None and value < 1 << 64 else None


def evaluate(text: str, value_of: Callable[[str], int | None]) -> int | None:
    """Return the value of the integer expression `text`, or None when it is none.

    `value_of` gives the value of a name, None when it has none.
    """
    tokens, at = [], 0
    text = text.strip()
    while at < len(text):
        found = _TOKEN.match(text, at)
        if not found:
            return None
        tokens.append(found["text"])
        at = found.end()
    try:
        reader = _Reader(tokens, value_of)
        value = reader.conditional()
    except (_NotConstant, ZeroDivisionError, ValueError, RecursionError):
        return None
    return value if reader.at == len(tokens) else None


class _NotConstant(Exception):
    """The text is not an integer constant expression."""


class _Reader:
    """Precedence climbing over the tokens of one expression."""

    def __init__(self, tokens: list[str], value_of: Callable[[str], int | None]) -> None:
        self.tokens = tokens
        self.value_of = value_of
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def next(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1] if self.at <= len(self.tokens) else ""

    def expect(self, token: str) -> None:
        if self.next() != token:
            raise _NotConstant

    def conditional(self) -> int:
        condition = self.binary(1)
        if self.peek() != "?":
            return condition
        self.next()
        if_true = self.conditional()
        self.expect(":")
        if_false = self.conditional()
        return if_true if condition else if_false

    def binary(self, lowest: int) -> int:
        left = self.unary()
        while (own := _PRECEDENCE.get(self.peek(), 0)) >= lowest:
            op = self.next()
            left = _COMPUTE[op](left, self.binary(own + 1))
        return left

    def unary(self) -> int:
        token = self.next()
        match token:
            case "-":
                return -self.unary()
            case "+":
                return self.unary()
            case "!":
                return int(not self.unary())
            case "~":
                return ~self.unary()
            case "(":
                inner = self.conditional()
                self.expect(")")
                return inner
        value = integer(token) if token[:1].isdigit() else None
        if value is None and token[:1].isidentifier():
            value = self.value_of(token)
        if value is None:
            raise _NotConstant
        return value


def value_of_tree(node: Any, value_of: Callable[[Any], int | None]) -> int | None:
    """Return the value of an expression, None when it is not an integer constant.

    `value_of` gives the value of an identifier's node, None when it has none.
    """
    try:
        return _value(node, value_of)
    except (ZeroDivisionError, ValueError, RecursionError):
        return None


def _value(node: Any, value_of: Callable[[Any], int | None]) -> int | None:
    match node:
        case c_ast.Constant():
            return integer(node.value)
        case c_ast.ID():
            return value_of(node)
        case c_ast.UnaryOp(op="-" | "+" | "!" | "~"):
            inner = _value(node.expr, value_of)
            if inner is None:
                return None
            return {"-": -inner, "+": inner, "!": int(not inner), "~": ~inner}[node.op]
        case c_ast.BinaryOp():
            left, right = _value(node.left, value_of), _value(node.right, value_of)
            return None if left is None or right is None else compute(node.op, left, right)
        case c_ast.TernaryOp():
            condition = _value(node.cond, value_of)
            if condition is None:
                return None
            return _value(node.iftrue if condition else node.iffalse, value_of)
    return None
