"""Which runs a check makes of a variant, and the checks that prove a text about to win."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from math import inf

from annotune.analysis.facts import Analysis
from annotune.frozen import dataclass
from annotune.ir.region import Region
from annotune.measure.compile import COMPILE_LIMIT_S, FOR_DEVICES, KINDS
from annotune.measure.inputs import (
    ENDING,
    SPECIAL,
    WHOLE,
    ZERO_VALUES,
    Overlap,
    Values,
    buffers_of,
    overlaps,
)
from annotune.measure.program import (
    Original,
    Program,
    TextForm,
    has_way_out,
    nearer_limits,
    texts_of,
)
from annotune.measure.run import RUN_LIMIT_S, Order, TimingPlan
from annotune.measure.sizes import (
    BORDER_ITERATIONS,
    Sizes,
    border_sizes,
    condition_sizes,
    distinct,
    fulfilling,
    is_possible,
    iterations,
    known_values,
    middle_sizes,
    open_sizes,
    small_sizes,
    tuned_sizes,
)
from annotune.measure.values import bears_special, bears_zeros

SANITIZE_ITERATIONS = 1_000_000
"""Sizes with more assignments than this are not run under a sanitizer, 2-20 times slower."""

RACE_ITERATIONS = 50_000
"""Sizes with more assignments than this are not searched for races, 50 times slower."""

DETECT_AT_MOST = 100_000_000
"""Assignments beyond which no detector runs at all: it would take a minute and more.

