"""Texts of matrix products, their recipes, and what is asked of their tiles."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from decide.recipes import Decided

from annotune.schedule.candidate import Assignment, ContractionTile

GEMM = """\
void NAME(int m, int n, int k, double C[restrict m][n], const double A[restrict m][k],
          const double B[restrict k][n])
{
    /*@ begin PerfTuning (
      def input_params { param m = SIZE; param n = SIZE; param k = SIZE; }
    ) @*/
    RECIPE
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int l = 0; l < k; l++)
                C[i][j] += A[i][l] * B[l][j];
    CLOSED
    /*@ end @*/
}
"""
BATCHED = """\
void f(int b, int n, double C[restrict b][n][n], const double A[restrict b][n][n],
       const double B[restrict b][n][n])
{
    /*@ begin PerfTuning ( def input_params { param b = BATCH; param n = SIZE; } ) @*/
    for (int e = 0; e < b; e++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                for (int l = 0; l < n; l++)
                    C[e][i][j] -= A[e][i][l] * B[e][l][j];
    /*@ end @*/
}
"""


def gemm(size: int, recipe: str = "", name: str = "f") -> str:
    opened = f"/*@ begin CHiLL (\n{recipe}\n) @*/" if recipe else ""
    text = GEMM.replace("RECIPE", opened).replace("CLOSED", "/*@ end @*/" if recipe else "")
    return text.replace("SIZE", str(size)).replace("NAME", name)


def batched(size: int, batch: int = 100) -> str:
    return BATCHED.replace("SIZE", str(size)).replace("BATCH", str(batch))


def tile_of(one: Decided) -> ContractionTile:
    tile = one.decision.choices[0].contract
    assert tile is not None
    return tile


def on_vectors(one: Decided) -> Decided:
    """Return a region at its first point that leaves the tensor cores alone."""
    points = ((p, p.picked[one.base.apart[0].leader].contract) for p in one.space.points())
    return one.at(next(p for p, tile in points if tile is not None and not tile.by_warps))


SUM = """\
void NAME(int m, int n, int k, double alpha, double C[restrict m][n],
          const double A[restrict m][k], const double B[restrict k][n])
{
    /*@ begin PerfTuning (
      def input_params { param m = SIZE; param n = SIZE; param k = SIZE; }
    ) @*/
    RECIPE
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 2.0 * C[i][j];
            for (int l = 0; l < k; l++)
                sum += A[i][l] * B[l][j];
            C[i][j] = alpha * sum;
        }
    CLOSED
    /*@ end @*/
}
"""


def with_sum(size: int, recipe: str = "", name: str = "f") -> str:
    opened = f"/*@ begin CHiLL (\n{recipe}\n) @*/" if recipe else ""
    text = SUM.replace("RECIPE", opened).replace("CLOSED", "/*@ end @*/" if recipe else "")
    return text.replace("SIZE", str(size)).replace("NAME", name)


ROLES = 'contract(0, thread={"j","i"}, register={"j","i"}, sum="l", '
VARIANTS: Sequence[tuple[str, str]] = tuple(
    (f'assign={{"{x}","{y}"}}', stage)
    for (x, y), stage in zip(
        product(Assignment, repeat=2),
        ('stage={"A","B"}', 'stage={"B"}', 'stage={"A"}', 'stage={"1"}'),
        strict=True,
    )
)
SHAPES = ("thread_x=4, thread_y=2, register_x=3, register_y=2, step=4",)
