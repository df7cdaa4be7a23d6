"""The tile of a contraction whose inputs have one loop each: what is chosen, and is it right."""

from __future__ import annotations

from pathlib import Path

import pytest
from decide.gemm_texts import ROLES, SHAPES, VARIANTS, batched, gemm, on_vectors, tile_of
from decide.recipes import Decided, decided_example, decided_text
from machine_code.shared import conflict_factor, shared_accesses
from support.executed import Call, Part, executable
from support.laws import in_turn

from annotune.annotation.devices import load_device
from annotune.certify.certificate import verify
from annotune.certify.kernels import certify
from annotune.diagnostics import AnnotuneError
from annotune.ir.nest import Assign, LocalArray, Loop, MemorySpace, walk_stmts
from annotune.schedule.candidate import Assignment
from annotune.strategies.gpu_tile import NO_NEED
from annotune.strategies.gpu_tile import gemm as strategy
from annotune.strategies.registry import AUTO, DIRECT

CYCLIC, ADJACENT = Assignment.CYCLIC, Assignment.ADJACENT


def test_one_loop_of_each_input_makes_all_three_levels() -> None:
    one = on_vectors(decided_text(gemm(1024), AUTO))
    tile = tile_of(one)
    assert [loop for loop, _ in tile.extents] == ["j", "i", "j", "i", "l"]
    assert [size for _, size in tile.extents] == [16, 8, 8, 8, 16]
    assert (tile.assign_x, tile.assign_y) == (CYCLIC, ADJACENT)
    choice = one.decision.choices[0]
    assert (choice.blocks, choice.threads) == (("j_t", "i_t_t"), ("j_w", "i_t"))
    said = [str(reason) for reason in choice.reasons]
    assert said[0] == "strategy: gemm tile (a contraction of B and A; each element is used again)"
    assert "assignment: j cyclic (its threads have neighbours at once)" in said
    assert "assignment: i adjacent (its threads have neighbours of its own)" in said


@pytest.mark.alike(3)
@pytest.mark.parametrize(("size", "outputs"), [(256, (4, 4)), (512, (4, 4)), (2048, (8, 8))])
def test_small_matrices_have_smaller_tiles_for_more_blocks(
    size: int, outputs: tuple[int, int]
) -> None:
    tile = tile_of(on_vectors(decided_text(gemm(size), AUTO)))
    assert (tile.register_x[1], tile.register_y[1]) == outputs


@pytest.mark.parametrize(
    ("size", "lengths"),
    [
        (256, (4, 32, 8, 2)),
        (512, (4, 32, 8, 2)),
        (1024, (4, 64, 16, 2)),
        (4096, (4, 32, 16, 4)),
        (1536, (4, 64, 12, 2)),
    ],
)
def test_the_tensor_cores_multiply_doubles_first(size: int, lengths: tuple[int, ...]) -> None:
    tile = tile_of(decided_text(gemm(size), AUTO))
    assert tile.by_warps
    assert tuple(length for _, length in tile.extents[:4]) == lengths


def test_rows_that_memory_chooses_have_no_tile() -> None:
    text = """\
void f(int n, int m, const int row[n], const double a[n][m], const double *restrict b,
       double *restrict c)
{
    /*@ begin PerfTuning ( def input_params { param n = 200; param m = 100; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < m; k++)
                c[i*n + j] += a[row[i]][k] * b[k*n + j];
    /*@ end @*/
}
"""
    one = decided_text(text, AUTO)
    (unit,) = one.base.apart
    assert strategy(unit) == "memory decides which elements of a are multiplied"
    assert one.decision.choices[0].contract is None


@pytest.mark.parametrize(
    "text",
    [
        gemm(1024).replace("double", "float"),
        gemm(8),
        gemm(256).replace("param k = 256", "param k = 8"),
    ],
)
def test_what_is_left_to_the_vector_units(text: str) -> None:
    one = decided_text(text, AUTO)
    for unit in one.base.apart:
        choices = strategy(unit)
        tiles = [] if isinstance(choices, str) else [choice.contract for choice in choices]
        assert not any(tile is not None and tile.by_warps for tile in tiles)


def test_a_device_without_such_tensor_cores_has_no_such_points() -> None:
    one = decided_text(gemm(1024), AUTO)
    for name, is_there in (("h200", True), ("a100", True), ("v100", False)):
        picked = one.space.on(load_device(name)).first.picked[0]
        assert picked.contract is not None
        assert bool(picked.contract.by_warps) is is_there


