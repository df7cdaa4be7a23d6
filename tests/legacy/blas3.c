#include "f2c.h"

/* Subroutine */ int dgemnn_(integer *m, integer *n, integer *k, doublereal *
	alpha, doublereal *a, integer *lda, doublereal *b, integer *ldb, 
	doublereal *beta, doublereal *c__, integer *ldc)
{
    /* System generated locals */
    integer a_dim1, a_offset, b_dim1, b_offset, c_dim1, c_offset, i__1, i__2, 
	    i__3;

    /* Local variables */
    static integer i__, j, l;
    static doublereal temp;

/*     C := ALPHA*A*B + BETA*C */
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
    if (*m == 0 || *n == 0) {
	return 0;
    }
    /*@ begin PerfTuning ( def input_params { param m = 512; param n = 512; param k = 512; param lda = 512; param ldb = 512; param ldc = 512; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	if (*beta == 0.) {
	    i__2 = *m;
	    for (i__ = 1; i__ <= i__2; ++i__) {
		c__[i__ + j * c_dim1] = 0.;
/* L50: */
	    }
	} else if (*beta != 1.) {
	    i__2 = *m;
	    for (i__ = 1; i__ <= i__2; ++i__) {
		c__[i__ + j * c_dim1] = *beta * c__[i__ + j * c_dim1];
/* L60: */
	    }
	}
	i__2 = *k;
	for (l = 1; l <= i__2; ++l) {
	    temp = *alpha * b[l + j * b_dim1];
	    i__3 = *m;
	    for (i__ = 1; i__ <= i__3; ++i__) {
		c__[i__ + j * c_dim1] += temp * a[i__ + l * a_dim1];
/* L70: */
	    }
/* L80: */
	}
/* L90: */
    }
    /*@ end @*/
    return 0;
} /* dgemnn_ */

/* Subroutine */ int dgemtn_(integer *m, integer *n, integer *k, doublereal *
	alpha, doublereal *a, integer *lda, doublereal *b, integer *ldb, 
	doublereal *beta, doublereal *c__, integer *ldc)
{
    /* System generated locals */
    integer a_dim1, a_offset, b_dim1, b_offset, c_dim1, c_offset, i__1, i__2, 
	    i__3;

    /* Local variables */
    static integer i__, j, l;
    static doublereal temp;

/*     C := ALPHA*A'*B + BETA*C */
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
    /*@ begin PerfTuning ( def input_params { param m = 512; param n = 512; param k = 512; param lda = 512; param ldb = 512; param ldc = 512; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	i__2 = *m;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    temp = 0.;
	    i__3 = *k;
	    for (l = 1; l <= i__3; ++l) {
		temp += a[l + i__ * a_dim1] * b[l + j * b_dim1];
/* L100: */
	    }
	    if (*beta == 0.) {
		c__[i__ + j * c_dim1] = *alpha * temp;
	    } else {
		c__[i__ + j * c_dim1] = *alpha * temp + *beta * c__[i__ + j * 
			c_dim1];
	    }
/* L110: */
	}
/* L120: */
    }
    /*@ end @*/
    return 0;
} /* dgemtn_ */

/* Subroutine */ int dgemnt_(integer *m, integer *n, integer *k, doublereal *
	alpha, doublereal *a, integer *lda, doublereal *b, integer *ldb, 
	doublereal *beta, doublereal *c__, integer *ldc)
{
    /* System generated locals */
    integer a_dim1, a_offset, b_dim1, b_offset, c_dim1, c_offset, i__1, i__2, 
	    i__3;

    /* Local variables */
    static integer i__, j, l;
    static doublereal temp;

/*     C := ALPHA*A*B' + BETA*C, THE OLDER FORM, WHICH TESTS B */
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
    /*@ begin PerfTuning ( def input_params { param m = 512; param n = 512; param k = 512; param lda = 512; param ldb = 512; param ldc = 512; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	if (*beta == 0.) {
	    i__2 = *m;
	    for (i__ = 1; i__ <= i__2; ++i__) {
		c__[i__ + j * c_dim1] = 0.;
/* L130: */
	    }
	} else if (*beta != 1.) {
	    i__2 = *m;
	    for (i__ = 1; i__ <= i__2; ++i__) {
		c__[i__ + j * c_dim1] = *beta * c__[i__ + j * c_dim1];
/* L140: */
	    }
	}
	i__2 = *k;
	for (l = 1; l <= i__2; ++l) {
	    if (b[j + l * b_dim1] != 0.) {
		temp = *alpha * b[j + l * b_dim1];
		i__3 = *m;
		for (i__ = 1; i__ <= i__3; ++i__) {
		    c__[i__ + j * c_dim1] += temp * a[i__ + l * a_dim1];
/* L150: */
		}
	    }
/* L160: */
	}
