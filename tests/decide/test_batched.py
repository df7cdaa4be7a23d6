"""Several small products to a block: where that is chosen, what of, and is it right."""

from __future__ import annotations

from pathlib import Path

import pytest
from decide.gemm_texts import gemm
from decide.recipes import Decided, decided_example, decided_text
from machine_code.shared import conflict_factor, shared_accesses
from support.executed import Call, Part, executable

from annotune.certify.certificate import verify
from annotune.certify.kernels import certify
from annotune.diagnostics import AnnotuneError
from annotune.schedule.candidate import ContractionTile
from annotune.strategies.batched import batched
from annotune.strategies.registry import AUTO
from annotune.transforms.cache import Resident
from annotune.transforms.stage import Stage

PRODUCTS = """\
void NAME(int m, int p, int q, int r, double C[restrict m][p][q], const double A[restrict A_SHAPE],
          const double B[restrict m][r][q])
{
    /*@ begin PerfTuning (
      def input_params { param m = BATCH; param p = P; param q = Q; param r = R; }
    ) @*/
    RECIPE
    for (int e = 0; e < m; e++)
        for (int i = 0; i < p; i++)
            for (int j = 0; j < q; j++)
                for (int k = 0; k < r; k++)
                    C[e][i][j] += A_READ * B[e][k][j];
    CLOSED
    /*@ end @*/
}
"""
KINDS = {
    "plain": ("m][p][r", "A[e][i][k]"),
    "transposed": ("m][r][p", "A[e][k][i]"),
    "innermost": ("p][r][m", "A[i][k][e]"),
    "shared": ("p][r", "A[i][k]"),
}


def products(
    sizes: tuple[int, int, int], kind: str = "plain", batch: int = 20000, recipe: str = ""
) -> str:
    shape, read = KINDS[kind]
    text = PRODUCTS.replace("A_SHAPE", shape).replace("A_READ", read)
    opened = f"/*@ begin CHiLL (\n{recipe}\n) @*/" if recipe else ""
    text = text.replace("RECIPE", opened).replace("CLOSED", "/*@ end @*/" if recipe else "")
    for name, value in zip(("BATCH", "P", "Q", "R"), (batch, *sizes), strict=True):
        text = text.replace(f"= {name};", f"= {value};")
    return text.replace("NAME", kind)


def square(n: int, batch: int = 100_000, strategy: str = "batched") -> Decided:
    sizes = {"batch": batch, "n": n}
    return decided_example("gemm/batched.c", "batched_gemm", strategy, sizes=sizes)


def tile_of(one: Decided) -> ContractionTile:
    choice = one.decision.choices[0]
    assert choice.origin == "batched"
    assert choice.contract is not None
    return choice.contract


@pytest.mark.parametrize(
    ("n", "threads", "outputs"),
    [
        (2, (2, 1, 32), (1, 2)),
        (5, (5, 1, 25), (1, 5)),
        (8, (4, 4, 4), (2, 2)),
        (12, (4, 6, 4), (3, 2)),
        (16, (8, 4, 2), (2, 4)),
        (32, (16, 8, 1), (2, 4)),
    ],
)
def test_a_block_has_as_many_products_as_fill_its_lanes(
    n: int, threads: tuple[int, ...], outputs: tuple[int, ...]
) -> None:
    tile = tile_of(square(n))
    assert tuple(size for _, size in (tile.thread_x, tile.thread_y, tile.thread_z)) == threads
    assert (tile.register_x[1], tile.register_y[1]) == outputs
    assert tile.contracted == ("k", n)


@pytest.mark.parametrize("n", [2, 4, 8, 16, 32])
def test_it_is_first_where_the_cache_is_asked_too_often_or_lanes_are_idle(n: int) -> None:
    assert square(n, strategy=AUTO).decision.choices[0].origin == "batched"


def test_a_short_sum_finds_what_it_needs_in_the_cache() -> None:
    choice = decided_text(products((8, 8, 2)), AUTO).decision.choices[0]
    assert choice.origin == ""
    said = "asks the cache for all that is there 1.3 times alone"
    assert any(said in str(reason) for reason in choice.reasons), choice.reasons


def test_the_products_have_the_only_axis_that_is_long_enough() -> None:
    assert square(32).decision.choices[0].blocks[0] == "b"
    assert square(8, 2_000_000).decision.choices[0].blocks[0] == "b_t"


@pytest.mark.parametrize("n", [2, 5, 8, 12, 16, 24, 32])
def test_no_bank_is_asked_twice_while_multiplying(n: int) -> None:
    one = square(n)
    (kernel,) = one.plan().kernels()
    found = shared_accesses(kernel, one.region.sizes)
    assert conflict_factor(found, filling=False) == 1.0


