"""``begin Data ( … )``: arrays that stay on the device from one region to the next.

``enter`` and ``exit`` list arrays that stay there from the opener to the closer, ``exit`` those
that the program reads afterwards. ``present`` lists arrays that a caller may have left there, and
``calls`` functions of other files that say so of theirs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field

from annotune.annotation.expressions import evaluate, is_c_size
from annotune.annotation.grammar import Closer, Opener, Origin, Parsed, parse_tree
from annotune.annotation.messages import BAD_DATA, declared_twice, did_you_mean
from annotune.annotation.spec import Formula
from annotune.diagnostics import NOWHERE, AnnotuneError, Span
from annotune.frozen import dataclass

LISTS = ("enter", "exit", "present", "calls")
_ARRAY = re.compile(r"\s*([A-Za-z_]\w*)\s*((?:\[[^\[\]]+\]\s*)*)", re.ASCII)
_COMMA = re.compile(r",(?![^\[]*\])")
_EXAMPLE = 'a list is written `enter = "u,v[n*m]"`'


@dataclass(frozen=True, slots=True)
class NamedArray:
    """An array in a list: ``u``, or ``u[n][m]`` with the C text of its extents."""

    name: str
    extents: tuple[str, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DataBlock:
    """The arrays of a block, which `opener` and `closer` bound: where these comments start and end.

    `span` is the opener.
    """

    opener: tuple[int, int]
    closer: tuple[int, int]
    span: Span
    enter: tuple[NamedArray, ...] = ()
    exit: tuple[NamedArray, ...] = ()
    present: tuple[NamedArray, ...] = ()
    calls: tuple[NamedArray, ...] = ()


def data_block(opener: Opener, closer: Closer) -> DataBlock:
    """Return what a closed annotation says.

    Raises:
        AnnotuneError: A list is unknown, given twice, or not one of names.
    """
    lists = {name: tuple(items) for name, items in _lists(opener.text, opener.origin)}
    bounds = (opener.start, opener.end), (closer.start, closer.end)
    if not lists:
        raise AnnotuneError.of(BAD_DATA.at(opener.span, what="nothing", hint=_EXAMPLE))
    return DataBlock(*bounds, opener.span, *(lists.get(name, ()) for name in LISTS))


def _lists(text: str, origin: Origin) -> Iterator[tuple[str, Iterator[NamedArray]]]:
    seen: dict[str, Span] = {}
    for name, value in _settings(parse_tree(text, "data", origin)):
        span = origin.span(*name)
        word = text[slice(*name)]
        if word not in LISTS:
            hint = did_you_mean(word, LISTS)
            raise AnnotuneError.of(BAD_DATA.at(span, what=f"'{word}'", hint=hint))
        if seen.setdefault(word, span) is not span:
            raise AnnotuneError.of(declared_twice(word, span, seen[word]))
        yield word, _items(word, text[slice(*value)], origin.span(*value))


def _settings(tree: Parsed) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield the offsets of each setting's name, and of its value."""
    for setting in tree.find_data("setting"):
        name, *tokens = setting.scan_values(lambda token: True)
        (start, _), (_, end) = _bounds(tokens[0]), _bounds(tokens[-1])
        yield _bounds(name), (start, end)


def _bounds(token: object) -> tuple[int, int]:
    start, end = getattr(token, "start_pos", None), getattr(token, "end_pos", None)
    assert isinstance(start, int)
    assert isinstance(end, int)
    return start, end


def _items(word: str, text: str, span: Span) -> Iterator[NamedArray]:
    """Yield the arrays of a value: a string with commas, or a list of strings."""
    value = evaluate(Formula(text, span))
    texts = value if isinstance(value, tuple) else (value,)
    for one in texts:
        if not isinstance(one, str):
            raise AnnotuneError.of(BAD_DATA.at(span, what=f"'{text}'", hint=_EXAMPLE))
        for given in _COMMA.split(one):
            match = _ARRAY.fullmatch(given)
            extents = re.findall(r"\[([^\[\]]+)\]", match[2]) if match else []
            is_right = match and all(map(is_c_size, extents)) and not (word == "calls" and extents)
            if match is None or not is_right:
                raise AnnotuneError.of(BAD_DATA.at(span, what=f"'{given.strip()}'", hint=_EXAMPLE))
            yield NamedArray(match[1], tuple(extent.strip() for extent in extents), span)
