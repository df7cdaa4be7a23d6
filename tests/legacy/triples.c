#include "f2c.h"

/*     THE TERMS OF THE TRIPLES, THE SUMMED INDEX OUTSIDE OF THE TWO */
/*     INNERMOST LOOPS */
/* Subroutine */ int sdts11_(integer *h3d, integer *h2d, integer *h1d, 
	integer *p6d, integer *p5d, integer *p4d, doublereal *t3, doublereal *
	t1sub, doublereal *v2sub)
{
    /* System generated locals */
    integer t3_dim1, t3_dim2, t3_dim3, t3_dim4, t3_dim5, t3_offset, 
	    t1sub_dim1, t1sub_offset, v2sub_dim1, v2sub_dim2, v2sub_dim3, 
	    v2sub_offset, i__1, i__2, i__3, i__4, i__5, i__6;

    /* Local variables */
    integer h1, h2, h3, p4, p5, p6;
    /* Parameter adjustments */
    v2sub_dim1 = *h3d;
    v2sub_dim2 = *h2d;
    v2sub_dim3 = *p6d;
    v2sub_offset = 1 + v2sub_dim1 * (1 + v2sub_dim2 * (1 + v2sub_dim3));
    v2sub -= v2sub_offset;
    t1sub_dim1 = *p4d;
    t1sub_offset = 1 + t1sub_dim1;
    t1sub -= t1sub_offset;
    t3_dim1 = *h3d;
    t3_dim2 = *h2d;
    t3_dim3 = *h1d;
    t3_dim4 = *p6d;
    t3_dim5 = *p5d;
    t3_offset = 1 + t3_dim1 * (1 + t3_dim2 * (1 + t3_dim3 * (1 + t3_dim4 * (1 
	    + t3_dim5))));
    t3 -= t3_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param h3d = 16; param h2d = 16; param h1d = 16; param p6d = 16; param p5d = 16; param p4d = 16; } ) @*/
    i__1 = *p4d;
    for (p4 = 1; p4 <= i__1; ++p4) {
	i__2 = *p5d;
	for (p5 = 1; p5 <= i__2; ++p5) {
	    i__3 = *p6d;
	    for (p6 = 1; p6 <= i__3; ++p6) {
		i__4 = *h1d;
		for (h1 = 1; h1 <= i__4; ++h1) {
		    i__5 = *h2d;
		    for (h2 = 1; h2 <= i__5; ++h2) {
			i__6 = *h3d;
			for (h3 = 1; h3 <= i__6; ++h3) {
			    t3[h3 + (h2 + (h1 + (p6 + (p5 + p4 * t3_dim5) * 
				    t3_dim4) * t3_dim3) * t3_dim2) * t3_dim1] 
				    += t1sub[p4 + h1 * t1sub_dim1] * v2sub[h3 
				    + (h2 + (p6 + p5 * v2sub_dim3) * 
				    v2sub_dim2) * v2sub_dim1];
/* L10: */
			}
/* L20: */
		    }
/* L30: */
		}
/* L40: */
	    }
/* L50: */
	}
/* L60: */
    }
    /*@ end @*/
    return 0;
} /* sdts11_ */

/* Subroutine */ int sdts12_(integer *h3d, integer *h2d, integer *h1d, 
	integer *p6d, integer *p5d, integer *p4d, doublereal *t3, doublereal *
	t1sub, doublereal *v2sub)
{
    /* System generated locals */
    integer t3_dim1, t3_dim2, t3_dim3, t3_dim4, t3_dim5, t3_offset, 
	    t1sub_dim1, t1sub_offset, v2sub_dim1, v2sub_dim2, v2sub_dim3, 
	    v2sub_offset, i__1, i__2, i__3, i__4, i__5, i__6;

    /* Local variables */
    integer h1, h2, h3, p4, p5, p6;
    /* Parameter adjustments */
    v2sub_dim1 = *h3d;
    v2sub_dim2 = *h2d;
    v2sub_dim3 = *p6d;
    v2sub_offset = 1 + v2sub_dim1 * (1 + v2sub_dim2 * (1 + v2sub_dim3));
    v2sub -= v2sub_offset;
    t1sub_dim1 = *p4d;
    t1sub_offset = 1 + t1sub_dim1;
    t1sub -= t1sub_offset;
    t3_dim1 = *h3d;
    t3_dim2 = *h1d;
    t3_dim3 = *h2d;
    t3_dim4 = *p6d;
    t3_dim5 = *p5d;
    t3_offset = 1 + t3_dim1 * (1 + t3_dim2 * (1 + t3_dim3 * (1 + t3_dim4 * (1 
	    + t3_dim5))));
    t3 -= t3_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param h3d = 16; param h2d = 16; param h1d = 16; param p6d = 16; param p5d = 16; param p4d = 16; } ) @*/
    i__1 = *p4d;
    for (p4 = 1; p4 <= i__1; ++p4) {
	i__2 = *p5d;
	for (p5 = 1; p5 <= i__2; ++p5) {
	    i__3 = *p6d;
	    for (p6 = 1; p6 <= i__3; ++p6) {
		i__4 = *h2d;
		for (h2 = 1; h2 <= i__4; ++h2) {
		    i__5 = *h1d;
		    for (h1 = 1; h1 <= i__5; ++h1) {
			i__6 = *h3d;
			for (h3 = 1; h3 <= i__6; ++h3) {
			    t3[h3 + (h1 + (h2 + (p6 + (p5 + p4 * t3_dim5) * 
				    t3_dim4) * t3_dim3) * t3_dim2) * t3_dim1] 
				    -= t1sub[p4 + h1 * t1sub_dim1] * v2sub[h3 
				    + (h2 + (p6 + p5 * v2sub_dim3) * 
				    v2sub_dim2) * v2sub_dim1];
/* L10: */
			}
/* L20: */
		    }
/* L30: */
		}
/* L40: */
	    }
/* L50: */
	}
/* L60: */
    }
    /*@ end @*/
    return 0;
} /* sdts12_ */

/* Subroutine */ int sdts13_(integer *h3d, integer *h2d, integer *h1d, 
	integer *p6d, integer *p5d, integer *p4d, doublereal *t3, doublereal *
	t1sub, doublereal *v2sub)
{
    /* System generated locals */
    integer t3_dim1, t3_dim2, t3_dim3, t3_dim4, t3_dim5, t3_offset, 
	    t1sub_dim1, t1sub_offset, v2sub_dim1, v2sub_dim2, v2sub_dim3, 
	    v2sub_offset, i__1, i__2, i__3, i__4, i__5, i__6;

    /* Local variables */
    integer h1, h2, h3, p4, p5, p6;
    /* Parameter adjustments */
    v2sub_dim1 = *h3d;
    v2sub_dim2 = *h2d;
    v2sub_dim3 = *p6d;
    v2sub_offset = 1 + v2sub_dim1 * (1 + v2sub_dim2 * (1 + v2sub_dim3));
    v2sub -= v2sub_offset;
    t1sub_dim1 = *p4d;
    t1sub_offset = 1 + t1sub_dim1;
    t1sub -= t1sub_offset;
    t3_dim1 = *h1d;
    t3_dim2 = *h3d;
    t3_dim3 = *h2d;
    t3_dim4 = *p6d;
    t3_dim5 = *p5d;
    t3_offset = 1 + t3_dim1 * (1 + t3_dim2 * (1 + t3_dim3 * (1 + t3_dim4 * (1 
	    + t3_dim5))));
    t3 -= t3_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param h3d = 16; param h2d = 16; param h1d = 16; param p6d = 16; param p5d = 16; param p4d = 16; } ) @*/
    i__1 = *p4d;
    for (p4 = 1; p4 <= i__1; ++p4) {
	i__2 = *p5d;
	for (p5 = 1; p5 <= i__2; ++p5) {
	    i__3 = *p6d;
	    for (p6 = 1; p6 <= i__3; ++p6) {
		i__4 = *h2d;
		for (h2 = 1; h2 <= i__4; ++h2) {
		    i__5 = *h3d;
		    for (h3 = 1; h3 <= i__5; ++h3) {
			i__6 = *h1d;
			for (h1 = 1; h1 <= i__6; ++h1) {
			    t3[h1 + (h3 + (h2 + (p6 + (p5 + p4 * t3_dim5) * 
				    t3_dim4) * t3_dim3) * t3_dim2) * t3_dim1] 
				    += t1sub[p4 + h1 * t1sub_dim1] * v2sub[h3 
				    + (h2 + (p6 + p5 * v2sub_dim3) * 
				    v2sub_dim2) * v2sub_dim1];
/* L10: */
			}
/* L20: */
		    }
/* L30: */
		}
/* L40: */
	    }
/* L50: */
	}
/* L60: */
    }
    /*@ end @*/
    return 0;
} /* sdts13_ */

/* Subroutine */ int sdts14_(integer *h3d, integer *h2d, integer *h1d, 
	integer *p6d, integer *p5d, integer *p4d, doublereal *t3, doublereal *
	t1sub, doublereal *v2sub)
{
    /* System generated locals */
    integer t3_dim1, t3_dim2, t3_dim3, t3_dim4, t3_dim5, t3_offset, 
	    t1sub_dim1, t1sub_offset, v2sub_dim1, v2sub_dim2, v2sub_dim3, 
	    v2sub_offset, i__1, i__2, i__3, i__4, i__5, i__6;

    /* Local variables */
    integer h1, h2, h3, p4, p5, p6;
    /* Parameter adjustments */
    v2sub_dim1 = *h3d;
    v2sub_dim2 = *h2d;
    v2sub_dim3 = *p6d;
    v2sub_offset = 1 + v2sub_dim1 * (1 + v2sub_dim2 * (1 + v2sub_dim3));
    v2sub -= v2sub_offset;
    t1sub_dim1 = *p4d;
    t1sub_offset = 1 + t1sub_dim1;
    t1sub -= t1sub_offset;
    t3_dim1 = *h3d;
    t3_dim2 = *h2d;
    t3_dim3 = *h1d;
    t3_dim4 = *p6d;
    t3_dim5 = *p4d;
    t3_offset = 1 + t3_dim1 * (1 + t3_dim2 * (1 + t3_dim3 * (1 + t3_dim4 * (1 
	    + t3_dim5))));
    t3 -= t3_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param h3d = 16; param h2d = 16; param h1d = 16; param p6d = 16; param p5d = 16; param p4d = 16; } ) @*/
    i__1 = *p5d;
    for (p5 = 1; p5 <= i__1; ++p5) {
	i__2 = *p4d;
	for (p4 = 1; p4 <= i__2; ++p4) {
	    i__3 = *p6d;
	    for (p6 = 1; p6 <= i__3; ++p6) {
		i__4 = *h1d;
		for (h1 = 1; h1 <= i__4; ++h1) {
		    i__5 = *h2d;
		    for (h2 = 1; h2 <= i__5; ++h2) {
			i__6 = *h3d;
			for (h3 = 1; h3 <= i__6; ++h3) {
			    t3[h3 + (h2 + (h1 + (p6 + (p4 + p5 * t3_dim5) * 
				    t3_dim4) * t3_dim3) * t3_dim2) * t3_dim1] 
				    -= t1sub[p4 + h1 * t1sub_dim1] * v2sub[h3 
				    + (h2 + (p6 + p5 * v2sub_dim3) * 
				    v2sub_dim2) * v2sub_dim1];
/* L10: */
			}
/* L20: */
		    }
/* L30: */
		}
/* L40: */
	    }
/* L50: */
	}
/* L60: */
    }
    /*@ end @*/
    return 0;
} /* sdts14_ */

