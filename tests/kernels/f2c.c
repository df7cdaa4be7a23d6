/* What f2c makes of Fortran 77: arguments by reference, arrays that start at 1, labels gone. */
typedef int integer;
typedef double doublereal;
typedef int logical;

/* Subroutine */ int dgemm_(integer *m, integer *n, integer *k, doublereal *alpha, doublereal *a,
    integer *lda, doublereal *b, integer *ldb, doublereal *beta, doublereal *c__, integer *ldc)
{
    /* System generated locals */
    integer a_dim1, a_offset, b_dim1, b_offset, c_dim1, c_offset, i__1, i__2, i__3;

    /* Local variables */
    static integer i__, j, l;
    static doublereal temp;

    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    b_dim1 = *ldb;
    b_offset = 1 + b_dim1;
    b -= b_offset;
    c_dim1 = *ldc;
    c_offset = 1 + c_dim1;
    c__ -= c_offset;

    /* Function Body */
    /*@ begin PerfTuning (
      def input_params { param m = 9; param n = 7; param k = 6; param lda = 9; param ldb = 6; param ldc = 10; }
    ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
        i__2 = *m;
        for (i__ = 1; i__ <= i__2; ++i__) {
            c__[i__ + j * c_dim1] = *beta * c__[i__ + j * c_dim1];
        }
        i__2 = *k;
        for (l = 1; l <= i__2; ++l) {
            temp = *alpha * b[l + j * b_dim1];
            i__3 = *m;
            for (i__ = 1; i__ <= i__3; ++i__) {
                c__[i__ + j * c_dim1] += temp * a[i__ + l * a_dim1];
            }
        }
    }
    /*@ end @*/
    return 0;
} /* dgemm_ */

/* Subroutine */ int dger_(m, n, alpha, x, incx, y, incy, a, lda)
integer *m, *n;
doublereal *alpha, *x;
integer *incx;
doublereal *y;
integer *incy;
doublereal *a;
integer *lda;
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2;

    /* Local variables */
    integer i__, j, jy;
    doublereal temp;

    /* Parameter adjustments */
    --x;
    --y;
    a_dim1 = *lda;
    a_offset = a_dim1 + 1;
    a -= a_offset;

    /* Function Body */
    jy = 1;
    /*@ begin PerfTuning (
      def input_params { param m = 11; param n = 8; param lda = 12; param incy = 1; }
    ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
        if (y[jy] != 0.) {
            temp = *alpha * y[jy];
            i__2 = *m;
            for (i__ = 1; i__ <= i__2; ++i__) {
                a[i__ + j * a_dim1] += x[i__] * temp;
            }
        }
        jy += *incy;
    }
    /*@ end @*/
    return 0;
} /* dger_ */

/* Subroutine */ int dtrsm_(integer *m, integer *n, doublereal *alpha, doublereal *a, integer *lda,
    doublereal *b, integer *ldb, logical *nounit)
{
    integer a_dim1, a_offset, b_dim1, b_offset, i__1, i__2;
    integer i__, j, k;

    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    b_dim1 = *ldb;
    b_offset = 1 + b_dim1;
    b -= b_offset;

    /* B := alpha * inv(A) * B, A upper triangular */
    /*@ begin PerfTuning (
      def input_params { param m = 7; param n = 9; param lda = 7; param ldb = 8; }
      def assume { arg whole = True; }
    ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
        if (*alpha != 1.) {
            i__2 = *m;
            for (i__ = 1; i__ <= i__2; ++i__) {
                b[i__ + j * b_dim1] = *alpha * b[i__ + j * b_dim1];
            }
        }
        for (k = *m; k >= 1; --k) {
            if (b[k + j * b_dim1] != 0.) {
                if (*nounit) {
                    b[k + j * b_dim1] /= a[k + k * a_dim1];
                }
                i__2 = k - 1;
                for (i__ = 1; i__ <= i__2; ++i__) {
                    b[i__ + j * b_dim1] -= b[k + j * b_dim1] * a[i__ + k * a_dim1];
                }
            }
        }
    }
    /*@ end @*/
    return 0;
} /* dtrsm_ */
