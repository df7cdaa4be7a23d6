"""Whatever a library does, the run ends in a value."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from compilers import here
from made_by_hand import matvec

from annotune import measure
from annotune.codegen.target import RegionCode
from annotune.measure.compile import CompileJob, TranslationUnit, compile_job
from annotune.measure.inputs import make_inputs
from annotune.measure.program import variant_source
from annotune.measure.run import Child, RunJob, RunResult, TimingPlan, run_checked, run_in_one_child
from annotune.measure.trial import Status

RUNTIME = Path(measure.__file__).parent / "runtime"

pytestmark = pytest.mark.skipif(here().c is None, reason="no C compiler")

LOOPS = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) y[i] += A[i][j] * x[j];"


def job(
    body: str, folder: Path, kind: str = "c", timing: TimingPlan | None = None, **settings: object
) -> tuple[Child, RunJob]:
    source, analysis = matvec()
    text = variant_source(source, analysis.region, RegionCode(body))
    built = compile_job(CompileJob((TranslationUnit(text),), kind), here(), folder / "compiled")
    assert built.ok, built.output
    inputs = make_inputs(analysis, {}, 1, folder / "inputs")
    child = Child(built.path, **settings)  # type: ignore[arg-type]
    return child, RunJob(inputs, timing)


def first_of(job: RunJob, result: RunResult) -> float:
    """Return the first element that a run has left."""
    values = job.inputs.read(job.inputs.buffers[0], result.left.path, result.left.start)
    return float(values[0])


def test_outputs_come_back_and_inputs_stay(tmp_path: Path) -> None:
    child, a_job = job(LOOPS, tmp_path)
    inputs = a_job.inputs
    y, a, x = (inputs.read(b).copy() for b in inputs.buffers)
    outcome = run_checked(child, a_job, tmp_path / "run")
    assert (outcome.status, outcome.reason) == (Status.CORRECT, "")
    got = inputs.read(inputs.buffers[0], outcome.left.path)
    assert got == pytest.approx(y + a.reshape(20, 30) @ x)
    assert inputs.read(inputs.buffers[0]) == pytest.approx(y, abs=0)


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ("extern int raise(int); raise(11);", Status.RUNTIME, "died of SIGSEGV"),
        ("__builtin_trap();", Status.RUNTIME, "died of SIGILL"),
        ("extern void abort(void); abort();", Status.RUNTIME, "died of SIGABRT"),
        ("extern void exit(int); exit(3);", Status.RUNTIME, "exit code 3"),
        (f"{LOOPS} y[n] = 0;", Status.RUNTIME, "wrote to 'y' after its last element"),
        (f"{LOOPS} y[-1] = 0;", Status.RUNTIME, "wrote to 'y' before its first element"),
        (f"{LOOPS} ((double *)x)[3] = 9;", Status.CORRECTNESS, "wrote to x, which the original"),
    ],
)
def test_every_way_to_go_wrong(body: str, status: Status, words: str, tmp_path: Path) -> None:
    outcome = run_checked(*job(body, tmp_path), tmp_path / "run")
    assert outcome.status is status
    assert words in outcome.reason


def test_a_hang_is_killed_and_the_next_run_is_well(tmp_path: Path) -> None:
    outcome = run_checked(
        *job("for (;;) { volatile int k = 0; (void)k; }", tmp_path, limit_s=0.3), tmp_path / "run"
    )
    assert outcome.status is Status.TIMEOUT
    assert outcome.reason == "killed after 0.3 s"
    assert run_checked(*job(LOOPS, tmp_path), tmp_path / "run").status is Status.CORRECT


def test_a_far_write_ends_in_a_guard_page(tmp_path: Path) -> None:
    outcome = run_checked(*job(f"{LOOPS} y[n + 4096 / 8] = 0;", tmp_path), tmp_path / "run")
    assert outcome.status is Status.RUNTIME
    assert "SIGSEGV" in outcome.reason


def test_the_thread_count_is_the_jobs(tmp_path: Path) -> None:
    if not here().openmp:
        pytest.skip("no OpenMP")
    body = "extern int omp_get_max_threads(void); y[0] = omp_get_max_threads();"
    for threads in (1, 3):
        child, a_job = job(body, tmp_path, "openmp", threads=threads)
        outcome = run_checked(child, a_job, tmp_path / "run")
        assert first_of(a_job, outcome) == threads


def test_times_are_taken_from_restored_inputs(tmp_path: Path) -> None:
    plan = TimingPlan(warm_ups=1, runs=5, budget_s=60.0)
    # Each call doubles y; without restoration 20 or more calls would not stay below 1e3.
    body = "for (i = 0; i < n; i++) { y[i] *= 2; if (y[i] > 1e3) __builtin_trap(); }"
    slow = f"{body} for (volatile int k = 0; k < 100000; k++);"
    outcome = run_checked(*job(slow, tmp_path, timing=plan), tmp_path / "run")
    assert outcome.status is Status.CORRECT
    assert outcome.times is not None
    assert len(outcome.times.times_s) == 5
    assert all(t > 20e-6 for t in outcome.times.times_s)
    assert not outcome.times.censored


def test_a_clearly_worse_variant_is_given_up(tmp_path: Path) -> None:
    slow = f"{LOOPS} for (volatile int k = 0; k < 1000000; k++);"
    plan = TimingPlan(runs=50, least_runs=2, budget_s=60.0, best_s=1e-6)
    outcome = run_checked(*job(slow, tmp_path, timing=plan), tmp_path / "run")
    assert outcome.times is not None
    assert outcome.times.censored
    assert len(outcome.times.times_s) == 2


def test_the_address_sanitizer_names_the_line(tmp_path: Path) -> None:
    if not here().asan:
        pytest.skip("no address sanitizer")
    body = f"{LOOPS}\n\n  y[n] += 0;"
    outcome = run_checked(*job(body, tmp_path, "c-asan", preload=here().asan), tmp_path / "run")
    assert outcome.status is Status.RUNTIME
    assert "AddressSanitizer" in outcome.reason
    assert "annotune_f_1.c:3" in outcome.reason


def test_undefined_behaviour_is_an_error_of_its_own(tmp_path: Path) -> None:
    if not here().asan:
        pytest.skip("no sanitizers")
    body = "int big = 2147483647; big += n; y[0] = big;"
    outcome = run_checked(*job(body, tmp_path, "c-asan", preload=here().asan), tmp_path / "run")
    assert outcome.status is Status.RUNTIME
    assert "signed integer overflow" in outcome.reason


def test_a_warm_run_starts_no_interpreter(tmp_path: Path) -> None:
    child, a_job = job("extern int getppid(void); y[0] = getppid();", tmp_path)
    found = [run_checked(child, a_job, tmp_path / "run") for _ in range(2)]
    forkers = {first_of(a_job, one) for one in found}
    assert len(forkers) == 1


def series(body: str, folder: Path, **settings: object) -> tuple[Child, list[RunJob]]:
    """Return a child and its jobs at three sizes: n is 20, 1 and 5."""
    child, first = job(body, folder, **settings)
    _, analysis = matvec()
    others = [make_inputs(analysis, {"n": n}, 1, folder / f"inputs-{n}") for n in (1, 5)]
    return child, [first, *(replace(first, inputs=inputs) for inputs in others)]


def test_one_child_runs_every_size(tmp_path: Path) -> None:
    process = "extern int getpid(void); y[0] = getpid();"
    with run_in_one_child(*series(process, tmp_path)) as outcomes:
        _, jobs = series(process, tmp_path)
        pids = [first_of(one, found) for one, found in zip(jobs, outcomes, strict=True)]
    assert len(set(pids)) == 1
    assert [found.status for found in outcomes] == [Status.CORRECT] * 3


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ("if (n == 1) __builtin_trap();", Status.RUNTIME, "died of SIGILL"),
        ("extern void exit(int); if (n == 1) exit(0);", Status.RUNTIME, "exit code 0"),
        (
            "extern int pause(void); if (n == 1) for (;;) pause();",
            Status.TIMEOUT,
            "killed after 2 s",
        ),
        ("if (n == 1) y[1] = 0;", Status.RUNTIME, "after its last element"),
    ],
)
def test_a_failure_is_that_of_the_size_which_ran(
    body: str, status: Status, words: str, tmp_path: Path
) -> None:
    # The sizes before the one that hangs have it too, on a busy machine.
    limit_s = 2.0 if status is Status.TIMEOUT else 60.0
    with run_in_one_child(*series(f"{LOOPS} {body}", tmp_path, limit_s=limit_s)) as outcomes:
        assert [found.status for found in outcomes] == [Status.CORRECT, status]
        assert words in outcomes[1].reason


def test_a_limit_is_that_of_each_size(tmp_path: Path) -> None:
    nap = f"extern int usleep(unsigned); usleep(800000); {LOOPS}"
    with run_in_one_child(*series(nap, tmp_path, limit_s=2.2)) as outcomes:
        assert [found.status for found in outcomes] == [Status.CORRECT] * 3


def test_outputs_of_an_earlier_child_are_gone(tmp_path: Path) -> None:
    child, jobs = series(LOOPS, tmp_path)
    with run_in_one_child(child, jobs) as outcomes:
        left = outcomes[0].left
        assert any(jobs[0].inputs.read(jobs[0].inputs.buffers[0], left.path))
    assert not left.path.exists()


EATS = "for (int k = 0; k < 300; k++) __builtin_memset(__builtin_malloc(1 << 20), 1, 1 << 20);"


def test_a_run_that_holds_too_much_memory_is_killed(tmp_path: Path) -> None:
    # The pages stay, and no system call ends the loop.
    greedy = f"{{ {EATS} for (volatile int k = 0; k < 1; ) ; }}"
    limited = run_checked(*job(greedy, tmp_path, memory_mib=200, limit_s=120.0), tmp_path / "run")
    assert limited.status is Status.RUNTIME
    assert limited.reason == "used more than 200 MiB of memory"


def test_reserved_memory_is_not_held_memory(tmp_path: Path) -> None:
    reserves = f"{{ __builtin_malloc(1L << 40); {LOOPS} }}"
    outcome = run_checked(*job(reserves, tmp_path, memory_mib=200), tmp_path / "run")
    assert (outcome.status, outcome.reason) == (Status.CORRECT, "")


def evicting(folder: Path) -> str:
    text = (RUNTIME / "evict.c").read_text()
    built = compile_job(CompileJob((TranslationUnit(text),), "c"), here(), folder / "compiled")
    assert built.ok, built.output
    return str(built.path)


# Ends where it finds what an earlier call of it has left.
TWICE = "if (y[0] > 1e6) __builtin_trap(); y[0] += 2e6;"


def test_short_runs_from_cold_caches_have_arrays_of_their_own(tmp_path: Path) -> None:
    plan = TimingPlan(runs=4, budget_s=60.0, narrow=0.0, evictor=evicting(tmp_path))
    cold = run_checked(*job(TWICE, tmp_path, timing=plan), tmp_path / "run")
    assert cold.status is Status.CORRECT
    assert cold.times is not None
    assert (cold.times.is_cold, len(cold.times.times_s)) == (True, 4)
    assert cold.times.waited is None or 0.0 <= cold.times.waited <= 1.0
    # Warm, the calls of one sample follow one another on the same arrays.
    warm = replace(plan, is_cold=False)
    found = run_checked(*job(TWICE, tmp_path, timing=warm), tmp_path / "run")
    assert "SIGILL" in found.reason


def test_without_a_way_to_empty_caches_they_are_said_to_be_warm(tmp_path: Path) -> None:
    outcome = run_checked(*job(LOOPS, tmp_path, timing=TimingPlan(runs=3)), tmp_path / "run")
    assert outcome.status is Status.CORRECT
    assert outcome.times is not None
    assert not outcome.times.is_cold


@pytest.mark.skipif(not here().openmp, reason="no OpenMP")
def test_threads_are_pinned_while_they_are_timed_unless_the_user_says_how(tmp_path: Path) -> None:
    body = "extern int omp_get_proc_bind(void); y[0] = omp_get_proc_bind();"
    plan = TimingPlan(runs=1, least_runs=1)
    # omp.h: omp_proc_bind_false, _close, _spread.
    for timing, environ, expected in (
        (None, {}, 0),
        (plan, {}, 4),
        (plan, {"OMP_PROC_BIND": "close"}, 3),
        (plan, {"GOMP_CPU_AFFINITY": "0", "OMP_PROC_BIND": "false"}, 0),
    ):
        child, a_job = job(body, tmp_path, "openmp", timing=timing, environ=environ)
        outcome = run_checked(child, a_job, tmp_path / "run")
        assert first_of(a_job, outcome) == expected
