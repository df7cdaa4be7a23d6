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

double cg(int n, int elements, int iterations, double *x, double *r, double *p, double *w,
          double *z, const double *c, const double *g, const double *D);

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


@pytest.mark.alike(3)
def test_conjugate_gradients_are_those_of_the_original(solver: Built) -> None:
    solver.outcomes(*(solving(iterations) for iterations in (0, 1, 2, 100)), solving(3, 3, 1))


@pytest.mark.alike(3)
def test_no_array_crosses_the_bus_after_the_first_iteration(solver: Built) -> None:
    if solver.target == "openmp":
        assert "annotune_data" not in solver.emissions["solve"].files["_omp.c"]
        return
    outcomes = solver.outcomes(*map(solving, (1, 2, 100)))
    first, second, last = (one.moved for one in outcomes)
    points = 5 * 4**3
    # Kernels of CUDA leave the sums where the host sees them.
    sums = 0 if solver.target == "cuda" else 3 * DOUBLE
    # x, r, p and c come as they are, w and z are made there; x and r go back.
    assert first == (DOUBLE * (4 * points + 6 * points + 16) + sums, DOUBLE * 2 * points + sums)
    per_iteration = tuple(b - a for a, b in zip(first, second, strict=True))
    assert per_iteration == (sums, sums)
    assert last == tuple(a + 99 * each for a, each in zip(first, per_iteration, strict=True))
    if solver.target == "cuda":
        one, two, _ = (outcome.counts for outcome in outcomes)
        # Each of the three sums is waited for once, and nothing is copied.
        assert [two[name] - one[name] for name in ("waits", "memcpys", "mallocs")] == [3, 0, 0]


# Host code between regions ------------------------------------------------------------

HOST_CODE = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void unknown(double *y);

static double first(const double *a) { return a[0]; }

static void scaled(int n, double *restrict a, double c)
{
    /*@ begin PerfTuning (def input_params { param n = 1000; }) @*/
    for (int i = 0; i < n; i++)
        a[i] = c * a[i] + 1.0;
    /*@ end @*/
}

static void summed(int n, double *restrict a, const double *restrict b)
{
    /*@ begin PerfTuning (def input_params { param n = 1000; }) @*/
    for (int i = 1; i < n - 1; i++)
        a[i] = b[i - 1] + 0.5 * b[i + 1];
    /*@ end @*/
}

static void mixed(int n, double *restrict a, const double *restrict b)
{
    /*@ begin PerfTuning (def input_params { param n = 1000; }) @*/
    for (int i = 0; i < n; i++)
        a[i] = 0.5 * a[i] + b[i];
    /*@ end @*/
}

static void ended(int n, double *restrict a, const double *restrict b)
{
    if (n > 4)
        a[0] += b[n - 1];
    scaled(n, a, 0.5);
}

/* Nothing but regions. */
void plain(int n, int steps, double *restrict x, double *restrict y)
{
    /*@ begin Data ( enter = "x[n]"; exit = "y[n]" ) @*/
    for (int k = 0; k < steps; k++) {
        scaled(n, x, 0.5);
        summed(n, y, x);
    }
    /*@ end @*/
    x[0] = 0.0;
    for (int i = 0; i < n; i++)
        x[i] = y[i];
}

/* Reads and writes in statements, branches, initial values and loops. */
void touching(int n, int steps, double *restrict x, double *restrict y)
{
    double s = 0.0;
    /*@ begin Data ( enter = "x[n]"; exit = "x, y[n]" ) @*/
    scaled(n, x, 0.5);
    scaled(n, y, 0.25);
    double t = x[1];
    if (x[2] > 0.0)
        y[3] = t;
    else if (y[0] > 100.0) {
        scaled(n, y, 2.0);
    } else
        s += first(y);
    scaled(n, x, 0.25);
    for (int i = 0; i < steps; i++) {
        for (int j = 0; j < 3; j++)
            s += x[j];
        scaled(n, x, 0.25);
        for (double *p = y + n, *q = x; p != y + 1; q++)
            *--p += s + *q;
        ended(n, y, x);
        x[n - 1] += s;
        if (i == 1)
            memcpy(x, y, 2 * sizeof *x);
        scaled(n, x, 0.5);
    }
    /*@ end @*/
    x[1] += s;
}

