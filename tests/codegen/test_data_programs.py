"""Programs of Data as their authors write them, whose host code reaches arrays in odd ways."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.resident import Built, Job

ON_DEVICES = ("cuda", "openacc")
HEAD = r"""
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <math.h>
static void scaled(int n, double *restrict a, double c)
{
    /*@ begin PerfTuning (def input_params { param n = 1000; }) @*/
    for (int i = 0; i < n; i++)
        a[i] = c * a[i] + 1.0;
    /*@ end @*/
}
"""
# Arrays inside structs; pointers and indices that a function of the file, or a kernel, has changed
# in between; functions with blocks of their own that are called in others'; statements that several
# threads run.
PROGRAM = r"""
struct box { int n; double v[64], w[64]; };

static struct box gs;

void f_gstruct(int n, int steps, double *restrict x, double *restrict y)
{
    double *p = gs.v;
    for (int i = 0; i < n; i++) gs.v[i] = x[i];
    /*@ begin Data ( enter = "p[n]"; exit = "p" ) @*/
    for (int k = 0; k < steps; k++) {
        scaled(n, p, 0.5);
        gs.v[0] += 3.0;
        scaled(n, p, 0.5);
    }
    /*@ end @*/
    for (int i = 0; i < n; i++) x[i] = gs.v[i];
}

void f_lstruct(int n, int steps, double *restrict x, double *restrict y)
{
    struct box ls = {n};
    double *p = ls.v;
    for (int i = 0; i < n; i++) ls.v[i] = x[i];
    /*@ begin Data ( enter = "p[n]"; exit = "p" ) @*/
    for (int k = 0; k < steps; k++) {
        scaled(n, p, 0.5);
        ls.v[0] += 3.0;
        scaled(n, p, 0.5);
    }
    /*@ end @*/
    for (int i = 0; i < n; i++) x[i] = ls.v[i];
}

void f_assigned(int n, int steps, double *restrict x, double *restrict y)
{
    struct box ls = {n}, other;
    double *p = ls.v;
    for (int i = 0; i < n; i++) ls.v[i] = x[i];
    other = ls;
    /*@ begin Data ( enter = "p[n]"; exit = "p" ) @*/
    for (int k = 0; k < steps; k++) {
        scaled(n, p, 0.5);
        other = ls;
        scaled(n, p, 0.5);
        if (k == 1) ls = other;
    }
    /*@ end @*/
    for (int i = 0; i < n; i++) x[i] = ls.v[i] + other.v[i];
}

static double *A, *B;

static void swap(void) { double *t = A; A = B; B = t; }

void f_swapglobal(int n, int steps, double *restrict x, double *restrict y)
{
    A = x; B = y;
    /*@ begin Data ( enter = "x[n], y[n]"; exit = "x, y" ) @*/
    for (int k = 0; k < steps; k++) {
        scaled(n, A, 0.5);
        scaled(n, B, 0.5);
        for (int j = 0; j < 3; j++) {
            swap();
            A[0] += 1.0 + j;
        }
        scaled(n, A, 0.5);
        scaled(n, B, 0.5);
        swap(), A[0] += 0.5;
    }
    /*@ end @*/
}

struct grid { double *u, *v; };

static void swapped(struct grid *g) { double *t = g->u; g->u = g->v; g->v = t; }

void f_swapmember(int n, int steps, double *restrict x, double *restrict y)
{
    struct grid own = {x, y}, *g = &own;
    /*@ begin Data ( enter = "x[n], y[n]"; exit = "x, y" ) @*/
    for (int k = 0; k < steps; k++) {
        double *c1 = g->u, *c2 = g->v; scaled(n, c1, 0.5);
        scaled(n, c2, 0.5);
        for (int j = 0; j < 3; j++) {
            swapped(g);
            g->u[0] += 1.0 + j;
        }
        scaled(n, x, 0.5);
        scaled(n, y, 0.5);
    }
    /*@ end @*/
}

static void counted(int n, int *restrict a)
{
    /*@ begin PerfTuning (def input_params { param n = 1000; }) @*/
    for (int i = 0; i < n; i++)
        a[i] = (a[i] + 1) % 2;
    /*@ end @*/
}

void f_index(int n, int steps, double *restrict x, double *restrict y)
{
    int *idx = calloc(n, sizeof *idx);
    double *rows[2] = {x, y};
    /*@ begin Data ( enter = "x[n], y[n], idx[n]"; exit = "x, y" ) @*/
    for (int k = 0; k < steps; k++) {
        scaled(n, x, 0.5);
        scaled(n, y, 0.5);
        counted(n, idx);
        rows[idx[0]][0] += 1.0;
        scaled(n, x, 0.5);
        scaled(n, y, 0.5);
        counted(n, idx);
        *rows[idx[n - 1]] -= 3.0;
    }
    /*@ end @*/
    free(idx);
}

