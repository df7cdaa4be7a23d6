"""The table of strategies: each makes choices for a kernel of its kind, or says why it does not.

`direct` suits every nest and is always there. A further strategy is a module with a function
that returns its choices for a unit, the best first, and a row here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from annotune.decide import gemm, two_level
from annotune.decide.movements import variants
from annotune.decide.plan import KernelChoice, Reason
from annotune.decide.units import Unit

Alternatives = tuple[KernelChoice, ...] | str


@dataclass(frozen=True, slots=True)
class Strategy:
    """A way to map some kernels onto a GPU.

    `alternatives` returns its choices for a unit, the best first, or in words why it has none.
    """

    name: str
    meaning: str
    alternatives: Callable[[Unit], Alternatives]


AUTO, DIRECT = "auto", "direct"
_ROWS = (
    Strategy(
        "two-level",
        "a tile of a contraction's output per block, a smaller one in registers",
        two_level.alternatives,
    ),
    Strategy(
        "gemm",
        "the same with one loop of an input split among blocks, threads and registers",
        gemm.alternatives,
    ),
)
STRATEGIES = {row.name: row for row in _ROWS}
STRATEGY_NAMES = (AUTO, DIRECT, *STRATEGIES)


def made(unit: Unit, wanted: str = AUTO) -> tuple[KernelChoice, ...]:
    """Return what the strategies make of a unit besides `direct`, the best first.

    `wanted` is one of `STRATEGY_NAMES`.
    """
    out: list[KernelChoice] = []
    for row in _wanted(wanted):
        found = row.alternatives(unit)
        out += () if isinstance(found, str) else found
    return (*out, *(other for choice in out for other in variants(unit, choice)))


def with_why_not(unit: Unit, choice: KernelChoice, wanted: str) -> KernelChoice:
    """Return a choice of `direct` with the reasons for which no other strategy was taken."""
    names: dict[str, list[str]] = {}
    for row in _wanted(wanted):
        found = row.alternatives(unit)
        if isinstance(found, str):
            names.setdefault(found, []).append(row.name)
    reasons = [
        Reason("strategy", DIRECT, f"{_listed(rows)} not apply: {why}")
        for why, rows in names.items()
    ]
    return replace(choice, reasons=(*reasons, *choice.reasons))


def _listed(names: Sequence[str]) -> str:
    """Return names as the subject of a sentence, and its "do"."""
    if len(names) == 1:
        return f"{names[0]} does"
    return f"{', '.join(names[:-1])} and {names[-1]} do"


def _wanted(wanted: str) -> Iterator[Strategy]:
    for row in _ROWS:
        if wanted in (AUTO, row.name):
            yield row
