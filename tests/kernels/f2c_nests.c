/* What f2c makes of loops whose mathematics is a textbook nest: temporaries stand between them. */
typedef int integer;
typedef double doublereal;
typedef float real;
typedef int logical;
typedef struct { doublereal r, i; } doublecomplex;

/* Subroutine */ int gemmnt_(integer *m, integer *n, integer *k, doublereal *
	alpha, doublereal *a, integer *lda, doublereal *b, integer *ldb, 
	doublereal *beta, doublereal *c__, integer *ldc)
{
    integer a_dim1, a_offset, b_dim1, b_offset, c_dim1, c_offset, i__1, i__2, 
	    i__3;

    integer i__, j, l;
    doublereal temp;

    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    b_dim1 = *ldb;
    b_offset = 1 + b_dim1;
    b -= b_offset;
    c_dim1 = *ldc;
    c_offset = 1 + c_dim1;
    c__ -= c_offset;

    /*@ begin PerfTuning ( def input_params { param m = 9; param n = 9; param k = 9; param lda = 10; param ldb = 11; param ldc = 9; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	if (*beta == 0.) {
	    i__2 = *m;
	    for (i__ = 1; i__ <= i__2; ++i__) {
		c__[i__ + j * c_dim1] = 0.;
	    }
	} else if (*beta != 1.) {
	    i__2 = *m;
	    for (i__ = 1; i__ <= i__2; ++i__) {
		c__[i__ + j * c_dim1] = *beta * c__[i__ + j * c_dim1];
	    }
	}
	i__2 = *k;
	for (l = 1; l <= i__2; ++l) {
	    if (b[j + l * b_dim1] != 0.) {
		temp = *alpha * b[j + l * b_dim1];
		i__3 = *m;
		for (i__ = 1; i__ <= i__3; ++i__) {
		    c__[i__ + j * c_dim1] += temp * a[i__ + l * a_dim1];
		}
	    }
	}
    }
    /*@ end @*/
    return 0;
} /* gemmnt_ */

/* Subroutine */ int symmru_(integer *m, integer *n, doublereal *alpha, 
	doublereal *a, integer *lda, doublereal *b, integer *ldb, doublereal *
	beta, doublereal *c__, integer *ldc)
{
    integer a_dim1, a_offset, b_dim1, b_offset, c_dim1, c_offset, i__1, i__2, 
	    i__3;

    integer i__, j, k;
    doublereal temp1;

    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    b_dim1 = *ldb;
    b_offset = 1 + b_dim1;
    b -= b_offset;
    c_dim1 = *ldc;
    c_offset = 1 + c_dim1;
    c__ -= c_offset;

    /*@ begin PerfTuning ( def input_params { param m = 9; param n = 9; param lda = 10; param ldb = 11; param ldc = 9; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	temp1 = *alpha * a[j + j * a_dim1];
	i__2 = *m;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    c__[i__ + j * c_dim1] = *beta * c__[i__ + j * c_dim1] + temp1 * b[
		    i__ + j * b_dim1];
	}
	i__2 = j - 1;
	for (k = 1; k <= i__2; ++k) {
	    temp1 = *alpha * a[k + j * a_dim1];
	    i__3 = *m;
	    for (i__ = 1; i__ <= i__3; ++i__) {
		c__[i__ + j * c_dim1] += temp1 * b[i__ + k * b_dim1];
	    }
	}
	i__2 = *n;
	for (k = j + 1; k <= i__2; ++k) {
	    temp1 = *alpha * a[j + k * a_dim1];
	    i__3 = *m;
	    for (i__ = 1; i__ <= i__3; ++i__) {
		c__[i__ + j * c_dim1] += temp1 * b[i__ + k * b_dim1];
	    }
	}
    }
    /*@ end @*/
    return 0;
} /* symmru_ */

/* Subroutine */ int gemvn_(integer *m, integer *n, real *alpha, real *a, 
	integer *lda, real *x, real *y)
{
    integer a_dim1, a_offset, i__1, i__2;

    integer i__, j;
    doublereal temp;

    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    --x;
    --y;

    /*@ begin PerfTuning ( def input_params { param m = 9; param n = 9; param lda = 10; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	temp = *alpha * x[j];
	i__2 = *m;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    y[i__] += temp * a[i__ + j * a_dim1];
	}
    }
    /*@ end @*/
    return 0;
} /* gemvn_ */

