"""The OpenMP target: parallel loops in place, and what each iteration does in a function."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from annotune.annotation.devices import Device
from annotune.codegen.assemble import assembled
from annotune.codegen.c_stmt import Dialect
from annotune.codegen.code import RegionCode
from annotune.codegen.core_text import CoreText, core_text
from annotune.codegen.in_place import lasting, legend, region_block, write_serial, write_steps
from annotune.codegen.names import interface
from annotune.codegen.target import Provenance, Variant
from annotune.codegen.variants import planned
from annotune.codegen.writer import Writer
from annotune.decide.cpu import cpu_points, text_groups
from annotune.decide.decision import Base
from annotune.decide.placement import omp_placement
from annotune.decide.plan import HostLoop, Kernel, Plan, Step
from annotune.decide.space import Space
from annotune.diagnostics import AnnotuneError
from annotune.ir.nest import Loop
from annotune.ir.region import Region, Scalar, SourceFile


class OpenMpTarget:
    """C with OpenMP directives, for any compiler."""

    name = "openmp"
    placement = staticmethod(omp_placement)

    def candidates(self, base: Base, space: Space, device: Device, limit: int) -> Iterator[Variant]:
        """Yield the rules' own register blocks, then the others worth trying.

        A block that turns out illegal is left out; the nest as written never is.
        """
        yield from islice(_legal(base), limit)

    def standalone(self, code: RegionCode) -> str:
        """Return nothing: there is no device."""
        return ""

    def region(self, variant: Variant, resident: bool) -> RegionCode:
        """Return the parallel loops of a region, and the functions that they call before it.

        The work of an iteration is a function with `restrict` pointers: compilers forget the
        promise inside an outlined parallel loop. `resident` says nothing here.
        """
        writer = _RegionWriter(variant)
        body = region_block(variant, writer.plan)
        return RegionCode(body, "\n".join(writer.helpers))

    def files(
        self, source: SourceFile, codes: Sequence[RegionCode], provenance: Provenance
    ) -> Mapping[str, str]:
        """Return ``_omp.c``."""
        return {"_omp.c": assembled(source, codes, provenance)}


def _legal(base: Base) -> Iterator[Variant]:
    """Yield every legal point of the CPU's space.

    Raises:
        AnnotuneError: There is none.
    """
    groups = text_groups(base.analysis)
    refusal: AnnotuneError | None = None
    count = 0
    for settings, choices in cpu_points(base.analysis):
        try:
            yield planned(base.analysis, choices, groups, omp_placement, settings=settings)
            count += 1
        except AnnotuneError as error:
            refusal = error
    if refusal is not None and not count:
        raise refusal


class _RegionWriter:
    """Writes the kernels of one region and collects the functions that they call."""

    def __init__(self, variant: Variant) -> None:
        self.analysis = variant.analysis
        self.region: Region = variant.analysis.region
        self.outer = interface(variant.analysis)
        self.helpers: list[str] = []

    def plan(self, out: Writer, plan: Plan, is_tuned: bool) -> None:
        """Write all steps of a plan, the user's own sizes in the names of the tuned one."""
        hosts = _hosts(plan.steps, self.region)
        suffix = "_tuned" if is_tuned else ""

        def write(place: Writer, kernel: Kernel) -> None:
            self._kernel(place, kernel, plan, hosts[kernel.name], suffix)

        write_steps(out, self.region, plan.steps, write)

    def _kernel(
        self, out: Writer, kernel: Kernel, plan: Plan, host: tuple[Scalar, ...], suffix: str
    ) -> None:
        """Write one kernel: its shared loops around the call of its function."""
        out.lines(f"/* {legend(self.analysis, kernel)} */")
        if lasting(self.analysis, kernel.body):
            # No function may hold a copy of what lives on.
            write_serial(out, self.analysis, kernel.body)
            return
        shared = kernel.band()
        dialect = Dialect(self.region, flat=False)
        iterators = tuple(Scalar(loop.var, dialect.iterator_type(loop)) for loop in shared)
        name = f"{kernel.name}{suffix}"
        # What an earlier nest has computed comes in by value; of these only the user's own
        # are among the outer scalars already.
        computed = lasting(self.analysis, self.region.nest.body)
        inner = (*host, *iterators, *(s for s in computed if s.is_local))
        text = core_text(self.analysis, self.outer, kernel, name, plan.constants, inner)
        self.helpers.append(text.definition)
        if shared:
            collapse = f" collapse({len(shared)})" if len(shared) > 1 else ""
            out.directive(f"#pragma omp parallel for{collapse} schedule(static)")
        for loop in shared:
            out.line(dialect.loop_head(loop))
            out.indent()
        out.line(self._call(text))
        for _ in shared:
            out.dedent()

    def _call(self, text: CoreText) -> str:
        """Return the call at the user's place, arrays flattened to pointers."""
        arguments = [s.name for s in text.scalars]
        for array in text.arrays:
            flat = array.is_pointer and len(array.extents) == 1
            kind = self.outer.pointer(array).rstrip()
            arguments.append(array.name if flat else f"({kind}){array.name}")
        return f"{text.name}({', '.join(arguments)});"


def _hosts(
    steps: Sequence[Step], region: Region, around: tuple[Loop, ...] = ()
) -> dict[str, tuple[Scalar, ...]]:
    """Return for each kernel the iterators of the serial loops around it."""
    out: dict[str, tuple[Scalar, ...]] = {}
    for step in steps:
        match step:
            case Kernel():
                out[step.name] = tuple(region.scalars[loop.var] for loop in around)
            case HostLoop(loop, inner):
                out |= _hosts(inner, region, (*around, loop))
    return out
