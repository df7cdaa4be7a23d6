#include "f2c.h"

/* Subroutine */ int dgetf2_(integer *m, integer *n, doublereal *a, integer *
	lda, integer *ipiv)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2, i__3;

    /* Local variables */
    integer i__, j, k, l, jp;
    doublereal temp;

/*     UNBLOCKED LU, RIGHT-LOOKING, THE PIVOTS GIVEN */
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    --ipiv;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param m = 512; param n = 512; param lda = 512; } ) @*/
    i__1 = min(*m,*n);
    for (j = 1; j <= i__1; ++j) {
	jp = ipiv[j];
	if (a[jp + j * a_dim1] != 0.) {
	    if (jp != j) {
		i__2 = *n;
		for (l = 1; l <= i__2; ++l) {
		    temp = a[j + l * a_dim1];
		    a[j + l * a_dim1] = a[jp + l * a_dim1];
		    a[jp + l * a_dim1] = temp;
/* L10: */
		}
	    }
	    i__2 = *m;
	    for (i__ = j + 1; i__ <= i__2; ++i__) {
		a[i__ + j * a_dim1] /= a[j + j * a_dim1];
/* L20: */
	    }
	}
	i__2 = *n;
	for (k = j + 1; k <= i__2; ++k) {
	    i__3 = *m;
	    for (i__ = j + 1; i__ <= i__3; ++i__) {
		a[i__ + k * a_dim1] -= a[i__ + j * a_dim1] * a[j + k * a_dim1]
			;
/* L30: */
	    }
/* L40: */
	}
/* L50: */
    }
    /*@ end @*/
    return 0;
} /* dgetf2_ */

/* Subroutine */ int dgetfn_(integer *n, doublereal *a, integer *lda)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2, i__3;

    /* Local variables */
    integer i__, j, k;

/*     THE SAME WITHOUT PIVOTS */
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 512; param lda = 512; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	i__2 = *n;
	for (i__ = j + 1; i__ <= i__2; ++i__) {
	    a[i__ + j * a_dim1] /= a[j + j * a_dim1];
/* L20: */
	}
	i__2 = *n;
	for (k = j + 1; k <= i__2; ++k) {
	    i__3 = *n;
	    for (i__ = j + 1; i__ <= i__3; ++i__) {
		a[i__ + k * a_dim1] -= a[i__ + j * a_dim1] * a[j + k * a_dim1]
			;
/* L30: */
	    }
/* L40: */
	}
/* L50: */
    }
    /*@ end @*/
    return 0;
} /* dgetfn_ */

/* Subroutine */ int dpotf2_(integer *n, doublereal *a, integer *lda)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2, i__3;

    /* Builtin functions */
    double sqrt(doublereal);

    /* Local variables */
    integer i__, j, k;
    doublereal ajj;

/*     CHOLESKY, LOWER TRIANGLE */
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 512; param lda = 512; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	ajj = a[j + j * a_dim1];
	i__2 = j - 1;
	for (k = 1; k <= i__2; ++k) {
	    ajj -= a[j + k * a_dim1] * a[j + k * a_dim1];
/* L5: */
	}
	ajj = sqrt(ajj);
	a[j + j * a_dim1] = ajj;
	i__2 = j - 1;
	for (k = 1; k <= i__2; ++k) {
	    i__3 = *n;
	    for (i__ = j + 1; i__ <= i__3; ++i__) {
		a[i__ + j * a_dim1] -= a[i__ + k * a_dim1] * a[j + k * a_dim1]
			;
/* L10: */
	    }
/* L12: */
	}
	i__2 = *n;
	for (i__ = j + 1; i__ <= i__2; ++i__) {
	    a[i__ + j * a_dim1] /= ajj;
/* L15: */
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* dpotf2_ */

/* Subroutine */ int dlarfg_(integer *n, doublereal *alpha, doublereal *x, 
	integer *incx, doublereal *xnorm, doublereal *beta, doublereal *tau)
{
    /* System generated locals */
    integer i__1, i__2;
    doublereal d__1, d__2;

    /* Builtin functions */
    double sqrt(doublereal), d_sign(doublereal *, doublereal *);

    /* Local variables */
    doublereal t;
    integer ix;

/*     SCALING OF A HOUSEHOLDER VECTOR */
    /* Parameter adjustments */
    --x;

    /* Function Body */
/* Computing 2nd power */
    d__1 = *alpha;
/* Computing 2nd power */
    d__2 = *xnorm;
    t = sqrt(d__1 * d__1 + d__2 * d__2);
    *beta = -d_sign(&t, alpha);
    *tau = (*beta - *alpha) / *beta;
    t = 1. / (*alpha - *beta);
    /*@ begin PerfTuning ( def input_params { param n = 100000; param incx = 1; } ) @*/
    i__1 = (*n - 2) * *incx + 1;
    i__2 = *incx;
    for (ix = 1; i__2 < 0 ? ix >= i__1 : ix <= i__1; ix += i__2) {
	x[ix] = t * x[ix];
/* L10: */
    }
    /*@ end @*/
    *alpha = *beta;
    return 0;
} /* dlarfg_ */

/* Subroutine */ int dlarfl_(integer *m, integer *n, doublereal *v, 
	doublereal *tau, doublereal *c__, integer *ldc, doublereal *work)
{
    /* System generated locals */
    integer c_dim1, c_offset, i__1, i__2;

    /* Local variables */
    integer i__, j;

/*     A REFLECTOR FROM THE LEFT */
    /* Parameter adjustments */
    --v;
    c_dim1 = *ldc;
    c_offset = 1 + c_dim1;
    c__ -= c_offset;
    --work;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param m = 1024; param n = 1024; param ldc = 1024; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	work[j] = 0.;
	i__2 = *m;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    work[j] += c__[i__ + j * c_dim1] * v[i__];
/* L10: */
	}
/* L20: */
    }
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	i__2 = *m;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    c__[i__ + j * c_dim1] -= *tau * v[i__] * work[j];
/* L30: */
	}
