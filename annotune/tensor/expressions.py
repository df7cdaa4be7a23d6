"""What an operation's text says: names that are tensors, numbers or functions."""

from __future__ import annotations

import math
import re

from lark import Token

from annotune.annotation.grammar import Parsed
from annotune.annotation.messages import did_you_mean
from annotune.diagnostics import Diagnostic
from annotune.tensor.declared import Declarations
from annotune.tensor.messages import (
    DECLARED_HERE,
    NOT_AN_INDEX,
    TOO_MUCH,
    UNDECLARED,
    UNKNOWN_APPLIED,
    WRONG_APPLIED,
    WRONG_RANK,
)
from annotune.tensor.names import FUNCTIONS
from annotune.tensor.parse import token_of, trees_of
from annotune.tensor.program import (
    Added,
    Applied,
    Multiplied,
    Number,
    Operation,
    Reference,
    TensorExpr,
    Term,
)

# Of factors, or of terms: what is computed of them grows with their square.
MAX_PARTS = 500
_NUMBER = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
# More digits than any C compiler rounds by.
_LONGEST_NUMBER = 60


def operation_of(tree: Parsed, known: Declarations) -> Operation | None:
    """Return what an operation says; None, and its mistakes on the list, where it has any."""
    before = len(known.mistakes)
    target, assign, right = tree.children
    assert isinstance(target, type(tree))
    assert isinstance(right, type(tree))
    output = _element(target, known)
    if isinstance(output, Applied):
        name = token_of(target)
        known.mistakes.append(_undeclared(name, known, is_called=False))
    terms = _terms(right, known)
    if len(known.mistakes) > before:
        return None
    assert isinstance(output, Reference)
    return Operation(output, str(assign), terms, known.source.span(token_of(target)))


def _terms(tree: Parsed, known: Declarations) -> tuple[Term, ...]:
    """Return the terms of a sum, those of sums in its brackets among them."""
    found: list[Term] = []
    is_subtracted = False
    for part in tree.children:
        if isinstance(part, Token):
            is_subtracted = part == "-"
            continue
        value = _product(part, known)
        inside = value.terms if isinstance(value, Added) else (Term(value),)
        found += (Term(one.value, one.is_subtracted != is_subtracted) for one in inside)
    _refuse_too_many(tree, len(found), "terms", known)
    return tuple(found)


def _refuse_too_many(tree: Parsed, count: int, what: str, known: Declarations) -> None:
    if count > MAX_PARTS:
        where = known.source.span(tree)
        said = f"these are {count} {what}"
        hint = "give parts of it tensors of their own: `T: (m, n) internal`"
        known.mistakes.append(TOO_MUCH.at(where, what=said, limit=MAX_PARTS, hint=hint))


def _product(tree: Parsed, known: Declarations) -> TensorExpr:
    """Return a product, with the factors of products in its brackets among its own."""
    found: list[TensorExpr] = []
    for part in trees_of(tree):
        value = _factor(part, known)
        found += value.factors if isinstance(value, Multiplied) else (value,)
    _refuse_too_many(tree, len(found), "factors", known)
    return found[0] if len(found) == 1 else Multiplied(tuple(found), known.source.span(tree))


def _factor(tree: Parsed, known: Declarations) -> TensorExpr:
    match tree.data:
        case "sum":
            terms = _terms(tree, known)
            if len(terms) == 1 and not terms[0].is_subtracted:
                return terms[0].value
            return Added(terms, known.source.span(tree))
        case "number":
            return _number(token_of(tree), known)
        case _:
            return _element(tree, known)


def _number(token: Token, known: Declarations) -> Number:
    where = known.source.span(token)
    is_number = _NUMBER.fullmatch(token) is not None and len(token) <= _LONGEST_NUMBER
    if not is_number or not math.isfinite(float(token)):
        wanted, hint = "a number that a double holds", "write 2, 0.5 or 1e-3"
        found = f"'{token[:_LONGEST_NUMBER]}'"
        known.mistakes.append(NOT_AN_INDEX.at(where, wanted=wanted, found=found, hint=hint))
        return Number("0", where)
    return Number(str(token), where)


def _element(tree: Parsed, known: Declarations) -> Reference | Applied:
    """Return an element of a tensor, or a function of what stands in brackets."""
    name = token_of(tree)
    inside = trees_of(tree)
    if name in known.tensors:
        return _reference(name, inside, known)
    where = known.source.span(name)
    called = "fabs" if name == "abs" else str(name)
    if called not in FUNCTIONS or tree.data == "plain":
        known.mistakes.append(_undeclared(name, known, is_called=bool(inside)))
        return Reference(str(name), (), where)
    arguments = tuple(_argument(one, known) for one in inside)
    if len(arguments) != FUNCTIONS[called]:
        wanted = f"{FUNCTIONS[called]} argument" + "s" * (FUNCTIONS[called] > 1)
        given = str(len(arguments))
        known.mistakes.append(WRONG_APPLIED.at(where, name=name, wanted=wanted, given=given))
    return Applied(called, arguments, where)


def _argument(tree: Parsed, known: Declarations) -> TensorExpr:
    terms = _terms(tree, known)
    is_plain = len(terms) == 1 and not terms[0].is_subtracted
    return terms[0].value if is_plain else Added(terms, known.source.span(tree))


def _undeclared(name: Token, known: Declarations, is_called: bool) -> Diagnostic:
    where = known.source.span(name)
    near = did_you_mean(str(name), known.tensors)
    near = near if near.startswith("did") else ""
    functions = did_you_mean(str(name), FUNCTIONS)
    if name in known.sizes:
        near = "it is a size; a number is a tensor without indices: `alpha: ()`"
    elif is_called and not near and functions.startswith("did"):
        return UNKNOWN_APPLIED.at(where, name=name, hint=functions)
    elif not near:
        near = f"write `{name}: (m, n)` under `variables:`, with its sizes"
        near = near if is_called else f"write `{name}: ()` under `variables:`, if it is a number"
    return UNDECLARED.at(where, name=name, hint=near)


def _reference(name: Token, inside: tuple[Parsed, ...], known: Declarations) -> Reference:
    """Return the element of a tensor that indices name, as many as it has dimensions."""
    tokens = [token for token in (_index(one, known) for one in inside) if token is not None]
    where = known.source.span(name)
    spans = tuple(map(known.source.span, tokens))
    order = known.tensors[str(name)].order
    if len(inside) != order:
        one = known.tensors[str(name)].span
        shown = _counted(order, "dimension")
        given = _counted(len(inside), "index", "indices")
        hint = "a tensor stands with all its indices: `" + f"{name}:(i, j, …)`"
        hint = hint if order else f"it is a number: `{name}`"
        problem = WRONG_RANK.at(where, name=name, order=shown, given=given, hint=hint)
        known.mistakes.append(problem.with_note(DECLARED_HERE.at(one, name=name)))
    return Reference(str(name), tuple(map(str, tokens)), where, spans)


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count or 'no'} {one if count == 1 else many or one + 's'}"


def _index(tree: Parsed, known: Declarations) -> Token | None:
    """Return the name of an index; None where something else stands there."""
    part = tree
    while part.data in ("sum", "product") and len(part.children) == 1:
        (part,) = trees_of(part) or (tree,)
        if part is tree:
            break
    if part.data == "plain":
        return token_of(part)
    wanted, found = "an index", f"'{token_of(tree)}'" if part.data == "number" else "an expression"
    hint = "an index is a name, and runs over a whole dimension"
    known.mistakes.append(
        NOT_AN_INDEX.at(known.source.span(tree), wanted=wanted, found=found, hint=hint)
    )
    return None
