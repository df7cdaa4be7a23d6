"""OpenMP and OpenACC played one logical thread after another."""

from __future__ import annotations

from pathlib import Path

import pytest
from cpu_builds import SEEN, WRAPPED, answers, build, child, run, runtime_object
from support.acc_as_openmp import as_openmp

N = 48
VALUES = [float(i * 7 % 11 + 1) for i in range(N)]
SUM = sum(VALUES)

# Bodies of int f(int n, const double *a, double *b), where b[0] is to become the sum.
RIGHT = {
    "reduction": """double s = 0, t;
#pragma omp parallel for reduction(+:s) private(t)
for (int i = 0; i < n; i++) { t = a[i]; s += t; }
b[0] = s;""",
    "collapsed": """double s = 0;
#pragma omp parallel for collapse(2) reduction(+:s)
for (int i = 0; i < n / 4; i++) for (int j = 0; j < 4; j++) s += a[4 * i + j];
b[0] = s;""",
    "two_reductions": """double s = 0, m = 0;
#pragma omp parallel for reduction(+:s) reduction(max:m)
for (int i = 0; i < n; i++) { s += a[i]; m = m > a[i] ? m : a[i]; }
b[0] = s + m - 11;""",
    "atomic": """b[0] = 0;
#pragma omp parallel for schedule(dynamic, 3)
for (int i = 0; i < n; i++) {
#pragma omp atomic
b[0] += a[i]; }""",
    "critical": """b[0] = 0;
#pragma omp parallel for schedule(guided)
for (int i = n - 1; i >= 0; i--)
#pragma omp critical
b[0] += a[i];""",
    "read_inside_and_outside_a_lock": """b[0] = 0;
#pragma omp parallel for
for (int i = 0; i < n; i++) {
  double own = a[0] - a[0];
#pragma omp critical
  b[0] += a[i] + own + a[0] - a[0]; }""",
    "nested": """double s = 0;
#pragma omp parallel for reduction(+:s)
for (int i = 0; i < n / 4; i++) {
  double r = 0, t[4];
#pragma omp parallel for
  for (int j = 0; j < 4; j++) t[j] = a[4 * i + j];
#pragma omp parallel for reduction(+:r)
  for (int j = 0; j < 4; j++) r += t[3 - j];
  s += r; }
b[0] = s;""",
    "barriers": """double s = 0; int k = 0;
#pragma omp parallel
{
#pragma omp for
  for (int i = 0; i < n; i++) b[i] = a[i];
#pragma omp single
  k++;
#pragma omp for reduction(+:s) schedule(runtime)
  for (int i = 0; i < n; i++) s += b[n - 1 - i];
}
b[0] = s + (k - 1);""",
    "heap": """double s = 0;
#pragma omp parallel for reduction(+:s)
for (int i = 0; i < n / 4; i++) {
  double *p = malloc(4 * sizeof *p), v[n];
  memcpy(p, a + 4 * i, 4 * sizeof *p);
  for (int j = 0; j < 4; j++) { v[j] = p[j]; s += v[j]; }
  free(p); }
b[0] = s;""",
    "unsigned_long": """double s = 0;
#pragma omp parallel for reduction(+:s) schedule(dynamic)
for (unsigned long long i = 0; i < (unsigned long long)n; i++) s += a[i];
b[0] = s;""",
}
BROKEN = {
    "reduction": """double s = 0;
#pragma omp parallel for
for (int i = 0; i < n; i++) s += a[i];
b[0] = s;""",
    "private": """double t;
#pragma omp parallel for
for (int i = 0; i < n; i++) { t = a[i]; b[i] = t * t + 1; }""",
    "inner_reduction": """double s = 0;
#pragma omp parallel for reduction(+:s)
for (int i = 0; i < n / 4; i++) { double r = 0;
#pragma omp parallel for
  for (int j = 0; j < 4; j++) r += a[4 * i + j];
  s += r; }
b[0] = s;""",
    "carried": """b[0] = 0;
#pragma omp parallel for
for (int i = 1; i < n; i++) b[i] = b[i - 1] + a[i];""",
    "nowait": """double s = 0;
#pragma omp parallel
{
#pragma omp for nowait
  for (int i = 0; i < n; i++) b[i] = a[i];
#pragma omp for reduction(+:s)
  for (int i = 0; i < n; i++) s += b[n - 1 - i];
}
b[0] = s;""",
    "copied_over": """
#pragma omp parallel for
for (int i = 0; i < n / 4; i++) memcpy(b, a + 4 * i, 4 * sizeof *b);""",
    "two_locks": """b[0] = 0;
#pragma omp parallel for
for (int i = 0; i < n; i++) { if (i % 2) {
#pragma omp critical (odd)
  b[0] += a[i]; } else {
#pragma omp critical (even)
  b[0] += a[i]; } }""",
}
ACC_RIGHT = {
    "reduction": """double s = 0, t;
#pragma acc parallel loop gang vector num_gangs(4) \\
    vector_length(32) copyin(a[0:n]) private(t) reduction(+:s)
for (int i = 0; i < n; i++) { t = a[i]; s += t; }
b[0] = s;""",
    "levels": """double s = 0;
#pragma acc data copyin(a[0:n])
{
#pragma acc parallel loop gang reduction(+:s)
for (int i = 0; i < n / 12; i++) { double r = 0;
#pragma acc loop worker reduction(+:r)
  for (int j = 0; j < 3; j++) { double q = 0;
#pragma acc loop vector reduction(+:q)
    for (int k = 0; k < 4; k++) q += a[12 * i + 4 * j + k];
    r += q; }
#pragma acc loop seq
  for (int j = 0; j < 1; j++) s += r; }
}
b[0] = s;""",
}
ACC_BROKEN = {
    "reduction": """double s = 0;
#pragma acc parallel loop gang vector copyin(a[0:n])
for (int i = 0; i < n; i++) s += a[i];
b[0] = s;""",
    "private": """double t;
#pragma acc parallel loop gang copyin(a[0:n]) copyout(b[0:n])
for (int i = 0; i < n; i++) { t = a[i]; b[i] = t * t + 1; }""",
    "inner_reduction": """double s = 0;
#pragma acc parallel loop gang reduction(+:s)
for (int i = 0; i < n / 4; i++) { double r = 0;
#pragma acc loop vector
  for (int j = 0; j < 4; j++) r += a[4 * i + j];
  s += r; }
b[0] = s;""",
}
OTHER = {
    "unwritten": """double t = 1;
#pragma omp parallel for private(t)
for (int i = 0; i < n; i++) b[i] = t + a[i];""",
    "order": """int next = 0;
#pragma omp parallel for
for (int i = 0; i < n; i++)
#pragma omp critical
  b[next++] = i;""",
    "divergent": """
#pragma omp parallel
if (omp_get_thread_num() == 1) {
#pragma omp barrier
}""",
}


