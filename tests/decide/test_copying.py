"""The commands `stage`, `hold` and `pad`: what they ask for, alone and beside others."""

from __future__ import annotations

from pathlib import Path

import pytest
from decide.recipes import decided_text
from support.executed import Call, Part, executable
from support.interpreter import assert_same, plan_body

from annotune.diagnostics import AnnotuneError
from annotune.ir.nest import LocalArray, MemorySpace, walk_stmts
from annotune.schedule.plan import Plan
from annotune.strategies.registry import AUTO


def product(recipe: str, n: int = 24) -> str:
    """Return a product of matrices with a recipe."""
    return (
        "void f(int n, double C[restrict n][n], const double A[restrict n][n],\n"
        "       const double B[restrict n][n])\n{\n"
        f"/*@ begin PerfTuning ( def input_params {{ param n = {n}; }} ) @*/\n"
        f"/*@ begin CHiLL (\n{recipe}\n) @*/\n"
        "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)\n"
        "C[i][j] += A[i][k] * B[k][j];\n/*@ end @*/\n/*@ end @*/\n}\n"
    )


def locals_of(plan: Plan) -> list[tuple[str, MemorySpace]]:
    """Return the local arrays of the only kernel, outermost first."""
    (kernel,) = plan.kernels()
    return [(s.name, s.space) for s in walk_stmts(kernel.body) if isinstance(s, LocalArray)]


TILED = 'tile(0, "i", 4)\ntile(0, "j", 8)\ntile(0, "k", 6)\n'
MAPPED = 'cuda(0, block={"j_t","i_t"}, thread={"j","i"})\n'
SHARED, PRIVATE = MemorySpace.SHARED, MemorySpace.PRIVATE


@pytest.mark.alike(2)
@pytest.mark.parametrize(
    ("recipe", "found"),
    [
        (f'{TILED}{MAPPED}stage(0, "A", "k", padding=1)', [("A_tile", SHARED)]),
        (
            f'{TILED}{MAPPED}stage(0, "A", "k")\nstage(0, "B", "k", order={{"j","k"}})',
            [("A_tile", SHARED), ("B_tile", SHARED)],
        ),
        (
            f'{TILED}{MAPPED}stage(0, "A", "k", memory="registers")',
            [("A_tile", PRIVATE)],
        ),
        (
            'permute(0, ("j","k","i"))\ntile(0, "i", 5)\ncuda(0, block={"i_t"}, thread={"j"})\n'
            'hold(0, "k")\npad(0, ("i"))',
            [("C_block", PRIVATE)],
        ),
        (
            f'{TILED}permute(0, ("i_t","j_t","j","k_t","k","i"))\n'
            'cuda(0, block={"j_t","i_t"}, thread={"j"})\nhold(0, "k_t")\nstage(0, "A", "k")',
            [("C_block", PRIVATE), ("A_tile", SHARED)],
        ),
    ],
)
def test_what_a_recipe_copies(recipe: str, found: list[tuple[str, MemorySpace]]) -> None:
    one = decided_text(product(recipe), AUTO)
    plan = one.plan()
    assert locals_of(plan) == found
    assert_same(plan_body(plan), one.region, {"n": 24})
    assert_same(plan_body(one.plan({})), one.region, {"n": 13})
    again = decided_text(product(one.recipe()), AUTO)
    assert again.recipe() == one.recipe()
    assert again.plan().steps == plan.steps


def test_threads_that_fill_a_copy_run_whole_tiles() -> None:
    one = decided_text(product(f'{TILED}{MAPPED}stage(0, "A", "k")'), AUTO)
    assert 'pad(0, ("i","j"))' in one.recipe()


def test_a_contraction_has_its_own_copies() -> None:
    loops = 'thread={"j","i"}, register={"k","l"}, sum="k"'
    tile = f"contract(0, {loops}, thread_x=8, thread_y=4, register_x=4, register_y=4, step=8)"
    text = product(f'{tile}\nstage(0, "A")').replace(
        "int k = 0", "int l = 0; l < 2; l++) for (int k = 0"
    )
    with pytest.raises(AnnotuneError, match="it has its own copies"):
        decided_text(text, AUTO)


def test_copies_that_only_the_tuned_sizes_allow_are_left_out_at_others(tmp_path: Path) -> None:
    recipe = 'cuda(0, block={"i"}, thread={"j"}, max_blocks=5)\nstage(0, "A", "k")'
    program = executable(tmp_path, product(recipe, n=16), strategy=AUTO)
    assert program.cuda.count("__shared__ double A_tile") == 1
    sizes = (16, 1, 7, 33)
    program.check(*(Call("f", (n, Part(0), Part(1), Part(2)), (n * n,) * 3) for n in sizes))
