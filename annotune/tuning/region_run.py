"""One region from its original to the six rows of its table."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field, replace

from annotune.analysis.facts import Analysis, Work
from annotune.annotation.devices import Device
from annotune.codegen.baseline import naive_openacc, naive_openmp
from annotune.codegen.recipes import listing_of
from annotune.codegen.target import RegionCode, Target
from annotune.codegen.users_file import body_text
from annotune.diagnostics import AnnotuneError
from annotune.frozen import dataclass
from annotune.ir.region import Region, SourceFile
from annotune.measure.compile import COMPILE_LIMIT_S, CUDA_CALLS
from annotune.measure.machine import (
    Cpu,
    Gpu,
    NoGpu,
    clock_facts,
    exclusive,
    foreign_processes,
    lock_folder,
    read_clocks,
    visible_alone,
)
from annotune.measure.parts.pace import original_pace
from annotune.measure.parts.sample import work_of
from annotune.measure.plan import SEED
from annotune.measure.program import Program
from annotune.measure.sizes import is_possible, reduced_sizes, tuned_sizes
from annotune.measure.timing import load_average
from annotune.measure.trial import END_TO_END, Comparison, Status, Trial, Verdict
from annotune.model.bounds import copies, roofline_time, widest_real
from annotune.model.predict import KernelForecast
from annotune.model.worth import CallSeconds, break_even
from annotune.space.decision import Base
from annotune.space.space import Space
from annotune.space.variants import Listing, Variant
from annotune.transforms.transform import Feature
from annotune.tuning.ablation import steps_in_turn
from annotune.tuning.bench import Bench, Recorder, Smaller, busy_words, program_of
from annotune.tuning.config import AUTO, Phase, Wanted
from annotune.tuning.experiment import FIRST_S, Tried
from annotune.tuning.jobs import SHARED_WITH, Contestant, job_of
from annotune.tuning.profiling import PROFILE_LIMIT_S, Profiler
from annotune.tuning.proving import NOT_PROVED, UNEXECUTED, Proved, no_time_words
from annotune.tuning.results import (
    ENDED_EARLY,
    FIRST_ALONE,
    NO_TARGET,
    ORIGINALS,
    ROW_NAMES,
    CopiesCost,
    KernelModel,
    Profile,
    RecordedInputs,
    RegionResult,
    Roof,
    Row,
    RowStatus,
    TargetModel,
    agreement,
)
from annotune.tuning.timetable import TimeShares, Timetable
from annotune.tuning.tuner import (
    AS_WRITTEN_LIMIT,
    Contest,
    TargetResult,
    baseline,
    estimated,
    executed_smaller,
    finals,
    forecast_of,
    in_turns,
    measured,
    original_program,
    predicted,
    ran_once,
    reserved_s,
    unchecked,
)
from annotune.tuning.verdict import compare, compare_with_estimate
from annotune.tuning.whole_calls import (
    CALLS,
    affordable,
    forms,
    has_forms,
    shared,
    with_calls,
)

# Points among which a search chooses, at most, and the seconds that it takes to list one.
MOST_ON_CPU, LISTED_ON_CPU_S = 5000, 1e-3
MOST_ON_GPU, LISTED_ON_GPU_S = 300, 5e-3
# Listing them may take this share of a target's time: a short run has fewer to choose among.
LISTING = 0.125
# A target that is measured has this many times the time of one that is predicted: its variants are
# checked one at a time, and each tells something new.
MEASURED = 2.0
# A check that runs longer than this is not owed when the time is over.
LONG_CHECK_S = 20.0
TOO_LATE = (
    "not tried: no time was left, and a check takes as long as the original, {:.0f} s; "
    "a longer --time has it"
)
TOO_LONG_AS_WRITTEN = "the original takes about {:.0f} s, for which this run has no time"
# A variant is taken to be so many times as fast as the original on each core, until one is timed.
VARIANT_FASTER = 8.0
# What plays another machine takes some times as long as the original, in several orders of threads:
# where that takes more than this share of the time left it is made at small sizes alone.
BRIEF_SHARE = 0.01
# A call of a variant that takes more than this share of the time left is timed at smaller sizes,
# which are found in steps of this factor.
CALL_SHARE, FINELY = 0.01, 1.1
# The targets that are measured where a GPU answers, and how they are built for it.
ON_GPU = {"openacc": "openacc-gpu", "cuda": "cuda-gpu"}
# How whole calls of those are built that have more than one form.
GPU_CALLS = {"cuda": CUDA_CALLS}


@dataclass(frozen=True)
class RegionRun:
    """One region that is tuned: what is known of it, on which bench, and for what.

    `wanted` is how its space is searched. `gpu` is what CUDA is measured on, or the reason why it
    is not; OpenACC too, where the C compiler `offloads` to it. `profiler` counts what the winners
    do there.
    """

    bench: Bench
    base: Base
    space: Space
    device: Device
    cpu: Cpu
    wanted: Wanted
    gpu: Gpu | NoGpu
    offloads: bool = False
    profiler: Profiler = Profiler()

    @property
    def original_s(self) -> float:
        """Return the seconds that one run of the original may take."""
        return self.bench.session.config.original_s

    @property
    def source(self) -> SourceFile:
        return self.bench.checker.oracle.source

    @property
    def analysis(self) -> Analysis:
        return self.base.analysis

    def on_gpu(self, name: str) -> Gpu | None:
        """Return the GPU on which a target of that name is measured, None where it is not."""
        is_built = name in ON_GPU and (name != "openacc" or self.offloads)
        return self.gpu if is_built and isinstance(self.gpu, Gpu) else None

    def listing(self, target: Target, time_s: float) -> Listing:
        """Return the points among which the search of a target chooses in so many seconds.

        Where the model alone judges, only those that it likes best need be checked, and where there
        is no time for a second one it is not asked. There a share of the host's is in all of them.
        """
        both, found = self.bench.session.config.both, self._points(target, time_s)
        is_shared = both not in ("", AUTO) and Feature.HOST_SHARE in target.vocabulary.features
        return shared(found, both) if is_shared and not self.is_measured(target) else found

    def _points(self, target: Target, time_s: float) -> Listing:
        if self.bench.session.config.by_steps:
            return steps_in_turn(target, self.base, self.space, self.device)
        limit = self.wanted.budget
        if limit == FIRST_ALONE:
            return listing_of(target, self.base, self.space, self.device, limit, True)
        if target.is_for_cpu:
            limit = max(limit, min(MOST_ON_CPU, int(LISTING * time_s / LISTED_ON_CPU_S)))
        elif self.on_gpu(target.name) is not None:
            limit = max(limit, min(MOST_ON_GPU, int(LISTING * time_s / LISTED_ON_GPU_S)))
        first_alone = time_s < FIRST_S and not self.is_measured(target)
        return listing_of(target, self.base, self.space, self.device, limit, first_alone)

    def is_measured(self, target: Target) -> bool:
        """Return whether a clock judges a target's variants here, and not the model."""
        return target.is_for_cpu or self.on_gpu(target.name) is not None

    def weight(self, target: Target) -> float:
        """Return the share of the time that a target has beside another one of 1."""
        return MEASURED if self.is_measured(target) else 1.0

    def timed_on(self, target: Target) -> str:
        """Return the name of what the times of a target's trials are for."""
        gpu = self.on_gpu(target.name)
        if gpu is not None:
            return gpu.name
        return self.cpu.model if target.is_for_cpu else self.device.vendor_name


