"""The accumulate strategy: when statements share a kernel, its tile, and that it is right."""

from __future__ import annotations

import os
from collections.abc import Mapping
from math import prod
from pathlib import Path

import pytest
from decide.recipes import decided_text
from support.executed import Call, Part, executable
from support.laws import sanitizes

from annotune.annotation.devices import load_device
from annotune.codegen.target import load_target
from annotune.diagnostics import Diagnostic
from annotune.measure.check import Checker
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckPlan
from annotune.measure.program import Program
from annotune.measure.toolchain import find_toolchains
from annotune.measure.trial import Status, Trial
from annotune.pipeline import Settings, check, emit
from annotune.schedule.candidate import Candidate
from annotune.schedule.units import accumulating
from annotune.space.decision import BY_LANES, FUSIONS, JOINED, JOINT, Base, Point
from annotune.strategies.accumulate import MOST_OUTPUTS, accumulate, by_lanes, gathered
from annotune.strategies.registry import ACCUMULATE, AUTO
from annotune.transforms.cache import Resident
from annotune.transforms.messages import NOT_RELAYED
from annotune.transforms.pipeline import Pipeline, Relay
from annotune.transforms.registers import Hold
from annotune.transforms.stage import Overlay, Stage

LOOPS = ("p4", "p5", "p6", "h1", "h2", "h3")
TRIPLES = (
    ("h7", "t[h1][p5][p4][h7] * v[h7][p6][h2][h3]", LOOPS),
    ("h7", "t[h2][p5][p4][h7] * v[h7][p6][h1][h3]", ("p4", "p5", "p6", "h2", "h1", "h3")),
    ("p7", "t[h2][h1][p6][p7] * v[p4][p5][h3][p7]", ("p5", "p4", "p6", "h1", "h2", "h3")),
)

SINGLES = (
    ("", "t[h1][p4] * v[p5][p6][h2][h3]", LOOPS),
    ("", "t[h3][p6] * v[p4][p5][h1][h2]", LOOPS),
)
OTHER = ("p7", "t[h3][h1][p5][p7] * v[p4][p6][h2][p7]", LOOPS)


def triples(
    n: int, terms: tuple[tuple[str, str, tuple[str, ...]], ...] = TRIPLES, **lengths: int
) -> str:
    """Return terms of the triples that add to one array, each in an order of its own.

    Loops have `n` iterations, or the length that they are given.
    """
    nests, arrays = [], []
    for number, (summed, product, order) in enumerate(terms):
        around = (x for x in (*order, summed) if x)
        heads = "".join(f"for (int {x} = 0; {x} < {x}u; {x}++)\n" for x in around)
        own = product.replace("t[", f"t{number}[").replace("v[", f"v{number}[")
        for factor in own.split(" * "):
            name, *indices = factor.replace("]", "").split("[")
            extents = "".join(f"[{index}u]" for index in indices)
            arrays.append(f"const double {name}{extents}".replace("[", "[restrict ", 1))
        sign = "-" if number % 2 else "+"
        nests.append(f"{heads}C[p4][p5][p6][h1][h2][h3] {sign}= {own};\n")
    names = (*LOOPS, "h7", "p7")
    sizes = ", ".join(f"int {x}u" for x in names)
    params = " ".join(f"param {x}u = {lengths.get(x, n)};" for x in names)
    output = "double C[restrict p4u][p5u][p6u][h1u][h2u][h3u]"
    head = f"void f({', '.join((sizes, output, *arrays))})"
    annotation = f"/*@ begin PerfTuning ( def input_params {{ {params} }} ) @*/"
    return f"{head}\n{{\n{annotation}\n{''.join(nests)}/*@ end @*/\n}}\n"


