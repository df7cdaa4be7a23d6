#include "f2c.h"

/* Common Block Declarations */

struct {
    doublereal t[1920]	/* was [64][30] */, q[1920]	/* was [64][30] */, 
	    ql[1920]	/* was [64][30] */;
} state_;

#define state_1 state_

struct {
    doublereal flux[64];
} work_;

#define work_1 work_

struct {
    doublereal qc[2000], qr[2000];
} rain_;

#define rain_1 rain_

struct {
    doublereal crit, rate;
} coefs_;

#define coefs_1 coefs_

struct {
    doublereal a[2000]	/* was [40][50] */, alpha;
} mat_;

#define mat_1 mat_

/* Subroutine */ int satadj_(integer *nlev)
{
    /* System generated locals */
    integer i__1;

    /* Local variables */
    static integer jk, jl;
    static doublereal cor, cond, qsat;

/*     SATURATION ADJUSTMENT, EVERYTHING IN COMMON */
    /*@ begin PerfTuning ( def input_params { param nlev = 30; } ) @*/
    i__1 = *nlev;
    for (jk = 1; jk <= i__1; ++jk) {
	for (jl = 1; jl <= 64; ++jl) {
	    qsat = state_1.t[jl + (jk << 6) - 65] * .25;
	    cor = 1. / (qsat * qsat + 1.);
	    cond = (state_1.q[jl + (jk << 6) - 65] - qsat) * cor;
	    if (cond > 0.) {
		state_1.t[jl + (jk << 6) - 65] += cond * 2.;
		state_1.q[jl + (jk << 6) - 65] -= cond;
		state_1.ql[jl + (jk << 6) - 65] += cond;
	    }
/* L10: */
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* satadj_ */

/* Subroutine */ int sedimn_(integer *nlev, doublereal *dt)
{
    /* System generated locals */
    integer i__1;

    /* Local variables */
    static integer jk, jl;
    static doublereal vt;

/*     SEDIMENTATION: THE FLUX FROM ABOVE, A WORK ARRAY IN COMMON */
    /*@ begin PerfTuning ( def input_params { param nlev = 30; } ) @*/
    for (jl = 1; jl <= 64; ++jl) {
	work_1.flux[jl - 1] = 0.;
/* L5: */
    }
    i__1 = *nlev;
    for (jk = 1; jk <= i__1; ++jk) {
	for (jl = 1; jl <= 64; ++jl) {
	    vt = *dt * state_1.ql[jl + (jk << 6) - 65] + 2.;
	    state_1.ql[jl + (jk << 6) - 65] += *dt * work_1.flux[jl - 1];
	    work_1.flux[jl - 1] = vt * state_1.ql[jl + (jk << 6) - 65];
	    state_1.ql[jl + (jk << 6) - 65] -= *dt * work_1.flux[jl - 1];
/* L10: */
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* sedimn_ */

/* Subroutine */ int autocn_(integer *npts, doublereal *dt)
{
    /* System generated locals */
    integer i__1;
    doublereal d__1, d__2;

    /* Local variables */
    static integer i__;
    static doublereal dq;

/*     AUTOCONVERSION: PARAMETERS IN ANOTHER COMMON, MIN AND MAX */
    /*@ begin PerfTuning ( def input_params { param npts = 2000; } ) @*/
    i__1 = *npts;
    for (i__ = 1; i__ <= i__1; ++i__) {
/* Computing MAX */
	d__1 = 0., d__2 = rain_1.qc[i__ - 1] - coefs_1.crit;
	dq = max(d__1,d__2) * coefs_1.rate * *dt;
/* Computing MIN */
	d__1 = dq, d__2 = rain_1.qc[i__ - 1];
	dq = min(d__1,d__2);
	rain_1.qc[i__ - 1] -= dq;
	rain_1.qr[i__ - 1] += dq;
/* L10: */
    }
    /*@ end @*/
    return 0;
} /* autocn_ */

/* Subroutine */ int evapor_(integer *npts, doublereal *precip)
{
    /* System generated locals */
    integer i__1;

    /* Local variables */
    static doublereal e;
    static integer i__;
    static logical llo[2000];

/*     A LOGICAL WORK ARRAY DECIDES */
    /* Parameter adjustments */
    --precip;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param npts = 2000; } ) @*/
    i__1 = *npts;
    for (i__ = 1; i__ <= i__1; ++i__) {
	llo[i__ - 1] = rain_1.qr[i__ - 1] > 0. && rain_1.qc[i__ - 1] < 1.;
/* L10: */
    }
    i__1 = *npts;
    for (i__ = 1; i__ <= i__1; ++i__) {
	if (llo[i__ - 1]) {
	    e = rain_1.qr[i__ - 1] * .5;
	    rain_1.qr[i__ - 1] -= e;
	    precip[i__] += e;
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* evapor_ */

/* Subroutine */ int overlp_(integer *klon, integer *klev, doublereal *clc, 
	doublereal *clr)
{
    /* System generated locals */
    integer clc_dim1, clc_offset, i__1, i__2;
    doublereal d__1, d__2;

    /* Local variables */
    static integer jk, jl;
    static doublereal zmax;

/*     MAXIMUM-RANDOM OVERLAP DOWN THE COLUMN */
    /* Parameter adjustments */
    --clr;
    clc_dim1 = *klon;
    clc_offset = 1 + clc_dim1;
    clc -= clc_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param klon = 4096; param klev = 60; } ) @*/
    i__1 = *klon;
    for (jl = 1; jl <= i__1; ++jl) {
	clr[jl] = 1. - clc[jl + clc_dim1];
/* L5: */
    }
    i__1 = *klev;
    for (jk = 2; jk <= i__1; ++jk) {
	i__2 = *klon;
	for (jl = 1; jl <= i__2; ++jl) {
/* Computing MAX */
	    d__1 = clc[jl + jk * clc_dim1], d__2 = clc[jl + (jk - 1) * 
		    clc_dim1];
	    zmax = max(d__1,d__2);
/* Computing MIN */
	    d__1 = clc[jl + (jk - 1) * clc_dim1];
	    clr[jl] = clr[jl] * (1. - zmax) / (1. - min(d__1,.5));
/* L10: */
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* overlp_ */

/* Subroutine */ int convec_(integer *klon, integer *klev, doublereal *t, 
	doublereal *q, doublereal *ztp, doublereal *zqp)
{
    /* System generated locals */
    integer t_dim1, t_offset, q_dim1, q_offset, i__1, i__2;
    doublereal d__1, d__2;

    /* Local variables */
    static integer jk, jl;
    static doublereal zb;

/*     COLUMN WORK ARRAYS, LEVELS UPWARDS */
    /* Parameter adjustments */
    q_dim1 = *klon;
    q_offset = 1 + q_dim1;
    q -= q_offset;
    t_dim1 = *klon;
    t_offset = 1 + t_dim1;
    t -= t_offset;
    --ztp;
    --zqp;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param klon = 4096; param klev = 60; } ) @*/
    i__1 = *klon;
    for (jl = 1; jl <= i__1; ++jl) {
	ztp[*klev] = t[jl + *klev * t_dim1];
	zqp[*klev] = q[jl + *klev * q_dim1];
	for (jk = *klev - 1; jk >= 1; --jk) {
	    ztp[jk] = ztp[jk + 1] - t[jl + jk * t_dim1] * .5;
/* Computing MIN */
	    d__1 = zqp[jk + 1], d__2 = ztp[jk];
	    zqp[jk] = min(d__1,d__2);
/* L10: */
	}
	i__2 = *klev;
	for (jk = 1; jk <= i__2; ++jk) {
	    zb = ztp[jk] - t[jl + jk * t_dim1];
	    if (zb > 0.) {
		q[jl + jk * q_dim1] = zqp[jk];
	    }
/* L20: */
	}
/* L30: */
    }
    /*@ end @*/
    return 0;
} /* convec_ */

/* Subroutine */ int equiv1_(integer *n, doublereal *x, doublereal *y)
{
    /* System generated locals */
    integer i__1;
    static doublereal equiv_2[3];

    /* Local variables */
    static integer i__, j;
#define w (equiv_2)
#define w1 (equiv_2)
#define w2 (equiv_2 + 1)
#define w3 (equiv_2 + 2)

/*     TWO NAMES FOR A WORK ARRAY, BY EQUIVALENCE */
    /* Parameter adjustments */
    --y;
    x -= 4;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 100000; } ) @*/
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	for (j = 1; j <= 3; ++j) {
	    w[j - 1] = x[j + i__ * 3] * x[j + i__ * 3];
/* L10: */
	}
	y[i__] = *w1 + *w2 + *w3;
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* equiv1_ */

#undef w3
#undef w2
#undef w1
#undef w


/* Subroutine */ int equiv2_(integer *n)
{
    /* System generated locals */
    integer i__1;

    /* Local variables */
    static integer i__;
#define v ((doublereal *)&mat_1)

/*     A MATRIX AND ITS ELEMENTS AS ONE VECTOR, IN COMMON */
    /*@ begin PerfTuning ( def input_params { param n = 2000; } ) @*/
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	v[i__ - 1] = mat_1.alpha * v[i__ - 1];
/* L10: */
    }
    /*@ end @*/
    return 0;
} /* equiv2_ */

#undef v


/* Subroutine */ int radlw_(integer *klon, integer *klev, doublereal *tau, 
	doublereal *b, doublereal *up)
{
    /* System generated locals */
    integer tau_dim1, tau_offset, b_dim1, b_offset, up_dim1, up_offset, i__1, 
	    i__2, i__3;
    doublereal d__1;

    /* Builtin functions */
    double exp(doublereal);

    /* Local variables */
    static integer jk, jl, jkk;
    static doublereal ztr;

/*     LONGWAVE: EXPONENTIALS, A SUM OVER ALL PAIRS OF LEVELS */
    /* Parameter adjustments */
    up_dim1 = *klon;
    up_offset = 1 + up_dim1;
    up -= up_offset;
    b_dim1 = *klon;
    b_offset = 1 + b_dim1;
    b -= b_offset;
    tau_dim1 = *klon;
    tau_offset = 1 + tau_dim1;
    tau -= tau_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param klon = 1024; param klev = 60; } ) @*/
    i__1 = *klev;
    for (jk = 1; jk <= i__1; ++jk) {
	i__2 = *klev;
	for (jkk = 1; jkk <= i__2; ++jkk) {
	    i__3 = *klon;
	    for (jl = 1; jl <= i__3; ++jl) {
		ztr = exp(-(d__1 = tau[jl + jk * tau_dim1] - tau[jl + jkk * 
			tau_dim1], abs(d__1)));
		up[jl + jk * up_dim1] += b[jl + jkk * b_dim1] * ztr;
/* L10: */
	    }
/* L20: */
	}
/* L30: */
    }
    /*@ end @*/
    return 0;
} /* radlw_ */

