"""A whole run: every region of a file tuned at each of its problem sizes in turn, and its files."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from math import inf
from pathlib import Path

from annotune import __version__
from annotune.annotation.devices import Device
from annotune.annotation.flags import macros
from annotune.codegen.build import BuildCommand
from annotune.codegen.recipes import exact_recipe
from annotune.codegen.several_sizes import combined, sizes_text
from annotune.codegen.target import Provenance, RegionCode, Target
from annotune.diagnostics import INTERNAL, AnnotuneError, Diagnostic, internal_errors_at
from annotune.frozen import dataclass
from annotune.ir.region import Region, SourceFile
from annotune.measure.check import Checker
from annotune.measure.compile import COMPILE_LIMIT_S, CompileJob, compile_runtime
from annotune.measure.machine import (
    Cpu,
    Gpu,
    NoGpu,
    cpu_facts,
    cpu_model,
    find_gpu,
    memory_limit_mib,
    usable_cores,
)
from annotune.measure.oracle import Oracle
from annotune.measure.sizes import awkward_sizes, distinct, open_sizes, other_sizes, tuned_sizes
from annotune.measure.toolchain import Toolchains
from annotune.measure.trial import Trial
from annotune.runtime.texts import CUDA_RUNTIME
from annotune.space.decision import Base
from annotune.space.space import Space
from annotune.space.variants import Variant
from annotune.tuning.bench import Bench, Listener, Request, Session, program_of
from annotune.tuning.config import NEVER, RunConfig, Stop, Wanted, refuse_missing_libraries, wanted
from annotune.tuning.digest import digest
from annotune.tuning.jobs import UNFIT_WORKER, scratch_folder
from annotune.tuning.profiling import Profiler
from annotune.tuning.proving import Proved
from annotune.tuning.region_run import RegionRun, Sought, Tuned, sought, untuned
from annotune.tuning.results import RegionResult, Results
from annotune.tuning.store import STORE_FAILED, Store, in_memory
from annotune.tuning.timetable import LEAST, RESERVED, TimeShares
from annotune.tuning.tuner import TargetResult, prove
from annotune.tuning.workers import BAD_CONFIG, NO_WORKER, crew_of

# However short a run is to be, one compilation may take this many seconds.
LEAST_LIMIT_S = 5.0
# This share of the time is for what comes after the last region: reports and files.
AFTERWARDS = 0.03
# One compilation that hangs may take this share of a region's time.
ONE_HANG = 0.25
# What no other region of the run would fare better with.
OF_THE_RUN = frozenset(one.code for one in (STORE_FAILED, UNFIT_WORKER, NO_WORKER, BAD_CONFIG))


@dataclass(frozen=True)
class Ready:
    """A region that the stages before have accepted; `others` are its other problem sizes."""

    base: Base
    space: Space
    others: tuple[Ready, ...] = ()

    @property
    def by_size(self) -> tuple[Ready, ...]:
        """Return what is to be tuned, one problem size after the other."""
        return (self, *self.others)


@dataclass(frozen=True)
class Building:
    """What is built of a source, and with what.

    `targets` are what is written for a region, `device` is what its kernels are predicted for.
    `flags` go to every compilation of the user's file, such as ``-D``; `arch` is ``--arch``.
    """

    source: SourceFile
    targets: Sequence[Target]
    device: Device
    tools: Toolchains
    flags: tuple[str, ...] = ()
    arch: str = ""


def run(
    building: Building, regions: Sequence[Ready], request: Request, store: Store | None = None
) -> tuple[tuple[Tuned, ...], Mapping[str, str], tuple[Diagnostic, ...]]:
    """Return every region's result, the versions of the tools, and annotune's own mistakes.

    The time is that of the whole command: it is shared by the regions, and a region's by its
    problem sizes. What `store` knows is not measured again; without one, nothing outlives the run.

    Raises:
        AnnotuneError: An annotation asks for no search that there is, the original does not compile
            here, so nothing can be checked, there are no such workers, or the disk is full.
    """
    searches = [
        _searched(request.config, ready.base.analysis.region, share)
        for ready, share in zip(regions, region_shares(regions), strict=True)
    ]
    times = TimeShares([(1 - AFTERWARDS) * one.time_s for one in searches], request.config.begun)
    with tuning(building, request, store) as own:
        found: list[Tuned | AnnotuneError] = []
        for number, (ready, search) in enumerate(zip(regions, searches, strict=True)):
            search = replace(search, time_s=times.next_s())
            found.append(own.region_or_refusal(number, ready, search))
    refusals = (d for one in found if isinstance(one, AnnotuneError) for d in one.diagnostics)
    failed = tuple(one for one in refusals if one.code == INTERNAL.code)
    return _with_refused(regions, found), _versions(building.tools), failed


@contextmanager
def tuning(building: Building, request: Request, store: Store | None = None) -> Iterator[Tuning]:
    """Give what the regions of a run have in common, for as long as it lasts.

    Raises:
        AnnotuneError: There are no such workers, or the disk is full.
    """

    def wait() -> None:
        if request.listener is not None:
            request.listener.stage("waiting for the first worker", 0)

    config = request.config
    with scratch_folder() as scratch, crew_of(config.workers, request.stop, wait) as crew:
        session = Session(
            config,
            usable_cores(),
            memory_limit_mib(),
            request.listener,
            in_memory() if store is None else store,
            request.stop,
            crew,
        )
        gpu = find_gpu() if crew is None else crew.home.gpu
        # What the processor can do is asked of all its cores at once, when they are free.
        is_idle = not config.is_ahead
        cpu = cpu_facts(building.tools) if is_idle else Cpu(cpu_model(), usable_cores())
        own = Tuning(session, building, gpu, cpu, scratch)
        with ThreadPoolExecutor(1) as beside:
            # nvcc takes some seconds, which the first variant of each region would wait for.
            if isinstance(gpu, Gpu) and any(one.name == "cuda" for one in building.targets):
                job = CompileJob((), "cuda-gpu", arch=own.arch)
                beside.submit(compile_runtime, job, CUDA_RUNTIME, building.tools, own.compiled)
            yield own


def _with_refused(
    regions: Sequence[Ready], found: Sequence[Tuned | AnnotuneError]
) -> tuple[Tuned, ...]:
    """Return what came of each region, those that are refused with empty tables.

    Raises:
        AnnotuneError: That is all of them.
    """
    refusals = [one for one in found if isinstance(one, AnnotuneError)]
    if len(refusals) == len(found):
        raise AnnotuneError(tuple(d for one in refusals for d in one.diagnostics))
    out: list[Tuned] = []
    for ready, one in zip(regions, found, strict=True):
        if isinstance(one, AnnotuneError):
            analysis = ready.base.analysis
            one = untuned(analysis.region, analysis.total, one.diagnostics[0].message)
        out.append(one)
    return tuple(out)


def _searched(config: RunConfig, region: Region, share: float) -> Wanted:
    found = wanted(config, region, share)
    refuse_missing_libraries(config, found.search, region)
    return found


@dataclass(frozen=True)
class Tuning:
    """What the regions of one run have in common."""

    session: Session
    building: Building
    gpu: Gpu | NoGpu
    cpu: Cpu
    scratch: Path

    @property
    def compiled(self) -> Path:
        """Return the folder of the compiled texts, which depend on no size."""
        return self.session.config.compiled or self.scratch / "compiled"

    @property
    def arch(self) -> str:
        """Return what nvcc compiles for, empty where it compiles for no such device."""
        can_compile = self.building.tools.nvcc is not None and self.building.device.can_compile
        return self.building.arch or (self.building.device.arch if can_compile else "")

    def region_or_refusal(self, number: int, ready: Ready, search: Wanted) -> Tuned | AnnotuneError:
        """Return a region tuned, or why it is refused.

        Raises:
            AnnotuneError: The run cannot go on.
        """
        try:
            with internal_errors_at(ready.base.analysis.region.span):
                return self.region(number, ready, search)
        except AnnotuneError as refusal:
            if any(problem.code in OF_THE_RUN for problem in refusal.diagnostics):
                raise
            return refusal

    def region(self, number: int, ready: Ready, search: Wanted) -> Tuned:
        """Return a region tuned at each of its problem sizes, proved."""
        names = [sizes_text(tuned_sizes(one.base.analysis.region)) for one in ready.by_size]
        times = TimeShares([search.time_s * share for share in size_shares(ready.by_size)])
        if self.session.config.is_ahead:
            return self._ahead(number, ready, search, times)
        at_size = partial(self.at_size, number, ready, search)
        return tune_each(
            names, at_size, search.budget, times, self.building.targets, self.session.stop
        )

    def _ahead(self, number: int, ready: Ready, search: Wanted, times: TimeShares) -> Tuned:
        """Return a region that is made ready at each of its sizes, and tuned at none.

        Of several sizes the one text for all is proved in the run, when it is known.
        """
        from annotune.tuning.ahead import prove_first

        found = []
        for place in range(len(ready.by_size)):
            run = self._region_run(number, ready, search, place, times.next_s())
            found.append(prove_first(run, self.building.targets, proves=not ready.others))
        said = dict.fromkeys(words for one in found for words in one.warnings)
        return replace(found[0], warnings=tuple(said))

    def at_size(
        self, number: int, ready: Ready, search: Wanted, place: int, budget: int, share_s: float
    ) -> AtSize:
        """Return a region searched at one of its problem sizes, with a share of what it may do."""
        wanted = replace(search, budget=budget)
        run = self._region_run(number, ready, wanted, place, share_s)
        found = sought(run, self.building.targets)
        return AtSize(found, min(RESERVED * share_s, found.proofs_s()))

    def _region_run(
        self, number: int, ready: Ready, search: Wanted, place: int, share_s: float
    ) -> RegionRun:
        """Return the run of a region at one of its problem sizes."""
        one, own = ready.by_size[place], share_s / search.time_s if search.time_s else 1.0
        search = replace(search, time_s=share_s, share=search.share * own)
        bench = self.bench(one, self.scratch / f"{number}-{place}", share_s)
        if ready.others:
            inner = self.session.listener
            listener = inner and SizeListener(inner, sizes_text(bench.sizes[0]))
            session = replace(self.session, listener=listener)
            bench = replace(bench, session=session, others=_checked_only(ready, place))
        device, tools = self.building.device, self.building.tools
        offloads, profiler = "nvptx-none" in tools.offload, Profiler(tools.ncu)
        made_of = (one.base, one.space, device, self.cpu, search, self.gpu, offloads, profiler)
        return RegionRun(bench, *made_of)

    def bench(self, ready: Ready, folder: Path, share_s: float) -> Bench:
        """Return what checks and measures a region for so many seconds, in a folder to be made.

        Raises:
            AnnotuneError: The original does not compile here.
        """
        analysis, building, tools = ready.base.analysis, self.building, self.building.tools
        region = analysis.region
        given = (*building.flags, *macros(region.spec, {*region.scalars, *region.arrays}))
        original_s = self.session.config.original_s
        self.compiled.mkdir(exist_ok=True)
        folder.mkdir()
        (folder / self.compiled.name).symlink_to(self.compiled)
        return Bench(
            self.session,
            Checker(Oracle(building.source, analysis, tools, folder, given, original_s)),
            (tuned_sizes(region),),
            awkward_sizes(analysis),
            time.monotonic() + share_s,
            self.cpu.model,
            self.arch,
            limit_s=_limit_s(self.session.config, share_s),
            others=other_sizes(analysis),
        )


def _limit_s(config: RunConfig, share_s: float) -> float:
    """Return how long one compilation may take; where nothing waits for a clock, as long as any."""
    shared_s = max(LEAST_LIMIT_S, share_s * ONE_HANG)
    return COMPILE_LIMIT_S if config.is_ahead else min(COMPILE_LIMIT_S, shared_s)


def _checked_only(ready: Ready, place: int) -> tuple[Mapping[str, int], ...]:
    """Return the annotation's problem sizes for which nothing is tuned, at the first one alone."""
    if place:
        return ()
    tuned = [tuned_sizes(one.base.analysis.region) for one in ready.others]
    return tuple(sizes for sizes in other_sizes(ready.base.analysis) if sizes not in tuned)