def c_text() -> str:
    groups = {"right": RIGHT, "broken": BROKEN, "other": OTHER}
    groups |= {"acc_right": ACC_RIGHT, "acc_broken": ACC_BROKEN}
    functions = "".join(
        f"int {group}_{name}(int n, const double *a, double *b) {{\n{body}\nreturn 0; }}\n"
        for group, bodies in groups.items()
        for name, body in bodies.items()
    )
    return as_openmp("#include <omp.h>\n#include <stdlib.h>\n#include <string.h>\n" + functions)


def linked(folder: Path, optimisation: str) -> Path:
    flags = ("-fopenmp", "-fsanitize=thread", *SEEN, optimisation)
    parts = [build(folder, "text.c", c_text(), flags)]
    parts += [runtime_object(folder, name) for name in ("race", "openmp_check")]
    # Neither -fopenmp nor -fsanitize=thread: libgomp and libtsan stay out.
    run("gcc", "-shared", *parts, *WRAPPED, "-o", folder / "text.so")
    return folder / "text.so"


@pytest.fixture(scope="module")
def unoptimised(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return linked(tmp_path_factory.mktemp("openmp"), "-O0")


@pytest.fixture(scope="module")
def optimised(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return linked(tmp_path_factory.mktemp("openmp"), "-O1")


@pytest.fixture(params=["unoptimised", "optimised"])
def library(request: pytest.FixtureRequest) -> Path:
    found = request.getfixturevalue(request.param)
    assert isinstance(found, Path)
    return found


SCRIPT = f"""
for threads in (3, 64, 1000):
    for mode in (0, 1, 2):
        lib.annotune_omp_set_threads(threads)
        lib.annotune_omp_set_order(mode, 5)
        lib.annotune_race_reset()
        _, b = call(name, {N}, {VALUES})
        say(b, lib.annotune_race_count(), races())
"""


@pytest.mark.alike(12)
@pytest.mark.parametrize(
    "name", [*(f"right_{name}" for name in RIGHT), *(f"acc_right_{name}" for name in ACC_RIGHT)]
)
def test_a_right_loop_has_no_race_in_any_order(library: Path, name: str) -> None:
    for said in answers(library, f"name = '{name}'" + SCRIPT):
        assert isinstance(said, list)
        assert said[0][0] == SUM
        assert said[1:] == [0, []]


@pytest.mark.alike(2)
@pytest.mark.parametrize(
    "name", [*(f"broken_{name}" for name in BROKEN), *(f"acc_broken_{name}" for name in ACC_BROKEN)]
)
def test_a_broken_loop_is_caught_in_every_order(library: Path, name: str) -> None:
    for said in answers(library, f"name = '{name}'" + SCRIPT):
        assert isinstance(said, list)
        assert said[1] > 0
        assert said[2][0].startswith("parallel region ")


def test_a_message_says_that_a_variable_is_shared(library: Path) -> None:
    script = f"call('broken_reduction', {N}, {VALUES}); say(races()[0])"
    (said,) = answers(library, script)
    assert isinstance(said, list)
    assert said[0].startswith(
        "parallel region 1: thread 1 reads a variable of the enclosing function, "
        "which thread 0 wrote"
    )


def test_an_unwritten_private_is_not_a_number(unoptimised: Path) -> None:
    # Only unoptimised: else an unwritten variable is any register, and gcc takes zero.
    (said,) = answers(
        unoptimised, f"say([x != x for x in call('other_unwritten', {N}, {VALUES})[1]])"
    )
    assert said == [[True] * N]


def test_iterations_run_forwards_backwards_and_shuffled(library: Path) -> None:
    script = f"""
lib.annotune_omp_set_threads({N})
for mode, seed in (0, 1), (1, 1), (2, 1), (2, 2):
    lib.annotune_omp_set_order(mode, seed)
    say(call('other_order', {N}, {VALUES})[1])
"""
    orders = [said[0] for said in answers(library, script) if isinstance(said, list)]
    forward = [float(i) for i in range(N)]
    assert orders[0] == forward
    assert orders[1] == forward[::-1]
    assert sorted(orders[2]) == sorted(orders[3]) == forward
    assert len({tuple(order) for order in orders}) == 4


def test_a_barrier_that_not_all_reach_aborts(library: Path) -> None:
    done = child(library, f"call('other_divergent', {N}, {VALUES})")
    assert done.returncode == -6
    assert "barrier that others do not reach" in done.stderr
