"""Variants that do harm beside their work: each is a row, and the next one finds nothing of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import replace
from pathlib import Path

import pytest
from compilers import here
from made_by_hand import matvec

from annotune.codegen.target import RegionCode
from annotune.measure.compile import CompileJob, TranslationUnit, compile_job
from annotune.measure.inputs import make_inputs
from annotune.measure.program import variant_source
from annotune.measure.run import (
    ENDED,
    FORKERS,
    OVERWRITTEN,
    STOPPED,
    Child,
    RunJob,
    RunResult,
    run_in_one_child,
)
from annotune.measure.trial import Status

pytestmark = pytest.mark.skipif(here().c is None, reason="no C compiler")

TEXT = "#define _GNU_SOURCE\n" + (Path(__file__).parent / "misdeeds.c").read_text()
BODY = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) y[i] += A[i][j] * x[j]; do_deed(y);"
LIMIT_S, HUNG_S = 120.0, 0.5
MEMORY_MIB = 300

RIGHT, CRASH, LATE = Status.CORRECT, Status.RUNTIME, Status.TIMEOUT

# What each variant does, how its run ends, and words of the reason.
DEEDS = {
    "scribbles while loading": (RIGHT, ""),
    "scribbles": (RIGHT, ""),
    "scribbles later": (RIGHT, ""),
    "spoils descriptors": (RIGHT, ""),
    "daemon that spoils": (RIGHT, ""),
    "daemon": (RIGHT, ""),
    "many children": (RIGHT, ""),
    "changes its modes": (RIGHT, ""),
    "changes its parent": (RIGHT, ""),
    "suspends its parent": (RIGHT, ""),
    "overwrites shared memory": (CRASH, OVERWRITTEN),
    "rounds upwards": (CRASH, "floating-point mode"),
    "flushes to zero": (CRASH, "floating-point mode"),
    "stops its parent": (CRASH, STOPPED),
    "stops its parent and stays": (CRASH, STOPPED),
    "traces its parent": (CRASH, STOPPED),
    "kills its parent": (CRASH, ENDED),
    "terminates its parent": (CRASH, ENDED),
    "daemon of a killer": (CRASH, ENDED),
    "kills its group": (CRASH, "SIGKILL"),
    "ends while loading": (CRASH, "exit code 0"),
    "aborts while loading": (CRASH, "SIGABRT"),
    "segfault": (CRASH, "SIGSEGV"),
    "recurses": (CRASH, "SIGSEGV"),
    "divides by zero": (CRASH, "SIGFPE"),
    "exit": (CRASH, "exit code 0"),
    "exec": (CRASH, "exit code 0"),
    "alarm": (CRASH, "SIGALRM"),
    "eats": (CRASH, "used more than"),
    "eats in a child": (CRASH, "used more than"),
    "prints without end": (CRASH, "SIGXFSZ"),
    "floods of escapes": (CRASH, "SIGABRT"),
    "bytes of no text": (CRASH, "SIGABRT"),
    "no further calls": (CRASH, "SIGKILL"),
    "stops its group": (LATE, "killed after"),
    "suspends itself": (LATE, "killed after"),
    "hang": (LATE, "killed after"),
    "ignores and hangs": (LATE, "killed after"),
    "exec that stays": (LATE, "killed after"),
    "leaves its thread": (CRASH, "exit code 0"),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Child, list[RunJob]]:
    """Return runs of one library at three sizes."""
    folder = tmp_path_factory.mktemp("misdeeds")
    source, analysis = matvec()
    source = replace(source, text=f"#define _GNU_SOURCE\n{source.text}")
    text = variant_source(source, analysis.region, RegionCode(BODY, TEXT))
    built = compile_job(CompileJob((TranslationUnit(text),), "c"), here(), folder / "compiled")
    assert built.ok, built.output
    sizes: list[dict[str, int]] = [{}, {"n": 1}, {"n": 5}]
    inputs = [make_inputs(analysis, n, 1, folder / f"inputs-{k}") for k, n in enumerate(sizes)]
    child = Child(built.path, limit_s=LIMIT_S, memory_mib=MEMORY_MIB)
    return child, [RunJob(one) for one in inputs]


def ended(child: Child, jobs: list[RunJob], deed: str) -> tuple[RunResult, ...]:
    limit_s = HUNG_S if DEEDS[deed][0] is LATE else LIMIT_S
    asked = replace(child, environ={"DEED": deed}, limit_s=limit_s)
    with run_in_one_child(asked, jobs) as outcomes:
        return outcomes


def state(child: Child, job: RunJob) -> list[float]:
    """Return what an honest variant finds of its process."""
    asked = replace(child, environ={"DEED": "tells its state"})
    with run_in_one_child(asked, [job]) as (outcome,):
        assert (outcome.status, outcome.reason) == (RIGHT, "")
        left = outcome.left
        return list(job.inputs.read(job.inputs.buffers[0], left.path, left.start))


@pytest.fixture(scope="module")
def untouched(runs: tuple[Child, list[RunJob]]) -> list[float]:
    child, jobs = runs
    # A process that an earlier test has left here began in the folder of that test.
    FORKERS.close()
    with chdir(child.library.parent):
        return state(child, jobs[0])


@pytest.fixture(autouse=True)
def in_one_folder(
    runs: tuple[Child, list[RunJob]], untouched: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Have each test begin in one folder, which a child's state tells."""
    monkeypatch.chdir(runs[0].library.parent)


def alive(child: Child) -> Iterator[int]:
    """Yield the processes that have loaded a child's library."""
    for name in filter(str.isdecimal, os.listdir("/proc")):
        try:
            maps = Path(f"/proc/{name}/maps").read_text()
        except OSError:
            continue
        if str(child.library) in maps:
            yield int(name)


@pytest.mark.alike(2)
@pytest.mark.parametrize("deed", DEEDS)
def test_a_misdeed_is_a_row_and_no_more(
    deed: str, runs: tuple[Child, list[RunJob]], untouched: list[float]
) -> None:
    status, words = DEEDS[deed]
    child, jobs = runs
    outcomes = ended(child, jobs, deed)
    # The first that fails is the last there is.
    expected = [RIGHT] * len(jobs) if status is RIGHT else [status]
    assert [one.status for one in outcomes] == expected, outcomes[-1].reason
    assert words in outcomes[-1].reason
    assert not list(alive(child))
    assert state(child, jobs[0]) == untouched


def test_no_descriptor_is_left_to_a_variant(untouched: list[float]) -> None:
    assert untouched[2] == 0
    assert untouched[12] == 0  # and standard output is there
