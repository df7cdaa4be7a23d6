"""Worker processes: any of them can rebuild a check from values, and none of them is missed."""

from __future__ import annotations

import os
import pickle
import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pytest
from support.regions import text_source
from tuning.crews import (
    PATIENCE_S,
    KillsItsWorker,
    Pid,
    Raises,
    StopsItsWorker,
    crew,
    one_killed,
    pids_of,
    raises_each,
)
from tuning.seeded import FATES, TEXT, bench, listing, searched, with_session

import annotune.tuning.workers
from annotune.analysis.analyse import analyse
from annotune.diagnostics import AnnotuneError
from annotune.measure.check import Checker
from annotune.measure.machine import Gpu, NoGpu
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckPlan
from annotune.measure.program import Program
from annotune.measure.toolchain import find_toolchains
from annotune.measure.trial import Status, Trial
from annotune.tuning import jobs
from annotune.tuning.config import Stop, Wanted, Wish
from annotune.tuning.jobs import CheckJob, FinalsJob, Rounds, WorkerPlace, parcel_of, place
from annotune.tuning.store import in_memory
from annotune.tuning.tuner import measured
from annotune.tuning.workers import Crew, WorkerDied, Workers, crew_of, shared_out, watched

TOOLS = find_toolchains(os.environ)
pytestmark = pytest.mark.skipif(not TOOLS.openmp or TOOLS.cxx is None, reason="no OpenMP")

H200 = Gpu(0, "H200", "GPU-1", "sm_90", 1, 132, 1)
A100 = replace(H200, name="A100", uuid="GPU-2", arch="sm_80")


@pytest.fixture(scope="module")
def two() -> Iterator[Crew]:
    with crew(Wish(2)) as found:
        yield found


@pytest.mark.slow
def test_a_worker_that_is_killed_takes_no_trial_with_it(two: Crew, tmp_path: Path) -> None:
    store = in_memory()
    own = with_session(bench(tmp_path, 2, store), crew=two)
    names = ("right", "hang", "wrong")
    workers = pids_of(two)
    assert len(workers) == 2
    with one_killed(workers):
        outcome = searched(own, listing(names))
    found = {str(t.config["deed"]): t.status for t in outcome.trials}
    assert found == {name: FATES[name][1] for name in names}
    assert outcome.best is not None
    assert pids_of(two) != workers
    # All are on the record of the process that leads, and known to it again.
    again = searched(own, listing(names))
    assert all(trial.reused for trial in again.trials)


def test_a_job_that_kills_its_worker_says_so_and_the_next_one_has_another(two: Crew) -> None:
    before = pids_of(two)
    with pytest.raises(WorkerDied):
        two.workers.submit(KillsItsWorker(), 1.0).result()
    assert len(pids_of(two) - before) == 1


def test_a_worker_that_is_stopped_is_woken(two: Crew) -> None:
    assert two.workers.submit(StopsItsWorker(), 1.0).result(PATIENCE_S) in pids_of(two)


def test_what_a_job_raises_is_raised_here(two: Crew) -> None:
    with pytest.raises(KeyError, match="no such thing") as raised:
        two.workers.submit(Raises(), 1.0).result()
    assert "crews.py" in raised.value.__notes__[0]


def test_what_cannot_be_sent_or_read_is_raised_and_not_waited_for(two: Crew) -> None:
    raises_each(two)


def test_jobs_that_wait_are_shared_out(two: Crew, tmp_path: Path) -> None:
    asked = [two.workers.submit(Pid(tmp_path, 2), PATIENCE_S) for _ in range(6)]
    assert len({one.result() for one in asked}) == 2


class _AllDie:
    slots = 1

    def __init__(self) -> None:
        self.asked = 0

    def submit(self, job: Any, timeout_s: float) -> Future[Any]:
        self.asked += 1
        died: Future[Any] = Future()
        died.set_exception(WorkerDied("exit code -9"))
        return died

    def close(self) -> None: ...


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Oracle:
    return bench(tmp_path_factory.mktemp("oracle"), 1).checker.oracle


PLAN = CheckPlan(({"n": 3},))


def program(name: str, kind: str = "openmp") -> Program:
    variant = listing((name,)).variant(0)
    return Program("openmp", kind, cast(Any, variant).code, config=variant.config)


def test_what_ends_two_workers_is_a_row_and_not_tried_again(oracle: Oracle) -> None:
    workers = _AllDie()
    trial = Crew(workers, WorkerPlace("here", NoGpu("none"), ""), False).check(
        oracle, program("right"), PLAN, 1.0
    )
    assert workers.asked == 2
    assert (trial.status, trial.config) == (Status.RUNTIME, {"deed": "right"})
    assert "2 workers ended while they ran it" in trial.reason
    assert "exit code -9" in trial.reason


