"""A space with a fault of every kind between its right variants, as a library and as a program.

``python -m tune.seeded FOLDER SLOTS`` searches it on the record of FOLDER's store and prints each
row as JSON. With one slot variants are timed, with more they are checked at once.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from support.regions import text_source

from annotune.analysis.analyse import analyse
from annotune.analysis.facts import Analysis
from annotune.annotation.flags import Flags
from annotune.codegen.code import RegionCode
from annotune.codegen.listing import Listing
from annotune.codegen.target import Target, Variant
from annotune.diagnostics import AnnotuneError, Span, Template
from annotune.measure.check import Checker, CheckPlan
from annotune.measure.oracle import Oracle
from annotune.measure.toolchain import find_toolchains
from annotune.measure.trial import Status
from annotune.tune.asked import Wanted
from annotune.tune.bench import Bench
from annotune.tune.store import Store, in_memory, opened
from annotune.tune.tuner import Outcome, measured, predicted

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
LIMIT_S = 2.0
REFUSED = Template("AT999", "this point asks for what cannot be")
_LOOP = "for (int i = 0; i < n; i++) y[i] = 2 * x[i];"
_PARALLEL = f"\n#pragma omp parallel for\n{_LOOP}\n"

# What each variant does, and how its trial ends.
FATES: Mapping[str, tuple[str, Status]] = {
    "segfault": (f"{{ *(volatile int *) 8 = 1; {_LOOP} }}", Status.RUNTIME),
    "right": (_PARALLEL, Status.CORRECT),
    "hang": ("{ for (volatile int k = 0; k < 1; ) ; }", Status.TIMEOUT),
    "wrong": ("for (int i = 0; i < n; i++) y[i] = 3 * x[i];", Status.CORRECTNESS),
    "right too": (f"{{ ; {_LOOP} }}", Status.CORRECT),
    "memory": (
        "{ for (;;) { char *p = __builtin_malloc(1 << 20);"
        " for (int k = 0; k < 1 << 20; k += 4096) ((volatile char *) p)[k] = 1; } }",
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


def all_right(count: int) -> Listing:
    """Return so many points with different texts that do the same."""
    configs = tuple({"deed": number} for number in range(count))

    def make(number: int) -> Variant:
        code = RegionCode(f"{{ {'; ' * number}{_LOOP} }}")
        return cast(Variant, _Made(code, dict(configs[number])))

    return Listing(configs, tuple(1e-3 for _ in configs), make)


class _PatientBench(Bench):
    """One whose limit is that of runs alone: on a busy machine a compiler takes long as well."""

    def plan(self, *asked: Any, **named: Any) -> CheckPlan:
        return replace(Bench.plan(self, *asked, **named), compile_limit_s=600.0)


def bench(folder: Path, slots: int, store: Store | None = None, time_s: float = 600.0) -> Bench:
    """Return a bench that checks the space's region in a scratch `folder`."""
    source = text_source(TEXT)
    oracle = Oracle(source, analyse(source.regions[0]), find_toolchains(os.environ), folder)
    return _PatientBench(
        Checker(oracle),
        ({"n": 500},),
        ({"n": 3},),
        1,
        slots,
        time.monotonic() + time_s,
        "this CPU",
        limit_s=LIMIT_S,
        memory_mib=MEMORY_MIB,
        store=store or in_memory(),
    )


def searched(bench: Bench, points: Listing, wanted: Wanted | None = None) -> Outcome:
    """Return what comes of the space: timed with one slot, else checked several at once."""
    wanted = wanted or Wanted(search="exhaustive")
    target = cast(Target, _Target())
    if bench.jobs == 1:
        return measured(bench, target, "openmp", points, wanted)
    return predicted(bench, target, "openmp", points, wanted, "a device")


def main() -> None:
    """Search the space once, on the record."""
    folder, slots = Path(sys.argv[1]), int(sys.argv[2])
    with tempfile.TemporaryDirectory(dir=folder) as scratch, opened(folder, False) as (store, _):
        found = searched(bench(Path(scratch), slots, store), listing())
    for trial in found.trials:
        print(json.dumps([trial.config["deed"], trial.status, trial.reason, trial.reused]))


if __name__ == "__main__":
    main()
