"""Expressions of the annotation language: text to tokens and a tree, and the tree to its value.

The grammar stands with that of the annotations; the tree is ours alone, so evaluating one can never
run code. Values are Python's, but that the quotient of two integers is an integer where it is
exact, and that everything that would be huge is refused.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, lru_cache, partial
from importlib.util import cache_from_source
from itertools import product
from operator import ge, gt, le, lt
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias, assert_never

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedToken
from lark.parsers.lalr_interactive_parser import InteractiveParser

from annotune.annotation.messages import (
    DIVISION_BY_ZERO,
    EXPECTED_TOKEN,
    EXPECTED_VALUE,
    MALFORMED_NUMBER,
    TOO_DEEP,
    TOO_LARGE,
    UNCLOSED_STRING,
    UNEXPECTED,
    UNKNOWN_FUNCTION,
    UNKNOWN_NAME,
    WRONG_CALL,
    WRONG_TYPES,
    did_you_mean,
)
from annotune.annotation.spec import Formula, Spec, Value
from annotune.diagnostics import AnnotuneError, Diagnostic, Span, Template
from annotune.frozen import dataclass


class Placed(Protocol):
    """What stands at offsets of a text: a lexeme, or a node of a tree."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


class ExpressionError(Exception):
    """A mistake `at` a place in a text; who knows the file makes a Diagnostic of it."""

    def __init__(self, template: Template, at: Placed, **values: object) -> None:
        super().__init__(template.code)
        self.template, self.start, self.end, self.values = template, at.start, at.end, values

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


class Lexeme(NamedTuple):
    """A piece of a text: kind is ``number``, ``string``, ``name``, ``op`` or ``end``."""

    kind: str
    text: str
    start: int
    end: int

    @property
    def shown(self) -> str:
        return f"'{self.text}'" if self.text else "the end"


_LEXEME = re.compile(
    r"(?P<skip>(?:[ \t\r\n\f\v]|\#[^\n]*)+)"
    r"|(?P<number>0[xX][A-Za-z0-9_]*|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[A-Za-z0-9_]*)"
    r"|(?P<string>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<op>\*\*|//|==|!=|<=|>=|&&|\|\||[-+*/%<>!?:,()\[\]{};=])"
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}


def lexemes(text: str) -> Iterator[Lexeme]:
    """Yield the lexemes of `text`, last one of kind ``end``; raises ExpressionError."""
    at = 0
    while at < len(text):
        match = _LEXEME.match(text, at)
        if match is None:
            if text[at] in "\"'":
                line = text[at:].partition("\n")[0]
                raise ExpressionError(UNCLOSED_STRING, Lexeme("string", line, at, at + len(line)))
            wrong = Lexeme("op", text[at], at, at + 1)
            found = f"character {text[at]!r}"
            raise ExpressionError(UNEXPECTED, wrong, found=found, hint="")
        kind = str(match.lastgroup)
        if kind != "skip":
            yield Lexeme(kind, match.group(), at, match.end())
        at = match.end()
    yield Lexeme("end", "", len(text), len(text) + 1)


DEPTH = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}
"""By how much a bracket opens."""


def at_commas(stream: Iterable[Lexeme]) -> list[list[Lexeme]]:
    """Return the lexemes between the commas that stand in no brackets."""
    parts: list[list[Lexeme]] = [[]]
    depth = 0
    for one in stream:
        depth += DEPTH.get(one.text, 0)
        if one.text == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(one)
    return parts


def _string_value(literal: str) -> str:
    """Return what a quoted string means; an unknown escape keeps its backslash."""
    return re.sub(
        r"\\(.)", lambda match: _ESCAPES.get(match[1], match[0]), literal[1:-1], flags=re.DOTALL
    )


def _number_value(number: Lexeme) -> int | float:
    """Return what a number means; raises ExpressionError for a malformed one."""
    text = number.text
    if re.fullmatch(r"0[xX][0-9A-Fa-f]{1,16}", text):
        return int(text, 16)
    if re.fullmatch(r"0+|[1-9][0-9]{0,18}", text):
        return int(text)
    if re.fullmatch(r"(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][+-]?[0-9]+)?", text):
        value = float(text)
        if value != float("inf"):
            return value
    hint = "integers have at most 19 digits, no suffix and no leading zero"
    raise ExpressionError(MALFORMED_NUMBER, number, text=text, hint=hint)