/* A time loop that swaps pointers. */
void swapping(int n, int steps, double *restrict x, double *restrict y)
{
    double *old = x, *new = y;
    /*@ begin Data ( enter = "old[n], new[n]"; exit = "old, new" ) @*/
    for (int k = 0; k < steps; k++) {
        summed(n, new, old);
        double *const other = old;
        old = new;
        new = other;
        if (k % 2)
            old[0] += new[1];
    }
    /*@ end @*/
    x[2] += old[3];
}

/* Functions that nobody has looked into, and one that is named. */
void asking(int n, int steps, double *restrict x, double *restrict y)
{
    /*@ begin Data ( enter = "x[n]"; exit = "x, y[n]" ) @*/
    for (int k = 0; k < steps; k++) {
        scaled(n, x, 0.5);
        unknown(x);
        scaled(n, x, 0.5);
        summed(n, y, x);
        if (k == 1) {
            unknown(y + 1);
            continue;
        }
        printf("%s", y[0] > 1e9 ? "large" : "");
    }
    /*@ end @*/
}

/* Memory that comes and goes. */
void allocating(int n, int steps, double *restrict x, double *restrict y)
{
    double *work = malloc(n * sizeof *work);
    /*@ begin Data ( enter = "x[n], work[n]"; exit = "x, y[n]" ) @*/
    for (int i = 0; i < n; i++)
        work[i] = i;
    for (int k = 0; k < steps; k++) {
        double *more = malloc(n * sizeof *more);
        memset(more, 0, n * sizeof *more);
        scaled(n, work, 0.5);
        summed(n, more, work);
        summed(n, x, more);
        mixed(n, x, more);
        free(more);
        scaled(n, x, 0.5);
        work = realloc(work, (n + k) * sizeof *work);
    }
    summed(n, y, work);
    free(work);
    /*@ end @*/
}

/* Parts of arrays, some of which reach into what stays, and blocks in blocks. */
void parts(int n, int steps, double *restrict x, double *restrict y)
{
    /*@ begin Data ( enter = "x[n / 2]"; exit = "x" ) @*/
    for (int k = 0; k < steps; k++) {
        scaled(n / 2, x, 0.5);
        scaled(n, x, 0.5);
        scaled(n / 4, x + 3, 0.5);
        /*@ begin Data ( enter = "x[n], y[n]"; exit = "x, y" ) @*/
        summed(n, y, x);
        summed(n / 3, x + 1, y + 2);
        y[4] += 1.0;
        scaled(n / 3, y + 1, 0.5);
        /*@ end @*/
        y[1] = y[2] + x[1];
    }
    /*@ end @*/
}
"""
UNKNOWN = """
void plain(int, int, double *, double *);
void unknown(double *y) { y[3] *= 2.0; plain(2, 1, y, y + 2); y[3] += 1.0; }
"""
FUNCTIONS = ("plain", "touching", "swapping", "asking", "allocating", "parts")
SIZES = (5, 16, 17, 33)


def job_of(function: str, n: int, steps: int = 3, **more: int) -> Job:
    return Job(function, (n, steps), (n, n), rtol=1e-12, **more)


@pytest.fixture(scope="module", params=DEFAULT_TARGETS)
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("program")
    return Built(folder, request.param, {"program": HOST_CODE}, UNKNOWN)


@pytest.mark.alike(7)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_host_code_finds_what_regions_have_made(function: str, program: Built) -> None:
    jobs = [job_of(function, n, steps) for n in SIZES for steps in (0, 1, 4)]
    program.outcomes(*jobs, *(replace(job, calls=2) for job in jobs))


CALLS = {
    "annotune_data_on_host": ("touching", "swapping", "parts"),
    "annotune_data_aside": ("asking",),
    "annotune_data_exit": FUNCTIONS,
}


@pytest.mark.alike(2)
@pytest.mark.parametrize("call", CALLS)
def test_each_call_is_needed(call: str, program: Built) -> None:
    if program.target == "openmp":
        return
    wrong = program.changed(rf"^( *(?:else )?\{{? ?){call}\([^;]*\);", r"\1;")
    outcomes, _ = wrong.run(*(job_of(function, 17) for function in CALLS[call]))
    for function, outcome in zip(CALLS[call], outcomes, strict=True):
        assert outcome is None or not outcome.same, function


@pytest.mark.alike(3)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_whatever_fails_results_are_right_or_the_program_stops(
    function: str, program: Built
) -> None:
    if program.target != "cuda":
        return
    job = job_of(function, 9, 2)
    (plain,) = program.outcomes(job)
    jobs = [replace(job, fail_at=k) for k in range(1, plain.counts["calls"] + 1)]
    found, said = program.run(*jobs)
    for one, outcome in zip(jobs, found, strict=True):
        assert outcome is None or outcome.same, one
    assert found.count(None) == said.count("stopping\n")
    assert 0 < found.count(None) < len(found)


@pytest.mark.alike(3)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_where_memory_is_short_nothing_is_lost(function: str, program: Built) -> None:
    if program.target != "cuda":
        return
    n = 16
    jobs = [job_of(function, n, memory=k * n * DOUBLE // 2 or 1) for k in range(9)]
    outcomes = program.outcomes(*jobs)
    assert outcomes[0].counts["launches"] == 0 < outcomes[-1].counts["launches"]


# Functions of other files -------------------------------------------------------------

CALLER = """
void halved(int n, double *restrict a);
void added(int n, double *restrict a, const double *restrict b);

