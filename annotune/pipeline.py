"""The order of the stages: from a user's file to what each command shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from annotune import __version__
from annotune.analysis.analyse import analyse
from annotune.analysis.messages import WORK_UNKNOWN
from annotune.analysis.private_copies import with_last_values, with_private_arrays
from annotune.annotation.complete import complete
from annotune.annotation.devices import Device, load_device
from annotune.annotation.messages import did_you_mean, nearest
from annotune.annotation.names import unknown_names
from annotune.annotation.regions import AnnotationBlock, scan_annotations
from annotune.annotation.spec import Value
from annotune.asked_axes import unknown_axes, unknown_parameters
from annotune.codegen.recipes import first_variant, targets_said
from annotune.codegen.target import Target, Variant, load_target
from annotune.decide.acc_space import acc_space, decide_acc
from annotune.decide.build import build
from annotune.decide.decision import Base, decide
from annotune.decide.limits import with_asked
from annotune.decide.loop_wishes import refused_wishes
from annotune.decide.messages import NO_PARALLEL_LOOP, NO_PARALLEL_LOOP_WARNING
from annotune.decide.space import region_space
from annotune.decide.unused_hints import unused_hints
from annotune.diagnostics import AnnotuneError, Diagnostic, Severity, Span, Template
from annotune.files import read_source
from annotune.frontend.headers import Search
from annotune.frontend.load import load_sound
from annotune.frontend.symbols import REALS
from annotune.ir.region import Region, SourceFile
from annotune.problem_sizes import at_every_size, first_choices
from annotune.report.findings import CheckReport, Emission, RegionReport
from annotune.settings import Settings
from annotune.transforms.map import Map

if TYPE_CHECKING:
    from annotune.codegen.code import RegionCode
    from annotune.tune.bench import Listener
    from annotune.tune.results import Results
    from annotune.tune.run import Limits
    from annotune.tune.stop import Stop

NO_REGION = Template(
    "AT604",
    "there is no annotated region in this file",
    "put /*@ begin PerfTuning () @*/ before a loop nest and /*@ end @*/ after it",
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
OTHER_FILE = Template(
    "AT643",
    "the sidecar is for '{named}', not for '{file}'",
    "correct its `file:`, or leave out --annotation",
)
ANNOTATED_TWICE = Template(
    "AT644",
    "this nest is annotated twice: here and in {other}",
    "keep one of the two",
)
HOST_DATA = Template(
    "AT622",
    "run checks, measures and writes texts for arrays of the host; --data resident is left out",
    "write the winner for resident data: annotune emit --data resident, with the winner's recipe",
    Severity.WARNING,
)
NO_SUCH_FUNCTION = Template(
    "AT605",
    "no annotated region stands in a function '{name}'",
    "{hint}functions with regions: {known}",
)


def check(settings: Settings) -> CheckReport:
    """Return everything that can be said of a file without a compiler.

    Raises:
        AnnotuneError: The file cannot be read, is no C text, or there is no such device.
    """
    found = _examined(settings)
    problems = [d for one in found.regions for d in _search_mistakes(one.region)]
    return replace(found, diagnostics=_in_order((*found.diagnostics, *problems)))


def _search_mistakes(region: Region) -> tuple[Diagnostic, ...]:
    """Return what is wrong with ``def search``, which a run's options may correct."""
    if not region.spec.search:
        # The searches need numpy, which nobody waits for without a reason.
        return ()
    from annotune.tune.asked import Asked, wanted

    try:
        wanted(Asked(), region)
    except AnnotuneError as refusal:
        return refusal.diagnostics
    return ()