/* Subroutine */ int sdts15_(integer *h3d, integer *h2d, integer *h1d, 
	integer *p6d, integer *p5d, integer *p4d, doublereal *t3, doublereal *
	t1sub, doublereal *v2sub)
{
    /* System generated locals */
    integer t3_dim1, t3_dim2, t3_dim3, t3_dim4, t3_dim5, t3_offset, 
	    t1sub_dim1, t1sub_offset, v2sub_dim1, v2sub_dim2, v2sub_dim3, 
	    v2sub_offset, i__1, i__2, i__3, i__4, i__5, i__6;

    /* Local variables */
    integer h1, h2, h3, p4, p5, p6;
    /* Parameter adjustments */
    v2sub_dim1 = *h3d;
    v2sub_dim2 = *h2d;
    v2sub_dim3 = *p6d;
    v2sub_offset = 1 + v2sub_dim1 * (1 + v2sub_dim2 * (1 + v2sub_dim3));
    v2sub -= v2sub_offset;
    t1sub_dim1 = *p4d;
    t1sub_offset = 1 + t1sub_dim1;
    t1sub -= t1sub_offset;
    t3_dim1 = *h3d;
    t3_dim2 = *h1d;
    t3_dim3 = *h2d;
    t3_dim4 = *p6d;
    t3_dim5 = *p4d;
    t3_offset = 1 + t3_dim1 * (1 + t3_dim2 * (1 + t3_dim3 * (1 + t3_dim4 * (1 
	    + t3_dim5))));
    t3 -= t3_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param h3d = 16; param h2d = 16; param h1d = 16; param p6d = 16; param p5d = 16; param p4d = 16; } ) @*/
    i__1 = *p5d;
    for (p5 = 1; p5 <= i__1; ++p5) {
	i__2 = *p4d;
	for (p4 = 1; p4 <= i__2; ++p4) {
	    i__3 = *p6d;
	    for (p6 = 1; p6 <= i__3; ++p6) {
		i__4 = *h2d;
		for (h2 = 1; h2 <= i__4; ++h2) {
		    i__5 = *h1d;
		    for (h1 = 1; h1 <= i__5; ++h1) {
			i__6 = *h3d;
			for (h3 = 1; h3 <= i__6; ++h3) {
			    t3[h3 + (h1 + (h2 + (p6 + (p4 + p5 * t3_dim5) * 
				    t3_dim4) * t3_dim3) * t3_dim2) * t3_dim1] 
				    += t1sub[p4 + h1 * t1sub_dim1] * v2sub[h3 
				    + (h2 + (p6 + p5 * v2sub_dim3) * 
				    v2sub_dim2) * v2sub_dim1];
/* L10: */
			}
/* L20: */
		    }
/* L30: */
		}
/* L40: */
	    }
/* L50: */
	}
/* L60: */
    }
    /*@ end @*/
    return 0;
} /* sdts15_ */

/* Subroutine */ int sdts16_(integer *h3d, integer *h2d, integer *h1d, 
	integer *p6d, integer *p5d, integer *p4d, doublereal *t3, doublereal *
	t1sub, doublereal *v2sub)
{
    /* System generated locals */
    integer t3_dim1, t3_dim2, t3_dim3, t3_dim4, t3_dim5, t3_offset, 
	    t1sub_dim1, t1sub_offset, v2sub_dim1, v2sub_dim2, v2sub_dim3, 
	    v2sub_offset, i__1, i__2, i__3, i__4, i__5, i__6;

    /* Local variables */
    integer h1, h2, h3, p4, p5, p6;
    /* Parameter adjustments */
    v2sub_dim1 = *h3d;
    v2sub_dim2 = *h2d;
    v2sub_dim3 = *p6d;
    v2sub_offset = 1 + v2sub_dim1 * (1 + v2sub_dim2 * (1 + v2sub_dim3));
    v2sub -= v2sub_offset;
    t1sub_dim1 = *p4d;
    t1sub_offset = 1 + t1sub_dim1;
    t1sub -= t1sub_offset;
    t3_dim1 = *h1d;
    t3_dim2 = *h3d;
    t3_dim3 = *h2d;
    t3_dim4 = *p6d;
    t3_dim5 = *p4d;
    t3_offset = 1 + t3_dim1 * (1 + t3_dim2 * (1 + t3_dim3 * (1 + t3_dim4 * (1 
	    + t3_dim5))));
    t3 -= t3_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param h3d = 16; param h2d = 16; param h1d = 16; param p6d = 16; param p5d = 16; param p4d = 16; } ) @*/
    i__1 = *p5d;
    for (p5 = 1; p5 <= i__1; ++p5) {
	i__2 = *p4d;
	for (p4 = 1; p4 <= i__2; ++p4) {
	    i__3 = *p6d;
	    for (p6 = 1; p6 <= i__3; ++p6) {
		i__4 = *h2d;
		for (h2 = 1; h2 <= i__4; ++h2) {
		    i__5 = *h3d;
		    for (h3 = 1; h3 <= i__5; ++h3) {
			i__6 = *h1d;
			for (h1 = 1; h1 <= i__6; ++h1) {
			    t3[h1 + (h3 + (h2 + (p6 + (p4 + p5 * t3_dim5) * 
				    t3_dim4) * t3_dim3) * t3_dim2) * t3_dim1] 
				    -= t1sub[p4 + h1 * t1sub_dim1] * v2sub[h3 
				    + (h2 + (p6 + p5 * v2sub_dim3) * 
				    v2sub_dim2) * v2sub_dim1];
/* L10: */
			}
/* L20: */
		    }
/* L30: */
		}
/* L40: */
	    }
/* L50: */
	}
/* L60: */
    }
    /*@ end @*/
    return 0;
} /* sdts16_ */

/* Subroutine */ int sdts17_(integer *h3d, integer *h2d, integer *h1d, 
	integer *p6d, integer *p5d, integer *p4d, doublereal *t3, doublereal *
	t1sub, doublereal *v2sub)
{
    /* System generated locals */
    integer t3_dim1, t3_dim2, t3_dim3, t3_dim4, t3_dim5, t3_offset, 
	    t1sub_dim1, t1sub_offset, v2sub_dim1, v2sub_dim2, v2sub_dim3, 
	    v2sub_offset, i__1, i__2, i__3, i__4, i__5, i__6;

    /* Local variables */
    integer h1, h2, h3, p4, p5, p6;
    /* Parameter adjustments */
    v2sub_dim1 = *h3d;
    v2sub_dim2 = *h2d;
    v2sub_dim3 = *p6d;
    v2sub_offset = 1 + v2sub_dim1 * (1 + v2sub_dim2 * (1 + v2sub_dim3));
    v2sub -= v2sub_offset;
    t1sub_dim1 = *p4d;
    t1sub_offset = 1 + t1sub_dim1;
    t1sub -= t1sub_offset;
    t3_dim1 = *h3d;
    t3_dim2 = *h2d;
    t3_dim3 = *h1d;
    t3_dim4 = *p4d;
    t3_dim5 = *p6d;
    t3_offset = 1 + t3_dim1 * (1 + t3_dim2 * (1 + t3_dim3 * (1 + t3_dim4 * (1 
	    + t3_dim5))));
    t3 -= t3_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param h3d = 16; param h2d = 16; param h1d = 16; param p6d = 16; param p5d = 16; param p4d = 16; } ) @*/
    i__1 = *p5d;
    for (p5 = 1; p5 <= i__1; ++p5) {
	i__2 = *p6d;
	for (p6 = 1; p6 <= i__2; ++p6) {
	    i__3 = *p4d;
	    for (p4 = 1; p4 <= i__3; ++p4) {
		i__4 = *h1d;
		for (h1 = 1; h1 <= i__4; ++h1) {
		    i__5 = *h2d;
		    for (h2 = 1; h2 <= i__5; ++h2) {
			i__6 = *h3d;
			for (h3 = 1; h3 <= i__6; ++h3) {
			    t3[h3 + (h2 + (h1 + (p4 + (p6 + p5 * t3_dim5) * 
				    t3_dim4) * t3_dim3) * t3_dim2) * t3_dim1] 
				    += t1sub[p4 + h1 * t1sub_dim1] * v2sub[h3 
				    + (h2 + (p6 + p5 * v2sub_dim3) * 
				    v2sub_dim2) * v2sub_dim1];
/* L10: */
			}
/* L20: */
		    }
/* L30: */
		}
/* L40: */
	    }
/* L50: */
	}
/* L60: */
    }
    /*@ end @*/
    return 0;
} /* sdts17_ */

