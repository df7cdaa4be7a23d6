"""Products of small matrices, for the tests of what goes into registers and fast memory."""

from __future__ import annotations

from support.regions import find_annotations

from annotune.analysis.analyse import analyse
from annotune.analysis.facts import Analysis
from annotune.frontend.load import load

PRODUCT = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) for (l = 0; l < k; l++)"


def analysed(statement: str, loops: str = PRODUCT) -> Analysis:
    """Return the analysis of one nest over row-major matrices."""
    text = (
        "void f(int n, int m, int k, double C[n][m], const double A[n][k], const double B[k][m],\n"
        "       double *restrict v, int *restrict q, const float *restrict w)\n{\n  int i, j, l;\n"
        "  /*@ begin PerfTuning ( def input_params {"
        " param n = 6; param m = 8; param k = 5; } ) @*/\n"
        f"  {loops} {{ {statement} }}\n  /*@ end @*/\n}}\n"
    )
    return analyse(load("f.c", text, find_annotations(text, "f.c")).regions[0])


MATMUL = analysed("C[i][j] += A[i][l] * B[l][j];")
