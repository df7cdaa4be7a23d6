#include "f2c.h"

/* Table of constant values */

static doublereal c_b16 = 1.;

/* Subroutine */ int eosidl_(integer *nx, integer *ny, doublereal *dens, 
	doublereal *ener, doublereal *pres, doublereal *sndspd)
{
    /* System generated locals */
    integer dens_dim1, dens_offset, ener_dim1, ener_offset, pres_dim1, 
	    pres_offset, sndspd_dim1, sndspd_offset, i__1, i__2;

    /* Builtin functions */
    double sqrt(doublereal);

    /* Local variables */
    static integer j, k;
    static doublereal v, s2, pe, pv;

/*     AN IDEAL GAS */
    /* Parameter adjustments */
    sndspd_dim1 = *nx;
    sndspd_offset = 1 + sndspd_dim1;
    sndspd -= sndspd_offset;
    pres_dim1 = *nx;
    pres_offset = 1 + pres_dim1;
    pres -= pres_offset;
    ener_dim1 = *nx;
    ener_offset = 1 + ener_dim1;
    ener -= ener_offset;
    dens_dim1 = *nx;
    dens_offset = 1 + dens_dim1;
    dens -= dens_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param nx = 1024; param ny = 1024; } ) @*/
    i__1 = *ny;
    for (k = 1; k <= i__1; ++k) {
	i__2 = *nx;
	for (j = 1; j <= i__2; ++j) {
	    v = 1. / dens[j + k * dens_dim1];
	    pres[j + k * pres_dim1] = dens[j + k * dens_dim1] * .4 * ener[j + 
		    k * ener_dim1];
	    pe = dens[j + k * dens_dim1] * .4;
	    pv = -dens[j + k * dens_dim1] * pres[j + k * pres_dim1];
	    s2 = v * v * (pres[j + k * pres_dim1] * pe - pv);
	    sndspd[j + k * sndspd_dim1] = sqrt((abs(s2)));
/* L10: */
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* eosidl_ */

/* Subroutine */ int calcdt_(integer *nx, integer *ny, doublereal *u, 
	doublereal *v, doublereal *c__, doublereal *dx, doublereal *dy, 
	doublereal *dtmin, integer *jmin, integer *kmin)
{
    /* System generated locals */
    integer u_dim1, u_offset, v_dim1, v_offset, c_dim1, c_offset, i__1, i__2;
    doublereal d__1, d__2, d__3, d__4;

    /* Local variables */
    static integer j, k;
    static doublereal dt;

/*     THE SMALLEST STEP IN TIME, AND WHERE IT IS */
    /* Parameter adjustments */
    c_dim1 = *nx;
    c_offset = 1 + c_dim1;
    c__ -= c_offset;
    v_dim1 = *nx;
    v_offset = 1 + v_dim1;
    v -= v_offset;
    u_dim1 = *nx;
    u_offset = 1 + u_dim1;
    u -= u_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param nx = 1024; param ny = 1024; } def assume { arg disjoint = True; } ) @*/
    *dtmin = 1e30;
    i__1 = *ny;
    for (k = 1; k <= i__1; ++k) {
	i__2 = *nx;
	for (j = 1; j <= i__2; ++j) {
/* Computing MIN */
	    d__3 = *dx / ((d__1 = u[j + k * u_dim1], abs(d__1)) + c__[j + k * 
		    c_dim1] + 1.), d__4 = *dy / ((d__2 = v[j + k * v_dim1], 
		    abs(d__2)) + c__[j + k * c_dim1] + 1.);
	    dt = min(d__3,d__4);
	    if (dt < *dtmin) {
		*dtmin = dt;
		*jmin = j;
		*kmin = k;
	    }
/* L10: */
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* calcdt_ */

/* Subroutine */ int caldt2_(integer *nx, integer *ny, doublereal *u, 
	doublereal *v, doublereal *c__, doublereal *dx, doublereal *dy, 
	doublereal *dtmin)
{
    /* System generated locals */
    integer u_dim1, u_offset, v_dim1, v_offset, c_dim1, c_offset, i__1, i__2;
    doublereal d__1, d__2, d__3, d__4;

    /* Local variables */
    static integer j, k;
    /* Parameter adjustments */
    c_dim1 = *nx;
    c_offset = 1 + c_dim1;
    c__ -= c_offset;
    v_dim1 = *nx;
    v_offset = 1 + v_dim1;
    v -= v_offset;
    u_dim1 = *nx;
    u_offset = 1 + u_dim1;
    u -= u_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param nx = 1024; param ny = 1024; } ) @*/
    i__1 = *ny;
    for (k = 1; k <= i__1; ++k) {
	i__2 = *nx;
	for (j = 1; j <= i__2; ++j) {
/* Computing MIN */
	    d__3 = *dtmin, d__4 = *dx / ((d__1 = u[j + k * u_dim1], abs(d__1))
		     + c__[j + k * c_dim1] + 1.), d__3 = min(d__3,d__4), d__4 
		    = *dy / ((d__2 = v[j + k * v_dim1], abs(d__2)) + c__[j + 
		    k * c_dim1] + 1.);
	    *dtmin = min(d__3,d__4);
/* L10: */
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* caldt2_ */

/* Subroutine */ int viscos_(integer *nx, integer *ny, doublereal *u, 
	doublereal *v, doublereal *p, doublereal *d__, doublereal *q)
{
    /* System generated locals */
    integer u_dim1, u_offset, v_dim1, v_offset, p_dim1, p_offset, d_dim1, 
	    d_offset, q_dim1, q_offset, i__1, i__2;

    /* Local variables */
    static integer j, k;
    static doublereal ug, vg, div, pgx, pgy;

/*     ARTIFICIAL VISCOSITY: A CONDITION IN EACH CELL */
    /* Parameter adjustments */
    q_dim1 = *nx;
    q_offset = 1 + q_dim1;
    q -= q_offset;
    d_dim1 = *nx;
    d_offset = 1 + d_dim1;
    d__ -= d_offset;
    p_dim1 = *nx + 1 - 0 + 1;
    p_offset = 0 + p_dim1 * 0;
    p -= p_offset;
    v_dim1 = *nx + 1;
    v_offset = 1 + v_dim1;
    v -= v_offset;
    u_dim1 = *nx + 1;
    u_offset = 1 + u_dim1;
    u -= u_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param nx = 512; param ny = 512; } ) @*/
    i__1 = *ny;
    for (k = 1; k <= i__1; ++k) {
	i__2 = *nx;
	for (j = 1; j <= i__2; ++j) {
	    ug = u[j + 1 + k * u_dim1] + u[j + 1 + (k + 1) * u_dim1] - (u[j + 
		    k * u_dim1] + u[j + (k + 1) * u_dim1]);
	    vg = v[j + (k + 1) * v_dim1] + v[j + 1 + (k + 1) * v_dim1] - (v[j 
		    + k * v_dim1] + v[j + 1 + k * v_dim1]);
	    div = ug + vg;
	    pgx = p[j + 1 + k * p_dim1] - p[j - 1 + k * p_dim1];
	    pgy = p[j + (k + 1) * p_dim1] - p[j + (k - 1) * p_dim1];
	    if (div >= 0. || pgx * pgy > 0.) {
		q[j + k * q_dim1] = 0.;
	    } else {
		q[j + k * q_dim1] = d__[j + k * d_dim1] * 2. * div * div;
	    }
/* L10: */
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* viscos_ */

/* Subroutine */ int advecx_(integer *nx, integer *ny, doublereal *f, 
	doublereal *d__, doublereal *vol)
{
    /* System generated locals */
    integer f_dim1, f_offset, d_dim1, d_offset, vol_dim1, vol_offset, i__1, 
	    i__2;
    doublereal d__1, d__2;

    /* Builtin functions */
    double d_sign(doublereal *, doublereal *);

    /* Local variables */
    static integer j, k;
    static doublereal du, dw;
    static integer dif;
    static doublereal adv, sig;
    static integer dnw, upw;

/*     UPWIND FLUXES: THE DONOR BY IF, THE LIMITER BY MIN AND SIGN */
    /* Parameter adjustments */
    vol_dim1 = *nx;
    vol_offset = 1 + vol_dim1;
    vol -= vol_offset;
    d_dim1 = *nx + 2 + 1 + 1;
    d_offset = -1 + d_dim1;
    d__ -= d_offset;
    f_dim1 = *nx;
    f_offset = 1 + f_dim1;
    f -= f_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param nx = 512; param ny = 512; } ) @*/
    i__1 = *ny;
    for (k = 1; k <= i__1; ++k) {
	i__2 = *nx;
	for (j = 1; j <= i__2; ++j) {
	    if (f[j + k * f_dim1] > 0.) {
		upw = j - 2;
		dnw = j - 1;
		dif = j;
	    } else {
		upw = j + 1;
		dnw = j;
		dif = j - 1;
	    }
	    sig = (d__1 = f[j + k * f_dim1], abs(d__1)) / (vol[j + k * 
		    vol_dim1] + 8.);
	    du = d__[dnw + k * d_dim1] - d__[upw + k * d_dim1];
	    dw = d__[dif + k * d_dim1] - d__[dnw + k * d_dim1];
	    adv = 0.;
	    if (du * dw > 0.) {
/* Computing MIN */
		d__1 = abs(du), d__2 = abs(dw);
		adv = (1. - sig) * d_sign(&c_b16, &dw) * min(d__1,d__2);
	    }
	    f[j + k * f_dim1] *= d__[dnw + k * d_dim1] + adv;
/* L10: */
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* advecx_ */

/* Subroutine */ int accel_(integer *nx, integer *ny, doublereal *xv, 
	doublereal *yv, doublereal *p, doublereal *q, doublereal *dm, 
	doublereal *dt)
{
    /* System generated locals */
    integer xv_dim1, xv_offset, yv_dim1, yv_offset, p_dim1, p_offset, q_dim1, 
	    q_offset, dm_dim1, dm_offset, i__1, i__2;

    /* Local variables */
    static integer j, k;
    static doublereal sbm;

/*     WITH A WORK SCALAR OF THE CELL AND NODES AS UPPER LIMITS */
    /* Parameter adjustments */
    dm_dim1 = *nx;
    dm_offset = 1 + dm_dim1;
    dm -= dm_offset;
    q_dim1 = *nx;
    q_offset = 1 + q_dim1;
    q -= q_offset;
    p_dim1 = *nx;
    p_offset = 1 + p_dim1;
    p -= p_offset;
    yv_dim1 = *nx;
    yv_offset = 1 + yv_dim1;
    yv -= yv_offset;
    xv_dim1 = *nx;
    xv_offset = 1 + xv_dim1;
    xv -= xv_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param nx = 1024; param ny = 1024; } ) @*/
    i__1 = *ny;
    for (k = 2; k <= i__1; ++k) {
	i__2 = *nx;
	for (j = 2; j <= i__2; ++j) {
	    sbm = *dt / ((dm[j - 1 + (k - 1) * dm_dim1] + dm[j + (k - 1) * 
		    dm_dim1] + dm[j + k * dm_dim1] + dm[j - 1 + k * dm_dim1]) 
		    * .25 + 8.);
	    xv[j + k * xv_dim1] -= sbm * (p[j + k * p_dim1] - p[j - 1 + k * 
		    p_dim1]);
	    yv[j + k * yv_dim1] -= sbm * (p[j + k * p_dim1] - p[j + (k - 1) * 
		    p_dim1]);
	    xv[j + k * xv_dim1] -= sbm * (q[j + k * q_dim1] - q[j - 1 + k * 
		    q_dim1]);
	    yv[j + k * yv_dim1] -= sbm * (q[j + k * q_dim1] - q[j + (k - 1) * 
		    q_dim1]);
/* L10: */
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* accel_ */

/* Subroutine */ int fldsum_(integer *nx, integer *ny, doublereal *vol, 
	doublereal *d__, doublereal *e, doublereal *p, doublereal *tvol, 
	doublereal *tmass, doublereal *tie, doublereal *tp)
{
    /* System generated locals */
    integer vol_dim1, vol_offset, d_dim1, d_offset, e_dim1, e_offset, p_dim1, 
	    p_offset, i__1, i__2;

    /* Local variables */
    static integer j, k;
    static doublereal cm, cv;

/*     FOUR SUMS AT ONCE */
    /* Parameter adjustments */
    p_dim1 = *nx;
    p_offset = 1 + p_dim1;
    p -= p_offset;
    e_dim1 = *nx;
    e_offset = 1 + e_dim1;
    e -= e_offset;
    d_dim1 = *nx;
    d_offset = 1 + d_dim1;
    d__ -= d_offset;
    vol_dim1 = *nx;
    vol_offset = 1 + vol_dim1;
    vol -= vol_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param nx = 1024; param ny = 1024; } ) @*/
    *tvol = 0.;
    *tmass = 0.;
    *tie = 0.;
    *tp = 0.;
    i__1 = *ny;
    for (k = 1; k <= i__1; ++k) {
	i__2 = *nx;
	for (j = 1; j <= i__2; ++j) {
	    cv = vol[j + k * vol_dim1];
	    cm = cv * d__[j + k * d_dim1];
	    *tvol += cv;
	    *tmass += cm;
	    *tie += cm * e[j + k * e_dim1];
	    *tp += cv * p[j + k * p_dim1];
/* L10: */
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* fldsum_ */

/* Subroutine */ int ppmlr_(integer *n, integer *m, doublereal *a, doublereal 
	*al, doublereal *ar, doublereal *da)
{
    /* System generated locals */
    integer a_dim1, a_offset, al_dim1, al_offset, ar_dim1, ar_offset, i__1, 
	    i__2;
    doublereal d__1, d__2, d__3, d__4;

    /* Builtin functions */
    double d_sign(doublereal *, doublereal *);

    /* Local variables */
    static integer i__, j;
    static doublereal d1, d2;

/*     PARABOLAE ALONG LINES, WORK ARRAYS OF A LINE */
    /* Parameter adjustments */
    --da;
    ar_dim1 = *n;
    ar_offset = 1 + ar_dim1;
    ar -= ar_offset;
    al_dim1 = *n;
    al_offset = 1 + al_dim1;
    al -= al_offset;
    a_dim1 = *n;
    a_offset = 1 + a_dim1;
    a -= a_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 512; param m = 512; } ) @*/
    i__1 = *m;
    for (j = 1; j <= i__1; ++j) {
	i__2 = *n - 1;
	for (i__ = 2; i__ <= i__2; ++i__) {
	    d1 = (a[i__ + j * a_dim1] - a[i__ - 1 + j * a_dim1]) * 2.;
	    d2 = (a[i__ + 1 + j * a_dim1] - a[i__ + j * a_dim1]) * 2.;
	    da[i__] = (a[i__ + 1 + j * a_dim1] - a[i__ - 1 + j * a_dim1]) * 
		    .5;
	    if (d1 * d2 > 0.) {
/* Computing MIN */
		d__3 = (d__1 = da[i__], abs(d__1)), d__4 = abs(d1), d__3 = 
			min(d__3,d__4), d__4 = abs(d2);
		d__2 = min(d__3,d__4);
		da[i__] = d_sign(&d__2, &da[i__]);
	    } else {
		da[i__] = 0.;
	    }
/* L10: */
	}
	i__2 = *n - 2;
	for (i__ = 2; i__ <= i__2; ++i__) {
	    ar[i__ + j * ar_dim1] = (a[i__ + j * a_dim1] + a[i__ + 1 + j * 
		    a_dim1]) * .5 - (da[i__ + 1] - da[i__]);
	    al[i__ + 1 + j * al_dim1] = ar[i__ + j * ar_dim1];
/* L20: */
	}
/* L40: */
    }
    /*@ end @*/
    return 0;
} /* ppmlr_ */

