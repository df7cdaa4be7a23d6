"""The formulations of a tensor file as points of one space: `run` tunes the best few of them.

All share the time of the command. The usual one is the original of the others: what a target's
files become is compared with its C text, whatever formulation they are made of.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from tempfile import gettempdir

from annotune import pipeline
from annotune.codegen.target import Target, load_target
from annotune.diagnostics import AnnotuneError
from annotune.frozen import dataclass
from annotune.measure.trial import Trial
from annotune.pipeline import RunReport, Settings
from annotune.report.findings import CheckReport
from annotune.tensor.translate import USUAL, Translated
from annotune.tuning import calls
from annotune.tuning.bench import Request, disk_full_is_refused
from annotune.tuning.calls import ORIGINAL, Called, Entrant, Standing
from annotune.tuning.config import DEFAULT_TIME_S, Phase, RunConfig
from annotune.tuning.results import (
    FORMULATION,
    ORIGINALS,
    FormulationResult,
    RegionResult,
    Row,
    RowStatus,
    Searched,
)
from annotune.tuning.run import OF_THE_RUN, SizeListener, tuning
from annotune.tuning.timetable import TimeShares
from annotune.tuning.tuner import AS_FAST

# A run has a formulation for each so many seconds: what has less finds little.
EACH_S = 30.0
MOST = 6
# A target is tuned in formulations that are to cost it less than the usual one, and up to so many
# times the least: a search seldom gains more than that over its first choice.
PROMISING = 2.0
# Formulations that take so many times the operations of the usual one are not looked at.
HOPELESS = 8.0
# Shares of the time: to look at formulations before any is tuned, and to compare them after it.
LOOKING, COMPARING = 0.1, 0.1
# No comparison is given less, in seconds.
LEAST_COMPARING_S = 3.0


@dataclass(frozen=True)
class Looked:
    """A formulation, what is found in its text, and the rows that the model has for it.

    `why_not` is what keeps it from being tried.
    """

    made: Translated
    accepted: CheckReport | None = None
    foreseen: Mapping[str, Row] = field(default_factory=dict)
    why_not: str = ""

    @property
    def name(self) -> str:
        return self.made.formulation.name

    def cost(self, target: Target) -> float | None:
        """Return what it is to cost a target, None where nobody says so.

        It is the model's time for GPUs; for processors operations, and trips to memory.
        """
        if self.why_not:
            return None
        if target.is_for_cpu:
            return self.made.formulation.cost
        row = self.foreseen.get(target.name)
        return None if row is None else row.time_s


@dataclass(frozen=True)
class _Tried:
    """What a run has found of a formulation for some targets, or why there is nothing.

    `began_s` is when that run began, in seconds from the start of the command.
    """

    made: Translated
    targets: Sequence[Target]
    report: RunReport | None
    began_s: float = 0.0
    why_not: str = ""

    @property
    def name(self) -> str:
        return self.made.formulation.name

    @property
    def region(self) -> RegionResult | None:
        return None if self.report is None else self.report.results.regions[0]

    def row(self, target: str) -> Row | None:
        """Return the row of a target that has a file of this formulation, with its time."""
        if self.report is None or target not in self.report.tuned[0].codes:
            return None
        rows = self.report.results.regions[0].rows
        return next((r for r in rows if r.name == target and r.verified and r.time_s), None)


@dataclass(frozen=True)
class _Run:
    """One run of a tensor file; for its fields see `run`."""

    settings: Settings
    request: Request
    begun: float
    time_s: float

    @cached_property
    def targets(self) -> Sequence[Target]:
        return [load_target(name) for name in self.settings.targets]

    def found(self, usual: Translated, count: int) -> RunReport:
        """Return the best of up to so many formulations for each target."""
        looked = tuple(self.looked_at(usual))
        chosen = promising(looked, self.targets, count)
        if len(chosen) == 1:
            tried = [self.tried(*chosen[0], self.request)]
            return _combined(looked, tried, {}, self.targets)
        weights = [1 + len(targets) for _, targets in chosen]
        share_s = (1 - COMPARING) * self.time_s / sum(weights)
        times = TimeShares([weight * share_s for weight in weights], self.begun)
        tried = []
        for one, targets in chosen:
            if tried and self.request.stop.is_set:
                break
            tried.append(self.tried(one, targets, self.its_request(one.made, times.next_s())))
        with self.request.config.ledger.on(Phase.FINALS):
            standings = {} if self.request.stop.is_set else self.compared(tried)
        return _combined(looked, tried, standings, self.targets)

    def looked_at(self, usual: Translated) -> Iterator[Looked]:
        """Yield the formulations with what the model says of them."""
        until = self.begun + LOOKING * self.time_s
        targets = [target for target in self.targets if not target.is_for_cpu]
        for made in usual.every:
            times = made.made.flop_after / max(1, usual.made.flop_after)
            if times > HOPELESS:
                yield Looked(made, why_not=f"it takes {times:.3g} times the operations")
                continue
            if not made.is_usual and time.monotonic() > until:
                yield Looked(made, why_not="there was no time to look at it")
                continue
            try:
                found = pipeline.accepted(replace(self.settings, translated=made))
                ((region,),) = pipeline.forecast(found, targets, (self.settings.device,))
            except AnnotuneError as refusal:
                if made.is_usual:
                    raise
                yield Looked(made, why_not=refusal.diagnostics[0].message)
                continue
            yield Looked(made, found, {row.name: row for row in region.rows})

    def its_request(self, made: Translated, share_s: float) -> Request:
        """Return how one of several formulations is tuned in so many seconds."""
        config, listener = self.request.config, self.request.listener
        begun, naive = time.monotonic(), config.checks_naive and made.is_usual
        config = replace(config, time_s=share_s, begun=begun, checks_naive=naive)
        if listener is not None:
            listener = SizeListener(listener, f"the formulation {made.formulation.name}")
        # What is kept of the other formulations was found just now.
        is_fresh = self.request.is_fresh and made.is_usual
        return replace(self.request, config=config, listener=listener, is_fresh=is_fresh)

    def tried(self, looked: Looked, targets: Sequence[Target], request: Request) -> _Tried:
        """Return what comes of a formulation that is tuned for some targets.

        Raises:
            AnnotuneError: It is the usual one and refused, or the run cannot go on.
        """
        made, began_s = looked.made, time.monotonic() - self.begun
        names = tuple(target.name for target in targets)
        own = replace(self.settings, translated=made, targets=names)
        try:
            report = pipeline.run(own, request, looked.accepted)
        except AnnotuneError as refusal:
            problems = refusal.diagnostics
            if made.is_usual or any(one.code in OF_THE_RUN for one in problems):
                raise
            return _Tried(made, targets, None, began_s, problems[0].message)
        return _Tried(made, targets, report, began_s)

    def compared(self, tried: Sequence[_Tried]) -> Mapping[str, Standing]:
        """Return by target how the formulations do beside the C text of the usual one."""
        every = {target: self.entrants(target, tried) for target in self.targets}
        entrants = {t: own for t, own in every.items() if any(one.name != USUAL for one in own)}
        if not entrants:
            return {}
        usual, report = tried[0], tried[0].report
        assert report is not None
        assert report.source is not None
        left_s = self.begun + (1 - COMPARING / 4) * self.time_s - time.monotonic()
        left_s = max(LEAST_COMPARING_S, left_s)
        environ = self.request.environ
        building = pipeline.building_of(self.settings, report.source, self.targets, environ)
        full = disk_full_is_refused(Path(gettempdir()))
        with full, tuning(building, self.request) as own:
            bench = own.bench(report.ready[0], own.scratch / "calls", left_s)
            return calls.beside(bench, _called(usual.made), entrants, left_s)

    def entrants(self, target: Target, tried: Sequence[_Tried]) -> tuple[Entrant, ...]:
        """Return the functions for a target that may be handed out, the fastest first.

        Where their regions have been timed each on its own, all are; else those that are faster
        than the usual one.
        """
        timed = [
            (row.time_s or 0.0, n) for n, one in enumerate(tried) if (row := one.row(target.name))
        ]
        found = [tried[n] for _, n in sorted(timed)]
        if not target.is_for_cpu:
            names = [one.name for one in found]
            found = found[: names.index(USUAL)] if USUAL in names else found
        return tuple(_entrant(self.settings.source.stem, target, one) for one in found)


def run(settings: Settings, request: Request) -> RunReport:
    """Return what `pipeline.run` does: of a tensor file, for the best of its formulations.

    Raises:
        AnnotuneError: As there.
    """
    config = request.config
    time_s = config.time_s or DEFAULT_TIME_S
    made, count = settings.translated, min(MOST, int(time_s / EACH_S))
    if made is None or not made.others or count < 2 or config.by_steps or _is_alone(made, config):
        return pipeline.run(settings, request)
    begun = time.monotonic() if config.begun is None else config.begun
    return _Run(settings, request, begun, time_s).found(made, count)


def _is_alone(made: Translated, config: RunConfig) -> bool:
    """Return whether functions of a program cannot be compared with others here.

    Workers may have other processors, and what stands for a region passes rows behind pointers as
    one array.
    """
    return config.workers is not None or any(one.is_pointers for one in made.program.tensors)


def promising(
    looked: Sequence[Looked], targets: Sequence[Target], count: int
) -> list[tuple[Looked, Sequence[Target]]]:
    """Return so many formulations at most, each with the targets that it is tuned for.

    The usual one is tuned for all. Of the others those come first that are to cost least, each
    target's in turn.
    """
    usual, *others = looked
    queues: list[list[Looked]] = []
    own: dict[str, list[Target]] = {}
    for target in targets:
        limit, costs = usual.cost(target), {one.name: one.cost(target) for one in others}
        known = {name: cost for name, cost in costs.items() if cost is not None}
        least = min(known.values(), default=0.0)
        good = {n: c for n, c in known.items() if c <= PROMISING * least}
        good = {n: c for n, c in good.items() if limit is None or c < limit}
        queues.append(
            sorted((one for one in others if one.name in good), key=lambda o: good[o.name])
        )
        for name in good:
            own.setdefault(name, []).append(target)
    in_turn = [one for several in zip_longest(*queues) for one in several if one is not None]
    order = list({one.name: one for one in in_turn}.values())
    return [(usual, targets), *((one, own[one.name]) for one in order[: count - 1])]


def _called(made: Translated) -> Called:
    """Return the function of a program, with the names of its parameters."""
    program = made.program
    sizes = (one.name for one in program.sizes if one.is_parameter)
    tensors = (one.name for one in program.tensors if not one.is_internal)
    return Called(program.name, (*sizes, *tensors))


def _entrant(stem: str, target: Target, one: _Tried) -> Entrant:
    assert one.report is not None
    texts = one.report.results.texts
    (text,) = (texts[stem + end] for end in target.endings if end.endswith(".c"))
    device = "".join(texts[stem + end] for end in target.endings if not end.endswith(".c"))
    flags = one.report.tuned[0].variants[target.name].flags
    return Entrant(one.name, text, device, flags.host, flags.nvcc)


def _winner(target: Target, tried: Sequence[_Tried], standing: Standing | None) -> _Tried:
    """Return the formulation of which a target's files are made."""
    usual = tried[0]
    if standing is None:
        return usual
    by_name = {one.name: one for one in tried}
    if standing.best:
        return by_name[standing.best] if standing.beats else usual
    rows = {one.name: one.row(target.name) for one in tried if one.name not in standing.wrong}
    own = rows.pop(USUAL, None)
    found = {n: row for n, row in rows.items() if row and (own is None or row.status is own.status)}
    times = {name: row.time_s or 0.0 for name, row in found.items()}
    best = min(times, key=times.__getitem__, default=USUAL)
    if best == USUAL or (own is not None and AS_FAST * times[best] > (own.time_s or 0.0)):
        return usual
    return by_name[best]


