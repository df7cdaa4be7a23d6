"""What a region is run on: arrays with fresh random values, some sharing memory, and scalars."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from annotune.analysis.facts import Analysis
from annotune.frozen import dataclass
from annotune.ir.c_types import may_share, may_share_unchanged
from annotune.ir.expr import Binary, Expr, Int, walk
from annotune.ir.recorded import RecordedArray, RecordedCall
from annotune.ir.region import Array, Region
from annotune.ir.typing import Interval
from annotune.measure.sizes import evaluate, index_ranges, known_values, touched_ends
from annotune.measure.values import (
    Element,
    Family,
    changed_names,
    compared_integers,
    compared_reals,
    components,
    divides,
    element_of,
    family_of,
    negative_names,
    plain_type,
    poisoned,
    signature,
    values_of,
)

WHOLE, ENDING = -1, -2
# By so many units in its last place an input is moved at most: as many roundings may do that.
MOST_UNITS = 32


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two arrays in one piece of memory: the last `shared` elements of `first` begin `second`.

    With none they touch, with `WHOLE` both begin at one place, with `ENDING` both end at one.
    """

    first: str
    second: str
    shared: int

    def __str__(self) -> str:
        if self.shared == WHOLE:
            return f"'{self.first}' and '{self.second}' at one place"
        if self.shared == ENDING:
            return f"'{self.first}' and '{self.second}' with one end"
        how = "overlapping by one element" if self.shared else "side by side"
        return f"'{self.first}' and '{self.second}' {how}"


def overlaps(
    analysis: Analysis, sizes: Mapping[str, int], has_inputs: bool = False
) -> tuple[Overlap, ...]:
    """Return how arrays of `analysis` may share memory, and how they just do not.

    Only of one type, for what is a number in one need not be any in the other; and none of those
    whose values must stay indices, at `sizes` as at others. With `has_inputs` also pairs of which
    none is written, which matter to what copies each into another memory in which both must be
    present; two of integers may have two types then.
    """
    try:
        indices = index_ranges(analysis, known_values(analysis.region, sizes))
    except ValueError:  # no inputs are known to be right, shared or not
        return ()
    return tuple(_pairs(analysis, frozenset(indices), has_inputs))


def _pairs(analysis: Analysis, indices: frozenset[str], has_inputs: bool) -> Iterator[Overlap]:
    region = analysis.region
    for one, two in permutations(region.arrays.values(), 2):
        if indices & {one.name, two.name}:
            continue
        is_written = analysis.uses[one.name].is_written or analysis.uses[two.name].is_written
        if not (may_share if is_written else may_share_unchanged)(one, two):
            continue
        is_of_one_type = one.element == two.element
        if not (is_of_one_type if is_written else has_inputs):
            continue
        if is_of_one_type:
            yield Overlap(one.name, two.name, 0)
            yield Overlap(one.name, two.name, 1)
        elif not _are_integers_both(one, two, region):
            continue
        if one.name < two.name:
            yield Overlap(one.name, two.name, WHOLE)
            if not is_written:
                yield Overlap(one.name, two.name, ENDING)


def _are_integers_both(one: Array, two: Array, region: Region) -> bool:
    """Return whether the bytes of small integers of the one type are such of the other too.

    Among them are zeros, by which nothing must be divided.
    """
    are_integers = all(family_of(array.element) is Family.INTEGER for array in (one, two))
    return are_integers and all(isinstance(divisor, Int) for divisor in _divisors(region))


def _divisors(region: Region) -> Iterator[Expr]:
    """Yield what a region divides by."""
    yield from (a.value for a in region.nest.assigns() if a.op in ("/=", "%="))
    for part in (part for value in values_of(region) for part in walk(value)):
        if isinstance(part, Binary) and part.op in ("/", "%"):
            yield part.right


PAGE_BYTES = 4096
_WIDE_BYTES = 4

SMALL_INTEGER = 8
"""Integers that are no indices are at most so large, that products of many fit into an int."""

LEAST_INTEGER = -3
"""The least of them lies nearer to 0, so that long sums grow past what a narrow type holds."""

LARGE_INTEGER = 33_000
"""Among few values, what an integer that the region adds to is above: past 16 bits, with room."""

