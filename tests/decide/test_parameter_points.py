"""The points of a region's own parameters: what constraints leave, however few of however many."""

from __future__ import annotations

from itertools import islice, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.regions import analysis_of

from annotune.annotation.expressions import holds
from annotune.annotation.spec import Constraint, Formula
from annotune.diagnostics import AnnotuneError
from annotune.space.decision import Base
from annotune.space.space import fulfilling, region_space

NAMES = ("A", "B", "C", "D", "E", "F", "G", "H")
TEXT = """\
void f(int n, double *restrict a, const double *restrict b)
{{
    /*@ begin PerfTuning (
      def input_params {{ param n = 64; }}
      def performance_params {{ {params} {constraints} }}
    ) @*/
    for (int i = 0; i < n; i++)
        a[i] = b[i];
    /*@ end @*/
}}
"""
FORMULAS = ("A < B", "B + C == 4", "A * C > 1 or D == 0", "D != A", "n > 3", "C == 1")


def constraint(formula: str) -> Constraint:
    return Constraint(formula, Formula(formula))


@given(
    values=st.fixed_dictionaries(
        {name: st.lists(st.integers(0, 4), min_size=1, max_size=4, unique=True) for name in "ABCD"}
    ),
    formulas=st.lists(st.sampled_from(FORMULAS), unique=True),
    n=st.integers(2, 5),
)
def test_they_are_those_of_the_product_in_its_order(
    values: dict[str, list[int]], formulas: list[str], n: int
) -> None:
    whole = [dict(zip(values, point, strict=True)) for point in product(*values.values())]
    wanted = [p for p in whole if all(holds(one, {**p, "n": n}) for one in formulas)]
    some = {name: tuple(found) for name, found in values.items()}
    found = fulfilling(some, [constraint(one) for one in formulas], {"n": n})
    assert list(found) == wanted


def test_a_constraint_is_asked_after_those_before_it() -> None:
    """So that one may keep the next from a division by zero."""
    some = {"A": (0, 1, 2), "B": (0, 3), "C": (1,)}
    kept = [constraint("A * B * C > 0"), constraint("6 / A > 3")]
    assert list(fulfilling(some, kept, {})) == [{"A": 1, "B": 3, "C": 1}]


def space_of(*constraints: str) -> object:
    """Return the space of a region with 30^8 points of parameters."""
    params = " ".join(f"param {name}[] = range(1,31);" for name in NAMES)
    given_ = " ".join(f"constraint c{n} = ({one});" for n, one in enumerate(constraints))
    return region_space(Base.of(analysis_of(TEXT.format(params=params, constraints=given_))))


@pytest.mark.parametrize(
    ("constraints", "named"),
    [
        (("A > 1", "G + H > 99"), "constraint 'c1' removes"),
        (("A < B", "G > H", "H > G"), "constraints 'c1' and 'c2' together remove"),
        (("n + A > 100",), "constraint 'c0' removes"),
    ],
)
def test_an_empty_space_is_told_however_large_it_is(
    constraints: tuple[str, ...], named: str
) -> None:
    with pytest.raises(AnnotuneError) as refused:
        space_of(*constraints)
    (refusal,) = refused.value.diagnostics
    assert refusal.code == "AT302"
    assert refusal.help.startswith(named)


def test_few_points_of_many_are_found_at_once() -> None:
    values = {name: tuple(range(1, 31)) for name in NAMES}
    rare = [constraint(f"{name} == 30") for name in NAMES]
    assert list(fulfilling(values, rare, {})) == [dict.fromkeys(NAMES, 30)]
    late = [constraint("A == 30"), constraint("H == 30")]
    assert len(list(islice(fulfilling(values, late, {}), 1000))) == 1000
