"""A model of a kernel's time on a GPU, to rank the space and to predict what cannot be run.

Roofline terms (Williams, Waterman and Patterson, Communications of the ACM 52(4), 2009,
doi:10.1145/1498765.1498785) for device memory, L2, L1 and arithmetic, with coalescing
counted in 32-byte sectors of a warp (CUDA C++ Best Practices Guide, Coalesced Access to
Global Memory), reuse by working sets (`traffic`), occupancy, whole waves of blocks, and the
latency of what a thread does in order. docs/model.md tells how far it is from measurements.

What a launch moves and computes is counted from its threads' loops and accesses; where each lane
holds a block of outputs, from its rows and columns: it loads what they need in each step of the
sum, from the L1 if another lane or an earlier step has brought the sector. Both are priced alike.

The block of a contraction's two-level tile works in phases: it loads its part of the output, then
copies inputs and multiplies, then stores. While one block waits or multiplies, the others that are
resident with it move data; so the shorter of both times, and the latency between the phases, are
hidden but for one part in as many as there are blocks.

What the model says of a region's kernels on a device, beside what no kernel can beat.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import ceil, gcd, log2, prod

from annotune.analysis.facts import AccessFacts, Analysis, Work
from annotune.annotation.devices import Device
from annotune.frozen import dataclass
from annotune.ir.c_types import WORD, element_bytes
from annotune.ir.expr import Access, Int
from annotune.ir.fold import fold
from annotune.ir.nest import Assign, LocalArray, Loop, MemorySpace, walk_stmts
from annotune.model.bounds import KIB, copies, copy_time, least_time, magma_time, peak_flop_s
from annotune.model.joint import JointBlocks
from annotune.model.passes import PASS_BYTES, NestAccesses, nest_accesses
from annotune.model.shape import (
    SECTOR_BYTES,
    LaunchShape,
    ThreadWork,
    element_of,
    host_trips,
    in_parts,
    lanes,
    moves,
    shape,
    thread_work,
    warp_sectors,
)
from annotune.model.traffic import (
    BARRIER_CLOCKS,
    ISSUE_PER_CLOCK,
    L2_CLOCKS,
    LOOP_INSTRUCTIONS,
    MEMORY_CLOCKS,
    REGISTER_BYTES,
    SM_PARTS,
    STAGE_CLOCKS,
    TERM_CLOCKS,
    AccessStream,
    Compiled,
    Prediction,
    busy_share,
    fetched,
    most_registers,
    overlapping,
    read_by_waves,
    residency,
)
from annotune.schedule.candidate import (
    Assignment,
    Candidate,
    ContractionTile,
    held_registers,
    pipeline_of,
    resident_of,
)
from annotune.schedule.launch_sizes import TEAM
from annotune.schedule.units import Unit, with_merged
from annotune.transforms.map import Team
from annotune.transforms.merge import Decode, Merge
from annotune.transforms.registers import DEPTH_LANES, ROW_LANES, Hold
from annotune.transforms.spread import (
    Batch,
    BlockPart,
    Bulk,
    ShareArray,
    Spread,
    block_parts,
)
from annotune.transforms.tile import tile_name
from annotune.transforms.transform import (
    Moving,
    counts_set,
    names_set,
)
from annotune.transforms.unroll import Unroll

# 32-bit registers that a thread needs besides values: addresses and counters.
BASE_REGISTERS = 32
# Values on their way from memory to a thread at most, beside those that it holds (seen in
# kernels of a direct gemm: 80 registers).
VALUES_IN_FLIGHT = 24
# 32-bit registers of a lane beside its values and their addresses: counters and bounds. With them
# 16 outputs come to 136 and 25 to 180; ptxas gives gcc 12's code 168 and 167 for sm_90.
OTHER_REGISTERS = 40
# Registers of an address, which each accumulator and each operand has for itself.
ADDRESS = 2
# Conditions at the edges keep indices alive (measured: 254 in place of 165).
EDGE_REGISTERS = 80
# ptxas lets go of half of them before it spills (28 by 16 threads, 128 registers for each).
NEEDED_AT_EDGES = 40
# A load from shared memory, and what a term of a sum adds to it where several are on their way
# (assumption: the latencies of a load and of a multiply-add, as of compute capability 8.0).
SHARED_CLOCKS = 30
SHARED_TERM_CLOCKS = 10
# Without such instructions lanes hand each other their operands, one for each product.
SHUFFLED = 4
# Places of eight bytes next to each other that the banks of shared memory serve at once.
BANK_PAIRS = 16


@dataclass(frozen=True, slots=True)
class _Running:
    """How a kernel stands on the device: blocks of an SM, rounds of blocks, and how busy it is."""

    resident: int
    waves: int
    busy: float
    lanes_used: float
    occupancy: float


@dataclass(frozen=True, slots=True)
class _LaunchWork:
    """What one launch moves and does; sectors of the L1 and instructions are those of warps."""

    memory_bytes: float
    l2_bytes: float
    l1_sectors: float
    flop: float
    instructions: float


def predict(
    unit: Unit, choice: Candidate, device: Device, compiled: Compiled | None = None
) -> Prediction:
    """Return the predicted time of one launch of the unit under `choice` on `device`.

    `compiled` is what a compiler said of the kernel; without it, registers are estimated.
    """
    if choice.merges:
        plain = choice.having(without=(Merge, Decode))
        return predict(with_merged(unit, choice.merges), plain, device, compiled)
    choice = _flattened(choice)
    element = max((element_of(unit, a) for a in (*unit.reads, *unit.writes)), default=WORD)
    if choice.joint is not None:
        return JointBlocks(unit, choice, element, device).prediction(compiled)
    if choice.contract is not None:
        tile = _TiledBlocks(unit, choice.contract, choice.moves, element, device)
        return tile.prediction(compiled)
    holds = choice.shape and choice.of(Hold)
    kind = _HeldOutputs if holds else _ElementBlocks if choice.of(Spread) else _Threads
    threads = kind(unit, choice, element, device)
    registers = compiled.registers if compiled else threads.registers
    shared_bytes = compiled.shared_bytes if compiled else threads.shared_bytes
    running = threads.running(registers, shared_bytes)
    work = threads.work(running.resident, compiled)
    clock = device.clock_ghz * 1e9
    l1_rate = device.l1_bytes_per_clock_per_sm * device.sm_count * clock
    issue_rate = ISSUE_PER_CLOCK * device.sm_count * clock
    peak = peak_flop_s(element, device)
    moving = min(1.0, 2 * running.busy)
    waves = running.waves
    terms = {
        "device memory": work.memory_bytes / (device.sustained_bandwidth_gb_s * 1e9) / moving,
        "L2": work.l2_bytes / (device.l2_bandwidth_gb_s * 1e9) / moving,
        "L1": work.l1_sectors * SECTOR_BYTES / l1_rate / running.busy,
        "arithmetic": work.flop / peak / running.lanes_used / running.busy,
        "issue": work.instructions / issue_rate / running.busy,
        "latency": waves * threads.waiting(work.memory_bytes) / clock,
    }
    trees = waves * threads.combining_steps * BARRIER_CLOCKS / clock
    # Blocks leave what they have for one more launch of one block.
    last = bool(unit.sums) and threads.form.blocks > 1
    overhead = (1 + last) * (device.kernel_launch_us * 1e-6) + trees
    time_s = threads.launches * (threads.overlapped(terms, running) + overhead)
    moved = {
        "device memory": threads.launches * work.memory_bytes,
        "L2": threads.launches * work.l2_bytes,
    }
    return Prediction(time_s, terms, running.occupancy, registers, compiled is not None, moved)


def _flattened(choice: Candidate) -> Candidate:
    """Return a choice whose lanes share loops of nests in a gang with those of each nest as one."""
    if not choice.team or not choice.of(ShareArray):
        return choice
    loops: dict[int, tuple[str, ...]] = {}
    for statement, loop in choice.team:
        loops[statement] = (*loops.get(statement, ()), loop)
    return choice.having(*(Spread(s, names) for s, names in loops.items()), without=(Team,))


@dataclass(frozen=True)
class _Threads:
    """What the threads of one launch do, counted from their loops and accesses."""

    unit: Unit
    choice: Candidate
    element: int
    device: Device

    @cached_property
    def form(self) -> LaunchShape:
        return shape(self.unit, self.choice)

    @cached_property
    def works(self) -> tuple[ThreadWork, ...]:
        return tuple(thread_work(self.unit, self.choice, self.form))

    @cached_property
    def launches(self) -> int:
        """Return how often the host launches the kernel."""
        return prod(host_trips(self.unit, self.choice).values())

    @property
    def warps(self) -> int:
        return ceil(max(1, self.form.threads) / self.device.warp_size)

    @property
    def independent(self) -> float:
        """Return how many warps one is as good as by its independent work."""
        # That of unrolled iterations is.
        unrolled: float = max((work.unrolled for work in self.works), default=1)
        return min(4.0, float(unrolled**0.5))

    @property
    def registers(self) -> int:
        """Return the estimated registers of a thread, no more than the block's can have."""
        held = max((work.held for work in self.works), default=0)
        loads = max((sum(x.runs // w.rounds for x in w.loads) for w in self.works), default=0)
        values = max(held, min(VALUES_IN_FLIGHT, loads))
        wanted = BASE_REGISTERS + values * self.element // REGISTER_BYTES
        return min(most_registers(self.device, self.form.threads), wanted)

    @property
    def shared_bytes(self) -> int:
        """Return the shared memory of a block, as far as the choice itself tells."""
        return 0

    @property
    def combining_steps(self) -> int:
        """Return how many steps the trees of one block have in which its threads combine sums."""
        unit, choice = self.unit, self.choice
        sums = {name for _, name in unit.shared.sums} if choice.team else {*unit.sums}
        trees = len({*choice.shared} & sums)
        return trees * ceil(log2(max(1, self.form.threads)))

    def running(self, registers: int, shared_bytes: int) -> _Running:
        device, blocks, warps = self.device, self.form.blocks, self.warps
        threads = max(1, self.form.threads)
        resident = max(1, residency(device, threads, registers, shared_bytes).blocks)
        waves = ceil(max(1, blocks) / (device.sm_count * resident))
        filled = blocks / (waves * device.sm_count * resident) if blocks else 1.0
        busy = busy_share(resident * warps * filled, self.independent)
        used = threads / (warps * device.warp_size)
        share = min(1.0, resident * warps * device.warp_size / device.max_threads_per_sm)
        return _Running(resident, waves, busy, used, share)

    def overlapped(self, terms: Mapping[str, float], running: _Running) -> float:
        """Return the seconds of terms that run side by side."""
        return overlapping(terms)

    def waiting(self, memory_bytes: float) -> float:
        """Return the clocks that the threads of a wave wait for what they do in order."""
        is_streamed = memory_bytes > self.device.l2_mib * KIB * KIB
        level = MEMORY_CLOCKS if is_streamed else L2_CLOCKS
        # Statements that share a kernel wait at the same time.
        clocks = (work.rounds * (level + work.chain * TERM_CLOCKS) for work in self.works)
        return max(clocks, default=0)

    def work(self, resident: int, compiled: Compiled | None) -> _LaunchWork:
        """Return what a launch moves and does, so many of its blocks `resident` on an SM."""
        unit, device = self.unit, self.device
        streams = [
            AccessStream.of(access, element_of(unit, access))
            for statement in unit.statements
            for access in unit.analysis.accesses[statement]
        ]
        own = {(s.array, s.is_write, tuple(s.strides.items())): s for s in streams}
        l2_bytes, memory_bytes = _moved(
            list(own.values()), in_parts(unit, self.form), resident, device
        )
        places = lanes(unit, self.form, device.warp_size)
        sectors = written = instructions = 0.0
        for work in self.works:
            for load in work.loads:
                width = element_of(unit, load.access)
                touched = load.runs * warp_sectors(load.access, places, width)
                sectors += touched
                written += touched if load.access.is_write else 0
                instructions += load.runs
            instructions += work.iterations * (1 + LOOP_INSTRUCTIONS / work.unrolled)
        warps = self.form.blocks * self.warps
        # Stores go through the L1, each warp's by itself.
        l2_bytes += warps * written * SECTOR_BYTES
        if compiled is not None:
            # A spilled register goes to the L1 and back, once in each round.
            rounds = max((work.rounds for work in self.works), default=1)
            spilled = compiled.spill_store_bytes + compiled.spill_load_bytes
            sectors += rounds * spilled * device.warp_size / SECTOR_BYTES
        flop = sum(unit.analysis.work[s].flop for s in unit.statements) / self.launches
        return _LaunchWork(memory_bytes, l2_bytes, warps * sectors, flop, warps * instructions)


def _moved(
    streams: Sequence[AccessStream], form: LaunchShape, resident: int, device: Device
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


@dataclass(frozen=True, slots=True)
class _SharedNest:
    """A nest whose loops a block's threads share: what it accesses, and its loops `inside` one.

    So many iterations of these are written `at_once`. Of the loop `pair` a thread has two points.
    """

    accesses: NestAccesses
    inside: tuple[str, ...]
    points: int
    flop: float
    at_once: int
    pair: str = ""

    @property
    def turns(self) -> int:
        """Return how often a thread runs through the loops inside it for one of its points."""
        return prod(self.accesses.counts[name] for name in self.inside)


class _ElementBlocks(_Threads):
    """What the threads of a block do that share the loops of all its nests, one after another."""

    @cached_property
    def form(self) -> LaunchShape:
        unit, rows = self.unit, self.rows
        trips = {name: unit.trips[name] or 1 for name in self.choice.blocks}
        blocks = tuple((name, ceil(n / rows.get(name, 1))) for name, n in trips.items())
        size, warp = self.row * prod(rows.values()), self.device.warp_size
        return LaunchShape((("", ceil(size / warp) * warp),), blocks, ())

    @property
    def rows(self) -> Mapping[str, int]:
        """Return the loops of which a block has several iterations at once, a row for each."""
        return {step.loop: step.size for step in self.choice.of(Batch)}

    @property
    def row(self) -> int:
        """Return the threads that have one element together."""
        size = max(min(s.threads or TEAM, self._points(s)) for s in self.choice.of(Spread))
        return size if self.rows else ceil(size / self.device.warp_size) * self.device.warp_size

    @cached_property
    def works(self) -> tuple[ThreadWork, ...]:
        return ()

    @property
    def registers(self) -> int:
        """Return the estimated registers of a thread: what it keeps over its loops, and loads."""
        loads = max((nest.accesses.loads for nest in self.nests), default=0)
        kept = max(
            (nest.accesses.kept(nest.inside, nest.pair) for nest in self.nests if nest.inside),
            default=0,
        )
        values = kept + min(VALUES_IN_FLIGHT, loads)
        wanted = BASE_REGISTERS + values * self.element // REGISTER_BYTES
        resident = max(counts_set(self.choice.steps, "resident"), default=1)
        return min(most_registers(self.device, self.form.threads * resident), wanted)

    @property
    def shared_bytes(self) -> int:
        own = (s for s in walk_stmts(self.unit.body) if isinstance(s, LocalArray))
        shared = {step.array for step in self.choice.of(ShareArray)}
        held = sum(prod(s.extents) * element_bytes(s.type) for s in own if s.name in shared)
        parts = sum(map(self.held, self.parts))
        return held * prod(self.rows.values()) + parts * self.element

    @cached_property
    def nests(self) -> tuple[_SharedNest, ...]:
        """Return the nests of an element, and what its threads have of their loops."""
        return tuple(map(self._nest, self.choice.of(Spread)))

    @cached_property
    def _accesses(self) -> dict[tuple[int, tuple[str, ...]], NestAccesses]:
        # Of all statements of a nest they are the same.
        return {}

    def _nest(self, step: Spread) -> _SharedNest:
        unit = self.unit
        path = unit.analysis.paths[step.statement]
        chain = [next(x for x in path if x.var not in self.choice.blocks)]
        while len(chain[-1].body) == 1 and isinstance(chain[-1].body[0], Loop):
            chain.append(chain[-1].body[0])
        # The terms of a sum are no points, even where it has no other statement in its loops.
        names = [x.var for x in chain if unit.combined(step.statement, x.var) == ()]
        inside = tuple(name for name in names if name not in step.loops)
        aligned = names_set(self.choice.steps, "aligned")
        key = id(chain[0]), tuple(names)
        if key not in self._accesses:
            found = nest_accesses(unit, chain[0], names, self.parts, aligned)
            self._accesses[key] = found
        accesses = self._accesses[key]
        own = {s.number for s in walk_stmts((chain[0],)) if isinstance(s, Assign)}
        flop = sum(unit.analysis.work[s].flop for s in own & {*unit.statements})
        written = (s for s in self.choice.of(Unroll) if s.loop in inside and s.statement in own)
        at_once = prod(step.factor for step in written)
        return _SharedNest(accesses, inside, self._points(step), flop, at_once, step.pair)

    @cached_property
    def parts(self) -> Mapping[str, BlockPart]:
        """Return the arrays that are in a block's memory, with what it has for each element."""
        context, blocks = self.unit.context, self.choice.blocks
        statements = frozenset(self.unit.statements)
        return block_parts(self.choice.steps, context, statements, blocks)

    def held(self, array: str) -> int:
        """Return the elements that a block has of an array."""
        part = self.parts[array]
        return part.length * self.rows.get(part.loop, 1)

    def _points(self, step: Spread) -> int:
        """Return the iterations of the loops that a step flattens, or pairs of them."""
        own = self.unit.analysis.paths[step.statement]
        every = prod(self.unit.count(x) or 1 for x in own if x.var in step.loops)
        return every // 2 if step.pair else every

    @property
    def elements(self) -> int:
        """Return the iterations that all blocks have together."""
        return prod(self.unit.trips[name] or 1 for name in self.choice.blocks)

    def waiting(self, memory_bytes: float) -> float:
        """Return the clocks of one block: its nests wait for each other."""
        is_streamed = memory_bytes > self.device.l2_mib * KIB * KIB
        level = MEMORY_CLOCKS if is_streamed else L2_CLOCKS
        clocks: float = BARRIER_CLOCKS * len(self.nests)
        for nest in self.nests:
            rounds = ceil(nest.points / self.row)
            # What the loops inside a thread do not move it waits for once.
            far = [a for a in nest.accesses.accesses if not (a.is_near or a.is_write)]
            turns = ceil(nest.turns / nest.at_once)
            waits = [turns if any(map(a.moves, nest.inside)) else 1 for a in far]
            terms = max((a.length for a in nest.accesses.accesses), default=1)
            each = SHARED_CLOCKS + terms * SHARED_TERM_CLOCKS
            clocks += rounds * (max(waits, default=0) * level + nest.turns * each)
        # What blocks copy first comes out of the second-level cache where all of them read it.
        first = [part for part in self.parts.values() if part.copied_first]
        copied = max((level if part.loop else L2_CLOCKS for part in first), default=0)
        return clocks + (copied + BARRIER_CLOCKS if first else 0)

    @property
    def independent(self) -> float:
        """Return how many warps one is as good as: the loads of a point's sums wait for none."""
        loads: float = max((nest.accesses.loads for nest in self.nests), default=1)
        return min(4.0, max(1.0, float(loads**0.5)))

    @cached_property
    def moved(self) -> float:
        """Return the bytes between device memory and blocks, of which each is moved once."""
        unit, found = self.unit, dict[tuple[object, ...], dict[Access, float]]()
        shapes, sizes = unit.analysis.shapes, unit.analysis.region.sizes
        for fact in (f for s in unit.statements for f in unit.analysis.accesses[s]):
            part = self.parts.get(fact.access.array)
            if part is not None and not (part.copied_back if fact.is_write else part.copied_first):
                continue
            if fact.access.array in unit.analysis.region.arrays:
                # Neighbours of one point, as the factors of g, differ by constants alone.
                key = fact.access.array, fact.is_write, tuple(fact.strides.items())
                trips = (unit.trips[n] or 1 for n in fact.strides if moves(fact, n))
                size = float(prod(trips) * element_of(unit, fact))
                found.setdefault(key, {})[fact.access] = size
        most: dict[tuple[object, ...], float] = {}
        for (array, is_write, _), places in found.items():
            whole = fold(shapes[str(array)].length, sizes)
            size = sum(places.values())
            if isinstance(whole, Int):
                size = min(size, float(whole.value * self.element))
            most[array, is_write] = max(most.get((array, is_write), 0.0), size)
        return sum(most.values())

    def overlapped(self, terms: Mapping[str, float], running: _Running) -> float:
        """Return the seconds of terms that blocks hide from each other, if several run at once.

        Memory serves the blocks of a multiprocessor one after the other, also those of one wave,
        and while it does for one the others compute; of a single block nothing is hidden
        (assumption: as many pairs do as there are). An H200 took 11, 20 and 34 us for 1000 elements
        of local_grad3 with 8, 10 and 12 points, where this makes 13, 22 and 34.
        """
        longest = max(terms.values())
        hiding = max(1.0, min(self.form.blocks / self.device.sm_count, running.resident**2))
        return max(overlapping(terms), longest + (sum(terms.values()) - longest) / hiding)

    def work(self, resident: int, compiled: Compiled | None) -> _LaunchWork:
        """Return what a launch moves and does: each element of an array is moved once."""
        unit, rows = self.unit, prod(self.rows.values())
        passes = instructions = 0.0
        for nest in self.nests:
            # Rows of several elements fill warps together; idle lanes cost what the others do.
            warps = ceil(nest.points * rows / self.device.warp_size) / rows
            used = nest.points / (warps * self.device.warp_size)
            passes += nest.accesses.passes(nest.inside, nest.pair) / used
            asked = nest.accesses.instructions(nest.inside, nest.pair)
            each = asked + nest.turns * LOOP_INSTRUCTIONS
            instructions += warps * each
            instructions += nest.flop / self.elements / 2 / self.device.warp_size / used
        by_device = {step.array for step in self.choice.of(Bulk)}
        for array, part in self.parts.items():
            times = part.copied_first + part.copied_back
            lines = times * self.held(array) * self.element / PASS_BYTES / rows
            # What the device copies passes through no registers.
            passes += lines if array in by_device else 2 * lines
            if array in by_device:
                continue
            instructions += 2 * lines * self.element * self.device.warp_size / PASS_BYTES
        spilled = 0
        if compiled is not None:
            spilled = compiled.spill_store_bytes + compiled.spill_load_bytes
        sectors = (passes * PASS_BYTES + spilled * self.row) * self.elements / SECTOR_BYTES
        flop = float(sum(unit.analysis.work[s].flop for s in unit.statements))
        # What all elements read each block has from the second-level cache.
        again = sum(p.length for p in self.parts.values() if not p.loop) * self.element
        through_l2 = self.moved + self.form.blocks * again
        return _LaunchWork(self.moved, through_l2, sectors, flop, instructions * self.elements)


class _HeldOutputs(_Threads):
    """What lanes do that each hold a block of outputs, its rows, over the steps of a sum."""

    @cached_property
    def form(self) -> LaunchShape:
        """Return the trip counts of the kernel by role, rows before the loops of the sum."""
        unit, choice = self.unit, self.choice
        trips = {name: unit.trips[name] or 1 for name in unit.loops_around(unit.leader)}
        cut = dict(choice.tiles)
        threads = {name: cut.get(name, trips[name]) for name in choice.threads}
        tiled = {name for name in cut if tile_name(name) in choice.blocks}
        outer = [name for name in trips if name in choice.blocks or name in tiled]
        blocks = tuple((name, ceil(trips[name] / cut.get(name, 1))) for name in outer)
        serial = {name: n for name, n in cut.items() if name not in threads}
        serial |= {n: count for n, count in trips.items() if n not in {*outer, *threads, *cut}}
        return LaunchShape(tuple(threads.items()), blocks, tuple(serial.items()))

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """Return the serial loops over the outputs of a lane."""
        cut = dict(self.choice.tiles)
        return {name: n for name, n in self.form.serial if name in cut}

    @cached_property
    def loads(self) -> tuple[tuple[AccessFacts, int], ...]:
        """Return the inputs, each with the elements that a lane loads in one step."""
        facts = self.unit.analysis.accesses[self.unit.leader]
        target = next(fact for fact in facts if fact.is_write).access
        inputs = (fact for fact in facts if fact.access != target)
        return tuple(
            (fact, prod(n for name, n in self.rows.items() if moves(fact, name))) for fact in inputs
        )

    @cached_property
    def launches(self) -> int:
        """Return 1: loops of the host count as steps of the sum."""
        return 1

    @property
    def outputs(self) -> int:
        return prod(self.rows.values())

    @property
    def independent(self) -> float:
        """Return how many warps one is as good as: no accumulator waits for another."""
        return min(4.0, self.outputs)

    @property
    def registers(self) -> int:
        values = self.outputs + sum(n for _, n in self.loads)
        wanted = OTHER_REGISTERS + values * (self.element // REGISTER_BYTES + ADDRESS)
        return min(wanted, self.device.max_registers_per_thread)

    def waiting(self, memory_bytes: float) -> float:
        """Return 0: the accumulators hide the latency of each other's terms."""
        return 0

    def work(self, resident: int, compiled: Compiled | None) -> _LaunchWork:
        unit, form = self.unit, self.form
        own = dict((*form.thread_trips, *form.serial))
        steps = prod(n for name, n in form.serial if name not in self.rows)
        places = lanes(unit, form, self.device.warp_size)
        footprint = sectors = 0
        for fact, loads in self.loads:
            width = element_of(unit, fact)
            sectors += loads * warp_sectors(fact, places, width)
            footprint += prod(n for name, n in own.items() if moves(fact, name)) * width
        work = unit.analysis.work[unit.leader]
        moved = work.bytes_read + work.bytes_written
        instructions = sum(n for _, n in self.loads) + self.outputs + LOOP_INSTRUCTIONS
        turns = form.blocks * self.warps * steps
        through_l2 = form.blocks * footprint + moved
        return _LaunchWork(moved, through_l2, turns * sectors, work.flop, turns * instructions)


@dataclass(frozen=True, slots=True)
class _BlockWork:
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


@dataclass(frozen=True)
class _TiledBlocks:
    """The blocks of a contraction under a two-level `tile`, of elements of so many bytes.

    With several stages of `moves`, copies are on their way while another one is used. Stages in
    shared memory, or registers, are those of the block.
    """

    unit: Unit
    tile: ContractionTile
    moves: Sequence[Moving]
    element: int
    device: Device

    @cached_property
    def trips(self) -> Mapping[str, int]:
        """Return the trip counts of the loops around the statement of the sum."""
        inner, _ = self.tile.contracted
        around = map(self.unit.loops_around, self.unit.statements)
        return {name: self.unit.trips[name] or 1 for name in next(x for x in around if inner in x)}

    @property
    def has_edges(self) -> bool:
        """Return whether a tile of the output may be cut short."""
        return any(self.trips[name] % size for name, size in self.tile.outputs)

    @property
    def stages(self) -> int:
        """Return the stages of the ring of copies, 0 without one."""
        ring = pipeline_of(self.moves)
        return 0 if ring is None else ring.stages

    @property
    def is_shared(self) -> bool:
        """Return whether the stages are in shared memory."""
        ring = pipeline_of(self.moves)
        return ring is None or ring.through is MemorySpace.SHARED

    @property
    def runs_ahead(self) -> bool:
        """Return whether copies for several later tiles begin while the tensor cores multiply."""
        return bool(self.tile.by_warps) and self.is_shared and self.stages > 2

    @property
    def staged(self) -> int:
        """Return the elements of the inputs that a block stages for one step of the sum."""
        tile = self.tile
        x, y = (axis.length * self._at_once(axis.thread[0]) for axis in (tile.x, tile.y))
        return x * tile.stage_x + y * tile.stage_y

    def _at_once(self, loop: str) -> int:
        """Return the parts of the input with a loop that a block has, one for each along z."""
        inner, _ = self.tile.contracted
        every = (f for s in self.unit.statements for f in self.unit.analysis.accesses[s])
        own = next((f for f in every if moves(f, inner) and moves(f, loop)), None)
        return prod(size for name, size in self.tile.z if own is None or moves(own, name))

    @property
    def needed(self) -> int:
        """Return the registers that a thread needs in the inside of the output."""
        tile, needed = self.tile, held_registers(self.tile, self.element)
        if self.stages > 1 and not self.is_shared:
            # The copies go through them.
            own = ceil(self.staged * tile.contracted[1] / tile.threads)
            needed += own * self.element // REGISTER_BYTES
        return needed

    @property
    def room(self) -> int:
        """Return the registers that a thread can have."""
        resident = max(1, resident_of(self.moves))
        return most_registers(self.device, self.tile.threads * resident)

    @property
    def shared_bytes(self) -> int:
        stages = max(1, self.stages) if self.is_shared else 1
        return stages * self.staged * self.element * self.tile.contracted[1]

    def prediction(self, compiled: Compiled | None) -> Prediction:
        tile, device = self.tile, self.device
        estimated = min(self.needed + EDGE_REGISTERS * self.has_edges, self.room)
        registers = compiled.registers if compiled else estimated
        shared_bytes = (compiled.shared_bytes if compiled else 0) or self.shared_bytes
        resident = max(1, residency(device, tile.threads, registers, shared_bytes).blocks)
        block = self.block(device.sm_count * resident)
        terms = self.terms(block, resident, shared_bytes, compiled)
        waves = ceil(block.blocks / (device.sm_count * resident))
        # With a copy on its way while another is used, only the first is waited for.
        rounds = 1 if self.stages > 1 else block.rounds
        barriers = block.rounds * (1 if self.runs_ahead else 2)
        waited = MEMORY_CLOCKS + rounds * STAGE_CLOCKS + barriers * BARRIER_CLOCKS
        moving = max(terms["device memory"], terms["L2"])
        computing = max(terms["shared memory"], terms["arithmetic"])
        terms["latency"] = waves * waited / (device.clock_ghz * 1e9)
        per_sm = block.blocks / device.sm_count
        # The SM with the most blocks ends last.
        filled = per_sm / ceil(per_sm)
        exposed = min(moving, computing) / per_sm * waves
        # Of a ring only the first copies are waited for.
        exposed *= min(1.0, (self.stages - 1) / block.rounds) if self.runs_ahead else 1.0
        exposed += terms["latency"]
        time_s = max(moving, computing / filled) + exposed + device.kernel_launch_us * 1e-6
        occupancy = min(1.0, resident * tile.threads / device.max_threads_per_sm)
        moved = {place: terms[place] * rate for place, rate in self.rates.items()}
        return Prediction(time_s, terms, occupancy, registers, compiled is not None, moved)

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

    def terms(
        self, block: _BlockWork, resident: int, shared_bytes: int, compiled: Compiled | None
    ) -> dict[str, float]:
        """Return the seconds of what blocks do side by side, without the latency of phases."""
        tile, device, element = self.tile, self.device, self.element
        warps = ceil(tile.threads / device.warp_size)
        # Lanes without a thread are paid for, and so are parts of an SM with a warp less.
        idle = warps * device.warp_size / tile.threads
        together = warps * min(resident, ceil(block.blocks / device.sm_count))
        uneven = ceil(together / SM_PARTS) * SM_PARTS / together
        multiplied = block.blocks * block.outputs * block.products
        loads = _loads(tile) * idle
        rate = peak_flop_s(element, device)
        if tile.by_warps:
            rate = device.fp64_tensor_attainable_tflops * 1e12 or rate / SHUFFLED
        kept, moved = self.spills(block, compiled)
        # What one SM's threads spill stays in its L1 if it fits beside their shared memory.
        l1_room = device.l1_kib * KIB - resident * shared_bytes
        is_far = resident * tile.threads * kept > l1_room
        spilled = block.blocks * tile.threads * moved
        through_l2 = block.blocks * (block.copied + 2 * block.outputs * block.share * element)
        through_shared = multiplied * loads * element + block.blocks * block.staged + spilled
        rates = self.rates
        return {
            "device memory": block.memory / rates["device memory"],
            "L2": (through_l2 + spilled * is_far) / rates["L2"],
            "shared memory": through_shared / rates["shared memory"],
            "arithmetic": 2 * multiplied * idle * uneven / rate,
        }

    def block(self, at_once: int) -> _BlockWork:
        """Return what each block does, so many of them running `at_once` on the device."""
        unit, tile, trips, cut = self.unit, self.tile, self.trips, dict(self.tile.block_extents)
        # A private sum is no traffic, and what other statements make of it is the output.
        arrays = unit.analysis.region.arrays
        every = (f for s in unit.statements for f in unit.analysis.accesses[s])
        facts = [f for f in every if f.access.array in arrays]
        target = next(f for f in facts if f.is_write)
        external = sorted(
            (name for name in trips if moves(target, name)),
            key=lambda name: abs(target.strides.get(name) or 0),
        )
        grid = [(name, ceil(trips[name] / cut.get(name, 1))) for name in external]
        summed = {name: n for name, n in trips.items() if name not in external}
        products = prod(summed.values())
        inner, depth = tile.contracted
        inside = {**{name: min(cut.get(name, 1), trips[name]) for name in external}, **summed}
        rounds = products // summed[inner] * ceil(summed[inner] / depth)
        stage = {**inside, **dict.fromkeys(summed, 1), inner: min(depth, summed[inner])}
        streams = [AccessStream.of(fact, self.element) for fact in facts]
        inputs = [s for s, f in zip(streams, facts, strict=True) if moves(f, inner)]
        l2_room = self.device.l2_mib * KIB * KIB
        return _BlockWork(
            blocks=prod(count for _, count in grid),
            outputs=tile.threads * tile.register_x[1] * tile.register_y[1],
            products=products,
            rounds=rounds,
            staged=self.staged * self.element * products,
            copied=rounds * sum(stream.touched(stage) for stream in inputs),
            share=prod(trips[name] / (count * cut.get(name, 1)) for name, count in grid),
            memory=read_by_waves(streams, grid, inside, at_once, l2_room),
        )

    def spills(self, block: _BlockWork, compiled: Compiled | None) -> tuple[float, float]:
        """Return the bytes of a thread that are kept in memory, and those moved there and back.

        A compiler's figures are those of the instructions, taken to run once for each copy; an
        estimate is of what its registers do not hold between two steps of the sum.
        """
        if compiled is None:
            wanted = self.needed + NEEDED_AT_EDGES * self.has_edges
            missing = max(0, wanted - self.room) * REGISTER_BYTES
            return missing, 2 * block.products * missing
        moved = compiled.spill_store_bytes + compiled.spill_load_bytes
        return compiled.spill_store_bytes, block.rounds * moved


def _loads(tile: ContractionTile) -> float:
    """Return the elements that a thread loads from shared memory for one product.

    Lanes of a warp share what they load for the tensor cores: 4 have the same row, 8 the same
    column.
    """
    columns, rows = tile.register_x[1], tile.register_y[1]
    if tile.by_warps:
        return 1 / (DEPTH_LANES * columns) + 1 / (ROW_LANES * rows)
    return 1 / columns + _x_passes(tile) / rows


def _x_passes(tile: ContractionTile) -> int:
    """Return how often a bank is asked for an operand of x, the threads of which are neighbours.

    Neighbours of its own put those of other threads as far away; operands of y are one for all.
    """
    is_strided = tile.x.is_split and tile.assign_x is Assignment.ADJACENT
    return gcd(tile.register_x[1], BANK_PAIRS) if is_strided else 1


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

    `copies_s` is None where `why_no_copies` says why their time is not known. `crossing` are the
    arrays that make up nearly all of them, the longest first.
    """

    device: str
    kernels: tuple[KernelForecast, ...]
    copies_s: float | None
    why_no_copies: str = ""
    crossing: tuple[str, ...] = ()

    @property
    def kernels_s(self) -> float:
        return sum(kernel.prediction.time_s for kernel in self.kernels)

    @property
    def end_to_end_s(self) -> float | None:
        """Return the time with the copies between host and device."""
        return None if self.copies_s is None else self.kernels_s + self.copies_s


@dataclass(frozen=True)
class RegionModel:
    """A region's kernels as they are chosen, ready to be predicted for a device.

    Whether copies are staged depends on the target (`copy_time`).
    """

    analysis: Analysis
    units: tuple[Unit, ...]
    choices: tuple[Candidate, ...]
    device: Device
    is_staged: bool = False

    def forecast(self, compiled: Mapping[int, Compiled] = NOTHING_COMPILED) -> Forecast:
        """Return the predictions; `compiled` has what a compiler said, by a kernel's leader."""
        kernels = tuple(
            self._kernel(unit, choice, compiled.get(choice.leader))
            for unit, choice in zip(self.units, self.choices, strict=True)
        )
        added = {name for choice in self.choices for name in names_set(choice.steps, "added")}
        moved = copies(self.analysis, added=added)
        name = self.device.vendor_name
        if isinstance(moved, str):
            return Forecast(name, kernels, None, moved)
        copies_s = copy_time(moved, self.device, self.is_staged)
        return Forecast(name, kernels, copies_s, crossing=moved.most())

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