static void down(int n, int depth, double *restrict x, double *restrict y)
{
    /*@ begin Data ( enter = "x[n], y[n]"; exit = "x, y" ) @*/
    scaled(n, x, 0.5);
    if (depth > 0) {
        y[0] += x[0];
        down(n, depth - 1, y, x);
        x[n - 1] += y[0];
    }
    scaled(n, y, 0.5);
    /*@ end @*/
    x[0] += 0.5;
    y[0] += x[0];
}

void f_recursion(int n, int steps, double *restrict x, double *restrict y)
{
    down(n, steps, x, y);
    x[0] += y[n - 1];
}

static struct fields { double *u, *v; } G;

static void exchanged(void) { double *t = G.u; G.u = G.v; G.v = t; }

void f_swapstruct(int n, int steps, double *restrict x, double *restrict y)
{
    G.u = x; G.v = y;
    /*@ begin Data ( enter = "x[n], y[n]"; exit = "x, y" ) @*/
    for (int k = 0; k < steps; k++) {
        scaled(n, x, 0.5);
        scaled(n, y, 0.5);
        for (int j = 0; j < 3; j++) {
            exchanged();
            G.u[0] += 1.0 + j;
        }
        scaled(n, x, 0.5);
        scaled(n, y, 0.5);
    }
    /*@ end @*/
}

static void inner(int n, double *restrict x, double *restrict y)
{
    y[0] += x[0];
    /*@ begin Data ( enter = "x[n], y[n]"; exit = "x, y" ) @*/
    scaled(n, x, 0.5);
    scaled(n, y, 0.5);
    /*@ end @*/
    x[n - 1] += y[0];
}

void f_nested(int n, int steps, double *restrict x, double *restrict y)
{
    /*@ begin Data ( enter = "x[n], y[n]"; exit = "x, y" ) @*/
    for (int k = 0; k < steps; k++) {
        scaled(n, x, 0.5);
        inner(n, x, y);
        scaled(n, y, 0.5);
    }
    /*@ end @*/
}

static void added(struct box *b) { b->v[0] += 1.0; }

static void copied(struct box *to, const struct box *from) { *to = *from; }

void f_member(int n, int steps, double *restrict x, double *restrict y)
{
    struct box *b = malloc(2 * sizeof *b), *c = b + 1;
    for (int i = 0; i < n; i++) b->v[i] = x[i], b->w[i] = y[i];
    for (int i = 0; i < n; i++) c->v[i] = x[i], c->w[i] = y[i];
    double *p = b->v, *q = b->w;
    /*@ begin Data ( enter = "p[n], q[n]"; exit = "p, q" ) @*/
    for (int k = 0; k < steps; k++) {
        scaled(n, p, 0.5);
        b->v[0] += 1.0;
        scaled(n, q, 0.5);
        added(b);
        scaled(n, p, 0.5);
        for (int i = 0; i < n; i++) b[0].w[i] += b->v[i];
        scaled(n, q, 0.5);
        for (int j = 0; j < 2; j++) b[j].w[0] += 1.0;
        scaled(n, p, 0.5);
        copied(c, b);
        scaled(n, p, 0.5);
        memcpy(c, b, sizeof *b);
        scaled(n, q, 0.5);
        if (k == 1) *b = *c;
        for (int i = 0; i < n; i++) (*c).v[i] -= (&b[0])->w[i];
    }
    /*@ end @*/
    for (int i = 0; i < n; i++) x[i] = b->v[i] + c->v[i], y[i] = b->w[i] + c->w[i];
    free(b);
}

static int cur;

static void flip(void) { cur = 1 - cur; }

void f_cur(int n, int steps, double *restrict x, double *restrict y)
{
    double *buf[2] = {x, y};
    cur = 0;
    /*@ begin Data ( enter = "x[n], y[n]"; exit = "x, y" ) @*/
    for (int k = 0; k < steps; k++) {
        scaled(n, x, 0.5);
        scaled(n, y, 0.5);
        if (k >= 0) { flip(); buf[cur][0] += 1.0; }
        scaled(n, x, 0.5);
        scaled(n, y, 0.5);
        { cur = 1 - cur; buf[cur][0] += 1.0; }
    }
    /*@ end @*/
}

