#include "f2c.h"

/* Subroutine */ int daxpyu_(integer *n, doublereal *da, doublereal *dx, 
	doublereal *dy)
{
    /* System generated locals */
    integer i__1;

    /* Local variables */
    integer i__, m, mp1;

/*     DY := DY + DA*DX, BY FOURS, THE CLEAN-UP FIRST */
    /* Parameter adjustments */
    --dy;
    --dx;

    /* Function Body */
    if (*n <= 0) {
	return 0;
    }
    if (*da == 0.) {
	return 0;
    }
    /*@ begin PerfTuning ( def input_params { param n = 1000000; } ) @*/
    m = *n % 4;
    if (m != 0) {
	i__1 = m;
	for (i__ = 1; i__ <= i__1; ++i__) {
	    dy[i__] += *da * dx[i__];
/* L30: */
	}
    }
    mp1 = m + 1;
    i__1 = *n;
    for (i__ = mp1; i__ <= i__1; i__ += 4) {
	dy[i__] += *da * dx[i__];
	dy[i__ + 1] += *da * dx[i__ + 1];
	dy[i__ + 2] += *da * dx[i__ + 2];
	dy[i__ + 3] += *da * dx[i__ + 3];
/* L50: */
    }
    /*@ end @*/
    return 0;
} /* daxpyu_ */

/* Subroutine */ int daxpym_(integer *n, doublereal *da, doublereal *dx, 
	doublereal *dy)
{
    /* System generated locals */
    integer i__1;

    /* Local variables */
    integer i__, m, mp1;

/*     THE UNROLLED LOOP ALONE */
    /* Parameter adjustments */
    --dy;
    --dx;

    /* Function Body */
    m = *n % 4;
    mp1 = m + 1;
    /*@ begin PerfTuning ( def input_params { param n = 1000000; } ) @*/
    i__1 = *n;
    for (i__ = mp1; i__ <= i__1; i__ += 4) {
	dy[i__] += *da * dx[i__];
	dy[i__ + 1] += *da * dx[i__ + 1];
	dy[i__ + 2] += *da * dx[i__ + 2];
	dy[i__ + 3] += *da * dx[i__ + 3];
/* L50: */
    }
    /*@ end @*/
    return 0;
} /* daxpym_ */

/* Subroutine */ int daxpys_(integer *n, doublereal *da, doublereal *dx, 
	integer *incx, doublereal *dy, integer *incy)
{
    /* System generated locals */
    integer i__1;

    /* Local variables */
    integer i__, ix, iy;

/*     STRIDES, EITHER OF WHICH MAY RUN BACKWARDS */
    /* Parameter adjustments */
    --dy;
    --dx;

    /* Function Body */
    if (*n <= 0) {
	return 0;
    }
    /*@ begin PerfTuning ( def input_params { param n = 1000000; param incx = 2; param incy = 1; } ) @*/
    ix = 1;
    iy = 1;
    if (*incx < 0) {
	ix = (-(*n) + 1) * *incx + 1;
    }
    if (*incy < 0) {
	iy = (-(*n) + 1) * *incy + 1;
    }
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	dy[iy] += *da * dx[ix];
	ix += *incx;
	iy += *incy;
/* L10: */
    }
    /*@ end @*/
    return 0;
} /* daxpys_ */

doublereal ddotu_(integer *n, doublereal *dx, doublereal *dy)
{
    /* System generated locals */
    integer i__1;
    doublereal ret_val;

    /* Local variables */
    integer i__, m, mp1;
    doublereal dtemp;

/*     DOT PRODUCT BY FIVES */
    /* Parameter adjustments */
    --dy;
    --dx;

    /* Function Body */
    ret_val = 0.;
    dtemp = 0.;
    if (*n <= 0) {
	return ret_val;
    }
    m = *n % 5;
    i__1 = m;
    for (i__ = 1; i__ <= i__1; ++i__) {
	dtemp += dx[i__] * dy[i__];
/* L30: */
    }
    mp1 = m + 1;
    /*@ begin PerfTuning ( def input_params { param n = 1000000; } ) @*/
    i__1 = *n;
    for (i__ = mp1; i__ <= i__1; i__ += 5) {
	dtemp = dtemp + dx[i__] * dy[i__] + dx[i__ + 1] * dy[i__ + 1] + dx[
		i__ + 2] * dy[i__ + 2] + dx[i__ + 3] * dy[i__ + 3] + dx[i__ + 
		4] * dy[i__ + 4];
/* L50: */
    }
    /*@ end @*/
    ret_val = dtemp;
    return ret_val;
} /* ddotu_ */

