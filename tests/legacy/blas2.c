#include "f2c.h"

/* Subroutine */ int dgemvn_(integer *m, integer *n, doublereal *alpha, 
	doublereal *a, integer *lda, doublereal *x, integer *incx, doublereal 
	*beta, doublereal *y)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2;

    /* Local variables */
    static integer i__, j, jx, kx;
    static doublereal temp;

/*     Y := ALPHA*A*X + BETA*Y, COLUMN BY COLUMN */
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    --x;
    --y;

    /* Function Body */
    if (*m == 0 || *n == 0) {
	return 0;
    }
    kx = 1;
    if (*incx < 0) {
	kx = 1 - (*n - 1) * *incx;
    }
    /*@ begin PerfTuning ( def input_params { param m = 2048; param n = 2048; param lda = 2048; param incx = 1; } ) @*/
    if (*beta != 1.) {
	if (*beta == 0.) {
	    i__1 = *m;
	    for (i__ = 1; i__ <= i__1; ++i__) {
		y[i__] = 0.;
/* L10: */
	    }
	} else {
	    i__1 = *m;
	    for (i__ = 1; i__ <= i__1; ++i__) {
		y[i__] = *beta * y[i__];
/* L20: */
	    }
	}
    }
    jx = kx;
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	temp = *alpha * x[jx];
	i__2 = *m;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    y[i__] += temp * a[i__ + j * a_dim1];
/* L50: */
	}
	jx += *incx;
/* L60: */
    }
    /*@ end @*/
    return 0;
} /* dgemvn_ */

/* Subroutine */ int dgemvz_(integer *m, integer *n, doublereal *alpha, 
	doublereal *a, integer *lda, doublereal *x, doublereal *y)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2;

    /* Local variables */
    static integer i__, j;
    static doublereal temp;

/*     THE OLDER FORM, WHICH SKIPS COLUMNS OF A ZERO */
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    --x;
    --y;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param m = 2048; param n = 2048; param lda = 2048; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	if (x[j] != 0.) {
	    temp = *alpha * x[j];
	    i__2 = *m;
	    for (i__ = 1; i__ <= i__2; ++i__) {
		y[i__] += temp * a[i__ + j * a_dim1];
/* L50: */
	    }
	}
/* L60: */
    }
    /*@ end @*/
    return 0;
} /* dgemvz_ */

/* Subroutine */ int dgemvs_(integer *m, integer *n, doublereal *alpha, 
	doublereal *a, integer *lda, doublereal *x, integer *incx, doublereal 
	*y, integer *incy)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2;

    /* Local variables */
    static integer i__, j, iy, jx, kx, ky;
    static doublereal temp;

/*     BOTH VECTORS WITH STRIDES */
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    --x;
    --y;

    /* Function Body */
    kx = 1;
    ky = 1;
    if (*incx < 0) {
	kx = 1 - (*n - 1) * *incx;
    }
    if (*incy < 0) {
	ky = 1 - (*m - 1) * *incy;
    }
    /*@ begin PerfTuning ( def input_params { param m = 2048; param n = 2048; param lda = 2048; param incx = 1; param incy = 1; } ) @*/
    jx = kx;
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	temp = *alpha * x[jx];
	iy = ky;
	i__2 = *m;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    y[iy] += temp * a[i__ + j * a_dim1];
	    iy += *incy;
/* L70: */
	}
	jx += *incx;
/* L80: */
    }
    /*@ end @*/
    return 0;
} /* dgemvs_ */

/* Subroutine */ int dgemvt_(integer *m, integer *n, doublereal *alpha, 
	doublereal *a, integer *lda, doublereal *x, doublereal *y, integer *
	incy)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2;

    /* Local variables */
    static integer i__, j, jy;
    static doublereal temp;

    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    --x;
    --y;

    /* Function Body */
    jy = 1;
    if (*incy < 0) {
	jy = 1 - (*n - 1) * *incy;
    }
    /*@ begin PerfTuning ( def input_params { param m = 2048; param n = 2048; param lda = 2048; param incy = 1; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	temp = 0.;
	i__2 = *m;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    temp += a[i__ + j * a_dim1] * x[i__];
/* L90: */
	}
	y[jy] += *alpha * temp;
	jy += *incy;
/* L100: */
    }
    /*@ end @*/
    return 0;
} /* dgemvt_ */

