"""One launch on a device: its sizes, and its loops under directives of OpenACC or OpenMP.

What the two languages call it is in a table of each, its `Directives`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Protocol

from annotune.analysis.facts import Analysis
from annotune.analysis.schedule import around, keeps_order
from annotune.codegen.c_stmt import Dialect, cut_loops, write_ends
from annotune.codegen.guards import counts_tests
from annotune.codegen.in_place import (
    band_from,
    condition,
    declare_own,
    is_placed,
    reduction_clauses,
)
from annotune.codegen.writer import Writer
from annotune.ir.expr import Binary, Call, Expr, Int, variables
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import CachedSection, Level, Loop, walk_stmts
from annotune.schedule.launch_sizes import WARP
from annotune.schedule.plan import Kernel
from annotune.strategies.openacc import SAFE_GANG
from annotune.transforms.registers import array_accesses
from annotune.transforms.tree import Body, bound_names, numbers

# libgomp keeps the sizes of a launch in 16 bits: 65536 gangs arrive as 0, its own choice, and
# 65537 as one (seen with gcc 12; plugin-nvptx.c).
GANGS_LIMIT = 65535


@dataclass(frozen=True, slots=True)
class LaunchSizes:
    """What the clauses of a launch ask for; the loops keep their own bounds whatever it is."""

    gangs: int
    workers: int
    vector: int


class Directives(Protocol):
    """The words by which a language says what runs on a device, and where its data are.

    `moves` begin the clauses of `data_clauses`, `data` is the directive of a block in which arrays
    stay on the device, and `alone` that of what one thread does, which may be of a loop alone. Of
    the `levels` some have other names there. `serial` stands before a loop that
    runs in order, empty for nothing. A language that `merges_levels` has one directive for the
    loops of workers and vectors that nest perfectly. `function` stands before a function that
    kernels call.
    """

    moves: Mapping[str, str]
    data: str
    alone: str
    alone_is_loop: bool
    levels: Mapping[Level, str]
    serial: str
    merges_levels: bool
    function: str

    def sizes(self, sizes: LaunchSizes) -> str:
        """Return the clauses with the sizes of a launch."""

    def launch(self, places: Sequence[Level], in_order: bool) -> str:
        """Return the directive of a launch whose first loops run at `places`.

        `in_order` says that what is in them may run by lanes in lockstep.
        """

    def inside(self, places: Sequence[Level], outer: Sequence[Level], in_order: bool) -> str:
        """Return the directive of loops inside others at `outer`, empty where none is right."""

    def tiles(self, sizes: Sequence[int]) -> str:
        """Return the directive by which the compiler cuts loops to tiles, empty for none."""

    def cache(self, sections: str) -> str:
        """Return the directive for what all lanes of a gang read, empty for none."""

    def functions(self, texts: str) -> str:
        """Return the definitions of functions as they stand at file scope."""


def launch_sizes(launched: Loop, kernel: Kernel, analysis: Analysis) -> LaunchSizes:
    """Return the launch of the loop `launched` of `kernel` at the sizes it is tuned for.

    A vector is a multiple of the warp, the only lengths that gcc takes.
    """
    sizes = _ends_of_serial_loops(launched, kernel, analysis)
    gangs, workers, lanes = (
        _iterations((launched,), level, sizes) for level in (Level.GANG, Level.WORKER, Level.VECTOR)
    )
    vector = min(SAFE_GANG, WARP * -(-lanes // WARP))
    if launched.place != Level.GANG:
        # Threads alone: the gangs share what one vector cannot take.
        gangs = -(-lanes // vector)
    most = min(gangs, kernel.max_blocks or gangs)
    return LaunchSizes(_even(most, GANGS_LIMIT), max(1, min(workers, SAFE_GANG // vector)), vector)


def _even(gangs: int, most: int) -> int:
    """Return at most `most` gangs that take the iterations of `gangs` in equal turns, or nearly."""
    return -(-gangs // -(-gangs // most))


def _ends_of_serial_loops(
    launched: Loop, kernel: Kernel, analysis: Analysis
) -> tuple[dict[str, int], ...]:
    """Return the sizes with all loops around the launch in their first iteration, and in the last.

    Serial loops may set the bounds of the placed ones: the launch is sized once, for the
    longest that either end shows.
    """
    inside = {launched.var, *(s.var for s in walk_stmts(launched.body) if isinstance(s, Loop))}
    first, last = dict(analysis.region.sizes), dict(analysis.region.sizes)
    statement = next((n for n in sorted(numbers(launched))), kernel.statements[0])
    for loop in analysis.paths[statement]:
        if loop.var not in inside:
            _set_ends(loop, first, last)
    return first, last


def _set_ends(loop: Loop, first: dict[str, int], last: dict[str, int]) -> None:
    for sizes, end in ((first, loop.lower), (last, Binary("-", loop.upper, Int(1)))):
        value = fold(end, sizes)
        if isinstance(value, Int):
            sizes[loop.var] = value.value


def _iterations(body: Body, level: Level, sizes: tuple[dict[str, int], ...]) -> int:
    """Return how many iterations the loops of `level` have together, the longest of siblings.

    A loop over one tile counts as a whole one.
    """
    most = 1
    for stmt in body:
        if not isinstance(stmt, Loop):
            continue
        own = max(1, *(_count(stmt, known) for known in sizes)) if stmt.place == level else 1
        first, last = (dict(known) for known in sizes)
        # Serial loops inside a launch may set bounds as well.
        _set_ends(stmt, first, last)
        most = max(most, own * _iterations(stmt.body, level, (first, last)))
    return most


def _count(loop: Loop, sizes: dict[str, int]) -> int:
    if isinstance(loop.upper, Call) and loop.upper.function == "min" and loop.tile_of == "":
        loop = _whole_tile(loop)
    count = fold(trip_count(loop), sizes)
    # A bound that only the device knows: a warp is what any vector holds.
    return count.value if isinstance(count, Int) else WARP


def _whole_tile(loop: Loop) -> Loop:
    """Return a loop over a tile that may be cut short with the tile's own end."""
    assert isinstance(loop.upper, Call)
    inner = replace(loop, upper=loop.upper.arguments[0])
    return inner if isinstance(fold(trip_count(inner)), Int) else loop