doublereal ddots_(integer *n, doublereal *dx, integer *incx, doublereal *dy, 
	integer *incy)
{
    /* System generated locals */
    integer i__1;
    doublereal ret_val;

    /* Local variables */
    integer i__, ix, iy;
    doublereal dtemp;

    /* Parameter adjustments */
    --dy;
    --dx;

    /* Function Body */
    ret_val = 0.;
    dtemp = 0.;
    if (*n <= 0) {
	return ret_val;
    }
    /*@ begin PerfTuning ( def input_params { param n = 1000000; param incx = 1; param incy = 1; } ) @*/
    ix = 1;
    iy = 1;
    if (*incx < 0) {
	ix = (-(*n) + 1) * *incx + 1;
    }
    if (*incy < 0) {
	iy = (-(*n) + 1) * *incy + 1;
    }
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	dtemp += dx[ix] * dy[iy];
	ix += *incx;
	iy += *incy;
/* L10: */
    }
    /*@ end @*/
    ret_val = dtemp;
    return ret_val;
} /* ddots_ */

/* Subroutine */ int drots_(integer *n, doublereal *dx, integer *incx, 
	doublereal *dy, integer *incy, doublereal *c__, doublereal *s)
{
    /* System generated locals */
    integer i__1;

    /* Local variables */
    integer i__, ix, iy;
    doublereal dtemp;

    /* Parameter adjustments */
    --dy;
    --dx;

    /* Function Body */
    if (*n <= 0) {
	return 0;
    }
    ix = 1;
    iy = 1;
    if (*incx < 0) {
	ix = (-(*n) + 1) * *incx + 1;
    }
    if (*incy < 0) {
	iy = (-(*n) + 1) * *incy + 1;
    }
    /*@ begin PerfTuning ( def input_params { param n = 1000000; param incx = 1; param incy = 1; } ) @*/
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	dtemp = *c__ * dx[ix] + *s * dy[iy];
	dy[iy] = *c__ * dy[iy] - *s * dx[ix];
	dx[ix] = dtemp;
	ix += *incx;
	iy += *incy;
/* L10: */
    }
    /*@ end @*/
    return 0;
} /* drots_ */

/* Subroutine */ int drotu_(integer *n, doublereal *dx, doublereal *dy, 
	doublereal *c__, doublereal *s)
{
    /* System generated locals */
    integer i__1;

    /* Local variables */
    integer i__;
    doublereal dtemp;
    /* Parameter adjustments */
    --dy;
    --dx;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 1000000; } ) @*/
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	dtemp = *c__ * dx[i__] + *s * dy[i__];
	dy[i__] = *c__ * dy[i__] - *s * dx[i__];
	dx[i__] = dtemp;
/* L30: */
    }
    /*@ end @*/
    return 0;
} /* drotu_ */

/* Subroutine */ int dscals_(integer *n, doublereal *da, doublereal *dx, 
	integer *incx)
{
    /* System generated locals */
    integer i__1, i__2;

    /* Local variables */
    integer i__, nincx;

/*     THE STEP OF THE LOOP IS AN ARGUMENT */
    /* Parameter adjustments */
    --dx;

    /* Function Body */
    if (*n <= 0 || *incx <= 0) {
	return 0;
    }
    /*@ begin PerfTuning ( def input_params { param n = 1000000; param incx = 3; } ) @*/
    nincx = *n * *incx;
    i__1 = nincx;
    i__2 = *incx;
    for (i__ = 1; i__2 < 0 ? i__ >= i__1 : i__ <= i__1; i__ += i__2) {
	dx[i__] = *da * dx[i__];
/* L10: */
    }
    /*@ end @*/
    return 0;
} /* dscals_ */

/* Subroutine */ int dscalu_(integer *n, doublereal *da, doublereal *dx)
{
    /* System generated locals */
    integer i__1;

    /* Local variables */
    integer i__, m, mp1;

    /* Parameter adjustments */
    --dx;

    /* Function Body */
    m = *n % 5;
    i__1 = m;
    for (i__ = 1; i__ <= i__1; ++i__) {
	dx[i__] = *da * dx[i__];
/* L30: */
    }
    if (*n < 5) {
	return 0;
    }
    mp1 = m + 1;
    /*@ begin PerfTuning ( def input_params { param n = 1000000; } ) @*/
    i__1 = *n;
    for (i__ = mp1; i__ <= i__1; i__ += 5) {
	dx[i__] = *da * dx[i__];
	dx[i__ + 1] = *da * dx[i__ + 1];
	dx[i__ + 2] = *da * dx[i__ + 2];
	dx[i__ + 3] = *da * dx[i__ + 3];
	dx[i__ + 4] = *da * dx[i__ + 4];
/* L50: */
    }
    /*@ end @*/
    return 0;
} /* dscalu_ */