/* Subroutine */ int sdts18_(integer *h3d, integer *h2d, integer *h1d, 
	integer *p6d, integer *p5d, integer *p4d, doublereal *t3, doublereal *
	t1sub, doublereal *v2sub)
{
    /* System generated locals */
    integer t3_dim1, t3_dim2, t3_dim3, t3_dim4, t3_dim5, t3_offset, 
	    t1sub_dim1, t1sub_offset, v2sub_dim1, v2sub_dim2, v2sub_dim3, 
	    v2sub_offset, i__1, i__2, i__3, i__4, i__5, i__6;

    /* Local variables */
    integer h1, h2, h3, p4, p5, p6;
    /* Parameter adjustments */
    v2sub_dim1 = *h3d;
    v2sub_dim2 = *h2d;
    v2sub_dim3 = *p6d;
    v2sub_offset = 1 + v2sub_dim1 * (1 + v2sub_dim2 * (1 + v2sub_dim3));
    v2sub -= v2sub_offset;
    t1sub_dim1 = *p4d;
    t1sub_offset = 1 + t1sub_dim1;
    t1sub -= t1sub_offset;
    t3_dim1 = *h3d;
    t3_dim2 = *h1d;
    t3_dim3 = *h2d;
    t3_dim4 = *p4d;
    t3_dim5 = *p6d;
    t3_offset = 1 + t3_dim1 * (1 + t3_dim2 * (1 + t3_dim3 * (1 + t3_dim4 * (1 
	    + t3_dim5))));
    t3 -= t3_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param h3d = 16; param h2d = 16; param h1d = 16; param p6d = 16; param p5d = 16; param p4d = 16; } ) @*/
    i__1 = *p5d;
    for (p5 = 1; p5 <= i__1; ++p5) {
	i__2 = *p6d;
	for (p6 = 1; p6 <= i__2; ++p6) {
	    i__3 = *p4d;
	    for (p4 = 1; p4 <= i__3; ++p4) {
		i__4 = *h2d;
		for (h2 = 1; h2 <= i__4; ++h2) {
		    i__5 = *h1d;
		    for (h1 = 1; h1 <= i__5; ++h1) {
			i__6 = *h3d;
			for (h3 = 1; h3 <= i__6; ++h3) {
			    t3[h3 + (h1 + (h2 + (p4 + (p6 + p5 * t3_dim5) * 
				    t3_dim4) * t3_dim3) * t3_dim2) * t3_dim1] 
				    -= t1sub[p4 + h1 * t1sub_dim1] * v2sub[h3 
				    + (h2 + (p6 + p5 * v2sub_dim3) * 
				    v2sub_dim2) * v2sub_dim1];
/* L10: */
			}
/* L20: */
		    }
/* L30: */
		}
/* L40: */
	    }
/* L50: */
	}
/* L60: */
    }
    /*@ end @*/
    return 0;
} /* sdts18_ */

/* Subroutine */ int sdts19_(integer *h3d, integer *h2d, integer *h1d, 
	integer *p6d, integer *p5d, integer *p4d, doublereal *t3, doublereal *
	t1sub, doublereal *v2sub)
{
    /* System generated locals */
    integer t3_dim1, t3_dim2, t3_dim3, t3_dim4, t3_dim5, t3_offset, 
	    t1sub_dim1, t1sub_offset, v2sub_dim1, v2sub_dim2, v2sub_dim3, 
	    v2sub_offset, i__1, i__2, i__3, i__4, i__5, i__6;

    /* Local variables */
    integer h1, h2, h3, p4, p5, p6;
    /* Parameter adjustments */
    v2sub_dim1 = *h3d;
    v2sub_dim2 = *h2d;
    v2sub_dim3 = *p6d;
    v2sub_offset = 1 + v2sub_dim1 * (1 + v2sub_dim2 * (1 + v2sub_dim3));
    v2sub -= v2sub_offset;
    t1sub_dim1 = *p4d;
    t1sub_offset = 1 + t1sub_dim1;
    t1sub -= t1sub_offset;
    t3_dim1 = *h1d;
    t3_dim2 = *h3d;
    t3_dim3 = *h2d;
    t3_dim4 = *p4d;
    t3_dim5 = *p6d;
    t3_offset = 1 + t3_dim1 * (1 + t3_dim2 * (1 + t3_dim3 * (1 + t3_dim4 * (1 
	    + t3_dim5))));
    t3 -= t3_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param h3d = 16; param h2d = 16; param h1d = 16; param p6d = 16; param p5d = 16; param p4d = 16; } ) @*/
    i__1 = *p5d;
    for (p5 = 1; p5 <= i__1; ++p5) {
	i__2 = *p6d;
	for (p6 = 1; p6 <= i__2; ++p6) {
	    i__3 = *p4d;
	    for (p4 = 1; p4 <= i__3; ++p4) {
		i__4 = *h2d;
		for (h2 = 1; h2 <= i__4; ++h2) {
		    i__5 = *h3d;
		    for (h3 = 1; h3 <= i__5; ++h3) {
			i__6 = *h1d;
			for (h1 = 1; h1 <= i__6; ++h1) {
			    t3[h1 + (h3 + (h2 + (p4 + (p6 + p5 * t3_dim5) * 
				    t3_dim4) * t3_dim3) * t3_dim2) * t3_dim1] 
				    += t1sub[p4 + h1 * t1sub_dim1] * v2sub[h3 
				    + (h2 + (p6 + p5 * v2sub_dim3) * 
				    v2sub_dim2) * v2sub_dim1];
/* L10: */
			}
/* L20: */
		    }
/* L30: */
		}
/* L40: */
	    }
/* L50: */
	}
/* L60: */
    }
    /*@ end @*/
    return 0;
} /* sdts19_ */

/* Subroutine */ int sdtd11_(integer *h3d, integer *h2d, integer *h1d, 
	integer *p6d, integer *p5d, integer *p4d, integer *h7d, doublereal *
	t3, doublereal *t2sub, doublereal *v2sub)
{
    /* System generated locals */
    integer t3_dim1, t3_dim2, t3_dim3, t3_dim4, t3_dim5, t3_offset, 
	    t2sub_dim1, t2sub_dim2, t2sub_dim3, t2sub_offset, v2sub_dim1, 
	    v2sub_dim2, v2sub_dim3, v2sub_offset, i__1, i__2, i__3, i__4, 
	    i__5, i__6, i__7;

    /* Local variables */
    integer h1, h2, h3, h7, p4, p5, p6;
    /* Parameter adjustments */
    t3_dim1 = *h3d;
    t3_dim2 = *h2d;
    t3_dim3 = *h1d;
    t3_dim4 = *p6d;
    t3_dim5 = *p5d;
    t3_offset = 1 + t3_dim1 * (1 + t3_dim2 * (1 + t3_dim3 * (1 + t3_dim4 * (1 
	    + t3_dim5))));
    t3 -= t3_offset;
    v2sub_dim1 = *h3d;
    v2sub_dim2 = *h2d;
    v2sub_dim3 = *p6d;
    v2sub_offset = 1 + v2sub_dim1 * (1 + v2sub_dim2 * (1 + v2sub_dim3));
    v2sub -= v2sub_offset;
    t2sub_dim1 = *h7d;
    t2sub_dim2 = *p4d;
    t2sub_dim3 = *p5d;
    t2sub_offset = 1 + t2sub_dim1 * (1 + t2sub_dim2 * (1 + t2sub_dim3));
    t2sub -= t2sub_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param h3d = 16; param h2d = 16; param h1d = 16; param p6d = 16; param p5d = 16; param p4d = 16; param h7d = 16; } ) @*/
    i__1 = *p4d;
    for (p4 = 1; p4 <= i__1; ++p4) {
	i__2 = *p5d;
	for (p5 = 1; p5 <= i__2; ++p5) {
	    i__3 = *p6d;
	    for (p6 = 1; p6 <= i__3; ++p6) {
		i__4 = *h1d;
		for (h1 = 1; h1 <= i__4; ++h1) {
		    i__5 = *h7d;
		    for (h7 = 1; h7 <= i__5; ++h7) {
			i__6 = *h2d;
			for (h2 = 1; h2 <= i__6; ++h2) {
			    i__7 = *h3d;
			    for (h3 = 1; h3 <= i__7; ++h3) {
				t3[h3 + (h2 + (h1 + (p6 + (p5 + p4 * t3_dim5) 
					* t3_dim4) * t3_dim3) * t3_dim2) * 
					t3_dim1] -= t2sub[h7 + (p4 + (p5 + h1 
					* t2sub_dim3) * t2sub_dim2) * 
					t2sub_dim1] * v2sub[h3 + (h2 + (p6 + 
					h7 * v2sub_dim3) * v2sub_dim2) * 
					v2sub_dim1];
/* L10: */
			    }
/* L20: */
			}
/* L30: */
		    }
/* L40: */
		}
/* L50: */
	    }
/* L60: */
	}
/* L70: */
    }
    /*@ end @*/
    return 0;
} /* sdtd11_ */

/* Subroutine */ int sdtd12_(integer *h3d, integer *h2d, integer *h1d, 
	integer *p6d, integer *p5d, integer *p4d, integer *h7d, doublereal *
	t3, doublereal *t2sub, doublereal *v2sub)
{
    /* System generated locals */
    integer t3_dim1, t3_dim2, t3_dim3, t3_dim4, t3_dim5, t3_offset, 
	    t2sub_dim1, t2sub_dim2, t2sub_dim3, t2sub_offset, v2sub_dim1, 
	    v2sub_dim2, v2sub_dim3, v2sub_offset, i__1, i__2, i__3, i__4, 
	    i__5, i__6, i__7;

    /* Local variables */
    integer h1, h2, h3, h7, p4, p5, p6;
    /* Parameter adjustments */
    t3_dim1 = *h3d;
    t3_dim2 = *h1d;
    t3_dim3 = *h2d;
    t3_dim4 = *p6d;
    t3_dim5 = *p5d;
    t3_offset = 1 + t3_dim1 * (1 + t3_dim2 * (1 + t3_dim3 * (1 + t3_dim4 * (1 
	    + t3_dim5))));
    t3 -= t3_offset;
    v2sub_dim1 = *h3d;
    v2sub_dim2 = *h2d;
    v2sub_dim3 = *p6d;
    v2sub_offset = 1 + v2sub_dim1 * (1 + v2sub_dim2 * (1 + v2sub_dim3));
    v2sub -= v2sub_offset;
    t2sub_dim1 = *h7d;
    t2sub_dim2 = *p4d;
    t2sub_dim3 = *p5d;
    t2sub_offset = 1 + t2sub_dim1 * (1 + t2sub_dim2 * (1 + t2sub_dim3));
    t2sub -= t2sub_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param h3d = 16; param h2d = 16; param h1d = 16; param p6d = 16; param p5d = 16; param p4d = 16; param h7d = 16; } ) @*/
    i__1 = *p4d;
    for (p4 = 1; p4 <= i__1; ++p4) {
	i__2 = *p5d;
	for (p5 = 1; p5 <= i__2; ++p5) {
	    i__3 = *p6d;
	    for (p6 = 1; p6 <= i__3; ++p6) {
		i__4 = *h2d;
		for (h2 = 1; h2 <= i__4; ++h2) {
		    i__5 = *h7d;
		    for (h7 = 1; h7 <= i__5; ++h7) {
			i__6 = *h1d;
			for (h1 = 1; h1 <= i__6; ++h1) {
			    i__7 = *h3d;
			    for (h3 = 1; h3 <= i__7; ++h3) {
				t3[h3 + (h1 + (h2 + (p6 + (p5 + p4 * t3_dim5) 
					* t3_dim4) * t3_dim3) * t3_dim2) * 
					t3_dim1] += t2sub[h7 + (p4 + (p5 + h1 
					* t2sub_dim3) * t2sub_dim2) * 
					t2sub_dim1] * v2sub[h3 + (h2 + (p6 + 
					h7 * v2sub_dim3) * v2sub_dim2) * 
					v2sub_dim1];
/* L10: */
			    }
/* L20: */
			}
/* L30: */
		    }
/* L40: */
		}
/* L50: */
	    }
/* L60: */
	}
/* L70: */
    }
    /*@ end @*/
    return 0;
} /* sdtd12_ */

