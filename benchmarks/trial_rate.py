"""Compares how many variants a second annotune and Orio 0.6.1 try, on one C nest.

    python benchmarks/trial_rate.py [--nest mm|axpy] [--variants 64] [--cores 2] [--check]

Orio is installed from the configured package index into an environment that is thrown away. It
compiles each variant, runs it a few times and compares nothing. annotune compiles several at
once while it checks others: every variant in a child that can be killed, against the original at
the tuned sizes and at awkward ones, and times it at the tuned ones. Both try the same number of
variants with the same compiler flags, one after the other on the same cores. Exits with 1 below
four times Orio's rate with --check, or where there is nothing to compare with.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import venv
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from math import ceil, isqrt, prod
from pathlib import Path

from annotune.annotation.devices import load_device
from annotune.codegen.target import load_target
from annotune.measure.ahead import TOGETHER, compile_ahead
from annotune.measure.check import Checker, CheckPlan
from annotune.measure.oracle import Oracle
from annotune.measure.run import TimingPlan
from annotune.measure.sizes import awkward_sizes, tuned_sizes
from annotune.measure.toolchain import find_toolchains
from annotune.measure.trial import Status
from annotune.measure.variant import Variant
from annotune.pipeline import check
from annotune.settings import Settings

ORIO = "orio==0.6.1"
LEAST_RATIO = 4.0
# Calls of each variant: Orio's own examples ask for 5.
REPETITIONS = 5
# Batches that are compiled while another is checked.
COMPILERS = 2
INSTALL_LIMIT_S = 300
RUN_LIMIT_S = 600
FLAGS = ("-O1", "-O2", "-O3", "-O3 -funroll-loops")


@dataclass(frozen=True)
class Nest:
    """A nest as C and as Orio's loop module writes it, `size` being its one extent.

    `factors` are the loops that Orio unrolls, by the names of the parameters in `orio_loops`.
    """

    size: int
    parameters: str
    text: str
    declarations: tuple[str, ...]
    iterators: str
    orio_loops: str
    factors: tuple[str, ...]


_AXPY = " + ".join(["y[i]", *(f"a{k}*x{k}[i]" for k in range(1, 6))])

NESTS = {
    "mm": Nest(
        96,
        "double C[N][N], const double A[N][N], const double B[N][N]",
        "for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) for (int k = 0; k < N; k++)\n"
        "    C[i][j] += A[i][k]*B[k][j];",
        ("decl dynamic double A[N][N] = random;", "decl dynamic double B[N][N] = random;",
         "decl dynamic double C[N][N] = 0;"),
        "int i, j, k;",
        "transform UnrollJam(ufactor=UI)\nfor (i=0; i<=N-1; i++)\n"
        "transform UnrollJam(ufactor=UJ)\nfor (j=0; j<=N-1; j++)\n"
        "for (k=0; k<=N-1; k++)\nC[i][j] = C[i][j] + A[i][k]*B[k][j];",
        ("UI", "UJ"),
    ),
    "axpy": Nest(
        100_000,
        "double *restrict y, "
        + ", ".join(f"double a{k}, const double *restrict x{k}" for k in range(1, 6)),
        f"for (int i = 0; i < N; i++)\n    y[i] = {_AXPY};",
        ("decl dynamic double y[N] = 0;",
         *(f"decl dynamic double x{k}[N] = random;" for k in range(1, 6)),
         *(f"decl double a{k} = random;" for k in range(1, 6))),
        "int i;",
        f"transform Unroll(ufactor=UI)\nfor (i=0; i<=N-1; i++)\ny[i] = {_AXPY};",
        ("UI",),
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Rate:
    """So many variants tried in so many seconds, and what was done with them."""

    variants: int
    time_s: float
    did: str

    @property
    def per_s(self) -> float:
        return self.variants / self.time_s


def orio_file(nest: Nest, grid: Sequence[int]) -> str:
    """Return a nest for Orio: `grid` values of each unroll factor times the compiler flags."""
    values = {
        name: list(range(1, count + 1)) for name, count in zip(nest.factors, grid, strict=True)
    }
    rows = [f"param {name}[] = {found};" for name, found in values.items()]
    rows.append(f"param CFLAGS[] = {list(FLAGS)};")
    return (
        "/*@ begin PerfTuning (\n"
        "def build { arg build_command = 'gcc -march=native @CFLAGS'; }\n"
        f"def performance_counter {{ arg repetitions = {REPETITIONS}; }}\n"
        "def performance_params { " + "\n".join(rows) + " }\n"
        f"def input_params {{ param N[] = [{nest.size}]; }}\n"
        "def input_vars { " + "\n".join(nest.declarations) + " }\n"
        "def search { arg algorithm = 'Exhaustive'; }\n) @*/\n"
        f"{nest.iterators}\n/*@ begin Loop (\n{nest.orio_loops}\n) @*/\n/*@ end @*/\n/*@ end @*/\n"
    )


def our_file(nest: Nest) -> str:
    """Return the nest as a function, with the same flags to choose from and an open size."""
    return (
        f"void nest(int N, {nest.parameters})\n{{\n/*@ begin PerfTuning (\n"
        "def build { arg build_command = 'gcc @CFLAGS'; }\n"
        f"def performance_params {{ param CFLAGS[] = {list(FLAGS)}; }}\n"
        f"def input_params {{ param N = {nest.size}; }}\n) @*/\n{nest.text}\n/*@ end @*/\n}}\n"
    )


def grid_of(points: int, axes: int) -> tuple[int, ...]:
    """Return how many values each of one or two axes has to make so many points."""
    if axes == 1:
        return (points,)
    few = next(n for n in range(isqrt(points), 0, -1) if points % n == 0)
    return (points // few, few)


def installation(folder: Path) -> list[str]:
    """Return the command that puts Orio into a fresh environment in `folder`."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    return [str(python), "-m", "pip", "install", "--quiet", "--no-input", ORIO]


