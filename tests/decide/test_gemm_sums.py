"""The tile of a product whose sums are private scalars: an element for each output of a thread."""

from __future__ import annotations

from pathlib import Path

import pytest
from decide.gemm_texts import ROLES, SHAPES, VARIANTS, on_vectors, tile_of, with_sum
from decide.recipes import decided_text
from machine_code.shared import conflict_factor, shared_accesses
from support.executed import Call, Part, executable
from support.laws import in_turn

from annotune.certify.certificate import verify
from annotune.certify.kernels import certify
from annotune.diagnostics import AnnotuneError
from annotune.ir.nest import LocalArray, walk_stmts
from annotune.strategies.registry import AUTO


def test_a_private_sum_has_an_element_for_each_output() -> None:
    one = on_vectors(decided_text(with_sum(1024), AUTO))
    assert [size for _, size in tile_of(one).extents] == [16, 8, 8, 8, 16]
    plan = one.plan()
    (kernel,) = plan.kernels()
    arrays = [s for s in walk_stmts(kernel.body) if isinstance(s, LocalArray)]
    assert [(a.name, a.extents) for a in arrays if a.stands_for] == [("sum_block", (8, 8))]
    assert verify(certify(one.analysis, plan)) == ()
    found = shared_accesses(kernel, one.region.sizes)
    assert conflict_factor(found, filling=False) == 1.0


def test_the_recipe_of_a_private_sum_names_the_statement_that_adds() -> None:
    own = decided_text(with_sum(1024), AUTO)
    assert own.recipe().startswith('contract(1, thread={"j","i"}, register={"j","i"}, sum="l"')
    pasted = decided_text(with_sum(1024, own.recipe()), AUTO)
    assert pasted.plan().steps == own.plan().steps
    assert pasted.recipe() == own.recipe()
    with pytest.raises(AnnotuneError, match="statement 1 cannot have this tile"):
        decided_text(with_sum(64, own.recipe().replace('sum="l"', 'sum="j"')), AUTO)


NO_SUM = {
    "double sum = 2.0 * C[i][j];": "double sum = 2.0 * A[j][i];",
    "C[i][j] = alpha * sum;": "C[i][j] = alpha * sum; A[i][j] = sum;",
    "sum += A[i][l] * B[l][j];": "sum = fmax(sum, A[i][l] * B[l][j]);",
}


def test_what_is_made_of_the_sum_may_be_anything() -> None:
    for old, new in list(NO_SUM.items())[:1]:
        assert tile_of(decided_text(with_sum(1024).replace(old, new), AUTO))


@pytest.mark.parametrize("old", list(NO_SUM)[1:])
def test_other_sums_have_no_tile(old: str) -> None:
    text = with_sum(1024).replace(old, NO_SUM[old]).replace("const double A", "double A")
    assert decided_text(text, AUTO).decision.choices[0].contract is None


def test_the_loop_of_a_private_sum_must_be_in_registers() -> None:
    text = with_sum(64).replace("C[restrict m][n]", "C[restrict m][n][n]")
    text = text.replace("B[restrict k][n]", "B[restrict k][n][n]").replace("B[l][j]", "B[l][q][j]")
    text = text.replace("C[i][j]", "C[i][q][j]").replace("j < n; j++) {", "j < n; j++) Q {")
    text = text.replace("Q", "for (int q = 0; q < n; q++)")
    one = decided_text(text, AUTO)
    assert 'register={"q","i"}' in one.recipe()
    recipe = (
        one.recipe().replace('{"j","i"}', '{"q","i"}').replace('register={"q"', 'register={"j"')
    )
    pasted = text.replace("for (int i", f"/*@ begin CHiLL (\n{recipe}) @*/\nfor (int i", 1)
    pasted = pasted.replace("    /*@ end @*/\n}", "/*@ end @*/\n/*@ end @*/\n}")
    with pytest.raises(AnnotuneError, match="each iteration of q has a sum"):
        decided_text(pasted, AUTO)


def test_private_sums_are_right_at_every_size(tmp_path: Path) -> None:
    texts, calls = [], []
    for number, (assign, stage) in enumerate(VARIANTS):
        recipe = f"{ROLES.replace('0', '1', 1)}{SHAPES[0]}, {assign}, {stage})"
        # A whole number of tiles, and none: each of both with half of the variants.
        for size in in_turn((24, 19), number):
            name = f"f{number}_{size}"
            texts.append(with_sum(size, recipe, name))
            for m, n, k in ((size, size, size), (1, 1, 1), (13, 7, 5), (2, 25, 9)):
                buffers = (m * n, m * k, k * n)
                calls.append(Call(name, (m, n, k, 2.0, Part(0), Part(1), Part(2)), buffers))
    program = executable(tmp_path, "\n".join(texts), strategy=AUTO)
    program.check(*calls, launches=True)