# Iterations of a loop that is written out in full, at most: beyond it code outweighs registers.
MAX_UNROLLED = 16
DEVICE_LEVELS = frozenset({Level.GANG, Level.WORKER, Level.VECTOR})


class NestWriter:
    """Writes the loops of one region's launches."""

    def __init__(self, analysis: Analysis, words: Directives) -> None:
        self.analysis = analysis
        self.words = words
        self.dialect = Dialect(analysis.region, flat=False, loop=self._loop)
        self.cached: tuple[CachedSection, ...] = ()
        self._around: tuple[Level, ...] = ()

    def launch(self, out: Writer, loop: Loop, tail: str, is_tiled: bool) -> None:
        """Write placed loops, level by level, around what a lane does; `tail` are clauses.

        What `is_tiled` the compiler may cut itself.
        """
        levels = self._levels_from(loop)
        if is_tiled and self._tiles(out, levels, tail):
            return
        loops = levels[0]
        head = self.words.launch([x.place for x in loops], self._in_order(loops))
        self._levels(out, levels, head, f" {tail}")

    def write(self, out: Writer, body: Body, known: frozenset[str] = frozenset()) -> None:
        """Write what one lane does, its temporaries declared inside it, less those `known`."""
        declare_own(out, self.analysis, body, known)
        self._statements(out, body)

    def _levels_from(self, loop: Loop) -> list[tuple[Loop, ...]]:
        """Return the placed loops that nest perfectly, those under one directive together."""
        found: list[tuple[Loop, ...]] = []
        for one in band_from(loop, DEVICE_LEVELS):
            if found and self._is_with(found[-1], one):
                found[-1] += (one,)
            else:
                found.append((one,))
        return found

    def _is_with(self, outer: tuple[Loop, ...], loop: Loop) -> bool:
        """Return whether one directive is for a loop and those right around it."""
        if outer[-1].place is loop.place:
            return True
        is_same = outer[-1].place is Level.WORKER and self.words.merges_levels
        return is_same and not bound_names(loop) & {x.var for x in outer}

    def _in_order(self, loops: tuple[Loop, ...]) -> bool:
        """Return whether lanes, where loops are theirs, would keep the order inside them."""
        return loops[-1].place is not Level.VECTOR or all(
            keeps_order(self.analysis, numbers(loop), around(self.analysis, loop)) for loop in loops
        )

    def _levels(self, out: Writer, levels: list[tuple[Loop, ...]], head: str, tail: str) -> None:
        """Write the loops of the first level as one, and the other levels inside them."""
        loops, *rest = levels
        bare = tuple(replace(loop, body=()) for loop in loops)
        # A tile's end is known once the loops outside have chosen the tile.
        named = write_ends(out, self.dialect, bare, cut_loops(bare))
        collapse = f" collapse({len(loops)})" if len(loops) > 1 else ""
        heads = [self.dialect.loop_head(loop) for loop in named if isinstance(loop, Loop)]
        tests = self._late_tests(bare) if collapse else ()
        tests = tuple(map(self.dialect.wide, tests))
        with out.block(condition(tests)) if tests else nullcontext():
            if head:
                out.directive(f"#pragma {head}{collapse}{reduction_clauses(loops)}{tail}")
            outer = self._around
            self._around = (*outer, *(loop.place for loop in loops))
            with out.under(heads[:-1]), out.block(heads[-1]):
                if rest:
                    if loops[-1].place is Level.GANG:
                        self._cache(out)
                    self._inside(out, rest)
                else:
                    self.write(out, loops[-1].body)
            self._around = outer

    def _inside(self, out: Writer, levels: list[tuple[Loop, ...]]) -> None:
        """Write levels inside those of the launch, which are around them."""
        loops = levels[0]
        places = [loop.place for loop in loops]
        head = self.words.inside(places, self._around, self._in_order(loops))
        self._levels(out, levels, head, "")

    def _tiles(self, out: Writer, levels: list[tuple[Loop, ...]], tail: str) -> bool:
        """Write gangs over tiles and the lanes inside them as the loops that are cut.

        The clause names the innermost loop's tile first (OpenACC 3.3, section 2.9.8). Return
        whether the language has one.
        """
        gangs, lanes = levels
        pairs = [*zip(gangs, lanes, strict=True)]
        head = self.words.tiles([tile.step // loop.step for tile, loop in reversed(pairs)])
        if head:
            out.directive(f"#pragma {head} {tail}")
            whole = (replace(loop, lower=tile.lower, upper=tile.upper) for tile, loop in pairs)
            heads = [self.dialect.loop_head(loop) for loop in whole]
            with out.under(heads[:-1]), out.block(heads[-1]):
                self.write(out, lanes[-1].body)
        return bool(head)

    def _cache(self, out: Writer) -> None:
        """Write the directive for what all lanes of a gang read again and again."""
        parts = []
        for section in self.cached:
            rows = (f"[{self.dialect.expr(first)}:{length}]" for first, length in section.rows)
            parts.append(f"{section.array}{''.join(rows)}")
        head = self.words.cache(", ".join(parts)) if parts else ""
        if head:
            out.directive(f"#pragma {head}")

    def _late_tests(self, loops: tuple[Loop, ...]) -> tuple[Expr, ...]:
        """Return tests that loops run whose bounds loops around them set."""
        around = {loop.var for loop in self.analysis.region.nest.loops()}
        return counts_tests((x for x in loops if bound_names(x) & around), self.analysis.region)

    def _loop(self, out: Writer, loop: Loop) -> bool:
        if is_placed(loop):
            # Workers and vectors join at the end of their loop, and go on together.
            self._inside(out, self._levels_from(loop))
            return True
        count = fold(trip_count(loop))
        is_short = isinstance(count, Int) and count.value <= MAX_UNROLLED
        if isinstance(count, Int) and is_short and self._picks_local(loop):
            # Only constant subscripts leave an array in registers: gcc at -O2 keeps the loop.
            out.line(f"#pragma GCC unroll {count.value}")
        elif self.words.serial:
            out.line(f"#pragma {self.words.serial}")
        with out.block(self.dialect.loop_head(loop)):
            self._statements(out, loop.body)
        return True

    def _picks_local(self, loop: Loop) -> bool:
        """Return whether a loop picks elements of an array that a lane has for itself."""
        return any(
            place.array not in self.analysis.region.arrays
            and any(loop.var in variables(index) for index in place.indices)
            for place in array_accesses(loop)
        )

    def _statements(self, out: Writer, body: Body) -> None:
        cuts = tuple(cut for cut in cut_loops(body) if any(cut.loop is s for s in body))
        self.dialect.write_body(out, write_ends(out, self.dialect, body, cuts))
