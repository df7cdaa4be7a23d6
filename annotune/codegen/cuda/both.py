"""Calls that the host and a GPU share: which iterations of the outermost loop, and the host's text.

The host's share is the plan of the OpenMP target, whose outermost loop begins and ends where the
share does. Launches in parts (`in_parts`) have shown which pieces of each array belong to which
iterations; where an output's pieces are neighbours, no share touches what another one writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from annotune.analysis.facts import Analysis
from annotune.codegen.cuda.in_parts import LaunchParts, length_of
from annotune.codegen.guards import plainly, reach_tests
from annotune.codegen.in_place import between_kernels
from annotune.codegen.names import Interface, interface
from annotune.codegen.openmp import in_function
from annotune.codegen.users_file import in_users_file
from annotune.codegen.writer import Writer, wrapped
from annotune.diagnostics import AnnotuneError, Template
from annotune.frozen import dataclass
from annotune.ir.expr import Binary, Expr, Int, Var
from annotune.ir.fold import fold
from annotune.ir.nest import Loop
from annotune.ir.region import Region
from annotune.schedule.plan import Kernel, Plan
from annotune.space.openmp import CpuPoints, CpuSpace
from annotune.space.variants import Listing, Variant
from annotune.transforms.cache import Both
from annotune.transforms.stage import copied_whole
from annotune.transforms.tree import Body

NOT_SHARED = Template(
    "AT404",
    "the host and the GPU cannot share this region: {reason}",
    "leave `--both` and `both` out: the call is the GPU's alone then",
)
NO_LOOP = (
    "no loop that OpenMP's threads share is one on the blocks of all kernels in whole tiles, each "
    "iteration of which writes neighbours of its own in every output"
)
# So many points of OpenMP's space are looked at for a plan with the loop that a GPU can share.
MOST_PLANS = 48
# In the text, the iterations of the kernels' loop that the host computes.
FIRST, LAST = "annotune_first", "annotune_last"


@dataclass(frozen=True)
class HostShare:
    """How the host computes some iterations of a region: by one of the `points` for OpenMP."""

    step: Both
    region: Region
    points: Listing

    @property
    def name(self) -> str:
        """Return the function's name."""
        return f"{self.region.entry}_host"

    def iterations(self, parts: LaunchParts) -> int:
        """Return how many iterations are the host's, -1 where a counter says it."""
        part = self.step.part
        return -1 if part is None else round(part * parts.count)

    def plan(self, parts: LaunchParts, kernels: Mapping[str, Kernel]) -> Variant | None:
        """Return the first point whose threads share the loop of the parts, None where none do.

        Its outermost loop runs from `FIRST` to `LAST`, which count iterations of the parts' loop.
        """
        loops = {s: parts.loops[n] for n, kernel in kernels.items() for s in kernel.statements}
        for variant in self.points.variants():
            found = plainly(in_users_file(variant), False)
            plan = _cut(found.analysis, found.tuned, loops)
            if plan is not None:
                return replace(found, tuned=plan)
        return None

    def text(self, found: Variant) -> str:
        """Return the C of the host's function, and of those that it calls, for a point."""
        out, body = Writer(), Writer()
        outer = interface(found.analysis)
        ends = f"long {FIRST}", f"long {LAST}"
        with body.block(wrapped(f"void {self.name}", (*outer.parameters("restrict"), *ends))):
            called = in_function(body, found.analysis, found.tuned)
        out.lines("".join(f"{one}\n" for one in called))
        out.line("/* The host's share of a call: some iterations of the loop on the blocks. */")
        types = (*outer.types().split(", "), "long", "long")
        out.lines(f"{wrapped(f'void {self.name}', types)};\n")
        out.lines(body.text())
        return out.text()

    def prototype(self, outer: Interface) -> str:
        """Return the function's declaration for C++."""
        head = wrapped(f'extern "C" void {self.name}', (*outer.parameters(), "long", "long"))
        return f"{head};\n"


def host_share(variant: Variant, step: Both, resident: bool) -> HostShare:
    """Return how the host computes its share of a region.

    Raises:
        AnnotuneError: The region cannot be shared.
    """
    reason = _why_not(variant, resident)
    if reason:
        raise refused(variant.analysis, reason)
    points = CpuPoints(CpuSpace(variant.analysis)).listing(MOST_PLANS)
    return HostShare(step, variant.analysis.region, points)


