"""The checks of an earlier run that ran out of time, finished; nothing is tuned or timed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import gettempdir

from annotune import pipeline
from annotune.codegen.target import Target
from annotune.diagnostics import AnnotuneError, Span, Template
from annotune.frozen import dataclass
from annotune.measure.parts.pace import original_pace
from annotune.measure.plan import SEED
from annotune.pipeline import Settings
from annotune.rebuild import Earlier, Remade
from annotune.report.results_json import RESULTS_FILE
from annotune.tuning.bench import Bench, Request, disk_full_is_refused
from annotune.tuning.proving import (
    LATER_WORDS,
    NO_TIME_TO_PROVE,
    NOT_PROVED,
    UNEXECUTED,
    Proved,
    no_time_words,
    unfinished_words,
)
from annotune.tuning.region_run import Tuned
from annotune.tuning.results import RegionResult, Results, Row
from annotune.tuning.run import Ready, Tuning, prove_text, tuning
from annotune.tuning.store import opened

# One run of the original may take a day: nobody waits for it.
ORIGINAL_LIMIT_S = 86_400.0
# On other values than the usual ones an original that takes longer is run in part.
SAMPLED_FROM_S = 5.0

NO_SOURCE = Template(
    "AT684",
    "these results are of '{named}', which is not at '{path}'",
    "name it: annotune verify {folder} --source FILE.c",
)


@dataclass(frozen=True)
class Verified:
    """Results of which nothing is left to be checked that a check was there for.

    `files` are those that change, by name, and `gone` the names of those that are wrong. `said` has
    a line for each text that was checked.
    """

    results: Results
    files: Mapping[str, str]
    gone: tuple[str, ...]
    said: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        """Return whether no text was found wrong."""
        return not self.gone and all(FOUND_WRONG not in line for line in self.said)


FOUND_WRONG = "is wrong"


def source_of(results: Results, folder: Path) -> Path:
    """Return the source of the results in a folder.

    Raises:
        AnnotuneError: They do not say where it is, or it is there no more.
    """
    path = folder / (results.reading.place or results.source)
    if results.reading.place and path.is_file():
        return path
    place = Span(str(folder / RESULTS_FILE), 1, 1)
    values = {"named": results.source, "path": path, "folder": folder}
    raise AnnotuneError.of(NO_SOURCE.at(place, **values))


def verified(earlier: Earlier, settings: Settings, request: Request) -> Verified:
    """Return the results of a run with its checks finished, of a source that is `read_as` by it.

    What the store of the folder knows is not checked again.

    Raises:
        AnnotuneError: The results are not of this source as it is, or a disk is full.
    """
    config = replace(request.config, original_s=ORIGINAL_LIMIT_S)
    request = replace(request, config=config)
    results, files, said = earlier.results, dict[str, str](), list[str]()
    for made in earlier.remade(settings):
        with _session(made, request) as own:
            tuned = [
                _finished(own, number, ready, one, made.targets, results, said)
                for number, (ready, one) in enumerate(
                    zip(pipeline.ready_regions(made.found.regions), made.tuned, strict=True)
                )
            ]
        texts, _, _ = pipeline.handed_out(
            made.settings, made.found.source, made.targets, tuned, results.commands
        )
        files |= {settings.source.stem + end: text for end, text in texts.items()}
        results = _with_regions(results, made.targets, tuned)
    own_files = [n for n in results.files if Path(n).suffix in (".c", ".cu")]
    gone = tuple(name for name in own_files if name not in files)
    kept = tuple(name for name in results.files if name not in gone)
    results = replace(results, files=kept, warnings=tuple(_warnings(results)), texts=files)
    return Verified(results, files, gone, tuple(said))


@contextmanager
def _session(made: Remade, request: Request) -> Iterator[Tuning]:
    """Give what the regions of a source have in common, with the store of the folder."""
    source, environ = made.found.source, request.environ
    building = pipeline.building_of(made.settings, source, made.targets, environ)
    with (
        disk_full_is_refused(Path(gettempdir())),
        opened(request.folder, request.is_fresh) as (store, _),
        tuning(building, request, store) as own,
    ):
        yield own


def _finished(
    own: Tuning,
    number: int,
    ready: Ready,
    tuned: Tuned,
    targets: Sequence[Target],
    results: Results,
    said: list[str],
) -> Tuned:
    """Return a region with its texts checked; what is wrong has no text any more."""
    region = tuned.result
    left = [t for t in targets if t.name in tuned.variants and _is_unfinished(region, t.name)]
    if not left:
        return tuned
    benches = [
        _patient(own.bench(one, own.scratch / f"{number}-{place}", float("inf")))
        for place, one in enumerate(ready.by_size)
    ]
    for target in left:
        if own.session.stop.is_set:
            break
        benches[0].begin(f"checking {target.name}", 1)
        others = (*(bench.sizes[0] for bench in benches), *benches[0].others)
        found, _ = prove_text(benches, target, tuned.variants[target.name], others)
        tuned = _with_proof(tuned, target.name, found)
        place = f"{region.function}, region {region.index}: {target.name}"
        said.append(f"{place} {_words_of(found)}")
    return tuned


def _patient(bench: Bench) -> Bench:
    """Return a bench for which the whole original is run, as long as that takes."""
    oracle, sizes = bench.checker.oracle, bench.sizes[0]
    pace = original_pace(oracle, sizes, SEED, bench.left_s)
    oracle.pace = None if pace is None else replace(pace, sample_s=SAMPLED_FROM_S)
    return replace(bench, original_s=oracle.expected_s(sizes))


def _is_unfinished(region: RegionResult, target: str) -> bool:
    return any(_left_of(one, target) for one in region.at_each_size)


def _left_of(one: RegionResult, target: str) -> str:
    """Return what there was no time to prove of a target's winner at one size, empty for nothing.

    Its trial has it; the reason of its row may tell something else.
    """
    configs = [dict(row.config) for row in one.rows if row.name == target]
    own = (t for t in one.trials if t.target == target and dict(t.config) in configs)
    return next((str(t.facts[NOT_PROVED]) for t in own if NOT_PROVED in t.facts), "")


def _words_of(found: Proved) -> str:
    """Return in words what came of the checks of a text."""
    if found.wrong is not None:
        return f"{FOUND_WRONG}: {found.wrong.status}: {found.wrong.reason.splitlines()[0]}"
    if found.unfinished:
        return f"is right as far as it was checked; {no_time_words(', '.join(found.unfinished))}"
    return "is right in all checks"


def _with_proof(tuned: Tuned, target: str, found: Proved) -> Tuned:
    """Return a region with what came of the checks of a target's text in its rows and trials."""
    wrong = found.wrong
    reason = no_time_words(", ".join(found.unfinished)) if found.unfinished else ""
    reason = reason if wrong is None else f"{wrong.status}: {wrong.reason.splitlines()[0]}"

    # What nothing had run is run where all checks were made.
    old = (NOT_PROVED,) if found.unfinished else (NOT_PROVED, UNEXECUTED)

    def judged(row: Row) -> Row:
        if row.name != target:
            return row
        is_kept = wrong is None and not row.reason.startswith(NO_TIME_TO_PROVE)
        is_right = wrong is None and (row.verified or not found.unfinished)
        return replace(row, verified=is_right, reason=row.reason if is_kept else reason)

    def of_size(one: RegionResult) -> RegionResult:
        configs = [dict(row.config) for row in one.rows if row.name == target]
        trials = []
        for trial in one.trials:
            if trial.target == target and dict(trial.config) in configs:
                facts = {n: v for n, v in trial.facts.items() if n not in old}
                trial = replace(trial, facts={**facts, **found.facts}, verified=wrong is None)
            trials.append(trial)
        return replace(one, rows=tuple(map(judged, one.rows)), trials=tuple(trials))

    by_size = tuple(map(of_size, tuned.result.by_size))
    tuned = replace(tuned, result=replace(of_size(tuned.result), by_size=by_size))
    if wrong is None:
        return replace(tuned, warnings=(*tuned.warnings, *unfinished_words(target, found)))
    codes = {name: code for name, code in tuned.codes.items() if name != target}
    variants = {name: one for name, one in tuned.variants.items() if name != target}
    return replace(tuned, codes=codes, variants=variants, notes={**tuned.notes, target: reason})


