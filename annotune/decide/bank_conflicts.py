"""How often shared memory must be passed for one access of a warp: bank conflicts, counted.

Shared memory has 32 banks; successive 4-byte words lie in successive banks, and each bank gives
one word per pass. Threads that read the same word share it (CUDA C++ Programming Guide, Shared
Memory, for compute capability 5.x and later). A warp's 8-byte access is served in halves and
its 16-byte access in quarters (the same guide up to release 8, for compute capability 2.x;
assumption: devices since then do the same, or better where halves share words).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from annotune.ir.expr import Binary, Expr, Int, Negate, Var
from annotune.ir.fold import fold

BANKS = 32
WORD_BYTES = 4
WARP = 32
# The widest access of one thread: four words.
WIDEST_BYTES = 16


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


@dataclass(frozen=True, slots=True)
class Passes:
    """What the warps of one block need for one access: `transactions`, at the least `ideal`.

    `requests` counts the warps; `ideal` is what they would need if no two words of one group
    of lanes that is served together lay in one bank.
    """

    requests: int
    transactions: int
    ideal: int

    @property
    def per_request(self) -> float:
        """Return the transactions of one warp's access, on average over the block."""
        return self.transactions / self.requests if self.requests else 0.0

    @property
    def factor(self) -> float:
        """Return how many times the least number of transactions is needed."""
        return self.transactions / self.ideal if self.ideal else 1.0

    def __add__(self, other: Passes) -> Passes:
        return Passes(
            self.requests + other.requests,
            self.transactions + other.transactions,
            self.ideal + other.ideal,
        )


NO_PASSES = Passes(0, 0, 0)


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


def served_at_once(width_bytes: int) -> int:
    """Return how many lanes of a warp are served together when each accesses so many bytes."""
    return WARP * WORD_BYTES // max(width_bytes, WORD_BYTES)


def warp_passes(addresses: Sequence[int | None], width_bytes: int) -> Passes:
    """Return the passes for one warp, of which lane k accesses `width_bytes` at ``addresses[k]``.

    Args:
        addresses: Bytes from the start of shared memory; None for a lane that takes no part.
        width_bytes: What one lane accesses, at a multiple of it: 1, 2, 4, 8 or 16.

    Raises:
        ValueError: There is no access of this width, or there are more lanes than in a warp.
    """
    if width_bytes not in (1, 2, 4, 8, 16):
        raise ValueError(f"one thread accesses {width_bytes} bytes, expected 1, 2, 4, 8 or 16")
    if len(addresses) > WARP:
        raise ValueError(f"{len(addresses)} lanes, expected at most {WARP}")
    together = served_at_once(width_bytes)
    groups = (addresses[first : first + together] for first in range(0, WARP, together))
    active = [[a for a in group if a is not None] for group in groups]
    counts = [_group_passes(group, width_bytes) for group in active if group]
    return Passes(int(bool(counts)), sum(counts), len(counts))


def _group_passes(addresses: Iterable[int], width_bytes: int) -> int:
    """Return the most different words that lanes served together want of one bank."""
    words = {
        word
        for address in addresses
        for word in range(address // WORD_BYTES, (address + width_bytes - 1) // WORD_BYTES + 1)
    }
    wanted = [0] * BANKS
    for word in words:
        wanted[word % BANKS] += 1
    return max(wanted)


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