Sizes = Mapping[str, int]


@dataclass(frozen=True)
class AtSize:
    """What the searches of a region found at one of its problem sizes.

    So many seconds of its share are left to the proofs.
    """

    sought: Sought
    proofs_s: float = 0.0

    @property
    def bench(self) -> Bench:
        """Return the bench of the size."""
        return self.sought.run.bench

    @property
    def sizes(self) -> Sizes:
        """Return the sizes of a call that was tuned."""
        return self.bench.sizes[0]


def region_shares(regions: Sequence[Ready]) -> list[float]:
    """Return the share of a run's time that each region has, as in the program if recorded."""
    calls = [ready.base.analysis.region.recorded for ready in regions]
    return _weighted([own[0].region_s if own else None for own in calls])


def size_shares(by_size: Sequence[Ready]) -> list[float]:
    """Return the same of a region's time for each of its problem sizes."""
    analyses = (one.base.analysis.region for one in by_size)
    calls = [region.recorded_at(tuned_sizes(region)) for region in analyses]
    return _weighted([own[0].time_s if own else None for own in calls])


def _weighted(times_s: Sequence[float | None]) -> list[float]:
    """Return the shares of parts that take so long; each has `LEAST` of an equal one at the least.

    Where one is not known all are equal.
    """
    known = [time_s for time_s in times_s if time_s is not None]
    whole_s, count = sum(known), len(times_s)
    if len(known) < count or not whole_s:
        return [1 / count] * count
    wanted = [max(LEAST / count, time_s / whole_s) for time_s in known]
    return [share / sum(wanted) for share in wanted]


