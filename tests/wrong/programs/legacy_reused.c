/* f2c's own variables, set again for every loop: what the last one before a region says holds. */
typedef int integer;
typedef double doublereal;

int reused(integer *n, integer *m, doublereal *a, doublereal *x, doublereal *y)
{
    static integer i__1, i__2, i__, j, w;
    integer a_dim1, a_offset;
    a_dim1 = *m;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    --y;
    --x;
    if (*n <= 0)
        goto L20;
    i__1 = *m;
    for (i__ = 1; i__ <= i__1; ++i__) {
        y[i__] = 0.;
    }
    w = *m;
    i__1 = *n;
    /*@ begin PerfTuning ( def input_params { param n = 64; param m = 8; } def assume { arg disjoint = True; } ) @*/
    for (j = 1; j <= i__1; ++j) {
        i__2 = w;
        for (i__ = 1; i__ <= i__2; ++i__) {
            a[i__ + j * a_dim1] = x[j] * y[i__] + w;
        }
    }
    /*@ end @*/
L20:
    i__1 = 7;
    return i__1;
}

/* What is set since, by a branch, a call, a pointer or the region itself, is no longer what it was. */
int g;
void other(int *p) { *p += 1; g += 1; }

int changed(int n, int m, int k, double *restrict a, const double *restrict b)
{
    int w = n, v, u, t, i;
    int *p = &v;
    u = m;
    t = n;
    v = t;
    g = n;
    *p -= 1;
    if (k > 2)
        w = m;
    u = u + 1;
    t = m;
    other(&t);
    /*@ begin PerfTuning ( def input_params { param n = 16; param m = 8; param v = 15; param g = 17; param t = 9; param w = 16; param u = 9; } ) @*/
    for (i = 0; i < v; i++)
        a[i] = b[i] + w;
    for (i = 0; i < g; i++)
        a[i] += b[i] * t;
    for (i = 0; i < u; i++)
        a[i] += b[i];
    /*@ end @*/
    return i;
}
