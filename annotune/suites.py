"""A suite from its YAML file to its tables: every workload run once, and kept for later runs."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Container, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

from annotune import __version__, formulated, pipeline
from annotune.annotation.messages import nearest
from annotune.codegen.target import Target, load_target
from annotune.diagnostics import AnnotuneError, Diagnostic, Template
from annotune.files import (
    FOLDER_IN_USE,
    NOT_OURS,
    NOT_WRITABLE,
    prepared_folder,
    read_source,
    write_files,
)
from annotune.frontend.read.preprocess import HeaderSearch
from annotune.frozen import dataclass
from annotune.measure.machine import Gpu, NoGpu, cpu_model, find_gpu
from annotune.measure.toolchain import find_toolchains
from annotune.pipeline import Settings
from annotune.report.findings import CheckReport
from annotune.report.results_json import RESULTS_FILE, read_results, results_file
from annotune.report.suite import Suite, Workload
from annotune.report.tables import FirstChoices, WorkloadResult
from annotune.tensor.translate import USUAL, read_program, translated
from annotune.tuning.bench import Listener, Request
from annotune.tuning.config import NEVER, RunConfig, Stop
from annotune.tuning.jobs import scratch_folder
from annotune.tuning.proving import NO_TIME_TO_PROVE
from annotune.tuning.region_run import ON_GPU
from annotune.tuning.results import FIRST_ALONE, RegionResult
from annotune.tuning.run import OF_THE_RUN, SizeListener
from annotune.tuning.store import opened
from annotune.tuning.workers import LocalWorkers, WorkerDied

NOT_IN_FILE = Template(
    "AT635",
    "'{file}' has no annotated region in a function '{name}'",
    "{hint}functions with regions: {known}",
)

Key = tuple[object, str]

RUNS_FOLDER = "runs"
NO_TIME = "there was no time left to run it; the same command goes on from here"
ENDED = "the run was ended before its turn came; the same command goes on from here"
NO_TARGET = "no target of the suite is timed on this machine"
# Nothing is begun with less than this many seconds left: what cannot end is no use.
LEAST_S = 1.0
# A run with a search takes so many seconds at the least: fewer would be over with the proofs of a
# winner that is not the first choice.
SEARCH_S = 10.0
# What needs no clock may take this share of the time. In so few seconds no proof is made that takes
# long; the others are made all the same. Of the rest each run has so many seconds for each target,
# to measure its first choice beside the original.
AHEAD_SHARE, SHORT_S, FIRST_S = 0.55, 0.1, 3.0
OFFLOADED = "nvptx-none"
OMP_WAITING = "OMP_WAIT_POLICY"
# What no other workload would fare better with.
_OF_ALL = OF_THE_RUN | {one.code for one in (FOLDER_IN_USE, NOT_OURS, NOT_WRITABLE)}


@dataclass(frozen=True, slots=True)
class _Job:
    """One run that a suite needs: a workload tuned, or its first choices by steps.

    Those are of the strategy that `first` names.
    """

    work: Workload
    first: str = ""

    @property
    def key(self) -> Key:
        return self.work.key, self.first

    @property
    def name(self) -> str:
        return f"steps of {self.work.name}" if self.first else self.work.name


@dataclass(frozen=True, slots=True)
class _Ran:
    """The regions that a job has found, or why there are none."""

    regions: tuple[RegionResult, ...] = ()
    why: str = ""


@dataclass(frozen=True)
class SuiteRun:
    """How the workloads of a suite are run, and what for.

    `base` is what the settings of all have in common. Results are kept in `folder`; `is_fresh`
    takes none from there. The whole ends after `time_s` seconds, counted from what `config` says.
    What needs no clock is done before by so many `workers` at once, processes of their own; without
    any, each run does it for itself.
    """

    suite: Suite
    base: Settings
    config: RunConfig
    environ: Mapping[str, str]
    folder: Path
    time_s: float
    listener: Listener | None = None
    stop: Stop = NEVER
    is_fresh: bool = False
    workers: int = 0

    def results(self) -> tuple[WorkloadResult, ...]:
        """Return what is known of each workload in the end.

        One that is refused, or for which there is no time, says so; the others go on.

        Raises:
            AnnotuneError: The suite names a function that is not there, or nothing can be kept.
        """
        self._refuse_missing_functions()
        gpu = find_gpu()
        timed, predicted = self._targets(gpu)
        works = self.suite.workloads
        stepwise = [
            _Job(work, name) for work in works for name in self.suite.strategies("ablation", work)
        ]
        jobs = [*map(_Job, works), *stepwise]
        kept = {job.key: known for job in jobs if (known := self._kept(job, timed, gpu))}
        with scratch_folder() as scratch:
            # Runs of one file compile much of the same: its original, and what plays a device.
            compiled = scratch / "compiled"
            compiled.mkdir()
            own = replace(self, config=replace(self.config, compiled=compiled))
            own._begin_afresh([job for job in jobs if job.key not in kept], timed, gpu)
            foreseen = own._made_ready(jobs, kept, timed, predicted, gpu)
            found = own._all_ran(jobs, kept, timed, gpu)
        return tuple(_with_runs(one, found) for one in foreseen)

    def _begin_afresh(
        self, jobs: Sequence[_Job], timed: Sequence[Target], gpu: Gpu | NoGpu
    ) -> None:
        """Keep aside what earlier commands know of jobs, where nothing of it is wanted."""
        for job in jobs if self.is_fresh else ():
            folder = self._place(job, timed, gpu)
            if folder.is_dir():
                with opened(folder, is_fresh=True):
                    pass

    def _made_ready(
        self,
        jobs: Sequence[_Job],
        kept: Container[Key],
        timed: Sequence[Target],
        predicted: Sequence[Target],
        gpu: Gpu | NoGpu,
    ) -> list[WorkloadResult]:
        """Return what is known of workloads without a clock, and do what their runs need of that.

        Nothing is timed meanwhile, so that all cores do it, for a part of the time. Proofs that
        take long come after all the others.
        """
        if self.listener is not None:
            self.listener.stage("predicting", 0)
        works = [job.work for job in jobs if not job.first]
        todo = sum(job.key not in kept for job in jobs)
        until = self._at(AHEAD_SHARE)
        slots = min(self.workers, len(works))
        if not self.workers:
            return [self.foreseen(work, predicted) for work in works]
        own = (self.suite, self.base, self.config, dict(self.environ), self.folder, self.time_s)
        models = tuple(target.name for target in predicted)
        errands = []
        for work in works:
            wanted = () if _Job(work).key in kept else tuple(target.name for target in timed)
            errands.append(_Errand(own, work, wanted, models, gpu, until, SHORT_S))
        # Threads of several processes that wait for each other must not keep the others waiting.
        environ = {} if OMP_WAITING in self.environ else {OMP_WAITING: "passive"}
        with closing(LocalWorkers((None,) * slots, environ)) as workers:

            def done(errand: _Errand) -> _MadeReady:
                if self.stop.is_set:
                    return _MadeReady(WorkloadResult(errand.work, why=ENDED))
                try:
                    return workers.submit(errand, errand.each_s).result()
                except WorkerDied:
                    return _MadeReady(self.foreseen(errand.work, predicted))

            with ThreadPoolExecutor(slots) as pool:
                found = list(pool.map(done, errands))
                again = [e for e, one in zip(errands, found, strict=True) if one.is_unfinished]
                # What is not proved is said; what is not measured leaves a row empty.
                until = min(until, self._until - FIRST_S * len(timed) * todo)
                each_s = (until - time.monotonic()) * slots / max(1, len(again))
                if each_s > SHORT_S:
                    again = [replace(e, predicted=(), until=until, each_s=each_s) for e in again]
                    list(pool.map(done, again))
        return [one.foreseen for one in found]

    def foreseen(
        self, work: Workload, targets: Sequence[Target], found: CheckReport | None = None
    ) -> WorkloadResult:
        """Return what is known of a workload without a run; `found` is it accepted, None to ask."""
        gridded = self.suite.strategies("grids", work)
        names = dict.fromkeys((*self.suite.strategies("ablation", work), *gridded))
        first = {name: self._first(_Job(work, name), targets) for name in names}
        forecasts = self._forecasts(_Job(work), targets, found)
        return WorkloadResult(work, (), forecasts, first=first)

    def _first(self, job: _Job, targets: Sequence[Target]) -> FirstChoices:
        """Return what is known of the first choices of a strategy without a run."""
        with suppress(AnnotuneError):  # the run says why
            settings = self._of_job(job)
            found = pipeline.accepted(settings)
            grids = pipeline.grids(found, settings, targets)
            return FirstChoices((), self._forecasts(job, targets, found), "", grids)
        return FirstChoices()

    def _all_ran(
        self,
        jobs: Sequence[_Job],
        kept: Mapping[Key, _Ran],
        timed: Sequence[Target],
        gpu: Gpu | NoGpu,
    ) -> Mapping[Key, _Ran]:
        """Return what came of each job; those that an earlier command has ended are `kept`.

        Where the time does not suffice to search for all, each is run with first choices alone, so
        that every row has its figures, before there is a search for any.
        """
        found = dict(kept)
        missing = [job for job in jobs if job.key not in found]
        todo = [*missing, *self._first_alone(jobs, found)]
        if not self._may_search(len(todo)):
            found |= self._round(missing, timed, gpu, is_search=False)
            todo = self._first_alone(jobs, found)
        if self._may_search(len(todo)):
            again = self._round(todo, timed, gpu, is_search=True)
            found |= {key: one for key, one in again.items() if one.regions or key not in found}
        return found

    def _first_alone(self, jobs: Sequence[_Job], found: Mapping[Key, _Ran]) -> list[_Job]:
        """Return the jobs of which the first choice alone is known, and a search is wanted."""
        if self.config.budget == FIRST_ALONE:
            return []
        return [job for job in jobs if job.key in found and _is_first_alone(found[job.key])]

    def _may_search(self, count: int) -> bool:
        """Return whether the time that is left suffices for so many jobs with a search."""
        is_enough = self._until - time.monotonic() >= SEARCH_S * count
        return is_enough and not self.stop.is_set

    def _round(
        self, jobs: Sequence[_Job], timed: Sequence[Target], gpu: Gpu | NoGpu, is_search: bool
    ) -> dict[Key, _Ran]:
        """Return what came of each of some jobs, which share the time that is left."""
        found: dict[Key, _Ran] = {}
        late_s = 0.0
        for number, job in enumerate(jobs, 1):
            place = f"{job.name}, {number} of {len(jobs)}"
            begun = time.monotonic()
            # What each takes beyond its share would be missing to the last ones.
            share_s = (self._until - begun) / (len(jobs) - len(found)) - late_s
            share_s = max(LEAST_S, share_s)
            found[job.key] = self._ran(job, timed, gpu, share_s, place, is_search)
            if found[job.key].regions:
                late_s = (late_s + max(0.0, time.monotonic() - begun - share_s)) / 2
        return found

    def _targets(self, gpu: Gpu | NoGpu) -> tuple[tuple[Target, ...], tuple[Target, ...]]:
        """Return the targets that are timed on this machine, and those that have a model.

        Without a GPU, or a compiler for it, nothing is run for one: the model says its times.
        """
        every = tuple(load_target(name) for name in self.suite.targets)
        on_gpu: tuple[str, ...] = ()
        if isinstance(gpu, Gpu):
            offload = find_toolchains(self.environ).offload
            on_gpu = tuple(n for n in ON_GPU if n != "openacc" or OFFLOADED in offload)
        timed = tuple(target for target in every if target.is_for_cpu or target.name in on_gpu)
        return timed, tuple(target for target in every if not target.is_for_cpu)

    def _refuse_missing_functions(self) -> None:
        """Refuse a suite that names functions which their files do not have.

        Raises:
            AnnotuneError: It does.
        """
        wrong: dict[Diagnostic, None] = {}
        known: dict[Path, tuple[str, ...] | None] = {}
        for work in self.suite.workloads:
            if work.file not in known:
                known[work.file] = self._functions(work)
            names = known[work.file]
            if names is not None and work.function not in names:
                values = {"file": work.file, "name": work.function}
                hint, listed = nearest(work.function, names), ", ".join(names) or "none"
                wrong[NOT_IN_FILE.at(work.span, **values, hint=hint, known=listed)] = None
        if wrong:
            raise AnnotuneError(tuple(wrong))

    def _functions(self, work: Workload) -> tuple[str, ...] | None:
        """Return the functions of a workload's file, None where it is refused as a whole."""
        try:
            return pipeline.functions(self._settings(work))
        except AnnotuneError:
            return None

    def _settings(self, work: Workload, is_search: bool = False) -> Settings:
        """Return what a workload asks of annotune; a search has all formulations of a tensor file.

        Raises:
            AnnotuneError: Its tensor file is refused.
        """
        own = replace(self.base, source=work.file, function=work.function)
        if work.file.suffix == ".tensor":
            program = read_program(str(work.file), read_source(work.file))
            made = translated(
                program,
                work.file.name,
                __version__,
                is_factored=True,
                memory_bytes=_memory_bytes(),
                name=None if is_search else USUAL,
            )
            own = replace(own, source=self.folder / f"{work.file.stem}.c", translated=made)
        if not work.is_macro:
            return replace(own, sizes=dict(work.values))
        defines = {name: str(value) for name, value in work.values.items()}
        search = HeaderSearch(own.search.include, defines, own.search.compiler)
        return replace(own, search=search)

    def _of_job(self, job: _Job, is_search: bool = False) -> Settings:
        """Return what a job asks of annotune; it raises as `_settings` does."""
        settings = self._settings(job.work, is_search)
        return replace(settings, strategy=job.first) if job.first else settings

    def _needs_grids(self, job: _Job) -> bool:
        """Return whether a table tells which grid a compiler chooses for OpenACC as written."""
        return bool(self.suite.strategies("grids", job.work)) and not job.first

    def _is_profiled(self, job: _Job) -> bool:
        """Return whether a table tells what a profiler counts."""
        return bool(self.suite.strategies("profile", job.work)) and not job.first

    def _place(self, job: _Job, timed: Sequence[Target], gpu: Gpu | NoGpu) -> Path:
        """Return the folder of a job's run, another one for whatever changes its results."""
        work, names = job.work, [target.name for target in timed]
        device = gpu.name if isinstance(gpu, Gpu) else ""
        values = dict(work.values)
        parts = [__version__, read_source(work.file), values, work.is_macro, names]
        strategy = job.first or self.suite.strategy
        machine = [cpu_model(), device, strategy, self.suite.devices[0], self._needs_grids(job)]
        known = json.dumps([*parts, *machine]).encode("utf-8", "surrogateescape")
        digest = hashlib.sha256(known).hexdigest()[:8]
        name = re.sub(r"[^\w.-]", "_", work.name, flags=re.ASCII)
        return self.folder / RUNS_FOLDER / f"{name}-{'steps-' * bool(job.first)}{digest}"

    def _kept(self, job: _Job, timed: Sequence[Target], gpu: Gpu | NoGpu) -> _Ran | None:
        """Return what an earlier command has found of a job, None where it has not ended."""
        path = self._place(job, timed, gpu) / RESULTS_FILE
        if self.is_fresh or not path.is_file():
            return None
        try:
            return _Ran(read_results(path).regions)
        except AnnotuneError:
            return None  # damaged, or another annotune's

    def _ran(
        self,
        job: _Job,
        timed: Sequence[Target],
        gpu: Gpu | NoGpu,
        share_s: float,
        place: str,
        is_search: bool,
    ) -> _Ran:
        """Return what a job finds in so many seconds, or why there is nothing."""
        if not timed:
            return _Ran(why=NO_TARGET)
        rest_s = self._until - time.monotonic()
        if self.stop.is_set or rest_s < LEAST_S:
            return _Ran(why=ENDED if self.stop.is_set else NO_TIME)
        config = replace(
            self.config,
            time_s=share_s,
            begun=time.monotonic(),
            original_s=min(self.config.original_s, rest_s),
            budget=self.config.budget if is_search or job.first else FIRST_ALONE,
            by_steps=bool(job.first),
            checks_naive=self._needs_grids(job),
            profiles=self._is_profiled(job),
        )
        folder = self._place(job, timed, gpu)
        listener = self.listener and SizeListener(self.listener, place)
        request = Request(config, self.environ, listener, folder, stop=self.stop)
        try:
            settings = self._of_job(job, is_search)
            settings = replace(settings, targets=tuple(one.name for one in timed))
            with prepared_folder(folder):
                found = formulated.run(settings, request)
        except AnnotuneError as refusal:
            if any(problem.code in _OF_ALL for problem in refusal.diagnostics):
                raise
            first = refusal.diagnostics[0]
            return _Ran(why=f"{first.span}: {first.message} [{first.code}]")
        if not self.stop.is_set:
            # Only what has ended is not run again.
            write_files(folder, {RESULTS_FILE: results_file(found.results)})
        return _Ran(found.results.regions)

    @property
    def _until(self) -> float:
        return self._at(1.0)

    def _at(self, share: float) -> float:
        """Return when a share of the time is over."""
        assert self.config.begun is not None
        return self.config.begun + share * self.time_s

    def make_ready(
        self,
        work: Workload,
        timed: Sequence[Target],
        gpu: Gpu | NoGpu,
        time_s: float,
        found: CheckReport,
    ) -> bool:
        """Compile and prove what the run of a workload measures in any case.

        What is refused is refused in the run, which says why. Returned is whether `time_s` seconds
        sufficed for all proofs.
        """
        folder = self._place(_Job(work), timed, gpu)
        config = replace(
            self.config,
            time_s=time_s,
            begun=time.monotonic(),
            compilers=1,
            jobs=1,
            budget=FIRST_ALONE,
            is_ahead=True,
        )
        with suppress(AnnotuneError):
            settings = replace(self._settings(work), targets=tuple(one.name for one in timed))
            with prepared_folder(folder):
                request = Request(config, self.environ, folder=folder)
                made = pipeline.run(settings, request, found)
                return not any(NO_TIME_TO_PROVE in words for words in made.results.warnings)
        return True

    def _forecasts(
        self, job: _Job, targets: Sequence[Target], found: CheckReport | None = None
    ) -> tuple[tuple[RegionResult, ...], ...]:
        """Return what the model says of a workload on each device of the suite."""
        with suppress(AnnotuneError):  # the run says why
            if targets:
                found = found or pipeline.accepted(self._of_job(job))
                return pipeline.forecast(found, targets, self.suite.devices, bool(job.first))
        return ()

    def accepted(self, work: Workload) -> CheckReport | None:
        """Return what may go on of a workload's file, None where it is refused."""
        with suppress(AnnotuneError):  # the run says why
            return pipeline.accepted(self._settings(work))
        return None