/* L170: */
    }
    /*@ end @*/
    return 0;
} /* dgemnt_ */

/* Subroutine */ int dgemtt_(integer *m, integer *n, integer *k, doublereal *
	alpha, doublereal *a, integer *lda, doublereal *b, integer *ldb, 
	doublereal *beta, doublereal *c__, integer *ldc)
{
    /* System generated locals */
    integer a_dim1, a_offset, b_dim1, b_offset, c_dim1, c_offset, i__1, i__2, 
	    i__3;

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
    /*@ begin PerfTuning ( def input_params { param m = 512; param n = 512; param k = 512; param lda = 512; param ldb = 512; param ldc = 512; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	i__2 = *m;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    temp = 0.;
	    i__3 = *k;
	    for (l = 1; l <= i__3; ++l) {
		temp += a[l + i__ * a_dim1] * b[j + l * b_dim1];
/* L180: */
	    }
	    if (*beta == 0.) {
		c__[i__ + j * c_dim1] = *alpha * temp;
	    } else {
		c__[i__ + j * c_dim1] = *alpha * temp + *beta * c__[i__ + j * 
			c_dim1];
	    }
/* L190: */
	}
/* L200: */
    }
    /*@ end @*/
    return 0;
} /* dgemtt_ */

/* Subroutine */ int dsymlu_(integer *m, integer *n, doublereal *alpha, 
	doublereal *a, integer *lda, doublereal *b, integer *ldb, doublereal *
	beta, doublereal *c__, integer *ldc)
{
    /* System generated locals */
    integer a_dim1, a_offset, b_dim1, b_offset, c_dim1, c_offset, i__1, i__2, 
	    i__3;

    /* Local variables */
    static integer i__, j, k;
    static doublereal temp1, temp2;

/*     C := ALPHA*A*B + BETA*C, A SYMMETRIC, UPPER TRIANGLE */
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
    /*@ begin PerfTuning ( def input_params { param m = 512; param n = 512; param lda = 512; param ldb = 512; param ldc = 512; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	i__2 = *m;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    temp1 = *alpha * b[i__ + j * b_dim1];
	    temp2 = 0.;
	    i__3 = i__ - 1;
	    for (k = 1; k <= i__3; ++k) {
		c__[k + j * c_dim1] += temp1 * a[k + i__ * a_dim1];
		temp2 += b[k + j * b_dim1] * a[k + i__ * a_dim1];
/* L50: */
	    }
	    if (*beta == 0.) {
		c__[i__ + j * c_dim1] = temp1 * a[i__ + i__ * a_dim1] + *
			alpha * temp2;
	    } else {
		c__[i__ + j * c_dim1] = *beta * c__[i__ + j * c_dim1] + temp1 
			* a[i__ + i__ * a_dim1] + *alpha * temp2;
	    }
/* L60: */
	}
/* L70: */
    }
    /*@ end @*/
    return 0;
} /* dsymlu_ */