def test_a_loop_of_both_inputs_picks_the_block() -> None:
    choice = decided_text(batched(64), AUTO).decision.choices[0]
    assert choice.blocks == ("j_t", "i_t", "e")
    assert choice.contract is not None


def test_an_input_may_have_two_loops_where_the_other_has_one() -> None:
    text = gemm(64).replace("int n,", "int n, int p,").replace("param n", "param p = 64; param n")
    text = text.replace("for (int l", "for (int q = 0; q < p; q++) for (int l")
    text = text.replace("C[restrict m][n]", "C[restrict m][p][n]").replace("[k][n]", "[k][p][n]")
    text = text.replace("B[restrict k][n]", "B[restrict k][p][n]")
    text = text.replace("C[i][j]", "C[i][q][j]").replace("B[l][j]", "B[l][q][j]")
    tile = tile_of(decided_text(text, AUTO))
    assert [loop for loop, _ in tile.extents] == ["j", "i", "q", "i", "l"]
    assert (tile.x.is_split, tile.y.is_split) == (False, True)


def test_all_assignments_and_stagings_are_points_of_the_space() -> None:
    (unit,) = decided_text(gemm(1024), AUTO).base.apart
    choices = strategy(unit)
    assert not isinstance(choices, str)
    tiles = [choice.contract for choice in choices if choice.contract is not None]
    assert len(tiles) == len(set(tiles)) == len(choices)
    assert {(t.assign_x, t.assign_y) for t in tiles} == {
        *((CYCLIC, CYCLIC), (CYCLIC, ADJACENT), (ADJACENT, ADJACENT))
    }
    assert {(t.stage_x, t.stage_y) for t in tiles} == {(True, True), (True, False), (False, True)}


ELSE = {
    "C[i][j] += A[i][l] + B[l][j];": "the statement does not accumulate a product of two array "
    "elements",
    "C[i][j] += A[i][l] * B[l][l];": "the output's contiguous loop j is not in exactly one input",
    "C[i][j] += A[l][l] * B[l][j];": "A has no loop of its own",
}


@pytest.mark.parametrize("statement", ELSE)
def test_the_reason_for_which_it_does_not_apply(statement: str) -> None:
    text = gemm(64).replace("C[i][j] += A[i][l] * B[l][j];", statement)
    (unit,) = decided_text(text, AUTO).base.apart
    assert strategy(unit) == ELSE[statement]


def test_few_outputs_for_a_thread_do_not_pay() -> None:
    (unit,) = decided_text(gemm(10), AUTO).base.apart
    assert strategy(unit) == "a thread would have 1 output"


def test_a_name_that_the_region_has() -> None:
    text = gemm(1024).replace("int n,", "int n, int j_w,").replace("< k; l", "< k - j_w; l")
    one = decided_text(text.replace("param k", "param j_w = 0; param k"), AUTO)
    (unit,) = one.base.apart
    assert strategy(unit) == "the region uses the name j_w"


def test_two_loops_of_each_input_are_for_another_strategy() -> None:
    text = gemm(64).replace("C[i][j] += A[i][l] * B[l][j];", "for (int o = 0; o < n; o++) X")
    text = text.replace(
        "X", "for (int p = 0; p < n; p++) C[i][j][o][p] += A[i][o][l] * B[l][p][j];"
    )
    text = text.replace("C[restrict m][n]", "C[restrict m][n][n][n]")
    text = text.replace("A[restrict m][k]", "A[restrict m][n][k]")
    text = text.replace("B[restrict k][n]", "B[restrict k][n][n]")
    (unit,) = decided_text(text, AUTO).base.apart
    assert strategy(unit) == NO_NEED


def triples(n: int) -> Decided:
    names = ("h3u", "h2u", "h1u", "p6u", "p5u", "p4u", "h7u")
    return decided_example("nwchem/sd_t_d1.c", "sd_t_d1_1", AUTO, sizes=dict.fromkeys(names, n))


