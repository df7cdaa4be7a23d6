"""Loops under OpenACC directives: gangs, workers and vectors, and what one lane does in them."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import groupby

from annotune.analysis.facts import Analysis
from annotune.analysis.schedule import around, keeps_order
from annotune.codegen.c_stmt import Dialect
from annotune.codegen.guards import counts_tests
from annotune.codegen.in_place import condition
from annotune.codegen.names import spelled
from annotune.codegen.placed import band_from, declared_in, is_placed, reduction_clauses
from annotune.codegen.tile_ends import cut_loops, write_ends
from annotune.codegen.writer import Writer
from annotune.ir.expr import Expr, Int, variables
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import CachedSection, Level, Loop
from annotune.transforms.copies import array_accesses
from annotune.transforms.tree import Body, bound_names, numbers, rebuilt

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
        bare = tuple(rebuilt(loop, body=()) for loop in loops)
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
            for text in heads[:-1]:
                out.line(text)
                out.indent()
            outer = self._around
            self._around = (*outer, loops[0].place)
            with out.block(heads[-1]):
                if rest:
                    if loops[-1].place is Level.GANG:
                        self._cache(out)
                    self.levels(out, rest, "loop ")
                else:
                    self.write(out, loops[-1].body)
            self._around = outer
            for _ in heads[:-1]:
                out.dedent()

    def tiles(self, out: Writer, levels: list[tuple[Loop, ...]], tail: str) -> None:
        """Write gangs over tiles and the lanes inside them as the loops that are cut.

        The clause names the innermost loop's tile first (OpenACC 3.3, section 2.9.8).
        """
        gangs, lanes = levels
        sizes = [tile.step // loop.step for tile, loop in zip(gangs, lanes, strict=True)]
        listed = ", ".join(map(str, reversed(sizes)))
        out.directive(f"#pragma acc parallel loop gang vector tile({listed}) {tail}")
        whole = [
            rebuilt(loop, lower=tile.lower, upper=tile.upper)
            for tile, loop in zip(gangs, lanes, strict=True)
        ]
        for loop in whole[:-1]:
            out.line(self.dialect.loop_head(loop))
            out.indent()
        with out.block(self.dialect.loop_head(whole[-1])):
            self.write(out, lanes[-1].body)
        for _ in whole[:-1]:
            out.dedent()

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
        for scalar in declared_in(self.analysis, body, known):
            out.line(f"{spelled(scalar.type)} {scalar.name};")
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