START = 3
"""What an integer that the region itself changes starts from: 0 and 1 would hide a lost factor."""


# Values of which many are equal, in every interval that reals are drawn from.
_FEW = (-0.5, 0.25, 0.5, 0.75)


class Values(StrEnum):
    """What arrays and scalars hold: random numbers, or few that are equal to each other.

    Among the `EQUAL` ones are those that the region compares with. Reals `BELOW` and `ABOVE` have
    one sign, so that zeros are their extrema; one in three is NaN, an infinity or either zero, and
    sums of the others are exact. `ZEROS` are of either sign, and -0.0 where sums begin; `NEGATIVE`
    ones of such signs that sums are -0.0.
    """

    USUAL = "usual"
    EQUAL = "equal values"
    BELOW = "special values, none above zero"
    ABOVE = "special values, none below zero"
    ZEROS = "zeros"
    NEGATIVE = "zeros that add up to -0.0"


SPECIAL = {Values.BELOW: -1.0, Values.ABOVE: 1.0}
"""The sign of the reals of special values, which make NaN a right result too."""

ZERO_VALUES = (Values.ZEROS, Values.NEGATIVE)
"""Where every real is a zero."""

_SPECIAL = (np.nan, np.inf, 0.0, -0.0)
# Of what is compared one in three is seen; of complex numbers, which are summed, NaN hides others.
_SPECIAL_SHARE = {Family.REAL: 1 / 3, Family.COMPLEX: 1 / 16}

_STEPS = 64
"""Beside special values reals are multiples of 1 in so many: no rounding decides their signs."""


@dataclass(frozen=True, slots=True)
class Buffer:
    """One array's place in the file of inputs, and how C sees it.

    `first` is the number, in the array's own counting, of the buffer's first element: the
    pointer that C gets lies so many elements before the buffer. `offset` is in bytes. Arrays of
    one `block` lie in memory as they do in the file, and may overlap there.
    """

    name: str
    element: str
    count: int
    first: int
    offset: int
    is_written: bool
    block: int = 0

    @property
    def number(self) -> Element:
        return element_of(self.element)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.number.dtype

    @property
    def end(self) -> int:
        """Return the number of the element behind the last."""
        return self.first + self.count

    @property
    def size_bytes(self) -> int:
        return self.count * self.dtype.itemsize


@dataclass(frozen=True, slots=True)
class Inputs:
    """Everything `annotune_call` takes. The file at `path` is never written again.

    Of what a program has recorded any number may be NaN, in what comes of it too.

    A run works on copies; what it leaves is stored in a file with the same layout.
    """

    path: Path
    buffers: tuple[Buffer, ...]
    integers: tuple[int, ...]
    reals: tuple[float, ...]
    sizes: Mapping[str, int]
    seed: int
    values: Values = Values.USUAL
    is_recorded: bool = False

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


def make_inputs(
    analysis: Analysis,
    sizes: Mapping[str, int],
    seed: int,
    folder: Path,
    values: Values = Values.USUAL,
    overlap: Overlap | None = None,
) -> Inputs:
    """Return fresh inputs for one run of the region at `sizes`, stored under `folder`.

    Reals are uniform in [-1, 1], so that sums cancel as they do in use, both parts of complex
    numbers too; a region that divides or calls functions gets [0.25, 0.75], which keeps
    ``1 - x``, ``sqrt`` and ``log`` in their domains. Integers are small, or, where an array's
    elements stand in subscripts, such as keep all of them inside. Arrays that the region only
    writes are `poisoned`. With `Values.EQUAL` numbers are drawn from few, with
    those of `SPECIAL` some elements are none. `overlap` says which
    arrays share memory.

    Where a program has recorded calls at these sizes, usual values are those of such a call, of
    several in turn by the `seed`; what is not recorded of it is made as ever.

    Raises:
        ValueError: A size that a length needs has no value, or is such that C itself would
            leave a declared array, or no values of an index array are known to be right.
    """
    region = analysis.region
    calls = region.recorded_at(sizes) if values is Values.USUAL and overlap is None else ()
    call = calls[(seed - 1) % len(calls)] if calls else None
    known = known_values(region, sizes if call is None else {**sizes, **call.integers})
    buffers = buffers_of(analysis, known)
    if overlap is not None:
        buffers = _overlapping(buffers, overlap)
    random = np.random.default_rng(seed)
    draw = _Draw(region, _ranges(analysis, known, call), random, values)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "inputs.bin"
    with path.open("wb") as file:
        # What is poisoned first: of memory that is shared, an input may be read.
        for is_drawn in (False, True):
            # Where two are one the wider numbers count: bytes of small ones are such too.
            for buffer in sorted(buffers, key=lambda b: b.dtype.itemsize if overlap else 0):
                use = analysis.uses[buffer.name]
                if is_drawn == (use.is_written and (use.overwritten or not use.is_read)):
                    continue
                file.seek(buffer.offset)
                own = draw.elements(buffer) if is_drawn else poisoned(buffer.number, buffer.count)
                _take_recorded(own, buffer, call if is_drawn else None)
                own.tofile(file)
    scalars = _scalars(region, known, draw, call)
    return Inputs(path, buffers, *scalars, dict(known), seed, values, call is not None)