/* Subroutine */ int lasr_(integer *m, integer *n, doublereal *c__, 
	doublereal *s, doublereal *a, integer *lda)
{
    integer a_dim1, a_offset, i__1, i__2;

    integer i__, j;
    doublereal temp, ctemp, stemp;

    --c__;
    --s;
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;

    /*@ begin PerfTuning ( def input_params { param m = 9; param n = 9; param lda = 10; } ) @*/
    i__1 = *m - 1;
    for (j = 1; j <= i__1; ++j) {
	ctemp = c__[j];
	stemp = s[j];
	if (ctemp != 1. || stemp != 0.) {
	    i__2 = *n;
	    for (i__ = 1; i__ <= i__2; ++i__) {
		temp = a[j + 1 + i__ * a_dim1];
		a[j + 1 + i__ * a_dim1] = ctemp * temp - stemp * a[j + i__ * 
			a_dim1];
		a[j + i__ * a_dim1] = stemp * temp + ctemp * a[j + i__ * 
			a_dim1];
	    }
	}
    }
    /*@ end @*/
    return 0;
} /* lasr_ */

/* Subroutine */ int gefa_(integer *n, doublereal *a, integer *lda)
{
    integer a_dim1, a_offset, i__1, i__2, i__3;

    integer i__, j, k;
    doublereal t;

    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;

    /*@ begin PerfTuning ( def input_params { param n = 9; param lda = 10; } ) @*/
    i__1 = *n - 1;
    for (k = 1; k <= i__1; ++k) {
	i__2 = *n;
	for (i__ = k + 1; i__ <= i__2; ++i__) {
	    a[i__ + k * a_dim1] = -a[i__ + k * a_dim1] / a[k + k * a_dim1];
	}
	i__2 = *n;
	for (j = k + 1; j <= i__2; ++j) {
	    t = a[k + j * a_dim1];
	    i__3 = *n;
	    for (i__ = k + 1; i__ <= i__3; ++i__) {
		a[i__ + j * a_dim1] += t * a[i__ + k * a_dim1];
	    }
	}
    }
    /*@ end @*/
    return 0;
} /* gefa_ */

/* Subroutine */ int sdot_(integer *n, real *x, real *y, doublereal *s)
{
    integer i__1;

    integer i__;
    real t;

    --y;
    --x;

    /*@ begin PerfTuning ( def input_params { param n = 9; } ) @*/
    *s = 0.;
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
	t = x[i__] * y[i__];
	*s = t + *s;
    }
    /*@ end @*/
    return 0;
} /* sdot_ */

/* Subroutine */ int axop_(doublereal *w, doublereal *u, doublereal *g, 
	doublereal *d__, doublereal *dt, doublereal *ur, doublereal *us, 
	integer *n, integer *ne)
{
    integer w_dim1, w_dim2, w_offset, u_dim1, u_dim2, u_offset, g_dim1, 
	    g_dim2, g_offset, d_dim1, d_offset, dt_dim1, dt_offset, ur_dim1, 
	    ur_offset, us_dim1, us_offset, i__1, i__2, i__3, i__4;

    static integer e, i__, j, l;
    static doublereal wr, ws;

    us_dim1 = *n;
    us_offset = 1 + us_dim1;
    us -= us_offset;
    ur_dim1 = *n;
    ur_offset = 1 + ur_dim1;
    ur -= ur_offset;
    dt_dim1 = *n;
    dt_offset = 1 + dt_dim1;
    dt -= dt_offset;
    d_dim1 = *n;
    d_offset = 1 + d_dim1;
    d__ -= d_offset;
    g_dim1 = *n;
    g_dim2 = *n;
    g_offset = 1 + g_dim1 * (1 + g_dim2);
    g -= g_offset;
    u_dim1 = *n;
    u_dim2 = *n;
    u_offset = 1 + u_dim1 * (1 + u_dim2);
    u -= u_offset;
    w_dim1 = *n;
    w_dim2 = *n;
    w_offset = 1 + w_dim1 * (1 + w_dim2);
    w -= w_offset;

    /*@ begin PerfTuning ( def input_params { param n = 5; param ne = 5; } ) @*/
    i__1 = *ne;
    for (e = 1; e <= i__1; ++e) {
	i__2 = *n;
	for (j = 1; j <= i__2; ++j) {
	    i__3 = *n;
	    for (i__ = 1; i__ <= i__3; ++i__) {
		wr = 0.;
		ws = 0.;
		i__4 = *n;
		for (l = 1; l <= i__4; ++l) {
		    wr += d__[i__ + l * d_dim1] * u[l + (j + e * u_dim2) * 
			    u_dim1];
		    ws += u[i__ + (l + e * u_dim2) * u_dim1] * dt[l + j * 
			    dt_dim1];
		}
		ur[i__ + j * ur_dim1] = g[i__ + (j + e * g_dim2) * g_dim1] * 
			wr;
		us[i__ + j * us_dim1] = g[i__ + (j + e * g_dim2) * g_dim1] * 
			ws;
	    }
	}
	i__2 = *n;
	for (j = 1; j <= i__2; ++j) {
	    i__3 = *n;
	    for (i__ = 1; i__ <= i__3; ++i__) {
		w[i__ + (j + e * w_dim2) * w_dim1] = 0.;
		i__4 = *n;
		for (l = 1; l <= i__4; ++l) {
		    w[i__ + (j + e * w_dim2) * w_dim1] = w[i__ + (j + e * 
			    w_dim2) * w_dim1] + dt[i__ + l * dt_dim1] * ur[l 
			    + j * ur_dim1] + us[i__ + l * us_dim1] * d__[l + 
			    j * d_dim1];
		}
	    }
	}
    }
    /*@ end @*/
    return 0;
} /* axop_ */