def shares(budget: int, parts: int) -> tuple[int, ...]:
    """Return a budget in `parts` as even as can be, the larger ones first and none of them 0."""
    each, rest = divmod(budget, parts)
    return tuple(max(1, each + (number < rest)) for number in range(parts))


@dataclass(frozen=True)
class SizeListener:
    """Tells a listener of stages at one of several problem sizes."""

    inner: Listener
    sizes: str

    def stage(self, text: str, total: int, least_s: float = 0.0) -> None:
        """Pass a stage on with the sizes."""
        self.inner.stage(f"{text} for {self.sizes}", total, least_s)

    def trial(self, trial: Trial) -> None:
        """Pass a trial on."""
        self.inner.trial(trial)

    def waits(self, words: str) -> None:
        """Pass on what is waited for."""
        self.inner.waits(words)


def tune_each(
    names: Sequence[str],
    at_size: Callable[[int, int, float], AtSize],
    budget: int,
    times: TimeShares,
    targets: Sequence[Target],
    stop: Stop = NEVER,
) -> Tuned:
    """Return a region tuned at each of its sizes, which `names` call, and its text proved.

    `at_size` searches one of them, by its number, with a share of the budget and of the seconds.
    What each leaves to the proofs is for those of the text for all of them. After `stop` no other
    than the first is begun.

    Raises:
        AnnotuneError: The region cannot be tuned at the first of them.
    """
    parts: list[AtSize] = []
    refused: list[str] = []
    for number, (name, share) in enumerate(zip(names, shares(budget, len(names)), strict=True)):
        if number and stop.is_set:
            refused.append(f"not tuned for {name}: the run was ended early")
            continue
        try:
            kept_s = sum(part.proofs_s for part in parts)
            parts.append(at_size(number, share, times.next_s(kept_s)))
        except AnnotuneError as refusal:
            if not number:
                raise
            refused.append(f"not tuned for {name}: {refusal.diagnostics[0].message}")
    found = together(parts, targets, time.monotonic() if stop.is_set else times.end)
    return replace(found, warnings=(*refused, *found.warnings))


