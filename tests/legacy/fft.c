#include "f2c.h"

/* Subroutine */ int pasb2_(integer *ido, integer *l1, doublereal *cc, 
	doublereal *ch, doublereal *wa1)
{
    /* System generated locals */
    integer cc_dim1, cc_offset, ch_dim1, ch_dim2, ch_offset, i__1, i__2;

    /* Local variables */
    integer i__, k;
    doublereal ti2, tr2;

/*     A PASS OF RADIX 2, REAL AND IMAGINARY PARTS IN TURN */
    /* Parameter adjustments */
    ch_dim1 = *ido;
    ch_dim2 = *l1;
    ch_offset = 1 + ch_dim1 * (1 + ch_dim2);
    ch -= ch_offset;
    cc_dim1 = *ido;
    cc_offset = 1 + cc_dim1 * 3;
    cc -= cc_offset;
    --wa1;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param ido = 64; param l1 = 4096; } ) @*/
    i__1 = *l1;
    for (k = 1; k <= i__1; ++k) {
	i__2 = *ido;
	for (i__ = 2; i__ <= i__2; i__ += 2) {
	    ch[i__ - 1 + (k + ch_dim2) * ch_dim1] = cc[i__ - 1 + ((k << 1) + 
		    1) * cc_dim1] + cc[i__ - 1 + ((k << 1) + 2) * cc_dim1];
	    tr2 = cc[i__ - 1 + ((k << 1) + 1) * cc_dim1] - cc[i__ - 1 + ((k <<
		     1) + 2) * cc_dim1];
	    ch[i__ + (k + ch_dim2) * ch_dim1] = cc[i__ + ((k << 1) + 1) * 
		    cc_dim1] + cc[i__ + ((k << 1) + 2) * cc_dim1];
	    ti2 = cc[i__ + ((k << 1) + 1) * cc_dim1] - cc[i__ + ((k << 1) + 2)
		     * cc_dim1];
	    ch[i__ + (k + (ch_dim2 << 1)) * ch_dim1] = wa1[i__ - 1] * ti2 + 
		    wa1[i__] * tr2;
	    ch[i__ - 1 + (k + (ch_dim2 << 1)) * ch_dim1] = wa1[i__ - 1] * tr2 
		    - wa1[i__] * ti2;
/* L103: */
	}
/* L104: */
    }
    /*@ end @*/
    return 0;
} /* pasb2_ */

/* Subroutine */ int pasb4_(integer *l1, doublereal *cc, doublereal *ch)
{
    /* System generated locals */
    integer ch_dim2, ch_offset, i__1;

    /* Local variables */
    integer k;
    doublereal ti1, ti2, ti3, ti4, tr1, tr2, tr3, tr4;

/*     RADIX 4, THE LAST PASS */
    /* Parameter adjustments */
    ch_dim2 = *l1;
    ch_offset = 1 + 2 * (1 + ch_dim2);
    ch -= ch_offset;
    cc -= 11;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param l1 = 100000; } ) @*/
    i__1 = *l1;
    for (k = 1; k <= i__1; ++k) {
	ti1 = cc[((k << 2) + 1 << 1) + 2] - cc[((k << 2) + 3 << 1) + 2];
	ti2 = cc[((k << 2) + 1 << 1) + 2] + cc[((k << 2) + 3 << 1) + 2];
	tr4 = cc[((k << 2) + 4 << 1) + 2] - cc[((k << 2) + 2 << 1) + 2];
	ti3 = cc[((k << 2) + 2 << 1) + 2] + cc[((k << 2) + 4 << 1) + 2];
	tr1 = cc[((k << 2) + 1 << 1) + 1] - cc[((k << 2) + 3 << 1) + 1];
	tr2 = cc[((k << 2) + 1 << 1) + 1] + cc[((k << 2) + 3 << 1) + 1];
	ti4 = cc[((k << 2) + 2 << 1) + 1] - cc[((k << 2) + 4 << 1) + 1];
	tr3 = cc[((k << 2) + 2 << 1) + 1] + cc[((k << 2) + 4 << 1) + 1];
	ch[(k + ch_dim2 << 1) + 1] = tr2 + tr3;
	ch[(k + ch_dim2 * 3 << 1) + 1] = tr2 - tr3;
	ch[(k + ch_dim2 << 1) + 2] = ti2 + ti3;
	ch[(k + ch_dim2 * 3 << 1) + 2] = ti2 - ti3;
	ch[(k + (ch_dim2 << 1) << 1) + 1] = tr1 + tr4;
	ch[(k + (ch_dim2 << 2) << 1) + 1] = tr1 - tr4;
	ch[(k + (ch_dim2 << 1) << 1) + 2] = ti1 + ti4;
	ch[(k + (ch_dim2 << 2) << 1) + 2] = ti1 - ti4;
/* L101: */
    }
    /*@ end @*/
    return 0;
} /* pasb4_ */

