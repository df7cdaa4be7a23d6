#include "f2c.h"

/* Subroutine */ int jac2d_(integer *n, integer *m, integer *ld, doublereal *
	a, doublereal *b)
{
    /* System generated locals */
    integer a_dim1, a_offset, b_dim1, b_offset, i__1, i__2;

    /* Local variables */
    static integer i__, j;
    /* Parameter adjustments */
    b_dim1 = *ld;
    b_offset = 1 + b_dim1;
    b -= b_offset;
    a_dim1 = *ld;
    a_offset = 1 + a_dim1;
    a -= a_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 2048; param m = 2048; param ld = 2048; } ) @*/
    i__1 = *m - 1;
    for (j = 2; j <= i__1; ++j) {
	i__2 = *n - 1;
	for (i__ = 2; i__ <= i__2; ++i__) {
	    b[i__ + j * b_dim1] = (a[i__ - 1 + j * a_dim1] + a[i__ + 1 + j * 
		    a_dim1] + a[i__ + (j - 1) * a_dim1] + a[i__ + (j + 1) * 
		    a_dim1]) * .25;
/* L10: */
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* jac2d_ */

/* Subroutine */ int lap3d_(integer *nx, integer *ny, integer *nz, doublereal 
	*u, doublereal *v, doublereal *h2)
{
    /* System generated locals */
    integer u_dim1, u_dim2, u_offset, v_dim1, v_dim2, v_offset, i__1, i__2, 
	    i__3;

    /* Local variables */
    static integer i__, j, k;

/*     THE LAPLACIAN IN A BOX WITH A HALO */
    /* Parameter adjustments */
    v_dim1 = *nx;
    v_dim2 = *ny;
    v_offset = 1 + v_dim1 * (1 + v_dim2);
    v -= v_offset;
    u_dim1 = *nx + 1 - 0 + 1;
    u_dim2 = *ny + 1 - 0 + 1;
    u_offset = 0 + u_dim1 * (0 + u_dim2 * 0);
    u -= u_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param nx = 128; param ny = 128; param nz = 128; } ) @*/
    i__1 = *nz;
    for (k = 1; k <= i__1; ++k) {
	i__2 = *ny;
	for (j = 1; j <= i__2; ++j) {
	    i__3 = *nx;
	    for (i__ = 1; i__ <= i__3; ++i__) {
		v[i__ + (j + k * v_dim2) * v_dim1] = *h2 * (u[i__ + 1 + (j + 
			k * u_dim2) * u_dim1] + u[i__ - 1 + (j + k * u_dim2) *
			 u_dim1] + u[i__ + (j + 1 + k * u_dim2) * u_dim1] + u[
			i__ + (j - 1 + k * u_dim2) * u_dim1] + u[i__ + (j + (
			k + 1) * u_dim2) * u_dim1] + u[i__ + (j + (k - 1) * 
			u_dim2) * u_dim1] - u[i__ + (j + k * u_dim2) * u_dim1]
			 * 6.);
/* L10: */
	    }
/* L20: */
	}
/* L30: */
    }
    /*@ end @*/
    return 0;
} /* lap3d_ */

