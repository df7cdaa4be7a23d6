"""A space with a fault of every kind between its right variants, as a library and as a program.

``python -m tuning.seeded FOLDER SLOTS`` searches it on the record of FOLDER's store and prints each
row as JSON. With one slot variants are timed, with more they are checked at once.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

from support.regions import text_source

from annotune.analysis.analyse import analyse
from annotune.analysis.facts import Analysis
from annotune.annotation.flags import Flags
from annotune.codegen.target import RegionCode, Target
from annotune.diagnostics import AnnotuneError, Span, Template
from annotune.measure.check import Checker
from annotune.measure.oracle import Oracle
from annotune.measure.toolchain import find_toolchains
from annotune.measure.trial import Status, Trial
from annotune.space.variants import Listing, Variant
from annotune.tuning import experiment, tuner
from annotune.tuning.bench import Bench, Recorder, Session, TrialJob
from annotune.tuning.config import RunConfig, Wanted
from annotune.tuning.store import Store, in_memory, opened
from annotune.tuning.tuner import TargetResult

TEXT = """\
void f(int n, double *restrict y, const double *restrict x)
{
    int i;
    /*@ begin PerfTuning (def input_params { param n = 500; }) @*/
    for (i = 0; i < n; i++)
        y[i] = 2 * x[i];
    /*@ end @*/
}
"""
MEMORY_MIB = 200
LIMIT_S = 1.0
"""What the variant that hangs has for a run; the others have `PATIENCE_S`, however busy it is."""

PATIENCE_S = 600.0
REFUSED = Template("AT999", "this point asks for what cannot be")
_LOOP = "for (int i = 0; i < n; i++) y[i] = 2 * x[i];"
_PARALLEL = f"\n#pragma omp parallel for\n{_LOOP}\n"

# What each variant does, and how its trial ends.
FATES: Mapping[str, tuple[str, Status]] = {
    "segfault": (f"{{ *(volatile int *) 8 = 1; {_LOOP} }}", Status.RUNTIME),
    "right": (_PARALLEL, Status.CORRECT),
    # Asleep, lest it take the processor from others.
    "hang": ("{ extern int pause(void); for (;;) pause(); }", Status.TIMEOUT),
    "wrong": ("for (int i = 0; i < n; i++) y[i] = 3 * x[i];", Status.CORRECTNESS),
    "right too": (f"{{ ; {_LOOP} }}", Status.CORRECT),
    "memory": (
        # Not more than it needs to be seen: who looks at it may have to wait.
        "{ for (int m = 0; m < 700; m++) { char *p = __builtin_malloc(1 << 20);"
        " for (int k = 0; k < 1 << 20; k += 4096) ((volatile char *) p)[k] = 1; }"
        " for (volatile int k = 0; k < 1; ) ; }",
        Status.RUNTIME,
    ),
    "no C": ("{ this is no C; }", Status.COMPILE),
    "parricide": (
        "{ extern int kill(int, int), getppid(void); kill(getppid(), 9);"
        " for (volatile int k = 0; k < 1; ) ; }",
        Status.RUNTIME,
    ),
    "refused": ("", Status.CONSTRAINTS),
    "same as right": (_PARALLEL, Status.CORRECT),
    "right at last": (f"{{ ; ; {_LOOP} }}", Status.CORRECT),
}


class _NoPlan:
    both = None

    def kernels(self) -> tuple[()]:
        return ()


@dataclass
class _Made:
    """A variant that is nothing but its code."""

    code: RegionCode
    config: dict[str, str | int] = field(default_factory=dict)
    flags: Flags = field(default_factory=Flags)
    predicted_s: float | None = 1e-3
    model: None = None
    is_for_tuned_alone: bool = False
    analysis: Analysis = field(default_factory=lambda: analyse(text_source(TEXT).regions[0]))
    tuned: _NoPlan = field(default_factory=_NoPlan)
    general: None = None

    def plans(self) -> tuple[_NoPlan]:
        return (self.tuned,)


class _Target:
    name = "openmp"

    def region(self, variant: _Made, resident: bool) -> RegionCode:
        return variant.code


def listing(names: tuple[str, ...] = tuple(FATES)) -> Listing:
    """Return the points of these names."""
    configs = tuple({"deed": name} for name in names)

    def make(number: int) -> Variant:
        name = names[number]
        if name == "refused":
            raise AnnotuneError.of(REFUSED.at(Span("f.c", 1, 1)))
        return cast(Variant, _Made(RegionCode(FATES[name][0]), dict(configs[number])))

    return Listing(configs, tuple(1e-3 for _ in names), make)


def listing_of(codes: Sequence[RegionCode]) -> tuple[_Target, Listing]:
    """Return a target and the points that are these texts."""
    configs = tuple({"deed": number} for number in range(len(codes)))

    def make(number: int) -> Variant:
        return cast(Variant, _Made(codes[number], dict(configs[number])))

    return _Target(), Listing(configs, tuple(1e-3 for _ in codes), make)


def all_right(count: int) -> Listing:
    """Return so many points with different texts that do the same."""
    configs = tuple({"deed": number} for number in range(count))

    def make(number: int) -> Variant:
        code = RegionCode(f"{{ {'; ' * number}{_LOOP} }}")
        return cast(Variant, _Made(code, dict(configs[number])))

    return Listing(configs, tuple(1e-3 for _ in configs), make)


class _PatientRecorder(Recorder):
    """One that lets only the variant that hangs meet a limit, however busy the machine is."""

    def check(self, job: TrialJob, timeout_s: float = PATIENCE_S) -> Trial:
        is_hung = job.program.code.body == FATES["hang"][0]
        limit_s = LIMIT_S if is_hung else PATIENCE_S
        limits = replace(job.plan.limits, run_s=limit_s)
        patient = replace(job, plan=replace(job.plan, limits=limits))
        return super().check(patient, limit_s)


def bench(folder: Path, slots: int, store: Store | None = None, time_s: float = 600.0) -> Bench:
    """Return a bench that checks the space's region in a scratch `folder`."""
    source = text_source(TEXT)
    oracle = Oracle(source, analyse(source.regions[0]), find_toolchains(os.environ), folder)
    session = Session(RunConfig(jobs=slots), 1, MEMORY_MIB, store=store or in_memory())
    until = time.monotonic() + time_s
    found = Checker(oracle)
    return Bench(session, found, ({"n": 500},), ({"n": 3},), until, "this CPU", limit_s=PATIENCE_S)


def with_session(bench: Bench, **changes: Any) -> Bench:
    """Return a bench whose run has other members."""
    return replace(bench, session=replace(bench.session, **changes))


def searched(bench: Bench, points: Listing, wanted: Wanted | None = None) -> TargetResult:
    """Return what comes of the space: timed with one slot, else checked several at once."""
    wanted = wanted or Wanted(search="exhaustive")
    target = cast(Target, _Target())
    with (
        patch.object(experiment, "Recorder", _PatientRecorder),
        patch.object(tuner, "Recorder", _PatientRecorder),
    ):
        if bench.session.config.jobs == 1:
            return tuner.measured(bench, target, "openmp", points, wanted).proved()
        return tuner.predicted(bench, target, "openmp", points, wanted, "a device").proved()


def main() -> None:
    """Search the space once, on the record."""
    folder, slots = Path(sys.argv[1]), int(sys.argv[2])
    with tempfile.TemporaryDirectory(dir=folder) as scratch, opened(folder, False) as (store, _):
        found = searched(bench(Path(scratch), slots, store), listing())
    for trial in found.trials:
        print(json.dumps([trial.config["deed"], trial.status, trial.reason, trial.reused]))


if __name__ == "__main__":
    main()
