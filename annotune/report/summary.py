"""What the terminal and the page say of a region: rows, trials, winners, finals, and the model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from annotune.frozen import dataclass
from annotune.measure.timing import LEAST_ROUNDS, LEVEL
from annotune.measure.trial import Final, Status, Trial, Verdict
from annotune.printable import one_line
from annotune.report.figures import (
    MISSING,
    advice_text,
    count_text,
    estimated,
    factor_text,
    losing_text,
    number_text,
    share_text,
    time_text,
)
from annotune.report.verdicts import (
    beside_text,
    is_win,
    speedup_text,
    strongest_rival,
    times_text,
    with_original,
)
from annotune.tuning.bench import BUSY_WORDS
from annotune.tuning.proving import LATER_WORDS, NO_TIME_TO_PROVE
from annotune.tuning.results import (
    FORMULATION,
    MEMORY,
    NO_TARGET,
    ORIGINALS,
    ROW_NAMES,
    SHARED,
    FormulationResult,
    KernelModel,
    Profile,
    RecordedInputs,
    RegionResult,
    Results,
    Row,
    RowStatus,
    TargetModel,
)

PEOPLE_SAY: Mapping[str, str] = {
    "sequential": "sequential",
    "openmp_naive": "OpenMP as written",
    "openacc_naive": "OpenACC as written",
    "openmp": "tuned OpenMP",
    "openacc": "tuned OpenACC",
    "cuda": "tuned CUDA",
    "openmp_target": "tuned OpenMP offloading",
}

LEGEND_PREDICTED = (
    "(~ ) is predicted by the model for the device named, never measured; "
    "every other figure of the table is measured."
)
LEGEND = (
    "time: of one run of the region, ± interquartile range; roofline: share of the least time "
    "that the device's peak and memory bandwidth allow, above 100% where a cache holds the data; "
    "speed-up: sequential time over this time, of those timed in turns the median of each round's, "
    "given only between figures of one kind. "
    "On a GPU, time is that of the kernels; a call with its copies takes what stands beside the "
    "device."
)
COLUMNS = ("time", "GFLOP/s", "roofline", "speed-up", "verified")
MODEL_COLUMNS = ("kernel", "predicted", "bound by", "registers", "roofline", "MAGMA's bound")
GRID_UNITS = "gangs x workers x lanes"
_GRIDS = ("grid_asked", "grid_chosen")
# So many ties are named, and the others counted.
NAMED = 3


def people_say(name: str) -> str:
    """Return how people call a row or its target."""
    return PEOPLE_SAY.get(name, one_line(name))


@dataclass(frozen=True, slots=True)
class RowWords:
    """One row of the final table as texts.

    `figures` has a cell for each of `COLUMNS`; `provenance` says where they come from.
    """

    name: str
    figures: tuple[str, ...]
    provenance: str


def all_rows(region: RegionResult) -> tuple[Row, ...]:
    """Return the six rows in the order of `ROW_NAMES`, then those of other targets.

    One of the six that is missing is unavailable.
    """
    known = {row.name: row for row in region.rows}
    absent = RowStatus.UNAVAILABLE
    six = (
        known.get(name) or Row(name, absent, reason="it was no part of this run")
        for name in ROW_NAMES
    )
    return (*six, *(row for row in region.rows if row.name not in ROW_NAMES))


def asked_rows(region: RegionResult) -> tuple[Row, ...]:
    """Return the rows but for those of targets that nobody asked for.

    The original with directives is what the others are compared with: where it was measured, it
    stays whatever was asked for.
    """
    rows = all_rows(region)
    unasked = {row.name for row in rows if row.reason == NO_TARGET}
    unasked |= {
        row.name
        for row in rows
        if row.name.removesuffix("_naive") in unasked and row.status is RowStatus.UNAVAILABLE
    }
    return tuple(row for row in rows if row.name not in unasked)


def row_words(row: Row) -> RowWords:
    """Return what a reader is told of `row`; figures only where it has any."""
    name = people_say(row.name)
    if row.status is RowStatus.UNAVAILABLE:
        return RowWords(name, len(COLUMNS) * (MISSING,), provenance_text(row))
    cells: tuple[str, ...] = (
        time_text(row.time_s, row.spread_s),
        number_text(row.gflops),
        share_text(row.roofline_share),
        speedup_text(row),
    )
    if row.status is RowStatus.PREDICTED:
        cells = tuple(map(estimated, cells))
    return RowWords(name, (*cells, _verified_text(row)), provenance_text(row))


def place_text(row: Row) -> str:
    """Return for which device a row's figures are measured or predicted, or why there are none."""
    if row.status is RowStatus.UNAVAILABLE:
        return f"not available because {one_line(row.reason) or 'no reason was recorded'}"
    kind = "measured on" if row.status is RowStatus.MEASURED else "predicted for"
    return f"{kind} {one_line(row.device) or 'an unnamed device'}{_formulation(row)}"


