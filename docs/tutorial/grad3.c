/* grad3.f -- translated by f2c (version 20200916).
   You must link the resulting object file with libf2c:
	on Microsoft Windows system, link with libf2c.lib;
	on Linux or Unix systems, link with .../path/to/libf2c.a -lm
	or, if you install libf2c.a in a standard place, with -lf2c -lm
	-- in that order, at the end of the command line, as in
		cc *.o -lf2c -lm
	Source for libf2c is in /netlib/f2c/libf2c.zip, e.g.,

		http://www.netlib.org/f2c/libf2c.zip
*/

#include "f2c.h"

/*     The gradient of u on nelt spectral elements of lx**3 points each. */
/*     d differentiates along a line of points; dt is its transpose. */
/* Subroutine */ int grad3_(doublereal *ur, doublereal *us, doublereal *ut, 
	doublereal *u, doublereal *d__, doublereal *dt, integer *nelt)
{
    /* System generated locals */
    integer i__1;

    /* Local variables */
    static integer e, i__, j, k, l;

    /* Parameter adjustments */
    d__ -= 11;
    dt -= 11;
    u -= 1111;
    ut -= 1111;
    us -= 1111;
    ur -= 1111;

    /* Function Body */
    i__1 = *nelt;
    for (e = 1; e <= i__1; ++e) {
	for (k = 1; k <= 10; ++k) {
	    for (j = 1; j <= 10; ++j) {
		for (i__ = 1; i__ <= 10; ++i__) {
		    ur[i__ + (j + (k + e * 10) * 10) * 10] = 0.;
		    us[i__ + (j + (k + e * 10) * 10) * 10] = 0.;
		    ut[i__ + (j + (k + e * 10) * 10) * 10] = 0.;
		    for (l = 1; l <= 10; ++l) {
			ur[i__ + (j + (k + e * 10) * 10) * 10] += d__[i__ + l 
				* 10] * u[l + (j + (k + e * 10) * 10) * 10];
			us[i__ + (j + (k + e * 10) * 10) * 10] += u[i__ + (l 
				+ (k + e * 10) * 10) * 10] * dt[l + j * 10];
			ut[i__ + (j + (k + e * 10) * 10) * 10] += u[i__ + (j 
				+ (l + e * 10) * 10) * 10] * dt[l + k * 10];
		    }
		}
	    }
	}
    }
    return 0;
} /* grad3_ */