Of all the runs at one set of sizes together in which arrays share memory in turn.
"""

DETECTOR_SLOWER = 20
"""How many times as long a run takes under a detector, about."""

LONG_ITERATIONS = 100_000_000
"""A proof with more assignments than this is long: it takes a second and more."""

LONG_BYTES = 64 << 20
"""So is one whose runs make, copy and compare more bytes of arrays than this."""

_ALL_ORDERS = (Order.FORWARD, Order.REVERSE, Order.SHUFFLED)
# Of any two threads either one comes first in these.
_BOTH_WAYS = (Order.FORWARD, Order.REVERSE)


class Failures(StrEnum):
    """Which calls of the CUDA run-time library fail, each in a run of its own.

    Of each kind those are the first and the last that a run makes: what is between them stands in
    the same loops. A request for memory that fails once is made again, so the last one fails for
    good.
    """

    NONE = ""
    MEMORY = "all memory"
    EACH_KIND = "each kind of call"


FAILING_RUNS = {Failures.NONE: 0, Failures.MEMORY: 1, Failures.EACH_KIND: 14}
"""About how many runs there are."""

NONE_FAILS = 2**31 - 1
"""No run makes so many calls: in one whose call of that number is to fail, they are counted."""


@dataclass(frozen=True, slots=True)
class Odd:
    """What is odd about the runs of a check: their text, their memory and values, and their luck.

    After each of `failures` the entry must still leave the right result. Each run is made with each
    of `overlaps` in turn, arrays sharing memory, and with each of `values` in them. With
    `takes_way_out` it takes the nest as written, with `is_narrow` arrays have no more elements than
    the original touches. Where it `may_fall_back` to the original a text need not launch a kernel.
    A `MARKED` text is run as it is, with the oddities one by one at the first sizes, and with the
    values at the last too, so many of them as `at_last` says. Where runs take long, as where C
    fixes large sizes, an oddity is met `once`: all shared memory by threads in reverse order, where
    there is such a build, and one case of it by a marked text.
    """

    form: TextForm = TextForm.AS_IS
    failures: Failures = Failures.NONE
    overlaps: tuple[Overlap, ...] = ()
    values: tuple[Values, ...] = (Values.USUAL,)
    takes_way_out: bool = False
    is_narrow: bool = False
    may_fall_back: bool = False
    once: bool = False
    at_last: int = 1


USUAL = Odd()


@dataclass(frozen=True, slots=True)
class CheckLimits:
    """The seconds of one run and of one compilation, and the MiB of a child; 0 is no limit.

    A whole check is given up after `check_s` seconds, compilations in them.
    """

    run_s: float = RUN_LIMIT_S
    compile_s: float = COMPILE_LIMIT_S
    memory_mib: int = 0
    check_s: float = inf


SEED = 1
"""That of the values of all runs but those on further recorded calls."""


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """Where and how hard a variant is checked.

    `sizes` are checked in order; with `timing` the first of them is measured too. `sanitize`
    and `races` add runs under the sanitizers and the race detector at the sizes that are
    small enough. `resident` gives CUDA variants device pointers, as ``--data resident`` says, and
    has OpenACC's find their arrays present. `arch` is set to have CUDA compiled
    for that GPU as well, for nvcc's own words on registers and spills, `grids` to have OpenACC
    compiled for a GPU, for the grids that its compiler chooses. `device_name` is what
    the trial says it was measured on; `environ` is set in every child, such as
    CUDA_VISIBLE_DEVICES or OMP_PROC_BIND.
    """

    sizes: tuple[Sizes, ...]
    seed: int = SEED
    threads: int = 1
    timing: TimingPlan | None = None
    sanitize: bool = False
    races: bool = False
    odd: Odd = USUAL
    resident: bool = False
    arch: str = ""
    grids: bool = False
    device_name: str = ""
    environ: Mapping[str, str] = field(default_factory=dict)
    limits: CheckLimits = CheckLimits()


@dataclass(frozen=True, slots=True)
class Run:
    """One run to make: how it is compiled, at which sizes, in which order of threads."""

    kind: str
    sizes: Mapping[str, int]
    order: Order = Order.FORWARD
    is_timed: bool = False
    fail_at: int = 0
    overlap: Overlap | None = None
    takes_way_out: bool = False
    is_narrow: bool = False
    values: Values = Values.USUAL


def runs_of(
    program: Program,
    plan: CheckPlan,
    original: Original,
    failing: Callable[[], Sequence[int]] = tuple,
) -> Iterator[Run]:
    """Yield the runs of `plan`: small sizes under the detectors first, as they say most.

    `failing` returns which calls the last run of those yielded so far tells to be made to fail.
    """
    odd = plan.odd
    if odd.form is TextForm.MARKED:
        yield from _marked_runs(program, plan, failing)
        return
    for run in _runs(program, plan, original, failing):
        for overlap, values in itertools.product(odd.overlaps or (None,), odd.values):
            yield replace(
                run,
                overlap=overlap,
                takes_way_out=odd.takes_way_out,
                is_narrow=odd.is_narrow,
                values=values,
            )


def _marked_runs(
    program: Program, plan: CheckPlan, failing: Callable[[], Sequence[int]]
) -> Iterator[Run]:
    """Yield the runs of a text with marks: what is planned beside the sizes at one of them."""
    kind, odd = f"{program.kind}{TextForm.MARKED}", plan.odd
    if kind not in KINDS:
        return
    for sizes in plan.sizes:
        yield Run(kind, sizes)
    first, *_ = plan.sizes
    last = plan.sizes[-odd.at_last :]
    for sizes, values in itertools.product((first, *last), odd.values):
        yield Run(kind, sizes, values=values)
    # Every pair of arrays has a test of its own, and all of them one branch.
    for overlap in odd.overlaps[:1] if odd.once else odd.overlaps:
        yield Run(kind, first, overlap=overlap)
    if program.device_text:
        yield from _failing_runs(Run(kind, first), odd.failures, failing)
    if odd.takes_way_out:
        yield Run(kind, first, takes_way_out=True)


def _runs(
    program: Program,
    plan: CheckPlan,
    original: Original,
    failing: Callable[[], Sequence[int]],
) -> Iterator[Run]:
    for detector in () if plan.odd.once else _detectors(program, plan, original):
        for sizes in () if detector.problem else _small_enough(plan, original, detector.limit):
            yield Run(detector.kind, sizes, Order.REVERSE)
            # Of two zeros a clause keeps the first or the last that comes: one of them is C's.
            if not SPECIAL.keys().isdisjoint(plan.odd.values):
                yield Run(detector.kind, sizes, Order.FORWARD)
    ordered = f"{program.kind}-ordered"
    has_ordered = ordered in KINDS and original.tools.cxx is not None
    too_long = plan.odd.once or not _small_enough(plan, original, DETECT_AT_MOST)
    if plan.races and has_ordered and too_long:
        # Of threads in another order much shows that the detector would have seen.
        for sizes in plan.sizes:
            yield Run(ordered, sizes, Order.REVERSE)
        if plan.odd.once:
            return
    orders = _ALL_ORDERS if KINDS[program.kind].is_ordered else (Order.FORWARD,)
    if plan.odd.once and KINDS[program.kind].is_ordered:
        orders = (Order.REVERSE,)
    kind = f"{program.kind}{plan.odd.form}"
    if plan.odd.form is TextForm.NEAR_LIMITS:
        for sizes in plan.sizes if kind in KINDS else ():
            yield Run(kind, sizes)
        return
    if plan.odd.form is TextForm.SMALL_GRIDS and kind in KINDS:
        for sizes, order in itertools.product(plan.sizes, orders):
            yield Run(kind, sizes, order)
        return
    failures = plan.odd.failures
    # Without memory on the device the original runs, whatever the order of threads.
    as_usual = plan.sizes if failures is not Failures.MEMORY else ()
    for number, sizes in enumerate(as_usual):
        at_border = plan.odd.may_fall_back and max(sizes.values(), default=0) > SHORT
        few = _BOTH_WAYS if at_border or _is_long(original.analysis, sizes) else _ALL_ORDERS
        for order in (order for order in orders if order in few):
            is_timed = number == 0 and order is Order.FORWARD
            yield Run(program.kind, sizes, order, is_timed)
    if program.device_text:
        # Without memory at all sizes: what takes the place of the kernels runs there.
        is_short = failures is Failures.EACH_KIND
        for sizes in _small_enough(plan, original, 0) if is_short else plan.sizes:
            yield from _failing_runs(Run(program.kind, sizes), failures, failing)


def _failing_runs(
    plain: Run, failures: Failures, failing: Callable[[], Sequence[int]]
) -> Iterator[Run]:
    """Yield `plain` with calls that fail, and before them one that tells what there are."""
    if failures is Failures.MEMORY:
        yield replace(plain, fail_at=-1)
    elif failures is Failures.EACH_KIND:
        yield replace(plain, fail_at=NONE_FAILS)
        yield from (replace(plain, fail_at=call) for call in failing())


@dataclass(frozen=True, slots=True)
class _Detector:
    """A detector that is wanted: its kind, and the most assignments for which every size is run.

    `words` name it in the trial's facts; `problem` says why it is not there.
    """

    words: str
    kind: str
    limit: int
    problem: str


def _detectors(program: Program, plan: CheckPlan, original: Original) -> Iterator[_Detector]:
    """Yield the detectors that `plan` wants."""
    no_asan = "" if original.tools.asan else "no address sanitizer here"
    no_cxx = "" if original.tools.cxx else "no C++ compiler here"
    for words, is_wanted, name, limit, problem in (
        ("sanitizers", plan.sanitize, "asan", SANITIZE_ITERATIONS, no_asan),
        ("race detector", plan.races, "race", RACE_ITERATIONS, no_cxx),
    ):
        kind = f"{program.kind}-{name}"
        if kind not in KINDS:
            problem = f"there is none for '{program.kind}'"
        if is_wanted:
            yield _Detector(words, kind, limit, problem)


def without_detectors(program: Program, plan: CheckPlan, original: Original) -> dict[str, str]:
    """Return why a detector that `plan` wants is not run, by its name in the trial's facts."""
    too_large = ""
    if not _small_enough(plan, original, DETECT_AT_MOST):
        too_large = f"more than {DETECT_AT_MOST:,} assignments at every size"
    found = {d.words: d.problem or too_large for d in _detectors(program, plan, original)}
    return {words: f"not run: {problem}" for words, problem in found.items() if problem}


