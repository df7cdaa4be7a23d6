"""Text of the annotation language to tokens.

Expressions of the annotation language: text to a tree, by precedence climbing.

The tree is ours alone, so evaluating one can never run code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple, TypeAlias, assert_never

from annotune.annotation.messages import (
    EXPECTED_TOKEN,
    EXPECTED_VALUE,
    MALFORMED_NUMBER,
    TOO_DEEP,
    UNCLOSED_STRING,
    UNEXPECTED,
)
from annotune.diagnostics import AnnotuneError, Span, Template


class ExpressionError(Exception):
    """A mistake at ``text[start:end]``; who knows the file makes a Diagnostic of it."""

    def __init__(self, template: Template, start: int, end: int, **values: object) -> None:
        super().__init__(template.code)
        self.template, self.start, self.end, self.values = template, start, end, values

    def at(self, span_of: Callable[[int, int], Span]) -> AnnotuneError:
        """Return the error to raise, where `span_of` maps two offsets to a Span."""
        return AnnotuneError.of(self.template.at(span_of(self.start, self.end), **self.values))


@contextmanager
def placed(span_of: Callable[[int, int], Span]) -> Iterator[None]:
    """Raise what is wrong with an expression inside at its place in a file."""
    try:
        yield
    except ExpressionError as error:
        raise error.at(span_of) from None


class Token(NamedTuple):
    """One token: kind is ``number``, ``string``, ``name``, ``op`` or ``end``."""

    kind: str
    text: str
    start: int
    end: int

    @property
    def shown(self) -> str:
        return f"'{self.text}'" if self.text else "the end"


_TOKEN = re.compile(
    r"(?P<skip>(?:[ \t\r\n\f\v]|\#[^\n]*)+)"
    r"|(?P<number>0[xX][A-Za-z0-9_]*|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[A-Za-z0-9_]*)"
    r"|(?P<string>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<op>\*\*|//|==|!=|<=|>=|&&|\|\||[-+*/%<>!?:,()\[\]{};=])"
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of `text`, last one of kind ``end``; raises ExpressionError."""
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            if text[at] in "\"'":
                line_end = (text + "\n").index("\n", at)
                raise ExpressionError(UNCLOSED_STRING, at, line_end)
            found = f"character {text[at]!r}"
            raise ExpressionError(UNEXPECTED, at, at + 1, found=found, hint="")
        kind = str(match.lastgroup)
        if kind != "skip":
            yield Token(kind, match.group(), at, match.end())
        at = match.end()
    yield Token("end", "", len(text), len(text) + 1)


_DEPTH = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


