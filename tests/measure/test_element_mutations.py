"""Blocks that share an element: without a barrier, or with a smaller array, nothing passes."""

from __future__ import annotations

from functools import lru_cache

import pytest
from compilers import here
from measure.test_mutations import Mutation, mutated
from support.regions import text_source

from annotune.analysis.analyse import analyse
from annotune.analysis.normal_form.normalised import normalised
from annotune.annotation.devices import load_device
from annotune.codegen.target import load_target
from annotune.measure.check import Checker
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckPlan
from annotune.measure.program import Program
from annotune.measure.trial import Status
from annotune.space.decision import Base
from annotune.space.space import region_space

pytestmark = pytest.mark.skipif(
    here().cxx is None or not here().openmp, reason="no C++ compiler with OpenMP"
)
TEXT = """\
void f(int m, int n, double u[restrict m][n][n], const double v[restrict m][n][n],
       const double b[restrict n][n])
{
    double s[n][n];
    /*@ begin PerfTuning ( def input_params { param m = 5; param n = 9; } ) @*/
RECIPE    for (int e = 0; e < m; e++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double sum = 0.0;
                for (int k = 0; k < n; k++)
                    sum += b[j][k] * v[e][i][k];
                s[i][j] = sum;
            }
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double sum = 0.0;
                for (int k = 0; k < n; k++)
                    sum += b[i][k] * s[k][j];
                u[e][i][j] = sum;
            }
    }
    RECIPE_END/*@ end @*/
    /*after*/
}
"""
READ = TEXT.replace("/*after*/", "u[0][0][0] += s[n - 1][n - 1];")
# Of two blocks each has the elements that are left in strides.
FEWER = """\
    /*@ begin CHiLL (
        cuda(0, block={"e"}, max_blocks=2)
        share(0, "s_own")
        spread(0, ("i","j"))
        spread(3, ("i","j"))
    ) @*/
"""
# A block has two elements, and the last one has one.
ROWS = """\
    /*@ begin CHiLL (
        cuda(0, block={"e"})
        share(0, "s_own")
        batch(0, "e", 2)
        spread(0, ("i","j"))
        spread(3, ("i","j"))
    ) @*/
"""
# What all elements read is copied first.
BROUGHT = ROWS.replace("    ) @*/", '        bring(0, "b")\n    ) @*/')
# One block has all of them, two at once.
ROUNDS_OF_ROWS = ROWS.replace('{"e"}', '{"e"}, max_blocks=1')
BARRIER = "    __syncthreads();\n"
ONCE = (
    Mutation("no barrier between two nests", BARRIER, "", True),
    Mutation("an array is too short", "s_own[9][9]", "s_own[8][9]", True),
    Mutation("threads begin at the second iteration", "ij = threadIdx.x", "ij = 1"),
)
ROUNDS = (
    Mutation(
        "no barrier before the next element",
        f"    {BARRIER}    }}\n}}",
        "    }\n}",
        True,
    ),
)
TOGETHER = (
    Mutation("no barrier between two nests of rows", BARRIER, "", True),
    Mutation("one array for all rows", "s_own[e - e_t]", "s_own[0]", True),
    Mutation("room for one row", "s_own[2][9][9]", "s_own[1][9][9]", True),
    Mutation(
        "a row beyond the last element",
        "e < min((long)(e_t + 2), (long)(m))",
        "e < e_t + 2",
        is_everywhere=True,
    ),
    Mutation("a row has the elements of the other", "e = e_t + (long)threadIdx.y", "e = e_t"),
)
COPIED = (
    Mutation("no barrier behind the copy", BARRIER, "", True),
    Mutation("a copy too short", "b_s < 81", "b_s < 80"),
    Mutation("a thread of a row copies", "threadIdx.x + 81 * threadIdx.y", "81 * threadIdx.y"),
    Mutation("a copy of the neighbours", "b_tile[b_s] = b[b_s]", "b_tile[b_s] = b[80 - b_s]"),
)
LAST = (Mutation("the last element's array is that of another", "e == m - 1", "e == m - 2"),)
TABLES = {
    "an element a block": (TEXT, "", ONCE),
    "elements in strides": (TEXT, FEWER, ROUNDS),
    "several elements a block": (TEXT, ROWS, TOGETHER),
    "several in strides": (TEXT, ROUNDS_OF_ROWS, ()),
    "with an operator": (TEXT, BROUGHT, COPIED),
    "an operator in strides": (TEXT, BROUGHT.replace('{"e"}', '{"e"}, max_blocks=1'), ()),
    "the array is read afterwards": (READ, "", LAST),
}
MUTATIONS = [pytest.param(way, one, id=one.name) for way in TABLES for one in TABLES[way][2]]


def text_of(text: str, recipe: str) -> str:
    """Return the nest with a recipe around it, or with none."""
    end = "/*@ end @*/\n    " if recipe else ""
    return text.replace("RECIPE_END", end).replace("RECIPE", recipe)


class Shared:
    """The generated text for one recipe, and the checker of it."""

    def __init__(self, text: str, recipe: str, folder: object) -> None:
        source = text_source(text_of(text, recipe), "user.c")
        analysis = analyse(normalised(source.regions[0]))
        base, target = Base.of(analysis), load_target("cuda")
        points = target.points(base, region_space(base), load_device("h200"))
        code = target.region(next(iter(points.listing(1).variants())), False)
        self.variant = Program("cuda", "cuda-cpu", code, target.device_file(code))
        self.checker = Checker(Oracle(source, analysis, here(), folder))  # type: ignore[arg-type]

    def plan(self, races: bool) -> CheckPlan:
        return CheckPlan(({"m": 5, "n": 9},), threads=2, races=races)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> object:
    return lru_cache(lambda way: Shared(*TABLES[way][:2], tmp_path_factory.mktemp("oracle")))


@pytest.mark.alike(8)
@pytest.mark.parametrize("way", TABLES)
def test_the_generated_text_passes(way: str, shared: object) -> None:
    assert callable(shared)
    made: Shared = shared(way)
    array = "s_own[2][9][9]" if "batch" in TABLES[way][1] else "s_own[9][9]"
    assert f"__shared__ double {array};" in made.variant.device
    trial = made.checker.check(made.variant, made.plan(races=True))
    assert (trial.status, trial.reason) == (Status.CORRECT, "")


@pytest.mark.alike(6)
@pytest.mark.parametrize(("way", "one"), MUTATIONS)
def test_a_mistake_does_not_pass(way: str, one: Mutation, shared: object) -> None:
    assert callable(shared)
    made: Shared = shared(way)
    trial = made.checker.check(mutated(made.variant, one), made.plan(one.needs_races))
    assert trial.status in (Status.CORRECTNESS, Status.RUNTIME), (trial, made.variant.device)
    assert not trial.verified
    assert trial.reason
