"""What emitted kernels must be like, each promise a rule that a judged workload keeps or misses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from machine_code.global_access import GlobalAccess
from machine_code.judge import KernelRow, WorkloadRow
from machine_code.shared import conflict_factor

# The triples kernels that have the two-level tile, at the sizes of Kim et al. whose extents are
# all alike: 16, 24 and 28.
PROMISED = tuple(f"sd_t_d{kind}_*-{size}" for kind in (1, 2) for size in "ACE")
INPUTS = ("t2", "v2")
OUTPUT = "t3"
# Outputs of a thread along each axis of a tile: 4 by 4 are bound by shared memory.
OUTPUTS = 8
# A line of device memory, sixteen doubles.
LINE_BYTES = 128
# Of the sectors that a warp touches when it fills a copy, three quarters are wanted at the least: a
# row of 14 doubles may begin anywhere, and shares a sector at either end.
MOST_SECTORS = 4 / 3


@dataclass(frozen=True, slots=True)
class Miss:
    """A promise that a workload does not keep, and the figure that shows it."""

    workload: str
    promise: str
    found: str

    def __str__(self) -> str:
        return f"{self.workload}: {self.promise}: {self.found}"


def missed(row: WorkloadRow) -> tuple[Miss, ...]:
    """Return the promises that a workload misses, none when it keeps them all."""
    name = row.workload.name
    if row.problem:
        return (Miss(name, "it is compiled", row.problem),)
    if len(row.kernels) != 1:
        return (Miss(name, "one kernel", f"{len(row.kernels)} kernels"),)
    (kernel,) = row.kernels
    return tuple(
        Miss(name, promise, found) for promise, check in _RULES for found in check(row, kernel)
    )


def _staged(_row: WorkloadRow, kernel: KernelRow) -> Iterator[str]:
    for array in INPUTS:
        reads = _of(kernel, array, is_write=False)
        if not reads or not all(read.is_copy for read in reads):
            yield f"{array} is read by the threads that use it"


def _coalesced(_row: WorkloadRow, kernel: KernelRow) -> Iterator[str]:
    for array in INPUTS:
        for read in _of(kernel, array, is_write=False):
            if read.factor > MOST_SECTORS:
                yield f"{array} takes {read.factor:.2f} times the sectors that it must"


def _outputs(row: WorkloadRow, kernel: KernelRow) -> Iterator[str]:
    tile = kernel.tile
    if tile is None:
        yield "no tile"
        return
    for loop, size in (tile.register_x, tile.register_y):
        allowed = min(OUTPUTS, kernel.trips.get(loop, OUTPUTS))
        if size < allowed:
            yield f"{size} along {loop}, which allows {allowed}"


def _unspilled(_row: WorkloadRow, kernel: KernelRow) -> Iterator[str]:
    if kernel.facts.spills:
        stores, loads = kernel.facts.spill_store_bytes, kernel.facts.spill_load_bytes
        yield f"{stores} bytes stored, {loads} loaded for {kernel.facts.arch}"


def _without_frame(_row: WorkloadRow, kernel: KernelRow) -> Iterator[str]:
    """A block that the compiler could not keep in registers is in a frame, and nothing spills."""
    if kernel.facts.stack_bytes:
        yield f"{kernel.facts.stack_bytes} bytes of local memory for {kernel.facts.arch}"


def _without_conflicts(_row: WorkloadRow, kernel: KernelRow) -> Iterator[str]:
    factor = conflict_factor(kernel.shared, filling=False)
    if factor is None:
        yield "nothing is read from shared memory"
    elif factor > 1:
        yield f"{factor:.2f} times the transactions that the accesses need"


def _whole_lines(_row: WorkloadRow, kernel: KernelRow) -> Iterator[str]:
    writes = _of(kernel, OUTPUT, is_write=True)
    if not writes:
        yield f"{OUTPUT} is not written"
    for write in writes:
        if write.run_bytes < LINE_BYTES:
            yield f"{write.run_bytes} neighbouring bytes of {OUTPUT} at a time"


def _once(_row: WorkloadRow, kernel: KernelRow) -> Iterator[str]:
    for is_write, word in ((False, "read"), (True, "written")):
        times = sum(one.repeats for one in _of(kernel, OUTPUT, is_write=is_write))
        if times != 1:
            yield f"{OUTPUT} is {word} {times} times"


_RULES: tuple[tuple[str, Callable[[WorkloadRow, KernelRow], Iterator[str]]], ...] = (
    ("both inputs pass through shared memory", _staged),
    ("copies are coalesced", _coalesced),
    (f"{OUTPUTS} by {OUTPUTS} outputs per thread", _outputs),
    ("no spills", _unspilled),
    ("no stack frame", _without_frame),
    ("no bank conflicts in the inner loop", _without_conflicts),
    (f"stores of {LINE_BYTES} bytes", _whole_lines),
    (f"{OUTPUT} is read once and written once", _once),
)
PROMISES = tuple(promise for promise, _ in _RULES)


def _of(kernel: KernelRow, array: str, is_write: bool) -> list[GlobalAccess]:
    return [a for a in kernel.accesses if a.array == array and a.is_write is is_write]


def verdict(rows: Sequence[WorkloadRow]) -> tuple[str, tuple[Miss, ...]]:
    """Return a text on all promises of some workloads, and those that are missed."""
    every = tuple(miss for row in rows for miss in missed(row))
    lines = []
    for promise in PROMISES:
        names = sorted({miss.workload for miss in every if miss.promise == promise})
        kept = (
            len(rows) - len({m.workload for m in every if m.promise not in PROMISES}) - len(names)
        )
        lines.append(f"{promise}: {kept} of {len(rows)}")
    return "\n".join([*lines, *(f"missed: {miss}" for miss in every)]), every
