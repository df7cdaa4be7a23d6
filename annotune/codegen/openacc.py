"""The OpenACC target: directives with explicit sizes, in place in the user's function."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import chain, groupby, islice

from annotune.analysis.facts import Analysis
from annotune.annotation.devices import Device
from annotune.codegen.acc_data import data_clauses
from annotune.codegen.acc_shape import Shape, shape
from annotune.codegen.assemble import assembled
from annotune.codegen.c_stmt import Dialect
from annotune.codegen.code import RegionCode
from annotune.codegen.guards import counts_tests
from annotune.codegen.in_place import condition, lasting, legend, region_block, write_steps
from annotune.codegen.names import temporaries
from annotune.codegen.target import Provenance, Variant
from annotune.codegen.tile_ends import cut_loops, write_ends
from annotune.codegen.variants import gpu_variants, planned
from annotune.codegen.writer import Writer
from annotune.decide.decision import Base
from annotune.decide.placement import WARP, acc_placement, with_workers
from annotune.decide.plan import AccAxes, Kernel, Plan
from annotune.decide.space import Space
from annotune.ir.nest import Level, Loop
from annotune.ir.region import SourceFile
from annotune.transforms.tree import Body, bound_names, rebuilt


class OpenAccTarget:
    """C with OpenACC directives, for gcc and nvc."""

    name = "openacc"
    placement = staticmethod(acc_placement)

    def candidates(self, base: Base, space: Space, device: Device, limit: int) -> Iterator[Variant]:
        """Yield the decision algorithm's choice in OpenACC's shapes, then what ranks best.

        The same kernel with thread y on the other level follows the first one at once.
        """
        found = gpu_variants(base, space, device, limit, acc_placement, with_workers, "acc")
        first = next(found)
        yield from islice(chain((first,), _other_level(first, base), found), limit)

    def region(self, variant: Variant, resident: bool) -> RegionCode:
        """Return the region with its kernels under ``parallel loop``, arrays as the user's.

        Several kernels share one data region, so that every array moves once.
        """
        data = data_clauses(variant.analysis, resident)
        shared = not resident and any(_needs_region(p) for p in (variant.tuned, variant.general))
        writer = _RegionWriter(variant.analysis, "default(present)" if shared else data)
        around = f"#pragma acc data {data}" if shared else ""
        return RegionCode(region_block(variant, writer.plan, around))

    def standalone(self, code: RegionCode) -> str:
        """Return nothing: the text for the device is in the user's file."""
        return ""

    def files(
        self, source: SourceFile, codes: Sequence[RegionCode], provenance: Provenance
    ) -> Mapping[str, str]:
        """Return ``_acc.c``."""
        return {"_acc.c": assembled(source, codes, provenance)}


def _other_level(first: Variant, base: Base) -> Iterator[Variant]:
    """Yield `first` with workers where it has one vector, and the other way round."""
    plan = first.tuned
    if all(len(choice.threads) < 2 for choice in plan.choices):
        return
    if any(choice.acc is not None for choice in plan.choices):
        return
    choices = tuple(replace(choice, workers=not choice.workers) for choice in plan.choices)
    settings = {**first.config, "thread_y": "worker" if choices[0].workers else "vector"}
    other = planned(base.analysis, choices, base.groups, acc_placement, settings=settings)
    yield replace(other, predicted_s=first.predicted_s)


def _needs_region(plan: Plan | None) -> bool:
    """Return whether a plan launches more than once."""
    return plan is not None and (len(plan.steps) > 1 or not isinstance(plan.steps[0], Kernel))