/* Subroutine */ int dsymr_(integer *m, integer *n, doublereal *alpha, 
	doublereal *a, integer *lda, doublereal *b, integer *ldb, doublereal *
	beta, doublereal *c__, integer *ldc, logical *upper)
{
    /* System generated locals */
    integer a_dim1, a_offset, b_dim1, b_offset, c_dim1, c_offset, i__1, i__2, 
	    i__3;

    /* Local variables */
    static integer i__, j, k;
    static doublereal temp1;
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
    /*@ begin PerfTuning ( def input_params { param m = 512; param n = 512; param lda = 512; param ldb = 512; param ldc = 512; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	temp1 = *alpha * a[j + j * a_dim1];
	if (*beta == 0.) {
	    i__2 = *m;
	    for (i__ = 1; i__ <= i__2; ++i__) {
		c__[i__ + j * c_dim1] = temp1 * b[i__ + j * b_dim1];
/* L110: */
	    }
	} else {
	    i__2 = *m;
	    for (i__ = 1; i__ <= i__2; ++i__) {
		c__[i__ + j * c_dim1] = *beta * c__[i__ + j * c_dim1] + temp1 
			* b[i__ + j * b_dim1];
/* L120: */
	    }
	}
	i__2 = j - 1;
	for (k = 1; k <= i__2; ++k) {
	    if (*upper) {
		temp1 = *alpha * a[k + j * a_dim1];
	    } else {
		temp1 = *alpha * a[j + k * a_dim1];
	    }
	    i__3 = *m;
	    for (i__ = 1; i__ <= i__3; ++i__) {
		c__[i__ + j * c_dim1] += temp1 * b[i__ + k * b_dim1];
/* L130: */
	    }
/* L140: */
	}
	i__2 = *n;
	for (k = j + 1; k <= i__2; ++k) {
	    if (*upper) {
		temp1 = *alpha * a[j + k * a_dim1];
	    } else {
		temp1 = *alpha * a[k + j * a_dim1];
	    }
	    i__3 = *m;
	    for (i__ = 1; i__ <= i__3; ++i__) {
		c__[i__ + j * c_dim1] += temp1 * b[i__ + k * b_dim1];
/* L150: */
	    }
/* L160: */
	}
/* L170: */
    }
    /*@ end @*/
    return 0;
} /* dsymr_ */

/* Subroutine */ int dsyrkn_(integer *n, integer *k, doublereal *alpha, 
	doublereal *a, integer *lda, doublereal *beta, doublereal *c__, 
	integer *ldc)
{
    /* System generated locals */
    integer a_dim1, a_offset, c_dim1, c_offset, i__1, i__2, i__3;

    /* Local variables */
    static integer i__, j, l;
    static doublereal temp;

/*     C := ALPHA*A*A' + BETA*C, UPPER TRIANGLE */
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    c_dim1 = *ldc;
    c_offset = 1 + c_dim1;
    c__ -= c_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 512; param k = 512; param lda = 512; param ldc = 512; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	if (*beta == 0.) {
	    i__2 = j;
	    for (i__ = 1; i__ <= i__2; ++i__) {
		c__[i__ + j * c_dim1] = 0.;
/* L90: */
	    }
	} else if (*beta != 1.) {
	    i__2 = j;
	    for (i__ = 1; i__ <= i__2; ++i__) {
		c__[i__ + j * c_dim1] = *beta * c__[i__ + j * c_dim1];
/* L100: */
	    }
	}
	i__2 = *k;
	for (l = 1; l <= i__2; ++l) {
	    if (a[j + l * a_dim1] != 0.) {
		temp = *alpha * a[j + l * a_dim1];
		i__3 = j;
		for (i__ = 1; i__ <= i__3; ++i__) {
		    c__[i__ + j * c_dim1] += temp * a[i__ + l * a_dim1];
/* L110: */
		}
	    }
/* L120: */
	}
/* L130: */
    }
    /*@ end @*/
    return 0;
} /* dsyrkn_ */