/* Subroutine */ int dgers_(integer *m, integer *n, doublereal *alpha, 
	doublereal *x, integer *incx, doublereal *y, integer *incy, 
	doublereal *a, integer *lda)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2;

    /* Local variables */
    static integer i__, j, ix, jy, kx;
    static doublereal temp;

    /* Parameter adjustments */
    --x;
    --y;
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;

    /* Function Body */
    jy = 1;
    if (*incy < 0) {
	jy = 1 - (*n - 1) * *incy;
    }
    kx = 1;
    if (*incx < 0) {
	kx = 1 - (*m - 1) * *incx;
    }
    /*@ begin PerfTuning ( def input_params { param m = 2048; param n = 2048; param lda = 2048; param incx = 1; param incy = 1; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	if (y[jy] != 0.) {
	    temp = *alpha * y[jy];
	    ix = kx;
	    i__2 = *m;
	    for (i__ = 1; i__ <= i__2; ++i__) {
		a[i__ + j * a_dim1] += x[ix] * temp;
		ix += *incx;
/* L30: */
	    }
	}
	jy += *incy;
/* L40: */
    }
    /*@ end @*/
    return 0;
} /* dgers_ */

/* Subroutine */ int dsymvu_(integer *n, doublereal *alpha, doublereal *a, 
	integer *lda, doublereal *x, doublereal *y)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2;

    /* Local variables */
    static integer i__, j;
    static doublereal temp1, temp2;

/*     A SYMMETRIC, ITS UPPER TRIANGLE */
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    --x;
    --y;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 2048; param lda = 2048; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	temp1 = *alpha * x[j];
	temp2 = 0.;
	i__2 = j - 1;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    y[i__] += temp1 * a[i__ + j * a_dim1];
	    temp2 += a[i__ + j * a_dim1] * x[i__];
/* L50: */
	}
	y[j] = y[j] + temp1 * a[j + j * a_dim1] + *alpha * temp2;
/* L60: */
    }
    /*@ end @*/
    return 0;
} /* dsymvu_ */

/* Subroutine */ int dsymvl_(integer *n, doublereal *alpha, doublereal *a, 
	integer *lda, doublereal *x, integer *incx, doublereal *y, integer *
	incy)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2;

    /* Local variables */
    static integer i__, j, ix, iy, jx, jy, kx, ky;
    static doublereal temp1, temp2;

    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    --x;
    --y;

    /* Function Body */
    kx = 1;
    ky = 1;
    if (*incx < 0) {
	kx = 1 - (*n - 1) * *incx;
    }
    if (*incy < 0) {
	ky = 1 - (*n - 1) * *incy;
    }
    /*@ begin PerfTuning ( def input_params { param n = 2048; param lda = 2048; param incx = 1; param incy = 1; } ) @*/
    jx = kx;
    jy = ky;
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	temp1 = *alpha * x[jx];
	temp2 = 0.;
	y[jy] += temp1 * a[j + j * a_dim1];
	ix = jx;
	iy = jy;
	i__2 = *n;
	for (i__ = j + 1; i__ <= i__2; ++i__) {
	    ix += *incx;
	    iy += *incy;
	    y[iy] += temp1 * a[i__ + j * a_dim1];
	    temp2 += a[i__ + j * a_dim1] * x[ix];
/* L110: */
	}
	y[jy] += *alpha * temp2;
	jx += *incx;
	jy += *incy;
/* L120: */
    }
    /*@ end @*/
    return 0;
} /* dsymvl_ */

/* Subroutine */ int dsyru_(integer *n, doublereal *alpha, doublereal *x, 
	doublereal *a, integer *lda)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2;

    /* Local variables */
    static integer i__, j;
    static doublereal temp;
    /* Parameter adjustments */
    --x;
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 2048; param lda = 2048; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	if (x[j] != 0.) {
	    temp = *alpha * x[j];
	    i__2 = j;
	    for (i__ = 1; i__ <= i__2; ++i__) {
		a[i__ + j * a_dim1] += x[i__] * temp;
/* L10: */
	    }
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* dsyru_ */

/* Subroutine */ int dsyr2l_(integer *n, doublereal *alpha, doublereal *x, 
	integer *incx, doublereal *y, integer *incy, doublereal *a, integer *
	lda)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2;

    /* Local variables */
    static integer i__, j, ix, iy, jx, jy;
    static doublereal temp1, temp2;

    /* Parameter adjustments */
    --x;
    --y;
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;

    /* Function Body */
    jx = 1;
    jy = 1;
    if (*incx < 0) {
	jx = 1 - (*n - 1) * *incx;
    }
    if (*incy < 0) {
	jy = 1 - (*n - 1) * *incy;
    }
    /*@ begin PerfTuning ( def input_params { param n = 2048; param incx = 1; param incy = 1; param lda = 2048; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	if (x[jx] != 0. || y[jy] != 0.) {
	    temp1 = *alpha * y[jy];
	    temp2 = *alpha * x[jx];
	    ix = jx;
	    iy = jy;
	    i__2 = *n;
	    for (i__ = j; i__ <= i__2; ++i__) {
		a[i__ + j * a_dim1] = a[i__ + j * a_dim1] + x[ix] * temp1 + y[
			iy] * temp2;
		ix += *incx;
		iy += *incy;
/* L70: */
	    }
	}
	jx += *incx;
	jy += *incy;