@pytest.mark.alike(3)
@pytest.mark.parametrize(("n", "rows", "each", "held"), [(28, 4, 7, 7), (20, 4, 5, 5)])
def test_lengths_that_eight_does_not_divide_are_split_in_their_divisors(
    n: int, rows: int, each: int, held: int
) -> None:
    one = triples(n)
    assert one.decision.choices[0].contract is not None
    assert not one.decision.choices[0].contract.y.is_split
    (unit,) = one.base.apart
    choices = strategy(unit)
    assert not isinstance(choices, str)
    tile = choices[0].contract
    assert tile is not None
    assert [size for _, size in tile.extents[:4]] == [n, rows, held, each]
    assert (tile.thread_y[0], tile.register_y[0]) == ("p4", "p4")
    point = next(p for p in one.space.points() if p.picked[0].steps == choices[0].steps)
    (kernel,) = one.at(point).plan().kernels()
    assert not any(isinstance(s, Assign) and s.guard is not None for s in walk_stmts(kernel.body))


@pytest.mark.alike(2)
@pytest.mark.parametrize("n", [16, 24, 13])
def test_what_eight_divides_or_nothing_does_is_left_alone(n: int) -> None:
    (unit,) = triples(n).base.apart
    assert strategy(unit) == NO_NEED


def test_the_recipe_asks_for_the_same_plan() -> None:
    own = decided_text(gemm(1024), AUTO)
    assert 'register={"j","i"}' in own.recipe()
    assert 'step=32, assign={"cyclic","cyclic"})' in own.recipe()
    assert 'mma(0, "l")' in own.recipe()
    pasted = decided_text(gemm(1024, own.recipe()), AUTO)
    assert pasted.plan().steps == own.plan().steps
    assert pasted.recipe() == own.recipe()


WRONG = {
    'assign={"cyclic","random"}': "'random' is no assignment: cyclic, adjacent",
    'stage={"C"}': "C is no input of the statement: B, A",
}


@pytest.mark.parametrize("words", WRONG)
def test_words_that_a_recipe_may_not_say(words: str) -> None:
    sizes = "thread_x=4, thread_y=2, register_x=3, register_y=2, step=4, "
    with pytest.raises(AnnotuneError, match="cannot have this tile") as refusal:
        decided_text(gemm(20, f"{ROLES}{sizes}{words})"), AUTO)
    (problem,) = refusal.value.diagnostics
    assert (problem.code, WRONG[words] in problem.message) == ("AT309", True)


@pytest.mark.parametrize(
    "command",
    [
        'permute(0, ("j","i","l"))',
        'tile(0, "i", 8)',
        'cyclic(0, "i", 4)',
        'registers(0, "l")',
        'cuda(0, thread={"j"})',
    ],
)
def test_what_a_recipe_may_not_say_beside_it(command: str) -> None:
    sizes = "thread_x=4, thread_y=2, register_x=3, register_y=2, step=4)"
    with pytest.raises(AnnotuneError) as refusal:
        decided_text(gemm(20, f"{ROLES}{sizes} {command}"), AUTO)
    (problem,) = refusal.value.diagnostics
    word = command.partition("(")[0]
    assert problem.code == "AT309"
    assert f"'{word}' is asked for beside it" in problem.message
    assert problem.span.line


def test_some_steps_of_the_sum_are_written_out_where_they_come_out_even() -> None:
    one = on_vectors(decided_text(gemm(1024), AUTO))
    assert "unroll: l by 4" in " ".join(map(str, one.decision.choices[0].reasons))
    (kernel,) = one.plan().kernels()
    steps = {s.step for s in walk_stmts(kernel.body) if isinstance(s, Loop) and s.var == "l"}
    assert steps == {4}
    assert decided_text(gemm(1026), AUTO).decision.choices[0].unroll == ()
    sizes = "thread_x=16, thread_y=8, register_x=4, register_y=4, step=16)"
    asked = decided_text(gemm(1024, f'{ROLES}{sizes} unroll(0, "l", 2)'), AUTO)
    assert asked.decision.choices[0].unroll == ((0, "l", 2),)


# What the machine makes of it ------------------------------------------------------------


@pytest.mark.parametrize("text", [gemm(1024), gemm(512), batched(64), gemm(129)])
def test_no_bank_is_asked_twice_while_multiplying(text: str) -> None:
    one = decided_text(text, AUTO)
    (kernel,) = one.plan().kernels()
    found = shared_accesses(kernel, one.region.sizes)
    assert conflict_factor(found, filling=False) == 1.0
    filling = conflict_factor(found, filling=True)
    assert filling is not None
    assert filling <= 2.0