def _combined(
    looked: Sequence[Looked],
    tried: Sequence[_Tried],
    standings: Mapping[str, Standing],
    targets: Sequence[Target],
) -> RunReport:
    """Return one report of all: the original's rows, and of each target the winner's."""
    usual = tried[0].report
    assert usual is not None
    won = {target.name: _winner(target, tried, standings.get(target.name)) for target in targets}
    region = _region(tried, won)
    listed = tuple(_listed(one, tried, standings, won, targets) for one in looked)
    results = replace(usual.results, regions=(replace(region, formulations=listed),))
    texts, commands, builds = dict(results.texts), dict(results.commands), dict(usual.builds)
    warnings, diagnostics = dict.fromkeys(results.warnings), dict.fromkeys(usual.diagnostics)
    stem = results.source.rpartition(".")[0]
    for target in targets:
        one = won[target.name].report
        if one is None or one is usual:
            continue
        texts |= {stem + end: one.results.texts[stem + end] for end in target.endings}
        commands[target.name] = one.results.commands[target.name]
        builds[target.name] = one.builds[target.name]
        name = won[target.name].name
        own = (words for words in one.results.warnings if words not in usual.results.warnings)
        warnings |= dict.fromkeys(f"formulation {name}: {words}" for words in own)
    for where, standing in standings.items():
        for name, why in standing.wrong.items():
            warnings[f"formulation {name} is left out for {where}: {why}"] = None
    results = replace(
        results, texts=texts, files=tuple(texts), commands=commands, warnings=tuple(warnings)
    )
    return replace(usual, results=results, builds=builds, diagnostics=tuple(diagnostics))


