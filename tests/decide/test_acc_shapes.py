"""The shapes of OpenACC: which the rules take, what the others are, and that all do the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from decide.recipes import Decided, decided_example, decided_text
from hypothesis import given
from hypothesis import strategies as st
from support.acc_texts import PRODUCT, contraction, product
from support.interpreter import assert_same, plan_body
from support.nest_text import parse_nest
from support.nests import LAW
from support.regions import text_of

from annotune.annotation.devices import load_device
from annotune.certify.certificate import verify
from annotune.certify.kernels import certify_acc
from annotune.ir.nest import Level
from annotune.model.predict import predict
from annotune.schedule.apply import build
from annotune.schedule.candidate import Candidate
from annotune.schedule.plan import Plan
from annotune.space.decision import Decision
from annotune.space.points import AccPoints, acc_space, decide_acc
from annotune.strategies.openacc import NO_BARRIER, acc_levels, acc_shapes, in_form, lane_blocks
from annotune.strategies.registry import AUTO, DIRECT, made
from annotune.transforms.cache import Cache
from annotune.transforms.map import Map


def triples(n: int = 16, function: str = "sd_t_d1_1", file: str = "d1") -> Decided:
    names = ("h3u", "h2u", "h1u", "p6u", "p5u", "p4u", "h7u" if file == "d1" else "p7u")
    return decided_example(f"nwchem/sd_t_{file}.c", function, AUTO, sizes=dict.fromkeys(names, n))


def first(one: Decided) -> Decision:
    """Return what OpenACC's own rules choose."""
    return decide_acc(one.base, acc_space(one.space).first)


def shapes(one: Decided, strategy: str = AUTO) -> tuple[Candidate, ...]:
    (unit,) = one.base.apart
    return acc_shapes(unit, made(unit, strategy), strategy)


def names(choices: tuple[Candidate, ...]) -> list[str]:
    return [choice.shape for choice in choices]


def loops(choice: Candidate, level: Level) -> tuple[str, ...]:
    return tuple(name for name, place in acc_levels(choice).items() if place is level)


def test_a_contraction_has_a_block_of_outputs_for_each_lane() -> None:
    (choice,) = first(triples()).choices
    assert dict(choice.tiles) == {"p4": 4, "h2": 4}
    assert loops(choice, Level.GANG) == ("p4_t", "p6", "h1", "h2_t")
    assert loops(choice, Level.VECTOR) == ("p5", "h3")
    assert [str(reason) for reason in choice.reasons] == [
        f"shape: registers ({NO_BARRIER})",
        "registers: 4 p4 x 4 h2 outputs for each lane (what a lane loads of t2, v2 serves several "
        "of them)",
        "vector: h3 by 16, p5 by 16 (h3 is fastest in the output; one vector of 256 iterations)",
        "gang: all other parallel loops, collapsed (gangs are not bound to three axes)",
    ]


@pytest.mark.alike(6)
@pytest.mark.parametrize(
    ("n", "lanes", "rows"),
    [(10, 200, [5, 5]), (15, 225, [5, 5]), (20, 200, [5, 5]), (24, 192, [4, 4]), (11, 242, [])],
)
def test_blocks_divide_their_loops_and_lanes_fill_warps(
    n: int, lanes: int, rows: list[int]
) -> None:
    (choice,) = first(triples(n, "sd_t_d2_1", "d2")).choices
    tiles = dict(choice.tiles)
    if not rows:
        # No divisor of a prime is short enough.
        assert tiles == {}
        assert "serves several" not in " ".join(map(str, choice.reasons))
        return
    count = 1
    for loop in choice.threads:
        count *= tiles.get(loop, n)
    assert count == lanes
    assert [size for loop, size in choice.tiles if loop not in choice.threads] == rows


ELSE = {
    "c[i][j] = w * a[i][j];": "no loop sums up an element of an array: nothing is loaded twice",
    "if (w > 0.0) c[i][j] += a[i][k] * b[k][j];": "the statement is under a condition, or writes a "
    "scalar",
    "{ c[i][j] += a[i][k] * b[k][j]; d[i][j] += a[i][k]; }": "the kernel has 2 statements",
}


