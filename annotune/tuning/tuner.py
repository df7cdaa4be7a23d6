"""One region tuned for one target: measured or predicted, and the best that is right is kept.

The best few and the original are timed in turns, in finals. Where a model speaks, it is told what
the compiler said of the kernels, and not heard where what should be in registers is in memory.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field, replace
from math import inf, prod
from statistics import median

from annotune.analysis.facts import Analysis
from annotune.codegen.build import USUAL
from annotune.codegen.several_sizes import TUNED_SUFFIX, call_sizes, sizes_text
from annotune.codegen.target import RegionCode, Target
from annotune.diagnostics import AnnotuneError
from annotune.frozen import dataclass
from annotune.ir.c_types import element_bytes
from annotune.ir.nest import LocalArray, MemorySpace, walk_stmts
from annotune.measure.check import BRANCHES
from annotune.measure.compile import COMPILE_LIMIT_S, KINDS
from annotune.measure.plan import CheckPlan, long_proofs, proofs
from annotune.measure.program import Program, compile_ahead
from annotune.measure.run import ONCE_S, RUN_LIMIT_S
from annotune.measure.timing import (
    FEWEST_ROUNDS,
    LEAST_ROUNDS,
    MOST_ROUNDS,
    Turns,
    is_apart,
    median_interval,
    ratio_interval,
)
from annotune.measure.trial import Comparison, Final, KernelFacts, Status, Trial, Verdict
from annotune.model.predict import Forecast
from annotune.model.traffic import Compiled
from annotune.schedule.plan import Kernel
from annotune.space.variants import Listing, Variant, serves_all
from annotune.transforms.tree import Body
from annotune.tuning.bench import Bench, Recorder, Smaller, program_of
from annotune.tuning.config import Phase, Wanted
from annotune.tuning.experiment import Experiment, Tried, Way, proofs_s
from annotune.tuning.jobs import ALONE_S, Contestant, Rounds, take_rounds
from annotune.tuning.proving import (
    EXECUTED_AT,
    NOT_PROVED,
    UNEXECUTED,
    Proved,
    Proving,
    unfinished_words,
)
from annotune.tuning.reduced import reduced_variant
from annotune.tuning.results import Profile, Searched
from annotune.tuning.verdict import compare

# The finals have this share of a target's time, and no more seconds than these.
SHARE = 0.15
BUDGET_S = 10.0
# All contestants together have this share of the finals, and the winner beside the originals what
# is left.
FIRST_ROUNDS = 0.7
# However late it is, an original that takes no longer than this has its rounds.
LEAST_BUDGET_S = 1.0
# The fewest rounds of the original may take this many times as long as the finals should.
MOST_OVER = 2.0
# Whoever took this many times the best one's time in the search had more than bad luck, and whoever
# took as many as the second one's needs no further rounds.
NEAR, BEATEN = 1.25, 2.0
FEWEST, MOST = 3, 8
# What takes this many times the fastest one's time by its median is never named in its place.
AS_FAST = 1.02
# The proofs of a winner take some so many checks, each long one so many more: on two cores gemm's
# take 6 s after checks of 0.6 s, and local_grad3's, with 24 long ones, 14 s after checks of 0.2 s.
PROOFS, LONG_PROOF = 10.0, 2.0
# What the proofs of a winner tell of it, among its facts.
OF_PROOFS = (BRANCHES, NOT_PROVED, EXECUTED_AT, UNEXECUTED)
# The original and its like may take this share of the finals' time each, the figures of the others
# matter as well; but they have `LEAST_ROUNDS`, or `FEWEST_ROUNDS`, unless these take too long.
ORIGINALS_SHARE = 0.3


@dataclass(frozen=True)
class Finals:
    """The rounds of each contestant that took part, by name, and the order of the variants.

    `waited` is the share of the time in which some task on this machine waited for a processor,
    None where that is not known.
    """

    rounds_s: Mapping[str, tuple[float, ...]]
    ranking: tuple[str, ...]
    waited: float | None = None

    def comparison(self, name: str, other: str) -> Comparison | None:
        """Return how a contestant compares with another one, None where one is missing."""
        own, others = self.rounds_s.get(name), self.rounds_s.get(other)
        return None if own is None or others is None else compare(own, others)

    def of(self, name: str, winner: str) -> Final | None:
        """Return what is known of a contestant beside the winner, None where one is missing."""
        own, best = self.rounds_s.get(name), self.rounds_s.get(winner)
        if own is None or best is None:
            return None
        time_s, ratio = median_interval(own), ratio_interval(own, best)
        verdict = Verdict.WINNER if name == winner else compare(own, best).verdict
        return Final(
            verdict,
            time_s.value,
            time_s.low,
            time_s.high,
            ratio.value,
            ratio.low,
            ratio.high,
            tuple(own),
        )


NO_FINALS = Finals({}, ())


def reserved_s(bench: Bench) -> float:
    """Return how many of the seconds that are left belong to the finals."""
    return min(BUDGET_S, SHARE * bench.left_s)


def finalists(trials: Mapping[int, Trial]) -> tuple[int, ...]:
    """Return the numbers of the best few in the search that may win, and of all that were near."""
    times = {n: t.time_s for n, t in trials.items() if t.status is Status.CORRECT and t.time_s}
    order = sorted(times, key=lambda n: (times[n], n))
    best_s = min(times.values(), default=0.0)
    near = [n for n in order if times[n] <= NEAR * best_s]
    few = [n for n in order[:FEWEST] if times[n] <= BEATEN * best_s]
    return tuple(few if len(few) > len(near) else near[:MOST])


def finals(
    bench: Bench, contestants: Sequence[Contestant], budget_s: float, by_crew: bool = False
) -> Finals:
    """Return the contestants' times, taken in turns for about `budget_s` seconds.

    The original takes part in as many rounds as do not take the others' time. One variant alone is
    timed, too: its time may be an earlier run's. With `by_crew` they run where the crew's workers
    are, where there is one.
    """
    limited = (in_so_many_rounds(one, budget_s) for one in contestants)
    taking_part = [one for one in limited if one.rounds]
    if not any(one.number is not None for one in taking_part):
        return NO_FINALS
    oracle = bench.checker.oracle
    plan = replace(bench.plan(True), arch=bench.arch)
    crew, stop = bench.session.crew, bench.session.stop

    def take(several: Sequence[Contestant], time_s: float, fewest: int) -> Rounds:
        if by_crew and crew is not None:
            return crew.take_rounds(oracle, several, plan, time_s, fewest)
        return take_rounds(oracle, several, plan, time_s, fewest, lambda: stop.is_set)

    until = time.monotonic() + budget_s
    taken = take(taking_part, FIRST_ROUNDS * budget_s, FEWEST_ROUNDS)
    found = replace(decided(taking_part, taken.turns), waited=taken.waited)
    several = () if stop.is_set else undecided(taking_part, found)
    if not several:
        return found
    left_s = until - time.monotonic()
    return further(found, several, take(several, left_s, 0).turns)


def undecided(contestants: Sequence[Contestant], found: Finals) -> tuple[Contestant, ...]:
    """Return the winner and the originals where they need more rounds to be told apart.

    Those for whom there is no time, and those that failed, are none of these.
    """
    best = found.ranking[0] if found.ranking else ""
    rounds = len(found.rounds_s.get(best, ()))
    others = [
        replace(one, rounds=min(one.rounds, LEAST_ROUNDS) - rounds)
        for one in contestants
        if one.number is None
        and len(found.rounds_s.get(one.name, ())) == rounds < min(one.rounds, LEAST_ROUNDS)
    ]
    own = (one for one in contestants if one.name == best)
    left = LEAST_ROUNDS - rounds
    return (*(replace(one, rounds=left) for one in own), *others) if others else ()


def further(found: Finals, contestants: Sequence[Contestant], turns: Sequence[Turns]) -> Finals:
    """Return finals with further rounds of some who have had as many as each other before."""
    more = {
        one.name: (*found.rounds_s[one.name], *taken.times_s)
        for one, taken in zip(contestants, turns, strict=True)
        if not taken.problem
    }
    return replace(found, rounds_s={**found.rounds_s, **more})


def decided(contestants: Sequence[Contestant], turns: Sequence[Turns]) -> Finals:
    """Return the finals that these turns make."""
    rounds = {
        one.name: taken.times_s
        for one, taken in zip(contestants, turns, strict=True)
        if not taken.problem
    }
    numbers = {one.name: one.number for one in contestants if one.number is not None}
    left = sorted((name for name in rounds if name in numbers), key=lambda name: numbers[name])
    ranking = []
    while left:
        ranking.append(first_of(left, rounds))
        left.remove(ranking[-1])
    return Finals(rounds, tuple(ranking))


def first_of(names: Sequence[str], rounds_s: Mapping[str, Sequence[float]]) -> str:
    """Return the first of `names` that is as fast as the fastest of them, as far as can be told.

    The order is the listing's, the rules' own choice before all others: two runs that see the
    same differences name the same winner, whatever the noise in each. Where there is much noise,
    only what seems as fast is taken for it.
    """
    fastest = min(names, key=lambda name: median(rounds_s[name]))
    ratios = ((name, ratio_interval(rounds_s[name], rounds_s[fastest])) for name in names)
    return next(n for n, ratio in ratios if not is_apart(ratio) and ratio.value <= AS_FAST)


def in_so_many_rounds(one: Contestant, budget_s: float) -> Contestant:
    """Return a contestant that takes no more than its share of the finals' seconds; 0 rounds where
    even the fewest take much longer than all of these."""
    if one.number is not None or not one.time_s:
        return one
    # A turn is a first run and one that counts, which are the same where it takes long.
    turn_s = one.time_s * (1 if one.time_s > ALONE_S else 2)
    budget_s = max(LEAST_BUDGET_S, budget_s)
    if FEWEST_ROUNDS * turn_s > MOST_OVER * budget_s:
        return replace(one, rounds=0)
    affordable = int(min(MOST_ROUNDS * turn_s, ORIGINALS_SHARE * budget_s) / turn_s)
    owed = LEAST_ROUNDS if LEAST_ROUNDS * turn_s <= budget_s else FEWEST_ROUNDS
    return replace(one, rounds=max(owed, affordable))


def forecast_of(variant: Variant, kernels: Sequence[KernelFacts]) -> Forecast | None:
    """Return what the model says of a variant, None where no model speaks.

    `kernels` is what ptxas said of the compiled text, none where it was not asked.
    """
    if variant.model is None:
        return None
    found = variant.model.forecast(_compiled(variant, kernels))
    if variant.tuned.both is None:
        return found
    return replace(found, copies_s=None, why_no_copies=SHARED_CALLS)


SHARED_CALLS = "the host computes a share of each call"


def predicted_trial(variant: Variant, trial: Trial) -> Trial:
    """Return a trial with the model's time of its variant."""
    found = forecast_of(variant, trial.kernels)
    return replace(trial, predicted_s=variant.predicted_s if found is None else found.kernels_s)


