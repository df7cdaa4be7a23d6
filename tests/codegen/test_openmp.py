"""OpenMP as emitted: read, compiled without a warning, and run against the original."""

from __future__ import annotations

from pathlib import Path

import pytest
from codegen.emitted import (
    RUNS,
    SIZES,
    analysed,
    checked,
    example,
    here,
    source_of,
    variants,
    warnings,
)
from conftest import Golden
from support.laws import IS_THOROUGH

from annotune.analysis.analyse import analyse
from annotune.annotation.devices import load_device
from annotune.codegen.openmp import OpenMpTarget
from annotune.codegen.target import Provenance
from annotune.ir.nest import Level
from annotune.measure.trial import Status
from annotune.schedule.candidate import Candidate
from annotune.space.decision import Base
from annotune.space.openmp import FLAGS, AxisValue, CpuSpace, first_plan, shown
from annotune.space.space import region_space
from annotune.space.variants import Variant
from annotune.strategies.openmp import choose_cpu, cpu_units
from annotune.transforms.map import Map

TARGET = OpenMpTarget()
needs_gcc = pytest.mark.skipif(here().c is None, reason="no C compiler")


def emitted(name: str) -> str:
    """Return the whole file for an example: the first choice for each of its regions."""
    source = example(name)
    codes = [
        TARGET.region(variants(TARGET, analyse(region), 1)[0], False) for region in source.regions
    ]
    return TARGET.files(source, codes, Provenance("0", name))["_omp.c"]


@pytest.mark.parametrize("name", ["gemm/gemm.c", "nekbone/local_grad3.c"])
def test_the_file_reads_well(name: str, golden: Golden) -> None:
    golden.check(f"codegen/omp_{Path(name).name}", emitted(name))


def test_a_register_block_in_both_versions(golden: Golden) -> None:
    variant = variants(TARGET, analysed("nwchem/sd_t_d1.c"), 1)[0]
    code = TARGET.region(variant, False)
    golden.check("codegen/omp_sd_t_d1_1.c", code.helper + code.body)


@needs_gcc
@pytest.mark.parametrize("name", RUNS)
def test_the_file_compiles_without_a_warning(name: str, tmp_path: Path) -> None:
    assert warnings(emitted(name), ("-fopenmp",), tmp_path) == ""


@pytest.mark.alike(3)
@needs_gcc
@pytest.mark.parametrize("name", RUNS)
def test_blocks_equal_the_original_at_awkward_sizes(name: str, tmp_path: Path) -> None:
    found = variants(TARGET, analysed(name), 4 if IS_THOROUGH else 2)
    codes = {str(v.config): TARGET.region(v, False) for v in found}
    trials = checked(example(name), analysed(name), "openmp", codes, SIZES[name], tmp_path)
    assert {n: t.reason for n, t in trials.items() if t.status is not Status.CORRECT} == {}


OVERLAP = """
void add(int n, double *a, double *b)
{
    int i;
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (i = 0; i < n; i++)
        a[i] = 2.0 * b[i];
    /*@ end @*/
}
"""


def test_an_overlap_takes_the_nest_as_written() -> None:
    analysis = analyse(source_of(OVERLAP).regions[0])
    body = TARGET.region(variants(TARGET, analysis, 1)[0], False).body
    assert "a + n <= b" in body
    assert "else" in body


FINAL = """
int last(int n, int m, double *restrict a)
{
    int i, j = 7;
    /*@ begin PerfTuning ( def input_params { param n = 20; param m = 8; } ) @*/
    for (i = 0; i < n; i++)
        for (j = 1; j < m; j += 3)
            a[i * m + j] += 1.0;
    /*@ end @*/
    return 100 * i + j;
}
"""


INNER = FINAL.replace("int i, j", "int j").replace("for (i = 0", "for (int i = 0")
INNER = INNER.replace("100 * i + j", "j")


