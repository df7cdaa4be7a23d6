"""How often shared memory is passed for one access of all threads of a block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from annotune.ir.expr import Binary, Expr, Int, Negate, Var
from annotune.ir.fold import fold
from annotune.strategies.copy_layout import WARP, WORD_BYTES, Passes, warp_passes

# The widest access of one thread: four words.
WIDEST_BYTES = 16
NO_PASSES = Passes(0, 0, 0)


@dataclass(frozen=True, slots=True)
class ThreadLoop:
    """A loop whose iterations are threads: `count` values from `lower` in steps of `step`."""

    var: str
    count: int
    lower: int = 0
    step: int = 1

    def __post_init__(self) -> None:
        if self.count < 1:
            raise ValueError(f"loop '{self.var}' has {self.count} threads, expected >= 1")


def lanes(threads: Sequence[ThreadLoop]) -> Iterator[dict[str, int]]:
    """Yield the loops' values in every thread of a block, in the order of its threads.

    The first loop varies fastest: those of thread x come first, then those of y and of z.
    """
    for thread in range(prod(loop.count for loop in threads)):
        rest, place = thread, {}
        for loop in threads:
            place[loop.var] = loop.lower + loop.step * (rest % loop.count)
            rest //= loop.count
        yield place


def access_passes(
    extents: Sequence[int],
    element_bytes: int,
    indices: Sequence[Expr],
    threads: Sequence[ThreadLoop],
    values: Mapping[str, int],
    vector: int = 1,
    block: int = 0,
) -> Passes:
    """Return the passes of one access to an array in shared memory, over all warps of a block.

    The array starts at bank 0; another start turns the banks and changes no count.

    Args:
        extents: The array's extents, outermost first, padding included.
        element_bytes: The size of an element.
        indices: One index per extent, in the variables of `threads` and `values`.
        threads: The loops on threads, fastest first.
        values: Every other variable of the indices: serial and block loops, sizes.
        vector: Elements that one thread accesses at once, the first of them at `indices`.
        block: Threads of a block, where the loops have more iterations than that and the threads
            come back for the rest; 0 where each iteration has a thread of its own.

    Raises:
        ValueError: An index has no value, or the widths do not fit the hardware.
    """
    if len(indices) != len(extents):
        raise ValueError(f"{len(indices)} indices for {len(extents)} extents")
    width = element_bytes * vector
    # More than four words are accessed in parts that lie side by side; each counts like the first.
    parts = max(1, width // WIDEST_BYTES)
    strides = [prod(extents[k + 1 :]) * element_bytes for k in range(len(extents))]
    # Values that no thread changes are put in once, not for every lane.
    fixed = [fold(index, values) for index in indices]
    if all(_is_affine(index) for index in fixed):
        addresses = _affine_addresses(fixed, threads, strides)
    else:
        addresses = [_address(fixed, place, strides) for place in lanes(threads)]
    total = _block_passes(addresses, width // parts, block or len(addresses))
    return Passes(total.requests, total.transactions * parts, total.ideal * parts)


def _block_passes(addresses: Sequence[int], width_bytes: int, block: int) -> Passes:
    """Return the passes for addresses in the order of threads, `block` of them at a time."""
    total = NO_PASSES
    known: dict[tuple[int, ...], Passes] = {}
    for first in range(0, len(addresses), block):
        # The last warp of a block may be part-empty, and the next round starts a new one.
        together = addresses[first : first + block]
        for lane in range(0, len(together), WARP):
            warp = together[lane : lane + WARP]
            # Whole words from one warp to the next turn the banks, and change no count.
            start = warp[0] - warp[0] % WORD_BYTES
            shape = tuple(address - start for address in warp)
            if shape not in known:
                known[shape] = warp_passes(shape, width_bytes)
            total += known[shape]
    return total


def _is_affine(expr: Expr) -> bool:
    """Return whether the variables of a folded expression are only added and scaled."""
    match expr:
        case Int() | Var():
            return True
        case Negate(operand):
            return _is_affine(operand)
        case Binary("+" | "-", left, right):
            return _is_affine(left) and _is_affine(right)
        case Binary("*", Int(), right):
            return _is_affine(right)
        case _:
            return False


def _affine_addresses(
    indices: Sequence[Expr], threads: Sequence[ThreadLoop], strides: Sequence[int]
) -> list[int]:
    """Return the byte that each thread accesses, by steps of one size along each loop."""
    start = {loop.var: loop.lower for loop in threads}
    addresses = [_address(indices, start, strides)]
    for loop in threads:
        step = _address(indices, {**start, loop.var: loop.lower + loop.step}, strides)
        distance = step - addresses[0]
        addresses = [a + k * distance for k in range(loop.count) for a in addresses]
    return addresses


def _address(indices: Sequence[Expr], values: Mapping[str, int], strides: Sequence[int]) -> int:
    """Return the byte at which the element lies."""
    address = 0
    for index, stride in zip(indices, strides, strict=True):
        place = fold(index, values)
        if not isinstance(place, Int):
            raise ValueError(f"an index of a shared array has no value: {place}")
        address += place.value * stride
    return address