def _small_enough(plan: CheckPlan, original: Original, limit: int) -> list[Mapping[str, int]]:
    """Return the sizes with at most `limit` assignments; the smallest where none has so few.

    C may fix the sizes, and a detector that takes seconds is better than none.
    """
    repeats = max(1, len(plan.odd.overlaps))
    counts = [_assignments(original.analysis, sizes) for sizes in plan.sizes]
    possible = [n for n, count in enumerate(counts) if count * repeats <= DETECT_AT_MOST]
    found = [n for n in possible if counts[n] <= limit]
    # The first of those that are as small.
    return [plan.sizes[n] for n in found or sorted(possible, key=counts.__getitem__)[:1]]


def words_of(run: Run, reason: str) -> str:
    """Return `reason` after the sizes and the order of threads at which it was seen."""
    sizes = ", ".join(f"{name}={value}" for name, value in run.sizes.items())
    place = f"at {sizes}: " if sizes else ""
    order = "" if run.order is Order.FORWARD else f"threads in {run.order.name.lower()} order: "
    order += "made to take the nest as written: " if run.takes_way_out else ""
    order += "with no more of the arrays than is touched: " if run.is_narrow else ""
    order += f"with {run.overlap}: " if run.overlap is not None else ""
    order += f"on {run.values}: " if run.values is not Values.USUAL else ""
    is_planned = run.fail_at not in (0, NONE_FAILS)
    planned = f"after call {abs(run.fail_at)} of the CUDA library failed: " if is_planned else ""
    return place + order + planned + reason