/* Subroutine */ int radf2_(integer *ido, integer *l1, doublereal *cc, 
	doublereal *ch, doublereal *wa1)
{
    /* System generated locals */
    integer cc_dim1, cc_dim2, cc_offset, ch_dim1, ch_offset, i__1, i__2;

    /* Local variables */
    integer i__, k, ic;
    doublereal ti2, tr2;
    integer idp2;

/*     REAL, FORWARDS: THE MIRRORED INDEX */
    /* Parameter adjustments */
    ch_dim1 = *ido;
    ch_offset = 1 + ch_dim1 * 3;
    ch -= ch_offset;
    cc_dim1 = *ido;
    cc_dim2 = *l1;
    cc_offset = 1 + cc_dim1 * (1 + cc_dim2);
    cc -= cc_offset;
    --wa1;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param ido = 65; param l1 = 4096; } ) @*/
    i__1 = *l1;
    for (k = 1; k <= i__1; ++k) {
	ch[((k << 1) + 1) * ch_dim1 + 1] = cc[(k + cc_dim2) * cc_dim1 + 1] + 
		cc[(k + (cc_dim2 << 1)) * cc_dim1 + 1];
	ch[*ido + ((k << 1) + 2) * ch_dim1] = cc[(k + cc_dim2) * cc_dim1 + 1] 
		- cc[(k + (cc_dim2 << 1)) * cc_dim1 + 1];
/* L101: */
    }
    idp2 = *ido + 2;
    i__1 = *l1;
    for (k = 1; k <= i__1; ++k) {
	i__2 = *ido;
	for (i__ = 3; i__ <= i__2; i__ += 2) {
	    ic = idp2 - i__;
	    tr2 = wa1[i__ - 2] * cc[i__ - 1 + (k + (cc_dim2 << 1)) * cc_dim1] 
		    + wa1[i__ - 1] * cc[i__ + (k + (cc_dim2 << 1)) * cc_dim1];
	    ti2 = wa1[i__ - 2] * cc[i__ + (k + (cc_dim2 << 1)) * cc_dim1] - 
		    wa1[i__ - 1] * cc[i__ - 1 + (k + (cc_dim2 << 1)) * 
		    cc_dim1];
	    ch[i__ + ((k << 1) + 1) * ch_dim1] = cc[i__ + (k + cc_dim2) * 
		    cc_dim1] + ti2;
	    ch[ic + ((k << 1) + 2) * ch_dim1] = ti2 - cc[i__ + (k + cc_dim2) *
		     cc_dim1];
	    ch[i__ - 1 + ((k << 1) + 1) * ch_dim1] = cc[i__ - 1 + (k + 
		    cc_dim2) * cc_dim1] + tr2;
	    ch[ic - 1 + ((k << 1) + 2) * ch_dim1] = cc[i__ - 1 + (k + cc_dim2)
		     * cc_dim1] - tr2;
/* L103: */
	}
/* L104: */
    }
    /*@ end @*/
    return 0;
} /* radf2_ */

