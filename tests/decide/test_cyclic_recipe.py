"""``cyclic`` in a recipe: where the workers run, and that every target keeps the result."""

from __future__ import annotations

from pathlib import Path

import pytest
from decide.recipes import Decided, decided_text
from support.executed import Call, Part, executable

from annotune.annotation.commands import parse_recipe, recipe_text
from annotune.annotation.grammar import Origin
from annotune.certify.certificate import verify
from annotune.certify.kernels import certify
from annotune.ir.nest import Level
from annotune.strategies.openacc import acc_levels, in_form

TEXT = """\
void f(int n, long m, double *restrict a, const double *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 150; param m = 70; } ) @*/
    /*@ begin CHiLL (
        RECIPE
    ) @*/
    for (int i = 0; i < n; i++)
        for (long j = 2; j < m; j += 3)
            a[i*m + j] += 2.0 * b[j*n + i];
    /*@ end @*/
    /*@ end @*/
}
"""
RECIPES = {
    "named": 'tile(0, "j", 12) cyclic(0, "j", 4) cuda(0, block={"j_t","i"}, thread={"j_w"})',
    "left to the rules": 'cyclic(0, "j", 8)',
    "in tiles, left to the rules": 'tile(0, "i", 32) cyclic(0, "i", 8)',
    "workers on blocks": 'cyclic(0, "i", 7) cuda(0, block={"i_w"}, thread={"j"}) unroll(0, "i", 2)',
    "what is dealt on threads": 'cyclic(0, "j", 5) cuda(0, block={"i","j_w"}, thread={"j"})',
}


def made(recipe: str) -> Decided:
    return decided_text(TEXT.replace("RECIPE", recipe))


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=list(RECIPES))
def test_a_recipe_has_a_plan_with_a_certificate(recipe: str) -> None:
    one = made(recipe)
    assert verify(certify(one.analysis, one.plan())) == ()
    again = made(one.recipe().partition("\n")[2] if "UF" in one.recipe() else one.recipe())
    assert again.plan({}).scheduled() == one.plan({}).scheduled()


def test_workers_stand_where_the_rules_had_the_loop() -> None:
    choice = made(RECIPES["left to the rules"]).decision.choices[0]
    assert "j_w" in (*choice.blocks, *choice.threads)
    tiled = made(RECIPES["in tiles, left to the rules"]).decision.choices[0]
    assert "i_w" in (*tiled.blocks, *tiled.threads)


def test_openacc_has_workers_inside_their_tiles() -> None:
    one = made(RECIPES["named"])
    (unit,) = one.base.apart
    levels = acc_levels(in_form(unit, one.decision.choices[0]))
    assert levels["j_w"] is Level.VECTOR
    assert levels["j_t"] is Level.GANG


def test_what_the_threads_run_is_right_at_every_size(tmp_path: Path) -> None:
    texts = [
        TEXT.replace("RECIPE", recipe).replace("void f(", f"void f{number}(")
        for number, recipe in enumerate(RECIPES.values())
    ]
    program = executable(tmp_path, "\n".join(texts))
    calls = [
        Call(f"f{number}", (n, m, Part(0), Part(1)), (n * m, n * m))
        for number in range(len(RECIPES))
        for n, m in ((150, 70), (1, 3), (7, 41), (33, 2))
    ]
    program.check(*calls)


def test_older_words_are_read_as_those_of_today() -> None:
    texts = (
        'target("cuda") deal(0, "j", 5) elsewhere()',
        'target("cuda") cyclic(0, "j", 5) other_sizes()',
    )
    older, newer = (parse_recipe(text, Origin.at("f.c", text)).commands for text in texts)
    assert [command.name for command in older] == ["target", "cyclic", "other_sizes"]
    assert recipe_text(older) == recipe_text(newer)