def together(parts: Sequence[AtSize], targets: Sequence[Target], until: float) -> Tuned:
    """Return a region with one text per target, made of the winners at each of its sizes, proved.

    No long proof is begun after `until`, of `time.monotonic`.
    """
    if len(parts) == 1:
        own = parts[0].sought
        return own.tuned(own.each_proved(until))
    texts = {target.name: _at_all_sizes(parts, target, until) for target in targets}
    results = [
        {name: text.results[number] for name, text in texts.items() if name in part.sought.contests}
        for number, part in enumerate(parts)
    ]
    tuned = [part.sought.tuned(own) for part, own in zip(parts, results, strict=True)]
    first, own_sizes = tuned[0], parts[0].sizes
    written = [text for text in texts.values() if text.code is not None]
    everywhere = written[0].right if written else ()
    checked = tuple(
        s for s in everywhere if s != own_sizes and all(s in text.right for text in written)
    )
    by_size = tuple(one.result for one in tuned[1:])
    own_words = dict.fromkeys(words for one in tuned for words in one.warnings)
    # Where nothing was found at any size, the first choice of the rules stands for all.
    left = {name for name, text in texts.items() if text.code is None}
    return replace(
        first,
        result=replace(first.result, by_size=by_size, sizes_checked=checked),
        codes={n: code for n, code in first.codes.items() if n in left}
        | {name: text.code for name, text in texts.items() if text.code is not None},
        variants={n: variant for n, variant in first.variants.items() if n in left}
        | {n: text.variant for n, text in texts.items() if text.variant is not None},
        warnings=(*own_words, *(text.problem for text in written if text.problem)),
    )


