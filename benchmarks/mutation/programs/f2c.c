typedef int integer;
typedef double doublereal;
/* Subroutine */ int dgemm_(integer *m, integer *n, integer *k, doublereal *alpha, doublereal *a,
    integer *lda, doublereal *b, integer *ldb, doublereal *beta, doublereal *c__, integer *ldc)
{
    integer a_dim1, a_offset, b_dim1, b_offset, c_dim1, c_offset, i__1, i__2, i__3;
    static integer i__, j, l;
    static doublereal temp;

    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    b_dim1 = *ldb;
    b_offset = 1 + b_dim1;
    b -= b_offset;
    c_dim1 = *ldc;
    c_offset = 1 + c_dim1;
    c__ -= c_offset;

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
}
