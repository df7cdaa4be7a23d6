"""Syntax trees as pycparser makes them: walks, names, changes and values of constants.

Where a tree stands in the user's text, from the tokens around its leaves. A node's coordinate
holds offsets: `line` is where its token starts, `column` where that ends.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

from pycparser import c_ast, c_generator

from annotune.frontend.read.tokens import Tokens, integer
from annotune.ir.constants import (
    OPERATORS,
    Constant,
    chosen_constant,
    computed,
    inverted_constant,
    negated_constant,
)
from annotune.ir.ctype import INT, UNSIGNED_LONG, CType, named
from annotune.ir.typing import integer_type

STEPS = frozenset({"++", "--", "p++", "p--"})
# Operators that change their operand, or let others change it.
CHANGES = STEPS | {"&"}
# What has statements in it; expressions may be deeper than Python can call.
HOLDERS = (
    *(c_ast.Compound, c_ast.If, c_ast.For, c_ast.While, c_ast.DoWhile),
    *(c_ast.Label, c_ast.Switch, c_ast.Case, c_ast.Default),
)


def walk_tree(node: c_ast.Node | None) -> Iterator[c_ast.Node]:
    """Yield `node` and every node below it, a node before its children; None has none."""
    waiting = [node] if node is not None else []
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [*node][::-1]


def unlabelled(
    items: Sequence[c_ast.Node], is_kept: Callable[[c_ast.Node], bool] = lambda label: False
) -> Iterator[c_ast.Node]:
    """Yield the statements of a block without their labels, those behind a ``case`` in order.

    What is behind a label that `is_kept` stays behind it.
    """
    for item in items:
        match item:
            case c_ast.Label() if not is_kept(item):
                yield from unlabelled([item.stmt], is_kept)
            case c_ast.Case() | c_ast.Default() if not is_kept(item):
                yield from unlabelled(item.stmts, is_kept)
            case _:
                yield item


def names_in(node: c_ast.Node | None) -> Iterator[str]:
    """Yield the identifiers of a tree, each as often as it stands there."""
    return (inner.name for inner in walk_tree(node) if isinstance(inner, c_ast.ID))


def is_table(decl: c_ast.Decl) -> bool:
    """Return whether a static variable has the value of its declaration for ever."""
    kind = decl.type
    while isinstance(kind, c_ast.ArrayDecl):
        kind = kind.type
    if not isinstance(kind, c_ast.TypeDecl) or decl.init is None:
        return False
    return "static" in (decl.storage or []) and [*kind.quals] == ["const"]


def changed_by(node: c_ast.Node, operators: frozenset[str] = STEPS) -> c_ast.Node | None:
    """Return what an assignment, or one of the unary `operators`, changes; None for the others."""
    match node:
        case c_ast.Assignment():
            return node.lvalue
        case c_ast.UnaryOp() if node.op in operators:
            return node.expr
    return None


@lru_cache(maxsize=1024)
def assigned_in(node: c_ast.Node) -> Mapping[str, c_ast.ID]:
    """Return the scalars assigned in a statement, with the node that assigns each first."""
    found: dict[str, c_ast.ID] = {}
    for inner in walk_tree(node):
        target = changed_by(inner)
        if isinstance(target, c_ast.ID):
            found.setdefault(target.name, target)
    return found


def addressed(body: c_ast.Node) -> frozenset[str]:
    """Return the names whose address a function takes with ``&``."""
    return frozenset(name for name, _ in addresses(body))


def addresses(body: c_ast.Node) -> Iterator[tuple[str, c_ast.Node]]:
    """Yield the names whose address a function takes, and where."""
    for node in walk_tree(body):
        match node:
            case c_ast.UnaryOp(op="&", expr=c_ast.ID(name=name)):
                yield name, node


def base_of(place: c_ast.Node) -> c_ast.Node:
    """Return what a place is reached from, by subscripts, ``*`` and sums."""
    while isinstance(place, c_ast.ArrayRef | c_ast.UnaryOp | c_ast.BinaryOp):
        place = next(iter(place))
    return place


def replace_nodes(node: c_ast.Node, change: Callable[[c_ast.Node], c_ast.Node | None]) -> None:
    """Put `change`'s answer in the place of every node below `node` that it has one for."""
    for name, child in node.children():
        new = change(child)
        if new is None:
            replace_nodes(child, change)
        else:
            _put_child(node, name, new)


def replace_everywhere(node: c_ast.Node, change: Callable[[c_ast.Node], c_ast.Node | None]) -> None:
    """Do so in the answers too, with what they hold, in one walk.

    `change` is asked of a node before and after those in it are as they become, and of each answer
    again, until it has none.
    """
    for name, child in node.children():
        made = _changed_often(child, change)
        replace_everywhere(made, change)
        made = _changed_often(made, change)
        if made is not child:
            _put_child(node, name, made)


