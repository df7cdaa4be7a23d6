"""The loop of a run: a search asks, variants are made, compiled and checked, the search is told."""

from __future__ import annotations

import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import field, replace
from math import ceil
from typing import Any

from annotune.codegen.target import RegionCode, Target
from annotune.diagnostics import AnnotuneError
from annotune.frozen import dataclass
from annotune.measure.plan import CheckPlan
from annotune.measure.program import NICENESS, TOGETHER, Program, compile_ahead
from annotune.measure.run import RUN_LIMIT_S
from annotune.measure.trial import Status, Trial
from annotune.space.variants import Listing, Variant
from annotune.tuning.bench import Bench, Recorder, TrialJob, disk_full_is_refused, program_of
from annotune.tuning.config import Wanted
from annotune.tuning.results import Searched
from annotune.tuning.search.names import make_search
from annotune.tuning.search.points import ABSENT, Points, Value

# So many variants are made, and then compiled, before the search must hear of the first.
BATCH = 8
# What a search will ask for in any case is compiled in batches of up to so many,
MOST = 128
# as long as the compilers take no more than so many seconds for one: nothing is timed meanwhile.
COMPILING_S = 4.0
# No compiler is quicker.
LEAST_S = 1e-3


class Batches:
    """The batches of one search, after what was learnt of the compilers in those before.

    `original_s` is what it took to compile the original: what is known before the first one.
    """

    def __init__(self, compilers: int, original_s: float) -> None:
        self._compilers, self._original_s = compilers, original_s
        self._each_s: dict[object, float] = {}

    @property
    def size(self) -> int:
        """Return how many variants to compile at once.

        The first batch is small, for the compilers do nothing while its texts are made.
        """
        known = self._each_s.values() or (self._original_s,)
        most = MOST if self._each_s else TOGETHER * self._compilers
        each_s = max(LEAST_S, sum(known) / len(known))
        return max(BATCH, min(most, int(COMPILING_S * self._compilers / each_s)))

    def learn(self, program: Program, each_s: float) -> None:
        """Take in that a compiler took so many seconds for each of the variants with such flags."""
        self._each_s[_command(program)] = each_s

    def parts(self, programs: Sequence[Program]) -> list[list[int]]:
        """Return the places of programs in the parts that one call of a compiler each takes.

        Only those of the same flags share a call, and none is more than a compiler's equal share.
        What takes longest comes first, so that no compiler works alone at the end.
        """
        groups: dict[object, list[int]] = {}
        for place, one in enumerate(programs):
            groups.setdefault(_command(one), []).append(place)
        most = min(TOGETHER, ceil(len(programs) / self._compilers))
        found: list[tuple[float, list[int]]] = []
        for command, group in groups.items():
            size = ceil(len(group) / ceil(len(group) / most))
            for first in range(0, len(group), size):
                part = group[first : first + size]
                found.append((self._each_s.get(command, 1.0) * len(part), part))
        return [part for _, part in sorted(found, key=lambda one: -one[0])]


def _command(program: Program) -> object:
    return program.kind, program.optimisation, program.nvcc


def inert_axes(made: Sequence[tuple[Mapping[str, Value], str]]) -> tuple[str, ...]:
    """Return the axes along which points differ and their texts, by their hashes, never do.

    Only points that agree on every other axis say something of one; an axis of which no two such
    points were made is none of these.
    """
    names = dict.fromkeys(name for config, _ in made for name in config)
    return tuple(name for name in names if _is_inert(name, made))


def _is_inert(name: str, made: Sequence[tuple[Mapping[str, Value], str]]) -> bool:
    texts: dict[tuple[tuple[str, Value], ...], set[str]] = defaultdict(set)
    values: dict[tuple[tuple[str, Value], ...], set[Value]] = defaultdict(set)
    for config, text in made:
        others = tuple(sorted((k, v) for k, v in config.items() if k != name))
        texts[others].add(text)
        values[others].add(config.get(name, ABSENT))
    told = [others for others, found in values.items() if len(found) > 1]
    return bool(told) and all(len(texts[others]) == 1 for others in told)


