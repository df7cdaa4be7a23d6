"""Which formulations a run takes for which targets, by what each is to cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

from hypothesis import example, given
from hypothesis import strategies as st

from annotune.formulated import PROMISING, Looked, promising
from annotune.tensor.translate import USUAL


@dataclass(frozen=True)
class Priced:
    """Stands for a formulation: what it is to cost each target, None where nobody says so."""

    name: str
    costs: Mapping[str, float | None]

    def cost(self, target: Any) -> float | None:
        return self.costs[target.name]


TARGETS = ("cuda", "openmp")
COSTS = st.fixed_dictionaries({name: st.none() | st.integers(1, 12).map(float) for name in TARGETS})


def _costing(*costs: float | None) -> list[Mapping[str, float | None]]:
    return [dict.fromkeys(TARGETS, cost) for cost in costs]


@example(_costing(None, 1.0, 3.0), 3)
@example(_costing(9.0, 4.0, 7.0), 3)
@given(st.lists(COSTS, min_size=1, max_size=6), st.integers(1, 6))
def test_the_promising_ones_are_tuned_for_what_they_cost_little(
    costs: Sequence[Mapping[str, float | None]], count: int
) -> None:
    names = [USUAL, *(f"f{n}" for n in range(1, len(costs)))]
    looked = [Priced(name, own) for name, own in zip(names, costs, strict=True)]
    targets = cast(Any, [SimpleNamespace(name=name) for name in TARGETS])
    (usual, all_targets), *others = promising(cast("list[Looked]", looked), targets, count)
    assert (usual.name, all_targets) == (USUAL, targets)
    assert len(others) < count
    assert len({one.name for one, _ in others}) == len(others)
    for one, own in others:
        assert own
        for target in targets:
            limit, cost = usual.cost(target), one.cost(target)
            known = [c for other in looked[1:] if (c := other.cost(target)) is not None]
            is_good = cost is not None and cost <= PROMISING * min(known)
            is_good = is_good and (limit is None or cost is None or cost < limit)
            assert (target in own) == is_good
    # Whoever is to cost least of all is among them, as far as so many are taken.
    if count > len(TARGETS):
        for target in targets:
            known = [c for other in looked[1:] if (c := other.cost(target)) is not None]
            limit = usual.cost(target)
            if known and (limit is None or min(known) < limit):
                assert any(one.cost(target) == min(known) for one, own in others if target in own)
