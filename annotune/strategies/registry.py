"""The table of strategies: each makes choices for a kernel of its kind, or says why it does not.

`direct` suits every nest and is always there. A further strategy is a module with a function
that returns its choices for a unit, the best first, and a row here. Its choices are points of the
space; they come before those of `direct` where `why_later` has nothing against it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, replace
from functools import cached_property, partial

from annotune import plugins
from annotune.frozen import dataclass
from annotune.model.shape import traffic
from annotune.schedule.candidate import Candidate, Moves, Reason
from annotune.schedule.units import Unit
from annotune.strategies.accumulate import accumulate
from annotune.strategies.batched import batched, why_batched_later
from annotune.strategies.direct import choose
from annotune.strategies.elements import elements
from annotune.strategies.gpu_tile import gemm, two_level
from annotune.strategies.movements import unmade_variants, usual, variants, with_peeled
from annotune.strategies.pointwise import elementwise, fills_more, stencil
from annotune.strategies.reduction import reduction, why_reduced_later
from annotune.transforms.transform import Transform

Alternatives = tuple[Candidate, ...] | str


def always_first(unit: Unit, first: Candidate) -> str:
    """Return nothing: where the strategy applies, its choice is tried before `direct`."""
    return ""


def unless_asked(unit: Unit, first: Candidate) -> str:
    """Return why a strategy waits: the user's hints are for the launch of another."""
    is_asked = bool(unit.analysis.region.spec.wishes)
    return "a transformation gives hints for the launch" if is_asked else ""


def unless_less_traffic(unit: Unit, first: Candidate) -> str:
    """Return why a strategy waits: memory has not less to do than under `direct`."""
    if asked := unless_asked(unit, first):
        return asked
    own, its = traffic(unit, first), traffic(unit, choose(unit))
    return "" if own.is_less(its) else f"memory has not less to do: {own}; of direct {its}"


def unless_fuller(unit: Unit, first: Candidate) -> str:
    """Return why a strategy waits: its loops as one, if they are, fill no more lanes either."""
    is_free = first.merges and not unit.analysis.region.spec.wishes
    if is_free and fills_more(unit, first, choose(unit)):
        return ""
    return unless_less_traffic(unit, first)


@dataclass(frozen=True, slots=True)
class Strategy:
    """A way to map some kernels onto a GPU.

    `alternatives` returns its choices for a unit, the best first, or in words why it has none.
    `why_later` returns why the best of them comes after the choice of `direct`, empty if before.
    """

    name: str
    meaning: str
    alternatives: Callable[[Unit], Alternatives]
    why_later: Callable[[Unit, Candidate], str] = always_first


AUTO, DIRECT, ELEMENTS, ACCUMULATE = "auto", "direct", "elements", "accumulate"
_ROWS = (
    Strategy(
        "two-level",
        "a tile of a contraction's output per block, a smaller one in registers",
        two_level,
    ),
    Strategy(
        "gemm",
        "the same with one loop of an input split among blocks, threads and registers",
        gemm,
    ),
    Strategy(
        ACCUMULATE,
        "neighbouring statements that add to one output, which stays in registers",
        accumulate,
    ),
    Strategy(
        "batched",
        "small products, several of them to a block",
        batched,
        why_batched_later,
    ),
    Strategy(
        "stencil",
        "tiles whose rows share what they read around each point",
        stencil,
        unless_less_traffic,
    ),
    Strategy(
        "elementwise",
        "neighbouring threads on neighbouring elements, in full blocks",
        elementwise,
        unless_fuller,
    ),
    Strategy(
        "reduction",
        "threads share the terms of a sum",
        reduction,
        why_reduced_later,
    ),
    Strategy(
        ELEMENTS,
        "a block for each iteration whose nests talk through its own arrays",
        elements,
        unless_asked,
    ),
)
STRATEGIES = {row.name: row for row in _ROWS}
STRATEGY_NAMES = (AUTO, DIRECT, *STRATEGIES)


def rows() -> tuple[Strategy, ...]:
    """Return the strategies beside `direct`, those of other packages last."""
    return (*_ROWS, *plugins.loaded(plugins.STRATEGIES).values())