# Arithmetic alone, whose time at the roof gives the rate of the roof.
_MANY_FLOP = 10**12


@dataclass(frozen=True)
class Tuned:
    """A region's result, the winning code of every target that has one, and words of warning.

    `variants` are what the codes are made of.
    """

    result: RegionResult
    codes: Mapping[str, RegionCode] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    variants: Mapping[str, Variant] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def why_left(self, target: str) -> str:
        """Return why the region stays as it is written for a target, nothing where it does not."""
        if target in self.codes:
            return ""
        said = next((row.reason for row in self.result.rows if row.name == target), "")
        return self.notes.get(target) or said or NOTHING_CAME


NOTHING_CAME = "no variant of it was found right"


def untuned(region: Region, work: Work, reason: str) -> Tuned:
    """Return a region that was refused when it was to be tuned."""
    rows = tuple(Row(name, RowStatus.UNAVAILABLE, reason=reason) for name in ROW_NAMES)
    place = (region.function, region.index, region.span.line, dict(region.sizes))
    traffic = work.bytes_read + work.bytes_written
    return Tuned(RegionResult(*place, work.flop, traffic, rows, ()))


# Said of a row whose variant nobody has executed.
NOT_RUN = "the first choice of the rules, which was not run"


def forecast(analysis: Analysis, variants: Mapping[str, Variant], device: Device) -> RegionResult:
    """Return what the model says of variants on a device, by their targets; nothing is run."""
    region, work = analysis.region, analysis.total
    traffic = work.bytes_read + work.bytes_written
    roof, name = _roof(region, device), device.vendor_name
    least_s = max(work.flop / roof.peak_flop_s, traffic / roof.bandwidth_bytes_s)
    rows: list[Row] = []
    for target, variant in variants.items():
        time_s = variant.predicted_s
        if not time_s:
            rows.append(Row(target, RowStatus.UNAVAILABLE, reason="no model predicts it"))
            continue
        gflops, share = work.flop / time_s / 1e9, least_s / time_s
        rows.append(
            Row(
                target,
                RowStatus.PREDICTED,
                name,
                time_s,
                gflops=gflops,
                roofline_share=share,
                reason=NOT_RUN,
                config=variant.config,
                predicted_s=time_s,
                predicted_for=name,
            )
        )
    models = tuple(
        TargetModel(
            target,
            name,
            tuple(map(_kernel_model, said.kernels)),
            said.copies_s,
            said.why_no_copies,
            why_no_correlation="nothing was run",
        )
        for target, variant in variants.items()
        if (said := forecast_of(variant, ())) is not None
    )
    place = (region.function, region.index, region.span.line, dict(region.sizes))
    return RegionResult(*place, work.flop, traffic, tuple(rows), (), {name: roof}, models=models)


def forecast_by_steps(
    base: Base, space: Space, targets: Sequence[Target], device: Device
) -> RegionResult:
    """Return what the model says of each target's first choice by kinds of steps; nothing is run.

    The trials have it; a target that refuses the region has none.
    """
    trials: list[Trial] = []
    for target in targets:
        try:
            listing = steps_in_turn(target, base, space, device)
        except AnnotuneError:
            continue
        for number, config in enumerate(listing.configs):
            time_s, own = listing.predicted_s[number], (target.name, config)
            try:
                listing.variant(number)
            except AnnotuneError as refusal:
                why = refusal.diagnostics[0].message
                trials.append(Trial(*own, Status.CONSTRAINTS, reason=why))
                continue
            reason = NOT_RUN if time_s else "the model speaks of all steps together alone"
            trials.append(
                Trial(
                    *own,
                    Status.CORRECT,
                    time_s,
                    is_predicted=True,
                    device=device.vendor_name,
                    reason=reason,
                    predicted_s=time_s,
                )
            )
    return replace(forecast(base.analysis, {}, device), trials=tuple(trials))


