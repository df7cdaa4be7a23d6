"""What a measuring child tells of its jobs, in memory that it shares with its forker alone.

No descriptor leads there: whatever a variant writes to, reads from or closes is something else.
Its stray writes through a pointer may hit it, and are seen: each record has its length and a
checksum, which starts from a number drawn for this child, and is taken whole or not at all.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import time
import zlib
from typing import Any

ROOM_BYTES = 8 << 20
"""Reserved and not held: pages come with what is written. A job tells a few kilobytes."""

_HEAD = struct.Struct("=II")


class Journal:
    """For each job a number, when it began in seconds of `time.monotonic`, and then its result."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, ROOM_BYTES)
        self._seed = int.from_bytes(os.urandom(4), "little")
        self._end = 0

    def begin(self) -> None:
        """Tell that the next job begins, so that it is known which one a crash belongs to."""
        self._tell(time.monotonic())

    def end(self, result: dict[str, Any]) -> None:
        """Tell what came of the job that began last."""
        self._tell(result)

    def read(self) -> tuple[list[float], list[dict[str, Any]], bool]:
        """Return when jobs began, their results, and whether all that was told is legible."""
        begun: list[float] = []
        results: list[dict[str, Any]] = []
        at = 0
        while at + _HEAD.size <= ROOM_BYTES:
            length, checksum = _HEAD.unpack_from(self._memory, at)
            if not length and not checksum:
                return begun, results, True
            at += _HEAD.size
            text = self._memory[at : at + length]
            if len(text) != length or zlib.crc32(text, self._seed) != checksum:
                return begun, results, False
            told = json.loads(text)
            if isinstance(told, float):
                begun.append(told)
            else:
                results.append(told)
            at += length
        return begun, results, False

    def close(self) -> None:
        self._memory.close()

    def _tell(self, told: float | dict[str, Any]) -> None:
        text = json.dumps(told).encode()
        at = self._end + _HEAD.size
        if at + len(text) + _HEAD.size > ROOM_BYTES:
            raise ValueError(f"a child has more to tell than {ROOM_BYTES} bytes")
        self._memory[at : at + len(text)] = text
        # Last, so that nobody finds half a record.
        _HEAD.pack_into(self._memory, self._end, len(text), zlib.crc32(text, self._seed))
        self._end = at + len(text)