def _in_order(problems: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return each diagnostic once, in the order of the texts."""
    places = dict.fromkeys(problems)
    return tuple(sorted(places, key=lambda d: (d.span.file, d.span.line, d.span.column)))


def _examined(settings: Settings) -> CheckReport:
    """Return what `check` does, but for what is of a search alone."""
    device = load_device(settings.device)
    text = read_source(settings.source)
    blocks, problems = _blocks(settings, text)
    # Orio's files leave out what no C front end can do without.
    made = complete(text, str(settings.source), blocks, settings.defines)
    source, refused = _load(settings, made.text, made.blocks)
    if not blocks and not problems:
        problems.append(NO_REGION.at(Span(str(settings.source), 1, 1)))
    problems += refused
    limits = settings.params, settings.constraints
    asked = (replace(one, spec=with_asked(one.spec, *limits)) for one in source.regions)
    source = replace(source, regions=tuple(asked))

    def examine(region: Region) -> RegionReport:
        return _examine(region, settings, device)

    reports = tuple(at_every_size(region, examine) for region in source.regions)
    for report in reports:
        problems += report.diagnostics
    problems += _unused_settings(settings, source.regions)
    problems += unknown_parameters(reports, settings.params)
    given = settings.params, settings.constraints
    problems += unknown_axes(reports, *given, settings.targets, device)
    return CheckReport(text, source, reports, _in_order(problems))


def emit(settings: Settings, targets: Sequence[Target]) -> Emission:
    """Return the decision algorithm's first choice for every target, as texts.

    Raises:
        AnnotuneError: Any region is refused; nothing is to be written then.
    """
    from annotune.provenance import provenance

    found = _accepted(settings)
    assert found.source is not None
    device = load_device(settings.device)
    variants: list[dict[str, Variant]] = []
    problems = list(found.diagnostics)
    codes: dict[str, list[RegionCode]] = {t.name: [] for t in targets}
    for report in found.regions:
        assert report.base is not None
        assert report.space is not None
        made: dict[str, Variant] = {}
        for target in targets:
            variant, refused = first_choices(report, target, device)
            problems += refused
            made[target.name] = variant
            codes[target.name].append(target.region(variant, settings.resident))
        variants.append(made)
    files: dict[str, str] = {}
    for target in targets:
        origin = provenance(settings, [made[target.name] for made in variants])
        files |= target.files(found.source, codes[target.name], origin)
    return Emission(
        found.text, found.source, files, tuple(variants), found.regions, tuple(problems)
    )


def _accepted(settings: Settings) -> CheckReport:
    """Return what `check` finds in a file that may go on.

    Raises:
        AnnotuneError: Some region is refused, or has no parallel loop.
    """
    found = _examined(settings)
    errors = [d for d in found.diagnostics if d.severity == Severity.ERROR]
    for report in found.regions:
        if report.plan is not None and not report.has_kernels:
            errors.append(NO_PARALLEL_LOOP.at(report.region.span, reasons=_reasons(report)))
    # Without sizes there are proofs, but no grid, no unrolling and nothing to measure.
    unknown = [d for d in found.diagnostics if d.code == WORK_UNKNOWN.code]
    errors = errors or [replace(d, severity=Severity.ERROR) for d in unknown]
    if errors:
        raise AnnotuneError(tuple(errors))
    return found


@dataclass(frozen=True)
class RunReport:
    """What `run` found and the files it makes, by suffix."""

    text: str
    results: Results
    files: Mapping[str, str]
    diagnostics: tuple[Diagnostic, ...]


def run(
    settings: Settings,
    targets: Sequence[Target],
    limits: Limits,
    environ: Mapping[str, str],
    listener: Listener | None = None,
    folder: Path | None = None,
    is_fresh: bool = False,
    stop: Stop | None = None,
) -> RunReport:
    """Return a file's regions tuned: checked, measured or predicted, the best of each kept.

    In `folder` every trial is kept for later runs, `is_fresh` begins anew. `stop` ends it early.

    Raises:
        AnnotuneError: The file is refused, the original cannot be compiled, or a disk is full.
    """
    # numpy and the runners are not needed, nor waited for, by the other commands.
    from tempfile import gettempdir

    from annotune.measure.toolchain import find_toolchains, nvcc_warnings
    from annotune.provenance import run_provenance
    from annotune.tune import run as tuning
    from annotune.tune.recorder import disk_full_is_refused
    from annotune.tune.stop import NEVER
    from annotune.tune.store import opened

    found = _accepted(settings)
    assert found.source is not None
    device = load_device(settings.device)
    ready: list[tuning.Ready] = []
    for report in found.regions:
        sizes = [tuning.Ready(r.base, r.space) for r in report.by_size if r.base and r.space]
        ready += [replace(one, others=tuple(others)) for one, *others in [sizes] if sizes]
    flags = tuple(f"-I{folder}" for folder in settings.include)
    flags += tuple(f"-D{name}={value}" for name, value in settings.defines.items())
    temporary = Path(gettempdir())
    here = find_toolchains(environ)
    with disk_full_is_refused(temporary), opened(folder, is_fresh) as (store, kept_aside):
        tuned, tools = tuning.run(
            found.source,
            ready,
            targets,
            device,
            here,
            limits,
            flags,
            settings.arch,
            listener,
            store,
            stop or NEVER,
        )
    origins = {t.name: run_provenance(settings, tuned, t.name) for t in targets}
    made = tuning.files(found.source, tuned, targets, origins)
    faulty = nvcc_warnings(here, found.source.path) if ".cu" in made else ()
    on_host = (HOST_DATA.at(Span(found.source.path, 1, 1)),) if settings.resident else ()
    diagnostics = (*found.diagnostics, *kept_aside, *faulty, *on_host)
    warnings = [d.message for d in diagnostics]
    value = tuning.results(__version__, found.source, device, tuned, tools, warnings)
    stem = settings.source.stem
    value = tuning.with_files(value, {stem + end: text for end, text in made.items()})
    return RunReport(found.text, value, made, diagnostics)


def _blocks(settings: Settings, text: str) -> tuple[list[AnnotationBlock], list[Diagnostic]]:
    """Return the annotated places of a file: its comments', and a sidecar's."""
    path = str(settings.source)
    found = scan_annotations(text, path, settings.sizes, settings.specification)
    blocks, problems = list(found.blocks), list(found.diagnostics)
    for sidecar in _sidecars(settings):
        from annotune.annotation.sidecar import load_sidecar
        from annotune.frontend.locate import locate_loop

        for entry in load_sidecar(sidecar, settings.sizes):
            if Path(entry.file).name != settings.source.name:
                if settings.sidecar is not None:
                    name = settings.source.name
                    problems.append(OTHER_FILE.at(entry.span, named=entry.file, file=name))
                continue
            start, end = locate_loop(
                text, entry.function, entry.loop, entry.occurrence, path, _search(settings)
            )
            twice = next((b for b in blocks if b.start < end and start < b.end), None)
            if twice is not None:
                problems.append(ANNOTATED_TWICE.at(entry.span, other=twice.span))
                continue
            blocks.append(AnnotationBlock(start, end, start, end, entry.spec, entry.span))
    return sorted(blocks, key=lambda b: b.start), problems


def _sidecars(settings: Settings) -> list[Path]:
    if settings.sidecar is not None:
        return [settings.sidecar]
    name = f"{settings.source.stem}.yaml"
    places = [settings.source.parent / "annotations" / name, Path("annotations") / name]
    return [next(p for p in places if p.is_file())] if any(p.is_file() for p in places) else []


def _search(settings: Settings) -> Search:
    return Search(settings.include, settings.defines, settings.compiler)


def _load(
    settings: Settings, text: str, blocks: Sequence[AnnotationBlock]
) -> tuple[SourceFile, list[Diagnostic]]:
    """Return the regions that parse, and what is wrong with the others."""
    path = str(settings.source)
    search = _search(settings)
    loaded = load_sound(
        path, text, blocks, settings.integers, function=settings.function, search=search
    )
    problems = list(loaded.problems)
    if settings.function and settings.function not in loaded.functions and blocks:
        listed = ", ".join(loaded.functions) or "none"
        where = Span(path, 1, 1)
        name, hint = settings.function, nearest(settings.function, loaded.functions)
        problems.append(NO_SUCH_FUNCTION.at(where, name=name, known=listed, hint=hint))
    return loaded.source, problems


def _unused_settings(settings: Settings, regions: Sequence[Region]) -> list[Diagnostic]:
    """Return a warning for each ``--set`` that changes nothing, such as a misspelt size."""
    known: set[str] = set()
    for region in regions:
        spec = region.spec
        known |= {p.name for p in (*spec.input_params, *spec.performance_params)}
        known |= _open_sizes(region)
    place = Span("--set", 1, 1)
    return [
        UNUSED_SETTING.at(place, name=name, hint=did_you_mean(name, known))
        for name in settings.sizes
        if regions and name not in known
    ]


def _examine(region: Region, settings: Settings, device: Device) -> RegionReport:
    """Return the analysis and first plan of one region, as far as they go."""
    analysis = base = space = point = decision = plan = openacc = None
    problems: list[Diagnostic] = []
    try:
        problems += region.spec.notes
        _check_sizes(region, settings.sizes)
        # What each iteration needs for itself it gets, before anything is asked of the nest.
        analysis = analyse(with_private_arrays(with_last_values(region)))
        problems += analysis.warnings
        problems += refused_wishes(analysis)
        base = Base.of(analysis, settings.strategy)
        space = region_space(base)
        point = next(space.points())
        decision = decide(base, point)
        problems += unused_hints(analysis, base.nests(point.fusion, decision.asked))
        sizes, places = region.sizes, decision.places
        made = build(analysis, decision.choices, decision.groups, sizes, places=places)
        if isinstance(made, Diagnostic):
            problems.append(made)
        else:
            plan = made
        if "openacc" in settings.targets:
            openacc = decide_acc(base, next(acc_space(space).points()))
        asked = targets_said(region.spec.commands)
        if decision.asked.by_statement(Map, "acc"):
            asked = dict.fromkeys((*asked, "openacc"))
        for name in asked:
            first_variant(load_target(name), base, space, device)
    except AnnotuneError as refusal:
        problems += refusal.diagnostics
    made_of = (region, analysis, base, space, point, decision, plan, tuple(problems), openacc)
    report = RegionReport(*made_of, device)
    if plan is not None and not report.has_kernels:
        warning = NO_PARALLEL_LOOP_WARNING.at(region.span, reasons=_reasons(report))
        return replace(report, diagnostics=(*problems, warning))
    return report


def _open_sizes(region: Region) -> set[str]:
    """Return the integers of C that a region uses and leaves as they are."""
    changing = region.nest.iterators() | region.nest.written_scalars()
    return {s.name for s in region.scalars.values() if s.type not in REALS} - changing


def _check_sizes(region: Region, settings: Mapping[str, Value]) -> None:
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


def _reasons(report: RegionReport) -> str:
    assert report.analysis is not None
    return "; ".join(dict.fromkeys(f.proof for f in report.analysis.loops)) or "there are none"
