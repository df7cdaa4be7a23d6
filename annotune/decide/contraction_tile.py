"""The tile of a contraction: what a block computes, and what each of its threads."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from annotune.transforms.deal import deal_name
from annotune.transforms.tile import tile_name

Extent = tuple[str, int]


# 32-bit registers beside accumulators and operands: addresses, counters, and what a load that
# is on its way needs (measured: 165 with 64 accumulators and 16 operands of two registers each).
OTHER_REGISTERS = 8


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
    def deals(self) -> tuple[Extent, ...]:
        """Return the loops to deal out to threads, with the number of these."""
        is_dealt = self.is_split and self.assignment is Assignment.CYCLIC
        return (self.thread,) if is_dealt else ()

    @property
    def thread_loop(self) -> str:
        """Return the loop whose iterations are threads."""
        if not self.is_split:
            return self.thread[0]
        return deal_name(self.thread[0]) if self.deals else tile_name(self.thread[0])

    def block_loop(self, loop: str) -> str:
        """Return the loop over the tiles of blocks of one of the axis' loops."""
        is_twice = self.is_split and not self.deals
        return tile_name(tile_name(loop)) if is_twice else tile_name(loop)

    @property
    def made(self) -> tuple[str, ...]:
        """Return the names of all loops that the axis makes."""
        tiled = (tile_name(loop) for loop, _ in self.tiles)
        return (*tiled, *(deal_name(loop) for loop, _ in self.deals))

    @property
    def parts(self) -> tuple[Extent, ...]:
        """Return the loops that run along a split one, with the steps of that between neighbours.

        The one whose neighbours are further apart comes first.
        """
        if self.deals:
            return ((self.register[0], self.thread[1]), (self.thread_loop, 1))
        return ((self.thread_loop, self.register[1]), (self.register[0], 1))


@dataclass(frozen=True, slots=True)
class ContractionTile:
    """The loops of a contraction by role, each with the length of its tile.

    A block of ``thread_x`` by ``thread_y`` threads computes a tile of the output. Each thread has
    ``register_x`` by ``register_y`` elements of it in registers; x belongs to the input that
    has the output's contiguous loop, y to the other one. Inputs are staged for
    ``contracted`` at a time. Where the two loops of an axis are one, it is split as
    ``assign_x`` and ``assign_y`` say; ``stage_x`` and ``stage_y`` tell which inputs pass through
    shared memory.
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

    @property
    def x(self) -> TileAxis:
        return TileAxis(self.thread_x, self.register_x, self.assign_x)

    @property
    def y(self) -> TileAxis:
        return TileAxis(self.thread_y, self.register_y, self.assign_y)

    @property
    def copied_extents(self) -> dict[str, int]:
        """Return the loops that pick an element of a copy, with their iterations in a tile."""
        own = [(axis.thread_loop, axis.thread[1]) for axis in (self.x, self.y)]
        own += [axis.register for axis in (self.x, self.y)]
        return dict((*own, self.contracted))

    @property
    def extents(self) -> tuple[Extent, ...]:
        """Return all roles, each with its loop and length."""
        return (self.thread_x, self.thread_y, self.register_x, self.register_y, self.contracted)

    @property
    def outputs(self) -> tuple[Extent, ...]:
        """Return the loops of a block's tile of the output, with their lengths."""
        return (*self.x.block_extents, *self.y.block_extents)

    @property
    def block_extents(self) -> tuple[Extent, ...]:
        """Return all loops that are cut for a block, with the lengths of its tiles."""
        return (*self.outputs, self.contracted)

    @property
    def threads(self) -> int:
        return self.thread_x[1] * self.thread_y[1]

    def __str__(self) -> str:
        x, y = (f"{loop}:{size}" for loop, size in (self.thread_x, self.thread_y))
        a, b = (f"{loop}:{size}" for loop, size in (self.register_x, self.register_y))
        loop, size = self.contracted
        split = [
            f"{axis.thread[0]} {axis.assignment}" for axis in (self.x, self.y) if axis.is_split
        ]
        one = {(True, False): ["x staged"], (False, True): ["y staged"]}
        more = [*split, *one.get((self.stage_x, self.stage_y), [])]
        return ", ".join([f"{x} {y} threads", f"{a} x {b} each", f"{loop}:{size}", *more])


def held_registers(tile: ContractionTile, element_bytes: int) -> int:
    """Return the 32-bit registers that a thread needs for a tile, conditions at edges left out."""
    rows, columns = tile.register_x[1], tile.register_y[1]
    return (rows * columns + rows + columns) * element_bytes // 4 + OTHER_REGISTERS