def _region(tried: Sequence[_Tried], won: Mapping[str, _Tried]) -> RegionResult:
    """Return the region of the original, with the winners' rows and all trials."""
    regions = [(one, region) for one in tried if (region := one.region) is not None]
    _, first = regions[0]
    winners = {name: region for name, one in won.items() if (region := one.region) is not None}
    trials = [trial for one, region in regions for trial in _trials(one, region)]
    searches = [s for _, region in regions for s in region.searches]
    return replace(
        first,
        recipes={
            name: region.recipes[name] for name, region in winners.items() if name in region.recipes
        },
        rows=tuple(_row(first, row, won) for row in first.rows),
        trials=tuple(trials),
        models=tuple(
            m for name, region in winners.items() for m in region.models if m.target == name
        ),
        searches=tuple(_searched(name, searches) for name in {s.target: s for s in searches}),
        profiles=tuple(
            p for name, region in winners.items() for p in region.profiles if p.target == name
        ),
    )


def _trials(one: _Tried, region: RegionResult) -> Iterator[Trial]:
    """Yield the trials of a formulation, of others than the usual one those of targets alone."""
    for trial in region.trials:
        if trial.target not in ORIGINALS:
            at_s = None if trial.at_s is None else trial.at_s + one.began_s
            yield replace(trial, config={FORMULATION: one.name, **trial.config}, at_s=at_s)
        elif one.name == USUAL:
            yield trial


