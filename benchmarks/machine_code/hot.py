"""The part of a kernel's machine code in which it spends its time, found by its shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from machine_code.mix import Mix, mix_of
from machine_code.sass import Function, Instruction

# How often a loop is taken to run for one run of the code around it: loops that compilers
# leave run a few times at least (assumption; it ranks parts, and no figure is made from it).
TRIPS = 8


@dataclass(frozen=True)
class Part:
    """Instructions that run equally often: a loop without its inner loops, or straight code.

    `first` and `last` are addresses; `depth` counts the loops around the instructions, the
    part's own included, 0 for straight code.
    """

    first: int
    last: int
    depth: int
    mix: Mix

    @property
    def title(self) -> str:
        kind = f"loop at depth {self.depth}" if self.depth else "straight code"
        return f"{kind}, {self.first:#06x}-{self.last:#06x}"


def hottest(function: Function) -> Part | None:
    """Return the part with the most fused operations, weighted by how deep it lies.

    Straight code between two barriers competes with the loops: where the compiler has unrolled
    everything it wins. None where the kernel has no fused operation and no other arithmetic of
    reals.
    """
    found = list(parts(function))
    for weight in (_fused, _reals):
        best = max(found, key=partial(_weighted, weight), default=None)
        if best is not None and weight(best):
            return best
    return None


def _weighted(weight: Callable[[Part], int], part: Part) -> int:
    runs: int = TRIPS**part.depth
    return weight(part) * runs


def _fused(part: Part) -> int:
    return part.mix.fused_total


def _reals(part: Part) -> int:
    return part.mix.reals


def parts(function: Function) -> Iterator[Part]:
    """Yield every loop, without its inner loops, and the straight code between barriers."""
    spans = _loops(function.instructions)
    depth_of = {s: sum(_contains(outer, s) for outer in spans) for s in spans}
    own: dict[tuple[int, int], list[Instruction]] = {span: [] for span in spans}
    straight: list[list[Instruction]] = [[]]
    for one in function.instructions:
        around = [span for span in spans if span[0] <= one.address <= span[1]]
        if around:
            own[max(around, key=lambda span: depth_of[span])].append(one)
        elif one.name == "BAR":
            straight.append([])
        else:
            straight[-1].append(one)
    for (first, last), instructions in own.items():
        yield Part(first, last, depth_of[first, last], mix_of(instructions))
    for piece in straight:
        if piece:
            yield Part(piece[0].address, piece[-1].address, 0, mix_of(piece))


def _loops(instructions: Sequence[Instruction]) -> list[tuple[int, int]]:
    """Return the first and last address of each loop: a branch back and where it leads.

    Branches back to one place are one loop. A branch to itself is the trap that the compiler
    puts after the last EXIT.
    """
    last: dict[int, int] = {}
    for one in instructions:
        if one.target is not None and one.target < one.address:
            last[one.target] = max(one.address, last.get(one.target, 0))
    return sorted(last.items())


def _contains(outer: tuple[int, int], inner: tuple[int, int]) -> bool:
    """Return whether a loop holds another one, or is it."""
    return outer[0] <= inner[0] and inner[1] <= outer[1]