# What a variant takes of the time, before anything is known of one: on a busy machine so many times
# as long as it took to compile the original.
FIRST_S, FIRST_COMPILATIONS = 4.0, 20
# The proofs of a winner take so many compilations beside their runs, where two are made at once.
BUILDS, USUAL_AT_ONCE = 4, 2
# The longest of them take so many times as long as a check, and as a compilation.
LONGEST = 1.5
# A run may take this many times as long as the whole check of the best variant, and always
# this many seconds: a loaded machine takes its time to start a process.
SLOWER = 10
SHORTEST_LIMIT_S = 3.0
# After its time a search without a right variant goes on for so many hangs at the least.
HANGS_OWED = 4


def proofs_s(times: float, trial: Trial, at_once: int) -> float:
    """Return the seconds that proofs will take, so many of which are made at once.

    Their runs are so many times those of a check; none is quicker than the longest of them.
    """
    runs = max(LONGEST, times * USUAL_AT_ONCE / at_once)
    builds = max(LONGEST, BUILDS * USUAL_AT_ONCE / at_once)
    return runs * (trial.run_s or 0.0) + builds * (trial.compile_s or 0.0)


def seconds_each(known: Sequence[Trial], slots: int, compilers: int, is_quiet: bool) -> float:
    """Return the seconds from one variant to the next, by what some have taken.

    Of so many `slots` and `compilers` all work at once, but for a clock that `is_quiet`: compilers
    wait while it is read.
    """
    compile_s = sum(trial.compile_s or 0.0 for trial in known) / len(known) / compilers
    run_s = sum(trial.run_s or 0.0 for trial in known) / len(known) / slots
    return max(LEAST_S, run_s + compile_s if is_quiet else max(run_s, compile_s))


# Why a row was not measured, under "reused" in the facts of its trial.
SAME_TEXT = "the same text as another variant"
UNFINISHED = "the run before ended while this variant was running"
NO_TIME = f"{UNFINISHED}; there was no time to try it again"
GIVEN_UP = "two runs ended while this variant was running; it is not tried again"


@dataclass(frozen=True)
class Way:
    """How the variants of one target get their times.

    `plan` says how the point of a number is checked, `judge` what its time is. Of `slots` trials
    that run at once, a clock bears only one; where it is this processor's (`is_quiet`), nothing
    else is done meanwhile, and it is this process that measures. Times on another device than
    `device` are no match for those on it; empty where there are only predicted ones. What wins must
    stand proofs, which take some `proofs` times as long as the first check.
    """

    kind: str
    plan: Callable[[int, RegionCode], CheckPlan]
    judge: Callable[[Variant, Trial], Trial]
    slots: int = 1
    is_quiet: bool = False
    device: str = ""
    proofs: float = 0.0


@dataclass(frozen=True)
class Tried:
    """One point of the space and its fate; neither variant nor code where it was refused.

    `twin_of` is the number of the point whose text, and thus fate, is the same; None without one.
    One that `is_elsewhere` was timed on another device, and cannot win.
    """

    number: int
    trial: Trial
    variant: Variant | None = None
    code: RegionCode | None = None
    twin_of: int | None = None
    is_elsewhere: bool = False

    @classmethod
    def refused(
        cls,
        number: int,
        target: Target,
        config: Mapping[str, str | int],
        refusal: AnnotuneError,
    ) -> Tried:
        """Return a point of which there is no text, and why."""
        reason = "; ".join(d.message for d in refusal.diagnostics)
        return cls(number, Trial(target.name, dict(config), Status.CONSTRAINTS, reason=reason))

    @property
    def is_right(self) -> bool:
        """Return whether it is right, has a time that counts, and is not there twice."""
        has_time = self.trial.status is Status.CORRECT and bool(self.trial.time_s)
        return has_time and not self.is_elsewhere and self.twin_of is None


@dataclass
class _Underway:
    """A variant on its way; `twins` are others with the same text, which will share its fate."""

    number: int
    variant: Variant
    code: RegionCode
    job: TrialJob
    twins: list[tuple[int, Variant, RegionCode]] = field(default_factory=list)