def test_neighbours_along_x_that_a_thread_has_would_meet_in_banks() -> None:
    sizes = "thread_x=16, thread_y=8, register_x=8, register_y=8, step=16, "
    recipe = f'{ROLES}{sizes}assign={{"adjacent","adjacent"}})'
    one = decided_text(gemm(1024, recipe), AUTO)
    (kernel,) = one.plan().kernels()
    found = shared_accesses(kernel, one.region.sizes)
    (x,) = (f for f in found if "B_tile" in f.text and not f.is_filling)
    assert x.passes.transactions == 8 * x.passes.ideal


def test_every_point_has_a_certificate() -> None:
    one = decided_text(gemm(150), AUTO)
    (unit,) = one.base.apart
    tiles = {c.contract for c in strategy(unit) if not isinstance(c, str)}
    seen: set[tuple[Assignment, Assignment]] = set()
    for point in one.space.points():
        (made,) = point.picked.values() or (None,)
        if made is None or made.contract not in tiles:
            break
        ways = (made.contract.assign_x, made.contract.assign_y)
        if ways not in seen:
            seen.add(ways)
            assert verify(certify(one.analysis, one.at(point).plan())) == ()
    assert len(seen) == 3


def test_arrays_that_are_not_staged_are_read_where_they_are() -> None:
    sizes = "thread_x=4, thread_y=2, register_x=3, register_y=2, step=4, "
    one = decided_text(gemm(20, f'{ROLES}{sizes}stage={{"A"}})'), AUTO)
    (kernel,) = one.plan().kernels()
    shared = [
        s.name
        for s in walk_stmts(kernel.body)
        if isinstance(s, LocalArray) and s.space is MemorySpace.SHARED
    ]
    assert shared == ["A_tile"]
    assert [x.var for x in kernel.band() if isinstance(x, Loop)] == ["j_t", "i_t", "j_w", "i_w"]


def test_every_assignment_and_staging_is_right_at_every_size(tmp_path: Path) -> None:
    texts, calls = [], []
    for number, (assign, stage) in enumerate(VARIANTS):
        # A whole number of tiles, and none: each of both with half of the variants.
        for size in in_turn((24, 19), number):
            name = f"f{number}_{size}"
            texts.append(gemm(size, f"{ROLES}{SHAPES[0]}, {assign}, {stage})", name))
            for m, n, k in ((size, size, size), (1, 1, 1), (13, 7, 5), (2, 25, 9)):
                buffers = (m * n, m * k, k * n)
                calls.append(Call(name, (m, n, k, Part(0), Part(1), Part(2)), buffers))
    program = executable(tmp_path, "\n".join(texts), strategy=AUTO)
    program.check(*calls, launches=True)


@pytest.mark.slow
def test_the_rules_own_tiles_are_right_at_every_size(tmp_path: Path) -> None:
    program = executable(tmp_path, gemm(64) + batched(33, 2).replace("void f(", "void g("))
    calls = [
        Call("f", (m, n, k, Part(0), Part(1), Part(2)), (m * n, m * k, k * n))
        for m, n, k in ((64, 64, 64), (1, 1, 1), (65, 130, 17), (7, 31, 3))
    ]
    calls += [
        Call("g", (b, n, Part(0), Part(1), Part(2)), (b * n * n, b * n * n, b * n * n))
        for b, n in ((2, 33), (1, 1), (3, 40))
    ]
    program.check(*calls)


def test_direct_is_what_it_was() -> None:
    assert decided_text(gemm(1024), DIRECT).decision.choices[0].contract is None


def test_a_product_of_an_array_with_itself_says_why_it_has_no_tile() -> None:
    text = gemm(64).replace("B[l][j]", "A[l][j]")
    said = "both factors are elements of A, of which a kernel has one staged copy"
    (unit,) = decided_text(text, AUTO).base.apart
    assert strategy(unit) == said
    # And where the sum is a variable of its own, among other statements.
    loop = text.index("            for (int l")
    end = text.index("\n", text.index("+="))
    summed = "{ double s = 0.0; for (int l = 0; l < k; l++) s += A[i][l] * A[l][j]; C[i][j] = s; }"
    one = decided_text(text[:loop] + summed + text[end:], AUTO)
    said = f"strategy: direct (two-level, gemm and batched do not apply: {said})"
    assert said in [str(reason) for reason in one.decision.choices[0].reasons]