/* Subroutine */ int sdtd13_(integer *h3d, integer *h2d, integer *h1d, 
	integer *p6d, integer *p5d, integer *p4d, integer *h7d, doublereal *
	t3, doublereal *t2sub, doublereal *v2sub)
{
    /* System generated locals */
    integer t3_dim1, t3_dim2, t3_dim3, t3_dim4, t3_dim5, t3_offset, 
	    t2sub_dim1, t2sub_dim2, t2sub_dim3, t2sub_offset, v2sub_dim1, 
	    v2sub_dim2, v2sub_dim3, v2sub_offset, i__1, i__2, i__3, i__4, 
	    i__5, i__6, i__7;

    /* Local variables */
    integer h1, h2, h3, h7, p4, p5, p6;
    /* Parameter adjustments */
    t3_dim1 = *h1d;
    t3_dim2 = *h3d;
    t3_dim3 = *h2d;
    t3_dim4 = *p6d;
    t3_dim5 = *p5d;
    t3_offset = 1 + t3_dim1 * (1 + t3_dim2 * (1 + t3_dim3 * (1 + t3_dim4 * (1 
	    + t3_dim5))));
    t3 -= t3_offset;
    v2sub_dim1 = *h3d;
    v2sub_dim2 = *h2d;
    v2sub_dim3 = *p6d;
    v2sub_offset = 1 + v2sub_dim1 * (1 + v2sub_dim2 * (1 + v2sub_dim3));
    v2sub -= v2sub_offset;
    t2sub_dim1 = *h7d;
    t2sub_dim2 = *p4d;
    t2sub_dim3 = *p5d;
    t2sub_offset = 1 + t2sub_dim1 * (1 + t2sub_dim2 * (1 + t2sub_dim3));
    t2sub -= t2sub_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param h3d = 16; param h2d = 16; param h1d = 16; param p6d = 16; param p5d = 16; param p4d = 16; param h7d = 16; } ) @*/
    i__1 = *p4d;
    for (p4 = 1; p4 <= i__1; ++p4) {
	i__2 = *p5d;
	for (p5 = 1; p5 <= i__2; ++p5) {
	    i__3 = *p6d;
	    for (p6 = 1; p6 <= i__3; ++p6) {
		i__4 = *h2d;
		for (h2 = 1; h2 <= i__4; ++h2) {
		    i__5 = *h7d;
		    for (h7 = 1; h7 <= i__5; ++h7) {
			i__6 = *h3d;
			for (h3 = 1; h3 <= i__6; ++h3) {
			    i__7 = *h1d;
			    for (h1 = 1; h1 <= i__7; ++h1) {
				t3[h1 + (h3 + (h2 + (p6 + (p5 + p4 * t3_dim5) 
					* t3_dim4) * t3_dim3) * t3_dim2) * 
					t3_dim1] -= t2sub[h7 + (p4 + (p5 + h1 
					* t2sub_dim3) * t2sub_dim2) * 
					t2sub_dim1] * v2sub[h3 + (h2 + (p6 + 
					h7 * v2sub_dim3) * v2sub_dim2) * 
					v2sub_dim1];
/* L10: */
			    }
/* L20: */
			}
/* L30: */
		    }
/* L40: */
		}
/* L50: */
	    }
/* L60: */
	}
/* L70: */
    }
    /*@ end @*/
    return 0;
} /* sdtd13_ */

/* Subroutine */ int sdtd14_(integer *h3d, integer *h2d, integer *h1d, 
	integer *p6d, integer *p5d, integer *p4d, integer *h7d, doublereal *
	t3, doublereal *t2sub, doublereal *v2sub)
{
    /* System generated locals */
    integer t3_dim1, t3_dim2, t3_dim3, t3_dim4, t3_dim5, t3_offset, 
	    t2sub_dim1, t2sub_dim2, t2sub_dim3, t2sub_offset, v2sub_dim1, 
	    v2sub_dim2, v2sub_dim3, v2sub_offset, i__1, i__2, i__3, i__4, 
	    i__5, i__6, i__7;

    /* Local variables */
    integer h1, h2, h3, h7, p4, p5, p6;
    /* Parameter adjustments */
    t3_dim1 = *h3d;
    t3_dim2 = *h2d;
    t3_dim3 = *h1d;
    t3_dim4 = *p5d;
    t3_dim5 = *p4d;
    t3_offset = 1 + t3_dim1 * (1 + t3_dim2 * (1 + t3_dim3 * (1 + t3_dim4 * (1 
	    + t3_dim5))));
    t3 -= t3_offset;
    v2sub_dim1 = *h3d;
    v2sub_dim2 = *h2d;
    v2sub_dim3 = *p6d;
    v2sub_offset = 1 + v2sub_dim1 * (1 + v2sub_dim2 * (1 + v2sub_dim3));
    v2sub -= v2sub_offset;
    t2sub_dim1 = *h7d;
    t2sub_dim2 = *p4d;
    t2sub_dim3 = *p5d;
    t2sub_offset = 1 + t2sub_dim1 * (1 + t2sub_dim2 * (1 + t2sub_dim3));
    t2sub -= t2sub_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param h3d = 16; param h2d = 16; param h1d = 16; param p6d = 16; param p5d = 16; param p4d = 16; param h7d = 16; } ) @*/
    i__1 = *p6d;
    for (p6 = 1; p6 <= i__1; ++p6) {
	i__2 = *p4d;
	for (p4 = 1; p4 <= i__2; ++p4) {
	    i__3 = *p5d;
	    for (p5 = 1; p5 <= i__3; ++p5) {
		i__4 = *h1d;
		for (h1 = 1; h1 <= i__4; ++h1) {
		    i__5 = *h7d;
		    for (h7 = 1; h7 <= i__5; ++h7) {
			i__6 = *h2d;
			for (h2 = 1; h2 <= i__6; ++h2) {
			    i__7 = *h3d;
			    for (h3 = 1; h3 <= i__7; ++h3) {
				t3[h3 + (h2 + (h1 + (p5 + (p4 + p6 * t3_dim5) 
					* t3_dim4) * t3_dim3) * t3_dim2) * 
					t3_dim1] -= t2sub[h7 + (p4 + (p5 + h1 
					* t2sub_dim3) * t2sub_dim2) * 
					t2sub_dim1] * v2sub[h3 + (h2 + (p6 + 
					h7 * v2sub_dim3) * v2sub_dim2) * 
					v2sub_dim1];
/* L10: */
			    }
/* L20: */
			}
/* L30: */
		    }
/* L40: */
		}
/* L50: */
	    }
/* L60: */
	}
/* L70: */
    }
    /*@ end @*/
    return 0;
} /* sdtd14_ */

/* Subroutine */ int sdtd15_(integer *h3d, integer *h2d, integer *h1d, 
	integer *p6d, integer *p5d, integer *p4d, integer *h7d, doublereal *
	t3, doublereal *t2sub, doublereal *v2sub)
{
    /* System generated locals */
    integer t3_dim1, t3_dim2, t3_dim3, t3_dim4, t3_dim5, t3_offset, 
	    t2sub_dim1, t2sub_dim2, t2sub_dim3, t2sub_offset, v2sub_dim1, 
	    v2sub_dim2, v2sub_dim3, v2sub_offset, i__1, i__2, i__3, i__4, 
	    i__5, i__6, i__7;

    /* Local variables */
    integer h1, h2, h3, h7, p4, p5, p6;
    /* Parameter adjustments */
    t3_dim1 = *h3d;
    t3_dim2 = *h1d;
    t3_dim3 = *h2d;
    t3_dim4 = *p5d;
    t3_dim5 = *p4d;
    t3_offset = 1 + t3_dim1 * (1 + t3_dim2 * (1 + t3_dim3 * (1 + t3_dim4 * (1 
	    + t3_dim5))));
    t3 -= t3_offset;
    v2sub_dim1 = *h3d;
    v2sub_dim2 = *h2d;
    v2sub_dim3 = *p6d;
    v2sub_offset = 1 + v2sub_dim1 * (1 + v2sub_dim2 * (1 + v2sub_dim3));
    v2sub -= v2sub_offset;
    t2sub_dim1 = *h7d;
    t2sub_dim2 = *p4d;
    t2sub_dim3 = *p5d;
    t2sub_offset = 1 + t2sub_dim1 * (1 + t2sub_dim2 * (1 + t2sub_dim3));
    t2sub -= t2sub_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param h3d = 16; param h2d = 16; param h1d = 16; param p6d = 16; param p5d = 16; param p4d = 16; param h7d = 16; } ) @*/
    i__1 = *p6d;
    for (p6 = 1; p6 <= i__1; ++p6) {
	i__2 = *p4d;
	for (p4 = 1; p4 <= i__2; ++p4) {
	    i__3 = *p5d;
	    for (p5 = 1; p5 <= i__3; ++p5) {
		i__4 = *h2d;
		for (h2 = 1; h2 <= i__4; ++h2) {
		    i__5 = *h7d;
		    for (h7 = 1; h7 <= i__5; ++h7) {
			i__6 = *h1d;
			for (h1 = 1; h1 <= i__6; ++h1) {
			    i__7 = *h3d;
			    for (h3 = 1; h3 <= i__7; ++h3) {
				t3[h3 + (h1 + (h2 + (p5 + (p4 + p6 * t3_dim5) 
					* t3_dim4) * t3_dim3) * t3_dim2) * 
					t3_dim1] += t2sub[h7 + (p4 + (p5 + h1 
					* t2sub_dim3) * t2sub_dim2) * 
					t2sub_dim1] * v2sub[h3 + (h2 + (p6 + 
					h7 * v2sub_dim3) * v2sub_dim2) * 
					v2sub_dim1];
/* L10: */
			    }
/* L20: */
			}
/* L30: */
		    }
/* L40: */
		}
/* L50: */
	    }
/* L60: */
	}
/* L70: */
    }
    /*@ end @*/
    return 0;
} /* sdtd15_ */

