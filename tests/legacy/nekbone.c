#include "f2c.h"

/* Subroutine */ int mxmn_(doublereal *a, integer *n1, doublereal *b, integer 
	*n2, doublereal *c__, integer *n3)
{
    /* System generated locals */
    integer a_dim1, a_offset, b_dim1, b_offset, c_dim1, c_offset, i__1, i__2, 
	    i__3;

    /* Local variables */
    integer i__, j, k;

/*     C := A*B, SMALL MATRICES */
    /* Parameter adjustments */
    a_dim1 = *n1;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    c_dim1 = *n1;
    c_offset = 1 + c_dim1;
    c__ -= c_offset;
    b_dim1 = *n2;
    b_offset = 1 + b_dim1;
    b -= b_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n1 = 12; param n2 = 12; param n3 = 144; } ) @*/
    i__1 = *n3;
    for (j = 1; j <= i__1; ++j) {
	i__2 = *n1;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    c__[i__ + j * c_dim1] = 0.;
	    i__3 = *n2;
	    for (k = 1; k <= i__3; ++k) {
		c__[i__ + j * c_dim1] += a[i__ + k * a_dim1] * b[k + j * 
			b_dim1];
/* L10: */
	    }
/* L20: */
	}
/* L30: */
    }
    /*@ end @*/
    return 0;
} /* mxmn_ */

/* Subroutine */ int mxf2_(doublereal *a, integer *n1, doublereal *b, 
	doublereal *c__, integer *n3)
{
    /* System generated locals */
    integer a_dim1, a_offset, c_dim1, c_offset, i__1, i__2;

    /* Local variables */
    integer i__, j;

/*     THE SUM OVER TWO WRITTEN OUT */
    /* Parameter adjustments */
    a_dim1 = *n1;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    c_dim1 = *n1;
    c_offset = 1 + c_dim1;
    c__ -= c_offset;
    b -= 3;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n1 = 144; param n3 = 4096; } ) @*/
    i__1 = *n3;
    for (j = 1; j <= i__1; ++j) {
	i__2 = *n1;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    c__[i__ + j * c_dim1] = a[i__ + a_dim1] * b[(j << 1) + 1] + a[i__ 
		    + (a_dim1 << 1)] * b[(j << 1) + 2];
/* L10: */
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* mxf2_ */

/* Subroutine */ int mxf8_(doublereal *a, integer *n1, doublereal *b, 
	doublereal *c__, integer *n3)
{
    /* System generated locals */
    integer a_dim1, a_offset, c_dim1, c_offset, i__1, i__2;

    /* Local variables */
    integer i__, j;
    /* Parameter adjustments */
    a_dim1 = *n1;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    c_dim1 = *n1;
    c_offset = 1 + c_dim1;
    c__ -= c_offset;
    b -= 9;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n1 = 64; param n3 = 4096; } ) @*/
    i__1 = *n3;
    for (j = 1; j <= i__1; ++j) {
	i__2 = *n1;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    c__[i__ + j * c_dim1] = a[i__ + a_dim1] * b[(j << 3) + 1] + a[i__ 
		    + (a_dim1 << 1)] * b[(j << 3) + 2] + a[i__ + a_dim1 * 3] *
		     b[(j << 3) + 3] + a[i__ + (a_dim1 << 2)] * b[(j << 3) + 
		    4] + a[i__ + a_dim1 * 5] * b[(j << 3) + 5] + a[i__ + 
		    a_dim1 * 6] * b[(j << 3) + 6] + a[i__ + a_dim1 * 7] * b[(
		    j << 3) + 7] + a[i__ + (a_dim1 << 3)] * b[(j << 3) + 8];
/* L10: */
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* mxf8_ */

/* Subroutine */ int mxm44_(doublereal *a, integer *n1, doublereal *b, 
	integer *n2, doublereal *c__, integer *n3)
{
    /* System generated locals */
    integer a_dim1, a_offset, b_dim1, b_offset, c_dim1, c_offset, i__1, i__2, 
	    i__3;

    /* Local variables */
    integer i__, j, k;
    doublereal s11, s12, s13, s14;

/*     FOUR COLUMNS AND TWO ROWS AT A TIME, N2 OF FOUR KINDS */
    /* Parameter adjustments */
    a_dim1 = *n1;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    c_dim1 = *n1;
    c_offset = 1 + c_dim1;
    c__ -= c_offset;
    b_dim1 = *n2;
    b_offset = 1 + b_dim1;
    b -= b_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n1 = 12; param n2 = 12; param n3 = 4096; } ) @*/
    i__1 = *n3;
    for (j = 1; j <= i__1; j += 4) {
	i__2 = *n1;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    s11 = 0.;
	    s12 = 0.;
	    s13 = 0.;
	    s14 = 0.;
	    i__3 = *n2;
	    for (k = 1; k <= i__3; ++k) {
		s11 += a[i__ + k * a_dim1] * b[k + j * b_dim1];
		s12 += a[i__ + k * a_dim1] * b[k + (j + 1) * b_dim1];
		s13 += a[i__ + k * a_dim1] * b[k + (j + 2) * b_dim1];
		s14 += a[i__ + k * a_dim1] * b[k + (j + 3) * b_dim1];
/* L10: */
	    }
	    c__[i__ + j * c_dim1] = s11;
	    c__[i__ + (j + 1) * c_dim1] = s12;
	    c__[i__ + (j + 2) * c_dim1] = s13;
	    c__[i__ + (j + 3) * c_dim1] = s14;
/* L20: */
	}