# So many constructs may stand inside one another, and so high may their tree be: evaluating takes
# 2 of Python's 1000 frames for each level of the tree (a sum leans to the left).
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
class ListDisplay:
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
class BinaryOp:
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
class Compare:
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
class FunctionCall:
    """``min(a, b)``: a call of one of the language's own functions."""

    function: str
    arguments: tuple[Node, ...]
    start: int
    end: int


Node: TypeAlias = (
    Literal | Name | ListDisplay | Unary | BinaryOp | Logic | Compare | Conditional | FunctionCall
)


def children(node: Node) -> tuple[Node, ...]:
    """Return the parts of `node`, in the order of the text."""
    match node:
        case Literal() | Name():
            return ()
        case ListDisplay(parts) | Logic(_, parts) | FunctionCall(_, parts):
            return parts
        case Unary(_, operand):
            return (operand,)
        case BinaryOp(_, left, right):
            return (left, right)
        case Compare(first, rest):
            return (first, *(operand for _, operand in rest))
        case Conditional(condition, then, otherwise):
            return tuple(sorted((condition, then, otherwise), key=lambda part: part.start))
        case _:
            assert_never(node)


class _Fed(Token):
    """A lexeme as Lark takes it, at its place, with the value of a literal."""

    start: int
    end: int
    value_of_literal: int | float | str | bool


# The grammar's names of what is said by words and signs,
TYPES: Mapping[str, str] = {
    **dict.fromkeys(("or", "||"), "_OR"),
    **dict.fromkeys(("and", "&&"), "_AND"),
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), "COMPARE"),
    **dict.fromkeys(("*", "/", "//", "%"), "TIMES"),
    **dict.fromkeys(("True", "False", "true", "false"), "CONSTANT"),
    **{"+": "SIGN", "-": "SIGN", "!": "UNARY", "**": "POWER", "not": "NOT_IN", "in": "IN"},
    **{"if": "_IF", "else": "_ELSE", "?": "_QUESTION", ":": "_COLON", ",": "COMMA"},
    **{"(": "LPAR", ")": "RPAR", "[": "LSQB", "]": "RSQB", "{": "LBRACE", "}": "RBRACE"},
}
# and where these stand before a value.
PREFIXES: Mapping[str, str] = {"+": "UNARY", "-": "UNARY", "not": "NOT"}
_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_ENDS_OF_VALUES = frozenset({"NUMBER", "STRING", "NAME", "CONSTANT", "RPAR", "RSQB", "RBRACE"})
# What stands inside these is one level deeper.
_DEEPER = frozenset({"LPAR", "LSQB", "LBRACE", "UNARY", "NOT", "POWER", "_ELSE", "_QUESTION"})
# What must stand, sooner or later, where a value has ended inside of something.
_WANTED = {"RPAR": "')'", "RSQB": "']'", "RBRACE": "'}'", "_ELSE": "'else'", "_COLON": "':'"}


