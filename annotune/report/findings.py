"""What `check` and `emit` found: as values, and as text for people."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from annotune.analysis.facts import Analysis
from annotune.analysis.messages import WORK_UNKNOWN, listed
from annotune.annotation.commands import before_targets
from annotune.annotation.devices import Device
from annotune.annotation.expressions import literal
from annotune.codegen.build import BuildCommand
from annotune.codegen.c_expr import c_expr
from annotune.codegen.several_sizes import sizes_text
from annotune.codegen.target import DEFAULT_TARGETS
from annotune.codegen.writer import Writer
from annotune.diagnostics import Diagnostic, Severity, Span
from annotune.frozen import dataclass
from annotune.ir.region import Region, SourceFile
from annotune.model.predict import Forecast, KernelForecast, RegionModel
from annotune.model.worth import CallSeconds, break_even
from annotune.report.figures import advice_text, losing_text, share_text, time_text
from annotune.runtime.texts import runtime_texts
from annotune.schedule.candidate import Candidate
from annotune.schedule.plan import Plan
from annotune.space.decision import Base, Decision, Point
from annotune.space.openmp import first_plan
from annotune.space.recipe import recipe
from annotune.space.space import Space
from annotune.space.variants import Listing, Variant
from annotune.strategies.direct import unrolls
from annotune.strategies.registry import others

if TYPE_CHECKING:
    from annotune.certify.certificate import Certificate


@dataclass(frozen=True)
class RegionReport:
    """How far one region came: analysed, decided, planned, or why it stopped.

    `decision` is that for CUDA, `openacc` the one by OpenACC's own rules, `device` what their
    kernels are predicted for. `others` are the region at its other problem sizes, for each of
    which it is tuned as well.
    """

    region: Region
    analysis: Analysis | None
    base: Base | None
    space: Space | None
    point: Point | None
    decision: Decision | None
    plan: Plan | None
    diagnostics: tuple[Diagnostic, ...]
    openacc: Decision | None = None
    device: Device | None = None
    others: tuple[RegionReport, ...] = ()

    @property
    def by_size(self) -> tuple[RegionReport, ...]:
        """Return the reports of every problem size that is tuned for, this one first."""
        return (self, *self.others)

    @property
    def is_refused(self) -> bool:
        """Return whether any diagnostic of the region is an error."""
        return any(d.severity == Severity.ERROR for d in self.diagnostics)

    @property
    def place(self) -> Span:
        """Return where the region stands in the C file; a sidecar's span is elsewhere."""
        loops = list(self.region.nest.loops())
        in_c = not loops or loops[0].span.file == self.region.span.file
        return self.region.span if in_c else loops[0].span

    @property
    def has_kernels(self) -> bool:
        """Return whether there is a plan, and some loop runs in parallel under it."""
        return self.plan is not None and any(kernel.placed() for kernel in self.plan.kernels())

    def forecast(self, decision: Decision) -> Forecast | None:
        """Return what the model says of a decision, None without kernels or amount of work."""
        if self.base is None or self.device is None:
            return None
        work = self.base.analysis.total
        if not self.has_kernels or not (work.flop or work.bytes_read or work.bytes_written):
            return None
        # Each target fuses by rules of its own.
        parts = [(c.parts, "" if c.joint else c.joined) for c in decision.choices]
        fused = (self.base.nests(fusion, decision.asked) for fusion in self.base.fusions)
        same = (found for found in fused if [(u.parts, u.joined) for u in found] == parts)
        units = next(same, None)
        if units is None:
            return None
        made = (self.base.analysis, units, decision.choices, self.device)
        # OpenACC leaves its copies to the compiler's own library.
        return RegionModel(*made, is_staged=decision is not self.openacc).forecast()

    @property
    def sizes(self) -> dict[str, int]:
        """Return the values taken for the sizes that C uses here."""
        return {k: v for k, v in self.region.sizes.items() if k in self.region.scalars}


@dataclass(frozen=True)
class CheckReport:
    """What `check` found in a file, with everything to tell about it.

    Those diagnostics that are `of_regions` speak of one region each, and not of the file.
    """

    text: str
    source: SourceFile
    regions: tuple[RegionReport, ...]
    diagnostics: tuple[Diagnostic, ...]
    of_regions: frozenset[Diagnostic] = frozenset()

    def __repr__(self) -> str:
        found = "refused" if self.is_refused else "accepted"
        return f"<annotune check of {self.source.path}: {len(self.regions)} regions, {found}>"

    def __str__(self) -> str:
        """Return what is said of each region, as `check` prints it."""
        return "\n".join(region_text(one) for one in self.regions)

    @property
    def is_refused(self) -> bool:
        """Return whether any diagnostic is an error."""
        return any(d.severity == Severity.ERROR for d in self.diagnostics)


