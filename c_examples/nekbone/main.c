/* Calls local_grad3 once and compares it with a plain recomputation, element by element.
 *
 * Link it with local_grad3.c or with any file that annotune made of it, compiled with the same
 * -Dlx and -Dnelt.  Prints the checksums; exits with 1 when a value is out of tolerance.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef lx
#define lx 10
#endif
#ifndef nelt
#define nelt 1000
#endif

enum { POINTS = lx * lx * lx }; /* of one element */

void local_grad3(double *Ut, double *Us, double *Ur, double *D, double *U, double *Dt);

/* Uniform in [-1, 1), the same on every machine (Knuth's MMIX congruential generator). */
static double next_random(void)
{
    static unsigned long long state = 42;
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(state >> 11) / 4503599627370496.0 - 1.0;
}

static double *filled(size_t count)
{
    double *values = malloc(count * sizeof *values);
    if (!values) {
        fprintf(stderr, "no memory for %zu doubles\n", count);
        exit(1);
    }
    for (size_t n = 0; n < count; n++)
        values[n] = next_random();
    return values;
}

static double *copied(const double *from, size_t count)
{
    double *values = malloc(count * sizeof *values);
    if (!values) {
        fprintf(stderr, "no memory for %zu doubles\n", count);
        exit(1);
    }
    for (size_t n = 0; n < count; n++)
        values[n] = from[n];
    return values;
}

/* Return how many values of `got` differ from before + sum over m of matrix[point, m] * U[m],
 * where m runs along `direction`: 0 is the fastest index of U, 2 the slowest.
 *
 * Two sums of lx products onto a start value, in any order and with or without fused
 * multiply-add, differ by at most 2 (lx + 1) u times the sum of magnitudes, u = DBL_EPSILON / 2
 * (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1).
 */
static long wrong(const char *name, const double *got, const double *before,
                  const double *matrix, const double *U, int direction)
{
    const size_t stride = direction == 0 ? 1 : direction == 1 ? lx : (size_t)lx * lx;
    double checksum = 0.0, worst = 0.0;
    long bad = 0;

    for (size_t e = 0; e < (size_t)nelt; e++)
        for (size_t n = 0; n < POINTS; n++) {
            const size_t along = n / stride % lx;
            const double *u = U + e * POINTS + (n - along * stride);
            const double start = before[e * POINTS + n];
            double sum = 0.0, magnitude = fabs(start);

            for (size_t m = 0; m < lx; m++) {
                /* D holds the derivative matrix by columns, Dt by rows. */
                const double d = direction == 0 ? matrix[m * lx + along] : matrix[along * lx + m];
                sum += d * u[m * stride];
                magnitude += fabs(d * u[m * stride]);
            }

            const double difference = fabs(got[e * POINTS + n] - (start + sum));
            if (!(difference <= (lx + 1) * DBL_EPSILON * magnitude)) /* a NaN is wrong, too */
                bad++;
            if (difference > worst)
                worst = difference;
            checksum += got[e * POINTS + n];
        }

    printf("%s: checksum %.12e, largest difference %.1e, %ld of %zu out of tolerance\n",
           name, checksum, worst, bad, (size_t)nelt * POINTS);
    return bad;
}

int main(void)
{
    const size_t count = (size_t)nelt * POINTS;
    double *D = filled(lx * lx), *Dt = filled(lx * lx), *U = filled(count);
    double *Ur = filled(count), *Us = filled(count), *Ut = filled(count);
    double *Ur_before = copied(Ur, count), *Us_before = copied(Us, count);
    double *Ut_before = copied(Ut, count);

    local_grad3(Ut, Us, Ur, D, U, Dt);

    long bad = wrong("Ur", Ur, Ur_before, D, U, 0);
    bad += wrong("Us", Us, Us_before, Dt, U, 1);
    bad += wrong("Ut", Ut, Ut_before, Dt, U, 2);

    free(D), free(Dt), free(U);
    free(Ur), free(Us), free(Ut);
    free(Ur_before), free(Us_before), free(Ut_before);
    return bad ? 1 : 0;
}
