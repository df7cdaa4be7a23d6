"""A model of a contraction's two-level tile: the same rooflines, for a block that works in phases.

A block loads its part of the output, then copies inputs and multiplies, then stores. While one
block multiplies, the others that are resident with it move data; so the shorter of both times
is hidden but for one part in as many as there are blocks. The rooflines are those of `model`
(Williams, Waterman and Patterson, Communications of the ACM 52(4), 2009,
doi:10.1145/1498765.1498785).
"""

from __future__ import annotations

from math import ceil, gcd, prod

from annotune.annotation.devices import Device
from annotune.decide.contraction_tile import Assignment, ContractionTile, held_registers
from annotune.decide.occupancy import residency
from annotune.decide.prediction import Prediction
from annotune.decide.units import Unit

# Conditions at the edges keep indices alive (measured: 254 in place of 165).
EDGE_REGISTERS = 80
# Clocks in which all threads of a block wait for each other (assumption: as in `model`).
_BARRIER_CLOCKS = 60
# Places of eight bytes next to each other that the banks of shared memory serve at once.
BANK_PAIRS = 16


def predict_tile(
    unit: Unit, tile: ContractionTile, element_bytes: int, device: Device
) -> Prediction:
    """Return the predicted time of one launch of a contraction under a two-level tile."""
    inside = (s for s in unit.statements if tile.contracted[0] in unit.loops_around(s))
    trips = {name: unit.trips[name] or 1 for name in unit.loops_around(next(inside))}
    cut = dict(tile.block_extents)
    outputs = dict(tile.outputs)
    external = [n for n in trips if any(f.strides.get(n, 0) != 0 for f in unit.writes)]
    blocks = prod(ceil(trips[name] / cut.get(name, 1)) for name in external)
    inner, depth = tile.contracted
    products = prod(n for name, n in trips.items() if name not in external)
    # Every thread multiplies for its whole tile, also where the output ends inside it.
    multiplied = blocks * prod(outputs.values()) * products
    resident = _resident(tile, trips, element_bytes, device)

    works = [unit.analysis.work[statement] for statement in unit.statements]
    traffic = sum(work.bytes_read + work.bytes_written for work in works)
    one_x = tile.thread_x[1] * tile.register_x[1]
    one_y = tile.thread_y[1] * tile.register_y[1]
    copied = one_x * tile.stage_x + one_y * tile.stage_y
    filled_bytes = blocks * copied * products * element_bytes
    staged = blocks * (one_x + one_y) * products * element_bytes
    loads = _x_passes(tile) / tile.register_y[1] + 1 / tile.register_x[1]
    peak = (device.fp64_tflops if element_bytes == 8 else device.fp32_tflops) * 1e12
    clock = device.clock_ghz * 1e9
    shared_rate = device.l1_bytes_per_clock_per_sm * device.sm_count * clock
    terms = {
        "device memory": traffic / (device.sustained_bandwidth_gb_s * 1e9),
        "L2": (staged + traffic) / (device.l2_bandwidth_gb_s * 1e9),
        "shared memory": (multiplied * loads * element_bytes + filled_bytes) / shared_rate,
        "arithmetic": 2 * multiplied / peak,
    }
    limit = max(terms, key=lambda name: terms[name])
    moving = max(terms["device memory"], terms["L2"])
    computing = max(terms["shared memory"], terms["arithmetic"])
    waves = ceil(blocks / (device.sm_count * resident))
    filled = blocks / (waves * device.sm_count * resident)
    total = max(moving, computing / filled) + min(moving, computing / filled) / resident
    rounds = ceil(trips[inner] / depth)
    barriers = waves * rounds * 2 * _BARRIER_CLOCKS / clock
    return Prediction(
        total + barriers + device.kernel_launch_us * 1e-6,
        terms["device memory"],
        terms["L2"],
        terms["shared memory"],
        terms["arithmetic"],
        0.0,
        min(1.0, resident * tile.threads / device.max_threads_per_sm),
        limit,
    )


def _x_passes(tile: ContractionTile) -> int:
    """Return how often a bank is asked for an operand of x, the threads of which are neighbours.

    Neighbours of its own put those of other threads as far away; operands of y are one for all.
    """
    is_apart = tile.x.is_split and tile.assign_x is Assignment.ADJACENT
    return gcd(tile.register_x[1], BANK_PAIRS) if is_apart else 1


def _resident(
    tile: ContractionTile, trips: dict[str, int], element_bytes: int, device: Device
) -> int:
    """Return how many blocks an SM holds at once."""
    registers = held_registers(tile, element_bytes)
    if any(trips[name] % size for name, size in tile.outputs):
        registers += EDGE_REGISTERS
    registers = min(device.max_registers_per_thread, registers)
    own = tile.x.length * tile.stage_x + tile.y.length * tile.stage_y
    shared = own * tile.contracted[1] * element_bytes
    return max(1, residency(device, tile.threads, registers, shared).blocks)