integer idamxu_(integer *n, doublereal *dx)
{
    /* System generated locals */
    integer ret_val, i__1;
    doublereal d__1;

    /* Local variables */
    integer i__;
    doublereal dmax__;

/*     THE FIRST ELEMENT OF LARGEST MAGNITUDE */
    /* Parameter adjustments */
    --dx;

    /* Function Body */
    ret_val = 0;
    if (*n < 1) {
	return ret_val;
    }
    ret_val = 1;
    if (*n == 1) {
	return ret_val;
    }
    /*@ begin PerfTuning ( def input_params { param n = 1000000; } ) @*/
    dmax__ = abs(dx[1]);
    i__1 = *n;
    for (i__ = 2; i__ <= i__1; ++i__) {
	if ((d__1 = dx[i__], abs(d__1)) > dmax__) {
	    ret_val = i__;
	    dmax__ = (d__1 = dx[i__], abs(d__1));
	}
/* L30: */
    }
    /*@ end @*/
    return ret_val;
} /* idamxu_ */

integer idamxs_(integer *n, doublereal *dx, integer *incx)
{
    /* System generated locals */
    integer ret_val, i__1;
    doublereal d__1;

    /* Local variables */
    integer i__, ix;
    doublereal dmax__;

    /* Parameter adjustments */
    --dx;

    /* Function Body */
    ret_val = 0;
    if (*n < 1 || *incx <= 0) {
	return ret_val;
    }
    ret_val = 1;
    if (*n == 1) {
	return ret_val;
    }
    /*@ begin PerfTuning ( def input_params { param n = 1000000; param incx = 2; } ) @*/
    ix = 1;
    dmax__ = abs(dx[1]);
    ix += *incx;
    i__1 = *n;
    for (i__ = 2; i__ <= i__1; ++i__) {
	if ((d__1 = dx[ix], abs(d__1)) <= dmax__) {
	    goto L5;
	}
	ret_val = i__;
	dmax__ = (d__1 = dx[ix], abs(d__1));
L5:
	ix += *incx;
/* L10: */
    }
    /*@ end @*/
    return ret_val;
} /* idamxs_ */

doublereal dasumu_(integer *n, doublereal *dx)
{
    /* System generated locals */
    integer i__1;
    doublereal ret_val, d__1, d__2, d__3, d__4, d__5, d__6;

    /* Local variables */
    integer i__, m, mp1;
    doublereal dtemp;

    /* Parameter adjustments */
    --dx;

    /* Function Body */
    ret_val = 0.;
    dtemp = 0.;
    if (*n <= 0) {
	return ret_val;
    }
    /*@ begin PerfTuning ( def input_params { param n = 1000000; } ) @*/
    m = *n % 6;
    i__1 = m;
    for (i__ = 1; i__ <= i__1; ++i__) {
	dtemp += (d__1 = dx[i__], abs(d__1));
/* L30: */
    }
    mp1 = m + 1;
    i__1 = *n;
    for (i__ = mp1; i__ <= i__1; i__ += 6) {
	dtemp = dtemp + (d__1 = dx[i__], abs(d__1)) + (d__2 = dx[i__ + 1], 
		abs(d__2)) + (d__3 = dx[i__ + 2], abs(d__3)) + (d__4 = dx[i__ 
		+ 3], abs(d__4)) + (d__5 = dx[i__ + 4], abs(d__5)) + (d__6 = 
		dx[i__ + 5], abs(d__6));
/* L50: */
    }
    /*@ end @*/
    ret_val = dtemp;
    return ret_val;
} /* dasumu_ */

/* Subroutine */ int dcopys_(integer *n, doublereal *dx, integer *incx, 
	doublereal *dy, integer *incy)
{
    /* System generated locals */
    integer i__1;

    /* Local variables */
    integer i__, ix, iy;

    /* Parameter adjustments */
    --dy;
    --dx;

    /* Function Body */
    if (*n <= 0) {
	return 0;
    }
    /*@ begin PerfTuning ( def input_params { param n = 1000000; param incx = 1; param incy = 2; } ) @*/
    ix = 1;
    iy = 1;
    if (*incx < 0) {
	ix = (-(*n) + 1) * *incx + 1;
    }
    if (*incy < 0) {
	iy = (-(*n) + 1) * *incy + 1;
    }
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	dy[iy] = dx[ix];
	ix += *incx;
	iy += *incy;
/* L10: */
    }
    /*@ end @*/
    return 0;
} /* dcopys_ */

