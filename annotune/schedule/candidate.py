"""A candidate: the schedule of one kernel before anything is applied, and why it is so.

With it stands what a block and each of its threads compute of a contraction's tile, and how they
move what they work on, as the steps that ask for it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import cached_property
from math import prod
from typing import TypeAlias

from annotune.frozen import dataclass
from annotune.transforms.cache import Resident
from annotune.transforms.distribute import Fuse
from annotune.transforms.language import T, in_order, of_kind, on_place
from annotune.transforms.map import Map, Team
from annotune.transforms.merge import Merge
from annotune.transforms.permute import Permute
from annotune.transforms.pipeline import Pipeline
from annotune.transforms.registers import Registers
from annotune.transforms.tile import Cyclic, Tile, tile_name, worker_name
from annotune.transforms.transform import (
    Moving,
    Schedule,
    Transform,
)
from annotune.transforms.unroll import Unroll

Extent = tuple[str, int]


# 32-bit registers beside accumulators and operands: addresses, counters, and what a load that
# is on its way needs (measured: 165 with 64 accumulators and 16 operands of two registers each).
OTHER_REGISTERS = 8
# The same where the tensor cores multiply (88 to 224 for 96 to 252 of six tiles, nvcc 13.0).
TENSOR_REGISTERS = 16


class Assignment(StrEnum):
    """Which elements of a tile's loop a thread has: every so-manieth, or neighbours."""

    CYCLIC = "cyclic"
    ADJACENT = "adjacent"


@dataclass(frozen=True, slots=True)
class TileAxis:
    """The two loops along one axis of a tile, for threads and for the registers of a thread.

    Where both are one loop, it is split: `assignment` tells how.
    """

    thread: Extent
    register: Extent
    assignment: Assignment = Assignment.CYCLIC

    @property
    def is_split(self) -> bool:
        """Return whether one loop gives both the threads and what each of them has."""
        return self.thread[0] == self.register[0]

    @property
    def length(self) -> int:
        """Return the elements of the block's tile along the axis."""
        return self.thread[1] * self.register[1]

    @property
    def block_extents(self) -> tuple[Extent, ...]:
        """Return the loops that are cut into the tiles of blocks, with their lengths."""
        if self.is_split:
            return ((self.thread[0], self.length),)
        return (self.thread, self.register)

    @property
    def tiles(self) -> tuple[Extent, ...]:
        """Return the tiles to make, in order; a loop over tiles may be tiled again."""
        if self.is_split and self.assignment is Assignment.ADJACENT:
            return (self.register, (tile_name(self.register[0]), self.thread[1]))
        return self.block_extents

    @property
    def cyclic(self) -> tuple[Extent, ...]:
        """Return the loops to deal out to threads, with the number of these."""
        is_dealt = self.is_split and self.assignment is Assignment.CYCLIC
        return (self.thread,) if is_dealt else ()

    @property
    def thread_loop(self) -> str:
        """Return the loop whose iterations are threads."""
        if not self.is_split:
            return self.thread[0]
        return worker_name(self.thread[0]) if self.cyclic else tile_name(self.thread[0])

    def block_loop(self, loop: str) -> str:
        """Return the loop over the tiles of blocks of one of the axis' loops."""
        is_twice = self.is_split and not self.cyclic
        return tile_name(tile_name(loop)) if is_twice else tile_name(loop)

    @property
    def made(self) -> tuple[str, ...]:
        """Return the names of all loops that the axis makes."""
        tiled = (tile_name(loop) for loop, _ in self.tiles)
        return (*tiled, *(worker_name(loop) for loop, _ in self.cyclic))

    @property
    def parts(self) -> tuple[Extent, ...]:
        """Return the loops that run along a split one, with the steps of that between neighbours.

        The one whose neighbours are further apart comes first.
        """
        if self.cyclic:
            return ((self.register[0], self.thread[1]), (self.thread_loop, 1))
        return ((self.thread_loop, self.register[1]), (self.register[0], 1))


# An axis of a block that no loop has.
NO_AXIS: Extent = ("", 1)


