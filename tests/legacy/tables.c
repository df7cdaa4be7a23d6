#include "f2c.h"

/* Subroutine */ int tablin_(integer *n, integer *nt, doublereal *x, 
	doublereal *y, doublereal *tab, doublereal *x0, doublereal *rdx)
{
    /* System generated locals */
    integer i__1, i__2, i__3, i__4, i__5;

    /* Local variables */
    static integer i__, k;
    static doublereal r__;

/*     LINEAR INTERPOLATION IN A TABLE OF EQUAL STEPS */
    /* Parameter adjustments */
    --tab;
    --y;
    --x;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 1000000; param nt = 1024; } def assume { arg extent = ['tab[nt]']; } ) @*/
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	r__ = (x[i__] - *x0) * *rdx;
	k = (integer) r__;
/* Computing MAX */
/* Computing MIN */
	i__4 = k, i__5 = *nt - 1;
	i__2 = 1, i__3 = min(i__4,i__5);
	k = max(i__2,i__3);
	r__ -= k;
	y[i__] = tab[k] + r__ * (tab[k + 1] - tab[k]);
/* L10: */
    }
    /*@ end @*/
    return 0;
} /* tablin_ */

/* Subroutine */ int tabbil_(integer *n, integer *nx, integer *ny, doublereal 
	*p, doublereal *t, doublereal *tab, doublereal *y)
{
    /* System generated locals */
    integer tab_dim1, tab_offset, i__1, i__2, i__3, i__4;

    /* Local variables */
    static doublereal a, b;
    static integer i__, kp, kt;

/*     BILINEAR, IN A TABLE OF TWO DIMENSIONS */
    /* Parameter adjustments */
    tab_dim1 = *nx;
    tab_offset = 1 + tab_dim1;
    tab -= tab_offset;
    --p;
    --t;
    --y;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 1000000; param nx = 64; param ny = 64; } ) @*/
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
/* Computing MIN */
/* Computing MAX */
	i__4 = (integer) p[i__];
	i__2 = max(i__4,1), i__3 = *nx - 1;
	kp = min(i__2,i__3);
/* Computing MIN */
/* Computing MAX */
	i__4 = (integer) t[i__];
	i__2 = max(i__4,1), i__3 = *ny - 1;
	kt = min(i__2,i__3);
	a = p[i__] - kp;
	b = t[i__] - kt;
	y[i__] = (1. - a) * (1. - b) * tab[kp + kt * tab_dim1] + a * (1. - b) 
		* tab[kp + 1 + kt * tab_dim1] + (1. - a) * b * tab[kp + (kt + 
		1) * tab_dim1] + a * b * tab[kp + 1 + (kt + 1) * tab_dim1];
/* L10: */
    }
    /*@ end @*/
    return 0;
} /* tabbil_ */

/* Subroutine */ int gather_(integer *n, integer *idx, doublereal *a, 
	doublereal *b)
{
    /* System generated locals */
    integer i__1;

    /* Local variables */
    static integer i__;
    /* Parameter adjustments */
    --b;
    --a;
    --idx;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 1000000; } def assume { arg extent = ['a[n]']; } ) @*/
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	b[i__] = a[idx[i__]];
/* L10: */
    }
    /*@ end @*/
    return 0;
} /* gather_ */

/* Subroutine */ int spmvcr_(integer *n, integer *nnz, integer *ia, integer *
	ja, doublereal *a, doublereal *x, doublereal *y)
{
    /* System generated locals */
    integer i__1, i__2;

    /* Local variables */
    static integer i__, k;
    static doublereal t;

/*     A SPARSE MATRIX BY ROWS TIMES A VECTOR */
    /* Parameter adjustments */
    --y;
    --x;
    --a;
    --ja;
    --ia;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 100000; param nnz = 900000; } ) @*/
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	t = 0.;
	i__2 = ia[i__ + 1] - 1;
	for (k = ia[i__]; k <= i__2; ++k) {
	    t += a[k] * x[ja[k]];
/* L10: */
	}
	y[i__] = t;
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* spmvcr_ */

