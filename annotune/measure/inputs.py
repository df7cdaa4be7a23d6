"""What a region is run on: arrays with fresh random values, and scalars, for given sizes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from annotune.analysis.facts import Analysis
from annotune.ir.expr import Binary, Call, Expr, walk
from annotune.ir.nest import Assign, Local, walk_stmts
from annotune.ir.region import Array, Region
from annotune.measure.evaluate import evaluate, known_values
from annotune.measure.harness import signature

ELEMENT_TYPES: Mapping[str, np.dtype[Any]] = {
    "double": np.dtype(np.float64),
    "float": np.dtype(np.float32),
}

POISON_BITS = {"double": 0x7FFA_0BAD_C0DE_0000, "float": 0x7FFA_0BAD}
"""A NaN with a payload of its own: what an output holds before the region has written it."""

PAGE_BYTES = 4096


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
    def dtype(self) -> np.dtype[Any]:
        return ELEMENT_TYPES[self.element]

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

    def read(self, buffer: Buffer, path: Path | None = None) -> npt.NDArray[Any]:
        """Return `buffer`'s values, as a view of this file or of a run's output at `path`."""
        if not buffer.count:
            return np.empty(0, buffer.dtype)
        return np.memmap(
            path or self.path, buffer.dtype, "r", offset=buffer.offset, shape=(buffer.count,)
        )


def make_inputs(analysis: Analysis, sizes: Mapping[str, int], seed: int, folder: Path) -> Inputs:
    """Return fresh inputs for one run of the region at `sizes`, stored under `folder`.

    Reals are uniform in [-1, 1], so that sums cancel as they do in use; a region that
    divides or calls functions gets [0.25, 0.75], which keeps ``1 - x``, ``sqrt`` and ``log`` in
    their domains. Arrays that the region only writes hold `POISON_BITS`.

    Raises:
        ValueError: A size that a length needs has no value, or is such that C itself would
            leave a declared array.
    """
    region = analysis.region
    values = known_values(region, sizes)
    buffers = tuple(_layout(analysis, values))
    random = np.random.default_rng(seed)
    low, high = _interval(region)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "inputs.bin"
    with path.open("wb") as file:
        for buffer in buffers:
            file.seek(buffer.offset)
            use = analysis.uses[buffer.name]
            if use.is_written and (use.overwritten or not use.is_read):
                contents = poison(buffer)
            else:
                drawn = random.random(buffer.count, np.float64)
                contents = (low + (high - low) * drawn).astype(buffer.dtype)
            contents.tofile(file)
    names = signature(region)
    integers = tuple(values.get(name, 0) for name in names.integers)
    reals = tuple(float(random.uniform(low, high)) for _ in names.reals)
    return Inputs(path, buffers, integers, reals, dict(values), seed)


def zero_inputs(inputs: Inputs, folder: Path) -> Inputs:
    """Return inputs of the same layout and sizes that are zero throughout."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "inputs.bin"
    with path.open("wb") as file:
        # A hole in the file reads as zeros and takes no room.
        file.truncate(max((b.offset + b.size_bytes for b in inputs.buffers), default=0))
    zeros = (0.0,) * len(inputs.reals)
    return Inputs(path, inputs.buffers, inputs.integers, zeros, inputs.sizes, inputs.seed)


def poison(buffer: Buffer) -> npt.NDArray[Any]:
    """Return `buffer.count` elements of the NaN that stands for "not written"."""
    bits = np.dtype(f"u{buffer.dtype.itemsize}")
    return np.full(buffer.count, POISON_BITS[buffer.element], bits).view(buffer.dtype)


def is_poison(contents: npt.NDArray[Any], buffer: Buffer) -> npt.NDArray[np.bool_]:
    """Return for each element whether it is still exactly what `poison` put there."""
    bits = np.dtype(f"u{buffer.dtype.itemsize}")
    return np.asarray(contents.view(bits) == POISON_BITS[buffer.element])


def _layout(analysis: Analysis, values: Mapping[str, int]) -> Iterator[Buffer]:
    offset = 0
    for name, array in analysis.region.arrays.items():
        if array.element not in ELEMENT_TYPES:
            raise ValueError(f"array '{name}' is of '{array.element}', expected double or float")
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


def _interval(region: Region) -> tuple[float, float]:
    for stmt in walk_stmts(region.nest.body):
        value = stmt.value if isinstance(stmt, Assign | Local) else None
        divides = isinstance(stmt, Assign) and stmt.op == "/="
        if divides or (value is not None and _has_domain(value)):
            return 0.25, 0.75
    return -1.0, 1.0


def _has_domain(value: Expr) -> bool:
    """Return whether `value` divides or calls a function that is not defined everywhere."""
    return any(
        (isinstance(e, Binary) and e.op == "/")
        or (isinstance(e, Call) and e.function not in ("min", "max", "fmin", "fmax", "fabs"))
        for e in walk(value)
    )