def test_a_job_brings_the_headers_that_the_source_includes(tmp_path: Path) -> None:
    beside, elsewhere = tmp_path / "here", tmp_path / "with space"
    beside.mkdir()
    elsewhere.mkdir()
    (beside / "near.h").write_text('#include "../with space/far.h"\n')
    (elsewhere / "far.h").write_text("#define FACTOR 2\n")
    (elsewhere / "named.h").write_text("#include <math.h>\n")
    source = text_source(f'#include "near.h"\n#include <named.h>\n{TEXT}')
    source = replace(source, path=str(beside / "f.c"))
    analysis = analyse(source.regions[0])
    own = Oracle(source, analysis, TOOLS, tmp_path / "oracle", (f"-I{elsewhere}",))
    origin = parcel_of(own, is_here=False)
    assert {Path(name).name for name in origin.headers} == {"near.h", "far.h", "named.h"}
    for path in (*beside.iterdir(), *elsewhere.iterdir()):
        path.unlink()
    trial = CheckJob(origin, program("right"), PLAN).run(5.0)
    assert (trial.status, trial.verified) == (Status.CORRECT, True), trial.reason


def test_what_a_job_says_of_a_region_travels(tmp_path: Path) -> None:
    path = Path(__file__).parents[2] / "c_examples" / "nekbone" / "local_grad3.c"
    source = text_source(path.read_text(), str(path))
    own = Oracle(source, analyse(source.regions[0]), TOOLS, tmp_path)
    sent = parcel_of(own, is_here=False)
    got = pickle.loads(pickle.dumps(sent))
    assert got == sent
    assert analyse(got.region).total == own.analysis.total


def test_a_worker_here_compiles_nothing_that_the_run_has(tmp_path: Path) -> None:
    # What is compiled depends on the folder that a test is in, where the source is.
    oracle = bench(tmp_path, 1).checker.oracle
    compiled = oracle.folder / "compiled"
    assert Checker(oracle).check(program("right"), PLAN).status is Status.CORRECT
    before = set(compiled.iterdir())
    assert before
    trial = CheckJob(parcel_of(oracle, is_here=True), program("right"), PLAN).run(5.0)
    assert trial.status is Status.CORRECT
    assert set(compiled.iterdir()) == before


def test_a_worker_with_other_compilers_is_refused(oracle: Oracle) -> None:
    origin = replace(parcel_of(oracle, is_here=False), tools="annotune 0; gcc 2.95")
    with pytest.raises(AnnotuneError, match=r"and the run 'annotune 0; gcc 2\.95'"):
        CheckJob(origin, program("right"), PLAN).run(1.0)