# Sizes past this make the original run for long loops too, when a call fails.
SHORT = 255


def proofs(
    program: Program,
    analysis: Analysis,
    plan: CheckPlan,
    awkward: Sequence[Sizes],
    others: Sequence[Analysis] = (),
) -> Iterator[CheckPlan]:
    """Yield what a text that is about to win must stand, what finds most for its time first.

    `plan` is the one by which it was tried. A text that has kernels for other problem sizes too has
    `others`, the analyses at these, and all of its problem sizes end the sizes of `plan`.

    Right values in the order in which threads happened to run say nothing of another order, at one
    size nothing of others, and of usual values nothing of equal ones; a branch that nothing has run
    is not known to be right.
    """
    plan = replace(plan, timing=None, device_name="", environ={}, arch="", grids=False)
    small = tuple(awkward) or plan.sizes
    # Large enough that what is compared takes every turn, and small enough for a detector.
    (one,) = middle_sizes(analysis) or small[:1]
    every = (analysis, *others)
    borders = distinct([sizes for each in every for sizes in border_sizes(each)])
    long = tuple(sizes for sizes in borders if max(sizes.values()) > SHORT)
    yield from _at_borders(program, plan, borders, long)
    tuned = [tuned_sizes(each.region) for each in every]
    yield from _on_recorded(analysis.region, plan, tuned)
    yield replace(plan, sizes=_detected(analysis, small, tuned), sanitize=True, races=True)
    if has_way_out(program):
        yield replace(plan, sizes=(*small, *borders), odd=Odd(takes_way_out=True))
    if near := near_limits(texts_of(program).values(), analysis):
        yield replace(plan, sizes=near, odd=Odd(form=TextForm.NEAR_LIMITS, may_fall_back=True))
    yield from _on_other_values(program, analysis, plan, (*small, one), len(every))
    if long and not program.device_text and Values.ZEROS in _odd_values(analysis):
        # Sums that are asked for their signs run again, in loops that nothing else enters.
        yield replace(plan, sizes=long, odd=Odd(values=(Values.ZEROS,), may_fall_back=True))
    if not plan.resident and any(shape.touched for shape in analysis.shapes.values()):
        # Nothing else need be there: a sanitizer sees what is copied beside it.
        values = (Values.USUAL, Values.EQUAL)
        odd = Odd(values=values, is_narrow=True, may_fall_back=True)
        yield replace(plan, sizes=(*small, one), odd=odd, sanitize=True)
    yield from _on_failures(program, analysis, plan, (small, (one,), long))
    shared = _overlaps(program.kind, analysis, one)
    if shared:
        places = (one, *long[-1:])
        yield from _on_shared_memory(program, analysis, plan, places, shared, tuned)
    # The last, for its trial tells what all of them together have run.
    beside = [sizes for sizes in (one, *small, *borders) if sizes not in plan.sizes]
    odd = replace(_every_branch(program, analysis, one), overlaps=shared, at_last=len(every))
    yield replace(plan, sizes=(*distinct(beside), *plan.sizes), odd=odd)


