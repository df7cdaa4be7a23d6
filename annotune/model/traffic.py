"""Clocks that one thread waits for what it needs next, with the device under load.

Unloaded, an H100 answers from L1 after some 40 clocks, from L2 after 260 and from device memory
after 480 (W. Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture via
Microbenchmarking", IPDPS 2024, arXiv:2402.13499). The figures here are fitted to kernels that were
measured on an H200 (docs/model.md), and taken for other devices too.

What the model says of one kernel, and what a compiler may have told it before.

How many blocks of a compiled kernel a multiprocessor holds at once, and what bounds them.

The rules are those of NVIDIA's occupancy calculator (``cuda_occupancy.h`` of the CUDA toolkit)
for compute capability 8.0 and later; the limits are the device's own (CUDA C++ Programming
Guide, Technical Specifications per Compute Capability).

How many bytes a kernel moves between the levels of memory, from strides and trip counts.

What a loop uses again is found in a cache if all that one of its iterations touches fits: the
working sets of nested loops (M. Wolf and M. Lam, "A Data Locality Optimizing Algorithm", PLDI
1991, section 3), with the lines of an array counted as K. Kennedy and K. McKinley do
("Optimizing for Parallelism and Data Locality", ICS 1992). Caches are taken as fully associative.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from math import ceil, prod

from annotune.analysis.facts import AccessFacts
from annotune.annotation.devices import Device
from annotune.frozen import dataclass
from annotune.model.shape import SECTOR_BYTES

# A round trip to device memory and to L2, queues included.
MEMORY_CLOCKS = 900
L2_CLOCKS = 300
# One term of a sum that a thread loads and adds to what it has.
TERM_CLOCKS = 95
# One step of a tree over a block, or one barrier: shared memory there and back.
BARRIER_CLOCKS = 60
# From the end of one copy's use to the beginning of the next: loads from L2, stores, barriers.
STAGE_CLOCKS = 900


@dataclass(frozen=True, slots=True)
class Compiled:
    """What a compiler made of a kernel, in the place of estimates.

    `registers` are 32-bit ones of a thread. The bytes of spills are those of the instructions
    that store and load them, of one thread; `shared_bytes` is the shared memory of a block.
    """

    registers: int
    spill_store_bytes: int = 0
    spill_load_bytes: int = 0
    shared_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Prediction:
    """One kernel's predicted time and its `terms` by their names in tables, in seconds.

    Where inputs are staged, there is shared memory in the place of the L1. The term of latency is
    the time in which nothing is busy, since what one thread does next waits for what it did before.
    `occupancy` is the share of an SM's threads that are resident. `registers` are those of a
    thread: a compiler's word where `is_compiled`, else an estimate. `moved` are the bytes that pass
    a place in that time.
    """

    time_s: float
    terms: Mapping[str, float]
    occupancy: float
    registers: int
    is_compiled: bool
    moved: Mapping[str, float] = field(default_factory=dict)

    @property
    def limit(self) -> str:
        """Return the name of the slowest term."""
        return max(self.terms, key=lambda name: self.terms[name])


# Registers are given to whole warps in units, each from one of the four parts of an SM.
REGISTER_UNIT = 256
SM_PARTS = 4
# Shared memory is given to blocks in units; the driver keeps some of each block's.
SHARED_UNIT_BYTES = 128
RESERVED_SHARED_BYTES = 1024
# Shared memory of a block that asks for no more (CUDA C++ Programming Guide).
SHARED_BYTES = 48 * 1024


@dataclass(frozen=True, slots=True)
class Residency:
    """The blocks of a kernel on one SM: how many, their share of its warps, and the bound.

    `limit` is ``threads``, ``blocks``, ``registers`` or ``shared memory``; `blocks` is 0
    where a launch fails, since one block does not fit.
    """

    blocks: int
    occupancy: float
    limit: str


def residency(device: Device, threads: int, registers: int, shared_bytes: int) -> Residency:
    """Return how many blocks of `threads` threads one SM of `device` holds at once.

    Args:
        device: Of compute capability 8.0 or later; earlier ones allocate otherwise.
        threads: Threads of a block, at least 1.
        registers: 32-bit registers per thread, as ptxas reports them.
        shared_bytes: Shared memory of a block, static and dynamic.
    """
    warps = ceil(threads / device.warp_size)
    most_warps = device.max_threads_per_sm // device.warp_size
    per_warp = _rounded(registers * device.warp_size, REGISTER_UNIT)
    shared = _rounded(shared_bytes + RESERVED_SHARED_BYTES, SHARED_UNIT_BYTES)
    limits = {
        "threads": most_warps // warps,
        "blocks": device.max_blocks_per_sm,
        "registers": _by_registers(device, warps, per_warp) if registers else most_warps,
        "shared memory": int(device.shared_memory_per_sm_kib * 1024) // shared,
    }
    if threads > device.max_threads_per_block:
        limits["threads"] = 0
    if shared_bytes > device.shared_memory_per_block_kib * 1024:
        limits["shared memory"] = 0
    if registers > device.max_registers_per_thread:
        limits["registers"] = 0
    limit = min(limits, key=lambda name: limits[name])
    blocks = limits[limit]
    return Residency(blocks, blocks * warps / most_warps, limit)


def most_registers(device: Device, threads: int) -> int:
    """Return the registers that each of a block's threads can have, if one block is to fit."""
    warps = _rounded(ceil(max(1, threads) / device.warp_size), SM_PARTS)
    room = device.registers_per_sm // (warps * device.warp_size)
    step = REGISTER_UNIT // device.warp_size
    return min(device.max_registers_per_thread, room - room % step)


