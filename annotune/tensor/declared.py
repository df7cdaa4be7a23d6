"""The sizes and tensors that a file declares."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from lark import Token

from annotune.annotation.grammar import Parsed
from annotune.annotation.messages import did_you_mean
from annotune.diagnostics import Diagnostic, Span
from annotune.tensor.messages import (
    BAD_SHAPE,
    BAD_SIZE,
    NO_SUCH_SIZE,
    NOT_AN_INDEX,
    TAKEN_HERE,
    TAKEN_NAME,
    TOO_MUCH,
    UNUSABLE_NAME,
    said_twice,
)
from annotune.tensor.names import why_unusable
from annotune.tensor.parse import TensorText, token_of, trees_of
from annotune.tensor.program import ElementType, Length, Memory, Tensor, TensorSize
from annotune.tensor.shapes import unknown_length

# The iterators are ints, and their bounds too.
LARGEST_SIZE = 2**31 - 1
# Compilers take more loops and brackets in one another, and nobody can read as many.
MAX_ORDER = 32


@dataclass
class Declarations:
    """What a file has declared so far; `memory` and `element` are those of tensors by default."""

    source: TensorText
    memory: Memory
    element: ElementType
    mistakes: list[Diagnostic]
    sizes: dict[str, TensorSize] = field(default_factory=dict)
    tensors: dict[str, Tensor] = field(default_factory=dict)
    taken: dict[str, tuple[str, Span]] = field(default_factory=dict)

    def take(self, name: Token, what: str) -> bool:
        """Return whether a name can be that of `what`, such as "a tensor", and keep it for it."""
        where = self.source.span(name)
        why = why_unusable(str(name))
        if why:
            such = f"{str(name).strip('_') or 't'}_0"
            self.mistakes.append(UNUSABLE_NAME.at(where, name=name, why=why, such=such))
        elif name in self.taken:
            first, there = self.taken[name]
            note = TAKEN_HERE.at(there, name=name, first=first)
            self.mistakes.append(TAKEN_NAME.at(where, name=name, first=first).with_note(note))
        else:
            self.taken[str(name)] = what, where
            return True
        return False


def declare_size(tree: Parsed, is_parameter: bool, known: Declarations) -> None:
    """Add what ``NAME = VALUE`` says; a parameter may have no value."""
    name = token_of(tree)
    where = known.source.span(name)
    formula = next(iter(trees_of(tree)), None)
    if not known.take(name, "a size"):
        return
    value = None if formula is None else _value(formula, known)
    # One with a mistake is known all the same, so that nothing more is said of it.
    known.sizes[str(name)] = TensorSize(str(name), value, is_parameter, where)
    if formula is not None and value is not None and not 0 < value <= LARGEST_SIZE:
        there = known.source.span(formula)
        known.mistakes.append(bad_size(there, f"the size '{name}'", value))
    elif formula is None and not is_parameter:
        hint = f"write `{name} = 16`, or declare it under `sizes:`, as a parameter"
        found = "none"
        known.mistakes.append(NOT_AN_INDEX.at(where, wanted="a value", found=found, hint=hint))


def bad_size(where: Span, what: str, value: int) -> Diagnostic:
    """Return the refusal of a size that no array can have."""
    hint = "iterators are ints" if value > 0 else ""
    shown = value if abs(value) < 10**19 else "far too large"
    return BAD_SIZE.at(where, what=what, value=shown, wanted=f"1 to {LARGEST_SIZE}", hint=hint)


def _value(tree: Parsed, known: Declarations) -> int | None:
    """Return what a sum of products of numbers and sizes comes to, None with a mistake."""
    total, sign = 0, 1
    for part in tree.children:
        if isinstance(part, Token):
            sign = -1 if part == "-" else 1
            continue
        value: int | None = 1
        for factor in trees_of(part):
            own = _factor(factor, known)
            # What has become too large stays so, and takes no time.
            small = value is not None and own is not None and abs(value) < LARGEST_SIZE**2
            value = value * own if small and value is not None and own is not None else value
            value = None if own is None else value
        if value is None:
            return None
        total += sign * value
    return total


def _factor(tree: Parsed, known: Declarations) -> int | None:
    source = known.source
    if tree.data == "sum":
        return _value(tree, known)
    token = token_of(tree)
    if tree.data == "number" and re.fullmatch("[0-9]{1,18}", token):
        return int(token)
    if tree.data == "plain" and token in known.sizes:
        size = known.sizes[token]
        if size.value is None:
            what = "a size with a value"
            hint = f"`sizes:` leaves '{token}' to the caller"
            known.mistakes.append(
                NOT_AN_INDEX.at(source.span(token), wanted=what, found=f"'{token}'", hint=hint)
            )
        return size.value
    if tree.data == "plain":
        known.mistakes.append(_no_such_size(token, known))
    else:
        found = f"'{token}'" + "(…)" * (tree.data == "element")
        wanted = "an integer or a size"
        known.mistakes.append(
            NOT_AN_INDEX.at(source.span(token), wanted=wanted, found=found, hint="")
        )
    return None


def _no_such_size(token: Token, known: Declarations) -> Diagnostic:
    near = did_you_mean(str(token), known.sizes)
    hint = near or f"write `{token} = 16` under `define:`, or `{token}` under `sizes:`"
    return NO_SUCH_SIZE.at(known.source.span(token), name=token, hint=hint)


def declare_tensor(tree: Parsed, known: Declarations) -> None:
    """Add what ``NAME: (m, n) WORDS`` or ``NAME: order2 WORDS`` says."""
    name, shape, *words = tree.children
    assert isinstance(name, Token)
    assert not isinstance(shape, Token)
    if not known.take(name, "a tensor"):
        return
    span = known.source.span(name)
    lengths = _order(name, shape, known) if shape.data == "order" else _lengths(shape, known)
    tensor = Tensor(str(name), lengths, known.element, known.memory, span=span)
    known.tensors[str(name)] = tensor
    if len(lengths) > MAX_ORDER:
        what = f"'{name}' has {len(lengths)} dimensions"
        known.mistakes.append(TOO_MUCH.at(span, what=what, limit=MAX_ORDER, hint=""))
        return
    known.tensors[str(name)] = _with_words(tensor, [w for w in words if w is not None], known)


def _order(name: Token, tree: Parsed, known: Declarations) -> tuple[Length, ...]:
    token = token_of(tree)
    digits = token.removeprefix("order").strip()
    if not re.fullmatch("[0-9]{1,9}", digits):
        what = f"'{token}' is no order"
        hint = "write `order2`, or the sizes in brackets: `(m, n)`"
        known.mistakes.append(BAD_SHAPE.at(known.source.span(token), what=what, hint=hint))
        return ()
    count = min(int(digits), MAX_ORDER + 1)
    return tuple(unknown_length(str(name), place) for place in range(count))


def _lengths(tree: Parsed, known: Declarations) -> tuple[Length, ...]:
    return tuple(_length(one, known) for one in tree.children if isinstance(one, Token))


def _length(token: Token, known: Declarations) -> Length:
    """Return one length; 1 in the place of one with a mistake."""
    where = known.source.span(token)
    if token.type == "NAME":
        if token not in known.sizes:
            known.mistakes.append(_no_such_size(token, known))
        return str(token)
    if not re.fullmatch("[0-9]{1,18}", token):
        wanted = "an integer or a size"
        known.mistakes.append(NOT_AN_INDEX.at(where, wanted=wanted, found=f"'{token}'", hint=""))
        return 1
    if not 0 < int(token) <= LARGEST_SIZE:
        known.mistakes.append(bad_size(where, "the size", int(token)))
        return 1
    return int(token)


_MEMORIES = {one.value: one for one in Memory}
_ELEMENTS = {one.value.rpartition(" ")[2]: one for one in ElementType}


def _with_words(tensor: Tensor, words: Sequence[Parsed | Token], known: Declarations) -> Tensor:
    """Return a tensor as the words behind its shape say."""
    first: dict[str, Span] = {}
    leading: Parsed | None = None
    for tree in words:
        assert not isinstance(tree, Token)
        word = token_of(tree)
        where = known.source.span(word)
        kind = "memory" if word in _MEMORIES else "type" if word in _ELEMENTS else str(word)
        if kind in first:
            known.mistakes.append(said_twice(f"the {kind} of '{tensor.name}'", where, first[kind]))
            continue
        first[kind] = where
        if word in _MEMORIES:
            tensor = replace(tensor, memory=_MEMORIES[word])
        elif word in _ELEMENTS:
            tensor = replace(tensor, element=_ELEMENTS[word])
        elif word == "pointers":
            tensor = replace(tensor, is_pointers=True)
        elif word == "internal":
            tensor = replace(tensor, is_internal=True)
        else:
            leading = tree
    if leading is not None:
        tensor = _with_leading(tensor, leading, known)
    why = _why_not(tensor)
    if why:
        known.mistakes.append(BAD_SHAPE.at(tensor.span, what=f"'{tensor.name}' {why}", hint=""))
    return tensor


def _why_not(tensor: Tensor) -> str:
    """Return what of a tensor contradicts the rest; empty where nothing does."""
    if tensor.is_pointers and tensor.is_internal:
        return "is internal: nobody brings the arrays that its pointers would point to"
    if tensor.is_pointers and tensor.order < 2:
        return "has no index left for the arrays that its pointers point to"
    return ""


def _with_leading(tensor: Tensor, tree: Parsed, known: Declarations) -> Tensor:
    """Return a tensor in as much room as ``leading lda`` or ``leading (a, b)`` says."""
    word = token_of(tree)
    inside = next(iter(trees_of(tree)), None)
    own = [part for part in tree.children[1:] if isinstance(part, Token)]
    given = tuple(_length(one, known) for one in own) if own else ()
    given = _lengths(inside, known) if inside is not None else given
    rest = tensor.lengths[tensor.is_pointers :]
    where = known.source.span(word)
    if tensor.is_internal or len(given) not in (1, len(rest)) or not rest:
        what, hint = f"{len(given)} lengths are given for {len(rest)} dimensions", ""
        if tensor.is_internal:
            what = f"'{tensor.name}' is internal, and no longer than its sizes"
        elif rest:
            hint = "give one, of the index that runs fastest, or one for each dimension"
        known.mistakes.append(BAD_SHAPE.at(where, what=what, hint=hint))
        return tensor
    if len(given) == 1 and len(rest) > 1:
        by_rows = tensor.memory is Memory.ROW
        given = (*rest[:-1], *given) if by_rows else (*given, *rest[1:])
    for length, room in zip(rest, given, strict=True):
        least, most = _known_value(length, known), _known_value(room, known)
        if least is not None and most is not None and most < least:
            what = f"the leading dimension of '{tensor.name}'"
            known.mistakes.append(
                BAD_SIZE.at(where, what=what, value=most, wanted=f"at least {least}", hint="")
            )
    return replace(tensor, stored=(*tensor.lengths[: tensor.is_pointers], *given))


def _known_value(length: Length, known: Declarations) -> int | None:
    if isinstance(length, int):
        return length
    return known.sizes[length].value if length in known.sizes else None
