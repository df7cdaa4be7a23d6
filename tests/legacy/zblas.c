#include "f2c.h"

/* Subroutine */ int zaxpys_(integer *n, doublecomplex *za, doublecomplex *zx,
	 integer *incx, doublecomplex *zy, integer *incy)
{
    /* System generated locals */
    integer i__1, i__2, i__3, i__4;
    doublecomplex z__1, z__2;

    /* Local variables */
    integer i__, ix, iy;
    /* Parameter adjustments */
    --zy;
    --zx;

    /* Function Body */
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
	i__2 = iy;
	i__3 = iy;
	i__4 = ix;
	z__2.r = za->r * zx[i__4].r - za->i * zx[i__4].i, z__2.i = za->r * zx[
		i__4].i + za->i * zx[i__4].r;
	z__1.r = zy[i__3].r + z__2.r, z__1.i = zy[i__3].i + z__2.i;
	zy[i__2].r = z__1.r, zy[i__2].i = z__1.i;
	ix += *incx;
	iy += *incy;
/* L10: */
    }
    /*@ end @*/
    return 0;
} /* zaxpys_ */

/* Subroutine */ int zscalu_(integer *n, doublecomplex *za, doublecomplex *zx)
{
    /* System generated locals */
    integer i__1, i__2, i__3;
    doublecomplex z__1;

    /* Local variables */
    integer i__;
    /* Parameter adjustments */
    --zx;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 1000000; } ) @*/
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	i__2 = i__;
	i__3 = i__;
	z__1.r = za->r * zx[i__3].r - za->i * zx[i__3].i, z__1.i = za->r * zx[
		i__3].i + za->i * zx[i__3].r;
	zx[i__2].r = z__1.r, zx[i__2].i = z__1.i;
/* L30: */
    }
    /*@ end @*/
    return 0;
} /* zscalu_ */

/* Subroutine */ int zdotcu_(integer *n, doublecomplex *zx, doublecomplex *zy,
	 doublecomplex *zs)
{
    /* System generated locals */
    integer i__1, i__2;
    doublecomplex z__1, z__2, z__3;

    /* Builtin functions */
    void d_cnjg(doublecomplex *, doublecomplex *);

    /* Local variables */
    integer i__;

/*     CONJUGATED DOT PRODUCT, THE RESULT AN ARGUMENT */
    /* Parameter adjustments */
    --zy;
    --zx;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 1000000; } ) @*/
    zs->r = 0., zs->i = 0.;
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	d_cnjg(&z__3, &zx[i__]);
	i__2 = i__;
	z__2.r = z__3.r * zy[i__2].r - z__3.i * zy[i__2].i, z__2.i = z__3.r * 
		zy[i__2].i + z__3.i * zy[i__2].r;
	z__1.r = zs->r + z__2.r, z__1.i = zs->i + z__2.i;
	zs->r = z__1.r, zs->i = z__1.i;
/* L30: */
    }
    /*@ end @*/
    return 0;
} /* zdotcu_ */

doublereal dzasum_(integer *n, doublecomplex *zx)
{
    /* System generated locals */
    integer i__1, i__2;
    doublereal ret_val, d__1, d__2;

    /* Builtin functions */
    double d_imag(doublecomplex *);

    /* Local variables */
    integer i__;
    doublereal stemp;

    /* Parameter adjustments */
    --zx;

    /* Function Body */
    stemp = 0.;
    /*@ begin PerfTuning ( def input_params { param n = 1000000; } ) @*/
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	i__2 = i__;
	stemp = stemp + (d__1 = zx[i__2].r, abs(d__1)) + (d__2 = d_imag(&zx[
		i__]), abs(d__2));
/* L30: */
    }
    /*@ end @*/
    ret_val = stemp;
    return ret_val;
} /* dzasum_ */

/* Subroutine */ int zgemvn_(integer *m, integer *n, doublecomplex *alpha, 
	doublecomplex *a, integer *lda, doublecomplex *x, doublecomplex *y)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2, i__3, i__4, i__5;
    doublecomplex z__1, z__2;

    /* Local variables */
    integer i__, j;
    doublecomplex temp;
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    --x;
    --y;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param m = 1024; param n = 1024; param lda = 1024; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	i__2 = j;
	z__1.r = alpha->r * x[i__2].r - alpha->i * x[i__2].i, z__1.i = 
		alpha->r * x[i__2].i + alpha->i * x[i__2].r;
	temp.r = z__1.r, temp.i = z__1.i;
	i__2 = *m;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    i__3 = i__;
	    i__4 = i__;
	    i__5 = i__ + j * a_dim1;
	    z__2.r = temp.r * a[i__5].r - temp.i * a[i__5].i, z__2.i = temp.r 
		    * a[i__5].i + temp.i * a[i__5].r;
	    z__1.r = y[i__4].r + z__2.r, z__1.i = y[i__4].i + z__2.i;
	    y[i__3].r = z__1.r, y[i__3].i = z__1.i;
