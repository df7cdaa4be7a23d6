"""The OpenMP target: parallel loops in place, and what each iteration does in a function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace

from annotune.analysis.facts import Analysis
from annotune.analysis.schedule import around, keeps_order
from annotune.codegen.build import CompilerUse
from annotune.codegen.c_stmt import Dialect
from annotune.codegen.core_text import BodyWriter, core_text
from annotune.codegen.guards import plainly
from annotune.codegen.in_place import (
    assigns,
    band_from,
    between_kernels,
    declare_own,
    declared_in,
    holds,
    lasting,
    legend,
    reduction_clauses,
    region_block,
    write_steps,
)
from annotune.codegen.names import interface, with_hosts
from annotune.codegen.renaming import (
    calling_copies,
    calling_extrema,
    copies_text,
    extrema_copies,
    extrema_text,
    library_copies,
)
from annotune.codegen.several_sizes import OTHERS, Definitions, served
from annotune.codegen.target import RegionCode, Vocabulary
from annotune.codegen.users_file import InPlaceTarget, in_users_file, without_macros
from annotune.codegen.writer import Writer
from annotune.frozen import dataclass
from annotune.ir.expr import Expr, Var
from annotune.ir.nest import Level, Local, Loop, MemorySpace
from annotune.ir.region import Region, Scalar
from annotune.schedule.plan import Kernel, Plan
from annotune.space.openmp import CpuPoints
from annotune.space.variants import Variant
from annotune.transforms.map import STATIC
from annotune.transforms.presence import ends_seen
from annotune.transforms.stage import copied_whole
from annotune.transforms.transform import Feature
from annotune.transforms.tree import Body, numbers


class OpenMpTarget(InPlaceTarget):
    """C with OpenMP directives, for any compiler."""

    name = kind = "openmp"
    suffix = "_omp.c"
    is_for_cpu = True
    ways = (CompilerUse("c", ("-fopenmp",), is_native=True),)
    points = CpuPoints.of
    vocabulary = Vocabulary(
        frozenset({Level.CPU_THREAD, Level.SIMD}),
        frozenset({MemorySpace.PRIVATE}),
        frozenset({Feature.CORE_VECTORS, Feature.TILE_ENDS}),
    )

    def region(self, variant: Variant, resident: bool) -> RegionCode:
        """Return the parallel loops of a region, and the functions that they call before it.

        The work of an iteration is a function with `restrict` pointers: compilers forget the
        promise inside an outlined parallel loop. `resident` says nothing here.
        """
        variant = in_users_file(variant)
        library = library_copies(variant.analysis.region)
        extrema = extrema_copies(variant.analysis.region)
        variant = calling_extrema(calling_copies(variant, library), extrema)
        variant = plainly(variant, resident)
        helpers: list[str] = []
        shared = Definitions() if variant.others else None

        def write(out: Writer, analysis: Analysis, plan: Plan, suffix: str) -> None:
            _RegionWriter(analysis, helpers, shared).plan(out, plan, suffix)

        body = region_block(variant, write, first=_looked(variant), seen=_seen)
        texts = shared.texts() if shared is not None else helpers
        own = copies_text(variant.analysis.region, library, "static")
        helper = "\n".join([text for text in (own, extrema_text(extrema)) if text] + [*texts])
        return without_macros(RegionCode(body, helper), variant.analysis.region)


def in_function(out: Writer, analysis: Analysis, plan: Plan) -> tuple[str, ...]:
    """Write the parallel loops of a plan into a function of ours; return the functions they call.

    Its arrays are flat pointers.
    """
    helpers: list[str] = []
    _RegionWriter(analysis, helpers, flat=True).plan(out, plan, "_host")
    return tuple(helpers)


def _looked(variant: Variant) -> str:
    """Return what learns whether arrays are whole that copies take to be so, each asked once."""
    out = Writer()
    analysis = variant.analysis
    parts = (copied_whole(analysis, part.tuned.schedule) for part in variant.size_cases)
    for name in dict.fromkeys(name for part in parts for name in part):
        found = ends_seen(analysis, name)
        assert found is not None, "no other array is copied"
        out.line(f"/* Conditions may leave out some of {name}: are both its ends touched? */")
        Dialect(analysis.region, flat=False).write_body(out, found.body)
    return out.text()


def _seen(part: Variant) -> tuple[Expr, ...]:
    """Return the tests that the copies of a plan for tuned sizes may be made."""
    found = (
        ends_seen(part.analysis, name) for name in copied_whole(part.analysis, part.tuned.schedule)
    )
    return tuple(Var(flag) for one in found if one is not None for flag in one.flags)


class _RegionWriter:
    """Writes the kernels of one plan and collects the functions that they call.

    These go to `helpers`; with several problem sizes to `shared`, where one may serve more. The
    text is `flat` where it stands in a function of ours, whose arrays are flat.
    """

    def __init__(
        self,
        analysis: Analysis,
        helpers: list[str],
        shared: Definitions | None = None,
        flat: bool = False,
    ) -> None:
        self.analysis = analysis
        self.region: Region = analysis.region
        self.outer = interface(analysis)
        self.flat = flat
        self.dialect = Dialect(self.region, flat=flat)
        self.helpers = helpers
        self.shared = shared
        self.calls: Counter[str] = Counter()
        self.sizes = OTHERS
        # What stands at the plan's own level, where a second kernel may have the same names.
        self.declared: set[str] = set()

    def plan(self, out: Writer, plan: Plan, suffix: str) -> None:
        """Write all steps of a plan; `suffix` ends the names of its functions."""
        hosts = {kernel.name: around for kernel, around in with_hosts(plan.steps, self.region)}
        shared = between_kernels(self.analysis, plan)
        self.sizes = served(self.analysis, plan) if suffix else OTHERS

        def write(place: Writer, kernel: Kernel) -> None:
            place.lines(f"/* {legend(self.analysis, kernel)} */")
            name = f"{kernel.name}{suffix}"
            around = hosts[kernel.name]
            self._kernel(place, _Place(kernel, name, plan.constants, around, shared))

        write_steps(out, self.dialect, plan.steps, write)

    def _kernel(self, out: Writer, at: _Place) -> None:
        """Write one kernel: its shared loops around the calls of its functions."""
        body = at.kernel.body
        if any(holds(stmt, _THREADS) for stmt in body):
            band = at.kernel.band()
            with nullcontext() if band else out.block(""):
                self._in_order(out, body, at)
        elif assigns(body) & at.names:
            # No function may hold a copy of what lives on.
            own = {scalar.name for scalar in declared_in(self.analysis, body, at.names)}
            with out.block("") if own & self.declared else nullcontext():
                BodyWriter(self.analysis, flat=self.flat).write(out, body, at.names)
            self.declared |= own
        else:
            self._call(out, body, at)

    def _in_order(self, out: Writer, body: Body, at: _Place) -> None:
        """Write what one thread does around and between loops that all threads share."""
        at = at.knowing(*declare_own(out, self.analysis, body, at.names))
        writer = BodyWriter(self.analysis, flat=self.flat)
        for stmt in body:
            if isinstance(stmt, Local):
                at = at.knowing(Scalar(stmt.name, stmt.type, is_local=True))
            if isinstance(stmt, Loop) and stmt.place in _THREADS:
                self._shared(out, stmt, at)
            elif isinstance(stmt, Loop) and holds(stmt, _THREADS):
                with out.block(self.dialect.loop_head(stmt)):
                    self._in_order(out, stmt.body, at.inside((stmt,), self.dialect))
            else:
                writer.write(out, (stmt,), at.names)

    def _shared(self, out: Writer, loop: Loop, at: _Place) -> None:
        """Write loops that the threads share, and the work inside as a function or in place.

        What is combined stays in place: the partial result is a variable of the thread. So
        does a loop that is all there is, whose iterations are lanes as well.
        """
        band = band_from(loop, _THREADS)
        inside = band[-1].body
        reduction = reduction_clauses(band)
        collapse = f" collapse({len(band)})" if len(band) > 1 else ""
        is_whole = not any(isinstance(stmt, Loop) for stmt in inside) and len(band) == 1
        simd = " simd" if is_whole and self._may_be_lanes(band[0]) else ""
        mapping = at.kernel.mapping
        schedule = f" schedule({STATIC if mapping is None else mapping.schedule})"
        out.directive(f"#pragma omp parallel for{simd}{collapse}{schedule}{reduction}")
        heads = [self.dialect.loop_head(x) for x in band]
        # What one iteration alone writes for later is the user's variable, not a copy.
        if reduction or simd or lasting(self.analysis, inside):
            with out.under(heads[:-1]), out.block(heads[-1]):
                BodyWriter(self.analysis, flat=self.flat).write(out, inside)
        else:
            with out.under(heads):
                self._call(out, inside, at.inside(band, self.dialect))

    def _may_be_lanes(self, loop: Loop) -> bool:
        """Return whether lanes along a loop touch neighbours alone, in the order of the text."""
        inside = numbers(loop)
        facts = [f for n in inside for f in self.analysis.accesses[n]]
        is_contiguous = all(f.strides.get(loop.var) in (0, 1) for f in facts)
        return is_contiguous and keeps_order(self.analysis, inside, around(self.analysis, loop))

    def _call(self, out: Writer, body: Body, at: _Place) -> None:
        """Write the call of a function that does `body`, arrays flattened to pointers."""
        earlier = self.calls[at.name]
        self.calls[at.name] += 1
        # A second part of one kernel; kernels end in a statement's number.
        name = f"{at.name}_{earlier + 1}" if earlier else at.name
        comment = legend(self.analysis, at.kernel)
        text = core_text(self.analysis, self.outer, body, name, at.constants, at.scalars, comment)
        called = text.name
        if self.shared is None:
            self.helpers.append(text.definition)
        else:
            called = self.shared.add(text.name, text.definition, self.sizes)
        out.line(f"{called}({text.passed.call_arguments()});")


_THREADS = frozenset({Level.CPU_THREAD})


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a part of a kernel is written: under which name, with which scalars around it.

    `around` are the iterators of the loops around and what is computed there; `shared` are
    the scalars that pass from one kernel to another.
    """

    kernel: Kernel
    name: str
    constants: Mapping[str, int]
    around: tuple[Scalar, ...]
    shared: tuple[Scalar, ...]

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        return (*self.around, *self.shared)

    @property
    def names(self) -> frozenset[str]:
        """Return the scalars that are declared around the text and live longer than it."""
        return frozenset(s.name for s in self.scalars)

    def inside(self, band: Sequence[Loop], dialect: Dialect) -> _Place:
        """Return the place inside the loops of `band`."""
        iterators = (Scalar(loop.var, dialect.iterator_type(loop)) for loop in band)
        return replace(self, around=(*self.around, *iterators))

    def knowing(self, *scalars: Scalar) -> _Place:
        """Return the place inside the declarations of `scalars`."""
        return replace(self, around=(*self.around, *scalars))
