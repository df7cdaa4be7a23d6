"""A suite from its YAML file to its tables: every workload run once, and kept for later runs."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from annotune import __version__, pipeline
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
from annotune.measure.machine import Gpu, NoGpu, cpu_model, find_gpu
from annotune.pipeline import Settings
from annotune.report.results_json import RESULTS_FILE, read_results, results_file
from annotune.report.suite import Suite, Workload
from annotune.report.tables import FirstChoices, WorkloadResult
from annotune.tensor.translate import read_program, translated
from annotune.tune.bench import Listener
from annotune.tune.config import NEVER, RunConfig, Stop
from annotune.tune.results import RegionResult
from annotune.tune.run import OF_THE_RUN, SizeListener

NOT_IN_FILE = Template(
    "AT635",
    "'{file}' has no annotated region in a function '{name}'",
    "{hint}functions with regions: {known}",
)

RUNS_FOLDER = "runs"
NO_TIME = "there was no time left to run it; the same command goes on from here"
ENDED = "the run was ended before its turn came; the same command goes on from here"
NO_TARGET = "no target of the suite is timed on this machine"
# Nothing is begun with less than this many seconds left: what cannot end is no use.
LEAST_S = 1.0
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
    def key(self) -> tuple[object, str]:
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
        if self.listener is not None:
            self.listener.stage("predicting", 0)
        foreseen = [self._foreseen(work, predicted) for work in works]
        found = self._all_ran([*map(_Job, works), *stepwise], timed, gpu)
        return tuple(_with_runs(one, found) for one in foreseen)

    def _foreseen(self, work: Workload, targets: Sequence[Target]) -> WorkloadResult:
        """Return what is known of a workload without a run."""
        gridded = self.suite.strategies("grids", work)
        names = dict.fromkeys((*self.suite.strategies("ablation", work), *gridded))
        first = {name: self._first(_Job(work, name), targets) for name in names}
        return WorkloadResult(work, (), self._forecasts(_Job(work), targets), first=first)

    def _first(self, job: _Job, targets: Sequence[Target]) -> FirstChoices:
        """Return what is known of the first choices of a strategy without a run."""
        forecasts = self._forecasts(job, targets)
        grids: Mapping[str, tuple[str, str]] = {}
        with suppress(AnnotuneError):
            grids = pipeline.grids(self._of_job(job), targets)
        return FirstChoices((), forecasts, "", grids)

    def _all_ran(
        self, jobs: Sequence[_Job], timed: Sequence[Target], gpu: Gpu | NoGpu
    ) -> Mapping[tuple[object, str], _Ran]:
        """Return what came of each job, those that an earlier command has ended as they are."""
        kept = {job.key: self._kept(job, timed, gpu) for job in jobs}
        found = {key: known for key, known in kept.items() if known is not None}
        late_s = 0.0
        for number, job in enumerate(jobs, 1):
            if job.key in found:
                continue
            place = f"{job.name}, {number} of {len(jobs)}"
            begun = time.monotonic()
            # What each takes beyond its share would be missing to the last ones.
            share_s = (self._until - begun) / (len(jobs) - len(found)) - late_s
            share_s = max(LEAST_S, share_s)
            found[job.key] = self._ran(job, timed, gpu, share_s, place)
            if found[job.key].regions:
                late_s = (late_s + max(0.0, time.monotonic() - begun - share_s)) / 2
        return found

    def _targets(self, gpu: Gpu | NoGpu) -> tuple[tuple[Target, ...], tuple[Target, ...]]:
        """Return the targets that are timed on this machine, and those that have a model.

        Without a GPU nothing is run for one: the model says its times.
        """
        every = tuple(load_target(name) for name in self.suite.targets)
        is_gpu = isinstance(gpu, Gpu)
        timed = tuple(target for target in every if target.is_for_cpu or is_gpu)
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

    def _settings(self, work: Workload) -> Settings:
        """Return what a workload asks of annotune.

        Raises:
            AnnotuneError: Its tensor file is refused.
        """
        own = replace(self.base, source=work.file, function=work.function)
        if work.file.suffix == ".tensor":
            program = read_program(str(work.file), read_source(work.file))
            made = translated(program, work.file.name, __version__, True, _memory_bytes())
            own = replace(own, source=self.folder / f"{work.file.stem}.c", translated=made)
        if not work.is_macro:
            return replace(own, sizes=dict(work.values))
        defines = {name: str(value) for name, value in work.values.items()}
        search = HeaderSearch(own.search.include, defines, own.search.compiler)
        return replace(own, search=search)

    def _of_job(self, job: _Job) -> Settings:
        """Return what a job asks of annotune; it raises as `_settings` does."""
        settings = self._settings(job.work)
        return replace(settings, strategy=job.first) if job.first else settings

    def _needs_grids(self, job: _Job) -> bool:
        """Return whether a table tells which grid a compiler chooses for OpenACC as written."""
        return bool(self.suite.strategies("grids", job.work)) and not job.first

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
        self, job: _Job, timed: Sequence[Target], gpu: Gpu | NoGpu, share_s: float, place: str
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
            by_steps=bool(job.first),
            checks_naive=self._needs_grids(job),
        )
        folder = self._place(job, timed, gpu)
        listener = self.listener and SizeListener(self.listener, place)
        how = (config, self.environ, listener, folder, self.is_fresh, self.stop)
        try:
            settings = replace(self._of_job(job), targets=tuple(one.name for one in timed))
            with prepared_folder(folder):
                found = pipeline.run(settings, timed, *how)
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
        assert self.config.begun is not None
        return self.config.begun + self.time_s

    def _forecasts(
        self, job: _Job, targets: Sequence[Target]
    ) -> tuple[tuple[RegionResult, ...], ...]:
        """Return what the model says of a workload on each device of the suite."""
        with suppress(AnnotuneError):  # the run says why
            if targets:
                devices, by_steps = self.suite.devices, bool(job.first)
                return pipeline.forecast(self._of_job(job), targets, devices, by_steps)
        return ()


def _with_runs(
    foreseen: WorkloadResult, found: Mapping[tuple[object, str], _Ran]
) -> WorkloadResult:
    """Return what is known of a workload with what its runs have found."""
    work = foreseen.workload
    own = found[_Job(work).key]
    runs = {name: found.get(_Job(work, name).key, _Ran()) for name in foreseen.first}
    first = {
        name: replace(one, run=runs[name].regions, why=runs[name].why)
        for name, one in foreseen.first.items()
    }
    return replace(foreseen, run=own.regions, why=own.why, first=first)


def _memory_bytes() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