def _at_borders(
    program: Program, plan: CheckPlan, borders: Sequence[Sizes], long: Sequence[Sizes]
) -> Iterator[CheckPlan]:
    """Yield the proofs at sizes of nothing, of one, and past the limits of grids and types.

    A device is played by one thread, at the `long` ones for seconds, so that these are made side by
    side.
    """
    short = tuple(sizes for sizes in borders if sizes not in long)
    apart = [(each,) for each in long] if program.device_text else [tuple(long)]
    for sizes in filter(None, (short, *apart)):
        yield replace(plan, sizes=sizes, odd=Odd(may_fall_back=True))


def is_owed(plan: CheckPlan) -> bool:
    """Return whether a proof is made however late it is: of usual runs, at sizes that take no time.

    Those under the detectors, which find races, are made at such sizes alone.
    """
    is_large = any(max(sizes.values(), default=0) > SHORT for sizes in plan.sizes)
    is_usual = replace(plan.odd, may_fall_back=False) == USUAL
    return is_usual and (plan.sanitize or not is_large)


def _on_recorded(region: Region, plan: CheckPlan, tuned: Sequence[Sizes]) -> Iterator[CheckPlan]:
    """Yield runs on the recorded calls that no trial is checked on, which are the first of each."""
    firsts = [call for one in tuned for call in region.recorded_at(one)[:1]]
    names = open_sizes(region)
    by_seed: dict[int, list[Sizes]] = {}
    for call in region.recorded:
        if call in firsts:
            continue
        sizes = {name: call.integers[name] for name in names if name in call.integers}
        alike = region.recorded_at(sizes)
        place = alike.index(call)
        by_seed.setdefault(plan.seed + (place or len(alike)), []).append(sizes)
    for seed, found in by_seed.items():
        yield replace(plan, sizes=tuple(found), seed=seed)


def _detected(
    analysis: Analysis, small: Sequence[Sizes], tuned: Sequence[Sizes]
) -> tuple[Sizes, ...]:
    """Return the sizes to run under the detectors, which are slow at large ones."""
    short = [sizes for sizes in tuned if _assignments(analysis, sizes) <= SANITIZE_ITERATIONS]
    return distinct((*small, *condition_sizes(analysis), *short))


def _on_failures(
    program: Program,
    analysis: Analysis,
    plan: CheckPlan,
    sizes: tuple[Sequence[Sizes], Sequence[Sizes], Sequence[Sizes]],
) -> Iterator[CheckPlan]:
    """Yield the proofs of a text for a device: on small grids, and where calls fail."""
    small, one, long = map(tuple, sizes)
    if not program.device_text:
        return
    yield replace(plan, sizes=small, odd=Odd(form=TextForm.SMALL_GRIDS))
    if not _runs_once(analysis, one[0]):  # else the text with marks alone meets them
        odd = Odd(failures=Failures.EACH_KIND, may_fall_back=True)
        yield replace(plan, sizes=one, odd=odd)
    if long:
        yield replace(plan, sizes=long, odd=Odd(failures=Failures.MEMORY, may_fall_back=True))


def _every_branch(program: Program, analysis: Analysis, one: Sizes) -> Odd:
    """Return what makes a text with marks run its branches, beside arrays that share memory."""
    values, way_out = _odd_values(analysis), has_way_out(program)
    once = _runs_once(analysis, one)
    failures = Failures.EACH_KIND if program.device_text else Failures.NONE
    return Odd(TextForm.MARKED, failures, values=values, takes_way_out=way_out, once=once)


def _runs_once(analysis: Analysis, sizes: Sizes) -> bool:
    """Return whether runs at some sizes take so long that each oddity is met once."""
    return _assignments(analysis, sizes) > BORDER_ITERATIONS


def _is_long(analysis: Analysis, sizes: Sizes) -> bool:
    """Return whether a run at some sizes takes a second and more."""
    return _assignments(analysis, sizes) > LONG_ITERATIONS


