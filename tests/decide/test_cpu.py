"""The choice for the cores of a CPU: which loops are shared, which make a block, and why."""

from __future__ import annotations

from codegen.emitted import EXAMPLES, analysed, source_of
from conftest import Golden

from annotune.analysis.analyse import analyse
from annotune.analysis.facts import Analysis
from annotune.decide.cpu import choose_cpu, cpu_points, cpu_units
from annotune.decide.cpu_blocks import Block, block_options, first_block
from annotune.decide.plan import KernelChoice


def only(analysis: Analysis) -> KernelChoice:
    (unit,) = cpu_units(analysis)
    return choose_cpu(unit)


def described(choice: KernelChoice) -> str:
    return "".join(f"{reason}\n" for reason in choice.reasons)


def test_the_reasons_for_every_example(golden: Golden) -> None:
    names = ["nwchem/sd_t_d1.c", "nwchem/sd_t_s1.c", "gemm/gemm.c", "nekbone/local_grad3.c"]
    text = "\n".join(f"{name}\n{described(only(analysed(name)))}" for name in names)
    golden.check("decide/cpu.txt", text)


def test_a_contraction_gets_a_block_of_half_the_registers() -> None:
    (block,) = only(analysed("nwchem/sd_t_d1.c")).blocking
    assert block.tiles == (("p4", 8), ("h3", 16))
    assert block.order == ("p4_t", "p5", "p6", "h1", "h2", "h3_t", "h7", "p4", "h3")
    assert (block.simd, block.held) == ("h3", "h7")


def test_counts_that_c_fixes_are_left_to_the_compiler() -> None:
    choice = only(analysed("nekbone/local_grad3.c"))
    assert choice.blocking == ()
    assert choice.cores == ("e",)


def test_without_a_reduction_nothing_is_held() -> None:
    (block,) = only(analysed("nwchem/sd_t_s1.c")).blocking
    assert (block.simd, block.held, block.tiles) == ("h3", "", ())


def test_every_option_is_a_block_once_and_the_rules_come_first() -> None:
    (unit,) = cpu_units(analysed("nwchem/sd_t_d1.c"))
    options = block_options(unit, 0)
    assert options[0] == Block("h3", 16, "p4", 8)
    assert Block() in options
    assert len(set(options)) == len(options)
    assert all(option.lanes * option.rows <= 128 for option in options)


def test_rows_of_a_prime_count_are_nearly_even() -> None:
    sizes = dict.fromkeys(("h3u", "h2u", "h1u", "p6u", "p5u", "p4u", "h7u"), 17)
    text = (EXAMPLES / "nwchem/sd_t_d1.c").read_text()
    (unit,) = cpu_units(analyse(source_of(text, **sizes).regions[0]))
    assert first_block(unit, 0) == Block("h3", 17, "p4", 6)


def test_points_carry_their_settings() -> None:
    settings, _ = next(cpu_points(analysed("nwchem/sd_t_d1.c")))
    assert settings == {"S0": "8 p4 x 16 h3"}


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
    (block,) = only(analyse(source_of(TRIANGLE).regions[0])).blocking
    assert block.held == ""


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
    assert block_options(unit, 0) == (Block(),)


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
    assert first_block(unit, 1) == Block("j", 16, "i", 8)


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
