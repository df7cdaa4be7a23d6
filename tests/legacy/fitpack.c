#include "f2c.h"

/* Subroutine */ int fpbspl_(integer *m, integer *k, integer *n, doublereal *
	t, doublereal *x, integer *l, doublereal *h__, integer *nh)
{
    /* System generated locals */
    integer h_dim1, h_offset, i__1, i__2, i__3;

    /* Local variables */
    static doublereal b[6], f;
    static integer i__, j;
    static doublereal hh[6];
    static integer li, lj, ip;

/*     B-SPLINES AT MANY POINTS: A WORK ARRAY FOR EACH POINT */
    /* Parameter adjustments */
    --t;
    --x;
    --l;
    h_dim1 = *nh;
    h_offset = 1 + h_dim1;
    h__ -= h_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param m = 100000; param k = 3; param n = 64; param nh = 4; } def assume { arg extent = ['t[n]']; } ) @*/
    i__1 = *m;
    for (ip = 1; ip <= i__1; ++ip) {
	b[0] = 1.;
	i__2 = *k;
	for (j = 1; j <= i__2; ++j) {
	    i__3 = j;
	    for (i__ = 1; i__ <= i__3; ++i__) {
		hh[i__ - 1] = b[i__ - 1];
/* L5: */
	    }
	    b[0] = 0.;
	    i__3 = j;
	    for (i__ = 1; i__ <= i__3; ++i__) {
		li = l[ip] + i__;
		lj = li - j;
		f = hh[i__ - 1] / (t[li] - t[lj]);
		b[i__ - 1] += f * (t[li] - x[ip]);
		b[i__] = f * (x[ip] - t[lj]);
/* L10: */
	    }
/* L20: */
	}
	i__2 = *k + 1;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    h__[i__ + ip * h_dim1] = b[i__ - 1];
/* L25: */
	}
/* L30: */
    }
    /*@ end @*/
    return 0;
} /* fpbspl_ */

/* Subroutine */ int fpgivs_(integer *n, integer *m, doublereal *a, integer *
	lda, doublereal *c__, doublereal *s)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1;

    /* Local variables */
    static integer i__;
    static doublereal stor1, stor2;

/*     A ROTATION APPLIED TO TWO ROWS */
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 1024; param m = 4; param lda = 1024; } ) @*/
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	stor1 = a[i__ * a_dim1 + 1];
	stor2 = a[*m + i__ * a_dim1];
	a[*m + i__ * a_dim1] = *c__ * stor2 + *s * stor1;
	a[i__ * a_dim1 + 1] = *c__ * stor1 - *s * stor2;
/* L10: */
    }
    /*@ end @*/
    return 0;
} /* fpgivs_ */

/* Subroutine */ int fpback_(doublereal *a, doublereal *z__, integer *n, 
	integer *k, doublereal *c__, integer *nest)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2;

    /* Local variables */
    static integer i__, j, l, m, i1, k1;
    static doublereal store;