@dataclass(frozen=True)
class Sought:
    """A region whose targets have been searched, and which of their winners are to be proved.

    `found` has the originals, the targets with nothing to prove and those that are proved;
    `contests` the others.
    """

    run: RegionRun
    targets: Sequence[Target]
    found: Mapping[str, TargetResult]
    contests: Mapping[str, Contest] = field(default_factory=dict)

    def unproved(self, target: str) -> TargetResult:
        """Return the result of a target if its first stands all proofs."""
        contest = self.contests.get(target)
        if contest is None:
            return self.found.get(target, TargetResult())
        return contest.unproved()

    def proved(self, target: str, until: float) -> TargetResult:
        """Return the result of a target, proved alone; no long proof is begun after `until`."""
        contest = self.contests.get(target)
        if contest is None:
            return self.found.get(target, TargetResult())
        return _proved(self.run, contest, until)

    def each_proved(self, until: float) -> dict[str, TargetResult]:
        """Return the results of all contests, proved one after the other in the time `until` then.

        What one takes beyond its share of that is missing to those after it.
        """
        times = TimeShares([1.0 + contest.proofs_s for contest in self.contests.values()])
        times.end = until
        ends = ((name, time.monotonic() + times.next_s()) for name in self.contests)
        return {name: self.proved(name, min(until, end)) for name, end in ends}

    def proofs_s(self) -> float:
        """Return the seconds that the proofs of all winners will take."""
        return sum(contest.proofs_s for contest in self.contests.values())

    def tuned(self, results: Mapping[str, TargetResult]) -> Tuned:
        """Return the table of the region, with the results of the contests."""
        found = {**self.found, **results}
        for own in results.values():
            found |= _beside(found, own)
        in_order = {name: one for name, one in found.items() if name in ORIGINALS}
        for target in self.targets:
            own = _with_first_choice(self.run, target, found[target.name])
            own = _compared_by_calls(self.run, target, own, found)
            in_order[target.name] = _profiled(self.run, target, own)
        return _tuned(self.run, in_order)


def tune(run: RegionRun, targets: Sequence[Target]) -> Tuned:
    """Return the table of one region: baselines first, then every target in turn, proved.

    Raises:
        AnnotuneError: Every target refuses it.
    """
    found = sought(run, targets)
    return found.tuned(found.each_proved(run.bench.until))


def sought(run: RegionRun, targets: Sequence[Target]) -> Sought:
    """Return what the searches of one region find; nothing of it is proved.

    Raises:
        AnnotuneError: Every target refuses it.
    """
    ledger = run.bench.session.config.ledger
    wanted = run.wanted
    times = Timetable.of(wanted.time_s, run.bench.until - wanted.time_s, wanted.share)
    with ledger.on(Phase.ORIGINAL):
        run = _paced(run)
    # Whole calls are compared after all else.
    is_called = any(run.on_gpu(target.name) is not None for target in targets)
    calls_s = LEAST_CALLS_S + CALLS_START_S if is_called else 0.0
    bench = replace(run.bench, last=times.last - calls_s)
    found: dict[str, TargetResult] = {}
    contests: dict[str, Contest] = {}
    refusals: list[AnnotuneError] = []
    bench.begin("original", 4, _least_s(run, run.cpu.model))
    load = load_average()
    with ledger.on(Phase.ORIGINAL):
        found |= _as_written(run)
    if not any(target.is_for_cpu for target in targets):
        found |= disturbed(found, load, bench.session.cores)
    first = found["sequential"].best
    bench = replace(bench, original_s=first.time_s or 0.0) if first is not None else bench
    order, searched_s = _in_turn(run, targets), 0.0
    weights = [*map(run.weight, order)]
    for number, target in enumerate(order):
        if bench.session.stop.is_set:
            found[target.name] = TargetResult(note=ENDED_EARLY)
            continue
        if late := too_late(bench, run.is_measured(target)):
            found[target.name] = TargetResult(note=late)
            continue
        begun = time.monotonic()
        after_s = calls_s + _proofs_s(run, contests.values(), order[number:])
        own = bench.searching(times.search(weights, number, searched_s, after_s, begun))
        try:
            with ledger.on(Phase.VARIANTS):
                contest = _searched(run, target, own, found)
        except AnnotuneError as refusal:
            refusals.append(refusal)
            found[target.name] = TargetResult(note=refusal.diagnostics[0].message)
            continue
        searched_s += time.monotonic() - begun
        contests[target.name] = contest
        found |= _beside(found, contest.unproved())
    if len(refusals) == len(targets):
        raise AnnotuneError(tuple(d for one in refusals for d in one.diagnostics))
    return Sought(replace(run, bench=bench), targets, found, contests)


def _proofs_s(run: RegionRun, searched: Iterable[Contest], left: Sequence[Target]) -> float:
    """Return the seconds that all proofs will take; a guess of targets whose search is `left`."""
    known_s = sum(contest.proofs_s for contest in searched)
    return known_s + GUESSED_PROOFS * run.wanted.time_s * len(left)


def _searched(
    run: RegionRun, target: Target, bench: Bench, found: Mapping[str, TargetResult]
) -> Contest:
    """Return what the search of a target leaves, which begins with a list of its variants.

    Raises:
        AnnotuneError: The target refuses the region.
    """
    listing = run.listing(target, bench.left_s)
    least_s = _least_s(run, run.timed_on(target))
    bench.begin(f"tuning {target.name}", min(len(listing), run.wanted.budget), least_s)
    return _on_target(run, target, bench, listing, found)


def _on_target(
    run: RegionRun,
    target: Target,
    bench: Bench,
    listing: Listing,
    found: Mapping[str, TargetResult],
) -> Contest:
    """Return what the search of a target leaves; the originals may take part in its finals."""
    gpu = run.on_gpu(target.name)
    if gpu is not None:
        host = found.get("openmp", TargetResult()).best
        host_s = None if host is None else host.best_known_s
        return _on_gpu(run, gpu, target, bench, listing, host_s)
    if target.is_for_cpu:
        return _on_cpu(run, target, bench, listing, found)
    device = run.device.vendor_name
    own = predicted(bench, target, target.kind, listing, run.wanted, device)
    own = own if own.ranked else _ranked_anew(run, own) or own
    may_share = Feature.HOST_SHARE in target.vocabulary.features
    is_untried = bench.session.config.both == AUTO and may_share
    return replace(own, warnings=(*own.warnings, NOT_TRIED)) if is_untried else own


