"""OpenACC's mutants on a GPU, by a gcc that offloads: does the check on the CPU say the same?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from annotune.measure.check import Checker
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckLimits, CheckPlan
from annotune.measure.sizes import awkward_sizes, tuned_sizes
from annotune.measure.toolchain import Toolchains
from annotune.measure.trial import Status
from mutation.judge import RUN_LIMIT_S, THREADS, Fate, Judged

# A process, a context on the device and the load of its code come before each run there.
GPU_LIMIT_S = 6 * RUN_LIMIT_S


@dataclass(frozen=True)
class OnGpu:
    """A mutant that the check has judged, and what a GPU makes of it: its words, if it is wrong."""

    judged: Judged
    status: Status
    words: str

    @property
    def is_missed(self) -> bool:
        """Return whether it is wrong on the GPU, and was not turned down."""
        return bool(self.words) and self.judged.fate is not Fate.TURNED_DOWN

    @property
    def is_only_checked(self) -> bool:
        """Return whether it happens to be right on the GPU, whose memory held what was missing."""
        return not self.words and self.judged.fate is Fate.TURNED_DOWN


def run_on_gpu(found: Sequence[Judged], tools: Toolchains, folder: Path, jobs: int) -> list[OnGpu]:
    """Return what the GPU makes of the mutants of OpenACC that compile."""
    wanted = [
        one
        for one in found
        if one.mutant.subject.target == "openacc"
        and one.fate in (Fate.PASSED, Fate.TURNED_DOWN, Fate.EQUAL)
    ]
    checkers: dict[str, Checker] = {}
    for one in wanted:
        subject = one.mutant.subject
        if subject.program not in checkers:
            source, analysis = subject.oracle.source, subject.analysis
            oracle = Oracle(source, analysis, tools, folder / subject.program)
            checkers[subject.program] = Checker(oracle)

    def ran(one: Judged) -> OnGpu:
        subject = one.mutant.subject
        sizes = (*awkward_sizes(subject.analysis), tuned_sizes(subject.analysis.region))
        plan = CheckPlan(sizes, threads=THREADS, limits=CheckLimits(GPU_LIMIT_S))
        variant = replace(one.mutant.variant(), kind="openacc-gpu")
        trial = checkers[subject.program].check(variant, plan)
        return OnGpu(one, trial.status, trial.reason if trial.is_wrong else "")

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(ran, wanted))


def gpu_table(ran: Sequence[OnGpu]) -> str:
    """Return how many mutants met each fate in the check, by what the GPU made of them."""
    counts = Counter((one.judged.fate, str(one.status)) for one in ran)
    rows = [f"{len(ran)} mutants of OpenACC on the GPU as well"]
    for (fate, status), count in sorted(counts.items()):
        rows.append(f"{count:5}  check: {fate}; GPU: {status}")
    return "\n".join(rows)