@dataclass(frozen=True)
class Emission:
    """What `emit` makes: files by suffix, the variants behind them, and warnings.

    `builds` are the commands that make programs of the files of each target. The texts are
    `resident` where they are for arrays that are on the device already.
    """

    text: str
    source: SourceFile
    files: Mapping[str, str]
    variants: tuple[Mapping[str, Variant], ...]
    reports: tuple[RegionReport, ...]
    diagnostics: tuple[Diagnostic, ...]
    builds: Mapping[str, tuple[BuildCommand, ...]] = field(default_factory=dict)
    resident: bool = False

    @property
    def runtime(self) -> dict[str, str]:
        """Return the files of the runtime, name to text, that the others need in their folder."""
        return runtime_texts(self.files.values())

    def __repr__(self) -> str:
        files = ", ".join(sorted(self.files))
        return f"<annotune emission of {self.source.path}: {files or 'no file'}>"


HOLDS = "holds: every iteration once, every dependence kept, in bounds"
GANGS = "OpenACC: blocks are the iterations that gangs share, threads those of workers and lanes"
CORES = "OpenMP: blocks and threads are the iterations that threads and lanes share"
NOTHING: Mapping[int, tuple[str, ...]] = {}
NO_RECIPES: Mapping[str, str] = {}
CUDA, OPENMP = "cuda", "openmp"


@dataclass(frozen=True, slots=True)
class MeasuredOriginal:
    """What the original of a region took in an earlier run at these sizes, and where."""

    time_s: float
    device: str


def region_text(
    report: RegionReport,
    original: MeasuredOriginal | None = None,
    targets: Collection[str] = DEFAULT_TARGETS,
    recipes: Mapping[str, str] = NO_RECIPES,
) -> str:
    """Return the findings of one region as plain text, those for some targets.

    With the original's measured time it says where a GPU is predicted to lose to that. Without
    CUDA among the targets, whose recipe may be edited and leaves much to the rules, it ends in
    their own `recipes`, which say every step.
    """
    out = Writer()
    region = report.region
    out.line(f"{report.place}: {region.function}, region {region.index}")
    with out.deeper():
        _steps(out, report)
        _loops(out, report)
        _work(out, report)
        _decisions(out, report, original, targets, recipes)
        if original is not None:
            _write_losing(out, report, original, targets)
    return out.text()


def data_lines(source: SourceFile) -> Iterator[str]:
    """Yield what stays on the device between regions, and from where to where."""
    for edit in source.residency.edits:
        if edit.title:
            yield f"{source.path}:{source.text.count(chr(10), 0, edit.start) + 1}: {edit.title}"


def _write_losing(
    out: Writer, report: RegionReport, original: MeasuredOriginal, targets: Collection[str]
) -> None:
    """Write for CUDA and OpenACC that they are predicted to lose to the original."""
    cuda = report.decision if CUDA in targets else None
    for name, decision in (("CUDA", cuda), ("OpenACC", report.openacc)):
        found = None if decision is None else report.forecast(decision)
        if found is None:
            continue
        measured = original.time_s, original.device
        losing = losing_text(*measured, found.kernels_s, found.copies_s)
        if losing and found.kernels_s < original.time_s and found.copies_s is not None:
            losing += f": {_advice(report, found, original.time_s)}"
        if losing:
            out.line(f"{name}: {losing}")


def _advice(report: RegionReport, found: Forecast, original_s: float) -> str:
    """Return what is to be done where predicted copies cost what the kernels gain."""
    if report.base is None or report.device is None:
        return advice_text(found.crossing, None)
    times = CallSeconds(found.kernels_s, found.copies_s or 0.0, original_s)
    return advice_text(found.crossing, break_even(report.base.analysis, times, report.device))


def recipe_of(report: RegionReport) -> str:
    """Return the recipe that the decisions amount to, empty when there are none.

    What the user's own recipe says stands in it word for word. Statements that accumulate together
    have none but that of all steps, which `emit --json` prints.
    """
    if report.decision is None or report.base is None or not report.has_kernels:
        return ""
    if any(choice.joint is not None for choice in report.decision.choices):
        return ""
    wished = report.decision.asked.unrolled
    factors = {
        statement: values
        for unit in report.base.nests("footprint", report.decision.asked)
        for statement, _, values in unrolls(unit)
        if statement not in wished
    }
    return recipe(report.decision.choices, factors, before_targets(report.region.spec.commands))