/* L80: */
    }
    /*@ end @*/
    return 0;
} /* dsyr2l_ */

/* Subroutine */ int dtrmvn_(integer *n, doublereal *a, integer *lda, 
	doublereal *x, logical *nounit)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2;

    /* Local variables */
    static integer i__, j;
    static doublereal temp;

/*     X := A*X, A UPPER TRIANGULAR: X(J) IS READ BEFORE IT IS SCALED */
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    --x;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 2048; param lda = 2048; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	if (x[j] != 0.) {
	    temp = x[j];
	    i__2 = j - 1;
	    for (i__ = 1; i__ <= i__2; ++i__) {
		x[i__] += temp * a[i__ + j * a_dim1];
/* L10: */
	    }
	    if (*nounit) {
		x[j] *= a[j + j * a_dim1];
	    }
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* dtrmvn_ */

/* Subroutine */ int dtrmvt_(integer *n, doublereal *a, integer *lda, 
	doublereal *x, integer *incx, logical *nounit)
{
    /* System generated locals */
    integer a_dim1, a_offset;

    /* Local variables */
    static integer i__, j, ix, jx, kx;
    static doublereal temp;

    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    --x;

    /* Function Body */
    kx = 1;
    if (*incx < 0) {
	kx = 1 - (*n - 1) * *incx;
    }
    /*@ begin PerfTuning ( def input_params { param n = 2048; param lda = 2048; param incx = 1; } ) @*/
    jx = kx + (*n - 1) * *incx;
    for (j = *n; j >= 1; --j) {
	temp = x[jx];
	ix = jx;
	if (*nounit) {
	    temp *= a[j + j * a_dim1];
	}
	for (i__ = j - 1; i__ >= 1; --i__) {
	    ix -= *incx;
	    temp += a[i__ + j * a_dim1] * x[ix];
/* L110: */
	}
	x[jx] = temp;
	jx -= *incx;
/* L120: */
    }
    /*@ end @*/
    return 0;
} /* dtrmvt_ */

/* Subroutine */ int dtrsvu_(integer *n, doublereal *a, integer *lda, 
	doublereal *x, logical *nounit)
{
    /* System generated locals */
    integer a_dim1, a_offset;

    /* Local variables */
    static integer i__, j;
    static doublereal temp;
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    --x;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 2048; param lda = 2048; } ) @*/
    for (j = *n; j >= 1; --j) {
	if (x[j] != 0.) {
	    if (*nounit) {
		x[j] /= a[j + j * a_dim1];
	    }
	    temp = x[j];
	    for (i__ = j - 1; i__ >= 1; --i__) {
		x[i__] -= temp * a[i__ + j * a_dim1];
/* L10: */
	    }
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* dtrsvu_ */

/* Subroutine */ int dtrsvt_(integer *n, doublereal *a, integer *lda, 
	doublereal *x, logical *nounit)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2;

    /* Local variables */
    static integer i__, j;
    static doublereal temp;
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    --x;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 2048; param lda = 2048; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	temp = x[j];
	i__2 = j - 1;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    temp -= a[i__ + j * a_dim1] * x[i__];
/* L90: */
	}
	if (*nounit) {
	    temp /= a[j + j * a_dim1];
	}
	x[j] = temp;
/* L100: */
    }
    /*@ end @*/
    return 0;
} /* dtrsvt_ */

/* Subroutine */ int dgbmvn_(integer *m, integer *n, integer *kl, integer *ku,
	 doublereal *alpha, doublereal *a, integer *lda, doublereal *x, 
	doublereal *y)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2, i__3, i__4, i__5, i__6;

    /* Local variables */
    static integer i__, j, k, kup1;
    static doublereal temp;

/*     A BAND MATRIX */
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    --x;
    --y;

    /* Function Body */
    kup1 = *ku + 1;
    /*@ begin PerfTuning ( def input_params { param m = 4096; param n = 4096; param kl = 8; param ku = 8; param lda = 17; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	temp = *alpha * x[j];
	k = kup1 - j;
/* Computing MAX */
	i__2 = 1, i__3 = j - *ku;
