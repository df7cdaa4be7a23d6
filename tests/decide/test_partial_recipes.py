"""What a recipe says is kept or refused; what it leaves out is decided and fits to it."""

from __future__ import annotations

import pytest
from recipes import Decided, decided_text
from support.interpreter import assert_same, plan_body

from annotune.annotation.devices import load_device
from annotune.codegen.recipes import first_variant
from annotune.codegen.target import load_target
from annotune.diagnostics import AnnotuneError, Diagnostic
from annotune.schedule.plan import Plan
from annotune.transforms.language import forms, written
from annotune.transforms.transform import Schedule

MULTIPLY = (
    "for (i = 0; i < n; i++)\n for (j = 0; j < n; j++)\n  for (k = 0; k < n; k++)\n"
    "   c[i*n+j] += a[i*n+k] * b[k*n+j];\n"
)
TWO = (
    "for (i = 0; i < n; i++)\n for (j = 0; j < n; j++)\n   c[i*n+j] += a[j*n+i];\n"
    "for (i = 0; i < n; i++)\n for (j = 0; j < n; j++)\n   b[i*n+j] += a[j*n+i];\n"
)

# Rows of 20, of which nothing shows that they lie apart.
OVERLAPPING = MULTIPLY.replace("c[i*n+j]", "c[i*20+j]")


def source(commands: str, nest: str = MULTIPLY, params: str = "") -> str:
    return (
        "void f(int n, double *restrict c, const double *restrict a, double *restrict b)\n{\n"
        "int i, j, k;\n/*@ begin PerfTuning (\n def input_params { param n = 8; }\n"
        f"{params}\n) @*/\n/*@ begin CHiLL (\n{commands}\n) @*/\n"
        f"{nest}/*@ end @*/\n/*@ end @*/\n}}\n"
    )


def one_choice(commands: str, nest: str = MULTIPLY) -> tuple[object, ...]:
    one = decided_text(source(commands, nest))
    (choice,) = one.decision.choices
    assert_right(one)
    return (
        choice.order,
        choice.tiles,
        choice.blocks,
        choice.threads,
        choice.registers,
        choice.unroll,
    )


PRODUCTS = MULTIPLY + MULTIPLY.replace("c[", "d[").replace("i*n+k", "k*n+i")
# What each command says of these, where its own example does not.
SAID = {
    "merge": 'merge(0, ("i","j"))',
    "permute": 'permute(0, ("j","i","k"))',
    "tile": 'tile(0, "k", 4)',
    "cuda": 'cuda(0, block={"i"}, thread={"j"})',
    "batch": 'batch(0, "i", 2)',
    "spread": 'spread(0, ("i","j"))',
    "registers": 'registers(0, "k")',
    "stage": 'stage(0, "b", "k")',
    "hold": 'hold(0, "k")',
    "peel": 'tile(0, "i", 3)\npeel(0, ("i"))',
    "pad": 'tile(0, "i", 3)\npad(0, ("i"))',
    "unroll": 'unroll(0, "k", 2)',
    "mma": 'mma(0, "k")',
    "aligned": 'aligned(0, "a")',
    "bring": 'bring(0, "b")',
    "keep": 'keep(0, "b")',
    "bulk": 'bulk(0, "b")',
    "add_on_host": 'add_on_host(0, "c")',
    "stm": 'stm(0, ("i","j","k"), "c")',
}
# OpenACC's own, both of the host and the device, and what a recipe is made of.
ELSEWHERE = ("acc", "both", "target")


def steps_on_products(commands: str) -> Schedule:
    text = source(commands, PRODUCTS).replace(
        "double *restrict b)", "double *restrict b, double *d)"
    )
    one = decided_text(text)
    return first_variant(
        load_target("cuda"), one.base, one.space, load_device("h200")
    ).tuned.schedule


