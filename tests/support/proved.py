"""Runs whose winner stands one proof: what a run writes does not depend on the others.

All proofs of a run's winner are made in tests of the proofs, of a GPU that is played, and of the
first choice that is proved ahead.
"""

from __future__ import annotations

import pytest

from annotune.tuning import tuner
from support.laws import IS_THOROUGH


def prove_little(patch: pytest.MonkeyPatch) -> None:
    """Have the last proof alone made, which tells what has been run, unless all is tried."""
    if IS_THOROUGH:
        return
    every = tuner.proofs
    patch.setattr(tuner, "proofs", lambda *given: tuple(every(*given))[-1:])
