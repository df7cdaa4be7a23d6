"""What a run ends with: for each region a line that says what won, and the next command."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from annotune.frozen import dataclass
from annotune.measure.trial import Comparison, Verdict
from annotune.report.figures import estimated, time_text
from annotune.report.summary import (
    best_predictions,
    call_s,
    fastest_row,
    heading,
    people_say,
)
from annotune.report.verdicts import (
    RERUN,
    beside_text,
    fast_text,
    is_win,
    other_text,
    strongest_rival,
    with_original,
)
from annotune.tuning.proving import NO_TIME_TO_PROVE
from annotune.tuning.results import ENDED_EARLY, RegionResult, Results, Row, RowStatus

UNPROVED = "no time was left for all its proofs"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a region, in words, and the target whose files are to be linked, if any.

    `verdict` is that of the target's measured calls beside the original's: `WINNER` where nothing
    else is as fast, None where they were not measured. `gain` is how many times as fast as the
    original they are, None where they are not, or not for certain; over an estimate where it
    `is_estimated`. One that `is_unverified` is written, and nothing has run its text for the tuned
    sizes.
    """

    said: str
    target: str = ""
    verdict: Verdict | None = None
    gain: float | None = None
    is_predicted: bool = False
    is_estimated: bool = False
    is_unverified: bool = False


def answer_texts(results: Results) -> Iterator[str]:
    """Yield a line for each region and size: what won, over what, on what."""
    for region in (one for each in results.regions for one in each.at_each_size):
        yield f"{place_of(region)}: {answer_of(region).said}"


def place_of(region: RegionResult) -> str:
    """Return how a region is called at its sizes."""
    sizes = ", ".join(f"{name}={value}" for name, value in region.sizes.items())
    return f"{heading(region)} at {sizes}" if sizes else heading(region)


@dataclass(frozen=True, slots=True)
class NextSteps:
    """The commands that a user may give after a run, from where he is.

    `links` make programs of the files of each target, `rerun` is the run once more, `report` shows
    all of its trials, and `verify` finishes its checks; these are empty where nobody knows them.
    """

    links: Mapping[str, Sequence[str]]
    rerun: str = ""
    report: str = ""
    verify: str = ""


def closing_texts(results: Results, steps: NextSteps) -> Iterator[str]:
    """Yield the last lines of a run: where the files to link are slower, and the next command.

    The last of them ends with the command.
    """
    found = outcome_of(results)
    slower = [place_of(one) for one in _each(results) if _is_slower(one, found.target)]
    if found.is_gain and slower:
        yield (
            "to keep the original where it is faster, take away the annotation of "
            f"{' and of '.join(slower)}"
        )
    link = next(iter(steps.links.get(found.target, ())), "")
    asks_rerun = found.is_noisy or found.is_ended
    again = steps.rerun if asks_rerun else steps.verify if found.is_unverified else ""
    command = again or link or steps.report
    yield f"{found.said}; next: {command}" if command else found.said