@pytest.mark.parametrize("statement", ELSE)
def test_why_a_lane_has_one_output(statement: str) -> None:
    one = decided_text(product(statement), AUTO)
    unit = one.base.nests("all", one.decision.asked)[0]
    assert lane_blocks(unit) == ELSE[statement]
    reasons = [str(reason) for reason in acc_shapes(unit, made(unit))[0].reasons]
    assert f"registers: one output for each lane ({ELSE[statement]})" in reasons


def test_too_few_lanes_are_no_vector() -> None:
    one = decided_text(product(n=16), AUTO)
    (unit,) = one.base.apart
    assert lane_blocks(unit) == "its loops would leave 16 lanes, less than a warp of 32"


def test_few_gangs_keep_an_output_for_each_lane() -> None:
    found = shapes(decided_text(contraction(8), AUTO))
    assert names(found)[0] == "merged"
    why = "blocks would leave 2 gangs, fewer than the 128 that keep a device busy"
    assert f"registers: one output for each lane ({why})" in [str(r) for r in found[0].reasons]
    assert "registers" in names(found)


def test_the_direct_strategy_has_no_blocks_for_lanes() -> None:
    found = shapes(triples(), DIRECT)
    assert names(found)[0] == "merged"
    why = "registers: one output for each lane (--strategy direct is asked for)"
    assert why in [str(reason) for reason in found[0].reasons]


def test_workers_where_thread_x_fills_whole_warps() -> None:
    def form(n: int) -> tuple[str, tuple[str, ...]]:
        found = shapes(decided_text(product(n=n), AUTO), DIRECT)[0]
        return found.shape, loops(found, Level.WORKER)

    assert form(32) == ("workers", ("i",))
    assert form(16) == ("merged", ())


def test_every_free_loop_is_a_gang() -> None:
    plain = shapes(triples(), DIRECT)[0]
    assert loops(plain, Level.GANG) == ("p4", "p5", "p6", "h2")
    assert loops(plain, Level.VECTOR) == ("h1", "h3")
    assert plain.registers == ((0, "h7"),)


def test_the_other_shapes_of_a_contraction() -> None:
    assert names(shapes(triples()))[1:] == [
        *("merged", "workers", "merged", "registers", "registers", "registers"),
        *("gang and worker", "one gang loop"),
    ]
    found = {choice.shape: choice for choice in shapes(triples())}
    assert loops(found["gang and worker"], Level.WORKER) == ("h2",)
    assert loops(found["one gang loop"], Level.GANG) == ("p4",)


def test_the_clause_takes_tiles_that_are_all_of_the_gangs() -> None:
    one = decided_text(product(n=512), DIRECT)
    found = {choice.shape: choice for choice in shapes(one, DIRECT)}
    assert found["tile clause"].tiles == (("j", 32), ("i", 8))
    assert [step.clause for step in found["tile clause"].of(Map)] == ["tile"]
    assert "tile clause" not in names(shapes(triples()))


def test_what_a_gang_reads_again_may_be_cached() -> None:
    one = decided_text(product(n=512), DIRECT)
    found = {choice.shape: choice for choice in shapes(one, DIRECT)}
    cached = found["workers, cache"]
    assert cached.of(Cache) == (Cache(0, ("a",)),)
    plan = build(one.analysis, [cached], one.base.groups, one.region.sizes)
    assert isinstance(plan, Plan)
    (section,) = next(plan.kernels()).cached
    assert section.array == "a"
    assert [length for _, length in section.rows] == [8, 512]
    # Constants are those of the tuned sizes.
    assert cached.general is not None
    assert not cached.general.of(Cache)


