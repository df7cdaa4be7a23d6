"""How the threads of a block move what they work on, as the steps that ask for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from annotune.ir.nest import MemorySpace
from annotune.transforms.pipeline import Pipeline
from annotune.transforms.requests import Vectors
from annotune.transforms.resident import Resident
from annotune.transforms.steps import of_kind
from annotune.transforms.stream import Stream

# With one stage copies go to shared memory without a way through registers; without a pipeline they
# go through them and are waited for one by one. At most one of each kind, in this order.
Move: TypeAlias = Pipeline | Vectors | Stream | Resident
Moves: TypeAlias = tuple[Move, ...]
MOVES = (Pipeline, Vectors, Stream, Resident)


def moves(
    statement: int,
    stages: int = 0,
    through: MemorySpace = MemorySpace.SHARED,
    copied: int = 1,
    read: int = 1,
    streamed: bool = False,
    resident: int = 0,
) -> Moves:
    """Return what asks for a movement of a kernel's data, nothing for what is as usual."""
    wide = Vectors(statement, copied if copied > 1 else 0, read if read > 1 else 0)
    found: list[Move] = []
    found += [Pipeline(statement, "", stages, through)] if stages else []
    found += [wide] if wide != Vectors(statement) else []
    found += [Stream(statement)] if streamed else []
    found += [Resident(statement, resident)] if resident else []
    return tuple(found)


def pipeline_of(known: Sequence[Move]) -> Pipeline | None:
    """Return the pipeline of a movement, None for copies that are waited for one by one."""
    return next(iter(of_kind(known, Pipeline)), None)


def widths(known: Sequence[Move]) -> tuple[int, int]:
    """Return how many neighbours a thread copies at once, and how many it reads at once."""
    wide = next(iter(of_kind(known, Vectors)), Vectors(0))
    return wide.copied or 1, wide.read or 1


def resident_of(known: Sequence[Move]) -> int:
    """Return how many blocks should fit on a multiprocessor, 0 for the compiler's choice."""
    return next((step.blocks for step in of_kind(known, Resident)), 0)


def over(asked: Sequence[Move], known: Sequence[Move], statement: int) -> Moves:
    """Return a movement with what is asked of it in the place of what is known."""
    ring = pipeline_of(asked) or pipeline_of(known)
    wide = {
        name: value
        for step in (*of_kind(known, Vectors), *of_kind(asked, Vectors))
        for name, value in (("copied", step.copied), ("read", step.read))
        if value
    }
    every = (*known, *asked)
    return moves(
        statement,
        0 if ring is None else ring.stages,
        MemorySpace.SHARED if ring is None else ring.through,
        wide.get("copied", 1),
        wide.get("read", 1),
        bool(of_kind(every, Stream)),
        resident_of(asked) or resident_of(known),
    )


def anywhere(known: Sequence[Move]) -> Moves:
    """Return a movement as if it were on the first statement, to compare it with another's."""
    return tuple(replace(step, statement=0) for step in known)


def described(known: Sequence[Move]) -> str:
    """Return a movement in words: ``2 stages through shared, copies by 2``."""
    return ", ".join(_parts(known)) or "plain"


def _parts(known: Sequence[Move]) -> Iterator[str]:
    ring, (copied, read) = pipeline_of(known), widths(known)
    if ring is not None and ring.stages == 1:
        yield "asynchronous copies"
    elif ring is not None:
        is_shared = ring.through is MemorySpace.SHARED
        yield f"{ring.stages} stages through {'shared' if is_shared else 'registers'}"
    if copied > 1:
        yield f"copies by {copied}"
    if read > 1:
        yield f"reads by {read}"
    if of_kind(known, Stream):
        yield "output streamed"
    if resident_of(known):
        yield f"{resident_of(known)} resident blocks"
