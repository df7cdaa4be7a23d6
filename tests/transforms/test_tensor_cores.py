"""TensorCores: what may be multiplied by warps, what they read of each other, and real runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from conftest import Golden
from decide.gemm_texts import gemm, with_sum
from decide.recipes import decided_text
from machine_code.shared import conflict_factor, shared_accesses
from support.executed import Call, Part, emitted, executable
from support.nest_text import print_nest

from annotune.certify.certificate import verify
from annotune.certify.kernels import certify
from annotune.diagnostics import Diagnostic
from annotune.ir.nest import Loop, Nest, walk_stmts
from annotune.schedule.plan import Plan
from annotune.strategies.registry import AUTO

RECIPE = (
    'contract(0, thread={"j","i"}, register={"j","i"}, sum="l", thread_x=4, thread_y=8, '
    'register_x=4, register_y=2, step=8, assign={"cyclic","cyclic"})\nmma(0, "l")'
)
OF_SUM = RECIPE.replace("(0,", "(1,")


def made(text: str, constants: Mapping[str, int] | None = None) -> Plan | Diagnostic:
    """Return the plan that a text's recipe asks for, or its refusal."""
    return decided_text(text, AUTO).maybe_plan(constants)


def test_a_tile_of_32_threads(golden: Golden) -> None:
    plan = made(gemm(64, RECIPE))
    assert isinstance(plan, Plan)
    (kernel,) = plan.kernels()
    golden.check("transforms/tensor_cores.nest", print_nest(Nest(kernel.body)))
    marked = [x.var for x in walk_stmts(kernel.body) if isinstance(x, Loop) and x.by_warps]
    assert marked == ["l"]


def test_an_instruction_has_four_steps_or_twice_as_many_or_four_times() -> None:
    refusal = made(gemm(64, RECIPE.replace('(0, "l")', '(0, "l", steps=12)')))
    assert isinstance(refusal, Diagnostic)
    assert refusal.message.endswith("an instruction has 4, 8 or 16 steps of it, not 12")


def changed(change: str) -> str:
    """Return the recipe with another number, another step, or less in shared memory."""
    name = change.split("=")[0]
    if f" {name}=" not in RECIPE:
        return RECIPE.replace("step=8", f"step=8, {change}")
    parts = RECIPE.split(", ")
    return ", ".join(change if part.startswith(f"{name}=") else part for part in parts)


REFUSED = {
    "thread_x=8": "'j_w' has 8 threads, expected 4",
    "thread_y=12": "'i_w' has 12 threads, expected a multiple of 8",
    "register_x=3": "'j' has 3 registers, expected an even number",
    "register_y=5": "'i' has 5 registers, expected an even number",
    'stage={"A"}': "statement 0 runs under a condition, or does not add",
}


@pytest.mark.parametrize("change", REFUSED)
def test_what_is_no_tile_for_warps(change: str) -> None:
    # At open sizes a part of B that is read where it is needs a condition.
    refusal = made(gemm(240, changed(change)), {} if "stage" in change else None)
    assert isinstance(refusal, Diagnostic), refusal
    assert refusal.code == "AT345"
    assert refusal.message == f"mma: the warps of a block cannot multiply in 'l': {REFUSED[change]}"


@pytest.mark.parametrize(
    ("old", "new"),
    [("const double", "const float"), ("A[i][l] * B[l][j]", "A[i][l] * B[l][j] * x")],
)
def test_what_is_no_product_of_two_factors_in_double(old: str, new: str) -> None:
    def changed_text(recipe: str) -> str:
        return gemm(64, recipe).replace(old, new).replace("int m,", "int m, double x,")

    refusal = made(changed_text(RECIPE))
    assert isinstance(refusal, Diagnostic), refusal
    assert refusal.code == "AT345"
    # And nobody who does not ask for it is told so.
    own = decided_text(changed_text(""), AUTO)
    assert isinstance(own.plan(), Plan)
    tile = own.decision.choices[0].contract
    assert tile is None or not tile.by_warps