@v_args(inline=True)
class _Nodes(Transformer[Token, Node]):
    """Makes a node of what a rule of the grammar finds."""

    def literal(self, token: _Fed) -> Node:
        return Literal(token.value_of_literal, token.start, token.end)

    def name(self, token: _Fed) -> Node:
        return Name(str(token), token.start, token.end)

    def call(self, name: _Fed, *rest: Node | _Fed) -> Node:
        return FunctionCall(str(name), _nodes(rest), name.start, rest[-1].end)

    def group(self, opener: _Fed, inside: Node, closer: _Fed) -> Node:
        # With its parentheses, so that every node's text is a whole expression.
        return replace(inside, start=opener.start, end=closer.end)

    def display(self, *parts: Node | _Fed) -> Node:
        return ListDisplay(_nodes(parts), parts[0].start, parts[-1].end)

    def unary(self, operator: _Fed, operand: Node) -> Node:
        return Unary(operator.replace("!", "not"), operand, operator.start, operand.end)

    def binary(self, left: Node, operator: _Fed, right: Node) -> Node:
        return BinaryOp(str(operator), left, right, left.start, right.end)

    def conjunction(self, *operands: Node) -> Node:
        return Logic("and", operands, operands[0].start, operands[-1].end)

    def disjunction(self, *operands: Node) -> Node:
        return Logic("or", operands, operands[0].start, operands[-1].end)

    def comparison(self, first: Node, *pairs: tuple[str, Node]) -> Node:
        return Compare(first, pairs, first.start, pairs[-1][1].end)

    def compared(self, *parts: Node | _Fed) -> tuple[str, Node]:
        (operand,) = _nodes(parts)
        return " ".join(str(part) for part in parts if isinstance(part, _Fed)), operand

    def conditional(self, then: Node, condition: Node, otherwise: Node) -> Node:
        return Conditional(condition, then, otherwise, then.start, otherwise.end)

    def choice(self, condition: Node, then: Node, otherwise: Node) -> Node:
        return Conditional(condition, then, otherwise, condition.start, otherwise.end)


def _nodes(parts: Iterable[Node | _Fed]) -> tuple[Node, ...]:
    return tuple(part for part in parts if not isinstance(part, _Fed))


@cache
def grammar() -> Lark:
    """Return the parser, its tables kept beside the byte code, and trusted as that is."""
    kept = str(Path(cache_from_source(__file__)).with_suffix(".tables"))
    return Lark.open(
        "annotation.lark",
        rel_to=__file__,
        start=["perf_tuning", "spec_file", "recipe", "data", "expression"],
        parser="lalr",
        # A keyword is a keyword everywhere, so that a missing ';' before one is found.
        lexer="basic",
        propagate_positions=True,
        transformer=_Nodes(),
        cache=False if sys.dont_write_bytecode else kept,
    )


@lru_cache(maxsize=4096)
def parse_expression(text: str) -> Node:
    """Return the tree of `text`; raises ExpressionError with offsets into `text`."""
    parser = grammar().parse_interactive(start="expression")
    before = ""
    for one in tuple(lexemes(text)):
        fed = _Fed(type_of(one, before), one.text)
        fed.start, fed.end = one.start, one.end
        if before in _DEEPER:
            _refuse_depth(parser, fed, one)
        try:
            node: Node = parser.feed_token(fed)
        except UnexpectedToken:
            raise _mistake(parser, one, before) from None
        if fed.type in ("NUMBER", "STRING", "CONSTANT"):
            fed.value_of_literal = _value_of(one)
        before = fed.type
    pending = [(node, 1)]
    while pending:
        part, height = pending.pop()
        if height > MAX_HEIGHT:
            raise ExpressionError(TOO_DEEP, node, limit=MAX_HEIGHT)
        pending.extend((child, height + 1) for child in children(part))
    return node


def type_of(one: Lexeme, before: str) -> str:
    """Return the grammar's name of a lexeme after another one, OTHER where it has none."""
    match one.kind:
        case "number" | "string":
            return one.kind.upper()
        case "end":
            return "$END"
    if one.text in PREFIXES and before not in _ENDS_OF_VALUES:
        return PREFIXES[one.text]
    return TYPES.get(one.text, "NAME" if one.kind == "name" else "OTHER")


def _value_of(one: Lexeme) -> int | float | str | bool:
    match one.kind:
        case "number":
            return _number_value(one)
        case "string":
            return _string_value(one.text)
        case _:
            return one.text in ("True", "true")


def _refuse_depth(parser: InteractiveParser, fed: _Fed, one: Lexeme) -> None:
    """Refuse what is to be parsed in too many brackets and operators that have begun."""
    begun = [part for part in parser.parser_state.value_stack if isinstance(part, _Fed)]
    if _CLOSERS.get(begun[-1]) == fed:
        return  # nothing stands in these
    if sum(part.type in _DEEPER for part in begun) >= MAX_DEPTH:
        raise ExpressionError(TOO_DEEP, one, limit=MAX_DEPTH)


