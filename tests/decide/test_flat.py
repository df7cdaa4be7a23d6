"""Loops that run as one without a tile of a contraction: elementwise nests, and sums."""

from __future__ import annotations

from pathlib import Path

import pytest
from decide.recipes import decided_text
from support.executed import Call, Part, executable
from support.interpreter import assert_same, plan_body

from annotune.certify.certificate import verify
from annotune.certify.kernels import certify
from annotune.schedule.candidate import Candidate
from annotune.space.decision import Point
from annotune.strategies.pointwise import elementwise
from annotune.strategies.registry import AUTO, DIRECT, made, others


def text_of(loops: str, parameters: str, statement: str, recipe: str = "", **sizes: int) -> str:
    """Return one statement under loops, each as long as the size of its letter and an n."""
    given = " ".join(f"param {name} = {value};" for name, value in sizes.items())
    fors = " ".join(f"for (int {x} = 0; {x} < n{x}; {x}++)" for x in loops)
    own = f"/*@ begin CHiLL ( {recipe} ) @*/\n" if recipe else ""
    return (
        f"void f({', '.join(f'int n{x}' for x in loops)}, {parameters})\n{{\n"
        f"/*@ begin PerfTuning ( def input_params {{ {given} }} ) @*/\n{own}"
        f"{fors}\n    {statement}\n{'/*@ end @*/' if recipe else ''}/*@ end @*/\n}}\n"
    )


SIZES = {"ni": 7, "nj": 6, "nk": 5, "nl": 9}
ROWS = ("double A[restrict ni][nj][nk][nl], const double B[restrict ni][nj][nk][nl]",
        "A[i][j][k][l] += 2.0 * B[i][j][k][l];")  # fmt: skip
TURNED = ("double A[restrict ni][nj][nk][nl], const double B[restrict nl][nk][nj][ni]",
          "A[i][j][k][l] = 2.0 * B[l][k][j][i];")  # fmt: skip
KINDS = {"rows": ROWS, "turned": TURNED}
SUMMED = (
    "double C[restrict ni][nj], const double A[restrict ni][nk][nl], "
    "const double B[restrict nl][nk][nj]"
)
SUM = "C[i][j] += A[i][k][l] * B[l][k][j];"


@pytest.mark.parametrize("kind", KINDS)
def test_short_rows_run_as_one_loop_first(kind: str) -> None:
    one = decided_text(text_of("ijkl", *KINDS[kind], **SIZES), AUTO)
    (choice,) = one.decision.choices
    assert choice.merges == (("i", "j", "k", "l"),)
    assert (choice.tiles, choice.threads) == ((("ijkl", 256),), ("ijkl",))
    decoded = ", worked out by each thread elsewhere" if kind == "turned" else ""
    assert f"rows of 9 fill no warps; one index for all{decoded})" in str(choice.reasons[-1])
    assert choice.general is not None
    assert choice.general.merges == ()
    direct = decided_text(text_of("ijkl", *KINDS[kind], **SIZES), DIRECT).decision.choices[0]
    assert direct.merges == ()


def test_whole_warps_stay_as_they_are() -> None:
    (unit,) = decided_text(text_of("ijkl", *ROWS, ni=50, nj=6, nk=5, nl=64)).base.apart
    found = elementwise(unit)
    assert not isinstance(found, str)
    assert not any(choice.merges for choice in found)


def test_rows_of_many_warps_stay_first() -> None:
    parameters = "double A[restrict ni][nj], const double B[restrict ni][nj]"
    text = text_of("ij", parameters, "A[i][j] = 2.0 * B[i][j];", ni=1000, nj=1000)
    (unit,) = decided_text(text).base.apart
    found = elementwise(unit)
    assert not isinstance(found, str)
    assert not found[0].merges
    assert found[-1].merges


