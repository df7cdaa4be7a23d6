/* Jumps to the end of an iteration, and around statements of one, as f2c and older authors wrote. */
#include <math.h>
typedef int integer;
typedef double doublereal;

void roots(integer *n, doublereal *x, doublereal *y)
{
    integer i__1, i__;
    --y;
    --x;
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
        if (x[i__] < 0.) {
            goto L10;
        }
        y[i__] = sqrt(x[i__]);
L10:
        ;
    }
    /*@ end @*/
}

void three_ways(integer *n, integer *m, doublereal *x, doublereal *y)
{
    integer i__1, i__2, i__, j;
    --y;
    --x;
    /*@ begin PerfTuning ( def input_params { param n = 64; param m = 5; } ) @*/
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
        if (x[i__] < 0.) {
            goto L10;
        } else if (x[i__] == 0.) {
            goto L20;
        } else {
            goto L30;
        }
L10:
        y[i__] = -x[i__];
        x[i__] = 0.;
        goto L40;
L20:
        i__2 = *m;
        for (j = 1; j <= i__2; ++j) {
            if (j == i__) {
                goto L25;
            }
            y[i__] += x[i__] + j;
L25:
            ;
        }
        goto L40;
L30:
        y[i__] = 2.;
L40:
        y[i__] *= x[i__] + 3.;
    }
    /*@ end @*/
}

int left_behind(int n, double *a, const double *b, const int *p)
{
    int i;
    double t = 0;
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (i = 0; i < n; i++) {
        if (b[i] != b[i])
            continue;
        t = b[i];
        if (p[i] > 2) {
            continue;
        }
        double u = a[i];
        a[i] = u * t + i;
unused:
        a[i] += 1;
    }
    /*@ end @*/
    return i;
}
