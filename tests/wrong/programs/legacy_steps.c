/* Loops whose step is an argument. */
#include <math.h>
typedef int integer;
typedef double doublereal;

/* DO I = N1, N2, N3 as f2c writes it; N3 of 0 never enters. */
int fortran(integer *n1, integer *n2, integer *n3, doublereal *x, doublereal *y)
{
    integer i__1, i__2, i__;
    --y;
    --x;
    /*@ begin PerfTuning ( def input_params { param n1 = 1; param n2 = 64; param n3 = 2; } ) @*/
    i__1 = *n2;
    i__2 = *n3;
    for (i__ = *n1; i__2 < 0 ? i__ >= i__1 : i__ <= i__1; i__ += i__2) {
        if (x[i__] < 0.)
            continue;
        y[i__] = sqrt(x[i__]) + i__;
    }
    /*@ end @*/
    return i__;
}

void scaled(integer *n, doublereal *da, doublereal *dx, integer *incx)
{
    integer i__1, i__2, i__, nincx;
    --dx;
    /*@ begin PerfTuning ( def input_params { param n = 64; param incx = 3; } ) @*/
    nincx = *n * *incx;
    i__1 = nincx;
    i__2 = *incx;
    for (i__ = 1; i__2 < 0 ? i__ >= i__1 : i__ <= i__1; i__ += i__2) {
        dx[i__] = *da * dx[i__];
    }
    /*@ end @*/
}

/* C's own: a step the wrong way of a loop that does not run, longs, and an index beside. */
long up(int n, long s, double *restrict a, const double *restrict b)
{
    long i, k = 3;
    /*@ begin PerfTuning ( def input_params { param n = 64; param s = 2; } ) @*/
    for (i = 2; i < n; i = s + i) {
        a[i] = b[k];
        k += 2;
    }
    /*@ end @*/
    return 1000 * i + k;
}

int down(int n, int s, double *restrict a, const double *restrict b)
{
    int i;
    /*@ begin PerfTuning ( def input_params { param n = 64; param s = 2; } ) @*/
    for (i = n; i > 1; i -= s)
        a[i] = b[i] * i;
    /*@ end @*/
    return i;
}

int at_least(int n, int s, int m, double *restrict a, const double *restrict b)
{
    int i, j;
    /*@ begin PerfTuning ( def input_params { param n = 64; param s = 2; param m = 3; } ) @*/
    for (i = n; i >= 0; i -= 2 * s)
        for (j = 0; j < m; j++)
            a[i * m + j] = b[i] * j;
    /*@ end @*/
    return i;
}

/* Blocks of rows: the inner loop goes on from where the outer one stands. */
void butterflies(int n, int half, double *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param n = 64; param half = 4; } ) @*/
    for (int k = 0; k < n; k += 2 * half)
        for (int j = 0; j < half; j++) {
            double t = a[k + j + half];
            a[k + j + half] = a[k + j] - t;
            a[k + j] = a[k + j] + t;
        }
    /*@ end @*/
}
