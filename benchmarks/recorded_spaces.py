"""Spaces whose every point was measured: how they are recorded, kept in a file, and read again.

A record is one JSON object, compressed: where, when and how it was made, the settings of each
point, and its seconds per call, null where the point did not compile or computed something else.
"""

from __future__ import annotations

import ctypes
import gzip
import json
import os
import platform
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from fcntl import LOCK_EX, LOCK_UN, flock
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotune.analysis.facts import Analysis
from annotune.annotation.devices import load_device
from annotune.codegen.target import Provenance, load_target
from annotune.ir.region import SourceFile
from annotune.measure.machine import cpu_model, usable_cores
from annotune.measure.sizes import evaluate, known_values
from annotune.pipeline import Settings, check
from annotune.space.variants import Listing

ROOT = Path(__file__).parent.parent
RECORDS = Path(__file__).parent / "recorded"
# Points compiled as one library: fewer starts of the compiler, and files of a few pages.
BATCH = 16
# Seconds for which others are kept off the machine at once.
LONGEST_HOLD_S = 60.0
MOST_POINTS = 200_000
# Of a weighted sum, for each of its terms: far above what rounding does, far below one wrong one.
TOLERANCE = 1e-13
COMPILER = ("gcc", "-O2", "-march=native", "-fopenmp", "-fPIC")
# How a table says that a point has no flags beside these.
NO_FLAGS = "-"

Config = Mapping[str, str | int]
Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Kernel:
    """A function of `c_examples` whose space is recorded; its arguments in the order of C."""

    name: str
    source: str
    function: str
    arguments: tuple[str, ...]
    values: Mapping[str, int]


_SIZES = ("h3u", "h2u", "h1u", "p6u", "p5u", "p4u", "h7u")
KERNELS = (
    Kernel(
        "sd_t_d1_1",
        "c_examples/nwchem/sd_t_d1.c",
        "sd_t_d1_1",
        (*_SIZES, "t3", "t2", "v2"),
        dict.fromkeys(_SIZES, 16),
    ),
    Kernel(
        "local_grad3",
        "c_examples/nekbone/local_grad3.c",
        "local_grad3",
        ("Ut", "Us", "Ur", "D", "U", "Dt"),
        {},
    ),
)


@dataclass(frozen=True)
class Record:
    """A measured space: `about` says where and how, times are None for what failed."""

    name: str
    about: Mapping[str, Any]
    configs: tuple[Config, ...]
    times: tuple[float | None, ...]


def read_record(path: Path) -> Record:
    """Return the record in a file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        found = json.load(file)
    names, rows = found["axes"], found["points"]
    configs = tuple(dict(zip(names, row, strict=True)) for row in rows)
    return Record(found["name"], found["about"], configs, tuple(found["times_s"]))


def write_record(path: Path, record: Record) -> None:
    """Write a record, the same bytes for the same record."""
    names = list(dict.fromkeys(name for config in record.configs for name in config))
    text = json.dumps(
        {
            "name": record.name,
            "about": record.about,
            "axes": names,
            "points": [[config[name] for name in names] for config in record.configs],
            "times_s": [None if t is None else float(f"{t:.5g}") for t in record.times],
        }
    )
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


class Space:
    """The space of a kernel on this machine, its texts and its original."""

    def __init__(self, kernel: Kernel, folder: Path) -> None:
        self.kernel = kernel
        path = folder / f"{kernel.name}.c"
        path.write_text(_alone((ROOT / kernel.source).read_text(), kernel.function))
        report = check(Settings(path, ("openmp",), function=kernel.function))
        (region,) = report.regions
        assert region.base is not None
        assert region.space is not None
        assert region.analysis is not None
        assert report.source is not None
        self.analysis: Analysis = region.analysis
        self.source: SourceFile = report.source
        self.target = load_target("openmp")
        device = load_device("h200")
        self.listing: Listing = self.target.points(region.base, region.space, device).listing(
            MOST_POINTS
        )

    def text(self, number: int) -> str:
        """Return the file with one point in it; its names have no ending yet."""
        code = self.target.region(self.listing.variant(number), resident=False)
        (text,) = self.target.files(self.source, [code], Provenance("", "")).values()
        return text

    def numbered(self, text: str, number: int) -> str:
        """Return a file whose own names end in a point's number."""
        function = self.kernel.function
        return re.sub(rf"\b{function}(?=\w*\b)", f"{function}_v{number}", text)


