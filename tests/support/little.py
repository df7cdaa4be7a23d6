"""Runs that take little: what a run writes does not depend on how long and how often it measures.

All proofs of a run's winner are made in tests of the proofs, of a GPU that is played, and of the
first choice that is proved ahead; times are taken as a user's are in tests of the measurement and
of the finals.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from annotune.measure import run, timing
from annotune.measure.run import RunJob
from annotune.measure.timing import LEAST_ROUNDS
from annotune.tuning import tuner
from support.laws import IS_THOROUGH


def tune_little(patch: pytest.MonkeyPatch) -> None:
    """Have the last proof alone made, which tells what has been run, and each text timed briefly.

    Where all is tried nothing is changed.
    """
    if not IS_THOROUGH:
        every = tuner.proofs
        patch.setattr(tuner, "proofs", lambda *given: tuple(every(*given))[-1:])
        time_little(patch)


def time_little(patch: pytest.MonkeyPatch) -> None:
    """Have each text timed briefly, from warm caches, unless all is tried."""
    if IS_THOROUGH:
        return
    message = run._message

    def brief_message(job: RunJob, output_at: int) -> dict[str, Any]:
        if job.timing:
            brief = replace(job.timing, budget_s=0.01, runs=3, is_cold=False)
            job = replace(job, timing=brief)
        return message(job, output_at)

    patch.setattr(run, "_message", brief_message)
    patch.setattr(timing, "MOST_ROUNDS", LEAST_ROUNDS)
