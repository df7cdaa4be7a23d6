"""How well the model's order of the trials agrees with that of the clock.

What the model says of each target's best variant, and how right it was over the trials.

One region that is to be tuned, and how each target of it is built and measured here.

One region from its original to the six rows of its table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp, log, sqrt

from annotune.analysis.facts import Analysis
from annotune.annotation.devices import Device
from annotune.codegen.baseline import naive_openacc, naive_openmp
from annotune.codegen.recipes import listing_of
from annotune.codegen.renaming import body_text
from annotune.codegen.target import RegionCode, Target
from annotune.ir.region import SourceFile
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
from annotune.measure.timing import load_average, ratio_interval
from annotune.measure.trial import Status, Trial
from annotune.model.bounds import roofline_time, widest_real
from annotune.model.predict import KernelForecast
from annotune.space.decision import Base
from annotune.space.space import Space
from annotune.space.variants import Listing, Variant
from annotune.tune.asked import Wanted
from annotune.tune.bench import Bench, busy_words
from annotune.tune.jobs import SHARED_WITH
from annotune.tune.results import KernelModel, RegionResult, Roof, Row, RowStatus, TargetModel
from annotune.tune.tuner import Outcome, baseline, measured, predicted

# With two pairs a rank correlation is 1 or -1 whatever the model.
LEAST_PAIRS = 3
# e to this power is still a float; times further apart are no times.
_LARGEST_LOG = 700.0


@dataclass(frozen=True, slots=True)
class Agreement:
    """The trials of one target that were both predicted and measured.

    `correlation` is Spearman's of both times, None where `reason` says why there is none;
    `error` the geometric mean of the larger over the smaller time of each pair, None for no pair.
    """

    target: str
    pairs: int
    correlation: float | None = None
    error: float | None = None
    reason: str = ""


def agreement(target: str, trials: Iterable[Trial]) -> Agreement:
    """Return how the predictions of a target's trials agree with the measured times."""
    own = [t for t in trials if t.target == target and t.status is Status.CORRECT]
    # One program counts once, also where several points have it.
    own = [t for t in own if not t.is_repeat]
    timed = [t for t in own if t.time_s and not t.is_predicted]
    both = [(t.predicted_s, t.time_s) for t in timed if t.predicted_s and t.time_s]
    if not timed:
        return Agreement(target, 0, reason="no trial was measured")
    if not both:
        return Agreement(target, 0, reason="no model predicts it")
    apart = sum(abs(log(predicted) - log(time)) for predicted, time in both) / len(both)
    error = exp(apart) if apart < _LARGEST_LOG else None
    if len(both) < LEAST_PAIRS:
        reason = f"a rank correlation needs {LEAST_PAIRS} trials, and there are {len(both)}"
        return Agreement(target, len(both), None, error, reason)
    correlation = spearman([p for p, _ in both], [t for _, t in both])
    reason = "" if correlation is not None else "all predictions or all times are equal"
    return Agreement(target, len(both), correlation, error, reason)


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Return Spearman's rank correlation, None where one side has a single rank.

    Equal values share the mean of their ranks, and the correlation is Pearson's of the ranks.

    Source:
        C. Spearman, "The Proof and Measurement of Association between Two Things", American
        Journal of Psychology 15(1), 1904.
    """
    one, two = _ranks(first), _ranks(second)
    mean = (len(one) + 1) / 2
    product = sum((a - mean) * (b - mean) for a, b in zip(one, two, strict=True))
    spread = sqrt(sum((a - mean) ** 2 for a in one) * sum((b - mean) ** 2 for b in two))
    return product / spread if spread else None


def _ranks(values: Sequence[float]) -> list[float]:
    """Return each value's rank from 1; equal ones share the mean of theirs."""
    places: dict[float, list[int]] = {}
    for rank, value in enumerate(sorted(values), 1):
        places.setdefault(value, []).append(rank)
    return [sum(places[value]) / len(places[value]) for value in values]


def target_models(
    outcomes: Mapping[str, Outcome], trials: Sequence[Trial]
) -> Iterator[TargetModel]:
    """Yield for each target with a forecast what the model says, beside all of its trials."""
    for target, outcome in outcomes.items():
        if outcome.forecast is None:
            continue
        found = outcome.forecast
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
    )


# Points among which a search chooses, at most. To list one for a GPU takes 5 ms, for a CPU 1 ms.
MOST_ON_CPU = 5000
MOST_ON_GPU = 300
# The targets that are measured where a GPU answers, and how they are built for it.
ON_GPU = {"openacc": "openacc-gpu", "cuda": "cuda-gpu"}