@pytest.mark.parametrize(
    ("statement", "n"),
    [
        # The last tile of i ends beyond row n, and a condition leaves rows out.
        (PRODUCT, 508),
        (f"if (i >= 2) {PRODUCT.replace('a[i]', 'a[i - 2]')}", 512),
        (PRODUCT.replace("a[i][k]", "(i < 2 ? w : a[i - 2][k])"), 512),
    ],
)
def test_what_some_gangs_read_less_of_is_not_cached(statement: str, n: int) -> None:
    one = decided_text(product(statement, n), DIRECT)
    assert not any("cache" in name for name in names(shapes(one, DIRECT)))


def test_rows_that_do_not_join_are_not_cached() -> None:
    assert not any("cache" in name for name in names(shapes(triples(), DIRECT)))


def test_kernels_with_outputs_of_their_own_stay_apart() -> None:
    one = decided_example("nekbone/local_grad3.c", "local_grad3", AUTO)
    found = first(one)
    assert [choice.statements for choice in found.choices] == [(0,), (1,), (2,)]
    assert str(found.choices[0].reasons[0]).startswith("kernels: apart (outputs of their own")


def test_statements_with_one_output_share_a_kernel() -> None:
    text = product("{ c[i][j] += a[i][k] * b[k][j]; c[i][j] += a[k][i] * b[j][k]; }")
    assert [c.statements for c in first(decided_text(text, AUTO)).choices] == [(0, 1)]


def test_a_tile_of_the_recipe_s_is_not_made_without_a_barrier() -> None:
    one = triples()
    (unit,) = one.base.apart
    asked = one.decision.choices[0]
    assert asked.contract is not None
    found = in_form(unit, asked)
    assert found.contract is None
    assert f"shape: direct ({NO_BARRIER})" in [str(reason) for reason in found.reasons]


def test_a_recipe_keeps_its_loops() -> None:
    recipe = 'cuda(0, block={"i"}, thread={"j"})\n'
    (choice,) = first(decided_text(product(recipe=recipe), AUTO)).choices
    assert (choice.blocks, choice.threads) == (("i",), ("j",))
    asked = 'acc(0, gang={"j"}, vector={"i"})\n'
    (choice,) = first(decided_text(product(recipe=asked), AUTO)).choices
    assert acc_levels(choice) == {"j": Level.GANG, "i": Level.VECTOR}
    assert choice.shape == ""


def test_the_shapes_are_points_of_the_space_and_come_first() -> None:
    one = decided_text(contraction(8), AUTO)
    space = acc_space(one.space)
    found = list(AccPoints(one.base, space, load_device("h200")).ranked(12))
    own = shapes(one)
    assert [point.picked.get(0) for point in found[: len(own)]] == list(own)
    assert len(own) < len(found) <= len(own) + 12
    assert all(found.count(point) == 1 for point in found)


def plans(one: Decided) -> Iterator[tuple[str, Plan]]:
    """Yield every plan that the first kernels' shapes make, in OpenACC's places."""
    space = acc_space(one.space)
    fusion, units = space.branches[0]
    (unit,) = units
    for choice in unit.made.first:
        made = build(one.analysis, (choice,), one.base.groups, one.region.sizes)
        assert isinstance(made, Plan), (fusion, made)
        yield choice.shape, made


@LAW
@given(
    n=st.sampled_from([2, 3, 4, 6]),
    statement=st.sampled_from([PRODUCT, "c[j][i] -= a[i][k] * w;", "c[i][j] = a[j][i] + b[i][j];"]),
)
def test_all_shapes_do_what_the_nest_does(n: int, statement: str) -> None:
    one = decided_text(product(statement, n), AUTO)
    for form, plan in plans(one):
        assert_same(plan_body(plan), one.region, {"n": n}, describe=lambda form=form: form)


def test_blocks_of_a_contraction_do_what_the_nest_does() -> None:
    one = triples(2)
    many = decided_text(contraction(4), AUTO)
    for each in (one, many):
        for form, plan in plans(each):
            assert_same(plan_body(plan), each.region, describe=lambda form=form: form)


