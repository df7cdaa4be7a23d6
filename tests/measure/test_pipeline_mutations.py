"""Wrong pipelines must not pass: waits, barriers and edges, each missing or wrong in one place."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import pytest
from compilers import here
from decide.test_movements import TILE, WAYS
from decide.test_two_level import contraction
from measure.test_mutations import Mutation, mutated

from annotune.codegen.target import load_target
from annotune.measure.check import Checker
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckPlan
from annotune.measure.program import Program
from annotune.measure.trial import Status
from annotune.pipeline import Settings, emit

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
# Three sums, of two steps, one and three, whose copies are relayed.
RELAYED = """\
void f(double c[restrict 24], const double A[restrict 16][24], const double B[restrict 8][24],
       const double D[restrict 20][24])
{
    /*@ begin PerfTuning () @*/
    /*@ begin CHiLL (
        target("cuda")
        distribute(0,1,2)
        tile(0, "i", 8) tile(0, "k", 8) permute(0, ("i_t","i","k_t","k"))
        tile(1, "i", 8) tile(1, "l", 8) permute(1, ("i_t","i","l_t","l"))
        tile(2, "i", 8) tile(2, "m", 8) permute(2, ("i_t","i","m_t","m"))
        fuse(0,1,2, loop="i")
        cuda(0, block={"i_t"}, thread={"i"})
        stage(0, "A", "k", order={"i","k"})
        stage(1, "B", "l", order={"i","l"})
        stage(2, "D", "m", order={"i","m"})
        overlay(1, 0) overlay(2, 0)
        hold(0, "k_t", others=(1,2))
        relay(0, (1,2))
    ) @*/
    for (int i = 0; i < 24; i++)
        for (int k = 0; k < 16; k++)
            c[i] += A[k][i] * A[k][i];
    for (int i = 0; i < 24; i++)
        for (int l = 0; l < 8; l++)
            c[i] -= B[l][i] * B[l][i];
    for (int i = 0; i < 24; i++)
        for (int m = 0; m < 20; m++)
            c[i] += D[m][i] * D[m][i];
    /*@ end @*/
    /*@ end @*/
}
"""
MEET = "__pipeline_wait_prior(0);\n"
HANDED = (
    Mutation("the first loop does not wait", MEET, ""),
    Mutation("a later loop does not wait", f"l_t += 8) {{\n        {MEET}", "l_t += 8) {\n"),
    Mutation("no loop has a barrier", MEET + BARRIER, MEET, True, True),
    Mutation("the first copies are of another statement", "&A[k_s", "&B[k_s"),
    Mutation("a later statement's copies come early", "if (k_t + 8 >= 16)", "if (true)", True),
    Mutation("a later statement's copies are missing", "if (k_t + 8 >= 16)", "if (false)"),
    Mutation("copies go to the part in use", "(k_t_part + 1) % 2", "k_t_part", True, True),
    Mutation("a loop uses the other part", "m_t / 8 + 1", "m_t / 8"),
    Mutation("the ring has one part", "A_tile[128]", "A_tile[64]"),
)
TABLES = {
    "ring of three": RING,
    "registers": REGISTERS,
    "ring of vectors": VECTORS,
    "relayed": HANDED,
}
SIZE = 6
QUICK = (
    *("a wait covers too little", "there is no barrier behind the wait"),
    *("a later loop does not wait", "no loop has a barrier"),
)
MUTATIONS = [
    pytest.param(way, one, id=one.name, marks=() if one.name in QUICK else pytest.mark.slow)
    for way, table in TABLES.items()
    for one in table
]


class Pipelined:
    """The generated text of one way to move data, and the checker of it."""

    def __init__(self, way: str, folder: Path) -> None:
        is_relayed = way == "relayed"
        user = folder / f"{way.replace(' ', '_')}.c"
        user.write_text(RELAYED if is_relayed else contraction(TILE + WAYS[way], n=SIZE))
        target = load_target("cuda")
        made = emit(Settings(user, ("cuda",)), [target])
        analysis = made.reports[0].analysis
        assert analysis is not None
        code = target.region(made.variants[0]["cuda"], False)
        self.variant = Program("cuda", "cuda-cpu", code, target.device_file(code))
        self.sizes = {} if is_relayed else {"n": SIZE}
        self.checker = Checker(Oracle(made.source, analysis, here(), folder))

    def plan(self, races: bool) -> CheckPlan:
        return CheckPlan((self.sizes,), threads=2, races=races)


@pytest.fixture(scope="module")
def pipelined(tmp_path_factory: pytest.TempPathFactory) -> object:
    return lru_cache(lambda way: Pipelined(way, tmp_path_factory.mktemp("oracle")))


@pytest.mark.alike(2)
@pytest.mark.parametrize(
    "way",
    [
        *("ring of three", "relayed"),
        *(pytest.param(way, marks=pytest.mark.slow) for way in ("registers", "ring of vectors")),
    ],
)
def test_the_generated_text_passes(way: str, pipelined: object) -> None:
    assert callable(pipelined)
    made: Pipelined = pipelined(way)
    trial = made.checker.check(made.variant, made.plan(races=True))
    assert (trial.status, trial.reason) == (Status.CORRECT, "")


@pytest.mark.alike(6)
@pytest.mark.parametrize(("way", "one"), MUTATIONS)
def test_a_mistake_does_not_pass(way: str, one: Mutation, pipelined: object) -> None:
    assert callable(pipelined)
    made: Pipelined = pipelined(way)
    trial = made.checker.check(mutated(made.variant, one), made.plan(one.needs_races))
    assert trial.status in (Status.CORRECTNESS, Status.RUNTIME), (trial, made.variant.device)
    assert not trial.verified
    assert trial.reason
