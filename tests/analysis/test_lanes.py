"""Where lanes keep the order of the statements in one iteration."""

from __future__ import annotations

import pytest
from support.regions import analysis_of

from annotune.analysis.schedule import keeps_order

# The body under `for i: for j`, and whether lanes along j keep its order.
BODIES = {
    "A[i][j + 3] = 4.0; B[i][j] = A[i][j + 3];": True,
    "A[i][j + 3] = 4.0; B[i][j] = A[i][j + 2];": True,
    "A[i][j] = 4.0; B[i][j] = B[i][m - j];": True,
    # The element that is read is the one just written where 2*j == m.
    "A[i][j] = 4.0; B[i][j] = A[i][m - j];": False,
    "A[i + 3][j] = 4.0; B[i][j] = A[m - i][j];": False,
    "A[i + 3][j] = 4.0; A[m - i][j] = 5.0;": False,
    # Reading first is kept: lanes load before they store.
    "B[i][j] = A[m - i][j]; A[i + 3][j] = 4.0;": True,
    # No call has an m below n: so i is parallel.
    "A[i][j] = 4.0; B[i][j] = A[i + m][j];": True,
    "A[i][j] = 4.0; B[i][j] = A[i + m + 1][j];": True,
}


def keeps(body: str, m: int) -> bool:
    text = (
        "void f(int n, int m, double A[2*n + m][n + m + 9], double B[2*n][n + m]) {\n"
        f"/*@ begin PerfTuning ( def input_params {{ param n = 20; param m = {m}; }} ) @*/\n"
        f"for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) {{ {body} }}\n/*@ end @*/ }}\n"
    )
    return keeps_order(analysis_of(text), (0, 1), ("i", "j"))


@pytest.mark.parametrize("body", BODIES)
def test_lanes(body: str) -> None:
    assert keeps(body, 31) is BODIES[body]


def test_m_may_be_0_elsewhere() -> None:
    assert not keeps("A[i][j] = 4.0; B[i][j] = A[i + m][j];", 5)
