"""How the threads of a block move what they work on: a value of the schedule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from enum import StrEnum


class Through(StrEnum):
    """Where the next tile of a pipelined copy waits until the present one is used up."""

    SHARED = "shared"
    REGISTERS = "registers"


@dataclass(frozen=True, slots=True)
class Movement:
    """The copies and accesses of one kernel, beside which loop runs where.

    `stages` tiles of each staged input are in fast memory, those of later steps `through`
    shared memory or registers; with 1 there is the present one alone, copied without a way
    through registers, and with 0 the copies go through them and are waited for one by one. A
    thread copies `copied` neighbours at once and finds those that it reads together `read` by
    `read` side by side, where both can be proven. What is `streamed` passes by the caches. ptxas
    is asked for so few registers that `resident` blocks fit on a multiprocessor, 0 for its own
    choice.
    """

    stages: int = 0
    through: Through = Through.SHARED
    copied: int = 1
    read: int = 1
    streamed: bool = False
    resident: int = 0

    def __str__(self) -> str:
        return ", ".join(self._parts()) or "plain"

    def _parts(self) -> Iterator[str]:
        if self.stages == 1:
            yield "asynchronous copies"
        if self.stages > 1:
            yield f"{self.stages} stages through {self.through}"
        if self.copied > 1:
            yield f"copies by {self.copied}"
        if self.read > 1:
            yield f"reads by {self.read}"
        if self.streamed:
            yield "output streamed"
        if self.resident:
            yield f"{self.resident} resident blocks"


PLAIN = Movement()


@dataclass(frozen=True, slots=True)
class MovementWish:
    """What a recipe says of a movement; None is for the decision algorithm."""

    stages: int | None = None
    through: Through | None = None
    copied: int | None = None
    read: int | None = None
    streamed: bool | None = None
    resident: int | None = None

    def beside(self, other: MovementWish) -> MovementWish:
        """Return what both say together, this one where they differ."""
        said = {f.name: getattr(self, f.name) for f in fields(self)}
        return replace(other, **{name: value for name, value in said.items() if value is not None})

    def over(self, other: Movement) -> Movement:
        """Return `other` with what is wished in its place."""
        return Movement(
            other.stages if self.stages is None else self.stages,
            other.through if self.through is None else self.through,
            other.copied if self.copied is None else self.copied,
            other.read if self.read is None else self.read,
            other.streamed if self.streamed is None else self.streamed,
            other.resident if self.resident is None else self.resident,
        )
