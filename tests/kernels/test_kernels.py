"""Kernels of benchmark suites and of legacy codes, rewritten: what their loops may do, and runs.

The kinds below are worked out by hand from the C text. Every claim is compared with an
enumeration of all instances at small sizes, and every target's text is executed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

import pytest
from analysis.brute import carried_by
from support.laws import sanitizes
from support.regions import positions, regions_of
from support.sizes import fulfils

from annotune.analysis.facts import LoopKind
from annotune.codegen.target import DEFAULT_TARGETS, load_target
from annotune.diagnostics import Severity
from annotune.measure.check import Checker
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckPlan
from annotune.measure.program import Program
from annotune.measure.sizes import open_sizes
from annotune.measure.toolchain import Toolchains, find_toolchains
from annotune.measure.trial import Status
from annotune.pipeline import Settings, check, emit
from annotune.report.findings import RegionReport
from annotune.strategies.registry import AUTO

HERE = Path(__file__).parent
AWKWARD = (5, 3, 4, 2, 3, 5, 4)

# The loops of the last iteration's copy of a work array.
COPIED = ", {0}_own_1 P, {0}_own_2 P"
# P: parallel, R: a reduction, S: serial; loops in the order of the text.
EXPECTED = {
    "blas.gemm": "i P, j P, k R, j P",
    "blas.two_mm": "i P, j P, k R, i P, j P, k R",
    "blas.three_mm": "i P, j P, k R, i P, j P, k R, i P, j P, k R",
    "blas.atax": "i P, i R, j R, j P",
    "blas.bicg": "i P, i R, j R",
    "blas.mvt": "i P, j R, i P, j R",
    "blas.gemver": "i P, j P, i P, j R, i P, i P, j R",
    "blas.gesummv": "i P, j R",
    "blas.syrk": "i P, j P, k R, j P",
    "blas.trmm": "i S, j P, k R",
    "blas.doitgen": "r S, q S, p P, s R, p P",
    "solvers.lu": "i S, j S, k R, j P, k R",
    "solvers.lu_right_looking": "k S, j P, i P, j P",
    "solvers.cholesky": "i S, j S, k R, k R",
    "stencils.jacobi_1d": "t S, i P, i P",
    "stencils.jacobi_2d": "t S, i P, j P, i P, j P",
    "stencils.seidel_2d": "t S, i S, j S",
    "stencils.fdtd_2d": "t S, j P, i P, j P, i P, j P, i P, j P",
    "stencils.heat_3d": "t S, i P, j P, k P, i P, j P, k P",
    "datamining.correlation": "j P, i R, j P, i R, i P, j P, i P, j P, k R",
    "datamining.covariance": "j P, i R, i P, j P, i P, j P, k R",
    "f2c.dgemm_": "j P, i__ P, l R, i__ P",
    "f2c.dger_": "j P, i__ P",
    "f2c.dtrsm_": "j P, i__ P, k S, i__ P",
    "f2c_nests.gemmnt_": "j P, i__ P, i__ P, l R, i__ P",
    "f2c_nests.symmru_": "j P, i__ P, k R, i__ P, k R, i__ P",
    "f2c_nests.gemvn_": "j R, i__ P",
    "f2c_nests.lasr_": "j S, i__ P",
    "f2c_nests.gefa_": "k S, i__ P, j P, i__ P",
    "f2c_nests.sdot_": "i__ R",
    "f2c_nests.axop_": "e P, j P, i__ P, l R, j P, i__ P, l R"
    + COPIED.format("ur")
    + COPIED.format("us"),
    "f2c_nests.cols_": "i__ P, k P, k P, za_own_1 P, zb_own_1 P",
    "f2c_nests.zgemm_": "j P, i__ P, l R, i__ P",
    "f2c_nests.column_": "jl P, jk S, jk P, zqp_own_1 P, ztp_own_1 P",
    "hydro.ideal_gas": "k P, j P",
    "hydro.ideal_gas_flat": "k P, j P",
    "hydro.calc_dt": "k R, j R",
    "hydro.flux": "i P, v P, v P",
    "cloud.saturation": "jl P, jk R, jl P",
    "cloud.sedimentation": "jl P, jk S, jl P",
    "eos.pressures": "i P",
    "eos.energy": "i R",
}
# No loop of these may run in parallel, so that nothing is emitted.
REFUSED = {"stencils.seidel_2d": "AT301"}
NAMES = sorted(EXPECTED)


@lru_cache(maxsize=1)
def tools() -> Toolchains:
    return find_toolchains(os.environ)


def settings_of(name: str, target: str = "cuda", strategy: str = AUTO) -> Settings:
    file, function = name.split(".")
    return Settings(HERE / f"{file}.c", (target,), function=function, strategy=strategy)


@cache
def examined(name: str) -> RegionReport:
    (report,) = check(settings_of(name)).regions
    return report


def test_every_function_is_in_the_table() -> None:
    functions = {
        f"{path.stem}.{region.function}" for path in HERE.glob("*.c") for region in regions_of(path)
    }
    assert functions == set(EXPECTED)


@pytest.mark.alike(8)
@pytest.mark.parametrize("name", NAMES)
def test_loops_are_what_the_text_makes_them(name: str) -> None:
    report = examined(name)
    errors = [d for d in report.diagnostics if d.severity is Severity.ERROR]
    assert not errors, errors
    assert report.analysis is not None
    found = [f"{facts.name} {facts.kind[0].upper()}" for facts in report.analysis.loops]
    assert ", ".join(found) == EXPECTED[name]


# A brute force looks at each pair of instances: that of an element takes as long as all others.
CLAIMED = [pytest.param(n, marks=(pytest.mark.slow,) * n.endswith("axop_")) for n in NAMES]


@pytest.mark.alike(4)
@pytest.mark.parametrize("name", CLAIMED)
def test_claims_hold_for_every_instance(name: str) -> None:
    analysis = examined(name).analysis
    assert analysis is not None
    region = analysis.region
    order = list(LoopKind)
    sizes = small(region.sizes) if analysis.all_sizes else region.sizes
    assert fulfils(analysis, sizes)
    carried = carried_by(region, sizes, frozenset(analysis.homes))
    for facts, place in zip(analysis.loops, positions(region.nest.body), strict=True):
        seen = carried.get(place, set())
        needed = LoopKind.PARALLEL
        if seen:
            needed = LoopKind.SERIAL if False in seen else LoopKind.REDUCTION
        assert order.index(facts.kind) >= order.index(needed), (facts.path, facts.proof)


def small(sizes: Mapping[str, int]) -> dict[str, int]:
    return {name: min(value, 5) for name, value in sizes.items()}


# Several kernels like others here, each built for the CPU in several ways.
LONG = {
    *("blas.three_mm", "blas.two_mm", "blas.gemver", "blas.gesummv", "blas.trmm"),
    *("datamining.covariance", "solvers.cholesky", "stencils.heat_3d", "stencils.jacobi_2d"),
}
ACCEPTED = [name for name in NAMES if name not in REFUSED]
QUICK = [name for name in ACCEPTED if name not in LONG]


def _is_slow(name: str, target: str) -> bool:
    """Return whether a case may wait: one kernel in ten runs with one target, these in turn."""
    number, is_left = divmod(QUICK.index(name), 10) if name in QUICK else (0, 1)
    return bool(is_left) or target != DEFAULT_TARGETS[number % len(DEFAULT_TARGETS)]


RUNS = [
    pytest.param(name, target, marks=(pytest.mark.slow,) if _is_slow(name, target) else ())
    for name in ACCEPTED
    for target in DEFAULT_TARGETS
]


@pytest.mark.alike(5)
@pytest.mark.parametrize(("name", "target"), RUNS)
def test_emitted_text_equals_the_original(name: str, target: str, tmp_path: Path) -> None:
    check_emitted(settings_of(name, target), target, tmp_path)


# What a strategy makes of kernels of its kind, however few blocks the small sizes leave.
STRATEGIES = [
    *(("stencils.jacobi_2d", "stencil"), ("stencils.heat_3d", "stencil")),
    *(("stencils.fdtd_2d", "stencil"), ("stencils.fdtd_2d", "elementwise")),
    *(("blas.gemver", "elementwise"), ("blas.gemver", "reduction")),
    *(("blas.atax", "reduction"), ("blas.mvt", "reduction"), ("hydro.flux", "elementwise")),
    *(("datamining.correlation", "reduction"), ("datamining.correlation", "elementwise")),
]


@pytest.mark.slow
@pytest.mark.parametrize("target", ["cuda", "openacc"])
@pytest.mark.parametrize(("name", "strategy"), STRATEGIES)
def test_a_strategys_text_equals_the_original(
    name: str, strategy: str, target: str, tmp_path: Path
) -> None:
    check_emitted(settings_of(name, target, strategy), target, tmp_path)


def check_emitted(settings: Settings, target: str, tmp_path: Path) -> None:
    """Assert that the first choice of a target gives what the original gives."""
    made = emit(settings, [load_target(target)])
    report = made.reports[0]
    assert report.analysis is not None
    oracle = Oracle(made.source, report.analysis, tools(), tmp_path)
    writer = load_target(target)
    code = writer.region(made.variants[0][target], resident=False)
    program = Program(target, writer.kind, code, writer.device_file(code))
    names = open_sizes(report.analysis.region)
    awkward = dict(zip(names, AWKWARD, strict=False))
    plan = CheckPlan(
        (report.analysis.region.sizes, awkward), sanitize=sanitizes(target), races=True
    )
    trial = Checker(oracle).check(program, plan)
    assert trial.status is Status.CORRECT, trial.reason
    assert trial.verified


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_has_no_parallel_loop_is_refused(name: str) -> None:
    codes = [d.code for d in examined(name).diagnostics]
    assert REFUSED[name] in codes