def compiled_kernels(
    variant: Variant, kernels: Sequence[KernelFacts]
) -> Iterator[tuple[Kernel, KernelFacts]]:
    """Yield the kernels for the tuned sizes with the compiler's facts of each."""
    facts = {one.plain_name: one for one in kernels}
    suffix = TUNED_SUFFIX if variant.general is not None else ""
    for kernel in variant.tuned.kernels():
        if one := facts.get(kernel.name + suffix):
            yield kernel, one


def _compiled(variant: Variant, kernels: Sequence[KernelFacts]) -> dict[int, Compiled]:
    """Return the compiler's facts of the kernels for the tuned sizes, by their leaders."""
    return {
        kernel.statements[0]: Compiled(
            one.registers, one.spill_store_bytes, one.spill_load_bytes, one.shared_bytes
        )
        for kernel, one in compiled_kernels(variant, kernels)
    }


def not_in_registers(variant: Variant, trial: Trial) -> str:
    """Return in words what of a variant's registers is in local memory, nothing where all are.

    Local memory is device memory: no prediction speaks for a kernel that works on it.
    """
    spills = trial.facts.get("spill_bytes", 0)
    if spills:
        return f"spills {spills} bytes of registers"
    return next(_frames(variant, trial), "")


def _frames(variant: Variant, trial: Trial) -> Iterator[str]:
    """Yield the stack frames that are as large as a block which should be in registers.

    What the user's own arrays take is theirs. So is a smaller frame: that of ``sin``, say.
    """
    region = variant.analysis.region
    named = {array.name for array in _private(region.nest.body)}
    for kernel, facts in compiled_kernels(variant, trial.kernels):
        own, held = _sorted_out(kernel, named)
        least = min(map(_bytes, held), default=0)
        if held and facts.stack_bytes >= least + sum(map(_bytes, own)):
            names = " or ".join(array.name for array in held)
            yield f"has a stack frame of {facts.stack_bytes} bytes, {names} being in local memory"


