"""Steps of a schedule by their kind, and in the order in which they are done."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TypeVar

from annotune.transforms.cache import Cache
from annotune.transforms.decode import Decode
from annotune.transforms.hold import Hold
from annotune.transforms.map import Map
from annotune.transforms.pad import Pad
from annotune.transforms.peel import Peel
from annotune.transforms.pipeline import Pipeline
from annotune.transforms.prefetch import Prefetch
from annotune.transforms.registers import Registers
from annotune.transforms.resident import Resident
from annotune.transforms.stage import Stage
from annotune.transforms.stream import Stream
from annotune.transforms.team import Team
from annotune.transforms.transform import Schedule, Transform
from annotune.transforms.unroll import Unroll
from annotune.transforms.vectorize import Vectorize

T = TypeVar("T")

# What a worker does is done in this order: statement by statement from copies to ends of tiles.
_PLACING = (Map, Team, Vectorize)
_OF_STATEMENT = (Stage, Pipeline, Prefetch, Hold, Peel, Pad)
_LAST = (Unroll, Stream, Resident, Decode, Cache)


def of_kind(
    steps: Iterable[object], kind: type[T], among: Collection[int] | None = None
) -> tuple[T, ...]:
    """Return the steps of a kind, those on some statements alone if these are given."""
    return tuple(
        step
        for step in steps
        if isinstance(step, kind) and (among is None or statement_of(step) in among)
    )


def statement_of(step: object) -> int:
    """Return the statement that names a step."""
    number: int = getattr(step, "statement")  # noqa: B009  (whatever the kind)
    return number


def in_order(steps: Iterable[Transform]) -> Schedule:
    """Return the steps of kernels in the order in which they are done.

    First come those that shape nests, as they are given, then what puts loops in their places, then
    what a worker does.
    """
    every = tuple(steps)
    first = {statement_of(step): place for place, step in reversed([*enumerate(every)])}

    def place(step: Transform) -> tuple[int, int, int]:
        if not step.is_inner:
            return (int(isinstance(step, _PLACING)), 0, 0)
        if isinstance(step, Registers):
            return (2, 0, 0)
        if isinstance(step, _OF_STATEMENT):
            return (3, first[step.statement], _OF_STATEMENT.index(type(step)))
        return (4, _LAST.index(type(step)), 0)

    return tuple(sorted(every, key=place))