@needs_gcc
@pytest.mark.alike(2)
@pytest.mark.parametrize("text", [FINAL, INNER])
def test_iterators_that_are_read_afterwards_keep_their_values(text: str, tmp_path: Path) -> None:
    source = source_of(text)
    analysis = analyse(source.regions[0])
    codes = {"first": TARGET.region(variants(TARGET, analysis, 1)[0], False)}
    sizes = ({"n": 20, "m": 8}, {"n": 3, "m": 1}, {"n": 5, "m": 3})
    trials = checked(source, analysis, "openmp", codes, sizes, tmp_path)
    whole = TARGET.files(source, list(codes.values()), Provenance("0", "user.c"))["_omp.c"]
    assert warnings(whole, ("-fopenmp",), tmp_path) == ""
    assert [(t.status, t.reason) for t in trials.values()] == [(Status.CORRECT, "")]


MACRO = """
#ifndef n
#define n 20
#endif
void scale(double *restrict a)
{
    int i, j;
    /*@ begin PerfTuning () @*/
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++)
            a[i * n + j] *= 2.0;
    /*@ end @*/
}
"""


@needs_gcc
def test_a_macro_of_another_value_takes_the_nest_as_written(tmp_path: Path) -> None:
    source = source_of(MACRO)
    code = TARGET.region(variants(TARGET, analyse(source.regions[0]), 1)[0], False)
    assert "if (n == 20)" in code.body
    text = TARGET.files(source, [code], Provenance("0", "user.c"))["_omp.c"]
    assert warnings(text, ("-fopenmp", "-Dn=33"), tmp_path) == ""


REDUCTION = """
double total(int n, int m, const double *restrict a, double *restrict b)
{
    double s = 0.0;
    /*@ begin PerfTuning ( def input_params { param n = 20; param m = 30; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            b[i * m + j] = 2.0 * a[i * m + j];
    for (int i = 0; i < n; i++)
        s += a[i];
    /*@ end @*/
    return s;
}
"""


@needs_gcc
def test_a_scalar_that_lives_on_is_not_lost_in_a_function(tmp_path: Path) -> None:
    source = source_of(REDUCTION)
    analysis = analyse(source.regions[0])
    codes = {"first": TARGET.region(variants(TARGET, analysis, 1)[0], False)}
    sizes = ({"n": 20, "m": 30}, {"n": 3, "m": 5})
    trials = checked(source, analysis, "openmp", codes, sizes, tmp_path)
    assert [(t.status, t.reason) for t in trials.values()] == [(Status.CORRECT, "")]


def test_a_choice_that_is_illegal_is_left_out_with_its_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    analysis = analysed("gemm/gemm.c")
    (unit,) = cpu_units(analysis)
    right = choose_cpu(unit)
    wrong = Candidate(right.parts, (Map(0, (("l", Level.CPU_THREAD),), command="threads"),))
    found = {(): wrong, ("lanes",): right}
    points = [(AxisValue(dict.fromkeys(names, 8), "static"),) for names in found]
    monkeypatch.setattr(CpuSpace, "points", lambda *_: iter(points))
    monkeypatch.setattr(CpuSpace, "choices", lambda _, point: (found[tuple(shown(point))],))
    (choice,) = first_plan(Base.of(analysis)).choices
    assert choice.steps == right.steps
    why = "left out: the rules' choice (statement 0 has no loop 'l')"
    assert str(choice.reasons[0]) == why
    assert choice.reasons[1:] == right.reasons


def test_points_that_differ_in_flags_alone_share_their_plans() -> None:
    base = Base.of(analysed("gemm/gemm.c"))
    space = region_space(base)
    listing = OpenMpTarget().points(base, space, load_device("h200")).listing(5000)
    by_settings: dict[tuple[object, ...], list[Variant]] = {}
    for number, config in list(enumerate(listing.configs))[1:40]:
        key = tuple((name, value) for name, value in config.items() if name != FLAGS)
        by_settings.setdefault(key, []).append(listing.variant(number))
        assert by_settings[key][-1].config == config
        flags = " ".join(by_settings[key][-1].flags.host) or "-"
        assert flags == config.get(FLAGS, "-")
    shared = [made for made in by_settings.values() if len(made) > 1]
    assert shared
    for first, *others in shared:
        assert all(one.plans() == first.plans() for one in others)
        assert all(one.tuned is first.tuned and one.flags != first.flags for one in others)
