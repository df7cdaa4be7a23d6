"""What a run ends with: for each region one line that says what won, and how to link it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from annotune.measure.trial import Verdict
from annotune.report.figures import estimated, factor_text, time_text
from annotune.report.summary import best_predictions, call_s, heading, people_say, rival_of, winner
from annotune.tuning.proving import NO_TIME_TO_PROVE
from annotune.tuning.results import RegionResult, Results, Row, RowStatus


def answer_texts(results: Results, commands: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield a line for each region and size: what won, over what, on what, and how it is linked.

    `commands` make a program of the files of each target, from where the user is.
    """
    for region in (one for each in results.regions for one in each.at_each_size):
        sizes = ", ".join(f"{name}={value}" for name, value in region.sizes.items())
        place = f"{heading(region)} at {sizes}" if sizes else heading(region)
        said, target = _found(region)
        command = next(iter(commands.get(target, ())), "")
        yield f"{place}: {said}" + (f"; link: {command}" if command else "")


def _found(region: RegionResult) -> tuple[str, str]:
    """Return what came of a region, and the target whose files are to be linked, if any.

    Of predictions made of unlike facts all are told, and the first is linked: none is the fastest.
    """
    best = winner(region, RowStatus.MEASURED)
    predicted = [row for _, row in best_predictions(region)]
    if best is None and not predicted:
        return "no variant was verified, the original stays", ""
    words, target = (
        ("no tuned variant was measured", "") if best is None else _measured(region, best)
    )
    if target or not predicted:
        return words, target
    each = [
        f"{people_say(row.name)} is predicted to take {estimated(time_text(call_s(row)))} on "
        f"{row.device}"
        for row in predicted
    ]
    return "; ".join((words, *each)), predicted[0].name


def _measured(region: RegionResult, best: Row) -> tuple[str, str]:
    """Return the same of the measured winner: faster than all that was there before, or not."""
    name, took = people_say(best.name), time_text(call_s(best))
    where = f"measured on {best.device or 'an unnamed device'}"
    verdict, rival = rival_of(region, best)
    if rival is not None and verdict is Verdict.FASTER:
        other = f"{people_say(rival.name)} takes {time_text(call_s(rival))}"
        kept = "the original stays" if rival.name == "sequential" else "no tuned variant is faster"
        return f"{kept}: {other}, {name} {took}, {where}", ""
    original = next((row for row in region.rows if row.name == "sequential"), None)
    first_s, own_s = None if original is None else call_s(original), call_s(best)
    words = f"{name} wins with {took}"
    if first_s and own_s:
        # Without copies it is the table's own: that of the finals' rounds, if there were any.
        own = None if best.end_to_end_s else best.speedup
        times = factor_text(own or first_s / own_s)
        words += f", {times} as fast as the original with {time_text(first_s)}"
    if rival is not None and verdict is Verdict.TIED:
        other = f"{people_say(rival.name)} with {time_text(call_s(rival))}"
        words = f"{name} takes {took}, not distinguishable from {other}"
    if best.reason:
        # What nobody had time to prove is written, and what loses is not.
        is_written = best.reason.startswith(NO_TIME_TO_PROVE)
        return f"{words}, {where}; {best.reason}", best.name if is_written else ""
    return f"{words}, {where}", best.name
