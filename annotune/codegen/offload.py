"""Targets that run loops on a device by directives, in place in the user's function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from math import prod
from typing import Protocol

from annotune.analysis.facts import Analysis
from annotune.analysis.schedule import around, keeps_order
from annotune.codegen.c_expr import plain_c
from annotune.codegen.c_stmt import Dialect, cut_loops, write_ends
from annotune.codegen.data_sections import (
    data_clauses,
    lengths_read,
    present_elements,
    section_stretch,
    section_tests,
)
from annotune.codegen.device_sizes import LaunchSizes, launch_sizes
from annotune.codegen.guards import (
    address,
    counts_tests,
    look_text,
    null_tests,
    plainly,
    touched_stretch,
    wholly_there,
)
from annotune.codegen.in_place import (
    assigns,
    band_from,
    between_kernels,
    combined_names,
    condition,
    declare,
    declare_own,
    declared_in,
    holds,
    is_placed,
    lasting,
    legend,
    reduction_clauses,
    region_block,
    region_tests,
    runs_at_all,
    write_steps,
)
from annotune.codegen.names import fresh, spelled
from annotune.codegen.renaming import calling_copies, copied, copies_text
from annotune.codegen.target import RegionCode, Vocabulary
from annotune.codegen.users_file import InPlaceTarget, in_users_file, without_macros
from annotune.codegen.writer import Writer
from annotune.ir.c_types import element_bytes
from annotune.ir.expr import Expr, Int, Select, Var, accesses, variables
from annotune.ir.fold import fold, trip_count
from annotune.ir.nest import (
    NO_STATEMENT,
    Assign,
    Await,
    CachedSection,
    Fetch,
    Level,
    Local,
    LocalArray,
    Loop,
    MemorySpace,
    Nest,
    Stmt,
    expressions,
    walk_stmts,
)
from annotune.ir.region import Premise
from annotune.schedule.launch_sizes import WARP
from annotune.schedule.plan import Kernel, Plan
from annotune.space.points import AccPoints
from annotune.space.variants import Variant
from annotune.transforms.map import TILE
from annotune.transforms.registers import array_accesses
from annotune.transforms.transform import Feature
from annotune.transforms.tree import Body, bound_names, mapped, numbers

# Iterations of a loop that is written out in full, at most: beyond it code outweighs registers.
MAX_UNROLLED = 16
# Lanes of a gang whose arrays they share, at least: those of a single warp have no barrier at the
# end of a loop where gcc makes them (its nvptx.c, nvptx_process_pars).
SHARING_LANES = 2 * WARP
# Bytes of an array that a lane can have in registers: 255 of 4 bytes.
LANE_BYTES = 1020
DEVICE_LEVELS = frozenset({Level.GANG, Level.WORKER, Level.VECTOR})


class Directives(Protocol):
    """The words by which a language says what runs on a device, and where its data are.

    `moves` begin the clauses of `data_clauses`, `data` is the directive of a block in which
    arrays stay on the device, and `alone` that of what one thread does, which may be of loops
    only. One that `keeps` arrays on the device does so in blocks of Data. `levels` has those
    whose names are others there. `serial` stands before a loop that runs in order, empty for
    nothing. A language that `merges_levels` has one directive for the loops of workers and
    vectors that nest perfectly. `function` stands before a function that kernels call, and
    `sharing` what compilers must be asked where the lanes of a gang share its arrays.
    """

    moves: Mapping[str, str]
    data: str
    alone: str
    alone_is_loop: bool
    keeps: bool
    levels: Mapping[Level, str]
    serial: str
    merges_levels: bool
    function: str
    sharing: Sequence[str]

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


class OffloadTarget(InPlaceTarget):
    """C with directives of a language that says what runs on a device, in its own `words`."""

    name: str
    kind: str
    is_for_cpu = False
    words: Directives
    points = AccPoints.of
    vocabulary = Vocabulary(
        DEVICE_LEVELS,
        frozenset(),
        frozenset({Feature.DEVICE_THREADS, Feature.GANG_CACHE}),
    )

    def region(self, variant: Variant, resident: bool) -> RegionCode:
        """Return the region with its kernels under directives, arrays as the user's.

        Several kernels share one data region, so that every array moves once.
        """
        variant = in_users_file(variant)
        if resident:
            variant = variant.rewritten(wholly_there, lambda plan: plan)
        region = variant.analysis.region
        # A routine must be one before its first use, and the user's are used by the user.
        names = {f.name: f"{region.entry}_{f.name}" for f in copied(region)}
        variant = plainly(calling_copies(variant, names), resident)
        words = self.words
        analysis, used = variant.analysis, region.nest.arrays()
        data = data_clauses(analysis, resident, among=used, moves=words.moves)
        # Of data that are there already what the region has for itself is made for all kernels.
        is_moved = not resident or any(map(analysis.stays_on_device, used))
        shared = is_moved and any(map(_needs_region, variant.plans()))
        own = "" if shared else data

        def write(out: Writer, analysis: Analysis, plan: Plan, suffix: str) -> None:
            _KernelsWriter(analysis, words, own).plan(out, plan)

        around = f"#pragma {words.data} {data}" if shared else ""
        copies = copies_text(region, names, words.function)
        helper = words.functions(copies) if copies else ""
        conditions: dict[Premise, None]
        conditions = dict.fromkeys(c for f in region.functions for c in f.conditions)
        conditions |= dict.fromkeys(lengths_read(variant.analysis))
        also: tuple[Expr, ...] = ()
        first, stretch = "", touched_stretch
        write_nest = _KernelsWriter(variant.analysis, words).as_written if resident else None
        if not resident:
            # A section of which another's part is present ends the program (OpenACC 3.3, 2.7.2).
            stretch = section_stretch
            also = (*null_tests(variant.analysis), *section_tests(variant.analysis))
            first = look_text(variant.analysis, Dialect(region, flat=False))
        body = region_block(variant, write, around, also, first, stretch, write_nest)
        ahead = _ahead(variant, also) if region.is_resident and words.keeps and not resident else ""
        code = RegionCode(body, helper, conditions=tuple(conditions), ahead=ahead)
        return without_macros(code, region)


def _ahead(variant: Variant, also: Sequence[Expr]) -> str:
    """Return what has the arrays of a region where it runs, if they may be on the device."""
    analysis = variant.analysis
    tests = region_tests(variant, also, section_stretch)
    out = Writer()
    every = (e for stmt in walk_stmts(analysis.inspector) for e in expressions(stmt))
    looked = {access.array for expr in every for access in accesses(expr)}
    rows = []
    for array in analysis.region.arrays.values():
        if analysis.stays_on_device(array.name) or not (array.extents or array.is_pointer):
            continue
        use = analysis.uses[array.name]
        first, end = map(plain_c, section_stretch(analysis, array))
        is_read = int(use.is_read or not use.overwritten)
        rows.append(f"{{{first}, {end}, {is_read}, {int(use.is_written)}}},")
    if not rows:
        return ""
    with out.block(condition(tests) if tests else ""):
        for name in sorted(looked & analysis.region.arrays.keys()):
            array = analysis.region.arrays[name]
            element = plain_c(address(analysis, array, fold(analysis.shapes[name].lowest)))
            out.line(f"annotune_data_on_host({element}, 0);")
        with out.block("const struct annotune_used used[] =", "};"):
            for row in rows:
                out.line(row)
        out.line(f"annotune_data_use({len(rows)}, used);")
    if tests:
        runs = runs_at_all(analysis, Dialect(analysis.region, flat=False))
        out.line(f"else if ({runs})" if runs else "else")
        with out.deeper():
            out.line("annotune_data_all_on_host();")
    return out.text()


def _needs_region(plan: Plan) -> bool:
    """Return whether a plan launches more than once."""
    if len(plan.steps) > 1 or not isinstance(plan.steps[0], Kernel):
        return True
    body = plan.steps[0].body
    return sum(holds(stmt, DEVICE_LEVELS) or _touches_arrays(stmt) for stmt in body) > 1


class _KernelsWriter:
    """Writes the kernels of one region; `data` are the data clauses of each of them.

    Without any a data region is around them all. Each launch then names the sections that it uses
    again: of an array object the compiler would look for the whole.
    """

    def __init__(self, analysis: Analysis, words: Directives, data: str = "") -> None:
        self.analysis = analysis
        self.words = words
        self.data = data
        self.shared: frozenset[str] = frozenset()
        self.nest = NestWriter(analysis, words)
        self.host = Dialect(analysis.region, flat=False)

    def plan(self, out: Writer, plan: Plan) -> None:
        """Write all steps of a plan."""
        self.shared = frozenset(s.name for s in between_kernels(self.analysis, plan))
        write_steps(out, self.host, plan.steps, self._kernel)

    def as_written(self, out: Writer, analysis: Analysis) -> None:
        """Write the nest as written for one thread of the device, which has the arrays."""
        body = analysis.region.as_written.body
        shared = lasting(analysis, body)
        declare(out, shared)
        data = present_elements(analysis, self.words.moves)
        # Where no loop runs, the arrays need not be there.
        runs = runs_at_all(analysis, self.host)
        with out.block(f"if ({runs})") if runs else nullcontext():
            self._alone(out, body, frozenset(s.name for s in shared), data)

    def _kernel(self, out: Writer, kernel: Kernel) -> None:
        """Write one kernel: launches of its placed loops, and what stands between them."""
        out.line(f"/* {legend(self.analysis, kernel, self.words.levels)} */")
        if any(holds(stmt, DEVICE_LEVELS) for stmt in kernel.body):
            with nullcontext() if kernel.band() else out.block(""):
                self._in_order(out, kernel.body, kernel, self.shared)
        elif any(map(_touches_arrays, kernel.body)):
            self._alone(out, kernel.body, self.shared)
        else:
            own = declared_in(self.analysis, kernel.body, self.shared)
            with out.block("") if own else nullcontext():
                for scalar in own:
                    out.line(f"{spelled(scalar.type)} {scalar.name};")
                self.host.write_body(out, kernel.body)

    def _in_order(self, out: Writer, body: Body, kernel: Kernel, known: frozenset[str]) -> None:
        """Write launches in the order of the text; `known` scalars are declared around it.

        The host computes what is made of scalars alone; the device has the arrays.
        """
        known |= {s.name for s in declare_own(out, self.analysis, body, known)}
        on_device: list[Stmt] = []

        def launch() -> None:
            if on_device:
                self._alone(out, tuple(on_device), known)
                on_device.clear()

        for stmt in body:
            if isinstance(stmt, Local):
                known |= {stmt.name}
                if not _touches_arrays(stmt):
                    launch()
                    self.host.write(out, stmt)
                    continue
                out.line(f"{spelled(stmt.type)} {stmt.name};")
                on_device.append(_assigned(stmt))
            elif isinstance(stmt, Loop) and holds(stmt, DEVICE_LEVELS):
                launch()
                if is_placed(stmt):
                    self._launch(out, stmt, kernel)
                else:
                    with out.block(self.host.loop_head(stmt)):
                        self._in_order(out, stmt.body, kernel, known)
            # Where the device has made out the answer, it has asked for itself.
            elif _is_asked_first(stmt) and not on_device:
                assert isinstance(stmt, Loop)
                assert isinstance(stmt.upper, Select)
                with out.block(f"if ({self.host.expr(stmt.upper.condition)})"):
                    self._alone(out, (replace(stmt, upper=stmt.upper.if_true),), known)
            elif _touches_arrays(stmt):
                on_device.append(stmt)
            else:
                launch()
                self.host.write(out, stmt)
        launch()

    def _launch(self, out: Writer, loop: Loop, kernel: Kernel) -> None:
        """Write a launch: placed loops, level by level, around what a lane does."""
        own = _of_gangs(loop)
        asked = self._asked(loop, kernel)
        if own:
            asked = replace(asked, vector=max(asked.vector, SHARING_LANES))
        sizes = self.words.sizes(asked)
        # Without a clause a scalar is a copy, also one that the last iteration writes.
        written = (s.name for s in lasting(self.analysis, (loop,)))
        kept = dict.fromkeys((*combined_names(band_from(loop, DEVICE_LEVELS)), *written))
        private = f"private({', '.join(s.name for s in own)})" if own else ""
        tail = " ".join(filter(None, (sizes, self._data((loop,)), self._copied(kept), private)))
        self.nest.cached = kernel.cached
        is_tiled = kernel.mapping is not None and kernel.mapping.clause == TILE
        with out.block("") if own else nullcontext():
            for line in self.words.sharing if own else ():
                out.directive(line)
            # Declared outside, as what a clause names must be; each gang has its own.
            self.host.write_body(out, own)
            (bare,) = mapped((loop,), lambda stmt: () if stmt in own else None)
            assert isinstance(bare, Loop)
            self.nest.launch(out, bare, tail, is_tiled)

    def _copied(self, scalars: Iterable[str]) -> str:
        """Return the clause by which scalars keep what a kernel makes of them."""
        listed = ", ".join(scalars)
        return f"{self.words.moves['copy']}{listed})" if listed else ""

    def _data(self, body: Body) -> str:
        """Return the data clauses of a launch of `body`."""
        among, moves = Nest(body).arrays(), self.words.moves
        return self.data or data_clauses(self.analysis, is_inside=True, among=among, moves=moves)

    def _asked(self, loop: Loop, kernel: Kernel) -> LaunchSizes:
        """Return the launch's sizes: the recipe's where it gives them, else what the loops need."""
        found = launch_sizes(loop, kernel, self.analysis)
        asked = kernel.mapping
        if asked is None:
            return found
        return LaunchSizes(
            asked.num_gangs or found.gangs,
            asked.num_workers or found.workers,
            asked.vector_length or found.vector,
        )

    def _alone(self, out: Writer, body: Body, known: frozenset[str], data: str = "") -> None:
        """Write what no loop shares: it runs on the device too, where its data is."""
        kept = [name for name in sorted(assigns(body)) if name in known]
        parts = (self.words.alone, data or self._data(body), self._copied(kept))
        out.directive(f"#pragma {' '.join(filter(None, parts))}")
        once = fresh("once", self.analysis.region.taken)
        loop = f"for (int {once} = 0; {once} < 1; {once}++)" if self.words.alone_is_loop else ""
        with out.block(loop):
            self.nest.write(out, body, known)


def _of_gangs(loop: Loop) -> tuple[LocalArray, ...]:
    """Return the arrays of each gang that its lanes share."""
    local = (s for s in walk_stmts((loop,)) if isinstance(s, LocalArray))
    return tuple(array for array in local if array.space is MemorySpace.SHARED)


def _touches_arrays(stmt: Stmt) -> bool:
    """Return whether `stmt` reads or writes an element of an array."""
    for inner in walk_stmts((stmt,)):
        match inner:
            case Assign():
                if any(accesses(e) for e in (inner.target, *inner.sources())):
                    return True
            case Local(value=value):
                if value is not None and accesses(value):
                    return True
            case LocalArray() | Await():
                return True
            case Loop() | Fetch():
                pass
    return False


def _is_asked_first(stmt: Stmt) -> bool:
    """Return whether the host knows of a loop for the device whether it runs at all."""
    if not (isinstance(stmt, Loop) and isinstance(stmt.upper, Select) and _touches_arrays(stmt)):
        return False
    return stmt.upper.if_false == stmt.lower and not accesses(stmt.upper.condition)


def _assigned(local: Local) -> Assign:
    """Return the start value of a declaration as an assignment to what is declared already."""
    assert local.value is not None
    return Assign(NO_STATEMENT, Var(local.name), "=", local.value)


class NestWriter:
    """Writes the loops of one region's launches."""

    def __init__(self, analysis: Analysis, words: Directives) -> None:
        self.analysis = analysis
        self.words = words
        self.dialect = Dialect(analysis.region, flat=False, loop=self._loop)
        self.cached: tuple[CachedSection, ...] = ()
        self._around: tuple[Level, ...] = ()
        # Arrays of a lane that are in memory whatever their subscripts.
        self._large: set[str] = set()

    def launch(self, out: Writer, loop: Loop, tail: str, is_tiled: bool) -> None:
        """Write placed loops, level by level, around what a lane does; `tail` are clauses.

        What `is_tiled` the compiler may cut itself.
        """
        arrays = (s for s in walk_stmts((loop,)) if isinstance(s, LocalArray))
        sizes = {s.name: prod(s.extents) * element_bytes(s.type) for s in arrays}
        self._large = {name for name, size in sizes.items() if size > LANE_BYTES}
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
        test, loop = self.dialect.tested(loop)
        with nullcontext() if test is None else out.block(f"if ({self.dialect.expr(test)})"):
            self._serial(out, loop)
        return True

    def _serial(self, out: Writer, loop: Loop) -> None:
        """Write a loop that runs in order."""
        count = fold(trip_count(loop))
        is_short = isinstance(count, Int) and count.value <= MAX_UNROLLED
        if isinstance(count, Int) and is_short and self._picks_local(loop):
            # Only constant subscripts leave an array in registers: gcc at -O2 keeps the loop.
            out.line(f"#pragma GCC unroll {count.value}")
        elif self.words.serial:
            out.line(f"#pragma {self.words.serial}")
        with out.block(self.dialect.loop_head(loop)):
            self._statements(out, loop.body)

    def _picks_local(self, loop: Loop) -> bool:
        """Return whether a loop picks elements of an array that a lane may have in registers."""
        return any(
            place.array not in {*self.analysis.region.arrays, *self._large}
            and any(loop.var in variables(index) for index in place.indices)
            for place in array_accesses(loop)
        )

    def _statements(self, out: Writer, body: Body) -> None:
        cuts = tuple(cut for cut in cut_loops(body) if any(cut.loop is s for s in body))
        self.dialect.write_body(out, write_ends(out, self.dialect, body, cuts))