/* L50: */
	}
/* L60: */
    }
    /*@ end @*/
    return 0;
} /* zgemvn_ */

/* Subroutine */ int zgemvc_(integer *m, integer *n, doublecomplex *alpha, 
	doublecomplex *a, integer *lda, doublecomplex *x, integer *incx, 
	doublecomplex *y, integer *incy, logical *noconj)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2, i__3, i__4;
    doublecomplex z__1, z__2, z__3;

    /* Builtin functions */
    void d_cnjg(doublecomplex *, doublecomplex *);

    /* Local variables */
    integer i__, j, ix, jy, kx;
    doublecomplex temp;

    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    --x;
    --y;

    /* Function Body */
    kx = 1;
    if (*incx < 0) {
	kx = 1 - (*m - 1) * *incx;
    }
    jy = 1;
    if (*incy < 0) {
	jy = 1 - (*n - 1) * *incy;
    }
    /*@ begin PerfTuning ( def input_params { param m = 1024; param n = 1024; param lda = 1024; param incx = 1; param incy = 1; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	temp.r = 0., temp.i = 0.;
	ix = kx;
	if (*noconj) {
	    i__2 = *m;
	    for (i__ = 1; i__ <= i__2; ++i__) {
		i__3 = i__ + j * a_dim1;
		i__4 = ix;
		z__2.r = a[i__3].r * x[i__4].r - a[i__3].i * x[i__4].i, 
			z__2.i = a[i__3].r * x[i__4].i + a[i__3].i * x[i__4]
			.r;
		z__1.r = temp.r + z__2.r, z__1.i = temp.i + z__2.i;
		temp.r = z__1.r, temp.i = z__1.i;
		ix += *incx;
/* L120: */
	    }
	} else {
	    i__2 = *m;
	    for (i__ = 1; i__ <= i__2; ++i__) {
		d_cnjg(&z__3, &a[i__ + j * a_dim1]);
		i__3 = ix;
		z__2.r = z__3.r * x[i__3].r - z__3.i * x[i__3].i, z__2.i = 
			z__3.r * x[i__3].i + z__3.i * x[i__3].r;
		z__1.r = temp.r + z__2.r, z__1.i = temp.i + z__2.i;
		temp.r = z__1.r, temp.i = z__1.i;
		ix += *incx;
/* L130: */
	    }
	}
	i__2 = jy;
	i__3 = jy;
	z__2.r = alpha->r * temp.r - alpha->i * temp.i, z__2.i = alpha->r * 
		temp.i + alpha->i * temp.r;
	z__1.r = y[i__3].r + z__2.r, z__1.i = y[i__3].i + z__2.i;
	y[i__2].r = z__1.r, y[i__2].i = z__1.i;
	jy += *incy;
/* L140: */
    }
    /*@ end @*/
    return 0;
} /* zgemvc_ */