def test_blocks_have_room_beside_each_other() -> None:
    choice = square(8).decision.choices[0]
    assert [step.blocks for step in choice.of(Resident)] == [20]
    assert choice.general is not None
    assert not choice.general.of(Resident)


@pytest.mark.alike(4)
@pytest.mark.parametrize("sizes", [(8, 8, 8), (3, 20, 5), (7, 4, 11)])
@pytest.mark.parametrize("kind", KINDS)
def test_every_point_has_a_certificate(kind: str, sizes: tuple[int, int, int]) -> None:
    one = decided_text(products(sizes, kind), "batched")
    (unit,) = one.base.apart
    choices = batched(unit)
    assert not isinstance(choices, str)
    tile_of(one)
    assert verify(certify(one.analysis, one.plan())) == ()


def test_products_with_a_common_operand_come_later() -> None:
    one = decided_text(products((8, 8, 8), "shared"), AUTO)
    assert one.decision.choices[0].origin != "batched"
    said = "strategy: direct (batched comes later: all products have the same A)"
    assert said in [str(reason) for reason in one.decision.choices[0].reasons]
    assert any(c.origin == "batched" for p in one.space.points() for c in p.picked.values() if c)


ELSE = {
    (8, 33, 8): "j has more than 32 iterations, or none that are known",
    (33, 8, 8): "i has more than 32 iterations, or none that are known",
}


@pytest.mark.parametrize("sizes", ELSE)
def test_the_reason_for_which_it_does_not_apply(sizes: tuple[int, int, int]) -> None:
    (unit,) = decided_text(products(sizes), AUTO).base.apart
    assert batched(unit) == ELSE[sizes]


def test_points_read_what_is_there_without_copies() -> None:
    (unit,) = decided_text(products((8, 8, 8)), AUTO).base.apart
    choices = batched(unit)
    assert not isinstance(choices, str)
    plain = [c for c in choices if c.contract is not None and not c.contract.stage_x]
    assert plain
    assert not any(choice.of(Stage) for choice in plain)


def test_few_products_leave_a_device_idle() -> None:
    (unit,) = decided_text(products((8, 8, 8), batch=100), AUTO).base.apart
    assert batched(unit) == "no loop beside i and j makes 108 blocks of several products"
    (unit,) = decided_text(gemm(16), AUTO).base.apart
    assert batched(unit) == "no loop beside i and j makes 108 blocks of several products"


def test_the_recipe_asks_for_the_same_plan() -> None:
    own = decided_text(products((8, 8, 8)), "batched")
    assert 'thread={"j","i","e"}' in own.recipe()
    assert "thread_z=4" in own.recipe()
    again = decided_text(products((8, 8, 8), recipe=own.recipe()), AUTO)
    assert again.plan().steps == own.plan().steps
    assert again.recipe() == own.recipe()


SHAPE = 'register={"j","i"}, sum="k", thread_x=4, thread_y=4, register_x=2, register_y=2, step=8'
WRONG = {
    'thread={"j","i","j"}, thread_z=4': "'contract' names loop 'j' twice",
    'thread={"j","i","k"}, thread_z=4': "k: no loop of the output beside those of the tile",
    'thread={"j","i","e"}, thread_z=65': "a block would have 65 threads along z, more than 64",
}


@pytest.mark.parametrize("words", WRONG)
def test_what_a_recipe_may_not_ask_along_z(words: str) -> None:
    text = products((8, 8, 8), recipe=f"contract(0, {words}, {SHAPE})")
    with pytest.raises(AnnotuneError) as refusal:
        decided_text(text, AUTO)
    (problem,) = refusal.value.diagnostics
    assert WRONG[words] in problem.message


def test_batches_are_right_at_every_size(tmp_path: Path) -> None:
    texts = [products(sizes, kind, 450) for kind, sizes in zip(KINDS, SIZES, strict=True)]
    program = executable(tmp_path, "\n".join(texts), strategy="batched")
    calls = []
    for kind, tuned in zip(KINDS, SIZES, strict=True):
        for m, p, q, r in ((450, *tuned), (1, 1, 1, 1), (7, 5, 3, 2), (2, 9, 34, 13)):
            a = p * r * (1 if kind == "shared" else m)
            buffers = (m * p * q, a, m * r * q)
            calls.append(Call(kind, (m, p, q, r, Part(0), Part(1), Part(2)), buffers))
    program.check(*calls, launches=True)


# Tiles that fill their loops, and that do not.
SIZES = ((8, 8, 8), (5, 7, 3), (4, 12, 4), (11, 6, 5))