class Experiment:
    """The search of one target's points, once."""

    def __init__(
        self, bench: Bench, target: Target, listing: Listing, wanted: Wanted, way: Way
    ) -> None:
        self._bench, self._target, self._listing = bench, target, listing
        self._wanted, self._way = wanted, way
        points = Points(listing.configs, listing.predicted_s)
        self._search = make_search(wanted.search, points, wanted.budget, wanted.seed)
        crew = None if way.is_quiet else bench.session.crew
        self._recorder = Recorder(bench, crew)
        self._slots = way.slots if crew is None else crew.slots
        # Workers elsewhere compile for themselves.
        self._compiles = crew is None or crew.is_here
        self._launches = ThreadPoolExecutor(self._slots, thread_name_prefix="trial")
        compilers = bench.session.config.compilers
        self._compilers = ThreadPoolExecutor(compilers, thread_name_prefix="compile")
        self._batches = Batches(compilers, bench.checker.oracle.compile_s)
        self._codes: dict[tuple[int, ...], tuple[Variant, RegionCode]] = {}
        self._points: deque[int] = deque()
        self._waiting: list[_Underway] = []
        self._compiling: dict[Future[float], list[_Underway]] = {}
        self._ready: deque[_Underway] = deque()
        self._checking: dict[Future[Trial], _Underway] = {}
        self._suspects: deque[_Underway] = deque()
        self._by_text: dict[str, _Underway] = {}
        self._texts: dict[int, str] = {}
        self._order: list[int] = []
        self.tried: dict[int, Tried] = {}
        share_s = bench.until - time.monotonic()
        self._most_reserved_s = max(0.0, bench.until - bench.assured)
        self._reserved_s = 0.0
        self._until = min(bench.until + max(share_s, HANGS_OWED * bench.limit_s), bench.last)

    def run(self) -> tuple[tuple[Tried, ...], Searched]:
        """Return the fate of every point that was tried, in the order asked for, and an account.

        Raises:
            AnnotuneError: The disk is full.
        """
        start = time.monotonic()
        try:
            while self._step():
                pass
        finally:
            self._compilers.shutdown(cancel_futures=True)
            self._launches.shutdown(cancel_futures=True)
            self._search.close()
        tried = tuple(self.tried[n] for n in self._order if n in self.tried)
        return tried, self._account(tried, time.monotonic() - start)

    def _step(self) -> bool:
        """Do what can be done now, wait for something to end, and return whether to go on."""
        if self._is_ended:
            self._waiting.clear()
            self._ready.clear()
            self._points.clear()
        else:
            # What is ready goes first: the next ones are made and compiled meanwhile.
            self._launch()
            self._prepare()
            self._compile()
        self._launch()
        pending = self._pending
        if not pending:
            return self._retry()
        done, _ = wait(pending, return_when=FIRST_COMPLETED)
        for compiled in [f for f in self._compiling if f in done]:
            self._compiled(compiled)
        for checked in [f for f in self._checking if f in done]:
            self._checked(checked)
        return True

    @property
    def _pending(self) -> set[Future[Any]]:
        return {*self._compiling, *self._checking}

    @property
    def _is_ended(self) -> bool:
        """Return whether no further variant is to be begun.

        One right variant is owed, although failures took the time: for as long again, and for a few
        hangs at the least.
        """
        if self._bench.session.stop.is_set:
            return True
        now, own = time.monotonic(), [one.trial for one in self.tried.values() if one.is_right]
        # One that would not end in time is not begun.
        next_s = min((trial.run_s or 0.0 for trial in own), default=0.0)
        if now + next_s < self._bench.until - self._reserved_s:
            return False
        return bool(own) or now >= self._until

    def _prepare(self) -> None:
        """Make the texts of the next points, as long as nothing else has to be seen to."""
        if self._way.is_quiet and (self._ready or self._checking):
            return
        while self._room > 0 and not self._is_ended:
            if not self._points:
                self._points.extend(self._search.ask(self._room))
            if not self._points:
                return
            self._make(self._points.popleft())
            if any(future.done() for future in self._pending):
                return

    @property
    def _room(self) -> int:
        """Return how many more variants may be on their way to a check."""
        waiting = len(self._waiting)
        queued = waiting + len(self._ready) + sum(map(len, self._compiling.values()))
        evaluated = sum(one.twin_of is None for one in self.tried.values())
        under_way = queued + len(self._checking)
        left = self._wanted.budget - evaluated - len(self._suspects)
        # What there is no time for need not be compiled.
        left = min(left, self._affordable) - under_way
        if not self._way.is_quiet:
            most = max(BATCH, 2 * self._slots, self._bench.session.config.compilers)
            return min(most - queued, left)
        # Large batches, for compilers and clock take turns; but never what a search would rather
        # choose by the times of those before.
        foreseen = min(self._batches.size, waiting + len(self._points) + self._search.foreseen)
        most = foreseen if self._compiling else max(BATCH, foreseen)
        return min(most - waiting, left)

    @property
    def _affordable(self) -> int:
        """Return for how many variants there is time, by what those before took; one is owed."""
        own = [one.trial for one in self.tried.values() if one.twin_of is None]
        known = [t for t in own if t.run_s and not t.reused]
        first_s = max(FIRST_S, FIRST_COMPILATIONS * self._bench.checker.oracle.compile_s)
        jobs = self._slots, self._bench.session.config.compilers
        each_s = seconds_each(known, *jobs, self._way.is_quiet) if known else first_s / self._slots
        left_s = self._bench.until - self._reserved_s - time.monotonic()
        return max(1, int(left_s / each_s))

    def _make(self, number: int) -> None:
        """Give a point its text, or its fate where that is known or none is needed."""
        self._order.append(number)
        config = self._listing.configs[number]
        try:
            variant = self._listing.variant(number)
            code = self._code(variant)
        except AnnotuneError as refusal:
            self._settle(Tried.refused(number, self._target, config, refusal))
            return
        program = program_of(self._target, self._way.kind, variant, code)
        plan = self._way.plan(number, code)
        text = self._texts[number] = self._recorder.text_key(program, plan.arch)
        first = self._by_text.get(text)
        if first is not None:
            self._is_twin(first, number, variant, code)
            return
        key = self._recorder.key(program, plan)
        one = _Underway(number, variant, code, TrialJob(key, program, plan))
        self._by_text[text] = one
        known = self._recorder.known(one.job)
        launches = self._recorder.store.unfinished(key)
        if known is not None:
            self._ended(one, known)
        elif launches > 1:
            self._ended(one, self._failed(one, GIVEN_UP))
        elif launches:
            self._suspects.append(one)
            self._search.tell(number, None)
        else:
            self._waiting.append(one)

    def _code(self, variant: Variant) -> RegionCode:
        """Return the text of a variant; those with the same plans have the same text."""
        key = tuple(id(plan) for plan in variant.plans())
        if key not in self._codes:
            # The variant is kept too, so that no other plan gets an id of its own.
            self._codes[key] = (variant, self._target.region(variant, resident=False))
        return self._codes[key][1]

    def _is_twin(self, first: _Underway, number: int, variant: Variant, code: RegionCode) -> None:
        first.twins.append((number, variant, code))
        if first.number in self.tried:
            found = self.tried[first.number]
            self._share(first, found.trial, found.is_elsewhere)

    def _compile(self) -> None:
        """Hand what waits to the compilers, in parts that share a call of one."""
        if not self._compiles:
            self._ready.extend(self._waiting)
            self._waiting.clear()
            return
        if self._way.is_quiet and (self._compiling or self._ready or self._checking):
            return
        waiting = tuple(self._waiting)
        self._waiting.clear()
        if waiting and not self._compiling and not self.tried:
            # What every check begins with, while the first are compiled.
            self._launches.submit(self._recorder.prepare, waiting[0].job.plan)
        for places in self._batches.parts([one.job.program for one in waiting]):
            part = [waiting[place] for place in places]
            self._compiling[self._compilers.submit(self._compile_part, part)] = part

    def _compile_part(self, part: Iterable[_Underway]) -> float:
        """Compile some variants, and return the seconds that it took."""
        jobs = [one.job for one in part]
        oracle = self._bench.checker.oracle
        start = time.monotonic()
        # Compilers make way for a clock, and where they never meet one for nobody.
        niceness = 0 if self._way.is_quiet else NICENESS
        with disk_full_is_refused(oracle.folder):
            plan, programs = jobs[0].plan, [job.program for job in jobs]
            compile_ahead(programs, oracle, plan.limits.compile_s, plan.arch, niceness)
        return time.monotonic() - start

    def _compiled(self, future: Future[float]) -> None:
        part = self._compiling.pop(future)
        each_s = future.result() / len(part)
        self._batches.learn(part[0].job.program, each_s)
        for one in part:
            one.job = replace(one.job, compile_s=each_s)
        # In the order in which the search asked, whichever was compiled first.
        places = {number: place for place, number in enumerate(self._order)}
        self._ready = deque(sorted((*self._ready, *part), key=lambda one: places[one.number]))

    def _launch(self) -> None:
        """Start trials while slots are free."""
        if self._way.is_quiet and self._compiling:
            return
        while self._ready and len(self._checking) < self._slots:
            self._start(self._ready.popleft())

    def _start(self, one: _Underway) -> None:
        right = [tried.trial for tried in self.tried.values() if tried.is_right]
        best_s = min((t.time_s for t in right if t.time_s), default=0.0)
        quickest_s = min((t.run_s for t in right if t.run_s), default=RUN_LIMIT_S)
        plan = one.job.plan
        if plan.timing is not None:
            plan = replace(plan, timing=replace(plan.timing, best_s=best_s))
        job = replace(one.job, plan=plan)
        limit_s = max(SHORTEST_LIMIT_S, SLOWER * quickest_s)
        self._checking[self._launches.submit(self._recorder.check, job, limit_s)] = one

    def _checked(self, future: Future[Trial]) -> None:
        self._ended(self._checking.pop(future), future.result())

    def _retry(self) -> bool:
        """Start what a run before left unfinished, one at a time, and return whether there is any.

        Nothing tells a variant that ended its run from one during which the user did: it gets a
        second chance, after all the others, and no third.
        """
        if not self._suspects:
            return False
        one = self._suspects.popleft()
        if self._is_ended:
            self._ended(one, self._failed(one, NO_TIME))
        else:
            self._start(one)
        return True

    def _failed(self, one: _Underway, reason: str) -> Trial:
        config = dict(one.variant.config)
        return Trial(self._target.name, config, Status.RUNTIME, reason=reason)

    def _ended(self, one: _Underway, trial: Trial) -> None:
        """Give a variant its fate, and the same to its twins."""
        is_elsewhere = bool(self._way.device) and trial.device not in ("", self._way.device)
        if not self._reserved_s and trial.run_s:
            wanted_s = proofs_s(self._way.proofs, trial, self._bench.session.config.jobs)
            self._reserved_s = max(0.0, min(self._most_reserved_s, wanted_s))
        trial = self._way.judge(one.variant, trial)
        self._settle(Tried(one.number, trial, one.variant, one.code, is_elsewhere=is_elsewhere))
        self._share(one, trial, is_elsewhere)

    def _share(self, one: _Underway, trial: Trial, is_elsewhere: bool) -> None:
        for number, variant, code in one.twins:
            facts = {**trial.facts, "reused": SAME_TEXT}
            own = replace(trial, config=dict(variant.config), facts=facts, reused=True)
            own = replace(own, compile_s=None, run_s=None)
            self._settle(Tried(number, own, variant, code, one.number, is_elsewhere))
        one.twins.clear()

    def _settle(self, tried: Tried) -> None:
        """Keep a fate, and tell the search and whoever listens."""
        trial = replace(tried.trial, at_s=time.monotonic() - self._bench.session.start)
        self.tried[tried.number] = replace(tried, trial=self._bench.tell(trial))
        is_right = trial.status is Status.CORRECT and trial.time_s and not tried.is_elsewhere
        self._search.tell(tried.number, trial.time_s if is_right else None)

    def _account(self, tried: tuple[Tried, ...], time_s: float) -> Searched:
        own = [one for one in tried if one.twin_of is None]
        return Searched(
            self._target.name,
            self._wanted.search,
            self._wanted.seed,
            self._listing.legal or len(self._listing),
            self._wanted.budget,
            len(own),
            len(tried) - len(own),
            sum(one.trial.reused for one in own),
            inert_axes([(self._listing.configs[n], text) for n, text in self._texts.items()]),
            time_s,
        )
