/* Indices that start where a sign says and run on by a step that is an argument. */
typedef int integer;
typedef double doublereal;

/* The start is chosen in the region. */
void chosen(integer *n, doublereal *a, doublereal *x, integer *incx, doublereal *y, integer *incy)
{
    integer i__1, i__, ix, iy;
    --y;
    --x;
    /*@ begin PerfTuning ( def input_params { param n = 64; param incx = 1; param incy = 2; } ) @*/
    ix = 1;
    iy = 1;
    if (*incx < 0) {
        ix = (-(*n) + 1) * *incx + 1;
    }
    if (*incy < 0)
        iy = (-(*n) + 1) * *incy + 1;
    else if (*incy == 3)
        iy = 2;
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
        y[iy] += *a * x[ix];
        ix += *incx;
        iy += *incy;
    }
    /*@ end @*/
}

/* The start is chosen before it, and what the indices are is read after it. */
int before(integer *n, doublereal *a, doublereal *x, integer *incx, doublereal *y, integer *incy)
{
    static integer i__1, i__, ix, iy;
    --y;
    --x;
    ix = 1;
    iy = 1;
    if (*incx < 0) {
        ix = (-(*n) + 1) * *incx + 1;
    }
    if (*incy < 0) {
        iy = (-(*n) + 1) * *incy + 1;
    }
    /*@ begin PerfTuning ( def input_params { param n = 64; param incx = 1; param incy = 2; } ) @*/
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
        y[iy] += *a * x[ix];
        ix += *incx;
        iy += *incy;
    }
    /*@ end @*/
    return ix * 1000 + iy;
}

/* Two regions with one counter that goes on from the first to the second. */
long goes_on(int n, long k, double *restrict a, const double *restrict b)
{
    int i;
    /*@ begin PerfTuning ( def input_params { param n = 64; param k = 2; } ) @*/
    for (i = 0; i < n; i++) {
        a[k] = b[i];
        k += 2;
    }
    /*@ end @*/
    /*@ begin PerfTuning ( def input_params { param n = 64; param k = 130; } ) @*/
    for (i = 0; i < n; i++) {
        a[k - 1] = b[i];
        --k;
    }
    /*@ end @*/
    return k;
}

/* A choice that a branch changes before it is read. */
void chosen_twice(int n, int m, int k, double *restrict a, const double *restrict b)
{
    int off = k;
    /*@ begin PerfTuning ( def input_params { param n = 64; param m = 2; param k = 1; } ) @*/
    if (off > m)
        off = m;
    if (off < 1)
        off = 1;
    else
        off = off + 1;
    for (int i = 0; i < n; i++)
        a[off + i] = b[i] + off;
    /*@ end @*/
}