NOT_TRIED = (
    "--both auto tries calls where a GPU answers, and none does; "
    "annotune emit --both counter needs no share that was tried"
)


def _ranked_anew(run: RegionRun, contest: Contest) -> Contest | None:
    """Return the contest of a predicted target once more, its first alone having been listed.

    One right variant is owed: the others are ranked now. None where there are no others.
    """
    target, bench = contest.target, contest.bench
    if run.is_measured(target) or len(contest.listing) > 1 or bench.session.stop.is_set:
        return None
    listing = run.listing(target, FIRST_S)
    if len(listing) == 1:
        return None
    device = run.device.vendor_name
    return predicted(bench, target, target.kind, listing, run.wanted, device)


def _proved(run: RegionRun, contest: Contest, until: float) -> TargetResult:
    """Return the first of a contest that stands all proofs."""
    own = contest.proved(until)
    if own.best is None and contest.ranked:
        more = _ranked_anew(run, contest)
        return own if more is None else more.proved(until)
    return own


def _beside(found: Mapping[str, TargetResult], own: TargetResult) -> dict[str, TargetResult]:
    """Return the originals as they did in the finals of a target."""
    out: dict[str, TargetResult] = {}
    for name, final in own.rivals.items():
        best = found[name].best
        assert best is not None
        out[name] = found[name].with_best(replace(best, final=final))
    return out


def too_late(bench: Bench, is_measured: bool) -> str:
    """Return why a target is not tried any more, nothing where it is.

    One variant of each is owed however late it is, but of what is only predicted none that would
    take long to check.
    """
    if is_measured or (bench.brief and bench.awkward) or bench.original_s <= LONG_CHECK_S:
        return ""
    if bench.original_s <= bench.left_s or (not bench.is_over and not bench.brief):
        return ""
    return TOO_LATE.format(bench.original_s)


def _in_turn(run: RegionRun, targets: Sequence[Target]) -> list[Target]:
    """Return the targets in their turn: what the clock judges before what the model does.

    The CPU's are first, beside which calls of a GPU are looked at.
    """
    return sorted(targets, key=lambda target: (-run.weight(target), not target.is_for_cpu))


def _on_cpu(
    run: RegionRun,
    target: Target,
    bench: Bench,
    listing: Listing,
    found: Mapping[str, TargetResult],
) -> Contest:
    """Return the variants by this machine's clock, and the originals as they did beside them.

    These take part in its finals, so that the speed-up is that of two measured in turns.
    """
    known = ("sequential", "openmp_naive")
    rivals = [one for name in known if (one := found[name].contestant) is not None]
    load = load_average()
    own = measured(bench, target, target.kind, listing, run.wanted, rivals)
    trials = [one.trial for one in own.tried]
    busy = busy_words(trials, own.finals.waited, load, bench.session.cores)
    return replace(own, warnings=busy)


def _on_gpu(
    run: RegionRun,
    gpu: Gpu,
    target: Target,
    bench: Bench,
    listing: Listing,
    host_s: float | None,
) -> Contest:
    """Return the variants by the GPU's clock, holding the GPU for ourselves.

    OpenMP takes `host_s` for a call, None where that is not known.
    """
    on_device = _bench_on(gpu, bench)
    kind = ON_GPU[target.name]
    clocks = [read_clocks(gpu)]

    def measure_all(bench: Bench) -> Contest:
        def look() -> None:
            clocks.append(read_clocks(gpu))

        is_estimated = bench.smaller is not None and bench.smaller.for_all
        if is_estimated or not has_forms(target, run.analysis, bench.session.config.both):
            return measured(bench, target, kind, listing, run.wanted, look=look)
        calls_s = CALLS * bench.left_s
        searching = bench.before(calls_s)
        found = measured(searching, target, kind, listing, run.wanted, look=look)
        return _called(run, replace(found, bench=bench), host_s, calls_s)

    session = bench.session
    if session.crew is not None:
        # Each worker holds its own, and several measure at once.
        share_mib = session.memory_mib // session.crew.slots
        shared_out = replace(session, memory_mib=share_mib)
        found = measure_all(replace(on_device, session=shared_out))
        trials = (one.trial for one in found.tried)
        shared = (str(t.facts[SHARED_WITH]) for t in trials if SHARED_WITH in t.facts)
        others = tuple(dict.fromkeys(shared))
    else:
        with _holding(gpu, bench):
            others = foreign_processes(gpu)
            found = measure_all(on_device)
            others = tuple(dict.fromkeys((*others, *foreign_processes(gpu))))
    said = []
    if others:
        said.append(f"while it was measured, {gpu.name} was used by {', '.join(others)} too")
    before, after = clocks
    if after is not None and after.slowed_by:
        said.append(f"{gpu.name} was slowed down while it was measured: {after.words}")
    warnings = (*found.warnings, *said)
    return replace(found, facts=clock_facts(before, after), warnings=warnings)


def _holding(gpu: Gpu, bench: Bench) -> AbstractContextManager[None]:
    """Hold a GPU for ourselves; whom we have to wait for is told."""

    def waits(who: str) -> None:
        if bench.session.listener is not None:
            bench.session.listener.waits(who and f"waiting for {who}, which measures on {gpu.name}")

    return exclusive(gpu, lock_folder(), waits)


def _called(run: RegionRun, contest: Contest, host_s: float | None, time_s: float) -> Contest:
    """Return a contest on a GPU with the forms in which its first may be called.

    These have `time_s` seconds, for what is left is of the proofs.
    """
    bench, target, both = contest.bench, contest.target, contest.bench.session.config.both
    if not contest.ranked or bench.session.stop.is_set:
        return contest
    listing = forms(contest, both, host_s)
    own = replace(bench, until=time.monotonic() + time_s)
    compilers = bench.session.config.compilers
    listing = listing.cut(affordable(contest.ranked[0].trial, both, own.left_s, compilers))
    if len(listing):
        bench.begin(f"whole calls of {target.name}", len(listing))
    return with_calls(contest, *in_turns(own, target, GPU_CALLS[target.name], listing), both)


