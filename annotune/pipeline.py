"""The order of the stages: from a user's file to what each command shows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import field, replace
from functools import wraps
from itertools import chain, islice, product
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeAlias, TypeVar

from annotune import __version__
from annotune.analysis.analyse import analyse
from annotune.analysis.messages import WORK_UNKNOWN
from annotune.analysis.normal_form.index_ranges import with_index_ranges
from annotune.analysis.normal_form.normalised import normalised
from annotune.annotation.data_block import DataBlock
from annotune.annotation.devices import Device, load_device
from annotune.annotation.flags import macros
from annotune.annotation.messages import gathered, nearest
from annotune.annotation.orio.complete import Completed, complete
from annotune.annotation.perf_tuning import MAX_SIZES, problem_sizes
from annotune.annotation.regions import AnnotationBlock, scan_annotations
from annotune.codegen.build import (
    OF_THE_HOSTS_SHARE,
    BuildCommand,
    Compilers,
    Project,
    Told,
    commands,
    header_lines,
    with_runtime,
)
from annotune.codegen.recipes import exact_recipe, first_variant, listing_of, targets_said
from annotune.codegen.several_sizes import (
    at_other_sizes,
    can_share,
    combined,
    served,
    sizes_text,
)
from annotune.codegen.target import ACC_SHAPED, DEFAULT_TARGETS, Provenance, Target, load_target
from annotune.diagnostics import (
    INTERNAL,
    AnnotuneError,
    Diagnostic,
    Severity,
    Span,
    Template,
    internal_errors_at,
)
from annotune.files import read_source
from annotune.frontend.load import Loaded, load_sound
from annotune.frontend.messages import NOT_IN_FUNCTION
from annotune.frontend.read.filescope import File
from annotune.frontend.read.ladder import HeaderNames, Ladder, ladder_of
from annotune.frontend.read.preprocess import HeaderSearch, without_comments
from annotune.frontend.read.tokens import SourceText
from annotune.frozen import dataclass
from annotune.ir.region import LeftRegion, Region, SourceFile
from annotune.report.findings import CheckReport, Emission, RegionReport
from annotune.runtime.texts import linked_sources, standalone_files
from annotune.schedule.apply import build
from annotune.schedule.messages import (
    NO_PARALLEL_LOOP,
    NO_PARALLEL_LOOP_WARNING,
    SERIAL_INSIDE,
)
from annotune.schedule.plan import Plan
from annotune.settings_check import (
    refuse_wrong_sizes,
    unknown_axes,
    unknown_parameters,
    unused_settings,
)
from annotune.space.decision import Base, Decision, Point, decide
from annotune.space.limits import with_asked
from annotune.space.openmp import FLAGS, WITHOUT_ERRNO
from annotune.space.points import HostSums, acc_space, adding_on_host, decide_acc, sums_on_host
from annotune.space.space import Space, region_space
from annotune.space.unused_hints import unused_hints
from annotune.space.variants import Variant, has_general
from annotune.strategies.hints import refused_wishes
from annotune.transforms.transform import Feature
from annotune.tuning.config import RunConfig, wanted

if TYPE_CHECKING:
    from annotune.annotation.spec import Value
    from annotune.codegen.target import RegionCode
    from annotune.measure.capture.instrumented import Recorded, Recording
    from annotune.measure.capture.records import RecordedRegion, Records
    from annotune.space.variants import Listing
    from annotune.tensor.translate import Translated
    from annotune.tuning.bench import Request
    from annotune.tuning.region_run import Tuned
    from annotune.tuning.results import Reading, RegionResult, Results
    from annotune.tuning.run import Building, Ready

NO_REGION = Template(
    "AT604",
    "there is no annotated region in this file",
    "put /*@ begin PerfTuning () @*/ before a loop nest and /*@ end @*/ after it",
)
# A comment that is never closed is refused elsewhere, and so is a continued line's end.
_DIRECTIVE = re.compile(r"^[ \t]*(?P<line>#[ \t]*pragma[ \t]+(?:omp|acc)\b[^\n]*)", re.MULTILINE)
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
OWN_DIRECTIVE = Template(
    "AT650",
    "'{directive}' stands in the region, and is replaced: annotune writes directives of its own",
    "leave it out; for the original, `run` measures OpenMP and OpenACC as it writes them itself",
    Severity.WARNING,
)
HOST_DATA = Template(
    "AT622",
    "run checks, measures and writes texts for arrays of the host; --data resident is left out",
    "write the winner for resident data: annotune emit --data resident --from results.json",
    Severity.WARNING,
)
NOT_TUNED = Template(
    "AT608",
    "not tuned for {sizes}: {reason}",
    "the code for all other sizes runs there; --set with that size alone says more",
    Severity.WARNING,
)
REGION_LEFT = Template(
    "AT623",
    "this region stays as it is written in {where}: {reason}",
    "the others are written; mend this one, or take its annotation away",
    Severity.WARNING,
)
EVERY_FILE = "every file"
OTHER_FACTS = "what is proven of the nest at the first sizes is not what is proven there"
MANY_SIZES = Template(
    "AT609",
    "`input_params` gives more than {limit} problem sizes: the first {limit} are looked at",
    "give those that matter, or choose among them with a constraint",
    Severity.WARNING,
)
NO_SUCH_FUNCTION = Template(
    "AT605",
    "no annotated region stands in a function '{name}'",
    "{hint}functions with regions: {known}",
)
NOT_RECORDED = Template(
    "AT690",
    "not all arrays of this region are recorded: {reason}",
    "the others get values of annotune's own; mend what the message says, or leave it so",
    Severity.WARNING,
)
Place: TypeAlias = tuple[str, int]
# What a size is taken for of which nobody says how large it is.
LIKELY = 64
# Of a text that only says what else it needs.
NO_PROVENANCE = Provenance("", "")
# What is wrong with the file, although it is said at a region.
_OF_THE_FILE = frozenset({NO_SUCH_FUNCTION.code, NOT_IN_FUNCTION.code})
# Points of each target that are looked through for its axes.
SHOWN = 500
# Points that are looked at for one whose transforms are all legal.
MOST_REFUSED = 16


@dataclass(frozen=True, slots=True)
class Settings:
    """What `check`, `emit` and `run` are asked for, by the options that they share.

    `sizes` are ``--set NAME=VALUE`` and win over the annotation; `search` is what the compiler is
    told of the source. `function` restricts the work to one function, empty for all. `resident` is
    ``--data resident``. `sidecar` is a YAML annotation, None to look for one. `specification` is
    the file of ``--spec``, for regions without a PerfTuning of their own. `params` are ``--param
    NAME=VALUES`` and `constraints` ``--constraint FORMULA``, both over parameters of the annotation
    and axes of the space. `compilers` are the words that start the user's compilers, by role.
    `project` says where the files will lie, None where that is not known. `translated` is what a
    tensor file comes to, whose C text is then that of `source`. `given` is the C text that is in no
    file. `inputs` is a folder of records of the regions' calls, `sizes_of` are sizes of an earlier
    run that had one, by the function and index of a region. `both` is ``--both SHARE``,
    and `gpus` how many GPUs share a call. `standalone` files have the runtime in them.
    """

    source: Path
    targets: tuple[str, ...] = DEFAULT_TARGETS
    strategy: str = "auto"
    sizes: Mapping[str, Value] = field(default_factory=dict)
    search: HeaderSearch = field(default_factory=HeaderSearch)
    function: str = ""
    arch: str = ""
    device: str = "h200"
    resident: bool = False
    sidecar: Path | None = None
    specification: Path | None = None
    params: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    constraints: tuple[str, ...] = ()
    compilers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    project: Project | None = None
    translated: Translated | None = None
    given: str | None = None
    inputs: Path | None = None
    sizes_of: Mapping[Place, Sequence[Mapping[str, int]]] = field(default_factory=dict)
    both: str = ""
    gpus: int = 1
    standalone: bool = False

    def sharing(self, variant: Variant, target: Target) -> Variant:
        """Return a variant of a target's, as processors share its calls if that is asked."""
        if not (self.both or self.gpus > 1) or Feature.HOST_SHARE not in target.vocabulary.features:
            return variant
        asked = variant.tuned.both
        return variant.shared(self.both or ("0" if asked is None else asked.share), self.gpus)

    @property
    def text(self) -> str:
        """Return the C text; raises AnnotuneError where its file cannot be read."""
        if self.translated is not None:
            return self.translated.c.source
        return read_source(self.source) if self.given is None else self.given

    @property
    def texts(self) -> Mapping[str, str]:
        """Return what diagnostics point into that is in no file, by its name."""
        is_made = self.translated is not None or self.given is not None
        return {str(self.source): self.text} if is_made else {}

    @property
    def made_of_tensors(self) -> Mapping[str, str]:
        """Return the files, by suffix, that a tensor file became before all else."""
        if self.translated is None:
            return {}
        return {".c": self.translated.c.source, ".h": self.translated.c.header}

    @property
    def origin(self) -> str:
        """Return what files that are made of the source say of where they come from."""
        made = self.translated
        if made is None or made.is_usual:
            return self.source.name
        return f"{self.source.name}, formulation {made.formulation.name}"

    @property
    def flags(self) -> tuple[str, ...]:
        """Return what the user's compiler is told of the source, as its words."""
        return (*(f"-I{folder}" for folder in self.search.include), *self.defines)

    @property
    def folders(self) -> tuple[Path, ...]:
        """Return the folders in which the source and its headers are looked for."""
        return (self.source.absolute().parent, *map(Path, self.search.include))

    @property
    def defines(self) -> tuple[str, ...]:
        """Return the macros that the user defines, as words for a compiler."""
        return tuple(f"-D{name}={value}" for name, value in self.search.defines.items())


