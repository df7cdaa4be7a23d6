"""A new user's first minutes: a C program of one's own, annotated, tuned, linked, and run again.

Once with the annotune of this process, and once with a wheel in an environment that is made for
it. The latter also compares the speed of what was linked: with annotune's own clock in turns, on
any machine, and on a quiet one with what the table had promised.
"""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from annotune.codegen.target import load_target
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckPlan
from annotune.measure.run import TimingPlan, run_in_one_child
from annotune.measure.sizes import tuned_sizes
from annotune.measure.timing import (
    BUSY,
    IDLE_LOAD,
    Interval,
    load_average,
    ratio_interval,
    share_waited,
    waited_s,
)
from annotune.measure.toolchain import find_toolchains
from annotune.pipeline import Settings, accepted
from annotune.rebuild import Earlier
from annotune.tuning.bench import BUSY_WORDS, program_of
from annotune.tuning.jobs import Contestant, job_of

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="it takes gcc")

KERNEL = """\
/* c += a times the transpose of b, for square matrices in rows. */
void mm(int n, double *restrict c, const double *restrict a, const double *restrict b)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int k = 0; k < n; k++)
                sum += a[i * n + k] * b[j * n + k];
            c[i * n + j] += sum;
        }
}
"""

# The tuned function is so much faster that this shows on a busy machine, too.
N = 480
TUNED_CALLS = 15
# Integers in doubles: their sums are exact in any order.
MATRICES = f"""\
#define N {N}
static double a[N * N], b[N * N], c[N * N];
void mm(int n, double *restrict c, const double *restrict a, const double *restrict b);

static void fill(void)
{{
    for (int i = 0; i < N * N; i++) {{
        a[i] = i % 7;
        b[i] = i % 11;
        c[i] = i % 3;
    }}
}}
"""

PROGRAM = f"""\
#include <stdio.h>
{MATRICES}
int main(void)
{{
    double sum = 0.0;
    fill();
    mm(N, c, a, b);
    mm(N - 1, c, b, a);
    for (int i = 0; i < N * N; i++)
        sum += c[i] * (i % 5);
    printf("%.17g\\n", sum);
    return 0;
}}
"""

# As the table is measured: after a call of its own, and with nothing in a cache.
IN_TURNS = f"""\
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
{MATRICES}
/* Of which the first is compared with the original, and the fastest with annotune's own clock. The
 * others are so many that other work would make them wait. */
#define TUNED_CALLS {TUNED_CALLS}

typedef void product(int n, double *restrict c, const double *restrict a, const double *restrict b);
product original;
int annotune_evict(void *first, size_t bytes);

static double seconds(void)
{{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}}

static double seconds_of(product *called)
{{
    called(N, c, a, b);
    annotune_evict(a, sizeof a);
    annotune_evict(b, sizeof b);
    annotune_evict(c, sizeof c);
    double begin = seconds();
    called(N, c, a, b);
    return seconds() - begin;
}}

int main(int argc, char **argv)
{{
    (void)argc;
    fill();
    for (int left = atoi(argv[1]); left > 0; left--) {{
        printf("%.9g", seconds_of(original));
        for (int again = 0; again < TUNED_CALLS; again++)
            printf(" %.9g", seconds_of(mm));
        printf("\\n");
    }}
    return 0;
}}
"""
EVICT = ROOT / "annotune/measure/runtime/evict.c"