/* Subroutine */ int cols_(doublereal *a, doublereal *b, integer *kl, integer 
	*ku, integer *nx)
{
    integer a_dim1, a_offset, b_dim1, b_offset, i__1, i__2;

    static integer i__, k;
    static doublereal za[40], zb[40];

    b_dim1 = *nx;
    b_offset = 1 + b_dim1;
    b -= b_offset;
    a_dim1 = *nx;
    a_offset = 1 + a_dim1;
    a -= a_offset;

    /*@ begin PerfTuning ( def input_params { param kl = 2; param ku = 9; param nx = 7; } ) @*/
    i__1 = *nx;
    for (i__ = 1; i__ <= i__1; ++i__) {
	i__2 = *ku;
	for (k = *kl; k <= i__2; ++k) {
	    za[k - 1] = a[i__ + k * a_dim1] * 2.;
	    zb[k - 1] = a[i__ + k * a_dim1] - 1.;
	}
	i__2 = *ku;
	for (k = *kl; k <= i__2; ++k) {
	    b[i__ + k * b_dim1] = za[k - 1] + zb[*kl + *ku - k - 1];
	}
    }
    /*@ end @*/
    return 0;
} /* cols_ */

/* Subroutine */ int zgemm_(integer *m, integer *n, integer *k, doublecomplex 
	*alpha, doublecomplex *a, integer *lda, doublecomplex *b, integer *
	ldb, doublecomplex *beta, doublecomplex *c__, integer *ldc)
{
    integer a_dim1, a_offset, b_dim1, b_offset, c_dim1, c_offset, i__1, i__2, 
	    i__3, i__4, i__5, i__6;
    doublecomplex z__1, z__2;

    integer i__, j, l;
    doublecomplex temp;

    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    b_dim1 = *ldb;
    b_offset = 1 + b_dim1;
    b -= b_offset;
    c_dim1 = *ldc;
    c_offset = 1 + c_dim1;
    c__ -= c_offset;

    /*@ begin PerfTuning ( def input_params { param m = 7; param n = 6; param k = 5; param lda = 8; param ldb = 7; param ldc = 9; } ) @*/
    i__1 = *n;
    for (j = 1; j <= i__1; ++j) {
	i__2 = *m;
	for (i__ = 1; i__ <= i__2; ++i__) {
	    i__3 = i__ + j * c_dim1;
	    i__4 = i__ + j * c_dim1;
	    z__1.r = beta->r * c__[i__4].r - beta->i * c__[i__4].i, z__1.i = 
		    beta->r * c__[i__4].i + beta->i * c__[i__4].r;
	    c__[i__3].r = z__1.r, c__[i__3].i = z__1.i;
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
	    }
	}
    }
    /*@ end @*/
    return 0;
} /* zgemm_ */

/* Subroutine */ int column_(integer *klon, integer *klev, doublereal *t, 
	doublereal *q, doublereal *ztp, doublereal *zqp)
{
    integer t_dim1, t_offset, q_dim1, q_offset, i__1, i__2;

    integer jk, jl;
    doublereal zb;

    q_dim1 = *klon;
    q_offset = 1 + q_dim1;
    q -= q_offset;
    t_dim1 = *klon;
    t_offset = 1 + t_dim1;
    t -= t_offset;
    --ztp;
    --zqp;

    /*@ begin PerfTuning ( def input_params { param klon = 6; param klev = 6; } ) @*/
    i__1 = *klon;
    for (jl = 1; jl <= i__1; ++jl) {
	ztp[*klev] = t[jl + *klev * t_dim1];
	zqp[*klev] = q[jl + *klev * q_dim1];
	for (jk = *klev - 1; jk >= 1; --jk) {
	    ztp[jk] = ztp[jk + 1] - t[jl + jk * t_dim1] * .5;
	    zqp[jk] = zqp[jk + 1] + ztp[jk];
	}
	i__2 = *klev;
	for (jk = 1; jk <= i__2; ++jk) {
	    zb = ztp[jk] - t[jl + jk * t_dim1];
	    q[jl + jk * q_dim1] = zb * zqp[jk];
	}
    }
    /*@ end @*/
    return 0;
} /* column_ */

