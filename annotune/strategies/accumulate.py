"""Neighbouring statements that add to one output share a kernel that keeps it in registers.

Each statement is a sum of products of two inputs. Alone, each of them brings all of the output from
memory and back; together they do so once. A thread has a block of outputs that is cut along every
loop, so that whichever input the loops belong to, the block is an outer product of what the thread
reads of both: nothing is transposed between two statements. Inputs pass through shared memory,
those of all statements through the same place.

Sources: J. Kim et al., "Optimizing Tensor Contractions in CCSD(T) for Efficient Execution on GPUs",
ICS 2018, section 5.3 (nine and six of the triples' terms in one kernel); W. Ma, S. Krishnamoorthy,
O. Villa and K. Kowalski, "GPU-Based Implementations of the Noniterative Regularized-CCSD(T)
Corrections", Journal of Chemical Theory and Computation 7(5), 2011, doi:10.1021/ct1007247.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache, reduce
from itertools import permutations, product
from math import prod
from operator import mul
from typing import TYPE_CHECKING, TypeAlias

from annotune.analysis.facts import AccessFacts, Analysis
from annotune.frozen import dataclass
from annotune.ir.c_types import element_bytes
from annotune.model.joint import JointTerm
from annotune.model.shape import moves
from annotune.schedule.candidate import Candidate, JointTile, Reason
from annotune.schedule.launch_sizes import (
    ENOUGH_BLOCKS,
    RESERVED_BYTES,
    SM_BLOCKS,
    SM_REGISTERS,
    SM_SHARED_BYTES,
    SM_THREADS,
    WARP,
)
from annotune.schedule.units import (
    Unit,
    accumulating,
    feeds,
    most_accumulating,
    passing,
    picking,
)
from annotune.strategies.gpu_tile import (
    GAIN,
    L2_ELEMENT,
    OPERAND,
    OUTPUT,
    OUTPUT_L2,
    staged_steps,
)
from annotune.transforms.cache import Resident
from annotune.transforms.distribute import Fuse
from annotune.transforms.language import in_order, on_place
from annotune.transforms.legality import SHARED_BYTES
from annotune.transforms.map import Map
from annotune.transforms.permute import Permute
from annotune.transforms.pipeline import WORDS, Pipeline, Relay
from annotune.transforms.registers import (
    DEPTH_LANES,
    ROW_LANES,
    Hold,
    TensorCores,
    multiplies_doubles,
)
from annotune.transforms.stage import Overlay, Stage
from annotune.transforms.tile import Cyclic, Tile, name_is_taken, tile_name, worker_name
from annotune.transforms.tile_ends import Pad
from annotune.transforms.transform import Transform, asked_once
from annotune.transforms.tree import find_assign

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    # One number for each of many tiles.
    Counts: TypeAlias = NDArray[np.int64]
    Costs: TypeAlias = NDArray[np.float64]

# Outputs of a thread: as many as its registers hold beside the operands, and as few as pay.
MOST_OUTPUTS = 64
LEAST_OUTPUTS = 16
# The same of statements without sums: more threads hide what each output takes.
# At sizes that are open a thread has no more of more terms: with 64 outputs six doubles spill 224
# bytes, and twelve 560.
OPEN_OUTPUTS, FEW_TERMS = 32, 3
FEW_OUTPUTS = 16
# Outputs of a thread along one loop, and its threads: powers of two, so that places are cheap.
LENGTHS = (1, 2, 4, 8)
ALONG = (1, 2, 4, 8, 16, 32)
# Threads of a block: the rules' own, and further ones as points of the space.
BLOCK_SIZES = (128, 256)
# Steps of a sum that are staged at once, at most.
STAGED = 16
# Elements between two steps of the sum in a copy, beyond those of one: pairs stay aligned, and
# neighbouring steps lie in other banks.
GAP = 2
# Registers of a thread beside outputs and operands: addresses and counters (estimated).
OTHER_REGISTERS = 8
# The same of a nest that computes more than it reads of the outputs: with 168 registers in all the
# energy of the triples spills 3 KiB.
FED_REGISTERS = 48
# The same where the tensor cores multiply, of 16 pairs of banks: lanes read 4 rows or columns at 4
# steps at once.
LANE_GAP, BANKS = 4, 16
# Outputs of a thread along each loop there, of doubles.
PAIR, DOUBLE_BYTES = 2, 8
# How many times as fast the tensor cores multiply.
FASTER = 2
# Elements of a sector of memory, the least that is moved.
SECTOR = 4
# Neighbours that threads should read where nothing is copied: of 24, 16 at once leave some idle.
NEIGHBOURS = 8
# Loops of an output whose tiles are looked through; more are as many points as a search has time
# for.
MOST_LOOPS = 8
# The loop and the steps of a statement without a sum.
NO_SUM = ("", 1)
# Further tiles that become points of the space.
MOST_TILES = 3


def gathered(analysis: Analysis, nests: Sequence[Unit], most: int) -> tuple[Unit, ...]:
    """Return the nests with neighbours as one unit that the strategy has a kernel for.

    No more than `most` statements become one.
    """
    out: list[Unit] = []
    rest = list(nests)
    while rest:
        count = min(most, _most_terms(rest[: most_accumulating(rest)]))
        while count > 1:
            unit = accumulating(analysis, rest[:count])
            found = None if unit is None else _problem(unit)
            if unit is not None and isinstance(found, _Joint) and found.best:
                out.append(unit)
                break
            count -= 1
        else:
            out.append(rest[0])
        rest = rest[max(1, count) :]
    return tuple(out)


def _most_terms(nests: Sequence[Unit]) -> int:
    """Return how many of the first nests have no statement that is no term, and surely is to be."""
    target, loops = picking(nests[0])
    if target is None or feeds(nests[0]):
        return len(nests)
    for count, unit in enumerate(nests):
        is_added = picking(unit)[0] == target and not feeds(unit)
        if is_added and isinstance(JointTerm.of(unit, unit.leader, loops), str):
            return count
    return len(nests)


def by_lanes(analysis: Analysis, nests: Sequence[Unit]) -> tuple[Unit, ...]:
    """Return the nests as `gathered` does, those apart that need other lanes on the tensor cores.

    A lane has outputs along one loop of each input. What the loops of most products do not serve is
    a unit of its own: the output comes from memory and back once more.
    """
    return tuple(
        part
        for unit in gathered(analysis, nests, len(nests))
        for part in (_parted(analysis, unit, nests) if unit.joint else (unit,))
    )


def _parted(analysis: Analysis, unit: Unit, nests: Sequence[Unit]) -> tuple[Unit, ...]:
    """Return a unit as two with lanes of their own, and its readers as another, or as it is."""
    found = _problem(unit)
    if isinstance(found, str) or not found.warp_tiles:
        return (unit,)
    others = {t.statement for t in found.terms if t.sums and not found.adds_by_lanes(t)}
    if not others:
        return (unit,)
    # What sets the output comes before all else.
    others |= {t.statement for t in found.terms if not t.inputs}
    read = {n for part in found.readers for n in part}
    members = [nest for nest in nests if {*nest.statements} <= {*unit.statements}]
    first = [nest for nest in members if nest.leader in others]
    rest = [nest for nest in members if nest.leader not in others | read]
    last = [nest for nest in members if nest.leader in read]
    parts = accumulating(analysis, first), accumulating(analysis, rest, late=True)
    made = [part for part in parts if part is not None]
    problems = [_problem(part) for part in made]
    if len(made) < len(parts) or any(isinstance(p, str) or not p.warp_tiles for p in problems):
        return (unit,)
    reader = accumulating(analysis, last, late=True) if len(last) > 1 else None
    made += last if reader is None else [reader]
    return tuple(sorted(made, key=lambda one: one.place))


def pays(unit: Unit) -> bool:
    """Return whether one kernel for a unit's statements costs less than one for each of them.

    What it saves is the way of the output to memory and back; with long sums that is little, and
    tiles of their own are better.
    """
    found = _problem(unit)
    if isinstance(found, str) or not found.best:
        return False
    tile = found.best[0]
    if found.blocks(tile) < ENOUGH_BLOCKS:
        return False
    alone = 0.0
    for term, own in zip(found.terms, tile.sums, strict=True):
        one = replace(found, terms=(term,))
        alone += one.products * one.cost(replace(tile, sums=(own,)))
    return found.products * found.cost(tile) < (1 - GAIN) * alone


def accumulate(unit: Unit) -> tuple[Candidate, ...] | str:
    """Return the choices for a unit of several statements, the rules' own first, or why none."""
    if not unit.joint:
        return "no neighbouring statements accumulate into the same elements"
    found = _problem(unit)
    if isinstance(found, str):
        return found
    tiles = [*found.best, *found.further]
    if not tiles:
        return "no tile of the output fits the registers of a thread and the memory of a block"
    first, *others = dict.fromkeys(tiles)
    made = [found.choice(first, 1, True), found.choice(first, 1, False)]
    if found.may_relay(first):
        ahead = found.choice(first, 1, True, is_relayed=True)
        made = [ahead, *made] if found.has_room(first) else [*made, ahead]
    made += [found.choice(_halved(first), 2, True), found.choice(first, 0, True)]
    made += [found.choice(tile, 1, True) for tile in others]
    by_warps = [
        found.choice(tile, 1, False, is_relayed=found.may_relay(tile)) for tile in found.warp_tiles
    ]
    return (*by_warps, *made) if found.pays_by_warps else (*made, *by_warps)