/* Subroutine */ int dswapu_(integer *n, doublereal *dx, doublereal *dy)
{
    /* System generated locals */
    integer i__1;

    /* Local variables */
    integer i__, m, mp1;
    doublereal dtemp;

    /* Parameter adjustments */
    --dy;
    --dx;

    /* Function Body */
    m = *n % 3;
    i__1 = m;
    for (i__ = 1; i__ <= i__1; ++i__) {
	dtemp = dx[i__];
	dx[i__] = dy[i__];
	dy[i__] = dtemp;
/* L30: */
    }
    if (*n < 3) {
	return 0;
    }
    mp1 = m + 1;
    /*@ begin PerfTuning ( def input_params { param n = 1000000; } ) @*/
    i__1 = *n;
    for (i__ = mp1; i__ <= i__1; i__ += 3) {
	dtemp = dx[i__];
	dx[i__] = dy[i__];
	dy[i__] = dtemp;
	dtemp = dx[i__ + 1];
	dx[i__ + 1] = dy[i__ + 1];
	dy[i__ + 1] = dtemp;
	dtemp = dx[i__ + 2];
	dx[i__ + 2] = dy[i__ + 2];
	dy[i__ + 2] = dtemp;
/* L50: */
    }
    /*@ end @*/
    return 0;
} /* dswapu_ */

/* Subroutine */ int drotms_(integer *n, doublereal *dx, integer *incx, 
	doublereal *dy, integer *incy, doublereal *dparam)
{
    /* System generated locals */
    integer i__1;

    /* Local variables */
    integer i__;
    doublereal w, z__;
    integer kx, ky;
    doublereal dh11, dh12, dh21, dh22;

/*     THE MODIFIED ROTATION, FLAG -1: A FULL MATRIX */
    /* Parameter adjustments */
    --dparam;
    --dy;
    --dx;

    /* Function Body */
    kx = 1;
    ky = 1;
    if (*incx < 0) {
	kx = (1 - *n) * *incx + 1;
    }
    if (*incy < 0) {
	ky = (1 - *n) * *incy + 1;
    }
    dh11 = dparam[2];
    dh12 = dparam[4];
    dh21 = dparam[3];
    dh22 = dparam[5];
    /*@ begin PerfTuning ( def input_params { param n = 1000000; param incx = 1; param incy = 1; } ) @*/
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	w = dx[kx];
	z__ = dy[ky];
	dx[kx] = w * dh11 + z__ * dh12;
	dy[ky] = w * dh21 + z__ * dh22;
	kx += *incx;
	ky += *incy;
/* L10: */
    }
    /*@ end @*/
    return 0;
} /* drotms_ */

doublereal dnrm2s_(integer *n, doublereal *x, integer *incx)
{
    /* System generated locals */
    integer i__1, i__2;
    doublereal ret_val, d__1;

    /* Builtin functions */
    double sqrt(doublereal);

    /* Local variables */
    integer ix;
    doublereal ssq, scale, absxi;

/*     SCALE AND SUM OF SQUARES: EACH STEP NEEDS THE ONE BEFORE */
    /* Parameter adjustments */
    --x;

    /* Function Body */
    scale = 0.;
    ssq = 1.;
    /*@ begin PerfTuning ( def input_params { param n = 1000; param incx = 1; } ) @*/
    i__1 = (*n - 1) * *incx + 1;
    i__2 = *incx;
    for (ix = 1; i__2 < 0 ? ix >= i__1 : ix <= i__1; ix += i__2) {
	if (x[ix] != 0.) {
	    absxi = (d__1 = x[ix], abs(d__1));
	    if (scale < absxi) {
/* Computing 2nd power */
		d__1 = scale / absxi;
		ssq = ssq * (d__1 * d__1) + 1.;
		scale = absxi;
	    } else {
/* Computing 2nd power */
		d__1 = absxi / scale;
		ssq += d__1 * d__1;
	    }
	}
/* L10: */
    }
    /*@ end @*/
    ret_val = scale * sqrt(ssq);
    return ret_val;
} /* dnrm2s_ */

doublereal dsdots_(integer *n, real *sx, integer *incx, real *sy, integer *
	incy)
{
    /* System generated locals */
    integer i__1;
    doublereal ret_val;

    /* Local variables */
    integer i__, kx, ky;

/*     SINGLE PRECISION, SUMMED IN DOUBLE */
    /* Parameter adjustments */
    --sy;
    --sx;

    /* Function Body */
    ret_val = 0.;
    if (*n <= 0) {
	return ret_val;
    }
    /*@ begin PerfTuning ( def input_params { param n = 1000000; param incx = 1; param incy = 1; } ) @*/
    kx = 1;
    ky = 1;
    if (*incx < 0) {
	kx = (1 - *n) * *incx + 1;
    }
    if (*incy < 0) {
	ky = (1 - *n) * *incy + 1;
    }
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	ret_val += (doublereal) sx[kx] * (doublereal) sy[ky];
	kx += *incx;
	ky += *incy;
/* L10: */
    }
    /*@ end @*/
    return ret_val;
} /* dsdots_ */

