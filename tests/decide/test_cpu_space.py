"""The space of a CPU: axes that are independent, constraints, and what a user says of both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from random import Random

import pytest
from codegen.emitted import analysed, analysed_text
from hypothesis import given
from hypothesis import strategies as st
from support.blocks import nests
from support.regions import regions_of

from annotune.annotation.devices import load_device
from annotune.annotation.spec import Constraint, Formula, Parameter
from annotune.codegen.openmp import OpenMpTarget
from annotune.diagnostics import AnnotuneError
from annotune.space.decision import Base
from annotune.space.limits import AxisLimits
from annotune.space.openmp import LIKELY, CpuSpace, shown
from annotune.space.space import Product, region_space

GRADIENT = "nekbone/local_grad3.c"
UNEVEN = """
void f(int n, double *restrict v, const double *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param n = 40; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            v[i * n + j] = 2.0 * a[i * n + j];
    /*@ end @*/
}
"""


@lru_cache
def gradient() -> CpuSpace:
    return CpuSpace(analysed(GRADIENT))


def _limits(*formulas: str, **values: tuple[int | str, ...]) -> AxisLimits:
    constraints = tuple(Constraint(text, Formula(text)) for text in formulas)
    return AxisLimits(tuple(Parameter(n, v) for n, v in values.items()), constraints)


def _settings(limits: AxisLimits, limit: int = 10_000) -> list[Mapping[str, str | int]]:
    return [shown(p) for p in CpuSpace(analysed(GRADIENT), (), limits).points(limit)]


def test_statements_take_their_alternatives_apart() -> None:
    space = gradient()
    points = list(space.points(10_000))
    assert len(points) == space.legal.size == space.admitted == 4914
    assert len({tuple(shown(p).items()) for p in points}) == 4914
    rows = Counter((shown(p)["S0.rows"], shown(p)["S1.rows"]) for p in points)
    assert len(rows) == 16


def test_the_rules_choice_is_the_first_point() -> None:
    first = next(gradient().points(1))
    axes = ("S0.lanes", "S1.lanes", "S2.lanes", "S0.schedule", "flags")
    assert [shown(first)[name] for name in axes] == [0, 0, 0, "static", "-O3"]


def test_pieces_that_differ_may_shrink() -> None:
    space = CpuSpace(analysed_text(UNEVEN))
    (values,) = (axis.values for axis in space.axes if axis.name.endswith("schedule"))
    assert values == ("static", "dynamic", "guided")


def test_points_do_what_their_settings_say() -> None:
    """The text of a random point has its schedule, and its rows and lanes as tiles."""
    space, target = gradient(), OpenMpTarget()
    base = Base.of(space.analysis)
    listing = target.points(base, region_space(base), load_device("h200")).listing(5000)
    assert len(listing) == 4914
    for number in Random(1).sample(range(1, 4914), 6):
        settings, variant = listing.configs[number], listing.variant(number)
        assert f"schedule({settings['S0.schedule']})" in target.region(variant, False).body
        assert list(variant.flags.host) == str(settings["flags"]).split()
        tiles = {b.statement: dict(b.tiles) for c in variant.tuned.choices for b in nests(c)}
        for statement in (0, 1, 2):
            rows, over = settings[f"S{statement}.rows"], settings[f"S{statement}.over"]
            if over != "-" and rows != 10:
                assert tiles[statement][str(over)] == rows


def test_few_points_are_likely_ones_and_others_at_random() -> None:
    points = [shown(p) for p in gradient().points(200)]
    assert points == [shown(p) for p in gradient().points(200)]
    assert len({tuple(p.items()) for p in points}) == 200
    late = Counter(p["flags"] for p in points[LIKELY:])
    assert min(late.values()) > 30


def test_a_user_restricts_and_extends_an_axis() -> None:
    found = _settings(_limits(S0_lanes=(8, 4), flags=("-O3",)))
    assert {p["S0.lanes"] for p in found} == {4, 8}
    assert {p["flags"] for p in found} == {"-O3"}


def test_a_formula_over_axes() -> None:
    found = _settings(_limits("S0_rows * S0_lanes == 40", "S1_lanes == S2_lanes"))
    assert found
    assert all(p["S0.rows"] * int(p["S0.lanes"]) == 40 for p in found)
    assert all(p["S1.lanes"] == p["S2.lanes"] for p in found)


@pytest.mark.alike(2)
@pytest.mark.parametrize(
    ("formulas", "named"),
    [
        (
            ["S0_rows >= 5", "S1_lanes > 0", "S0_lanes == 0"],
            "constraints 'S0_rows >= 5' and 'S0_lanes == 0' together remove",
        ),
        (["S0_rows > 100", "S0_lanes > 0"], "constraint 'S0_rows > 100' removes"),
    ],
)
def test_what_empties_the_space_is_named(formulas: list[str], named: str) -> None:
    with pytest.raises(AnnotuneError) as refused:
        _settings(_limits(*formulas))
    (refusal,) = refused.value.diagnostics
    assert refusal.code == "AT302"
    assert refusal.help.startswith(named)


def test_a_space_too_large_to_list_is_drawn_from() -> None:
    parts = tuple(tuple(range(20)) for _ in range(20))
    space = Product(parts)
    assert (space.size, space.is_listed) == (20**20, False)
    drawn = list(space.drawn(3, 2))
    assert drawn == list(space.drawn(3, 2))
    assert drawn != list(space.drawn(4, 2))


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_a_product_has_every_combination_once(lengths: list[int]) -> None:
    space = Product(tuple(range(n) for n in lengths))
    every = list(space.every())
    assert len(every) == len(set(every)) == space.size
    assert set(space.diagonal()) <= set(every)
    assert set(space.drawn(0, 1)) <= set(every)


def test_a_point_without_settings_is_planned_by_the_rules() -> None:
    space = gradient()
    choices = space.choices(())
    assert choices == space.choices(next(space.points(1)))


ROOTS = """{head}
void f(int n, double *restrict v, const double *restrict a)
{{
    /*@ begin PerfTuning ( def input_params {{ param n = 40; }} ) @*/
    for (int i = 0; i < n; i++)
        v[i] = {value};
    /*@ end @*/
}}
"""


@pytest.mark.parametrize(
    ("head", "value", "first"),
    [
        ("#include <math.h>", "sqrt(a[i])", "-O3 -fno-math-errno"),
        ("#include <math.h>", "fabs(a[i])", "-O3"),
        ("#include <math.h>\n#include <errno.h>", "sqrt(a[i])", "-O3"),
        ("#include <math.h>\nextern int errno;", "sqrt(a[i])", "-O3"),
        ("#include <math.h>\nextern int *__errno_location(void);", "sqrt(a[i])", "-O3"),
        ("#include <math.h>\nvoid perror(const char *);", "sqrt(a[i])", "-O3"),
        ('#include <stdio.h>\nvoid g(void) { printf("%m"); }', "sqrt(a[i])", "-O3"),
        ("#include <math.h>\n#include <mpi.h>", "sqrt(a[i])", "-O3"),
    ],
)
def test_roots_set_no_errno_that_nobody_reads(head: str, value: str, first: str) -> None:
    """A compiler makes vectors of square roots only where it need not call for their errors."""
    space = CpuSpace(analysed_text(ROOTS.format(head=head, value=value)))
    assert shown(next(iter(space.points(1))))["flags"] == first


def test_roots_set_errno_where_a_header_reads_it(tmp_path: Path) -> None:
    (tmp_path / "own.h").write_text("extern int errno;\nint failed(void) { return errno; }\n")
    source = tmp_path / "roots.c"
    source.write_text(ROOTS.format(head='#include <math.h>\n#include "own.h"', value="sqrt(a[i])"))
    (region,) = regions_of(source)
    assert not region.around.ignores_errno