@dataclass(frozen=True)
class Job:
    """One region to be tuned: its text, what is known of it, and where it is to run.

    `wanted` is how its space is searched. `gpu` is what CUDA is measured on, or the reason why it
    is not; OpenACC too, where the C compiler `offloads` to it.
    """

    source: SourceFile
    base: Base
    space: Space
    device: Device
    cpu: Cpu
    wanted: Wanted
    gpu: Gpu | NoGpu
    offloads: bool = False

    @property
    def analysis(self) -> Analysis:
        return self.base.analysis

    def on_gpu(self, name: str) -> Gpu | None:
        """Return the GPU on which a target of that name is measured, None where it is not."""
        is_built = name in ON_GPU and (name != "openacc" or self.offloads)
        return self.gpu if is_built and isinstance(self.gpu, Gpu) else None

    def listing(self, target: Target) -> Listing:
        """Return the points among which the search of a target chooses.

        Where the model alone judges, only those that it likes best need be checked.
        """
        limit = self.wanted.budget
        if target.is_for_cpu:
            limit = max(limit, MOST_ON_CPU)
        elif self.on_gpu(target.name) is not None:
            limit = max(limit, MOST_ON_GPU)
        return listing_of(target, self.base, self.space, self.device, limit)

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


def tune(job: Job, targets: Sequence[Target], bench: Bench) -> Tuned:
    """Return the table of one region: baselines first, then every target in turn."""
    outcomes: dict[str, Outcome] = {}
    bench.begin("original", 4, _least_s(job, job.cpu.model))
    outcomes["sequential"] = baseline(bench, "sequential", "c", _original(job), 1)
    naive = naive_openmp(job.source, job.analysis)
    outcomes["openmp_naive"] = baseline(
        bench, "openmp_naive", "openmp", {"parallel for": naive}, bench.cores
    )
    acc = naive_openacc(job.source, job.analysis)
    outcomes["openacc_naive"] = _naive_openacc(job, bench, acc)
    for number, target in enumerate(targets):
        if bench.stop.is_set:
            outcomes[target.name] = Outcome(note="the run was ended before its turn came")
            continue
        listing = job.listing(target)
        least_s = _least_s(job, job.timed_on(target))
        bench.begin(f"tuning {target.name}", min(len(listing), job.wanted.budget), least_s)
        own = bench.share(len(targets) - number)
        gpu = job.on_gpu(target.name)
        if gpu is not None:
            outcomes[target.name] = _on_gpu(job, gpu, target, own, listing)
        elif target.is_for_cpu:
            outcomes |= _on_cpu(job, target, own, listing, outcomes)
        else:
            device = job.device.vendor_name
            outcomes[target.name] = predicted(own, target, target.kind, listing, job.wanted, device)
    return _tuned(job, outcomes)


def _on_cpu(
    job: Job, target: Target, bench: Bench, listing: Listing, outcomes: Mapping[str, Outcome]
) -> dict[str, Outcome]:
    """Return the fastest variant by this machine's clock, and the originals as they did beside it.

    These take part in its finals, so that the speed-up is that of two measured in turns.
    """
    known = ("sequential", "openmp_naive")
    rivals = [one for name in known if (one := outcomes[name].contestant) is not None]
    load = load_average()
    found = measured(bench, target, target.kind, listing, job.wanted, rivals)
    busy = busy_words(found.trials, found.waited, load, bench.cores)
    out = {target.name: replace(found, warnings=(*found.warnings, *busy))}
    for name, final in found.rivals.items():
        old = outcomes[name]
        assert old.best is not None
        best = replace(old.best, final=final)
        trials = tuple(best if trial is old.best else trial for trial in old.trials)
        out[name] = replace(old, trials=trials, best=best)
    return out