def matrices(first: str = "D[i][j] += A[i][k] * B[k][j]", second: str = "", n: int = 96) -> str:
    """Return two products of matrices that add to one."""
    second = second or "D[i][j] += C[i][l] * E[l][j]"
    return (
        "void f(int n, int m, int o, int p, double D[restrict n][m], "
        "const double A[restrict n][o], const double B[restrict o][m], "
        "const double C[restrict n][p], const double E[restrict p][m], double *restrict s)\n{\n"
        "/*@ begin PerfTuning ( def input_params { "
        f"param n = {n}; param m = {n}; param o = 24; param p = 10; }} ) @*/\n"
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < o; k++)\n"
        f"{first};\n"
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int l = 0; l < p; l++)\n"
        f"{second};\n/*@ end @*/\n}}\n"
    )


def choice_of(text: str, strategy: str = ACCUMULATE) -> Candidate:
    return decided_text(text, strategy).decision.choices[0]


def test_terms_of_the_triples_are_outer_products_of_eight_by_eight() -> None:
    found = choice_of(triples(16, (*TRIPLES, OTHER)), AUTO)
    assert found.joint is not None
    assert found.statements == (0, 1, 2, 3)
    own = dict(found.joint.registers)
    for _, product, _ in (*TRIPLES, OTHER):
        names = (x.replace("]", "").split("[")[1:] for x in product.split(" * "))
        assert [prod(own.get(name, 1) for name in some) for some in names] == [8, 8]
    assert (found.joint.block_size, found.joint.each) == (128, 64)
    assert [size for _, size in found.joint.sums] == [16, 16, 16, 16]
    assert found.of(Hold)[0].others == (1, 2, 3)
    assert [(step.statement, step.other) for step in found.of(Overlay)] == [
        (1, 0),
        (2, 0),
        (3, 0),
    ]
    assert [(step.statement, step.others) for step in found.of(Relay)] == [(0, (1, 2, 3))]
    assert found.general is not None
    assert not found.general.of(Relay)
    assert [step.stages for step in found.general.of(Pipeline)] == [1, 1, 1, 1]


def test_copies_that_would_take_the_place_of_blocks_do_not_run_ahead() -> None:
    one = decided_text(matrices(n=512).replace("o = 24", "o = 16"), ACCUMULATE)
    unit = accumulating(one.analysis, one.base.apart)
    assert unit is not None
    choices = accumulate(unit)
    assert not isinstance(choices, str)
    # It is a further point of the space.
    assert [bool(choice.of(Relay)) for choice in choices[:3]] == [False, False, True]


def test_every_partition_is_a_point() -> None:
    one = decided_text(triples(16, TRIPLES * 2), AUTO)
    joint = [name for name in one.base.fusions if name not in FUSIONS]
    assert joint == [JOINT, f"{JOINT} by 3", f"{JOINT} by 2"]
    by_three = one.at(Point(fusion=f"{JOINT} by 3"))
    assert [unit.statements for unit in gathered(one.analysis, one.base.apart, 4)] == [
        (0, 1, 2, 3),
        (4, 5),
    ]
    assert len(by_three.decision.choices) == 2
    assert one.space.legal > 10
    # A nest that two of them leave alone is looked at once.
    ways = dict(one.space.branches)
    assert ways[FUSIONS[0]][2] is ways[JOINED][1]


def test_what_comes_next_takes_the_place_of_a_choice_that_a_transform_refuses(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "user.c").write_text(triples(16))
    settings = Settings(tmp_path / "user.c", ("cuda",))

    def refused(step: Relay, body: object, context: object) -> Diagnostic:
        return NOT_RELAYED.at(step.span, statement=step.statement, why="for a test")

    monkeypatch.setattr(Relay, "why_not", refused)
    (report,) = check(settings).regions
    assert report.diagnostics == ()
    assert report.has_kernels
    assert report.decision is not None
    (choice,) = report.decision.choices
    assert choice.joint is not None
    assert not choice.of(Relay)