def _with_regions(results: Results, targets: Sequence[Target], tuned: Sequence[Tuned]) -> Results:
    """Return results with the rows and recipes of some targets as they are now."""
    names = {target.name for target in targets}

    def merged(one: RegionResult, now: RegionResult) -> RegionResult:
        rows = {row.name: row for row in now.rows if row.name in names}
        trials = {n: t for n, t in enumerate(now.trials) if t.target in names}
        return replace(
            one,
            rows=tuple(
                replace(row, verified=own.verified, reason=own.reason)
                if (own := rows.get(row.name)) is not None
                else row
                for row in one.rows
            ),
            trials=tuple(trials.get(n, trial) for n, trial in enumerate(one.trials)),
            by_size=tuple(map(merged, one.by_size, now.by_size)),
        )

    regions = []
    for one, own in zip(results.regions, tuned, strict=True):
        kept = {n: r for n, r in one.recipes.items() if n not in names or n in own.variants}
        regions.append(replace(merged(one, own.result), recipes=kept))
    warnings = (*results.warnings, *(words for one in tuned for words in one.warnings))
    return replace(results, regions=tuple(regions), warnings=warnings)


def _warnings(results: Results) -> Iterator[str]:
    """Yield the warnings of results that hold still: each of a check left undone has its row."""
    left = {
        f"{row.name}: {no_time_words(said)}{LATER_WORDS}"
        for region in results.regions
        for one in region.at_each_size
        for row in one.rows
        if (said := _left_of(one, row.name))
    }
    for words in dict.fromkeys(results.warnings):
        if not words.endswith(LATER_WORDS) or words in left:
            yield words
