"""What f2c writes, with temporaries between loops, comes out as the nest of the textbook."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from annotune.codegen.target import load_target
from annotune.options import DEFAULT_TARGETS
from annotune.pipeline import Settings, check, emit
from annotune.report.findings import RegionReport, recipe_of

F2C = Path(__file__).parents[1] / "kernels"
LEGACY = Path(__file__).parents[1] / "legacy"
SIZES = dict.fromkeys(("m", "n", "k", "lda", "ldb", "ldc"), 512)

# By the file and the function of the f2c text.
TEXTBOOK = {
    ("f2c", "dgemm_"): """\
void dgemm(int m, int n, int k, const double *alpha, const double *restrict a, int lda,
           const double *restrict b, int ldb, const double *beta, double *restrict c, int ldc)
{
    /*@ begin PerfTuning () @*/
    for (int j = 1; j <= n; j++)
        for (int i = 1; i <= m; i++)
            c[i + j * ldc] *= *beta;
    for (int j = 1; j <= n; j++)
        for (int l = 1; l <= k; l++)
            for (int i = 1; i <= m; i++)
                c[i + j * ldc] += *alpha * b[l + j * ldb] * a[i + l * lda];
    /*@ end @*/
}
""",
    ("f2c_nests", "gemvn_"): """\
void gemvn(int m, int n, const float *alpha, const float *restrict a, int lda,
           const float *restrict x, float *restrict y)
{
    /*@ begin PerfTuning () @*/
    for (int j = 1; j <= n; j++)
        for (int i = 1; i <= m; i++)
            y[i] += (double)(*alpha * x[j]) * a[i + j * lda];
    /*@ end @*/
}
""",
    ("f2c_nests", "symmru_"): """\
void symm(int m, int n, const double *alpha, const double *restrict a, int lda,
          const double *restrict b, int ldb, const double *beta, double *restrict c, int ldc)
{
    /*@ begin PerfTuning () @*/
    for (int j = 1; j <= n; j++)
        for (int i = 1; i <= m; i++)
            c[i + j * ldc] = *beta * c[i + j * ldc] + *alpha * a[j + j * lda] * b[i + j * ldb];
    for (int j = 1; j <= n; j++)
        for (int k = 1; k < j; k++)
            for (int i = 1; i <= m; i++)
                c[i + j * ldc] += *alpha * a[k + j * lda] * b[i + k * ldb];
    for (int j = 1; j <= n; j++)
        for (int k = j + 1; k <= n; k++)
            for (int i = 1; i <= m; i++)
                c[i + j * ldc] += *alpha * a[j + k * lda] * b[i + k * ldb];
    /*@ end @*/
}
""",
}


def examined(source: Path, function: str = "") -> RegionReport:
    settings = Settings(source, DEFAULT_TARGETS, function=function, sizes=SIZES)
    (report,) = check(settings).regions
    assert report.decision is not None, report.diagnostics
    return report


def steps(report: RegionReport) -> list[str]:
    """Return the commands of a recipe, with the loops of the textbook and statements in order."""
    recipe = recipe_of(report).replace("i__", "i")
    assert report.analysis is not None
    numbers = [assign.number for assign in report.analysis.region.nest.assigns()]
    place = {str(number): str(index) for index, number in enumerate(numbers)}
    renamed = re.sub(r"(?<=\()\d+", lambda found: place[found[0]], recipe)
    return [line.strip() for line in renamed.splitlines()]


def predicted_s(report: RegionReport) -> float:
    assert report.decision is not None
    forecast = report.forecast(report.decision)
    assert forecast is not None
    return forecast.kernels_s


@pytest.mark.alike(3)
@pytest.mark.parametrize(("file", "function"), TEXTBOOK)
def test_f2c_comes_out_as_the_textbook_does(file: str, function: str, tmp_path: Path) -> None:
    path = tmp_path / "textbook.c"
    path.write_text(TEXTBOOK[file, function])
    ours, theirs = examined(F2C / f"{file}.c", function), examined(path)
    assert steps(ours) == steps(theirs)
    assert predicted_s(ours) == pytest.approx(predicted_s(theirs), rel=0.1)


# Routines of the BLAS's third level, and the share by which the model's times differ.
LEVEL_3 = {"dgemnn": 0.1, "dgemtn": 0.01, "dgemtt": 0.01}


def by_kernel(report: RegionReport) -> list[str]:
    """Return the commands of a recipe for each kernel, less what runs two branches as one."""
    assert report.decision is not None
    place = {
        str(number): f"{k}.{own}"
        for k, choice in enumerate(report.decision.choices)
        for own, number in enumerate(choice.statements)
    }
    recipe = recipe_of(report).replace("i__", "i")
    found = re.sub(r"(?<=\()\d+", lambda number: place[number[0]], recipe).splitlines()
    return [line.strip() for line in found if not line.strip().startswith("fuse(")]


def on_cores(source: Path, function: str) -> dict[str, str]:
    """Return how cores run the product of a routine: the settings of its last statement."""
    settings = Settings(source, ("openmp",), function=function, sizes=SIZES)
    (made,) = emit(settings, [load_target("openmp")]).variants
    told = {name: str(value).replace("i__", "i") for name, value in made["openmp"].config.items()}
    last = [name.partition(".")[0] for name in told if name.endswith(".rows")][-1]
    return {name.partition(".")[2]: v for name, v in told.items() if name.startswith(f"{last}.")}


@pytest.mark.alike(3)
@pytest.mark.parametrize("routine", LEVEL_3)
def test_the_blas_of_level_3_comes_out_as_the_textbook_does(routine: str) -> None:
    """One form tests b, ``if (b[j][l] != 0)``: its tile asks it, and is the same otherwise."""
    ours, theirs = LEGACY / "blas3.c", LEGACY / "textbook" / "blas3.c"
    f2c, textbook = examined(ours, f"{routine}_"), examined(theirs, routine)
    assert by_kernel(f2c) == by_kernel(textbook)
    assert predicted_s(f2c) == pytest.approx(predicted_s(textbook), rel=LEVEL_3[routine])
    assert on_cores(ours, f"{routine}_") == on_cores(theirs, routine)


def test_a_condition_leaves_a_product_to_the_vector_units() -> None:
    """What b leaves out must not be added, and an instruction of a warp adds all."""
    f2c = examined(LEGACY / "blas3.c", "dgemnt_")
    textbook = examined(LEGACY / "textbook" / "blas3.c", "dgemnt")
    assert [any("mma(" in line for line in by_kernel(one)) for one in (f2c, textbook)] == [
        False,
        True,
    ]
    assert on_cores(LEGACY / "blas3.c", "dgemnt_") == on_cores(
        LEGACY / "textbook" / "blas3.c", "dgemnt"
    )


SLOWER = pytest.mark.xfail(strict=True, reason="the sum's loop is around rows that end at a column")


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    "routine",
    [
        *("dsyrkn", "dsyrkt", pytest.param("dsyr2k", marks=SLOWER), "dsr2kt", "dtrmlu"),
        pytest.param("dtrslu", marks=SLOWER),
    ],
)
def test_triangles_are_predicted_to_be_no_slower_than_the_textbooks(routine: str) -> None:
    """Neither has a tile: a loop of the output ends where another one is."""
    f2c = examined(LEGACY / "blas3.c", f"{routine}_")
    textbook = examined(LEGACY / "textbook" / "blas3.c", routine)
    assert predicted_s(f2c) <= 1.1 * predicted_s(textbook)