def copied_text(row: Row) -> str:
    """Return the time of a row with the copies of the program's arrays, empty without."""
    if row.end_to_end_s is None:
        return ""
    time = time_text(row.end_to_end_s)
    return time if row.status is RowStatus.MEASURED else estimated(time)


def provenance_text(row: Row) -> str:
    """Return where a row's figures come from, and why it is not verified or not written."""
    reason, words = one_line(row.reason), place_text(row)
    if row.status is RowStatus.UNAVAILABLE:
        return words
    if row.status is RowStatus.MEASURED and row.predicted_s is not None:
        time = estimated(time_text(row.predicted_s))
        words += f", predicted for {one_line(row.predicted_for)}: {time}"
    if copied := copied_text(row):
        words += f", with copies {copied}"
    if is_doubtful(row):
        return f"{words}; not verified: {reason or 'no reason was recorded'}"
    # Right, measured, and yet not written.
    return f"{words}; {reason}" if reason else words


def _formulation(row: Row) -> str:
    """Return of which formulation a row's variant is, nothing where there is one alone."""
    name = row.config.get(FORMULATION)
    return "" if name is None else f" in the formulation {one_line(str(name))}"


def is_doubtful(row: Row) -> bool:
    """Return whether a row has figures of a program that did not pass its check."""
    return not (row.status is RowStatus.UNAVAILABLE or row.verified or row.name == "sequential")


def _verified_text(row: Row) -> str:
    # The others are compared with it, so it cannot itself be right or wrong.
    if row.name == "sequential":
        return "original"
    return "yes" if row.verified else "NO"


def call_s(row: Row) -> float | None:
    """Return what one call takes, in seconds, with the copies of the program's arrays if known."""
    return row.time_s if row.end_to_end_s is None else row.end_to_end_s


def fastest_row(region: RegionResult, status: RowStatus) -> Row | None:
    """Return the tuned and verified row of one kind of figure whose calls are the fastest.

    Measured and predicted times are never compared with each other. What is faster than the
    original for certain comes before what may be.
    """
    found = [
        row
        for row in all_rows(region)
        if row.is_tuned and row.verified and row.status is status and row.time_s is not None
    ]
    return min(found, key=lambda row: (not is_faster(row), call_s(row) or 0.0), default=None)


def is_faster(row: Row) -> bool:
    """Return whether a row is known to be faster than the original."""
    beside = with_original(row)
    return beside is not None and beside.verdict is Verdict.FASTER


def original_s(region: RegionResult) -> float | None:
    """Return what one call of the original takes, in seconds, None where it was not measured."""
    original = next((row for row in region.rows if row.name == "sequential"), None)
    return None if original is None else call_s(original)