/* Subroutine */ int zgerc_(integer *m, integer *n, doublecomplex *alpha, 
	doublecomplex *x, doublecomplex *y, doublecomplex *a, integer *lda)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2, i__3, i__4, i__5;
    doublecomplex z__1, z__2;

    /* Builtin functions */
    void d_cnjg(doublecomplex *, doublecomplex *);

    /* Local variables */
    integer i__, j;
    doublecomplex temp;
    /* Parameter adjustments */
    --x;
    --y;
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param m = 1024; param n = 1024; param lda = 1024; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	i__2 = j;
	if (y[i__2].r != 0. || y[i__2].i != 0.) {
	    d_cnjg(&z__2, &y[j]);
	    z__1.r = alpha->r * z__2.r - alpha->i * z__2.i, z__1.i = alpha->r 
		    * z__2.i + alpha->i * z__2.r;
	    temp.r = z__1.r, temp.i = z__1.i;
	    i__2 = *m;
	    for (i__ = 1; i__ <= i__2; ++i__) {
		i__3 = i__ + j * a_dim1;
		i__4 = i__ + j * a_dim1;
		i__5 = i__;
		z__2.r = x[i__5].r * temp.r - x[i__5].i * temp.i, z__2.i = x[
			i__5].r * temp.i + x[i__5].i * temp.r;
		z__1.r = a[i__4].r + z__2.r, z__1.i = a[i__4].i + z__2.i;
		a[i__3].r = z__1.r, a[i__3].i = z__1.i;
/* L10: */
	    }
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* zgerc_ */

/* Subroutine */ int zhemvu_(integer *n, doublecomplex *alpha, doublecomplex *
	a, integer *lda, doublecomplex *x, doublecomplex *y)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2, i__3, i__4, i__5;
    doublereal d__1;
    doublecomplex z__1, z__2, z__3, z__4;

    /* Builtin functions */
    void d_cnjg(doublecomplex *, doublecomplex *);

    /* Local variables */
    integer i__, j;
    doublecomplex temp1, temp2;
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    --x;
    --y;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 1024; param lda = 1024; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	i__2 = j;
	z__1.r = alpha->r * x[i__2].r - alpha->i * x[i__2].i, z__1.i = 
		alpha->r * x[i__2].i + alpha->i * x[i__2].r;
	temp1.r = z__1.r, temp1.i = z__1.i;
	temp2.r = 0., temp2.i = 0.;
	i__2 = j - 1;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    i__3 = i__;
	    i__4 = i__;
	    i__5 = i__ + j * a_dim1;
	    z__2.r = temp1.r * a[i__5].r - temp1.i * a[i__5].i, z__2.i = 
		    temp1.r * a[i__5].i + temp1.i * a[i__5].r;
	    z__1.r = y[i__4].r + z__2.r, z__1.i = y[i__4].i + z__2.i;
	    y[i__3].r = z__1.r, y[i__3].i = z__1.i;
	    d_cnjg(&z__3, &a[i__ + j * a_dim1]);
	    i__3 = i__;
	    z__2.r = z__3.r * x[i__3].r - z__3.i * x[i__3].i, z__2.i = z__3.r 
		    * x[i__3].i + z__3.i * x[i__3].r;
	    z__1.r = temp2.r + z__2.r, z__1.i = temp2.i + z__2.i;
	    temp2.r = z__1.r, temp2.i = z__1.i;
/* L50: */
	}
	i__2 = j;
	i__3 = j;
	i__4 = j + j * a_dim1;
	d__1 = a[i__4].r;
	z__3.r = d__1 * temp1.r, z__3.i = d__1 * temp1.i;
	z__2.r = y[i__3].r + z__3.r, z__2.i = y[i__3].i + z__3.i;
	z__4.r = alpha->r * temp2.r - alpha->i * temp2.i, z__4.i = alpha->r * 
		temp2.i + alpha->i * temp2.r;
	z__1.r = z__2.r + z__4.r, z__1.i = z__2.i + z__4.i;
	y[i__2].r = z__1.r, y[i__2].i = z__1.i;
/* L60: */
    }
    /*@ end @*/
    return 0;
} /* zhemvu_ */

/* Subroutine */ int ztrsvu_(integer *n, doublecomplex *a, integer *lda, 
	doublecomplex *x)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2, i__3;
    doublecomplex z__1, z__2;

    /* Builtin functions */
    void z_div(doublecomplex *, doublecomplex *, doublecomplex *);

    /* Local variables */
    integer i__, j;
    doublecomplex temp;
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    --x;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 1024; param lda = 1024; } ) @*/
    for (j = *n; j >= 1; --j) {
	i__1 = j;
	z_div(&z__1, &x[j], &a[j + j * a_dim1]);
	x[i__1].r = z__1.r, x[i__1].i = z__1.i;
	i__1 = j;
	temp.r = x[i__1].r, temp.i = x[i__1].i;
	for (i__ = j - 1; i__ >= 1; --i__) {
	    i__1 = i__;
	    i__2 = i__;
	    i__3 = i__ + j * a_dim1;
	    z__2.r = temp.r * a[i__3].r - temp.i * a[i__3].i, z__2.i = temp.r 
		    * a[i__3].i + temp.i * a[i__3].r;
	    z__1.r = x[i__2].r - z__2.r, z__1.i = x[i__2].i - z__2.i;
	    x[i__1].r = z__1.r, x[i__1].i = z__1.i;
/* L10: */
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* ztrsvu_ */

/* Subroutine */ int zgemnn_(integer *m, integer *n, integer *k, 
	doublecomplex *alpha, doublecomplex *a, integer *lda, doublecomplex *
	b, integer *ldb, doublecomplex *beta, doublecomplex *c__, integer *
	ldc)
{
    /* System generated locals */
    integer a_dim1, a_offset, b_dim1, b_offset, c_dim1, c_offset, i__1, i__2, 
	    i__3, i__4, i__5, i__6;
    doublecomplex z__1, z__2;

    /* Local variables */
    integer i__, j, l;
    doublecomplex temp;
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    b_dim1 = *ldb;
    b_offset = 1 + b_dim1;
    b -= b_offset;
    c_dim1 = *ldc;
    c_offset = 1 + c_dim1;
    c__ -= c_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param m = 256; param n = 256; param k = 256; param lda = 256; param ldb = 256; param ldc = 256; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	i__2 = *m;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    i__3 = i__ + j * c_dim1;
	    i__4 = i__ + j * c_dim1;
	    z__1.r = beta->r * c__[i__4].r - beta->i * c__[i__4].i, z__1.i = 
		    beta->r * c__[i__4].i + beta->i * c__[i__4].r;
	    c__[i__3].r = z__1.r, c__[i__3].i = z__1.i;
/* L60: */
	}
	i__2 = *k;
	for (l = 1; l <= i__2; ++l) {
	    i__3 = l + j * b_dim1;
	    z__1.r = alpha->r * b[i__3].r - alpha->i * b[i__3].i, z__1.i = 
		    alpha->r * b[i__3].i + alpha->i * b[i__3].r;
	    temp.r = z__1.r, temp.i = z__1.i;
	    i__3 = *m;
	    for (i__ = 1; i__ <= i__3; ++i__) {
		i__4 = i__ + j * c_dim1;
		i__5 = i__ + j * c_dim1;
		i__6 = i__ + l * a_dim1;
		z__2.r = temp.r * a[i__6].r - temp.i * a[i__6].i, z__2.i = 
			temp.r * a[i__6].i + temp.i * a[i__6].r;
		z__1.r = c__[i__5].r + z__2.r, z__1.i = c__[i__5].i + z__2.i;
		c__[i__4].r = z__1.r, c__[i__4].i = z__1.i;
/* L70: */
	    }
/* L80: */
	}
/* L90: */
    }
    /*@ end @*/
    return 0;
} /* zgemnn_ */

