"""A model of a kernel's time on a GPU, to rank the space and to predict what cannot be run.

Roofline terms (Williams, Waterman and Patterson, Communications of the ACM 52(4), 2009,
doi:10.1145/1498765.1498785) for device memory, L2, L1 and arithmetic, with coalescing
counted in 32-byte sectors of a warp (CUDA C++ Best Practices Guide, Coalesced Access to
Global Memory), occupancy, and whole waves of blocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, inf, log2, prod

from annotune.analysis.facts import AccessFacts
from annotune.annotation.devices import Device
from annotune.decide.model_lanes import predict_lanes
from annotune.decide.model_tile import predict_tile
from annotune.decide.plan import KernelChoice
from annotune.decide.prediction import Prediction
from annotune.decide.rules import TEAM
from annotune.decide.units import Unit
from annotune.transforms.deal import deal_name
from annotune.transforms.tile import tile_name

# Bytes of the smallest transfer between L1, L2 and device memory, and of one L1 line.
SECTOR_BYTES = 32
# Warps per SM that hide the latency of arithmetic and of L1 hits, without unrolling: four
# schedulers and about eight cycles between dependent FP64 operations (assumption: Hopper's
# latency is not published).
WARPS_TO_HIDE = 32
# Instructions that one iteration of a serial loop adds: compare, add, branch.
LOOP_INSTRUCTIONS = 3
# Warp instructions that an SM issues per clock (four schedulers; H100 whitepaper).
ISSUE_PER_CLOCK = 4
# 32-bit registers that a thread needs besides unrolled operands: addresses and counters.
BASE_REGISTERS = 32
# Clocks of one step of a tree over a block: shared memory there and back, and a barrier
# (assumption: some 30 clocks each way, as published for earlier generations).
BARRIER_CLOCKS = 60
_ELEMENT_BYTES = {"double": 8, "float": 4}


@dataclass(frozen=True, slots=True)
class Shape:
    """Trip counts of a kernel by role, at the region's sizes."""

    thread_trips: tuple[tuple[str, int], ...]
    block_trips: tuple[tuple[str, int], ...]
    serial: tuple[tuple[str, int], ...]

    @property
    def threads(self) -> int:
        return prod(n for _, n in self.thread_trips)

    @property
    def blocks(self) -> int:
        return prod(n for _, n in self.block_trips)


def shape(unit: Unit, choice: KernelChoice) -> Shape:
    """Return what `choice` makes of the unit's loops; unknown trip counts count as one.

    Threads beyond a full block run serially, as the emitted grid does.
    """
    trips = {name: n or 1 for name, n in unit.trips.items()}
    tiled = {tile_name(loop): (loop, size) for loop, size in choice.tiles}
    blocks = []
    for name in choice.blocks:
        loop, size = tiled.get(name, (name, 1))
        blocks.append((loop, ceil(trips.get(loop, 1) / size)))
    sizes = dict(choice.tiles)
    workers = {deal_name(loop): (loop, count) for loop, count in choice.deals}
    sums = {*choice.shared} - {*unit.parallel}
    threads, room, serial = [], 1024, []
    for name in choice.shared:
        loop, dealt = workers.get(name, (name, 0))
        count = min(sizes.get(loop, trips.get(loop, 1)), trips.get(loop, 1))
        if dealt and count > dealt:
            serial.append((loop, ceil(count / dealt)))
            count = dealt
        own = max(1, min(count, TEAM if name in sums else room))
        room //= own
        threads.append((name, own))
        if count > own:
            serial.append((name, ceil(count / own)))
    taken = {tiled.get(n, (n, 1))[0] for n in choice.blocks} | set(choice.shared)
    taken |= {loop for loop, _ in workers.values()}
    order = choice.order or tuple(loop.var for loop in unit.band)
    host = _host_trips(unit, choice)
    rest = [n for n in (*order, *trips) if n not in taken and n not in host]
    serial += [(n, trips.get(n, 1)) for n in dict.fromkeys(rest)]
    return Shape(tuple(threads), tuple(blocks), tuple(serial))


