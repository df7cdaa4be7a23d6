"""The tuned files of an earlier run, made again of its results: nothing is tuned or measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from annotune import __version__, pipeline
from annotune.annotation.flags import flags_of
from annotune.annotation.grammar import Origin
from annotune.codegen.recipes import variant_of
from annotune.codegen.several_sizes import sizes_text
from annotune.codegen.target import Target, load_target
from annotune.diagnostics import AnnotuneError, Span, Template
from annotune.frontend.read.preprocess import HeaderSearch
from annotune.frozen import dataclass
from annotune.pipeline import Settings
from annotune.report.findings import CheckReport, Emission, RegionReport
from annotune.report.results_json import RESULTS_FILE, read_results
from annotune.space.openmp import FLAGS
from annotune.space.variants import Variant
from annotune.tensor.translate import USUAL
from annotune.tuning.digest import digest, own_sizes
from annotune.tuning.region_run import Tuned
from annotune.tuning.results import FORMULATION, RegionResult, Results

OTHER_VERSION = Template(
    "AT676",
    "these results are of annotune {found}; this is annotune {own}, whose code may be another",
    "install annotune {found}, or tune again: annotune run {source}",
)
OTHER_SOURCE = Template(
    "AT671",
    "these results are of '{named}', not of '{source}'",
    "name the results.json that `annotune run {source}` wrote",
)
CHANGED = Template(
    "AT672",
    "{function}, region {index}, is not what these results are of: {difference}",
    "tune again: annotune run {source}; without results `annotune emit` writes first choices",
)
NO_RESULT = Template(
    "AT673",
    "these results have nothing of {function}, region {index}",
    "tune again: annotune run {source}; without results `annotune emit` writes first choices",
)
GONE = Template(
    "AT674",
    "these results are of {function}, region {index}, too, and the source has none to tune there",
    "tune again: annotune run {source}",
)
NO_TEXT = Template(
    "AT675",
    "these results have no text for {target}: {reason}",
    "{hint}",
)
NOT_ASKED = "the run was not asked for it"
OTHER_TEXT = "its text, or what it uses of the file, has changed since then"
NO_DIGEST = "they do not say what it was"


@dataclass(frozen=True)
class Earlier:
    """The results of an earlier run, from the file `path`.

    `targets` are those to write, None for all that have a text.
    """

    results: Results
    path: Path
    targets: tuple[str, ...] | None = None

    @classmethod
    def read(cls, path: Path, targets: tuple[str, ...] | None = None) -> Earlier:
        """Return the results in a file, or in the folder of a run.

        Raises:
            AnnotuneError: There are none, or they cannot be read.
        """
        path = path / RESULTS_FILE if path.is_dir() else path
        return cls(read_results(path), path, targets)

    @property
    def has_formulations(self) -> bool:
        """Return whether the source is to be translated in all its formulations."""
        found = any(one.formulations for one in self.results.regions)
        return found or bool(self.results.reading.formulation)

    def read_as(self, settings: Settings) -> Settings:
        """Return settings with the options by which the run read its source; their own win."""
        was = self.results.reading
        folder, own = settings.source.absolute().parent, settings.search
        include = (*own.include, *(str(folder / name) for name in was.include))
        search = HeaderSearch(include, {**was.defines, **own.defines}, own.compiler)
        made = settings.translated
        if made is not None and made.is_usual and was.formulation:
            every = {one.formulation.name: one for one in made.every}
            made = every.get(was.formulation, made)
        recorded = (one for one in self.results.regions if one.recorded is not None)
        return replace(
            settings,
            sizes_of={
                (one.function, one.index): tuple(size.sizes for size in one.at_each_size)
                for one in recorded
            },
            function=settings.function or was.function,
            sizes={**was.sizes, **settings.sizes},
            search=search,
            sidecar=settings.sidecar or (folder / was.annotation if was.annotation else None),
            specification=settings.specification or (folder / was.spec if was.spec else None),
            translated=made,
            standalone=settings.standalone or was.standalone,
        )

    def emission(self, settings: Settings) -> Emission:
        """Return the files that the run handed out, of a source that is `read_as` by it.

        Raises:
            AnnotuneError: The results are of another version, another source, or this one as it
                was, or have no text for a target.
        """
        emission: Emission | None = None
        for made in self.remade(settings):
            if emission is None:
                found, count = made.found, len(made.tuned)
                emission = Emission(found.text, found.source, {}, ({},) * count, found.regions, ())
            emission = _with_files(emission, made, self.results)
        assert emission is not None, "some target has a text"
        return emission

    def remade(self, settings: Settings) -> Iterator[Remade]:
        """Yield the texts that the run found for each formulation of a source, the usual first.

        Raises:
            AnnotuneError: As `emission`.
        """
        results, place = self.results, Span(str(self.path), 1, 1)
        _refuse_others(settings, results, place)
        found = pipeline.accepted(settings)
        regions = _matched(found, settings, results, place)
        targets = [load_target(name) for name in _targets(regions, self.targets, place)]
        for own, group in _by_formulation(settings, regions, targets):
            accepted = found if own is settings else pipeline.accepted(own)
            tuned = tuple(
                _tuned(report, result, group, own, place)
                for report, result in zip(accepted.regions, regions, strict=True)
            )
            yield Remade(own, accepted, group, tuned)


@dataclass(frozen=True)
class Remade:
    """A source, read as `settings` say, with the texts of an earlier run for some targets."""

    settings: Settings
    found: CheckReport
    targets: Sequence[Target]
    tuned: tuple[Tuned, ...]


def _refuse_others(settings: Settings, results: Results, place: Span) -> None:
    """Raise unless results are of this version and of a source of this name."""
    source = settings.source.name
    if results.source != source:
        raise AnnotuneError.of(OTHER_SOURCE.at(place, named=results.source, source=source))
    if results.version != __version__:
        values = {"found": results.version, "own": __version__, "source": source}
        raise AnnotuneError.of(OTHER_VERSION.at(place, **values))


def _matched(
    found: CheckReport, settings: Settings, results: Results, place: Span
) -> tuple[RegionResult, ...]:
    """Return what the results have of each region.

    Raises:
        AnnotuneError: They are of other regions, or of these as they were.
    """
    known = {(one.function, one.index): one for one in results.regions}
    source = settings.source.name
    problems = []
    regions: list[RegionResult] = []
    for region in (report.region for report in found.regions):
        said = {"function": region.function, "index": region.index, "source": source}
        result = known.pop((region.function, region.index), None)
        if result is None:
            problems.append(NO_RESULT.at(region.span, **said))
            continue
        regions.append(result)
        if digest(region) != result.digest:
            difference = OTHER_TEXT if result.digest else NO_DIGEST
            was, now = own_sizes(region, result.sizes), own_sizes(region, region.sizes)
            if result.digest and was != now:
                before, here = sizes_text(was) or "any size", sizes_text(now) or "none"
                difference = f"they are for {before}, and here is {here}"
            problems.append(CHANGED.at(region.span, difference=difference, **said))
    for function, index in known:
        problems.append(GONE.at(place, function=function, index=index, source=source))
    if problems:
        # A region that is refused now has its reason among the warnings.
        raise AnnotuneError((*found.diagnostics, *problems))
    return tuple(regions)


def _targets(
    regions: Sequence[RegionResult], names: Sequence[str] | None, place: Span
) -> tuple[str, ...]:
    """Return the targets to write.

    Raises:
        AnnotuneError: One that is asked for has no text in any region, or none has.
    """
    written = tuple(dict.fromkeys(name for one in regions for name in one.recipes))
    known = f"those with a text are {', '.join(written)}" if written else "no target has one"
    for name in names or (() if written else ("any target",)):
        if name not in written:
            rows = (row for one in regions for row in one.rows if row.name == name)
            reason = next((row.reason for row in rows if row.reason), "") or NOT_ASKED
            reason = reason if names else "the original won in every region"
            raise AnnotuneError.of(NO_TEXT.at(place, target=name, reason=reason, hint=known))
    return tuple(names or written)


def _by_formulation(
    settings: Settings, regions: Sequence[RegionResult], targets: Sequence[Target]
) -> Iterable[tuple[Settings, Sequence[Target]]]:
    """Return the settings for each formulation of a tensor file, with the targets made of it."""
    made = settings.translated
    listed = [one for region in regions for one in region.formulations]
    chosen = {target: one.name for one in listed for target in one.chosen}
    if made is None or not listed:
        return [(settings, targets)]
    groups: dict[str, list[Target]] = {}
    for target in targets:
        groups.setdefault(chosen.get(target.name, USUAL), []).append(target)
    own = {one.formulation.name: one for one in made.every}
    return [
        (settings if name == USUAL else replace(settings, translated=own[name]), group)
        for name, group in groups.items()
    ]


def _with_files(emission: Emission, made: Remade, results: Results) -> Emission:
    """Return what is emitted with the files of some targets."""
    found, tuned = made.found, made.tuned
    own = (made.settings, found.source, made.targets, tuned)
    files, builds, left = pipeline.handed_out(*own, results.commands)
    variants = zip(emission.variants, tuned, strict=True)
    return replace(
        emission,
        files={**emission.files, **files},
        variants=tuple({**before, **one.variants} for before, one in variants),
        diagnostics=tuple(dict.fromkeys((*emission.diagnostics, *found.diagnostics, *left))),
        builds={**emission.builds, **builds},
    )


def _tuned(
    report: RegionReport,
    result: RegionResult,
    targets: Iterable[Target],
    settings: Settings,
    place: Span,
) -> Tuned:
    """Return a region with the texts that its results make again."""
    region, result = report.region, _without_formulation(result)
    variants, codes = {}, {}
    for target in targets:
        recipe = result.recipes.get(target.name)
        if recipe is None:
            continue
        origin = Origin(str(place.file), recipe, whole=place)
        at_sizes = [
            (one.analysis, _config(result, target.name, one))
            for one in report.by_size
            if one.analysis is not None
        ]
        variant = variant_of(target, recipe, origin, at_sizes)
        if variant is None:
            said = {"function": region.function, "index": region.index}
            source, difference = settings.source.name, f"its sizes for {target.name} are others"
            problem = CHANGED.at(region.span, difference=difference, source=source, **said)
            raise AnnotuneError.of(problem)
        variant = settings.sharing(_with_flags(variant, at_sizes[0][1]), target)
        variants[target.name] = variant
        codes[target.name] = target.region(variant, settings.resident)
    return Tuned(result, codes, variants=variants)


def _with_flags(variant: Variant, config: Mapping[str, str | int]) -> Variant:
    """Return a variant with the compiler's flags of its measurement, of which no recipe tells."""
    measured = config.get(FLAGS)
    return variant if measured is None else replace(variant, flags=flags_of(f"cc {measured}"))


def _config(result: RegionResult, target: str, report: RegionReport) -> Mapping[str, str | int]:
    """Return the parameters of a target's winner at the sizes of a report."""
    sizes = dict(report.region.sizes)
    own = (one for one in result.at_each_size if dict(one.sizes) == sizes)
    rows = (row for one in own for row in one.rows if row.name == target)
    config = next((row.config for row in rows), {})
    return {name: value for name, value in config.items() if not isinstance(value, float)}


def _without_formulation(result: RegionResult) -> RegionResult:
    """Return a result whose rows have the parameters of their own program's space alone."""

    def bare(one: RegionResult) -> RegionResult:
        rows = (
            replace(row, config={n: v for n, v in row.config.items() if n != FORMULATION})
            for row in one.rows
        )
        return replace(one, rows=tuple(rows))

    return replace(bare(result), by_size=tuple(map(bare, result.by_size)))
