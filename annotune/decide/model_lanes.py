"""A model of outputs in the registers of a lane: the rooflines of `model` without shared memory.

In each step of the sum a lane loads what its rows and columns need, from the L1 if another lane
or an earlier step has brought the sector. What the lanes of a warp have in common is one sector.
"""

from __future__ import annotations

from math import ceil, prod

from annotune.analysis.facts import AccessFacts
from annotune.annotation.devices import Device
from annotune.decide.bounds import peak_flop_s
from annotune.decide.occupancy import residency
from annotune.decide.placement import WARP
from annotune.decide.plan import Candidate
from annotune.decide.prediction import Compiled, Prediction
from annotune.decide.traffic import SECTOR_BYTES
from annotune.decide.units import Unit
from annotune.ir.c_types import WORD, element_bytes
from annotune.transforms.tile import tile_name

# 32-bit registers of a lane beside its values and their addresses: counters and bounds. With them
# 16 outputs come to 136 and 25 to 180; ptxas gives gcc 12's code 168 and 167 for sm_90.
OTHER_REGISTERS = 40
# Registers of an address, which each accumulator and each operand has for itself.
ADDRESS = 2
# As in `model`: warps that hide latency, instructions of a loop and per clock, and the share of
# their time that the terms beside the longest cost.
_WARPS_TO_HIDE = 32
_LOOP_INSTRUCTIONS = 3
_ISSUE_PER_CLOCK = 4
_EXPOSED = 0.1


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
    element = max(_bytes(unit, f) for f in facts)

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
    active = resident * threads / WARP * filled * min(4.0, outputs)
    busy = max(1e-3, min(1.0, active / _WARPS_TO_HIDE))

    work = unit.analysis.work[unit.leader]
    moved = work.bytes_read + work.bytes_written
    sectors = sum(loads[id(f)] * _sectors(f, lanes, _bytes(unit, f)) for f in inputs)
    clock = device.clock_ghz * 1e9
    own = {**lanes, **rows, **summed}
    footprint = sum(
        prod(n for name, n in own.items() if _moves(f, name)) * _bytes(unit, f) for f in inputs
    )
    l1_rate = device.l1_bytes_per_clock_per_sm * device.sm_count * clock
    peak = peak_flop_s(element, device)
    instructions = steps * (sum(loads.values()) + outputs + _LOOP_INSTRUCTIONS)
    terms = {
        "device memory": moved / (device.sustained_bandwidth_gb_s * 1e9) / min(1.0, 2 * busy),
        "L2": (gangs * footprint + moved) / (device.l2_bandwidth_gb_s * 1e9) / min(1.0, 2 * busy),
        "L1": warps * steps * sectors * SECTOR_BYTES / l1_rate / busy,
        "arithmetic": work.flop / peak / (prod(lanes.values()) / threads) / busy,
        "issue": warps * instructions / (_ISSUE_PER_CLOCK * device.sm_count * clock) / busy,
    }
    limit = max(terms, key=lambda name: terms[name])
    total = terms[limit] + _EXPOSED * (sum(terms.values()) - terms[limit])
    return Prediction(
        total + device.kernel_launch_us * 1e-6,
        terms["device memory"],
        terms["L2"],
        terms["L1"],
        terms["arithmetic"],
        terms["issue"],
        0.0,
        min(1.0, resident * threads / device.max_threads_per_sm),
        limit,
        registers,
        compiled is not None,
    )


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


def _bytes(unit: Unit, access: AccessFacts) -> int:
    array = unit.analysis.region.arrays.get(access.access.array)
    return element_bytes(array.element) if array is not None else WORD
