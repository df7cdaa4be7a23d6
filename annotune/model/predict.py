"""A model of a kernel's time on a GPU, to rank the space and to predict what cannot be run.

Roofline terms (Williams, Waterman and Patterson, Communications of the ACM 52(4), 2009,
doi:10.1145/1498765.1498785) for device memory, L2, L1 and arithmetic, with coalescing
counted in 32-byte sectors of a warp (CUDA C++ Best Practices Guide, Coalesced Access to
Global Memory), reuse by working sets (`traffic`), occupancy, whole waves of blocks, and the
latency of what a thread does in order. docs/model.md tells how far it is from measurements.

What the model says of a region's kernels on a device, beside what no kernel can beat.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log2, prod

from annotune.analysis.facts import AccessFacts, Analysis, Work
from annotune.annotation.devices import Device
from annotune.ir.c_types import WORD
from annotune.model.bounds import KIB, copies, copy_time, least_time, magma_time, peak_flop_s
from annotune.model.shape import (
    Shape,
    ThreadWork,
    element_of,
    host_trips,
    in_parts,
    lanes,
    shape,
    thread_work,
)
from annotune.model.tiles import predict_lanes, predict_tile
from annotune.model.traffic import (
    BARRIER_CLOCKS,
    ISSUE_PER_CLOCK,
    L2_CLOCKS,
    LOOP_INSTRUCTIONS,
    MEMORY_CLOCKS,
    REGISTER_BYTES,
    SECTOR_BYTES,
    TERM_CLOCKS,
    Compiled,
    Prediction,
    Stream,
    busy_share,
    fetched,
    most_registers,
    overlapping,
    read_by_waves,
    residency,
)
from annotune.schedule.candidate import Candidate
from annotune.schedule.units import Unit, with_merged
from annotune.transforms.merge import Decode, Merge
from annotune.transforms.registers import Hold

# 32-bit registers that a thread needs besides values: addresses and counters.
BASE_REGISTERS = 32
# Values on their way from memory to a thread at most, beside those that it holds (seen in
# kernels of a direct gemm: 80 registers).
VALUES_IN_FLIGHT = 24


@dataclass(frozen=True, slots=True)
class _Running:
    """How a kernel stands on the device: blocks of an SM, rounds of blocks, and how busy it is."""

    resident: int
    waves: int
    busy: float
    lanes_used: float
    occupancy: float


def predict(
    unit: Unit, choice: Candidate, device: Device, compiled: Compiled | None = None
) -> Prediction:
    """Return the predicted time of one launch of the unit under `choice` on `device`.

    `compiled` is what a compiler said of the kernel; without it, registers are estimated.
    """
    if choice.merges:
        plain = choice.having(without=(Merge, Decode))
        return predict(with_merged(unit, choice.merges), plain, device, compiled)
    element = max((element_of(unit, a) for a in (*unit.reads, *unit.writes)), default=WORD)
    if choice.contract is not None:
        return predict_tile(unit, choice.contract, element, device, compiled, choice.moves)
    if choice.shape and choice.of(Hold):
        return predict_lanes(unit, choice, device, compiled)
    form = shape(unit, choice)
    works = tuple(thread_work(unit, choice, form))
    registers = compiled.registers if compiled else _registers(works, form, element, device)
    shared_bytes = compiled.shared_bytes if compiled else 0
    running = _running(form, works, registers, shared_bytes, device)
    launches = prod(host_trips(unit, choice).values())

    flop = sum(unit.analysis.work[s].flop for s in unit.statements) / launches
    streams = [_stream(unit, a) for s in unit.statements for a in unit.analysis.accesses[s]]
    streams = list({(s.array, s.is_write, tuple(s.strides.items())): s for s in streams}.values())
    l2_bytes, memory_bytes = _moved(streams, in_parts(unit, form), running.resident, device)
    warps = form.blocks * ceil(max(1, form.threads) / device.warp_size)
    sectors, written, instructions = _per_warp(unit, works, form, device)
    # Stores go through the L1, each warp's by itself.
    l2_bytes += warps * written * SECTOR_BYTES
    if compiled is not None:
        # A spilled register goes to the L1 and back, once in each round.
        rounds = max((work.rounds for work in works), default=1)
        spilled = compiled.spill_store_bytes + compiled.spill_load_bytes
        sectors += rounds * spilled * device.warp_size / SECTOR_BYTES
    clock = device.clock_ghz * 1e9
    l1_rate = device.l1_bytes_per_clock_per_sm * device.sm_count * clock
    moving = min(1.0, 2 * running.busy)
    # Statements that share a kernel wait at the same time.
    is_streamed = memory_bytes > device.l2_mib * KIB * KIB
    waiting = max((_clocks(work, is_streamed) for work in works), default=0)
    terms = {
        "device memory": memory_bytes / (device.sustained_bandwidth_gb_s * 1e9) / moving,
        "L2": l2_bytes / (device.l2_bandwidth_gb_s * 1e9) / moving,
        "L1": warps * sectors * SECTOR_BYTES / l1_rate / running.busy,
        "arithmetic": flop / peak_flop_s(element, device) / running.lanes_used / running.busy,
        "issue": warps * instructions / (ISSUE_PER_CLOCK * device.sm_count * clock) / running.busy,
        "latency": running.waves * waiting / clock,
    }
    total = overlapping(terms)
    trees = running.waves * _levels(unit, choice, form) * BARRIER_CLOCKS / clock
    # Blocks leave what they have for one more launch of one block.
    last = bool(unit.sums) and form.blocks > 1
    overhead = (1 + last) * (device.kernel_launch_us * 1e-6) + trees
    time_s = launches * (total + overhead)
    return Prediction.of(time_s, terms, running.occupancy, registers, compiled is not None)


def _running(
    form: Shape,
    works: Sequence[ThreadWork],
    registers: int,
    shared_bytes: int,
    device: Device,
) -> _Running:
    threads = max(1, form.threads)
    warps = ceil(threads / device.warp_size)
    held = residency(device, threads, registers, shared_bytes)
    resident = max(1, held.blocks)
    waves = ceil(max(1, form.blocks) / (device.sm_count * resident))
    filled = form.blocks / (waves * device.sm_count * resident) if form.blocks else 1.0
    # Unrolled iterations are independent work of one warp, as good as further warps.
    factor = max((work.unrolled for work in works), default=1)
    busy = busy_share(resident * warps * filled, min(4.0, factor**0.5))
    used = threads / (warps * device.warp_size)
    share = min(1.0, resident * warps * device.warp_size / device.max_threads_per_sm)
    return _Running(resident, waves, busy, used, share)


def _registers(works: Sequence[ThreadWork], form: Shape, element: int, device: Device) -> int:
    """Return the estimated registers of a thread, no more than the block's threads can have."""
    held = max((work.held for work in works), default=0)
    loads = max((sum(x.runs // w.rounds for x in w.loads) for w in works), default=0)
    values = max(held, min(VALUES_IN_FLIGHT, loads))
    wanted = BASE_REGISTERS + values * element // REGISTER_BYTES
    return min(most_registers(device, form.threads), wanted)


def _moved(
    streams: Sequence[Stream], form: Shape, resident: int, device: Device
) -> tuple[float, float]:
    """Return the bytes that all blocks read through L2, and move to or from device memory."""
    nest = [(name, count) for name, count in form.serial if count > 1]
    # Blocks of one SM share its L1.
    together, left = dict(form.thread_trips), resident
    for name, count in form.block_trips:
        own = max(1, min(count, left))
        together[name] = together.get(name, 1) * own
        left //= own
    reads = [stream for stream in streams if not stream.is_write]
    per_sm = sum(fetched(reads, nest, together, device.l1_kib * KIB))
    inside = dict(form.thread_trips)
    for name, count in nest:
        inside[name] = inside.get(name, 1) * count
    l2_room = device.l2_mib * KIB * KIB
    at_once = resident * device.sm_count
    read = read_by_waves(reads, form.block_trips, inside, at_once, l2_room)
    memory = read_by_waves(streams, form.block_trips, inside, at_once, l2_room)
    return max(form.blocks / min(resident, max(1, form.blocks)) * per_sm, read), memory


def _clocks(work: ThreadWork, from_memory: bool) -> float:
    """Return the clocks that a thread waits for what it does in order."""
    level = MEMORY_CLOCKS if from_memory else L2_CLOCKS
    return work.rounds * (level + work.chain * TERM_CLOCKS)


def _levels(unit: Unit, choice: Candidate, form: Shape) -> int:
    """Return how many steps the trees of one block have in which its threads combine sums."""
    sums = {name for _, name in unit.shared.sums} if choice.team else {*unit.sums}
    trees = len({*choice.shared} & sums)
    return trees * ceil(log2(max(1, form.threads)))


def _per_warp(
    unit: Unit, works: Sequence[ThreadWork], form: Shape, device: Device
) -> tuple[float, float, float]:
    """Return (sectors moved through L1, those written, instructions issued) by one warp."""
    places = lanes(unit, form, device.warp_size)
    sectors = written = instructions = 0.0
    for work in works:
        for load in work.loads:
            own = load.runs * _sectors(load.access, places, element_of(unit, load.access))
            sectors += own
            written += own if load.access.is_write else 0
            instructions += load.runs
        instructions += work.iterations * (1 + LOOP_INSTRUCTIONS / work.unrolled)
    return sectors, written, instructions


def _sectors(access: AccessFacts, places: Sequence[dict[str, int]], element: int) -> int:
    """Return how many 32-byte sectors one warp's access touches."""
    moving = [(n, stride) for n, stride in access.strides.items() if stride and n in places[0]]
    offsets = {sum(s * lane[n] for n, s in moving) * element // SECTOR_BYTES for lane in places}
    return len(offsets)


def _stream(unit: Unit, access: AccessFacts) -> Stream:
    return Stream.of(access, element_of(unit, access))


NOTHING_COMPILED: Mapping[int, Compiled] = {}


@dataclass(frozen=True, slots=True)
class KernelForecast:
    """One kernel: the model's prediction and two bounds, in seconds for all of its launches.

    `magma_s` is None where MAGMA's model does not speak of the kernel, and `why_no_magma` says
    why.
    """

    statements: tuple[int, ...]
    prediction: Prediction
    roofline_s: float
    magma_s: float | None
    why_no_magma: str = ""


@dataclass(frozen=True, slots=True)
class Forecast:
    """A region's kernels one after another on a device, and the copies around them.

    `copies_s` is None where `why_no_copies` says why their time is not known.
    """

    device: str
    kernels: tuple[KernelForecast, ...]
    copies_s: float | None
    why_no_copies: str = ""

    @property
    def kernels_s(self) -> float:
        return sum(kernel.prediction.time_s for kernel in self.kernels)

    @property
    def end_to_end_s(self) -> float | None:
        """Return the time with the copies between host and device."""
        return None if self.copies_s is None else self.kernels_s + self.copies_s


@dataclass(frozen=True)
class RegionModel:
    """A region's kernels as they are chosen, ready to be predicted for a device."""

    analysis: Analysis
    units: tuple[Unit, ...]
    choices: tuple[Candidate, ...]
    device: Device

    def forecast(self, compiled: Mapping[int, Compiled] = NOTHING_COMPILED) -> Forecast:
        """Return the predictions; `compiled` has what a compiler said, by a kernel's leader."""
        kernels = tuple(
            self._kernel(unit, choice, compiled.get(choice.leader))
            for unit, choice in zip(self.units, self.choices, strict=True)
        )
        moved = copies(self.analysis)
        name = self.device.vendor_name
        if isinstance(moved, str):
            return Forecast(name, kernels, None, moved)
        return Forecast(name, kernels, copy_time(moved, self.device))

    def _kernel(self, unit: Unit, choice: Candidate, compiled: Compiled | None) -> KernelForecast:
        prediction = predict(unit, choice, self.device, compiled)
        roofline_s = least_time(self._work(unit), self.analysis.region, self.device)
        magma = magma_time(unit, self.device)
        if host_trips(unit, choice):
            magma = "the host launches the kernel in a loop"
        if isinstance(magma, str):
            return KernelForecast(choice.statements, prediction, roofline_s, None, magma)
        return KernelForecast(choice.statements, prediction, roofline_s, magma)

    def _work(self, unit: Unit) -> Work:
        """Return work that the unit's kernel does at the least.

        What its statements share is known of the whole region alone; else the one that moves most
        stands for all.
        """
        if {*unit.statements} == {*self.analysis.work}:
            return self.analysis.total
        own = [self.analysis.work[statement] for statement in unit.statements]
        flop = sum(work.flop for work in own)
        most = max(own, key=lambda work: work.bytes_read + work.bytes_written)
        return Work(flop, most.bytes_read, most.bytes_written)