def _sorted_out(kernel: Kernel, named: set[str]) -> tuple[list[LocalArray], list[LocalArray]]:
    """Return the private arrays of a kernel: those `named` by the user, and the schedule's."""
    arrays = list(_private(kernel.body))
    own = [array for array in arrays if array.name in named]
    return own, [array for array in arrays if array.name not in named]


def _private(body: Body) -> Iterator[LocalArray]:
    for stmt in walk_stmts(body):
        if isinstance(stmt, LocalArray) and stmt.space is MemorySpace.PRIVATE:
            yield stmt


def _bytes(array: LocalArray) -> int:
    return prod(array.extents) * element_bytes(array.type)


_ERROR = re.compile(r"\berror\b", re.IGNORECASE)
# What is checked on this machine in the place of a build for the GPU.
_CHECKED_AS = {"cuda-gpu": "cuda-cpu", "openacc-gpu": "openacc"}
# The kinds whose device is this processor, which must not be kept busy while it is measured.
_ON_THIS_CPU = ("openmp", "c")
# The original is timed for so many seconds, and for this share of the time that is left at most.
BASELINE_BUDGET_S, BASELINE_SHARE = 0.6, 0.05
# The start of a program may take so long on a busy machine.
LEAST_BESIDE_S = 1.0
# The original is run once where one run takes this share of the time that is left.
ONCE_SHARE = 0.01
# The original has this many times as long as what it takes alone where threads or a device run it.
AS_WRITTEN_LIMIT = 5


