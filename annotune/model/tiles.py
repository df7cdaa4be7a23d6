"""A model of a contraction's two-level tile: the same rooflines, for a block that works in phases.

A block loads its part of the output, then copies inputs and multiplies, then stores. While one
block waits or multiplies, the others that are resident with it move data; so the shorter of both
times, and the latency between the phases, are hidden but for one part in as many as there are
blocks. The rooflines are those of `model` (Williams, Waterman and Patterson, Communications of
the ACM 52(4), 2009, doi:10.1145/1498765.1498785).

A model of outputs in the registers of a lane: the rooflines of `model` without shared memory.

In each step of the sum a lane loads what its rows and columns need, from the L1 if another lane
or an earlier step has brought the sector. What the lanes of a warp have in common is one sector.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, gcd, prod

from annotune.analysis.facts import AccessFacts
from annotune.annotation.devices import Device
from annotune.ir.nest import MemorySpace
from annotune.model.bounds import KIB, peak_flop_s
from annotune.model.shape import element_of
from annotune.model.traffic import (
    BARRIER_CLOCKS,
    ISSUE_PER_CLOCK,
    LOOP_INSTRUCTIONS,
    MEMORY_CLOCKS,
    REGISTER_BYTES,
    SECTOR_BYTES,
    SM_PARTS,
    STAGE_CLOCKS,
    Compiled,
    Prediction,
    Stream,
    busy_share,
    most_registers,
    overlapping,
    read_by_waves,
    residency,
)
from annotune.schedule.candidate import (
    Assignment,
    Candidate,
    ContractionTile,
    Move,
    held_registers,
    pipeline_of,
    resident_of,
)
from annotune.schedule.launch_sizes import WARP
from annotune.schedule.units import Unit
from annotune.transforms.tile import tile_name

# Conditions at the edges keep indices alive (measured: 254 in place of 165).
EDGE_REGISTERS = 80
# ptxas lets go of half of them before it spills (28 by 16 threads, 128 registers for each).
NEEDED_AT_EDGES = 40
# Places of eight bytes next to each other that the banks of shared memory serve at once.
BANK_PAIRS = 16


@dataclass(frozen=True, slots=True)
class _Block:
    """What one block of a tile moves, in bytes, and multiplies; `share` of its tile is output.

    `staged` is what it writes to shared memory, `copied` the sectors that it reads for that.
    `memory` is what all blocks move to and from device memory.
    """

    blocks: int
    outputs: int
    products: int
    rounds: int
    staged: float
    copied: float
    share: float
    memory: float


def predict_tile(
    unit: Unit,
    tile: ContractionTile,
    element: int,
    device: Device,
    compiled: Compiled | None = None,
    moves: Sequence[Move] = (),
) -> Prediction:
    """Return the predicted time of one launch of a contraction under a two-level tile.

    Args:
        unit: A contraction.
        tile: Of its loops.
        element: Bytes of the widest element.
        device: Where it runs.
        compiled: What a compiler said of the kernel; without it, registers are estimated.
        moves: With several stages, copies are on their way while another one is used. Stages
            in shared memory, or registers, are those of the block.
    """
    summing = (s for s in unit.statements if tile.contracted[0] in unit.loops_around(s))
    trips = {name: unit.trips[name] or 1 for name in unit.loops_around(next(summing))}
    cut = dict(tile.block_extents)
    outputs = dict(tile.outputs)
    has_edges = any(trips[name] % size for name, size in outputs.items())
    ring = pipeline_of(moves)
    stages = 0 if ring is None else ring.stages
    is_shared = ring is None or ring.through is MemorySpace.SHARED
    needed = _needed(tile, element, 0 if is_shared else stages)
    room = most_registers(device, tile.threads * max(1, resident_of(moves)))
    registers = min(needed + EDGE_REGISTERS * has_edges, room)
    registers = compiled.registers if compiled else registers
    shared_bytes = compiled.shared_bytes if compiled else 0
    step = tile.x.length * tile.stage_x + tile.y.length * tile.stage_y
    copies = max(1, stages) if is_shared else 1
    shared_bytes = shared_bytes or copies * step * element * tile.contracted[1]
    resident = max(1, residency(device, tile.threads, registers, shared_bytes).blocks)
    block = _block(unit, tile, trips, cut, element, device.sm_count * resident, device)

    clock = device.clock_ghz * 1e9
    per_sm = block.blocks / device.sm_count
    warps = ceil(tile.threads / device.warp_size)
    # Lanes without a thread are paid for, and so are parts of an SM with a warp less.
    idle = warps * device.warp_size / tile.threads
    together = warps * min(resident, ceil(per_sm))
    uneven = ceil(together / SM_PARTS) * SM_PARTS / together
    multiplied = block.blocks * block.outputs * block.products
    loads = (1 / tile.register_x[1] + _x_passes(tile) / tile.register_y[1]) * idle
    missing = max(0, needed + NEEDED_AT_EDGES * has_edges - room) * REGISTER_BYTES
    spills = _spills(missing, compiled, block)
    shared_rate = device.l1_bytes_per_clock_per_sm * device.sm_count * clock
    through_l2 = block.blocks * (block.copied + 2 * block.outputs * block.share * element)
    # What one SM's threads spill stays in its L1 if it fits beside their shared memory.
    l1_room = device.l1_kib * KIB - resident * shared_bytes
    is_far = resident * tile.threads * spills.kept > l1_room
    spilled = block.blocks * tile.threads * spills.moved
    terms = {
        "device memory": block.memory / (device.sustained_bandwidth_gb_s * 1e9),
        "L2": (through_l2 + spilled * is_far) / (device.l2_bandwidth_gb_s * 1e9),
        "shared memory": (multiplied * loads * element + block.blocks * block.staged + spilled)
        / shared_rate,
        "arithmetic": 2 * multiplied * idle * uneven / peak_flop_s(element, device),
    }
    waves = ceil(block.blocks / (device.sm_count * resident))
    # The SM with the most blocks ends last.
    filled = per_sm / ceil(per_sm)
    moving = max(terms["device memory"], terms["L2"])
    computing = max(terms["shared memory"], terms["arithmetic"])
    # With a copy on its way while another is used, only the first is waited for.
    rounds = 1 if stages > 1 else block.rounds
    waited = MEMORY_CLOCKS + rounds * STAGE_CLOCKS + block.rounds * 2 * BARRIER_CLOCKS
    terms["latency"] = waves * waited / clock
    exposed = min(moving, computing) / per_sm * waves + terms["latency"]
    time_s = max(moving, computing / filled) + exposed + device.kernel_launch_us * 1e-6
    occupancy = min(1.0, resident * tile.threads / device.max_threads_per_sm)
    return Prediction.of(time_s, terms, occupancy, registers, compiled is not None)


def _block(
    unit: Unit,
    tile: ContractionTile,
    trips: Mapping[str, int],
    cut: Mapping[str, int],
    element: int,
    at_once: int,
    device: Device,
) -> _Block:
    # A private sum is no traffic, and what other statements make of it is the output.
    arrays = unit.analysis.region.arrays
    every = (f for s in unit.statements for f in unit.analysis.accesses[s])
    facts = [f for f in every if f.access.array in arrays]
    target = next(f for f in facts if f.is_write)
    external = sorted(
        (name for name in trips if target.strides.get(name, 0) != 0),
        key=lambda name: abs(target.strides.get(name) or 0),
    )
    grid = [(name, ceil(trips[name] / cut.get(name, 1))) for name in external]
    summed = {name: n for name, n in trips.items() if name not in external}
    products = prod(summed.values())
    inner, depth = tile.contracted
    inside = {**{name: min(cut.get(name, 1), trips[name]) for name in external}, **summed}
    rounds = products // summed[inner] * ceil(summed[inner] / depth)
    stage = {**inside, **dict.fromkeys(summed, 1), inner: min(depth, summed[inner])}
    streams = [Stream.of(fact, element) for fact in facts]
    inputs = [s for s, f in zip(streams, facts, strict=True) if f.strides.get(inner, 0) != 0]
    share = prod(trips[name] / (count * cut.get(name, 1)) for name, count in grid)
    memory = read_by_waves(
        streams,
        grid,
        inside,
        at_once,
        device.l2_mib * KIB * KIB,
    )
    return _Block(
        blocks=prod(count for _, count in grid),
        outputs=tile.threads * tile.register_x[1] * tile.register_y[1],
        products=products,
        rounds=rounds,
        staged=(tile.x.length * tile.stage_x + tile.y.length * tile.stage_y) * element * products,
        copied=rounds * sum(stream.touched(stage) for stream in inputs),
        share=share,
        memory=memory,
    )


def _x_passes(tile: ContractionTile) -> int:
    """Return how often a bank is asked for an operand of x, the threads of which are neighbours.

    Neighbours of its own put those of other threads as far away; operands of y are one for all.
    """
    is_apart = tile.x.is_split and tile.assign_x is Assignment.ADJACENT
    return gcd(tile.register_x[1], BANK_PAIRS) if is_apart else 1


def _needed(tile: ContractionTile, element: int, stages: int) -> int:
    """Return the registers that a thread needs in the inside of the output.

    So many `stages` of the copies go through them.
    """
    needed = held_registers(tile, element)
    if stages > 1:
        step = tile.x.length * tile.stage_x + tile.y.length * tile.stage_y
        needed += ceil(step * tile.contracted[1] / tile.threads) * element // REGISTER_BYTES
    return needed


@dataclass(frozen=True, slots=True)
class _Spills:
    """Bytes of one thread of a block: those `kept` in memory, and those `moved` there and back."""

    kept: float
    moved: float


def _spills(missing: int, compiled: Compiled | None, block: _Block) -> _Spills:
    """Return what does not fit a thread's registers.

    A compiler's figures are those of the instructions, taken to run once for each copy; an
    estimate is of the bytes `missing` between two steps of the sum.
    """
    if compiled is None:
        return _Spills(missing, 2 * block.products * missing)
    moved = compiled.spill_store_bytes + compiled.spill_load_bytes
    return _Spills(compiled.spill_store_bytes, block.rounds * moved)


# 32-bit registers of a lane beside its values and their addresses: counters and bounds. With them
# 16 outputs come to 136 and 25 to 180; ptxas gives gcc 12's code 168 and 167 for sm_90.
OTHER_REGISTERS = 40
# Registers of an address, which each accumulator and each operand has for itself.
ADDRESS = 2


def predict_lanes(
    unit: Unit, choice: Candidate, device: Device, compiled: Compiled | None = None
) -> Prediction:
    """Return the predicted time of one launch in which each lane has a block of outputs.

    `compiled` is what a compiler said of the kernel; without it, registers are estimated.
    """
    trips = {name: unit.trips[name] or 1 for name in unit.loops_around(unit.leader)}
    cut = dict(choice.tiles)
    lanes = {name: cut.get(name, trips[name]) for name in choice.threads}
    rows = {name: n for name, n in cut.items() if name not in lanes}
    tiled = {name for name in cut if tile_name(name) in choice.blocks}
    outer = [name for name in trips if name in choice.blocks or name in tiled]
    gangs = prod(ceil(trips[name] / cut.get(name, 1)) for name in outer)
    summed = {n: count for n, count in trips.items() if n not in {*outer, *lanes, *rows}}
    steps = prod(summed.values())
    facts = unit.analysis.accesses[unit.leader]
    inputs = [f for f in facts if f.access != next(w for w in facts if w.is_write).access]
    element = max(element_of(unit, f) for f in facts)

    threads = WARP * ceil(prod(lanes.values()) / WARP)
    warps = gangs * threads // WARP
    outputs = prod(rows.values())
    loads = {id(f): prod(n for name, n in rows.items() if _moves(f, name)) for f in inputs}
    values = outputs + sum(loads.values())
    registers = OTHER_REGISTERS + values * (element // 4 + ADDRESS)
    registers = compiled.registers if compiled else min(registers, device.max_registers_per_thread)
    resident = max(1, residency(device, threads, registers, 0).blocks)
    waves = ceil(gangs / (device.sm_count * resident))
    filled = gangs / (waves * device.sm_count * resident)
    # The accumulators of a lane are independent of each other, as further warps are.
    busy = busy_share(resident * threads / WARP * filled, min(4.0, outputs))

    work = unit.analysis.work[unit.leader]
    moved = work.bytes_read + work.bytes_written
    sectors = sum(loads[id(f)] * _sectors(f, lanes, element_of(unit, f)) for f in inputs)
    clock = device.clock_ghz * 1e9
    own = {**lanes, **rows, **summed}
    footprint = sum(
        prod(n for name, n in own.items() if _moves(f, name)) * element_of(unit, f) for f in inputs
    )
    l1_rate = device.l1_bytes_per_clock_per_sm * device.sm_count * clock
    peak = peak_flop_s(element, device)
    instructions = steps * (sum(loads.values()) + outputs + LOOP_INSTRUCTIONS)
    terms = {
        "device memory": moved / (device.sustained_bandwidth_gb_s * 1e9) / min(1.0, 2 * busy),
        "L2": (gangs * footprint + moved) / (device.l2_bandwidth_gb_s * 1e9) / min(1.0, 2 * busy),
        "L1": warps * steps * sectors * SECTOR_BYTES / l1_rate / busy,
        "arithmetic": work.flop / peak / (prod(lanes.values()) / threads) / busy,
        "issue": warps * instructions / (ISSUE_PER_CLOCK * device.sm_count * clock) / busy,
    }
    time_s = overlapping(terms) + device.kernel_launch_us * 1e-6
    occupancy = min(1.0, resident * threads / device.max_threads_per_sm)
    return Prediction.of(time_s, terms, occupancy, registers, compiled is not None)


def _sectors(access: AccessFacts, lanes: dict[str, int], element: int) -> int:
    """Return how many sectors the lanes of the first warp touch, the first loop fastest."""
    found = set()
    for lane in range(min(WARP, prod(lanes.values()))):
        rest, offset = lane, 0
        for name, count in lanes.items():
            offset += (access.strides.get(name) or 0) * (rest % count)
            rest //= count
        found.add(offset * element // SECTOR_BYTES)
    return len(found)


def _moves(access: AccessFacts, loop: str) -> bool:
    return access.strides.get(loop) != 0
