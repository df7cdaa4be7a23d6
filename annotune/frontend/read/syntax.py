"""pycparser, the library that reads C, for the modules of the front end.

It ships no types: its nodes are `Any` here, and `annotune.ir` is what has types.

Where a syntax tree stands in the user's text, from the tokens around its leaves.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pycparser import c_ast, c_generator  # type: ignore[import-untyped]  # ships no types
from pycparser.c_lexer import CLexer  # type: ignore[import-untyped]  # ships no types
from pycparser.c_parser import CParser, ParseError  # type: ignore[import-untyped]  # as above

from annotune.frontend.read.tokens import Tokens

__all__ = ["CLexer", "CParser", "ParseError", "c_ast", "c_generator"]


_PREFIX_WORDS = frozenset({"+", "-", "*", "&", "!", "~", "++", "--", "sizeof"})


def extent(node: Any, tokens: Tokens) -> tuple[int, int]:
    """Return the offsets at which the text of an expression or a declarator starts and ends.

    Parentheses around the whole expression are not part of it.
    """
    interval = _interval(node, tokens)
    assert interval is not None, "a node without any place"
    first, last = interval
    return tokens.starts[first], tokens.ends[last]


def start_of(node: Any) -> int:
    """Return the offset of the first token of a statement or declaration, as the parser saw it."""
    offsets = [n.coord.line for n in walk_tree(node) if getattr(n, "coord", None) is not None]
    return int(min(offsets))


def walk_tree(node: Any) -> Iterator[Any]:
    """Yield `node` and every node below it, a node before its children."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [*node][::-1]


def assigned_in(node: Any) -> dict[str, Any]:
    """Return the scalars assigned in a statement, with the node that assigns each first."""
    found: dict[str, Any] = {}
    for inner in walk_tree(node):
        target = None
        if isinstance(inner, c_ast.Assignment):
            target = inner.lvalue
        elif isinstance(inner, c_ast.UnaryOp) and inner.op in ("++", "--", "p++", "p--"):
            target = inner.expr
        if isinstance(target, c_ast.ID):
            found.setdefault(target.name, target)
    return found


def _interval(node: Any, tokens: Tokens) -> tuple[int, int] | None:
    """Return the indices of the first and the last token of `node`; some nodes have none."""
    intervals = [i for child in node if (i := _interval(child, tokens))]
    if node.coord is not None:
        own = tokens.at(node.coord.line)
        intervals.append((own, own))
    if not intervals:
        return None
    first = min(interval[0] for interval in intervals)
    last = max(interval[1] for interval in intervals)
    first, last = _balanced(first, last, tokens)
    if isinstance(node, c_ast.UnaryOp):
        if node.op.startswith("p"):
            last += 1
        elif first > 0 and tokens.texts[first - 1] == "(" and node.op != "sizeof":
            first, last = _outward(first, last, tokens)
        if not node.op.startswith("p") and first > 0 and tokens.texts[first - 1] == node.op:
            first -= 1
    if isinstance(node, c_ast.FuncCall) and node.args is None and last + 1 < len(tokens):
        last = max(last, tokens.match[last + 1])
    return first, last


def _balanced(first: int, last: int, tokens: Tokens) -> tuple[int, int]:
    """Return the interval widened until every bracket in it has its partner inside."""
    index = first
    while index <= last:
        partner = tokens.match[index]
        if partner > last:
            last = partner
        elif 0 <= partner < first:
            first = index = partner
            continue
        index += 1
    return first, last


def _outward(first: int, last: int, tokens: Tokens) -> tuple[int, int]:
    """Return the interval with the parentheses around it, as in ``-(a + b)``."""
    while first > 0 and tokens.texts[first - 1] == "(" and tokens.match[first - 1] == last + 1:
        first, last = first - 1, last + 1
    return first, last
