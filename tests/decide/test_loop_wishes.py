"""Orio's ``transform CUDA(…)`` is a demand: a loop that may not run in parallel is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotune import pipeline
from annotune.pipeline import Settings

HEAD = "void f(int n, double A[n][n], double B[n][n], double x[n], double *r)\n{\n"
TUNING = "/*@ begin PerfTuning (def input_params { param n = 32; } ) @*/\nint t, i, j;\n"
CUDA = "transform CUDA(threadCount=32)\n"
SWEEP = """\
for (t = 0; t < n; t++) {
transform CUDA(threadCount=32)
  for (i = 0; i < n; i++)
    for (j = 1; j < n; j++)
      A[i][j] = A[i][j] - A[i][j-1];
transform CUDA(threadCount=32)
  for (i = 1; i < n; i++)
    for (j = 0; j < n; j++)
      A[i][j] = A[i][j] - A[i-1][j];
}
"""
ROWS = f"{CUDA}for (i = 0; i < n; i++)\n  for (j = 0; j < n; j++)\n    x[j] += A[i][j];\n"
SCALAR = f"{CUDA}for (i = 0; i < n; i++)\n  r[0] += x[i];\n"
SERIAL = f"{CUDA}for (i = 1; i < n; i++)\n  x[i] += x[i-1];\n"
FREE = f"{CUDA}for (i = 0; i < n; i++)\n  x[i] = 2*x[i];\n"


def refusals(folder: Path, loops: str) -> list[tuple[int, str, str]]:
    """Return line, message and help of each refusal; the loops start on line 6."""
    source = folder / "f.c"
    source.write_text(
        f"{HEAD}{TUNING}/*@ begin Loop (\n{loops}) @*/\n/*@ end @*/ /*@ end @*/\n}}\n"
    )
    found = pipeline.check(Settings(source)).diagnostics
    return [(d.span.line, d.message, d.help) for d in found if d.code == "AT307"]


def test_only_the_second_sweep_is_refused_and_its_inner_loop_named(tmp_path: Path) -> None:
    ((line, message, help),) = refusals(tmp_path, SWEEP)
    assert line == 11
    assert message.startswith("loop 'i' is asked to run in parallel, and cannot: A[i")
    assert help.startswith("inside it 'j' may run in parallel")


def test_a_sum_of_rows_is_refused(tmp_path: Path) -> None:
    ((line, message, help),) = refusals(tmp_path, ROWS)
    assert (line, "x is accumulated over i" in message) == (6, True)
    assert help.startswith("inside it 'j' may run in parallel")


def test_no_loop_is_named_where_there_is_none(tmp_path: Path) -> None:
    ((_, _, help),) = refusals(tmp_path, SERIAL)
    assert help.startswith("no loop of this nest may run in parallel")


@pytest.mark.parametrize("loops", [SCALAR, FREE])
def test_what_may_run_in_parallel_is_accepted(tmp_path: Path, loops: str) -> None:
    assert refusals(tmp_path, loops) == []
