"""Whether a machine had other work while it was measured, in words for the user."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from annotune.measure.check import WAITED
from annotune.measure.timing import BUSY, IDLE_LOAD
from annotune.measure.trial import Trial


def busy_words(
    trials: Iterable[Trial], finals: float | None, load_before: float | None, cores: int
) -> tuple[str, ...]:
    """Return a warning where this machine had other work while `trials` were timed.

    Where the system tells how long tasks waited for a processor, that decides, and the load of
    the minute before in its place where it does not. `finals` is the share of the finals.
    """
    shares = [
        float(share)
        for trial in trials
        if not trial.reused and (share := trial.facts.get(WAITED)) is not None
    ]
    busiest = median(shares) if shares else None
    if finals is not None:
        busiest = max(finals, busiest or 0.0)
    if busiest is not None and busiest <= BUSY:
        return ()
    if busiest is None and (load_before is None or load_before <= IDLE_LOAD * cores):
        return ()
    load = "" if load_before is None else f"a load of {load_before:.1f} before the search"
    waited = ""
    if busiest is not None:
        waited = f"tasks waited for a processor in {busiest:.0%} of the timed runs"
    words = " and ".join(filter(None, (waited, load)))
    return (f"this machine had other work while it was measured: {words} on {cores} cores",)