/* Computing MIN */
	i__5 = *m, i__6 = j + *kl;
	i__4 = min(i__5,i__6);
	for (i__ = max(i__2,i__3); i__ <= i__4; ++i__) {
	    y[i__] += temp * a[k + i__ + j * a_dim1];
/* L50: */
	}
/* L60: */
    }
    /*@ end @*/
    return 0;
} /* dgbmvn_ */

/* Subroutine */ int dgbmvt_(integer *m, integer *n, integer *kl, integer *ku,
	 doublereal *alpha, doublereal *a, integer *lda, doublereal *x, 
	integer *incx, doublereal *y, integer *incy)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2, i__3, i__4, i__5, i__6;

    /* Local variables */
    static integer i__, j, k, ix, jy, kx, kup1;
    static doublereal temp;

/*     ITS TRANSPOSE, WITH STRIDES: THE START MOVES ONCE THE BAND LEAVES */
/*     THE FIRST ROW */
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    --x;
    --y;

    /* Function Body */
    kup1 = *ku + 1;
    kx = 1;
    jy = 1;
    /*@ begin PerfTuning ( def input_params { param m = 4096; param n = 4096; param kl = 8; param ku = 8; param lda = 17; param incx = 1; param incy = 1; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	temp = 0.;
	ix = kx;
	k = kup1 - j;
/* Computing MAX */
	i__2 = 1, i__3 = j - *ku;
/* Computing MIN */
	i__5 = *m, i__6 = j + *kl;
	i__4 = min(i__5,i__6);
	for (i__ = max(i__2,i__3); i__ <= i__4; ++i__) {
	    temp += a[k + i__ + j * a_dim1] * x[ix];
	    ix += *incx;
/* L110: */
	}
	y[jy] += *alpha * temp;
	jy += *incy;
	if (j > *ku) {
	    kx += *incx;
	}
/* L120: */
    }
    /*@ end @*/
    return 0;
} /* dgbmvt_ */

/* Subroutine */ int dsbmvu_(integer *n, integer *k, doublereal *alpha, 
	doublereal *a, integer *lda, doublereal *x, doublereal *y)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2, i__3, i__4;

    /* Local variables */
    static integer i__, j, l;
    static doublereal temp1, temp2;
    static integer kplus1;

    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    --x;
    --y;

    /* Function Body */
    kplus1 = *k + 1;
    /*@ begin PerfTuning ( def input_params { param n = 4096; param k = 8; param lda = 9; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	temp1 = *alpha * x[j];
	temp2 = 0.;
	l = kplus1 - j;
/* Computing MAX */
	i__2 = 1, i__3 = j - *k;
	i__4 = j - 1;
	for (i__ = max(i__2,i__3); i__ <= i__4; ++i__) {
	    y[i__] += temp1 * a[l + i__ + j * a_dim1];
	    temp2 += a[l + i__ + j * a_dim1] * x[i__];
/* L50: */
	}
	y[j] = y[j] + temp1 * a[kplus1 + j * a_dim1] + *alpha * temp2;
/* L60: */
    }
    /*@ end @*/
    return 0;
} /* dsbmvu_ */

/* Subroutine */ int dspmvu_(integer *n, doublereal *alpha, doublereal *ap, 
	doublereal *x, doublereal *y)
{
    /* System generated locals */
    integer i__1, i__2;

    /* Local variables */
    static integer i__, j, k, kk;
    static doublereal temp1, temp2;

/*     PACKED STORAGE: KK WALKS BY COLUMNS OF GROWING LENGTH */
    /* Parameter adjustments */
    --y;
    --x;
    --ap;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 2048; } ) @*/
    kk = 1;
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	temp1 = *alpha * x[j];
	temp2 = 0.;
	k = kk;
	i__2 = j - 1;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    y[i__] += temp1 * ap[k];
	    temp2 += ap[k] * x[i__];
	    ++k;
/* L50: */
	}
	y[j] = y[j] + temp1 * ap[kk + j - 1] + *alpha * temp2;
	kk += j;
/* L60: */
    }
    /*@ end @*/
    return 0;
} /* dspmvu_ */