void steps(int n, int count, double *restrict x, double *restrict y)
{
    /*@ begin Data ( enter = "x[n]"; exit = "x, y[n]"; calls = "halved, added" ) @*/
    for (int k = 0; k < count; k++) {
        halved(n, x);
        added(n, y, x);
    }
    /*@ end @*/
}
"""
CALLED = """
static void ended(double *a) { a[0] += 1.0; }

void halved(int n, double *restrict a)
{
    /*@ begin Data ( present = "a" ) @*/
    /*@ begin PerfTuning (def input_params { param n = 1000; }) @*/
    for (int i = 0; i < n; i++)
        a[i] = 0.5 * a[i];
    /*@ end @*/
    if (n == 7)
        ended(a);
    /*@ end @*/
}

void added(int n, double *restrict a, const double *restrict b)
{
    /*@ begin Data ( present = "a, b" ) @*/
    /*@ begin PerfTuning (def input_params { param n = 1000; }) @*/
    for (int i = 0; i < n; i++)
        a[i] += b[i];
    /*@ end @*/
    /*@ end @*/
}
"""


@pytest.fixture(scope="module", params=DEFAULT_TARGETS)
def two_files(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    texts = {"caller": CALLER, "called": CALLED}
    return Built(tmp_path_factory.mktemp("two"), request.param, texts)


@pytest.mark.alike(3)
def test_functions_of_other_files_find_arrays_there(two_files: Built) -> None:
    jobs = [Job("steps", (n, count), (n, n)) for n in (1, 7, 40) for count in (0, 1, 5)]
    jobs += [Job("halved", (40,), (40,)), Job("added", (7,), (7, 7))]
    outcomes = two_files.outcomes(*jobs)
    if two_files.target != "openmp":
        size = 40 * DOUBLE
        assert [one.moved for one in outcomes[6:9]] == [(0, 0), *[(2 * size, 2 * size)] * 2]
        # Each step of five has x on the host for a while.
        size = 7 * DOUBLE
        assert outcomes[5].moved == ((2 + 5) * size, (1 + 5) * size)


def test_a_file_that_does_not_look_after_its_arrays_is_not_linked(tmp_path: Path) -> None:
    without = CALLED.replace('/*@ begin Data ( present = "a" ) @*/', "{").replace(
        "    /*@ end @*/\n}\n\nvoid added", "    }\n}\n\nvoid added"
    )
    with pytest.raises(AssertionError, match=r"annotune_\w+_present_halved"):
        Built(tmp_path, "cuda", {"caller": CALLER, "called": without}).outcomes(
            Job("steps", (1, 1), (1, 1))
        )


# Texts of all kinds -------------------------------------------------------------------

ODD = """\
#include <math.h>
#include <stdlib.h>
#define first 3
#define count 8
#define bytes (n * count)
#define long_loop(i) for (int i = 0; i < n; i++)
typedef struct { int n; double *v, c[4]; } rows;

static double *kept;

