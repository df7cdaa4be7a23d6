#include "f2c.h"

/* Table of constant values */

static doublereal c_b12 = 1.5;

/* Subroutine */ int qk15s_(integer *n, doublereal *a, doublereal *b, 
	doublereal *f1, doublereal *f2, doublereal *fc, doublereal *wg, 
	doublereal *wgk, doublereal *xgk, doublereal *result, doublereal *
	resabs)
{
    /* System generated locals */
    integer i__1;
    doublereal d__1, d__2;

    /* Local variables */
    integer i__, j;
    doublereal rabs, resg, resk, fsum, hlgth;

/*     THE 15-POINT RULE OVER MANY INTERVALS, THE VALUES GIVEN */
    /* Parameter adjustments */
    --resabs;
    --result;
    --xgk;
    --wgk;
    --wg;
    --fc;
    f2 -= 8;
    f1 -= 8;
    --b;
    --a;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 100000; } ) @*/
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	hlgth = (b[i__] - a[i__]) * .5;
	resg = fc[i__] * wg[4];
	resk = fc[i__] * wgk[8];
	rabs = abs(resk);
	for (j = 1; j <= 7; ++j) {
	    fsum = f1[j + i__ * 7] + f2[j + i__ * 7];
	    resk += wgk[j] * fsum;
	    rabs += wgk[j] * ((d__1 = f1[j + i__ * 7], abs(d__1)) + (d__2 = 
		    f2[j + i__ * 7], abs(d__2)));
/* L10: */
	}
	for (j = 1; j <= 3; ++j) {
	    resg += wg[j] * (f1[(j << 1) + i__ * 7] + f2[(j << 1) + i__ * 7]);
/* L20: */
	}
	result[i__] = resk * hlgth + resg;
	resabs[i__] = rabs * abs(hlgth);
/* L30: */
    }
    /*@ end @*/
    return 0;
} /* qk15s_ */

/* Subroutine */ int qsorti_(integer *last, doublereal *elist, doublereal *
	sum, doublereal *amax)
{
    /* System generated locals */
    integer i__1;
    doublereal d__1, d__2;

    /* Local variables */
    integer k;

/*     SUM AND LARGEST OF THE ERRORS */
    /* Parameter adjustments */
    --elist;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param last = 100000; } ) @*/
    *sum = 0.;
    *amax = elist[1];
    i__1 = *last;
    for (k = 1; k <= i__1; ++k) {
	*sum += elist[k];
/* Computing MAX */
	d__1 = *amax, d__2 = elist[k];
	*amax = max(d__1,d__2);
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* qsorti_ */

/* Subroutine */ int qcheb_(doublereal *x, doublereal *fval, doublereal *
	cheb12, doublereal *cheb24)
{
    integer i__, j;
    doublereal v[12];

/*     CHEBYSHEV COEFFICIENTS, THEIR FIRST FOLDING */
    /* Parameter adjustments */
    --cheb24;
    --cheb12;
    --fval;
    --x;

    /* Function Body */
    /*@ begin PerfTuning (  ) @*/
    for (i__ = 1; i__ <= 12; ++i__) {
	j = 26 - i__;
	v[i__ - 1] = fval[i__] - fval[j];
	fval[i__] += fval[j];
/* L10: */
    }
    for (i__ = 1; i__ <= 12; ++i__) {
	cheb24[i__] = v[i__ - 1];
/* L20: */
    }
    /*@ end @*/
    cheb12[1] = x[1] * v[0];
    return 0;
} /* qcheb_ */

/* Subroutine */ int qwgtc_(integer *n, doublereal *x, doublereal *c__, 
	doublereal *omega, doublereal *w)
{
    /* System generated locals */
    integer i__1;
    doublereal d__1, d__2, d__3, d__4, d__5;

    /* Builtin functions */
    double cos(doublereal), exp(doublereal), d_sign(doublereal *, doublereal *
	    ), pow_dd(doublereal *, doublereal *);

    /* Local variables */
    integer i__;

/*     WEIGHTS BY INTRINSIC FUNCTIONS */
    /* Parameter adjustments */
    --w;
    --x;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 1000000; } ) @*/
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	d__4 = exp(-(d__2 = x[i__], abs(d__2)));
	d__5 = (d__3 = x[i__], abs(d__3));
	w[i__] = cos(*omega * x[i__]) / ((d__1 = x[i__] - *c__, abs(d__1)) + 
		1.) + d_sign(&d__4, &x[i__]) + pow_dd(&d__5, &c_b12);
/* L10: */
    }
    /*@ end @*/
    return 0;
} /* qwgtc_ */

/* Subroutine */ int qtrapz_(integer *n, integer *np, doublereal *h__, 
	doublereal *f, doublereal *s)
{
    /* System generated locals */
    integer f_dim1, f_offset, i__1, i__2;

    /* Local variables */
    integer i__, j;
    doublereal t;

/*     THE TRAPEZOIDAL RULE OF MANY FUNCTIONS */
    /* Parameter adjustments */
    f_dim1 = *np;
    f_offset = 1 + f_dim1;
    f -= f_offset;
    --s;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 4096; param np = 1001; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	t = (f[j * f_dim1 + 1] + f[*np + j * f_dim1]) * .5;
	i__2 = *np - 1;
	for (i__ = 2; i__ <= i__2; ++i__) {
	    t += f[i__ + j * f_dim1];
/* L10: */
	}
	s[j] = *h__ * t;
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* qtrapz_ */

/* Subroutine */ int qelg3_(integer *n, doublereal *e)
{
    /* System generated locals */
    integer e_dim1, e_offset, i__1, i__2;

    /* Local variables */
    integer i__, k;
    doublereal p4;

/*     RICHARDSON'S TABLE: EACH COLUMN NEEDS THE ONE BEFORE */
    /* Parameter adjustments */
    e_dim1 = *n;
    e_offset = 1 + e_dim1;
    e -= e_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    p4 = 1.;
    i__1 = *n;
    for (k = 2; k <= i__1; ++k) {
	p4 *= 4.;
	i__2 = *n;
	for (i__ = k; i__ <= i__2; ++i__) {
	    e[i__ + k * e_dim1] = e[i__ + (k - 1) * e_dim1] + (e[i__ + (k - 1)
		     * e_dim1] - e[i__ - 1 + (k - 1) * e_dim1]) / (p4 - 1.);
/* L10: */
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* qelg3_ */

