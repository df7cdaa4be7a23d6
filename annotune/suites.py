"""A suite from its YAML file to its tables: every workload run once, and kept for later runs."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Mapping, Sequence
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
from annotune.report.tables import WorkloadResult
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
        kept = [self._kept(work, timed, gpu) for work in works]
        left = sum(one is None for one in kept)
        out: list[WorkloadResult] = []
        for number, (work, known) in enumerate(zip(works, kept, strict=True), 1):
            place = f"{work.name}, {number} of {len(works)}"
            found = known
            if found is None:
                found = self._ran(work, timed, gpu, left, place)
                left -= 1
            out.append(replace(found, forecasts=self._forecasts(work, predicted)))
        return tuple(out)

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
        """Return what a workload asks of annotune."""
        own = replace(self.base, source=work.file, function=work.function)
        if not work.is_macro:
            return replace(own, sizes=dict(work.values))
        defines = {name: str(value) for name, value in work.values.items()}
        search = HeaderSearch(own.search.include, defines, own.search.compiler)
        return replace(own, search=search)

    def _place(self, work: Workload, timed: Sequence[Target], gpu: Gpu | NoGpu) -> Path:
        """Return the folder of a workload's run, another one for whatever changes its results."""
        names = [target.name for target in timed]
        device = gpu.name if isinstance(gpu, Gpu) else ""
        text = read_source(work.file)
        values = dict(work.values)
        parts = [__version__, text, work.function, values, work.is_macro, names]
        machine = [cpu_model(), device, self.suite.strategy, self.suite.devices[0]]
        known = json.dumps([*parts, *machine]).encode("utf-8", "surrogateescape")
        label = re.sub(r"[^\w.-]", "_", work.label, flags=re.ASCII)
        digest = hashlib.sha256(known).hexdigest()[:8]
        return self.folder / RUNS_FOLDER / f"{work.function}-{label}-{digest}"

    def _kept(
        self, work: Workload, timed: Sequence[Target], gpu: Gpu | NoGpu
    ) -> WorkloadResult | None:
        """Return what an earlier command has found of a workload, None where it has not ended."""
        path = self._place(work, timed, gpu) / RESULTS_FILE
        if self.is_fresh or not path.is_file():
            return None
        try:
            return WorkloadResult(work, read_results(path).regions)
        except AnnotuneError:
            return None  # damaged, or another annotune's

    def _ran(
        self,
        work: Workload,
        timed: Sequence[Target],
        gpu: Gpu | NoGpu,
        left: int,
        place: str,
    ) -> WorkloadResult:
        """Return what a run of a workload finds in its share of the time, or why there is none."""
        if not timed:
            return WorkloadResult(work, why=NO_TARGET)
        rest_s = self._until - time.monotonic()
        if self.stop.is_set or rest_s < LEAST_S:
            return WorkloadResult(work, why=ENDED if self.stop.is_set else NO_TIME)
        folder = self._place(work, timed, gpu)
        settings = replace(self._settings(work), targets=tuple(target.name for target in timed))
        now, original_s = time.monotonic(), min(self.config.original_s, rest_s)
        config = replace(self.config, time_s=rest_s / left, begun=now, original_s=original_s)
        listener = self.listener and SizeListener(self.listener, place)
        with_folder = (folder, self.is_fresh, self.stop)
        try:
            with prepared_folder(folder):
                found = pipeline.run(settings, timed, config, self.environ, listener, *with_folder)
        except AnnotuneError as refusal:
            if any(problem.code in _OF_ALL for problem in refusal.diagnostics):
                raise
            first = refusal.diagnostics[0]
            return WorkloadResult(work, why=f"{first.span}: {first.message} [{first.code}]")
        if not self.stop.is_set:
            # Only what has ended is not run again.
            write_files(folder, {RESULTS_FILE: results_file(found.results)})
        return WorkloadResult(work, found.results.regions)

    @property
    def _until(self) -> float:
        assert self.config.begun is not None
        return self.config.begun + self.time_s

    def _forecasts(
        self, work: Workload, targets: Sequence[Target]
    ) -> tuple[tuple[RegionResult, ...], ...]:
        """Return what the model says of a workload on each device of the suite."""
        if not targets:
            return ()
        found: list[tuple[RegionResult, ...]] = []
        for device in self.suite.devices:
            settings = replace(self._settings(work), device=device)
            try:
                found.append(pipeline.forecast(settings, targets))
            except AnnotuneError:
                continue  # the run says why
        return tuple(found)
