"""More parallel loops than the thesis has axes for: the longest of them is not left to threads."""

from __future__ import annotations

from pathlib import Path

import pytest
from decide.recipes import Decided, decided_text, pasted
from support.executed import Call, Part, executable

from annotune.certify.certificate import verify
from annotune.certify.kernels import certify

# Equation 4 of Abdelfattah et al., ICCS 2016, as it stands.
ASSEMBLY = """\
void f(int m, int d, int q, double M[restrict m][d][d][d][d], const double B[restrict q][d],
       const double D[restrict m][q])
{
    /*@ begin PerfTuning (
      def input_params { param m = ELEMENTS; param d = DOFS; param q = 3; }
    ) @*/
    for (int e = 0; e < m; e++)
        for (int i = 0; i < d; i++)
            for (int j = 0; j < d; j++)
                for (int k = 0; k < d; k++)
                    for (int l = 0; l < d; l++)
                        for (int p = 0; p < q; p++)
                            M[e][i][j][k][l] += B[p][i] * B[p][j] * B[p][k] * B[p][l] * D[e][p];
    /*@ end @*/
}
"""


def assembly(elements: int, dofs: int) -> Decided:
    text = ASSEMBLY.replace("ELEMENTS", str(elements)).replace("DOFS", str(dofs))
    return decided_text(text)


@pytest.mark.parametrize(
    ("elements", "dofs", "is_placed"),
    [(10000, 5, True), (6, 5, True), (5, 5, False), (4, 5, False), (40, 32, False)],
)
def test_a_loop_longer_than_those_on_blocks_is_one_of_them(
    elements: int, dofs: int, is_placed: bool
) -> None:
    choice = assembly(elements, dofs).decision.choices[0]
    assert ("e" in choice.blocks) is is_placed
    assert choice.threads == ("l", "k")
    if is_placed:
        assert choice.blocks == ("e", "j", "i")
        why = "block.x: e (longer than the others, which fill no device)"
        assert why in map(str, choice.reasons)


def test_each_iteration_runs_once() -> None:
    one = assembly(1000, 4)
    assert verify(certify(one.analysis, one.plan())) == ()


def test_the_recipe_asks_for_the_same_plan() -> None:
    own = assembly(1000, 4)
    text = ASSEMBLY.replace("ELEMENTS", "1000").replace("DOFS", "4")
    again = decided_text(pasted(text, own.region, own.recipe()))
    assert again.plan().steps == own.plan().steps


def test_it_is_right_at_every_size(tmp_path: Path) -> None:
    text = ASSEMBLY.replace("ELEMENTS", "50").replace("DOFS", "3")
    program = executable(tmp_path, text, strategy="direct")
    calls = [
        Call("f", (m, d, q, Part(0), Part(1), Part(2)), (m * d**4, q * d, m * q))
        for m, d, q in ((50, 3, 3), (1, 1, 1), (7, 2, 5), (3, 6, 2))
    ]
    program.check(*calls, launches=True)