def _halved(tile: JointTile) -> JointTile:
    """Return a tile with half as many steps of each sum at once, which leaves room for a ring."""
    sums = tuple((loop, max(1, size // 2)) for loop, size in tile.sums)
    return replace(tile, sums=sums)


@dataclass(frozen=True)
class _Tiles:
    """Tiles side by side, what they have along each loop as columns: thousands are weighed."""

    registers: Mapping[str, Counts]
    threads: Mapping[str, Counts]
    sums: tuple[tuple[str, int], ...]
    by_warps: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        loops: Sequence[str],
        rows: Sequence[tuple[tuple[int, ...], tuple[int, ...]]],
        sums: tuple[tuple[str, int], ...],
        by_warps: tuple[str, ...] = (),
    ) -> _Tiles:
        """Return tiles, each the outputs of a thread and the threads along each of the loops.

        The loops `by_warps` have the lanes of a warp along them besides.
        """
        import numpy as np

        table = np.array(rows, dtype=np.int64).reshape(len(rows), 2, len(loops))
        registers, threads = (
            {loop: table[:, side, k] for k, loop in enumerate(loops)} for side in (0, 1)
        )
        return cls(registers, threads, sums, by_warps)

    def tile(self, number: int) -> JointTile:
        """Return one of the tiles by itself."""
        registers, threads = (
            [(loop, int(sizes[number])) for loop, sizes in side.items() if sizes[number] > 1]
            for side in (self.registers, self.threads)
        )
        lanes = {n: size for n, size in threads if n in self.by_warps}
        inner = [(n, lanes[n]) for n in self.by_warps]
        others = (pair for pair in threads if pair[0] not in lanes)
        return JointTile(tuple(registers), (*inner, *others), self.sums, self.by_warps)

    @cached_property
    def lengths(self) -> Mapping[str, Counts]:
        """Return how long a block's tile is along each loop."""
        return {loop: own * self.threads[loop] for loop, own in self.registers.items()}

    @cached_property
    def each(self) -> Counts:
        """Return the outputs of a thread."""
        return reduce(mul, self.registers.values())

    @cached_property
    def block_size(self) -> Counts:
        """Return the threads of a block."""
        return reduce(mul, self.threads.values())

    @cached_property
    def _known(self) -> dict[object, Counts]:
        # Many terms have their inputs' loops in common.
        return {}

    def products(self, loops: frozenset[str]) -> Counts:
        """Return the product of the lengths along some loops."""
        if loops not in self._known:
            self._known[loops] = self._over(self.lengths, loops)
        return self._known[loops]

    def operands(self, own: tuple[frozenset[str], ...]) -> Counts:
        """Return how many elements a thread has of inputs with some loops each."""
        if own not in self._known:
            each = (self._over(self.registers, x) for x in own)
            self._known[own] = sum(each, start=0 * self.each)
        return self._known[own]

    def _over(self, counts: Mapping[str, Counts], loops: frozenset[str]) -> Counts:
        # The order of the loops is of no matter to whole numbers.
        return reduce(mul, (counts[n] for n in loops), self.each**0)

    def wasted(self, fact: AccessFacts, least: int, staged: tuple[str, int] = NO_SUM) -> Costs:
        """Return how many times as much memory moves as is used, where rows are short of `least`.

        So many steps of a sum are `staged` at once.
        """
        import numpy as np

        along = frozenset(n for n, stride in fact.strides.items() if stride and abs(stride) == 1)
        inner, step = staged
        length = self.products(along & {*self.lengths}) * (step if inner in along else 1)
        return np.maximum(1.0, least / length)


@dataclass(frozen=True)
class _Joint:
    """The statements of a unit as terms of one output, and what suits them.

    The last nests, `readers`, only read the output, each by the last of its statements.
    """

    unit: Unit
    terms: tuple[JointTerm, ...]
    readers: tuple[tuple[int, ...], ...]
    target: AccessFacts
    element: int

    @cached_property
    def loops(self) -> tuple[str, ...]:
        """Return the loops of the output, the fastest in memory first."""
        strides = self.target.strides
        return tuple(sorted(self.unit.joint, key=lambda n: abs(strides.get(n) or 0)))

    @cached_property
    def trips(self) -> Mapping[str, int]:
        return {name: count or 1 for name, count in self.unit.trips.items()}

    @cached_property
    def has_sums(self) -> bool:
        """Return whether a statement has a sum: others read their inputs without a copy."""
        return any(term.sums for term in self.terms)

    @property
    def least(self) -> int:
        """Return the elements that a row of a block should have."""
        return SECTOR if self.has_sums else NEIGHBOURS

    @cached_property
    def best(self) -> list[JointTile]:
        """Return the rules' own tiles, the best first; small outputs have few threads."""
        return self.tiles(BLOCK_SIZES[0]) or self.tiles(WARP)

    @cached_property
    def further(self) -> list[JointTile]:
        """Return the best tiles of larger blocks."""
        return [tile for threads in BLOCK_SIZES[1:] for tile in self.tiles(threads)]

    @cached_property
    def warp_tiles(self) -> list[JointTile]:
        """Return tiles most of whose products the tensor cores can add, the best of each size."""
        if not self.are_products_of_doubles or not self.lane_loops:
            return []
        column, row = self.lane_loops
        if worker_name(row) in self.unit.analysis.region.names:
            return []
        lanes, found = {column: DEPTH_LANES, row: ROW_LANES}, list[JointTile]()
        for threads in BLOCK_SIZES:
            rows = [
                (sizes, tuple(lanes.get(n, k) for n, k in zip(self.loops, along, strict=True)))
                for sizes in self._of_lanes(column, row)
                for along in self._along(sizes, threads // WARP)
                if all(k == 1 for n, k in zip(self.loops, along, strict=True) if n in lanes)
            ]
            tiles = _Tiles.of(self.loops, rows, self.sums, (column, row))
            found += self._least(tiles, 1, self._fit(tiles) & self._have_two_places(tiles))
        # One alone on a multiprocessor took 9575 us for 24 for each extent, two 9129.
        return sorted(found, key=lambda tile: (self.resident(tile) < 2, self.cost(tile)))

    def adds_by_lanes(self, term: JointTerm) -> bool:
        """Return whether the tensor cores add a term, with lanes along the loops of most."""
        lanes = self.lane_loops
        return lanes is not None and term.is_matrix_product(lanes)

    @cached_property
    def are_products_of_doubles(self) -> bool:
        """Return whether the tensor cores add what the statements with a sum add."""
        summed = [find_assign(self.unit.body, t.statement) for t in self.terms if t.sums]
        types = self.unit.analysis.region.types
        return self.element == DOUBLE_BYTES and all(
            one.guard is None and one.op in ("+=", "-=") and multiplies_doubles(one, types)
            for one in summed
        )

    @cached_property
    def lane_loops(self) -> tuple[str, str] | None:
        """Return the loops along columns and rows of most matrix products, None for too few."""
        scored = []
        for row, column in permutations(self.loops, 2):
            depths = (self._depth(t) for t in self.terms if t.is_matrix_product((column, row)))
            is_long = self.trips[row] >= ROW_LANES and self.trips[column] >= PAIR * DEPTH_LANES
            scored += [(sum(depths), (column, row))] if is_long else []
        # Of several the first: the rows are neighbours in memory.
        most, best = max(scored, key=lambda pair: pair[0], default=(0, None))
        return best if 2 * most > self.products else None

    def _of_lanes(self, column: str, row: str) -> Iterator[tuple[int, ...]]:
        """Yield the outputs of a thread along each loop: a pair of columns, one row or two."""
        choices = [
            (PAIR,) if n == column else (1, PAIR) if n == row else (PAIR, 2 * PAIR)
            for n in self.loops
        ]
        for sizes in product(*choices):
            if prod(sizes) == MOST_OUTPUTS:
                yield sizes

    # Which tile --------------------------------------------------------------------------------

    def tiles(self, threads: int) -> list[JointTile]:
        """Return tiles for blocks of so many threads, the one that costs least first."""
        rows = [(sizes, along) for sizes in self._outputs for along in self._along(sizes, threads)]
        tiles = _Tiles.of(self.loops, rows, self.sums)
        return self._least(tiles, MOST_TILES, self._fit(tiles))

    def _least(self, tiles: _Tiles, count: int, able: NDArray[np.bool_]) -> list[JointTile]:
        """Return so many of the tiles that are `able`, the one that costs least first."""
        costs = self._costs(tiles)
        # Of several that cost the same the first.
        order = (int(k) for k in costs.argsort(kind="stable") if able[k])
        return [tiles.tile(k) for k, _ in zip(order, range(count), strict=False)]

    @cached_property
    def sums(self) -> tuple[tuple[str, int], ...]:
        """Return for each term the loop of its sum that is staged, with the steps at a time."""
        return tuple(map(self._step, self.terms))

    def _step(self, term: JointTerm) -> tuple[str, int]:
        """Return the loop of a term's sum that is staged, with the steps at a time."""
        if not term.sums:
            return NO_SUM
        return term.sums[0], staged_steps(self.trips[term.sums[0]], STAGED)

    @cached_property
    def _outputs(self) -> list[tuple[int, ...]]:
        """Return the outputs of a thread along each loop that read least for each product."""
        lengths = [[n for n in LENGTHS if n <= self.trips[loop]] for loop in self.loops]
        ones = (1,) * len(self.loops)
        most = self._most_outputs if self.has_sums else FEW_OUTPUTS
        rows = [
            (sizes, ones)
            for sizes in product(*lengths)
            if min(LEAST_OUTPUTS, most) <= prod(sizes) <= most
        ]
        tiles = _Tiles.of(self.loops, rows, ())
        costs = self._surplus(tiles) * self._multiplied(tiles)
        return [rows[k][0] for k in costs.argsort(kind="stable")[:MOST_TILES]]

    @property
    def _most_outputs(self) -> int:
        """Return the outputs of a thread that leave as many blocks as multiprocessors, if any."""
        blocks = prod(self.trips[n] for n in self.loops) // (MOST_OUTPUTS * BLOCK_SIZES[0])
        return MOST_OUTPUTS if blocks >= ENOUGH_BLOCKS else MOST_OUTPUTS // 2

    @cached_property
    def weights(self) -> tuple[float, ...]:
        """Return the share of all products that each term has."""
        return tuple(self._depth(term) / self.products for term in self.terms)

    def _depth(self, term: JointTerm) -> int:
        return prod(self.trips[name] for name in term.sums)

    def _along(self, outputs: tuple[int, ...], threads: int) -> tuple[tuple[int, ...], ...]:
        """Return the ways to lay so many threads along the loops, none much longer than these."""
        pairs = zip(self.loops, outputs, strict=True)
        left = (-(-self.trips[loop] // own) for loop, own in pairs)
        return _factored(tuple(tuple(n for n in ALONG if n < 2 * most) for most in left), threads)

    def _fit(self, tiles: _Tiles) -> NDArray[np.bool_]:
        """Return whether a block has the memory for the copies of each term, registers for one."""
        return (self._copied(tiles) <= SHARED_BYTES) & (self._resident(tiles) > 0)

    def _copied(self, tiles: _Tiles) -> Counts:
        """Return the bytes of the copies, the larger ones of all terms in one place."""
        import numpy as np

        large = small = np.zeros_like(tiles.each)
        for term, (_, step) in zip(self.terms, tiles.sums, strict=True):
            if term.sums:
                one, two = (
                    tiles.products(own) * _row_length(step)
                    if _is_along_sum(tiles.by_warps, term, fact)
                    else self._step_lengths(tiles, own) * step
                    for fact, own in zip(term.inputs, term.own, strict=True)
                )
                large = np.maximum(large, np.maximum(one, two))
                small = np.maximum(small, np.minimum(one, two))
        return (large + small) * self.element

    def _step_length(self, tile: JointTile, own: Collection[str]) -> int:
        """Return how far apart two steps of a sum are in the copy of an input with some loops."""
        return int(self._step_lengths(self._alone(tile), frozenset(own))[0])

    def _step_lengths(self, tiles: _Tiles, own: frozenset[str]) -> Counts:
        length = tiles.products(own)
        if not tiles.by_warps:
            return length + GAP
        column, row = tiles.by_warps
        if {row, column} <= own:
            length = length // tiles.lengths[row] * (tiles.lengths[row] + LANE_GAP)
        return length + (LANE_GAP - length) % BANKS

    def _alone(self, tile: JointTile) -> _Tiles:
        registers, threads = dict(tile.registers), dict(tile.threads)
        row = tuple(tuple(own.get(n, 1) for n in self.loops) for own in (registers, threads))
        return _Tiles.of(self.loops, [(row[0], row[1])], tile.sums, tile.by_warps)

    def resident(self, tile: JointTile) -> int:
        """Return how many blocks of a tile a multiprocessor has registers for."""
        return int(self._resident(self._alone(tile))[0])

    def _resident(self, tiles: _Tiles) -> Counts:
        import numpy as np

        operands = np.maximum.reduce([tiles.operands(term.own) for term in self.terms])
        others = FED_REGISTERS if self.readers else OTHER_REGISTERS
        each = (tiles.each + operands) * self.element // 4 + others
        most = np.minimum(SM_BLOCKS, SM_THREADS // tiles.block_size)
        found = np.minimum(most, SM_REGISTERS // (each * tiles.block_size))
        return np.where(each <= 255, found, 0)

    def may_relay(self, tile: JointTile) -> bool:
        """Return whether the copies of a term can begin while the one before it is computed."""
        counts = [self.unit.trips.get(term.sums[0]) for term in self.terms if term.sums]
        is_alone = all(len(term.sums) < 2 for term in self.terms)
        return len(counts) > 1 and all(counts) and is_alone and self.has_two_places(tile)

    def has_two_places(self, tile: JointTile) -> bool:
        """Return whether the copies of two terms at once are no more than a block may have."""
        return bool(self._have_two_places(self._alone(tile))[0])

    def _have_two_places(self, tiles: _Tiles) -> NDArray[np.bool_]:
        return 2 * self._copied(tiles) <= SHARED_BYTES

    def has_room(self, tile: JointTile) -> bool:
        """Return whether twice the copies leave as many blocks on a multiprocessor."""
        copied = int(self._copied(self._alone(tile))[0])
        return self.resident(tile) * (2 * copied + RESERVED_BYTES) <= SM_SHARED_BYTES

    def cost(self, tile: JointTile) -> float:
        """Return what one product of a tile costs, in the units of the two-level tile's `cost`."""
        return float(self._costs(self._alone(tile))[0])

    def _costs(self, tiles: _Tiles) -> Costs:
        import numpy as np

        surplus = self._surplus(tiles)
        copied = np.zeros_like(surplus)
        for term, weight, staged in zip(self.terms, self.weights, tiles.sums, strict=True):
            for fact, loops in zip(term.inputs, term.own, strict=True):
                copied += weight * tiles.wasted(fact, self.least, staged) * tiles.products(loops)
        multiplied = surplus * self._multiplied(tiles)
        moved = tiles.wasted(self.target, self.least) * (OUTPUT + OUTPUT_L2) / self.products
        moved += surplus * L2_ELEMENT * copied / (tiles.each * tiles.block_size)
        hidden = np.maximum(1, self._resident(tiles))
        busy = np.minimum(1.0, self._blocks(tiles) / ENOUGH_BLOCKS)
        return (np.maximum(moved, multiplied) + np.minimum(moved, multiplied) / hidden) / busy

    def _surplus(self, tiles: _Tiles) -> Costs:
        """Return how many times the outputs there are those of all tiles make."""
        trips, lengths = self.trips, tiles.lengths
        made = (-(-trips[n] // lengths[n]) * lengths[n] / trips[n] for n in self.loops)
        return reduce(mul, made)

    @cached_property
    def pays_by_warps(self) -> bool:
        """Return whether the tensor cores are the rules' own: they compute in less time.

        Copies go on meanwhile: on an H200 the eighteen doubles of 16 for each extent take 434 us
        in place of 615, with twice the copies. With one row for each lane there are too many, but
        where they add all statements: those of 24 take 5831 us in place of 8901.
        """
        if not self.warp_tiles or not self.best:
            return False
        tile, usual = self.warp_tiles[0], self.best[0]
        computed, before = map(self._computed, (tile, usual))
        is_full = self.blocks(tile) >= ENOUGH_BLOCKS
        adds_all = all(t.is_matrix_product(tile.by_warps) for t in self.terms if t.sums)
        is_worth = adds_all or bool(self._dealt(tile))
        return is_full and is_worth and computed < (1 - GAIN) * before

    def _computed(self, tile: JointTile) -> float:
        alone = self._alone(tile)
        return float((self._surplus(alone) * self._multiplied(alone))[0])

    def _multiplied(self, tiles: _Tiles) -> Costs:
        """Return what computing one product costs, over all terms."""
        import numpy as np

        read, rate = np.zeros(len(tiles.each)), 0.0
        for term, weight in zip(self.terms, self.weights, strict=True):
            is_product = term.is_matrix_product(tiles.by_warps)
            rate += weight / (FASTER if is_product else 1)
            operands = tiles.operands(term.own)
            read += weight * operands / (DEPTH_LANES if is_product else 1)
        return rate + OPERAND * read / tiles.each

    def blocks(self, tile: JointTile) -> int:
        """Return how many blocks a tile of the output makes."""
        return int(self._blocks(self._alone(tile))[0])

    def _blocks(self, tiles: _Tiles) -> Counts:
        return reduce(mul, (-(-self.trips[n] // tiles.lengths[n]) for n in self.loops))

    @cached_property
    def products(self) -> int:
        """Return the products of all terms for one output."""
        return sum(map(self._depth, self.terms))

    # The schedule ------------------------------------------------------------------------------

    def choice(
        self, tile: JointTile, stages: int, is_resident: bool, is_relayed: bool = False
    ) -> Candidate:
        """Return the choice that carries a tile out, its copies in a ring of so many stages.

        Where it `is_resident`, the compiler gives a thread no more registers than the tile needs.
        For other sizes it may have them all, and many terms have fewer outputs. Where the
        copies are relayed from statement to statement, which the tuned sizes alone allow, the
        others have them one after the other.
        """
        blocks, threads = self._placed(tile)
        leader = self.unit.leader
        # As few blocks as leave multiprocessors without any need no bound.
        is_bound = is_resident and self.blocks(tile) > ENOUGH_BLOCKS
        number = self.resident(tile) if is_bound else 0
        steps: list[Transform] = []
        for term, own in zip(self.terms, tile.sums, strict=True):
            steps += self._shaped(tile, term.statement, (*blocks, *threads), term.sums, own)
        steps += passing(self.unit.analysis, self.readers, self.unit.joint)
        for reader in self.readers:
            steps += self._shaped(tile, reader[0], (*blocks, *threads))
        levels = (*on_place("block", blocks), *on_place("thread", threads))
        nests = tuple(part[0] for part in self.unit.parts)
        fuse = Fuse(nests, loop=(*blocks, *threads)[-1], late=self.unit.late)
        steps += [fuse, Map(leader, levels)]
        for k in range(len(self.terms)):
            steps += self._staged(tile, k, 0 if is_relayed else stages)
        others = tuple(part[-1] for part in self.unit.parts[1:])
        steps.append(Hold(leader, self._held(tile), others=others))
        if is_relayed:
            first, *later = (term.statement for term in self.terms if term.sums)
            steps.append(Relay(first, tuple(later)))
        steps.append(Pad(leader, tuple(dict.fromkeys((*threads, *dict(tile.registers))))))
        for term, (inner, _) in zip(self.terms, tile.sums, strict=True):
            if term.is_matrix_product(tile.by_warps):
                steps.append(TensorCores(term.statement, inner))
        fewer = _with_fewer_outputs(tile) if len(self.terms) > FEW_TERMS else tile
        is_other = number > 1 or is_relayed or fewer != tile
        general = self.choice(fewer, stages, False) if is_other else None
        steps += [Resident(leader, number)] if number > 1 else []
        return Candidate(
            self.unit.parts,
            in_order(steps),
            tuple(self._reasons(tile, stages, number, is_relayed)),
            general=general,
            joint=tile,
        )

    def _placed(self, tile: JointTile) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the loops over the tiles of blocks and those on threads, the fastest first."""
        own, along = dict(tile.registers), dict(tile.threads)
        dealt = self._dealt(tile)
        cuts = {n: (n in own) + (n in along and n != dealt) for n in self.loops}
        blocks = tuple(_tiled(n, cuts[n]) for n in self.loops)
        return blocks, tuple(worker_name(n) if n == dealt else _tiled(n, n in own) for n in along)

    def _dealt(self, tile: JointTile) -> str:
        """Return the loop whose neighbours lanes have, and a thread those further apart."""
        row = tile.by_warps[-1] if tile.by_warps else ""
        return row if row in dict(tile.registers) else ""

    def _held(self, tile: JointTile) -> str:
        """Return the outermost loop of the first term inside the loops that all share."""
        own = dict(tile.registers)
        if not self.terms[0].sums:
            return next(n for n in reversed(self.loops) if n in own)
        inner, *outer = self.terms[0].sums
        return (*outer, tile_name(inner))[0]

    def _shaped(
        self,
        tile: JointTile,
        statement: int,
        placed: tuple[str, ...],
        sums: tuple[str, ...] = (),
        staged: tuple[str, int] = NO_SUM,
    ) -> Iterator[Transform]:
        """Yield what gives a statement's nest the loops of the block around its sum, in order."""
        inner, step = staged
        own, along = dict(tile.registers), dict(tile.threads)
        for loop in self.loops:
            sizes = [size for size in (own.get(loop), along.get(loop)) if size]
            if loop == self._dealt(tile):
                yield Tile(statement, loop, prod(sizes))
                yield Cyclic(statement, loop, along[loop])
                continue
            yield from (Tile(statement, _tiled(loop, k), n) for k, n in enumerate(sizes))
        inside = tuple(n for n in reversed(self.loops) if n in own)
        summed: tuple[str, ...] = ()
        if sums:
            yield Tile(statement, inner, step)
            summed = (*sums[1:], tile_name(inner), inner)
        yield Permute(statement, (*placed, *summed, *inside))

    def _staged(self, tile: JointTile, number: int, stages: int) -> Iterator[Transform]:
        """Yield the copies of a term's inputs, in the place of those of the first term."""
        term, (inner, _) = self.terms[number], tile.sums[number]
        if not term.sums:
            return  # each element is read once or twice, from where neighbours find it too
        for fact in term.inputs:
            array = fact.access.array
            yield Stage(term.statement, array, inner, self._layout(tile, number, fact))
        if stages:
            yield Pipeline(term.statement, tile_name(inner), stages)
        first = next(one.statement for one in self.terms if one.sums)
        if term.statement != first:
            yield Overlay(term.statement, first)

    def _layout(
        self, tile: JointTile, number: int, fact: AccessFacts
    ) -> tuple[tuple[str, int], ...]:
        """Return the loops of a copy with their distances, as the array has its rows.

        In the copy the loops stand as in the output, a step of the sum after the other. Where the
        steps are neighbours in the array, and the tensor cores read them, they are so in the copy.
        """
        inner, step = tile.sums[number]
        own, along, lengths = dict(tile.registers), dict(tile.threads), tile.lengths
        mine = [n for n in self.loops if moves(fact, n) and n in lengths]
        is_along_sum = _is_along_sum(tile.by_warps, self.terms[number], fact)
        distance, length = {}, _row_length(step) if is_along_sum else 1
        # What a thread has neighbours of comes first: two of them are one load.
        column, row = tile.by_warps or ("", "")
        for loop in sorted(mine, key=lambda n: (n != row, n != column, n not in own)):
            distance[loop] = length
            length *= lengths[loop]
            # The lanes with a row and a column of one copy meet in no bank.
            length += LANE_GAP if loop == row and column in mine else 0
        distance[inner] = 1 if is_along_sum else self._step_length(tile, mine)
        by_lanes = {row, column} if row in mine else set()
        rows: list[tuple[str, int]] = []
        for loop in sorted(distance, key=lambda n: -abs(fact.strides.get(n) or 0)):
            apart = (own.get(loop, 1) * distance[loop], distance[loop])
            if loop in by_lanes:
                # Neighbouring lanes have neighbours, a lane's own are further apart.
                apart = (distance[loop], distance[loop] * (along[loop] if loop in own else 1))
            if loop in own and loop in along:
                name = worker_name(loop) if loop == row else tile_name(loop)
                rows.append((name, apart[0]))
            rows.append((loop, apart[1]))
        return tuple(rows)

    def _reasons(
        self, tile: JointTile, stages: int, resident: int, is_relayed: bool
    ) -> Iterator[Reason]:
        array, count = self.target.access.array, sum(bool(term.inputs) for term in self.terms)
        rule = f"{count} statements add to {array}, which stays in registers"
        if self.readers:
            rule += f"; {len(self.readers)} more find it there"
        if self.unit.passed:
            count = sum(len(one) - 1 for one in self.readers)
            made = ", ".join(self.unit.passed)
            rule += f", {count} others compute {made} for it, which are never in memory"
        yield Reason("strategy", "accumulate", rule)
        threads = ", ".join(f"{n} by {size}" for n, size in tile.threads)
        yield Reason("threads", threads, "the least to copy for each product")
        own = ", ".join(f"{n} by {size}" for n, size in tile.registers)
        yield Reason("registers", own, "each statement is an outer product without transposing")
        if tile.by_warps:
            able = sum(term.is_matrix_product(tile.by_warps) for term in self.terms)
            rule = f"{able} statements have one of them in each input"
            if able < sum(bool(term.sums) for term in self.terms):
                rule += "; threads add the others"
            yield Reason("tensor cores", " by ".join(tile.by_warps), rule)
        steps = ", ".join(dict.fromkeys(f"{size} of {n}" for n, size in tile.sums if n))
        way = f"a ring of {stages}" if stages > 1 else "asynchronous copies" if stages else "copies"
        way = "copied while the statement before is computed" if is_relayed else way
        if steps:
            yield Reason("staged", f"{steps} at a time", f"{way}, of all statements in one place")
        if resident > 1:
            yield Reason("resident", f"{resident} blocks", "as the registers of the tile allow it")


def _is_along_sum(by_warps: tuple[str, ...], term: JointTerm, fact: AccessFacts) -> bool:
    """Return whether the steps of a sum are neighbours in an input, and in its copy.

    Lanes with 4 rows or columns read 4 steps at once: where those are 4 elements apart and these
    none, or the other way round, they meet in no bank, and nor do lanes that copy neighbours.
    """
    return term.is_matrix_product(by_warps) and abs(fact.strides.get(term.sums[0]) or 0) == 1


def _row_length(step: int) -> int:
    """Return how far apart rows of so many steps are in a copy."""
    return step + (LANE_GAP - step) % BANKS


def _tiled(loop: str, times: int) -> str:
    """Return the name of the loop over tiles of tiles of a loop, itself for none."""
    for _ in range(times):
        loop = tile_name(loop)
    return loop


# The same for all ways of fusing, of which each asks for few.
@lru_cache(maxsize=64)
def _with_fewer_outputs(tile: JointTile) -> JointTile:
    """Return a tile with at most `OPEN_OUTPUTS` for a thread, as far as lanes leave it so."""
    registers = dict(tile.registers)
    while prod(registers.values()) > OPEN_OUTPUTS:
        even = [n for n, size in registers.items() if size % 2 == 0 and n not in tile.by_warps]
        if not even:
            break
        registers[max(even, key=registers.__getitem__)] //= 2
    return replace(tile, registers=tuple(registers.items()))


def _factored(lengths: tuple[tuple[int, ...], ...], total: int) -> tuple[tuple[int, ...], ...]:
    """Return one of each of the lengths, all of which together make `total`, in every way."""
    if not lengths:
        return ((),) if total == 1 else ()
    return tuple(
        (size, *rest)
        for size in lengths[0]
        if total % size == 0
        for rest in _factored(lengths[1:], total // size)
    )


@asked_once
def _problem(unit: Unit) -> _Joint | str:
    """Return a unit's statements as terms of one output, or in words why they are none."""
    if len(unit.joint) > MOST_LOOPS:
        return f"more than {MOST_LOOPS} loops pick an output"
    output = unit.writes[0].access
    terms: list[JointTerm] = []
    for statement in unit.added:
        term = JointTerm.of(unit, statement, unit.joint)
        if isinstance(term, str):
            return term
        terms.append(term)
    readers = tuple(part for part in unit.parts if part[0] not in unit.added)
    region = unit.analysis.region
    if sum(bool(term.inputs) for term in terms) < 2 and not readers:
        return "fewer than two statements add to the output"
    if not any(term.inputs for term in terms):
        return "no statement adds to the output"
    made = (tile_name(n) for n in (*unit.joint, *(n for t in terms for n in t.sums[:1])))
    taken = next((n for n in (*unit.joint, *made) if name_is_taken(n, unit.analysis)), "")
    if taken:
        return f"the region uses the name {tile_name(taken)}"
    written = {output.array}
    arrays = {fact.access.array for term in terms for fact in term.inputs}
    if written & arrays:
        return "an input is written as well"
    types = {region.arrays[name].element for name in (*arrays, *written)}
    if len(types) > 1 or not types <= WORDS:
        return "the arrays are of several types, or of one that no instruction moves"
    size = element_bytes(types.pop())
    return _Joint(unit, tuple(terms), readers, unit.writes[0], size)
