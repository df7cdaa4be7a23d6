"""Every example, for every target: the emitted text runs and equals the original C.

The first choice of the decision algorithm is compiled and executed at unequal awkward
extents, at ten, and so at sizes other than the tuned ones; CUDA on the CPU, under the
sanitizers and the race detector as well, OpenACC and OpenMP natively and as the race
detector's threads.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path

import pytest
from support.laws import IS_THOROUGH, sanitizes

from annotune.codegen.target import TARGET_NAMES, load_target
from annotune.frontend.read.preprocess import HeaderSearch
from annotune.measure.check import Checker
from annotune.measure.oracle import Oracle
from annotune.measure.plan import CheckPlan
from annotune.measure.program import Program
from annotune.measure.sizes import open_sizes
from annotune.measure.toolchain import Toolchains, find_toolchains
from annotune.measure.trial import Status
from annotune.pipeline import Settings, check, emit
from annotune.report.findings import RegionReport

EXAMPLES = Path(__file__).parent.parent / "c_examples"
FILES = (
    "nwchem/sd_t_s1.c",
    "nwchem/sd_t_d1.c",
    "nwchem/sd_t_d2.c",
    "nwchem/ccsd_t.c",
    "nekbone/local_grad3.c",
    "nekbone/gradient.c",
    "nekbone/ax.c",
    "nekbone/ax_loops.c",
    "nekbone/ax_f2c.c",
    "nekbone/cg.c",
    "fem/mass_assembly.c",
    "fem/mass_action.c",
    "fem/interpolation.c",
    "fem/kernels.c",
    "gemm/gemm.c",
    "gemm/sgemm.c",
    "gemm/batched.c",
    "stencil/poisson.c",
    "treduda/tensors.c",
    "thesis/fig3_9a.c",
    "thesis/fig3_9b.c",
)
UNEQUAL = (2, 3, 4, 5, 6, 7, 3)
# Below these a loop of the nest does not run, and no kernel is launched.
LEAST = {"stencil/poisson.c": 3}
# Sizes fixed by a #define are made small, so that the detectors can run.
DEFINES = {"nekbone/local_grad3.c": {"lx": "4", "nelt": "3"}}


@lru_cache(maxsize=1)
def tools() -> Toolchains:
    return find_toolchains(os.environ)


@cache
def examined(file: str) -> tuple[RegionReport, ...]:
    settings = Settings(EXAMPLES / file, search=HeaderSearch(defines=DEFINES.get(file, {})))
    return check(settings).regions


def regions() -> Iterator[tuple[str, str]]:
    for file in FILES:
        text = (EXAMPLES / file).read_text()
        names = [line.split("(")[0].split()[-1] for line in text.splitlines() if _opens(line)]
        yield from ((file, name) for name in names)


QUICK = ("gemm/gemm.c",)
SHOWN = {
    ("nwchem/sd_t_d1.c", "sd_t_d1_1", "cuda"),
    ("nekbone/local_grad3.c", "local_grad3", "openmp"),
    ("gemm/gemm.c", "gemm", "openacc"),
}


def _opens(line: str) -> bool:
    return line.startswith(("void ", "double ", "/* Subroutine */ "))


def _marks(case: tuple[str, str, str]) -> tuple[pytest.MarkDecorator, ...]:
    """Return the marks of a function for a target: of those alike one does."""
    return () if case in SHOWN else (pytest.mark.slow,)


CASES = [
    pytest.param(f, n, target, id=f"{Path(f).stem}-{n}-{target}", marks=_marks((f, n, target)))
    for f, n in regions()
    for target in TARGET_NAMES
]


def test_no_example_is_missing() -> None:
    nwchem, nekbone, others = 29, 9, 17
    assert len(CASES) == (nwchem + nekbone + others) * len(TARGET_NAMES)
    assert len({case.values for case in CASES}) == len(CASES)


def sizes_of(report: RegionReport, least: int) -> tuple[Mapping[str, int], ...]:
    """Unequal awkward extents and tens, or nothing to choose where C fixes all sizes."""
    names = open_sizes(report.region)
    if not names:
        return ({},)
    unequal = {name: n + least - 1 for name, n in zip(names, UNEQUAL, strict=False)}
    tens = dict.fromkeys(names, 10)
    ones = dict.fromkeys(names, least)
    return (unequal, tens, ones) if IS_THOROUGH else (unequal, ones)


@pytest.mark.alike(5)
@pytest.mark.parametrize(("file", "function", "target"), CASES)
def test_emitted_text_equals_the_original(
    file: str, function: str, target: str, tmp_path: Path
) -> None:
    search = HeaderSearch(defines=DEFINES.get(file, {}))
    settings = Settings(EXAMPLES / file, (target,), search=search, function=function)
    made = emit(settings, [load_target(target)])
    report = made.reports[0]
    assert report.analysis is not None
    flags = tuple(f"-D{n}={v}" for n, v in settings.search.defines.items())
    oracle = Oracle(made.source, report.analysis, tools(), tmp_path, flags)
    writer = load_target(target)
    code = writer.region(made.variants[0][target], resident=False)
    program = Program(target, writer.kind, code, writer.device_file(code))
    plan = CheckPlan(sizes_of(report, LEAST.get(file, 1)), sanitize=sanitizes(target), races=True)
    trial = Checker(oracle).check(program, plan)
    assert trial.status is Status.CORRECT, trial.reason
    assert trial.verified
    assert "skipped" not in trial.facts


# An element for each thread: the first choice spills some bytes, and `run` has other factors.
SPILLS = ("nekbone/ax.c", "fem/mass_assembly.c", "fem/mass_action.c")


@pytest.mark.slow
@pytest.mark.parametrize(
    "file",
    [
        f if f in QUICK else pytest.param(f, marks=pytest.mark.slow)
        for f in FILES
        if f not in SPILLS
    ],
)
def test_nvcc_compiles_without_spills_or_warnings(file: str, tmp_path: Path) -> None:
    nvcc = tools().nvcc
    if nvcc is None:
        pytest.skip(f"no nvcc: {tools().problems.get('nvcc')}")
    made = emit(Settings(EXAMPLES / file, ("cuda",)), [load_target("cuda")])
    source = tmp_path / "S.cu"
    source.write_text(made.files[".cu"])
    command = [*nvcc.command, *nvcc.flags, "-arch=sm_90", "-Xptxas", "-v,-warn-spills"]
    command += ["-Werror", "all-warnings", "-c", str(source), "-o", str(tmp_path / "S.o")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr
    spills = [line for line in done.stderr.splitlines() if "spill" in line]
    assert spills
    assert all(" 0 bytes spill stores, 0 bytes spill loads" in line for line in spills)