def _on_gpu(job: Job, gpu: Gpu, target: Target, bench: Bench, listing: Listing) -> Outcome:
    """Return the fastest variant by the GPU's clock, holding the GPU for ourselves.

    The first choice is executed on the CPU too, under the sanitizers and the race detector,
    which find what one lucky order of threads hides.
    """
    wanted = job.wanted
    one = Listing(listing.configs[:1], listing.predicted_s[:1], listing.make)
    first = predicted(bench, target, target.kind, one, replace(wanted, budget=1), gpu.name)
    on_device = _bench_on(gpu, bench)
    kind = ON_GPU[target.name]
    clocks = [read_clocks(gpu)]

    def measure_all(bench: Bench) -> Outcome:
        def look() -> None:
            clocks.append(read_clocks(gpu))

        return measured(bench, target, kind, listing, wanted, look=look)

    if bench.crew is not None:
        # Each worker holds its own, and several measure at once.
        share_mib = bench.memory_mib // bench.crew.slots
        found = measure_all(replace(on_device, memory_mib=share_mib))
        shared = (str(t.facts[SHARED_WITH]) for t in found.trials if SHARED_WITH in t.facts)
        others = tuple(dict.fromkeys(shared))
    else:
        with exclusive(gpu, lock_folder()):
            others = foreign_processes(gpu)
            found = measure_all(on_device)
            others = tuple(dict.fromkeys((*others, *foreign_processes(gpu))))
    said = [*found.warnings]
    if others:
        said.append(f"while it was measured, {gpu.name} was used by {', '.join(others)} too")
    before, after = clocks
    if after is not None and after.slowed_by:
        said.append(f"{gpu.name} was slowed down while it was measured: {after.words}")
    found = _with_clocks(found, clock_facts(before, after))
    return replace(found, trials=(*first.trials, *found.trials), warnings=tuple(said))


def _naive_openacc(job: Job, bench: Bench, codes: Mapping[str, RegionCode]) -> Outcome:
    """Return the original with OpenACC's own choices: on a GPU where there is one for it.

    Elsewhere it is executed and compared on this host, and its time tells nothing.
    """
    gpu = job.on_gpu("openacc")
    if gpu is None:
        return baseline(bench, "openacc_naive", "openacc", codes, 1)
    with exclusive(gpu, lock_folder()):
        return baseline(_bench_on(gpu, bench), "openacc_naive", ON_GPU["openacc"], codes, 1)


def _bench_on(gpu: Gpu, bench: Bench) -> Bench:
    return replace(bench, device_name=gpu.name, arch=gpu.arch, environ=visible_alone(gpu))


def _with_clocks(outcome: Outcome, facts: Mapping[str, str | int | float]) -> Outcome:
    """Return an outcome whose best trial holds the GPU's clocks among its facts."""
    if outcome.best is None:
        return outcome
    best = replace(outcome.best, facts={**outcome.best.facts, **facts})
    trials = tuple(best if trial is outcome.best else trial for trial in outcome.trials)
    return replace(outcome, trials=trials, best=best)


def _original(job: Job) -> Mapping[str, RegionCode]:
    """Return the user's own region as a variant."""
    text = body_text(job.source.text, job.analysis.region)
    return {"original": RegionCode("{\n" + text + "\n}\n")}


def _tuned(job: Job, outcomes: Mapping[str, Outcome]) -> Tuned:
    region = job.analysis.region
    work = job.analysis.total
    traffic = work.bytes_read + work.bytes_written
    rows = _Rows(job, outcomes, work.flop)
    trials = tuple(t for outcome in outcomes.values() for t in outcome.trials)
    result = RegionResult(
        region.function,
        region.index,
        region.span.line,
        dict(region.sizes),
        work.flop,
        traffic,
        rows.all(),
        trials,
        rows.roofs,
        _sizes_checked(outcomes.values()),
        tuple(target_models(outcomes, trials)),
        tuple(o.searched for o in outcomes.values() if o.searched is not None),
    )
    codes = {n: o.code for n, o in outcomes.items() if o.code is not None}
    notes = {n: o.note for n, o in outcomes.items() if o.note}
    warnings = tuple(words for outcome in outcomes.values() for words in outcome.warnings)
    winners = {n: outcomes[n].variant for n in codes}
    variants = {n: winner for n, winner in winners.items() if winner is not None}
    return Tuned(result, codes, notes, variants, warnings)


def _sizes_checked(outcomes: Iterable[Outcome]) -> tuple[Mapping[str, int], ...]:
    """Return the sizes at which every target's winner was checked."""
    each = [outcome.sizes for outcome in outcomes if outcome.code is not None]
    return tuple(s for s in each[0] if all(s in sizes for sizes in each)) if each else ()


@dataclass(frozen=True)
class Speedup:
    """A ratio of times and its interval, each None where it is not known."""

    value: float | None = None
    low: float | None = None
    high: float | None = None


NO_SPEEDUP = Speedup()


