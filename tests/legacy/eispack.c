#include "f2c.h"

/* Subroutine */ int tred2r_(integer *nm, integer *n, doublereal *z__, 
	doublereal *d__, doublereal *e)
{
    /* System generated locals */
    integer z_dim1, z_offset, i__1, i__2;

    /* Local variables */
    static doublereal f, g, h__;
    static integer j, k, l;

/*     THE REDUCTION TO TRIDIAGONAL FORM, THE STEP OF ONE ROW */
    /* Parameter adjustments */
    --e;
    --d__;
    z_dim1 = *nm;
    z_offset = 1 + z_dim1;
    z__ -= z_offset;

    /* Function Body */
    l = *n - 1;
    h__ = d__[*n];
    /*@ begin PerfTuning ( def input_params { param n = 512; param nm = 512; } ) @*/
    f = 0.;
    i__1 = l;
    for (j = 1; j <= i__1; ++j) {
	z__[j + *n * z_dim1] = d__[j];
	g = e[j] + z__[j + j * z_dim1] * d__[j];
	i__2 = l;
	for (k = j + 1; k <= i__2; ++k) {
	    g += z__[k + j * z_dim1] * d__[k];
	    e[k] += z__[k + j * z_dim1] * d__[j];
/* L200: */
	}
	e[j] = g;
/* L240: */
    }
    i__1 = l;
    for (j = 1; j <= i__1; ++j) {
	e[j] /= h__;
	f += e[j] * d__[j];
/* L245: */
    }
    /*@ end @*/
    d__[*n] = f;
    return 0;
} /* tred2r_ */

/* Subroutine */ int tred2u_(integer *nm, integer *l, doublereal *z__, 
	doublereal *d__, doublereal *e)
{
    /* System generated locals */
    integer z_dim1, z_offset, i__1, i__2;

    /* Local variables */
    static doublereal f, g;
    static integer j, k;

/*     ITS RANK-2 UPDATE */
    /* Parameter adjustments */
    z_dim1 = *nm;
    z_offset = 1 + z_dim1;
    z__ -= z_offset;
    --d__;
    --e;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param l = 1024; param nm = 1024; } ) @*/
    i__1 = *l;
    for (j = 1; j <= i__1; ++j) {
	f = d__[j];
	g = e[j];
	i__2 = *l;
	for (k = j; k <= i__2; ++k) {
	    z__[k + j * z_dim1] = z__[k + j * z_dim1] - f * e[k] - g * d__[k];
/* L260: */
	}
/* L280: */
    }
    /*@ end @*/
    return 0;
} /* tred2u_ */

/* Subroutine */ int tred2b_(integer *nm, integer *n, doublereal *z__, 
	doublereal *d__)
{
    /* System generated locals */
    integer z_dim1, z_offset, i__1, i__2;

    /* Local variables */
    static doublereal g;
    static integer j, k, l;

/*     THE TRANSFORMATIONS ACCUMULATED, THE STEP OF ONE COLUMN */
    /* Parameter adjustments */
    z_dim1 = *nm;
    z_offset = 1 + z_dim1;
    z__ -= z_offset;
    --d__;

    /* Function Body */
    l = *n - 1;
    /*@ begin PerfTuning ( def input_params { param n = 1024; param nm = 1024; } ) @*/
    i__1 = l;
    for (j = 1; j <= i__1; ++j) {
	g = 0.;
	i__2 = l;
	for (k = 1; k <= i__2; ++k) {
	    g += z__[k + *n * z_dim1] * z__[k + j * z_dim1];
/* L340: */
	}
	i__2 = l;
	for (k = 1; k <= i__2; ++k) {
	    z__[k + j * z_dim1] -= g * d__[k];
/* L350: */
	}
/* L360: */
    }
    /*@ end @*/
    return 0;
} /* tred2b_ */

/* Subroutine */ int balan1_(integer *nm, integer *n, doublereal *a, 
	doublereal *c__, doublereal *r__)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2;
    doublereal d__1;

    /* Local variables */
    static integer i__, j;

