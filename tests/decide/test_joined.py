"""Neighbouring nests of an element in one kernel: when they join, and that it is right."""

from __future__ import annotations

from pathlib import Path

import pytest
from recipes import Decided, decided, example, pasted
from support.executed import Call, Part, emitted, executable
from support.regions import text_regions

from annotune.analysis.normal_form.normalised import normalised
from annotune.annotation.devices import load_device
from annotune.certify.certificate import verify
from annotune.certify.kernels import certify
from annotune.space.decision import JOINED, Base
from annotune.space.space import region_space
from annotune.strategies.registry import AUTO, ELEMENTS
from annotune.transforms.distribute import Fuse
from annotune.transforms.spread import Bring, Keep

NESTS = """\
void f(int m, int n, double *restrict a, double *restrict b, const double *restrict u,
       const double *restrict D)
{{
    /*@ begin PerfTuning ( def input_params {{ param m = 6; param n = 5; }} ) @*/
    for (int e = 0; e < m; e++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                for (int l = 0; l < n; l++)
                    a[(e * n + i) * n + j] += D[j * n + l] * u[(e * n + i) * n + l];
    for (int e = {first}; e < m; e++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                for (int l = 0; l < n; l++)
                    b[(e * n + i) * n + j] += D[i * n + l] * {read};
    /*@ end @*/
}}
"""
# Two sums along the sides of an element, each in a loop of its own over all of them.
SUMS = NESTS.format(first=0, read="u[(e * n + l) * n + j]")


# What the first leaves in t is the caller's, what it leaves in s nobody's.
STEPS = """\
#include <stdlib.h>
void f(int m, int n, double *restrict w, double *restrict t, const double *restrict u,
       const double *restrict D)
{
    double(*s)[n][n] = malloc(sizeof(double[m][n][n]));
    /*@ begin PerfTuning ( def input_params { param m = 6; param n = 5; } ) @*/
    for (int e = 0; e < m; e++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double x = 0.0, y = 0.0;
                for (int l = 0; l < n; l++) {
                    x += D[j * n + l] * u[(e * n + i) * n + l];
                    y += D[i * n + l] * u[(e * n + l) * n + j];
                }
                s[e][i][j] = x;
                t[(e * n + i) * n + j] = y;
            }
    for (int e = 0; e < m; e++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                const double x = s[e][i][j];
                s[e][i][j] = x + 2.0 * t[(e * n + i) * n + j];
                t[(e * n + i) * n + j] -= x;
            }
    for (int e = 0; e < m; e++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double sum = 0.0;
                for (int l = 0; l < n; l++)
                    sum += D[l * n + j] * s[e][i][l] + D[l * n + i] * t[(e * n + l) * n + j];
                w[(e * n + i) * n + j] = sum;
            }
    /*@ end @*/
    free(s);
}
"""


def joined(text: str, strategy: str = ELEMENTS) -> Decided:
    """Return what is decided for the only region of a text."""
    (region,) = text_regions(text)
    return decided(normalised(region), strategy)


def test_what_neighbours_read_is_read_once() -> None:
    (choice,) = joined(SUMS).decision.choices
    assert choice.of(Fuse) == (Fuse((0, 1), "e"),)
    assert choice.blocks == ("e",)
    assert [step.array for step in choice.of(Bring)] == ["D", "u"]
    assert [step.array for step in choice.of(Keep)] == ["a", "b"]
    # At other sizes each nest has its own kernel.
    assert [one.parts for one in choice.apart] == [((0,),), ((1,),)]


def test_the_model_decides() -> None:
    region = example("nekbone/local_grad3.c", defines={"nelt": "20000"})
    few = example("nekbone/local_grad3.c", defines={"nelt": "10"})
    device = load_device("h200")
    names = []
    for one in (region, few):
        base = Base.of(decided(normalised(one)).analysis, AUTO)
        space = region_space(base).on(device)
        assert JOINED in [fusion for fusion, _ in space.branches]
        names.append(space.first.fusion)
    assert names == [JOINED, "footprint"]


@pytest.mark.parametrize(
    ("first", "read"),
    [
        # Another element's part is handed on, or some of it.
        (0, "a[((m - 1 - e) * n + l) * n + j]"),
        (1, "a[(e * n + l) * n + j - 1]"),
        # The nests have nothing of an element in common.
        (0, "D[l * n + j]"),
        # The loops are over other elements.
        (1, "u[(e * n + l) * n + j]"),
    ],
)
def test_nests_that_stay_apart(first: int, read: str) -> None:
    one = joined(NESTS.format(first=first, read=read))
    assert JOINED not in [fusion for fusion, _ in one.space.branches]


@pytest.mark.alike(3)
@pytest.mark.parametrize("m", [1, 6, 7])
@pytest.mark.parametrize("text", [SUMS, STEPS], ids=["sums", "steps"])
def test_it_is_proven(text: str, m: int) -> None:
    one = joined(text.replace("m = 6", f"m = {m}"))
    assert verify(certify(one.analysis, one.plan())) == ()


@pytest.mark.parametrize("text", [SUMS, STEPS], ids=["sums", "steps"])
def test_the_pasted_recipe_asks_for_the_same(text: str) -> None:
    (region,) = text_regions(text)
    one = joined(text)
    other = joined(pasted(text, region, one.recipe()), AUTO)
    assert other.plan().steps == one.plan().steps
    (own,), (its,) = one.decision.choices, other.decision.choices
    assert [choice.steps for choice in its.apart] == [choice.steps for choice in own.apart]


def test_what_nobody_reads_afterwards_stays_in_the_block(tmp_path: Path) -> None:
    (choice,) = joined(STEPS).decision.choices
    assert [step.array for step in choice.of(Keep)] == ["s", "t"]
    text = emitted(tmp_path, STEPS, strategy=ELEMENTS).files[".cu"]
    kernel = text[text.index("__global__") : text.index("\n}\n", text.index("__global__"))]
    # What the caller gave is stored once, what the function made for itself nowhere.
    assert kernel.count(" t[") == 1
    assert " s[" not in kernel
    assert "restrict__ s" not in kernel


def test_steps_are_right_at_the_tuned_sizes_and_at_others(tmp_path: Path) -> None:
    program = executable(tmp_path, STEPS, strategy=ELEMENTS)
    for m, n in ((6, 5), (1, 5), (0, 5), (7, 4), (3, 1), (2, 7)):
        size = max(1, m * n * n)
        program.check(Call("f", (m, n, *map(Part, range(4))), (size, size, size, n * n)))


@pytest.mark.slow
def test_the_text_is_right_at_the_tuned_sizes_and_at_others(tmp_path: Path) -> None:
    program = executable(tmp_path, SUMS, strategy=ELEMENTS)
    for m, n in ((6, 5), (1, 5), (0, 5), (7, 4), (3, 1), (2, 7)):
        size = max(1, m * n * n)
        call = Call("f", (m, n, *map(Part, range(4))), (size, size, size, n * n))
        program.check(call)