@dataclass(frozen=True)
class Desk:
    """A folder of somebody who has just come here, whose home has nothing in it."""

    folder: Path
    annotune: tuple[str, ...] = (sys.executable, "-m", "annotune")
    settings: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

    def run(self, *words: str) -> str:
        """Return what a command prints, which is to succeed."""
        done = self.done(*words)
        assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout}{done.stderr}"
        return done.stdout

    def done(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Return how a command ended."""
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        return subprocess.run(
            words,
            cwd=self.folder,
            env={**self.settings, "HOME": str(home)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def annotate(self) -> list[str]:
        """Annotate the kernel's file, and return the arguments that `init` says are next."""
        said = self.run(*self.annotune, "init", "mm.c", "--yes", "--size", f"n={N}")
        (following,) = re.findall(r"next: annotune (.*)", said)
        return [*shlex.split(following), "--target", "openmp"]

    def tune(self, words: Sequence[str], first_s: int) -> list[str]:
        """Return the command that `run` says links its winner.

        On a busy machine the time may end before there is one; the next run has more, and goes on.
        """
        for seconds in (first_s, 4 * first_s, 16 * first_s):
            # With all the commands, for a busy machine says another one in its last line.
            said = self.run(*self.annotune, *words, "--time", f"{seconds}s", "-v")
            if links := re.findall(r"gcc .*annotune-out/mm/mm_omp\.c.*", said):
                break
        link = links[-1]
        assert "mm_omp.c" in link
        return shlex.split(link)


def annotated_tuned_linked(desk: Desk, budget: int, first_s: int) -> tuple[list[str], list[str]]:
    """Go from an unannotated file to a linked program that prints the same as the original.

    `run` tries so many variants in so many seconds, or some more. Returns its arguments, and the
    command that links.
    """
    (desk.folder / "mm.c").write_text(KERNEL)
    (desk.folder / "main.c").write_text(PROGRAM)
    original = ("gcc", "-O2", "main.c", "mm.c", "-o", "original")
    desk.run(*original)
    expected = desk.run("./original")

    words = [*desk.annotate(), "--budget", str(budget)]
    link = desk.tune(words, first_s)
    desk.run(*link)
    assert desk.run("./a.out") == expected
    # The original compiles and runs as before: what was put into it are comments.
    desk.run(*original)
    assert desk.run("./original") == expected
    return words, link


@pytest.mark.slow
def test_from_an_unannotated_file_to_a_program_that_computes_the_same(tmp_path: Path) -> None:
    annotated_tuned_linked(Desk(tmp_path), budget=1, first_s=10)


WITHIN = 1.1
KNOWN = 1.25
ROUNDS, BATCHES = 10, 6
ATTEMPTS = 3
FEWEST_TURNS, MOST_TURNS = 10, 60
# Enough for eight variants, and to time the best with the original in turns.
FIRST_S = 60


@dataclass(frozen=True)
class Speeds:
    """How many times as fast as the original: what a table says, and a program that is linked."""

    table: Interval
    program: Interval
    is_quiet: bool

    @property
    def is_decided(self) -> bool:
        """Whether nothing else ran meanwhile, and both are known well enough to be compared."""
        return self.is_quiet and all(map(is_known, (self.table, self.program)))

    @property
    def agree(self) -> bool:
        """Whether the two are within 10% of each other, as far as can be told."""
        low, high = self.table.low / WITHIN, self.table.high * WITHIN
        return low <= self.program.high and self.program.low <= high


def is_known(ratio: Interval) -> bool:
    return ratio.high <= ratio.low * KNOWN


def table_of(folder: Path) -> tuple[Interval, bool]:
    """Return the speed-up of the winner, and whether annotune found the machine quiet."""
    results = json.loads((folder / "annotune-out/mm/results.json").read_text())
    (region,) = results["regions"]
    (row,) = (row for row in region["rows"] if row["name"] == "openmp")
    known = [row["speedup_low"] or 0.0, row["speedup_high"] or float("inf")]
    ratio = Interval(row["speedup"], *known, 0)
    return ratio, not any(BUSY_WORDS in words for words in results["warnings"])


def build_in_turns(desk: Desk, link: list[str]) -> None:
    """Link what calls the original and the tuned function in turns, by the command of the run."""
    compiler, *flags = link[: link.index("main.c")]
    renamed = ("-Dmm=original", "-c", "mm.c", "-o", "original.o")
    desk.run(compiler, *flags, *renamed)
    (desk.folder / "in_turns.c").write_text(IN_TURNS)
    words = ["in_turns.c" if word == "main.c" else word for word in link]
    desk.run(*words, "original.o", str(EVICT), "-o", "in_turns")


def in_turns(desk: Desk, rounds: int) -> tuple[list[float], list[list[float]]]:
    """Return seconds of a call of the original, and of those of what is linked, in some rounds."""
    said = desk.run("./in_turns", str(rounds))
    found = [[float(word) for word in line.split()] for line in said.splitlines()]
    return [one for one, *_ in found], [tuned for _, *tuned in found]


def speedup_in_turns(desk: Desk) -> tuple[Interval, bool]:
    """Return how many times as fast as the original is what is linked, and whether it was quiet.

    They are called until their ratio is known, or there is no hope of it.
    """
    load, waited, begin = load_average(), waited_s(), time.perf_counter()
    original_s: list[float] = []
    tuned_s: list[float] = []
    for _ in range(BATCHES):
        some, others = in_turns(desk, ROUNDS)
        original_s, tuned_s = original_s + some, tuned_s + [first for first, *_ in others]
        ratio = ratio_interval(original_s, tuned_s)
        if is_known(ratio):
            break
    share = share_waited(waited, time.perf_counter() - begin)
    if share is None:
        return ratio, load is not None and load <= IDLE_LOAD * (os.cpu_count() or 1)
    return ratio, share <= BUSY


def own_clock(desk: Desk) -> Callable[[], float]:
    """Return what has annotune time some calls of the winner, and gives the seconds of the fastest.

    They are made and timed as those were that the table is of.
    """
    earlier = Earlier.read(desk.folder / "annotune-out/mm")
    settings = earlier.read_as(Settings(desk.folder / "mm.c", ("openmp",)))
    (variants,), found = earlier.emission(settings).variants, accepted(settings)
    analysis = found.regions[0].by_size[0].analysis
    assert analysis is not None
    target, variant = load_target("openmp"), variants["openmp"]
    program = program_of(target, target.kind, variant, target.region(variant, False))
    folder = desk.folder / "clock"
    folder.mkdir()
    oracle = Oracle(found.source, analysis, find_toolchains(os.environ), folder)
    threads = len(os.sched_getaffinity(0))
    plan = CheckPlan((tuned_sizes(analysis.region),), threads=threads, timing=TimingPlan())
    child, job = job_of(oracle, Contestant("openmp", program, 0.0, threads), plan)
    assert job.timing is not None
    calls = replace(job.timing, runs=TUNED_CALLS, least_runs=TUNED_CALLS)

    def least_s() -> float:
        with run_in_one_child(child, [replace(job, timing=calls)]) as (outcome,):
            assert outcome.times is not None, outcome.reason
            return min(outcome.times.tuned_s)

    return least_s


def least_in_turns(desk: Desk) -> tuple[float, float]:
    """Return the seconds of the fastest call by annotune's clock, and of what is linked.

    Other work makes calls longer, but hardly all of many. Those who take turns in the same minute
    meet the same of it, and go on while they differ and there is hope.
    """
    clock = own_clock(desk)
    clock_s = program_s = math.inf
    for number in range(MOST_TURNS):
        clock_s = min(clock_s, clock())
        program_s = min(program_s, *in_turns(desk, 1)[1][0])
        if number >= FEWEST_TURNS and alike(clock_s, program_s):
            break
    return clock_s, program_s


def alike(one_s: float, other_s: float) -> bool:
    """Return whether two times are within 10% of each other."""
    return max(one_s, other_s) <= WITHIN * min(one_s, other_s)


def compared(desk: Desk, words: list[str], link: list[str]) -> Iterator[Speeds]:
    """Yield the speeds of table and program, each time of a new run and of what it links."""
    for attempt in range(ATTEMPTS):
        if attempt:
            link = desk.tune([*words, "--fresh"], FIRST_S)
        table, was_quiet = table_of(desk.folder)
        build_in_turns(desk, link)
        program, is_quiet = speedup_in_turns(desk)
        yield Speeds(table, program, was_quiet and is_quiet)


def wheel_of_the_checkout(desk: Desk) -> str:
    """Return the name of a wheel, built from a copy: what setuptools leaves lies beside it."""
    copy = desk.folder / "checkout"
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    for name in settings["package-dir"].values():
        leave = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, copy / name, ignore=leave)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    desk.run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", ".", "./checkout")
    (wheel,) = desk.folder.glob("annotune-*.whl")
    shutil.rmtree(copy)
    return wheel.name