/* L40: */
    }
    /*@ end @*/
    return 0;
} /* dlarfl_ */

/* Subroutine */ int dlasrl_(integer *m, integer *n, doublereal *c__, 
	doublereal *s, doublereal *a, integer *lda)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2;

    /* Local variables */
    integer i__, j;
    doublereal temp, ctemp, stemp;

/*     ROTATIONS OF NEIGHBOURING ROWS, FROM THE FIRST TO THE LAST */
    /* Parameter adjustments */
    --c__;
    --s;
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param m = 512; param n = 512; param lda = 512; } ) @*/
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
/* L10: */
	    }
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* dlasrl_ */

/* Subroutine */ int dlasrb_(integer *m, integer *n, doublereal *c__, 
	doublereal *s, doublereal *a, integer *lda)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1;

    /* Local variables */
    integer i__, j;
    doublereal temp, ctemp, stemp;

/*     FROM THE RIGHT, BACKWARDS, AGAINST THE LAST COLUMN */
    /* Parameter adjustments */
    --c__;
    --s;
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param m = 512; param n = 512; param lda = 512; } ) @*/
    for (j = *n - 1; j >= 1; --j) {
	ctemp = c__[j];
	stemp = s[j];
	if (ctemp != 1. || stemp != 0.) {
	    i__1 = *m;
	    for (i__ = 1; i__ <= i__1; ++i__) {
		temp = a[i__ + j * a_dim1];
		a[i__ + j * a_dim1] = stemp * a[i__ + *n * a_dim1] + ctemp * 
			temp;
		a[i__ + *n * a_dim1] = ctemp * a[i__ + *n * a_dim1] - stemp * 
			temp;
/* L230: */
	    }
	}
/* L240: */
    }
    /*@ end @*/
    return 0;
} /* dlasrb_ */

/* Subroutine */ int dlacpu_(integer *m, integer *n, doublereal *a, integer *
	lda, doublereal *b, integer *ldb)
{
    /* System generated locals */
    integer a_dim1, a_offset, b_dim1, b_offset, i__1, i__2;

    /* Local variables */
    integer i__, j;
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    b_dim1 = *ldb;
    b_offset = 1 + b_dim1;
    b -= b_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param m = 2048; param n = 2048; param lda = 2048; param ldb = 2048; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	i__2 = min(j,*m);
	for (i__ = 1; i__ <= i__2; ++i__) {
	    b[i__ + j * b_dim1] = a[i__ + j * a_dim1];
/* L10: */
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* dlacpu_ */

/* Subroutine */ int dlaset_(integer *m, integer *n, doublereal *alpha, 
	doublereal *beta, doublereal *a, integer *lda)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2, i__3;

    /* Local variables */
    integer i__, j;
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param m = 2048; param n = 2048; param lda = 2048; } ) @*/
    i__1 = *n;
    for (j = 2; j <= i__1; ++j) {
/* Computing MIN */
	i__3 = j - 1;
	i__2 = min(i__3,*m);
	for (i__ = 1; i__ <= i__2; ++i__) {
	    a[i__ + j * a_dim1] = *alpha;
/* L10: */
	}
/* L20: */
    }
    i__1 = min(*m,*n);
    for (i__ = 1; i__ <= i__1; ++i__) {
	a[i__ + i__ * a_dim1] = *beta;
/* L30: */
    }
    /*@ end @*/
    return 0;
} /* dlaset_ */