def test_what_is_long_in_the_sum_stays_apart() -> None:
    text = matrices(n=2048).replace("o = 24", "o = 4096").replace("p = 10", "p = 4096")
    one = decided_text(text, AUTO)
    assert one.base.fusions[0] == FUSIONS[0]
    assert JOINT in one.base.fusions
    assert all(found.joint is None for found in one.decision.choices)


@pytest.mark.parametrize(
    ("second", "why"),
    [
        ("D[j][i] += C[i][l] * E[l][j]", "another element"),
        ("D[i][j] = C[i][l] * E[l][j]", "no sum"),
        ("D[i][j] += C[i][l]", "one input"),
        ("D[i][j] += C[i][l] * C[i][l]", "one array"),
        ("D[i][j] += D[i][j] * E[l][j]", "reads the output"),
        ("if (E[l][j] > 0.0) D[i][j] += C[i][l] * E[l][j]", "a condition"),
        ("D[i][j] += C[0][l] * E[l][j]", "the same for all i"),
        ("s[0] += C[i][l] * E[l][j]", "another array"),
    ],
)
def test_others_stay_apart(second: str, why: str) -> None:
    one = decided_text(matrices(second=second), ACCUMULATE)
    assert all(found.joint is None for found in one.decision.choices), why


def test_a_recipe_keeps_its_kernels() -> None:
    recipe = '/*@ begin CHiLL ( registers(0, "k") ) @*/'
    text = matrices().replace("for (int i", f"{recipe}\nfor (int i", 1)
    one = decided_text(text.replace("/*@ end @*/", "/*@ end @*/ /*@ end @*/"), AUTO)
    assert one.base.fusions == FUSIONS


def called(terms: tuple[tuple[str, str, tuple[str, ...]], ...], *sizes: int) -> Call:
    """Return the call of the triples' terms at some sizes."""
    own = dict(zip((*LOOPS, "h7", "p7"), sizes, strict=True))
    buffers = [prod(own[x] for x in LOOPS)]
    for _, product, _ in terms:
        for factor in product.split(" * "):
            buffers.append(prod(own[x] for x in factor.replace("]", "").split("[")[1:]))
    parts = tuple(Part(k) for k in range(len(buffers)))
    return Call("f", (*own.values(), *parts), tuple(buffers))


FEW = (SINGLES[0], TRIPLES[1], SINGLES[1], OTHER)


@pytest.mark.alike(2)
@pytest.mark.parametrize("terms", [FEW, TRIPLES], ids=["singles too", "doubles"])
def test_terms_of_the_triples_give_what_the_nests_give(
    terms: tuple[tuple[str, str, tuple[str, ...]], ...], tmp_path: Path
) -> None:
    made = executable(tmp_path, triples(8, terms), strategy=ACCUMULATE)
    assert "double C_block[" in made.cuda
    sizes = ((8,) * 8, (1,) * 8, (3, 5, 7, 2, 5, 3, 7, 2), (2, 3, 11, 1, 9, 5, 1, 17))
    made.check(*(called(terms, *own) for own in sizes), launches=True)


@pytest.mark.slow
@pytest.mark.alike(2)
@pytest.mark.parametrize("terms", [FEW, TRIPLES], ids=["singles too", "doubles"])
def test_copies_run_ahead_across_steps_and_statements(
    terms: tuple[tuple[str, str, tuple[str, ...]], ...], tmp_path: Path
) -> None:
    text = triples(4, terms, p4=8, h7=24, p7=33)
    own = (8, *(4,) * 5, 24, 33), (4,) * 8, (3, 2, 1, 2, 3, 1, 5, 2)
    device, trial = trial_of(text, tmp_path, *own)
    assert trial.status is Status.CORRECT, trial.reason
    start = device.index("_tuned(")
    tuned = device[start : device.index("__launch_bounds__(", start)]
    assert "h7_t + 12 >= h7u" in tuned
    assert tuned.count("__syncthreads();") == tuned.count("__pipeline_wait_prior(0);")