@pytest.fixture
def installed(tmp_path: Path) -> Desk:
    """Give a desk with an environment that has annotune's wheel and what it needs, no more."""
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    desk = Desk(tmp_path, settings=settings)
    probe = ("download", "--no-deps", "--retries", "0", "--dest", "probe", "lark")
    found = desk.done(sys.executable, "-m", "pip", *probe)
    if found.returncode:
        pytest.skip(f"no package index: {found.stderr.strip().splitlines()[-1]}")
    wheel = wheel_of_the_checkout(desk)
    desk.run(sys.executable, "-m", "venv", "env")
    path = f"{tmp_path / 'env/bin'}{os.pathsep}{os.environ['PATH']}"
    activated = replace(desk, annotune=("annotune",), settings={**settings, "PATH": path})
    activated.run("pip", "install", wheel)
    return activated


@pytest.mark.parametrize(
    ("low", "high", "is_quiet", "is_decided", "agree"),
    [
        (9.0, 9.1, True, True, True),
        (8.9, 9.0, True, True, False),
        (11.3, 11.4, True, True, False),
        (8.0, 12.0, True, False, True),
        (7.0, 9.0, True, False, False),
        (9.0, 9.1, False, False, True),
    ],
)
def test_speeds_are_told_apart_beyond_a_tenth_where_the_machine_is_quiet(
    low: float, high: float, is_quiet: bool, is_decided: bool, agree: bool
) -> None:
    table = Interval(10.0, 9.95, 10.05, 12)
    speeds = Speeds(table, Interval(low, low, high, 20), is_quiet)
    assert (speeds.is_decided, speeds.agree) == (is_decided, agree)


@pytest.mark.slow
def test_a_wheel_in_a_new_environment_links_a_program_as_fast_as_its_table(
    installed: Desk,
) -> None:
    words, link = annotated_tuned_linked(installed, 8, FIRST_S)
    build_in_turns(installed, link)
    clock_s, program_s = least_in_turns(installed)
    assert alike(clock_s, program_s)
    seen: list[Speeds] = []
    for speeds in compared(installed, words, link):
        seen.append(speeds)
        if not speeds.is_decided:
            told = f"this machine has other work or much noise, speeds are not compared: {speeds}"
            warnings.warn(told, stacklevel=1)
            break
        if speeds.agree:
            break
    else:
        # One attempt may meet what no detector sees, such as another guest of the processor.
        pytest.fail(f"the table and the program that is linked disagree: {seen}")