/* Subroutine */ int zgemcn_(integer *m, integer *n, integer *k, 
	doublecomplex *alpha, doublecomplex *a, integer *lda, doublecomplex *
	b, integer *ldb, doublecomplex *beta, doublecomplex *c__, integer *
	ldc)
{
    /* System generated locals */
    integer a_dim1, a_offset, b_dim1, b_offset, c_dim1, c_offset, i__1, i__2, 
	    i__3, i__4;
    doublecomplex z__1, z__2, z__3;

    /* Builtin functions */
    void d_cnjg(doublecomplex *, doublecomplex *);

    /* Local variables */
    integer i__, j, l;
    doublecomplex temp, zero;

    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    b_dim1 = *ldb;
    b_offset = 1 + b_dim1;
    b -= b_offset;
    c_dim1 = *ldc;
    c_offset = 1 + c_dim1;
    c__ -= c_offset;

    /* Function Body */
    zero.r = 0., zero.i = 0.;
    /*@ begin PerfTuning ( def input_params { param m = 256; param n = 256; param k = 256; param lda = 256; param ldb = 256; param ldc = 256; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	i__2 = *m;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    temp.r = zero.r, temp.i = zero.i;
	    i__3 = *k;
	    for (l = 1; l <= i__3; ++l) {
		d_cnjg(&z__3, &a[l + i__ * a_dim1]);
		i__4 = l + j * b_dim1;
		z__2.r = z__3.r * b[i__4].r - z__3.i * b[i__4].i, z__2.i = 
			z__3.r * b[i__4].i + z__3.i * b[i__4].r;
		z__1.r = temp.r + z__2.r, z__1.i = temp.i + z__2.i;
		temp.r = z__1.r, temp.i = z__1.i;
/* L130: */
	    }
	    if (beta->r == zero.r && beta->i == zero.i) {
		i__3 = i__ + j * c_dim1;
		z__1.r = alpha->r * temp.r - alpha->i * temp.i, z__1.i = 
			alpha->r * temp.i + alpha->i * temp.r;
		c__[i__3].r = z__1.r, c__[i__3].i = z__1.i;
	    } else {
		i__3 = i__ + j * c_dim1;
		z__2.r = alpha->r * temp.r - alpha->i * temp.i, z__2.i = 
			alpha->r * temp.i + alpha->i * temp.r;
		i__4 = i__ + j * c_dim1;
		z__3.r = beta->r * c__[i__4].r - beta->i * c__[i__4].i, 
			z__3.i = beta->r * c__[i__4].i + beta->i * c__[i__4]
			.r;
		z__1.r = z__2.r + z__3.r, z__1.i = z__2.i + z__3.i;
		c__[i__3].r = z__1.r, c__[i__3].i = z__1.i;
	    }
/* L140: */
	}