/* Subroutine */ int dsprl_(integer *n, doublereal *alpha, doublereal *x, 
	doublereal *ap)
{
    /* System generated locals */
    integer i__1, i__2;

    /* Local variables */
    static integer i__, j, k, kk;
    static doublereal temp;
    /* Parameter adjustments */
    --ap;
    --x;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 2048; } ) @*/
    kk = 1;
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	if (x[j] != 0.) {
	    temp = *alpha * x[j];
	    k = kk;
	    i__2 = *n;
	    for (i__ = j; i__ <= i__2; ++i__) {
		ap[k] += x[i__] * temp;
		++k;
/* L50: */
	    }
	}
	kk = kk + *n - j + 1;
/* L60: */
    }
    /*@ end @*/
    return 0;
} /* dsprl_ */

/* Subroutine */ int dspr2u_(integer *n, doublereal *alpha, doublereal *x, 
	integer *incx, doublereal *y, integer *incy, doublereal *ap)
{
    /* System generated locals */
    integer i__1, i__2;

    /* Local variables */
    static integer j, k, kk, ix, iy, jx, jy, kx, ky;
    static doublereal temp1, temp2;

    /* Parameter adjustments */
    --ap;
    --y;
    --x;

    /* Function Body */
    kx = 1;
    ky = 1;
    if (*incx < 0) {
	kx = 1 - (*n - 1) * *incx;
    }
    if (*incy < 0) {
	ky = 1 - (*n - 1) * *incy;
    }
    jx = kx;
    jy = ky;
    /*@ begin PerfTuning ( def input_params { param n = 2048; param incx = 1; param incy = 1; } ) @*/
    kk = 1;
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	if (x[jx] != 0. || y[jy] != 0.) {
	    temp1 = *alpha * y[jy];
	    temp2 = *alpha * x[jx];
	    ix = kx;
	    iy = ky;
	    i__2 = kk + j - 1;
	    for (k = kk; k <= i__2; ++k) {
		ap[k] = ap[k] + x[ix] * temp1 + y[iy] * temp2;
		ix += *incx;
		iy += *incy;
/* L30: */
	    }
	}
	jx += *incx;
	jy += *incy;
	kk += j;
/* L40: */
    }
    /*@ end @*/
    return 0;
} /* dspr2u_ */

/* Subroutine */ int dtpmvt_(integer *n, doublereal *ap, doublereal *x, 
	logical *nounit)
{
    static integer i__, j, k, kk;
    static doublereal temp;

/*     PACKED TRIANGULAR, TRANSPOSED: THE COLUMNS FROM THE LAST ONE DOWN */
    /* Parameter adjustments */
    --x;
    --ap;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 2048; } ) @*/
    kk = *n * (*n + 1) / 2;
    for (j = *n; j >= 1; --j) {
	temp = x[j];
	if (*nounit) {
	    temp *= ap[kk];
	}
	k = kk - 1;
	for (i__ = j - 1; i__ >= 1; --i__) {
	    temp += ap[k] * x[i__];
	    --k;
/* L90: */
	}
	x[j] = temp;
	kk -= j;
/* L100: */
    }
    /*@ end @*/
    return 0;
} /* dtpmvt_ */

/* Subroutine */ int dtpsvu_(integer *n, doublereal *ap, doublereal *x, 
	logical *nounit)
{
    static integer i__, j, k, kk;
    static doublereal temp;
    /* Parameter adjustments */
    --x;
    --ap;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 2048; } ) @*/
    kk = *n * (*n + 1) / 2;
    for (j = *n; j >= 1; --j) {
	if (x[j] != 0.) {
	    if (*nounit) {
		x[j] /= ap[kk];
	    }
	    temp = x[j];
	    k = kk - 1;
	    for (i__ = j - 1; i__ >= 1; --i__) {
		x[i__] -= temp * ap[k];
		--k;
/* L10: */
	    }
	}
	kk -= j;
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* dtpsvu_ */

/* Subroutine */ int dtbmvn_(integer *n, integer *k, doublereal *a, integer *
	lda, doublereal *x, logical *nounit)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2, i__3, i__4;

    /* Local variables */
    static integer i__, j, l;
    static doublereal temp;
    static integer kplus1;

    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    --x;

    /* Function Body */
    kplus1 = *k + 1;
    /*@ begin PerfTuning ( def input_params { param n = 4096; param k = 8; param lda = 9; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	if (x[j] != 0.) {
	    temp = x[j];
	    l = kplus1 - j;
/* Computing MAX */
	    i__2 = 1, i__3 = j - *k;
	    i__4 = j - 1;
	    for (i__ = max(i__2,i__3); i__ <= i__4; ++i__) {
		x[i__] += temp * a[l + i__ + j * a_dim1];
/* L10: */
	    }
	    if (*nounit) {
		x[j] *= a[kplus1 + j * a_dim1];
	    }
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* dtbmvn_ */

