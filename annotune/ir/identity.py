"""What is worked out once for each frozen value, found again by its identity.

A step leaves most parts of a region as they are, the very objects. To find what is known of a part
by its value would cost a walk over it, for its hash and to compare it; its identity costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar

Value = TypeVar("Value")
Other = TypeVar("Other")
Result = TypeVar("Result")


def once_for_each(most: int) -> Callable[[Callable[[Value], Result]], Callable[[Value], Result]]:
    """Return a decorator: a function of one frozen value then answers once for each object.

    It keeps at most `most` objects, so that no other gets the identity of one, and forgets all of
    them when there are more.
    """

    def decorate(function: Callable[[Value], Result]) -> Callable[[Value], Result]:
        known: dict[int, tuple[Value, Result]] = {}

        @wraps(function)
        def find(value: Value) -> Result:
            entry = known.get(id(value))
            if entry is not None:
                return entry[1]
            result = function(value)
            if len(known) >= most:
                known.clear()
            known[id(value)] = value, result
            return result

        return find

    return decorate


def once_for_pairs(
    most: int,
) -> Callable[[Callable[[Value, Other], Result]], Callable[[Value, Other], Result]]:
    """Return a decorator as `once_for_each` does, for a function of two frozen values."""

    def decorate(function: Callable[[Value, Other], Result]) -> Callable[[Value, Other], Result]:
        known: dict[tuple[int, int], tuple[Value, Other, Result]] = {}

        @wraps(function)
        def find(value: Value, other: Other) -> Result:
            entry = known.get((id(value), id(other)))
            if entry is not None:
                return entry[2]
            result = function(value, other)
            if len(known) >= most:
                known.clear()
            known[id(value), id(other)] = value, other, result
            return result

        return find

    return decorate
