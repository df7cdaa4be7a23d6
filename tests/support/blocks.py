"""What a choice does with the nest of each statement, for tests that look at it piece by piece."""

from __future__ import annotations

from dataclasses import dataclass

from annotune.schedule.candidate import Candidate
from annotune.transforms.distribute import Distribute
from annotune.transforms.map import Vectorize
from annotune.transforms.permute import Permute
from annotune.transforms.pipeline import Prefetch
from annotune.transforms.registers import Hold
from annotune.transforms.stage import Stage
from annotune.transforms.tile import Tile
from annotune.transforms.tile_ends import Pad, Peel


@dataclass(frozen=True)
class Nest:
    """The steps on one statement by their kind, empty or None where there is none."""

    statement: int
    tiles: tuple[tuple[str, int], ...]
    order: tuple[str, ...]
    simd: str
    held: str
    from_zero: bool
    staged: tuple[Stage, ...]
    padded: tuple[str, ...]
    peeled: tuple[str, ...]
    ahead: Prefetch | None
    is_apart: bool


def nests(choice: Candidate) -> list[Nest]:
    """Return what the steps of a choice do, a value for each statement that has any.

    Statements that one leaves behind in its nest have lanes and no more, and are left out.
    """
    beside = {n for step in choice.of(Distribute) for n in step.statements}
    own = {step.statement for step in choice.of(Permute)}
    numbers = dict.fromkeys(step.statement for step in choice.steps)
    return [_nest(choice, n) for n in numbers if n in own or n not in beside]


def _nest(choice: Candidate, statement: int) -> Nest:
    own = (statement,)
    orders = [step.order for step in choice.of(Permute, own)]
    hold = next(iter(choice.of(Hold, own)), None)
    return Nest(
        statement,
        tuple((step.loop, step.size) for step in choice.of(Tile, own)),
        orders[-1] if orders else (),
        next((step.loop for step in choice.of(Vectorize, own)), ""),
        hold.loop if hold is not None else "",
        hold is not None and hold.from_zero,
        choice.of(Stage, own),
        next((step.loops for step in choice.of(Pad, own)), ()),
        next((step.loops for step in choice.of(Peel, own)), ()),
        next(iter(choice.of(Prefetch, own)), None),
        any(statement in step.statements for step in choice.of(Distribute)),
    )