@pytest.mark.parametrize("factor", ["2 * A[i][l]", "-A[i][l]", "x * A[i][l]", "A[i][l] * x"])
def test_a_factor_may_have_numbers_of_other_types(factor: str) -> None:
    text = gemm(64).replace("A[i][l]", factor).replace("int m,", "int m, float x,")
    tile = decided_text(text, AUTO).decision.choices[0].contract
    assert tile is not None
    assert tile.by_warps
    assert isinstance(made(text), Plan)


def test_a_loop_that_is_no_sum_of_a_block_of_registers() -> None:
    plain = 'cuda(0, block={"i"}, thread={"j"})\nunroll(0, "l", 1)'
    tiled = f'tile(0, "j", 4)\ntile(0, "i", 8)\n{plain}'
    tiled = tiled.replace('block={"i"}, thread={"j"}', 'block={"j_t","i_t"}, thread={"j","i"}')
    whys = {
        plain: "'j' has 64 threads, expected 4",
        tiled: "is not around two loops over registers",
    }
    for recipe, why in whys.items():
        refusal = made(gemm(64, f'{recipe}\nmma(0, "l")'))
        assert isinstance(refusal, Diagnostic)
        assert why in refusal.message
    refusal = made(gemm(64, f'{plain}\nmma(0, "j")'))
    assert isinstance(refusal, Diagnostic)
    assert refusal.code == "AT264"


@pytest.mark.alike(4)
@pytest.mark.parametrize("a", ["A[i][l]", "A[l][i]"])
@pytest.mark.parametrize("b", ["B[l][j]", "B[j][l]"])
def test_the_lanes_of_a_warp_meet_in_no_bank(a: str, b: str) -> None:
    one = decided_text(gemm(1024).replace("A[i][l]", a).replace("B[l][j]", b), AUTO)
    (kernel,) = one.plan().kernels()
    found = shared_accesses(kernel, one.region.sizes)
    assert sum(not access.is_filling for access in found) == 2
    assert conflict_factor(found, filling=False) == 1.0
    assert conflict_factor(found, filling=True) == 1.0


@pytest.mark.parametrize("text", [gemm(64, RECIPE), gemm(1024), gemm(129)])
def test_each_iteration_is_proven_to_run_once(text: str) -> None:
    one = decided_text(text, AUTO)
    assert verify(certify(one.analysis, one.plan())) == ()


def test_copies_that_run_ahead_begin_between_instructions(tmp_path: Path) -> None:
    text = emitted(tmp_path, gemm(48, f"{RECIPE.replace('step=8', 'step=16')}\npipeline(0, 3)"))
    kernel = text.files[".cu"]
    # Until the last tiles but two nothing is asked. The first operands are loaded before them all,
    # then in each round those of the next one, in the last round behind the wait for the next tile.
    wait = "__pipeline_wait_prior(1);"
    parts = (
        *(wait, "annotune_left[0][annotune_row] ="),
        *("if (l_t + 32 < k) {", "annotune_left[annotune_round % 2][annotune_row] ="),
        *(" == annotune_round - 1) {", "if (annotune_round - 1 == 2) {", "__pipeline_commit();"),
        *("if (annotune_round == 4) {", wait, "annotune_left[0][annotune_row] ="),
        *("annotune_mma_m16n8k4(annotune_s", "else {"),
        *("if (annotune_round == 4 && l_t + 16 < k) {", wait, "annotune_mma_m16n8k4(annotune_s"),
    )
    places, start = [], kernel.index("for (int l_t_first")
    for part in parts:
        start = kernel.index(part, start)
        places.append(start)
    assert kernel[places[2] : places[-1]].count(wait) == 2


