"""The choice for the cores of a CPU: which loops are shared, which make a block, and why."""

from __future__ import annotations

from itertools import islice

import pytest
from codegen.emitted import EXAMPLES, analysed, example, source_of
from conftest import Golden
from support.blocks import nests
from support.laws import in_turn
from support.regions import analysis_of

from annotune.analysis.analyse import analyse
from annotune.analysis.facts import Analysis
from annotune.ir.nest import Level
from annotune.schedule.candidate import Candidate
from annotune.schedule.units import units
from annotune.space.openmp import CpuSpace, shown
from annotune.space.variants import planned
from annotune.strategies.core_blocks import COPIES, RegisterBlock, arranged, first_block
from annotune.strategies.openmp import choose_cpu, cpu_groups, cpu_units, first_option, likely
from annotune.transforms.map import Map, Team
from annotune.transforms.pipeline import Prefetch
from annotune.transforms.stage import Stage

SIXTEEN = dict.fromkeys(("h3u", "h2u", "h1u", "p6u", "p5u", "p4u", "h7u"), 16)


def only(analysis: Analysis) -> Candidate:
    (unit,) = cpu_units(analysis)
    return choose_cpu(unit)


def described(choice: Candidate) -> str:
    return "".join(f"{reason}\n" for reason in choice.reasons)


def test_the_reasons_for_every_example(golden: Golden) -> None:
    names = ["nwchem/sd_t_d1.c", "nwchem/sd_t_s1.c", "gemm/gemm.c", "nekbone/local_grad3.c"]
    text = "\n".join(f"{name}\n{described(only(analysed(name)))}" for name in names)
    golden.check("decide/cpu.txt", text)


def test_a_contraction_gets_a_block_of_half_the_registers() -> None:
    choice = only(analysed("nwchem/sd_t_d1.c"))
    (block,) = nests(choice)
    assert block.tiles == (("h1", 8), ("h3", 16))
    assert block.order == ("p6", "p4", "p5", "h1_t", "h2", "h3_t", "h7", "h1", "h3")
    assert (block.simd, block.held) == ("h3", "h7")
    assert choice.cores == ("p6", "p4")


def test_a_contraction_reads_copies_in_the_order_of_use() -> None:
    (block,) = nests(only(analysed("nwchem/sd_t_d1.c")))
    # The slice of v2 stays for all p5, that of t2 for all h2.
    assert {copy.array: (copy.loop, copy.layout) for copy in block.staged} == {
        "t2": ("h2", (("h7", 8), ("h1", 1))),
        "v2": ("p5", (("h2", 256), ("h3_t", 256), ("h7", 16), ("h3", 1))),
    }


def test_what_lanes_would_gather_is_copied_rather_than_summed_in_lanes() -> None:
    analysis = analysed("nwchem/sd_t_d2.c")
    (unit,) = cpu_units(analysis)
    assert first_block(unit, 0).sums
    assert first_option(unit, 0) == RegisterBlock("h3", 16, "h2", 8, copied=True)
    copied = {copy.array: copy.layout for copy in choose_cpu(unit).of(Stage)}
    assert copied["v2"][-1] == ("h3", 1)
    assert copied["t2"][-1] == ("h2", 1)


def test_a_sum_starts_from_zero_and_is_added_at_the_end() -> None:
    (block,) = nests(only(analysed("nwchem/sd_t_d1.c")))
    assert block.from_zero


def tuned(name: str, **sizes: int) -> Candidate:
    text = (EXAMPLES / name).read_text()
    return only(analyse(source_of(text, **sizes).regions[0]))


def test_the_output_of_a_block_far_enough_ahead_is_asked_for() -> None:
    (block,) = nests(only(analysed("nwchem/sd_t_d1.c")))
    # Of h1_t there are two, and one block of h2 is no time for memory.
    assert block.ahead == Prefetch(0, "p5", block.held, 8)
    (shorter,) = nests(tuned("nwchem/sd_t_d1.c", **SIXTEEN | {"h1u": 8, "h2u": 8}))
    assert shorter.ahead == Prefetch(0, "p5", block.held, 8)


def test_nothing_is_asked_for_that_is_near_or_needed_late() -> None:
    (near,) = nests(tuned("nwchem/sd_t_d1.c", **dict.fromkeys(SIXTEEN, 6)))
    (late,) = nests(tuned("nwchem/sd_t_d1.c", **SIXTEEN | {"h7u": 200}))
    (whole,) = nests(only(analysed("nwchem/sd_t_s1.c")))
    assert (near.ahead, late.ahead, whole.ahead) == (None, None, None)


