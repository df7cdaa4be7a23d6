"""Copies that the device makes by itself: without a wait, a fence or a barrier, nothing passes."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import pytest
from compilers import here
from measure.test_element_mutations import TEXT, Shared
from measure.test_mutations import Mutation, mutated

from annotune.measure.compile import CompileJob, TranslationUnit, compile_job
from annotune.measure.plan import CheckPlan
from annotune.measure.trial import Status

pytestmark = pytest.mark.skipif(
    here().cxx is None or not here().openmp, reason="no C++ compiler with OpenMP"
)
SUMS = TEXT.replace("u[e][i][j] = sum;", "u[e][i][j] += sum;").replace("param n = 9", "param n = 8")
RECIPE = """\
    /*@ begin CHiLL (
        cuda(0, block={"e"})
        share(0, "s_own")
        spread(0, ("i","j"))
        spread(3, ("i","j"))
        bring(0, "v")
        keep(0, "u")
        bulk(0, "v")
        bulk(0, "u")
    ) @*/
"""
ROUNDS = RECIPE.replace('{"e"}', '{"e"}, max_blocks=2')
WAYS = {"an element a block": RECIPE, "elements in strides": ROUNDS}
PHASE = "annotune_phase"
LOADED = "annotune_bulk_wait(&annotune_arrivals[%d], %s);\n"
FENCE, FINISH = "annotune_bulk_fence();\n", "annotune_bulk_finish();\n"
BARRIER = "        __syncthreads();\n"
ONCE = (
    Mutation("no wait for an input", LOADED % (1, PHASE), ""),
    Mutation("no wait for what is added to", LOADED % (0, PHASE), ""),
    Mutation(
        "the wait is for the phase before", LOADED % (1, PHASE), LOADED % (1, "1 - annotune_phase")
    ),
    Mutation("the wait is for another copy", LOADED % (1, PHASE), LOADED % (0, PHASE)),
    Mutation(
        "one of two copies counts for the other",
        "64, &annotune_arrivals[1]",
        "64, &annotune_arrivals[0]",
    ),
    Mutation("no fence before the results leave", FENCE, ""),
    Mutation("no barrier behind the fence", FENCE + BARRIER, FENCE),
    Mutation("no wait for the results to leave", FINISH, ""),
    Mutation("a copy too short", "64, &annotune_arrivals[1]", "62, &annotune_arrivals[1]"),
    Mutation("a copy begins between two pairs", "&v[64 * e]", "&v[64 * e + 1]"),
    Mutation("too little leaves", "&u_tile[0], 64)", "&u_tile[0], 62)"),
    Mutation("the first of the arrivals alone is begun", "arrivals, 2)", "arrivals, 1)"),
)
IN_ROUNDS = (
    Mutation("the phase stays", "annotune_phase ^= 1;", ""),
    Mutation("results are overwritten before they have left", FINISH + BARRIER, BARRIER),
)
MUTATIONS = [
    *(pytest.param("an element a block", one, id=one.name) for one in ONCE),
    *(pytest.param("elements in strides", one, id=one.name) for one in IN_ROUNDS),
]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> object:
    return lru_cache(lambda way: Shared(SUMS, WAYS[way], tmp_path_factory.mktemp("oracle")))


def plan(races: bool) -> CheckPlan:
    return CheckPlan(({"m": 5, "n": 8},), threads=2, sanitize=races, races=races)


@pytest.mark.alike(2)
@pytest.mark.parametrize("way", WAYS)
def test_the_generated_text_passes(way: str, shared: object) -> None:
    assert callable(shared)
    made: Shared = shared(way)
    assert made.variant.device.count("annotune_bulk_load(&") == 2
    trial = made.checker.check(made.variant, plan(races=True))
    assert (trial.status, trial.reason) == (Status.CORRECT, "")


@pytest.mark.alike(6)
@pytest.mark.parametrize(("way", "one"), MUTATIONS)
def test_a_mistake_does_not_pass(way: str, one: Mutation, shared: object) -> None:
    assert callable(shared)
    made: Shared = shared(way)
    trial = made.checker.check(mutated(made.variant, one), plan(one.needs_races))
    assert trial.status in (Status.CORRECTNESS, Status.RUNTIME), (trial, made.variant.device)
    assert not trial.verified
    assert trial.reason


@pytest.mark.alike(2)
@pytest.mark.parametrize("arch", ["sm_90", "sm_80"])
def test_nvcc_takes_it_without_a_warning(arch: str, shared: object, tmp_path: Path) -> None:
    if here().nvcc is None:
        pytest.skip("no nvcc")
    assert callable(shared)
    made: Shared = shared("elements in strides")
    job = CompileJob((TranslationUnit(made.variant.device, "cuda"),), "cuda-cubin", arch=arch)
    result = compile_job(job, here(), tmp_path)
    assert result.ok, result.output
    assert "warning" not in result.output
