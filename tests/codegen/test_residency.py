"""Arrays that stay on the device between regions: the results, and the bytes that cross the bus."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.resident import Built, Job

from annotune.codegen.target import DEFAULT_TARGETS

EXAMPLES = Path(__file__).parent.parent.parent / "c_examples"
ON_DEVICES = ("cuda", "openacc")
DOUBLE = 8


# Nekbone's conjugate gradients --------------------------------------------------------


# A program that calls the example: its operator is positive, so that the steps converge.
DRIVER = """
#include <stdlib.h>

double cg(int n, int elements, int iterations, double *x, double *r, double *p, double *w, double *z,
          const double *c, const double *g, const double *D);

double solved(int n, int elements, int iterations, double *x, double *r)
{
    const int points = elements * n * n * n;
    double *p = calloc(points, sizeof *p), *w = malloc(points * sizeof *w);
    double *z = malloc(points * sizeof *z), *c = malloc(points * sizeof *c);
    double *g = calloc(6 * points, sizeof *g), *D = malloc(n * n * sizeof *D);

    for (int k = 0; k < points; k++) {
        c[k] = 1.0;
        g[6 * k] = g[6 * k + 3] = g[6 * k + 5] = 1.0 + k % 7 / 8.0;
        g[6 * k + 1] = g[6 * k + 2] = g[6 * k + 4] = k % 3 / 8.0;
    }
    for (int k = 0; k < n * n; k++)
        D[k] = (k * 5 % 11 - 5) / 8.0;
    const double left = cg(n, elements, iterations, x, r, p, w, z, c, g, D);
    free(p), free(w), free(z), free(c), free(g), free(D);
    return left;
}
"""


def solving(iterations: int, n: int = 4, elements: int = 5) -> Job:
    points = elements * n**3
    return Job("solved", (n, elements, iterations), (points, points), returns=True, rtol=1e-10)


@pytest.fixture(scope="module", params=DEFAULT_TARGETS)
def solver(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    text = (EXAMPLES / "nekbone/solve.c").read_text()
    return Built(tmp_path_factory.mktemp("solver"), request.param, {"solve": text}, DRIVER)


def test_conjugate_gradients_are_those_of_the_original(solver: Built) -> None:
    solver.outcomes(*(solving(iterations) for iterations in (0, 1, 2, 100)), solving(3, 3, 1))


def test_no_array_crosses_the_bus_after_the_first_iteration(solver: Built) -> None:
    if solver.target == "openmp":
        assert "annotune_data" not in solver.emissions["solve"].files["_omp.c"]
        return
    first, second, last = (one.moved for one in solver.outcomes(*map(solving, (1, 2, 100))))
    points = 5 * 4**3
    # x, r, p and c come as they are, w and z are made there; x and r go back, and three sums.
    assert first == (DOUBLE * (4 * points + 6 * points + 16 + 3), DOUBLE * (2 * points + 3))
    per_iteration = tuple(b - a for a, b in zip(first, second, strict=True))
    assert per_iteration == (3 * DOUBLE, 3 * DOUBLE)
    assert last == tuple(a + 99 * each for a, each in zip(first, per_iteration, strict=True))