/* L30: */
    }
    /*@ end @*/
    return 0;
} /* mxm44_ */

/* Subroutine */ int locgr3_(doublereal *ur, doublereal *us, doublereal *ut, 
	doublereal *u, integer *n, integer *ne, doublereal *d__, doublereal *
	dt)
{
    /* System generated locals */
    integer ur_dim1, ur_dim2, ur_dim3, ur_offset, us_dim1, us_dim2, us_dim3, 
	    us_offset, ut_dim1, ut_dim2, ut_dim3, ut_offset, u_dim1, u_dim2, 
	    u_dim3, u_offset, d_dim1, d_offset, dt_dim1, dt_offset, i__1, 
	    i__2, i__3, i__4, i__5;

    /* Local variables */
    integer e, i__, j, k, l;

/*     THE GRADIENT OF EACH ELEMENT BY THREE PRODUCTS */
    /* Parameter adjustments */
    dt_dim1 = *n;
    dt_offset = 1 + dt_dim1;
    dt -= dt_offset;
    d_dim1 = *n;
    d_offset = 1 + d_dim1;
    d__ -= d_offset;
    u_dim1 = *n;
    u_dim2 = *n;
    u_dim3 = *n;
    u_offset = 1 + u_dim1 * (1 + u_dim2 * (1 + u_dim3));
    u -= u_offset;
    ut_dim1 = *n;
    ut_dim2 = *n;
    ut_dim3 = *n;
    ut_offset = 1 + ut_dim1 * (1 + ut_dim2 * (1 + ut_dim3));
    ut -= ut_offset;
    us_dim1 = *n;
    us_dim2 = *n;
    us_dim3 = *n;
    us_offset = 1 + us_dim1 * (1 + us_dim2 * (1 + us_dim3));
    us -= us_offset;
    ur_dim1 = *n;
    ur_dim2 = *n;
    ur_dim3 = *n;
    ur_offset = 1 + ur_dim1 * (1 + ur_dim2 * (1 + ur_dim3));
    ur -= ur_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 12; param ne = 1000; } ) @*/
    i__1 = *ne;
    for (e = 1; e <= i__1; ++e) {
	i__2 = *n;
	for (k = 1; k <= i__2; ++k) {
	    i__3 = *n;
	    for (j = 1; j <= i__3; ++j) {
		i__4 = *n;
		for (i__ = 1; i__ <= i__4; ++i__) {
		    ur[i__ + (j + (k + e * ur_dim3) * ur_dim2) * ur_dim1] = 
			    0.;
		    us[i__ + (j + (k + e * us_dim3) * us_dim2) * us_dim1] = 
			    0.;
		    ut[i__ + (j + (k + e * ut_dim3) * ut_dim2) * ut_dim1] = 
			    0.;
/* L20: */
		}
/* L30: */
	    }
	}
	i__3 = *n;
	for (k = 1; k <= i__3; ++k) {
	    i__2 = *n;
	    for (j = 1; j <= i__2; ++j) {
		i__4 = *n;
		for (i__ = 1; i__ <= i__4; ++i__) {
		    i__5 = *n;
		    for (l = 1; l <= i__5; ++l) {
			ur[i__ + (j + (k + e * ur_dim3) * ur_dim2) * ur_dim1] 
				+= d__[i__ + l * d_dim1] * u[l + (j + (k + e *
				 u_dim3) * u_dim2) * u_dim1];
			us[i__ + (j + (k + e * us_dim3) * us_dim2) * us_dim1] 
				+= u[i__ + (l + (k + e * u_dim3) * u_dim2) * 
				u_dim1] * dt[l + j * dt_dim1];
			ut[i__ + (j + (k + e * ut_dim3) * ut_dim2) * ut_dim1] 
				+= u[i__ + (j + (l + e * u_dim3) * u_dim2) * 
				u_dim1] * dt[l + k * dt_dim1];
/* L50: */
		    }
/* L60: */
		}
/* L70: */
	    }
/* L80: */
	}
/* L90: */
    }
    /*@ end @*/
    return 0;
} /* locgr3_ */