@dataclass(frozen=True)
class Proposals:
    """What the strategies make of a unit besides `direct`: before its choices, and after them.

    The `leading` ones come first; `others` lists those between them and `direct`, which are many
    and not looked at before somebody asks for more than the first choice. Where they can be counted
    without that, `count` does.
    """

    leading: tuple[Candidate, ...] = ()
    after_direct: tuple[Candidate, ...] = ()
    others: Callable[[], Iterable[Candidate]] = field(default=tuple, compare=False)
    count: Callable[[], int] | None = field(default=None, compare=False)

    @cached_property
    def first(self) -> tuple[Candidate, ...]:
        """Return all that comes before the choices of `direct`."""
        return (*self.leading, *self.others())

    def __len__(self) -> int:
        return self._length

    @cached_property
    def _length(self) -> int:
        own = len(self.leading) + len(self.after_direct)
        others = len(self.first) - len(self.leading) if self.count is None else self.count()
        return own + others

    def without(self, kind: type[Transform]) -> Proposals:
        """Return the choices that have no step of a kind."""

        def kept(some: Iterable[Candidate]) -> tuple[Candidate, ...]:
            return tuple(one for one in some if not one.of(kind))

        return Proposals(kept(self.leading), kept(self.after_direct), lambda: kept(self.others()))

    def moving(self, moves: Moves) -> Proposals:
        """Return the choices whose data move in one way."""
        first, later = (
            tuple(one for one in some if one.moves == moves)
            for some in (self.first, self.after_direct)
        )
        return Proposals(first, later)


def made(unit: Unit, wanted: str = AUTO) -> Proposals:
    """Return what the strategies make of a unit; `wanted` is one of `STRATEGY_NAMES`.

    A strategy that somebody asks for by its name comes first in any case.
    """
    first: list[Candidate] = []
    later: list[Candidate] = []
    peeled: list[Candidate] = []
    for row in _wanted(unit, wanted):
        found = row.alternatives(unit)
        if isinstance(found, str) or not found:
            continue
        found = tuple(replace(one, origin=row.name) for one in found)
        waits = wanted == AUTO and row.why_later(unit, found[0])
        (later if waits else first).extend(found)
        # One point for each strategy: where its own choice gains nothing by it, none does.
        apart = with_peeled(unit, found[0] if waits else usual(unit, found[0]))
        peeled += [] if apart is None else [apart]
    leading = tuple(usual(unit, choice) for choice in first)
    given = unit, first, leading
    return Proposals(
        leading, (*later, *peeled), partial(_moved, *given), partial(_moved_count, *given)
    )


def _moved(
    unit: Unit, choices: Sequence[Candidate], leading: Sequence[Candidate]
) -> Iterator[Candidate]:
    """Yield choices with their data moved in every way, those that lead left out."""
    moved = (other for choice in choices for other in (choice, *variants(unit, choice)))
    return (other for other in moved if other not in leading)


def _moved_count(unit: Unit, choices: Sequence[Candidate], leading: Sequence[Candidate]) -> int:
    """Return how many choices `_moved` yields, none of which need be made for most."""
    known = {one.moves for one in leading}
    return sum(choice not in leading for choice in choices) + sum(
        moves not in known or make() not in leading
        for choice in choices
        for moves, make in unmade_variants(unit, choice)
    )


def why_not(unit: Unit, wanted: str) -> tuple[Reason, ...]:
    """Return the reasons for which `direct` was taken for a unit, and no other strategy."""
    able, absent = _considered(unit, wanted)
    later = (f"{row.name} comes later: {row.why_later(unit, first)}" for row, first in able)
    return tuple(Reason("strategy", DIRECT, why) for why in (*absent, *later))


def others(unit: Unit, choice: Candidate, wanted: str) -> tuple[str, ...]:
    """Return a sentence for each strategy beside that of `choice`: why not, or that it may do."""
    taken = next((reason.decision for reason in choice.reasons if reason.subject == "strategy"), "")
    able, absent = _considered(unit, wanted)
    names = (row.name for row, _ in able if not taken.startswith(row.name))
    too = (f"{name} applies too: its choices are other points of the space" for name in names)
    return (*absent, *too)


def _considered(
    unit: Unit, wanted: str
) -> tuple[Sequence[tuple[Strategy, Candidate]], Sequence[str]]:
    """Return the strategies that apply with their best choices, and why the others do not."""
    able: list[tuple[Strategy, Candidate]] = []
    names: dict[str, list[str]] = {}
    for row in _wanted(unit, wanted):
        found = row.alternatives(unit)
        if isinstance(found, str):
            names.setdefault(found, []).append(row.name)
        elif found:
            able.append((row, found[0]))
    return able, [f"{_listed(rows)} not apply: {why}" for why, rows in names.items()]


def _listed(names: Sequence[str]) -> str:
    """Return names as the subject of a sentence, and its "do"."""
    if len(names) == 1:
        return f"{names[0]} does"
    return f"{', '.join(names[:-1])} and {names[-1]} do"


def _wanted(unit: Unit, wanted: str) -> Iterator[Strategy]:
    """Yield the strategies that somebody asks for; nests together are for one of them alone."""
    for row in rows():
        if unit.members and row.name != ELEMENTS:
            continue
        if bool(unit.joint) is not (row.name == ACCUMULATE) and wanted != row.name:
            continue
        if wanted in (AUTO, row.name):
            yield row