@dataclass(frozen=True)
class _OneText:
    """A target's text for all sizes, None without a winner, and its result at each of them.

    It does as the original at the sizes `right`. `problem` says why it is the first one's alone.
    """

    results: tuple[TargetResult, ...]
    variant: Variant | None = None
    code: RegionCode | None = None
    right: tuple[Sizes, ...] = ()
    problem: str = ""


def _at_all_sizes(parts: Sequence[AtSize], target: Target, until: float) -> _OneText:
    """Return a target's text that has the winners of all sizes, proved as a whole.

    Where it does not stand that, each winner is proved alone, and what fails makes room for the
    next. If the text of these fails too, that of the first takes its place.
    """
    name = target.name
    found = [part.sought.unproved(name) for part in parts]
    text, wrong = _proved_together(parts, target, found, until)
    if wrong is None:
        return text
    alone = [part.sought.proved(name, until) for part in parts]
    if [one.code for one in alone] != [one.code for one in found]:
        text, wrong = _proved_together(parts, target, alone, until)
        if wrong is None:
            return text
    for part, own in zip(parts, alone, strict=True):
        if (variant := own.variant) is not None:
            place = f"{name} is tuned for {sizes_text(part.sizes)} alone"
            problem = f"{place}: the text for several sizes fails its check: {_first_line(wrong)}"
            return _OneText(tuple(alone), variant, own.code, (), problem)
    return _OneText(tuple(alone))


def _proved_together(
    parts: Sequence[AtSize], target: Target, found: Sequence[TargetResult], until: float
) -> tuple[_OneText, Trial | None]:
    """Return the text that has the winners of some results, and the trial that finds it wrong.

    It runs at the sizes of each, where its kernels must run, and at all others of the annotation.
    """
    name = target.name
    winners = [own.variant for own in found]
    won = [part for part, one in zip(parts, winners, strict=True) if one is not None]
    if not won:
        return _OneText(tuple(found)), None
    variant = combined([_checkable(one) for one in winners if one is not None])
    code = target.region(variant, resident=False)
    benches = [part.sought.contests[name].bench for part in won]
    sizes = [part.sizes for part in parts]
    others = (*sizes, *parts[0].bench.others)
    executed = _executed(won, name, found)
    if executed.wrong is not None:
        return _OneText(tuple(found)), executed.wrong
    proved, right = prove_text(benches, target, variant, others, until)
    proved = proved.after(executed)
    if proved.wrong is not None:
        return _OneText(tuple(found)), proved.wrong
    told = [
        own if one is None else own.with_proof(proved)
        for own, one in zip(found, winners, strict=True)
    ]
    return _OneText(tuple(told), variant, code, right), None


def _executed(won: Sequence[AtSize], name: str, found: Sequence[TargetResult]) -> Proved:
    """Return what comes of running the winners' texts where no check has run them."""
    all_of_them = Proved()
    winners = (own.winner for own in found if own.variant is not None)
    for part, winner in zip(won, winners, strict=True):
        if winner is not None and all_of_them.wrong is None:
            all_of_them = part.sought.contests[name].executed(winner).after(all_of_them)
    return all_of_them


