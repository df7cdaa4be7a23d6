/* Nekbone's ax as f2c writes it: one element after the other, the matrix products of its mxm in loops of
 * their own, which hand on what they compute through arrays of a COMMON block.
 *
 * `f2c -A ax.f` made all but this comment, the annotation, and what stands for f2c.h.
 */
typedef int integer;
typedef double doublereal;

/* Common Block Declarations */

struct {
    doublereal ur[1000]	/* was [10][10][10] */, us[1000]	/* was [10][
	    10][10] */, ut[1000]	/* was [10][10][10] */;
} ctmp1_;

#define ctmp1_1 ctmp1_

/*     Nekbone's ax: w = A u on every element, with the matrix products of its mxm written out. */
/*     A driver's D and its transpose are dxm1 and dxtm1, of lx by lx; the work arrays are nekbone's. */
/* Subroutine */ int ax_(doublereal *w, doublereal *u, doublereal *gxyz, 
	doublereal *dxm1, doublereal *dxtm1, integer *nelt)
{
    /* System generated locals */
    integer i__1;

    /* Local variables */
    static integer e, i__, j, k, l;
    static doublereal wr, ws, wt;

    /* Parameter adjustments */
    dxm1 -= 11;
    dxtm1 -= 11;
    gxyz -= 6667;
    u -= 1111;
    w -= 1111;

    /* Function Body */
    i__1 = *nelt;
    /*@ begin PerfTuning ( def input_params { param i__1 = 1000; } ) @*/
    for (e = 1; e <= i__1; ++e) {
/*        local_grad3 */
	for (k = 1; k <= 10; ++k) {
	    for (j = 1; j <= 10; ++j) {
		for (i__ = 1; i__ <= 10; ++i__) {
		    ctmp1_1.ur[i__ + (j + k * 10) * 10 - 111] = 0.;
		    for (l = 1; l <= 10; ++l) {
			ctmp1_1.ur[i__ + (j + k * 10) * 10 - 111] += dxm1[i__ 
				+ l * 10] * u[l + (j + (k + e * 10) * 10) * 
				10];
		    }
		}
	    }
	}
	for (k = 1; k <= 10; ++k) {
	    for (j = 1; j <= 10; ++j) {
		for (i__ = 1; i__ <= 10; ++i__) {
		    ctmp1_1.us[i__ + (j + k * 10) * 10 - 111] = 0.;
		    for (l = 1; l <= 10; ++l) {
			ctmp1_1.us[i__ + (j + k * 10) * 10 - 111] += u[i__ + (
				l + (k + e * 10) * 10) * 10] * dxtm1[l + j * 
				10];
		    }
		}
	    }
	}
	for (k = 1; k <= 10; ++k) {
	    for (j = 1; j <= 10; ++j) {
		for (i__ = 1; i__ <= 10; ++i__) {
		    ctmp1_1.ut[i__ + (j + k * 10) * 10 - 111] = 0.;
		    for (l = 1; l <= 10; ++l) {
			ctmp1_1.ut[i__ + (j + k * 10) * 10 - 111] += u[i__ + (
				j + (l + e * 10) * 10) * 10] * dxtm1[l + k * 
				10];
		    }
		}
	    }
	}
/*        the geometric factors of each point */
	for (k = 1; k <= 10; ++k) {
	    for (j = 1; j <= 10; ++j) {
		for (i__ = 1; i__ <= 10; ++i__) {
		    wr = gxyz[(i__ + (j + (k + e * 10) * 10) * 10) * 6 + 1] * 
			    ctmp1_1.ur[i__ + (j + k * 10) * 10 - 111] + gxyz[(
			    i__ + (j + (k + e * 10) * 10) * 10) * 6 + 2] * 
			    ctmp1_1.us[i__ + (j + k * 10) * 10 - 111] + gxyz[(
			    i__ + (j + (k + e * 10) * 10) * 10) * 6 + 3] * 
			    ctmp1_1.ut[i__ + (j + k * 10) * 10 - 111];
		    ws = gxyz[(i__ + (j + (k + e * 10) * 10) * 10) * 6 + 2] * 
			    ctmp1_1.ur[i__ + (j + k * 10) * 10 - 111] + gxyz[(
			    i__ + (j + (k + e * 10) * 10) * 10) * 6 + 4] * 
			    ctmp1_1.us[i__ + (j + k * 10) * 10 - 111] + gxyz[(
			    i__ + (j + (k + e * 10) * 10) * 10) * 6 + 5] * 
			    ctmp1_1.ut[i__ + (j + k * 10) * 10 - 111];
		    wt = gxyz[(i__ + (j + (k + e * 10) * 10) * 10) * 6 + 3] * 
			    ctmp1_1.ur[i__ + (j + k * 10) * 10 - 111] + gxyz[(
			    i__ + (j + (k + e * 10) * 10) * 10) * 6 + 5] * 
			    ctmp1_1.us[i__ + (j + k * 10) * 10 - 111] + gxyz[(
			    i__ + (j + (k + e * 10) * 10) * 10) * 6 + 6] * 
			    ctmp1_1.ut[i__ + (j + k * 10) * 10 - 111];
		    ctmp1_1.ur[i__ + (j + k * 10) * 10 - 111] = wr;
		    ctmp1_1.us[i__ + (j + k * 10) * 10 - 111] = ws;
		    ctmp1_1.ut[i__ + (j + k * 10) * 10 - 111] = wt;
		}
	    }
	}
/*        local_grad3_t */
	for (k = 1; k <= 10; ++k) {
	    for (j = 1; j <= 10; ++j) {
		for (i__ = 1; i__ <= 10; ++i__) {
		    w[i__ + (j + (k + e * 10) * 10) * 10] = 0.;
		    for (l = 1; l <= 10; ++l) {
			w[i__ + (j + (k + e * 10) * 10) * 10] += dxtm1[i__ + 
				l * 10] * ctmp1_1.ur[l + (j + k * 10) * 10 - 
				111];
		    }
		}
	    }
	}
	for (k = 1; k <= 10; ++k) {
	    for (j = 1; j <= 10; ++j) {
		for (i__ = 1; i__ <= 10; ++i__) {
		    for (l = 1; l <= 10; ++l) {
			w[i__ + (j + (k + e * 10) * 10) * 10] += ctmp1_1.us[
				i__ + (l + k * 10) * 10 - 111] * dxm1[l + j * 
				10];
		    }
		}
	    }
	}
	for (k = 1; k <= 10; ++k) {
	    for (j = 1; j <= 10; ++j) {
		for (i__ = 1; i__ <= 10; ++i__) {
		    for (l = 1; l <= 10; ++l) {
			w[i__ + (j + (k + e * 10) * 10) * 10] += ctmp1_1.ut[
				i__ + (j + l * 10) * 10 - 111] * dxm1[l + k * 
				10];
		    }
		}
	    }
	}
    }
    /*@ end @*/
    return 0;
} /* ax_ */

