"""What programs have recorded of their regions: an index for each process, and the arrays.

``docs/capture.md`` describes the files. Whatever is missing in them, or is not as the index says,
is refused with the name of the file: a check on other values than those of the program would say
nothing of it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import field
from glob import escape
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import numpy as np

from annotune.diagnostics import NOWHERE, AnnotuneError, Span, Template
from annotune.frozen import dataclass
from annotune.ir.recorded import RecordedArray, RecordedCall

BAD_RECORD = Template(
    "AT691",
    "'{path}' is no whole record: {reason}",
    "record the program again: annotune capture {source} … -- PROGRAM",
)
NO_RECORD = Template(
    "AT692",
    "'{path}' has no records of '{source}'",
    "name the folder that `annotune capture` has named; if it is this one, build the program of "
    "'{path}/{source}' in place of '{source}', and run it until it has called a region: "
    "annotune capture {source} --build 'cc … {{file}} …' -- ./program",
)
STALE_RECORD = Template(
    "AT695",
    "the records in '{path}' are of another text of this region",
    "record the program again, built anew: annotune capture {source} --build … -- ./program",
)


Natural = Annotated[int, msgspec.Meta(ge=0)]


@dataclass(frozen=True, slots=True)
class AtSizes:
    """All calls at one set of sizes: how many, their seconds together, and those that were kept.

    Of those that were to be kept some did not fit into the bound, and some `failed`: their memory
    could not be read, or no file be written.
    """

    sizes: Mapping[str, int]
    calls: int
    time_s: float
    beyond_bound: int = 0
    failed: int = 0
    kept: tuple[RecordedCall, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordedRegion:
    """What all processes have recorded of a region; the sizes that took longest come first.

    `others` are the calls at further sizes than a process tells apart.
    """

    function: str
    index: int
    digest: str
    calls: int
    time_s: float
    at: tuple[AtSizes, ...] = ()
    others: int = 0


@dataclass(frozen=True, slots=True)
class Records:
    """What a folder has of a file's regions.

    `program_s` are the seconds of all processes, without what recording took; `unended` of them
    did not come to their ends. `size_bytes` are those of the arrays.
    """

    folder: Path
    regions: tuple[RecordedRegion, ...] = ()
    processes: int = 0
    program_s: float = 0.0
    unended: int = 0
    size_bytes: int = 0


class _IndexArray(msgspec.Struct):
    """An array of a region: its name, and the type of its elements as NumPy names it."""

    name: str
    type: Annotated[str, msgspec.Meta(pattern=r"^[<|][iufc](1|2|4|8|16)$")]


class _IndexCall(msgspec.Struct):
    """A call in an index. `arrays` has of each the first element, the count, and the first byte."""

    call: int
    integers: list[int]
    reals: list[Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{16}$")]]
    file: str
    bytes: Natural
    check: tuple[int, int]
    arrays: list[tuple[int, Natural, Natural]]


class _IndexOthers(msgspec.Struct):
    """Calls that are counted alone."""

    calls: Natural
    ns: Natural


class _IndexSizes(msgspec.Struct):
    """The calls at one set of sizes in an index."""

    sizes: list[int]
    calls: Natural
    ns: Natural
    beyond_bound: Natural
    failed: Natural
    kept: list[_IndexCall]


class _IndexRegion(msgspec.Struct):
    """A region in an index."""

    function: str
    index: int
    digest: str
    sizes: list[str]
    integers: list[str]
    reals: list[str]
    arrays: list[_IndexArray]
    calls: Natural
    ns: Natural
    others: _IndexOthers
    at: list[_IndexSizes]


class _IndexFile(msgspec.Struct):
    """What a process has written of its calls; docs/capture.md has the fields."""

    capture: Literal[1]
    source: str
    byte_order: Literal["little"]
    ended: bool
    program_ns: Natural
    recording_ns: Natural
    regions: list[_IndexRegion]


@dataclass
class _RegionSum:
    """What is known of a region so far, of several processes."""

    calls: int = 0
    time_s: float = 0.0
    others: int = 0
    at: dict[tuple[tuple[str, int], ...], AtSizes] = field(default_factory=dict)


def read_records(folder: Path, source: str) -> Records:
    """Return the records of the file named `source` in a folder; none are there in an empty one.

    Raises:
        AnnotuneError: A file cannot be read, or is not what the recorder wrote.
    """
    sums: dict[tuple[str, int, str], _RegionSum] = {}
    processes, unended, program_ns = 0, 0, 0
    for path in sorted(folder.glob(f"{escape(Path(source).stem)}-*.json")):
        with _whole(path, source):
            index = msgspec.json.decode(path.read_bytes(), type=_IndexFile)
            if index.source != source:
                continue
            for region in index.regions:
                key = region.function, region.index, region.digest
                _add(sums.setdefault(key, _RegionSum()), region, folder, source)
        processes += 1
        unended += not index.ended
        program_ns += max(0, index.program_ns - index.recording_ns)
    regions = tuple(
        RecordedRegion(*key, one.calls, one.time_s, _longest_first(one), one.others)
        for key, one in sums.items()
    )
    kept = (call for region in regions for at in region.at for call in at.kept)
    size_bytes = sum(call.path.stat().st_size for call in kept)
    return Records(folder, regions, processes, program_ns / 1e9, unended, size_bytes)


class _whole:  # used like a function, as a context manager
    """Turns whatever is wrong with a file into the diagnostic that names it."""

    def __init__(self, path: Path, source: str) -> None:
        self._path, self._source = path, source

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            reason = error.strerror or str(error)
        elif isinstance(error, ValueError):  # msgspec's too
            reason = str(error)
        else:
            return
        values = {"path": self._path, "reason": reason, "source": self._source}
        raise AnnotuneError.of(BAD_RECORD.at(NOWHERE, **values)) from error


def _add(total: _RegionSum, region: _IndexRegion, folder: Path, source: str) -> None:
    total.calls += region.calls
    total.time_s += region.ns / 1e9
    total.others += region.others.calls
    for at in region.at:
        sizes = dict(zip(region.sizes, at.sizes, strict=True))
        kept = tuple(_kept_calls(region, at, folder, source))
        key = tuple(sizes.items())
        before = total.at.get(key, AtSizes(sizes, 0, 0.0))
        total.at[key] = AtSizes(
            sizes,
            before.calls + at.calls,
            before.time_s + at.ns / 1e9,
            before.beyond_bound + at.beyond_bound,
            before.failed + at.failed,
            before.kept + kept,
        )


def _kept_calls(
    region: _IndexRegion, at: _IndexSizes, folder: Path, source: str
) -> Iterator[RecordedCall]:
    for one in at.kept:
        path = folder / Path(one.file).name
        arrays = tuple(
            RecordedArray(array.name, array.type, *place)
            for array, place in zip(region.arrays, one.arrays, strict=True)
        )
        reals = (struct.unpack(">d", bytes.fromhex(bits))[0] for bits in one.reals)
        with _whole(path, source):
            _check_bytes(path, one, arrays)
        yield RecordedCall(
            path,
            one.call,
            dict(zip(region.sizes, at.sizes, strict=True)),
            dict(zip(region.integers, one.integers, strict=True)),
            tuple(zip(region.reals, reals, strict=True)),
            arrays,
            f"{one.check[0]:x}-{one.check[1]:x}",
        )


_WORDS = 1 << 17


def _check_bytes(path: Path, one: _IndexCall, arrays: tuple[RecordedArray, ...]) -> None:
    """Raise ValueError where a file is not so long, or has other bytes than were written."""
    found, size = path.stat().st_size, one.bytes
    if found != size:
        raise ValueError(f"it has {found} bytes, and {size} were written")
    for array in arrays:
        end = array.offset + array.count * np.dtype(array.type).itemsize
        if end > size:
            raise ValueError(f"array '{array.name}' lies outside of it")
    sums = np.zeros(2, np.uint64)
    with path.open("rb") as file, np.errstate(over="ignore"):
        while part := file.read(8 * _WORDS):
            words = np.frombuffer(part, "<u8")
            left = np.arange(words.size, 0, -1, dtype=np.uint64)
            sums[1] += np.uint64(words.size) * sums[0] + (words * left).sum(dtype=np.uint64)
            sums[0] += words.sum(dtype=np.uint64)
    if tuple(sums.astype(np.int64).tolist()) != one.check:
        raise ValueError("its bytes are not those that were written")


def _longest_first(total: _RegionSum) -> tuple[AtSizes, ...]:
    return tuple(sorted(total.at.values(), key=lambda at: -at.time_s))


def records_of(
    records: Records, regions: Mapping[tuple[str, int], tuple[str, Span]], source: str
) -> dict[tuple[str, int], RecordedRegion]:
    """Return the records of regions, which are given by function and index: digest and place.

    One that no call has reached has none.

    Raises:
        AnnotuneError: There are no records at all, or some are of another text of a region.
    """
    if not records.processes:
        raise AnnotuneError.of(NO_RECORD.at(NOWHERE, path=records.folder, source=source))
    found: dict[tuple[str, int], RecordedRegion] = {}
    stale = []
    for one in records.regions:
        digest, span = regions.get((one.function, one.index), (one.digest, NOWHERE))
        if digest != one.digest:
            stale.append(STALE_RECORD.at(span, path=records.folder, source=source))
        elif one.calls:
            found[one.function, one.index] = one
    if stale:
        raise AnnotuneError(tuple(dict.fromkeys(stale)))
    return found