P = ParamSpec("P")
Found = TypeVar("Found", "CheckReport", "Emission", "RunReport")


def _told_of_tensors(
    command: Callable[Concatenate[Settings, P], Found],
) -> Callable[Concatenate[Settings, P], Found]:
    """Return a command that says of a tensor file's nests where their operations are."""

    @wraps(command)
    def placed(settings: Settings, /, *args: P.args, **kwargs: P.kwargs) -> Found:
        made, file = settings.translated, str(settings.source)
        if made is None:
            return command(settings, *args, **kwargs)
        try:
            found = command(settings, *args, **kwargs)
        except AnnotuneError as refusal:
            problems = made.at_operations(refusal.diagnostics, file)
            raise AnnotuneError(problems, refusal.exit_code) from refusal
        return replace(found, diagnostics=made.at_operations(found.diagnostics, file))

    return placed


@_told_of_tensors
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
    try:
        with _refused_in_c(region):
            wanted(RunConfig(), region)
    except AnnotuneError as refusal:
        return refusal.diagnostics
    return ()


def _in_order(problems: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return each diagnostic once, in the order of the texts."""
    places = dict.fromkeys(problems)
    return tuple(sorted(places, key=lambda d: (d.span.file, d.span.line, d.span.column)))


def _examined(settings: Settings) -> CheckReport:
    """Return what `check` does, but for what is of a search alone."""
    text = settings.text
    return examined(settings, text, *annotated_places(settings, text))


def examined(
    settings: Settings,
    text: str,
    blocks: list[AnnotationBlock],
    kept: Sequence[DataBlock] = (),
    problems: Sequence[Diagnostic] = (),
    ladder: Ladder | None = None,
) -> CheckReport:
    """Return what can be said of the `blocks` of a C text, some `problems` of which are known.

    `ladder` has what was read already of the file.

    Raises:
        AnnotuneError: As `check`.
    """
    device = load_device(settings.device)
    loaded, problems, refused = _read(settings, text, blocks, kept, problems, ladder)
    source = loaded.source
    problems += refused
    problems += settings.translated.diagnostics if settings.translated is not None else ()
    given = settings.params, settings.constraints
    asked = (replace(one, spec=with_asked(one.spec, *given)) for one in source.regions)
    source, failed = _each_changed(replace(source, regions=tuple(asked)), with_index_ranges)
    refused = (*refused, *failed)
    problems += failed
    if settings.inputs is not None:
        source, said = _with_recorded(source, settings.inputs, settings.sizes)
        problems += said
    elif settings.sizes_of:
        source = _with_sizes(source, settings.sizes_of)

    def examine(region: Region) -> RegionReport:
        return _examine(region, settings, device)

    reports = tuple(_survived(region, examine, device) for region in source.regions)
    for report in reports:
        problems += report.diagnostics
    problems += unused_settings(settings.sizes, source.regions)
    problems += unknown_parameters(reports, settings.params)
    problems += unknown_axes(reports, *given, settings.targets, device)
    problems += loaded.of_data
    own = (d for d in (*refused, *loaded.of_data) if d.code not in _OF_THE_FILE)
    of_regions = frozenset((*own, *(d for report in reports for d in report.diagnostics)))
    return CheckReport(text, source, reports, _in_order(problems), of_regions)


@contextmanager
def _refused_in_c(region: Region) -> Iterator[None]:
    """Refuse a region in the words of its C text, also for a mistake of annotune's own.

    Raises:
        AnnotuneError: The region is refused.
    """
    try:
        with internal_errors_at(region.span):
            yield
    except AnnotuneError as refusal:
        problems = tuple(region.text.in_user_words(refusal.diagnostics))
        raise AnnotuneError(problems, refusal.exit_code, refusal.lines) from refusal


def _each_changed(
    source: SourceFile, change: Callable[[Region], Region]
) -> tuple[SourceFile, tuple[Diagnostic, ...]]:
    """Return a file with each region changed, those left as they are where that fails, and why."""
    regions: list[Region] = []
    left: list[LeftRegion] = []
    problems: list[Diagnostic] = []
    for region in source.regions:
        try:
            with _refused_in_c(region):
                regions.append(change(region))
        except AnnotuneError as refusal:
            left.append(region.left(refusal.diagnostics[0].message))
            problems += refusal.diagnostics
    changed = replace(source, regions=tuple(regions), left=(*source.left, *left))
    return changed, tuple(problems)


def _survived(
    region: Region, examine: Callable[[Region], RegionReport], device: Device
) -> RegionReport:
    """Return the report of a region; where annotune makes a mistake it has nothing else."""
    try:
        with _refused_in_c(region):
            return _at_every_size(region, examine)
    except AnnotuneError as refusal:
        nothing = (None,) * 6
        return RegionReport(region, *nothing, refusal.diagnostics, None, device)


def _read(
    settings: Settings,
    text: str,
    blocks: list[AnnotationBlock],
    kept: Sequence[DataBlock],
    known: Sequence[Diagnostic],
    ladder: Ladder | None = None,
) -> tuple[Loaded, list[Diagnostic], tuple[Diagnostic, ...]]:
    """Return the regions that parse, what is wrong with the text, and with the others.

    Some of it is `known`.
    """
    problems = [*known, *_own_directives(text, str(settings.source), blocks)]
    # Orio's files leave out what no C front end can do without.
    made = _completed(settings, text, blocks, kept)
    loaded, refused = _load(settings, made, ladder)
    if not blocks and not kept and not problems:
        problems.append(NO_REGION.at(Span(str(settings.source), 1, 1)))
    return loaded, problems, tuple(refused)


def recorded(settings: Settings) -> tuple[SourceFile, tuple[Recorded, ...], tuple[Diagnostic, ...]]:
    """Return a file, how its regions are recorded, and what is wrong with others.

    Raises:
        AnnotuneError: The file cannot be read, or no region of it can be recorded.
    """
    from annotune.measure.capture.instrumented import Recorded

    text = settings.text
    loaded, problems, refused = _read(settings, text, *annotated_places(settings, text))
    found = []
    for region in loaded.source.regions:
        try:
            with _refused_in_c(region):
                region = with_index_ranges(_with_likely_sizes(region))
                found.append(Recorded.of(region, analyse(normalised(region))))
        except AnnotuneError as refusal:
            found.append(Recorded.of(region, None, refusal.diagnostics[0].message))
            own = (one for one in refusal.diagnostics if one.code == INTERNAL.code)
            refused = (*refused, *own)
    errors = [one for one in (*problems, *refused) if one.severity == Severity.ERROR]
    if not found or problems:
        raise AnnotuneError(tuple(errors or [NO_REGION.at(Span(str(settings.source), 1, 1))]))
    warnings = list(_as_warnings(refused))
    warnings += (NOT_RECORDED.at(o.region.span, reason=o.why_not) for o in found if o.why_not)
    return loaded.source, tuple(found), _in_order(warnings)


def instrumented(settings: Settings, how: Recording) -> Instrumented:
    """Return a file that records its regions.

    Raises:
        AnnotuneError: As `recorded`.
    """
    from annotune.measure.capture.instrumented import instrumented_text

    source, regions, warnings = recorded(settings)
    text = instrumented_text(source, regions, how, settings.source.name)
    return Instrumented(source, text, warnings)


@dataclass(frozen=True)
class Instrumented:
    """A file, its text that records its regions, and warnings of what is not recorded."""

    source: SourceFile
    text: str
    warnings: tuple[Diagnostic, ...]


def records_of(source: SourceFile, folder: Path) -> tuple[Records, Mapping[Place, RecordedRegion]]:
    """Return what a folder has of a file, and the records of each region by function and index.

    Raises:
        AnnotuneError: There is nothing, or it is not whole, or of another text.
    """
    from annotune.measure.capture import records
    from annotune.measure.capture.instrumented import digest_of_region

    name, text = Path(source.path).name, source.text
    found = records.read_records(folder, name)
    known = {(r.function, r.index): (digest_of_region(r, text), r.span) for r in source.regions}
    return found, records.records_of(found, known, name)


def _with_recorded(
    source: SourceFile, folder: Path, sizes: Mapping[str, Value]
) -> tuple[SourceFile, list[Diagnostic]]:
    """Return a file with what a program has recorded of its regions, and warnings.

    Raises:
        AnnotuneError: As `records_of`, or no call has the sizes that are asked for.
    """
    from annotune.measure.capture.chosen import with_recorded

    _, found = records_of(source, folder)
    regions: list[Region] = []
    problems: list[Diagnostic] = []
    for region in source.regions:
        own = found.get((region.function, region.index))
        region, said = with_recorded(region, own, sizes)
        regions.append(region)
        problems += said
    return replace(source, regions=tuple(regions)), problems


def _with_sizes(
    source: SourceFile, sizes: Mapping[Place, Sequence[Mapping[str, int]]]
) -> SourceFile:
    """Return a file with sizes of its own for some regions."""
    from annotune.measure.capture.chosen import with_sizes

    places = ((region, sizes.get((region.function, region.index))) for region in source.regions)
    regions = (region if own is None else with_sizes(region, own) for region, own in places)
    return replace(source, regions=tuple(regions))


def _with_likely_sizes(region: Region) -> Region:
    """Return a region with a value for each size that has none: some are proven by them alone."""
    from annotune.measure.sizes import open_sizes

    return replace(region, sizes={**dict.fromkeys(open_sizes(region), LIKELY), **region.sizes})


def _completed(
    settings: Settings,
    text: str,
    blocks: Sequence[AnnotationBlock],
    kept: Sequence[DataBlock] = (),
) -> Completed:
    """Return a text with what its regions lack, and its headers do not declare."""
    path = str(settings.source)
    headers = HeaderNames(path, text, settings.search)
    return complete(text, path, blocks, settings.search.defines, kept, headers.__contains__)


def spaces(
    report: CheckReport, settings: Settings
) -> tuple[list[Mapping[str, Listing]], tuple[Diagnostic, ...]]:
    """Return for each region the listings of the targets by their names, and annotune's mistakes.

    A region without a plan has none.

    Raises:
        AnnotuneError: What the user says of the axes leaves no point.
    """
    device = load_device(settings.device)
    found: list[Mapping[str, Listing]] = []
    failed: list[Diagnostic] = []
    for region in report.regions:
        own: dict[str, Listing] = {}
        has_plan = region.base is not None and region.space is not None and region.plan is not None
        try:
            with _refused_in_c(region.region):
                for name in settings.targets if has_plan else ():
                    assert region.base is not None
                    assert region.space is not None
                    made = (load_target(name), region.base, region.space, device, SHOWN)
                    own[name] = listing_of(*made)
        except AnnotuneError as refusal:
            if all(one.code != INTERNAL.code for one in refusal.diagnostics):
                raise
            failed += refusal.diagnostics
        found.append(own)
    return found, tuple(failed)


def recipes(
    report: CheckReport, settings: Settings
) -> tuple[list[Mapping[str, str]], tuple[Diagnostic, ...]]:
    """Return for each region the recipe of each target's first choice, and annotune's mistakes.

    A recipe says every step, and makes the text that `emit` writes. A region without a plan has
    none, and neither has a target that is refused there.
    """
    device = load_device(settings.device)
    found: list[Mapping[str, str]] = []
    failed: list[Diagnostic] = []
    for region in report.regions:
        own: dict[str, str] = {}
        for name in settings.targets if region.has_kernels and not region.is_refused else ():
            target = load_target(name)
            try:
                with _refused_in_c(region.region):
                    variant, _ = _first_choices(region, target, device)
                    own[name] = exact_recipe(name, settings.sharing(variant, target))
            except AnnotuneError as refusal:
                failed += [one for one in refusal.diagnostics if one.code == INTERNAL.code]
        found.append(own)
    return found, tuple(failed)


@_told_of_tensors
def emit(settings: Settings, targets: Sequence[Target]) -> Emission:
    """Return the decision algorithm's first choice for every target, as texts.

    A region that is refused, for one target or all, stays as it is written there.

    Raises:
        AnnotuneError: No region is left; nothing is to be written then.
    """
    found = accepted(settings)
    device = load_device(settings.device)
    chosen = [_chosen(found, target, settings, device) for target in targets]
    if found.regions and not any(one.variants for one in chosen):
        raise AnnotuneError(tuple(dict.fromkeys(d for one in chosen for d in one.refusals)))
    files: dict[str, str] = {}
    builds: dict[str, tuple[BuildCommand, ...]] = {}
    problems = list(found.diagnostics)
    for target, one in zip(targets, chosen, strict=True):
        problems += one.problems
        if found.regions and not one.variants:
            continue
        own = tuple(one.variants.values())
        source = found.source.without(one.left)
        runtime = _files_to_link(settings, target.files(source, one.codes, NO_PROVENANCE))
        builds[target.name] = _builds(settings, device, source, target, own, runtime)
        origin = _provenance(settings, own, builds[target.name])
        files |= _as_asked(settings, target.files(source, one.codes, origin))
    variants = tuple(
        {t.name: c.variants[n] for t, c in zip(targets, chosen, strict=True) if n in c.variants}
        for n in range(len(found.regions))
    )
    diagnostics = tuple(dict.fromkeys(problems))
    made = (found.text, found.source, files, variants, found.regions, diagnostics, builds)
    return Emission(*made, settings.resident)


@dataclass(frozen=True)
class _Chosen:
    """A target's first choices and texts by the regions' numbers, and why others are `left`."""

    variants: Mapping[int, Variant]
    codes: Sequence[RegionCode]
    left: Mapping[int, str]
    problems: Sequence[Diagnostic]
    refusals: Sequence[Diagnostic]


def _chosen(found: CheckReport, target: Target, settings: Settings, device: Device) -> _Chosen:
    """Return a target's texts for the regions of a file."""
    variants: dict[int, Variant] = {}
    codes: list[RegionCode] = []
    left: dict[int, str] = {}
    problems: list[Diagnostic] = []
    refusals: list[Diagnostic] = []
    for number, report in enumerate(found.regions):
        try:
            with _refused_in_c(report.region):
                variant, unsaid = _first_choices(report, target, device)
                variant = settings.sharing(variant, target)
                codes.append(target.region(variant, settings.resident))
        except AnnotuneError as refusal:
            refusals += refusal.diagnostics
            left[number] = refusal.diagnostics[0].message
            where = f"the file of {target.name}"
            problems += _as_warnings(refusal.diagnostics)
            problems.append(REGION_LEFT.at(report.region.span, where=where, reason=left[number]))
            continue
        problems += report.region.text.in_user_words(unsaid)
        variants[number] = variant
    return _Chosen(variants, codes, left, problems, refusals)


def _as_warnings(problems: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    return (replace(one, severity=Severity.WARNING) for one in problems)


def _files_to_link(settings: Settings, files: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of what a program with some files is linked with, as they are written."""
    return () if settings.standalone else linked_sources(files.values())


def _as_asked(settings: Settings, files: Mapping[str, str]) -> Mapping[str, str]:
    """Return the files of a target as they are written."""
    return standalone_files(files) if settings.standalone else files


def _builds(
    settings: Settings,
    device: Device,
    source: SourceFile,
    target: Target,
    variants: Sequence[Variant],
    runtime: Sequence[str],
    is_measured: bool = False,
) -> tuple[BuildCommand, ...]:
    """Return the commands that make a program of a target's files and its `runtime`.

    `variants` are the regions', the one whose flags count first: a file has the same for them all.
    What was measured has been compiled by the C compiler, where that takes the target.
    """
    ways = target.ways
    if is_measured:
        ways = tuple(way for way in ways if way.role == "c") or ways
    regions = [variant.analysis.region for variant in variants]
    given = (flag for r in regions for flag in macros(r.spec, {*r.scalars, *r.arrays}))
    is_quoting = re.search(r'^[ \t]*#[ \t]*include[ \t]*"', source.text, re.MULTILINE)
    told = Told(
        tuple(dict.fromkeys((*settings.defines, *given))),
        str(settings.source.absolute().parent) if is_quoting else "",
        _host_flags(variants),
        (*(variants[0].flags.nvcc if variants else ()), *_of_the_hosts_share(variants)),
        settings.search.include,
    )
    compilers = Compilers(settings.compilers, settings.arch or device.arch)
    files = [*(settings.source.stem + end for end in target.endings), *runtime]
    return commands(ways, files, compilers, told, source.text, settings.project)


def _host_flags(variants: Sequence[Variant]) -> tuple[str, ...]:
    """Return the first variant's flags for the C compiler, and those that change no other region.

    Without square roots a text is the same with `WITHOUT_ERRNO` as without it.
    """
    free = (flag for v in variants for flag in v.flags.host if flag in WITHOUT_ERRNO[1:])
    return tuple(dict.fromkeys((*variants[0].flags.host, *free))) if variants else ()


def _of_the_hosts_share(variants: Iterable[Variant]) -> tuple[str, ...]:
    """Return the flags of nvcc where the host computes a share by OpenMP."""
    return (OF_THE_HOSTS_SHARE,) if any(one.tuned.both for one in variants) else ()


def accepted(settings: Settings) -> CheckReport:
    """Return what `check` finds in a file that may go on, its refused regions left out.

    Raises:
        AnnotuneError: The file is refused as a whole, or each of its regions.
    """
    found = _examined(settings)
    wrong = [_refusals(report) for report in found.regions]
    errors = [d for d in found.diagnostics if d.severity == Severity.ERROR]
    # What calls regions of other files may have none itself.
    is_empty = not wrong and not found.source.residency
    if (wrong and all(wrong)) or is_empty or not found.of_regions.issuperset(errors):
        serial = (d for refused in wrong for d in refused if d.code == NO_PARALLEL_LOOP.code)
        errors += (d for d in serial if d not in errors)
        # Without sizes there are proofs, but no grid, no unrolling and nothing to measure.
        unsized = (d for refused in wrong for d in refused)
        raise AnnotuneError(tuple(errors or unsized))
    reasons = {n: refused[0].message for n, refused in enumerate(wrong) if refused}
    source = found.source.without(reasons)
    said = (replace(d, severity=Severity.WARNING) if d in errors else d for d in found.diagnostics)
    left = (REGION_LEFT.at(one.span, where=EVERY_FILE, reason=one.reason) for one in source.left)
    kept = tuple(r for number, r in enumerate(found.regions) if number not in reasons)
    return CheckReport(found.text, source, kept, _in_order((*said, *left)))


def _refusals(report: RegionReport) -> tuple[Diagnostic, ...]:
    """Return why a region cannot go on, nothing where it can."""
    errors = [d for d in report.diagnostics if d.severity == Severity.ERROR]
    if report.plan is not None and not report.has_kernels:
        errors.append(_serial(report, NO_PARALLEL_LOOP))
    unknown = (d for d in report.diagnostics if d.code == WORK_UNKNOWN.code)
    return tuple(errors or (replace(d, severity=Severity.ERROR) for d in unknown))


@dataclass(frozen=True)
class RunReport:
    """What `run` found, and what makes programs of its files.

    `ready` are the regions of the `source` as they were when the search began, `tuned` what came of
    each.
    """

    results: Results
    diagnostics: tuple[Diagnostic, ...]
    builds: Mapping[str, tuple[BuildCommand, ...]] = field(default_factory=dict)
    source: SourceFile | None = None
    ready: tuple[Ready, ...] = ()
    tuned: tuple[Tuned, ...] = ()


@_told_of_tensors
def run(settings: Settings, request: Request, found: CheckReport | None = None) -> RunReport:
    """Return a file's regions tuned: checked, measured or predicted, the best of each kept.

    `found` is what `accepted` says of the file, None to ask.

    Raises:
        AnnotuneError: The file is refused, the original cannot be compiled, or a disk is full.
    """
    # numpy and the runners are not needed, nor waited for, by the other commands.
    from annotune.measure.toolchain import nvcc_warnings
    from annotune.tuning import run as tuning
    from annotune.tuning.bench import disk_full_is_refused
    from annotune.tuning.store import opened

    found = accepted(settings) if found is None else found
    if not found.regions:
        raise AnnotuneError.of(NO_REGION.at(Span(str(settings.source), 1, 1)))
    targets = [load_target(name) for name in settings.targets]
    building = building_of(settings, found.source, targets, request.environ)
    keeping = opened(request.folder, request.is_fresh)
    with disk_full_is_refused(Path(gettempdir())), keeping as (store, kept_aside):
        ready = ready_regions(found.regions)
        tuned, tools, failed = tuning.run(building, ready, request, store)
    made, builds, left = handed_out(settings, found.source, targets, tuned)
    faulty = nvcc_warnings(building.tools, found.source.path) if ".cu" in made else ()
    left = (*_as_warnings(failed), *left)
    diagnostics = (*found.diagnostics, *kept_aside, *faulty, *_left_out(settings), *left)
    value = tuning.results(
        found.source, building.device, tuned, tools, [d.message for d in diagnostics]
    )
    texts = {settings.source.stem + end: text for end, text in made.items()}
    value = tuning.with_files(replace(value, reading=_reading(settings)), texts, builds)
    return RunReport(value, diagnostics, builds, found.source, tuple(ready), tuned)


def building_of(
    settings: Settings, source: SourceFile, targets: Sequence[Target], environ: Mapping[str, str]
) -> Building:
    """Return what is built of a source that the settings are about, and with what."""
    from annotune.measure.toolchain import find_toolchains
    from annotune.tuning.run import Building

    device, tools = load_device(settings.device), find_toolchains(environ)
    return Building(source, targets, device, tools, settings.flags, settings.arch)


def handed_out(
    settings: Settings,
    source: SourceFile,
    targets: Sequence[Target],
    tuned: Sequence[Tuned],
    commands: Mapping[str, Sequence[str]] | None = None,
) -> tuple[dict[str, str], dict[str, tuple[BuildCommand, ...]], tuple[Diagnostic, ...]]:
    """Return the files of tuned regions by suffix, what makes programs of them, and warnings.

    The files name `commands`, by target, None for those that are returned.
    """
    from annotune.tuning import run as tuning

    device = load_device(settings.device)
    drafts = tuning.files(source, tuned, targets, {t.name: NO_PROVENANCE for t in targets})
    runtimes = {
        t.name: _files_to_link(settings, {end: drafts[end] for end in t.endings if end in drafts})
        for t in targets
    }
    each = {
        t.name: _run_builds(settings, device, source, t, tuned, runtimes[t.name]) for t in targets
    }
    builds = {name: own for name, own in each.items() if own}
    if commands is None:
        commands = {name: [one.text() for one in own] for name, own in builds.items()}
    commands = {
        name: [with_runtime(one, runtimes.get(name, ())) for one in own]
        for name, own in commands.items()
    }
    origins = {n: _run_provenance(settings, tuned, n, commands.get(n, ())) for n in each}
    made = _as_asked(settings, tuning.files(source, tuned, targets, origins))
    return dict(made), builds, tuple(_left(source.regions, tuned, targets))


def _reading(settings: Settings) -> Reading:
    """Return the options by which the source of a run was read."""
    from annotune.tuning.results import Reading

    own = settings.source.absolute().parent
    seen = Project.of(settings.folders, own).seen_from_home
    files = (settings.sidecar, settings.specification)
    annotation, spec = ("" if one is None else seen(str(one.absolute())) for one in files)
    made = settings.translated
    return Reading(
        settings.function,
        {n: v for n, v in settings.sizes.items() if not isinstance(v, tuple)},
        settings.search.defines,
        tuple(map(seen, settings.search.include)),
        annotation,
        spec,
        "" if made is None or made.is_usual else made.formulation.name,
        standalone=settings.standalone,
    )


def forecast(
    found: CheckReport, targets: Sequence[Target], devices: Sequence[str], by_steps: bool = False
) -> tuple[tuple[RegionResult, ...], ...]:
    """Return what the model says of first choices on each device; nothing is run.

    `found` is a file that is `accepted`. With `by_steps` it speaks of them with one kind of their
    steps after the other.

    Raises:
        AnnotuneError: There is no such device.
    """
    from annotune.tuning import region_run

    out: list[tuple[RegionResult, ...]] = []
    for device in map(load_device, devices):
        if by_steps:
            ready = ready_regions(found.regions)
            each = (region_run.forecast_by_steps(r.base, r.space, targets, device) for r in ready)
        else:
            each = (_forecast(report, targets, device) for report in found.regions)
        out.append(tuple(each))
    return tuple(out)


def _forecast(report: RegionReport, targets: Sequence[Target], device: Device) -> RegionResult:
    from annotune.tuning import region_run

    assert report.analysis is not None
    variants: dict[str, Variant] = {}
    for target in targets:
        with suppress(AnnotuneError):  # it has no row then
            variants[target.name] = _first_choices(report, target, device)[0]
    return region_run.forecast(report.analysis, variants, device)


def grids(
    found: CheckReport, settings: Settings, targets: Sequence[Target]
) -> Mapping[str, tuple[str, str]]:
    """Return the grids of first choices by target: blocks and threads, or OpenACC's clauses.

    `found` is the file of the settings, which is `accepted`.

    Raises:
        AnnotuneError: There is no such device.
    """
    from annotune.measure.grids import asked_grids, grids_text, launched_text

    device = load_device(settings.device)
    said: dict[str, list[tuple[str, str]]] = {}
    for report, target in product(found.regions, targets):
        with suppress(AnnotuneError):
            variant = _first_choices(report, target, device)[0]
            code = target.region(variant, settings.resident)
            # What is for other sizes comes after.
            asked = asked_grids(code.body)[: len(tuple(variant.tuned.kernels()))]
            text = launched_text(code.device) if code.device else (grids_text(asked), "")
            said.setdefault(target.name, []).append(text)
    return {
        name: ("; ".join(t[0] for t in each), "; ".join(t[1] for t in each).strip("; "))
        for name, each in said.items()
    }


def functions(settings: Settings) -> tuple[str, ...]:
    """Return the functions of a file that have an annotated region.

    Raises:
        AnnotuneError: The file cannot be read, or is no C text.
    """
    text = settings.text
    blocks, _, _ = annotated_places(settings, text)
    made = _completed(settings, text, blocks)
    loaded = load_sound(str(settings.source), made.text, made.blocks, {}, search=settings.search)
    if loaded.problems and not loaded.functions:
        raise AnnotuneError(tuple(loaded.problems))
    return loaded.functions


def _left(
    regions: Sequence[Region], tuned: Sequence[Tuned], targets: Sequence[Target]
) -> Iterator[Diagnostic]:
    """Yield a warning for each region that stays as it is in a file with others that do not."""
    written = [t.name for t in targets if any(t.name in one.codes for one in tuned)]
    for region, one in zip(regions, tuned, strict=True):
        reasons: dict[str, list[str]] = {}
        for name in written:
            if why := one.why_left(name):
                reasons.setdefault(why, []).append(name)
        for why, names in reasons.items():
            where = EVERY_FILE if names == written else f"the file of {', '.join(names)}"
            yield REGION_LEFT.at(region.span, where=where, reason=why)


def _left_out(settings: Settings) -> tuple[Diagnostic, ...]:
    """Return what a run does not do of what it is asked for."""
    return (HOST_DATA.at(Span(str(settings.source), 1, 1)),) if settings.resident else ()


def _run_builds(
    settings: Settings,
    device: Device,
    source: SourceFile,
    target: Target,
    tuned: Sequence[Tuned],
    runtime: Sequence[str],
) -> tuple[BuildCommand, ...]:
    """Return the commands for a target's files, with the flags of the region that takes longest."""
    found: list[tuple[float, Variant]] = []
    is_measured = False
    for one in tuned:
        if target.name in one.variants:
            row = next(row for row in one.result.rows if row.name == target.name)
            is_measured |= row.status == "measured"
            found.append((row.time_s or 0.0, one.variants[target.name]))
    if not found:
        return ()
    longest_first = [variant for _, variant in sorted(found, key=lambda pair: -pair[0])]
    return _builds(settings, device, source, target, longest_first, runtime, is_measured)


def ready_regions(reports: Iterable[RegionReport]) -> list[Ready]:
    """Return the regions to tune, each with its other problem sizes."""
    from annotune.tuning.run import Ready

    ready: list[Ready] = []
    for report in reports:
        sizes = [Ready(r.base, r.space) for r in report.by_size if r.base and r.space]
        ready += [replace(one, others=tuple(others)) for one, *others in [sizes] if sizes]
    return ready


def annotated_places(
    settings: Settings, text: str
) -> tuple[list[AnnotationBlock], tuple[DataBlock, ...], list[Diagnostic]]:
    """Return the annotated places of a file: its comments', and a sidecar's; and blocks of Data."""
    path = str(settings.source)
    found = scan_annotations(text, path, settings.sizes, settings.specification)
    blocks, problems = list(found.blocks), list(found.diagnostics)
    for sidecar in _sidecars(settings):
        from annotune.annotation.sidecar import load_sidecar
        from annotune.frontend.loop_places import locate_loop

        file: File | None = None
        for entry in load_sidecar(sidecar, settings.sizes):
            if Path(entry.file).name != settings.source.name:
                if settings.sidecar is not None:
                    name = settings.source.name
                    problems.append(OTHER_FILE.at(entry.span, named=entry.file, file=name))
                continue
            file = file or ladder_of(path, text, settings.search).first.file
            start, end = locate_loop(file, entry.function, entry.loop, entry.occurrence)
            twice = next((b for b in blocks if b.start < end and start < b.end), None)
            if twice is not None:
                problems.append(ANNOTATED_TWICE.at(entry.span, other=twice.span))
                continue
            blocks.append(AnnotationBlock(start, end, start, end, entry.spec, entry.span))
    # Of arrays that are on the device anyhow nothing is to be kept there.
    kept = () if settings.resident else found.kept
    return sorted(blocks, key=lambda b: b.start), kept, problems


def _sidecars(settings: Settings) -> list[Path]:
    if settings.sidecar is not None:
        return [settings.sidecar]
    name = f"{settings.source.stem}.yaml"
    places = [settings.source.parent / "annotations" / name, Path("annotations") / name]
    return [next(p for p in places if p.is_file())] if any(p.is_file() for p in places) else []


def _own_directives(text: str, path: str, blocks: Sequence[AnnotationBlock]) -> list[Diagnostic]:
    """Return a warning for each directive of OpenMP or OpenACC in the C of a region."""
    if not _DIRECTIVE.search(text):
        return []
    source, found = SourceText(path, text), []
    with gathered([]):
        for one in _DIRECTIVE.finditer(without_comments(source)):
            start, end = one.span("line")
            if any(b.body_start <= start < b.body_end for b in blocks):
                directive = " ".join(one["line"].split())
                found.append(OWN_DIRECTIVE.at(source.span(start, end), directive=directive))
    return found


def _load(
    settings: Settings, made: Completed, ladder: Ladder | None = None
) -> tuple[Loaded, list[Diagnostic]]:
    """Return the regions that parse, and what is wrong with the others."""
    path = str(settings.source)
    # True and False are no integers of C's.
    integers = {name: v for name, v in settings.sizes.items() if type(v) is int}
    loaded = load_sound(
        path,
        made.text,
        made.blocks,
        integers,
        function=settings.function,
        search=settings.search,
        kept=made.kept,
        ladder=ladder,
    )
    problems = list(loaded.problems)
    if settings.function and settings.function not in loaded.functions and made.blocks:
        listed = ", ".join(loaded.functions) or "none"
        where = Span(path, 1, 1)
        name, hint = settings.function, nearest(settings.function, loaded.functions)
        problems.append(NO_SUCH_FUNCTION.at(where, name=name, known=listed, hint=hint))
    return loaded, problems


def _examine(region: Region, settings: Settings, device: Device) -> RegionReport:
    """Return the analysis and first plan of one region, as far as they go."""
    analysis = base = space = point = decision = plan = openacc = None
    problems: list[Diagnostic] = []
    try:
        with internal_errors_at(region.span):
            problems += region.spec.notes
            refuse_wrong_sizes(region, settings.sizes)
            analysis = analyse(normalised(region))
            problems += analysis.warnings
            problems += refused_wishes(analysis)
            base = Base.of(analysis, settings.strategy)
            space = region_space(base).on(device)
            sums = () if settings.resident else sums_on_host(analysis, device)
            point, decision, made = _first_plan(base, space, sums)
            problems += unused_hints(analysis, base.nests(point.fusion, decision.asked))
            if isinstance(made, Diagnostic):
                problems.append(made)
            else:
                plan = made
            if ACC_SHAPED & {*settings.targets}:
                openacc = decide_acc(base, acc_space(space).first)
            asked = targets_said(region.spec.commands)
            if decision.asked.mapped("acc"):
                asked = dict.fromkeys((*asked, "openacc"))
            for name in asked:
                first_variant(load_target(name), base, space, device)
    except AnnotuneError as refusal:
        problems += refusal.diagnostics
    told = tuple(region.text.in_user_words(problems))
    made_of = (region, analysis, base, space, point, decision, plan, told, openacc)
    report = RegionReport(*made_of, device)
    if plan is not None and not report.has_kernels:
        warning = _serial(report, NO_PARALLEL_LOOP_WARNING)
        return replace(report, diagnostics=(*told, warning))
    return report


def _first_plan(
    base: Base, space: Space, sums: HostSums
) -> tuple[Point, Decision, Plan | Diagnostic]:
    """Return the first point that there is a plan of, or the first one and why there is none.

    The rules have the host add `sums`. Where a transform refuses what nobody asked for, what comes
    next will do.
    """
    analysis, spec = base.analysis, base.analysis.region.spec
    tried: list[tuple[Point, Decision, Plan | Diagnostic]] = []
    # To list the others takes a while.
    for point in chain((space.first,), islice(space.points(), 1, MOST_REFUSED)):
        decision = adding_on_host(decide(base, point), sums)
        sizes, places = analysis.region.sizes, decision.places
        is_whole = has_general(analysis)
        made = build(analysis, decision.choices, decision.groups, sizes, places, is_whole)
        tried.append((point, decision, made))
        if isinstance(made, Plan):
            return tried[-1]
        if spec.commands or spec.wishes:
            break
    return tried[0]


def _serial(report: RegionReport, template: Template) -> Diagnostic:
    """Return what is said of a region without a parallel loop, of each loop at its own place."""
    assert report.analysis is not None
    loops = report.analysis.loops
    if not loops:
        return template.at(report.region.span, reason="there is none")
    found = template.at(loops[0].loop.span, reason=loops[0].proof)
    for inner in loops[1:]:
        found = found.with_note(SERIAL_INSIDE.at(inner.loop.span, reason=inner.proof))
    return found


def _at_every_size(region: Region, examine: Callable[[Region], RegionReport]) -> RegionReport:
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


def _first_choices(
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


def _run_provenance(
    settings: Settings, tuned: Sequence[Tuned], target: str, commands: Sequence[str]
) -> Provenance:
    """Return what the files of a target say of the run that chose them."""
    rows: list[str] = []
    for one in tuned:
        variant = one.variants.get(target)
        if variant is None:
            rows.append(f"{one.result.function}, region {one.result.index}: as written")
            continue
        served = [dict(v.analysis.region.sizes) for v in variant.by_size]
        for result in one.result.at_each_size:
            if dict(result.sizes) in served or not one.result.by_size:
                rows += _result_rows(result, target)
        rows += _others_rows(variant)
    return Provenance(__version__, settings.origin, (*rows, *header_lines(commands)))


def _result_rows(result: RegionResult, target: str) -> Iterator[str]:
    """Yield what a run found for one target at one problem size."""
    # What reads results needs more than the other commands do.
    from annotune.report.verdicts import ascii_text, beside_text, with_original

    place = result.function, result.index, result.sizes
    row = next((row for row in result.rows if row.name == target and row.verified), None)
    if row is None:
        yield _tuned_for(*place)
        return
    said = [_flags_said(row.config)]
    if row.time_s is not None:
        where = "measured on" if row.status == "measured" else "predicted for"
        said.append(f"{row.time_s * 1e6:.4g} us {where} {row.device}")
    beside = with_original(row)
    if beside is not None:
        said.append(f"{ascii_text(beside_text(beside))}, measured on {row.device}")
    yield _tuned_for(*place, *said)
    if row.reason:
        yield f"  {row.reason}"


def _provenance(
    settings: Settings, variants: Sequence[Variant], builds: Sequence[BuildCommand]
) -> Provenance:
    """Return what the files of a target say of their origin, one variant per region."""
    rows: list[str] = []
    for variant in variants:
        for one in variant.by_size:
            region, said = one.analysis.region, [_flags_said(one.config)]
            if one.predicted_s is not None:
                time_us = f"{one.predicted_s * 1e6:.4g} us"
                said.append(f"{time_us} predicted for {settings.device}")
            rows.append(_tuned_for(region.function, region.index, region.sizes, *said))
        rows += _others_rows(variant)
    return Provenance(
        __version__, settings.origin, (*rows, *header_lines([one.text() for one in builds]))
    )


def _others_rows(variant: Variant) -> list[str]:
    """Return what runs at other sizes than several tuned ones: some of them alike, or none."""
    if not variant.others:
        return []
    region = variant.analysis.region
    place = f"{region.function}, region {region.index}"
    wider = variant.size_cases[len(variant.by_size) :]
    rows = [f"{place}: the same for {served(one.analysis, one.tuned)}" for one in wider]
    runs = "the nest as written" if variant.general is None else "the first one's general kernels"
    return [*rows, f"{place}: for all other sizes {runs}"]


def _tuned_for(function: str, index: int, sizes: Mapping[str, int], *said: str) -> str:
    """Return for which sizes a region is tuned, and what is known of it there."""
    listed = ", ".join(f"{k}={v}" for k, v in sizes.items())
    tuned = f"{function}, region {index}: tuned for {listed}, valid for all sizes"
    valid = tuned if listed else f"{function}, region {index}: valid for all sizes"
    return "; ".join([valid, *filter(None, said)])


def _flags_said(config: Mapping[str, str | int | float]) -> str:
    """Return which flags of the compiler a variant was measured with, empty for the usual ones."""
    return f"{FLAGS} {config[FLAGS]}" if FLAGS in config else ""