@dataclass(frozen=True)
class TargetResult:
    """The trials of one target, and the winner; the original's is a trial without a variant.

    `sizes` are the others of the bench at which that was compared with the original, `forecast`
    what the model says of it, None where no model speaks for the target. `searched` tells how the
    trials were chosen, None where there was nothing to choose. `warnings` are for the user.
    `contestant` is what the original, or its like, is in the finals of a target, and `rivals` what
    each of these took in the finals of this one, in a share `waited` of which some task waited for
    a processor; `comparisons` are those of the winner with each of them. `profile` is what a
    profiler counted of the winner.
    """

    trials: tuple[Trial, ...] = ()
    winner: Tried | None = None
    note: str = ""
    sizes: tuple[Mapping[str, int], ...] = ()
    forecast: Forecast | None = None
    searched: Searched | None = None
    warnings: tuple[str, ...] = ()
    contestant: Contestant | None = None
    rivals: Mapping[str, Final] = field(default_factory=dict)
    waited: float | None = None
    profile: Profile | None = None
    comparisons: Mapping[str, Comparison] = field(default_factory=dict)

    @property
    def best(self) -> Trial | None:
        return None if self.winner is None else self.winner.trial

    @property
    def code(self) -> RegionCode | None:
        return None if self.winner is None else self.winner.code

    @property
    def variant(self) -> Variant | None:
        return None if self.winner is None else self.winner.variant

    def with_best(self, best: Trial) -> TargetResult:
        """Return the result with more known of the winner's trial."""
        assert self.winner is not None
        trials = tuple(best if trial is self.best else trial for trial in self.trials)
        return replace(self, trials=trials, winner=replace(self.winner, trial=best))

    def with_proof(self, proved: Proved) -> TargetResult:
        """Return the result with what came of the proofs of the text that has the winner."""
        best = self.best
        assert best is not None
        told = {n: words for n, words in proved.facts.items() if n in OF_PROOFS}
        known = {n: words for n, words in best.facts.items() if n not in OF_PROOFS}
        unfinished = tuple(unfinished_words(best.target, proved))
        found = self.with_best(replace(best, facts={**known, **told}))
        return replace(found, warnings=(*found.warnings, *unfinished))


def _proofs(bench: Bench, kind: str) -> float:
    """Return how many checks the proofs of a winner take, none where they are at small sizes."""
    if bench.brief and bench.awkward:
        return 0.0
    return PROOFS + LONG_PROOF * long_proofs(kind, bench.checker.oracle.analysis)


