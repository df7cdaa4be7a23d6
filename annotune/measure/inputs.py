"""What a region is run on: arrays with fresh random values, and scalars, for given sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from annotune.analysis.facts import Analysis
from annotune.ir.expr import COMPARISONS, Binary, Call, Expr, Int, Var, walk
from annotune.ir.functions import FUNCTIONS
from annotune.ir.nest import Assign, Local, walk_stmts
from annotune.ir.region import Array, Region
from annotune.measure.elements import Element, Family, element_of, family_of, poisoned
from annotune.measure.evaluate import evaluate, known_values
from annotune.measure.harness import signature
from annotune.measure.index_values import index_ranges
from annotune.measure.intervals import Interval

PAGE_BYTES = 4096

SMALL_INTEGER = 8
"""Integers that are no indices are at most so large, that products of many fit into an int."""

START = 3
"""What an integer that the region itself changes starts from: 0 and 1 would hide a lost factor."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """One array's place in the file of inputs, and how C sees it.

    `first` is the number, in the array's own counting, of the buffer's first element: the
    pointer that C gets lies so many elements before the buffer. `offset` is in bytes.
    """

    name: str
    element: str
    count: int
    first: int
    offset: int
    is_written: bool

    @property
    def number(self) -> Element:
        return element_of(self.element)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.number.dtype

    @property
    def size_bytes(self) -> int:
        return self.count * self.dtype.itemsize


@dataclass(frozen=True, slots=True)
class Inputs:
    """Everything `annotune_call` takes. The file at `path` is never written again.

    A run works on copies; what it leaves is stored in a file with the same layout.
    """

    path: Path
    buffers: tuple[Buffer, ...]
    integers: tuple[int, ...]
    reals: tuple[float, ...]
    sizes: Mapping[str, int]
    seed: int

    @property
    def size_bytes(self) -> int:
        """Return the length of this file, and of what a run leaves."""
        return max((b.offset + b.size_bytes for b in self.buffers), default=0)

    def read(self, buffer: Buffer, path: Path | None = None, start: int = 0) -> npt.NDArray[Any]:
        """Return `buffer`'s values: a view of this file, or of an output from `start` of `path`."""
        if not buffer.count:
            return np.empty(0, buffer.dtype)
        place = start + buffer.offset
        return np.memmap(path or self.path, buffer.dtype, "r", offset=place, shape=(buffer.count,))


def make_inputs(analysis: Analysis, sizes: Mapping[str, int], seed: int, folder: Path) -> Inputs:
    """Return fresh inputs for one run of the region at `sizes`, stored under `folder`.

    Reals are uniform in [-1, 1], so that sums cancel as they do in use, both parts of complex
    numbers too; a region that divides or calls functions gets [0.25, 0.75], which keeps
    ``1 - x``, ``sqrt`` and ``log`` in their domains. Integers are small, or, where an array's
    elements stand in subscripts, such as keep all of them inside. Arrays that the region only
    writes are `poisoned`.

    Raises:
        ValueError: A size that a length needs has no value, or is such that C itself would
            leave a declared array, or no values of an index array are known to be right.
    """
    region = analysis.region
    values = known_values(region, sizes)
    buffers = tuple(_layout(analysis, values))
    random = np.random.default_rng(seed)
    draw = _Draw(region, index_ranges(analysis, values), random)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "inputs.bin"
    with path.open("wb") as file:
        for buffer in buffers:
            file.seek(buffer.offset)
            use = analysis.uses[buffer.name]
            if use.is_written and (use.overwritten or not use.is_read):
                contents = poisoned(buffer.number, buffer.count)
            else:
                contents = draw.elements(buffer)
            contents.tofile(file)
    names = signature(region)
    integers = tuple(values.get(name, START) for name in names.integers)
    reals = tuple(draw.real() for _ in names.slots())
    return Inputs(path, buffers, integers, reals, dict(values), seed)


