"""The first choice for nests that are no contraction: rows, triangles, sweeps, sums."""

from __future__ import annotations

import pytest
from recipes import decided_text
from support.interpreter import assert_same, plan_body

from annotune.annotation.devices import load_device
from annotune.certify.certificate import verify
from annotune.certify.kernels import certify
from annotune.model.predict import predict
from annotune.strategies.direct import choose, thesis_axes

HEAD = (
    "void f(int n, int m, double A[restrict n][m], double B[restrict m][n],\n"
    "       double C[restrict n][n], double *restrict x, double *restrict y, double *restrict z,\n"
    "       double *restrict tmp)\n{\ndouble s = 0.0, t = 0.0;\n"
)


def source(nest: str, n: int = 6, m: int = 40) -> str:
    sizes = f"def input_params {{ param n = {n}; param m = {m}; }}"
    region = f"/*@ begin PerfTuning ({sizes}) @*/\n{nest}\n/*@ end @*/\n"
    return f"{HEAD}{region}x[0] = s + t;\n}}\n"


# The nest, and per kernel: statements, blocks, threads or the loops that a team shares.
CASES = {
    "atax": (
        "for (int j = 0; j < m; j++) y[j] = 0.0;\n"
        "for (int i = 0; i < n; i++) {\n"
        "  tmp[i] = 0.0;\n"
        "  for (int j = 0; j < m; j++) tmp[i] = tmp[i] + A[i][j]*x[j];\n"
        "  for (int j = 0; j < m; j++) y[j] = y[j] + A[i][j]*tmp[i];\n}",
        [((0,), (), ("j",)), ((1, 2), ("i",), ("j",)), ((3,), (), ("j",))],
    ),
    "bicg": (
        "for (int i = 0; i < n; i++) {\n  z[i] = 0.0;\n"
        "  for (int j = 0; j < m; j++) { y[j] += x[i]*A[i][j]; z[i] += A[i][j]*tmp[j]; }\n}",
        [((0,), (), ("i",)), ((1,), (), ("j",)), ((2,), ("i",), ("j",))],
    ),
    "columns are read along the parallel loop": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[i] += B[j][i]*x[j];",
        [((0,), (), ("i",))],
    ),
    "rows that are reused stay in the thread": (
        "for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) for (int j = 0; j < m; j++)"
        " C[i][k] += A[i][j]*A[k][j];",
        [((0,), (), ("k", "i"))],
    ),
    "a triangle in each block": (
        "for (int i = 0; i < n; i++) {\n  for (int j = i; j < m; j++) A[i][j] *= 2.0;\n"
        "  for (int k = 0; k < n; k++) for (int j = i; j < m; j++) A[i][j] += C[i][k]*B[j][k];\n}",
        [((0, 1), ("i",), ("j",))],
    ),
    "a triangle in which few lanes of a warp have work": (
        "for (int i = 0; i < n; i++) {\n  for (int j = 0; j <= i; j++) C[i][j] *= 2.0;\n"
        "  for (int k = 0; k < m; k++) for (int j = 0; j <= i; j++) C[i][j] += A[i][k]*A[j][k];\n}",
        [((0, 1), (), ("i",))],
    ),
    "a triangular sum": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < i; j++) s += C[i][j];",
        [((0,), ("i",), ("j",))],
    ),
    "a sum of squares of sums": (
        "for (int i = 0; i < n; i++) { double u = 0.0; for (int j = 0; j < m; j++)"
        " u += A[i][j]*x[j]; s += u*u; }",
        [((0, 1, 2), ("i",), ("j",))],
    ),
    "two sums of one array": (
        "for (int j = 0; j < m; j++) s += x[j]*x[j];\nfor (int j = 0; j < m; j++) t += x[j];",
        [((0, 1), (), ("j",))],
    ),
    "sweeps in a time loop": (
        "for (int k = 0; k < 3; k++) {\n"
        "  for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)"
        " B[i][j] = C[i][j-1] + C[i][j+1];\n"
        "  for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) C[i][j] = B[i][j];\n}",
        [((0,), ("i",), ("j",)), ((1,), ("i",), ("j",))],
    ),
    "the diagonal of a factorisation": (
        "for (int i = 0; i < n; i++) {\n"
        "  for (int j = 0; j < i; j++) {\n"
        "    for (int k = 0; k < j; k++) C[i][j] -= C[i][k]*C[j][k];\n"
        "    C[i][j] /= C[j][j];\n  }\n"
        "  for (int k = 0; k < i; k++) C[i][i] -= C[i][k]*C[i][k];\n  C[i][i] = C[i][i]*0.5;\n}",
        [((0, 1), (), ()), ((2,), (), ("k",)), ((3,), (), ())],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_first_choice(name: str) -> None:
    nest, kernels = CASES[name]
    one = decided_text(source(nest))
    found = [(c.statements, c.blocks, c.shared) for c in one.decision.choices]
    assert found == kernels
    plan = one.plan()
    assert_same(plan_body(plan), one.region, None, one.analysis.private)
    assert verify(certify(one.analysis, plan)) == ()


def test_few_outputs_of_long_sums_share_their_threads() -> None:
    nest = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[i] += B[j][i]*x[j];"
    (choice,) = decided_text(source(nest, n=40, m=5000)).decision.choices
    assert (choice.blocks, choice.shared) == (("i",), ("j",))
    assert "40 outputs leave a device idle; each sums 5000 terms" in str(choice.reasons[1])
    (choice,) = decided_text(source(nest, n=40000, m=5000)).decision.choices
    assert choice.shared == ("i",)


@pytest.mark.parametrize(
    ("more", "held"),
    # Where the element is used in each iteration anyway, a copy reads nothing new.
    [("", ()), (" x[i] += A[i][j];", ((0, "j"),))],
)
def test_a_condition_may_keep_a_register_from_its_element(
    more: str, held: tuple[tuple[int, str], ...]
) -> None:
    nest = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) {"
    found = decided_text(source(f"{nest} if (y[j] > 0) x[i] += B[j][i];{more} }}"))
    (choice,) = found.decision.choices
    assert tuple(r for r in choice.registers if r[0] == 0) == held
    found.plan()


def test_the_model_prefers_a_block_for_each_row() -> None:
    nest = "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) y[i] += A[i][j]*x[j];"
    (unit,) = decided_text(source(nest, n=4000, m=4000)).base.apart
    device = load_device("h200")
    shared = predict(unit, choose(unit), device)
    alone = predict(unit, choose(unit, thesis_axes(unit)), device)
    assert shared.time_s < alone.time_s / 2
    # 128 MB at the sustained bandwidth, and the launch.
    memory_s = shared.terms["device memory"]
    assert memory_s < shared.time_s < 2 * memory_s


def test_the_model_counts_every_launch_of_a_host_loop() -> None:
    steps = "for (int k = 0; k < {}; k++) {{ {} }}"
    sweep = "for (int i = 0; i < n; i++) y[i] = x[i];"
    back = "for (int i = 0; i < n; i++) x[i] = y[i];"
    device = load_device("h200")
    times = []
    for count in (5, 50):
        one = decided_text(source(steps.format(count, sweep + back), n=100000))
        units = one.base.nests("footprint", one.decision.asked)
        pairs = zip(units, one.decision.choices, strict=True)
        times.append(sum(predict(unit, choice, device).time_s for unit, choice in pairs))
    assert times[1] == pytest.approx(10 * times[0], rel=0.01)
