"""What a reader is told of the finals: the interval, and what cannot be told from the winner."""

from __future__ import annotations

from annotune.measure.bootstrap import LEAST_ROUNDS, LEVEL
from annotune.measure.trial import Final, Trial, Verdict
from annotune.report.figures import factor_text, time_text
from annotune.report.summary import PEOPLE_SAY, TUNED, all_rows, config_text
from annotune.tune.results import RegionResult, Row

# So many ties are named, and the others counted.
NAMED = 3


def finals_texts(region: RegionResult) -> tuple[str, ...]:
    """Return two lines for each tuned row that was in finals: its figures, and its ties."""
    lines: list[str] = []
    for row in all_rows(region):
        if row.name in TUNED and row.final is not None:
            name = PEOPLE_SAY[row.name]
            lines.append(f"finals of {name}: {_figures(row, row.final)}")
            lines.append(f"{name}: {_ties(row, region.trials)}")
    return tuple(lines)


def verdict_text(final: Final) -> str:
    """Return how a trial did in the finals: ``final 1.21 ms, slower, 1.10x (1.09x to 1.12x)``."""
    time = f"final {time_text(final.time_s)}, {final.verdict}"
    return time if final.verdict is Verdict.WINNER else f"{time}, {_ratio(final)}"


def _figures(row: Row, final: Final) -> str:
    rounds = len(final.times_s)
    text = f"{time_text(final.time_s)} ({_range(rounds)} {_times(final)}), {rounds} rounds in turns"
    if row.speedup is not None and row.speedup_low is not None:
        low, high = factor_text(row.speedup_low), factor_text(row.speedup_high)
        text += f"; {factor_text(row.speedup)} sequential ({low} to {high})"
    return text


def _times(final: Final) -> str:
    return f"{time_text(final.low_s)} to {time_text(final.high_s)}"


def _range(rounds: int) -> str:
    """Return what an interval of so many rounds is: with few of them there is no confidence."""
    return f"{LEVEL:.0%} interval" if rounds >= LEAST_ROUNDS else "all from"


def _ties(row: Row, trials: tuple[Trial, ...]) -> str:
    """Return which finalists are as fast as the winner, or by how much it leads."""
    others = [
        (trial, trial.final)
        for trial in trials
        if trial.target == row.name and trial.final is not None and trial.config != row.config
    ]
    ties = [(trial, final) for trial, final in others if final.verdict is Verdict.TIED]
    if ties:
        each = [f"{config_text(trial.config)}, {_ratio(final)}" for trial, final in ties[:NAMED]]
        more = f"; and {len(ties) - NAMED} more" if len(ties) > NAMED else ""
        return f"not distinguishable from: {'; '.join(each)}{more}"
    if not others:
        return "no other variant was in the finals"
    _, closest = min(others, key=lambda other: other[1].ratio)
    return f"told from all other finalists, of which the closest takes {_ratio(closest)}"


def _ratio(final: Final) -> str:
    """Return a ratio to the winner with its interval, fine enough to be read near 1."""
    return f"{final.ratio:.3f}x ({final.ratio_low:.3f}x to {final.ratio_high:.3f}x)"
