#include "f2c.h"

/* Subroutine */ int dgefa1_(doublereal *a, integer *lda, integer *n, integer 
	*ipvt)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2, i__3;

    /* Local variables */
    static integer i__, j, k, l;
    static doublereal t;
    static integer kp1, nm1;

/*     GAUSSIAN ELIMINATION, BY COLUMNS, WITH ITS BLAS WRITTEN OUT */
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    --ipvt;

    /* Function Body */
    nm1 = *n - 1;
    /*@ begin PerfTuning ( def input_params { param n = 512; param lda = 512; } ) @*/
    i__1 = nm1;
    for (k = 1; k <= i__1; ++k) {
	kp1 = k + 1;
	l = ipvt[k];
	t = a[l + k * a_dim1];
	a[l + k * a_dim1] = a[k + k * a_dim1];
	a[k + k * a_dim1] = t;
	t = -1. / a[k + k * a_dim1];
	i__2 = *n;
	for (i__ = kp1; i__ <= i__2; ++i__) {
	    a[i__ + k * a_dim1] = t * a[i__ + k * a_dim1];
/* L10: */
	}
	i__2 = *n;
	for (j = kp1; j <= i__2; ++j) {
	    t = a[l + j * a_dim1];
	    if (l == k) {
		goto L30;
	    }
	    a[l + j * a_dim1] = a[k + j * a_dim1];
	    a[k + j * a_dim1] = t;
L30:
	    i__3 = *n;
	    for (i__ = kp1; i__ <= i__3; ++i__) {
		a[i__ + j * a_dim1] += t * a[i__ + k * a_dim1];
/* L40: */
	    }
/* L50: */
	}
/* L60: */
    }
    /*@ end @*/
    return 0;
} /* dgefa1_ */

/* Subroutine */ int dgefau_(doublereal *a, integer *lda, integer *n, integer 
	*k)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2;

    /* Local variables */
    static integer i__, j;
    static doublereal t;
    static integer kp1;

/*     ONE STEP'S UPDATE OF THE TRAILING COLUMNS */
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;

    /* Function Body */
    kp1 = *k + 1;
    /*@ begin PerfTuning ( def input_params { param n = 2048; param lda = 2048; param k = 1; } ) @*/
    i__1 = *n;
    for (j = kp1; j <= i__1; ++j) {
	t = a[*k + j * a_dim1];
	i__2 = *n;
	for (i__ = kp1; i__ <= i__2; ++i__) {
	    a[i__ + j * a_dim1] += t * a[i__ + *k * a_dim1];
/* L40: */
	}
/* L50: */
    }
    /*@ end @*/
    return 0;
} /* dgefau_ */

/* Subroutine */ int dgeslf_(doublereal *a, integer *lda, integer *n, integer 
	*ipvt, doublereal *b)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2;

    /* Local variables */
    static integer i__, k, l;
    static doublereal t;
    static integer nm1;

/*     FORWARD ELIMINATION OF A RIGHT HAND SIDE */
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    --ipvt;
    --b;

    /* Function Body */
    nm1 = *n - 1;
    /*@ begin PerfTuning ( def input_params { param n = 1024; param lda = 1024; } ) @*/
    i__1 = nm1;
    for (k = 1; k <= i__1; ++k) {
	l = ipvt[k];
	t = b[l];
	if (l == k) {
	    goto L10;
	}
	b[l] = b[k];
	b[k] = t;
L10:
	i__2 = *n;
	for (i__ = k + 1; i__ <= i__2; ++i__) {
	    b[i__] += t * a[i__ + k * a_dim1];
/* L15: */
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* dgeslf_ */

/* Subroutine */ int dgeslb_(doublereal *a, integer *lda, integer *n, 
	doublereal *b)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2;

    /* Local variables */
    static integer i__, k;
    static doublereal t;
    static integer kb;

/*     BACK SUBSTITUTION: THE LOOP COUNTS UP, THE COLUMN DOWN */
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    --b;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 1024; param lda = 1024; } ) @*/
    i__1 = *n;
    for (kb = 1; kb <= i__1; ++kb) {
	k = *n + 1 - kb;
	b[k] /= a[k + k * a_dim1];
	t = -b[k];
	i__2 = k - 1;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    b[i__] += t * a[i__ + k * a_dim1];
/* L30: */
	}