def original_text(region: RegionResult) -> str:
    """Return the original's time, and whether it is an estimate, or that of one run."""
    row = next((row for row in region.rows if row.name == "sequential"), None)
    own = (trial for trial in region.trials if trial.target == "sequential")
    is_once = any(len(trial.times_s) == 1 for trial in own) and row is not None and not row.final
    time = time_text(original_s(region))
    if row is not None and row.status is RowStatus.PREDICTED:
        return f"~{time}"
    return f"{time}{' in one run' * is_once}"


def winner_texts(region: RegionResult) -> tuple[str, ...]:
    """Return a line for the fastest measured and one for the fastest predicted variant."""
    lines: list[str] = []
    measured = fastest_row(region, RowStatus.MEASURED)
    if measured is None:
        lines.append("winner: none, no tuned variant was measured and verified")
    elif is_win(measured):
        lines.append(f"winner: {_variant_text(measured)}")
    else:
        beside = "; ".join(_beside_texts(measured))
        lines.append(f"winner: none; the fastest is {_variant_text(measured)}; {beside}")
    lines += _predictions(region)
    lines += _copies(region)
    return tuple(lines)


def _beside_texts(row: Row) -> Iterator[str]:
    """Yield how a row that does not win does beside the original, and beside it with directives."""
    beside, rival = with_original(row), strongest_rival(row)
    yield "the original has no time" if beside is None else beside_text(beside)
    if rival is not None and is_faster(row):
        yield beside_text(rival[1], people_say(rival[0]))


def _copies(region: RegionResult) -> Iterator[str]:
    """Yield a line for each target of a GPU whose copies cost what its kernels gain."""
    predicted = {row.name: row for row in region.rows if row.status is RowStatus.PREDICTED}
    for cost in region.copies:
        copied, ran = time_text(cost.copies_s), time_text(cost.kernels_s)
        where = ""
        if cost.target in predicted:
            copied, ran = estimated(copied), estimated(ran)
            where = f", predicted for {one_line(predicted[cost.target].device)}"
        yield (
            f"copies of {people_say(cost.target)}{where}: {copied} for kernels of {ran}, and the "
            f"original takes {time_text(cost.original_s)}: "
            f"{advice_text(cost.arrays, cost.break_even)}"
        )


def _predictions(region: RegionResult) -> Iterator[str]:
    """Yield a line for the fastest predicted variant, one for each kind of facts."""
    found = best_predictions(region)
    for is_compiled, best in found:
        registers = "ptxas's" if is_compiled else "estimated"
        of = f" by {registers} registers" if len(found) > 1 else ""
        yield f"best prediction{of}: {_variant_text(best)}"


def best_predictions(region: RegionResult) -> tuple[tuple[bool, Row], ...]:
    """Return the fastest predicted row of each kind of facts, those of the compiler's first.

    What the compiler said of registers makes another time than what was estimated of them, and
    another device is another matter: such predictions are not ranked with each other.
    """
    best = (
        (kind[0], fastest_row(replace(region, rows=tuple(own)), RowStatus.PREDICTED))
        for kind, own in predictions(region).items()
    )
    return tuple((is_compiled, row) for is_compiled, row in best if row is not None)


def predictions(region: RegionResult) -> Mapping[tuple[bool, str], tuple[Row, ...]]:
    """Return the predicted tuned rows of each kind of facts, those of the compiler's first.

    A kind is whether the compiler told the registers, and for which device it is.
    """
    is_compiled = {m.target: all(k.is_compiled for k in m.kernels) for m in region.models}
    kinds: dict[tuple[bool, str], tuple[Row, ...]] = {}
    for row in all_rows(region):
        if row.is_tuned and row.status is RowStatus.PREDICTED:
            kind = (is_compiled.get(row.name, False), row.device)
            kinds[kind] = (*kinds.get(kind, ()), row)
    return dict(sorted(kinds.items(), key=lambda kind: not kind[0][0]))


# So many proofs that were left out are named in the summary.
NAMED_PROOFS = 3
# They are told apart by commas, and so are the sizes of one.
_PROOFS = re.compile(r", (?!\w+=)")