def _mistake(parser: InteractiveParser, one: Lexeme, before: str) -> ExpressionError:
    """Return the refusal of a lexeme that the grammar does not know there."""
    if before == "NOT_IN":
        return ExpressionError(EXPECTED_TOKEN, one, wanted="'in'", found=one.shown)
    if before not in _ENDS_OF_VALUES:
        return ExpressionError(EXPECTED_VALUE, one, found=one.shown)
    accepted = parser.accepts()  # type: ignore[no-untyped-call]  # Lark's
    closer = next((shown for name, shown in _WANTED.items() if name in accepted), "")
    wanted = closer or "an operator, a comma or the end"
    return ExpressionError(EXPECTED_TOKEN, one, wanted=wanted, found=one.shown)


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


def _kind(value: Value) -> str:
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


def _bounded(node: Node, value: Value) -> Value:
    """Return `value`; raises ExpressionError at `node` when it is too large."""
    match value:
        case bool():
            return value
        case int() if abs(value) > MAX_INTEGER:
            raise _too_large(node, "the number", "integers have 63 bits")
        case float() if not math.isfinite(value):
            raise _too_large(node, "the number", "")
        case str() if len(value) > MAX_ITEMS:
            raise _too_large(node, "the string", f"at most {MAX_ITEMS} letters")
        case tuple() if _weight(value) > MAX_ITEMS:
            raise _too_large(node, "the list")
    return value


def _too_large(node: Node, what: str, hint: str = f"at most {MAX_ITEMS} items") -> ExpressionError:
    return ExpressionError(TOO_LARGE, node, what=what, hint=hint)


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


def _quotient(left: int | float, right: int | float) -> int | float:
    """Return left / right: an integer where that is exact, else a float."""
    if isinstance(left, int) and isinstance(right, int) and left % right == 0:
        exact = left // right
        if abs(left) <= _EXACT and abs(right) <= _EXACT:
            return exact
    return left / right


def _add(left: Value, right: Value) -> Value:
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


def _multiply(node: Node, left: Value, right: Value) -> Value:
    """Return the product, or a list or string repeated; raises TypeError for others."""
    if isinstance(left, int) and not isinstance(right, int | float):
        left, right = right, left
    match left, right:
        case ((int() | float()), (int() | float())):
            return left * right
        case ((str() | tuple()), int()):
            if len(left) * right > MAX_ITEMS:
                raise _too_large(node, "the list")
            return left * right
        case _:
            raise TypeError


def _power(node: Node, base: int | float, exponent: int | float) -> int | float:
    """Return base ** exponent; raises ExpressionError before anything huge is computed."""
    if isinstance(base, int) and isinstance(exponent, int) and abs(base) > 1 and exponent > 64:
        raise _too_large(node, "the power", "integers have 63 bits")
    if isinstance(exponent, int) and isinstance(base, int) and abs(base) <= 1 and exponent > 0:
        exponent = 2 - exponent % 2  # (-1, 0, 1) ** n depends only on whether n is odd
    result = base**exponent
    if isinstance(result, complex):
        raise TypeError
    return float(result) if isinstance(result, float) else int(result)


def _call(node: Node, name: str, values: Sequence[Value]) -> Value:
    """Return what one of `FUNCTIONS` gives; raises TypeError for values that it does not take."""
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
        raise _too_large(node, "the range")
    return tuple(items)


def _product(node: Node, values: Sequence[Value]) -> Value:
    lists = [value for value in values if isinstance(value, tuple)]
    if len(lists) < len(values) or not lists:
        raise TypeError
    if math.prod(len(items) + 1 for items in lists) > MAX_ITEMS:
        raise _too_large(node, "the product")
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