/* Subroutine */ int dsyrkt_(integer *n, integer *k, doublereal *alpha, 
	doublereal *a, integer *lda, doublereal *beta, doublereal *c__, 
	integer *ldc)
{
    /* System generated locals */
    integer a_dim1, a_offset, c_dim1, c_offset, i__1, i__2, i__3;

    /* Local variables */
    static integer i__, j, l;
    static doublereal temp;
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    c_dim1 = *ldc;
    c_offset = 1 + c_dim1;
    c__ -= c_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 512; param k = 512; param lda = 512; param ldc = 512; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	i__2 = *n;
	for (i__ = j; i__ <= i__2; ++i__) {
	    temp = 0.;
	    i__3 = *k;
	    for (l = 1; l <= i__3; ++l) {
		temp += a[l + i__ * a_dim1] * a[l + j * a_dim1];
/* L220: */
	    }
	    if (*beta == 0.) {
		c__[i__ + j * c_dim1] = *alpha * temp;
	    } else {
		c__[i__ + j * c_dim1] = *alpha * temp + *beta * c__[i__ + j * 
			c_dim1];
	    }
/* L230: */
	}
/* L240: */
    }
    /*@ end @*/
    return 0;
} /* dsyrkt_ */

/* Subroutine */ int dsyr2k_(integer *n, integer *k, doublereal *alpha, 
	doublereal *a, integer *lda, doublereal *b, integer *ldb, doublereal *
	c__, integer *ldc)
{
    /* System generated locals */
    integer a_dim1, a_offset, b_dim1, b_offset, c_dim1, c_offset, i__1, i__2, 
	    i__3;

    /* Local variables */
    static integer i__, j, l;
    static doublereal temp1, temp2;
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
    /*@ begin PerfTuning ( def input_params { param n = 512; param k = 512; param lda = 512; param ldb = 512; param ldc = 512; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	i__2 = *k;
	for (l = 1; l <= i__2; ++l) {
	    if (a[j + l * a_dim1] != 0. || b[j + l * b_dim1] != 0.) {
		temp1 = *alpha * b[j + l * b_dim1];
		temp2 = *alpha * a[j + l * a_dim1];
		i__3 = j;
		for (i__ = 1; i__ <= i__3; ++i__) {
		    c__[i__ + j * c_dim1] = c__[i__ + j * c_dim1] + a[i__ + l 
			    * a_dim1] * temp1 + b[i__ + l * b_dim1] * temp2;
/* L110: */
		}
	    }
/* L120: */
	}
/* L130: */
    }
    /*@ end @*/
    return 0;
} /* dsyr2k_ */

/* Subroutine */ int dsr2kt_(integer *n, integer *k, doublereal *alpha, 
	doublereal *a, integer *lda, doublereal *b, integer *ldb, doublereal *
	beta, doublereal *c__, integer *ldc)
{
    /* System generated locals */
    integer a_dim1, a_offset, b_dim1, b_offset, c_dim1, c_offset, i__1, i__2, 
	    i__3;

    /* Local variables */
    static integer i__, j, l;
    static doublereal temp1, temp2;
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
    /*@ begin PerfTuning ( def input_params { param n = 512; param k = 512; param lda = 512; param ldb = 512; param ldc = 512; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	i__2 = j;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    temp1 = 0.;
	    temp2 = 0.;
	    i__3 = *k;
	    for (l = 1; l <= i__3; ++l) {
		temp1 += a[l + i__ * a_dim1] * b[l + j * b_dim1];
		temp2 += b[l + i__ * b_dim1] * a[l + j * a_dim1];
/* L190: */
	    }
	    if (*beta == 0.) {
		c__[i__ + j * c_dim1] = *alpha * temp1 + *alpha * temp2;
	    } else {
		c__[i__ + j * c_dim1] = *beta * c__[i__ + j * c_dim1] + *
			alpha * temp1 + *alpha * temp2;
	    }
/* L200: */
	}
/* L210: */
    }
    /*@ end @*/
    return 0;
} /* dsr2kt_ */