def predict(unit: Unit, choice: KernelChoice, device: Device) -> Prediction:
    """Return the predicted time of one launch of the unit under `choice` on `device`."""
    if choice.contract is not None:
        widest = max(_bytes(unit, a) for a in (*unit.reads, *unit.writes))
        return predict_tile(unit, choice.contract, widest, device)
    if choice.form is not None and choice.blocking:
        return predict_lanes(unit, choice, device)
    form = shape(unit, choice)
    analysis = unit.analysis
    host = _host_trips(unit, choice)
    launches = prod(host.values())
    warps_per_block = ceil(max(1, form.threads) / device.warp_size)
    element = max((_bytes(unit, a) for a in (*unit.reads, *unit.writes)), default=8)
    factor = max((f for _, _, f in choice.unroll), default=1)

    resident = _resident_blocks(form, factor, element, device)
    occupancy = min(1.0, resident * warps_per_block * 32 / device.max_threads_per_sm)
    waves = ceil(max(1, form.blocks) / (device.sm_count * resident))
    filled = form.blocks / (waves * device.sm_count * resident) if form.blocks else 1.0
    lanes = form.threads / (warps_per_block * device.warp_size) if form.threads else 1 / 32
    # Unrolled iterations are independent work of one warp, as good as further warps.
    active = resident * warps_per_block * filled * min(4.0, factor**0.5)
    busy = max(1e-3, min(1.0, active / WARPS_TO_HIDE))

    work = [analysis.work[s] for s in unit.statements]
    # The work is that of all launches; of the traffic, each brings what it touches itself.
    flop = sum(w.flop for w in work) / launches
    moving = prod(n for name, n in host.items() if _moves(unit, name))
    traffic = sum(w.bytes_read + w.bytes_written for w in work) / moving
    peak = (device.fp64_tflops if element == 8 else device.fp32_tflops) * 1e12
    warps = form.blocks * warps_per_block
    sectors, instructions = _per_warp(unit, choice, form)
    l1_bytes = warps * sectors * SECTOR_BYTES
    l2_bytes = min(l1_bytes, _block_bytes(unit, form, device) * form.blocks)
    clock = device.clock_ghz * 1e9
    l1_rate = device.l1_bytes_per_clock_per_sm * device.sm_count * clock
    issue_rate = ISSUE_PER_CLOCK * device.sm_count * clock

    terms = {
        "device memory": traffic / (device.sustained_bandwidth_gb_s * 1e9) / min(1.0, 2 * busy),
        "L2": l2_bytes / (device.l2_bandwidth_gb_s * 1e9) / min(1.0, 2 * busy),
        "L1": l1_bytes / l1_rate / busy,
        "arithmetic": flop / peak / lanes / busy,
        "issue": warps * instructions / issue_rate / busy,
    }
    limit = max(terms, key=lambda name: terms[name])
    # Terms overlap, but not fully: the rest of them costs a tenth of its time.
    total = terms[limit] + 0.1 * (sum(terms.values()) - terms[limit])
    trees = waves * _levels(unit, choice, form) * BARRIER_CLOCKS / clock
    # Blocks leave what they have for one more launch of one block.
    last = bool(unit.sums) and form.blocks > 1
    overhead = (1 + last) * (device.kernel_launch_us * 1e-6) + trees
    time = launches * (total + overhead)
    return Prediction(
        time,
        terms["device memory"],
        terms["L2"],
        terms["L1"],
        terms["arithmetic"],
        terms["issue"],
        occupancy,
        limit,
    )


def _host_trips(unit: Unit, choice: KernelChoice) -> dict[str, int]:
    """Return the loops that the host runs around the launch, with their trip counts."""
    names = unit.loops_around(unit.leader)
    outer = names[: names.index(unit.band[0].var)] if unit.band else ()
    return {name: unit.trips.get(name) or 1 for name in (*outer, *choice.host)}


def _moves(unit: Unit, loop: str) -> bool:
    """Return whether each iteration of a host's loop touches elements of its own."""
    return any(access.strides.get(loop) != 0 for access in unit.writes if loop in access.strides)


def _levels(unit: Unit, choice: KernelChoice, form: Shape) -> int:
    """Return how many steps the trees of one block have in which its threads combine sums."""
    sums = {name for _, name in unit.shared.sums} if choice.team else {*unit.sums}
    trees = len({*choice.shared} & sums)
    return trees * ceil(log2(max(1, form.threads)))