/* L150: */
    }
    /*@ end @*/
    return 0;
} /* zgemcn_ */

/* Subroutine */ int zherkn_(integer *n, integer *k, doublereal *alpha, 
	doublecomplex *a, integer *lda, doublereal *beta, doublecomplex *c__, 
	integer *ldc)
{
    /* System generated locals */
    integer a_dim1, a_offset, c_dim1, c_offset, i__1, i__2, i__3, i__4, i__5, 
	    i__6;
    doublereal d__1;
    doublecomplex z__1, z__2;

    /* Builtin functions */
    void d_cnjg(doublecomplex *, doublecomplex *);

    /* Local variables */
    integer i__, j, l;
    doublecomplex temp;

/*     C := ALPHA*A*CONJG(A') + BETA*C: THE DIAGONAL STAYS REAL */
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    c_dim1 = *ldc;
    c_offset = 1 + c_dim1;
    c__ -= c_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 256; param k = 256; param lda = 256; param ldc = 256; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	i__2 = j - 1;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    i__3 = i__ + j * c_dim1;
	    i__4 = i__ + j * c_dim1;
	    z__1.r = *beta * c__[i__4].r, z__1.i = *beta * c__[i__4].i;
	    c__[i__3].r = z__1.r, c__[i__3].i = z__1.i;
/* L100: */
	}
	i__2 = j + j * c_dim1;
	i__3 = j + j * c_dim1;
	d__1 = *beta * c__[i__3].r;
	c__[i__2].r = d__1, c__[i__2].i = 0.;
	i__2 = *k;
	for (l = 1; l <= i__2; ++l) {
	    i__3 = j + l * a_dim1;
	    if (a[i__3].r != 0. || a[i__3].i != 0.) {
		d_cnjg(&z__2, &a[j + l * a_dim1]);
		z__1.r = *alpha * z__2.r, z__1.i = *alpha * z__2.i;
		temp.r = z__1.r, temp.i = z__1.i;
		i__3 = j - 1;
		for (i__ = 1; i__ <= i__3; ++i__) {
		    i__4 = i__ + j * c_dim1;
		    i__5 = i__ + j * c_dim1;
		    i__6 = i__ + l * a_dim1;
		    z__2.r = temp.r * a[i__6].r - temp.i * a[i__6].i, z__2.i =
			     temp.r * a[i__6].i + temp.i * a[i__6].r;
		    z__1.r = c__[i__5].r + z__2.r, z__1.i = c__[i__5].i + 
			    z__2.i;
		    c__[i__4].r = z__1.r, c__[i__4].i = z__1.i;
/* L110: */
		}
		i__3 = j + j * c_dim1;
		i__4 = j + j * c_dim1;
		i__5 = j + l * a_dim1;
		z__1.r = temp.r * a[i__5].r - temp.i * a[i__5].i, z__1.i = 
			temp.r * a[i__5].i + temp.i * a[i__5].r;
		d__1 = c__[i__4].r + z__1.r;
		c__[i__3].r = d__1, c__[i__3].i = 0.;
	    }
/* L120: */
	}
/* L130: */
    }
    /*@ end @*/
    return 0;
} /* zherkn_ */

/* Subroutine */ int zherkc_(integer *n, integer *k, doublereal *alpha, 
	doublecomplex *a, integer *lda, doublereal *beta, doublecomplex *c__, 
	integer *ldc)
{
    /* System generated locals */
    integer a_dim1, a_offset, c_dim1, c_offset, i__1, i__2, i__3, i__4;
    doublereal d__1;
    doublecomplex z__1, z__2, z__3;

    /* Builtin functions */
    void d_cnjg(doublecomplex *, doublecomplex *);

    /* Local variables */
    integer i__, j, l;
    doublecomplex temp;
    doublereal rtemp;
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    c_dim1 = *ldc;
    c_offset = 1 + c_dim1;
    c__ -= c_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 256; param k = 256; param lda = 256; param ldc = 256; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	i__2 = j - 1;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    temp.r = 0., temp.i = 0.;
	    i__3 = *k;
	    for (l = 1; l <= i__3; ++l) {
		d_cnjg(&z__3, &a[l + i__ * a_dim1]);
		i__4 = l + j * a_dim1;
		z__2.r = z__3.r * a[i__4].r - z__3.i * a[i__4].i, z__2.i = 
			z__3.r * a[i__4].i + z__3.i * a[i__4].r;
		z__1.r = temp.r + z__2.r, z__1.i = temp.i + z__2.i;
		temp.r = z__1.r, temp.i = z__1.i;
/* L190: */
	    }
	    i__3 = i__ + j * c_dim1;
	    z__2.r = *alpha * temp.r, z__2.i = *alpha * temp.i;
	    i__4 = i__ + j * c_dim1;
	    z__3.r = *beta * c__[i__4].r, z__3.i = *beta * c__[i__4].i;
	    z__1.r = z__2.r + z__3.r, z__1.i = z__2.i + z__3.i;
	    c__[i__3].r = z__1.r, c__[i__3].i = z__1.i;
/* L200: */
	}
	rtemp = 0.;
	i__2 = *k;
	for (l = 1; l <= i__2; ++l) {
	    d_cnjg(&z__3, &a[l + j * a_dim1]);
	    i__3 = l + j * a_dim1;
	    z__2.r = z__3.r * a[i__3].r - z__3.i * a[i__3].i, z__2.i = z__3.r 
		    * a[i__3].i + z__3.i * a[i__3].r;
	    z__1.r = rtemp + z__2.r, z__1.i = z__2.i;
	    rtemp = z__1.r;
/* L210: */
	}
	i__2 = j + j * c_dim1;
	i__3 = j + j * c_dim1;
	d__1 = *alpha * rtemp + *beta * c__[i__3].r;
	c__[i__2].r = d__1, c__[i__2].i = 0.;