def orio_rate(nest: Nest, variants: int, folder: Path) -> Rate | str:
    """Return how fast Orio tries so many variants at least, or why that is not available."""
    python = folder / "env" / "bin" / "python"
    try:
        done = subprocess.run(
            installation(folder / "env"), capture_output=True, text=True, timeout=INSTALL_LIMIT_S
        )
    except subprocess.TimeoutExpired:
        return f"installing {ORIO} took more than {INSTALL_LIMIT_S} s"
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "ERROR" in line]
        return f"{ORIO} cannot be installed: {(errors or [done.stderr.strip()])[-1]}"
    grid = grid_of(ceil(variants / len(FLAGS)), len(nest.factors))
    count = len(FLAGS) * prod(grid)
    (folder / "nest.c").write_text(orio_file(nest, grid))
    start = time.perf_counter()
    try:
        ran = subprocess.run(
            [str(python.with_name("orcc")), "nest.c"],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=RUN_LIMIT_S,
        )
    except subprocess.TimeoutExpired:
        return f"it took more than {RUN_LIMIT_S} s"
    time_s = time.perf_counter() - start
    if ran.returncode or not (folder / "_nest.c").exists():
        words = (ran.stderr or ran.stdout).strip().splitlines()
        return f"it failed: {words[-1] if words else f'exit code {ran.returncode}'}"
    return Rate(count, time_s, f"compiled, called {REPETITIONS} times, nothing compared")


def programs(settings: Settings, limit: int) -> tuple[Iterator[Variant], Checker, CheckPlan]:
    """Return the variants of a nest's only region as they are made, and what checks them."""
    found = check(settings)
    (region,) = found.regions
    assert found.source is not None
    assert region.base is not None
    assert region.space is not None
    analysis, target = region.base.analysis, load_target("openmp")
    points = target.candidates(region.base, region.space, load_device(settings.device), limit)

    def made() -> Iterator[Variant]:
        # What has the same flags is compiled at once.
        for point in sorted(points, key=lambda point: point.flags.host):
            code = target.region(point, resident=False)
            flags = ("-O3", *point.flags.host)
            yield Variant("openmp", "openmp", code, optimisation=flags, config=point.config)

    folder = settings.source.parent / "work"
    oracle = Oracle(found.source, analysis, find_toolchains(os.environ), folder)
    plan = CheckPlan(
        (tuned_sizes(analysis.region), *awkward_sizes(analysis)),
        threads=len(os.sched_getaffinity(0)),
        timing=TimingPlan(runs=REPETITIONS),
    )
    return made(), Checker(oracle), plan


def our_rate(nest: Nest, variants: int, folder: Path) -> Rate:
    """Return how fast annotune tries at most so many variants, from the file on."""
    (folder / "nest.c").write_text(our_file(nest))
    # Compilers are probed once for a process, however much it tunes.
    find_toolchains(os.environ)
    start = time.perf_counter()
    each, checker, plan = programs(Settings(folder / "nest.c", ("openmp",)), variants)
    fates: Counter[str] = Counter()
    with ThreadPoolExecutor(COMPILERS) as pool:
        waiting: deque[tuple[list[Variant], Future[None]]] = deque()

        def begin() -> None:
            if batch := list(islice(each, TOGETHER)):
                job = pool.submit(compile_ahead, batch, plan, checker.oracle)
                waiting.append((batch, job))

        for _ in range(COMPILERS):
            begin()
        while waiting:
            batch, compiled = waiting.popleft()
            compiled.result()
            begin()
            fates.update(str(checker.check(one, plan).status) for one in batch)
    time_s = time.perf_counter() - start
    wrong = {status: n for status, n in fates.items() if status != Status.CORRECT}
    did = f"compiled, compared at {len(plan.sizes)} sizes, timed; {wrong or 'all right'}"
    return Rate(fates.total(), time_s, did)


def shown(name: str, rate: Rate) -> str:
    """Return one row of the table."""
    return (
        f"{name:9} {rate.variants:4} variants in {rate.time_s:6.2f} s: "
        f"{rate.per_s:6.1f} a second ({rate.did})"
    )


def main() -> int:
    """Run both and print the rates."""
    parser = argparse.ArgumentParser(description="trials a second, beside Orio")
    parser.add_argument("--nest", choices=NESTS, default="mm")
    parser.add_argument("--variants", type=int, default=64, help="at most")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--check", action="store_true", help=f"exit with 1 below {LEAST_RATIO}x")
    options = parser.parse_args()
    usable = sorted(os.sched_getaffinity(0))[: options.cores]
    os.sched_setaffinity(0, usable)
    nest = NESTS[options.nest]
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="annotune-rate-") as name:
        ours_in, orio_in = Path(name) / "ours", Path(name) / "orio"
        ours_in.mkdir()
        orio_in.mkdir()
        ours = our_rate(nest, options.variants, ours_in)
        theirs = orio_rate(nest, ours.variants, orio_in)
    print(f"{options.nest}, N = {nest.size}, {len(usable)} cores, load before {load:.1f}")
    print(shown("annotune", ours))
    if isinstance(theirs, str):
        print(f"Orio      not available because {theirs}")
        return int(options.check)
    print(shown("Orio", theirs))
    ratio = ours.per_s / theirs.per_s
    print(f"ratio {ratio:.2f}, to be at least {LEAST_RATIO:g}")
    return int(options.check and ratio < LEAST_RATIO)


if __name__ == "__main__":
    sys.exit(main())