class _RegionWriter:
    """Writes the kernels of one region; `data` are the data clauses of each of them."""

    def __init__(self, analysis: Analysis, data: str) -> None:
        self.analysis = analysis
        self.data = data
        self.axes: dict[int, AccAxes | None] = {}
        self.dialect = Dialect(analysis.region, flat=False, loop=self._serial)

    def plan(self, out: Writer, plan: Plan, is_tuned: bool) -> None:
        """Write all steps of a plan."""
        self.axes = {s: choice.acc for choice in plan.choices for s in choice.statements}
        write_steps(out, self.analysis.region, plan.steps, self._kernel)

    def _kernel(self, out: Writer, kernel: Kernel) -> None:
        """Write one kernel: its placed loops, level by level, around what a lane does."""
        out.line(f"/* {legend(self.analysis, kernel)} */")
        data = " ".join(part for part in (self.data, self._copied_scalars(kernel)) if part)
        if not kernel.band():
            self._alone(out, kernel, data)
            return
        sizes = self._asked(kernel).clauses()
        levels = [tuple(group) for _, group in groupby(kernel.band(), key=lambda x: x.place)]
        gang = "" if levels[0][0].place == Level.GANG else "gang "
        self._levels(out, levels, kernel, f"parallel loop {gang}", f" {sizes} {data}")

    def _asked(self, kernel: Kernel) -> Shape:
        """Return the launch's sizes: the recipe's where it gives them, else what the loops need."""
        found = shape(kernel, self.analysis)
        axes = self.axes.get(kernel.statements[0])
        if axes is None:
            return found
        return Shape(
            axes.num_gangs or found.gangs,
            axes.num_workers or found.workers,
            axes.vector_length or found.vector,
        )

    def _levels(
        self, out: Writer, levels: list[tuple[Loop, ...]], kernel: Kernel, head: str, tail: str
    ) -> None:
        """Write the loops of the first level as one, and the other levels inside them."""
        loops, *rest = levels
        bare = tuple(rebuilt(loop, body=()) for loop in loops)
        # A tile's end is known once the loops outside have chosen the tile.
        named = write_ends(out, self.dialect, bare, cut_loops(bare))
        collapse = f" collapse({len(loops)})" if len(loops) > 1 else ""
        heads = [self.dialect.loop_head(loop) for loop in named if isinstance(loop, Loop)]
        tests = self._late_tests(bare) if collapse else ()
        with out.block(condition(tests)) if tests else nullcontext():
            out.directive(f"#pragma acc {head}{loops[0].place}{collapse}{tail}")
            for text in heads[:-1]:
                out.line(text)
                out.indent()
            with out.block(heads[-1]):
                if rest:
                    self._levels(out, rest, kernel, "loop ", "")
                else:
                    self._lane(out, kernel.thread_body())
            for _ in heads[:-1]:
                out.dedent()

    def _late_tests(self, loops: tuple[Loop, ...]) -> tuple[str, ...]:
        """Return tests that loops run whose bounds the host's loops set."""
        host = {loop.var for loop in self.analysis.region.nest.loops()}
        return counts_tests((x for x in loops if bound_names(x) & host), self.analysis.region)

    def _lane(self, out: Writer, body: Body) -> None:
        """Write what one lane does, its temporaries declared inside it."""
        for scalar in temporaries(self.analysis, body):
            out.line(f"{scalar.type} {scalar.name};")
        self._statements(out, body)

    def _alone(self, out: Writer, kernel: Kernel, data: str) -> None:
        """Write a kernel without parallel loops: it stays on the device, where its data is."""
        sizes = Shape(1, 1, WARP).clauses()
        out.directive(f"#pragma acc parallel loop seq {sizes} {data}")
        with out.block("for (int once = 0; once < 1; once++)"):
            self._lane(out, kernel.body)

    def _serial(self, out: Writer, loop: Loop) -> bool:
        out.line("#pragma acc loop seq")
        with out.block(self.dialect.loop_head(loop)):
            self._statements(out, loop.body)
        return True

    def _statements(self, out: Writer, body: Body) -> None:
        cuts = tuple(cut for cut in cut_loops(body) if any(cut.loop is s for s in body))
        self.dialect.write_body(out, write_ends(out, self.dialect, body, cuts))

    def _copied_scalars(self, kernel: Kernel) -> str:
        """Return the clause for scalars that the kernel writes and that live on."""
        kept = [scalar.name for scalar in lasting(self.analysis, kernel.body)]
        return f"copy({', '.join(kept)})" if kept else ""