def _alone(text: str, function: str) -> str:
    """Return a C file up to its first function, and of its functions the named one."""
    start = text.index(f"void {function}(")
    return text[: text.index("void ")] + text[start : text.index("\n}\n", start) + 3]


@dataclass(frozen=True, slots=True)
class _Job:
    """Points to compile: by flags those that have them; the k-th of each have one text."""

    kernel: Kernel
    folder: Path
    numbers: Mapping[str, tuple[int, ...]]


def _build(job: _Job) -> dict[int, str]:
    """Return the library of each point of a job."""
    space = _spaces.get(job.kernel.name) or Space(job.kernel, job.folder)
    _spaces[job.kernel.name] = space
    texts: list[str] = []
    found: dict[int, str] = {}
    for flags, numbers in job.numbers.items():
        library = job.folder / f"{job.kernel.name}_{numbers[0]}.so"
        if not library.exists():
            texts = texts or [space.text(number) for number in numbers]
            pairs = zip(texts, numbers, strict=True)
            source = library.with_suffix(".c")
            source.write_text("\n".join(space.numbered(text, number) for text, number in pairs))
            given = () if flags == NO_FLAGS else flags.split()
            words = [*COMPILER, *given, "-w", "-shared", str(source), "-lm", "-o", str(library)]
            subprocess.run(words, check=True)
            source.unlink()
        found |= dict.fromkeys(numbers, str(library))
    return found


_spaces: dict[str, Space] = {}


def record(
    kernel: Kernel, folder: Path, kept: Callable[[Config], bool], rounds: int, jobs: int, lock: Path
) -> Record:
    """Return the record of the points of a kernel's space that `kept` takes.

    Every round calls each point twice, in an order of its own, and times the second call; a
    point's time is the least of all rounds.
    """
    folder.mkdir(parents=True, exist_ok=True)
    # Afterwards this thread is pinned to one.
    cores = usable_cores()
    space = Space(kernel, folder)
    every = [n for n, config in enumerate(space.listing.configs) if kept(config)]
    libraries = _compiled(space, every, folder, jobs)
    original = folder / f"{kernel.name}_original.so"
    words = [*COMPILER, "-w", "-shared", str(folder / f"{kernel.name}.c"), "-lm"]
    subprocess.run([*words, "-o", str(original)], check=True)
    bench = _Bench(space, original, libraries)
    right = [number for number in libraries if bench.is_right(number)]
    load = [os.getloadavg()[0]]
    times = dict.fromkeys(right, float("inf"))
    started = time.strftime("%Y-%m-%d")
    for turn in range(rounds):
        order = random.Random(turn).sample(right, len(right))
        for part in bench.timed(order, lock):
            for number, time_s in part.items():
                times[number] = min(times[number], time_s)
        load.append(os.getloadavg()[0])
        print(f"{kernel.name}: round {turn + 1} of {rounds}", file=sys.stderr)
    about = {
        "source": kernel.source,
        "target": "openmp",
        "sizes": dict(space.analysis.region.sizes),
        "machine": cpu_model(),
        "cores": cores,
        "compiler": _version(),
        "system": platform.platform(),
        "date": started,
        "rounds": rounds,
        "time": "the least of all rounds, seconds per call, threads pinned to cores",
        "load": f"{min(load):.1f} to {max(load):.1f} in front of each round",
        "legal": len(space.listing),
        "points": len(every),
    }
    configs = tuple(space.listing.configs[n] for n in every)
    return Record(kernel.name, about, configs, tuple(times.get(n) for n in every))