/* Subroutine */ int dtrmlu_(integer *m, integer *n, doublereal *alpha, 
	doublereal *a, integer *lda, doublereal *b, integer *ldb, logical *
	nounit)
{
    /* System generated locals */
    integer a_dim1, a_offset, b_dim1, b_offset, i__1, i__2, i__3;

    /* Local variables */
    static integer i__, j, k;
    static doublereal temp;

/*     B := ALPHA*A*B, A UPPER TRIANGULAR, IN PLACE */
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    b_dim1 = *ldb;
    b_offset = 1 + b_dim1;
    b -= b_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param m = 512; param n = 512; param lda = 512; param ldb = 512; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	i__2 = *m;
	for (k = 1; k <= i__2; ++k) {
	    if (b[k + j * b_dim1] != 0.) {
		temp = *alpha * b[k + j * b_dim1];
		i__3 = k - 1;
		for (i__ = 1; i__ <= i__3; ++i__) {
		    b[i__ + j * b_dim1] += temp * a[i__ + k * a_dim1];
/* L30: */
		}
		if (*nounit) {
		    temp *= a[k + k * a_dim1];
		}
		b[k + j * b_dim1] = temp;
	    }
/* L40: */
	}
/* L50: */
    }
    /*@ end @*/
    return 0;
} /* dtrmlu_ */

/* Subroutine */ int dtrmlt_(integer *m, integer *n, doublereal *alpha, 
	doublereal *a, integer *lda, doublereal *b, integer *ldb, logical *
	nounit)
{
    /* System generated locals */
    integer a_dim1, a_offset, b_dim1, b_offset, i__1, i__2;

    /* Local variables */
    static integer i__, j, k;
    static doublereal temp;
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    b_dim1 = *ldb;
    b_offset = 1 + b_dim1;
    b -= b_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param m = 512; param n = 512; param lda = 512; param ldb = 512; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	for (i__ = *m; i__ >= 1; --i__) {
	    temp = b[i__ + j * b_dim1];
	    if (*nounit) {
		temp *= a[i__ + i__ * a_dim1];
	    }
	    i__2 = i__ - 1;
	    for (k = 1; k <= i__2; ++k) {
		temp += a[k + i__ * a_dim1] * b[k + j * b_dim1];
/* L90: */
	    }
	    b[i__ + j * b_dim1] = *alpha * temp;
/* L100: */
	}
/* L110: */
    }
    /*@ end @*/
    return 0;
} /* dtrmlt_ */

/* Subroutine */ int dtrmru_(integer *m, integer *n, doublereal *alpha, 
	doublereal *a, integer *lda, doublereal *b, integer *ldb, logical *
	nounit)
{
    /* System generated locals */
    integer a_dim1, a_offset, b_dim1, b_offset, i__1, i__2;

    /* Local variables */
    static integer i__, j, k;
    static doublereal temp;

/*     B := ALPHA*B*A: THE COLUMNS FROM THE LAST ONE DOWN */
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    b_dim1 = *ldb;
    b_offset = 1 + b_dim1;
    b -= b_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param m = 512; param n = 512; param lda = 512; param ldb = 512; } ) @*/
    for (j = *n; j >= 1; --j) {
	temp = *alpha;
	if (*nounit) {
	    temp *= a[j + j * a_dim1];
	}
	i__1 = *m;
	for (i__ = 1; i__ <= i__1; ++i__) {
	    b[i__ + j * b_dim1] = temp * b[i__ + j * b_dim1];
/* L170: */
	}
	i__1 = j - 1;
	for (k = 1; k <= i__1; ++k) {
	    if (a[k + j * a_dim1] != 0.) {
		temp = *alpha * a[k + j * a_dim1];
		i__2 = *m;
		for (i__ = 1; i__ <= i__2; ++i__) {
		    b[i__ + j * b_dim1] += temp * b[i__ + k * b_dim1];
/* L180: */
		}
	    }
/* L190: */
	}
/* L200: */
    }
    /*@ end @*/
    return 0;
} /* dtrmru_ */