/* Subroutine */ int fftstg_(integer *n, integer *l, doublecomplex *x, 
	doublecomplex *w)
{
    /* System generated locals */
    integer i__1, i__2, i__3, i__4, i__5;
    doublecomplex z__1;

    /* Local variables */
    integer i__, j;
    doublecomplex t;
    integer le;

/*     A STAGE IN PLACE, COMPLEX, ITS STRIDE AN ARGUMENT */
    /* Parameter adjustments */
    --w;
    --x;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 65536; param l = 16; } ) @*/
    le = *l << 1;
    i__1 = *l;
    for (j = 1; j <= i__1; ++j) {
	i__2 = *n;
	i__3 = le;
	for (i__ = j; i__3 < 0 ? i__ >= i__2 : i__ <= i__2; i__ += i__3) {
	    i__4 = i__ + *l;
	    i__5 = j;
	    z__1.r = x[i__4].r * w[i__5].r - x[i__4].i * w[i__5].i, z__1.i = 
		    x[i__4].r * w[i__5].i + x[i__4].i * w[i__5].r;
	    t.r = z__1.r, t.i = z__1.i;
	    i__4 = i__ + *l;
	    i__5 = i__;
	    z__1.r = x[i__5].r - t.r, z__1.i = x[i__5].i - t.i;
	    x[i__4].r = z__1.r, x[i__4].i = z__1.i;
	    i__4 = i__;
	    i__5 = i__;
	    z__1.r = x[i__5].r + t.r, z__1.i = x[i__5].i + t.i;
	    x[i__4].r = z__1.r, x[i__4].i = z__1.i;
/* L10: */
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* fftstg_ */

/* Subroutine */ int fftstk_(integer *m, integer *l, doublecomplex *x, 
	doublecomplex *y, doublecomplex *w)
{
    /* System generated locals */
    integer x_dim1, x_offset, y_dim1, y_dim2, y_offset, i__1, i__2, i__3, 
	    i__4;
    doublecomplex z__1;

    /* Local variables */
    integer j, k;
    doublecomplex c0, c1;

/*     STOCKHAM'S FORM: OUT OF PLACE, NO REORDERING */
    /* Parameter adjustments */
    y_dim1 = *l;
    y_dim2 = *m;
    y_offset = 1 + y_dim1 * (1 + y_dim2);
    y -= y_offset;
    x_dim1 = *l;
    x_offset = 1 + x_dim1 * 3;
    x -= x_offset;
    --w;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param m = 256; param l = 256; } ) @*/
    i__1 = *m;
    for (j = 1; j <= i__1; ++j) {
	i__2 = *l;
	for (k = 1; k <= i__2; ++k) {
	    i__3 = k + ((j << 1) + 1) * x_dim1;
	    c0.r = x[i__3].r, c0.i = x[i__3].i;
	    i__3 = k + ((j << 1) + 2) * x_dim1;
	    i__4 = j;
	    z__1.r = x[i__3].r * w[i__4].r - x[i__3].i * w[i__4].i, z__1.i = 
		    x[i__3].r * w[i__4].i + x[i__3].i * w[i__4].r;
	    c1.r = z__1.r, c1.i = z__1.i;
	    i__3 = k + (j + y_dim2) * y_dim1;
	    z__1.r = c0.r + c1.r, z__1.i = c0.i + c1.i;
	    y[i__3].r = z__1.r, y[i__3].i = z__1.i;
	    i__3 = k + (j + (y_dim2 << 1)) * y_dim1;
	    z__1.r = c0.r - c1.r, z__1.i = c0.i - c1.i;
	    y[i__3].r = z__1.r, y[i__3].i = z__1.i;
/* L10: */
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* fftstk_ */

/* Subroutine */ int costrn_(integer *n, doublereal *x, doublereal *wsave)
{
    /* System generated locals */
    integer i__1;

    /* Local variables */
    integer k;
    doublereal c1, t1, t2;
    integer kc, np1, ns2;

/*     FOLDING BEFORE A COSINE TRANSFORM */
    /* Parameter adjustments */
    --wsave;
    --x;

    /* Function Body */
    np1 = *n + 1;
    ns2 = *n / 2;
    /*@ begin PerfTuning ( def input_params { param n = 100000; } ) @*/
    c1 = x[1] - x[*n];
    i__1 = ns2;
    for (k = 2; k <= i__1; ++k) {
	kc = np1 - k;
	t1 = x[k] + x[kc];
	t2 = x[k] - x[kc];
	c1 += wsave[kc] * t2;
	t2 = wsave[k] * t2;
	x[k] = t1 - t2;
	x[kc] = t1 + t2;
/* L104: */
    }
    /*@ end @*/
    x[1] = c1;
    return 0;
} /* costrn_ */

/* Subroutine */ int bitrev_(integer *n, doublereal *x, doublereal *y, 
	integer *irev)
{
    /* System generated locals */
    integer i__1;

    /* Local variables */
    integer i__;

/*     THE REORDERING BY A TABLE, OUT OF PLACE */
    /* Parameter adjustments */
    --irev;
    y -= 3;
    x -= 3;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 65536; } def assume { arg extent = ['x[2*n]']; } ) @*/
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	y[(i__ << 1) + 1] = x[(irev[i__] << 1) + 1];
	y[(i__ << 1) + 2] = x[(irev[i__] << 1) + 2];
/* L10: */
    }
    /*@ end @*/
    return 0;
} /* bitrev_ */