def test_pieces_that_lie_apart_are_not_asked_for() -> None:
    # The threads share h2, between h1 and h3 in memory.
    sizes = dict.fromkeys(SIXTEEN, 8) | {"h1u": 32, "h2u": 32, "h3u": 32, "h7u": 16}
    choice = tuned("nwchem/sd_t_d1.c", **sizes)
    assert choice.cores == ("p6", "h2")
    assert [block.ahead for block in nests(choice)] == [None]


def test_a_line_has_more_of_shorter_elements() -> None:
    text = (EXAMPLES / "nwchem/sd_t_d1.c").read_text().replace("double", "float")
    (block,) = nests(only(analyse(source_of(text).regions[0])))
    assert block.ahead == Prefetch(0, "p5", block.held, 16)


@pytest.mark.parametrize(("terms", "lanes"), [(512, 16), (2000, 24), (3000, 16), (5000, 8)])
def test_the_longer_a_sum_the_fewer_lanes_share_a_copy(terms: int, lanes: int) -> None:
    sizes = {"m": 3000, "n": 3000, "k": terms} if terms > 512 else {}
    (block,) = nests(tuned("gemm/gemm.c", **sizes))
    assert dict(block.tiles)["j"] == lanes
    assert [copy.array for copy in block.staged] == ["B"]


def test_a_sum_too_long_for_any_copy_reads_the_array() -> None:
    (block,) = nests(tuned("gemm/gemm.c", m=3000, n=3000, k=9000))
    assert not block.staged


def test_other_sizes_ask_for_nothing() -> None:
    choice = only(analysed("nwchem/sd_t_d1.c"))
    assert choice.general is not None
    assert [block.ahead for block in nests(choice.general)] == [None]


def test_sizes_that_vectors_do_not_divide_run_whole_tiles() -> None:
    sizes = dict.fromkeys(("h3u", "h2u", "h1u", "p6u", "p5u", "p4u", "h7u"), 17)
    text = (EXAMPLES / "nwchem/sd_t_d1.c").read_text()
    (block,) = nests(only(analyse(source_of(text, **sizes).regions[0])))
    assert block.tiles == (("h1", 6), ("h3", 24))
    assert block.padded == ("h1", "h3")
    # Rows of the copy start at whole vectors.
    assert {dict(copy.layout).get("h7") for copy in block.staged} == {6, 24}


def test_without_a_reduction_what_lanes_would_gather_is_copied() -> None:
    third = example("nwchem/sd_t_s1.c").regions[2]
    (block,) = nests(only(analyse(third)))
    assert (block.simd, block.held) == ("h1", "")
    assert [(copy.array, copy.loop, copy.layout) for copy in block.staged] == [
        ("t1", "p6", (("h1", 1),))
    ]


def test_code_for_all_sizes_makes_no_copies_of_tuned_lengths() -> None:
    elsewhere = only(analysed("nwchem/sd_t_d1.c")).general
    assert elsewhere is not None
    (block,) = nests(elsewhere)
    assert (block.staged, block.padded) == ((), ())
    assert block.held == "h7"


PRODUCTS = """
void f(int n, double *restrict v, const double *restrict a, const double *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 40; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int l = 0; l < n; l++)
                v[i * n + j] *= a[i * n + l] + b[l * n + j];
    /*@ end @*/
}
"""


def test_a_product_starts_from_its_target() -> None:
    (block,) = nests(only(analyse(source_of(PRODUCTS).regions[0])))
    assert block.held == "l"
    assert not block.from_zero


def test_copies_fit_the_cache_of_a_core() -> None:
    for name in ("nwchem/sd_t_d1.c", "nwchem/sd_t_d2.c"):
        (block,) = nests(only(analysed(name)))
        lengths = [layout[0][1] * 16 for layout in (copy.layout for copy in block.staged)]
        assert sum(lengths) <= 2 * COPIES


TWO_NESTS_IN_ONE = """
void f(int n, double *restrict v, double *restrict w, const double *restrict a,
       const double *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 40; } ) @*/
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            for (int l = 0; l < n; l++)
                v[i * n + j] += a[i * n + l] * b[l * n + j];
        for (int j = 0; j < n; j++)
            w[i * n + j] += v[i * n + j];
    }
    /*@ end @*/
}
"""


def test_loops_that_other_statements_share_keep_their_order() -> None:
    analysis = analyse(source_of(TWO_NESTS_IN_ONE).regions[0])
    (unit,) = units(analysis, ((0, 1),), keeps_privates=True)
    assert arranged(unit, 0, RegisterBlock("j", 16, "i", 8, copied=True)) is None


def test_a_sum_that_has_rows_only_by_itself_is_taken_out() -> None:
    product, copy = cpu_units(analyse(source_of(TWO_NESTS_IN_ONE).regions[0]))
    assert (product.statements, copy.statements) == ((0,), (1,))
    assert first_option(product, 0).over == "i"