/*     NORMS OF ROWS AND COLUMNS WITHOUT THE DIAGONAL */
    /* Parameter adjustments */
    a_dim1 = *nm;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    --c__;
    --r__;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 1024; param nm = 1024; } ) @*/
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	c__[i__] = 0.;
	r__[i__] = 0.;
	i__2 = *n;
	for (j = 1; j <= i__2; ++j) {
	    if (j == i__) {
		goto L200;
	    }
	    c__[i__] += (d__1 = a[j + i__ * a_dim1], abs(d__1));
	    r__[i__] += (d__1 = a[i__ + j * a_dim1], abs(d__1));
L200:
	    ;
	}
/* L270: */
    }
    /*@ end @*/
    return 0;
} /* balan1_ */

/* Subroutine */ int balan2_(integer *nm, integer *n, doublereal *a, 
	doublereal *scale)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2;

    /* Local variables */
    static doublereal f, g;
    static integer i__, j;

/*     SCALING OF ROWS AND COLUMNS */
    /* Parameter adjustments */
    a_dim1 = *nm;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    --scale;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 512; param nm = 512; } ) @*/
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	f = scale[i__];
	g = 1. / f;
	i__2 = *n;
	for (j = 1; j <= i__2; ++j) {
	    a[i__ + j * a_dim1] *= g;
/* L250: */
	}
	i__2 = *n;
	for (j = 1; j <= i__2; ++j) {
	    a[j + i__ * a_dim1] *= f;
/* L260: */
	}
/* L270: */
    }
    /*@ end @*/
    return 0;
} /* balan2_ */

/* Subroutine */ int hqrrow_(integer *nm, integer *n, integer *k, integer *en,
	 doublereal *h__, doublereal *p, doublereal *q, doublereal *r__, 
	doublereal *x, doublereal *y, doublereal *zz)
{
    /* System generated locals */
    integer h_dim1, h_offset, i__1, i__2;

    /* Local variables */
    static integer i__, j;

/*     A DOUBLE QR STEP: THE ROWS */
    /* Parameter adjustments */
    h_dim1 = *nm;
    h_offset = 1 + h_dim1;
    h__ -= h_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 1024; param nm = 1024; param k = 3; param en = 1024; } ) @*/
    i__1 = *n;
    for (j = *k; j <= i__1; ++j) {
	*p = h__[*k + j * h_dim1] + *q * h__[*k + 1 + j * h_dim1] + *r__ * 
		h__[*k + 2 + j * h_dim1];
	h__[*k + j * h_dim1] -= *p * *x;
	h__[*k + 1 + j * h_dim1] -= *p * *y;
	h__[*k + 2 + j * h_dim1] -= *p * *zz;
/* L200: */
    }
/* Computing MIN */
    i__1 = *en, i__2 = *k + 3;
    j = min(i__1,i__2);
    i__1 = j;
    for (i__ = 1; i__ <= i__1; ++i__) {
	*p = *x * h__[i__ + *k * h_dim1] + *y * h__[i__ + (*k + 1) * h_dim1] 
		+ *zz * h__[i__ + (*k + 2) * h_dim1];
	h__[i__ + *k * h_dim1] -= *p;
	h__[i__ + (*k + 1) * h_dim1] -= *p * *q;
	h__[i__ + (*k + 2) * h_dim1] -= *p * *r__;
/* L210: */
    }
    /*@ end @*/
    return 0;
} /* hqrrow_ */

/* Subroutine */ int hqrnrm_(integer *nm, integer *n, doublereal *h__, 
	doublereal *norm)
{
    /* System generated locals */
    integer h_dim1, h_offset, i__1, i__2;
    doublereal d__1;

    /* Local variables */
    static integer i__, j, k;

/*     THE NORM OF A HESSENBERG MATRIX: K FOLLOWS THE ROW */
    /* Parameter adjustments */
    h_dim1 = *nm;
    h_offset = 1 + h_dim1;
    h__ -= h_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 1024; param nm = 1024; } ) @*/
    *norm = 0.;
    k = 1;
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	i__2 = *n;
	for (j = k; j <= i__2; ++j) {
	    *norm += (d__1 = h__[i__ + j * h_dim1], abs(d__1));
/* L40: */
	}
	k = i__;
/* L50: */
    }
    /*@ end @*/
    return 0;
} /* hqrnrm_ */