# Less would be over before CUDA has started under the profiler.
LEAST_PROFILE_S = 5.0
NOT_BY_WORKERS = "workers do not profile"
NOT_ASKED = "no table is about it"
NO_TIME_TO_PROFILE = "no time was left; a longer --time has it"
TOO_LONG_TO_PROFILE = "it was measured at smaller sizes"


def _profiled(run: RegionRun, target: Target, found: TargetResult) -> TargetResult:
    """Return a target's result with what a profiler counts of its winner on the GPU, if any."""
    gpu, one = run.on_gpu(target.name), found.winner
    if gpu is None or one is None or one.variant is None or one.code is None:
        return found
    if one.trial.time_s is None:  # the first choice of the rules, which nothing has timed
        return found
    bench = _bench_on(gpu, run.bench)
    session = bench.session
    if session.crew is not None:
        return replace(found, profile=Profile(reason=NOT_BY_WORKERS))
    if session.stop.is_set:
        return replace(found, profile=Profile(reason="the run was ended before"))
    if run.bench.smaller is not None and run.bench.smaller.for_all:
        return replace(found, profile=Profile(reason=TOO_LONG_TO_PROFILE))
    if not session.config.profiles:
        return replace(found, profile=Profile(reason=NOT_ASKED))
    program = program_of(target, ON_GPU[target.name], one.variant, one.code)
    contestant = Contestant("", program, 0.0, session.cores)
    plan = replace(bench.plan(True), arch=bench.arch)
    child, job = job_of(bench.checker.oracle, contestant, plan)
    left_s = bench.last - time.monotonic()
    if left_s < LEAST_PROFILE_S:
        return replace(found, profile=Profile(reason=NO_TIME_TO_PROFILE))
    with bench.session.config.ledger.on(Phase.FINALS), _holding(gpu, bench):
        return replace(
            found, profile=run.profiler.profile(child, job, min(PROFILE_LIMIT_S, left_s))
        )


NOT_TIMED = "the first choice of the rules, checked at small sizes and not timed: {}"


def _with_first_choice(run: RegionRun, target: Target, found: TargetResult) -> TargetResult:
    """Return a target's result with the first choice of the rules where no variant was found right.

    It is checked at small sizes, which takes no longer however late it is.
    """
    bench = run.bench
    if found.code is not None or bench.session.stop.is_set:
        return found
    made = (target, run.base, run.space, run.device, FIRST_ALONE, True)
    try:
        variant = listing_of(*made).variant(0)
        code = target.region(variant, resident=False)
    except AnnotuneError:
        return found
    own = [trial for trial in found.trials if trial.config == variant.config]
    if any(trial.status not in (Status.CORRECT, Status.TIMEOUT) for trial in own):
        return found
    plan = bench.plan(False)
    # A compiler may have what a search could not give it.
    limits = replace(plan.limits, compile_s=COMPILE_LIMIT_S)
    plan = replace(plan, sizes=bench.awkward or bench.sizes, limits=limits)
    trial = Recorder(bench).again(program_of(target, target.kind, variant, code), plan)
    if not trial.verified:
        return found
    time_s = None if run.is_measured(target) else variant.predicted_s
    trial = replace(
        trial,
        time_s=time_s,
        is_predicted=time_s is not None,
        device=run.timed_on(target),
        predicted_s=variant.predicted_s,
        reason=NOT_TIMED.format(found.note),
    )
    trial = bench.tell(trial)
    winner = Tried(0, trial, variant, code)
    executed = executed_smaller(bench, target, target.kind, winner) if bench.awkward else Proved()
    if executed.wrong is not None:
        return found
    found = replace(found, trials=(*found.trials, trial), winner=winner, note=trial.reason)
    return found.with_proof(executed)


# The comparison of whole calls has so many seconds at least, beside what it takes to begin.
LEAST_CALLS_S, CALLS_START_S = 1.0, 2.0
# The proofs of a target take this share of a region's time, before anything is known of them.
GUESSED_PROOFS = 0.06


def _compared_by_calls(
    run: RegionRun, target: Target, found: TargetResult, others: Mapping[str, TargetResult]
) -> TargetResult:
    """Return a GPU target's result with what comes of its whole calls in turns with the originals'.

    The rounds of its finals were those of kernels, which are no match for what runs on the host.
    """
    gpu, one = run.on_gpu(target.name), found.winner
    bench = run.bench if gpu is None else _bench_on(gpu, run.bench)
    is_over = bench.session.stop.is_set
    if gpu is None or is_over or one is None or one.variant is None or one.code is None:
        return found
    if not one.trial.time_s or one.trial.is_predicted:
        return found
    program = program_of(target, ON_GPU[target.name], one.variant, one.code)
    call_s = _end_to_end_s(one.trial) or one.trial.time_s
    own = Contestant(target.name, program, call_s, bench.session.cores, 0, is_whole=True)
    rivals = [
        replace(rival, is_whole=True, is_spare=True)
        for name in ORIGINALS
        if name in others and (rival := others[name].contestant) is not None
    ]
    budget_s = max(LEAST_CALLS_S, reserved_s(bench))
    # A worker holds its own GPU, and times the originals beside it.
    held = nullcontext() if bench.session.crew is not None else _holding(gpu, bench)
    with bench.session.config.ledger.on(Phase.FINALS), held:
        taken = finals(bench, (own, *rivals), budget_s, by_crew=True)
    compared = {rival.name: taken.comparison(own.name, rival.name) for rival in rivals}
    known = {name: beside for name, beside in compared.items() if beside is not None}
    calls_s = taken.rounds_s.get(own.name, ())
    for name in ORIGINALS:
        first = others[name].best if name in others else None
        if first is not None and first.time_s and name not in known:
            known[name] = _compared_alone(calls_s, first)
    return replace(found, comparisons=known)


