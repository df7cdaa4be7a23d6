"""Values out of a JSON text, each checked, with the place of the first that is wrong."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")
Step = str | int

_SPACE = " \t\r\n"


class Unexpected(Exception):
    """A value that is not what it should be; `path` leads to it from the root."""

    def __init__(self, path: tuple[Step, ...], problem: str) -> None:
        super().__init__(problem)
        self.path = path
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Node:
    """One value of a JSON text and the way to it. Each method returns it as what it must be.

    Every method raises `Unexpected` when the value is something else.
    """

    value: Any
    path: tuple[Step, ...] = ()

    def __getitem__(self, name: str) -> Node:
        """Return the field `name` of an object."""
        fields = self._object()
        if name not in fields:
            raise Unexpected(self.path, f"the field '{name}' is missing")
        return Node(fields[name], (*self.path, name))

    def items(self, read: Callable[[Node], T]) -> tuple[T, ...]:
        """Return an array's elements, each as `read` returns it."""
        if not isinstance(self.value, list):
            raise self._expected("an array")
        return tuple(read(Node(v, (*self.path, n))) for n, v in enumerate(self.value))

    def mapping(self, read: Callable[[Node], T]) -> dict[str, T]:
        """Return an object's fields, each as `read` returns it."""
        return {k: read(Node(v, (*self.path, k))) for k, v in self._object().items()}

    def read_or_none(self, read: Callable[[Node], T]) -> T | None:
        """Return what `read` returns, or None for null."""
        return None if self.value is None else read(self)

    def text(self) -> str:
        """Return a string."""
        if not isinstance(self.value, str):
            raise self._expected("a string")
        return self.value

    def flag(self) -> bool:
        """Return true or false."""
        if not isinstance(self.value, bool):
            raise self._expected("true or false")
        return self.value

    def integer(self) -> int:
        """Return an integer."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise self._expected("an integer")
        return self.value

    def count(self) -> int:
        """Return an integer that is not negative."""
        found = self.integer()
        if found < 0:
            raise self._expected("an integer >= 0")
        return found

    def figure(self) -> float:
        """Return a finite number that is not negative: a time, a rate, a share."""
        is_number = isinstance(self.value, int | float) and not isinstance(self.value, bool)
        if not is_number or not self.value >= 0 or not _is_finite(self.value):
            raise self._expected("a finite number >= 0")
        return float(self.value)

    def figure_or_none(self) -> float | None:
        """Return a finite number that is not negative, or None for null."""
        if self.value is None:
            return None
        try:
            return self.figure()
        except Unexpected:
            raise self._expected("a finite number >= 0 or null") from None

    def signed_or_none(self) -> float | None:
        """Return a finite number of either sign, or None for null."""
        if self.value is None:
            return None
        is_number = isinstance(self.value, int | float) and not isinstance(self.value, bool)
        if not is_number or not _is_finite(self.value):
            raise self._expected("a finite number or null")
        return float(self.value)

    def scalar(self) -> str | int | float:
        """Return a parameter's value: a string, a finite number, or a truth value."""
        if not isinstance(self.value, str | int | float) or not _is_finite(self.value):
            raise self._expected("a string or a finite number")
        return self.value

    def one_of(self, known: Callable[[str], T], names: Iterator[str]) -> T:
        """Return `known` of a string, which must be one of `names`."""
        allowed = tuple(names)
        if self.value not in allowed:
            raise self._expected("one of " + ", ".join(allowed))
        return known(self.value)

    def _object(self) -> Mapping[str, Any]:
        if not isinstance(self.value, dict):
            raise self._expected("an object")
        return self.value

    def _expected(self, kind: str) -> Unexpected:
        return Unexpected(self.path, f"expected {kind}, found {_found(self.value)}")


def parse_strict(text: str) -> Any:
    """Return the value of a JSON text, read by the letter of RFC 8259.

    Raises:
        ValueError: It is no JSON; a field is given twice; it holds NaN or Infinity.
    """
    try:
        return json.loads(text, parse_constant=_refuse, object_pairs_hook=_unique)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def offset_of(text: str, path: tuple[Step, ...]) -> int:
    """Return where the value at `path` begins in `text`, which must be valid JSON."""
    decode = json.JSONDecoder().raw_decode
    at = _skip(text, 0)
    for step in path:
        at = _skip(text, at + 1)
        number = 0
        while True:
            key: Step = number
            if isinstance(step, str):
                key, end = decode(text, at)
                at = _skip(text, _skip(text, end) + 1)
            if key == step:
                break
            _, end = decode(text, at)
            # Past the comma, to the next key or element.
            at = _skip(text, _skip(text, end) + 1)
            number += 1
    return at


def path_text(path: tuple[Step, ...]) -> str:
    """Return a path as people write it: ``regions[0].rows[2].time_s``."""
    steps = (f"[{s}]" if isinstance(s, int) else f".{s}" for s in path)
    return "".join(steps).lstrip(".") or "the whole"


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _is_finite(value: str | int | float) -> bool:
    # An integer too large for a float is finite, but no time or rate.
    try:
        return isinstance(value, str) or math.isfinite(value)
    except OverflowError:
        return False


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the field '{twice}' is given twice")
    return fields


def _found(value: Any) -> str:
    match value:
        case dict():
            return "an object"
        case list():
            return "an array"
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return f"'{value[:40]}'"
    try:
        return str(value)[:40]
    except ValueError:  # an integer too long for Python to print
        return "a very long number"