/* Subroutine */ int axe_(doublereal *w, doublereal *u, doublereal *gxyz, 
	doublereal *ur, doublereal *us, doublereal *ut, doublereal *d__, 
	doublereal *dt, integer *n, integer *ne)
{
    /* System generated locals */
    integer w_dim1, w_dim2, w_dim3, w_offset, u_dim1, u_dim2, u_dim3, 
	    u_offset, gxyz_dim2, gxyz_dim3, gxyz_dim4, gxyz_offset, ur_dim1, 
	    ur_dim2, ur_offset, us_dim1, us_dim2, us_offset, ut_dim1, ut_dim2,
	     ut_offset, d_dim1, d_offset, dt_dim1, dt_offset, i__1, i__2, 
	    i__3, i__4, i__5;

    /* Local variables */
    integer e, i__, j, k, l;
    doublereal wr, ws, wt;

/*     THE OPERATOR: GRADIENT INTO WORK ARRAYS OF ONE ELEMENT, METRIC, */
/*     AND ITS TRANSPOSE */
    /* Parameter adjustments */
    dt_dim1 = *n;
    dt_offset = 1 + dt_dim1;
    dt -= dt_offset;
    d_dim1 = *n;
    d_offset = 1 + d_dim1;
    d__ -= d_offset;
    ut_dim1 = *n;
    ut_dim2 = *n;
    ut_offset = 1 + ut_dim1 * (1 + ut_dim2);
    ut -= ut_offset;
    us_dim1 = *n;
    us_dim2 = *n;
    us_offset = 1 + us_dim1 * (1 + us_dim2);
    us -= us_offset;
    ur_dim1 = *n;
    ur_dim2 = *n;
    ur_offset = 1 + ur_dim1 * (1 + ur_dim2);
    ur -= ur_offset;
    gxyz_dim2 = *n;
    gxyz_dim3 = *n;
    gxyz_dim4 = *n;
    gxyz_offset = 1 + 6 * (1 + gxyz_dim2 * (1 + gxyz_dim3 * (1 + gxyz_dim4)));
    gxyz -= gxyz_offset;
    u_dim1 = *n;
    u_dim2 = *n;
    u_dim3 = *n;
    u_offset = 1 + u_dim1 * (1 + u_dim2 * (1 + u_dim3));
    u -= u_offset;
    w_dim1 = *n;
    w_dim2 = *n;
    w_dim3 = *n;
    w_offset = 1 + w_dim1 * (1 + w_dim2 * (1 + w_dim3));
    w -= w_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 12; param ne = 1000; } ) @*/
    i__1 = *ne;
    for (e = 1; e <= i__1; ++e) {
	i__2 = *n;
	for (k = 1; k <= i__2; ++k) {
	    i__3 = *n;
	    for (j = 1; j <= i__3; ++j) {
		i__4 = *n;
		for (i__ = 1; i__ <= i__4; ++i__) {
		    wr = 0.;
		    ws = 0.;
		    wt = 0.;
		    i__5 = *n;
		    for (l = 1; l <= i__5; ++l) {
			wr += d__[i__ + l * d_dim1] * u[l + (j + (k + e * 
				u_dim3) * u_dim2) * u_dim1];
			ws += u[i__ + (l + (k + e * u_dim3) * u_dim2) * 
				u_dim1] * dt[l + j * dt_dim1];
			wt += u[i__ + (j + (l + e * u_dim3) * u_dim2) * 
				u_dim1] * dt[l + k * dt_dim1];
/* L10: */
		    }
		    ur[i__ + (j + k * ur_dim2) * ur_dim1] = gxyz[(i__ + (j + (
			    k + e * gxyz_dim4) * gxyz_dim3) * gxyz_dim2) * 6 
			    + 1] * wr + gxyz[(i__ + (j + (k + e * gxyz_dim4) *
			     gxyz_dim3) * gxyz_dim2) * 6 + 2] * ws + gxyz[(
			    i__ + (j + (k + e * gxyz_dim4) * gxyz_dim3) * 
			    gxyz_dim2) * 6 + 3] * wt;
		    us[i__ + (j + k * us_dim2) * us_dim1] = gxyz[(i__ + (j + (
			    k + e * gxyz_dim4) * gxyz_dim3) * gxyz_dim2) * 6 
			    + 2] * wr + gxyz[(i__ + (j + (k + e * gxyz_dim4) *
			     gxyz_dim3) * gxyz_dim2) * 6 + 4] * ws + gxyz[(
			    i__ + (j + (k + e * gxyz_dim4) * gxyz_dim3) * 
			    gxyz_dim2) * 6 + 5] * wt;
		    ut[i__ + (j + k * ut_dim2) * ut_dim1] = gxyz[(i__ + (j + (
			    k + e * gxyz_dim4) * gxyz_dim3) * gxyz_dim2) * 6 
			    + 3] * wr + gxyz[(i__ + (j + (k + e * gxyz_dim4) *
			     gxyz_dim3) * gxyz_dim2) * 6 + 5] * ws + gxyz[(
			    i__ + (j + (k + e * gxyz_dim4) * gxyz_dim3) * 
			    gxyz_dim2) * 6 + 6] * wt;
/* L20: */
		}
/* L25: */
	    }
/* L30: */
	}
	i__2 = *n;
	for (k = 1; k <= i__2; ++k) {
	    i__3 = *n;
	    for (j = 1; j <= i__3; ++j) {
		i__4 = *n;
		for (i__ = 1; i__ <= i__4; ++i__) {
		    wr = 0.;
		    i__5 = *n;
		    for (l = 1; l <= i__5; ++l) {
			wr = wr + dt[i__ + l * dt_dim1] * ur[l + (j + k * 
				ur_dim2) * ur_dim1] + us[i__ + (l + k * 
				us_dim2) * us_dim1] * d__[l + j * d_dim1] + 
				ut[i__ + (j + l * ut_dim2) * ut_dim1] * d__[l 
				+ k * d_dim1];
/* L40: */
		    }
		    w[i__ + (j + (k + e * w_dim3) * w_dim2) * w_dim1] = wr;
/* L50: */
		}
/* L55: */
	    }
/* L60: */
	}
/* L90: */
    }
    /*@ end @*/
    return 0;
} /* axe_ */