def long_proofs(kind: str, analysis: Analysis) -> int:
    """Return how many ways to share memory have a long proof each, where C fixes large sizes."""
    if middle_sizes(analysis) or not _runs_once(analysis, {}):
        return 0
    return len(_overlaps(kind, analysis, {}))


def takes_long(plan: CheckPlan, analysis: Analysis) -> bool:
    """Return if runs take a proof's time, and no compiler: by assignments and arrays' bytes."""
    if plan.sanitize:
        # Short enough not to be left out: a race is what other runs least show.
        return False
    if plan.odd.once:
        return True
    cases = max(1, len(plan.odd.overlaps)) * len(plan.odd.values) + FAILING_RUNS[plan.odd.failures]
    cases *= DETECTOR_SLOWER if plan.races else 1
    if cases * sum(_assignments(analysis, sizes) for sizes in plan.sizes) > LONG_ITERATIONS:
        return True
    return cases * sum(_array_bytes(analysis, sizes) for sizes in plan.sizes) > LONG_BYTES


def _array_bytes(analysis: Analysis, sizes: Sizes) -> int:
    values = known_values(analysis.region, sizes)
    return sum(buffer.size_bytes for buffer in buffers_of(analysis, values))


def words_of_proof(plan: CheckPlan) -> str:
    """Return in words what a proof shows of a text."""
    odd = plan.odd
    values = f"on {' and '.join(value for value in odd.values if value is not Values.USUAL)}"
    if odd.form is TextForm.MARKED:
        return "in each of its branches" + (f" also {values}" if odd.values else "")
    if odd.form is not TextForm.AS_IS:
        return {
            TextForm.SMALL_GRIDS: "with grids of a few blocks",
            TextForm.NEAR_LIMITS: "near the limits of its types",
        }[odd.form]
    if odd.overlaps:
        return "where arrays share memory"
    if odd.failures:
        return "where calls of the CUDA library fail"
    if odd.is_narrow:
        return "with no more of the arrays than is touched"
    if odd.values != (Values.USUAL,):
        return values
    if plan.sanitize or plan.races:
        return "under the detectors"
    if plan.seed != SEED:
        return "on further recorded calls"
    if odd.takes_way_out:
        return "as the nest as written that it falls back to"
    return f"at {SHORT + 1} and more iterations" if not is_owed(plan) else "at other sizes"


NEAR_LIMITS_ITERATIONS = 3_000_000
"""How many assignments a run near a limit may make."""


def near_limits(texts: Iterable[str], analysis: Analysis) -> tuple[Mapping[str, int], ...]:
    """Return sizes of which one is at a limit of `texts` `with_near_limits`, or one more."""
    names = open_sizes(analysis.region)
    found = []
    for name, limit in dict.fromkeys(nearer_limits(texts)):
        for size in (limit, limit + 1) if name in names else ():
            sizes = fulfilling(analysis, {**dict.fromkeys(names, 1), name: size})
            if is_possible(analysis, sizes, NEAR_LIMITS_ITERATIONS):
                found.append(sizes)
    return tuple(found)


def _on_shared_memory(
    program: Program,
    analysis: Analysis,
    plan: CheckPlan,
    sizes: Sequence[Sizes],
    shared: tuple[Overlap, ...],
    tuned: Sequence[Sizes],
) -> Iterator[CheckPlan]:
    """Yield the proofs in which arrays share memory, at the first of `sizes`, and long ones."""
    one, *long = sizes
    races = replace(plan, races=True)
    once = _runs_once(analysis, one)
    for each in [(overlap,) for overlap in shared] if once else [shared]:
        yield replace(races, sizes=(one,), odd=Odd(overlaps=each, may_fall_back=True, once=once))
    if long:
        # Past 16 bits in one of the arrays at least.
        halves = tuple(overlap for overlap in shared if overlap.shared == 1)
        yield replace(plan, sizes=tuple(long), odd=Odd(overlaps=halves, may_fall_back=True))
    for place in (s for s in tuned if s != one):
        # What is written for these sizes alone asks nothing at others.
        found = overlaps(analysis, place, has_inputs=program.kind in FOR_DEVICES)
        if found and _assignments(analysis, place) * len(found) <= BORDER_ITERATIONS:
            yield replace(plan, sizes=(place,), odd=Odd(overlaps=found, may_fall_back=True))
    for overlap in shared:
        others = tuple(_other_way_round(analysis, overlap, one)) if overlap.shared == ENDING else ()
        if others:
            ends = (replace(overlap, shared=WHOLE), overlap)
            yield replace(races, sizes=others, odd=Odd(overlaps=ends, may_fall_back=True))