def test_a_worker_without_a_gpu_measures_none(
    oracle: Oracle, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = replace(place(), gpu=NoGpu("no driver"))
    monkeypatch.setattr(jobs, "place", lambda: here)
    with pytest.raises(AnnotuneError, match="has no GPU: no driver"):
        CheckJob(parcel_of(oracle, is_here=False), program("right", "cuda-gpu"), PLAN).run(1.0)


@pytest.mark.parametrize(
    ("gpus", "count", "names"),
    [
        (NoGpu("none"), 3, [None, None, None]),
        ((H200,), 2, ["GPU-1", "GPU-1"]),
        ((H200, replace(H200, uuid="GPU-3")), 3, ["GPU-1", "GPU-3", "GPU-1"]),
        # Of several models the most frequent one: times of two are never compared.
        ((A100, H200, replace(H200, uuid="GPU-3")), 2, ["GPU-1", "GPU-3"]),
    ],
)
def test_the_gpus_of_a_machine_are_shared_out(
    gpus: tuple[Gpu, ...] | NoGpu, count: int, names: list[str | None]
) -> None:
    assert [gpu and gpu.uuid for gpu in shared_out(gpus, count)] == names


def test_workers_that_share_a_gpu_measure_in_turn_and_compile_meanwhile(
    oracle: Oracle, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    at_once: dict[str, list[int]] = {"compiling": [], "measuring": []}
    running = {"compiling": 0, "measuring": 0}
    lock = threading.Lock()

    def work(name: str) -> None:
        with lock:
            running[name] += 1
            at_once[name].append(running[name])
        # Who compiles waits for company, which comes unless somebody measures on what is compiled.
        end = time.monotonic() + (PATIENCE_S if name == "compiling" else 0.05)
        while max(at_once["compiling"]) < 2 and time.monotonic() < end:
            time.sleep(0.01)
        with lock:
            running[name] -= 1

    class _Checker:
        def __init__(self) -> None:
            self.oracle = oracle

        def check(self, variant: Program, plan: CheckPlan) -> Trial:
            work("measuring")
            return Trial("cuda", {}, Status.CORRECT, device=plan.device_name)

    here = replace(place(), gpu=H200)
    monkeypatch.setattr(jobs, "place", lambda: here)
    monkeypatch.setattr(jobs, "lock_folder", lambda: tmp_path / "locks")
    monkeypatch.setattr(jobs, "compile_ahead", lambda *_: work("compiling"))
    monkeypatch.setattr(jobs, "_checker", lambda *_: _Checker())
    monkeypatch.setattr(jobs, "foreign_processes", lambda _: ("/bin/other (process 7)",))
    job = CheckJob(parcel_of(oracle, is_here=False), program("right", "cuda-gpu"), PLAN)
    with ThreadPoolExecutor(3) as pool:
        trials = [done.result() for done in [pool.submit(job.run, 1.0) for _ in range(3)]]
    assert max(at_once["measuring"]) == 1
    assert max(at_once["compiling"]) > 1
    assert {(t.device, t.facts[jobs.SHARED_WITH]) for t in trials} == {
        ("H200", "/bin/other (process 7)")
    }


@dataclass
class _Mixed:
    """Workers that find everything right, on another model where the deed says so."""

    slots: int = 1
    finals: int = 0

    def submit(self, job: Any, timeout_s: float) -> Future[Any]:
        done: Future[Any] = Future()
        if isinstance(job, FinalsJob):
            self.finals += 1
            done.set_result(Rounds((), device="A100"))
            return done
        deed = str(job.program.config["deed"])
        device, time_s = ("A100", 1e-9) if deed == "right" else ("H200", 1e-6)
        trial = Trial("cuda", dict(job.program.config), Status.CORRECT, device=device)
        done.set_result(replace(trial, time_s=time_s, verified=True, times_s=(time_s,)))
        return done

    def close(self) -> None: ...


class _Target:
    name = "cuda"

    def region(self, variant: Any, resident: bool) -> Any:
        return variant.code


class _AllRight:
    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle

    def check(self, program: Program, plan: CheckPlan) -> Trial:
        return Trial(program.target, dict(program.config), Status.CORRECT, verified=True)


def test_times_of_another_model_are_rows_and_never_win(tmp_path: Path) -> None:
    workers = _Mixed()
    made = bench(tmp_path, 1)
    mixed = replace(
        with_session(made, crew=Crew(workers, WorkerPlace("node1", H200, ""), False)),
        checker=cast(Checker, _AllRight(made.checker.oracle)),
        device_name="H200",
    )
    names = ("right", "right too", "right at last")
    wanted = Wanted(search="exhaustive")
    outcome = measured(mixed, cast(Any, _Target()), "cuda-gpu", listing(names), wanted).proved()
    rows = {str(t.config["deed"]): (t.device, t.time_s) for t in outcome.trials}
    assert rows["right"] == ("A100", 1e-9)
    assert outcome.best is not None
    assert outcome.best.device == "H200"
    # Finals are sent again where they come to the other model, and then the search's times stand.
    assert workers.finals == 3
    assert outcome.best.time_s == 1e-6
    # The other model's is not kept for a run on this one, which would take it for its own.
    again = measured(mixed, cast(Any, _Target()), "cuda-gpu", listing(names), wanted).proved()
    assert [t.reused for t in again.trials] == [False, True, True]


class _Never(_AllDie):
    def submit(self, job: Any, timeout_s: float) -> Future[Any]:
        return Future()


class _Refuses(_AllDie):
    def submit(self, job: Any, timeout_s: float) -> Future[Any]:
        refused: Future[Any] = Future()
        refused.set_exception(ValueError("sbatch: error: invalid account"))
        return refused


@pytest.mark.parametrize(
    ("workers", "reason"),
    [
        (_Never(), "the run was ended while it waited"),
        (_Refuses(), "sbatch: error: invalid account"),
        (_AllDie(), "exit code -9"),
    ],
)
def test_a_first_worker_that_does_not_come_is_told_of(
    workers: Workers, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(annotune.tuning.workers, "LocalWorkers", lambda _: workers)
    stop = Stop()
    with pytest.raises(AnnotuneError, match=reason) as refused:  # noqa: SIM117
        with crew_of(Wish(1), stop, stop.set if isinstance(workers, _Never) else lambda: None):
            pass
    assert refused.value.diagnostics[0].code == "AT620"


def test_what_closed_workers_leave_is_cancelled_and_not_waited_for() -> None:
    theirs: Future[bytes] = Future()
    ours = watched(theirs, (KeyError,))
    assert theirs.cancel()
    with pytest.raises(CancelledError):
        ours.result(5.0)
