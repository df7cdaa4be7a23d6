"""Whether a machine had other work while it was measured, in words for the user."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from annotune.measure.check import WAITED
from annotune.measure.load import BUSY, IDLE_LOAD
from annotune.measure.trial import Trial


def busy_words(trials: Iterable[Trial], load_before: float | None, cores: int) -> tuple[str, ...]:
    """Return a warning where this machine had other work while `trials` were timed.

    Where the system tells how long tasks waited for a processor, that decides, and the load of
    the minute before in its place where it does not.
    """
    shares = [
        float(share)
        for trial in trials
        if not trial.reused and (share := trial.facts.get(WAITED)) is not None
    ]
    if shares and median(shares) <= BUSY:
        return ()
    if not shares and (load_before is None or load_before <= IDLE_LOAD * cores):
        return ()
    load = "" if load_before is None else f"a load of {load_before:.1f} before the search"
    waited = ""
    if shares:
        waited = f"tasks waited for a processor in {median(shares):.0%} of the timed runs"
    words = " and ".join(filter(None, (waited, load)))
    return (f"this machine had other work while it was measured: {words} on {cores} cores",)