def _by_registers(device: Device, warps: int, per_warp: int) -> int:
    """Return the blocks that the registers allow: whole warps in each part of the SM."""
    # A launch is checked as if each part took as many warps as the fullest one.
    if per_warp * _rounded(warps, SM_PARTS) > device.registers_per_sm:
        return 0
    return device.registers_per_sm // SM_PARTS // per_warp * SM_PARTS // warps


def _rounded(value: int, unit: int) -> int:
    """Return `value` rounded up to a multiple of `unit`."""
    return -(-value // unit) * unit


# Warps per SM that keep its units busy, without unrolling: four schedulers and about eight
# clocks between dependent FP64 operations (assumption: Hopper's latency is not published).
WARPS_TO_HIDE = 32
# Instructions that one iteration of a serial loop adds: compare, add, branch.
LOOP_INSTRUCTIONS = 3
# Warp instructions that an SM issues per clock (four schedulers; H100 whitepaper).
ISSUE_PER_CLOCK = 4
REGISTER_BYTES = 4
# Terms overlap, but not fully: each costs this share of its time beside the longest.
EXPOSED = 0.1


def overlapping(terms: Mapping[str, float]) -> float:
    """Return the seconds of a kernel whose terms run side by side."""
    longest = max(terms.values())
    return longest + EXPOSED * (sum(terms.values()) - longest)


def busy_share(warps: float, independent: float) -> float:
    """Return how busy so many warps keep an SM, each with some values that wait for none other.

    What is independent in one warp is as good as further warps.
    """
    return max(1e-3, min(1.0, warps * independent / WARPS_TO_HIDE))


@dataclass(frozen=True, slots=True)
class AccessStream:
    """One array access of a statement: its strides in bytes, None where one is not known.

    `loops` are the loops around the statement; the access uses the same element again in those
    that have stride 0.
    """

    array: str
    strides: Mapping[str, int | None]
    element_bytes: int
    is_write: bool

    @classmethod
    def of(cls, access: AccessFacts, element_bytes: int) -> AccessStream:
        """Return the access of a statement as a stream."""
        strides = {
            name: None if stride is None else abs(stride) * element_bytes
            for name, stride in access.strides.items()
        }
        return cls(access.access.array, strides, element_bytes, access.is_write)

    def moves(self, loop: str) -> bool:
        """Return whether iterations of `loop` touch different elements."""
        return self.strides.get(loop, 0) != 0

    def touched(self, counts: Mapping[str, int]) -> float:
        """Return the bytes of the sectors that the loops of `counts` touch together.

        Runs of neighbours that begin anywhere share a sector with others at either end.
        """
        run, runs, is_aligned = self.element_bytes, 1, True
        moving = [(self.strides[n], c) for n, c in counts.items() if c > 1 and self.moves(n)]
        for stride, count in sorted(moving, key=lambda pair: (pair[0] is None, pair[0] or 0)):
            if stride is not None and runs == 1 and stride <= max(run, SECTOR_BYTES):
                run += stride * (count - 1)
            else:
                runs *= count
                is_aligned &= stride is not None and stride % SECTOR_BYTES == 0
        whole = ceil(run / SECTOR_BYTES) * SECTOR_BYTES
        return float(runs * (whole if is_aligned else run + SECTOR_BYTES - self.element_bytes))


def fetched(
    streams: Sequence[AccessStream],
    nest: Sequence[tuple[str, int]],
    together: Mapping[str, int],
    room_bytes: float,
) -> tuple[float, ...]:
    """Return the bytes that each stream brings through a cache of `room_bytes`.

    Args:
        streams: The accesses that share the cache.
        nest: Loops that run in order, outermost first, with their trip counts.
        together: Loops whose iterations run at once, inside the nest.
        room_bytes: What the cache holds for these streams.
    """
    inside = dict(together)
    moved = [stream.touched(inside) for stream in streams]
    footprint = list(moved)
    for loop, count in reversed(nest):
        fits = sum(footprint) <= room_bytes
        inside[loop] = inside.get(loop, 1) * count
        wider = [stream.touched(inside) for stream in streams]
        for k, (before, after) in enumerate(zip(footprint, wider, strict=True)):
            # With room for one iteration, the next one brings only what is new.
            moved[k] *= after / before if fits else count
        footprint = wider
    return tuple(moved)


def read_by_waves(
    streams: Sequence[AccessStream],
    blocks: Sequence[tuple[str, int]],
    inside: Mapping[str, int],
    at_once: int,
    room_bytes: float,
) -> float:
    """Return the bytes of device memory that all blocks move, with an L2 of `room_bytes`.

    `blocks` are the loops of the grid, x first; so many blocks run at once, in this order.
    """
    whole = {**inside, **{name: inside.get(name, 1) * count for name, count in blocks}}
    least = [stream.touched(whole) for stream in streams]
    names = {name for name, _ in blocks}
    again = [k for k, s in enumerate(streams) if any(not s.moves(n) for n in names)]
    if sum(least[k] for k in again) <= room_bytes:
        return sum(least)
    left, wave = at_once, dict(inside)
    for name, count in blocks:
        own = max(1, min(count, left))
        wave[name] = wave.get(name, 1) * own
        left = max(1, left // own)
    waves = ceil(prod(count for _, count in blocks) / max(1, at_once))
    return sum(max(size, waves * s.touched(wave)) for size, s in zip(least, streams, strict=True))
