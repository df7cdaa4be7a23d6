"""How much is tried of what is alike: all in `make test-all`, a part of it in `make test`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from hypothesis import settings

T = TypeVar("T")
IS_THOROUGH = settings.get_current_profile_name() == "thorough"


def tried(examples: int) -> settings:
    """Return the settings of a law that is tried on so many examples where time allows."""
    return settings(max_examples=few(examples))


def few(examples: int) -> int:
    """Return so many where time allows, else a twelfth, and never less than three."""
    return examples if IS_THOROUGH else max(3, examples // 12)


def sanitizes(target: str) -> bool:
    """Return whether a target's text runs under the sanitizers beside the race detector.

    Memory of CUDA's device lies between watched bytes without them, and they take longest there.
    """
    return IS_THOROUGH or target != "cuda"


def in_turn(cases: Sequence[T], number: int) -> Sequence[T]:
    """Return all cases where time allows, else the one whose turn it is at `number`."""
    return cases if IS_THOROUGH else (cases[number % len(cases)],)