def test_a_sum_whose_reads_no_row_serves_again_stays() -> None:
    text = TWO_NESTS_IN_ONE.replace("b[l * n + j]", "b[(i * n + l) * n + j]")
    (unit,) = cpu_units(analyse(source_of(text).regions[0]))
    assert unit.statements == (0, 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nwchem/sd_t_d1.c", "nwchem/sd_t_d2.c"])
def test_every_point_of_a_contraction_is_legal(name: str) -> None:
    analysis = analysed(name)
    space = CpuSpace(analysis)
    points = list(islice(space.points(64), 4, None, 30))
    assert len(points) == 2
    for point in in_turn(points, 0):
        choices = space.choices(point)
        made = planned(analysis, choices, cpu_groups(analysis))
        assert made.general is not None


def test_counts_that_c_fixes_are_left_to_the_compiler() -> None:
    choice = only(analysed("nekbone/local_grad3.c"))
    assert [type(step) for step in choice.steps] == [Map]
    assert choice.cores == ("e",)


def test_without_a_reduction_nothing_is_held() -> None:
    (block,) = nests(only(analysed("nwchem/sd_t_s1.c")))
    assert (block.simd, block.held, block.tiles) == ("h3", "", ())


def test_likely_blocks_come_once_and_the_rules_own_first() -> None:
    (unit,) = cpu_units(analysed("nwchem/sd_t_d1.c"))
    found = likely(unit, 0)
    assert found[0] == RegisterBlock("h3", 16, "h1", 8, copied=True)
    assert RegisterBlock() in found
    assert RegisterBlock("h3", 16, "p4", 8) in found
    assert len(set(found)) == len(found)


def test_rows_of_a_prime_count_are_nearly_even() -> None:
    sizes = dict.fromkeys(("h3u", "h2u", "h1u", "p6u", "p5u", "p4u", "h7u"), 17)
    text = (EXAMPLES / "nwchem/sd_t_d1.c").read_text()
    (unit,) = cpu_units(analyse(source_of(text, **sizes).regions[0]))
    assert first_block(unit, 0) == RegisterBlock("h3", 17, "p4", 6)


def test_points_carry_their_settings() -> None:
    first = next(CpuSpace(analysed("nwchem/sd_t_d1.c")).points(1))
    assert shown(first) == {
        "S0.lanes": 16,
        "S0.rows": 8,
        "S0.over": "h1",
        "S0.copies": 1,
        "S0.ahead": 1,
        "S0.outer": "p6",
        "S0.shared": 2,
        "S0.schedule": "static",
        "flags": "-O3",
    }


TRIANGLE = """
void f(int n, double *restrict v, const double *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param n = 40; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int l = 0; l < i; l++)
                v[i * n + j] += a[l * n + j];
    /*@ end @*/
}
"""


def test_a_loop_that_may_not_run_holds_nothing() -> None:
    (block,) = nests(only(analyse(source_of(TRIANGLE).regions[0])))
    assert block.held == ""


COLUMNS = """
void f(int nz, int n, double x[restrict nz][n], const double a[restrict nz][n])
{
    /*@ begin PerfTuning ( def input_params { param nz = 50; param n = LENGTH; } ) @*/
    LOOPS
            x[k][i] -= a[k][i] * x[k - 1][i];
    /*@ end @*/
}
"""
DOWN, ALONG = "for (int k = 1; k < nz; k++)", "for (int i = 0; i < n; i++)"


@pytest.mark.parametrize("loops", [(DOWN, ALONG), (ALONG, DOWN)], ids=["rows", "columns"])
def test_steps_along_columns_take_strips_of_rows(loops: tuple[str, str]) -> None:
    """Threads share the only parallel loop, which is contiguous, and it is innermost as well."""
    text = COLUMNS.replace("LOOPS", " ".join(loops))
    choice = only(analyse(source_of(text.replace("LENGTH", "200")).regions[0]))
    (block,) = nests(choice)
    assert (block.tiles, block.order, block.simd) == ((("i", 64),), ("i_t", "k", "i"), "i")
    assert choice.cores == ("i_t",)
    short = only(analyse(source_of(text.replace("LENGTH", "127")).regions[0]))
    assert [block.tiles for block in nests(short)] == [()]


def test_no_strip_of_a_loop_that_ends_the_serial_one() -> None:
    text = COLUMNS.replace("LOOPS", f"{ALONG} {DOWN.replace('k < nz', 'k <= i')}")
    (block,) = nests(only(analyse(source_of(text.replace("LENGTH", "200")).regions[0])))
    assert block.tiles == ()


ROWS_OF_HALF = """
void f(int n, double c[restrict n][n], const double a[restrict n][n])
{
    /*@ begin PerfTuning ( def input_params { param n = 400; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            for (int k = 0; k < n; k++)
                c[i][j] += a[i][k] * a[j][k];
    /*@ end @*/
}
"""


def test_lanes_share_a_sum_inside_a_loop_that_no_thread_shares() -> None:
    """Threads have rows enough; the loop between them and the sum stays around it."""
    choice = only(analyse(source_of(ROWS_OF_HALF).regions[0]))
    assert choice.cores == ("i",)
    assert choice.of(Team) == (Team(0, "k", Level.SIMD, ("j",)),)


TAKEN = """
void f(int n, int m, int j_t, double *restrict v, const double *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param n = 40; param m = 40; param j_t = 1; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int l = 0; l < m; l++)
                v[i * n + j] += a[l * n + j] * j_t;
    /*@ end @*/
}
"""


def test_a_tile_whose_name_is_taken_is_not_chosen() -> None:
    (unit,) = cpu_units(analyse(source_of(TAKEN).regions[0]))
    assert likely(unit, 0) == (RegisterBlock(),)


SIBLINGS = """
void f(int n, double *restrict v, const double *restrict a, double *restrict w)
{
    /*@ begin PerfTuning ( def input_params { param n = 40; } ) @*/
    for (int i = 1; i < n; i++)
        for (int j = 1; j < n; j++)
            w[i * n + j] += w[(i - 1) * n + j - 1] + w[i * n + j - 1];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int l = 0; l < n; l++)
                v[i * n + j] += a[i * n + l] * a[l * n + j];
    /*@ end @*/
}
"""


def test_a_second_nest_of_the_same_names_has_kinds_of_its_own() -> None:
    *_, unit = cpu_units(analyse(source_of(SIBLINGS).regions[0]))
    assert unit.statements == (1,)
    assert first_block(unit, 1) == RegisterBlock("j", 16, "i", 8)


ALONE = """
void f(int n, double *restrict v)
{
    double s;
    /*@ begin PerfTuning ( def input_params { param n = 40; } ) @*/
    s = 2.0;
    for (int i = 0; i < n; i++)
        v[i] *= s;
    /*@ end @*/
}
"""


def test_a_statement_outside_all_loops_is_one_thread() -> None:
    first, second = map(choose_cpu, cpu_units(analyse(source_of(ALONE).regions[0])))
    assert [reason.decision for reason in first.reasons] == ["one thread"]
    assert second.cores == ("i",)


ROWS = """
void f(int e, int n, double *restrict v, const double *restrict d, const double *restrict u)
{
    /*@ begin PerfTuning ( def input_params { param n = 16; param e = 1000; } ) @*/
    for (int x = 0; x < e; x++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                for (int m = 0; m < n; m++)
                    v[(x * n + j) * n + k] += d[k * n + m] * u[(x * n + j) * n + m];
    /*@ end @*/
}
"""


def test_of_nearly_equal_blocks_the_rows_that_lie_together_are_chosen() -> None:
    (unit,) = cpu_units(analyse(source_of(ROWS).regions[0]))
    # Ten rows of x would cost 22 cycles for 20 vectors, eight of j 18 for 16.
    assert first_option(unit, 0) == RegisterBlock("k", 16, "j", 8, copied=True)


STRIDED = """
void f(int n, double *restrict v, const double *restrict a, const double *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 256; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int l = 0; l < n; l++)
                v[2 * (i * n + j)] += a[3 * (i * n + l)] * b[2 * (l * n + j)];
    /*@ end @*/
}
"""


def test_where_nothing_is_contiguous_copies_are() -> None:
    (unit,) = cpu_units(analyse(source_of(STRIDED).regions[0]))
    choice = choose_cpu(unit)
    (block,) = nests(choice)
    assert (block.simd, block.order[-2:]) == ("j", ("i", "j"))
    assert [copy.array for copy in block.staged] == ["b"]
    assert "j has the shortest steps in the output, i reuses what the lanes load" in described(
        choice
    )


def test_a_long_sum_of_a_fixed_count_gets_a_block() -> None:
    text = PRODUCTS.replace("int n, ", "").replace("n = 40", "k = 1").replace("< n", "< 512")
    text = text.replace("* n", "* 512").replace(" def input_params { param k = 1; } ", "")
    (block,) = nests(only(analyse(source_of(text).regions[0])))
    assert block.held == "l"


def test_a_nest_without_statements_is_in_no_group() -> None:
    text = """\
void f(int n, const double *restrict x, double (*restrict y)[4], int *restrict last)
{
    int j = 0;
    /*@ begin PerfTuning ( def input_params { param n = 9; } ) @*/
    for (int i = n - 1; i > 0; i -= 2)
        for (j = i + 1; j < n; j++)
            ;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 4; k++)
            y[0][k] = x[i];
        last[i] = last[i];
    }
    /*@ end @*/
    last[0] = j;
}
"""
    assert sorted(n for group in cpu_groups(analysis_of(text)) for n in group) == [0, 1]
