"""The mutation score as text: by kind and by target, and what passed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from mutation.judge import Fate, Judged
from mutation.operators import KINDS
from mutation.subjects import TARGETS

_COLUMNS = ("made", "compiled", "equal", "not run", "turned down", "passed", "score")


def score(found: Sequence[Judged]) -> float:
    """Return the share of what was turned down among the mutants that compile and are not equal.

    What lies where no run has been is not turned down, though a user is told of the place.
    """
    down = sum(one.fate is Fate.TURNED_DOWN for one in found)
    passed = sum(one.fate in (Fate.PASSED, Fate.NOT_RUN) for one in found)
    return down / (down + passed) if down + passed else 1.0


def table(found: Sequence[Judged]) -> str:
    """Return the scores by kind, by target, and of all."""
    lines = [f"{'':16}" + "".join(f"{name:>13}" for name in _COLUMNS)]
    lines += _rows(found, KINDS, lambda one: one.mutant.edit.kind)
    lines.append("")
    lines += _rows(found, TARGETS, lambda one: one.mutant.subject.target)
    return "\n".join([*lines, "", _row("all", found)])


def _rows(
    found: Sequence[Judged], names: Iterable[str], name_of: Callable[[Judged], str]
) -> list[str]:
    return [_row(name, [one for one in found if name_of(one) == name]) for name in names]


def _row(name: str, found: Sequence[Judged]) -> str:
    count = {fate: sum(one.fate is fate for one in found) for fate in Fate}
    made, compiled = len(found), len(found) - count[Fate.NOT_COMPILED]
    ends = (Fate.EQUAL, Fate.NOT_RUN, Fate.TURNED_DOWN, Fate.PASSED)
    figures = (made, compiled, *(count[fate] for fate in ends))
    return f"{name:16}" + "".join(f"{n:13}" for n in figures) + f"{score(found):13.1%}"


def survivors(found: Sequence[Judged]) -> list[str]:
    """Return a line for each mutant that passed, or that lies where no run has been."""
    missed = (one for one in found if one.fate in (Fate.PASSED, Fate.NOT_RUN))
    return [f"{one.mutant.edit.kind}: {one.mutant.name}" for one in missed]