/* Subroutine */ int sdtd16_(integer *h3d, integer *h2d, integer *h1d, 
	integer *p6d, integer *p5d, integer *p4d, integer *h7d, doublereal *
	t3, doublereal *t2sub, doublereal *v2sub)
{
    /* System generated locals */
    integer t3_dim1, t3_dim2, t3_dim3, t3_dim4, t3_dim5, t3_offset, 
	    t2sub_dim1, t2sub_dim2, t2sub_dim3, t2sub_offset, v2sub_dim1, 
	    v2sub_dim2, v2sub_dim3, v2sub_offset, i__1, i__2, i__3, i__4, 
	    i__5, i__6, i__7;

    /* Local variables */
    integer h1, h2, h3, h7, p4, p5, p6;
    /* Parameter adjustments */
    t3_dim1 = *h1d;
    t3_dim2 = *h3d;
    t3_dim3 = *h2d;
    t3_dim4 = *p5d;
    t3_dim5 = *p4d;
    t3_offset = 1 + t3_dim1 * (1 + t3_dim2 * (1 + t3_dim3 * (1 + t3_dim4 * (1 
	    + t3_dim5))));
    t3 -= t3_offset;
    v2sub_dim1 = *h3d;
    v2sub_dim2 = *h2d;
    v2sub_dim3 = *p6d;
    v2sub_offset = 1 + v2sub_dim1 * (1 + v2sub_dim2 * (1 + v2sub_dim3));
    v2sub -= v2sub_offset;
    t2sub_dim1 = *h7d;
    t2sub_dim2 = *p4d;
    t2sub_dim3 = *p5d;
    t2sub_offset = 1 + t2sub_dim1 * (1 + t2sub_dim2 * (1 + t2sub_dim3));
    t2sub -= t2sub_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param h3d = 16; param h2d = 16; param h1d = 16; param p6d = 16; param p5d = 16; param p4d = 16; param h7d = 16; } ) @*/
    i__1 = *p6d;
    for (p6 = 1; p6 <= i__1; ++p6) {
	i__2 = *p4d;
	for (p4 = 1; p4 <= i__2; ++p4) {
	    i__3 = *p5d;
	    for (p5 = 1; p5 <= i__3; ++p5) {
		i__4 = *h2d;
		for (h2 = 1; h2 <= i__4; ++h2) {
		    i__5 = *h7d;
		    for (h7 = 1; h7 <= i__5; ++h7) {
			i__6 = *h3d;
			for (h3 = 1; h3 <= i__6; ++h3) {
			    i__7 = *h1d;
			    for (h1 = 1; h1 <= i__7; ++h1) {
				t3[h1 + (h3 + (h2 + (p5 + (p4 + p6 * t3_dim5) 
					* t3_dim4) * t3_dim3) * t3_dim2) * 
					t3_dim1] -= t2sub[h7 + (p4 + (p5 + h1 
					* t2sub_dim3) * t2sub_dim2) * 
					t2sub_dim1] * v2sub[h3 + (h2 + (p6 + 
					h7 * v2sub_dim3) * v2sub_dim2) * 
					v2sub_dim1];
/* L10: */
			    }
/* L20: */
			}
/* L30: */
		    }
/* L40: */
		}
/* L50: */
	    }
/* L60: */
	}
/* L70: */
    }
    /*@ end @*/
    return 0;
} /* sdtd16_ */

/* Subroutine */ int sdtd17_(integer *h3d, integer *h2d, integer *h1d, 
	integer *p6d, integer *p5d, integer *p4d, integer *h7d, doublereal *
	t3, doublereal *t2sub, doublereal *v2sub)
{
    /* System generated locals */
    integer t3_dim1, t3_dim2, t3_dim3, t3_dim4, t3_dim5, t3_offset, 
	    t2sub_dim1, t2sub_dim2, t2sub_dim3, t2sub_offset, v2sub_dim1, 
	    v2sub_dim2, v2sub_dim3, v2sub_offset, i__1, i__2, i__3, i__4, 
	    i__5, i__6, i__7;

    /* Local variables */
    integer h1, h2, h3, h7, p4, p5, p6;
    /* Parameter adjustments */
    t3_dim1 = *h3d;
    t3_dim2 = *h2d;
    t3_dim3 = *h1d;
    t3_dim4 = *p5d;
    t3_dim5 = *p6d;
    t3_offset = 1 + t3_dim1 * (1 + t3_dim2 * (1 + t3_dim3 * (1 + t3_dim4 * (1 
	    + t3_dim5))));
    t3 -= t3_offset;
    v2sub_dim1 = *h3d;
    v2sub_dim2 = *h2d;
    v2sub_dim3 = *p6d;
    v2sub_offset = 1 + v2sub_dim1 * (1 + v2sub_dim2 * (1 + v2sub_dim3));
    v2sub -= v2sub_offset;
    t2sub_dim1 = *h7d;
    t2sub_dim2 = *p4d;
    t2sub_dim3 = *p5d;
    t2sub_offset = 1 + t2sub_dim1 * (1 + t2sub_dim2 * (1 + t2sub_dim3));
    t2sub -= t2sub_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param h3d = 16; param h2d = 16; param h1d = 16; param p6d = 16; param p5d = 16; param p4d = 16; param h7d = 16; } ) @*/
    i__1 = *p4d;
    for (p4 = 1; p4 <= i__1; ++p4) {
	i__2 = *p6d;
	for (p6 = 1; p6 <= i__2; ++p6) {
	    i__3 = *p5d;
	    for (p5 = 1; p5 <= i__3; ++p5) {
		i__4 = *h1d;
		for (h1 = 1; h1 <= i__4; ++h1) {
		    i__5 = *h7d;
		    for (h7 = 1; h7 <= i__5; ++h7) {
			i__6 = *h2d;
			for (h2 = 1; h2 <= i__6; ++h2) {
			    i__7 = *h3d;
			    for (h3 = 1; h3 <= i__7; ++h3) {
				t3[h3 + (h2 + (h1 + (p5 + (p6 + p4 * t3_dim5) 
					* t3_dim4) * t3_dim3) * t3_dim2) * 
					t3_dim1] += t2sub[h7 + (p4 + (p5 + h1 
					* t2sub_dim3) * t2sub_dim2) * 
					t2sub_dim1] * v2sub[h3 + (h2 + (p6 + 
					h7 * v2sub_dim3) * v2sub_dim2) * 
					v2sub_dim1];
/* L10: */
			    }
/* L20: */
			}
/* L30: */
		    }
/* L40: */
		}
/* L50: */
	    }
/* L60: */
	}
/* L70: */
    }
    /*@ end @*/
    return 0;
} /* sdtd17_ */

/* Subroutine */ int sdtd18_(integer *h3d, integer *h2d, integer *h1d, 
	integer *p6d, integer *p5d, integer *p4d, integer *h7d, doublereal *
	t3, doublereal *t2sub, doublereal *v2sub)
{
    /* System generated locals */
    integer t3_dim1, t3_dim2, t3_dim3, t3_dim4, t3_dim5, t3_offset, 
	    t2sub_dim1, t2sub_dim2, t2sub_dim3, t2sub_offset, v2sub_dim1, 
	    v2sub_dim2, v2sub_dim3, v2sub_offset, i__1, i__2, i__3, i__4, 
	    i__5, i__6, i__7;

    /* Local variables */
    integer h1, h2, h3, h7, p4, p5, p6;
    /* Parameter adjustments */
    t3_dim1 = *h3d;
    t3_dim2 = *h1d;
    t3_dim3 = *h2d;
    t3_dim4 = *p5d;
    t3_dim5 = *p6d;
    t3_offset = 1 + t3_dim1 * (1 + t3_dim2 * (1 + t3_dim3 * (1 + t3_dim4 * (1 
	    + t3_dim5))));
    t3 -= t3_offset;
    v2sub_dim1 = *h3d;
    v2sub_dim2 = *h2d;
    v2sub_dim3 = *p6d;
    v2sub_offset = 1 + v2sub_dim1 * (1 + v2sub_dim2 * (1 + v2sub_dim3));
    v2sub -= v2sub_offset;
    t2sub_dim1 = *h7d;
    t2sub_dim2 = *p4d;
    t2sub_dim3 = *p5d;
    t2sub_offset = 1 + t2sub_dim1 * (1 + t2sub_dim2 * (1 + t2sub_dim3));
    t2sub -= t2sub_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param h3d = 16; param h2d = 16; param h1d = 16; param p6d = 16; param p5d = 16; param p4d = 16; param h7d = 16; } ) @*/
    i__1 = *p4d;
    for (p4 = 1; p4 <= i__1; ++p4) {
	i__2 = *p6d;
	for (p6 = 1; p6 <= i__2; ++p6) {
	    i__3 = *p5d;
	    for (p5 = 1; p5 <= i__3; ++p5) {
		i__4 = *h2d;
		for (h2 = 1; h2 <= i__4; ++h2) {
		    i__5 = *h7d;
		    for (h7 = 1; h7 <= i__5; ++h7) {
			i__6 = *h1d;
			for (h1 = 1; h1 <= i__6; ++h1) {
			    i__7 = *h3d;
			    for (h3 = 1; h3 <= i__7; ++h3) {
				t3[h3 + (h1 + (h2 + (p5 + (p6 + p4 * t3_dim5) 
					* t3_dim4) * t3_dim3) * t3_dim2) * 
					t3_dim1] -= t2sub[h7 + (p4 + (p5 + h1 
					* t2sub_dim3) * t2sub_dim2) * 
					t2sub_dim1] * v2sub[h3 + (h2 + (p6 + 
					h7 * v2sub_dim3) * v2sub_dim2) * 
					v2sub_dim1];
/* L10: */
			    }
/* L20: */
			}
/* L30: */
		    }
/* L40: */
		}
/* L50: */
	    }
/* L60: */
	}
/* L70: */
    }
    /*@ end @*/
    return 0;
} /* sdtd18_ */

