"""What is told of hints that no target follows: which of their numbers, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from annotune.analysis.facts import Analysis
from annotune.annotation.spec import LoopWish, WishKind
from annotune.diagnostics import Diagnostic
from annotune.frozen import dataclass
from annotune.ir.nest import Loop
from annotune.schedule.candidate import Candidate
from annotune.schedule.messages import HINT_UNUSED
from annotune.schedule.units import Unit
from annotune.strategies.core_blocks import hinted_blocks, leaders
from annotune.strategies.direct import choose, unrolls
from annotune.strategies.hints import asked_loop, hints, why_not_threads, why_not_tile
from annotune.strategies.openmp import cpu_units


@dataclass(frozen=True)
class _HintedLoop:
    """A hint's loop, with the kernels of a GPU around it and those of a CPU's cores."""

    loop: Loop
    kernels: tuple[tuple[Unit, Candidate], ...]
    cores: tuple[Unit, ...]

    @cached_property
    def on_cores(self) -> frozenset[int]:
        """The rows and lanes of the loop that a core's block has."""
        blocks = [
            block
            for unit in self.cores
            for statement in leaders(unit)
            if any(loop is self.loop for loop in unit.analysis.paths[statement])
            for block in hinted_blocks(unit, statement)
        ]
        pairs = [pair for b in blocks for pair in ((b.over, b.rows), (b.along, b.lanes))]
        return frozenset(number for name, number in pairs if name == self.loop.var)

    @cached_property
    def unrolled(self) -> tuple[frozenset[int] | None, ...]:
        """The factors by which each kernel may unroll the loop, None where it does not."""
        found: list[frozenset[int] | None] = []
        for unit, choice in self.kernels:
            kept = {(statement, name) for statement, name, _ in choice.unroll}
            factors = (
                frozenset(values)
                for statement, name, values in unrolls(unit)
                if unit.analysis.paths[statement][-1] is self.loop and (statement, name) in kept
            )
            found.append(next(factors, None))
        return tuple(found)


def unused_hints(analysis: Analysis, nests: Sequence[Unit]) -> Iterator[Diagnostic]:
    """Yield a note for the numbers of each hint that neither a GPU nor a CPU follows.

    `nests` are the kernels of the first choice, before any hint.
    """
    wishes = analysis.region.spec.wishes
    cores = cpu_units(analysis) if wishes else ()
    for wish in wishes:
        facts = asked_loop(analysis, wish)
        if facts is None:
            continue
        own = [u for u in nests if any(h.wish is wish for h in hints(u, wish.kind))]
        kernels = tuple((unit, choose(unit)) for unit in own)
        asked = _HintedLoop(facts.loop, kernels, cores)
        for what, numbers, why_not in _parts(wish, asked):
            found: dict[str, list[int]] = {}
            for number in numbers:
                why = "" if number == 1 else why_not(asked, number)
                if why:
                    found.setdefault(why, []).append(number)
            for why, unused in found.items():
                yield HINT_UNUSED.at(wish.span, what=what, numbers=_listed(unused), why=why)


def _listed(numbers: Sequence[int]) -> str:
    """Return numbers in words, those of a row without a gap by its ends: ``2, 5 to 9``."""
    ordered = sorted(numbers)
    runs: list[list[int]] = []
    for number in ordered:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    words = (f"{r[0]} to {r[-1]}" if len(r) > 2 else ", ".join(map(str, r)) for r in runs)
    return ", ".join(words)


_WhyNot = Callable[[_HintedLoop, int], str]


def _parts(wish: LoopWish, asked: _HintedLoop) -> Iterator[tuple[str, tuple[int, ...], _WhyNot]]:
    name = asked.loop.var
    match wish.kind:
        case WishKind.UNROLL:
            yield f"unrolling '{name}' by", wish.factors, _why_not_unrolled
        case WishKind.TILE:
            yield f"tiles of '{name}' of", wish.factors, _why_not_tiled
        case WishKind.PARALLEL:
            yield "threads per block:", wish.threads, _why_not_threads
            yield "at most so many blocks:", wish.blocks, _why_not_blocks


def _why_not_unrolled(asked: _HintedLoop, factor: int) -> str:
    if factor in asked.on_cores:
        return ""
    pairs = zip(asked.kernels, asked.unrolled, strict=True)
    return _in_none(
        _why_not_in_kernel(unit, choice, asked.loop, factors, factor)
        for (unit, choice), factors in pairs
    )


def _in_none(whys: Iterable[str]) -> str:
    """Return the last reason why kernels do not follow a number, empty where one of them does."""
    why = "the loop is in no kernel"
    for why in whys:
        if not why:
            return ""
    return why


def _why_not_in_kernel(
    unit: Unit, choice: Candidate, loop: Loop, factors: frozenset[int] | None, factor: int
) -> str:
    if factors is not None:
        trip = unit.count(loop)
        return "" if factor in factors else f"its {trip} iterations are no multiple"
    if loop.var in {*choice.blocks, *choice.threads, *(name for _, name in choice.team)}:
        return "its iterations run in parallel"
    if any(isinstance(stmt, Loop) for stmt in loop.body):
        return "only an innermost loop is unrolled, or one that gives registers rows"
    if unit.count(loop) is None:
        return "how often it runs is not known"
    return "the kernel has no such serial loop"


def _why_not_tiled(asked: _HintedLoop, size: int) -> str:
    if size in asked.on_cores:
        return ""
    loop = asked.loop.var
    return _in_none(why_not_tile(unit, choice, loop, size) for unit, choice in asked.kernels)


def _why_not_threads(asked: _HintedLoop, threads: int) -> str:
    return _in_none(why_not_threads(unit, choice, threads) for unit, choice in asked.kernels)


def _why_not_blocks(asked: _HintedLoop, _blocks: int) -> str:
    has_blocks = any(choice.blocks for _, choice in asked.kernels)
    tiled = any(h.wish.threads for unit, _ in asked.kernels for h in hints(unit, WishKind.PARALLEL))
    return "" if has_blocks or tiled else "the kernel has one block"