def _as_written(run: RegionRun) -> dict[str, TargetResult]:
    """Return the original, and with the directives that one would add without a tool."""
    bench, limit_s = run.bench, run.original_s
    name, own = "sequential", original(run)
    ((label, code),) = own.items()
    program = original_program(name, "c", label, code)
    if bench.is_long:
        return _estimated(run, program)
    first = ran_once(bench, program) or baseline(bench, name, "c", own, 1, limit_s)
    first = unchecked(bench, first, program, limit_s)
    alone_s = first.best.time_s if first.best is not None else None
    limit_s = min(limit_s, AS_WRITTEN_LIMIT * (alone_s or limit_s))
    return {
        "sequential": first,
        "openmp_naive": _or_refused(lambda: _naive_openmp(run, limit_s)),
        "openacc_naive": _or_refused(lambda: _naive_openacc(run, limit_s)),
    }


def _estimated(run: RegionRun, program: Program) -> dict[str, TargetResult]:
    """Return the original, and that with directives, where nothing waits for a whole run of it."""
    first = estimated(run.bench, program)
    assert first.best is not None
    assert first.best.time_s
    note = TOO_LONG_AS_WRITTEN.format(first.best.time_s)
    left = TargetResult(note=note)
    is_on_gpu = run.on_gpu("openacc") is not None
    openacc = left if is_on_gpu else _or_refused(lambda: _naive_openacc(run, run.original_s))
    return {"sequential": first, "openmp_naive": left, "openacc_naive": openacc}


def _paced(run: RegionRun) -> RegionRun:
    """Return the run of a region, whose original's pace is known where it takes long."""
    bench = run.bench
    oracle, sizes = bench.checker.oracle, bench.sizes[0]
    oracle.pace = original_pace(oracle, sizes, SEED, bench.left_s)
    expected_s = oracle.expected_s(sizes)
    brief = expected_s > BRIEF_SHARE * bench.left_s
    bench = replace(bench, brief=brief)
    if oracle.pace is None or expected_s <= oracle.pace.whole_s:
        return replace(run, bench=bench)
    if oracle.sample(sizes) is not None:
        call_s = expected_s / (VARIANT_FASTER * bench.session.cores)
        smaller = _smaller(bench, call_s, CALL_SHARE * bench.left_s)
    else:
        smaller = _smaller(bench, expected_s, oracle.pace.whole_s, for_all=True)
        if smaller is None:
            return replace(run, bench=bench)
    return replace(run, bench=replace(bench, is_long=True, smaller=smaller))


def _smaller(
    bench: Bench, takes_s: float, allowed_s: float, for_all: bool = False
) -> Smaller | None:
    """Return sizes at which what takes so many seconds takes no more than it is allowed to.

    None where it does so anyway, and where C fixes the sizes.
    """
    analysis, sizes = bench.checker.oracle.analysis, bench.sizes[0]
    if takes_s <= allowed_s:
        return None
    work = work_of(analysis, sizes)
    found = reduced_sizes(analysis, int(work * allowed_s / takes_s), FINELY)
    if found == sizes or not is_possible(analysis, found, work):
        return None
    return Smaller(found, work / work_of(analysis, found), for_all)


def _or_refused(measure: Callable[[], TargetResult]) -> TargetResult:
    """Return how the original does with directives, or why it has none: the others need it not."""
    try:
        return measure()
    except AnnotuneError as refusal:
        return TargetResult(note=refusal.diagnostics[0].message)


def _naive_openmp(run: RegionRun, limit_s: float) -> TargetResult:
    """Return the original with the directive that one would add for OpenMP."""
    codes = {"parallel for": naive_openmp(run.source, run.analysis)}
    threads = run.bench.session.cores
    return baseline(run.bench, "openmp_naive", "openmp", codes, threads, limit_s)


def disturbed(
    found: Mapping[str, TargetResult], load: float | None, cores: int
) -> dict[str, TargetResult]:
    """Return the original with a warning if this machine had other work while it was timed.

    Where variants are timed here too, their search says so, which lasts longer.
    """
    timed = [trial for one in found.values() for trial in one.trials]
    busy = busy_words(timed, None, load, cores)
    return {"sequential": replace(found["sequential"], warnings=busy)}


def _naive_openacc(run: RegionRun, limit_s: float) -> TargetResult:
    """Return the original with OpenACC's own choices: on a GPU where there is one for it.

    Elsewhere it is executed and compared on this host, and not timed: its grid is the GPU's.
    """
    gpu, codes = run.on_gpu("openacc"), naive_openacc(run.source, run.analysis)
    name = "openacc_naive"
    if gpu is None and not run.bench.session.config.checks_naive:
        return TargetResult(note=_why_no_grid(run))
    if gpu is None:
        return baseline(run.bench, name, "openacc", codes, 1, limit_s, is_timed=False)
    with _holding(gpu, run.bench):
        return baseline(_bench_on(gpu, run.bench), name, ON_GPU["openacc"], codes, 1, limit_s)


def _why_no_grid(run: RegionRun) -> str:
    gpu = run.gpu
    why = gpu.reason if isinstance(gpu, NoGpu) else "no OpenACC compiler offloads to it here"
    return f"the compiler chooses its grid, which only a GPU can time: {why}"


def _bench_on(gpu: Gpu, bench: Bench) -> Bench:
    return replace(bench, device_name=gpu.name, arch=gpu.arch, environ=visible_alone(gpu))


def original(run: RegionRun) -> Mapping[str, RegionCode]:
    """Return the user's own region as a variant."""
    text = body_text(run.source.text, run.analysis.region)
    return {"original": RegionCode("{\n" + text + "\n}\n")}