def _compiled(space: Space, numbers: Sequence[int], folder: Path, jobs: int) -> dict[int, str]:
    texts: dict[tuple[object, ...], dict[str, int]] = {}
    for number in numbers:
        settings = dict(space.listing.configs[number])
        flags = str(settings.pop("flags"))
        texts.setdefault(tuple(settings.items()), {})[flags] = number
    # The same flags for all texts of a batch.
    by_flags: dict[tuple[str, ...], list[dict[str, int]]] = {}
    for made in texts.values():
        by_flags.setdefault(tuple(sorted(made)), []).append(made)
    batches = [
        _Job(
            space.kernel,
            folder,
            {f: tuple(one[f] for one in group[k : k + BATCH]) for f in flags},
        )
        for flags, group in by_flags.items()
        for k in range(0, len(group), BATCH)
    ]
    found: dict[int, str] = {}
    with ProcessPoolExecutor(jobs) as pool:
        for count, libraries in enumerate(pool.map(_build, batches), 1):
            found |= libraries
            if not count % 10:
                print(f"{space.kernel.name}: {count} of {len(batches)} built", file=sys.stderr)
    return found


class _Bench:
    """Calls the points of one space on arrays of its own."""

    def __init__(self, space: Space, original: Path, libraries: Mapping[int, str]) -> None:
        self.kernel, analysis = space.kernel, space.analysis
        self._libraries = {path: ctypes.CDLL(path) for path in set(libraries.values())}
        self._of = libraries
        region = analysis.region
        values = known_values(region, region.sizes)
        generator = np.random.default_rng(0)
        self._arrays: dict[str, Array] = {
            name: generator.uniform(-1, 1, evaluate(shape.length, values))
            for name, shape in analysis.shapes.items()
        }
        self._written = [name for name, use in analysis.uses.items() if use.is_written]
        longest = max(self._arrays[name].size for name in self._written)
        self._weights = generator.uniform(-1, 1, longest)
        self._right = self._outputs(self._bound(ctypes.CDLL(str(original)), self.kernel.function))

    def call(self, number: int) -> Callable[[], None]:
        """Return the call of one point."""
        return self._bound(self._libraries[self._of[number]], f"{self.kernel.function}_v{number}")

    def _bound(self, library: ctypes.CDLL, name: str) -> Callable[[], None]:
        function = getattr(library, name)
        function.restype = None
        given = [
            ctypes.c_int(self.kernel.values[argument])
            if argument in self.kernel.values
            else ctypes.c_void_p(self._arrays[argument].ctypes.data)
            for argument in self.kernel.arguments
        ]
        return lambda: function(*given)

    def _outputs(self, call: Callable[[], None]) -> dict[str, float]:
        """Return a weighted sum of what one call makes of each output that is zero before it.

        The weights are random, so that no two outputs that differ have one sum.
        """
        for name in self._written:
            self._arrays[name][:] = 0.0
        call()
        return {
            name: float(self._arrays[name] @ self._weights[: self._arrays[name].size])
            for name in self._written
        }

    def is_right(self, number: int) -> bool:
        """Return whether a point computes what the original does."""
        found = self._outputs(self.call(number))
        return all(
            abs(found[name] - self._right[name]) <= TOLERANCE * self._arrays[name].size
            for name in self._written
        )

    def timed(self, order: Sequence[int], lock: Path) -> Iterator[dict[int, float]]:
        """Yield the times of points, in pieces between which the machine is let go."""
        left = list(reversed(order))
        while left:
            found: dict[int, float] = {}
            with _alone_on(lock):
                until = time.monotonic() + LONGEST_HOLD_S
                while left and time.monotonic() < until:
                    call = self.call(left[-1])
                    call()
                    start = time.perf_counter()
                    call()
                    found[left.pop()] = time.perf_counter() - start
            yield found


@contextmanager
def _alone_on(lock: Path) -> Iterator[None]:
    """Hold a file's lock, which others who load the machine heed."""
    with lock.open("a") as file:
        flock(file, LOCK_EX)
        try:
            yield
        finally:
            flock(file, LOCK_UN)


def _version() -> str:
    found = subprocess.run(["gcc", "--version"], check=True, capture_output=True, text=True)
    return found.stdout.splitlines()[0]
