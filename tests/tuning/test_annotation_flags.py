"""The flags of a build command are an axis, and reach the variants that they are for."""

from __future__ import annotations

from pathlib import Path

import pytest
from codegen.emitted import source_of

from annotune import pipeline
from annotune.analysis.analyse import analyse
from annotune.annotation.devices import load_device
from annotune.annotation.flags import macros
from annotune.codegen.target import load_target
from annotune.pipeline import Settings
from annotune.space.decision import Base
from annotune.space.space import region_space
from annotune.space.variants import Variant
from annotune.tuning.bench import program_of

TEXT = """\
void f(int n, double *restrict y, const double *restrict x)
{
    /*@ begin PerfTuning (
      def input_params { param n = 64; }
      def build { arg build_command = 'gcc -Wall -DSCALE=2 -Dn=3 -fno-openmp @CFLAGS'; }
      def performance_params {
        param CFLAGS[] = ['-O1', '-Ofast -DTWO -use_fast_math', '-O3 -fplugin=x.so'];
        param IDLE[] = ['-O0', '-O1'];
      }
    ) @*/
    for (int i = 0; i < n; i++)
        y[i] = 2 * x[i];
    /*@ end @*/
}
"""


def candidates(name: str) -> list[Variant]:
    base = Base.of(analyse(source_of(TEXT).regions[0]))
    return list(
        load_target(name)
        .points(base, region_space(base), load_device("h200"))
        .listing(99)
        .variants()
    )


@pytest.mark.parametrize("name", ["openmp", "openacc"])
def test_flags_for_c_reach_each_variant(name: str) -> None:
    target, found = load_target(name), candidates(name)
    programs = [program_of(target, name, v, target.region(v, resident=False)) for v in found]
    assert {p.optimisation for p in programs} == {("-O1",), ("-Ofast",), ("-O3",)}
    for variant, program in zip(found, programs, strict=True):
        assert variant.config["flags"] == " ".join(program.optimisation)


def test_nvcc_gets_its_own_and_the_cpu_that_plays_it_is_fast() -> None:
    target, found = load_target("cuda"), candidates("cuda")
    programs = [program_of(target, "cuda-cpu", v, target.region(v, resident=False)) for v in found]
    assert {(p.optimisation, p.nvcc) for p in programs} == {
        (("-O1",), ()),
        (("-Ofast",), ("-use_fast_math",)),
        (("-O3",), ()),
    }
    assert {v.config.get("flags", "") for v in found} == {"", "-use_fast_math"}
    assert {v.config["CFLAGS"] for v in found} == {
        "-O1",
        "-Ofast -DTWO -use_fast_math",
        "-O3 -fplugin=x.so",
    }


def test_macros_are_the_build_command_s_own_and_no_variable_s() -> None:
    (region,) = source_of(TEXT).regions
    assert macros(region.spec, {*region.scalars, *region.arrays}) == ("-DSCALE=2",)


def test_the_emitted_text_tells_its_flags(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(TEXT)
    made = pipeline.emit(Settings(path), [load_target("openmp"), load_target("cuda")])
    assert "flags -O1\n" in made.files["_omp.c"]
    assert "Build: nvcc -O1 " in made.files[".cu"]
