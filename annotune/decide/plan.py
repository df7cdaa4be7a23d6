"""A plan: where every loop of a region runs, what is held in registers, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

from annotune.decide.contraction_tile import ContractionTile
from annotune.decide.movement import Moves
from annotune.ir.nest import CachedSection, Level, Loop, Stmt, walk_stmts
from annotune.transforms.deal import Deal
from annotune.transforms.fuse import Fuse
from annotune.transforms.language import on_place
from annotune.transforms.map import Map
from annotune.transforms.merge import Merge
from annotune.transforms.permute import Permute
from annotune.transforms.registers import Registers
from annotune.transforms.resident import Resident
from annotune.transforms.steps import T, in_order, of_kind
from annotune.transforms.team import Team
from annotune.transforms.tile import Tile, tile_name
from annotune.transforms.transform import Schedule, Transform
from annotune.transforms.tree import Body, numbers, rebuilt
from annotune.transforms.unroll import Unroll


@dataclass(frozen=True, slots=True)
class Reason:
    """One decision and the rule that made it, for the reader of a report."""

    subject: str
    decision: str
    rule: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.decision} ({self.rule})"


@dataclass(frozen=True)
class Candidate:
    """A schedule for one kernel, as a strategy proposes it or a recipe asks for it.

    `parts` are the nests that share the kernel, each a group of statements that cannot be
    taken apart; the first statement leads. `steps` are all that is done to them; the properties
    tell what these say of loops. `reasons` tells which rule chose what. `elsewhere` is the
    candidate for sizes that are not the tuned ones, None for this one.

    `origin` is the strategy that proposes it whole, empty for axes that `direct` completes.
    `shape` names what OpenACC makes of the loops, `contract` is the two-level tile that the steps
    carry out, and `moves` what they do with the data: what a table shows, and the model reads.
    """

    parts: tuple[tuple[int, ...], ...]
    steps: Schedule = ()
    reasons: tuple[Reason, ...] = ()
    elsewhere: Candidate | None = None
    origin: str = ""
    shape: str = ""
    contract: ContractionTile | None = None
    moves: Moves = ()

    @classmethod
    def of_axes(
        cls,
        parts: tuple[tuple[int, ...], ...],
        *steps: Transform,
        order: tuple[str, ...] = (),
        tiles: Sequence[tuple[str, int]] = (),
        blocks: Sequence[str] = (),
        threads: Sequence[str] = (),
        host: tuple[str, ...] = (),
        max_blocks: int = 0,
        reasons: Sequence[Reason] = (),
    ) -> Candidate:
        """Return the candidate with an order, tiles and the loops of a grid's axes, x first.

        `steps` are further ones. More loops on blocks than a grid has axes share x.
        """
        leader = parts[0][0]
        made: list[Transform] = [*steps, *(Tile(leader, loop, size) for loop, size in tiles)]
        if len(parts) > 1:
            made.append(Fuse(tuple(part[0] for part in parts)))
        levels = (*on_place("block", blocks), *on_place("thread", threads))
        if levels:
            made.append(Map(leader, levels, host, max_blocks=max_blocks))
        found = cls(parts, in_order(made), tuple(reasons))
        return found.ordered(order) if order else found

    def of(self, kind: type[T], among: Collection[int] | None = None) -> tuple[T, ...]:
        """Return the steps of a kind, those on some statements alone if these are given."""
        return of_kind(self.steps, kind, among)

    def having(
        self,
        *steps: Transform,
        without: tuple[type[Transform], ...] = (),
        why: Reason | None = None,
    ) -> Candidate:
        """Return the candidate with further steps in their places, in that of some kinds."""
        kept = (step for step in self.steps if not isinstance(step, without))
        reasons = self.reasons if why is None else (*self.reasons, why)
        return replace(self, steps=in_order((*kept, *steps)), reasons=reasons)

    def ordered(self, order: tuple[str, ...], why: Reason | None = None) -> Candidate:
        """Return the candidate with the loops of each of its nests in an order, none for ()."""
        leaders = [part[0] for part in self.parts] if order else []
        if any(tile_name(loop) in order for loop, _ in self.tiles):
            # Loops over tiles are there once the nests are one.
            leaders = leaders[:1]
        steps = (Permute(leader, order) for leader in leaders)
        return self.having(*steps, without=(Permute,), why=why)

    def placed(
        self,
        blocks: Sequence[str] | None = None,
        threads: Sequence[str] | None = None,
        max_blocks: int | None = None,
    ) -> Candidate:
        """Return the candidate with other loops on the axes of a grid, as far as they are given."""
        mapped = self.mapping or Map(self.leader, ())
        levels = (
            *on_place("block", self.blocks if blocks is None else blocks),
            *on_place("thread", self.threads if threads is None else threads),
        )
        most = mapped.max_blocks if max_blocks is None else max_blocks
        step = replace(mapped, levels=levels, max_blocks=most)
        return self.having(*((step,) if levels else ()), without=(Map,))

    @cached_property
    def mapping(self) -> Map | None:
        """Return the step that places the outer loops, None where it places none."""
        return next(iter(self.of(Map)), None)

    @property
    def statements(self) -> tuple[int, ...]:
        """Return the numbers of the kernel's statements."""
        return tuple(n for part in self.parts for n in part)

    @property
    def leader(self) -> int:
        """Return the statement whose number names the kernel."""
        return self.parts[0][0]

    @cached_property
    def merges(self) -> tuple[tuple[str, ...], ...]:
        """Return the loops that run as one."""
        return tuple(dict.fromkeys(step.loops for step in self.of(Merge)))

    @cached_property
    def order(self) -> tuple[str, ...]:
        """Return the loops of the leader's nest in their order, empty for that of the text."""
        return next((step.order for step in self.of(Permute)), ())

    @cached_property
    def tiles(self) -> tuple[tuple[str, int], ...]:
        """Return the loops that are cut, and the lengths of their tiles."""
        return tuple((step.loop, step.size) for step in self.of(Tile))

    @cached_property
    def deals(self) -> tuple[tuple[str, int], ...]:
        """Return the loops that are dealt out, and to how many workers."""
        return tuple((step.loop, step.workers) for step in self.of(Deal))

    @cached_property
    def blocks(self) -> tuple[str, ...]:
        """Return the loops on blocks, x first; of OpenACC those on gangs, innermost first."""
        return self._on(("block",), ("gang",))

    @cached_property
    def threads(self) -> tuple[str, ...]:
        """Return the loops on threads, x first; of OpenACC those of a gang, innermost first."""
        return self._on(("thread",), ("worker", "vector"))

    def _on(self, cuda: tuple[str, ...], acc: tuple[str, ...]) -> tuple[str, ...]:
        if self.mapping is None:
            return ()
        found = [name for place in cuda for name in self.mapping.on(place)]
        return tuple(found or reversed([n for place in acc for n in self.mapping.on(place)]))

    @property
    def host(self) -> tuple[str, ...]:
        """Return the loops that the host runs around the launch."""
        return self.mapping.host if self.mapping is not None else ()

    @property
    def cores(self) -> tuple[str, ...]:
        """Return the loops that the threads of a CPU share."""
        return self.mapping.on("core") if self.mapping is not None else ()

    @property
    def max_blocks(self) -> int:
        """Return how many blocks the grid has at most, 0 for as many as there are."""
        return self.mapping.max_blocks if self.mapping is not None else 0

    @cached_property
    def team(self) -> tuple[tuple[int, str], ...]:
        """Return the loops inside the work of a block that its threads share, by statement."""
        return tuple((step.statement, step.loop) for step in self.of(Team))

    @property
    def mapped(self) -> int:
        """Return the statement that stands in all the loops that are mapped."""
        return self.team[0][0] if self.team else self.leader

    @cached_property
    def shared(self) -> tuple[str, ...]:
        """Return the loops that run on threads, x first; a team's are on x."""
        return self.threads or tuple(dict.fromkeys(loop for _, loop in self.team))

    @property
    def registers(self) -> tuple[tuple[int, str], ...]:
        """Return the loops over which a statement's target is held."""
        return tuple((step.statement, step.loop) for step in self.of(Registers))

    @property
    def unroll(self) -> tuple[tuple[int, str, int], ...]:
        """Return the loops that are unrolled, with the statement and the factor."""
        return tuple((step.statement, step.loop, step.factor) for step in self.of(Unroll))


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
    choices: tuple[Candidate, ...]
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
