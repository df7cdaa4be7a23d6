"""An axis is inert where points that differ in it alone always have one text."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, product

from hypothesis import given
from hypothesis import strategies as st

from annotune.tune.inert import inert_axes
from annotune.tune.search.points import Points

AXES = {"a": (1, 2, 3), "b": ("x", "y"), "c": (0, 1)}
POINTS = Points(tuple(dict(zip(AXES, v, strict=True)) for v in product(*AXES.values())))


def _texts(*heeded: str) -> dict[int, str]:
    return {n: str([config[name] for name in heeded]) for n, config in enumerate(POINTS.configs)}


def test_what_changes_no_text_is_inert() -> None:
    assert inert_axes(POINTS, _texts("a", "c")) == ("b",)
    assert inert_axes(POINTS, _texts("a", "b", "c")) == ()
    assert inert_axes(POINTS, _texts()) == ("a", "b", "c")


def test_one_pair_of_different_texts_is_enough() -> None:
    texts = _texts("a", "c")
    texts[0] = "other"
    assert inert_axes(POINTS, texts) == ()


def test_nothing_is_said_without_a_pair() -> None:
    assert inert_axes(POINTS, {}) == ()
    assert inert_axes(POINTS, {0: "t"}) == ()
    # These two differ in all axes.
    assert inert_axes(POINTS, {0: "t", 11: "t"}) == ()


@given(
    st.sets(st.sampled_from(list(AXES))),
    st.sets(st.integers(0, len(POINTS) - 1)),
    st.permutations(range(len(POINTS))),
)
def test_the_definition(heeded: set[str], tried: set[int], order: list[int]) -> None:
    """The pairs themselves say the same, in whatever order points were tried."""
    every = _texts(*sorted(heeded))
    texts = {n: every[n] for n in order if n in tried}
    expected = []
    for name in AXES:
        pairs = [
            (one, other)
            for one, other in combinations(sorted(tried), 2)
            if _differ(POINTS.configs[one], POINTS.configs[other]) == {name}
        ]
        if pairs and all(texts[one] == texts[other] for one, other in pairs):
            expected.append(name)
    assert inert_axes(POINTS, texts) == tuple(expected)


@given(st.sets(st.sampled_from(list(AXES))), st.sets(st.integers(0, len(POINTS) - 1)))
def test_what_a_text_depends_on_is_never_inert_once_seen(heeded: set[str], tried: set[int]) -> None:
    every = _texts(*sorted(heeded))
    found = inert_axes(POINTS, {n: every[n] for n in tried})
    assert not heeded & set(found)


def _differ(one: Mapping[str, object], other: Mapping[str, object]) -> set[str]:
    return {name for name in one if one[name] != other[name]}
