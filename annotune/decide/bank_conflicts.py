"""How often shared memory must be passed for one access of a warp: bank conflicts, counted.

Shared memory has 32 banks; successive 4-byte words lie in successive banks, and each bank gives
one word per pass. Threads that read the same word share it (CUDA C++ Programming Guide, Shared
Memory, for compute capability 5.x and later). A warp's 8-byte access is served in halves and
its 16-byte access in quarters (the same guide up to release 8, for compute capability 2.x;
assumption: devices since then do the same, or better where halves share words).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

BANKS = 32
WORD_BYTES = 4
WARP = 32


@dataclass(frozen=True, slots=True)
class Passes:
    """What the warps of one block need for one access: `transactions`, at the least `ideal`.

    `requests` counts the warps; `ideal` is what they would need if no two words of one group
    of lanes that is served together lay in one bank.
    """

    requests: int
    transactions: int
    ideal: int

    def __add__(self, other: Passes) -> Passes:
        return Passes(
            self.requests + other.requests,
            self.transactions + other.transactions,
            self.ideal + other.ideal,
        )


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
