"""Run in a process of its own: calls functions with arrays at the borders of pages.

    python borders_child.py < {"libraries": {"original": PATH, …}, "jobs": […]}

A line of JSON for each job: what went wrong. Every call is made in a fork of this process, which
alone takes the rights to the pages around an array away.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from wrong.call_child import C_TYPES, ZONE, filled

PAGE = mmap.PAGESIZE
# Bytes before and behind an array that no call may touch: an index that is wrong goes far.
GUARD = 1 << 22
SLACK = 0xA5
_PROT_NONE = 0
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Placing:
    """Elements `first` to before `end` are there, at the start of a page or up to its end."""

    first: int
    end: int
    side: str = "start"


class Held:
    """The memory of one array argument, shared with the forks."""

    def __init__(self, argument: dict[str, Any]) -> None:
        elements = filled(argument)
        self.elements = elements[ZONE : len(elements) - ZONE]
        self.offset, self.size = argument["offset"], elements.itemsize
        self.count = len(self.elements)
        self.room = _pages(self.count * self.size) + PAGE
        self.map = mmap.mmap(-1, self.room + 2 * GUARD)
        self.bytes = np.frombuffer(self.map, np.uint8)
        self.start = self.bytes.ctypes.data
        self.placing = Placing(0, self.count)

    def place(self, placing: Placing) -> None:
        """Put the elements there, and slack into the rest of their pages."""
        self.placing = placing
        begin, end = self._pages()
        self.bytes[begin:end] = SLACK
        at = self._at(placing.first)
        inside = self.elements[placing.first : placing.end].view(np.uint8)
        self.bytes[at : at + len(inside)] = inside

    def pointer(self) -> int | None:
        if self.placing.side == "null":
            return None
        return self.start + self._at(self.offset)

    def protect(self) -> None:
        """Take away the rights to all pages but those of the elements."""
        begin, end = self._pages()
        for low, high in ((0, begin), (end, len(self.bytes))):
            if high > low and _LIBC.mprotect(
                ctypes.c_void_p(self.start + low), ctypes.c_size_t(high - low), _PROT_NONE
            ):
                raise OSError(ctypes.get_errno(), "mprotect")

    def left(self, first: int, end: int) -> tuple[bytes, bool]:
        """Return what elements hold, and whether what is beside the placed ones is as it was."""
        begin, stop = self._pages()
        low, high = self._at(self.placing.first), self._at(self.placing.end)
        beside = (self.bytes[begin:low] == SLACK).all() and (self.bytes[high:stop] == SLACK).all()
        return self.bytes[self._at(first) : self._at(end)].tobytes(), bool(beside)

    def _at(self, element: int) -> int:
        """Return the place of an element in the map."""
        if self.placing.side == "end":
            return GUARD + self.room - PAGE + (element - self.placing.end) * self.size
        return GUARD + (element - self.placing.first) * self.size

    def _pages(self) -> tuple[int, int]:
        length = _pages((self.placing.end - self.placing.first) * self.size)
        if self.placing.side == "end":
            return GUARD + self.room - PAGE - length, GUARD + self.room - PAGE
        return GUARD, GUARD + length


def _pages(count: int) -> int:
    return -(-count // PAGE) * PAGE


class Job:
    """One call, and the arrays that it is given."""

    def __init__(self, job: dict[str, Any], value: mmap.mmap) -> None:
        self.job, self.value = job, value
        self.arrays: list[Held] = []
        self.arguments: list[Held | Any] = []
        for argument in job["arguments"]:
            if isinstance(argument, list):
                self.arguments.append(C_TYPES[argument[0]](argument[1]))
            elif argument["count"] is None:
                self.arguments.append(ctypes.c_void_p(None))
            else:
                self.arrays.append(Held(argument))
                self.arguments.append(self.arrays[-1])

    def call(self, library: ctypes.CDLL, placings: list[Placing]) -> int:
        """Call the function in a fork; return how that ended."""
        for array, placing in zip(self.arrays, placings, strict=True):
            array.place(placing)
        child = os.fork()
        if child == 0:
            self._call(library)
        _, status = os.waitpid(child, 0)
        return status

    def _call(self, library: ctypes.CDLL) -> None:
        returns = self.job["returns"]
        function = getattr(library, self.job["function"])
        function.restype = C_TYPES[returns] if returns else None
        for array in self.arrays:
            array.protect()
        value = function(
            *(ctypes.c_void_p(a.pointer()) if isinstance(a, Held) else a for a in self.arguments)
        )
        if returns:
            self.value[:16] = np.array(value, returns).tobytes().ljust(16, b"\0")
        os._exit(0)

    def hull(self, library: ctypes.CDLL, which: int) -> Placing:
        """Return the elements that the function touches of one array."""
        roomy = [Placing(0, array.count) for array in self.arrays]

        def works(first: int, end: int, side: str) -> bool:
            placings = [*roomy[:which], Placing(first, end, side), *roomy[which + 1 :]]
            return self.call(library, placings) == 0

        if works(0, 0, "start"):
            return Placing(0, 0)
        end = _least(lambda end: works(0, end, "end"), 1, self.arrays[which].count)
        before = _least(lambda down: works(end - down, end, "start"), 1, end)
        return Placing(end - before, end)

    def faults(self, libraries: dict[str, ctypes.CDLL]) -> list[str]:
        """Return what went wrong in any library."""
        original = libraries["original"]
        status = self.call(original, [Placing(0, array.count) for array in self.arrays])
        if status != 0:
            return [f"the original ends with {_ending(status)}, however much room there is"]
        hulls = [self.hull(original, which) for which in range(len(self.arrays))]
        wanted: list[tuple[bytes, bool]] | None = None
        found: list[str] = []
        for name, library in libraries.items():
            for side in ("start", "end", "null"):
                placings = [_on(side, hull) for hull in hulls]
                if side == "null" and all(hull.end > hull.first for hull in hulls):
                    continue
                status = self.call(library, placings)
                parts = [a.left(h.first, h.end) for a, h in zip(self.arrays, hulls, strict=True)]
                got = [*parts, (bytes(self.value[:16]), True)]
                if status != 0:
                    found.append(f"{name} at a page's {side}: {_ending(status)} [{_text(hulls)}]")
                    continue
                wanted = got if wanted is None else wanted
                for number, (mine, its) in enumerate(zip(got, wanted, strict=True)):
                    what = "value" if number == len(hulls) else f"array {number}"
                    if mine[0] != its[0]:
                        found.append(f"{name} at a page's {side}: another {what}")
                    elif not mine[1]:
                        found.append(f"{name} at a page's {side}: writes beside {what}")
        return found


def _on(side: str, hull: Placing) -> Placing:
    is_there = hull.end > hull.first
    return Placing(hull.first, hull.end, "end" if is_there and side == "null" else side)


def _text(hulls: list[Placing]) -> str:
    return ", ".join(f"{hull.first}:{hull.end}" for hull in hulls)


def _ending(status: int) -> str:
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return f"exit status {os.WEXITSTATUS(status)}"


def _least(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the least number for which something holds, as it does at `high` and above."""
    while low < high:
        middle = (low + high) // 2
        if holds(middle):
            high = middle
        else:
            low = middle + 1
    return low


def main() -> None:
    given = json.load(sys.stdin)
    libraries = {name: ctypes.CDLL(path) for name, path in given["libraries"].items()}
    value = mmap.mmap(-1, PAGE)
    for job in given["jobs"]:
        print(json.dumps(Job(job, value).faults(libraries)), flush=True)


if __name__ == "__main__":
    main()