/* L220: */
    }
    /*@ end @*/
    return 0;
} /* zherkc_ */

/* Subroutine */ int zhemml_(integer *m, integer *n, doublecomplex *alpha, 
	doublecomplex *a, integer *lda, doublecomplex *b, integer *ldb, 
	doublecomplex *beta, doublecomplex *c__, integer *ldc)
{
    /* System generated locals */
    integer a_dim1, a_offset, b_dim1, b_offset, c_dim1, c_offset, i__1, i__2, 
	    i__3, i__4, i__5, i__6;
    doublereal d__1;
    doublecomplex z__1, z__2, z__3, z__4, z__5;

    /* Builtin functions */
    void d_cnjg(doublecomplex *, doublecomplex *);

    /* Local variables */
    integer i__, j, k;
    doublecomplex temp1, temp2;
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    b_dim1 = *ldb;
    b_offset = 1 + b_dim1;
    b -= b_offset;
    c_dim1 = *ldc;
    c_offset = 1 + c_dim1;
    c__ -= c_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param m = 256; param n = 256; param lda = 256; param ldb = 256; param ldc = 256; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	i__2 = *m;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    i__3 = i__ + j * b_dim1;
	    z__1.r = alpha->r * b[i__3].r - alpha->i * b[i__3].i, z__1.i = 
		    alpha->r * b[i__3].i + alpha->i * b[i__3].r;
	    temp1.r = z__1.r, temp1.i = z__1.i;
	    temp2.r = 0., temp2.i = 0.;
	    i__3 = i__ - 1;
	    for (k = 1; k <= i__3; ++k) {
		i__4 = k + j * c_dim1;
		i__5 = k + j * c_dim1;
		i__6 = k + i__ * a_dim1;
		z__2.r = temp1.r * a[i__6].r - temp1.i * a[i__6].i, z__2.i = 
			temp1.r * a[i__6].i + temp1.i * a[i__6].r;
		z__1.r = c__[i__5].r + z__2.r, z__1.i = c__[i__5].i + z__2.i;
		c__[i__4].r = z__1.r, c__[i__4].i = z__1.i;
		i__4 = k + j * b_dim1;
		d_cnjg(&z__3, &a[k + i__ * a_dim1]);
		z__2.r = b[i__4].r * z__3.r - b[i__4].i * z__3.i, z__2.i = b[
			i__4].r * z__3.i + b[i__4].i * z__3.r;
		z__1.r = temp2.r + z__2.r, z__1.i = temp2.i + z__2.i;
		temp2.r = z__1.r, temp2.i = z__1.i;
/* L50: */
	    }
	    i__3 = i__ + j * c_dim1;
	    i__4 = i__ + j * c_dim1;
	    z__3.r = beta->r * c__[i__4].r - beta->i * c__[i__4].i, z__3.i = 
		    beta->r * c__[i__4].i + beta->i * c__[i__4].r;
	    i__5 = i__ + i__ * a_dim1;
	    d__1 = a[i__5].r;
	    z__4.r = d__1 * temp1.r, z__4.i = d__1 * temp1.i;
	    z__2.r = z__3.r + z__4.r, z__2.i = z__3.i + z__4.i;
	    z__5.r = alpha->r * temp2.r - alpha->i * temp2.i, z__5.i = 
		    alpha->r * temp2.i + alpha->i * temp2.r;
	    z__1.r = z__2.r + z__5.r, z__1.i = z__2.i + z__5.i;
	    c__[i__3].r = z__1.r, c__[i__3].i = z__1.i;
/* L60: */
	}
