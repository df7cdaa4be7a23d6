"""When the phases of a run are to end: its time shared by regions, targets, searches and proofs.

Most of the time is for variants. Proofs and other work have the rest, and may end a little after
the time: a run without proofs is of no use, and neither is one that has tried a single variant.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Sequence

from annotune.frozen import dataclass

# What a part of a run has of its share in any case, however long those before it took.
LEAST = 0.25
# At most this share of a problem size's time is kept for proving the text for several sizes.
RESERVED = 0.25
# The searches of a region, finals in them, are sure of this share of its time.
SEARCHES = 0.8
# What was begun in time may end so late, by the share of the time; and of a short run so many
# seconds after its beginning, for compilers take what they take.
LATE, LEAST_S = 0.12, 20.0


@dataclass(frozen=True)
class Timetable:
    """When what is done for one region is to end, by `time.monotonic`.

    Nothing that may be left out is begun after `end`, and what has been begun is ended at `last`.
    The searches have `assured_s` seconds in any case, as long as this keeps them before `last`.
    """

    end: float
    last: float
    assured_s: float

    @classmethod
    def of(cls, time_s: float, begun: float, share: float = 1.0) -> Timetable:
        """Return that of a region with `time_s` seconds from `begun` on, a share of a run's."""
        last = max(begun + (1 + LATE) * time_s, begun + share * LEAST_S)
        return cls(begun + time_s, last, SEARCHES * time_s)

    def search(
        self, weights: Sequence[float], number: int, searched_s: float, after_s: float, now: float
    ) -> SearchTimes:
        """Return when the search of a target ends, that of a `number` among some of such `weights`.

        Those before it have taken `searched_s` seconds, and what comes after all of them is
        expected to take `after_s`.
        """
        share = weights[number] / sum(weights[number:])
        least_s = LEAST * self.assured_s * weights[number] / sum(weights)
        possible_s = self.last - after_s - now
        own_s = max(least_s, share * min(self.assured_s - searched_s, possible_s))
        whole_s = max(own_s, share * (self.end - after_s - now))
        return SearchTimes(now + own_s, now + whole_s)


@dataclass(frozen=True)
class SearchTimes:
    """When the search of a target and its finals end, by `time.monotonic`.

    It is at `until`, less what the proofs of its winner are found to take, and at `assured` at the
    earliest.
    """

    assured: float
    until: float


class TimeShares:
    """Shares the time of a run among parts; what one leaves over goes to those after it.

    `wanted_s` is what each part would take of the whole. What one takes beyond its share is missing
    to those after it, down to `LEAST` of theirs. It is counted from `begun`, of `time.monotonic`,
    None for now.
    """

    def __init__(self, wanted_s: Sequence[float], begun: float | None = None) -> None:
        self.end = (time.monotonic() if begun is None else begun) + sum(wanted_s)
        self._wanted_s = deque(wanted_s)

    def next_s(self, kept_s: float = 0.0) -> float:
        """Return the seconds that the next part may take; `kept_s` are for what comes after all."""
        rest_s, of_all_s = self.end - kept_s - time.monotonic(), sum(self._wanted_s)
        own_s = self._wanted_s.popleft()
        return max(LEAST * own_s, rest_s * own_s / of_all_s)
