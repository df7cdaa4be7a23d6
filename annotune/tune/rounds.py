"""Programs that were found right, run in turns on one device of whichever process is asked."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from annotune.measure.check import CheckPlan
from annotune.measure.check import Variant as Program
from annotune.measure.compile import KINDS, compile_job
from annotune.measure.oracle import Oracle
from annotune.measure.run import RunJob, TimingPlan, run_in_one_child
from annotune.measure.timing import Turn, Turns, share_waited, take_turns, waited_s
from annotune.measure.trial import Status, Timing
from annotune.measure.variant import compile_job_of

# One turn: a few runs within a time that lets the next one come soon.
TURN = TimingPlan(warm_ups=1, runs=5, least_runs=1, budget_s=0.04)
# The first run of a child warms it up already; where one takes long that must do.
LONG_RUN_S = 0.01


@dataclass(frozen=True)
class Contestant:
    """A program that was compiled and found right, and its time in the search.

    `number` is its place in the listing, which breaks ties; None for the original and its like,
    which can win nothing.
    """

    name: str
    program: Program
    time_s: float
    threads: int
    number: int | None = None


@dataclass(frozen=True)
class Course:
    """What is the same for each contestant, as in `Bench` and `CheckPlan`."""

    sizes: Mapping[str, int]
    is_cold: bool
    arch: str = ""
    environ: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Rounds:
    """The turns of each contestant, and on which device they were taken, where one is named.

    In a share `waited` of the time some task of that machine waited for a processor; None where
    that is not known.
    """

    turns: tuple[Turns, ...]
    waited: float | None = None
    device: str = ""


def take_rounds(
    oracle: Oracle,
    contestants: Sequence[Contestant],
    course: Course,
    budget_s: float,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Rounds:
    """Return the turns of the contestants, taken for about `budget_s` seconds."""
    jobs = [_job(oracle, one, course) for one in contestants]
    until = time.monotonic() + budget_s

    def is_over() -> bool:
        return is_stopped() or time.monotonic() >= until

    begin, waited = time.perf_counter(), waited_s()
    turns = take_turns(len(jobs), lambda number: _turn(jobs[number]), is_over)
    return Rounds(turns, share_waited(waited, time.perf_counter() - begin))


def _turn(job: RunJob) -> Turn:
    with run_in_one_child([job]) as (outcome,):
        pass  # what it computes is known to be right
    if outcome.status is not Status.CORRECT or not outcome.times_s:
        return Turn(0.0, outcome.reason or "no run was timed")
    return Turn(Timing(outcome.kernel_s or outcome.times_s).median_s)


def _job(oracle: Oracle, one: Contestant, course: Course) -> RunJob:
    job = compile_job_of(one.program, one.program.kind, oracle, arch=course.arch)
    built = compile_job(job, oracle.tools, oracle.folder / "compiled")
    reference = oracle.reference(course.sizes, CheckPlan((course.sizes,)).seed)
    warm_ups = TURN.warm_ups if one.time_s < LONG_RUN_S else 0
    return RunJob(
        built.path,
        reference.inputs,
        oracle.folder / f"final-{built.digest[:16]}",
        threads=one.threads,
        timing=replace(TURN, warm_ups=warm_ups, is_cold=course.is_cold),
        environ={**KINDS[one.program.kind].environ, **course.environ},
        entry=built.entry,
        evictor=oracle.evictor() if course.is_cold else "",
    )