/* L70: */
    }
    /*@ end @*/
    return 0;
} /* zhemml_ */

/* Subroutine */ int ztrmlu_(integer *m, integer *n, doublecomplex *alpha, 
	doublecomplex *a, integer *lda, doublecomplex *b, integer *ldb)
{
    /* System generated locals */
    integer a_dim1, a_offset, b_dim1, b_offset, i__1, i__2, i__3, i__4, i__5, 
	    i__6;
    doublecomplex z__1, z__2;

    /* Local variables */
    integer i__, j, k;
    doublecomplex temp;
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    b_dim1 = *ldb;
    b_offset = 1 + b_dim1;
    b -= b_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param m = 256; param n = 256; param lda = 256; param ldb = 256; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	i__2 = *m;
	for (k = 1; k <= i__2; ++k) {
	    i__3 = k + j * b_dim1;
	    if (b[i__3].r != 0. || b[i__3].i != 0.) {
		i__3 = k + j * b_dim1;
		z__1.r = alpha->r * b[i__3].r - alpha->i * b[i__3].i, z__1.i =
			 alpha->r * b[i__3].i + alpha->i * b[i__3].r;
		temp.r = z__1.r, temp.i = z__1.i;
		i__3 = k - 1;
		for (i__ = 1; i__ <= i__3; ++i__) {
		    i__4 = i__ + j * b_dim1;
		    i__5 = i__ + j * b_dim1;
		    i__6 = i__ + k * a_dim1;
		    z__2.r = temp.r * a[i__6].r - temp.i * a[i__6].i, z__2.i =
			     temp.r * a[i__6].i + temp.i * a[i__6].r;
		    z__1.r = b[i__5].r + z__2.r, z__1.i = b[i__5].i + z__2.i;
		    b[i__4].r = z__1.r, b[i__4].i = z__1.i;
/* L30: */
		}
		i__3 = k + j * b_dim1;
		i__4 = k + k * a_dim1;
		z__1.r = temp.r * a[i__4].r - temp.i * a[i__4].i, z__1.i = 
			temp.r * a[i__4].i + temp.i * a[i__4].r;
		b[i__3].r = z__1.r, b[i__3].i = z__1.i;
	    }
/* L40: */
	}
/* L50: */
    }
    /*@ end @*/
    return 0;
} /* ztrmlu_ */

/* Subroutine */ int ztrslc_(integer *m, integer *n, doublecomplex *alpha, 
	doublecomplex *a, integer *lda, doublecomplex *b, integer *ldb)
{
    /* System generated locals */
    integer a_dim1, a_offset, b_dim1, b_offset, i__1, i__2, i__3, i__4;
    doublecomplex z__1, z__2, z__3;

    /* Builtin functions */
    void d_cnjg(doublecomplex *, doublecomplex *), z_div(doublecomplex *, 
	    doublecomplex *, doublecomplex *);

    /* Local variables */
    integer i__, j, k;
    doublecomplex temp;
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    b_dim1 = *ldb;
    b_offset = 1 + b_dim1;
    b -= b_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param m = 256; param n = 256; param lda = 256; param ldb = 256; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	i__2 = *m;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    i__3 = i__ + j * b_dim1;
	    z__1.r = alpha->r * b[i__3].r - alpha->i * b[i__3].i, z__1.i = 
		    alpha->r * b[i__3].i + alpha->i * b[i__3].r;
	    temp.r = z__1.r, temp.i = z__1.i;
	    i__3 = i__ - 1;
	    for (k = 1; k <= i__3; ++k) {
		d_cnjg(&z__3, &a[k + i__ * a_dim1]);
		i__4 = k + j * b_dim1;
		z__2.r = z__3.r * b[i__4].r - z__3.i * b[i__4].i, z__2.i = 
			z__3.r * b[i__4].i + z__3.i * b[i__4].r;
		z__1.r = temp.r - z__2.r, z__1.i = temp.i - z__2.i;
		temp.r = z__1.r, temp.i = z__1.i;
/* L120: */
	    }
	    d_cnjg(&z__2, &a[i__ + i__ * a_dim1]);
	    z_div(&z__1, &temp, &z__2);
	    temp.r = z__1.r, temp.i = z__1.i;
	    i__3 = i__ + j * b_dim1;
	    b[i__3].r = temp.r, b[i__3].i = temp.i;
/* L130: */
	}
/* L140: */
    }
    /*@ end @*/
    return 0;
} /* ztrslc_ */