/* L40: */
    }
    /*@ end @*/
    return 0;
} /* dgeslb_ */

/* Subroutine */ int dpofa1_(doublereal *a, integer *lda, integer *n)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2, i__3;

    /* Builtin functions */
    double sqrt(doublereal);

    /* Local variables */
    static integer i__, j, k;
    static doublereal s, t;
    static integer jm1;

/*     CHOLESKY BY COLUMNS OF THE UPPER TRIANGLE */
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 512; param lda = 512; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	s = 0.;
	jm1 = j - 1;
	i__2 = jm1;
	for (k = 1; k <= i__2; ++k) {
	    t = a[k + j * a_dim1];
	    i__3 = k - 1;
	    for (i__ = 1; i__ <= i__3; ++i__) {
		t -= a[i__ + k * a_dim1] * a[i__ + j * a_dim1];
/* L5: */
	    }
	    t /= a[k + k * a_dim1];
	    a[k + j * a_dim1] = t;
	    s += t * t;
/* L10: */
	}
	s = a[j + j * a_dim1] - s;
	a[j + j * a_dim1] = sqrt(s);
/* L30: */
    }
    /*@ end @*/
    return 0;
} /* dpofa1_ */

/* Subroutine */ int dqrdcu_(doublereal *x, integer *ldx, integer *n, integer 
	*p, integer *l)
{
    /* System generated locals */
    integer x_dim1, x_offset, i__1, i__2;

    /* Local variables */
    static integer i__, j;
    static doublereal t;

/*     A HOUSEHOLDER COLUMN APPLIED TO THOSE BEHIND IT */
    /* Parameter adjustments */
    x_dim1 = *ldx;
    x_offset = 1 + x_dim1;
    x -= x_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 1024; param p = 1024; param ldx = 1024; param l = 1; } ) @*/
    i__1 = *p;
    for (j = *l + 1; j <= i__1; ++j) {
	t = 0.;
	i__2 = *n;
	for (i__ = *l; i__ <= i__2; ++i__) {
	    t -= x[i__ + *l * x_dim1] * x[i__ + j * x_dim1];
/* L140: */
	}
	t /= x[*l + *l * x_dim1];
	i__2 = *n;
	for (i__ = *l; i__ <= i__2; ++i__) {
	    x[i__ + j * x_dim1] += t * x[i__ + *l * x_dim1];
/* L150: */
	}
/* L160: */
    }
    /*@ end @*/
    return 0;
} /* dqrdcu_ */

/* Subroutine */ int dqrdcn_(doublereal *x, integer *ldx, integer *n, integer 
	*p, integer *l, doublereal *qraux, doublereal *work)
{
    /* System generated locals */
    integer x_dim1, x_offset, i__1, i__2;
    doublereal d__1, d__2;

    /* Builtin functions */
    double sqrt(doublereal);

    /* Local variables */
    static integer i__, j;
    static doublereal t, tt;

/*     THE SAME WITH THE NORMS OF THE REMAINING COLUMNS KEPT */
    /* Parameter adjustments */
    x_dim1 = *ldx;
    x_offset = 1 + x_dim1;
    x -= x_offset;
    --qraux;
    --work;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 1024; param p = 1024; param ldx = 1024; param l = 1; } ) @*/
    i__1 = *p;
    for (j = *l + 1; j <= i__1; ++j) {
	t = 0.;
	i__2 = *n;
	for (i__ = *l; i__ <= i__2; ++i__) {
	    t -= x[i__ + *l * x_dim1] * x[i__ + j * x_dim1];
/* L140: */
	}
	t /= x[*l + *l * x_dim1];
	i__2 = *n;
	for (i__ = *l; i__ <= i__2; ++i__) {
	    x[i__ + j * x_dim1] += t * x[i__ + *l * x_dim1];
/* L150: */
	}
	if (qraux[j] == 0.) {
	    goto L160;
	}
/* Computing 2nd power */
	d__2 = (d__1 = x[*l + j * x_dim1], abs(d__1)) / qraux[j];
	tt = 1. - d__2 * d__2;
	tt = max(tt,0.);
	t = tt;
/* Computing 2nd power */
	d__1 = qraux[j] / work[j];
	tt = tt * .05 * (d__1 * d__1) + 1.;
	if (tt == 1.) {
	    goto L160;
	}
	qraux[j] *= sqrt(t);
L160:
	;
    }
    /*@ end @*/
    return 0;
} /* dqrdcn_ */

