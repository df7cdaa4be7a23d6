"""The two-level tile of a contraction: what a block computes, and what each of its threads."""

from __future__ import annotations

from dataclasses import dataclass

Extent = tuple[str, int]


# 32-bit registers beside accumulators and operands: addresses, counters, and what a load that
# is on its way needs (measured: 165 with 64 accumulators and 16 operands of two registers each).
OTHER_REGISTERS = 8


@dataclass(frozen=True, slots=True)
class ContractionTile:
    """The loops of a contraction by role, each with the length of its tile.

    A block of ``thread_x`` by ``thread_y`` threads computes a tile of the output. Each thread has
    ``register_x`` by ``register_y`` elements of it in registers; x belongs to the input that
    has the output's contiguous loop, y to the other one. Both inputs are staged for
    ``contracted`` at a time.
    """

    thread_x: Extent
    thread_y: Extent
    register_x: Extent
    register_y: Extent
    contracted: Extent

    @property
    def extents(self) -> tuple[Extent, ...]:
        """Return all loops that are cut into tiles, with their lengths."""
        return (*self.outputs, self.contracted)

    @property
    def outputs(self) -> tuple[Extent, ...]:
        """Return the loops of the output's tile, with their lengths."""
        return (self.thread_x, self.thread_y, self.register_x, self.register_y)

    @property
    def threads(self) -> int:
        return self.thread_x[1] * self.thread_y[1]

    def __str__(self) -> str:
        x, y = (f"{loop}:{size}" for loop, size in (self.thread_x, self.thread_y))
        a, b = (f"{loop}:{size}" for loop, size in (self.register_x, self.register_y))
        loop, size = self.contracted
        return f"{x} {y} threads, {a} x {b} each, {loop}:{size}"


def held_registers(tile: ContractionTile, element_bytes: int) -> int:
    """Return the 32-bit registers that a thread needs for a tile, conditions at edges left out."""
    rows, columns = tile.register_x[1], tile.register_y[1]
    return (rows * columns + rows + columns) * element_bytes // 4 + OTHER_REGISTERS
