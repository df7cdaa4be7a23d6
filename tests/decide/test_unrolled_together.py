"""The rules unroll no loop that holds the loops of another nest once the two are one kernel.

Nobody asks for it, so that nobody is to be told that it is refused.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from annotune.pipeline import Settings, check

DECLARED = "static double A[64][64], B[64][64], C[64][64], D[64][64], x[64], y[64], z[64];\n"
DECLARED += "static double T[64][8][8], U[64][8][8];\n"
SUM = "for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) y[i] += A[j][i] * x[j];"
HEADS = "for (int i = 0; i < {0}; i++) for (int j = 0; j < {1}; j++) "
INNER = "for (int k = 0; k < 8; k++) "
PAIRS = {
    "a sum before two": (SUM, HEADS.format(8, 8) + INNER + "z[i] += A[i][j] * B[j][k];"),
    "a sum behind two": (HEADS.format(8, 8) + INNER + "z[i] += A[i][j] * B[j][k];", SUM),
    "a sum before a product": (SUM, HEADS.format(8, 8) + INNER + "D[i][j] += A[i][k] * B[k][j];"),
    "a sum before elements": (
        HEADS.format(64, 8) + "y[i] += A[i][j] * x[j];",
        HEADS.format(64, 8) + INNER + "U[i][j][k] = C[i][j] * x[k];",
    ),
    "a short sum": (
        HEADS.format(64, 3) + "y[i] += A[i][j];",
        HEADS.format(64, 3) + "for (int k = 0; k < 4; k++) z[i] += T[i][j][k];",
    ),
    "three nests": (SUM, SUM.replace("y[i]", "x[i]").replace("x[j]", "z[j]"), SUM),
}


@pytest.mark.parametrize("name", PAIRS)
def test_no_step_of_the_rules_is_refused(name: str, tmp_path: Path) -> None:
    source = tmp_path / "nests.c"
    nests = "\n".join(PAIRS[name])
    region = f"/*@ begin PerfTuning ( ) @*/\n{nests}\n/*@ end @*/"
    source.write_text(f"{DECLARED}void f(void)\n{{\n{region}\n}}\n")
    found = check(Settings(source))
    assert not [one for one in found.diagnostics if one.severity == "error"]
    assert all(report.plan is not None for report in found.regions)
