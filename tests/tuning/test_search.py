"""Every search asks for legal points, none twice, and gets better than chance where order helps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotune.diagnostics import AnnotuneError, Span
from annotune.tuning.search.model_based import expected_improvement, spread
from annotune.tuning.search.names import (
    ORIO_NAMES,
    SEARCHES,
    UnknownSearch,
    make_search,
    refuse_unavailable,
    search_name,
)
from annotune.tuning.search.points import Points, Value


def _space() -> list[Mapping[str, Value]]:
    values = product([1, 2, 4, 8, 16], [1, 2, 4, 8, 16, 32], ["shared", "registers"], [0, 1])
    return [
        {"rows": rows, "lanes": lanes, "held": held, "stages": stages}
        for rows, lanes, held, stages in values
        if rows * lanes <= 64
    ]


def _time_s(config: Mapping[str, Value]) -> float:
    rows, lanes = float(config["rows"]), float(config["lanes"])
    held = 0.4 if config["held"] == "shared" else 0.0
    return 1e-3 * (1 + (log2(rows) - 2) ** 2 + 0.5 * (log2(lanes) - 3) ** 2 + held)


CONFIGS = _space()
POINTS = Points(tuple(CONFIGS))
TIMES = [_time_s(config) for config in CONFIGS]


def _asked(
    name: str, points: Points, times: list[float | None], budget: int, seed: int = 0, batch: int = 1
) -> Iterator[int]:
    search = make_search(name, points, budget, seed)
    count = 0
    while count < budget:
        found = search.ask(min(batch, budget - count))
        if not found:
            break
        count += len(found)
        yield from found
        for point in found:
            search.tell(point, times[point])
    search.close()


@pytest.mark.alike(6)
@pytest.mark.parametrize("name", SEARCHES)
def test_no_point_is_asked_for_twice_and_the_budget_is_used(name: str) -> None:
    found = list(_asked(name, POINTS, [*TIMES], 14, batch=3))
    assert len(found) == len(set(found)) == 14
    assert set(found) <= set(range(len(POINTS)))


@pytest.mark.alike(6)
@pytest.mark.parametrize("name", SEARCHES)
def test_a_seed_gives_the_same_points_again(name: str) -> None:
    first = list(_asked(name, POINTS, [*TIMES], 10, seed=3))
    assert first == list(_asked(name, POINTS, [*TIMES], 10, seed=3))


@pytest.mark.parametrize("name", SEARCHES)
def test_failures_everywhere_do_not_stop_a_search(name: str) -> None:
    found = list(_asked(name, POINTS, [None] * len(POINTS), 30, batch=2))
    assert len(found) == len(set(found)) == 30


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_ends_with_the_points(name: str) -> None:
    few = Points(tuple(CONFIGS[:7]))
    times: list[float | None] = [None if k % 3 == 1 else TIMES[k] for k in range(7)]
    assert sorted(_asked(name, few, times, 50, batch=2)) == list(range(7))


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("configs", [({},), ({"a": 1},), ({"a": "x"}, {"a": "y"})])
def test_spaces_of_one_or_two_points(name: str, configs: tuple[Mapping[str, Value], ...]) -> None:
    times: list[float | None] = [1.0] * len(configs)
    found = list(_asked(name, Points(configs), times, 5))
    assert sorted(found) == list(range(len(configs)))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["auto", "gp", "rf", "tpe", "genetic", "cma-es", "simplex"])
def test_a_smooth_space_is_learnt(name: str) -> None:
    """With a third of the space measured, the best found is the best or next to it."""
    reached = []
    for seed in range(3):
        found = list(_asked(name, POINTS, [*TIMES], 40, seed))
        reached.append(min(TIMES) / min(TIMES[p] for p in found))
    assert sorted(reached)[1] >= 0.7


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.fixed_dictionaries(
            {},
            optional={
                "u": st.integers(1, 4),
                "s": st.sampled_from("abc"),
                "t": st.sampled_from([1, 2, "none"]),
            },
        ),
        min_size=1,
        max_size=12,
    ),
    st.sampled_from([n for n in SEARCHES if n not in ("rf",)]),
    st.data(),
)
def test_any_list_of_points(
    configs: list[Mapping[str, Value]], name: str, data: st.DataObject
) -> None:
    """Axes that some points lack, values of mixed kinds and equal points are all searched."""
    one_time = st.one_of(st.none(), st.floats(1e-6, 10.0))
    times = [data.draw(one_time) for _ in configs]
    found = list(_asked(name, Points(tuple(configs)), times, len(configs)))
    assert sorted(found) == list(range(len(configs)))


@pytest.mark.slow
def test_what_is_told_without_being_asked_is_known() -> None:
    for name in SEARCHES:
        search = make_search(name, POINTS, 20)
        for point in range(10):
            search.tell(point, TIMES[point])
        asked: list[int] = []
        while len(asked) < 10 and (found := search.ask(1)):
            asked += found
            search.tell(found[0], TIMES[found[0]])
        search.close()
        assert not set(asked) & set(range(10)), name
        assert len(asked) == 10, name


def test_axes_and_neighbours() -> None:
    points = Points(
        ({"a": 4, "b": "x"}, {"a": 1, "b": "x"}, {"a": 2, "b": "x"}, {"a": 4, "b": "y"})
    )
    assert [axis.values for axis in points.axes] == [(1, 2, 4), ("x", "y")]
    assert points.neighbours(0) == (2, 3, 1)
    assert points.nearest([2, 1], np.arange(3)) == 0


def test_the_models_time_is_a_feature() -> None:
    bare = Points(tuple(CONFIGS)).features
    told = Points(tuple(CONFIGS), tuple(TIMES)).features
    assert told.shape[1] == bare.shape[1] + 1
    assert told[int(np.argmin(TIMES)), -1] == 0.0


def test_the_first_choice_and_the_models_best_come_first() -> None:
    points = Points(tuple(CONFIGS), tuple(TIMES))
    search = make_search("gp", points, 40)
    assert search.ask(2) == (0, int(np.argmin(TIMES)))


def test_auto_measures_all_where_the_budget_holds_them() -> None:
    found = list(_asked("auto", POINTS, [*TIMES], len(POINTS)))
    assert found == list(range(len(POINTS)))


def test_expected_improvement_of_a_known_normal() -> None:
    found = expected_improvement(np.array([0.0, 1.0, -1.0]), np.array([1.0, 0.0, 0.0]), 0.0)
    assert found == pytest.approx([0.3989423, 0.0, 1.0])


def test_spread_points_are_far_apart() -> None:
    line = np.linspace(0.0, 1.0, 33)[:, None]
    chosen = spread(line, [0], 3, np.random.default_rng(0))
    assert chosen[:3] == [0, 32, 16]


@pytest.mark.parametrize(("orio", "ours"), ORIO_NAMES.items())
def test_orios_names(orio: str, ours: str) -> None:
    assert search_name(orio.capitalize()) == ours


def test_an_unknown_search_names_its_neighbour() -> None:
    with pytest.raises(UnknownSearch, match=r"no search 'anealing'; did you mean 'annealing'\?"):
        search_name("anealing")


def test_a_budget_of_nothing() -> None:
    with pytest.raises(ValueError, match="budget is 0"):
        make_search("auto", POINTS, 0)


def test_predictions_of_another_length() -> None:
    with pytest.raises(ValueError, match="1 predictions for 2 points"):
        Points(({"a": 1}, {"a": 2}), (1.0,))


def test_no_point_at_all() -> None:
    with pytest.raises(ValueError, match="no point"):
        Points(())


@pytest.mark.parametrize("name", SEARCHES)
def test_what_a_search_foresees_does_not_depend_on_what_it_is_told(name: str) -> None:
    # The slowest are told to be the fastest, and nothing at all.
    tellings: tuple[Callable[[int], float | None], ...] = (
        lambda point: float(TIMES[point]),
        lambda point: 1.0 / float(TIMES[point]),
        lambda _: None,
    )
    found = []
    for told in tellings:
        search = make_search(name, POINTS, 30, seed=3)
        asked: list[int] = []
        foreseen = search.foreseen
        while len(asked) < foreseen and (more := search.ask(min(3, foreseen - len(asked)))):
            asked += more
            for point in more:
                search.tell(point, told(point))
        search.close()
        assert len(asked) == foreseen
        found.append(asked)
    assert found[0] == found[1] == found[2]
    assert (name in ("exhaustive", "random")) == (len(found[0]) == len(POINTS))


@pytest.mark.parametrize("predicted", [False, True])
def test_without_a_library_auto_searches_all_the_same(
    monkeypatch: pytest.MonkeyPatch, predicted: bool
) -> None:
    monkeypatch.setattr("annotune.tuning.search.model_based.find_spec", lambda _: None)
    points = Points(tuple(CONFIGS), tuple(TIMES)) if predicted else POINTS
    found = list(_asked("auto", points, [*TIMES], 30, batch=4))
    assert len(found) == len(set(found)) == 30
    assert min(TIMES[point] for point in found) <= sorted(TIMES)[2]


def test_a_search_without_its_library_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    span = Span("--search", 1, 1)
    refuse_unavailable("cma-es", span)
    monkeypatch.setattr("annotune.tuning.search.names.find_spec", lambda _: None)
    refuse_unavailable("auto", span)
    with pytest.raises(AnnotuneError) as refusal:
        refuse_unavailable("cma-es", span)
    (said,) = refusal.value.diagnostics
    assert said.code == "AT649"
    assert said.message == "the search 'cma-es' needs optuna and cmaes, not installed here"
    assert said.help.endswith("that needs no library: auto, exhaustive, random")