# Of three pairs of terms each has another of the h alone in one input. Lanes are along h2 and h3,
# which the third pair has in one.
ALIKE = (
    *TRIPLES[1:],
    OTHER,
    ("p7", "t[h2][h1][p5][p7] * v[p4][p6][h3][p7]", LOOPS),
)
UNLIKE = (TRIPLES[0], *ALIKE, ("h7", "t[h1][p6][p4][h7] * v[h7][p5][h2][h3]", LOOPS))


@pytest.mark.alike(2)
@pytest.mark.parametrize(
    ("terms", "parts"),
    [
        (UNLIKE, [(0, 5), (1, 2, 3, 4)]),
        ((*ALIKE, UNLIKE[-1], SINGLES[0], UNLIKE[0]), [(4, 6), (0, 1, 2, 3, 5)]),
        # Where nobody needs other lanes, or one statement alone, all stay together.
        (ALIKE, [(0, 1, 2, 3)]),
        (UNLIKE[:-1], [(0, 1, 2, 3, 4)]),
    ],
)
def test_statements_that_need_other_lanes_have_a_kernel_of_their_own(
    terms: tuple[tuple[str, str, tuple[str, ...]], ...], parts: list[tuple[int, ...]]
) -> None:
    one = decided_text(triples(16, terms, p4=4, p5=4, p6=4), ACCUMULATE)
    found = by_lanes(one.analysis, one.base.apart)
    assert [unit.statements for unit in found] == parts
    assert (BY_LANES in one.base.fusions) is (len(parts) > 1)


@pytest.mark.alike(2)
@pytest.mark.parametrize(("depth", "kernels"), [(64, [2, 4]), (2, [6])])
def test_the_model_tells_whether_other_lanes_pay(depth: int, kernels: list[int]) -> None:
    text = triples(64, UNLIKE, p4=7, p5=7, p6=7, h7=depth, p7=depth)
    one = decided_text(text, ACCUMULATE)
    first = one.at(one.space.on(load_device("h200")).first)
    assert [len(choice.statements) for choice in first.decision.choices] == kernels


def test_the_model_overrules_the_rules_where_a_kernel_of_all_takes_half_the_time() -> None:
    text = triples(4, TRIPLES * 3, p4=16, p5=16, p6=8)
    one = decided_text(text, AUTO)
    assert one.space.branches[0][0] == FUSIONS[0]
    assert one.space.on(load_device("h200")).branches[0][0] in (JOINT, BY_LANES)


def test_threads_have_fewer_outputs_where_these_make_more_blocks() -> None:
    text = triples(4, TRIPLES * 3, p4=16, p5=16, p6=16)
    (choice,) = decided_text(text, AUTO).decision.choices
    assert choice.joint is not None
    assert prod(size for _, size in choice.joint.registers) == MOST_OUTPUTS // 2
    # No more blocks than there are multiprocessors share one.
    assert not choice.of(Resident)


@pytest.fixture
def with_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have kernels with lanes of their own, whatever they cost."""
    monkeypatch.setattr(Base, "fusions", (BY_LANES,))


@pytest.mark.slow
@pytest.mark.usefixtures("with_warps", "with_lanes")
def test_kernels_with_lanes_of_their_own_give_what_the_nests_give(tmp_path: Path) -> None:
    around = "".join(f"for (int {x} = 0; {x} < {x}u; {x}++) " for x in LOOPS)
    norm = f"{around}e[0] += C[p4][p5][p6][h1][h2][h3] * C[p4][p5][p6][h1][h2][h3];\n"
    text = triples(4, UNLIKE, **SMALL).replace("/*@ end", f"{norm}/*@ end")
    text = text.replace("void f(", "void f(double *restrict e, ")
    own = tuple(SMALL.values()), (3, 2, 1, 2, 3, 1, 5, 2), (9, 2, 11, 3, 1, 19, 7, 18)
    device, trial = trial_of(text, tmp_path, *own)
    assert trial.status is Status.CORRECT, trial.reason
    first, second, norm = (device.index(f"f_1_s{n}_tuned<<<") for n in (0, 1, 6))
    assert first < second < norm


@pytest.fixture
def with_warps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have tiles by warps first, where there are any: so few outputs have others first."""
    wanted = property(lambda self: bool(self.warp_tiles))
    monkeypatch.setattr("annotune.strategies.accumulate._Joint.pays_by_warps", wanted)