/* Subroutine */ int sorrb_(integer *n, doublereal *u, doublereal *f, 
	doublereal *omega, integer *ic)
{
    /* System generated locals */
    integer u_dim1, u_offset, f_dim1, f_offset, i__1, i__2;

    /* Local variables */
    static integer i__, j;
    static doublereal r__;

/*     ONE COLOUR OF SUCCESSIVE OVERRELAXATION: THE START FOLLOWS THE ROW */
    /* Parameter adjustments */
    f_dim1 = *n;
    f_offset = 1 + f_dim1;
    f -= f_offset;
    u_dim1 = *n;
    u_offset = 1 + u_dim1;
    u -= u_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 1024; param ic = 0; } ) @*/
    i__1 = *n - 1;
    for (j = 2; j <= i__1; ++j) {
	i__2 = *n - 1;
	for (i__ = (j + *ic) % 2 + 2; i__ <= i__2; i__ += 2) {
	    r__ = u[i__ - 1 + j * u_dim1] + u[i__ + 1 + j * u_dim1] + u[i__ + 
		    (j - 1) * u_dim1] + u[i__ + (j + 1) * u_dim1] - u[i__ + j 
		    * u_dim1] * 4.;
	    u[i__ + j * u_dim1] += *omega * (r__ - f[i__ + j * f_dim1]);
/* L10: */
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* sorrb_ */

/* Subroutine */ int restrc_(integer *nc, integer *nf, doublereal *r__, 
	doublereal *rc)
{
    /* System generated locals */
    integer r_dim1, r_offset, rc_dim1, rc_offset, i__1, i__2;

    /* Local variables */
    static integer ic, jc, if__, jf;

/*     FULL WEIGHTING TO A GRID OF HALF THE POINTS */
    /* Parameter adjustments */
    rc_dim1 = *nc;
    rc_offset = 1 + rc_dim1;
    rc -= rc_offset;
    r_dim1 = *nf;
    r_offset = 1 + r_dim1;
    r__ -= r_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param nc = 512; param nf = 1024; } ) @*/
    i__1 = *nc - 1;
    for (jc = 2; jc <= i__1; ++jc) {
	jf = (jc << 1) - 1;
	i__2 = *nc - 1;
	for (ic = 2; ic <= i__2; ++ic) {
	    if__ = (ic << 1) - 1;
	    rc[ic + jc * rc_dim1] = r__[if__ + jf * r_dim1] * .25 + (r__[if__ 
		    + 1 + jf * r_dim1] + r__[if__ - 1 + jf * r_dim1] + r__[
		    if__ + (jf + 1) * r_dim1] + r__[if__ + (jf - 1) * r_dim1])
		     * .125;
/* L10: */
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* restrc_ */

/* Subroutine */ int prolng_(integer *nc, integer *nf, doublereal *uc, 
	doublereal *u)
{
    /* System generated locals */
    integer uc_dim1, uc_offset, u_dim1, u_offset, i__1, i__2;

    /* Local variables */
    static integer i__, j, ii, jj;

/*     INTERPOLATION, TWO RUNNING INDICES */
    /* Parameter adjustments */
    uc_dim1 = *nc;
    uc_offset = 1 + uc_dim1;
    uc -= uc_offset;
    u_dim1 = *nf;
    u_offset = 1 + u_dim1;
    u -= u_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param nc = 512; param nf = 1023; } ) @*/
    jj = 1;
    i__1 = *nc;
    for (j = 1; j <= i__1; ++j) {
	ii = 1;
	i__2 = *nc;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    u[ii + jj * u_dim1] += uc[i__ + j * uc_dim1];
	    ii += 2;
/* L10: */
	}
	jj += 2;
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* prolng_ */

/* Subroutine */ int wave1_(integer *nx, integer *nt, doublereal *u, 
	doublereal *c2)
{
    /* System generated locals */
    integer u_dim1, u_offset, i__1, i__2;

    /* Local variables */
    static integer i__, n0, n1, n2, it;

/*     THREE LEVELS IN TIME, KEPT IN THE LAST SUBSCRIPT */
    /* Parameter adjustments */
    u_dim1 = *nx;
    u_offset = 1 + u_dim1;
    u -= u_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param nx = 100000; param nt = 20; } ) @*/
    n0 = 1;
    n1 = 2;
    n2 = 3;
    i__1 = *nt;
    for (it = 1; it <= i__1; ++it) {
	i__2 = *nx - 1;
	for (i__ = 2; i__ <= i__2; ++i__) {
	    u[i__ + n2 * u_dim1] = u[i__ + n1 * u_dim1] * 2. - u[i__ + n0 * 
		    u_dim1] + *c2 * (u[i__ + 1 + n1 * u_dim1] - u[i__ + n1 * 
		    u_dim1] * 2. + u[i__ - 1 + n1 * u_dim1]);
/* L10: */
	}
	i__ = n0;
	n0 = n1;
	n1 = n2;
	n2 = i__;
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* wave1_ */

/* Subroutine */ int heatst_(integer *n, integer *nt, doublereal *a, 
	doublereal *b)
{
    /* System generated locals */
    integer a_dim1, a_offset, b_dim1, b_offset, i__1, i__2, i__3;

    /* Local variables */
    static integer i__, j, it;
    /* Parameter adjustments */
    b_dim1 = *n;
    b_offset = 1 + b_dim1;
    b -= b_offset;
    a_dim1 = *n;
    a_offset = 1 + a_dim1;
    a -= a_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 512; param nt = 10; } ) @*/
    i__1 = *nt;
    for (it = 1; it <= i__1; ++it) {
	i__2 = *n - 1;
	for (j = 2; j <= i__2; ++j) {
	    i__3 = *n - 1;
	    for (i__ = 2; i__ <= i__3; ++i__) {
		b[i__ + j * b_dim1] = a[i__ + j * a_dim1] + (a[i__ + 1 + j * 
			a_dim1] - a[i__ + j * a_dim1] * 2. + a[i__ - 1 + j * 
			a_dim1]) * .125 + (a[i__ + (j + 1) * a_dim1] - a[i__ 
			+ j * a_dim1] * 2. + a[i__ + (j - 1) * a_dim1]) * 
			.125;
/* L10: */
	    }
/* L20: */
	}
	i__2 = *n - 1;
	for (j = 2; j <= i__2; ++j) {
	    i__3 = *n - 1;
	    for (i__ = 2; i__ <= i__3; ++i__) {
		a[i__ + j * a_dim1] = b[i__ + j * b_dim1];
/* L30: */
	    }
/* L40: */
	}
/* L50: */
    }
    /*@ end @*/
    return 0;
} /* heatst_ */