def _changed_often(
    node: c_ast.Node, change: Callable[[c_ast.Node], c_ast.Node | None]
) -> c_ast.Node:
    """Return what `change` makes of a node, and of its answers, until it has none."""
    while (new := change(node)) is not None:
        node = new
    return node


def _put_child(node: c_ast.Node, name: str, new: c_ast.Node) -> None:
    """Put a node in the place of a child, by the name that `children` gives it."""
    field_name, bracket, index = name.partition("[")
    if bracket:
        getattr(node, field_name)[int(index.rstrip("]"))] = new
    else:
        setattr(node, field_name, new)


def text_of(node: c_ast.Node) -> str:
    """Return a syntax tree as C."""
    return c_generator.CGenerator().visit(node)


def pointers_in(node: c_ast.Node) -> Iterator[str]:
    """Yield the pointers that a place such as ``p->grid->nx`` is read through, outermost first."""
    match node:
        case c_ast.StructRef():
            yield from pointers_in(node.name)
            if node.type == "->":
                yield text_of(node.name)
        case c_ast.UnaryOp(op="*"):
            yield from pointers_in(node.expr)
            yield text_of(node.expr)


def token_place(node: c_ast.Node) -> tuple[int, int]:
    """Return the offsets of the token at which the parser saw a node, which has one."""
    assert node.coord is not None
    assert node.coord.column is not None
    return node.coord.line, node.coord.column


def offset(node: c_ast.Node) -> int:
    """Return where the token starts at which the parser saw a node, which has one."""
    return token_place(node)[0]


def start_of(node: c_ast.Node) -> int:
    """Return the offset of the first token of a statement or declaration, as the parser saw it."""
    return min(_offsets(node))


def last_of(node: c_ast.Node) -> int:
    """Return the offset of the last token of a statement that the parser gives a place."""
    return max(_offsets(node))


def holds_place(node: c_ast.Node, places: Collection[int]) -> bool:
    """Return whether one of some offsets stands in a statement."""
    first, last = start_of(node), last_of(node)
    return any(first < place < last for place in places)


def _offsets(node: c_ast.Node) -> Iterator[int]:
    return (inner.coord.line for inner in walk_tree(node) if inner.coord is not None)


ValueOf: TypeAlias = Callable[[c_ast.Node], int | None]
"""What gives the value of a name, a ``sizeof`` or another part that has no operator."""


def value_of_tree(node: c_ast.Node, value_of: ValueOf, least: CType = INT) -> int | None:
    """Return the value of an expression, None when it is not an integer constant.

    `value_of` gives the value of a part of it that is no literal, None when it has none. No literal
    has a type below `least`: the preprocessor computes with the widest ones (C11 6.10.1).
    """
    try:
        found = _constant_of(node, value_of, least)
    except RecursionError:
        return None
    return None if found is None else found.value


def has_sizeof(node: c_ast.Node) -> bool:
    """Return whether an expression asks for the size of a type or of a value."""
    return any(isinstance(n, c_ast.UnaryOp) and n.op == "sizeof" for n in walk_tree(node))


def _constant_of(node: c_ast.Node, value_of: ValueOf, least: CType) -> Constant | None:
    def inner(part: c_ast.Node) -> Constant | None:
        return _constant_of(part, value_of, least)

    match node:
        case c_ast.Constant():
            return _literal(node.value, least)
        case c_ast.UnaryOp(op="-"):
            return negated_constant(inner(node.expr))
        case c_ast.UnaryOp(op="~"):
            return inverted_constant(inner(node.expr))
        case c_ast.UnaryOp(op="+"):
            return inner(node.expr)
        case c_ast.UnaryOp(op="!"):
            return computed("==", inner(node.expr), Constant(0, least))
        case c_ast.BinaryOp() if node.op in OPERATORS:
            return computed(node.op, inner(node.left), inner(node.right))
        case c_ast.TernaryOp():
            return chosen_constant(inner(node.cond), inner(node.iftrue), inner(node.iffalse))
    value = value_of(node)
    is_size = isinstance(node, c_ast.UnaryOp) and node.op == "sizeof"
    return None if value is None else Constant(value, UNSIGNED_LONG if is_size else None)


def _literal(text: str, least: CType) -> Constant | None:
    value = integer(text)
    if value is None:
        return None
    type_ = INT if text.startswith("'") else integer_type(text, value)
    if type_.rank < least.rank:
        type_ = named(f"unsigned {least}") if type_.is_unsigned else least
    return Constant(value, type_)


def extent(node: c_ast.Node, tokens: Tokens) -> tuple[int, int]:
    """Return the offsets at which the text of an expression or a declarator starts and ends.

    Parentheses around the whole expression are not part of it.
    """
    interval = _interval(node, tokens)
    assert interval is not None, "a node without any place"
    first, last = interval
    return tokens.starts[first], tokens.ends[last]


def _interval(node: c_ast.Node, tokens: Tokens) -> tuple[int, int] | None:
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