/* Subroutine */ int hqrbak_(integer *nm, integer *n, doublereal *h__, 
	doublereal *z__)
{
    /* System generated locals */
    integer h_dim1, h_offset, z_dim1, z_offset, i__1, i__2, i__3;

    /* Local variables */
    static integer i__, j, k, m, jj;
    static doublereal zz;

/*     VECTORS BY THE TRANSFORMATION MATRIX, FROM THE LAST ONE DOWN */
    /* Parameter adjustments */
    z_dim1 = *nm;
    z_offset = 1 + z_dim1;
    z__ -= z_offset;
    h_dim1 = *nm;
    h_offset = 1 + h_dim1;
    h__ -= h_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 256; param nm = 256; } ) @*/
    i__1 = *n;
    for (jj = 1; jj <= i__1; ++jj) {
	j = *n + 1 - jj;
	m = min(j,*n);
	i__2 = *n;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    zz = 0.;
	    i__3 = m;
	    for (k = 1; k <= i__3; ++k) {
		zz += z__[i__ + k * z_dim1] * h__[k + j * h_dim1];
/* L860: */
	    }
	    z__[i__ + j * z_dim1] = zz;
/* L870: */
	}
/* L880: */
    }
    /*@ end @*/
    return 0;
} /* hqrbak_ */

/* Subroutine */ int tql2v_(integer *nm, integer *n, integer *l, integer *m, 
	doublereal *z__, doublereal *c__, doublereal *s)
{
    /* System generated locals */
    integer z_dim1, z_offset, i__1, i__2;

    /* Local variables */
    static doublereal h__;
    static integer i__, k, ii, mml;

/*     ROTATIONS OF THE VECTORS: THE LAST COLUMN FIRST */
    /* Parameter adjustments */
    z_dim1 = *nm;
    z_offset = 1 + z_dim1;
    z__ -= z_offset;
    --c__;
    --s;

    /* Function Body */
    mml = *m - *l;
    /*@ begin PerfTuning ( def input_params { param n = 512; param nm = 512; param l = 1; param m = 512; } ) @*/
    i__1 = mml;
    for (ii = 1; ii <= i__1; ++ii) {
	i__ = *m - ii;
	i__2 = *n;
	for (k = 1; k <= i__2; ++k) {
	    h__ = z__[k + (i__ + 1) * z_dim1];
	    z__[k + (i__ + 1) * z_dim1] = s[i__] * z__[k + i__ * z_dim1] + 
		    c__[i__] * h__;
	    z__[k + i__ * z_dim1] = c__[i__] * z__[k + i__ * z_dim1] - s[i__] 
		    * h__;
/* L180: */
	}
/* L200: */
    }
    /*@ end @*/
    return 0;
} /* tql2v_ */

/* Subroutine */ int elmhsu_(integer *nm, integer *n, integer *m, doublereal *
	a)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1, i__2;

    /* Local variables */
    static integer i__, j;
    static doublereal x, y;

/*     ELIMINATION TO HESSENBERG FORM, ONE COLUMN */
    /* Parameter adjustments */
    a_dim1 = *nm;
    a_offset = 1 + a_dim1;
    a -= a_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 512; param nm = 512; param m = 2; } ) @*/
    x = a[*m + (*m - 1) * a_dim1];
    i__1 = *n;
    for (i__ = *m + 1; i__ <= i__1; ++i__) {
	y = a[i__ + (*m - 1) * a_dim1];
	if (y == 0.) {
	    goto L160;
	}
	y /= x;
	a[i__ + (*m - 1) * a_dim1] = y;
	i__2 = *n;
	for (j = *m; j <= i__2; ++j) {
	    a[i__ + j * a_dim1] -= y * a[*m + j * a_dim1];
/* L140: */
	}
L160:
	;
    }
    /*@ end @*/
    return 0;
} /* elmhsu_ */

/* Subroutine */ int bakvec_(integer *nm, integer *n, integer *m, doublereal *
	e, doublereal *z__)
{
    /* System generated locals */
    integer z_dim1, z_offset, i__1, i__2;

    /* Local variables */
    static integer i__, j;
    /* Parameter adjustments */
    z_dim1 = *nm;
    z_offset = 1 + z_dim1;
    z__ -= z_offset;
    --e;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 1024; param m = 1024; param nm = 1024; } ) @*/
    i__1 = *m;
    for (j = 1; j <= i__1; ++j) {
	i__2 = *n;
	for (i__ = 2; i__ <= i__2; ++i__) {
	    z__[i__ + j * z_dim1] *= e[i__];
/* L110: */
	}
/* L120: */
    }
    /*@ end @*/
    return 0;
} /* bakvec_ */