@pytest.mark.parametrize("kind", KINDS)
def test_every_point_is_certified_and_does_the_same(kind: str) -> None:
    one = decided_text(text_of("ijkl", *KINDS[kind], **SIZES))
    (unit,) = one.base.apart
    found = [choice for choice in made(unit, "elementwise").first if choice.merges]
    assert len({choice.max_blocks for choice in found}) > 1
    for choice in found:
        plan = one.at(Point(picked={0: choice})).plan()
        assert verify(certify(one.analysis, plan)) == ()
        assert_same(plan_body(plan), one.region, private=one.analysis.homes)


@pytest.mark.parametrize("kind", KINDS)
def test_the_recipe_asks_for_the_same_plan(kind: str) -> None:
    one = decided_text(text_of("ijkl", *KINDS[kind], **SIZES), AUTO)
    again = decided_text(text_of("ijkl", *KINDS[kind], recipe=one.recipe(), **SIZES), AUTO)
    assert again.plan().steps == one.plan().steps
    assert again.recipe() == one.recipe()


def test_generated_text_divides_once_and_is_right_at_every_size(tmp_path: Path) -> None:
    program = executable(tmp_path, text_of("ijkl", *TURNED, **SIZES), strategy=AUTO)
    assert program.cuda.count("long k = ijkl / 9 % 5;") == 1
    assert program.cuda.count("long l = ijkl % 9;") == 1
    sizes = (tuple(SIZES.values()), (1, 1, 1, 1), (2, 3, 4, 5), (9, 5, 6, 7))
    program.check(
        *(Call("f", (*n, Part(0), Part(1)), (n[0] * n[1] * n[2] * n[3],) * 2) for n in sizes)
    )


# Loops of a sum --------------------------------------------------------------------------------


def summed(recipe: str = 'merge(0, ("k","l"))') -> str:
    return text_of("ijkl", SUMMED, SUM, recipe, **SIZES)


def first(text: str) -> Candidate:
    return decided_text(text).decision.choices[0]


def test_loops_of_a_sum_are_one_loop_of_a_thread() -> None:
    choice = first(summed())
    assert (choice.merges, choice.registers) == ((("k", "l"),), ((0, "kl"),))
    assert choice.threads == ("j", "i")
    # B has them in the other order: every copy of the body would divide anew.
    assert choice.unroll == ()
    same = summed().replace("B[l][k][j]", "B[k][l][j]").replace("nl][nk][nj]", "nk][nl][nj]")
    assert first(same).unroll == ((0, "kl", 9),)


def test_loops_of_a_sum_and_parallel_ones_do_not_mix() -> None:
    with pytest.raises(Exception, match="'k' may not run in parallel, or is none of the kernel's"):
        decided_text(summed('merge(0, ("j","k"))'))


def test_sums_over_loops_as_one_are_certified_and_right(tmp_path: Path) -> None:
    text = summed('merge(0, ("k","l")) merge(0, ("i","j"))')
    one = decided_text(text)
    assert verify(certify(one.analysis, one.plan())) == ()
    program = executable(tmp_path, text)
    sizes = (tuple(SIZES.values()), (1, 1, 1, 1), (2, 3, 4, 5))
    program.check(
        *(
            Call(
                "f",
                (*n, Part(0), Part(1), Part(2)),
                (n[0] * n[1], n[0] * n[2] * n[3], n[1] * n[2] * n[3]),
            )
            for n in sizes
        )
    )


def test_every_strategy_says_why_it_was_taken_or_not() -> None:
    text = text_of("ijkl", *ROWS, **SIZES)
    one = decided_text(text, AUTO)
    (unit,) = one.base.apart
    said = " ".join(others(unit, one.decision.choices[0], AUTO))
    assert "two-level, gemm and batched do not apply: " in said
    assert "stencil does not apply: no array is read at several places around one" in said
    assert "reduction does not apply: " in said
    assert "elementwise" not in said
    direct = decided_text(text, DIRECT).decision.choices[0]
    assert "elementwise applies too" in " ".join(others(unit, direct, AUTO))
