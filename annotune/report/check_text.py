"""What `check` prints for a region: loops with proofs, work, decisions, and the recipe."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from annotune.analysis.messages import listed
from annotune.annotation.commands import before_targets
from annotune.codegen.c_expr import c_expr
from annotune.codegen.openmp import first_plan
from annotune.codegen.several_sizes import sizes_text
from annotune.codegen.writer import Writer
from annotune.decide.direct import unrolls
from annotune.decide.forecast import Forecast
from annotune.decide.plan import Candidate
from annotune.decide.recipe import recipe
from annotune.decide.strategies import others
from annotune.report.findings import RegionReport
from annotune.report.forecast_text import end_to_end_text, kernel_lines
from annotune.transforms.unroll import Unroll

NOTHING: Mapping[int, tuple[str, ...]] = {}


def region_text(report: RegionReport) -> str:
    """Return the findings of one region as plain text."""
    out = Writer()
    region = report.region
    out.line(f"{report.place}: {region.function}, region {region.index}")
    with out.deeper():
        _loops(out, report)
        _work(out, report)
        _decisions(out, report)
    return out.text()


def recipe_of(report: RegionReport) -> str:
    """Return the recipe that the decisions amount to, empty when there are none.

    What the user's own recipe says stands in it word for word.
    """
    if report.decision is None or report.base is None or not report.has_kernels:
        return ""
    wished = {step.statement for step in report.decision.asked.of(Unroll)}
    factors = {
        statement: values
        for unit in report.base.nests("footprint", report.decision.asked)
        for statement, _, values in unrolls(unit)
        if statement not in wished
    }
    return recipe(report.decision.choices, factors, before_targets(report.region.spec.commands))


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


def _decisions(out: Writer, report: RegionReport) -> None:
    if report.decision is None:
        return
    if report.plan is None:
        out.line("no plan: the recipe is refused")
        return
    if not report.has_kernels:
        out.line("no kernel: no loop may run in parallel")
        return
    _kernels(out, report.decision.choices, "", report.forecast(report.decision), _others(report))
    if report.openacc is not None:
        forecast = report.forecast(report.openacc)
        _kernels(out, report.openacc.choices, " in OpenACC", forecast)
    if report.base is not None:
        # No recipe speaks of the cores of a CPU, and no model.
        _kernels(out, first_plan(report.base).choices, " in OpenMP", None)
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
    said = {} if forecast is None else kernel_lines(forecast)
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
        out.line(end_to_end_text(forecast))