# One row of a lane or two; threads along three axes, or, of more loops, all along one.
FLAT, AXES = "threadIdx.x / 4 / 2 % 4", "threadIdx.y / 2 % 4"
SMALL = {"p4": 2, "p5": 2, "p6": 2, "h1": 8, "h2": 8, "h3": 16, "h7": 8, "p7": 16}
LONG = {"p4": 8, "p5": 4, "p6": 8, "h1": 4, "h2": 4, "h3": 16, "h7": 24, "p7": 16}


@pytest.mark.slow
@pytest.mark.usefixtures("with_warps")
@pytest.mark.parametrize(
    ("terms", "lengths", "threads", "pair"),
    [
        (TRIPLES, SMALL, 128, AXES),
        (FEW, LONG, 256, FLAT),
        (FEW, {**LONG, "h3": 8}, 128, FLAT),
        (TRIPLES, {**LONG, "h3": 8}, 256, FLAT),
    ],
)
def test_tensor_cores_multiply_where_inputs_have_rows_and_columns(
    terms: tuple[tuple[str, str, tuple[str, ...]], ...],
    lengths: Mapping[str, int],
    threads: int,
    pair: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("annotune.strategies.accumulate.BLOCK_SIZES", (threads,))
    sizes = tuple(lengths.values()), (3, 2, 1, 2, 3, 1, 5, 2), (9, 2, 11, 3, 1, 19, 7, 18)
    device, trial = trial_of(triples(4, terms, **lengths), tmp_path, *sizes)
    assert trial.status is Status.CORRECT, trial.reason
    assert "annotune_mma_m16n8k4(annotune_sums" in device
    assert pair in device


@pytest.mark.slow
@pytest.mark.usefixtures("with_warps")
def test_threads_combine_behind_the_tensor_cores(tmp_path: Path) -> None:
    around = "".join(f"for (int {x} = 0; {x} < {x}u; {x}++) " for x in LOOPS)
    norm = f"{around}e[0] += C[p4][p5][p6][h1][h2][h3] * C[p4][p5][p6][h1][h2][h3];\n"
    text = triples(4, **SMALL).replace("/*@ end", f"{norm}/*@ end")
    text = text.replace("void f(", "void f(double *restrict e, ")
    own = tuple(SMALL.values()), (3, 2, 1, 2, 3, 1, 5, 2), (5, 1, 3, 3, 1, 19, 7, 18)
    device, trial = trial_of(text, tmp_path, *own)
    assert trial.status is Status.CORRECT, trial.reason
    assert "annotune_mma_m16n8k4(annotune_sums" in device
    assert "annotune_combined<" in device


@pytest.mark.alike(4)
@pytest.mark.usefixtures("with_warps")
@pytest.mark.parametrize("name", ["h3_w", "h2_w", "p6_w", "p4_w"])
def test_a_name_that_the_region_has_keeps_a_kernel(name: str, tmp_path: Path) -> None:
    text = triples(4, h3=16, p6=8, p4=16).replace("int h7u", f"int {name}, int h7u", 1)
    named = text.replace("+= t0[", f"+= {name} * t0[")
    (tmp_path / "user.c").write_text(named)
    made = emit(
        Settings(tmp_path / "user.c", ("cuda",), strategy=ACCUMULATE), [load_target("cuda")]
    )
    assert not made.reports[0].is_refused, made.reports[0].diagnostics


@pytest.mark.slow
@pytest.mark.alike(5)
@pytest.mark.usefixtures("with_warps")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (" * v0[h7]", " * 2.0 * v0[h7]"),
        ("v0[h7][p6][h2][h3];", "v0[h7][p6][h2][h3] * 2.0;"),
        ("+= t0[h1][p5]", "+= -t0[h1][p5]"),
        ("h7 = 0; h7 < h7u; h7++", "h7 = 1; h7 < h7u; h7 += 2"),
        ("h7 = 0; h7 < h7u", "h7 = 0; h7 < (h2 < h7u ? h2 : h7u)"),
    ],
)
def test_what_is_no_plain_product_keeps_a_kernel(old: str, new: str, tmp_path: Path) -> None:
    text = triples(4, h3=20, p6=9, p4=11, h7=5)
    assert old in text
    sizes = (11, 4, 9, 4, 4, 20, 5, 4), (3, 2, 1, 2, 3, 1, 5, 2)
    # A right kernel of this kind has been before the detectors above.
    _, trial = trial_of(text.replace(old, new, 1), tmp_path, *sizes, detects=False)
    assert trial.status is Status.CORRECT, trial.reason


