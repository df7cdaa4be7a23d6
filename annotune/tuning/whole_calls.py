"""Whole calls on a GPU: which form of what wins by its kernels is called the fastest.

Variants are ranked by their kernels. Whether sums come back to be added on the host, and what of a
call the host computes, changes nothing of these. So the winner alone is tried in all such forms,
each as it is handed out, with its copies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING

from annotune.analysis.facts import Analysis
from annotune.codegen.target import Target
from annotune.measure.trial import END_TO_END, Status, Trial
from annotune.space.variants import Listing, Variant
from annotune.transforms.cache import COUNTER, why_not_added
from annotune.transforms.transform import Feature
from annotune.tuning.config import AUTO
from annotune.tuning.experiment import Tried

if TYPE_CHECKING:
    from annotune.tuning.tuner import Contest, Finals

# The forms of a winner have this share of a target's time.
CALLS = 0.25
# Shares of the host's are tried to so many parts of a call; below one of them none pays.
PARTS = 32
# Shares to try where nobody knows how long the host takes for a whole call.
USUAL = (0.125, 0.25, 0.5)
# What nvcc takes for a text, where that is not known.
COMPILED_S = 5.0


def has_forms(target: Target, analysis: Analysis, both: str) -> bool:
    """Return whether calls of a target's kernels have more than one form, or one that is asked."""
    return Feature.HOST_SUMS in target.vocabulary.features and bool(both or _sums(analysis))


def forms(contest: Contest, both: str, host_s: float | None) -> Listing:
    """Return the forms of a contest's first, which has won by its kernels.

    The host alone takes `host_s` for a call, None where that is not known.
    """
    first = contest.ranked[0]
    assert first.variant is not None
    call_s = first.trial.facts.get(END_TO_END)
    shares = shares_of(both, call_s if isinstance(call_s, float) else None, host_s)
    found = tuple(_forms(first.variant, shares, is_shared=both not in ("", AUTO)))
    configs = tuple(form.config for form in found)
    return Listing(configs, tuple(form.predicted_s for form in found), found.__getitem__)


def affordable(first: Trial, both: str, left_s: float, compilers: int) -> int:
    """Return how many forms can be compiled, so many at once, and checked as their first was.

    One that is asked for is owed; others need one to compare with.
    """
    each_s = (first.compile_s or COMPILED_S) / compilers + (first.run_s or 0.0)
    count = int(left_s / each_s)
    if both not in ("", AUTO):
        return max(1, count)
    return count if count > 1 else 0


def shared(listing: Listing, share: str) -> Listing:
    """Return a listing with the host's share in every call."""

    def make(number: int) -> Variant:
        return listing.variant(number).shared(share, 1)

    configs = tuple({**config, "both": share} for config in listing.configs)
    return replace(listing, configs=configs, make=make)


def shares_of(both: str, call_s: float | None, host_s: float | None) -> tuple[str, ...]:
    """Return the shares of the host's to try.

    Where a device takes `call_s` for a whole call and the host `host_s`, both are at work to the
    end with a share of `call_s / (call_s + host_s)`, if they do not get in each other's way: they
    have one memory, so half as much is tried, too.
    """
    if both != AUTO:
        return (both,) if both else ()
    if not call_s or not host_s:
        return (*map(_text, USUAL), COUNTER)
    parts = round(PARTS * call_s / (call_s + host_s))
    if not parts:
        return ()
    tried = dict.fromkeys(n for n in (parts, parts // 2) if n)
    return (*(_text(n / PARTS) for n in tried), COUNTER)


def _text(share: float) -> str:
    return f"{share:g}"


def _forms(first: Variant, shares: Sequence[str], is_shared: bool) -> Iterator[Variant]:
    """Yield the forms of a variant, itself first; all have the share if it is asked for."""
    sums, added = _sums(first.analysis), first.tuned.added
    others = [first.adding([n for n in sums if n not in added])] if sums else []
    if is_shared:
        yield from (form.shared(share, 1) for share in shares for form in (first, *others))
        return
    yield first
    yield from (first.shared(share, 1) for share in shares)
    yield from others


def _sums(analysis: Analysis) -> list[str]:
    """Return the arrays to which the host can add."""
    return [name for name in analysis.uses if not why_not_added(analysis, name)]


NOT_SHARED = "the host computes no share of a call: {}"
NO_TIME = "no time was left to try it; a longer --time has it"


def with_calls(contest: Contest, tried: Sequence[Tried], calls: Finals, both: str) -> Contest:
    """Return a contest in which the forms of its first that were `tried` come before it.

    `calls` are their whole ones. One by itself is no comparison, unless it is asked for.
    """
    first, start = contest.ranked[0], len(contest.listing)
    rounds = dict(contest.finals.rounds_s)
    made = {one.number: _as_form(one, first, start, calls) for one in tried}
    if str(first.number) in rounds:
        # Its kernels are those of the first.
        rounds |= {str(form.number): rounds[str(first.number)] for form in made.values()}
    ranked = [made[int(name)] for name in calls.ranking]
    if both in ("", AUTO) and not (len(ranked) > 1 and 0 in made and made[0].is_right):
        ranked = []
    shared = [one.trial for one in tried if "both" in one.trial.config]
    warnings = contest.warnings
    if both and not any(trial.status is Status.CORRECT for trial in shared):
        reason = next((trial.reason for trial in shared if trial.reason), NO_TIME)
        warnings = (*warnings, NOT_SHARED.format(reason.splitlines()[0]))
    return replace(
        contest,
        tried=(*contest.tried, *made.values()),
        ranked=(*ranked, *contest.ranked),
        finals=replace(contest.finals, rounds_s=rounds),
        warnings=warnings,
    )


def _as_form(one: Tried, first: Tried, start: int, calls: Finals) -> Tried:
    """Return a form with the time of its variant's kernels, and its own of a whole call."""
    trial, number = one.trial, one.number + start
    if one.is_right:
        calls_s = calls.rounds_s.get(str(one.number)) or one.trial.times_s
        facts = {**first.trial.facts, END_TO_END: median(calls_s)}
        trial = replace(first.trial, config=trial.config, facts=facts, at_s=trial.at_s)
    return replace(one, number=number, trial=trial)