def _steps(out: Writer, report: RegionReport) -> None:
    """Say how the nest was changed before anything was asked of it."""
    if report.analysis is None or not report.analysis.region.steps:
        return
    out.line("changed first, with the same results up to the order of sums")
    with out.deeper():
        for step in report.analysis.region.steps:
            out.line(f"line {step.span.line}: {step.proof}")


def _loops(out: Writer, report: RegionReport) -> None:
    out.line("loops")
    with out.deeper():
        if report.analysis is None:
            for loop in report.region.nest.loops():
                out.line(f"{loop.var} (line {loop.span.line}): not analysed")
            return
        for facts in report.analysis.loops:
            depth = "  " * (len(facts.path) - 1)
            private = f"; private: {', '.join(facts.private)}" if facts.private else ""
            out.line(
                f"{depth}{facts.name} (line {facts.loop.span.line}): {facts.kind}, "
                f"{facts.proof}{private}"
            )


def _work(out: Writer, report: RegionReport) -> None:
    if report.analysis is None:
        return
    work = report.analysis.total
    sizes = sizes_text(report.sizes)
    proven = "all sizes" if report.analysis.all_sizes else "these sizes alone"
    if report.analysis.conditions:
        proven += f" with {listed([c_expr(one) for one in report.analysis.conditions])}"
    out.line(f"sizes: {sizes or 'none'}; dependences proven for {proven}")
    if report.others:
        each = "; ".join(sizes_text(one.sizes) for one in report.by_size)
        out.line(f"tuned for each of {each}; shown for the first, --set chooses another")
    if not (work.flop or work.bytes_read or work.bytes_written):
        out.line("work: unknown without the sizes")
        return
    out.line(
        f"work: {work.flop:.6g} flop, {work.bytes_read:.6g} bytes read, "
        f"{work.bytes_written:.6g} bytes written at the least"
    )


def _decisions(
    out: Writer,
    report: RegionReport,
    original: MeasuredOriginal | None,
    targets: Collection[str],
    recipes: Mapping[str, str],
) -> None:
    if report.decision is None:
        return
    if report.plan is None:
        spec = report.region.spec
        why = (
            "the recipe is refused" if spec.commands or spec.wishes else "no first choice is legal"
        )
        out.line(f"no plan: {why}")
        return
    if not report.has_kernels:
        out.line("no kernel: no loop may run in parallel")
        return
    first = report.forecast(report.decision) if CUDA in targets else None
    if CUDA in targets:
        _kernels(out, report.decision.choices, "", first, _others(report))
    if report.openacc is not None:
        forecast = report.forecast(report.openacc)
        _kernels(out, report.openacc.choices, " in OpenACC", forecast)
    if report.base is not None and OPENMP in targets:
        # No model speaks of the cores of a CPU.
        _kernels(out, first_plan(report.base).choices, " in OpenMP", None)
    if original is None:
        _copies(out, first)
    if CUDA not in targets:
        for name, text in recipes.items():
            out.line(f"recipe for {name}, every step of it")
            with out.deeper():
                out.lines(text)
        return
    out.line("recipe")
    with out.deeper():
        out.lines(recipe_of(report))
    if report.space is not None:
        out.line(f"space: {report.space.size} points, {report.space.legal} legal")


def _others(report: RegionReport) -> dict[int, tuple[str, ...]]:
    """Return by leader what is to be said of the strategies beside the one that was taken."""
    base, point, decision = report.base, report.point, report.decision
    if base is None or point is None or decision is None:
        return {}
    taken = {choice.leader: choice for choice in decision.choices if point.whole(choice.leader)}
    units = base.nests(point.fusion, decision.asked)
    return {u.leader: others(u, taken[u.leader], base.strategy) for u in units if u.leader in taken}


def _kernels(
    out: Writer,
    choices: Iterable[Candidate],
    where: str,
    forecast: Forecast | None,
    beside: Mapping[int, tuple[str, ...]] = NOTHING,
) -> None:
    """Write the reasons behind each kernel, and what the model says of them."""
    said = {} if forecast is None else _kernel_lines(forecast)
    for choice in choices:
        numbers = ", ".join(map(str, choice.statements))
        out.line(f"kernel of statement {numbers}{where}")
        with out.deeper():
            for reason in choice.reasons:
                out.line(str(reason))
            for sentence in beside.get(choice.leader, ()):
                out.line(f"beside: {sentence}")
            for line in said.get(choice.statements, ()):
                out.line(line)
    if forecast is not None:
        out.line(_end_to_end_text(forecast))


