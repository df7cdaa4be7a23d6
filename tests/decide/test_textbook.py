"""What f2c writes, with temporaries between loops, comes out as the nest of the textbook."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from annotune.options import DEFAULT_TARGETS
from annotune.pipeline import Settings, check
from annotune.report.findings import RegionReport, recipe_of

F2C = Path(__file__).parents[1] / "kernels"
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


@pytest.mark.parametrize(("file", "function"), TEXTBOOK)
def test_f2c_comes_out_as_the_textbook_does(file: str, function: str, tmp_path: Path) -> None:
    path = tmp_path / "textbook.c"
    path.write_text(TEXTBOOK[file, function])
    ours, theirs = examined(F2C / f"{file}.c", function), examined(path)
    assert steps(ours) == steps(theirs)
    assert predicted_s(ours) == pytest.approx(predicted_s(theirs), rel=0.1)