doublereal dlangm_(integer *m, integer *n, doublereal *a, integer *lda)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2;
    doublereal ret_val, d__1, d__2, d__3;

    /* Local variables */
    integer i__, j;
    doublereal value;

/*     THE LARGEST MAGNITUDE */
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;

    /* Function Body */
    value = 0.;
    /*@ begin PerfTuning ( def input_params { param m = 2048; param n = 2048; param lda = 2048; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	i__2 = *m;
	for (i__ = 1; i__ <= i__2; ++i__) {
/* Computing MAX */
	    d__2 = value, d__3 = (d__1 = a[i__ + j * a_dim1], abs(d__1));
	    value = max(d__2,d__3);
/* L10: */
	}
/* L20: */
    }
    /*@ end @*/
    ret_val = value;
    return ret_val;
} /* dlangm_ */

doublereal dlang1_(integer *m, integer *n, doublereal *a, integer *lda)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2;
    doublereal ret_val, d__1;

    /* Local variables */
    integer i__, j;
    doublereal sum, value;

/*     THE LARGEST SUM OF A COLUMN */
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;

    /* Function Body */
    value = 0.;
    /*@ begin PerfTuning ( def input_params { param m = 2048; param n = 2048; param lda = 2048; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	sum = 0.;
	i__2 = *m;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    sum += (d__1 = a[i__ + j * a_dim1], abs(d__1));
/* L30: */
	}
	value = max(value,sum);
/* L40: */
    }
    /*@ end @*/
    ret_val = value;
    return ret_val;
} /* dlang1_ */

/* Subroutine */ int dlangi_(integer *m, integer *n, doublereal *a, integer *
	lda, doublereal *work, doublereal *value)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2;
    doublereal d__1, d__2;

    /* Local variables */
    integer i__, j;

/*     THE LARGEST SUM OF A ROW */
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    --work;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param m = 2048; param n = 2048; param lda = 2048; } ) @*/
    i__1 = *m;
    for (i__ = 1; i__ <= i__1; ++i__) {
	work[i__] = 0.;
/* L50: */
    }
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	i__2 = *m;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    work[i__] += (d__1 = a[i__ + j * a_dim1], abs(d__1));
/* L60: */
	}
/* L70: */
    }
    *value = 0.;
    i__1 = *m;
    for (i__ = 1; i__ <= i__1; ++i__) {
/* Computing MAX */
	d__1 = *value, d__2 = work[i__];
	*value = max(d__1,d__2);
/* L80: */
    }
    /*@ end @*/
    return 0;
} /* dlangi_ */

/* Subroutine */ int dlaswp_(integer *n, doublereal *a, integer *lda, integer 
	*k1, integer *k2, integer *ipiv)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2;

    /* Local variables */
    integer i__, j, ip;
    doublereal temp;

/*     ROW INTERCHANGES: THE COLUMNS ARE INDEPENDENT */
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    --ipiv;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 2048; param lda = 2048; param k1 = 1; param k2 = 64; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	i__2 = *k2;
	for (i__ = *k1; i__ <= i__2; ++i__) {
	    ip = ipiv[i__];
	    if (ip != i__) {
		temp = a[i__ + j * a_dim1];
		a[i__ + j * a_dim1] = a[ip + j * a_dim1];
		a[ip + j * a_dim1] = temp;
	    }
/* L10: */
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* dlaswp_ */

/* Subroutine */ int dptts2_(integer *n, integer *nrhs, doublereal *d__, 
	doublereal *e, doublereal *b, integer *ldb)
{
    /* System generated locals */
    integer b_dim1, b_offset, i__1, i__2;

    /* Local variables */
    integer i__, j;
    /* Parameter adjustments */
    --d__;
    --e;
    b_dim1 = *ldb;
    b_offset = 1 + b_dim1;
    b -= b_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 512; param nrhs = 4096; param ldb = 512; } ) @*/
    i__1 = *nrhs;
    for (j = 1; j <= i__1; ++j) {
	i__2 = *n;
	for (i__ = 2; i__ <= i__2; ++i__) {
	    b[i__ + j * b_dim1] -= b[i__ - 1 + j * b_dim1] * e[i__ - 1];
/* L10: */
	}
	b[*n + j * b_dim1] /= d__[*n];
	for (i__ = *n - 1; i__ >= 1; --i__) {
	    b[i__ + j * b_dim1] = b[i__ + j * b_dim1] / d__[i__] - b[i__ + 1 
		    + j * b_dim1] * e[i__];
/* L20: */
	}
/* L30: */
    }
    /*@ end @*/
    return 0;
} /* dptts2_ */