@dataclass(frozen=True, slots=True)
class ContractionTile:
    """The loops of a contraction by role, each with the length of its tile.

    A block of ``thread_x`` by ``thread_y`` threads computes a tile of the output. Each thread has
    ``register_x`` by ``register_y`` elements of it in registers; x belongs to the input that
    has the output's contiguous loop, y to the other one. Inputs are staged for
    ``contracted`` at a time. Where the two loops of an axis are one, it is split as
    ``assign_x`` and ``assign_y`` say; ``stage_x`` and ``stage_y`` tell which inputs pass through
    shared memory. ``thread_z`` is a further loop of the output, of which a block has so many
    iterations at once, threads of its own for each: no loop and one for none. `by_warps` are the
    steps of the sum in an instruction of the tensor cores, 0 where these do not multiply it.
    """

    thread_x: Extent
    thread_y: Extent
    register_x: Extent
    register_y: Extent
    contracted: Extent
    assign_x: Assignment = Assignment.CYCLIC
    assign_y: Assignment = Assignment.CYCLIC
    stage_x: bool = True
    stage_y: bool = True
    thread_z: Extent = NO_AXIS
    by_warps: int = 0

    @property
    def x(self) -> TileAxis:
        return TileAxis(self.thread_x, self.register_x, self.assign_x)

    @property
    def y(self) -> TileAxis:
        return TileAxis(self.thread_y, self.register_y, self.assign_y)

    @property
    def on_threads(self) -> tuple[Extent, ...]:
        """Return the loops whose iterations are the threads of a block, x first."""
        own = ((axis.thread_loop, axis.thread[1]) for axis in (self.x, self.y))
        return (*own, *self.z)

    @property
    def copied_extents(self) -> dict[str, int]:
        """Return the loops that pick an element of a copy, with their iterations in a tile."""
        registers = (axis.register for axis in (self.x, self.y))
        return dict((*self.on_threads, *registers, self.contracted))

    @property
    def extents(self) -> tuple[Extent, ...]:
        """Return all roles, each with its loop and length."""
        inner = (self.thread_x, self.thread_y, self.register_x, self.register_y, self.contracted)
        return (*inner, *self.z)

    @property
    def outputs(self) -> tuple[Extent, ...]:
        """Return the loops of a block's tile of the output, with their lengths."""
        return (*self.x.block_extents, *self.y.block_extents, *self.z)

    @property
    def block_extents(self) -> tuple[Extent, ...]:
        """Return all loops that are cut for a block, with the lengths of its tiles."""
        return (*self.outputs, self.contracted)

    @property
    def threads(self) -> int:
        return self.thread_x[1] * self.thread_y[1] * self.thread_z[1]

    @property
    def z(self) -> tuple[Extent, ...]:
        """Return the loop of the third axis with its length, nothing where it has none."""
        return () if self.thread_z == NO_AXIS else (self.thread_z,)

    def __str__(self) -> str:
        x, y = (f"{loop}:{size}" for loop, size in (self.thread_x, self.thread_y))
        a, b = (f"{loop}:{size}" for loop, size in (self.register_x, self.register_y))
        loop, size = self.contracted
        split = [
            f"{axis.thread[0]} {axis.assignment}" for axis in (self.x, self.y) if axis.is_split
        ]
        one = {(True, False): ["x staged"], (False, True): ["y staged"]}
        more = [*split, *one.get((self.stage_x, self.stage_y), [])]
        more += [f"tensor cores by {self.by_warps}"] if self.by_warps else []
        axes = " ".join((x, y, *(f"{name}:{count}" for name, count in self.z)))
        return ", ".join([f"{axes} threads", f"{a} x {b} each", f"{loop}:{size}", *more])