def at_commas(stream: Iterable[Token]) -> list[list[Token]]:
    """Return the tokens between the commas that stand in no brackets."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in stream:
        depth += _DEPTH.get(token.text, 0)
        if token.text == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def string_value(literal: str) -> str:
    """Return what a quoted string means; an unknown escape keeps its backslash."""
    return re.sub(
        r"\\(.)", lambda match: _ESCAPES.get(match[1], match[0]), literal[1:-1], flags=re.DOTALL
    )


def number_value(token: Token) -> int | float:
    """Return what a number token means; raises ExpressionError for a malformed one."""
    text = token.text
    if re.fullmatch(r"0[xX][0-9A-Fa-f]{1,16}", text):
        return int(text, 16)
    if re.fullmatch(r"0+|[1-9][0-9]{0,18}", text):
        return int(text)
    if re.fullmatch(r"(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][+-]?[0-9]+)?", text):
        value = float(text)
        if value != float("inf"):
            return value
    hint = "integers have at most 19 digits, no suffix and no leading zero"
    raise ExpressionError(MALFORMED_NUMBER, token.start, token.end, text=text, hint=hint)


# Both keep recursion well below Python's limit of 1000 frames: parsing takes 15 frames for
# each level of brackets, evaluating 2 for each level of the tree (a sum leans to the left).
MAX_DEPTH = 30
MAX_HEIGHT = 200


@dataclass(frozen=True, slots=True)
class Literal:
    """A number, a string, True or False. `start` and `end` are offsets, as in every node."""

    value: int | float | str | bool
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Name:
    """A name that gets its value when the expression is evaluated."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sequence:
    """``[a, b]``, ``(a, b)`` or ``{a, b}``: one meaning, a list."""

    items: tuple[Node, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Unary:
    """``-a``, ``+a`` or ``not a`` (also written ``!a``)."""

    operator: str
    operand: Node
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Binary:
    """Arithmetic: ``+ - * / // % **``."""

    operator: str
    left: Node
    right: Node
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Logic:
    """``a and b and c`` or ``a or b or c``, left to right until the value is known."""

    operator: str
    operands: tuple[Node, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """A chain ``a < b <= c``: every neighbouring pair must hold."""

    first: Node
    rest: tuple[tuple[str, Node], ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Conditional:
    """``a if c else b``, also written ``c ? a : b``."""

    condition: Node
    then: Node
    otherwise: Node
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Call:
    """``min(a, b)``: a call of one of the language's own functions."""

    function: str
    arguments: tuple[Node, ...]
    start: int
    end: int


Node: TypeAlias = (
    Literal | Name | Sequence | Unary | Binary | Logic | Comparison | Conditional | Call
)


_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">=", "in", "not in"})
_LEVELS = (frozenset({"+", "-"}), frozenset({"*", "/", "//", "%"}))
_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_RESERVED = frozenset({"and", "or", "not", "if", "else", "in"})
_CONSTANTS = {"True": True, "False": False, "true": True, "false": False}


@lru_cache(maxsize=4096)
def parse_expression(text: str) -> Node:
    """Return the tree of `text`; raises ExpressionError with offsets into `text`."""
    parser = _Parser(list(tokens(text)))
    node = parser.expression()
    parser.expect("", "an operator, a comma or the end")
    pending = [(node, 1)]
    while pending:
        part, height = pending.pop()
        if height > MAX_HEIGHT:
            raise ExpressionError(TOO_DEEP, node.start, node.end, limit=MAX_HEIGHT)
        pending.extend((child, height + 1) for child in children(part))
    return node


def children(node: Node) -> tuple[Node, ...]:
    """Return the parts of `node`, in the order of the text."""
    match node:
        case Literal() | Name():
            return ()
        case Sequence(parts) | Logic(_, parts) | Call(_, parts):
            return parts
        case Unary(_, operand):
            return (operand,)
        case Binary(_, left, right):
            return (left, right)
        case Comparison(first, rest):
            return (first, *(operand for _, operand in rest))
        case Conditional(condition, then, otherwise):
            return tuple(sorted((condition, then, otherwise), key=lambda part: part.start))
        case _:
            assert_never(node)


class _Parser:
    """Precedence climbing over a list of tokens, from the loosest operator inwards."""

    def __init__(self, stream: list[Token]) -> None:
        self.stream = stream
        self.index = 0
        self.depth = 0

    @property
    def token(self) -> Token:
        return self.stream[self.index]

    def take(self) -> Token:
        token = self.token
        if token.kind != "end":
            self.index += 1
        return token

    def is_next(self, *texts: str) -> bool:
        return self.token.kind in ("op", "name", "end") and self.token.text in texts

    def expect(self, text: str, wanted: str = "") -> Token:
        if not self.is_next(text):
            raise ExpressionError(
                EXPECTED_TOKEN,
                self.token.start,
                self.token.end,
                wanted=wanted or f"'{text}'",
                found=self.token.shown,
            )
        return self.take()

    def expression(self) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ExpressionError(TOO_DEEP, self.token.start, self.token.end, limit=MAX_DEPTH)
        node = self.logic("or", "||")
        if self.is_next("if"):
            self.take()
            condition = self.logic("or", "||")
            self.expect("else")
            otherwise = self.expression()
            node = Conditional(condition, node, otherwise, node.start, otherwise.end)
        elif self.is_next("?"):
            self.take()
            then = self.expression()
            self.expect(":")
            otherwise = self.expression()
            node = Conditional(node, then, otherwise, node.start, otherwise.end)
        self.depth -= 1
        return node

    def logic(self, word: str, sign: str) -> Node:
        operands = [self.operand_of(word)]
        while self.is_next(word, sign):
            self.take()
            operands.append(self.operand_of(word))
        if len(operands) == 1:
            return operands[0]
        return Logic(word, tuple(operands), operands[0].start, operands[-1].end)

    def operand_of(self, word: str) -> Node:
        return self.logic("and", "&&") if word == "or" else self.negation()

    def negation(self) -> Node:
        if not self.is_next("not"):
            return self.comparison()
        start = self.take().start
        operand = self.nested(self.negation)
        return Unary("not", operand, start, operand.end)

    def nested(self, rule: Callable[[], Node]) -> Node:
        """Return what `rule` parses, one level deeper."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ExpressionError(TOO_DEEP, self.token.start, self.token.end, limit=MAX_DEPTH)
        node = rule()
        self.depth -= 1
        return node

    def comparison(self) -> Node:
        first = self.arithmetic(0)
        rest: list[tuple[str, Node]] = []
        while (operator := self.comparison_operator()) is not None:
            rest.append((operator, self.arithmetic(0)))
        if not rest:
            return first
        return Comparison(first, tuple(rest), first.start, rest[-1][1].end)

    def comparison_operator(self) -> str | None:
        """Return the comparison that stands next, having taken it, or None."""
        if self.is_next(*_COMPARISONS):
            return self.take().text
        if self.is_next("not"):
            self.take()
            self.expect("in")
            return "not in"
        return None

    def arithmetic(self, level: int) -> Node:
        if level == len(_LEVELS):
            return self.sign()
        left = self.arithmetic(level + 1)
        while self.is_next(*_LEVELS[level]):
            operator = self.take()
            right = self.arithmetic(level + 1)
            left = Binary(operator.text, left, right, left.start, right.end)
        return left

    def sign(self) -> Node:
        if not self.is_next("-", "+", "!"):
            return self.power()
        operator = self.take()
        operand = self.nested(self.sign)
        return Unary(operator.text.replace("!", "not"), operand, operator.start, operand.end)

    def power(self) -> Node:
        base = self.primary()
        if not self.is_next("**"):
            return base
        self.take()
        # As in Python: -2 ** 2 is -(2 ** 2), and 2 ** -1 needs no parentheses.
        exponent = self.nested(self.sign)
        return Binary("**", base, exponent, base.start, exponent.end)

    def primary(self) -> Node:
        token = self.take()
        if token.kind == "number":
            return Literal(number_value(token), token.start, token.end)
        if token.kind == "string":
            return Literal(string_value(token.text), token.start, token.end)
        if token.kind == "name" and token.text not in _RESERVED:
            return self.named(token)
        if token.kind == "op" and token.text in _CLOSERS:
            return self.bracketed(token)
        raise ExpressionError(EXPECTED_VALUE, token.start, token.end, found=token.shown)

    def named(self, token: Token) -> Node:
        if token.text in _CONSTANTS:
            return Literal(_CONSTANTS[token.text], token.start, token.end)
        if not self.is_next("("):
            return Name(token.text, token.start, token.end)
        self.take()
        arguments, _, end = self.items(")")
        return Call(token.text, arguments, token.start, end)

    def bracketed(self, token: Token) -> Node:
        items, has_comma, end = self.items(_CLOSERS[token.text])
        if token.text == "(" and len(items) == 1 and not has_comma:
            # With its parentheses, so that every node's text is a whole expression.
            return replace(items[0], start=token.start, end=end)
        return Sequence(items, token.start, end)

    def items(self, closer: str) -> tuple[tuple[Node, ...], bool, int]:
        """Return the items up to `closer`, whether a comma stood there, and the end."""
        items: list[Node] = []
        has_comma = False
        while not self.is_next(closer):
            items.append(self.expression())
            if not self.is_next(","):
                break
            self.take()
            has_comma = True
        return tuple(items), has_comma, self.expect(closer).end
