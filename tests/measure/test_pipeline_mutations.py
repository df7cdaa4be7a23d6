"""Wrong pipelines must not pass: waits, barriers and edges, each missing or wrong in one place."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import pytest
from compilers import here
from decide.test_movements import TILE, WAYS
from decide.test_two_level import contraction
from measure.test_mutations import Mutation, mutated
from support.regions import text_source

from annotune.analysis.analyse import analyse
from annotune.annotation.devices import load_device
from annotune.codegen.target import load_target
from annotune.measure.check import Checker
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckPlan
from annotune.measure.program import Program
from annotune.measure.trial import Status
from annotune.space.decision import Base
from annotune.space.space import region_space
from annotune.strategies.registry import AUTO

pytestmark = pytest.mark.skipif(
    here().cxx is None or not here().openmp, reason="no C++ compiler with OpenMP"
)
WAIT = "__pipeline_wait_prior(1);\n"
BARRIER = "        __syncthreads();\n"
# For a ring of three parts; steps of 2 up to 6, tiles of 4 over 6.
RING = (
    Mutation("a wait covers too little", WAIT, WAIT.replace("1", "2")),
    Mutation("there is no barrier behind the wait", WAIT + BARRIER, WAIT, True),
    Mutation("there is no wait", WAIT, ""),
    Mutation("a group is never closed", "        }\n        __pipeline_commit();", "        }"),
    Mutation("the ring is too short", "% 3", "% 2", is_everywhere=True),
    Mutation("a copy replaces what is in use", "(h7_t_part + 2) % 3", "h7_t_part", True, True),
    Mutation("a copy comes from the next but one", "h7_s + 4)", "h7_s + 6)"),
    Mutation("a copy begins behind the last step", "if (h7_t + 4 < n)", "if (h7_t + 4 <= n)"),
    Mutation(
        "a copy leaves the array at its edge", "if (h3_t + h3_s < 6)", "if (true)", True, True
    ),
    Mutation("half an element is copied", "sizeof(double));", "4);"),
    Mutation("a copy goes to another place", "async(&v_tile[", "async(&t_tile["),
)
REGISTERS = (
    Mutation("the tile is replaced while in use", f"        }}\n{BARRIER}        if", "}if", True),
    Mutation("the tile is used before it is there", f"        }}\n{BARRIER}    }}", "}}", True),
    Mutation("the next tile is not stored", "v_tile_next[annotune_k];", "v_tile[0];"),
)
VECTORS = (
    Mutation("a vector is not aligned", "+ 2 * h3_s < 6", "+ 2 * h3_s + 0 < 7", True, True),
    Mutation("a vector starts at odd places", "4 * h2_s + 2 * h3_s]", "4 * h2_s + h3_s]"),
)
TABLES = {"ring of three": (6, RING), "registers": (6, REGISTERS), "ring of vectors": (6, VECTORS)}
QUICK = ("a wait covers too little", "there is no barrier behind the wait")
MUTATIONS = [
    pytest.param(way, one, id=one.name, marks=() if one.name in QUICK else pytest.mark.slow)
    for way, (_, table) in TABLES.items()
    for one in table
]


class Pipelined:
    """The generated text of one way to move data, and the checker of it."""

    def __init__(self, way: str, folder: Path) -> None:
        size, _ = TABLES[way]
        text = contraction(TILE + WAYS[way], n=size)
        source = text_source(text, "user.c")
        analysis = analyse(source.regions[0])
        base, target = Base.of(analysis, AUTO), load_target("cuda")
        first = next(
            iter(target.points(base, region_space(base), load_device("h200")).listing(1).variants())
        )
        code = target.region(first, False)
        self.variant = Program("cuda", "cuda-cpu", code, target.standalone(code))
        self.sizes = {"n": size}
        self.checker = Checker(Oracle(source, analysis, here(), folder))

    def plan(self, races: bool) -> CheckPlan:
        return CheckPlan((self.sizes,), threads=2, races=races)


@pytest.fixture(scope="module")
def pipelined(tmp_path_factory: pytest.TempPathFactory) -> object:
    return lru_cache(lambda way: Pipelined(way, tmp_path_factory.mktemp("oracle")))


@pytest.mark.parametrize(
    "way", ["ring of three", *(pytest.param(w, marks=pytest.mark.slow) for w in list(TABLES)[1:])]
)
def test_the_generated_text_passes(way: str, pipelined: object) -> None:
    assert callable(pipelined)
    made: Pipelined = pipelined(way)
    trial = made.checker.check(made.variant, made.plan(races=True))
    assert (trial.status, trial.reason) == (Status.CORRECT, "")


@pytest.mark.parametrize(("way", "one"), MUTATIONS)
def test_a_mistake_does_not_pass(way: str, one: Mutation, pipelined: object) -> None:
    assert callable(pipelined)
    made: Pipelined = pipelined(way)
    trial = made.checker.check(mutated(made.variant, one), made.plan(one.needs_races))
    assert trial.status in (Status.CORRECTNESS, Status.RUNTIME), (trial, made.variant.device)
    assert not trial.verified
    assert trial.reason
