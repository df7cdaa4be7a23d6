"""What a kernel takes in which several statements add to one output that stays in registers.

Blocks work in phases as those of a two-level tile do (`predict`): while one copies, those that are
resident with it multiply.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from math import ceil, prod

from annotune.analysis.facts import AccessFacts
from annotune.annotation.devices import Device
from annotune.frozen import dataclass
from annotune.ir.expr import Access, Binary, Expr, Int, Negate, Real, Var, walk
from annotune.model.bounds import KIB, peak_flop_s
from annotune.model.shape import moves
from annotune.model.traffic import (
    BARRIER_CLOCKS,
    MEMORY_CLOCKS,
    REGISTER_BYTES,
    STAGE_CLOCKS,
    AccessStream,
    Compiled,
    Prediction,
    most_registers,
    read_by_waves,
    residency,
)
from annotune.schedule.candidate import Candidate, JointTile
from annotune.schedule.units import Unit
from annotune.transforms.registers import DEPTH_LANES
from annotune.transforms.transform import counts_set
from annotune.transforms.tree import find_assign

# 32-bit registers beside outputs and operands: addresses, counters.
OTHER_REGISTERS = 24
# The share of the peak at which threads add products of inputs in shared memory, and the same in a
# tile for the tensor cores, whose lanes meet in banks there: on an H200 a sum of 16 for each of
# 16^6 outputs takes 34 and 43 us (docs/hardware.md).
BY_THREADS, BESIDE_TENSOR_CORES = 0.65, 0.5
# Instructions of a division of doubles (estimated).
DIVISION = 30


@dataclass(frozen=True)
class JointTerm:
    """One statement ``C += A * B`` of several: its inputs, and the loops of the output in each.

    `sums` are its other loops, those that should be staged first; there may be none. ``C = 0`` has
    no inputs either.
    """

    statement: int
    inputs: tuple[AccessFacts, ...]
    own: tuple[frozenset[str], ...]
    sums: tuple[str, ...]

    @classmethod
    def of(cls, unit: Unit, statement: int, joint: tuple[str, ...]) -> JointTerm | str:
        """Return a statement of a unit as a term of an output, or in words why it is none.

        The loops `joint` pick the output.
        """
        assign = find_assign(unit.body, statement)
        if assign.op == "=" and isinstance(assign.value, Real | Int):
            return cls(statement, (), (), ())
        factors = list(_factors(assign.value))
        elements = [one for one in factors if isinstance(one, Access)]
        if any(one is None for one in factors) or len({e.array for e in elements}) != 2:
            return f"statement {statement} does not add a product of elements of two arrays"
        if len(elements) != 2:
            return f"statement {statement} multiplies more than two elements"
        facts = unit.analysis.accesses[statement]
        a, b = (next(f for f in facts if f.access == e) for e in elements)
        names = [n for n in unit.loops_around(statement) if n not in joint]
        if any(stride is None for f in (a, b) for stride in f.strides.values()):
            return f"statement {statement} does not walk its inputs evenly"
        sums = sorted(names, key=lambda n: min(abs(f.strides.get(n) or 1 << 62) for f in (a, b)))
        one, two = (frozenset(n for n in joint if moves(f, n)) for f in (a, b))
        if one | two != {*joint}:
            return f"statement {statement} adds the same to several elements"
        return cls(statement, (a, b), (one, two), tuple(sums))

    def is_matrix_product(self, by_warps: tuple[str, ...]) -> bool:
        """Return whether the tensor cores multiply it: an input has the rows, one the columns."""
        if not by_warps or not self.sums:
            return False
        column, row = by_warps
        a, b = self.own
        is_product = (column in a and row in b) or (row in a and column in b)
        return is_product and not any({column, row} <= own for own in (a, b))


def _factors(expr: Expr) -> list[Expr | None]:
    """Return the factors of a product, None for what is no factor of one."""
    match expr:
        case Binary("*", left, right):
            return [*_factors(left), *_factors(right)]
        case Negate(operand):
            return _factors(operand)
        case Access() | Real() | Int() | Var():
            return [expr]
        case _:
            return [None]


def products_of(lengths: Mapping[str, int], loops: Collection[str]) -> int:
    """Return the product of the lengths of some loops, one for those that have none."""
    return prod(size for loop, size in lengths.items() if loop in loops)


@dataclass(frozen=True)
class JointBlocks:
    """The blocks of a unit of several statements under a choice with a joint tile."""

    unit: Unit
    choice: Candidate
    element: int
    device: Device

    @property
    def tile(self) -> JointTile:
        assert self.choice.joint is not None
        return self.choice.joint

    @cached_property
    def terms(self) -> tuple[JointTerm, ...]:
        found = (JointTerm.of(self.unit, n, self.unit.joint) for n in self.unit.added)
        return tuple(term for term in found if isinstance(term, JointTerm))

    @cached_property
    def trips(self) -> Mapping[str, int]:
        return {name: count or 1 for name, count in self.unit.trips.items()}

    @cached_property
    def grid(self) -> list[tuple[str, int]]:
        """Return the loops of the output with the tiles along them."""
        lengths = self.tile.lengths
        return [(n, ceil(self.trips[n] / lengths.get(n, 1))) for n in self.unit.joint]

    @property
    def stages(self) -> int:
        ring = 2 if self.is_relayed else 1
        return max(counts_set(self.choice.steps, "stages"), default=ring)

    @property
    def is_relayed(self) -> bool:
        """Return whether the copies of a term begin while the one before it is computed."""
        return bool(counts_set(self.choice.steps, "relayed"))

    @property
    def registers(self) -> int:
        """Return the estimated registers of a thread."""
        own, tile = dict(self.tile.registers), self.tile
        operands = max(sum(products_of(own, x) for x in term.own) for term in self.terms)
        needed = (tile.each + operands) * self.element // REGISTER_BYTES + OTHER_REGISTERS
        together = max(counts_set(self.choice.steps, "resident"), default=1)
        return min(needed, most_registers(self.device, tile.block_size * together))

    @property
    def shared_bytes(self) -> int:
        """Return the shared memory of a block: that of the term that copies most."""
        lengths = self.tile.lengths
        each = (
            sum(products_of(lengths, own) for own in term.own) * step
            for term, (_, step) in zip(self.terms, self.tile.sums, strict=True)
            if term.sums
        )
        return self.stages * max(each, default=0) * self.element

    def prediction(self, compiled: Compiled | None) -> Prediction:
        """Return the predicted time of a launch, `compiled` what a compiler said of it."""
        device, tile = self.device, self.tile
        registers = compiled.registers if compiled else self.registers
        shared_bytes = (compiled.shared_bytes if compiled else 0) or self.shared_bytes
        found = residency(device, tile.block_size, registers, shared_bytes)
        resident, clock = max(1, found.blocks), device.clock_ghz * 1e9
        terms = self.work(device.sm_count * resident)
        blocks = prod(count for _, count in self.grid)
        waves = ceil(blocks / (device.sm_count * resident))
        steps = sum(self._steps(k) for k in range(len(self.terms)))
        # Of relayed copies only the first are waited for, at one barrier for each step.
        begun, barriers = (1, steps) if self.is_relayed else (len(self.terms), 2 * steps)
        waited = MEMORY_CLOCKS + begun * STAGE_CLOCKS + barriers * BARRIER_CLOCKS
        moving = max(terms["device memory"], terms["L2"])
        computing = max(terms["shared memory"], terms["arithmetic"])
        # What one block waits for, the others resident with it work in.
        terms["latency"] = waves * waited / clock / resident
        per_sm = blocks / device.sm_count
        filled = per_sm / ceil(per_sm)
        exposed = min(moving, computing) / per_sm * waves + terms["latency"]
        time_s = max(moving, computing / filled) + exposed + device.kernel_launch_us * 1e-6
        occupancy = min(1.0, resident * tile.block_size / device.max_threads_per_sm)
        rates = self.rates
        moved = {place: terms[place] * rates[place] for place in ("device memory", "L2")}
        return Prediction(time_s, terms, occupancy, registers, compiled is not None, moved)

    def _steps(self, number: int) -> int:
        """Return how often a block copies inputs of a term."""
        term, (inner, step) = self.terms[number], self.tile.sums[number]
        if not term.sums:
            return 1
        others = prod(self.trips[n] for n in term.sums if n != inner)
        return others * ceil(self.trips[inner] / step)

    def crossings(self, array: str) -> int:
        """Return how often elements of the output, and of what its readers touch, cross memory."""
        unit, own = self.unit, self.unit.statements
        is_set = find_assign(unit.body, unit.leader).op == "="
        is_inside = unit.analysis.users(array) <= {*own}
        is_dropped = is_set and is_inside and unit.analysis.stays_on_device(array)
        terms = {term.statement for term in self.terms}
        every = (f for n in own if n not in terms for f in unit.analysis.accesses[n])
        others = {f.access for f in every if all(moves(f, n) for n in unit.joint)}
        inner = {array, *unit.passed}
        return (not is_set) + (not is_dropped) + sum(one.array not in inner for one in others)

    @cached_property
    def others(self) -> int:
        """Return the instructions of what else is computed for an output, and of it."""
        terms = {term.statement for term in self.terms}
        rest = (find_assign(self.unit.body, n) for n in self.unit.statements if n not in terms)
        parts = (e for one in rest for e in walk(one.value) if isinstance(e, Binary))
        return sum(DIVISION if one.op == "/" else 1 for one in parts)

    @property
    def rates(self) -> Mapping[str, float]:
        """Return the bytes/s that each place allows."""
        device = self.device
        clock = device.clock_ghz * 1e9
        return {
            "device memory": device.sustained_bandwidth_gb_s * 1e9,
            "L2": device.l2_bandwidth_gb_s * 1e9,
            "shared memory": device.l1_bytes_per_clock_per_sm * device.sm_count * clock,
        }

    def work(self, at_once: int) -> dict[str, float]:
        """Return the seconds of what blocks do side by side, so many of them at once."""
        tile, lengths, own = self.tile, self.tile.lengths, dict(self.tile.registers)
        blocks = prod(count for _, count in self.grid)
        outputs = tile.each * tile.block_size
        products = by_warps = read = copied = 0
        for term in self.terms:
            depth = prod(self.trips[n] for n in term.sums)
            is_product = term.is_matrix_product(tile.by_warps)
            by_warps += depth * outputs * is_product
            products += depth * outputs * (not is_product)
            # A lane has one of four steps, and half of the columns are those of other lanes.
            lanes = DEPTH_LANES if is_product else 1
            read += depth * tile.block_size * sum(products_of(own, x) for x in term.own) // lanes
            copied += depth * sum(products_of(lengths, x) for x in term.own)
        l2_room = self.device.l2_mib * KIB * KIB
        target = next(f for f in self.unit.writes)
        streams = [AccessStream.of(f, self.element) for term in self.terms for f in term.inputs]
        sums = {n: self.trips[n] for term in self.terms for n in term.sums}
        inside = {**{n: lengths.get(n, 1) for n in self.unit.joint}, **sums}
        memory = read_by_waves(streams, self.grid, inside, at_once, l2_room)
        whole = prod(self.trips[n] for n in self.unit.joint if target.strides.get(n) != 0)
        crossing = self.crossings(target.access.array) * whole * self.element
        memory += crossing
        through_l2 = blocks * copied * self.element + crossing
        through_shared = blocks * (read + copied) * self.element
        rates, peak = self.rates, peak_flop_s(self.element, self.device)
        faster = self.device.fp64_tensor_attainable_tflops * 1e12 or peak
        attained = peak * (BESIDE_TENSOR_CORES if tile.by_warps else BY_THREADS)
        return {
            "device memory": memory / rates["device memory"],
            "L2": through_l2 / rates["L2"],
            "shared memory": through_shared / rates["shared memory"],
            "arithmetic": 2
            * blocks
            * (products / attained + by_warps / faster + self.others * outputs / peak),
        }
