"""Nests that are no contraction: what their loops may do, worked out by hand and by brute force."""

from __future__ import annotations

import re

import pytest

from annotune.analysis.analyse import analyse
from annotune.analysis.facts import LoopKind
from annotune.ir.nest import Loop, Stmt

from .brute import carried_by
from .regions import region

# P: parallel, R: a reduction, S: serial; one letter per loop in the order of the text.
NESTS = {
    "jacobi": (
        "SPP",
        "for t in 0:n\n  for i in 1:n-1\n    B[i] = A[i-1] + A[i] + A[i+1]\n"
        "  for i in 1:n-1\n    A[i] = B[i-1] + B[i] + B[i+1]\n",
    ),
    "seidel": (
        "SSS",
        "for t in 0:n: for i in 1:n-1: for j in 1:n-1: "
        "A[i][j] = A[i-1][j] + A[i][j-1] + A[i][j] + A[i][j+1] + A[i+1][j]",
    ),
    "fdtd-2d": (
        "SPPPPPPP",
        "for t in 0:n\n  for j in 0:n\n    ey[0][j] = f[t]\n"
        "  for i in 1:n\n    for j in 0:n\n      ey[i][j] -= 0.5*(hz[i][j] - hz[i-1][j])\n"
        "  for i in 0:n\n    for j in 1:n\n      ex[i][j] -= 0.5*(hz[i][j] - hz[i][j-1])\n"
        "  for i in 0:n-1\n    for j in 0:n-1\n"
        "      hz[i][j] -= 0.7*(ex[i][j+1] - ex[i][j] + ey[i+1][j] - ey[i][j])\n",
    ),
    "lu": (
        "SPPP",
        "for k in 0:n\n  for j in k+1:n\n    A[k][j] = A[k][j] * A[k][k]\n"
        "  for i in k+1:n\n    for j in k+1:n\n      A[i][j] -= A[i][k] * A[k][j]\n",
    ),
    "cholesky": (
        "SSRR",
        "for i in 0:n\n  for j in 0:i\n    for k in 0:j\n      A[i][j] -= A[i][k] * A[j][k]\n"
        "    A[i][j] = A[i][j] * A[j][j]\n  for k in 0:i\n    A[i][i] -= A[i][k] * A[i][k]\n"
        "  A[i][i] = sqrt(A[i][i])\n",
    ),
    "trmm": (
        "SPR",
        "for i in 0:n\n  for j in 0:m\n    for k in i+1:n\n      B[i][j] += A[k][i] * B[k][j]\n"
        "    B[i][j] = 2.0 * B[i][j]\n",
    ),
    "correlation": (
        "PRPPR",
        "for j in 0:m\n  mean[j] = 0.0\n  for i in 0:n\n    mean[j] += X[i][j]\n"
        "for i in 0:m\n  for j in i+1:m\n    C[i][j] = 0.0\n    for k in 0:n\n"
        "      C[i][j] += X[k][i] * X[k][j]\n    C[j][i] = C[i][j]\n",
    ),
    "adi": (
        "SPSS",
        "for t in 0:n\n  for i in 1:n-1\n    p[i][0] = 0.0\n    for j in 1:n-1\n"
        "      p[i][j] = 2.0 * p[i][j-1] + u[j][i]\n    for j in 1:n-1\n"
        "      v[n-1-j][i] = p[i][n-1-j] * v[n-j][i]\n",
    ),
    "atax": (
        "PRRP",
        "for i in 0:n\n  y[i] = 0.0\nfor i in 0:m\n  s = 0.0\n  for j in 0:n\n"
        "    s += A[i][j] * x[j]\n  for j in 0:n\n    y[j] = y[j] + A[i][j] * s\n",
    ),
    "gemver": (
        "PPPRPPR",
        "for i in 0:n\n  for j in 0:n\n    A[i][j] = A[i][j] + u[i]*v[j]\n"
        "for i in 0:n\n  for j in 0:n\n    x[i] = x[i] + A[j][i] * y[j]\n"
        "for i in 0:n\n  x[i] = x[i] + z[i]\n"
        "for i in 0:n\n  for j in 0:n\n    w[i] = w[i] + A[i][j] * x[j]\n",
    ),
    "floyd-warshall": (
        "SSS",
        "for k in 0:n: for i in 0:n: for j in 0:n: "
        "D[i][j] = D[i][k] + D[k][j] < D[i][j] ? D[i][k] + D[k][j] : D[i][j]",
    ),
    "a maximum": ("R", "for i in 0:n: s = x[i] > s ? x[i] : s"),
    "a flattened grid": (
        "P",
        "for i in 0:n*m: u[i] = i % m > 0 && i / m < n - 1 ? b[i-1] + b[i+m] : b[i]",
    ),
    "diagonals of a sparse matrix": (
        "RP",
        "for j in 0:3: for i in 0:n: y[i] = y[i] + b[i + j*n] * x[i] if i + j - 1 >= 0",
    ),
    "red and black": (
        "SP",
        "for c in 0:2: for i in 1:n-1: a[i] = a[i-1] + a[i+1] if (i + c) % 2 == 0",
    ),
    "a temporary in both branches": (
        "P",
        "for i in 0:n\n  s = x[i] if m1[i] > 0.0\n  s = z[i] if (m1[i] > 0.0) == 0\n  y[i] = s\n",
    ),
    "a temporary in one branch": (
        "S",
        "for i in 0:n\n  s = x[i] if m1[i] > 0.0\n  y[i] = s\n",
    ),
    "a condition that changes in between": (
        "S",
        "for i in 0:n\n  s = x[i] if y[i] > 5.0\n  y[i] = 3.0\n  z[i] = s if y[i] > 5.0\n",
    ),
}
SIZES = {"n": 5, "m": 4}


def _letters(kinds: list[LoopKind]) -> str:
    return "".join(kind.value[0].upper() for kind in kinds)


@pytest.mark.parametrize("name", NESTS)
def test_kinds(name: str) -> None:
    expected, text = NESTS[name]
    square = dict.fromkeys(re.findall(r"(\w+)\[[^\]]*\]\[", text), ("n", "n"))
    one = region(text, sizes=SIZES, extents=square)
    analysis = analyse(one)
    assert _letters([facts.kind for facts in analysis.loops]) == expected
    carried = carried_by(one, SIZES, analysis.private)
    order = list(LoopKind)
    for facts, position in zip(analysis.loops, _positions(one.nest.body, ()), strict=True):
        seen = carried.get(position, set())
        needed = LoopKind.SERIAL if False in seen else LoopKind.PARALLEL
        assert order.index(facts.kind) >= order.index(needed) or facts.kind == "reduction"


def _positions(body: tuple[Stmt, ...], place: tuple[int, ...]) -> list[tuple[int, ...]]:
    found = []
    for index, stmt in enumerate(body):
        if isinstance(stmt, Loop):
            found += [(*place, index), *_positions(stmt.body, (*place, index))]
    return found
