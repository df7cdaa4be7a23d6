"""The sizes of an OpenACC launch: gangs, workers and the length of a vector.

OpenACC data clauses: the least copies that a region's dependences allow.

Loops under OpenACC directives: gangs, workers and vectors, and what one lane does in them.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import combinations, groupby

from annotune.analysis.facts import Analysis
from annotune.analysis.schedule import around, keeps_order
from annotune.codegen.c_expr import in_64_bits, plain_c
from annotune.codegen.c_stmt import Dialect, cut_loops, write_ends
from annotune.codegen.guards import (
    Stretch,
    address,
    counts_tests,
    disjoint,
    in_long,
    may_wrap,
    same_or_disjoint,
)
from annotune.codegen.in_place import (
    band_from,
    condition,
    declare_own,
    is_placed,
    reduction_clauses,
)
from annotune.codegen.names import narrow_scalars
from annotune.codegen.writer import Writer
from annotune.ir.c_types import may_share, may_share_unchanged
from annotune.ir.expr import Binary, Call, Expr, Int, Select, variables, walk
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import CachedSection, Level, Loop, walk_stmts
from annotune.ir.poly import from_expr
from annotune.ir.region import Array, Region
from annotune.schedule.launch_sizes import WARP
from annotune.schedule.plan import Kernel
from annotune.strategies.openacc import SAFE_GANG
from annotune.transforms.registers import array_accesses
from annotune.transforms.tree import Body, bound_names, numbers

# libgomp keeps the sizes of a launch in 16 bits: 65536 gangs arrive as 0, its own choice, and
# 65537 as one (seen with gcc 12; plugin-nvptx.c).
GANGS_LIMIT = 65535


@dataclass(frozen=True, slots=True)
class Shape:
    """What the clauses ask for; the loops keep their own bounds whatever it is."""

    gangs: int
    workers: int
    vector: int

    def clauses(self) -> str:
        """Return the clauses of ``parallel loop``."""
        return f"num_gangs({self.gangs}) num_workers({self.workers}) vector_length({self.vector})"


def shape(launched: Loop, kernel: Kernel, analysis: Analysis) -> Shape:
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
    return Shape(_even(most, GANGS_LIMIT), max(1, min(workers, SAFE_GANG // vector)), vector)


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


def data_clauses(
    analysis: Analysis,
    resident: bool = False,
    is_part: bool = False,
    among: Collection[str] | None = None,
) -> str:
    """Return the clauses that bring a region's arrays to the device and back.

    What is only read is copied in, what is wholly overwritten first is only copied out. With
    `resident` the arrays are there already; `is_part` of a region may overwrite a part only, and
    may use no arrays but those of `among`.
    """
    sections: dict[str, list[str]] = {}
    for array in analysis.region.arrays.values():
        if among is not None and array.name not in among:
            continue
        clause = "present" if resident else _clause(analysis, array, is_part)
        sections.setdefault(clause, []).append(section(analysis, array))
    order = ("present", "copyin", "copy", "copyout")
    return " ".join(f"{c}({', '.join(sections[c])})" for c in order if c in sections)


def present_elements(analysis: Analysis) -> str:
    """Return the clause by which the device finds resident arrays at sizes of any kind.

    An element of each must be there, as a rule one that is touched: how many are is not known at
    all sizes, nor need a section be one where none is.
    """
    found = []
    for array in analysis.region.arrays.values():
        shape = analysis.shapes[array.name]
        part = shape.part if shape.rows is None else shape.rows
        first = fold(part.first)
        if first != Int(0):
            first = fold(Select(Binary(">", in_long(part.count), Int(0)), first, Int(0)))
        rest = "".join(f"[0:{plain_c(e)}]" for e in array.extents[1:] if e is not None)
        found.append(f"{array.name}[{_counted(first, analysis.region)}:1]{rest}")
    return f"present({', '.join(found)})"


def section(analysis: Analysis, array: Array) -> str:
    """Return the part of an array that a call touches, as OpenACC writes it.

    Of an array of rows whole rows are taken; an array object is named where all of it is touched.
    """
    shape = analysis.shapes[array.name]
    inner = [extent for extent in array.extents[1:] if extent is not None]
    part = shape.part if shape.rows is None else shape.rows
    first, count = fold(part.first), fold(part.count)
    if not array.is_pointer and _is_all(array, first, count):
        return array.name
    rest = "".join(f"[0:{plain_c(extent)}]" for extent in inner)
    bounds = (_counted(bound, analysis.region) for bound in (first, count))
    return f"{array.name}[{':'.join(bounds)}]{rest}"


def section_tests(analysis: Analysis) -> tuple[Expr, ...]:
    """Return tests that no section lies in a part of another, beside those for what C lets overlap.

    What is only read may overlap, ``restrict`` or not, and so may what is not touched at all where
    conditions decide. But a section of which a part alone is present ends the program (OpenACC
    3.3, 2.7.2), also where the part is empty, and compilers take clauses in any order: gcc's last
    one is the first.
    """
    region = analysis.region
    if region.spec.assumptions.disjoint:
        return ()
    tests: list[Expr] = []
    for one, two in combinations(region.arrays.values(), 2):
        if not may_share_unchanged(one, two):
            continue
        if not any(analysis.uses[array.name].is_written for array in (one, two)):
            tests.append(_same_or_disjoint(analysis, one, two))
        elif not may_share(one, two) and _is_inspected(analysis, one, two):
            tests.append(disjoint(section_stretch(analysis, one), section_stretch(analysis, two)))
    return tuple(tests)


def _same_or_disjoint(analysis: Analysis, one: Array, two: Array) -> Expr:
    """Return the test that two inputs are one and the same, if they may well be, or lie apart."""
    stretches = section_stretch(analysis, one), section_stretch(analysis, two)
    if _is_inspected(analysis, one, two):
        return disjoint(*stretches)
    counts = _elements(analysis, one)[1], _elements(analysis, two)[1]
    if one.element != two.element or _is_longer(analysis.region, *counts):
        return disjoint(*stretches)
    return same_or_disjoint(*stretches, counts[0] == counts[1])


def _is_inspected(analysis: Analysis, *arrays: Array) -> bool:
    """Return whether it is looked for what is touched of one of some arrays."""
    return any(analysis.shapes[array.name].is_inspected for array in arrays)


def _is_longer(region: Region, *counts: Expr) -> bool:
    """Return whether one of two counts is the larger, but where it has factors that are 1."""
    one, two = (from_expr(fold(count, region.constants)) for count in counts)
    if one is None or two is None or one.is_zero or two.is_zero:
        return False
    if (one - two).constant not in (None, 0):
        return True
    pairs = ((one, two), (two, one)) if one != two else ()
    return any(large.divide(small)[1].is_zero for large, small in pairs)


def section_stretch(analysis: Analysis, array: Array) -> Stretch:
    """Return the memory of an array's section: of an array of rows more than is touched.

    Before it is looked for, it is all that there could be.
    """
    first, count = _elements(analysis, array)
    end = fold(Binary("+", first, count))
    return address(analysis, array, first), address(analysis, array, end)


def _elements(analysis: Analysis, array: Array) -> tuple[Expr, Expr]:
    """Return the first element of the section of an array, and how many there are."""
    shape = analysis.shapes[array.name]
    row: Expr = Int(1)
    for extent in array.extents[1:] if shape.rows is not None else ():
        row = row if extent is None else fold(Binary("*", row, extent))
    if shape.is_inspected:
        beside = fold(Binary("-", row, Int(1)))
        first = Binary("-", shape.lowest, beside)
        return fold(first), fold(Binary("+", shape.length, Binary("*", Int(2), beside)))
    part = shape.part if shape.rows is None else shape.rows
    return fold(Binary("*", part.first, row)), fold(Binary("*", part.count, row))


def _is_all(array: Array, first: Expr, count: Expr) -> bool:
    """Return whether `count` rows or elements from `first` on are all that an object has."""
    if not array.extents:
        return True
    (outermost, *_), found = array.extents, from_expr(count)
    return first == Int(0) and outermost is not None and found == from_expr(fold(outermost))


def _counted(expr: Expr, region: Region) -> str:
    """Return a bound of a section as C, in 64 bits where it is more than a sum of products."""
    is_plain = not any(isinstance(part, Select | Call) for part in walk(expr))
    is_plain = is_plain and not may_wrap(expr, region)
    return plain_c(in_64_bits(expr, narrow_scalars(region)) if is_plain else in_long(expr))


def _clause(analysis: Analysis, array: Array, is_part: bool) -> str:
    use, rows = analysis.uses[array.name], analysis.shapes[array.name].rows
    if not use.is_written:
        return "copyin"
    is_whole = rows is None or rows.is_whole
    return "copyout" if use.overwritten and is_whole and not is_part else "copy"


# Iterations of a loop that is written out in full, at most: beyond it code outweighs registers.
MAX_UNROLLED = 16
ACC_LEVELS = frozenset({Level.GANG, Level.WORKER, Level.VECTOR})


def levels_from(loop: Loop) -> list[tuple[Loop, ...]]:
    """Return the placed loops that nest perfectly from `loop` on, those of one level together."""
    band = band_from(loop, ACC_LEVELS)
    return [tuple(group) for _, group in groupby(band, key=lambda x: x.place)]


class NestWriter:
    """Writes the loops of one region's launches."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        self.dialect = Dialect(analysis.region, flat=False, loop=self._loop)
        self.cached: tuple[CachedSection, ...] = ()
        self._around: tuple[Level, ...] = ()

    def levels(
        self, out: Writer, levels: list[tuple[Loop, ...]], head: str, tail: str = ""
    ) -> None:
        """Write the loops of the first level as one, and the other levels inside them."""
        loops, *rest = levels
        bare = tuple(replace(loop, body=()) for loop in loops)
        # A tile's end is known once the loops outside have chosen the tile.
        named = write_ends(out, self.dialect, bare, cut_loops(bare))
        collapse = f" collapse({len(loops)})" if len(loops) > 1 else ""
        level = self._level(loops[-1], head)
        heads = [self.dialect.loop_head(loop) for loop in named if isinstance(loop, Loop)]
        tests = self._late_tests(bare) if collapse else ()
        tests = tuple(map(self.dialect.wide, tests))
        with out.block(condition(tests)) if tests else nullcontext():
            clauses = f"{collapse}{reduction_clauses(loops)}{tail}"
            out.directive(f"#pragma acc {head}{level}{clauses}")
            outer = self._around
            self._around = (*outer, loops[0].place)
            with out.under(heads[:-1]), out.block(heads[-1]):
                if rest:
                    if loops[-1].place is Level.GANG:
                        self._cache(out)
                    self.levels(out, rest, "loop ")
                else:
                    self.write(out, loops[-1].body)
            self._around = outer

    def tiles(self, out: Writer, levels: list[tuple[Loop, ...]], tail: str) -> None:
        """Write gangs over tiles and the lanes inside them as the loops that are cut.

        The clause names the innermost loop's tile first (OpenACC 3.3, section 2.9.8).
        """
        gangs, lanes = levels
        sizes = [tile.step // loop.step for tile, loop in zip(gangs, lanes, strict=True)]
        listed = ", ".join(map(str, reversed(sizes)))
        out.directive(f"#pragma acc parallel loop gang vector tile({listed}) {tail}")
        heads = [
            self.dialect.loop_head(replace(loop, lower=tile.lower, upper=tile.upper))
            for tile, loop in zip(gangs, lanes, strict=True)
        ]
        with out.under(heads[:-1]), out.block(heads[-1]):
            self.write(out, lanes[-1].body)

    def _cache(self, out: Writer) -> None:
        """Write the directive for what all lanes of a gang read again and again."""
        parts = []
        for section in self.cached:
            rows = (f"[{self.dialect.expr(first)}:{length}]" for first, length in section.rows)
            parts.append(f"{section.array}{''.join(rows)}")
        if parts:
            out.directive(f"#pragma acc cache({', '.join(parts)})")

    def _level(self, loop: Loop, head: str) -> str:
        """Return the level's word, another one where lanes would lose the order inside them.

        gcc takes a loop on vectors alone for one of lanes; one on workers and vectors it does not.
        """
        is_vector = loop.place is Level.VECTOR and head == "loop "
        if not is_vector or keeps_order(self.analysis, numbers(loop), around(self.analysis, loop)):
            return loop.place
        return "seq" if Level.WORKER in self._around else "worker vector"

    def write(self, out: Writer, body: Body, known: frozenset[str] = frozenset()) -> None:
        """Write what one lane does, its temporaries declared inside it, less those `known`."""
        declare_own(out, self.analysis, body, known)
        self._statements(out, body)

    def _late_tests(self, loops: tuple[Loop, ...]) -> tuple[Expr, ...]:
        """Return tests that loops run whose bounds loops around them set."""
        around = {loop.var for loop in self.analysis.region.nest.loops()}
        return counts_tests((x for x in loops if bound_names(x) & around), self.analysis.region)

    def _loop(self, out: Writer, loop: Loop) -> bool:
        if is_placed(loop):
            # Workers and vectors join at the end of their loop, and go on together.
            self.levels(out, levels_from(loop), "loop ")
            return True
        count = fold(trip_count(loop))
        is_short = isinstance(count, Int) and count.value <= MAX_UNROLLED
        if isinstance(count, Int) and is_short and self._picks_local(loop):
            # Only constant subscripts leave an array in registers: gcc at -O2 keeps the loop.
            out.line(f"#pragma GCC unroll {count.value}")
        else:
            out.line("#pragma acc loop seq")
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