def _row(first: RegionResult, row: Row, won: Mapping[str, _Tried]) -> Row:
    """Return a row of the table: the winner's, beside the original's operations and time."""
    if row.name not in won:
        return row
    one = won[row.name]
    found = row if one.name == USUAL else one.row(row.name) or row
    if not found.config:
        return found
    config = {FORMULATION: one.name, **found.config}
    if found is row or not found.time_s:
        return replace(found, config=config)
    original = next((r for r in first.rows if r.name == "sequential"), None)
    is_measured = found.status is RowStatus.MEASURED
    original_s = original.time_s if original is not None and is_measured else None
    return replace(
        found,
        config=config,
        gflops=first.flop / found.time_s / 1e9,
        speedup=original_s / found.time_s if original_s else None,
        # Its finals were beside the C text of its own formulation.
        speedup_low=None,
        speedup_high=None,
        final=None,
    )


def _searched(target: str, searches: Sequence[Searched]) -> Searched:
    """Return one account of the searches of a target's formulations."""
    own = [one for one in searches if one.target == target]
    counts = ("legal", "budget", "evaluated", "duplicates", "reused", "time_s")
    sums = {name: sum(getattr(one, name) for one in own) for name in counts}
    inert = dict.fromkeys(axis for one in own for axis in one.inert)
    return replace(own[0], **sums, inert=tuple(inert))


NOT_TRIED = "not tried: {}"
COSTS_MORE = "others are to cost less"


def _listed(
    one: Looked,
    tried: Sequence[_Tried],
    standings: Mapping[str, Standing],
    won: Mapping[str, _Tried],
    targets: Sequence[Target],
) -> FormulationResult:
    """Return what a formulation takes, and what came of it for each target."""
    own = next((t for t in tried if t.name == one.name), None)
    calls_s = {t: s.calls_s[one.name] for t, s in standings.items() if one.name in s.calls_s}
    originals = [s.calls_s[ORIGINAL] for s in standings.values() if ORIGINAL in s.calls_s]
    if one.name == USUAL and originals:
        calls_s["sequential"] = originals[0]
    chosen = (name for name, winner in won.items() if winner.name == one.name and winner.row(name))
    made = one.made.made
    rows = (_own_row(one, own, target, standings.get(target.name)) for target in targets)
    return FormulationResult(
        one.name,
        made.flop_after,
        made.bytes_after,
        tuple(rows),
        tuple(target.name for target in own.targets) if own is not None else (),
        calls_s,
        tuple(chosen),
    )


def _own_row(one: Looked, own: _Tried | None, target: Target, standing: Standing | None) -> Row:
    """Return what came of a formulation for a target, or why it was not tried."""
    if own is not None and target in own.targets:
        if own.region is None:
            return Row(target.name, RowStatus.UNAVAILABLE, reason=own.why_not)
        row = next(row for row in own.region.rows if row.name == target.name)
        wrong = standing.wrong.get(one.name) if standing is not None else None
        return replace(row, verified=False, reason=wrong) if wrong else row
    reason = NOT_TRIED.format(one.why_not or COSTS_MORE)
    foreseen = one.foreseen.get(target.name)
    if foreseen is not None and foreseen.time_s:
        return replace(foreseen, reason=reason)
    return Row(target.name, RowStatus.UNAVAILABLE, reason=reason)
