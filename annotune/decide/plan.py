"""A plan: where every loop of a region runs, what is held in registers, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from annotune.decide.contraction_tile import ContractionTile
from annotune.decide.movement import PLAIN, Movement
from annotune.ir.nest import CachedSection, Level, Loop, Stmt, walk_stmts
from annotune.transforms.map import STATIC, Map
from annotune.transforms.resident import Resident
from annotune.transforms.steps import T, of_kind
from annotune.transforms.transform import Schedule
from annotune.transforms.tree import Body, numbers, rebuilt


@dataclass(frozen=True, slots=True)
class Reason:
    """One decision and the rule that made it, for the reader of a report."""

    subject: str
    decision: str
    rule: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.decision} ({self.rule})"


@dataclass(frozen=True, slots=True)
class AccForm:
    """How OpenACC says a choice. `shape` names it in tables.

    The loops of threads are one vector, those of blocks share the gangs, but for `workers`,
    outermost first. With `tile_clause` the compiler cuts the loops whose tiles are the gangs.
    `cached` are the arrays of the ``cache`` directive.
    """

    shape: str
    workers: tuple[str, ...] = ()
    tile_clause: bool = False
    cached: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class KernelChoice:
    """The decisions for one kernel: the values of the schedule's commands.

    `parts` are the nests that share the kernel, each a group of statements that cannot be
    taken apart; the first statement leads. `order` is the order of the leader's
    loops, outermost first, as ``permute`` takes it; empty keeps the text's. `tiles` are
    (loop, size), `deals` (loop, workers). `blocks` and `threads` name the loops of the x, y and z
    axes; `host` the serial loops around the launch. `team` are (statement, loop) inside the work
    of one block that the threads of the block share. A reduction loop in `blocks`, `threads` or
    `team` combines what it accumulates. `registers` and `unroll` give a loop, and a loop and
    factor, per statement. `max_blocks` bounds the blocks of the grid, 0 for as many as there are.
    `reasons` tells which rule chose each.

    `steps` are what one worker does inside these. `form` belongs to OpenACC, None where nothing
    is said of it, as do the mapping `acc` and the arrays `cached` that a recipe asks for. `cores`
    belongs to OpenMP: the loops that the threads share, dealt out by `schedule`. `contract` is the
    two-level tile that the `steps` carry out, and `elsewhere` the choice for sizes that are not
    the tuned ones, None for this one. `movement` is how its data are moved, as far as the `steps`
    do not say it.
    """

    parts: tuple[tuple[int, ...], ...]
    order: tuple[str, ...] = ()
    tiles: tuple[tuple[str, int], ...] = ()
    blocks: tuple[str, ...] = ()
    threads: tuple[str, ...] = ()
    host: tuple[str, ...] = ()
    team: tuple[tuple[int, str], ...] = ()
    registers: tuple[tuple[int, str], ...] = ()
    unroll: tuple[tuple[int, str, int], ...] = ()
    max_blocks: int = 0
    reasons: tuple[Reason, ...] = ()
    form: AccForm | None = None
    acc: Map | None = None
    cached: tuple[str, ...] = ()
    cores: tuple[str, ...] = ()
    schedule: str = STATIC
    steps: Schedule = ()
    contract: ContractionTile | None = None
    elsewhere: KernelChoice | None = None
    deals: tuple[tuple[str, int], ...] = ()
    movement: Movement = PLAIN
    merges: tuple[tuple[str, ...], ...] = ()

    def of(self, kind: type[T], among: Collection[int] | None = None) -> tuple[T, ...]:
        """Return the steps of a kind, those on some statements alone if these are given."""
        return of_kind(self.steps, kind, among)

    @property
    def statements(self) -> tuple[int, ...]:
        """Return the numbers of the kernel's statements."""
        return tuple(n for part in self.parts for n in part)

    @property
    def leader(self) -> int:
        """Return the statement whose number names the kernel."""
        return self.parts[0][0]

    @property
    def mapped(self) -> int:
        """Return the statement that stands in all the loops that are mapped."""
        return self.team[0][0] if self.team else self.leader

    @property
    def shared(self) -> tuple[str, ...]:
        """Return the loops that run on threads, x first; a team's are on x."""
        return self.threads or tuple(dict.fromkeys(loop for _, loop in self.team))


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
        return max((s.blocks for s in self.schedule if isinstance(s, Resident)), default=0)

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
    choices: tuple[KernelChoice, ...]
    constants: Mapping[str, int] = field(default_factory=dict)
    schedule: Schedule = ()

    def kernels(self) -> Iterator[Kernel]:
        """Yield the kernels in the order of their launches."""
        yield from _kernels(self.steps)

    def scheduled(self) -> Body:
        """Return the region as scheduled, before registers and unrolling."""
        return _joined(self.steps)


def _placed(body: Body) -> Iterator[Loop]:
    """Yield the loops that run in parallel, but those of copies that a block makes together."""
    for stmt in body:
        if not isinstance(stmt, Loop) or stmt.place in (Level.COOPERATIVE, Level.ASYNC):
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
            out.append(rebuilt(step.loop, body=_joined(step.steps)))
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


def covered(steps: tuple[Step, ...]) -> frozenset[int]:
    """Return the numbers of the statements that some kernel runs."""
    return frozenset(n for kernel in _kernels(steps) for s in kernel.body for n in numbers(s))
