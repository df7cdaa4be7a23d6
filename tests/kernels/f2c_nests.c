/* What f2c makes of loops whose mathematics is a textbook nest: temporaries stand between them. */
typedef int integer;
typedef double doublereal;
typedef float real;
typedef int logical;

/* Subroutine */ int gemmnt_(integer *m, integer *n, integer *k, doublereal *
	alpha, doublereal *a, integer *lda, doublereal *b, integer *ldb, 
	doublereal *beta, doublereal *c__, integer *ldc)
{
    integer a_dim1, a_offset, b_dim1, b_offset, c_dim1, c_offset, i__1, i__2, 
	    i__3;

    integer i__, j, l;
    doublereal temp;

    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    b_dim1 = *ldb;
    b_offset = 1 + b_dim1;
    b -= b_offset;
    c_dim1 = *ldc;
    c_offset = 1 + c_dim1;
    c__ -= c_offset;

    /*@ begin PerfTuning ( def input_params { param m = 9; param n = 9; param k = 9; param lda = 10; param ldb = 11; param ldc = 9; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	if (*beta == 0.) {
	    i__2 = *m;
	    for (i__ = 1; i__ <= i__2; ++i__) {
		c__[i__ + j * c_dim1] = 0.;
	    }
	} else if (*beta != 1.) {
	    i__2 = *m;
	    for (i__ = 1; i__ <= i__2; ++i__) {
		c__[i__ + j * c_dim1] = *beta * c__[i__ + j * c_dim1];
	    }
	}
	i__2 = *k;
	for (l = 1; l <= i__2; ++l) {
	    if (b[j + l * b_dim1] != 0.) {
		temp = *alpha * b[j + l * b_dim1];
		i__3 = *m;
		for (i__ = 1; i__ <= i__3; ++i__) {
		    c__[i__ + j * c_dim1] += temp * a[i__ + l * a_dim1];
		}
	    }
	}
    }
    /*@ end @*/
    return 0;
} /* gemmnt_ */

/* Subroutine */ int symmru_(integer *m, integer *n, doublereal *alpha, 
	doublereal *a, integer *lda, doublereal *b, integer *ldb, doublereal *
	beta, doublereal *c__, integer *ldc)
{
    integer a_dim1, a_offset, b_dim1, b_offset, c_dim1, c_offset, i__1, i__2, 
	    i__3;

    integer i__, j, k;
    doublereal temp1;

    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    b_dim1 = *ldb;
    b_offset = 1 + b_dim1;
    b -= b_offset;
    c_dim1 = *ldc;
    c_offset = 1 + c_dim1;
    c__ -= c_offset;

    /*@ begin PerfTuning ( def input_params { param m = 9; param n = 9; param lda = 10; param ldb = 11; param ldc = 9; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	temp1 = *alpha * a[j + j * a_dim1];
	i__2 = *m;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    c__[i__ + j * c_dim1] = *beta * c__[i__ + j * c_dim1] + temp1 * b[
		    i__ + j * b_dim1];
	}
	i__2 = j - 1;
	for (k = 1; k <= i__2; ++k) {
	    temp1 = *alpha * a[k + j * a_dim1];
	    i__3 = *m;
	    for (i__ = 1; i__ <= i__3; ++i__) {
		c__[i__ + j * c_dim1] += temp1 * b[i__ + k * b_dim1];
	    }
	}
	i__2 = *n;
	for (k = j + 1; k <= i__2; ++k) {
	    temp1 = *alpha * a[j + k * a_dim1];
	    i__3 = *m;
	    for (i__ = 1; i__ <= i__3; ++i__) {
		c__[i__ + j * c_dim1] += temp1 * b[i__ + k * b_dim1];
	    }
	}
    }
    /*@ end @*/
    return 0;
} /* symmru_ */

/* Subroutine */ int gemvn_(integer *m, integer *n, real *alpha, real *a, 
	integer *lda, real *x, real *y)
{
    integer a_dim1, a_offset, i__1, i__2;

    integer i__, j;
    doublereal temp;

    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    --x;
    --y;

    /*@ begin PerfTuning ( def input_params { param m = 9; param n = 9; param lda = 10; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	temp = *alpha * x[j];
	i__2 = *m;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    y[i__] += temp * a[i__ + j * a_dim1];
	}
    }
    /*@ end @*/
    return 0;
} /* gemvn_ */

/* Subroutine */ int lasr_(integer *m, integer *n, doublereal *c__, 
	doublereal *s, doublereal *a, integer *lda)
{
    integer a_dim1, a_offset, i__1, i__2;

    integer i__, j;
    doublereal temp, ctemp, stemp;

    --c__;
    --s;
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;

    /*@ begin PerfTuning ( def input_params { param m = 9; param n = 9; param lda = 10; } ) @*/
    i__1 = *m - 1;
    for (j = 1; j <= i__1; ++j) {
	ctemp = c__[j];
	stemp = s[j];
	if (ctemp != 1. || stemp != 0.) {
	    i__2 = *n;
	    for (i__ = 1; i__ <= i__2; ++i__) {
		temp = a[j + 1 + i__ * a_dim1];
		a[j + 1 + i__ * a_dim1] = ctemp * temp - stemp * a[j + i__ * 
			a_dim1];
		a[j + i__ * a_dim1] = stemp * temp + ctemp * a[j + i__ * 
			a_dim1];
	    }
	}
    }
    /*@ end @*/
    return 0;
} /* lasr_ */

/* Subroutine */ int gefa_(integer *n, doublereal *a, integer *lda)
{
    integer a_dim1, a_offset, i__1, i__2, i__3;

    integer i__, j, k;
    doublereal t;

    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;

    /*@ begin PerfTuning ( def input_params { param n = 9; param lda = 10; } ) @*/
    i__1 = *n - 1;
    for (k = 1; k <= i__1; ++k) {
	i__2 = *n;
	for (i__ = k + 1; i__ <= i__2; ++i__) {
	    a[i__ + k * a_dim1] = -a[i__ + k * a_dim1] / a[k + k * a_dim1];
	}
	i__2 = *n;
	for (j = k + 1; j <= i__2; ++j) {
	    t = a[k + j * a_dim1];
	    i__3 = *n;
	    for (i__ = k + 1; i__ <= i__3; ++i__) {
		a[i__ + j * a_dim1] += t * a[i__ + k * a_dim1];
	    }
	}
    }
    /*@ end @*/
    return 0;
} /* gefa_ */

/* Subroutine */ int sdot_(integer *n, real *x, real *y, doublereal *s)
{
    integer i__1;

    integer i__;
    real t;

    --y;
    --x;

    /*@ begin PerfTuning ( def input_params { param n = 9; } ) @*/
    *s = 0.;
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	t = x[i__] * y[i__];
	*s = t + *s;
    }
    /*@ end @*/
    return 0;
} /* sdot_ */