def names_in(node: Node) -> Iterator[Name]:
    """Yield every name in a tree, from left to right."""
    pending = [node]
    while pending:
        part = pending.pop()
        if isinstance(part, Name):
            yield part
        pending.extend(reversed(children(part)))


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
        case Literal(value):
            return value
        case Name(name):
            if name in names:
                return names[name]
            hint = did_you_mean(name, names)
            raise ExpressionError(UNKNOWN_NAME, node, name=name, hint=hint)
        case ListDisplay(items):
            return _bounded(node, tuple(evaluate_node(item, names) for item in items))
        case Unary(operator, operand):
            return _unary(node, operator, evaluate_node(operand, names))
        case BinaryOp(operator, left, right):
            return _binary(node, operator, evaluate_node(left, names), evaluate_node(right, names))
        case Logic(operator, operands):
            return _logic(operator, operands, names)
        case Compare(first, rest):
            return _comparison(node, first, rest, names)
        case Conditional(condition, then, otherwise):
            chosen = then if evaluate_node(condition, names) else otherwise
            return evaluate_node(chosen, names)
        case FunctionCall(function, arguments):
            if function not in FUNCTIONS:
                hint = did_you_mean(function, FUNCTIONS)
                raise ExpressionError(UNKNOWN_FUNCTION, node, name=function, hint=hint)
            values = [evaluate_node(argument, names) for argument in _valued(function, arguments)]
            try:
                return _bounded(node, _call(node, function, values))
            except (TypeError, ValueError):
                given = ", ".join(map(_kind, values)) or "no arguments"
                hint = FUNCTIONS[function]
                raise ExpressionError(
                    WRONG_CALL, node, name=function, given=given, hint=hint
                ) from None
        case _:
            assert_never(node)


def _valued(function: str, arguments: Sequence[Node]) -> Sequence[Node]:
    """Return the arguments that have a value: in ``map(join, …)``, `join` is only a word."""
    if function != "map" or not arguments:
        return arguments
    first, rest = arguments[0], arguments[1:]
    return rest if isinstance(first, Name) and first.name == "join" else ()


def _mismatch(node: Node, operator: str, *operands: Value) -> ExpressionError:
    types = " and ".join(map(_kind, operands))
    return ExpressionError(WRONG_TYPES, node, operator=operator, types=types)


def _unary(node: Node, operator: str, value: Value) -> Value:
    if operator == "not":
        return not value
    if not isinstance(value, int | float):
        raise _mismatch(node, operator, value)
    return -value if operator == "-" else +value


_ARITHMETIC: Mapping[str, Callable[[int | float, int | float], int | float]] = {
    "-": lambda a, b: a - b,
    "/": _quotient,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
}


def _binary(node: Node, operator: str, left: Value, right: Value) -> Value:
    try:
        if operator == "+":
            result = _add(left, right)
        elif operator == "*":
            result = _multiply(node, left, right)
        elif isinstance(left, int | float) and isinstance(right, int | float):
            apply = _ARITHMETIC.get(operator)
            result = apply(left, right) if apply else _power(node, left, right)
        else:
            raise TypeError
    except TypeError:
        raise _mismatch(node, operator, left, right) from None
    except ZeroDivisionError:
        raise ExpressionError(DIVISION_BY_ZERO, node) from None
    except OverflowError:
        result = math.inf
    return _bounded(node, result)


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


# Python refuses what it cannot order.
_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}


def _compare(node: Node, operator: str, left: Value, right: Value) -> bool:
    if operator in ("==", "!="):
        return (left == right) == (operator == "==")
    try:
        if operator in ("in", "not in"):
            return (left in right) == (operator == "in")  # type: ignore[operator]  # TypeError below
        return _ORDERS[operator](left, right)
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


def is_c_size(text: str) -> bool:
    """Return whether `text` is arithmetic of names and whole numbers, as C writes it too."""
    return _is_c(text, (int,), "+-*/%")


def is_c_number(text: str) -> bool:
    """Return whether `text` is arithmetic of names and numbers, as C writes it too."""
    return _is_c(text, (int, float), "+-*/")


def _is_c(text: str, types: tuple[type, ...], operators: str) -> bool:
    # A comment of the annotation language is a directive in C, and a newline may begin one.
    if not text.isprintable() or "#" in text:
        return False

    def is_arithmetic(node: Node) -> bool:
        match node:
            case Literal(value):
                return type(value) in types
            case BinaryOp(operator) if operator not in [*operators]:
                return False
            case Name() | Unary("-" | "+") | BinaryOp():
                return all(map(is_arithmetic, children(node)))
            case _:
                return False

    try:
        return is_arithmetic(parse_expression(text))
    except ExpressionError:
        return False


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