def test_statements_without_a_sum_alone_share_a_kernel_too() -> None:
    found = choice_of(triples(8, SINGLES))
    assert found.joint is not None
    assert found.statements == (0, 1)
    assert not found.of(Stage)


# A sum of all that two products give in an array that the function has for this alone, and one that
# lives on: D is found in registers, and goes to memory in the second case only.
NORM = """#include <stdlib.h>
double f(int n, int m, int o, int p, PARAMETER const double A[restrict n][o],
         const double B[restrict o][m], const double C[restrict n][p],
         const double E[restrict p][m], const double s[restrict m])
{
    double norm = 0.0;
    DECLARED
    /*@ begin PerfTuning ( def input_params {
        param n = SIZE; param m = SIZE; param o = 24; param p = 10; } ) @*/
    for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) D[i][j] = 0.0;
    for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int k = 0; k < o; k++)
        D[i][j] += A[i][k] * B[k][j];
    for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int l = 0; l < p; l++)
        D[i][j] += C[i][l] * E[l][j];
    for (int i = 0; i < n; i++) for (int j = 0; j < m; j++)
        norm += D[i][j] * D[i][j] * s[j];
    /*@ end @*/
    FREED
    return norm;
}
"""
OWN = {"PARAMETER": "", "DECLARED": "double (*D)[m] = malloc(n * sizeof *D);", "FREED": "free(D);"}
PASSED = {"PARAMETER": "double D[restrict n][m],", "DECLARED": "", "FREED": ""}


def norm(words: Mapping[str, str], n: int) -> str:
    """Return the sum of all, with an array of its own or one that is passed."""
    text = NORM.replace("SIZE", str(n))
    for word, said in words.items():
        text = text.replace(word, said)
    return text


def trial_of(
    text: str, folder: Path, *sizes: tuple[int, ...], detects: bool = True
) -> tuple[str, Trial]:
    """Return the text of a region's first choice, and how it compares with the nest.

    `detects` asks the sanitizers and the race detector too.
    """
    (folder / "user.c").write_text(text)
    target = load_target("cuda")
    made = emit(Settings(folder / "user.c", ("cuda",), strategy=ACCUMULATE), [target])
    (report,) = made.reports
    assert report.analysis is not None
    code = target.region(made.variants[0]["cuda"], resident=False)
    names = tuple(report.analysis.region.sizes)
    plan = CheckPlan(
        tuple(dict(zip(names, own, strict=True)) for own in sizes),
        sanitize=detects and sanitizes("cuda"),
        races=detects,
    )
    oracle = Oracle(made.source, report.analysis, find_toolchains(os.environ), folder)
    made_text = target.device_file(code)
    assert made_text is not None
    return made_text, Checker(oracle).check(Program("cuda", target.kind, code, made_text), plan)


