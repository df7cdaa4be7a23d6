"""C texts whose kernels have every shape of OpenACC."""

from __future__ import annotations

PRODUCT = "c[i][j] += a[i][k] * b[k][j];"


def product(statement: str = PRODUCT, n: int = 32, recipe: str = "") -> str:
    """Return a product of matrices, or another statement under its loops."""
    chill = f"/*@ begin CHiLL (\n{recipe}) @*/\n" if recipe else ""
    return (
        "void f(int n, double w, double c[restrict n][n], double d[restrict n][n],\n"
        "       const double a[restrict n][n], const double b[restrict n][n])\n{\n"
        f"/*@ begin PerfTuning ( def input_params {{ param n = {n}; }} ) @*/\n{chill}"
        "for (int i = 0; i < n; i++)\nfor (int j = 0; j < n; j++)\n"
        f"for (int k = 0; k < n; k++)\n{statement}\n"
        f"{'/*@ end @*/' if recipe else ''}\n/*@ end @*/\n}}\n"
    )


def contraction(n: int) -> str:
    """Return a contraction of tensors with four free loops and one that is summed."""
    return (
        "void f(int n, double T[restrict n][n][n][n], double t[restrict n][n][n],\n"
        "       double v[restrict n][n][n])\n{\n"
        f"/*@ begin PerfTuning ( def input_params {{ param n = {n}; }} ) @*/\n"
        + "".join(f"for (int {x} = 0; {x} < n; {x}++)\n" for x in "abcdk")
        + "T[a][b][c][d] -= t[b][a][k] * v[k][c][d];\n/*@ end @*/\n}\n"
    )