# Whole tiles and cut ones, sums with something left of them, and next to nothing.
CALLS = ((32, 32, 32), (19, 19, 19), (33, 17, 6), (1, 1, 1), (36, 36, 36))
# Steps of an instruction and of a stage, the tuned size, and what else is asked.
RINGS = (
    (4, 8, 32, ""),
    (8, 8, 19, "pipeline(S, 2)"),
    (4, 8, 32, "pipeline(S, 3)\nvectors(S, copied=2)"),
    (16, 16, 19, "stream(S)"),
    (4, 12, 36, "pipeline(S, 3)\nvectors(S, copied=2)"),
    (16, 16, 32, "pipeline(S, 2)"),
)


def test_sums_are_right_at_every_size(tmp_path: Path) -> None:
    texts, calls = [], []
    for number, (steps, stage, size, ring) in enumerate(RINGS):
        recipe = RECIPE.replace('(0, "l")', f'(0, "l", steps={steps})').replace(
            "step=8", f"step={stage}"
        )
        text = gemm(size, f"{recipe}\n{ring.replace('S', '0')}", f"f{number}")
        texts.append(text.replace("+=", "-=") if number % 2 else text)
        with_scalar = with_sum(size, f"{OF_SUM}\n{ring.replace('S', '1')}", f"g{number}")
        texts += [with_scalar] if number == 1 else []
        for m, n, k in CALLS:
            buffers, arrays = (m * n, m * k, k * n), tuple(map(Part, range(3)))
            calls.append(Call(f"f{number}", (m, n, k, *arrays), buffers))
            if number == 1:
                calls.append(Call(f"g{number}", (m, n, k, 2.0, *arrays), buffers))
    program = executable(tmp_path, "\n".join(texts))
    # Some threads have no part in some copies of tiles that are cut short.
    assert "annotune_is_there, annotune_thread < 24" in program.cuda
    for steps, *_ in RINGS:
        assert f"annotune_mma_m16n8k{steps}(annotune_sums" in program.cuda
    program.check(*calls, launches=True)


JOINT = """\
void f(int n, double D[restrict n][n], const double A[restrict n][n], const double B[restrict n][n],
       const double C[restrict n][n], const double E[restrict n][n])
{
    /*@ begin PerfTuning ( def input_params { param n = 32; } ) @*/
    /*@ begin CHiLL (
        target("cuda")
        distribute(0,1)
        TILES(0, k)
        TILES(1, l)
        fuse(0,1, loop="i_w")
        cuda(0, block={"j_t","i_t"}, thread={"j_w","i_w"})
        stage(0, "A", "k", order=(("i",96),("i_w",12),("k",1)))
        stage(0, "B", "k", order=(("k",18),("j",4),("j_w",1)))
        stage(1, "C", "l", order=(("i",96),("i_w",12),("l",1)))
        stage(1, "E", "l", order=(("l",18),("j",4),("j_w",1)))
        hold(0, "k_t", others=1)
        pad(0, ("j_w","i_w","j","i"))
        pad(1, ("j_w","i_w","j","i"))
        mma(0, "k")
        mma(1, "l", steps=8)
    ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                D[i][j] += A[i][k] * B[k][j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int l = 0; l < n; l++)
                D[i][j] -= C[i][l] * E[l][j];
    /*@ end @*/
    /*@ end @*/
}
"""


def test_two_sums_in_one_block_of_registers(tmp_path: Path) -> None:
    text = JOINT
    for number, total in enumerate("kl"):
        tiles = f"""tile({number}, "j", 16) tile({number}, "i", 16) tile({number}, "{total}", 8)
        cyclic({number}, "j", 4) cyclic({number}, "i", 8)
        permute({number}, ("j_t","i_t","j_w","i_w","{total}_t","{total}","j","i"))"""
        text = text.replace(f"TILES({number}, {total})", tiles)
    program = executable(tmp_path, text)
    for steps in (4, 8):
        assert f"annotune_mma_m16n8k{steps}(annotune_sums" in program.cuda
    calls = [Call("f", (n, *map(Part, range(5))), (n * n,) * 5) for n in (32, 21, 3)]
    program.check(*calls, launches=True)
