"""Serial steps along columns whose rows are contiguous, and sums inside half of a square."""

from __future__ import annotations

from pathlib import Path

from wrong.called import PROGRAMS, Array, Call, Program


def test_strips_and_sums_end_where_rows_end(tmp_path: Path) -> None:
    sizes = [(5, 200), (6, 64), (2, 65), (3, 1), (1, 70), (0, 3)]
    x, a, c = (tuple(Array("f8", 1200, seed=s) for _ in sizes) for s in (1, 2, 3))
    calls = [Call("down", nz, n, x[k], a[k], c[k]) for k, (nz, n) in enumerate(sizes)]
    calls += [Call("sweep", nz, n, x[k], a[k], c[k]) for k, (nz, n) in enumerate(sizes)]
    dz, rain = Array("f8", 6, seed=4), Array("f8", 200, seed=5)
    calls += [Call("physics", nz, n, x[k], a[k], dz, rain) for k, (nz, n) in enumerate(sizes)]
    calls += [Call("last", nz, n, x[k], a[k], c[k]) for k, (nz, n) in enumerate(sizes)]
    calls += [Call("up", nz, n, x[k], a[k]) for k, (nz, n) in enumerate(sizes)]
    calls += [Call("half", n, m, x[0], a[0]) for n, m in ((30, 33), (5, 16), (1, 1), (3, 0))]
    Program(tmp_path, PROGRAMS / "columns.c").check(*calls)