def _overlaps(kind: str, analysis: Analysis, sizes: Sizes) -> tuple[Overlap, ...]:
    """Return the ways to share memory that a text must stand at `sizes`.

    Of runs that take long, as where C fixes large sizes, only those with one element in common:
    both orders of two arrays ask for each half of a test.
    """
    # A device's data region alone asks whether what is only read is there in part.
    found = overlaps(analysis, sizes, has_inputs=kind in FOR_DEVICES)
    assignments = _assignments(analysis, sizes) * len(found)
    return tuple(o for o in found if assignments <= DETECT_AT_MOST or o.shared == 1)


def _assignments(analysis: Analysis, sizes: Sizes) -> int:
    return iterations(analysis.region.nest, known_values(analysis.region, sizes))


def _other_way_round(analysis: Analysis, overlap: Overlap, sizes: Sizes) -> Iterator[Sizes]:
    """Yield small sizes, if any, at which the other one of two arrays is longer than at `sizes`.

    Of two that are equally long there the first ones at which they are not.
    """
    missing = {overlap.first, overlap.second} - {_longer(analysis, overlap, sizes)}
    for other in small_sizes(analysis):
        longer = _longer(analysis, overlap, other)
        if longer in missing:
            missing.remove(longer)
            yield other
        if not missing:
            return


def _longer(analysis: Analysis, overlap: Overlap, sizes: Sizes) -> str:
    """Return which of two arrays has more bytes, empty for none."""
    values = known_values(analysis.region, sizes)
    found = {buffer.name: buffer.size_bytes for buffer in buffers_of(analysis, values)}
    first, second = found[overlap.first], found[overlap.second]
    return "" if first == second else overlap.first if first > second else overlap.second


def _on_other_values(
    program: Program, analysis: Analysis, plan: CheckPlan, small: Sequence[Sizes], at_last: int
) -> Iterator[CheckPlan]:
    """Yield the proofs on values other than the usual ones.

    At the last sizes of `plan`, so many of them as `at_last` says, the text with marks meets all
    but equal ones as well: what takes long is not done twice.
    """
    odd = _odd_values(analysis)
    marked = plan.sizes[-at_last:]
    # What one order of threads makes of two zeros another need not.
    races = replace(plan, races=not program.device_text)
    for sizes in _by_length(analysis, distinct((*small, *plan.sizes))):
        # What the order of threads changes shows on usual values.
        once = bool(program.device_text) and _is_long(analysis, sizes[0])
        yield replace(plan, sizes=sizes, odd=Odd(values=(Values.EQUAL,), once=once))
        if once and sizes[0] in marked:
            continue
        if set(SPECIAL) <= set(odd):
            yield replace(races, sizes=sizes, odd=Odd(values=tuple(SPECIAL)))
        if Values.ZEROS in odd:
            yield replace(plan, sizes=sizes, odd=Odd(values=ZERO_VALUES))


def _by_length(analysis: Analysis, every: Sequence[Sizes]) -> Iterator[tuple[Sizes, ...]]:
    """Yield sizes together, and each of those apart at which runs take long."""
    short = tuple(sizes for sizes in every if not _runs_once(analysis, sizes))
    if short:
        yield short
    yield from ((sizes,) for sizes in every if sizes not in short)


def _odd_values(analysis: Analysis) -> tuple[Values, ...]:
    """Return the values beside numbers that a region bears, and of which C says what it makes."""
    special = tuple(SPECIAL) if bears_special(analysis.region) else ()
    return (*special, *ZERO_VALUES) if bears_zeros(analysis) else special