def test_the_certificate_holds_for_every_shape() -> None:
    one = decided_text(contraction(6), AUTO)
    found = dict(plans(one))
    assert len(found) >= 6
    for form, plan in found.items():
        assert verify(certify_acc(one.analysis, plan)) == (), form


def test_a_sum_on_gangs_or_lanes_is_found() -> None:
    """The checker knows nothing of the transforms: it sees where iterations run."""
    one = decided_text(contraction(4), AUTO)
    (_, plan), *_ = plans(one)
    (kernel,) = plan.kernels()
    text = text_of(kernel.scheduled)
    assert "k in 0:n\n" in text
    for place in ("gang", "vector"):
        body = parse_nest(text.replace("k in 0:n", f"k in 0:n @{place}")).body
        broken = replace(plan, steps=(replace(kernel, body=body, scheduled=body),))
        faults = verify(certify_acc(one.analysis, broken))
        assert any("conflict on T" in fault for fault in faults), faults


def test_a_recipe_may_ask_for_the_clause_and_for_the_cache() -> None:
    cut = 'tile(0, "i", 8)\ntile(0, "j", 32)\n'
    asked = cut + 'acc(0, gang={"i_t","j_t"}, vector={"i","j"}, clause="tile")\n'
    one = decided_text(product(n=512, recipe=asked), AUTO)
    (choice,) = first(one).choices
    assert (choice.shape, choice.of(Map)[0].clause) == ("recipe", "tile")
    assert 'vector={"i","j"}, clause="tile")' in one.recipe()
    asked = cut + 'acc(0, gang={"i_t","j_t"}, worker={"i"}, vector={"j"}, cache={"a"})\n'
    (choice,) = first(decided_text(product(n=512, recipe=asked), AUTO)).choices
    assert choice.of(Cache) == (Cache(0, ("a",)),)
    assert choice.general is not None


IN_A_HOST_LOOP = """
void f(const double d[restrict 16][16], const double u[restrict 4][16][16][16],
       double w[restrict 16][16][16], double v[restrict 16][16][16])
{
  /*@ begin PerfTuning () @*/
  /*@ begin CHiLL (
    acc(0, gang={"k"}, vector={"j","i"}, cache={"u","d"})
    acc(3, gang={"j"}, vector={"k","i"}, cache={"d"})
  ) @*/
  for (int e = 0; e < 4; e++) {
    for (int k = 0; k < 16; k++)
      for (int j = 0; j < 16; j++)
        for (int i = 0; i < 16; i++) {
          double s = 0;
          for (int l = 0; l < 16; l++)
            s += d[i][l] * u[e][k][j][l];
          w[k][j][i] = s;
        }
    for (int k = 0; k < 16; k++)
      for (int j = 0; j < 16; j++)
        for (int i = 0; i < 16; i++)
          for (int l = 0; l < 16; l++)
            v[k][j][i] += d[k][l] * w[l][j][i];
  }
  /*@ end @*/
  /*@ end @*/
}
"""


def test_what_is_cached_in_a_loop_of_the_host_is_its_own_kernel_s() -> None:
    one = decided_text(IN_A_HOST_LOOP, AUTO)
    plan = build(one.analysis, first(one).choices, one.base.groups, one.region.sizes)
    assert isinstance(plan, Plan)
    boxes = [
        {section.array: [length for _, length in section.rows] for section in kernel.cached}
        for kernel in plan.kernels()
    ]
    assert boxes == [{"u": [1, 1, 16, 16], "d": [16, 16]}, {"d": [16, 16]}]


def test_the_model_sees_what_a_block_saves_and_what_it_costs() -> None:
    one = triples()
    (unit,) = one.base.apart
    own = shapes(one)
    assert names(own)[:2] == ["registers", "merged"]
    block, plain = (predict(unit, choice, load_device("h200")) for choice in own[:2])
    assert block.terms["L1"] < 0.5 * plain.terms["L1"]
    # ptxas counts 168 for gcc 12's code.
    assert 120 <= block.registers <= 200
    assert block.time_s < plain.time_s