@dataclass(frozen=True, slots=True)
class _MadeReady:
    """What is known of a workload without a run, and whether there was no time for all proofs."""

    foreseen: WorkloadResult
    is_unfinished: bool = False


@dataclass(frozen=True, slots=True)
class _Errand:
    """A workload of a suite that another process makes ready; `own` is what that is made of.

    It is predicted for the targets `predicted`. The rest takes `each_s` seconds, some more where
    proofs that are owed do, and is not begun after `until`.
    """

    own: tuple[Suite, Settings, RunConfig, Mapping[str, str], Path, float]
    work: Workload
    timed: tuple[str, ...]
    predicted: tuple[str, ...]
    gpu: Gpu | NoGpu
    until: float
    each_s: float

    def run(self, timeout_s: float) -> _MadeReady:
        """Return what is known of the workload without a clock."""
        suite = SuiteRun(*self.own)
        timed, predicted = (
            tuple(map(load_target, names)) for names in (self.timed, self.predicted)
        )
        found = suite.accepted(self.work)
        foreseen = suite.foreseen(self.work, predicted, found)
        left_s = min(self.each_s, self.until - time.monotonic())
        if not timed or left_s <= 0 or found is None:
            return _MadeReady(foreseen)
        is_done = suite.make_ready(self.work, timed, self.gpu, left_s, found)
        return _MadeReady(foreseen, not is_done)


def _with_runs(foreseen: WorkloadResult, found: Mapping[Key, _Ran]) -> WorkloadResult:
    """Return what is known of a workload with what its runs have found."""
    work = foreseen.workload
    own = found[_Job(work).key]
    runs = {name: found.get(_Job(work, name).key, _Ran()) for name in foreseen.first}
    first = {
        name: replace(one, run=runs[name].regions, why=runs[name].why)
        for name, one in foreseen.first.items()
    }
    return replace(foreseen, run=own.regions, why=own.why, first=first)


def _is_first_alone(ran: _Ran) -> bool:
    """Return whether no search has looked beyond the first choices of a job."""
    return any(one.budget == FIRST_ALONE for region in ran.regions for one in region.searches)


def _memory_bytes() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
