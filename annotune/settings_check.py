"""What a user asks for by a name that nothing has, or with a value that C forbids, at its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest

from annotune.annotation.devices import Device
from annotune.annotation.expressions import names_in, parse_expression, span_in, unknown_names
from annotune.annotation.messages import did_you_mean
from annotune.annotation.spec import Spec, Value
from annotune.codegen.target import DEFAULT_TARGETS, load_target
from annotune.diagnostics import AnnotuneError, Diagnostic, Severity, Span, Template
from annotune.frontend.types.symbols import REALS
from annotune.frozen import dataclass
from annotune.ir.region import Region
from annotune.report.findings import RegionReport
from annotune.space.limits import CONSTRAINT, PARAM, dotted, is_axis, plain

NO_AXIS = Template(
    "AT647",
    "there is no axis '{name}' in the space of {targets}",
    "{hint}`annotune check --space` lists the axes",
)
NO_PARAMETER = Template(
    "AT648",
    "no annotation has a parameter '{name}', which --param gives",
    "{hint}",
)

FIXED_SIZE = Template(
    "AT606",
    "'{name}' is {given} here, but C fixes it to {fixed}",
    "change the C text, or give -D{name}={given} where a #define allows it",
)
NOT_AN_INTEGER = Template(
    "AT641",
    "'{name}' is {given} here, but it is of type '{type}' in C",
    "give a whole number",
)
UNUSED_SETTING = Template(
    "AT642",
    "no region uses '{name}', which --set gives",
    "{hint}",
    Severity.WARNING,
)


@dataclass(frozen=True)
class _AskedAxis:
    """An axis that somebody names at a place, and the regions and targets that may have it."""

    name: str
    span: Span
    regions: tuple[RegionReport, ...]
    targets: tuple[str, ...]


def unknown_axes(
    reports: Sequence[RegionReport],
    params: Iterable[str],
    formulas: Iterable[str],
    targets: tuple[str, ...],
    device: Device,
) -> list[Diagnostic]:
    """Return a refusal for each name of an axis that nothing has.

    `params` and `formulas` are those of the command line. They are for its `targets`, of which one
    may have an axis alone, and for any region of the file; what an annotation says is for its own
    region, whatever the target. Nothing is said where a region has no space to look into.
    """
    sized = tuple(one for report in reports for one in report.by_size)
    if not sized or any(one.base is None or one.space is None for one in sized):
        return []
    place = Span(PARAM, 1, 1)
    asked = [_AskedAxis(name, place, sized, targets) for name in params if is_axis(name)]
    place = Span(CONSTRAINT, 1, 1)
    asked += [
        _AskedAxis(name.name, place, sized, targets)
        for formula in formulas
        for name in names_in(parse_expression(formula))
        if is_axis(name.name)
    ]
    for report in reports:
        for name, span in _in_annotation(report.region.spec):
            every = tuple(dict.fromkeys((*DEFAULT_TARGETS, *targets)))
            asked.append(_AskedAxis(name, span, report.by_size, every))
    found = (_refusal(one, device) for one in asked)
    return [refusal for refusal in found if refusal is not None]


def unknown_parameters(reports: Sequence[RegionReport], params: Iterable[str]) -> list[Diagnostic]:
    """Return a refusal for each name that ``--param`` gives and no annotation declares."""
    specs = [report.region.spec for report in reports]
    known = {p.name for spec in specs for p in spec.performance_params if not is_axis(p.name)}
    sizes = {p.name for spec in specs for p in spec.input_params}
    sizes |= {size for report in reports for size in report.region.sizes}
    place = Span(PARAM, 1, 1)
    out = []
    for name in params if reports else ():
        if name in known or is_axis(name):
            continue
        hint = f"'{name}' is a size: --set {name}=VALUE gives it" if name in sizes else ""
        hint = hint or did_you_mean(name, known) or "an axis has its statement: S0.name"
        out.append(NO_PARAMETER.at(place, name=name, hint=hint))
    return out


def _in_annotation(spec: Spec) -> Iterator[tuple[str, Span]]:
    """Yield the axes that an annotation names itself, with their places."""
    for param in spec.performance_params:
        if is_axis(param.name) and param.span.file != PARAM:
            yield param.name, param.span
    for constraint in spec.constraints:
        formula = constraint.formula
        if formula.span.file == CONSTRAINT:
            continue
        for name in names_in(parse_expression(formula.text)):
            if is_axis(name.name):
                yield name.name, span_in(formula, name.start, name.end)


def _refusal(asked: _AskedAxis, device: Device) -> Diagnostic | None:
    """Return why an axis cannot be named, None where some target has it."""
    known: dict[str, None] = {}
    # In turns, since a GPU's space is long to look through and a CPU's axes are soon told.
    turns = zip_longest(*(_axes(asked.regions, target, device) for target in asked.targets))
    for name in chain.from_iterable(turns):
        if name is None:
            continue
        if plain(name) == plain(asked.name):
            return None
        known[name] = None
    # As its user writes it: the command line's formulas have lost their dots.
    is_plain = asked.span.file not in (PARAM, CONSTRAINT)
    name = plain(asked.name) if is_plain else dotted(asked.name)
    hint = did_you_mean(name, map(plain, known) if is_plain else known)
    hint = f"{hint} " if hint.startswith("did") else ""
    for target in DEFAULT_TARGETS:
        if target not in asked.targets and _has(asked, target, device):
            hint = f"{target} has it; "
    targets = " or ".join(asked.targets)
    return NO_AXIS.at(asked.span, name=name, targets=targets, hint=hint)


def _has(asked: _AskedAxis, target: str, device: Device) -> bool:
    return any(plain(n) == plain(asked.name) for n in _axes(asked.regions, target, device))


def _axes(regions: Iterable[RegionReport], target: str, device: Device) -> Iterator[str]:
    """Yield the axes of a target in some regions; a region that it refuses has none."""
    named = load_target(target)
    for report in regions:
        if report.base is None or report.space is None:
            continue
        try:
            yield from named.points(report.base, report.space, device).axes()
        except AnnotuneError:
            continue


def unused_settings(sizes: Iterable[str], regions: Sequence[Region]) -> list[Diagnostic]:
    """Return a warning for each ``--set`` that changes nothing, such as a misspelt size."""
    known: set[str] = set()
    for region in regions:
        spec = region.spec
        known |= {p.name for p in (*spec.input_params, *spec.performance_params)}
        known |= {
            named for name in _open_sizes(region) for named in (name, region.text.user_name(name))
        }
    place = Span("--set", 1, 1)
    return [
        UNUSED_SETTING.at(place, name=name, hint=did_you_mean(name, known))
        for name in sizes
        if regions and name not in known
    ]


def _open_sizes(region: Region) -> set[str]:
    """Return the integers of C that a region uses and leaves as they are."""
    changing = region.nest.iterators() | region.nest.written_scalars()
    return {s.name for s in region.scalars.values() if s.type not in REALS} - changing


def refuse_wrong_sizes(region: Region, settings: Mapping[str, Value]) -> None:
    """Raise what is wrong with the annotation's names and values of sizes."""
    mistakes = list(unknown_names(region.spec, tuple(region.sizes)))
    given_values = [(p.name, p.values[0], p.span) for p in region.spec.input_params if p.values]
    named = {name for name, _, _ in given_values}
    given_values += [(n, v, region.span) for n, v in settings.items() if n not in named]
    for name, value, span in given_values:
        if name not in _open_sizes(region) or name in region.sizes:
            continue
        text = repr(value) if isinstance(value, str) else value
        type_ = region.scalars[name].type
        mistakes.append(NOT_AN_INTEGER.at(span, name=name, given=text, type=type_))
    for name, fixed in region.constants.items():
        given = region.sizes.get(name, fixed)
        if given != fixed:
            mistakes.append(FIXED_SIZE.at(region.span, name=name, given=given, fixed=fixed))
    if mistakes:
        raise AnnotuneError(tuple(mistakes))