def refused(analysis: Analysis, reason: str = NO_LOOP) -> AnnotuneError:
    """Return the error of a region that cannot be shared."""
    return AnnotuneError.of(NOT_SHARED.at(analysis.region.span, reason=reason))


def _why_not(variant: Variant, resident: bool) -> str:
    """Return why a region cannot be shared, whatever its kernels are; empty where it may be."""
    analysis, region = variant.analysis, variant.analysis.region
    if resident or region.is_resident:
        return "its data may be on the device"
    if variant.others:
        return "it is tuned for several sizes"
    if region.functions or region.called:
        return "it calls functions"
    if analysis.inspector:
        return "the host looks at arrays before it"
    if any(map(analysis.stays_on_device, region.arrays)):
        return "it has memory of its own"
    types = (
        *(a.element for a in region.arrays.values()),
        *(s.type for s in region.scalars.values()),
    )
    return "it computes with complex numbers" if any("omplex" in one for one in types) else ""


def _is_simple(analysis: Analysis, plan: Plan) -> bool:
    """Return whether kernels follow each other alone, and all of each is in shared loops.

    No copy asks first whether conditions leave out some of an array.
    """
    return (
        all(isinstance(step, Kernel) and step.band() for step in plan.steps)
        and not between_kernels(analysis, plan)
        and not any(loop.combines for k in plan.kernels() for loop in k.band())
        and not reach_tests(analysis, [(plan.steps, plan.constants)])
        and not copied_whole(analysis, plan.schedule)
    )


def _cut(analysis: Analysis, plan: Plan, loops: Mapping[int, Loop]) -> Plan | None:
    """Return a plan of which each kernel runs some iterations of its statements' one loop."""
    if not _is_simple(analysis, plan):
        return None
    steps: list[Kernel] = []
    for kernel in plan.kernels():
        found = [loops[s] for s in kernel.statements]
        places = {(*_place(loop, plan.constants), loop.step) for loop in found}
        own = next((x for x in kernel.band() if x.root == found[0].root), None)
        if own is None or len(places) > 1 or found[0].step % own.step:
            return None
        if _place(own, plan.constants) != _place(found[0], plan.constants):
            return None
        body = _bounded(kernel.body, own, found[0].step, plan.constants)
        steps.append(replace(kernel, body=body))
    return replace(plan, steps=tuple(steps))


def _place(loop: Loop, constants: Mapping[str, int]) -> tuple[str, Expr, Expr]:
    """Return the loop of the text that a loop is, or has tiles of, with numbers for its ends."""
    return loop.root, fold(loop.lower, constants), fold(loop.upper, constants)


def _bounded(body: Body, own: Loop, step: int, constants: Mapping[str, int]) -> Body:
    """Return a kernel with other ends of one of its loops."""

    def end(name: str) -> Expr:
        ahead = Binary("*", Var(name), Int(step)) if step > 1 else Var(name)
        return fold(Binary("+", fold(own.lower, constants), ahead))

    def within(stmts: Body) -> Iterator[Loop]:
        for stmt in stmts:
            assert isinstance(stmt, Loop), "the loops of a band hold all of a kernel"
            if stmt is own:
                yield replace(stmt, lower=end(FIRST), upper=end(LAST))
            else:
                yield replace(stmt, body=tuple(within(stmt.body)))

    return tuple(within(body))


def is_apart(analysis: Analysis, parts: LaunchParts, constants: Mapping[str, int]) -> bool:
    """Return whether iterations write neighbours of their own, in whole tiles from the first on.

    An output with as many elements as all iterations lie ahead has a piece for each.
    """
    for loop in parts.loops.values():
        _, lower, upper = _place(loop, constants)
        if fold(Binary("-", upper, lower)) != Int(parts.count * loop.step):
            return False
    for name, step in parts.steps.items():
        touched = _touched(analysis, name, constants)
        if step < 0 or (step > 0 and touched is None):
            return False
        is_written = analysis.uses[name].is_written
        if is_written and (touched is None or touched > step * parts.count):
            return False
    return True


def _touched(analysis: Analysis, name: str, constants: Mapping[str, int]) -> int | None:
    """Return the elements of an array from the first to the last that a call touches, if known."""
    found = analysis.shapes[name].touched
    if found is None:
        return length_of(analysis, name, constants)
    count = fold(found.count, constants)
    return count.value if isinstance(count, Int) and not found.may_be_none else None