/* Subroutine */ int sdtd19_(integer *h3d, integer *h2d, integer *h1d, 
	integer *p6d, integer *p5d, integer *p4d, integer *h7d, doublereal *
	t3, doublereal *t2sub, doublereal *v2sub)
{
    /* System generated locals */
    integer t3_dim1, t3_dim2, t3_dim3, t3_dim4, t3_dim5, t3_offset, 
	    t2sub_dim1, t2sub_dim2, t2sub_dim3, t2sub_offset, v2sub_dim1, 
	    v2sub_dim2, v2sub_dim3, v2sub_offset, i__1, i__2, i__3, i__4, 
	    i__5, i__6, i__7;

    /* Local variables */
    integer h1, h2, h3, h7, p4, p5, p6;
    /* Parameter adjustments */
    t3_dim1 = *h1d;
    t3_dim2 = *h3d;
    t3_dim3 = *h2d;
    t3_dim4 = *p5d;
    t3_dim5 = *p6d;
    t3_offset = 1 + t3_dim1 * (1 + t3_dim2 * (1 + t3_dim3 * (1 + t3_dim4 * (1 
	    + t3_dim5))));
    t3 -= t3_offset;
    v2sub_dim1 = *h3d;
    v2sub_dim2 = *h2d;
    v2sub_dim3 = *p6d;
    v2sub_offset = 1 + v2sub_dim1 * (1 + v2sub_dim2 * (1 + v2sub_dim3));
    v2sub -= v2sub_offset;
    t2sub_dim1 = *h7d;
    t2sub_dim2 = *p4d;
    t2sub_dim3 = *p5d;
    t2sub_offset = 1 + t2sub_dim1 * (1 + t2sub_dim2 * (1 + t2sub_dim3));
    t2sub -= t2sub_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param h3d = 16; param h2d = 16; param h1d = 16; param p6d = 16; param p5d = 16; param p4d = 16; param h7d = 16; } ) @*/
    i__1 = *p4d;
    for (p4 = 1; p4 <= i__1; ++p4) {
	i__2 = *p6d;
	for (p6 = 1; p6 <= i__2; ++p6) {
	    i__3 = *p5d;
	    for (p5 = 1; p5 <= i__3; ++p5) {
		i__4 = *h2d;
		for (h2 = 1; h2 <= i__4; ++h2) {
		    i__5 = *h7d;
		    for (h7 = 1; h7 <= i__5; ++h7) {
			i__6 = *h3d;
			for (h3 = 1; h3 <= i__6; ++h3) {
			    i__7 = *h1d;
			    for (h1 = 1; h1 <= i__7; ++h1) {
				t3[h1 + (h3 + (h2 + (p5 + (p6 + p4 * t3_dim5) 
					* t3_dim4) * t3_dim3) * t3_dim2) * 
					t3_dim1] += t2sub[h7 + (p4 + (p5 + h1 
					* t2sub_dim3) * t2sub_dim2) * 
					t2sub_dim1] * v2sub[h3 + (h2 + (p6 + 
					h7 * v2sub_dim3) * v2sub_dim2) * 
					v2sub_dim1];
/* L10: */
			    }
/* L20: */
			}
/* L30: */
		    }
/* L40: */
		}
/* L50: */
	    }
/* L60: */
	}
/* L70: */
    }
    /*@ end @*/
    return 0;
} /* sdtd19_ */

/* Subroutine */ int sdtd21_(integer *h3d, integer *h2d, integer *h1d, 
	integer *p6d, integer *p5d, integer *p4d, integer *p7d, doublereal *
	t3, doublereal *t2sub, doublereal *v2sub)
{
    /* System generated locals */
    integer t3_dim1, t3_dim2, t3_dim3, t3_dim4, t3_dim5, t3_offset, 
	    t2sub_dim1, t2sub_dim2, t2sub_dim3, t2sub_offset, v2sub_dim1, 
	    v2sub_dim2, v2sub_dim3, v2sub_offset, i__1, i__2, i__3, i__4, 
	    i__5, i__6, i__7;

    /* Local variables */
    integer h1, h2, h3, p4, p5, p6, p7;
    /* Parameter adjustments */
    t3_dim1 = *h3d;
    t3_dim2 = *h2d;
    t3_dim3 = *h1d;
    t3_dim4 = *p6d;
    t3_dim5 = *p5d;
    t3_offset = 1 + t3_dim1 * (1 + t3_dim2 * (1 + t3_dim3 * (1 + t3_dim4 * (1 
	    + t3_dim5))));
    t3 -= t3_offset;
    v2sub_dim1 = *p7d;
    v2sub_dim2 = *h3d;
    v2sub_dim3 = *p6d;
    v2sub_offset = 1 + v2sub_dim1 * (1 + v2sub_dim2 * (1 + v2sub_dim3));
    v2sub -= v2sub_offset;
    t2sub_dim1 = *p7d;
    t2sub_dim2 = *p4d;
    t2sub_dim3 = *h1d;
    t2sub_offset = 1 + t2sub_dim1 * (1 + t2sub_dim2 * (1 + t2sub_dim3));
    t2sub -= t2sub_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param h3d = 16; param h2d = 16; param h1d = 16; param p6d = 16; param p5d = 16; param p4d = 16; param p7d = 16; } ) @*/
    i__1 = *p4d;
    for (p4 = 1; p4 <= i__1; ++p4) {
	i__2 = *p5d;
	for (p5 = 1; p5 <= i__2; ++p5) {
	    i__3 = *p6d;
	    for (p6 = 1; p6 <= i__3; ++p6) {
		i__4 = *h1d;
		for (h1 = 1; h1 <= i__4; ++h1) {
		    i__5 = *p7d;
		    for (p7 = 1; p7 <= i__5; ++p7) {
			i__6 = *h2d;
			for (h2 = 1; h2 <= i__6; ++h2) {
			    i__7 = *h3d;
			    for (h3 = 1; h3 <= i__7; ++h3) {
				t3[h3 + (h2 + (h1 + (p6 + (p5 + p4 * t3_dim5) 
					* t3_dim4) * t3_dim3) * t3_dim2) * 
					t3_dim1] -= t2sub[p7 + (p4 + (h1 + h2 
					* t2sub_dim3) * t2sub_dim2) * 
					t2sub_dim1] * v2sub[p7 + (h3 + (p6 + 
					p5 * v2sub_dim3) * v2sub_dim2) * 
					v2sub_dim1];
/* L10: */
			    }
/* L20: */
			}
/* L30: */
		    }
/* L40: */
		}
/* L50: */
	    }
/* L60: */
	}
/* L70: */
    }
    /*@ end @*/
    return 0;
} /* sdtd21_ */

/* Subroutine */ int sdtd22_(integer *h3d, integer *h2d, integer *h1d, 
	integer *p6d, integer *p5d, integer *p4d, integer *p7d, doublereal *
	t3, doublereal *t2sub, doublereal *v2sub)
{
    /* System generated locals */
    integer t3_dim1, t3_dim2, t3_dim3, t3_dim4, t3_dim5, t3_offset, 
	    t2sub_dim1, t2sub_dim2, t2sub_dim3, t2sub_offset, v2sub_dim1, 
	    v2sub_dim2, v2sub_dim3, v2sub_offset, i__1, i__2, i__3, i__4, 
	    i__5, i__6, i__7;

    /* Local variables */
    integer h1, h2, h3, p4, p5, p6, p7;
    /* Parameter adjustments */
    t3_dim1 = *h2d;
    t3_dim2 = *h1d;
    t3_dim3 = *h3d;
    t3_dim4 = *p6d;
    t3_dim5 = *p5d;
    t3_offset = 1 + t3_dim1 * (1 + t3_dim2 * (1 + t3_dim3 * (1 + t3_dim4 * (1 
	    + t3_dim5))));
    t3 -= t3_offset;
    v2sub_dim1 = *p7d;
    v2sub_dim2 = *h3d;
    v2sub_dim3 = *p6d;
    v2sub_offset = 1 + v2sub_dim1 * (1 + v2sub_dim2 * (1 + v2sub_dim3));
    v2sub -= v2sub_offset;
    t2sub_dim1 = *p7d;
    t2sub_dim2 = *p4d;
    t2sub_dim3 = *h1d;
    t2sub_offset = 1 + t2sub_dim1 * (1 + t2sub_dim2 * (1 + t2sub_dim3));
    t2sub -= t2sub_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param h3d = 16; param h2d = 16; param h1d = 16; param p6d = 16; param p5d = 16; param p4d = 16; param p7d = 16; } ) @*/
    i__1 = *p4d;
    for (p4 = 1; p4 <= i__1; ++p4) {
	i__2 = *p5d;
	for (p5 = 1; p5 <= i__2; ++p5) {
	    i__3 = *p6d;
	    for (p6 = 1; p6 <= i__3; ++p6) {
		i__4 = *h3d;
		for (h3 = 1; h3 <= i__4; ++h3) {
		    i__5 = *p7d;
		    for (p7 = 1; p7 <= i__5; ++p7) {
			i__6 = *h1d;
			for (h1 = 1; h1 <= i__6; ++h1) {
			    i__7 = *h2d;
			    for (h2 = 1; h2 <= i__7; ++h2) {
				t3[h2 + (h1 + (h3 + (p6 + (p5 + p4 * t3_dim5) 
					* t3_dim4) * t3_dim3) * t3_dim2) * 
					t3_dim1] -= t2sub[p7 + (p4 + (h1 + h2 
					* t2sub_dim3) * t2sub_dim2) * 
					t2sub_dim1] * v2sub[p7 + (h3 + (p6 + 
					p5 * v2sub_dim3) * v2sub_dim2) * 
					v2sub_dim1];
/* L10: */
			    }
/* L20: */
			}
/* L30: */
		    }
/* L40: */
		}
/* L50: */
	    }
/* L60: */
	}
/* L70: */
    }
    /*@ end @*/
    return 0;
} /* sdtd22_ */

/* Subroutine */ int sdtd23_(integer *h3d, integer *h2d, integer *h1d, 
	integer *p6d, integer *p5d, integer *p4d, integer *p7d, doublereal *
	t3, doublereal *t2sub, doublereal *v2sub)
{
    /* System generated locals */
    integer t3_dim1, t3_dim2, t3_dim3, t3_dim4, t3_dim5, t3_offset, 
	    t2sub_dim1, t2sub_dim2, t2sub_dim3, t2sub_offset, v2sub_dim1, 
	    v2sub_dim2, v2sub_dim3, v2sub_offset, i__1, i__2, i__3, i__4, 
	    i__5, i__6, i__7;

    /* Local variables */
    integer h1, h2, h3, p4, p5, p6, p7;
    /* Parameter adjustments */
    t3_dim1 = *h2d;
    t3_dim2 = *h3d;
    t3_dim3 = *h1d;
    t3_dim4 = *p6d;
    t3_dim5 = *p5d;
    t3_offset = 1 + t3_dim1 * (1 + t3_dim2 * (1 + t3_dim3 * (1 + t3_dim4 * (1 
	    + t3_dim5))));
    t3 -= t3_offset;
    v2sub_dim1 = *p7d;
    v2sub_dim2 = *h3d;
    v2sub_dim3 = *p6d;
    v2sub_offset = 1 + v2sub_dim1 * (1 + v2sub_dim2 * (1 + v2sub_dim3));
    v2sub -= v2sub_offset;
    t2sub_dim1 = *p7d;
    t2sub_dim2 = *p4d;
    t2sub_dim3 = *h1d;
    t2sub_offset = 1 + t2sub_dim1 * (1 + t2sub_dim2 * (1 + t2sub_dim3));
    t2sub -= t2sub_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param h3d = 16; param h2d = 16; param h1d = 16; param p6d = 16; param p5d = 16; param p4d = 16; param p7d = 16; } ) @*/
    i__1 = *p4d;
    for (p4 = 1; p4 <= i__1; ++p4) {
	i__2 = *p5d;
	for (p5 = 1; p5 <= i__2; ++p5) {
	    i__3 = *p6d;
	    for (p6 = 1; p6 <= i__3; ++p6) {
		i__4 = *h1d;
		for (h1 = 1; h1 <= i__4; ++h1) {
		    i__5 = *p7d;
		    for (p7 = 1; p7 <= i__5; ++p7) {
			i__6 = *h3d;
			for (h3 = 1; h3 <= i__6; ++h3) {
			    i__7 = *h2d;
			    for (h2 = 1; h2 <= i__7; ++h2) {
				t3[h2 + (h3 + (h1 + (p6 + (p5 + p4 * t3_dim5) 
					* t3_dim4) * t3_dim3) * t3_dim2) * 
					t3_dim1] += t2sub[p7 + (p4 + (h1 + h2 
					* t2sub_dim3) * t2sub_dim2) * 
					t2sub_dim1] * v2sub[p7 + (h3 + (p6 + 
					p5 * v2sub_dim3) * v2sub_dim2) * 
					v2sub_dim1];
/* L10: */
			    }
/* L20: */
			}
/* L30: */
		    }
/* L40: */
		}
/* L50: */
	    }
/* L60: */
	}
/* L70: */
    }
    /*@ end @*/
    return 0;
} /* sdtd23_ */