class _Rows:
    """Makes the rows of a table from the outcomes, each figure with its origin."""

    def __init__(self, job: Job, outcomes: Mapping[str, Outcome], flop: int) -> None:
        self.job, self.outcomes, self.flop = job, outcomes, flop
        first = outcomes["sequential"].best
        self.sequential = first
        self.roofs = _roofs(job)

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
        others = (self.tuned(name) for name in self.outcomes if name not in makers)
        return (*(make(name) for name, make in makers.items()), *others)

    def measured(self, name: str) -> Row:
        """Return a row whose time is from this machine's clock."""
        outcome = self.outcomes.get(name)
        if outcome is None:
            return Row(name, RowStatus.UNAVAILABLE, reason="not among the targets asked for")
        best = outcome.best
        if best is None or not best.time_s:
            return Row(name, RowStatus.UNAVAILABLE, reason=outcome.note)
        return self.row(name, RowStatus.MEASURED, best.device, best, self.speedup(best))

    def tuned(self, name: str) -> Row:
        """Return a GPU target's row: measured where a GPU was, else the model's time, which is
        never compared with a measured one."""
        outcome = self.outcomes.get(name)
        if outcome is None:
            return Row(name, RowStatus.UNAVAILABLE, reason="not among the targets asked for")
        best = outcome.best
        if best is None or not best.time_s:
            return Row(name, RowStatus.UNAVAILABLE, reason=outcome.note)
        if not best.is_predicted:
            return self.measured(name)
        return self.row(name, RowStatus.PREDICTED, best.device, best, NO_SPEEDUP)

    def naive_openacc(self, name: str) -> Row:
        """Return the row of the compiler's own OpenACC, which only a device can time."""
        best = self.outcomes[name].best
        if best is None:
            return Row(name, RowStatus.UNAVAILABLE, reason=self.outcomes[name].note)
        if self.job.on_gpu("openacc") is not None:
            return self.measured(name)
        gpu = self.job.gpu
        why = gpu.reason if isinstance(gpu, NoGpu) else "no OpenACC compiler offloads to it here"
        reason = f"the compiler chooses its grid, which only a GPU can time: {why}"
        return Row(name, RowStatus.UNAVAILABLE, verified=True, reason=reason, config=best.config)

    def speedup(self, best: Trial) -> Speedup:
        """Return the sequential time over a measured one, with its interval from the finals."""
        first = self.sequential
        if first is None or not first.best_known_s or not best.best_known_s:
            return NO_SPEEDUP
        # A GPU has finals of its own, whose rounds are not those of the sequential code.
        if first.final is None or best.final is None or first.device != best.device:
            return Speedup(first.best_known_s / best.best_known_s)
        ratio = ratio_interval(first.final.times_s, best.final.times_s)
        return Speedup(ratio.value, ratio.low, ratio.high)

    def row(self, name: str, status: RowStatus, device: str, best: Trial, speedup: Speedup) -> Row:
        time_s, final = best.best_known_s, best.final
        assert time_s is not None
        end_to_end_s = best.facts.get("end_to_end_s")
        return Row(
            name,
            status,
            device,
            time_s,
            best.spread_s if final is None else final.spread_s,
            self.flop / time_s / 1e9,
            self.share(device, time_s),
            speedup.value,
            best.verified,
            "",
            best.config,
            best.predicted_s,
            self.job.device.vendor_name if best.predicted_s is not None else "",
            speedup.low,
            speedup.high,
            end_to_end_s if isinstance(end_to_end_s, float) else None,
            final,
        )

    def share(self, device: str, time_s: float) -> float | None:
        """Return the roofline's least time on a device over a time, None without a roof."""
        least_s = _least_s(self.job, device)
        return least_s / time_s if least_s else None


def _roofs(job: Job) -> dict[str, Roof]:
    """Return the limits of this machine and of the device for the region's element type."""
    element, device = widest_real(job.analysis.region), job.device
    return {
        job.cpu.model: Roof(job.cpu.peak_flop_s * 8 / element, job.cpu.bandwidth_bytes_s),
        device.vendor_name: Roof(
            _MANY_FLOP / roofline_time(_MANY_FLOP, 0, element, device),
            device.sustained_bandwidth_gb_s * 1e9,
        ),
    }


def _least_s(job: Job, device: str) -> float:
    """Return the roofline's least seconds of the region on a device, 0 without a roof of it."""
    roof = _roofs(job).get(device)
    if roof is None or not roof.peak_flop_s or not roof.bandwidth_bytes_s:
        return 0.0
    work = job.analysis.total
    traffic = work.bytes_read + work.bytes_written
    return max(work.flop / roof.peak_flop_s, traffic / roof.bandwidth_bytes_s)
