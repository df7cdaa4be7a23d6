"""The problem sizes of a region, each examined like the first: those that are tuned for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from annotune.annotation.devices import Device
from annotune.annotation.sizes import MAX_SIZES, problem_sizes
from annotune.codegen.recipes import first_variant
from annotune.codegen.several_sizes import at_other_sizes, can_share, combined, sizes_text
from annotune.codegen.target import Target, Variant
from annotune.diagnostics import AnnotuneError, Diagnostic, Severity, Template
from annotune.ir.region import Region
from annotune.report.findings import RegionReport

NOT_TUNED = Template(
    "AT608",
    "not tuned for {sizes}: {reason}",
    "the code for all other sizes runs there; --set with that size alone says more",
    Severity.WARNING,
)
OTHER_FACTS = "what is proven of the nest at the first sizes is not what is proven there"
MANY_SIZES = Template(
    "AT609",
    "`input_params` gives more than {limit} problem sizes: the first {limit} are looked at",
    "give those that matter, or choose among them with a constraint",
    Severity.WARNING,
)


def at_every_size(region: Region, examine: Callable[[Region], RegionReport]) -> RegionReport:
    """Return the report of a region, with those of the other problem sizes to tune for.

    A size at which the region is refused, or at which other facts are proven, is left to the code
    for all sizes.
    """
    report = examine(region)
    # What no command of the user's asks for is refused at the region.
    placed = tuple(d.placed(region.span) for d in report.diagnostics)
    report = replace(report, diagnostics=placed)
    if report.analysis is None or not report.has_kernels or report.is_refused:
        return report
    others: list[RegionReport] = []
    problems: list[Diagnostic] = []
    for other in at_other_sizes(region, report.analysis):
        found = examine(other)
        reason = next((d.message for d in found.diagnostics if d.severity == Severity.ERROR), "")
        if found.analysis is None or not can_share(report.analysis, found.analysis):
            reason = reason or OTHER_FACTS
        if reason:
            sizes = sizes_text(found.sizes)
            problems.append(NOT_TUNED.at(region.span, sizes=sizes, reason=reason))
        else:
            others.append(found)
    if len(problem_sizes(region.spec, MAX_SIZES + 1)) > MAX_SIZES:
        problems.append(MANY_SIZES.at(region.span, limit=MAX_SIZES))
    diagnostics = (*report.diagnostics, *problems)
    return replace(report, others=tuple(others), diagnostics=diagnostics)


def first_choices(
    report: RegionReport, target: Target, device: Device
) -> tuple[Variant, list[Diagnostic]]:
    """Return a target's first choice for each problem size of a region, as one variant.

    With it come warnings of the sizes at which the target has no choice.

    Raises:
        AnnotuneError: The first size is one of these.
    """
    found: list[Variant] = []
    problems: list[Diagnostic] = []
    for one in report.by_size:
        assert one.base is not None
        assert one.space is not None
        try:
            found.append(first_variant(target, one.base, one.space, device))
        except AnnotuneError as refusal:
            if one is report:
                raise AnnotuneError(
                    tuple(d.placed(report.region.span) for d in refusal.diagnostics)
                ) from None
            reason = f"{target.name}: {refusal.diagnostics[0].message}"
            sizes = sizes_text(one.sizes)
            problems.append(NOT_TUNED.at(report.region.span, sizes=sizes, reason=reason))
    return combined(found), problems
