"""Steps of a schedule by their kind, and in the order in which they are done."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TypeVar

from annotune.transforms.cache import Cache, Resident
from annotune.transforms.distribute import Distribute, Expand, Fuse
from annotune.transforms.map import Map, Team, Vectorize
from annotune.transforms.merge import Decode, Merge
from annotune.transforms.permute import Permute
from annotune.transforms.pipeline import Pipeline, Prefetch, Stream
from annotune.transforms.registers import Hold, Registers
from annotune.transforms.stage import Stage
from annotune.transforms.tile import Cyclic, Tile, tile_name
from annotune.transforms.tile_ends import Pad, Peel
from annotune.transforms.transform import Schedule, Transform
from annotune.transforms.unroll import Unroll

T = TypeVar("T")

# What a worker does is done in this order: statement by statement from copies to ends of tiles.
_SHAPING = (Merge, Permute, Fuse, Tile, Cyclic)
_IN_NEST = (Permute, Tile, Cyclic)
_PLACING = (Map, Team, Vectorize)
_OF_STATEMENT = (Stage, Pipeline, Prefetch, Hold, Peel, Pad)
# What a recipe says of copies and blocks in registers.
COPYING = (Stage, Hold, Pad, Peel)
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
    """Return the steps of one kernel in the order in which they are done.

    First comes what shapes its nests, then what puts loops in their places, then what a
    worker does. Loops over tiles get their order once they are there. What takes a nest apart
    stays as it is given, for it changes which nests there are.
    """
    every = tuple(steps)
    first = {statement_of(step): place for place, step in reversed([*enumerate(every)])}
    made = {tile_name(step.loop) for step in every if isinstance(step, Tile)}
    is_apart = any(isinstance(step, Expand | Distribute) for step in every)

    def shaping(step: Transform) -> int:
        is_late = isinstance(step, Permute) and bool(made & {*step.order})
        if is_late or (is_apart and isinstance(step, _IN_NEST)):
            return len(_SHAPING)
        return _SHAPING.index(type(step)) if type(step) in _SHAPING else len(_SHAPING)

    def place(step: Transform) -> tuple[int, int, int]:
        if not step.is_inner:
            if isinstance(step, _PLACING):
                return (1, _PLACING.index(type(step)), 0)
            return (0, shaping(step), 0)
        if isinstance(step, Registers):
            return (2, 0, 0)
        if isinstance(step, _OF_STATEMENT):
            return (3, first[step.statement], _OF_STATEMENT.index(type(step)))
        # What other packages add comes after all that is here.
        known = _LAST.index(type(step)) if type(step) in _LAST else len(_LAST)
        return (4, known, 0)

    return tuple(sorted(every, key=place))


def together(kernels: Iterable[Schedule]) -> Schedule:
    """Return the steps of several kernels, each in order, as those of a region."""

    def phase(step: Transform) -> int:
        return 2 if step.is_inner else int(isinstance(step, _PLACING))

    return tuple(sorted((step for steps in kernels for step in steps), key=phase))