def roofline_time(flop: int, traffic: int, element_bytes: int, device: Device) -> float:
    """Return the least time in seconds that a device allows: memory or arithmetic alone.

    Arithmetic is bound by the tensor cores' attainable rate in double precision, where the
    device has them, as in the project's roofline tables.
    """
    attainable = max(device.fp64_tflops, device.fp64_tensor_attainable_tflops)
    peak = (attainable if element_bytes == 8 else device.fp32_tflops) * 1e12
    return max(flop / peak, traffic / (device.sustained_bandwidth_gb_s * 1e9))


def _resident_blocks(form: Shape, factor: int, element: int, device: Device) -> int:
    """Return how many blocks an SM holds at once: threads, blocks and registers bound it."""
    threads = max(1, form.threads)
    # Each unrolled iteration keeps about two operands in flight.
    registers = min(device.max_registers_per_thread, BASE_REGISTERS + 2 * factor * element // 4)
    by_threads = device.max_threads_per_sm // threads
    by_registers = device.registers_per_sm // (registers * threads)
    return max(1, min(device.max_blocks_per_sm, by_threads, by_registers))


def _per_warp(unit: Unit, choice: KernelChoice, form: Shape) -> tuple[float, float]:
    """Return (sectors moved through L1, instructions issued) by one warp in the kernel."""
    held = dict(choice.registers)
    counts = dict(form.serial)
    names = [n for n, _ in form.serial]
    sectors = instructions = 0.0
    lanes = _lanes(form)
    factor = {s: f for s, _, f in choice.unroll}
    for statement in unit.statements:
        own = {loop.var for loop in unit.analysis.paths[statement]}
        inside = [n for n in names if n in own]
        iterations = prod(counts[n] for n in inside)
        for access in unit.analysis.accesses[statement]:
            used = {n for n in inside if access.strides.get(n) != 0}
            hoisted = access.is_write or statement in held
            runs = _executions(inside, counts, used) if hoisted or used != set(inside) else 0
            runs = runs or iterations
            sectors += runs * _sectors(access, lanes, _bytes(unit, access))
            instructions += runs
        instructions += iterations * (1 + LOOP_INSTRUCTIONS / factor.get(statement, 1))
    return sectors, instructions


def _executions(inside: list[str], counts: Mapping[str, int], used: set[str]) -> int:
    """Return how often a load runs that compilers hoist out of the innermost loops that do
    not move it."""
    depth = max((k + 1 for k, n in enumerate(inside) if n in used), default=0)
    return prod(counts[n] for n in inside[:depth])


def _lanes(form: Shape) -> list[dict[str, int]]:
    """Return the thread indices of the first warp's lanes, x fastest."""
    lanes = []
    for lane in range(min(32, max(1, form.threads))):
        rest, place = lane, {}
        for name, count in form.thread_trips:
            place[name] = rest % count
            rest //= count
        lanes.append(place)
    return lanes


def _sectors(access: AccessFacts, lanes: list[dict[str, int]], element: int) -> int:
    """Return how many 32-byte sectors one warp's access touches."""
    offsets = {
        sum((access.strides.get(n) or 0) * k for n, k in lane.items()) * element // SECTOR_BYTES
        for lane in lanes
    }
    return len(offsets)


def _block_bytes(unit: Unit, form: Shape, device: Device) -> float:
    """Return the bytes one block brings through L2, if its L1 holds what it reuses.

    Each array counts its distinct sectors over all that the block runs; when these exceed
    the L1, nothing is reused and infinity tells so.
    """
    counts = dict(form.serial) | dict(form.thread_trips)
    total = 0.0
    seen: set[tuple[str, tuple[str, ...]]] = set()
    for statement in unit.statements:
        own = {loop.var for loop in unit.analysis.paths[statement]}
        for access in unit.analysis.accesses[statement]:
            moving = tuple(sorted(n for n in counts if n in own and access.strides.get(n) != 0))
            if (access.access.array, moving) in seen:
                continue
            seen.add((access.access.array, moving))
            elements = prod(counts[n] for n in moving)
            unit_stride = any(abs(access.strides.get(n) or 0) == 1 for n in moving)
            width = _bytes(unit, access) if unit_stride else SECTOR_BYTES
            total += elements * width
    return total if total <= device.l1_kib * 1024 else inf


def _bytes(unit: Unit, access: AccessFacts) -> int:
    array = unit.analysis.region.arrays.get(access.access.array)
    return _ELEMENT_BYTES.get(array.element if array is not None else "double", 8)
