"""The ends of a set are what counting its elements gives, or not known."""

from __future__ import annotations

import islpy as isl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.laws import tried

from annotune.analysis.domains import ends, is_last

SIZES = [(1, 1), (2, 3), (4, 2)]
RUNS = isl.Set("[p, q] -> { : p > 0 and q > 0 }")

bounds = st.sampled_from(["p", "q", "3", "7"])
factors = st.sampled_from([0, 1, -1, 2, -2, 8, 10])
offsets = st.sampled_from(["0", "p", "10p", "-3", "17"])
loops = st.lists(st.tuples(bounds, st.sampled_from([1, 1, 2, 3])), min_size=3, max_size=3)
subscripts = st.tuples(st.tuples(factors, factors, factors), offsets)


def touched(loops: list[tuple[str, int]], subscripts: list[tuple[tuple[int, ...], str]]) -> isl.Set:
    """Return what an access with two `subscripts` touches in loops of some bounds and steps."""
    index = [
        " + ".join([*(f"{factor}*i{k}" for k, factor in enumerate(factors)), offset])
        for factors, offset in subscripts
    ]
    runs = " and ".join(
        f"0 <= i{k} < {end} and i{k} mod {step} = 0" for k, (end, step) in enumerate(loops)
    )
    domain = isl.Set(f"[p, q] -> {{ [i0, i1, i2] : {runs} }}")
    access = isl.Map(f"[p, q] -> {{ [i0, i1, i2] -> [{', '.join(index)}] }}")
    return access.intersect_domain(domain).range()


def counted(elements: isl.Set, size: tuple[int, int]) -> list[tuple[int, ...]]:
    """Return the elements at one size of `p` and `q`, in order."""
    for place, value in enumerate(size):
        elements = elements.fix_val(isl.dim_type.param, place, value)
    elements = elements.project_out(isl.dim_type.param, 0, 2)
    found: list[tuple[int, ...]] = []
    elements.foreach_point(
        lambda point: found.append(
            tuple(point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(2))
        )
    )
    return sorted(found)


def agree(elements: isl.Set) -> None:
    # What isl has worked out once it works out otherwise the next time.
    for _ in range(2):
        both = ends(elements)
        for size in SIZES if both is not None else ():
            found = counted(elements, size)
            for end, wanted in zip(both, (found[:1], found[-1:]), strict=True):
                assert counted(isl.Set.from_pw_multi_aff(end), size) == wanted


@tried(90)
@given(st.lists(st.tuples(loops, st.lists(subscripts, min_size=2, max_size=2)), max_size=3))
def test_ends_are_those_that_counting_gives(parts: list) -> None:
    elements = isl.Set("[p, q] -> { [a, b] : false }")
    for part in parts:
        elements = elements.union(touched(*part))
    agree(elements.intersect_params(RUNS))


def test_ends_that_isl_takes_from_in_between() -> None:
    """Here isl says first that the last row is 10 p + 7, then 10 p - 3."""
    strided = [("p", 1), ("7", 2), ("q", 1)]
    elements = touched(strided, [((10, -1, 0), "7"), ((0, 0, 1), "0")])
    elements = elements.union(touched(strided, [((10, -1, 0), "17"), ((0, 0, 1), "0")]))
    agree(elements.intersect_params(RUNS))


def test_ends_of_one_access_are_known() -> None:
    for steps in ((1, 1, 1), (1, 2, 3)):
        runs = [(end, step) for end, step in zip(("p", "7", "q"), steps, strict=True)]
        elements = touched(runs, [((10, -1, 0), "7"), ((0, 0, 1), "0")]).intersect_params(RUNS)
        assert ends(elements) is not None
        agree(elements)


@pytest.mark.parametrize(
    ("chosen", "is_so"),
    [
        ("[p, q] -> { [p - 1, 0] : p > 0 }", True),
        ("[p, q] -> { [p - 2, 0] : p > 1; [0, 0] : p = 1 }", False),
        ("[p, q] -> { [p - 1, 0] : p > 1 }", False),
        ("[p, q] -> { [p, 0] : p > 0 }", False),
        ("[p, q] -> { [i, 0] : p - 2 <= i < p and i >= 0 }", False),
    ],
)
def test_one_element_is_the_last_at_each_size(chosen: str, is_so: bool) -> None:
    assert is_last(isl.Set(chosen), isl.Set("[p, q] -> { [i, 0] : 0 <= i < p }")) == is_so
