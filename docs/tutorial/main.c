/* Differentiates 1000 elements, and prints a sum of all results and the time of a call. */
#include <stdio.h>
#include <time.h>

#define LX 10
#define NELT 1000
#define POINTS (NELT * LX * LX * LX)
#define CALLS 20

static double u[POINTS], ur[POINTS], us[POINTS], ut[POINTS], d[LX * LX], dt[LX * LX];

int grad3_(double *ur, double *us, double *ut, double *u, double *d, double *dt, int *nelt);

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

int main(void)
{
    int nelt = NELT;
    double sum = 0.0, best = 1e9;
    for (int i = 0; i < LX * LX; i++) {
        d[i] = i % 7 - 3;
        dt[i % LX * LX + i / LX] = d[i];
    }
    for (int i = 0; i < POINTS; i++)
        u[i] = i % 13;
    for (int call = 0; call < CALLS; call++) {
        double begin = seconds();
        grad3_(ur, us, ut, u, d, dt, &nelt);
        double took = seconds() - begin;
        best = took < best ? took : best;
    }
    for (int i = 0; i < POINTS; i++)
        sum += i % 5 * ur[i] + i % 3 * us[i] + i % 2 * ut[i];
    printf("sum %.17g, %.3g ms a call\n", sum, 1e3 * best);
    return 0;
}
