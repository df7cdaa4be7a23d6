"""Memory for one array between red zones and guard pages, made inside a measuring child."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np
import numpy.typing as npt

PAGE_BYTES = mmap.PAGESIZE

RED_ZONE_BYTES = 512
"""At least so much pattern lies on each side of an array: 64 doubles."""

# The upper half of a signalling NaN whether it is read as doubles or as floats; the lower
# half counts, so that a copied or shifted zone is seen too.
_PATTERN = 0x7FF4_DEAD_0000_0000

_libc = ctypes.CDLL(None, use_errno=True)


class GuardedArray:
    """`count` elements of `dtype`, 64-byte aligned, with what lies around them watched.

    A write next to the array changes the red zone; one further away ends in a page that may
    not be touched at all.
    """

    def __init__(self, dtype: np.dtype[Any], count: int) -> None:
        size = count * dtype.itemsize
        inner = -(-(2 * RED_ZONE_BYTES + size) // PAGE_BYTES) * PAGE_BYTES
        self._map = mmap.mmap(-1, inner + 2 * PAGE_BYTES)
        whole = np.frombuffer(self._map, np.uint8)
        start = whole.ctypes.data
        for page in (start, start + PAGE_BYTES + inner):
            # Refused by a kernel without mprotect: the red zones remain.
            _libc.mprotect(ctypes.c_void_p(page), PAGE_BYTES, 0)
        first = PAGE_BYTES + RED_ZONE_BYTES
        self.values: npt.NDArray[Any] = whole[first : first + size].view(dtype)
        self.address = start + first
        self._zones = (whole[PAGE_BYTES:first], whole[first + size : PAGE_BYTES + inner])
        for zone in self._zones:
            zone[:] = _pattern(zone.size)

    @property
    def whole(self) -> GuardedArray:
        """Return the memory that the array lies in: all of it."""
        return self

    def mark_zones(self, mark: Any) -> None:
        """Call the address sanitizer's `mark`, its poison or unpoison function, on the zones."""
        for zone in self._zones:
            mark(ctypes.c_void_p(zone.ctypes.data), ctypes.c_size_t(zone.size))

    def broken_zone(self) -> str:
        """Return ``before`` or ``after`` for a red zone that was written, else nothing."""
        for name, zone in zip(("before", "after"), self._zones, strict=True):
            if not np.array_equal(zone, _pattern(zone.size)):
                return name
        return ""


class SharedArray:
    """`count` elements of `dtype` from byte `start` of a guarded array, which others share."""

    def __init__(self, whole: GuardedArray, dtype: np.dtype[Any], start: int, count: int) -> None:
        end = start + count * dtype.itemsize
        self.values: npt.NDArray[Any] = whole.values[start:end].view(dtype)
        self.address = whole.address + start
        self.whole = whole
        self.mark_zones = whole.mark_zones
        self.broken_zone = whole.broken_zone


def _pattern(size: int) -> npt.NDArray[np.uint8]:
    words = np.arange(-(-size // 8), dtype=np.uint64) + np.uint64(_PATTERN)
    return words.view(np.uint8)[:size]