def merged(warnings: Iterable[str]) -> tuple[str, ...]:
    """Return warnings in which what concerns several targets or regions alike is said once.

    Those of a target begin with its name.
    """
    targets: dict[str, dict[str, None]] = {}
    busy: list[str] = []
    unproved: dict[str, dict[str, None]] = {}
    for warning in warnings:
        name, colon, rest = warning.partition(": ")
        if colon and name == BUSY_WORDS:
            busy.append(rest)
            continue
        if rest.startswith(NO_TIME_TO_PROVE) and rest.endswith(LATER_WORDS):
            words = rest.removeprefix(NO_TIME_TO_PROVE).removesuffix(LATER_WORDS).strip()
            unproved.setdefault(words, {})[name] = None
            continue
        is_of_target = bool(colon) and name in PEOPLE_SAY
        names = targets.setdefault(rest if is_of_target else warning, {})
        names |= {name: None} if is_of_target else {}
    parts = (f"{', '.join(names)}: {words}" if names else words for words, names in targets.items())
    return (*_busiest(busy), *_unproved(unproved), *parts)


def _unproved(found: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """Yield one line for all that there was no time to prove, of which the rows have each."""
    if not found:
        return
    targets = dict.fromkeys(name for names in found.values() for name in names)
    proofs = list(dict.fromkeys(one for words in found for one in _PROOFS.split(words)))
    said = proofs if len(proofs) <= NAMED_PROOFS else proofs[: NAMED_PROOFS - 1]
    more = f" and {len(proofs) - len(said)} more" if len(said) < len(proofs) else ""
    yield f"no time was left to prove {', '.join(targets)} {', '.join(said)}{more}{LATER_WORDS}"


def _busiest(said: Sequence[str]) -> Iterator[str]:
    """Yield one warning for what is said of a busy machine in several searches: the worst of it."""
    shares = {words: int(found[1]) for words in said if (found := re.search(r"(\d+)%", words))}
    worst = max(said, key=lambda words: shares.get(words, 0), default=None)
    if worst is not None:
        times = f", in {len(said)} searches; in the worst of them" if len(said) > 1 else ""
        yield f"{BUSY_WORDS}{times}: {worst}"


def formulation_texts(region: RegionResult) -> tuple[str, ...]:
    """Return a line for each tuned row of a tensor program: what came of each formulation."""
    lines: list[str] = []
    for name in (row.name for row in all_rows(region) if row.is_tuned):
        own = [(one, row) for one in region.formulations for row in one.rows if row.name == name]
        tried = [_tried_text(one, row) for one, row in own if name in one.tried]
        others = [_others_text(one, row) for one, row in own if name not in one.tried]
        listed = [*tried, *([f"not tried: {', '.join(others)}"] if others else [])]
        if own:
            lines.append(f"formulations of {people_say(name)}: {'; '.join(listed)}")
    return tuple(lines)


def _others_text(one: FormulationResult, row: Row) -> str:
    """Return a formulation that was not tried, with the time of its first choice by the model."""
    time = "" if row.time_s is None else f" {estimated(time_text(row.time_s))}"
    return f"{one_line(one.name)}{time}"


def _tried_text(one: FormulationResult, row: Row) -> str:
    is_chosen = row.name in one.chosen
    parts = [f"{one_line(one.name)}{' (chosen)' * is_chosen}"]
    if row.time_s is not None:
        time = time_text(row.time_s, row.spread_s)
        parts.append(time if row.status is RowStatus.MEASURED else estimated(time))
    if row.name in one.calls_s:
        parts.append(f"{time_text(one.calls_s[row.name])} a call")
    if row.reason and not is_chosen:
        parts.append(one_line(row.reason))
    return ", ".join(parts)


def grid_texts(region: RegionResult) -> tuple[str, ...]:
    """Return a line for each row of OpenACC's: the grid asked for, and what a compiler chose."""
    lines = []
    for row in all_rows(region):
        own = (t for t in region.trials if t.target == row.name and t.config == row.config)
        trial = next((t for t in own if "grid_asked" in t.facts), None)
        if trial is not None:
            asked, chosen = (one_line(str(trial.facts.get(n, ""))) for n in _GRIDS)
            name = people_say(row.name)
            lines.append(f"grid of {name}, {GRID_UNITS}: asked for {asked}; chosen: {chosen}")
    return tuple(lines)


def profile_texts(region: RegionResult) -> tuple[str, ...]:
    """Return a line for each target whose winner was profiled, beside what the model says."""
    return tuple(
        f"profile of {people_say(found.target)}{_profile_text(found, region)}"
        for found in region.profiles
    )


def _profile_text(found: Profile, region: RegionResult) -> str:
    if found.reason:
        return f": not available because {one_line(found.reason)}"
    known = model_profile(region, found.target)
    parts = [
        f"{name} {counted}{f', model {estimated(said)}' if said else ''}"
        for name, counted, said in zip(
            PROFILE_COLUMNS, profile_words(found), profile_words(known), strict=True
        )
    ]
    return f", counted on {one_line(found.device)}: {'; '.join(parts)}"


PROFILE_COLUMNS = (MEMORY, "L2", SHARED, "warp efficiency", "occupancy")


def profile_values(found: Profile | None) -> tuple[float | None, ...]:
    """Return the figures of a profile, one for each of `PROFILE_COLUMNS`."""
    if found is None:
        return (None,) * len(PROFILE_COLUMNS)
    rates = (found.bytes_s.get(place) for place in PROFILE_COLUMNS[:3])
    return (*rates, found.warp_efficiency, found.occupancy)


def profile_words(found: Profile | None) -> tuple[str, ...]:
    """Return the same as texts, empty for what is not known."""
    values = profile_values(found)
    return (
        *("" if rate is None else count_text(round(rate), "B/s") for rate in values[:3]),
        *("" if share is None else share_text(share) for share in values[3:]),
    )


def model_profile(region: RegionResult, target: str) -> Profile | None:
    """Return what the model says of the same for all kernels together, None without a model.

    It knows of no threads that stand aside, and of shared memory where a tile is staged in it.
    """
    model = next((one for one in region.models if one.target == target), None)
    time_s = 0.0 if model is None else model.predicted_s
    if model is None or not time_s:
        return None
    places = [p for p in PROFILE_COLUMNS[:3] if all(p in k.bytes_s for k in model.kernels)]
    weights = [kernel.predicted_s / time_s for kernel in model.kernels]
    pairs = [*zip(model.kernels, weights, strict=True)]
    rates = {place: sum(k.bytes_s[place] * w for k, w in pairs) for place in places}
    known = all(kernel.occupancy is not None for kernel in model.kernels)
    occupancy = sum((k.occupancy or 0.0) * w for k, w in pairs) if known else None
    return Profile(time_s, rates, None, occupancy, target=target, device=model.device)


def _variant_text(row: Row) -> str:
    words = row_words(row)
    return f"{words.name}, {words.figures[0]}, {words.provenance}; {config_text(row.config)}"


def config_text(config: Mapping[str, str | int | float]) -> str:
    """Return a configuration on one line: ``UF=4, S0.block=i``."""
    return one_line(", ".join(f"{k}={v}" for k, v in config.items())) or "no parameters"


def trials_text(region: RegionResult) -> str:
    """Return how many trials there were, how many were correct, and how the others failed."""
    counts = Counter(trial.status for trial in region.trials)
    correct = counts.pop(Status.CORRECT, 0)
    number = len(region.trials)
    text = f"{number} trial{'' if number == 1 else 's'}: {correct} correct"
    if counts:
        each = ", ".join(f"{counts[s]} {s}" for s in Status if counts[s])
        text += f", {counts.total()} failed ({each})"
    unchecked = sum(t.status is Status.CORRECT and not t.verified for t in region.trials)
    if unchecked:
        text += f"; {unchecked} of the correct ones not compared with the original"
    reused = sum(t.reused for t in region.trials)
    text = f"{text}; {reused} reused" if reused else text
    known = sum(searched.reused for searched in region.searches)
    variants = sum(searched.evaluated for searched in region.searches)
    return f"{text}; {known} of {variants} variants known from an earlier run" if known else text


def work_text(region: RegionResult) -> str:
    """Return the sizes and the work of a region at them, and where else its winners are right."""
    sizes = one_line(", ".join(f"{k}={v}" for k, v in region.sizes.items()))
    work = f"{count_text(region.flop, 'flop')}, {count_text(region.bytes, 'B')} at the least"
    if region.recorded is not None:
        sizes = f"{sizes} {recorded_text(region.recorded)}".lstrip()
    text = f"{sizes}; {work}" if sizes else work
    others = [", ".join(f"{k}={v}" for k, v in one.items()) for one in region.sizes_checked]
    return f"{text}; also checked at {one_line('; '.join(others))}" if others else text


def recorded_text(recorded: RecordedInputs) -> str:
    """Return that inputs are a program's own, and what share of its time has such sizes."""
    calls = f"{recorded.calls} recorded call{'' if recorded.calls == 1 else 's'}"
    return f"on {calls} ({recorded.share:.0%} of its time)"


def spent_text(results: Results) -> str:
    """Return where the time of a run went, empty where nobody has counted it."""
    spent = results.spent
    if not spent.total_s:
        return ""
    each = [t for one in results.regions for size in one.at_each_size for t in size.trials]
    own = [t for t in each if t.target not in ORIGINALS and not t.reused]
    compiled = sum(bool(t.compile_s) for t in own)
    timed = sum(bool(t.times_s) for t in own)
    parts = (
        f"{_seconds(spent.reading_s)} parsing and analysis",
        f"{_seconds(spent.variants_s)} variants ({compiled} compiled, {timed} timed)",
        f"{_seconds(spent.checks_s)} checks",
        f"{_seconds(spent.finals_s)} finals",
        f"{_seconds(spent.original_s)} original",
    )
    return f"time: {', '.join(parts)}"


def _seconds(time_s: float) -> str:
    return f"{time_s:.{1 if time_s < 10 else 0}f} s"


def heading(region: RegionResult) -> str:
    """Return how a region is called: its function, number and line."""
    return f"{one_line(region.function)}, region {region.index} (line {region.line})"


def has_prediction(results: Results) -> bool:
    """Return whether any row of the tables is predicted."""
    each = (one for region in results.regions for one in region.at_each_size)
    return any(row.status is RowStatus.PREDICTED for one in each for row in one.rows)


def finals_texts(region: RegionResult) -> tuple[str, ...]:
    """Return two lines for each tuned row that was in finals: its figures, and its ties."""
    lines: list[str] = []
    for row in all_rows(region):
        if row.is_tuned and row.final is not None:
            name = people_say(row.name)
            lines.append(f"finals of {name}: {_figures(row, row.final)}")
            lines.append(f"{name}: {_ties(row, region.trials)}")
    return tuple(lines)


def verdict_text(final: Final) -> str:
    """Return how a trial did in the finals: ``final 1.21 ms, slower, 1.10x (1.09x to 1.12x)``."""
    time = f"final {time_text(final.time_s)}"
    if final.verdict is Verdict.WINNER:
        return f"{time}, the fastest finalist"
    return f"{time}, {final.verdict}, {_ratio(final)}"


def _figures(row: Row, final: Final) -> str:
    rounds = len(final.times_s)
    text = f"{time_text(final.time_s)} ({_range(rounds)} {_times(final)}), {rounds} rounds in turns"
    beside = with_original(row)
    if beside is not None and beside.low is not None and beside.is_paired:
        low, high = factor_text(beside.low), factor_text(beside.high)
        text += f"; {times_text(beside)} as fast as the original ({low} to {high})"
        text += f", {beside.runs} rounds with it" if beside.runs < rounds else ""
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
        return f"a statistical tie with: {'; '.join(each)}{more}"
    open_ = sum(final.verdict in (Verdict.NOISY, Verdict.UNKNOWN) for _, final in others)
    if open_:
        of = f"{open_} of {len(others)} other finalists"
        return f"not told from {of}: their rounds are too few or too noisy"
    if not others:
        return "no other variant was in the finals"
    _, closest = min(others, key=lambda other: other[1].ratio)
    return f"told from all other finalists, of which the closest takes {_ratio(closest)}"


def _ratio(final: Final) -> str:
    """Return a ratio to the winner with its interval, fine enough to be read near 1."""
    return f"{final.ratio:.3f}x ({final.ratio_low:.3f}x to {final.ratio_high:.3f}x)"


def model_texts(region: RegionResult) -> tuple[str, ...]:
    """Return lines on the model of each target: kernels, copies, and the rank correlation."""
    return tuple(line for model in region.models for line in _texts(region, model))


def _texts(region: RegionResult, model: TargetModel) -> Iterator[str]:
    yield f"model of {target_text(model)}: {total_text(model)}"
    for kernel in model.kernels:
        name, predicted, limit, registers, roofline, magma = kernel_words(kernel)
        yield (
            f"  kernel of statement {name}: predicted {predicted}, bound by {limit}, registers "
            f"{registers}; roofline {roofline}; MAGMA's bound {magma}"
        )
    first = next((row for row in all_rows(region) if row.name == "sequential"), None)
    if first is not None and first.status is RowStatus.MEASURED and first.time_s is not None:
        is_told = any(cost.target == model.target for cost in region.copies)
        copies_s = None if is_told else model.copies_s
        losing = losing_text(first.time_s, first.device, model.predicted_s, copies_s)
        if losing:
            yield f"  {losing}"
    yield f"  {agreement_text(model)}"


def target_text(model: TargetModel) -> str:
    """Return how people call a model's target."""
    return people_say(model.target)


def total_text(model: TargetModel) -> str:
    """Return the predicted time of the kernels, and that with the copies around them."""
    kernels = estimated(time_text(model.predicted_s))
    text = f"predicted for {one_line(model.device)}: {kernels}"
    if model.copies_s is None:
        return f"{text}; with copies not available because {one_line(model.why_no_copies)}"
    whole = model.predicted_s + model.copies_s
    return f"{text}, {estimated(time_text(whole))} with copies between host and device"


def kernel_words(kernel: KernelModel) -> tuple[str, ...]:
    """Return the cells of a kernel, one for each of `MODEL_COLUMNS`."""
    origin = "ptxas" if kernel.is_compiled else "estimated"
    magma = f"not available because {one_line(kernel.why_no_magma)}"
    if kernel.magma_s is not None:
        magma = f"{time_text(kernel.magma_s)}, {_share(kernel.magma_s, kernel)}"
    return (
        ", ".join(map(str, kernel.statements)),
        estimated(time_text(kernel.predicted_s)),
        one_line(kernel.limit),
        f"{kernel.registers}, {origin}",
        f"{time_text(kernel.roofline_s)}, {_share(kernel.roofline_s, kernel)}",
        magma,
    )


def agreement_text(model: TargetModel) -> str:
    """Return how predictions and measurements of the trials agree, or why that is not known."""
    if model.correlation is None:
        text = f"rank correlation not available because {one_line(model.why_no_correlation)}"
    else:
        rho = number_text(abs(model.correlation))
        sign = "-" if model.correlation < 0 else ""
        text = f"rank correlation of predictions and measurements: {sign}{rho}"
    if model.error is None:
        return text
    return f"{text}; {model.pairs} trials, mean error {factor_text(model.error)}"


def _share(least_s: float, kernel: KernelModel) -> str:
    share = least_s / kernel.predicted_s if kernel.predicted_s else None
    return f"{share_text(share)} of the prediction"