/* Subroutine */ int dtrslu_(integer *m, integer *n, doublereal *alpha, 
	doublereal *a, integer *lda, doublereal *b, integer *ldb, logical *
	nounit)
{
    /* System generated locals */
    integer a_dim1, a_offset, b_dim1, b_offset, i__1, i__2;

    /* Local variables */
    static integer i__, j, k;

/*     B := ALPHA*INV(A)*B */
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    b_dim1 = *ldb;
    b_offset = 1 + b_dim1;
    b -= b_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param m = 512; param n = 512; param lda = 512; param ldb = 512; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	if (*alpha != 1.) {
	    i__2 = *m;
	    for (i__ = 1; i__ <= i__2; ++i__) {
		b[i__ + j * b_dim1] = *alpha * b[i__ + j * b_dim1];
/* L30: */
	    }
	}
	for (k = *m; k >= 1; --k) {
	    if (b[k + j * b_dim1] != 0.) {
		if (*nounit) {
		    b[k + j * b_dim1] /= a[k + k * a_dim1];
		}
		i__2 = k - 1;
		for (i__ = 1; i__ <= i__2; ++i__) {
		    b[i__ + j * b_dim1] -= b[k + j * b_dim1] * a[i__ + k * 
			    a_dim1];
/* L40: */
		}
	    }
/* L50: */
	}
/* L60: */
    }
    /*@ end @*/
    return 0;
} /* dtrslu_ */

/* Subroutine */ int dtrslt_(integer *m, integer *n, doublereal *alpha, 
	doublereal *a, integer *lda, doublereal *b, integer *ldb, logical *
	nounit)
{
    /* System generated locals */
    integer a_dim1, a_offset, b_dim1, b_offset, i__1, i__2, i__3;

    /* Local variables */
    static integer i__, j, k;
    static doublereal temp;
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    b_dim1 = *ldb;
    b_offset = 1 + b_dim1;
    b -= b_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param m = 512; param n = 512; param lda = 512; param ldb = 512; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	i__2 = *m;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    temp = *alpha * b[i__ + j * b_dim1];
	    i__3 = i__ - 1;
	    for (k = 1; k <= i__3; ++k) {
		temp -= a[k + i__ * a_dim1] * b[k + j * b_dim1];
/* L110: */
	    }
	    if (*nounit) {
		temp /= a[i__ + i__ * a_dim1];
	    }
	    b[i__ + j * b_dim1] = temp;
/* L120: */
	}
/* L130: */
    }
    /*@ end @*/
    return 0;
} /* dtrslt_ */

/* Subroutine */ int dtrsru_(integer *m, integer *n, doublereal *alpha, 
	doublereal *a, integer *lda, doublereal *b, integer *ldb, logical *
	nounit)
{
    /* System generated locals */
    integer a_dim1, a_offset, b_dim1, b_offset, i__1, i__2, i__3;

    /* Local variables */
    static integer i__, j, k;
    static doublereal temp;

/*     B := ALPHA*B*INV(A) */
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    b_dim1 = *ldb;
    b_offset = 1 + b_dim1;
    b -= b_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param m = 512; param n = 512; param lda = 512; param ldb = 512; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	if (*alpha != 1.) {
	    i__2 = *m;
	    for (i__ = 1; i__ <= i__2; ++i__) {
		b[i__ + j * b_dim1] = *alpha * b[i__ + j * b_dim1];
/* L170: */
	    }
	}
	i__2 = j - 1;
	for (k = 1; k <= i__2; ++k) {
	    if (a[k + j * a_dim1] != 0.) {
		i__3 = *m;
		for (i__ = 1; i__ <= i__3; ++i__) {
		    b[i__ + j * b_dim1] -= a[k + j * a_dim1] * b[i__ + k * 
			    b_dim1];
/* L180: */
		}
	    }
/* L190: */
	}
	if (*nounit) {
	    temp = 1. / a[j + j * a_dim1];
	    i__2 = *m;
	    for (i__ = 1; i__ <= i__2; ++i__) {
		b[i__ + j * b_dim1] = temp * b[i__ + j * b_dim1];
/* L200: */
	    }
	}
/* L210: */
    }
    /*@ end @*/
    return 0;
} /* dtrsru_ */

