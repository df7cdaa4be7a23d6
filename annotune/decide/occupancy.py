"""How many blocks of a compiled kernel a multiprocessor holds at once, and what bounds them.

The rules are those of NVIDIA's occupancy calculator (``cuda_occupancy.h`` of the CUDA toolkit)
for compute capability 8.0 and later; the limits are the device's own (CUDA C++ Programming
Guide, Technical Specifications per Compute Capability).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from annotune.annotation.devices import Device

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