/* Subroutine */ int spmvel_(integer *n, integer *nz, integer *ld, integer *
	jc, doublereal *a, doublereal *x, doublereal *y)
{
    /* System generated locals */
    integer jc_dim1, jc_offset, a_dim1, a_offset, i__1, i__2;

    /* Local variables */
    static integer i__, j;

/*     ELLPACK: A FIXED NUMBER OF ENTRIES A ROW */
    /* Parameter adjustments */
    a_dim1 = *ld;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    jc_dim1 = *ld;
    jc_offset = 1 + jc_dim1;
    jc -= jc_offset;
    --x;
    --y;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 100000; param nz = 9; param ld = 100000; } def assume { arg extent = ['x[n]']; } ) @*/
    i__1 = *nz;
    for (j = 1; j <= i__1; ++j) {
	i__2 = *n;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    y[i__] += a[i__ + j * a_dim1] * x[jc[i__ + j * jc_dim1]];
/* L10: */
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* spmvel_ */

/* Subroutine */ int histgr_(integer *n, integer *m, integer *ib, integer *
	h__)
{
    /* System generated locals */
    integer i__1;

    /* Local variables */
    static integer i__;

/*     A HISTOGRAM: ADDING AT AN INDEX */
    /* Parameter adjustments */
    --h__;
    --ib;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 1000000; param m = 64; } def assume { arg disjoint = True; } ) @*/
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	++h__[ib[i__]];
/* L10: */
    }
    /*@ end @*/
    return 0;
} /* histgr_ */

/* Subroutine */ int polyev_(integer *n, integer *m, doublereal *x, 
	doublereal *c__, doublereal *y)
{
    /* System generated locals */
    integer i__1;

    /* Local variables */
    static integer i__, j;
    static doublereal p;

/*     HORNER'S RULE AT MANY POINTS */
    /* Parameter adjustments */
    --y;
    --c__;
    --x;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 1000000; param m = 12; } ) @*/
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	p = c__[*m];
	for (j = *m - 1; j >= 1; --j) {
	    p = p * x[i__] + c__[j];
/* L10: */
	}
	y[i__] = p;
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* polyev_ */