static void scaled(const int *size, double *restrict a, double c)
{
    /*@ begin PerfTuning (def input_params { param size = 1000; }) @*/
    for (int i = 0; i < *size; i++)
        a[i] = c * a[i] + 1.0;
    /*@ end @*/
}

/* A region without a parallel loop stays as it is. */
static void carried(int n, double *restrict a, double *restrict b)
{
    /*@ begin PerfTuning (def input_params { param n = 1000; }) @*/
    for (int i = 1; i < n; i++)
        a[i] = 0.5 * a[i - 1] + a[i];
    /*@ end @*/
    scaled(&n, b, 0.5);
}

static int chosen(rows r, int i)
{
    switch (i % 3) {
    case 0: return r.v[i] > 0.0;
    default: return i > 1;
    }
}

void odd(int n, int steps, double *restrict x, double *restrict y)
{
    rows r = {n, y, {0.0}};
    kept = x;
    /*@ begin Data ( enter = "x[bytes / count]"; exit = "x, y[n]" ) @*/
    for (int k = 0; k < steps; k++)
    {
        scaled(&r.n, x, 0.5);
        carried(n, y, x);
        scaled(&n, y, 0.25);
#pragma omp parallel for
        for (int i = 0; i < n; i++)
            x[i] += first;
        long_loop(i) y[i] += fabs(x[i]);
        scaled(&n, r.v + 1 - 1, 0.5);
        for (int i = 0; i < 3; i++) if (chosen(r, i)) r.c[i] += r.v[first - i]; else kept[i] -= 1.0;
        if (k == 1) do { scaled(&n, x, 0.5); y[0] += 1.0; } while (n < 0);
        else if (k == 2) { scaled(&n, y, 0.5); continue; }
        double t = 0.0, *q = y + 2, u[2] = {q[0], x[1]};
        *q++ = t += u[1];
        q[-1] += (k % 2 ? x : y)[first];
        scaled(&n, kept, 0.5);
        x[0] = r.c[1] + q[0];
    }
    /*@ end @*/
    x[1] += r.c[0] + r.c[2];
}
"""


@pytest.fixture(scope="module", params=DEFAULT_TARGETS)
def odd(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return Built(tmp_path_factory.mktemp("odd"), request.param, {"odd": ODD})


@pytest.mark.alike(3)
def test_odd_texts(odd: Built) -> None:
    jobs = [job_of("odd", n, steps) for n in (5, 16, 33) for steps in (0, 1, 5)]
    odd.outcomes(*jobs)
    texts = "".join(odd.emissions["odd"].files.values())
    assert ("annotune_data_begin();\n" in texts) is (odd.target != "openmp")


# Rows that pointers lead to: even ones are used on the device, and others by the nest as written.
ROWS = """\
#include <stdlib.h>
static void scaled(int n, int m, double **a, double c)
{
    /*@ begin PerfTuning (def input_params { param n = 100; param m = 100; }) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            a[i][j] = c * a[i][j] + 1.0;
    /*@ end @*/
}
static void one(int n, double *restrict a)
{
    /*@ begin PerfTuning (def input_params { param n = 1000; }) @*/
    for (int i = 0; i < n; i++)
        a[i] = 0.5 * a[i] + 1.0;
    /*@ end @*/
}
void f(int n, int steps, double *restrict x, double *restrict y)
{
    double *rows[4], *other[4];
    for (int i = 0; i < 4; i++) rows[i] = x + i * (n / 4);
    for (int i = 0; i < 4; i++) other[i] = y + (3 - i) * (n / 4);
    /*@ begin Data ( enter = "x[n]"; exit = "x, y[n]" ) @*/
    for (int k = 0; k < steps; k++) {
        one(n, x);
        one(n, y);
        scaled(4, n / 4, rows, 0.5);
        scaled(4, n / 4, other, 0.5);
        one(n, x);
        one(n, y);
    }
    /*@ end @*/
}
"""


@pytest.mark.alike(2)
@pytest.mark.parametrize("target", ON_DEVICES)
def test_rows_of_pointers(target: str, tmp_path: Path) -> None:
    built = Built(tmp_path, target, {"rows": ROWS})
    assert all(region.is_resident for region in built.emissions["rows"].source.regions)
    built.outcomes(*(Job("f", (n, 2), (n, n)) for n in (4, 16, 20)))


@pytest.mark.alike(2)
@pytest.mark.parametrize("target", ON_DEVICES)
def test_regions_that_are_left_out_are_the_hosts(target: str, tmp_path: Path) -> None:
    text = (EXAMPLES / "nekbone/solve.c").read_text()
    built = Built(tmp_path, target, {"solve": text}, DRIVER, function="add2s2")
    assert len(built.emissions["solve"].source.regions) == 1
    built.outcomes(*map(solving, (1, 20)))


# Mistakes in the text that knows where arrays are -------------------------------------

MISTAKES = {
    "cuda": {
        "what kernels write is not noted": ("one->is_on_host = false;", ";"),
        "what the host writes is not noted": (
            "one->is_on_device = one->is_on_device && !is_written;",
            ";",
        ),
        "what the nest writes on the host is not noted": (
            "annotune_must\\(entry, annotune_to_host\\(\\*one\\)\\);\n.*!array.is_fetched;",
            "annotune_must(entry, annotune_to_host(*one));",
        ),
        "a copy is taken for made": ("one.is_on_host = status == cudaSuccess;", ";"),
        "what is not read of an array in part is not sent": (
            "array.is_sent \\|\\| !is_whole\\)",
            "array.is_sent)",
        ),
        "an array that is cut is used where it is": ("one->is_cut = true;", ";"),
        "what others fetch is not noted": (
            "one.is_on_device = one.is_on_device && !array.is_fetched;",
            ";",
        ),
        "a call finds arrays that are put aside": (
            "first = annotune_staying.aside \\? NULL : annotune_staying.first;",
            "first = annotune_staying.first;",
        ),
        "a part begins where the array does": (
            "one.whole.device \\+ \\(\\(const char \\*\\)array.first - from\\);",
            "one.whole.device;",
        ),
        "memory is given back with the only values": (
            'annotune_must\\("annotune_data", annotune_to_host\\(\\*\\*link\\)\\);',
            ";",
        ),
        "a call does not wait for what it fetches": (
            "\\(array.way == ANNOTUNE_STAGED && !array.is_fetched\\)",
            "array.way == ANNOTUNE_STAGED",
        ),
        "what has failed is trusted": (
            "status == cudaSuccess \\|\\| \\(status == cudaErrorMemoryAllocation && !has_begun\\)",
            "true",
        ),
    },
    "openacc": {
        "what kernels write is not noted": (
            "one->is_on_host = one->is_on_host && !is_written;",
            ";",
        ),
        "what the host writes is not noted": (
            "one->is_on_device = one->is_on_device && !is_written;",
            ";",
        ),
        "what is not read of an array in part is not sent": (
            "used\\[k\\].is_read \\|\\| one->first < first \\|\\| end < one->end;",
            "used[k].is_read;",
        ),
        "an array that is cut is used where it is": ("if \\(is_cut\\) \\{", "if (0) {"),
        "memory is taken for values": (
            "    one->is_on_device = 0;\n",
            "    one->is_on_device = 1;\n",
        ),
        "a call finds arrays that are put aside": (" && !annotune_staying.aside; n\\+\\+", "; n++"),
    },
}


@pytest.mark.alike(12)
@pytest.mark.parametrize("name", sorted({*MISTAKES["cuda"], *MISTAKES["openacc"]}))
def test_a_mistake_is_found(name: str, program: Built) -> None:
    mistakes = MISTAKES.get(program.target, {})
    if name not in mistakes:
        return
    wrong = program.changed(*mistakes[name], ".cu" if program.target == "cuda" else "")
    jobs = [job_of(function, n, 2) for function in FUNCTIONS for n in (1, 6, 17)]
    if program.target == "cuda":
        jobs += [job_of("allocating", 9, 2, fail_at=k) for k in range(1, 70)]
        jobs += [job_of("allocating", 9, 2, memory=72 * k) for k in range(1, 5)]
    outcomes, _ = wrong.run(*jobs)
    wrong_ones = [
        not one.same or any(one.counts.get(k) for k in ("red_zone_violations", "live_sections"))
        for one in outcomes
        if one is not None
    ]
    assert any(wrong_ones) or None in outcomes[: 3 * len(FUNCTIONS)]