/* Subroutine */ int sdtd24_(integer *h3d, integer *h2d, integer *h1d, 
	integer *p6d, integer *p5d, integer *p4d, integer *p7d, doublereal *
	t3, doublereal *t2sub, doublereal *v2sub)
{
    /* System generated locals */
    integer t3_dim1, t3_dim2, t3_dim3, t3_dim4, t3_dim5, t3_offset, 
	    t2sub_dim1, t2sub_dim2, t2sub_dim3, t2sub_offset, v2sub_dim1, 
	    v2sub_dim2, v2sub_dim3, v2sub_offset, i__1, i__2, i__3, i__4, 
	    i__5, i__6, i__7;

    /* Local variables */
    integer h1, h2, h3, p4, p5, p6, p7;
    /* Parameter adjustments */
    t3_dim1 = *h3d;
    t3_dim2 = *h2d;
    t3_dim3 = *h1d;
    t3_dim4 = *p6d;
    t3_dim5 = *p4d;
    t3_offset = 1 + t3_dim1 * (1 + t3_dim2 * (1 + t3_dim3 * (1 + t3_dim4 * (1 
	    + t3_dim5))));
    t3 -= t3_offset;
    v2sub_dim1 = *p7d;
    v2sub_dim2 = *h3d;
    v2sub_dim3 = *p6d;
    v2sub_offset = 1 + v2sub_dim1 * (1 + v2sub_dim2 * (1 + v2sub_dim3));
    v2sub -= v2sub_offset;
    t2sub_dim1 = *p7d;
    t2sub_dim2 = *p4d;
    t2sub_dim3 = *h1d;
    t2sub_offset = 1 + t2sub_dim1 * (1 + t2sub_dim2 * (1 + t2sub_dim3));
    t2sub -= t2sub_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param h3d = 16; param h2d = 16; param h1d = 16; param p6d = 16; param p5d = 16; param p4d = 16; param p7d = 16; } ) @*/
    i__1 = *p5d;
    for (p5 = 1; p5 <= i__1; ++p5) {
	i__2 = *p4d;
	for (p4 = 1; p4 <= i__2; ++p4) {
	    i__3 = *p6d;
	    for (p6 = 1; p6 <= i__3; ++p6) {
		i__4 = *h1d;
		for (h1 = 1; h1 <= i__4; ++h1) {
		    i__5 = *p7d;
		    for (p7 = 1; p7 <= i__5; ++p7) {
			i__6 = *h2d;
			for (h2 = 1; h2 <= i__6; ++h2) {
			    i__7 = *h3d;
			    for (h3 = 1; h3 <= i__7; ++h3) {
				t3[h3 + (h2 + (h1 + (p6 + (p4 + p5 * t3_dim5) 
					* t3_dim4) * t3_dim3) * t3_dim2) * 
					t3_dim1] += t2sub[p7 + (p4 + (h1 + h2 
					* t2sub_dim3) * t2sub_dim2) * 
					t2sub_dim1] * v2sub[p7 + (h3 + (p6 + 
					p5 * v2sub_dim3) * v2sub_dim2) * 
					v2sub_dim1];
/* L10: */
			    }
/* L20: */
			}
/* L30: */
		    }
/* L40: */
		}
/* L50: */
	    }
/* L60: */
	}
/* L70: */
    }
    /*@ end @*/
    return 0;
} /* sdtd24_ */

/* Subroutine */ int sdtd25_(integer *h3d, integer *h2d, integer *h1d, 
	integer *p6d, integer *p5d, integer *p4d, integer *p7d, doublereal *
	t3, doublereal *t2sub, doublereal *v2sub)
{
    /* System generated locals */
    integer t3_dim1, t3_dim2, t3_dim3, t3_dim4, t3_dim5, t3_offset, 
	    t2sub_dim1, t2sub_dim2, t2sub_dim3, t2sub_offset, v2sub_dim1, 
	    v2sub_dim2, v2sub_dim3, v2sub_offset, i__1, i__2, i__3, i__4, 
	    i__5, i__6, i__7;

    /* Local variables */
    integer h1, h2, h3, p4, p5, p6, p7;
    /* Parameter adjustments */
    t3_dim1 = *h2d;
    t3_dim2 = *h1d;
    t3_dim3 = *h3d;
    t3_dim4 = *p6d;
    t3_dim5 = *p4d;
    t3_offset = 1 + t3_dim1 * (1 + t3_dim2 * (1 + t3_dim3 * (1 + t3_dim4 * (1 
	    + t3_dim5))));
    t3 -= t3_offset;
    v2sub_dim1 = *p7d;
    v2sub_dim2 = *h3d;
    v2sub_dim3 = *p6d;
    v2sub_offset = 1 + v2sub_dim1 * (1 + v2sub_dim2 * (1 + v2sub_dim3));
    v2sub -= v2sub_offset;
    t2sub_dim1 = *p7d;
    t2sub_dim2 = *p4d;
    t2sub_dim3 = *h1d;
    t2sub_offset = 1 + t2sub_dim1 * (1 + t2sub_dim2 * (1 + t2sub_dim3));
    t2sub -= t2sub_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param h3d = 16; param h2d = 16; param h1d = 16; param p6d = 16; param p5d = 16; param p4d = 16; param p7d = 16; } ) @*/
    i__1 = *p5d;
    for (p5 = 1; p5 <= i__1; ++p5) {
	i__2 = *p4d;
	for (p4 = 1; p4 <= i__2; ++p4) {
	    i__3 = *p6d;
	    for (p6 = 1; p6 <= i__3; ++p6) {
		i__4 = *h3d;
		for (h3 = 1; h3 <= i__4; ++h3) {
		    i__5 = *p7d;
		    for (p7 = 1; p7 <= i__5; ++p7) {
			i__6 = *h1d;
			for (h1 = 1; h1 <= i__6; ++h1) {
			    i__7 = *h2d;
			    for (h2 = 1; h2 <= i__7; ++h2) {
				t3[h2 + (h1 + (h3 + (p6 + (p4 + p5 * t3_dim5) 
					* t3_dim4) * t3_dim3) * t3_dim2) * 
					t3_dim1] += t2sub[p7 + (p4 + (h1 + h2 
					* t2sub_dim3) * t2sub_dim2) * 
					t2sub_dim1] * v2sub[p7 + (h3 + (p6 + 
					p5 * v2sub_dim3) * v2sub_dim2) * 
					v2sub_dim1];
/* L10: */
			    }
/* L20: */
			}
/* L30: */
		    }
/* L40: */
		}
/* L50: */
	    }
/* L60: */
	}
/* L70: */
    }
    /*@ end @*/
    return 0;
} /* sdtd25_ */

/* Subroutine */ int sdtd26_(integer *h3d, integer *h2d, integer *h1d, 
	integer *p6d, integer *p5d, integer *p4d, integer *p7d, doublereal *
	t3, doublereal *t2sub, doublereal *v2sub)
{
    /* System generated locals */
    integer t3_dim1, t3_dim2, t3_dim3, t3_dim4, t3_dim5, t3_offset, 
	    t2sub_dim1, t2sub_dim2, t2sub_dim3, t2sub_offset, v2sub_dim1, 
	    v2sub_dim2, v2sub_dim3, v2sub_offset, i__1, i__2, i__3, i__4, 
	    i__5, i__6, i__7;

    /* Local variables */
    integer h1, h2, h3, p4, p5, p6, p7;
    /* Parameter adjustments */
    t3_dim1 = *h2d;
    t3_dim2 = *h3d;
    t3_dim3 = *h1d;
    t3_dim4 = *p6d;
    t3_dim5 = *p4d;
    t3_offset = 1 + t3_dim1 * (1 + t3_dim2 * (1 + t3_dim3 * (1 + t3_dim4 * (1 
	    + t3_dim5))));
    t3 -= t3_offset;
    v2sub_dim1 = *p7d;
    v2sub_dim2 = *h3d;
    v2sub_dim3 = *p6d;
    v2sub_offset = 1 + v2sub_dim1 * (1 + v2sub_dim2 * (1 + v2sub_dim3));
    v2sub -= v2sub_offset;
    t2sub_dim1 = *p7d;
    t2sub_dim2 = *p4d;
    t2sub_dim3 = *h1d;
    t2sub_offset = 1 + t2sub_dim1 * (1 + t2sub_dim2 * (1 + t2sub_dim3));
    t2sub -= t2sub_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param h3d = 16; param h2d = 16; param h1d = 16; param p6d = 16; param p5d = 16; param p4d = 16; param p7d = 16; } ) @*/
    i__1 = *p5d;
    for (p5 = 1; p5 <= i__1; ++p5) {
	i__2 = *p4d;
	for (p4 = 1; p4 <= i__2; ++p4) {
	    i__3 = *p6d;
	    for (p6 = 1; p6 <= i__3; ++p6) {
		i__4 = *h1d;
		for (h1 = 1; h1 <= i__4; ++h1) {
		    i__5 = *p7d;
		    for (p7 = 1; p7 <= i__5; ++p7) {
			i__6 = *h3d;
			for (h3 = 1; h3 <= i__6; ++h3) {
			    i__7 = *h2d;
			    for (h2 = 1; h2 <= i__7; ++h2) {
				t3[h2 + (h3 + (h1 + (p6 + (p4 + p5 * t3_dim5) 
					* t3_dim4) * t3_dim3) * t3_dim2) * 
					t3_dim1] -= t2sub[p7 + (p4 + (h1 + h2 
					* t2sub_dim3) * t2sub_dim2) * 
					t2sub_dim1] * v2sub[p7 + (h3 + (p6 + 
					p5 * v2sub_dim3) * v2sub_dim2) * 
					v2sub_dim1];
/* L10: */
			    }
/* L20: */
			}
/* L30: */
		    }
/* L40: */
		}
/* L50: */
	    }
/* L60: */
	}
/* L70: */
    }
    /*@ end @*/
    return 0;
} /* sdtd26_ */