/* Subroutine */ int mandel_(integer *n, integer *m, doublereal *cr, 
	doublereal *ci, integer *k)
{
    /* System generated locals */
    integer i__1, i__2, i__3;
    doublereal d__1, d__2;
    doublecomplex z__1, z__2;

    /* Builtin functions */
    double d_imag(doublecomplex *);

    /* Local variables */
    static doublecomplex c__;
    static integer i__, j;
    static doublecomplex z__;

/*     A FIXED NUMBER OF STEPS OF Z*Z + C, COMPLEX */
    /* Parameter adjustments */
    --k;
    --ci;
    --cr;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 100000; param m = 50; } def assume { arg disjoint = True; } ) @*/
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	i__2 = i__;
	i__3 = i__;
	z__1.r = cr[i__2], z__1.i = ci[i__3];
	c__.r = z__1.r, c__.i = z__1.i;
	z__.r = 0., z__.i = 0.;
	k[i__] = 0;
	i__2 = *m;
	for (j = 1; j <= i__2; ++j) {
/* Computing 2nd power */
	    d__1 = z__.r;
/* Computing 2nd power */
	    d__2 = d_imag(&z__);
	    if (d__1 * d__1 + d__2 * d__2 <= 4.) {
		z__2.r = z__.r * z__.r - z__.i * z__.i, z__2.i = z__.r * 
			z__.i + z__.i * z__.r;
		z__1.r = z__2.r + c__.r, z__1.i = z__2.i + c__.i;
		z__.r = z__1.r, z__.i = z__1.i;
		++k[i__];
	    }
/* L10: */
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* mandel_ */

/* Subroutine */ int packlt_(integer *n, doublereal *a, doublereal *ap)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2;

    /* Local variables */
    static integer i__, j, k;

/*     A LOWER TRIANGLE PACKED: ONE COUNTER OVER BOTH LOOPS */
    /* Parameter adjustments */
    a_dim1 = *n;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    --ap;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 2048; } ) @*/
    k = 0;
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	i__2 = *n;
	for (i__ = j; i__ <= i__2; ++i__) {
	    ++k;
	    ap[k] = a[i__ + j * a_dim1];
/* L10: */
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* packlt_ */

/* Subroutine */ int splevl_(integer *n, integer *m, doublereal *x, 
	doublereal *t, doublereal *c__, doublereal *y)
{
    /* System generated locals */
    integer i__1, i__2, i__3, i__4;

    /* Builtin functions */
    integer i_dnnt(doublereal *);

    /* Local variables */
    static integer i__, k;
    static doublereal s;

/*     SPLINES OF DEGREE TWO BETWEEN EQUAL KNOTS, NEAREST INTEGERS */
    /* Parameter adjustments */
    --y;
    --c__;
    --t;
    --x;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 1000000; param m = 100; } def assume { arg extent = ['c__[m]', 't[m]']; } ) @*/
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
/* Computing MIN */
/* Computing MAX */
	i__4 = i_dnnt(&x[i__]);
	i__2 = max(i__4,2), i__3 = *m - 1;
	k = min(i__2,i__3);
	s = x[i__] - t[k];
	y[i__] = c__[k] + s * .5 * (c__[k + 1] - c__[k - 1]) + s * .5 * s * (
		c__[k + 1] - c__[k] * 2. + c__[k - 1]);
/* L10: */
    }
    /*@ end @*/
    return 0;
} /* splevl_ */

/* Subroutine */ int pairfo_(integer *n, doublereal *x, doublereal *f, 
	doublereal *rc2)
{
    /* System generated locals */
    integer i__1, i__2;

    /* Local variables */
    static doublereal g;
    static integer i__, j;
    static doublereal d1, d2, d3, r2;

/*     FORCES OF PAIRS WITHIN A RADIUS, EACH PAIR TWICE */
    /* Parameter adjustments */
    f -= 4;
    x -= 4;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 4096; } ) @*/
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	i__2 = *n;
	for (j = 1; j <= i__2; ++j) {
	    if (j == i__) {
		goto L10;
	    }
	    d1 = x[i__ * 3 + 1] - x[j * 3 + 1];
	    d2 = x[i__ * 3 + 2] - x[j * 3 + 2];
	    d3 = x[i__ * 3 + 3] - x[j * 3 + 3];
	    r2 = d1 * d1 + d2 * d2 + d3 * d3;
	    if (r2 > *rc2) {
		goto L10;
	    }
	    g = 1. / (r2 + 1.);
	    f[i__ * 3 + 1] += g * d1;
	    f[i__ * 3 + 2] += g * d2;
	    f[i__ * 3 + 3] += g * d3;
L10:
	    ;
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* pairfo_ */

/* Subroutine */ int conv1d_(integer *n, integer *m, doublereal *x, 
	doublereal *h__, doublereal *y)
{
    /* System generated locals */
    integer i__1, i__2;

    /* Local variables */
    static integer i__, j, k;
    static doublereal s;

/*     A CONVOLUTION, THE REVERSED FILTER BY A RUNNING INDEX */
    /* Parameter adjustments */
    --y;
    --h__;
    --x;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 100000; param m = 64; } ) @*/
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	s = 0.;
	k = i__ + *m - 1;
	i__2 = *m;
	for (j = 1; j <= i__2; ++j) {
	    s += h__[j] * x[k];
	    --k;
/* L10: */
	}
	y[i__] = s;
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* conv1d_ */