def _tuned(run: RegionRun, found: Mapping[str, TargetResult]) -> Tuned:
    region = run.analysis.region
    work = run.analysis.total
    traffic = work.bytes_read + work.bytes_written
    rows = _Rows(run, found, work.flop)
    made = rows.all()
    trials = tuple(t for outcome in found.values() for t in outcome.trials)
    result = RegionResult(
        region.function,
        region.index,
        region.span.line,
        dict(region.sizes),
        work.flop,
        traffic,
        made,
        trials,
        rows.roofs,
        _sizes_checked(found.values()),
        tuple(target_models(found, trials)),
        tuple(o.searched for o in found.values() if o.searched is not None),
        profiles=tuple(_profiles(run, found)),
        copies=tuple(_copies_costs(run, rows, made)),
        recorded=_recorded(region),
    )
    codes = {n: o.code for n, o in found.items() if o.code is not None}
    notes = {n: o.note for n, o in found.items() if o.note}
    warnings = tuple(words for outcome in found.values() for words in outcome.warnings)
    winners = {n: found[n].variant for n in codes}
    variants = {n: winner for n, winner in winners.items() if winner is not None}
    return Tuned(result, codes, notes, variants, warnings)


def _recorded(region: Region) -> RecordedInputs | None:
    """Return which recorded calls a region was tuned on, None where it was on none."""
    first = next(iter(region.recorded_at(tuned_sizes(region))), None)
    if first is None:
        return None
    return RecordedInputs(sum(c.sizes == first.sizes for c in region.recorded), first.share)


def _profiles(run: RegionRun, found: Mapping[str, TargetResult]) -> Iterator[Profile]:
    """Yield what was counted of each winner, with its target and device."""
    for name, outcome in found.items():
        gpu = run.on_gpu(name)
        if outcome.profile is not None and gpu is not None:
            yield replace(outcome.profile, target=name, device=gpu.name)


def _why_in_part(best: Trial) -> str:
    """Return what is not proved of a winner, nothing where all is."""
    unfinished = best.facts.get(NOT_PROVED)
    return no_time_words(str(unfinished)) if unfinished else ""


def _is_verified(best: Trial) -> bool:
    """Return whether all that the text of a winner holds was run and found right."""
    return best.verified and UNEXECUTED not in best.facts


def _end_to_end_s(best: Trial) -> float | None:
    """Return the seconds of a call with its copies, None where they were not measured."""
    found = best.facts.get(END_TO_END)
    return found if isinstance(found, float) else None


def _copies_costs(run: RegionRun, rows: _Rows, made: Sequence[Row]) -> Iterator[CopiesCost]:
    """Yield for each target whose kernels alone beat the original what its copies cost."""
    original_s = None if rows.sequential is None else rows.sequential.best_known_s
    moved = copies(run.analysis)
    if not original_s or isinstance(moved, str):
        return
    for row in made:
        if row.end_to_end_s is None or not row.time_s or not row.is_tuned:
            continue
        times = CallSeconds(row.time_s, row.end_to_end_s - row.time_s, original_s)
        if times.kernels_s < times.original_s and not times.pays:
            least = break_even(run.analysis, times, run.device)
            cost = CopiesCost(row.name, times.kernels_s, times.copies_s, original_s)
            yield replace(cost, arrays=moved.most(), break_even=least)


def _sizes_checked(found: Iterable[TargetResult]) -> tuple[Mapping[str, int], ...]:
    """Return the sizes at which every target's winner was checked."""
    each = [outcome.sizes for outcome in found if outcome.code is not None]
    return tuple(s for s in each[0] if all(s in sizes for sizes in each)) if each else ()


def comparisons_of(found: Mapping[str, TargetResult], name: str) -> dict[str, Comparison]:
    """Return how the best of a row compares with the measured rows of the original, by their names.

    Those of the finals decide. A time that an earlier run has taken is compared with nothing.
    """
    best = found[name].best
    if best is None or best.is_predicted or name == SEQUENTIAL:
        return {}
    compared = dict(found[name].comparisons)
    for other in ORIGINALS if name not in ORIGINALS else (SEQUENTIAL,):
        first = found[other].best if other in found else None
        if first is not None and first.time_s and other not in compared:
            is_alike = first.device == best.device or other == SEQUENTIAL
            compared |= {other: _compared(best, first)} if is_alike else {}
    return compared


def _compared(best: Trial, first: Trial) -> Comparison:
    """Return how a variant compares with an original, both by what is known of them."""
    final_s, first_s = ((one.final.times_s if one.final else ()) for one in (best, first))
    if final_s and first_s and first.device == best.device:
        return compare(final_s, first_s)
    is_old = best.reused and not best.is_repeat and not final_s
    # Of calls on a GPU these are the times of kernels.
    is_call = END_TO_END in best.facts
    return _compared_alone(() if is_old or is_call else final_s or best.times_s, first)


def _compared_alone(times_s: Sequence[float], first: Trial) -> Comparison:
    """Return how times compare with an original that was not timed in the same rounds."""
    if first.is_predicted:
        return compare_with_estimate(times_s, first.time_s or 0.0)
    first_s = first.final.times_s if first.final else first.times_s
    return compare(times_s, first_s, is_paired=False)


SEQUENTIAL = "sequential"
_WITH_NOTHING = Comparison(Verdict.UNKNOWN)
_ITSELF = Comparison(Verdict.TIED, speedup=1.0)