@dataclass(frozen=True, slots=True)
class JointTile:
    """What a block and a thread have of an output into which several statements accumulate.

    `registers` and `threads` are the loops of the output with their lengths, the fastest in memory
    first: a thread has neighbours along each of the former, and so have the threads along each of
    the latter. Of the `sums`, one for each statement, so many steps are staged at a time; where a
    statement has none, its loop has an empty name. The tensor cores multiply where one input has
    the column and the other the row of two loops `by_warps`, which have the first 4 and the next 8
    threads; neighbouring threads have neighbours along the latter, and one thread every eighth.
    """

    registers: tuple[Extent, ...]
    threads: tuple[Extent, ...]
    sums: tuple[Extent, ...]
    by_warps: tuple[str, ...] = ()

    @property
    def each(self) -> int:
        """Return the outputs of a thread."""
        return prod(size for _, size in self.registers)

    @property
    def block_size(self) -> int:
        """Return the threads of a block."""
        return prod(size for _, size in self.threads)

    @property
    def lengths(self) -> dict[str, int]:
        """Return the length of a block's tile along each loop that is longer than one."""
        found: dict[str, int] = {}
        for loop, size in (*self.registers, *self.threads):
            found[loop] = found.get(loop, 1) * size
        return found

    def __str__(self) -> str:
        threads = " ".join(f"{loop}:{size}" for loop, size in self.threads)
        each = " x ".join(f"{loop}:{size}" for loop, size in self.registers)
        sums = " ".join(dict.fromkeys(f"{loop}:{size}" for loop, size in self.sums if loop))
        warps = ", tensor cores for {} by {}".format(*self.by_warps) if self.by_warps else ""
        return f"{threads} threads, {each} each, {sums}{warps}"


def held_registers(tile: ContractionTile, element_bytes: int) -> int:
    """Return the 32-bit registers that a thread needs for a tile, conditions at edges left out."""
    rows, columns = tile.register_x[1], tile.register_y[1]
    # For the tensor cores the operands of the next step are on their way (nvcc 13.0 for sm_90).
    ahead, others = (2, TENSOR_REGISTERS) if tile.by_warps else (1, OTHER_REGISTERS)
    return (rows * columns + ahead * (rows + columns)) * element_bytes // 4 + others


# With one stage copies go to shared memory without a way through registers; without a pipeline they
# go through them and are waited for one by one. At most one of each kind, in this order.
Moves: TypeAlias = tuple[Moving, ...]


def pipeline_of(known: Sequence[Moving]) -> Pipeline | None:
    """Return the pipeline of a movement, None for copies that are waited for one by one."""
    return next(iter(of_kind(known, Pipeline)), None)


def resident_of(known: Sequence[Moving]) -> int:
    """Return how many blocks should fit on a multiprocessor, 0 for the compiler's choice."""
    return next((step.blocks for step in of_kind(known, Resident)), 0)


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
    tell what these say of loops. `reasons` tells which rule chose what. `general` is the
    candidate for sizes that are not the tuned ones, None for this one; where `apart` has some, each
    of these has a kernel of its own for a part at such sizes.

    `origin` is the strategy that proposes it whole, empty for axes that `direct` completes.
    `shape` names what OpenACC makes of the loops, `contract` is the two-level tile that the steps
    carry out, `joint` that of several statements, and `moves` what they do with the data: what a
    table shows, and the model reads.
    """

    parts: tuple[tuple[int, ...], ...]
    steps: Schedule = ()
    reasons: tuple[Reason, ...] = ()
    general: Candidate | None = None
    origin: str = ""
    shape: str = ""
    contract: ContractionTile | None = None
    moves: Moves = ()
    apart: tuple[Candidate, ...] = ()
    joint: JointTile | None = None

    @property
    def at_other_sizes(self) -> tuple[Candidate, ...]:
        """Return what runs at sizes that are not the tuned ones."""
        return self.apart or (self.general or self,)

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
        joined: str = "",
        reasons: Sequence[Reason] = (),
    ) -> Candidate:
        """Return the candidate with an order, tiles and the loops of a grid's axes, x first.

        `steps` are further ones. More loops on blocks than a grid has axes share x. Where the parts
        are `joined`, they share the loops down to that one and no other.
        """
        leader = parts[0][0]
        made: list[Transform] = [*steps, *(Tile(leader, loop, size) for loop, size in tiles)]
        if len(parts) > 1:
            made.append(Fuse(tuple(part[0] for part in parts), joined))
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
        without: tuple[type[object], ...] = (),
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
    def cyclic(self) -> tuple[tuple[str, int], ...]:
        """Return the loops that are dealt out, and to how many workers."""
        return tuple((step.loop, step.workers) for step in self.of(Cyclic))

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
    def joined(self) -> str:
        """Return the innermost loop that the parts share, empty for all in which they agree."""
        return next((step.loop for step in self.of(Fuse)), "")

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