def prove_text(
    benches: Sequence[Bench],
    target: Target,
    variant: Variant,
    others: Sequence[Sizes],
    until: float = inf,
) -> tuple[Proved, tuple[Sizes, ...]]:
    """Return what comes of the proofs of a text with kernels for the sizes of all benches.

    And at which of the `others` it is right. No long proof is begun after `until`.
    """
    # The one with the largest arrays leads: its runs have room for those of all.
    benches = sorted(benches, key=_traffic, reverse=True)
    beside = [sizes for one in variant.by_size if variant.others for sizes in _beside(one)]
    bench, code = _for_all(benches, beside, others, until), target.region(variant, resident=False)
    program = program_of(target, target.kind, variant, code)
    analyses = [one.checker.oracle.analysis for one in benches[1:]]
    return prove(bench, program, bench.arch if code.device else "", analyses)


def _traffic(bench: Bench) -> int:
    work = bench.checker.oracle.analysis.total
    return work.bytes_read + work.bytes_written


def _for_all(
    benches: Sequence[Bench], beside: Sequence[Sizes], others: Sequence[Sizes], until: float
) -> Bench:
    """Return the bench of a text that has kernels for the sizes of several.

    `beside` are awkward sizes for kernels that leave open what is not listed.
    """
    lead = benches[0]
    sizes = tuple(bench.sizes[0] for bench in benches)
    return replace(
        lead,
        checker=Checker(lead.checker.oracle, sizes),
        sizes=sizes,
        awkward=distinct((*(s for bench in benches for s in bench.awkward), *beside)),
        until=until,
        others=tuple(others),
        original_s=max(bench.original_s for bench in benches),
    )


def _checkable(variant: Variant) -> Variant:
    """Return a variant without the plan for open sizes where no run of it is short enough."""
    return variant if _beside(variant) else replace(variant, partly=None)


def _beside(variant: Variant) -> tuple[Sizes, ...]:
    """Return awkward sizes at which the plan runs that fixes nothing but the listed sizes."""
    if variant.partly is None:
        return ()
    analysis, fixed = variant.analysis, variant.partly.constants
    listed = {name: fixed[name] for name in open_sizes(analysis.region) if name in fixed}
    return awkward_sizes(analysis, fixed=listed)


def _first_line(trial: Trial) -> str:
    return f"{trial.status}: {trial.reason}".partition("\n")[0]


def files(
    source: SourceFile,
    tuned: Sequence[Tuned],
    targets: Sequence[Target],
    provenance: Mapping[str, Provenance],
) -> dict[str, str]:
    """Return the files of every target that has a winner for some region, by suffix.

    The other regions stay as they are written there.
    """
    out: dict[str, str] = {}
    for target in targets:
        codes = [one.codes[target.name] for one in tuned if target.name in one.codes]
        left = {n: why for n, one in enumerate(tuned) if (why := one.why_left(target.name))}
        if codes:
            out |= target.files(source.without(left), codes, provenance[target.name])
    return out


def results(
    source: SourceFile,
    device: Device,
    tuned: Sequence[Tuned],
    tools: Mapping[str, str],
    warnings: Sequence[str],
) -> Results:
    """Return a run as the value that reports show."""
    name = Path(source.path).name
    regions = tuple(map(_remade, source.regions, tuned))
    said = (*warnings, *(words for one in tuned for words in one.warnings))
    return Results(__version__, name, device.vendor_name, regions, tools, (), said)


def _remade(region: Region, tuned: Tuned) -> RegionResult:
    """Return the result of a region with what makes its texts again."""
    recipes = {name: exact_recipe(name, one) for name, one in tuned.variants.items()}
    return replace(tuned.result, digest=digest(region), recipes=recipes)


def with_files(
    results: Results, texts: Mapping[str, str], builds: Mapping[str, Sequence[BuildCommand]]
) -> Results:
    """Return `results` with the files that were written, and what makes programs of them."""
    said = {name: tuple(one.text() for one in found) for name, found in builds.items()}
    return replace(results, files=tuple(texts), texts=dict(texts), commands=said)


def _versions(tools: Toolchains) -> dict[str, str]:
    found = {name: tools.role(name) for name in ("c", "cxx", "nvcc", "nvc")}
    return {name: tool.version for name, tool in found.items() if tool is not None}
