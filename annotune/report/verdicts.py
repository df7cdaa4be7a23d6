"""A verdict in words, as tables, sentences, pages and the headers of files say it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from annotune.measure.trial import Comparison, Verdict
from annotune.report.figures import MISSING, factor_text, share_text, time_text
from annotune.tuning.results import RegionResult, Row, RowStatus
from annotune.tuning.verdict import MOST_SPREAD, compare

ORIGINAL = "sequential"
THE_ORIGINAL = "the original"
RERUN = "rerun on an idle machine"


def with_original(row: Row) -> Comparison | None:
    """Return how a row compares with the original, None where there is nothing to compare."""
    return row.comparisons.get(ORIGINAL)


def is_win(row: Row) -> bool:
    """Return whether a row is faster than the original, however that is written."""
    beside, rival = with_original(row), strongest_rival(row)
    if beside is None or beside.verdict is not Verdict.FASTER:
        return False
    return rival is None or rival[1].verdict in (Verdict.FASTER, Verdict.UNKNOWN)


def strongest_rival(row: Row) -> tuple[str, Comparison] | None:
    """Return the fastest form of the original with directives, and how a row compares with it."""
    others = ((name, one) for name, one in row.comparisons.items() if name != ORIGINAL)
    timed = [(name, one) for name, one in others if one.other_s]
    return min(timed, key=lambda other: other[1].other_s or 0.0, default=None)


def speedup_text(row: Row) -> str:
    """Return the speed-up of a row over the original, with ``~`` where that is estimated."""
    beside = with_original(row)
    return factor_text(row.speedup) if beside is None else times_text(beside)


def times_text(beside: Comparison) -> str:
    """Return a speed-up: ``8.87x``, ``~8.87x`` over an estimate, or that there is none."""
    text = factor_text(beside.speedup)
    return f"~{text}" if beside.is_estimated and text != MISSING else text


def fast_text(beside: Comparison, other: str = THE_ORIGINAL) -> str:
    """Return how many times as fast as another program a faster one is."""
    estimated = f" ({other.removeprefix('the ')} estimated)" if beside.is_estimated else ""
    return f"{times_text(beside)} as fast as {other}{estimated}"


def other_text(beside: Comparison) -> str:
    """Return the time of the other program."""
    return f"{'~' * beside.is_estimated}{time_text(beside.other_s)}"


def beside_text(beside: Comparison, other: str = THE_ORIGINAL) -> str:
    """Return how a program does: ``slower than the original: 2 s against 1 s``."""
    both = f"{time_text(beside.time_s)} against {other_text(beside)}"
    match beside.verdict:
        case Verdict.FASTER | Verdict.WINNER:
            return f"{fast_text(beside, other)}: {both}"
        case Verdict.SLOWER:
            return f"slower than {other}: {both}"
        case Verdict.TIED:
            return f"a statistical tie with {other}: {both}"
        case Verdict.NOISY:
            return f"too noisy to compare with {other}, {RERUN}: {both}, {spread_text(beside)}"
        case Verdict.UNKNOWN:
            return f"not compared with {other}: {why_unknown(beside)}"


def spread_text(beside: Comparison) -> str:
    """Return why times say nothing."""
    if beside.spread is None or beside.spread <= MOST_SPREAD:
        return "which some of the rounds contradict"
    spread = share_text(beside.spread) if beside.spread <= 1 else "more than 100%"
    return f"which spread by {spread}"


def why_unknown(beside: Comparison) -> str:
    """Return why nothing is concluded where there is no noise."""
    if not beside.other_s:
        return "it has no time"
    if beside.is_estimated and beside.runs:
        return f"its {other_text(beside)} is estimated, and too near"
    if beside.is_estimated and beside.runs == 1:
        return "one run of it is no sample; a longer --time has more runs"
    if beside.runs == 1:
        return f"{other_text(beside)} in one run is no sample; a longer --time has more runs"
    if beside.runs > 1:
        both = f"{time_text(beside.time_s)} against {other_text(beside)}"
        return f"{both} in {beside.runs} rounds are too few to be sure; a longer --time has more"
    return f"its {other_text(beside)} was not taken in the same rounds"


def ascii_text(words: str) -> str:
    """Return words as they stand in a generated file, which is ASCII but for the user's text."""
    return words.replace("µ", "u")


def with_comparisons(region: RegionResult) -> RegionResult:
    """Return a region of an earlier annotune with the comparisons that its rounds allow."""
    rows = {row.name: row for row in region.rows}
    first = rows.get(ORIGINAL)
    if first is None or any(row.comparisons for row in region.rows):
        return region
    return replace(region, rows=tuple(_compared(row, rows) for row in region.rows))


def _compared(row: Row, rows: Mapping[str, Row]) -> Row:
    if not row.is_tuned or row.status is not RowStatus.MEASURED:
        return row
    others = (one for one in rows.values() if not one.is_tuned)
    timed = [one for one in others if one.status is RowStatus.MEASURED]
    found = {one.name: _by_rounds(row, one) for one in timed}
    speedup = found[ORIGINAL].speedup if ORIGINAL in found else None
    return replace(row, comparisons=found, speedup=speedup)


def _by_rounds(row: Row, other: Row) -> Comparison:
    if row.final is None or other.final is None or row.device != other.device:
        return Comparison(Verdict.UNKNOWN, row.time_s, other.time_s)
    return compare(row.final.times_s, other.final.times_s)