/* Subroutine */ int perbc_(integer *n, integer *ld, doublereal *a)
{
    /* System generated locals */
    integer a_dim1, a_offset, i__1;

    /* Local variables */
    static integer j;

/*     PERIODIC BOUNDARIES */
    /* Parameter adjustments */
    a_dim1 = *ld;
    a_offset = 1 + a_dim1;
    a -= a_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 4096; param ld = 4098; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	a[j * a_dim1 + 1] = a[*n - 1 + j * a_dim1];
	a[*n + j * a_dim1] = a[j * a_dim1 + 2];
/* L10: */
    }
    /*@ end @*/
    return 0;
} /* perbc_ */

/* Subroutine */ int cycdif_(integer *n, doublereal *a, doublereal *b)
{
    /* System generated locals */
    integer i__1;

    /* Local variables */
    static integer i__, im, ip;

/*     A CENTRED DIFFERENCE ON A RING, THE NEIGHBOURS BY IF */
    /* Parameter adjustments */
    --b;
    --a;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 1000000; } ) @*/
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	ip = i__ + 1;
	if (ip > *n) {
	    ip = 1;
	}
	im = i__ - 1;
	if (im < 1) {
	    im = *n;
	}
	b[i__] = (a[ip] - a[im]) * .5;
/* L10: */
    }
    /*@ end @*/
    return 0;
} /* cycdif_ */

/* Subroutine */ int adi1_(integer *n, integer *m, doublereal *a, doublereal *
	b, doublereal *c__)
{
    /* System generated locals */
    integer a_dim1, a_offset, b_dim1, b_offset, c_dim1, c_offset, i__1, i__2;

    /* Local variables */
    static integer i__, j;

/*     A SWEEP ALONG THE COLUMNS, ALL ROWS AT ONCE */
    /* Parameter adjustments */
    c_dim1 = *n;
    c_offset = 1 + c_dim1;
    c__ -= c_offset;
    b_dim1 = *n;
    b_offset = 1 + b_dim1;
    b -= b_offset;
    a_dim1 = *n;
    a_offset = 1 + a_dim1;
    a -= a_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param n = 1024; param m = 1024; } ) @*/
    i__1 = *m;
    for (j = 2; j <= i__1; ++j) {
	i__2 = *n;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    a[i__ + j * a_dim1] -= a[i__ + (j - 1) * a_dim1] * b[i__ + j * 
		    b_dim1] / c__[i__ + (j - 1) * c_dim1];
	    c__[i__ + j * c_dim1] -= b[i__ + j * b_dim1] * b[i__ + j * b_dim1]
		     / c__[i__ + (j - 1) * c_dim1];
/* L10: */
	}
/* L20: */
    }
    /*@ end @*/
    return 0;
} /* adi1_ */

