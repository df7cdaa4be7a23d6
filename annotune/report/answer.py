"""What a run ends with: for each region one line that says what won, and how to link it."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from annotune.frozen import dataclass
from annotune.measure.trial import Verdict
from annotune.report.figures import estimated, factor_text, time_text
from annotune.report.summary import best_predictions, call_s, heading, people_say, rival_of, winner
from annotune.tuning.proving import NO_TIME_TO_PROVE
from annotune.tuning.results import RegionResult, Results, Row, RowStatus

UNPROVED = "no time was left for all its proofs"
# Of medians so far apart a reader asks why nothing tells the two apart.
FAR_APART = 1.5


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a region, in words, and the target whose files are to be linked, if any.

    `gain` is how many times faster the target's measured calls are than the original's, None where
    they are not, or where nothing tells them from the best untuned ones.
    """

    said: str
    target: str = ""
    gain: float | None = None
    is_predicted: bool = False


def answer_texts(results: Results, commands: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield a line for each region and size: what won, over what, on what, and how it is linked.

    `commands` make a program of the files of each target, from where the user is.
    """
    for region in (one for each in results.regions for one in each.at_each_size):
        found = answer_of(region)
        command = next(iter(commands.get(found.target, ())), "")
        said = f"{place_of(region)}: {found.said}"
        yield said + (f"; link: {command}" if command else "")


def place_of(region: RegionResult) -> str:
    """Return how a region is called at its sizes."""
    sizes = ", ".join(f"{name}={value}" for name, value in region.sizes.items())
    return f"{heading(region)} at {sizes}" if sizes else heading(region)


def headline(results: Results) -> str:
    """Return what a run achieved and which files to link, in a few words.

    Files of one target are linked: those of the target that wins in the most regions.
    """
    found = [answer_of(one) for each in results.regions for one in each.at_each_size]
    wins = Counter(one.target for one in found if one.gain is not None and one.target)
    if not wins:
        return _without_gain(results, found)
    # Of those with as many, the first in the order of the regions.
    ((target, count),) = wins.most_common(1)
    gains = [one.gain for one in found if one.target == target and one.gain is not None]
    least, most = _times(min(gains)), _times(max(gains))
    times = most if least == most else f"{least} to {most}"
    of = "regions" if len(found) == len(results.regions) else "regions and sizes"
    where = f" in {count} of {len(found)} {of}" if len(found) > 1 else ""
    return f"{times} times faster than sequential{where}{_link(results, target)}"


def _without_gain(results: Results, found: Sequence[Answer]) -> str:
    predicted = next((one.target for one in found if one.is_predicted), "")
    if not predicted:
        # One that nothing tells from them is written all the same.
        tied = next((one.target for one in found if one.target), "")
        how = "clearly faster" if tied else "faster"
        return f"No tuned variant is {how} than the untuned ones{_link(results, tied)}"
    return (
        "No tuned variant was measured to be faster than the untuned ones; "
        f"{people_say(predicted)} is predicted, never measured{_link(results, predicted)}"
    )


def _link(results: Results, target: str) -> str:
    """Return which of the files of a run are to be linked, by the command that does so."""
    command = f" {next(iter(results.commands.get(target, ())), '')} "
    names = [name for name in results.files if f" {shlex.quote(name)} " in command]
    return f"; link {' and '.join(names)}" if names else ""


def _times(gain: float) -> str:
    """Return a speed-up in two digits, and more of them where it is near one."""
    return f"{gain:.{2 if gain < 1.1 else 1 if gain < 10 else 0}f}"


def answer_of(region: RegionResult) -> Answer:
    """Return what came of a region at its sizes.

    Of predictions made of unlike facts all are told, and the first is linked: none is the fastest.
    """
    best = winner(region, RowStatus.MEASURED)
    predicted = [row for _, row in best_predictions(region)]
    if best is None and not predicted:
        return Answer("no variant was verified, the original stays")
    none = Answer("no tuned variant was measured")
    found = none if best is None else _measured(region, best)
    if found.target or not predicted:
        return found
    each = [
        f"{people_say(row.name)} is predicted to take {estimated(time_text(call_s(row)))} on "
        f"{row.device}"
        for row in predicted
    ]
    return Answer("; ".join((found.said, *each)), predicted[0].name, is_predicted=True)


def _measured(region: RegionResult, best: Row) -> Answer:
    """Return the same of the measured winner: faster than all that was there before, or not."""
    name, took = people_say(best.name), time_text(call_s(best))
    where = f"measured on {best.device or 'an unnamed device'}"
    verdict, rival = rival_of(region, best)
    if rival is not None and verdict is Verdict.FASTER:
        other = f"{people_say(rival.name)} takes {time_text(call_s(rival))}"
        kept = "the original stays" if rival.name == "sequential" else "no tuned variant is faster"
        return Answer(f"{kept}: {other}, {name} {took}, {where}")
    words, gain = f"{name} wins with {took}", speedup_of(region, best)
    if gain:
        first = original_text(region)
        words += f", {factor_text(gain)} as fast as the original with {first}"
    if rival is not None and verdict is Verdict.TIED:
        other, other_s = f"{people_say(rival.name)} with {time_text(call_s(rival))}", call_s(rival)
        words, gain = f"{name} takes {took}, not distinguishable from {other}", None
        if (other_s or 0.0) > FAR_APART * (call_s(best) or 0.0):
            words += ", since some of its rounds took as long as some of that"
    if best.reason.startswith(NO_TIME_TO_PROVE):
        # It is written all the same; which proofs those are stands in a warning.
        return Answer(f"{words}, {where}; {UNPROVED}", best.name, gain)
    if best.reason:
        return Answer(f"{words}, {where}; {best.reason}", "", gain)
    return Answer(f"{words}, {where}", best.name, gain)


def original_s(region: RegionResult) -> float | None:
    """Return what one call of the original takes, in seconds, None where it was not measured."""
    original = next((row for row in region.rows if row.name == "sequential"), None)
    return None if original is None else call_s(original)


def original_text(region: RegionResult) -> str:
    """Return the original's time, and whether it is that of one run, which proves little."""
    row = next((row for row in region.rows if row.name == "sequential"), None)
    own = (trial for trial in region.trials if trial.target == "sequential")
    is_once = any(len(trial.times_s) == 1 for trial in own) and row is not None and not row.final
    return f"{time_text(original_s(region))}{' in one run' * is_once}"


def speedup_of(region: RegionResult, best: Row) -> float | None:
    """Return the original's time over that of a measured row, copies included."""
    first_s, own_s = original_s(region), call_s(best)
    # Without copies it is the table's own: that of the finals' rounds, if there were any.
    if first_s and own_s:
        return (None if best.end_to_end_s else best.speedup) or first_s / own_s
    return None