@pytest.mark.parametrize("name", [n for n in forms() if n not in ELSEWHERE])
def test_no_command_is_dropped_in_silence(name: str) -> None:
    """It is refused, or among the steps, or other steps are taken than without it."""
    said = SAID.get(name, forms()[name].word.example)
    try:
        steps = steps_on_products(said)
    except AnnotuneError:
        return
    named = {written(step).name for step in steps}
    assert name in named or steps != steps_on_products("") or name == "stm"


def assert_right(one: Decided) -> None:
    assert_same(plan_body(one.plan()), one.region)
    for n in (1, 3, 9):
        assert_same(plan_body(one.plan({})), one.region, {"n": n})


HELD, UNROLLED = ((0, "k"),), ((0, "k", 8),)


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        ("", ((), (), (), ("j", "i"), HELD, UNROLLED)),
        ('cuda(0, block={"i"}, thread={"j"})', ((), (), ("i",), ("j",), HELD, UNROLLED)),
        ('cuda(0, thread={"i"})', ((), (), (), ("i",), HELD, UNROLLED)),
        ('unroll(0, "k", 2)', ((), (), (), ("j", "i"), HELD, ((0, "k", 2),))),
        ('registers(0, "k")', ((), (), (), ("j", "i"), HELD, UNROLLED)),
        # The order moves k out, so that a register cannot hold c and k is not innermost.
        (
            'permute(0, ("i","k","j")) cuda(0, thread={"i"})',
            (("i", "k", "j"), (), (), ("i",), (), ()),
        ),
        ('permute(0, ("k","i","j"))', (("k", "i", "j"), (), (), ("j", "i"), HELD, UNROLLED)),
        # The rules' unrolling keeps within the user's tile, their registers go around it.
        (
            'tile(0, "k", 4)',
            ((), (("k", 4),), (), ("j", "i"), ((0, "k_t"),), ((0, "k", 4),)),
        ),
        (
            'tile(0, "j", 4)',
            ((), (("j", 4),), ("j_t",), ("j", "i"), HELD, UNROLLED),
        ),
        (
            'tile(0, "i", 3) cuda(0, block={"i_t","j"}, thread={"i"})',
            ((), (("i", 3),), ("i_t", "j"), ("i",), HELD, UNROLLED),
        ),
    ],
)
def test_is_kept_and_completed(commands: str, expected: tuple[object, ...]) -> None:
    assert one_choice(commands) == expected


def refused(commands: str, nest: str = MULTIPLY, params: str = "") -> Diagnostic:
    try:
        made = decided_text(source(commands, nest, params)).maybe_plan()
    except AnnotuneError as error:
        return error.diagnostics[0]
    assert not isinstance(made, Plan)
    return made


@pytest.mark.parametrize(
    ("commands", "nest", "code", "message"),
    [
        ('cuda(0, thread={"k"})', MULTIPLY, "AT273", "changes with 'i', inside 'k'"),
        (
            'cuda(0, block={"i"}, thread={"j","k"})',
            MULTIPLY,
            "AT258",
            "loop 'k' cannot run in parallel",
        ),
        ('cuda(0, thread={"x"})', MULTIPLY, "AT251", "statement 0 has no loop 'x'"),
        ('cuda(4, thread={"i"})', MULTIPLY, "AT250", "there is no statement 4"),
        ('cuda(0, thread={"j","i"})', OVERLAPPING, "AT258", "loop 'j' cannot run in parallel"),
        ('registers(0, "j") cuda(0, thread={"i"})', MULTIPLY, "AT259", "changes with 'j'"),
        ('unroll(0, "k", 3)', MULTIPLY, "AT262", "factor 3 does not divide the 8 iterations"),
        ('unroll(0, "j", 2) cuda(0, thread={"i"})', MULTIPLY, "AT263", "holds other loops"),
        ('tile(0, "k", 4) tile(0, "k", 2)', MULTIPLY, "AT265", "already tiled"),
        (
            'cuda(0, block={"i"}, thread={"j"}) cuda(1, block={"j"}, thread={"i"}) fuse(0,1)',
            TWO,
            "AT303",
            "statements 0 and 1 are fused, but their `cuda` commands differ",
        ),
        (
            'permute(0, ("j","i")) permute(1, ("i","j")) fuse(0,1)',
            TWO,
            "AT303",
            "statements 0 and 1 are fused, but their `permute` commands differ",
        ),
        ("fuse(0,1) distribute(0,1)", TWO, "AT304", "both fused and distributed"),
    ],
)
def test_is_refused_at_the_command(commands: str, nest: str, code: str, message: str) -> None:
    refusal = refused(commands, nest)
    assert refusal.code == code
    assert message in refusal.message
    assert refusal.span.line == 9