/*     BACK SUBSTITUTION WITH A BAND */
    /* Parameter adjustments */
    --z__;
    --c__;
    a_dim1 = *nest;
    a_offset = 1 + a_dim1;
    a -= a_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 4096; param k = 4; param nest = 4096; } ) @*/
    k1 = *k - 1;
    c__[*n] = z__[*n] / a[*n + a_dim1];
    i__ = *n - 1;
    i__1 = *n;
    for (j = 2; j <= i__1; ++j) {
	store = z__[i__];
	i1 = k1;
	if (j <= k1) {
	    i1 = j - 1;
	}
	m = i__;
	i__2 = i1;
	for (l = 1; l <= i__2; ++l) {
	    ++m;
	    store -= c__[m] * a[i__ + (l + 1) * a_dim1];
/* L10: */
	}
	c__[i__] = store / a[i__ + a_dim1];
	--i__;
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* fpback_ */

/* Subroutine */ int fpbisp_(integer *mx, integer *my, integer *kx1, integer *
	ky1, integer *nky1, doublereal *wx, doublereal *wy, integer *lx, 
	integer *ly, doublereal *c__, integer *nc, doublereal *z__)
{
    /* System generated locals */
    integer wx_dim1, wx_offset, wy_dim1, wy_offset, i__1, i__2, i__3, i__4;

    /* Local variables */
    static doublereal h__[6];
    static integer i__, j, l, m, i1, j1, l1, l2;
    static doublereal sp;

/*     A TENSOR SPLINE OVER A GRID */
    /* Parameter adjustments */
    wx_dim1 = *mx;
    wx_offset = 1 + wx_dim1;
    wx -= wx_offset;
    wy_dim1 = *my;
    wy_offset = 1 + wy_dim1;
    wy -= wy_offset;
    --lx;
    --ly;
    --c__;
    --z__;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param mx = 512; param my = 512; param kx1 = 4; param ky1 = 4; param nky1 = 60; param nc = 3600; } def assume { arg extent = ['c__[nc]']; } ) @*/
    m = 0;
    i__1 = *mx;
    for (i__ = 1; i__ <= i__1; ++i__) {
	l = lx[i__] * *nky1;
	i__2 = *kx1;
	for (i1 = 1; i1 <= i__2; ++i1) {
	    h__[i1 - 1] = wx[i__ + i1 * wx_dim1];
/* L85: */
	}
	i__2 = *my;
	for (j = 1; j <= i__2; ++j) {
	    l1 = l + ly[j];
	    sp = 0.;
	    i__3 = *kx1;
	    for (i1 = 1; i1 <= i__3; ++i1) {
		l2 = l1;
		i__4 = *ky1;
		for (j1 = 1; j1 <= i__4; ++j1) {
		    ++l2;
		    sp += c__[l2] * h__[i1 - 1] * wy[j + j1 * wy_dim1];
/* L100: */
		}
		l1 += *nky1;
/* L110: */
	    }
	    ++m;
	    z__[m] = sp;
/* L120: */
	}
/* L130: */
    }
    /*@ end @*/
    return 0;
} /* fpbisp_ */

/* Subroutine */ int fpresi_(integer *m, doublereal *y, doublereal *w, 
	doublereal *s, doublereal *fp, doublereal *fpint)
{
    /* System generated locals */
    integer i__1;
    doublereal d__1;

    /* Local variables */
    static integer it;
    static doublereal term;

/*     RESIDUALS: SUM, LARGEST, AND A GOTO PAST ZERO WEIGHTS */
    /* Parameter adjustments */
    --s;
    --w;
    --y;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param m = 1000000; } ) @*/
    *fp = 0.;
    *fpint = 0.;
    i__1 = *m;
    for (it = 1; it <= i__1; ++it) {
	if (w[it] == 0.) {
	    goto L180;
	}
/* Computing 2nd power */
	d__1 = w[it] * (y[it] - s[it]);
	term = d__1 * d__1;
	*fp += term;
	if (term > *fpint) {
	    *fpint = term;
	}
L180:
	;
    }
    /*@ end @*/
    return 0;
} /* fpresi_ */

/* Subroutine */ int cubspl_(integer *n, doublereal *x, doublereal *y, 
	doublereal *b, doublereal *c__, doublereal *d__)
{
    /* System generated locals */
    integer i__1;

    /* Local variables */
    static integer i__;

/*     COEFFICIENTS OF A CUBIC SPLINE FROM ITS SECOND DERIVATIVES */
    /* Parameter adjustments */
    --d__;
    --c__;
    --b;
    --y;
    --x;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 1000000; } ) @*/
    i__1 = *n - 1;
    for (i__ = 1; i__ <= i__1; ++i__) {
	d__[i__] = x[i__ + 1] - x[i__];
	b[i__] = (y[i__ + 1] - y[i__]) / d__[i__] - d__[i__] * (c__[i__ + 1] 
		+ c__[i__] * 2.);
	d__[i__] = (c__[i__ + 1] - c__[i__]) / d__[i__];
	c__[i__] *= 3.;
/* L40: */
    }
    /*@ end @*/
    return 0;
} /* cubspl_ */