def zero_inputs(inputs: Inputs, region: Region, folder: Path) -> Inputs:
    """Return the same inputs with a zero for every real that `region` writes.

    Integers stay, since subscripts and conditions are made of them, and so does what is
    only read.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "inputs.bin"
    with path.open("wb") as file:
        # A hole in the file reads as zeros and takes no room.
        file.truncate(inputs.size_bytes)
        for buffer in inputs.buffers:
            if not buffer.is_written or buffer.number.family is Family.INTEGER:
                file.seek(buffer.offset)
                inputs.read(buffer).tofile(file)
    written = {a.target.name for a in region.nest.assigns() if isinstance(a.target, Var)}
    slots = signature(region).slots()
    reals = tuple(
        0.0 if name in written else value for name, value in zip(slots, inputs.reals, strict=True)
    )
    return Inputs(path, inputs.buffers, inputs.integers, reals, inputs.sizes, inputs.seed)


class _Draw:
    """Fresh values for a region: which interval fits is known from what is done with them."""

    def __init__(
        self, region: Region, indices: Mapping[str, Interval], random: np.random.Generator
    ) -> None:
        self._random = random
        self._indices = indices
        self._divides = _has_domain_anywhere(region)
        self._compared = _compared_integers(region)

    def real(self) -> float:
        return float(self._random.uniform(*self._interval()))

    def elements(self, buffer: Buffer) -> npt.NDArray[Any]:
        """Return the elements of one array."""
        number = buffer.number
        if number.family is Family.INTEGER:
            return self._integers(buffer).astype(number.dtype)
        parts = buffer.size_bytes // number.component.itemsize
        least, most = self._interval()
        drawn_parts = least + (most - least) * self._random.random(parts, np.float64)
        return drawn_parts.astype(number.component).view(number.dtype)

    def _interval(self) -> tuple[float, float]:
        return (0.25, 0.75) if self._divides else (-1.0, 1.0)

    def _integers(self, buffer: Buffer) -> npt.NDArray[Any]:
        if buffer.name in self._indices:
            low, high = self._indices[buffer.name]
            return self._random.integers(low, high, buffer.count, np.int64, endpoint=True)
        low = 1 if self._divides else 0 if buffer.dtype.kind == "u" else -SMALL_INTEGER
        drawn = self._random.integers(low, SMALL_INTEGER, buffer.count, np.int64, endpoint=True)
        limits = np.iinfo(buffer.dtype)
        least, most = max(low, int(limits.min)), min(int(limits.max), 2**62)
        near = [v for c in self._compared for v in (c - 1, c, c + 1) if least <= v <= most]
        if near:
            # Half of them are at what the region compares integers with, or next to it.
            chosen = self._random.choice(np.array(near, np.int64), buffer.count)
            drawn = np.where(self._random.random(buffer.count) < 0.5, chosen, drawn)
        return drawn


def _layout(analysis: Analysis, values: Mapping[str, int]) -> Iterator[Buffer]:
    offset = 0
    for name, array in analysis.region.arrays.items():
        if family_of(array.element) is None:
            raise ValueError(f"array '{name}' is of '{array.element}', which is no number here")
        first, end = _section(analysis, array, values)
        buffer = Buffer(
            name, array.element, end - first, first, offset, analysis.uses[name].is_written
        )
        yield buffer
        offset += -(-buffer.size_bytes // PAGE_BYTES) * PAGE_BYTES


def _section(analysis: Analysis, array: Array, values: Mapping[str, int]) -> tuple[int, int]:
    """Return the first element of `array` that may be touched and the one after the last.

    A declared array is there as a whole, and a variant may copy all of it; behind a pointer
    only what the region itself touches is known to exist.
    """
    shape = analysis.shapes[array.name]
    first = evaluate(shape.lowest, values)
    end = first + max(0, evaluate(shape.length, values))
    declared = 1
    for extent in array.extents:
        if extent is None:
            return first, end
        declared *= evaluate(extent, values)
    if not array.extents or (array.is_pointer and len(array.extents) == 1):
        return first, end
    if first < 0 or end > declared:
        raise ValueError(
            f"the region touches '{array.name}' from {first} to {end - 1}, and C declares "
            f"{declared} elements"
        )
    return 0, declared


def _has_domain_anywhere(region: Region) -> bool:
    for stmt in walk_stmts(region.nest.body):
        if isinstance(stmt, Assign):
            if stmt.op == "/=" or any(map(_has_domain, stmt.sources())):
                return True
        elif isinstance(stmt, Local) and stmt.value is not None and _has_domain(stmt.value):
            return True
    return False


def _has_domain(value: Expr) -> bool:
    """Return whether `value` divides or calls a function that is not defined everywhere."""
    return any(
        (isinstance(e, Binary) and e.op == "/")
        or (isinstance(e, Call) and e.function not in _EVERYWHERE)
        for e in walk(value)
    )


# Functions that give a number for every number, and casts.
_EVERYWHERE = {"min", "max"} | {f.name for f in FUNCTIONS.values() if f.is_exact}


def _compared_integers(region: Region) -> set[int]:
    """Return the integer constants that the region compares something with."""
    sources = (e for assign in region.nest.assigns() for s in assign.sources() for e in walk(s))
    pairs = ((e.left, e.right) for e in sources if isinstance(e, Binary) and e.op in COMPARISONS)
    return {side.value for pair in pairs for side in pair if isinstance(side, Int)}