class _Rows:
    """Makes the rows of a table from what was found, each figure with its origin."""

    def __init__(
        self,
        run: RegionRun,
        found: Mapping[str, TargetResult],
        flop: int,
    ) -> None:
        self.run, self.found, self.flop = run, found, flop
        first = found["sequential"].best
        self.sequential = first
        self.roofs = _roofs(run)

    def all(self) -> tuple[Row, ...]:
        """Return the six rows in their order, and those of other targets that were asked for."""
        makers: Mapping[str, Callable[[str], Row]] = {
            "sequential": self.measured,
            "openmp_naive": self.measured,
            "openacc_naive": self.naive_openacc,
            "openmp": self.measured,
            "openacc": self.tuned,
            "cuda": self.tuned,
        }
        others = (self.tuned(name) for name in self.found if name not in makers)
        return (*(make(name) for name, make in makers.items()), *others)

    def measured(self, name: str) -> Row:
        """Return a row whose time is from this machine's clock."""
        outcome = self.found.get(name)
        if outcome is None:
            return Row(name, RowStatus.UNAVAILABLE, reason=NO_TARGET)
        best = outcome.best
        if best is None or not best.time_s:
            return _untimed_row(name, outcome)
        # Of what takes long there may be an estimate alone.
        status = RowStatus.PREDICTED if best.is_predicted else RowStatus.MEASURED
        return self.row(name, status, best.device, best)

    def tuned(self, name: str) -> Row:
        """Return a GPU target's row: measured where a GPU was, else the model's time, which is
        never compared with a measured one."""
        outcome = self.found.get(name)
        if outcome is None:
            return Row(name, RowStatus.UNAVAILABLE, reason=NO_TARGET)
        best = outcome.best
        if best is None or not best.time_s:
            return _untimed_row(name, outcome)
        if not best.is_predicted:
            return self.measured(name)
        return self.row(name, RowStatus.PREDICTED, best.device, best)

    def naive_openacc(self, name: str) -> Row:
        """Return the row of the compiler's own OpenACC, which only a device can time."""
        best = self.found[name].best
        if best is None:
            return Row(name, RowStatus.UNAVAILABLE, reason=self.found[name].note)
        if self.run.on_gpu("openacc") is not None:
            return self.measured(name)
        reason = _why_no_grid(self.run)
        return Row(name, RowStatus.UNAVAILABLE, verified=True, reason=reason, config=best.config)

    def row(self, name: str, status: RowStatus, device: str, best: Trial) -> Row:
        time_s, final = best.best_known_s, best.final
        compared = comparisons_of(self.found, name)
        beside = compared.get(SEQUENTIAL, _ITSELF if name == SEQUENTIAL else _WITH_NOTHING)
        is_told = not (beside.is_estimated or best.is_predicted)
        assert time_s is not None
        end_to_end_s, forecast = _end_to_end_s(best), self.found[name].forecast
        if status is RowStatus.PREDICTED and forecast is not None and forecast.copies_s is not None:
            end_to_end_s = time_s + forecast.copies_s
        return Row(
            name,
            status,
            device,
            time_s,
            _spread_s(best) if final is None else final.spread_s,
            self.flop / time_s / 1e9,
            self.share(device, time_s),
            beside.speedup if is_told else None,
            _is_verified(best),
            _why_in_part(best) if UNEXECUTED in best.facts else best.reason or _why_in_part(best),
            best.config,
            best.predicted_s,
            self.run.device.vendor_name if best.predicted_s is not None else "",
            beside.low if is_told else None,
            beside.high if is_told else None,
            end_to_end_s,
            final,
            compared,
        )

    def share(self, device: str, time_s: float) -> float | None:
        """Return the roofline's least time on a device over a time, None without a roof."""
        least_s = _least_s(self.run, device)
        return least_s / time_s if least_s else None


def _spread_s(best: Trial) -> float | None:
    """Return the interquartile range of a trial's times, None where one run is all there is."""
    return None if len(best.times_s) == 1 else best.spread_s


def _untimed_row(name: str, outcome: TargetResult) -> Row:
    """Return a row without a time: of a variant that is right, if there is one."""
    best = outcome.best
    if best is None:
        return Row(name, RowStatus.UNAVAILABLE, reason=outcome.note)
    absent = RowStatus.UNAVAILABLE
    reason = _why_in_part(best) if UNEXECUTED in best.facts else outcome.note
    return Row(name, absent, verified=_is_verified(best), reason=reason, config=best.config)


def _roofs(run: RegionRun) -> dict[str, Roof]:
    """Return the limits of this machine and of the device for the region's element type."""
    region, device = run.analysis.region, run.device
    peak_flop_s = run.cpu.peak_flop_s * 8 / widest_real(region)
    return {
        run.cpu.model: Roof(peak_flop_s, run.cpu.bandwidth_bytes_s),
        device.vendor_name: _roof(region, device),
    }


def _roof(region: Region, device: Device) -> Roof:
    peak_flop_s = _MANY_FLOP / roofline_time(_MANY_FLOP, 0, widest_real(region), device)
    return Roof(peak_flop_s, device.sustained_bandwidth_gb_s * 1e9)


def _least_s(run: RegionRun, device: str) -> float:
    """Return the roofline's least seconds of the region on a device, 0 without a roof of it."""
    roof = _roofs(run).get(device)
    if roof is None or not roof.peak_flop_s or not roof.bandwidth_bytes_s:
        return 0.0
    work = run.analysis.total
    traffic = work.bytes_read + work.bytes_written
    return max(work.flop / roof.peak_flop_s, traffic / roof.bandwidth_bytes_s)


def target_models(
    results: Mapping[str, TargetResult], trials: Sequence[Trial]
) -> Iterator[TargetModel]:
    """Yield for each target with a forecast what the model says, beside all of its trials."""
    for target, result in results.items():
        if result.forecast is None:
            continue
        found = result.forecast
        agreed = agreement(target, trials)
        yield TargetModel(
            target,
            found.device,
            tuple(_kernel_model(kernel) for kernel in found.kernels),
            found.copies_s,
            found.why_no_copies,
            agreed.pairs,
            agreed.correlation,
            agreed.error,
            agreed.reason,
        )


def _kernel_model(kernel: KernelForecast) -> KernelModel:
    found = kernel.prediction
    return KernelModel(
        kernel.statements,
        found.time_s,
        found.limit,
        found.registers,
        found.is_compiled,
        kernel.roofline_s,
        kernel.magma_s,
        kernel.why_no_magma,
        found.occupancy,
        {place: size / found.time_s for place, size in found.moved.items()},
    )