/* Subroutine */ int sdtd27_(integer *h3d, integer *h2d, integer *h1d, 
	integer *p6d, integer *p5d, integer *p4d, integer *p7d, doublereal *
	t3, doublereal *t2sub, doublereal *v2sub)
{
    /* System generated locals */
    integer t3_dim1, t3_dim2, t3_dim3, t3_dim4, t3_dim5, t3_offset, 
	    t2sub_dim1, t2sub_dim2, t2sub_dim3, t2sub_offset, v2sub_dim1, 
	    v2sub_dim2, v2sub_dim3, v2sub_offset, i__1, i__2, i__3, i__4, 
	    i__5, i__6, i__7;

    /* Local variables */
    integer h1, h2, h3, p4, p5, p6, p7;
    /* Parameter adjustments */
    t3_dim1 = *h3d;
    t3_dim2 = *h2d;
    t3_dim3 = *h1d;
    t3_dim4 = *p4d;
    t3_dim5 = *p6d;
    t3_offset = 1 + t3_dim1 * (1 + t3_dim2 * (1 + t3_dim3 * (1 + t3_dim4 * (1 
	    + t3_dim5))));
    t3 -= t3_offset;
    v2sub_dim1 = *p7d;
    v2sub_dim2 = *h3d;
    v2sub_dim3 = *p6d;
    v2sub_offset = 1 + v2sub_dim1 * (1 + v2sub_dim2 * (1 + v2sub_dim3));
    v2sub -= v2sub_offset;
    t2sub_dim1 = *p7d;
    t2sub_dim2 = *p4d;
    t2sub_dim3 = *h1d;
    t2sub_offset = 1 + t2sub_dim1 * (1 + t2sub_dim2 * (1 + t2sub_dim3));
    t2sub -= t2sub_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param h3d = 16; param h2d = 16; param h1d = 16; param p6d = 16; param p5d = 16; param p4d = 16; param p7d = 16; } ) @*/
    i__1 = *p5d;
    for (p5 = 1; p5 <= i__1; ++p5) {
	i__2 = *p6d;
	for (p6 = 1; p6 <= i__2; ++p6) {
	    i__3 = *p4d;
	    for (p4 = 1; p4 <= i__3; ++p4) {
		i__4 = *h1d;
		for (h1 = 1; h1 <= i__4; ++h1) {
		    i__5 = *p7d;
		    for (p7 = 1; p7 <= i__5; ++p7) {
			i__6 = *h2d;
			for (h2 = 1; h2 <= i__6; ++h2) {
			    i__7 = *h3d;
			    for (h3 = 1; h3 <= i__7; ++h3) {
				t3[h3 + (h2 + (h1 + (p4 + (p6 + p5 * t3_dim5) 
					* t3_dim4) * t3_dim3) * t3_dim2) * 
					t3_dim1] -= t2sub[p7 + (p4 + (h1 + h2 
					* t2sub_dim3) * t2sub_dim2) * 
					t2sub_dim1] * v2sub[p7 + (h3 + (p6 + 
					p5 * v2sub_dim3) * v2sub_dim2) * 
					v2sub_dim1];
/* L10: */
			    }
/* L20: */
			}
/* L30: */
		    }
/* L40: */
		}
/* L50: */
	    }
/* L60: */
	}
/* L70: */
    }
    /*@ end @*/
    return 0;
} /* sdtd27_ */

/* Subroutine */ int sdtd28_(integer *h3d, integer *h2d, integer *h1d, 
	integer *p6d, integer *p5d, integer *p4d, integer *p7d, doublereal *
	t3, doublereal *t2sub, doublereal *v2sub)
{
    /* System generated locals */
    integer t3_dim1, t3_dim2, t3_dim3, t3_dim4, t3_dim5, t3_offset, 
	    t2sub_dim1, t2sub_dim2, t2sub_dim3, t2sub_offset, v2sub_dim1, 
	    v2sub_dim2, v2sub_dim3, v2sub_offset, i__1, i__2, i__3, i__4, 
	    i__5, i__6, i__7;

    /* Local variables */
    integer h1, h2, h3, p4, p5, p6, p7;
    /* Parameter adjustments */
    t3_dim1 = *h2d;
    t3_dim2 = *h1d;
    t3_dim3 = *h3d;
    t3_dim4 = *p4d;
    t3_dim5 = *p6d;
    t3_offset = 1 + t3_dim1 * (1 + t3_dim2 * (1 + t3_dim3 * (1 + t3_dim4 * (1 
	    + t3_dim5))));
    t3 -= t3_offset;
    v2sub_dim1 = *p7d;
    v2sub_dim2 = *h3d;
    v2sub_dim3 = *p6d;
    v2sub_offset = 1 + v2sub_dim1 * (1 + v2sub_dim2 * (1 + v2sub_dim3));
    v2sub -= v2sub_offset;
    t2sub_dim1 = *p7d;
    t2sub_dim2 = *p4d;
    t2sub_dim3 = *h1d;
    t2sub_offset = 1 + t2sub_dim1 * (1 + t2sub_dim2 * (1 + t2sub_dim3));
    t2sub -= t2sub_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param h3d = 16; param h2d = 16; param h1d = 16; param p6d = 16; param p5d = 16; param p4d = 16; param p7d = 16; } ) @*/
    i__1 = *p5d;
    for (p5 = 1; p5 <= i__1; ++p5) {
	i__2 = *p6d;
	for (p6 = 1; p6 <= i__2; ++p6) {
	    i__3 = *p4d;
	    for (p4 = 1; p4 <= i__3; ++p4) {
		i__4 = *h3d;
		for (h3 = 1; h3 <= i__4; ++h3) {
		    i__5 = *p7d;
		    for (p7 = 1; p7 <= i__5; ++p7) {
			i__6 = *h1d;
			for (h1 = 1; h1 <= i__6; ++h1) {
			    i__7 = *h2d;
			    for (h2 = 1; h2 <= i__7; ++h2) {
				t3[h2 + (h1 + (h3 + (p4 + (p6 + p5 * t3_dim5) 
					* t3_dim4) * t3_dim3) * t3_dim2) * 
					t3_dim1] -= t2sub[p7 + (p4 + (h1 + h2 
					* t2sub_dim3) * t2sub_dim2) * 
					t2sub_dim1] * v2sub[p7 + (h3 + (p6 + 
					p5 * v2sub_dim3) * v2sub_dim2) * 
					v2sub_dim1];
/* L10: */
			    }
/* L20: */
			}
/* L30: */
		    }
/* L40: */
		}
/* L50: */
	    }
/* L60: */
	}
/* L70: */
    }
    /*@ end @*/
    return 0;
} /* sdtd28_ */

/* Subroutine */ int sdtd29_(integer *h3d, integer *h2d, integer *h1d, 
	integer *p6d, integer *p5d, integer *p4d, integer *p7d, doublereal *
	t3, doublereal *t2sub, doublereal *v2sub)
{
    /* System generated locals */
    integer t3_dim1, t3_dim2, t3_dim3, t3_dim4, t3_dim5, t3_offset, 
	    t2sub_dim1, t2sub_dim2, t2sub_dim3, t2sub_offset, v2sub_dim1, 
	    v2sub_dim2, v2sub_dim3, v2sub_offset, i__1, i__2, i__3, i__4, 
	    i__5, i__6, i__7;

    /* Local variables */
    integer h1, h2, h3, p4, p5, p6, p7;
    /* Parameter adjustments */
    t3_dim1 = *h2d;
    t3_dim2 = *h3d;
    t3_dim3 = *h1d;
    t3_dim4 = *p4d;
    t3_dim5 = *p6d;
    t3_offset = 1 + t3_dim1 * (1 + t3_dim2 * (1 + t3_dim3 * (1 + t3_dim4 * (1 
	    + t3_dim5))));
    t3 -= t3_offset;
    v2sub_dim1 = *p7d;
    v2sub_dim2 = *h3d;
    v2sub_dim3 = *p6d;
    v2sub_offset = 1 + v2sub_dim1 * (1 + v2sub_dim2 * (1 + v2sub_dim3));
    v2sub -= v2sub_offset;
    t2sub_dim1 = *p7d;
    t2sub_dim2 = *p4d;
    t2sub_dim3 = *h1d;
    t2sub_offset = 1 + t2sub_dim1 * (1 + t2sub_dim2 * (1 + t2sub_dim3));
    t2sub -= t2sub_offset;

    /* Function Body */
    /*@ begin PerfTuning ( def input_params { param h3d = 16; param h2d = 16; param h1d = 16; param p6d = 16; param p5d = 16; param p4d = 16; param p7d = 16; } ) @*/
    i__1 = *p5d;
    for (p5 = 1; p5 <= i__1; ++p5) {
	i__2 = *p6d;
	for (p6 = 1; p6 <= i__2; ++p6) {
	    i__3 = *p4d;
	    for (p4 = 1; p4 <= i__3; ++p4) {
		i__4 = *h1d;
		for (h1 = 1; h1 <= i__4; ++h1) {
		    i__5 = *p7d;
		    for (p7 = 1; p7 <= i__5; ++p7) {
			i__6 = *h3d;
			for (h3 = 1; h3 <= i__6; ++h3) {
			    i__7 = *h2d;
			    for (h2 = 1; h2 <= i__7; ++h2) {
				t3[h2 + (h3 + (h1 + (p4 + (p6 + p5 * t3_dim5) 
					* t3_dim4) * t3_dim3) * t3_dim2) * 
					t3_dim1] += t2sub[p7 + (p4 + (h1 + h2 
					* t2sub_dim3) * t2sub_dim2) * 
					t2sub_dim1] * v2sub[p7 + (h3 + (p6 + 
					p5 * v2sub_dim3) * v2sub_dim2) * 
					v2sub_dim1];
/* L10: */
			    }
/* L20: */
			}
/* L30: */
		    }
/* L40: */
		}
/* L50: */
	    }
/* L60: */
	}
/* L70: */
    }
    /*@ end @*/
    return 0;
} /* sdtd29_ */