def _is_slower(region: RegionResult, target: str) -> bool:
    """Return whether a target's text is slower than the original in a region."""
    row = next((row for row in region.rows if row.name == target), None)
    beside = None if row is None else with_original(row)
    return beside is not None and beside.verdict is Verdict.SLOWER


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run achieved in all regions, in words, and the target whose files are to be linked.

    `is_gain` where that is faster than the original somewhere, `is_noisy` where the times of the
    best variants say nothing. It `is_ended` where somebody ended the run before it had one, and
    `is_unverified` where none of what is written has all its checks.
    """

    said: str
    target: str = ""
    is_gain: bool = False
    is_noisy: bool = False
    is_unverified: bool = False
    is_ended: bool = False


def headline(results: Results) -> str:
    """Return what a run achieved and which files to link, in a few words."""
    found = outcome_of(results)
    said = found.said[:1].upper() + found.said[1:]
    return f"{said}{_link(results, found.target)}"


def outcome_of(results: Results) -> Outcome:
    """Return what came of a whole run.

    Files of one target are linked: those of the target that wins in the most regions.
    """
    found = [answer_of(one) for one in _each(results)]
    gains = Counter(one.target for one in found if one.gain is not None and one.target)
    if not gains:
        return _without_gain(results, found)
    # Of those with as many, the first in the order of the regions.
    ((target, count),) = gains.most_common(1)
    own = [one for one in found if one.target == target and one.gain is not None]
    values = [one.gain for one in own if one.gain is not None]
    least, most = _times(min(values)), _times(max(values))
    times = most if least == most else f"{least} to {most}"
    is_estimated = any(one.is_estimated for one in own)
    times = f"~{times}" if is_estimated else times
    of = "regions" if len(found) == len(results.regions) else "regions and sizes"
    where = f" in {count} of {len(found)} {of}" if len(found) > 1 else ""
    original = " (original estimated)" if is_estimated else ""
    wins = sum(one.verdict is Verdict.WINNER for one in own)
    name = people_say(target)
    did = f"{name} wins: " if wins == count else f"{name} is "
    return Outcome(f"{did}{times} times as fast as the original{original}{where}", target, True)


def _each(results: Results) -> list[RegionResult]:
    return [one for each in results.regions for one in each.at_each_size]


_NO_GAIN = (
    (Verdict.TIED, "no winner: {name} is a statistical tie with the original"),
    (Verdict.NOISY, f"no verdict: the times are too noisy, {RERUN}"),
    (Verdict.UNKNOWN, "no verdict: {name} is right, and was not compared with the original"),
    (Verdict.SLOWER, "no winner: {name} is slower than the original, so keep {source} for speed"),
)
"""What is said where nothing is faster, by the first verdict that any region has."""


def _without_gain(results: Results, found: Sequence[Answer]) -> Outcome:
    predicted = next((one.target for one in found if one.is_predicted), "")
    if predicted:
        none = "no tuned variant was measured to be faster than the original"
        return Outcome(f"{none}; {people_say(predicted)} is predicted, never measured", predicted)
    for verdict, words in _NO_GAIN:
        target = next((one.target for one in found if one.verdict is verdict and one.target), "")
        if target:
            said = words.format(name=people_say(target), source=results.source)
            return Outcome(said, target, is_noisy=verdict is Verdict.NOISY)
    written = next((one.target for one in found if one.target and not one.is_unverified), "")
    unverified = next((one.target for one in found if one.is_unverified), "")
    if unverified and not written:
        words = f"{people_say(unverified)} is written, and not verified"
        return Outcome(f"no variant passed all its checks: {words}", unverified, is_unverified=True)
    if written:
        return Outcome(f"no verdict: {people_say(written)} is right, and was not timed", written)
    if any(row.reason == ENDED_EARLY for one in _each(results) for row in one.rows):
        said = "the run was ended before a variant was verified, and nothing is written"
        return Outcome(said, is_ended=True)
    return Outcome("no variant passed its check, and nothing is written")


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
    best = fastest_row(region, RowStatus.MEASURED)
    predicted = [row for _, row in best_predictions(region)]
    if best is None and not predicted:
        return _untimed(region)
    none = Answer("no tuned variant was measured")
    found = none if best is None else _measured(best)
    if (best is not None and found.verdict is not Verdict.SLOWER) or not predicted:
        return found
    each = [
        f"{people_say(row.name)} is predicted to take {estimated(time_text(call_s(row)))} on "
        f"{row.device}"
        for row in predicted
    ]
    return Answer("; ".join((found.said, *each)), predicted[0].name, is_predicted=True)


def _untimed(region: RegionResult) -> Answer:
    """Return what came of a region no variant of which was timed."""
    tuned = [row for row in region.rows if row.is_tuned]
    row = next((row for row in tuned if row.verified), None)
    late = next((row for row in tuned if row.reason.startswith(NO_TIME_TO_PROVE)), None)
    if row is None and late is not None:
        said = f"{people_say(late.name)} is written and not verified: {late.reason}"
        return Answer(said, late.name, is_unverified=True)
    if row is None:
        return Answer("no variant was verified, the original stays")
    return Answer(f"{people_say(row.name)} is right and was not timed: {row.reason}", row.name)


def _measured(best: Row) -> Answer:
    """Return the same of the fastest measured variant, faster than the original or not."""
    name, beside = people_say(best.name), with_original(best)
    where = f"measured on {best.device or 'an unnamed device'}"
    if best.reason.startswith(NO_TIME_TO_PROVE):
        # It is written all the same; which proofs those are stands in a warning.
        where = f"{where}; {UNPROVED}"
    elif best.reason:
        where = f"{where}; {best.reason}"
    if beside is None:
        took = time_text(call_s(best))
        said = f"{name} takes {took}, not compared with the original, which has no time"
        return Answer(f"{said}, {where}", best.name, Verdict.UNKNOWN)
    if beside.verdict is not Verdict.FASTER:
        return Answer(f"{name} is {beside_text(beside)}, {where}", best.name, beside.verdict)
    verdict = Verdict.WINNER if is_win(best) else Verdict.FASTER
    said = f"{_faster(best, beside)}, {where}"
    gain, is_estimated = beside.speedup, beside.is_estimated
    return Answer(said, best.name, verdict, gain, is_estimated=is_estimated)


def _faster(best: Row, beside: Comparison) -> str:
    """Return in words that a row is faster than the original, and what is as fast as it."""
    name, took = people_say(best.name), time_text(beside.time_s)
    words = f"{fast_text(beside)} with {other_text(beside)}"
    if is_win(best):
        return f"{name} wins with {took}, {words}"
    rival = strongest_rival(best)
    assert rival is not None
    other, other_s = people_say(rival[0]), time_text(rival[1].other_s)
    words = f"{name} takes {took}, {words}"
    match rival[1].verdict:
        case Verdict.TIED:
            return f"{words}, a statistical tie with {other} with {other_s}"
        case Verdict.SLOWER:
            return f"no winner: {other} takes {other_s}, and {words}"
        case _:
            return f"{words}; too noisy to compare with {other} with {other_s}"
