/* Solves with solve.c by 100 iterations, and by the same C as written, which -Dcg=cg_original names.
 *
 * Prints the time of an iteration; exits with 1 when the two solutions differ by more than rounding.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifndef LX
#define LX 10
#endif
#ifndef NELT
#define NELT 1000
#endif

enum { POINTS = NELT * LX * LX * LX, FEW = 10, ITERATIONS = 100 };

typedef double solver(int n, int elements, int iterations, double *x, double *r, double *p, double *w,
                      double *z, const double *c, const double *g, const double *D);
solver cg, cg_original;

static double *of(size_t count)
{
    double *values = calloc(count, sizeof *values);
    if (!values) {
        fprintf(stderr, "no memory for %zu doubles\n", count);
        exit(1);
    }
    return values;
}

/* Solve A x = f for a smooth f, and return what is left of it; *time_s is that of all iterations. */
static double solved(solver *with, int iterations, double *x, double *time_s)
{
    double *r = of(POINTS), *p = of(POINTS), *w = of(POINTS), *z = of(POINTS), *c = of(POINTS);
    double *g = of(6 * (size_t)POINTS), *D = of(LX * LX);
    struct timespec begin, end;

    for (size_t k = 0; k < POINTS; k++) {
        x[k] = 0.0;
        r[k] = sin(0.01 * (double)k);
        c[k] = 1.0;
        /* Positive at every point: diagonally dominant. */
        for (int m = 0; m < 6; m++)
            g[6 * k + m] = m == 0 || m == 3 || m == 5 ? 1.0 + (double)(k % 7) / 8.0 : 0.25;
    }
    for (int i = 0; i < LX; i++)
        for (int l = 0; l < LX; l++)
            D[i * LX + l] = cos(i + 2 * l) / LX;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    const double left = with(LX, NELT, iterations, x, r, p, w, z, c, g, D);
    clock_gettime(CLOCK_MONOTONIC, &end);
    *time_s = (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
    free(r), free(p), free(w), free(z), free(c), free(g), free(D);
    return left;
}

int main(void)
{
    double *x = of(POINTS), *expected = of(POINTS), few_s, all_s, original_s, worst = 0.0, most = 0.0;

    /* The second call of a size allocates nothing any more. */
    solved(cg, FEW, x, &few_s);
    solved(cg, FEW, x, &few_s);
    const double left = solved(cg, ITERATIONS, x, &all_s);
    const double wanted = solved(cg_original, ITERATIONS, expected, &original_s);
    for (size_t k = 0; k < POINTS; k++) {
        const double difference = fabs(x[k] - expected[k]);
        worst = difference <= worst ? worst : difference; /* a NaN is the worst */
        most = fmax(most, fabs(expected[k]));
    }
    printf("an iteration: %.1f us, as written %.1f us; %d with all copies: %.3f ms\n",
           1e6 * (all_s - few_s) / (ITERATIONS - FEW), 1e6 * original_s / ITERATIONS, ITERATIONS,
           1e3 * all_s);
    printf("left: %.6e, as written %.6e; largest difference of x: %.1e of %.1e\n", left, wanted, worst,
           most);
    free(x), free(expected);
    return worst <= 1e-9 * most ? 0 : 1;
}