/* Subroutine */ int axes_(doublereal *w, doublereal *u, doublereal *gxyz, 
	doublereal *d__, doublereal *dt, integer *ne)
{
    /* System generated locals */
    integer i__1;

    /* Local variables */
    integer e, i__, j, k, l;
    static doublereal ur[512]	/* was [8][8][8] */;

/*     THE SAME WITH STATIC WORK ARRAYS AND A FIXED ORDER */
    /* Parameter adjustments */
    d__ -= 9;
    dt -= 9;
    gxyz -= 585;
    u -= 585;
    w -= 585;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param ne = 1000; } ) @*/
    i__1 = *ne;
    for (e = 1; e <= i__1; ++e) {
	for (k = 1; k <= 8; ++k) {
	    for (j = 1; j <= 8; ++j) {
		for (i__ = 1; i__ <= 8; ++i__) {
		    ur[i__ + (j + (k << 3) << 3) - 73] = 0.;
		    for (l = 1; l <= 8; ++l) {
			ur[i__ + (j + (k << 3) << 3) - 73] += d__[i__ + (l << 
				3)] * u[l + (j + (k + (e << 3) << 3) << 3)];
/* L10: */
		    }
		    ur[i__ + (j + (k << 3) << 3) - 73] = gxyz[i__ + (j + (k + 
			    (e << 3) << 3) << 3)] * ur[i__ + (j + (k << 3) << 
			    3) - 73];
/* L20: */
		}
/* L25: */
	    }
/* L30: */
	}
	for (k = 1; k <= 8; ++k) {
	    for (j = 1; j <= 8; ++j) {
		for (i__ = 1; i__ <= 8; ++i__) {
		    w[i__ + (j + (k + (e << 3) << 3) << 3)] = 0.;
		    for (l = 1; l <= 8; ++l) {
			w[i__ + (j + (k + (e << 3) << 3) << 3)] += dt[i__ + (
				l << 3)] * ur[l + (j + (k << 3) << 3) - 73];
/* L40: */
		    }
/* L50: */
		}
/* L55: */
	    }
/* L60: */
	}
/* L90: */
    }
    /*@ end @*/
    return 0;
} /* axes_ */

