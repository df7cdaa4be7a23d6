"""Compares how many variants a second annotune and Orio 0.6.1 try, on one C nest.

    python benchmarks/trial_rate.py [--nest mm|axpy|all] [--variants 240] [--cores 2] [--check]

Orio is installed from the configured package index into an environment that is thrown away. It
compiles each variant, runs it a few times and compares nothing. Of annotune it is the loop of
`annotune run` that is driven, with its store on the disk: an exhaustive search over so many
variants, every one in a child that can be killed, compared with the original and timed until its
time is known. The clock runs from the file on, and ends with the last trial; the finals, which Orio
has not, are left out. Both try the same number of variants with the same compiler flags, one after
the other on the same cores.

Orio makes the size a macro, so that its variants are compiled for one size: `fixed` is the same
for annotune, and the figure that counts. `open` has a size that the caller passes: each variant is
then two functions, one for any size, and is compared at awkward sizes as well. Exits with 1 below
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
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, isqrt, prod
from pathlib import Path

from annotune.annotation.devices import load_device
from annotune.codegen.target import load_target
from annotune.measure.check import Checker
from annotune.measure.machine import cpu_model, memory_limit_mib, usable_cores
from annotune.measure.oracle import Oracle
from annotune.measure.sizes import awkward_sizes, tuned_sizes
from annotune.measure.toolchain import find_toolchains
from annotune.measure.trial import Status
from annotune.pipeline import Settings, check
from annotune.space.variants import Listing
from annotune.tuning.bench import Bench, Session
from annotune.tuning.config import RunConfig, Wanted
from annotune.tuning.region_run import MOST_ON_CPU
from annotune.tuning.store import Store, opened
from annotune.tuning.tuner import by_clock

ORIO = "orio==0.6.1"
LEAST_RATIO = 4.0
# A rate over fewer trials than this is one of what happens once, and not held to anything.
HELD_FROM = 64
# Calls of each variant: Orio's own examples ask for 5.
REPETITIONS = 5
INSTALL_LIMIT_S = 300
RUN_LIMIT_S = 600
FORMS = ("fixed", "open")
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
        "double C[restrict N][N], const double A[restrict N][N], const double B[restrict N][N]",
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


def our_file(nest: Nest, form: str) -> str:
    """Return the nest as a function with the same flags to choose from, its size as in `form`."""
    macro, passed = (f"#define N {nest.size}\n", "") if form == "fixed" else ("", "int N, ")
    size = "" if macro else f"def input_params {{ param N = {nest.size}; }}\n"
    return (
        f"{macro}void nest({passed}{nest.parameters})\n{{\n/*@ begin PerfTuning (\n"
        "def build { arg build_command = 'gcc @CFLAGS'; }\n"
        f"def performance_params {{ param CFLAGS[] = {list(FLAGS)}; }}\n"
        f"{size}) @*/\n{nest.text}\n/*@ end @*/\n}}\n"
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


def prepared(source: Path, store: Store) -> tuple[Bench, Listing]:
    """Return what checks and measures the only region of a file, and the points of its space.

    As `annotune run` prepares them.
    """
    settings = Settings(source, ("openmp",))
    found = check(settings)
    (region,) = found.regions
    assert found.source is not None
    assert region.base is not None
    assert region.space is not None
    analysis, device = region.base.analysis, load_device(settings.device)
    listing = load_target("openmp").points(region.base, region.space, device).listing(MOST_ON_CPU)
    cores = usable_cores()
    config = RunConfig(compilers=cores, jobs=cores)
    bench = Bench(
        Session(config, cores, memory_limit_mib(), store=store),
        Checker(
            Oracle(found.source, analysis, find_toolchains(os.environ), source.parent / "work")
        ),
        (tuned_sizes(analysis.region),),
        awkward_sizes(analysis),
        time.monotonic() + RUN_LIMIT_S,
        cpu_model(),
    )
    return bench, listing


def our_rate(nest: Nest, form: str, variants: int, folder: Path) -> Rate:
    """Return how fast annotune tries at most so many variants, from the file on."""
    source = folder / "nest.c"
    source.write_text(our_file(nest, form))
    # Compilers are probed once for a process, however much it tunes.
    find_toolchains(os.environ)
    start = time.perf_counter()
    with opened(folder, is_fresh=False) as (store, _):
        bench, listing = prepared(source, store)
        wanted = Wanted("exhaustive", budget=variants, time_s=RUN_LIMIT_S)
        tried, searched = by_clock(bench, load_target("openmp"), "openmp", listing, wanted)
        time_s = time.perf_counter() - start
    fates = Counter(str(one.trial.status) for one in tried)
    wrong = {status: n for status, n in fates.items() if status != Status.CORRECT}
    sizes = len(bench.sizes) + len(bench.awkward)
    at = f"{sizes} sizes" if sizes > 1 else "its size"
    did = f"compiled, compared at {at}, timed, kept; {wrong or 'all right'}"
    return Rate(searched.evaluated, time_s, did)


def shown(name: str, rate: Rate) -> str:
    """Return one row of the table."""
    return (
        f"{name:14} {rate.variants:4} variants in {rate.time_s:6.2f} s: "
        f"{rate.per_s:6.1f} a second ({rate.did})"
    )


def is_kept(name: str, variants: int, folder: Path) -> bool:
    """Print the rates on one nest, and return whether that of the fixed size is as promised."""
    nest = NESTS[name]
    print(f"{name}, N = {nest.size}, {usable_cores()} cores, load before {os.getloadavg()[0]:.1f}")
    ours: dict[str, Rate] = {}
    for form in FORMS:
        (folder / form).mkdir(parents=True)
        ours[form] = our_rate(nest, form, variants, folder / form)
    (folder / "orio").mkdir()
    theirs = orio_rate(nest, ours["fixed"].variants, folder / "orio")
    for form, rate in ours.items():
        print(shown(f"annotune {form}", rate))
    if isinstance(theirs, str):
        print(f"Orio           not available because {theirs}")
        return False
    print(shown("Orio", theirs))
    ratios = {form: rate.per_s / theirs.per_s for form, rate in ours.items()}
    is_held = ours["fixed"].variants >= HELD_FROM
    promise = f"to be at least {LEAST_RATIO:g}" if is_held else "too few trials to promise any"
    print(
        f"ratio {ratios['fixed']:.2f} with the size fixed as Orio fixes it, {promise};"
        f" {ratios['open']:.2f} with the size open"
    )
    return not is_held or ratios["fixed"] >= LEAST_RATIO


def main() -> int:
    """Run both and print the rates."""
    parser = argparse.ArgumentParser(description="trials a second, beside Orio")
    parser.add_argument("--nest", choices=(*NESTS, "all"), default="mm")
    parser.add_argument("--variants", type=int, default=240, help="at most")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--check", action="store_true", help=f"exit with 1 below {LEAST_RATIO}x")
    options = parser.parse_args()
    usable = sorted(os.sched_getaffinity(0))[: options.cores]
    os.sched_setaffinity(0, usable)
    names = tuple(NESTS) if options.nest == "all" else (options.nest,)
    with tempfile.TemporaryDirectory(prefix="annotune-rate-") as folder:
        kept = [is_kept(name, options.variants, Path(folder) / name) for name in names]
    return int(options.check and not all(kept))


if __name__ == "__main__":
    sys.exit(main())
