"""The modes in which this thread's floating-point arithmetic works: rounding, underflow, width."""

from __future__ import annotations

import ctypes
import os

_ROOM_BYTES = 256

# Where <fenv.h>'s fenv_t of glibc keeps its control words: offset, bytes, and which bits are modes
# and not flags that any operation may raise.
_WORDS = {
    "x86_64": ((0, 2, 0x0F3F), (28, 4, 0xFFC0)),
    "aarch64": ((0, 4, 0xFFFFFFFF),),
}.get(os.uname().machine, ())

try:
    _libm: ctypes.CDLL | None = ctypes.CDLL("libm.so.6") if _WORDS else None
except OSError:  # another C library
    _libm = None


class FloatMode:
    """The modes of this thread as they are now."""

    def __init__(self) -> None:
        self._all = ctypes.create_string_buffer(_ROOM_BYTES)
        if _libm is not None:
            _libm.fegetenv(self._all)

    def is_now(self) -> bool:
        """Return whether the modes are still these; so they are where it cannot be told."""
        return self._words() == FloatMode()._words()

    def restore(self) -> None:
        """Make these the modes of this thread again."""
        if _libm is not None:
            _libm.fesetenv(self._all)

    def _words(self) -> list[int]:
        raw = self._all.raw
        return [int.from_bytes(raw[at : at + size], "little") & modes for at, size, modes in _WORDS]