@pytest.mark.alike(2)
@pytest.mark.parametrize(("words", "is_stored"), [(OWN, False), (PASSED, True)])
def test_a_sum_of_the_output_finds_it_in_registers(
    words: Mapping[str, str], is_stored: bool, tmp_path: Path
) -> None:
    sizes = (64, 64, 24, 10), (1, 1, 1, 1), (5, 7, 3, 2), (67, 66, 5, 3)
    text, trial = trial_of(norm(words, 64), tmp_path, *sizes)
    assert trial.status is Status.CORRECT, trial.reason
    kernel = text[: text.index("_last(")]
    assert kernel.count("__global__") == 2
    assert "D_block[i_r][j_r] = 0.0" in kernel
    assert "+= D_block[i_r][j_r] * D_block[i_r][j_r]" in kernel
    assert ("= D_block[i_r][j_r];" in kernel) is is_stored
    # What no kernel touches has no memory on the device.
    assert (" *const d_D = " in text) is is_stored


@pytest.mark.slow
def test_an_element_for_each_output_finds_it_in_registers(tmp_path: Path) -> None:
    text = matrices(n=64).replace("double *restrict s", "double S[restrict n][m]")
    nest = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) S[i][j] = 2.0 * D[i][j];\n"
    made = text.replace("/*@ end @*/", f"{nest}/*@ end @*/")
    sizes = (64, 64, 24, 10), (1, 1, 1, 1), (5, 7, 3, 2), (67, 130, 13, 11)
    device, trial = trial_of(made, tmp_path, *sizes)
    assert trial.status is Status.CORRECT, trial.reason
    assert "= 2.0 * D_block[i_r][j_r];" in device


@pytest.mark.parametrize(
    ("nest", "why"),
    [
        ("for (int i = 0; i < n; i++) s[i] += D[i][0];", "other loops"),
        ("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) s[i] += D[i][j];", "rows"),
        (
            "for (int i = 0; i < n; i++) for (int j = 1; j < m; j++) s[0] += D[i][j - 1];",
            "neighbours",
        ),
    ],
)
def test_other_readers_have_kernels_of_their_own(nest: str, why: str) -> None:
    text = matrices(n=64).replace("/*@ end @*/", f"{nest}\n/*@ end @*/")
    found = decided_text(text, ACCUMULATE).decision.choices
    assert [one.statements for one in found] == [(0, 1), (2,)], why


def test_a_reader_under_two_names_has_a_kernel_of_its_own() -> None:
    # By the second one it would find in memory what the element was before.
    loops = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) "
    product = f"{loops}for (int k = 0; k < n; k++) D[i*n + j] +="
    text = (
        "void f(int n, double *restrict D, const double *restrict A, const double *restrict B, "
        "double *restrict s)\n{\n"
        "/*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/\n"
        f"{product} A[i*n + k] * B[k*n + j];\n{product} B[i*n + k] * A[k*n + j];\n"
        f"{loops}s[0] += D[i*n + j] * D[j + n*i];\n/*@ end @*/\n}}\n"
    )
    found = decided_text(text, ACCUMULATE).decision.choices
    assert [one.statements for one in found] == [(0, 1), (2,)]


@pytest.mark.alike(2)
@pytest.mark.parametrize("n", [16, 21])
def test_products_of_matrices_give_what_the_nests_give(n: int, tmp_path: Path) -> None:
    made = executable(tmp_path, matrices(n=n), strategy=ACCUMULATE)
    calls = []
    for rows, columns, o, p in ((n, n, 24, 10), (1, 1, 1, 1), (5, 37, 3, 31), (67, 2, 25, 1)):
        lengths = (rows * columns, rows * o, o * columns, rows * p, p * columns, 1)
        parts = tuple(Part(k) for k in range(6))
        calls.append(Call("f", (rows, columns, o, p, *parts), lengths))
    made.check(*calls, launches=True)