def test_loops_that_cannot_be_fused_have_no_mapped_loop_in_common() -> None:
    nest = (
        "for (i = 0; i < n; i++)\n  c[i+1] = c[i] + a[i];\n"
        "for (i = 0; i < n; i++)\n  b[i+1] = b[i] + a[i];\n"
    )
    refusal = refused("fuse(0,1)", nest)
    assert refusal.code == "AT305"
    assert refusal.help == "loops that may be mapped: none in the first nest, none in the second"


def test_neighbours_with_orders_of_their_own_stay_apart() -> None:
    one = decided_text(source('permute(0, ("j","i")) permute(1, ("i","j"))', TWO))
    assert [choice.order for choice in one.decision.choices] == [("j", "i"), ("i", "j")]
    assert_right(one)


def test_distribute_keeps_apart_what_would_be_fused() -> None:
    assert len(decided_text(source("", TWO)).decision.choices) == 1
    assert len(decided_text(source("distribute(0,1)", TWO)).decision.choices) == 2


def test_the_decomposition_itself_is_tuned() -> None:
    params = (
        " def performance_params { param TX[] = ['j','i']; param BX[] = ['i','j','1'];"
        " param UF[] = [1,2]; constraint big = (UF == 1 or BX != '1'); }"
    )
    commands = 'cuda(0, block={BX}, thread={TX}) unroll(0, "k", UF)'
    one = decided_text(source(commands, params=params))
    points = [(p["TX"], p["BX"], p["UF"]) for p in one.space.params]
    # One loop in two places is no point; '1' is no loop; large unroll factors come first.
    assert points == [
        ("j", "i", 2),
        ("j", "i", 1),
        ("j", "1", 1),
        ("i", "j", 2),
        ("i", "j", 1),
        ("i", "1", 1),
    ]
    assert (one.space.size, one.space.legal) == (12, 6)
    for point in one.space.points():
        at = one.at(point)
        (choice,) = at.decision.choices
        wanted = point.params["BX"]
        assert choice.blocks == (() if wanted == "1" else (wanted,))
        assert choice.threads == (point.params["TX"],)
        assert_right(at)


def test_a_loop_that_every_point_gives_two_places() -> None:
    params = " def performance_params { param TX[] = ['i']; }"
    refusal = refused('cuda(0, block={"i"}, thread={TX})', params=params)
    assert (refusal.code, refusal.span.line) == ("AT257", 9)
    assert refusal.message == "cuda: loop 'i' is named twice"


def test_more_loops_than_axes() -> None:
    nest = (
        "for (int p = 0; p < 2; p++)\n for (int q = 0; q < 2; q++)\n  for (i = 0; i < 2; i++)\n"
        "   for (j = 0; j < 2; j++)\n    c[p*8+q*4+i*2+j] += a[i];\n"
    )
    params = " def performance_params { param B[] = [['p','q','i','j']]; }"
    refusal = refused("cuda(0, thread=B)", nest, params)
    assert (refusal.code, refusal.span.line) == ("AT266", 9)
    assert refusal.message == "cuda: 4 loops for thread, which has 3"


def test_constraints_that_leave_nothing() -> None:
    params = " def performance_params { param UF[] = [1,2]; constraint no = (UF > 2); }"
    refusal = refused('unroll(0, "k", UF)', params=params)
    assert refusal.code == "AT302"
    assert "constraint 'no' removes the last ones" in refusal.help
