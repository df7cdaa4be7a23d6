"""A plan: where every loop of a region runs, in which kernels, and what made it so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from typing import TypeAlias

from annotune.frozen import dataclass
from annotune.ir.nest import COPY_LEVELS, CachedSection, Level, Loop, Stmt, walk_stmts
from annotune.schedule.candidate import Candidate
from annotune.transforms.cache import Both
from annotune.transforms.map import Map
from annotune.transforms.transform import (
    Schedule,
    counts_set,
    names_set,
)
from annotune.transforms.tree import Body


@dataclass(frozen=True, slots=True)
class Kernel:
    """One launch: its loops, the placed ones outermost, around what one thread does.

    `body` is what the targets print: registers and unrolling are in it. `scheduled` is the
    same nest before those two, in which the certificate follows every iteration. `schedule` are
    the steps that made it, `cached` the sections that a gang reads again and again.
    """

    name: str
    statements: tuple[int, ...]
    body: Body
    scheduled: Body
    schedule: Schedule = field(default=(), compare=False)
    cached: tuple[CachedSection, ...] = ()

    @property
    def mapping(self) -> Map | None:
        """Return the step that gives the outer loops their places, None where there is none."""
        return next((step for step in self.schedule if isinstance(step, Map)), None)

    @property
    def max_blocks(self) -> int:
        """Return how many blocks the grid has at most, which then run the rest in strides.

        0 is for no bound of its own.
        """
        return self.mapping.max_blocks if self.mapping is not None else 0

    @property
    def resident(self) -> int:
        """Return how many blocks should fit on a multiprocessor, 0 for the compiler's choice."""
        return max(counts_set(self.schedule, "resident"), default=0)

    @property
    def any_sizes(self) -> frozenset[str]:
        """Return the sizes that the kernel's schedule leaves open."""
        return frozenset(size for step in self.schedule for size in step.left_open)

    @property
    def aligned(self) -> frozenset[str]:
        """Return the arrays that the compiler is told to start where vectors may."""
        return frozenset(names_set(self.schedule, "aligned"))

    @property
    def team(self) -> int:
        """Return how many threads share loops inside a block's work at most, 0 for the usual."""
        return max(counts_set(self.schedule, "threads"), default=0)

    def placed(self) -> tuple[Loop, ...]:
        """Return the loops that run in parallel, wherever they stand, in text order."""
        return tuple(_placed(self.body))

    def band(self) -> tuple[Loop, ...]:
        """Return the placed loops that hold all of the kernel, outermost first.

        There are none where a reduction leaves statements before and after them.
        """
        return band_of(self.body)


@dataclass(frozen=True, slots=True)
class HostLoop:
    """A serial loop that the host runs around launches; `loop` has an empty body."""

    loop: Loop
    steps: tuple[Step, ...]


Step: TypeAlias = Kernel | HostLoop


@dataclass(frozen=True, slots=True)
class Plan:
    """A schedule of a whole region, ready to print.

    `constants` are the sizes that the plan takes for granted; code made from it is right
    for these alone. `schedule` is what the plan was made by.
    """

    steps: tuple[Step, ...]
    choices: tuple[Candidate, ...]
    constants: Mapping[str, int] = field(default_factory=dict)
    schedule: Schedule = ()

    @property
    def added(self) -> frozenset[str]:
        """Return the arrays to which the host adds what the kernels have computed from nothing."""
        return frozenset(names_set(self.schedule, "added"))

    @property
    def both(self) -> Both | None:
        """Return how the host and a GPU share the outermost loop, None where they do not."""
        return next((step for step in self.schedule if isinstance(step, Both)), None)

    def kernels(self) -> Iterator[Kernel]:
        """Yield the kernels in the order of their launches."""
        yield from _kernels(self.steps)

    def scheduled(self) -> Body:
        """Return the region as scheduled, before registers and unrolling."""
        return _joined(self.steps)


def _placed(body: Body) -> Iterator[Loop]:
    """Yield the loops that run in parallel, but those of copies that a block makes together."""
    for stmt in body:
        if not isinstance(stmt, Loop) or stmt.place in COPY_LEVELS:
            continue
        if stmt.place is not Level.SERIAL:
            yield stmt
        yield from _placed(stmt.body)


def _kernels(steps: tuple[Step, ...]) -> Iterator[Kernel]:
    for step in steps:
        if isinstance(step, Kernel):
            yield step
        else:
            yield from _kernels(step.steps)


def _joined(steps: tuple[Step, ...]) -> Body:
    out: list[Stmt] = []
    for step in steps:
        if isinstance(step, Kernel):
            out.extend(step.scheduled)
        else:
            out.append(replace(step.loop, body=_joined(step.steps)))
    return tuple(out)


def band_of(body: Body) -> tuple[Loop, ...]:
    """Return the placed loops that hold all of `body`, outermost first."""
    out: list[Loop] = []
    while len(body) == 1 and isinstance(body[0], Loop) and is_kernel(body[0]):
        out.append(body[0])
        body = body[0].body
    return tuple(out)


def is_kernel(stmt: Stmt) -> bool:
    """Return whether a statement is launched as a whole: its outermost loop is placed.

    Lanes are no launch: a serial loop around them stays with its core.
    """
    return isinstance(stmt, Loop) and stmt.place not in (Level.SERIAL, Level.SIMD)


def holds_kernels(stmt: Stmt) -> bool:
    """Return whether a placed loop stands somewhere inside a serial one."""
    return any(is_kernel(inner) for inner in walk_stmts((stmt,)))