doublereal glsc3_(doublereal *a, doublereal *b, doublereal *mult, integer *n)
{
    /* System generated locals */
    integer i__1;
    doublereal ret_val;

    /* Local variables */
    integer i__;
    doublereal tmp;
    /* Parameter adjustments */
    --mult;
    --b;
    --a;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 1728000; } ) @*/
    tmp = 0.;
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	tmp += a[i__] * b[i__] * mult[i__];
/* L10: */
    }
    /*@ end @*/
    ret_val = tmp;
    return ret_val;
} /* glsc3_ */

/* Subroutine */ int add2s2_(doublereal *a, doublereal *b, doublereal *c1, 
	integer *n)
{
    /* System generated locals */
    integer i__1;

    /* Local variables */
    integer i__;
    /* Parameter adjustments */
    --b;
    --a;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 1728000; } ) @*/
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	a[i__] += *c1 * b[i__];
/* L100: */
    }
    /*@ end @*/
    return 0;
} /* add2s2_ */

/* Subroutine */ int rzero3_(doublereal *a, doublereal *b, doublereal *c__, 
	integer *n)
{
    /* System generated locals */
    integer i__1;

    /* Local variables */
    integer i__;
    /* Parameter adjustments */
    --c__;
    --b;
    --a;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 1728000; } ) @*/
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	a[i__] = 0.;
	b[i__] = 0.;
	c__[i__] = 0.;
/* L10: */
    }
    /*@ end @*/
    return 0;
} /* rzero3_ */