@dataclass(frozen=True)
class Contest:
    """What a search and its finals have left of one target, nothing of which is proved.

    `ranked` are the variants that are right as far as is known, the first to win before the others;
    `tried` are all that were made of the listing. What wins gets `facts`, and the user `warnings`.
    """

    bench: Bench
    target: Target
    kind: str
    listing: Listing
    tried: tuple[Tried, ...]
    ranked: tuple[Tried, ...]
    searched: Searched
    finals: Finals = NO_FINALS
    facts: Mapping[str, str | int | float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def proofs_s(self) -> float:
        """Return the seconds that the proofs of its winner will take, by the check of one."""
        times = _proofs(self.bench, self.kind)
        jobs = self.bench.session.config.jobs
        return max((proofs_s(times, one.trial, jobs) for one in self.ranked[:1]), default=0.0)

    def unproved(self) -> TargetResult:
        """Return the result if the first stands all proofs."""
        return self._result({one.number: one.trial for one in self.tried}, self.ranked[:1])

    def proved(self, until: float | None = None) -> TargetResult:
        """Return the first that stands all proofs as the winner.

        Right values in the order in which threads happened to run say nothing of another order.
        Neither do those at one problem size of another, so it is run at all of them. No long proof
        is begun after `until`, by default that of the bench.
        """
        bench = self.bench if until is None else replace(self.bench, until=until)
        fates = {one.number: one.trial for one in self.tried}
        for one in self.ranked:
            assert one.variant is not None
            assert one.code is not None
            kind = _CHECKED_AS.get(self.kind, self.kind)
            proved, sizes = self.executed(one), tuple[Mapping[str, int], ...]()
            if proved.wrong is None:
                others, sizes = prove(bench, program_of(self.target, kind, one.variant, one.code))
                proved = others.after(proved)
            found = proved.wrong
            if found is None:
                won = self._result(fates, (one,)).with_proof(proved)
                return replace(won, sizes=sizes)
            for same in (t.number for t in self.tried if one.number in (t.number, t.twin_of)):
                fates[same] = replace(
                    fates[same],
                    status=found.status,
                    reason=found.reason,
                    verified=False,
                    time_s=None,
                    spread_s=None,
                    times_s=(),
                )
        return self._result(fates, ())

    def executed(self, one: Tried) -> Proved:
        """Return what comes of running a text for the tuned sizes, where no check has, at others.

        Nothing where a check of it was at the tuned sizes.
        """
        bench = self.bench
        is_brief = bench.brief and bool(bench.awkward)
        if not one.trial.is_predicted or not (is_brief or bench.smaller is not None):
            return Proved()
        return executed_smaller(bench, self.target, _CHECKED_AS.get(self.kind, self.kind), one)

    def _result(self, fates: Mapping[int, Trial], winners: Sequence[Tried]) -> TargetResult:
        """Return the result of trials with such fates, of which the only one of `winners` won."""
        trials = tuple(fates.values())
        found = TargetResult(trials, note="" if winners else _why_none(trials))
        for one in winners:
            assert one.variant is not None
            forecast = forecast_of(one.variant, one.trial.kernels)
            found = TargetResult(trials, one, forecast=forecast)
            found = found.with_best(replace(one.trial, facts={**one.trial.facts, **self.facts}))
        told = _with_finals(found, self.tried, self.finals)
        waited = self.finals.waited
        return replace(told, searched=self.searched, waited=waited, warnings=self.warnings)


def measured(
    bench: Bench,
    target: Target,
    kind: str,
    listing: Listing,
    wanted: Wanted,
    rivals: Sequence[Contestant] = (),
    look: Callable[[], None] = lambda: None,
) -> Contest:
    """Return the right variants by the clock, one timed at a time, the fastest first.

    The best few are measured again in turns, together with `rivals`, so that a passing
    disturbance does not choose. Of those that cannot be told apart the first of the listing is
    first.
    `look` is called when the last time has just been taken: an idle device lowers its clock.
    """

    if bench.smaller is not None and (bench.smaller.for_all or kind in _ON_THIS_CPU):
        return _measured_smaller(bench, bench.smaller, target, kind, listing, wanted)
    budget_s = reserved_s(bench)
    searching = bench.before(budget_s)
    tried, searched = by_clock(searching, target, kind, listing, wanted)
    right = {one.number: one for one in _by_time(one for one in tried if one.is_right)}
    chosen = [right[n] for n in finalists({n: one.trial for n, one in right.items()})]
    own = [
        replace(_contestant(target, kind, one, bench.session.cores), is_spare=place > 0)
        for place, one in enumerate(chosen)
    ]
    found = NO_FINALS
    # Of one alone the search has just taken the time.
    is_known = not rivals and not any(one.trial.reused for one in chosen[:1]) and len(own) == 1
    if not bench.session.stop.is_set and not is_known:
        with bench.session.config.ledger.on(Phase.FINALS):
            found = finals(bench, (*own, *rivals), budget_s, by_crew=kind not in _ON_THIS_CPU)
    look()
    ranked = {int(name): right[int(name)] for name in found.ranking}
    ranking = tuple((ranked | right).values())
    return Contest(bench, target, kind, listing, tried, ranking, searched, found)


# So much of a target's time is kept for one call of the winner at the sizes to measure at.
CONFIRMING = 0.25
# Its time is that of several runs if a run is no more than one in so many parts of what is left.
CONFIRMED_RUNS = 8
# What a check takes beside the call, at least.
BESIDE = 1.5


def _measured_smaller(
    bench: Bench, smaller: Smaller, target: Target, kind: str, listing: Listing, wanted: Wanted
) -> Contest:
    """Return the same by the clock at smaller sizes, a call taking long at those to measure at.

    What is the fastest there is run at these once, as long as there is time for it.
    """
    searching = replace(bench.before(CONFIRMING * bench.left_s), sizes=(smaller.sizes,))
    tried, searched = by_clock(searching, target, kind, listing, wanted, smaller.scaled)
    fates = {one.number: one for one in tried}
    order = _by_time(one for one in tried if one.is_right)
    ranked: list[Tried] = []
    for one in order:
        with bench.session.config.ledger.on(Phase.FINALS):
            found = one if ranked else _confirmed(bench, target, kind, one)
        fates[one.number] = found
        ranked += [found] if found.is_right else []
    return Contest(bench, target, kind, listing, tuple(fates.values()), tuple(ranked), searched)


def _confirmed(bench: Bench, target: Target, kind: str, one: Tried) -> Tried:
    """Return a variant with its fate at the sizes to measure at, its estimate without the time."""
    assert one.variant is not None
    assert one.code is not None
    assert one.trial.time_s is not None
    left_s, smaller = bench.left_s, bench.smaller
    is_alone = smaller is None or not smaller.for_all
    if not is_alone or BESIDE * one.trial.time_s > left_s or bench.session.stop.is_set:
        return one
    program = program_of(target, kind, one.variant, one.code)
    plan = replace(bench.plan(True), arch=bench.arch)
    assert plan.timing is not None
    # One run is no sample: a few are made where they fit, on data that no cache holds anyway.
    timing = replace(plan.timing, warm_ups=0, once_s=left_s / CONFIRMED_RUNS)
    # A time of an earlier run is no match for what this one knows of the original.
    trial = Recorder(bench).anew(program, replace(plan, timing=timing), left_s)
    if trial.status is Status.TIMEOUT:
        return one
    return replace(one, trial=bench.tell(replace(trial, at_s=one.trial.at_s)))


def in_turns(
    bench: Bench, target: Target, kind: str, listing: Listing
) -> tuple[tuple[Tried, ...], Finals]:
    """Return the variants of a short listing by the clock, and how they rank.

    All are compiled at once and checked in their order, as long as there is time. Where there is
    none for finals, the times of the checks rank them.
    """
    made = [_made(target, listing, number) for number in range(len(listing))]
    programs = {
        one.number: program_of(target, kind, one.variant, one.code)
        for one in made
        if one.variant is not None and one.code is not None
    }
    plan = replace(bench.plan(True), arch=bench.arch)
    crew = bench.session.crew
    if crew is None:
        _compile_each(bench, tuple(programs.values()), plan)
    recorder, tried = Recorder(bench, crew), list[Tried]()
    for one in made:
        trial = one.trial
        if one.variant is not None:
            if tried and bench.is_over:
                break
            found = recorder.again(programs[one.number], plan)
            trial = predicted_trial(one.variant, found)
        is_elsewhere = trial.device not in ("", bench.device_name)
        tried.append(replace(one, trial=bench.tell(trial), is_elsewhere=is_elsewhere))
    return tuple(tried), _ranked(bench, target, kind, [one for one in tried if one.is_right])


def _made(target: Target, listing: Listing, number: int) -> Tried:
    """Return a point of a listing with its text, which nothing is known of if it has one."""
    config = listing.configs[number]
    try:
        variant = listing.variant(number)
        code = target.region(variant, resident=False)
    except AnnotuneError as refusal:
        return Tried.refused(number, target, config, refusal)
    untried = Trial(target.name, dict(config), Status.CONSTRAINTS)
    return Tried(number, untried, variant, code)


def _compile_each(bench: Bench, programs: Sequence[Program], plan: CheckPlan) -> None:
    """Compile some programs side by side; what fails is left to the check, which says why."""
    oracle, limit_s = bench.checker.oracle, plan.limits.compile_s
    with ThreadPoolExecutor(bench.session.config.compilers) as pool:
        for program in programs:
            pool.submit(compile_ahead, [program], oracle, limit_s, plan.arch)


def _ranked(bench: Bench, target: Target, kind: str, right: Sequence[Tried]) -> Finals:
    """Return the finals of what is right, by the times of the checks where there is no time."""
    own = [_contestant(target, kind, one, bench.session.cores) for one in right]
    if FEWEST_ROUNDS * sum(one.trial.run_s or 0.0 for one in right) < bench.left_s:
        found = finals(bench, own, min(BUDGET_S, bench.left_s), by_crew=True)
        if found.ranking:
            return found
    return decided(own, [Turns(one.trial.times_s) for one in right])


def by_clock(
    bench: Bench,
    target: Target,
    kind: str,
    listing: Listing,
    wanted: Wanted,
    judge: Callable[[Trial], Trial] = lambda trial: trial,
) -> tuple[tuple[Tried, ...], Searched]:
    """Return the fates of the variants that a search has timed, one at a time, and its account.

    What `judge` makes of each counts.
    """

    def plan(_: int, code: RegionCode) -> CheckPlan:
        # What is built for the GPU is built for this one, and asked for its registers; OpenACC's
        # compiler for the grid that it chooses.
        grids = KINDS[kind].is_on_gpu and not code.device
        return replace(bench.plan(True), arch=bench.arch if code.device else "", grids=grids)

    is_quiet = kind in _ON_THIS_CPU
    device = bench.device_name
    way = Way(
        kind,
        plan,
        lambda variant, trial: judge(predicted_trial(variant, trial)),
        is_quiet=is_quiet,
        device=device,
        proofs=_proofs(bench, kind),
    )
    return Experiment(bench, target, listing, wanted, way).run()


def predicted(
    bench: Bench, target: Target, kind: str, listing: Listing, wanted: Wanted, device: str
) -> Contest:
    """Return the variants that pass their checks, that with the least predicted time first.

    All are compiled and executed on the CPU, several at once.
    """

    def plan(_: int, code: RegionCode) -> CheckPlan:
        return replace(bench.plan(False), arch=bench.arch if code.device else "", grids=True)

    def judge(variant: Variant, trial: Trial) -> Trial:
        return judged(variant, trial, bench.arch, device)

    way = Way(kind, plan, judge, bench.session.config.jobs, proofs=_proofs(bench, kind))
    tried, searched = Experiment(bench, target, listing, wanted, way).run()
    ranked = tuple(_by_time(one for one in tried if one.is_right))
    return Contest(bench, target, kind, listing, tried, ranked, searched)


def judged(variant: Variant, trial: Trial, arch: str, device: str) -> Trial:
    """Return a checked trial with the model's time on `device`, where the model may speak."""
    if trial.status is not Status.CORRECT:
        return trial
    if lost := not_in_registers(variant, trial):
        reason = f"{lost}, compiled for {arch}"
        return replace(trial, status=Status.CONSTRAINTS, reason=reason)
    trial = predicted_trial(variant, trial)
    return replace(trial, time_s=trial.predicted_s, is_predicted=True, device=device)


def _by_time(tried: Iterable[Tried]) -> list[Tried]:
    return sorted(tried, key=lambda one: one.trial.time_s or float("inf"))


def prove(
    bench: Bench, program: Program, arch: str = "", others: Sequence[Analysis] = ()
) -> tuple[Proved, tuple[Mapping[str, int], ...]]:
    """Return what comes of a text's proofs, and at which of the bench's other sizes it is right.

    One that has kernels for several problem sizes has `others`, the analyses at all but the first
    of the bench's. With an `arch` nvcc has to compile it for that.
    """
    recorder, tried = Recorder(bench), bench.plan(False)
    # A proof takes longer than a trial, and a limit that is a share of the time may be short.
    run_s = max(RUN_LIMIT_S, tried.limits.run_s)
    limits = replace(tried.limits, run_s=run_s, compile_s=COMPILE_LIMIT_S)
    tried = replace(tried, device_name="", environ={}, limits=limits)
    at_others = [replace(tried, sizes=(sizes,)) for sizes in bench.others]
    at_others[:1] = [replace(plan, arch=arch) for plan in at_others[:1]]
    right: list[Mapping[str, int]] = []

    def check(plan: CheckPlan) -> Trial:
        trial = recorder.again(program, plan, plan.limits.run_s)
        if trial.verified and plan in at_others:
            right.extend(plan.sizes)
        return trial

    analysis = bench.checker.oracle.analysis
    session = bench.session
    proving = Proving(check, bench.until, session.config.jobs, bench.last, bench.expected_s)
    # The last one tells what all have run.
    *most, last = proofs(program, analysis, tried, bench.awkward, others)
    with session.config.ledger.on(Phase.CHECKS):
        found = proving.of((*most, *at_others, last), analysis, at_others)
    if (bench.brief or bench.is_long) and found.wrong is None:
        found = replace(found, unfinished=(_left_at(bench, program.kind), *found.unfinished))
    return found, tuple(sizes for sizes in bench.others if sizes in right)


def executed_smaller(bench: Bench, target: Target, kind: str, one: Tried) -> Proved:
    """Return what comes of running a variant's text for the tuned sizes at smaller ones.

    The same schedule makes the same text for these, but for its numbers. Where it does not, nothing
    has run what the variant has for the tuned sizes alone.
    """
    variant, code = one.variant, one.code
    assert variant is not None
    assert code is not None
    is_for_all = variant.general is None and serves_all(variant.tuned, variant.analysis.region)
    if is_for_all:
        return Proved()
    with bench.session.config.ledger.on(Phase.CHECKS):
        found = reduced_variant(target, variant, code)
        if found is not None:
            program = program_of(target, kind, found.variant, found.code)
            plan = replace(bench.plan(False), sizes=(found.sizes,), device_name="", environ={})
            limits = replace(plan.limits, run_s=max(RUN_LIMIT_S, plan.limits.run_s))
            limits = replace(limits, compile_s=COMPILE_LIMIT_S)
            trial = Recorder(bench).again(program, replace(plan, limits=limits))
            # Too slow on this CPU is not wrong.
            is_late = trial.status is Status.TIMEOUT
            if not is_late and (trial.verified or trial.is_wrong):
                return Proved((trial,), told={EXECUTED_AT: sizes_text(found.sizes)})
    place = sizes_text(call_sizes(variant.analysis))
    words = f"with its text for {place} which nothing has run"
    return Proved((), (words,), {UNEXECUTED: place})


def _left_at(bench: Bench, kind: str) -> str:
    """Return in words what was not compared at the sizes to measure at, as it would take long."""
    place = sizes_text(bench.sizes[0])
    where = f" at {place}" if place else ""
    if bench.is_long:
        return f"against the whole original{where}"
    # What this processor measures was compared there, on usual values.
    return f"on other values{where}" if kind in _ON_THIS_CPU else f"as it runs on this CPU{where}"


def _contestant(target: Target, kind: str, one: Tried, threads: int) -> Contestant:
    """Return a variant of the search that is right as one of the finals."""
    assert one.variant is not None
    assert one.code is not None
    program = program_of(target, kind, one.variant, one.code)
    return Contestant(str(one.number), program, one.trial.time_s or 0.0, threads, one.number)


def _with_finals(result: TargetResult, tried: Sequence[Tried], found: Finals) -> TargetResult:
    """Return a result with what its trials took in the finals, beside the winner of all."""
    winner = str(result.winner.number) if result.winner and result.winner.is_right else ""
    trials, best = [], result.best
    for one, trial in zip(tried, result.trials, strict=True):
        is_right = trial.status is Status.CORRECT and one.is_right
        final = found.of(str(one.number), winner) if is_right else None
        trials.append(trial if final is None else replace(trial, final=final))
        best = trials[-1] if trial is result.best else best
    rivals = {name: found.of(name, winner) for name in found.rounds_s if not name.isdecimal()}
    known = {name: final for name, final in rivals.items() if final is not None}
    compared = {name: found.comparison(winner, name) for name in known}
    told = result if best is None else result.with_best(best)
    own = {name: one for name, one in compared.items() if one is not None}
    return replace(told, trials=tuple(trials), rivals=known, comparisons=own)


def original_program(name: str, kind: str, label: str, code: RegionCode) -> Program:
    """Return the original in one of its forms, which `label` calls, as a program."""
    return Program(name, kind, code, config={"as written": label}, optimisation=(USUAL,))


def baseline(
    bench: Bench,
    name: str,
    kind: str,
    codes: Mapping[str, RegionCode],
    threads: int,
    limit_s: float = 0.0,
    is_timed: bool = True,
) -> TargetResult:
    """Return the fastest of a few ways to write the original, measured with `threads`.

    Measured in every run: it is what the others are compared with. One run may take `limit_s`
    at the least, however short the search is to be. Where it is not timed, the first that is right
    will do.
    """
    trials: list[Trial] = []
    programs: list[Program] = []
    for label, code in codes.items():
        if bench.session.stop.is_set:
            break
        program = original_program(name, kind, label, code)
        budget_s = min(BASELINE_BUDGET_S, BASELINE_SHARE * bench.left_s)
        plan = bench.plan(is_timed, budget_s=budget_s)
        # What the user's own code needs it may have.
        run_s = min(max(limit_s, plan.limits.run_s), _beside_s(trials))
        limits = replace(plan.limits, run_s=run_s, memory_mib=0)
        if plan.timing is not None:
            plan = replace(plan, timing=replace(plan.timing, once_s=_once_s(bench)))
        plan = replace(plan, threads=threads, grids=True, limits=limits)
        if not is_timed and bench.awkward:
            # At the tuned sizes it may take as long as the original.
            plan = replace(plan, sizes=bench.awkward)
        trials.append(bench.tell(bench.checker.check(program, plan)))
        programs.append(program)
        if not is_timed and trials[-1].status is Status.CORRECT:
            return TargetResult(tuple(trials), Tried(len(trials) - 1, trials[-1]))
    right = [n for n, t in enumerate(trials) if t.status is Status.CORRECT and t.time_s]
    if not right:
        return TargetResult(tuple(trials), note=_why_none(tuple(trials)))
    first = min(right, key=lambda n: trials[n].time_s or float("inf"))
    one = Contestant(name, programs[first], trials[first].time_s or 0.0, threads)
    return TargetResult(tuple(trials), Tried(first, trials[first]), contestant=one)


def _beside_s(trials: Sequence[Trial]) -> float:
    """Return the seconds after which a run is slower than what one of `trials` has timed."""
    took_s = [t.run_s for t in trials if t.status is Status.CORRECT and t.run_s]
    return max(LEAST_BESIDE_S, min(took_s)) if took_s else inf


ESTIMATED = "estimated_from"
"""Under this name the original's facts have of how many of its runs its time is estimated."""


def estimated(bench: Bench, program: Program) -> TargetResult:
    """Return the estimated time of an original that is not run as a whole.

    It takes part in no finals: the time of a part of it is none of it.
    """
    oracle = bench.checker.oracle
    assert oracle.pace is not None
    runs = oracle.pace.runs
    trial = Trial(
        program.target,
        dict(program.config),
        Status.CORRECT,
        oracle.expected_s(bench.sizes[0]),
        is_predicted=True,
        device=bench.device_name,
        verified=True,
        reason=f"estimated from {runs} runs of a part of its iterations",
        facts={ESTIMATED: runs},
    )
    trial = bench.tell(trial)
    return TargetResult((trial,), Tried(0, trial))


def ran_once(bench: Bench, program: Program) -> TargetResult | None:
    """Return the time of the one run of an original that takes long, None where it does not.

    All else is compared with what that run has left: there is nothing to check.
    """
    took_s, problem = _reference_s(bench)
    if problem or not _once_s(bench) < took_s < inf:
        return None
    trial = Trial(
        program.target,
        dict(program.config),
        Status.CORRECT,
        took_s,
        0.0,
        times_s=(took_s,),
        verified=True,
        run_s=took_s,
        device=bench.device_name,
        facts={"runs": 1},
    )
    trial = bench.tell(trial)
    one = Contestant(program.target, program, took_s, 1)
    return TargetResult((trial,), Tried(0, trial), contestant=one)


def _reference_s(bench: Bench) -> tuple[float, str]:
    """Return how long the original ran at the sizes to measure at, and why it left no result."""
    try:
        found = bench.checker.oracle.reference(bench.sizes[0], bench.plan(True).seed)
    except ValueError as refusal:  # C has no such arrays at these sizes
        return 0.0, str(refusal)
    return found.took_s, found.problem


def _once_s(bench: Bench) -> float:
    """Return the seconds beyond which the original is run once."""
    return min(ONCE_S, ONCE_SHARE * bench.left_s)


def unchecked(bench: Bench, found: TargetResult, program: Program, limit_s: float) -> TargetResult:
    """Return the original's time where nothing could be compared with what it computes.

    Without it there is no speed-up of anything. One that was ended before its end has none.
    """
    if found.best is not None or bench.session.stop.is_set:
        return found
    time_s, _ = _reference_s(bench)
    if time_s == inf:
        return found
    if time_s <= _once_s(bench):
        plan = bench.plan(True)
        plan = replace(plan, limits=replace(plan.limits, run_s=limit_s, memory_mib=0), threads=1)
        alone = Contestant(program.target, program, inf, 1)
        (turns,) = take_rounds(bench.checker.oracle, (alone,), plan, 0.0).turns
        if not turns.times_s:
            return found
        time_s = median(turns.times_s)
    trial = replace(found.trials[0], time_s=time_s, times_s=(time_s,), device=bench.device_name)
    return TargetResult((trial, *found.trials[1:]), Tried(0, trial))


def _why_none(trials: Sequence[Trial]) -> str:
    """Return why no variant may be used: the first failure's words."""
    failed = next((t for t in trials if t.status is not Status.CORRECT), None)
    if failed is None and trials:
        return f"nothing to time: {trials[0].facts.get('skipped', 'no run was timed')}"
    if failed is None:
        return "there was no time to try a variant"
    lines = (failed.reason or "no reason was given").splitlines()
    # A compiler's ending says less than its message.
    first = next((line for line in lines if _ERROR.search(line)), lines[0])
    return f"no variant passed its check; the first: {failed.status}: {first.strip()}"
