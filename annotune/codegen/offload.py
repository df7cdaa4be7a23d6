"""Targets that run loops on a device by directives, in place in the user's function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace

from annotune.analysis.facts import Analysis
from annotune.codegen.assemble import assembled, calling_copies, copied, definition
from annotune.codegen.c_stmt import Dialect
from annotune.codegen.data_sections import (
    data_clauses,
    present_elements,
    section_stretch,
    section_tests,
)
from annotune.codegen.device_launch import (
    DEVICE_LEVELS,
    Directives,
    LaunchSizes,
    NestWriter,
    launch_sizes,
)
from annotune.codegen.guards import look_text, null_tests, touched_stretch, wholly_there
from annotune.codegen.in_place import (
    assigns,
    band_from,
    between_kernels,
    combined_names,
    declare,
    declare_own,
    declared_in,
    holds,
    is_placed,
    lasting,
    legend,
    region_block,
    write_steps,
)
from annotune.codegen.names import fresh, spelled
from annotune.codegen.renaming import in_users_file, without_macros
from annotune.codegen.target import Provenance, RegionCode, Vocabulary
from annotune.codegen.writer import Writer
from annotune.ir.expr import Expr, Select, Var, accesses
from annotune.ir.nest import (
    NO_STATEMENT,
    Assign,
    Await,
    Fetch,
    Local,
    LocalArray,
    Loop,
    Nest,
    Stmt,
    walk_stmts,
)
from annotune.ir.region import SourceFile
from annotune.schedule.plan import Kernel, Plan
from annotune.space.points import AccPoints
from annotune.space.variants import Variant
from annotune.transforms.cache import Cache
from annotune.transforms.distribute import Distribute, Expand, Fuse
from annotune.transforms.map import TILE
from annotune.transforms.permute import Permute
from annotune.transforms.registers import Hold, Registers
from annotune.transforms.tile import Cyclic, Tile
from annotune.transforms.tree import Body
from annotune.transforms.unroll import Unroll


class OffloadTarget:
    """C with directives of a language that says what runs on a device, in its own `words`."""

    name: str
    kind: str
    is_for_cpu = False
    suffix: str
    words: Directives
    points = AccPoints.of
    vocabulary = Vocabulary(
        DEVICE_LEVELS,
        frozenset(),
        (Distribute, Permute, Fuse, Tile, Cyclic, Expand, Registers, Hold, Unroll, Cache),
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
        variant = calling_copies(variant, names)
        words = self.words
        data = data_clauses(variant.analysis, resident, moves=words.moves)
        shared = not resident and any(map(_needs_region, variant.plans()))
        own = "" if shared else data

        def write(out: Writer, analysis: Analysis, plan: Plan, suffix: str) -> None:
            _KernelsWriter(analysis, words, own).plan(out, plan)

        around = f"#pragma {words.data} {data}" if shared else ""
        copies = "\n".join(definition(f, names, words.function) for f in copied(region))
        helper = words.functions(copies) if copies else ""
        conditions = dict.fromkeys(c for f in region.functions for c in f.conditions)
        also: tuple[Expr, ...] = ()
        first, stretch = "", touched_stretch
        write_nest = _KernelsWriter(variant.analysis, words).as_written if resident else None
        if not resident:
            # A section of which another's part is present ends the program (OpenACC 3.3, 2.7.2).
            stretch = section_stretch
            also = (*null_tests(variant.analysis), *section_tests(variant.analysis))
            first = look_text(variant.analysis, Dialect(region, flat=False))
        body = region_block(variant, write, around, also, first, stretch, write_nest)
        return without_macros(RegionCode(body, helper, conditions=tuple(conditions)), region)

    def standalone(self, code: RegionCode) -> str:
        """Return nothing: the text for the device is in the user's file."""
        return ""

    def files(
        self, source: SourceFile, codes: Sequence[RegionCode], provenance: Provenance
    ) -> Mapping[str, str]:
        """Return the user's file with its regions replaced."""
        return {self.suffix: assembled(source, codes, provenance)}


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
        write_steps(out, self.analysis.region, plan.steps, self._kernel)

    def as_written(self, out: Writer, analysis: Analysis) -> None:
        """Write the nest as written for one thread of the device, which has the arrays."""
        body = analysis.region.as_written.body
        shared = lasting(analysis, body)
        declare(out, shared)
        data = present_elements(analysis, self.words.moves)
        runs = [self.host.runs(stmt) for stmt in body if isinstance(stmt, Loop)]
        # Where no loop runs, the arrays need not be there.
        test = f"if ({' || '.join(runs)})" if len(runs) == len(body) else ""
        with out.block(test) if test else nullcontext():
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
        sizes = self.words.sizes(self._asked(loop, kernel))
        # Without a clause a scalar is a copy, also one that the last iteration writes.
        written = (s.name for s in lasting(self.analysis, (loop,)))
        kept = dict.fromkeys((*combined_names(band_from(loop, DEVICE_LEVELS)), *written))
        tail = " ".join(filter(None, (sizes, self._data((loop,)), self._copied(kept))))
        self.nest.cached = kernel.cached
        is_tiled = kernel.mapping is not None and kernel.mapping.clause == TILE
        self.nest.launch(out, loop, tail, is_tiled)

    def _copied(self, scalars: Iterable[str]) -> str:
        """Return the clause by which scalars keep what a kernel makes of them."""
        listed = ", ".join(scalars)
        return f"{self.words.moves['copy']}{listed})" if listed else ""

    def _data(self, body: Body) -> str:
        """Return the data clauses of a launch of `body`."""
        among, moves = Nest(body).arrays(), self.words.moves
        return self.data or data_clauses(self.analysis, True, among=among, moves=moves)

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