/* Subroutine */ int dgbfau_(doublereal *abd, integer *lda, integer *n, 
	integer *k, integer *ju, integer *lm, integer *m)
{
    /* System generated locals */
    integer abd_dim1, abd_offset, i__1, i__2;

    /* Local variables */
    static integer i__, j;
    static doublereal t;
    static integer mm;

/*     A STEP OF THE BAND FACTORISATION: THE DIAGONAL MOVES UP EACH COLUMN */
    /* Parameter adjustments */
    abd_dim1 = *lda;
    abd_offset = 1 + abd_dim1;
    abd -= abd_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 4096; param lda = 64; param k = 1; param ju = 32; param lm = 24; param m = 33; } ) @*/
    mm = *m;
    i__1 = *ju;
    for (j = *k + 1; j <= i__1; ++j) {
	--mm;
	t = abd[mm + j * abd_dim1];
	i__2 = *lm;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    abd[mm + i__ + j * abd_dim1] += t * abd[*m + i__ + *k * abd_dim1];
/* L70: */
	}
/* L80: */
    }
    /*@ end @*/
    return 0;
} /* dgbfau_ */

/* Subroutine */ int dgtsl1_(integer *n, doublereal *c__, doublereal *d__, 
	doublereal *e, doublereal *b)
{
    /* System generated locals */
    integer i__1;

    /* Local variables */
    static integer i__, k;
    static doublereal t;

/*     TRIDIAGONAL, WITHOUT PIVOTS */
    /* Parameter adjustments */
    --b;
    --e;
    --d__;
    --c__;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 100000; } ) @*/
    i__1 = *n;
    for (k = 2; k <= i__1; ++k) {
	t = c__[k] / d__[k - 1];
	d__[k] -= t * e[k - 1];
	b[k] -= t * b[k - 1];
/* L10: */
    }
    b[*n] /= d__[*n];
    for (i__ = *n - 1; i__ >= 1; --i__) {
	b[i__] = (b[i__] - e[i__] * b[i__ + 1]) / d__[i__];
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* dgtsl1_ */

/* Subroutine */ int dgtslm_(integer *n, integer *m, integer *ldb, doublereal 
	*c__, doublereal *d__, doublereal *e, doublereal *b)
{
    /* System generated locals */
    integer b_dim1, b_offset, i__1, i__2;

    /* Local variables */
    static integer i__, j;
    static doublereal t;

/*     MANY RIGHT HAND SIDES, THE SYSTEMS INNERMOST */
    /* Parameter adjustments */
    b_dim1 = *ldb;
    b_offset = 1 + b_dim1;
    b -= b_offset;
    --c__;
    --d__;
    --e;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 256; param m = 4096; param ldb = 4096; } ) @*/
    i__1 = *n;
    for (j = 2; j <= i__1; ++j) {
	t = c__[j] / d__[j - 1];
	d__[j] -= t * e[j - 1];
	i__2 = *m;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    b[i__ + j * b_dim1] -= t * b[i__ + (j - 1) * b_dim1];
/* L10: */
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* dgtslm_ */

