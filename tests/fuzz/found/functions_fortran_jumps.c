/* functions {"name": "t115", "text": "", "harness": "", "entries": [{"function": "t115_", "slots": [{"name": "n", "kind": "value", "type": "int"}, {"name": "m", "kind": "value", "type": "int"}, {"name": "k", "kind": "value", "type": "int"}, {"name": "incx", "kind": "value", "type": "int"}, {"name": "incy", "kind": "value", "type": "int"}, {"name": "lda", "kind": "value", "type": "int"}, {"name": "ldb", "kind": "value", "type": "int"}, {"name": "al", "kind": "value", "type": "double"}, {"name": "be", "kind": "value", "type": "double"}, {"name": "x", "kind": "array", "type": "double"}, {"name": "y", "kind": "array", "type": "double"}, {"name": "a", "kind": "array", "type": "double"}, {"name": "b", "kind": "array", "type": "double"}, {"name": "iv", "kind": "array", "type": "int"}, {"name": "cx", "kind": "array", "type": "double complex"}, {"name": "cy", "kind": "array", "type": "double complex"}, {"name": "out", "kind": "array", "type": "double"}], "calls": [{"values": {"n": "12", "m": "9", "k": "7", "incx": "1", "incy": "2", "lda": "14", "ldb": "13", "al": "1.0", "be": "1.0"}, "arrays": {"x": {"style": "small", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "0", "m": "0", "k": "0", "incx": "1", "incy": "2", "lda": "14", "ldb": "13", "al": "0.0", "be": "-1.0"}, "arrays": {"x": {"style": "small", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "1", "m": "1", "k": "1", "incx": "1", "incy": "1", "lda": "1", "ldb": "1", "al": "-1.0", "be": "1.0"}, "arrays": {"x": {"style": "nan", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "nan", "salt": 1, "is_null": false, "same": "", "offset": 0}, "a": {"style": "nan", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "nan", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "3", "m": "3", "k": "2", "incx": "3", "incy": "3", "lda": "3", "ldb": "3", "al": "-1.0", "be": "-1.0"}, "arrays": {"x": {"style": "small", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "3", "m": "9", "k": "6", "incx": "6", "incy": "3", "lda": "6", "ldb": "5", "al": "-1.0", "be": "2.0"}, "arrays": {"x": {"style": "small", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "37", "m": "33", "k": "7", "incx": "1", "incy": "2", "lda": "14", "ldb": "13", "al": "1.0", "be": "2.0"}, "arrays": {"x": {"style": "zeros", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "zeros", "salt": 1, "is_null": false, "same": "", "offset": 0}, "a": {"style": "zeros", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "zeros", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "zeros", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "zeros", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "zeros", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "zeros", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "12", "m": "9", "k": "7", "incx": "-2", "incy": "-2", "lda": "14", "ldb": "13", "al": "0.0", "be": "0.0"}, "arrays": {"x": {"style": "small", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "9", "m": "1", "k": "1", "incx": "0", "incy": "1", "lda": "-3", "ldb": "0", "al": "-1.0", "be": "1.0"}, "arrays": {"x": {"style": "small", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}]}], "headers": {"f2c.h": "/* What the routines here need of f2c's header, so that they are read where f2c is not installed. */\n#ifndef F2C_INCLUDE\n#define F2C_INCLUDE\n#include <inttypes.h>\n\ntypedef int32_t integer;\ntypedef int16_t shortint;\ntypedef float real;\ntypedef double doublereal;\ntypedef struct { real r, i; } complex;\ntypedef struct { doublereal r, i; } doublecomplex;\ntypedef int32_t logical;\ntypedef int32_t ftnlen;\ntypedef char integer1;\n\n#define TRUE_ (1)\n#define FALSE_ (0)\n#ifndef Extern\n#define Extern extern\n#endif\n\n#define abs(x) ((x) >= 0 ? (x) : -(x))\n#define dabs(x) (doublereal)abs(x)\n#define min(a, b) ((a) <= (b) ? (a) : (b))\n#define max(a, b) ((a) >= (b) ? (a) : (b))\n#define dmin(a, b) (doublereal)min(a, b)\n#define dmax(a, b) (doublereal)max(a, b)\n#endif\n"}, "objects": [["P", "double", 40], ["CA", "double", 1]], "own": [], "features": [], "sums": true, "discrete": true, "point": null, "fault": ""} */
#include <math.h>
#include "f2c.h"

