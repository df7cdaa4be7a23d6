"""A region tuned at each of its problem sizes in turn, and the one text that serves them all."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from annotune.codegen.several_sizes import combined, sizes_text
from annotune.codegen.target import RegionCode, Target
from annotune.diagnostics import AnnotuneError
from annotune.measure.plan import proofs
from annotune.measure.sizes import awkward_sizes, open_sizes
from annotune.measure.trial import Trial
from annotune.space.variants import Variant
from annotune.tune.bench import Bench, Listener, program_of
from annotune.tune.ending import NEVER, Stop
from annotune.tune.region_run import Tuned

Sizes = Mapping[str, int]


@dataclass(frozen=True)
class AtSize:
    """What came of a region at one of its problem sizes, and the bench that it was tuned on."""

    bench: Bench
    tuned: Tuned

    @property
    def sizes(self) -> Sizes:
        """Return the sizes of a call that was tuned."""
        return self.bench.sizes[0]


def shares(budget: int, parts: int) -> tuple[int, ...]:
    """Return a budget in `parts` as even as can be, the larger ones first and none of them 0."""
    each, rest = divmod(budget, parts)
    return tuple(max(1, each + (number < rest)) for number in range(parts))


class Clock:
    """Shares the time of a run among parts, evenly; what one leaves over goes to those after it.

    A part that takes longer than its share shortens none of the others.
    """

    def __init__(self, limit_s: float, parts: int) -> None:
        self._end = time.monotonic() + limit_s
        self._least_s = limit_s / parts
        self._left = parts

    def next_s(self) -> float:
        """Return the seconds that the next part may take."""
        rest_s = (self._end - time.monotonic()) / self._left
        self._left -= 1
        return max(self._least_s, rest_s)


@dataclass(frozen=True)
class SizeListener:
    """Tells a listener of stages at one of several problem sizes."""

    inner: Listener
    sizes: str

    def stage(self, text: str, total: int, least_s: float = 0.0) -> None:
        """Pass a stage on with the sizes."""
        self.inner.stage(f"{text} for {self.sizes}", total, least_s)

    def trial(self, trial: Trial) -> None:
        """Pass a trial on."""
        self.inner.trial(trial)


def tune_each(
    names: Sequence[str],
    at_size: Callable[[int, int, float], AtSize],
    budget: int,
    clock: Clock,
    targets: Sequence[Target],
    stop: Stop = NEVER,
) -> Tuned:
    """Return a region tuned at each of its sizes, which `names` call.

    `at_size` tunes one of them, by its number, with a share of the budget and of the seconds. After
    `stop` no other than the first is begun.

    Raises:
        AnnotuneError: The region cannot be tuned at the first of them.
    """
    parts: list[AtSize] = []
    refused: list[str] = []
    for number, (name, share) in enumerate(zip(names, shares(budget, len(names)), strict=True)):
        if number and stop.is_set:
            refused.append(f"not tuned for {name}: the run was ended early")
            continue
        try:
            parts.append(at_size(number, share, clock.next_s()))
        except AnnotuneError as refusal:
            if not number:
                raise
            refused.append(f"not tuned for {name}: {refusal.diagnostics[0].message}")
    found = together(parts, targets)
    return replace(found, warnings=(*refused, *found.warnings))


def together(parts: Sequence[AtSize], targets: Sequence[Target]) -> Tuned:
    """Return a region with one text per target, made of the winners at each of its sizes.

    The text is checked at all sizes, and at awkward ones that are none of them. Where it does not
    pass, that of the first winner takes its place, which has passed before.
    """
    first, *others = (part.tuned for part in parts)
    if not others:
        return first
    codes: dict[str, RegionCode] = {}
    variants: dict[str, Variant] = {}
    warnings: list[str] = []
    right: list[list[Sizes]] = []
    for target in targets:
        name = target.name
        won = [part for part in parts if name in part.tuned.variants]
        if not won:
            continue
        one = combined([_checkable(part.tuned.variants[name]) for part in won])
        code = target.region(one, resident=False)
        checked, problem = _checked(parts, won, target, one, code)
        if problem:
            best = won[0].tuned
            place = f"{name} is tuned for {sizes_text(won[0].sizes)} alone"
            warnings.append(f"{place}: the text for several sizes fails its check: {problem}")
            one, code = best.variants[name], best.codes[name]
        codes[name], variants[name] = code, one
        right.append(checked)
    own = parts[0].sizes
    everywhere = right[0] if right else []
    result = replace(
        first.result,
        by_size=tuple(other.result for other in others),
        sizes_checked=tuple(s for s in everywhere if s != own and all(s in r for r in right)),
    )
    own_words = dict.fromkeys(words for part in parts for words in part.tuned.warnings)
    said = (*own_words, *warnings)
    return replace(first, result=result, codes=codes, variants=variants, warnings=said)


def _checkable(variant: Variant) -> Variant:
    """Return a variant without the plan for open sizes where no run of it is short enough."""
    return variant if _beside(variant) else replace(variant, partly=None)


def _beside(variant: Variant) -> tuple[Sizes, ...]:
    """Return awkward sizes at which the plan runs that fixes nothing but the listed sizes."""
    if variant.partly is None:
        return ()
    analysis, fixed = variant.analysis, variant.partly.constants
    listed = {name: fixed[name] for name in open_sizes(analysis.region) if name in fixed}
    return awkward_sizes(analysis, fixed=listed)


def _checked(
    parts: Sequence[AtSize],
    won: Sequence[AtSize],
    target: Target,
    variant: Variant,
    code: RegionCode,
) -> tuple[list[Sizes], str]:
    """Return the problem sizes at which a text does as the original, or what it does wrong.

    It runs under the detectors first, at awkward sizes of which some are none of those it is tuned
    for, and others are so in part. Each size for which there are kernels has the bench at which
    these must run.
    """
    bench = parts[0].bench
    program = program_of(target, target.kind, variant, code)
    plan = replace(bench.plan(False), device_name="", environ={})
    arch = bench.arch if code.device else ""
    beside = [sizes for one in variant.by_size if variant.others for sizes in _beside(one)]
    awkward = (*bench.awkward, *beside) or bench.sizes
    for strict in proofs(program, bench.checker.oracle.analysis, plan, awkward):
        trial = bench.checker.check(program, replace(strict, arch=arch))
        if trial.is_wrong:
            return [], _first_line(trial)
    runs = [(part.bench.checker, part.sizes) for part in won]
    runs += [(bench.checker, part.sizes) for part in parts if part not in won]
    runs += [(bench.checker, sizes) for sizes in bench.others]
    right: list[Sizes] = []
    for checker, sizes in runs:
        trial = checker.check(program, replace(plan, sizes=(sizes,)))
        if trial.verified:
            right.append(sizes)
        elif trial.is_wrong:
            return [], _first_line(trial)
    return right, ""


def _first_line(trial: Trial) -> str:
    return f"{trial.status}: {trial.reason}".partition("\n")[0]
