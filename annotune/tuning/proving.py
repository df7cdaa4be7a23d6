"""What a text that is about to win must stand, in the time that is left for it.

Long proofs are begun while there is time, short ones a little longer, and those of usual runs, at
small sizes of all kinds and under the detectors, however late it is. What there was no time for is
named, and `annotune verify` makes it later. Nothing is timed meanwhile, so that several are made at
once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field, replace
from math import inf
from threading import Event

from annotune.analysis.facts import Analysis
from annotune.frozen import dataclass
from annotune.measure.plan import CheckPlan, is_owed, takes_long, words_of_proof
from annotune.measure.trial import Status, Trial

NOT_PROVED = "not_proved"
"""Under this name a winner's facts have what no time was left to prove of it."""

NO_TIME_TO_PROVE = "no time was left to prove it"

UNEXECUTED = "not_executed"
"""Under this name are the sizes for which a winner has a text of its own that nothing has run."""

EXECUTED_AT = "executed_at"
"""Under this name are smaller sizes at which a winner's text for the tuned ones has been run."""

# How a warning of that ends.
LATER_WORDS = "; `annotune verify DIR` does it later"

# A proof that is begun has so long in any case.
LEAST_RUN_S = 2.0


@dataclass(frozen=True)
class Proved:
    """What came of proofs: the trials in their order up to the first that is wrong.

    `unfinished` says in words which there was no time for, and `told` are facts beside those of the
    last trial.
    """

    trials: tuple[Trial, ...] = ()
    unfinished: tuple[str, ...] = ()
    told: Mapping[str, str | int | float] = field(default_factory=dict)

    @property
    def wrong(self) -> Trial | None:
        """Return the trial that found the text wrong, None where none did."""
        return next((trial for trial in self.trials if trial.is_wrong), None)

    @property
    def facts(self) -> Mapping[str, str | int | float]:
        """Return what the last trial tells, and what is not proved."""
        found = {**(self.trials[-1].facts if self.trials else {}), **self.told}
        return found | ({NOT_PROVED: ", ".join(self.unfinished)} if self.unfinished else {})

    def after(self, first: Proved) -> Proved:
        """Return what comes of these proofs after the `first` ones."""
        # Texts for several sizes tell of each.
        told = dict(first.told)
        for name, words in self.told.items():
            told[name] = f"{told[name]}; {words}" if name in told else words
        return Proved((*first.trials, *self.trials), (*first.unfinished, *self.unfinished), told)


def no_time_words(unfinished: str) -> str:
    """Return in words that some proofs were not made."""
    return f"{NO_TIME_TO_PROVE} {unfinished}"


def unfinished_words(target: str, proved: Proved) -> Iterator[str]:
    """Yield a warning where the time did not suffice for all proofs of a target's text."""
    if proved.unfinished:
        words = ", ".join(proved.unfinished)
        yield f"{target}: {no_time_words(words)}{LATER_WORDS}"


@dataclass(frozen=True)
class Proving:
    """How proofs are made: `check` makes one with the limits of its plan, `at_once` together.

    No long one is begun after `until`, of `time.monotonic`, and after `last` the usual ones alone;
    the others are given up then. None is begun that cannot be done by then: the original takes
    `expected_s` at its sizes, and what plays another machine about as long.
    """

    check: Callable[[CheckPlan], Trial]
    until: float
    at_once: int = 1
    last: float = inf
    expected_s: Callable[[CheckPlan], float] = lambda plan: 0.0

    def of(
        self, plans: Iterable[CheckPlan], analysis: Analysis, owed: Container[CheckPlan] = ()
    ) -> Proved:
        """Return what comes of proofs; after one that finds the text wrong no other is begun.

        Those `owed` are made however long they take and late it is.
        """
        failed = Event()

        def one(plan: CheckPlan) -> Trial | str:
            if failed.is_set():
                return ""
            found = self.check(plan) if plan in owed else self._made(plan, analysis)
            if isinstance(found, Trial) and found.is_wrong:
                failed.set()
            return found

        every = list(plans)
        with ThreadPoolExecutor(self.at_once, thread_name_prefix="proof") as pool:
            # The last runs every branch, for which it takes the longest: others are made beside it.
            is_beside = self.at_once > 1 and len(every) > 1
            last = pool.submit(one, every.pop()) if is_beside else None
            found = [*pool.map(one, every), *([last.result()] if last is not None else [])]
        trials: list[Trial] = []
        for each in found:
            if isinstance(each, Trial):
                trials.append(each)
                if each.is_wrong:
                    return Proved(tuple(trials))
        late = dict.fromkeys(each for each in found if isinstance(each, str))
        return Proved(tuple(trials), tuple(late))

    def _made(self, plan: CheckPlan, analysis: Analysis) -> Trial | str:
        """Return the trial of a proof, or its words where there is no time for it."""
        is_long, expected_s = takes_long(plan, analysis), self.expected_s(plan)
        now = time.monotonic()
        if is_owed(plan) and not is_long:
            is_late = expected_s > max(self.last - now, LEAST_RUN_S)
            return words_of_proof(plan) if is_late else self.check(plan)
        if now + expected_s >= (min(self.until, self.last) if is_long else self.last):
            return words_of_proof(plan)
        left_s = max(LEAST_RUN_S, self.last - now)
        found = self.check(replace(plan, limits=replace(plan.limits, check_s=left_s)))
        # A run that ended later than all others would have is not known to hang.
        is_late = left_s < plan.limits.run_s or time.monotonic() >= now + left_s
        return words_of_proof(plan) if found.status is Status.TIMEOUT and is_late else found