/* Common Block Declarations */

struct {
    doublereal p[40], ca;
} ct115_;

#define ct115_1 ct115_

/* Subroutine */ int t115_(integer *n, integer *m, integer *k, integer *incx, 
	integer *incy, integer *lda, integer *ldb, doublereal *al, doublereal 
	*be, doublereal *x, doublereal *y, doublereal *a, doublereal *b, 
	integer *iv, doublecomplex *cx, doublecomplex *cy, doublereal *out)
{
    /* System generated locals */
    integer a_dim1, a_offset, b_dim1, b_offset, i__1, i__2, i__3, i__4, i__5;
    doublereal d__1, d__2;

    /* Builtin functions */
    double d_imag(doublecomplex *);

    /* Local variables */
    doublereal d__;
    integer i__, j, l;
    doublereal s, t, u;
    integer kk;
    doublecomplex ct;
    integer mr, ix, iy;

    /* Parameter adjustments */
    a_dim1 = *lda;
    a_offset = 1 + a_dim1;
    a -= a_offset;
    b_dim1 = *ldb;
    b_offset = 1 + b_dim1;
    b -= b_offset;
    --x;
    --y;
    --iv;
    --cx;
    --cy;
    --out;

    /* Function Body */
    t = 0.;
    u = 2.;
    s = 0.;
    d__ = x[1];
    ct.r = 1., ct.i = 2.;
    i__ = 0;
    j = 0;
    l = 0;
    mr = 0;
    ix = 1;
    iy = 1;
    /*@ begin PerfTuning ( def input_params { param n = 12; param m = 9; param k = 7; param incx = 1; param incy = 2; param lda = 14; param ldb = 13; } ) @*/
    kk = 0;
    kk = 0;
    i__1 = *n - 1;
    for (i__ = 1; i__ <= i__1; ++i__) {
	if (i__ % 2 == 0) {
	    b[i__ + i__ * b_dim1] = a[i__ + i__ * a_dim1];
	}
/* L20: */
	++kk;
/* L10: */
    }
    i__1 = *k;
    i__2 = *incx;
    for (i__ = 1; i__2 < 0 ? i__ >= i__1 : i__ <= i__1; i__ += i__2) {
	if (i__ % 2 == 0) {
/* Computing 2nd power */
	    d__1 = t + 1.;
	    s += d__1 * d__1;
	}
	a[i__ + i__ * a_dim1] += ct115_1.ca - b[i__ + i__ * b_dim1];
/* Computing MIN */
	i__4 = *n, i__5 = i__ + 2;
	i__3 = min(i__4,i__5);
	for (j = 1; j <= i__3; ++j) {
	    if (i__ < *n) {
		goto L60;
	    }
/* Computing MAX */
	    d__1 = *be, d__2 = *be + .5, d__1 = max(d__1,d__2);
	    t = max(d__1,.5);
	    x[i__ * 2] += t * ct115_1.p[i__ - 2];
L60:
/* L50: */
	    ;
	}
/* L40: */
/* L30: */
    }
    /*@ end @*/
    out[3] = d__;
    out[4] = (doublereal) ix;
    out[6] = (doublereal) kk;
    out[7] = (doublereal) i__;
    out[8] = (doublereal) j;
    out[10] = ct.r;
    out[11] = d_imag(&ct);
    return 0;
} /* t115_ */

/* harness */
#ifndef OWN_d_imag
#define OWN_d_imag
double d_imag(doublecomplex *z) { return z->i; }
#endif
void t115_call(int function, void **p) { t115_(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11], p[12], p[13], p[14], p[15], p[16]); }
long t115_extent(int function, int slot, void **p) { return 0; }
long t115_row(int function, int slot, void **p) { return 1; }
void *t115_object(int k) { return k ? (void *)&ct115_.ca : (void *)&ct115_.p; }