def _scalars(
    region: Region, known: Mapping[str, int], draw: _Draw, call: RecordedCall | None
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return the integers and the reals that a call of the region takes."""
    names = signature(region)
    integers = tuple(known.get(name, START) for name in names.integers)
    reals = tuple(map(draw.real, names.slots()))
    return integers, reals if call is None else _recorded_reals(names.slots(), reals, call)


def _ranges(
    analysis: Analysis, known: Mapping[str, int], call: RecordedCall | None
) -> Mapping[str, Interval]:
    """Return the values that index arrays may hold; a recorded call has its own."""
    try:
        return index_ranges(analysis, known)
    except ValueError:
        if call is None:
            raise
        return {}


def recorded_values(call: RecordedCall, array: RecordedArray) -> npt.NDArray[Any]:
    """Return the values of what is recorded of an array, a view of its file."""
    if not array.count:
        return np.empty(0, array.type)
    return np.memmap(call.path, array.type, "r", array.offset, (array.count,))


def _take_recorded(own: npt.NDArray[Any], buffer: Buffer, call: RecordedCall | None) -> None:
    """Put what is recorded of an array, if anything, in the place of what was made."""
    part = None if call is None else call.part(buffer.name)
    if call is None or part is None:
        return
    first, end = max(part.first, buffer.first), min(part.first + part.count, buffer.end)
    if first < end:
        found = recorded_values(call, part)[first - part.first : end - part.first]
        own[first - buffer.first : end - buffer.first] = found


def _recorded_reals(
    slots: tuple[str, ...], made: tuple[float, ...], call: RecordedCall
) -> tuple[float, ...]:
    """Return the reals of a recorded call, and those `made` of what it has not got."""
    found = {name: [v for n, v in call.reals if n == name] for name, _ in call.reals}
    return tuple(
        found[name].pop(0) if found.get(name) else value
        for name, value in zip(slots, made, strict=True)
    )


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
        for buffer in inputs.buffers:
            # Where it shares memory with what is only read.
            if buffer.is_written and buffer.number.family is not Family.INTEGER:
                file.seek(buffer.offset)
                np.zeros(buffer.count, buffer.dtype).tofile(file)
    written = region.nest.written_scalars()
    slots = signature(region).slots()
    reals = tuple(
        0.0 if name in written else value for name, value in zip(slots, inputs.reals, strict=True)
    )
    return Inputs(path, inputs.buffers, inputs.integers, reals, inputs.sizes, inputs.seed)


def shaken_inputs(inputs: Inputs, folder: Path, number: int = 0) -> Inputs:
    """Return the same inputs with every real that is not 0 moved by some units in its last place.

    They are up to `MOST_UNITS` up or down at random, others for another `number`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "inputs.bin"
    generator = np.random.default_rng((inputs.seed, number))
    with path.open("wb") as file:
        file.truncate(inputs.size_bytes)
        for buffer in inputs.buffers:
            values = inputs.read(buffer)
            file.seek(buffer.offset)
            if buffer.number.family is not Family.INTEGER:
                values = np.array(values)
                _move_last_bits(components(values), generator)
            values.tofile(file)
    reals = np.array(inputs.reals, np.float64)
    _move_last_bits(reals, generator)
    return replace(inputs, path=path, reals=tuple(reals.tolist()))


def _move_last_bits(values: npt.NDArray[Any], generator: np.random.Generator) -> None:
    """Move numbers in their place, none of them beyond what is finite."""
    units = generator.integers(-MOST_UNITS, MOST_UNITS + 1, values.shape).astype(values.dtype)
    with np.errstate(invalid="ignore", over="ignore"):
        moved = values + units * np.spacing(values)
    np.copyto(values, moved, where=(values != 0) & np.isfinite(moved))


def narrowed(inputs: Inputs, region: Region, parts: Mapping[str, tuple[int, int]]) -> Inputs:
    """Return the same inputs with a part alone of arrays whose ends C does not tell.

    `parts` are the first element of each in its buffer, and how many there are.
    """
    buffers = []
    for buffer in inputs.buffers:
        array = region.arrays[buffer.name]
        if has_open_end(array):
            first, count = parts[buffer.name]
            begin = buffer.first + first
            begin, end = _whole_rows(array, begin, begin + count, inputs.sizes)
            offset = buffer.offset + (begin - buffer.first) * buffer.dtype.itemsize
            buffer = replace(buffer, count=end - begin, first=begin, offset=offset)
        buffers.append(buffer)
    return replace(inputs, buffers=tuple(buffers))


class _Draw:
    """Fresh values for a region: which interval fits is known from what is done with them."""

    def __init__(
        self,
        region: Region,
        indices: Mapping[str, Interval],
        random: np.random.Generator,
        values: Values,
    ) -> None:
        self._random = random
        self._few: tuple[float, ...] = ()
        self._sign = SPECIAL.get(values, 0.0)
        self._indices = indices
        self._values = values
        is_chosen = values is Values.NEGATIVE
        self._negative = negative_names(region) if is_chosen else changed_names(region)
        self._divides = divides(region)
        self._compared = compared_integers(region)
        if values is Values.EQUAL:
            least, most = self._interval()
            few = {*_FEW, *compared_reals(region)}
            self._few = tuple(sorted(v for v in few if least <= v <= most))

    def real(self, name: str) -> float:
        """Return what a scalar holds, or a part of a complex one."""
        if self._values in ZERO_VALUES:
            return float(self._zeros(name, 1)[0])
        if self._few:
            return float(self._random.choice(self._few))
        return float(self._random.uniform(*self._interval()))

    def elements(self, buffer: Buffer) -> npt.NDArray[Any]:
        """Return the elements of one array."""
        number = buffer.number
        if number.family is Family.INTEGER:
            drawn = self._integers(buffer)
            if plain_type(buffer.element) in ("_Bool", "bool"):
                drawn &= 1
            return drawn.astype(number.dtype)
        parts = buffer.size_bytes // number.component.itemsize
        if self._values in ZERO_VALUES:
            return self._zeros(buffer.name, parts).astype(number.component).view(number.dtype)
        if self._few:
            return self._random.choice(self._few, parts).astype(number.component).view(number.dtype)
        least, most = self._interval()
        drawn_parts = least + (most - least) * self._random.random(parts, np.float64)
        if self._sign:
            share = _SPECIAL_SHARE[number.family]
            chosen = self._random.random(parts) < share
            special = self._sign * self._random.choice(_SPECIAL, parts)
            others = self._sign * np.ceil(np.abs(drawn_parts) * _STEPS) / _STEPS
            drawn_parts = np.where(chosen, special, others)
        return drawn_parts.astype(number.component).view(number.dtype)

    def _zeros(self, name: str, count: int) -> npt.NDArray[Any]:
        if self._values is Values.ZEROS and name not in self._negative:
            return np.copysign(0.0, self._random.random(count) - 0.5)
        return np.full(count, -0.0 if name in self._negative else 0.0)

    def _interval(self) -> tuple[float, float]:
        return (0.25, 0.75) if self._divides else (-1.0, 1.0)

    def _integers(self, buffer: Buffer) -> npt.NDArray[Any]:
        if buffer.name in self._indices:
            low, high = self._indices[buffer.name]
            return self._random.integers(low, high, buffer.count, np.int64, endpoint=True)
        low = 1 if self._divides else 0 if buffer.dtype.kind == "u" else LEAST_INTEGER
        drawn = self._random.integers(low, SMALL_INTEGER, buffer.count, np.int64, endpoint=True)
        if self._few:
            drawn = np.maximum(low, drawn % 3)
            if buffer.is_written and buffer.dtype.itemsize >= _WIDE_BYTES:
                drawn += LARGE_INTEGER
        limits = np.iinfo(buffer.dtype)
        least, most = max(low, int(limits.min)), min(int(limits.max), 2**62)
        near = [v for c in self._compared for v in (c - 1, c, c + 1) if least <= v <= most]
        if near:
            # Half of them are at what the region compares integers with, or next to it.
            chosen = self._random.choice(np.array(near, np.int64), buffer.count)
            drawn = np.where(self._random.random(buffer.count) < 0.5, chosen, drawn)
        return drawn


def buffers_of(analysis: Analysis, values: Mapping[str, int]) -> tuple[Buffer, ...]:
    """Return the memory of each array where scalars have `values`, each in a block of its own.

    Raises:
        ValueError: A size that a length needs has no value, or is such that C itself would
            leave a declared array.
    """
    offset = 0
    found = []
    for number, (name, array) in enumerate(analysis.region.arrays.items()):
        if family_of(array.element) is None:
            raise ValueError(f"array '{name}' is of '{array.element}', which is no number here")
        first, end = _section(analysis, array, values)
        is_written = analysis.uses[name].is_written
        found.append(Buffer(name, array.element, end - first, first, offset, is_written, number))
        offset += -(-found[-1].size_bytes // PAGE_BYTES) * PAGE_BYTES
    return tuple(found)


def _overlapping(buffers: tuple[Buffer, ...], overlap: Overlap) -> tuple[Buffer, ...]:
    """Return `buffers` with the second array of `overlap` in the first one's block.

    The block lies behind all the others.
    """
    found = {buffer.name: buffer for buffer in buffers}
    first, second = found[overlap.first], found[overlap.second]
    if overlap.shared == ENDING and first.size_bytes < second.size_bytes:
        first, second = second, first
    start = max(b.offset + -(-b.size_bytes // PAGE_BYTES) * PAGE_BYTES for b in buffers)
    if overlap.shared in (WHOLE, ENDING):
        apart = first.size_bytes - second.size_bytes if overlap.shared == ENDING else 0
    else:
        apart = (first.count - min(overlap.shared, first.count)) * first.dtype.itemsize
    # Of wider elements the first lies at a multiple of their size.
    start += -apart % second.dtype.itemsize
    found[first.name] = replace(first, offset=start)
    found[second.name] = replace(second, offset=start + apart, block=first.block)
    return tuple(found.values())


def has_open_end(array: Array) -> bool:
    """Return whether C does not say how many elements an array has."""
    is_plain = not array.extents or (array.is_pointer and len(array.extents) == 1)
    return is_plain or None in array.extents


def _whole_rows(array: Array, first: int, end: int, values: Mapping[str, int]) -> tuple[int, int]:
    """Return the elements from `first` up to `end` with the rest of their rows.

    What a pointer to rows points at is there as a whole.
    """
    inner = [evaluate(e, values) for e in array.extents[1:] if e is not None]
    row = math.prod(inner) if len(inner) == len(array.extents[1:]) else 1
    if row < 2 or first >= end:
        return first, end
    return first // row * row, -(-end // row) * row


def _section(analysis: Analysis, array: Array, values: Mapping[str, int]) -> tuple[int, int]:
    """Return the first element of `array` that may be touched and the one after the last.

    A declared array is there as a whole, and a variant may copy all of it; behind a pointer
    only what the region itself touches is known to exist.
    """
    first, end = touched_ends(analysis, array.name, values)
    end = max(first, end)
    if has_open_end(array):
        return _whole_rows(array, first, end, values)
    declared = math.prod(evaluate(e, values) for e in array.extents if e is not None)
    if array.is_pointer:
        # C holds nobody to the first length of a parameter.
        return _whole_rows(array, min(first, 0), max(end, declared), values)
    if first < 0 or end > declared:
        raise ValueError(
            f"the region touches '{array.name}' from {first} to {end - 1}, and C declares "
            f"{declared} elements"
        )
    return 0, declared