/* Subroutine */ int zsyr2n_(integer *n, integer *k, doublecomplex *alpha, 
	doublecomplex *a, integer *lda, doublecomplex *b, integer *ldb, 
	doublecomplex *c__, integer *ldc)
{
    /* System generated locals */
    integer a_dim1, a_offset, b_dim1, b_offset, c_dim1, c_offset, i__1, i__2, 
	    i__3, i__4, i__5, i__6, i__7;
    doublecomplex z__1, z__2, z__3, z__4;

    /* Local variables */
    integer i__, j, l;
    doublecomplex temp1, temp2;
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    b_dim1 = *ldb;
    b_offset = 1 + b_dim1;
    b -= b_offset;
    c_dim1 = *ldc;
    c_offset = 1 + c_dim1;
    c__ -= c_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 256; param k = 256; param lda = 256; param ldb = 256; param ldc = 256; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	i__2 = *k;
	for (l = 1; l <= i__2; ++l) {
	    i__3 = j + l * b_dim1;
	    z__1.r = alpha->r * b[i__3].r - alpha->i * b[i__3].i, z__1.i = 
		    alpha->r * b[i__3].i + alpha->i * b[i__3].r;
	    temp1.r = z__1.r, temp1.i = z__1.i;
	    i__3 = j + l * a_dim1;
	    z__1.r = alpha->r * a[i__3].r - alpha->i * a[i__3].i, z__1.i = 
		    alpha->r * a[i__3].i + alpha->i * a[i__3].r;
	    temp2.r = z__1.r, temp2.i = z__1.i;
	    i__3 = *n;
	    for (i__ = j; i__ <= i__3; ++i__) {
		i__4 = i__ + j * c_dim1;
		i__5 = i__ + j * c_dim1;
		i__6 = i__ + l * a_dim1;
		z__3.r = a[i__6].r * temp1.r - a[i__6].i * temp1.i, z__3.i = 
			a[i__6].r * temp1.i + a[i__6].i * temp1.r;
		z__2.r = c__[i__5].r + z__3.r, z__2.i = c__[i__5].i + z__3.i;
		i__7 = i__ + l * b_dim1;
		z__4.r = b[i__7].r * temp2.r - b[i__7].i * temp2.i, z__4.i = 
			b[i__7].r * temp2.i + b[i__7].i * temp2.r;
		z__1.r = z__2.r + z__4.r, z__1.i = z__2.i + z__4.i;
		c__[i__4].r = z__1.r, c__[i__4].i = z__1.i;
/* L110: */
	    }
/* L120: */
	}
/* L130: */
    }
    /*@ end @*/
    return 0;
} /* zsyr2n_ */

/* Subroutine */ int cgemnn_(integer *m, integer *n, integer *k, complex *
	alpha, complex *a, integer *lda, complex *b, integer *ldb, complex *
	c__, integer *ldc)
{
    /* System generated locals */
    integer a_dim1, a_offset, b_dim1, b_offset, c_dim1, c_offset, i__1, i__2, 
	    i__3, i__4, i__5, i__6;
    complex q__1, q__2;

    /* Local variables */
    integer i__, j, l;
    complex temp;

/*     SINGLE PRECISION */
    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    b_dim1 = *ldb;
    b_offset = 1 + b_dim1;
    b -= b_offset;
    c_dim1 = *ldc;
    c_offset = 1 + c_dim1;
    c__ -= c_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param m = 256; param n = 256; param k = 256; param lda = 256; param ldb = 256; param ldc = 256; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	i__2 = *k;
	for (l = 1; l <= i__2; ++l) {
	    i__3 = l + j * b_dim1;
	    q__1.r = alpha->r * b[i__3].r - alpha->i * b[i__3].i, q__1.i = 
		    alpha->r * b[i__3].i + alpha->i * b[i__3].r;
	    temp.r = q__1.r, temp.i = q__1.i;
	    i__3 = *m;
	    for (i__ = 1; i__ <= i__3; ++i__) {
		i__4 = i__ + j * c_dim1;
		i__5 = i__ + j * c_dim1;
		i__6 = i__ + l * a_dim1;
		q__2.r = temp.r * a[i__6].r - temp.i * a[i__6].i, q__2.i = 
			temp.r * a[i__6].i + temp.i * a[i__6].r;
		q__1.r = c__[i__5].r + q__2.r, q__1.i = c__[i__5].i + q__2.i;
		c__[i__4].r = q__1.r, c__[i__4].i = q__1.i;
/* L70: */
	    }
/* L80: */
	}
/* L90: */
    }
    /*@ end @*/
    return 0;
} /* cgemnn_ */