def _kernel_lines(forecast: Forecast) -> dict[tuple[int, ...], list[str]]:
    """Return what is said of each kernel, by its statements: prediction and bounds, a line each."""
    return {
        kernel.statements: _forecast_lines(kernel, forecast.device) for kernel in forecast.kernels
    }


def _forecast_lines(kernel: KernelForecast, device: str) -> list[str]:
    found = kernel.prediction
    origin = "read from ptxas" if found.is_compiled else "estimated"
    share = share_text(kernel.roofline_s / found.time_s)
    return [
        f"predicted for {device}: {time_text(found.time_s)}, bound by {found.limit}, "
        f"{found.registers} registers a thread ({origin}), occupancy {share_text(found.occupancy)}",
        f"roofline: {time_text(kernel.roofline_s)}, {share} of the prediction",
        f"bound of MAGMA's model: {_magma_text(kernel)}",
    ]


def _magma_text(kernel: KernelForecast) -> str:
    """Return the bound of MAGMA's model for tiny batched products, or why there is none."""
    if kernel.magma_s is None:
        return f"not available because {kernel.why_no_magma}"
    share = share_text(kernel.magma_s / kernel.prediction.time_s)
    return f"{time_text(kernel.magma_s)}, {share} of the prediction"


def _end_to_end_text(forecast: Forecast) -> str:
    """Return the kernels' predicted time and that with the copies of a user's arrays."""
    kernels = time_text(forecast.kernels_s)
    if forecast.copies_s is None:
        return (
            f"predicted for {forecast.device}: {kernels} for the kernels; copies not available "
            f"because {forecast.why_no_copies}"
        )
    return (
        f"predicted for {forecast.device}: {kernels} for the kernels, "
        f"{time_text(forecast.copies_s)} for the copies, "
        f"{time_text(forecast.end_to_end_s)} end to end"
    )


def _copies(out: Writer, forecast: Forecast | None) -> None:
    """Write what is to be done where the copies are predicted to take longer than the kernels."""
    if forecast is not None and (forecast.copies_s or 0.0) > forecast.kernels_s:
        whole = time_text(forecast.end_to_end_s)
        advice = advice_text(forecast.crossing, None)
        out.line(f"copies: where the original takes less than {whole} a call, {advice}")


def space_lines(report: CheckReport, spaces: Sequence[Mapping[str, Listing]]) -> Iterator[str]:
    """Yield each region's spaces as lines of text: size, legal size, and axes with values."""
    for region, listings in zip(report.regions, spaces, strict=True):
        yield f"{region.place}: space of {region.region.function}, region {region.region.index}"
        for name, listing in listings.items():
            legal = "not counted" if listing.legal is None else str(listing.legal)
            yield f"  {name}: {listing.size} points, {legal} legal"
            if listing.note:
                yield f"    axes of {len(listing)} points, {listing.note}"
            for axis, values in listing.axes.items():
                yield f"    {axis}: {', '.join(map(_shown, values))}"


def _shown(value: str | int) -> str:
    """Return a value as `--param` takes it: in quotes where a comma would end it."""
    return literal(value) if isinstance(value, str) and "," in value else str(value)


def certificate_text(report: RegionReport) -> str:
    """Return the certificates of a region's plans: CUDA's, OpenACC's, and for a CPU's cores.

    Each ends with the verdict of its checker. There are those of each problem size.
    """
    return "\n".join(map(_at_its_sizes, report.by_size))


def _at_its_sizes(report: RegionReport) -> str:
    # What makes and checks certificates is not waited for where nobody asks for one.
    from annotune.certify.kernels import certify, certify_acc, certify_cores
    from annotune.space.points import first_acc_plan

    name = f"{report.region.function}, region {report.region.index}"
    if report.analysis is None or report.plan is None:
        return f"{name}: no plan to certify\n"
    if any(d.code == WORK_UNKNOWN.code for d in report.analysis.warnings):
        return f"{name}: give the sizes first\n"
    text = _certified(certify(report.analysis, report.plan))
    if report.base is None or not report.has_kernels:
        return text
    if report.openacc is not None:
        plan = first_acc_plan(report.analysis, report.openacc)
        text += f"\n{GANGS}\n{_certified(certify_acc(report.analysis, plan))}"
    cores = certify_cores(report.analysis, first_plan(report.base))
    return f"{text}\n{CORES}\n{_certified(cores)}"


def _certified(made: Certificate) -> str:
    from annotune.certify.certificate import verify

    verdict = "\n".join(verify(made)) or HOLDS
    return f"{made.text()}certificate {verdict}\n"
