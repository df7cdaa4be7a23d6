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
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations, product
from math import ceil, prod

from annotune.analysis.facts import AccessFacts, Analysis
from annotune.ir.c_types import element_bytes
from annotune.model.joint import JointTerm, products_of
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
from annotune.schedule.units import Unit, accumulating, passing
from annotune.strategies.gpu_tile import (
    GAIN,
    L2_ELEMENT,
    OPERAND,
    OUTPUT,
    OUTPUT_L2,
    staged_steps,
)
from annotune.strategies.nests import asked_once
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
from annotune.transforms.transform import Transform
from annotune.transforms.tree import find_assign

# Outputs of a thread: as many as its registers hold beside the operands, and as few as pay.
MOST_OUTPUTS = 64
LEAST_OUTPUTS = 16
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
        count = min(most, len(rest))
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
    tiles = [tile for threads in BLOCK_SIZES[1:] for tile in found.tiles(threads)]
    tiles = [*found.best, *tiles]
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
    def best(self) -> list[JointTile]:
        """Return the rules' own tiles, the best first; small outputs have few threads."""
        return self.tiles(BLOCK_SIZES[0]) or self.tiles(WARP)

    @cached_property
    def warp_tiles(self) -> list[JointTile]:
        """Return tiles most of whose products the tensor cores can add, the best of each size."""
        if not self.are_products_of_doubles or not self.lane_loops:
            return []
        column, row = self.lane_loops
        if worker_name(row) in self.unit.analysis.region.names:
            return []
        sums, found = tuple(self._step(term) for term in self.terms), []
        for threads in BLOCK_SIZES:
            scored = []
            for own in self._of_lanes(column, row):
                warp = ((column, DEPTH_LANES), (row, ROW_LANES))
                for along in self._along(own, threads // WARP):
                    if not {column, row} & dict(along).keys():
                        tile = JointTile(own, (*warp, *along), sums, (column, row))
                        able = self._fits(tile) and self.has_two_places(tile)
                        scored += [(self.cost(tile), tile)] if able else []
            found += [min(scored, key=lambda pair: pair[0])] if scored else []
        # One alone on a multiprocessor took 9575 us for 24 for each extent, two 9129.
        found.sort(key=lambda pair: (self.resident(pair[1]) < 2, pair[0]))
        return [tile for _, tile in found]

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
        none = JointTile((), (), ())
        scored = []
        for row, column in permutations(self.loops, 2):
            tile = replace(none, by_warps=(column, row))
            depths = (self._depth(t) for t in self.terms if t.is_matrix_product(tile))
            is_long = self.trips[row] >= ROW_LANES and self.trips[column] >= PAIR * DEPTH_LANES
            scored += [(sum(depths), (column, row))] if is_long else []
        # Of several the first: the rows are neighbours in memory.
        most, best = max(scored, key=lambda pair: pair[0], default=(0, None))
        return best if 2 * most > self.products else None

    def _of_lanes(self, column: str, row: str) -> Iterator[tuple[tuple[str, int], ...]]:
        """Yield the outputs of a thread along each loop: a pair of columns, one row or two."""
        choices = [
            (PAIR,) if n == column else (1, PAIR) if n == row else (PAIR, 2 * PAIR)
            for n in self.loops
        ]
        for sizes in product(*choices):
            if prod(sizes) == MOST_OUTPUTS:
                yield tuple((n, k) for n, k in zip(self.loops, sizes, strict=True) if k > 1)

    # Which tile --------------------------------------------------------------------------------

    def tiles(self, threads: int) -> list[JointTile]:
        """Return tiles for blocks of so many threads, the one that costs least first."""
        sums = tuple(self._step(term) for term in self.terms)
        scored = []
        for registers in self._registers():
            for along in self._along(registers, threads):
                tile = JointTile(registers, along, sums)
                if self._fits(tile):
                    scored.append((self.cost(tile), tile))
        scored.sort(key=lambda pair: pair[0])
        return [tile for _, tile in scored[:MOST_TILES]]

    def _step(self, term: JointTerm) -> tuple[str, int]:
        """Return the loop of a term's sum that is staged, with the steps at a time."""
        if not term.sums:
            return NO_SUM
        return term.sums[0], staged_steps(self.trips[term.sums[0]], STAGED)

    def _registers(self) -> list[tuple[tuple[str, int], ...]]:
        """Return blocks of a thread's outputs that read least for each product."""
        lengths = [[n for n in LENGTHS if n <= self.trips[loop]] for loop in self.loops]
        scored = []
        for sizes in product(*lengths):
            outputs = prod(sizes)
            if LEAST_OUTPUTS <= outputs <= MOST_OUTPUTS:
                tile = JointTile(tuple(zip(self.loops, sizes, strict=True)), (), ())
                scored.append((self._surplus(tile) * self._multiplied(tile), sizes))
        scored.sort(key=lambda pair: pair[0])
        return [
            tuple((n, size) for n, size in zip(self.loops, sizes, strict=True) if size > 1)
            for _, sizes in scored[:MOST_TILES]
        ]

    @cached_property
    def weights(self) -> tuple[float, ...]:
        """Return the share of all products that each term has."""
        return tuple(self._depth(term) / self.products for term in self.terms)

    def _depth(self, term: JointTerm) -> int:
        return prod(self.trips[name] for name in term.sums)

    def _along(
        self, registers: tuple[tuple[str, int], ...], threads: int
    ) -> Iterator[tuple[tuple[str, int], ...]]:
        """Yield the ways to lay so many threads along the loops, none much longer than these."""
        own = dict(registers)
        lengths = []
        for loop in self.loops:
            left = ceil(self.trips[loop] / own.get(loop, 1))
            lengths.append([n for n in ALONG if n < 2 * left])
        for sizes in _factored(lengths, threads):
            yield tuple((n, size) for n, size in zip(self.loops, sizes, strict=True) if size > 1)

    def _fits(self, tile: JointTile) -> bool:
        """Return whether a block has the memory for the copies of each term, registers for one."""
        copied = self._copied(tile)
        return copied <= SHARED_BYTES and self.resident(tile) > 0

    def _copied(self, tile: JointTile) -> int:
        """Return the bytes of the copies, the larger ones of all terms in one place."""
        places = [0, 0]
        for term, (_, step) in zip(self.terms, tile.sums, strict=True):
            if term.sums:
                each = sorted((self._step_length(tile, own) for own in term.own), reverse=True)
                places = [max(k, n * step) for k, n in zip(places, each, strict=True)]
        return sum(places) * self.element

    def _step_length(self, tile: JointTile, own: Collection[str]) -> int:
        """Return how far apart two steps of a sum are in the copy of an input with some loops."""
        lengths = tile.lengths
        length = products_of(lengths, own)
        if not tile.by_warps:
            return length + GAP
        column, row = tile.by_warps
        if {row, column} <= {*own}:
            length = length // lengths[row] * (lengths[row] + LANE_GAP)
        return length + (LANE_GAP - length) % BANKS

    def resident(self, tile: JointTile) -> int:
        """Return how many blocks of a tile a multiprocessor has registers for."""
        own = dict(tile.registers)
        operands = max(sum(products_of(own, x) for x in term.own) for term in self.terms)
        others = FED_REGISTERS if self.unit.passed else OTHER_REGISTERS
        each = (tile.each + operands) * self.element // 4 + others
        most = min(SM_BLOCKS, SM_THREADS // tile.block_size)
        return min(most, SM_REGISTERS // (each * tile.block_size)) if each <= 255 else 0

    def may_relay(self, tile: JointTile) -> bool:
        """Return whether the copies of a term can begin while the one before it is computed."""
        counts = [self.unit.trips.get(term.sums[0]) for term in self.terms if term.sums]
        is_alone = all(len(term.sums) < 2 for term in self.terms)
        return len(counts) > 1 and all(counts) and is_alone and self.has_two_places(tile)

    def has_two_places(self, tile: JointTile) -> bool:
        """Return whether the copies of two terms at once are no more than a block may have."""
        return 2 * self._copied(tile) <= SHARED_BYTES

    def has_room(self, tile: JointTile) -> bool:
        """Return whether twice the copies leave as many blocks on a multiprocessor."""
        copied = self._copied(tile)
        return self.resident(tile) * (2 * copied + RESERVED_BYTES) <= SM_SHARED_BYTES

    def cost(self, tile: JointTile) -> float:
        """Return what one product of a tile costs, in the units of the two-level tile's `cost`."""
        lengths = tile.lengths
        surplus = self._surplus(tile)
        outputs = tile.each * tile.block_size
        copied = 0.0
        for term, weight, (inner, step) in zip(self.terms, self.weights, tile.sums, strict=True):
            rows = {**lengths, inner: step}
            for fact, loops in zip(term.inputs, term.own, strict=True):
                copied += weight * _wasted(fact, rows) * products_of(lengths, loops)
        multiplied = surplus * self._multiplied(tile)
        moved = _wasted(self.target, lengths) * (OUTPUT + OUTPUT_L2) / self.products
        moved += surplus * L2_ELEMENT * copied / outputs
        hidden = max(1, self.resident(tile))
        busy = min(1.0, self.blocks(tile) / ENOUGH_BLOCKS)
        return (max(moved, multiplied) + min(moved, multiplied) / hidden) / busy

    def _surplus(self, tile: JointTile) -> float:
        """Return how many times the outputs there are those of all tiles make."""
        lengths = tile.lengths
        cut = {n: lengths.get(n, 1) for n in self.loops}
        return prod(ceil(self.trips[n] / size) * size / self.trips[n] for n, size in cut.items())

    @cached_property
    def pays_by_warps(self) -> bool:
        """Return whether the tensor cores are the rules' own: they compute in less time.

        Copies go on meanwhile: on an H200 the eighteen doubles of 16 for each extent take 434 us
        in place of 615, with twice the copies. With one row for each lane there are too many.
        """
        if not self.warp_tiles or not self.best:
            return False
        tile, usual = self.warp_tiles[0], self.best[0]
        computed, before = (self._surplus(t) * self._multiplied(t) for t in (tile, usual))
        is_full = self.blocks(tile) >= ENOUGH_BLOCKS and bool(self._dealt(tile))
        return is_full and computed < (1 - GAIN) * before

    def _multiplied(self, tile: JointTile) -> float:
        """Return what computing one product costs, over all terms."""
        own, read, rate = dict(tile.registers), 0.0, 0.0
        for term, weight in zip(self.terms, self.weights, strict=True):
            is_product = term.is_matrix_product(tile)
            rate += weight / (FASTER if is_product else 1)
            operands = sum(products_of(own, x) for x in term.own)
            read += weight * operands / (DEPTH_LANES if is_product else 1)
        return rate + OPERAND * read / tile.each

    def blocks(self, tile: JointTile) -> int:
        """Return how many blocks a tile of the output makes."""
        lengths = tile.lengths
        return prod(ceil(self.trips[n] / lengths.get(n, 1)) for n in self.loops)

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
        For other sizes it may have them all. Where the copies are relayed from statement to
        statement, which the tuned sizes alone allow, the others have them one after the other.
        """
        blocks, threads = self._placed(tile)
        leader = self.unit.leader
        number = self.resident(tile) if is_resident else 0
        steps: list[Transform] = []
        for term, own in zip(self.terms, tile.sums, strict=True):
            steps += self._shaped(tile, term.statement, (*blocks, *threads), term.sums, own)
        steps += passing(self.unit.analysis, self.readers, self.unit.joint)
        for reader in self.readers:
            steps += self._shaped(tile, reader[0], (*blocks, *threads))
        levels = (*on_place("block", blocks), *on_place("thread", threads))
        nests = tuple(part[0] for part in self.unit.parts)
        steps += [Fuse(nests, loop=(*blocks, *threads)[-1]), Map(leader, levels)]
        for k in range(len(self.terms)):
            steps += self._staged(tile, k, 0 if is_relayed else stages)
        others = tuple(part[-1] for part in self.unit.parts[1:])
        steps.append(Hold(leader, self._held(tile), others=others))
        if is_relayed:
            first, *later = (term.statement for term in self.terms if term.sums)
            steps.append(Relay(first, tuple(later)))
        steps.append(Pad(leader, tuple(dict.fromkeys((*threads, *dict(tile.registers))))))
        for term, (inner, _) in zip(self.terms, tile.sums, strict=True):
            if term.is_matrix_product(tile):
                steps.append(TensorCores(term.statement, inner))
        is_other = number > 1 or is_relayed
        general = self.choice(tile, stages, False) if is_other else None
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

        In the copy the loops stand as in the output, a step of the sum after the other.
        """
        inner, _ = tile.sums[number]
        own, along, lengths = dict(tile.registers), dict(tile.threads), tile.lengths
        mine = [n for n in self.loops if moves(fact, n) and n in lengths]
        distance, length = {}, 1
        # What a thread has neighbours of comes first: two of them are one load.
        column, row = tile.by_warps or ("", "")
        for loop in sorted(mine, key=lambda n: (n != row, n != column, n not in own)):
            distance[loop] = length
            length *= lengths[loop]
            # The lanes with a row and a column of one copy meet in no bank.
            length += LANE_GAP if loop == row and column in mine else 0
        distance[inner] = self._step_length(tile, mine)
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
            able = sum(term.is_matrix_product(tile) for term in self.terms)
            rule = f"{able} statements have one of them in each input; threads add the others"
            yield Reason("tensor cores", " by ".join(tile.by_warps), rule)
        steps = ", ".join(dict.fromkeys(f"{size} of {n}" for n, size in tile.sums if n))
        way = f"a ring of {stages}" if stages > 1 else "asynchronous copies" if stages else "copies"
        way = "copied while the statement before is computed" if is_relayed else way
        if steps:
            yield Reason("staged", f"{steps} at a time", f"{way}, of all statements in one place")
        if resident > 1:
            yield Reason("resident", f"{resident} blocks", "as the registers of the tile allow it")


def _tiled(loop: str, times: int) -> str:
    """Return the name of the loop over tiles of tiles of a loop, itself for none."""
    for _ in range(times):
        loop = tile_name(loop)
    return loop


def _factored(lengths: Sequence[Sequence[int]], total: int) -> Iterator[tuple[int, ...]]:
    """Yield one of each of the lengths, all of which together make `total`."""
    if not lengths:
        if total == 1:
            yield ()
        return
    for size in lengths[0]:
        if total % size == 0:
            yield from ((size, *rest) for rest in _factored(lengths[1:], total // size))


def _wasted(fact: AccessFacts, lengths: Mapping[str, int]) -> float:
    """Return how many times as much memory moves as is used, where rows are short of a sector."""
    along = [n for n, stride in fact.strides.items() if stride and abs(stride) == 1]
    length = prod(lengths.get(n, 1) for n in along)
    return max(1.0, SECTOR / length)


@asked_once
def _problem(unit: Unit) -> _Joint | str:
    """Return a unit's statements as terms of one output, or in words why they are none."""
    if len(unit.joint) > MOST_LOOPS:
        return f"more than {MOST_LOOPS} loops pick an output"
    output = unit.writes[0].access
    terms: list[JointTerm] = []
    for statement in unit.added:
        term = JointTerm.of(unit, statement)
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