void f_omp(int n, int steps, double *restrict x, double *restrict y)
{
    /*@ begin Data ( enter = "x[n], y[n]"; exit = "x, y" ) @*/
    for (int k = 0; k < steps; k++) {
        scaled(n, x, 0.5);
        scaled(n, y, 0.5);
#pragma omp parallel for
        for (int j = 0; j < 2; j++) {
            if (j) scaled(n, x, 0.5);
            else scaled(n, y, 0.5);
            (j ? x : y)[0] += 1.0;
        }
        scaled(n, x, 0.5);
#pragma omp parallel sections
        {
#pragma omp section
            x[0] += 1.0;
#pragma omp section
            y[0] += 1.0;
        }
        scaled(n, x, 0.5);
        _Pragma("omp parallel for")
        for (int j = 0; j < n; j++) x[j] += 1.0;
    }
    /*@ end @*/
}
"""
FUNCTIONS = re.findall(r"^void (f_\w+)", PROGRAM, re.MULTILINE)


@pytest.fixture(scope="module", params=ON_DEVICES)
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("program")
    return Built(folder, request.param, {"program": HEAD + PROGRAM})


@pytest.mark.alike(8)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_host_finds_what_regions_have_made(function: str, program: Built) -> None:
    assert all(region.is_resident for region in program.emissions["program"].source.regions)
    jobs = [
        Job(function, (n, steps), (n, n), calls=2, rtol=1e-11)
        for n in (1, 5, 16)
        for steps in (0, 1, 3)
    ]
    program.outcomes(*jobs)


# Two threads in the same block, which take turns: at each call of omp_get_wtime the other goes on.
SHARED = """
void unknown(int);
double omp_get_wtime(void);
void work(int n, int steps, double *restrict x, const double *restrict c, double *restrict y)
{
    /*@ begin Data ( enter = "x[n], y[n], c[n]"; exit = "x, y" ) @*/
    for (int k = 0; k < steps; k++) {
        scaled(n, x, 0.5);
        omp_get_wtime();
        x[0] += c[0];
        omp_get_wtime();
        scaled(n, y, 0.25);
        omp_get_wtime();
        y[0] += x[n - 1];
        omp_get_wtime();
        unknown(k);
        scaled(n, x, 0.5);
    }
    omp_get_wtime();
    /*@ end @*/
    omp_get_wtime();
    x[0] += 1.0;
}
void both(int n, int steps, double *x, double *y);
void f_both(int n, int steps, double *restrict x, double *restrict y)
{
    both(n, steps, x, y);
}
"""
TURNS = """
#include <pthread.h>
#include <stdlib.h>
void work(int n, int steps, double *x, const double *c, double *y);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static int turn, running;
static __thread int own = -1;
static void pass(int ends)
{
    if (own < 0) return;
    pthread_mutex_lock(&lock);
    running -= ends;
    if (running > 0) turn = 1 - turn;
    pthread_cond_broadcast(&change);
    while (!ends && turn != own && running > 1) pthread_cond_wait(&change, &lock);
    pthread_mutex_unlock(&lock);
}
double omp_get_wtime(void) { pass(0); return 0; }
void unknown(int k) { pass(0); pass(0); pass(0); }
struct job { int n, steps, own; double *x, *c, *y; };
static void *ran(void *given)
{
    struct job *j = given;
    pthread_mutex_lock(&lock);
    own = j->own;
    while (turn != own && running > 1) pthread_cond_wait(&change, &lock);
    pthread_mutex_unlock(&lock);
    work(j->n, j->steps + own, j->x, j->c, j->y);
    pass(1);
    return 0;
}
void both(int n, int steps, double *x, double *y)
{
    double *c = malloc(n * 8), *u = malloc(n * 8), *v = malloc(n * 8);
    for (int i = 0; i < n; i++) c[i] = i, u[i] = x[i] + 1, v[i] = y[i] + 2;
    struct job a = {n, steps, 0, x, c, u}, b = {n, steps, 1, v, c, y};
    pthread_t t[2];
    turn = 0; running = 2;
    pthread_create(&t[0], 0, ran, &a), pthread_create(&t[1], 0, ran, &b);
    pthread_join(t[0], 0), pthread_join(t[1], 0);
    for (int i = 0; i < n; i++) x[i] += u[i], y[i] += v[i];
    free(c), free(u), free(v);
}
"""


@pytest.mark.alike(2)
@pytest.mark.parametrize("target", ON_DEVICES)
def test_each_thread_has_a_block_of_its_own(target: str, tmp_path: Path) -> None:
    built = Built(tmp_path, target, {"shared": HEAD + SHARED}, TURNS)
    built.outcomes(*(Job("both", (n, k), (n, n), rtol=1e-11) for n in (1, 16) for k in (0, 1, 3)))
