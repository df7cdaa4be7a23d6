/* functions {"name": "t103", "text": "", "harness": "", "entries": [{"function": "t103_", "slots": [{"name": "n", "kind": "value", "type": "int"}, {"name": "m", "kind": "value", "type": "int"}, {"name": "k", "kind": "value", "type": "int"}, {"name": "incx", "kind": "value", "type": "int"}, {"name": "incy", "kind": "value", "type": "int"}, {"name": "lda", "kind": "value", "type": "int"}, {"name": "ldb", "kind": "value", "type": "int"}, {"name": "al", "kind": "value", "type": "double"}, {"name": "be", "kind": "value", "type": "double"}, {"name": "x", "kind": "array", "type": "double"}, {"name": "y", "kind": "array", "type": "double"}, {"name": "a", "kind": "array", "type": "double"}, {"name": "b", "kind": "array", "type": "double"}, {"name": "iv", "kind": "array", "type": "int"}, {"name": "cx", "kind": "array", "type": "double complex"}, {"name": "cy", "kind": "array", "type": "double complex"}, {"name": "out", "kind": "array", "type": "double"}], "calls": [{"values": {"n": "12", "m": "9", "k": "7", "incx": "1", "incy": "2", "lda": "14", "ldb": "13", "al": "-1.0", "be": "2.0"}, "arrays": {"x": {"style": "small", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "0", "m": "0", "k": "0", "incx": "1", "incy": "2", "lda": "14", "ldb": "13", "al": "0.0", "be": "1.0"}, "arrays": {"x": {"style": "small", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "1", "m": "1", "k": "1", "incx": "1", "incy": "1", "lda": "1", "ldb": "1", "al": "2.0", "be": "0.0"}, "arrays": {"x": {"style": "nan", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "nan", "salt": 0, "is_null": false, "same": "x", "offset": 1}, "a": {"style": "nan", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "nan", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "2", "m": "3", "k": "3", "incx": "3", "incy": "3", "lda": "3", "ldb": "3", "al": "1.0", "be": "1.0"}, "arrays": {"x": {"style": "small", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "5", "m": "3", "k": "5", "incx": "3", "incy": "2", "lda": "6", "ldb": "6", "al": "1.0", "be": "1.0"}, "arrays": {"x": {"style": "extreme", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "extreme", "salt": 1, "is_null": false, "same": "", "offset": 0}, "a": {"style": "extreme", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "extreme", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "extreme", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "extreme", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "extreme", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "extreme", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "37", "m": "33", "k": "7", "incx": "1", "incy": "2", "lda": "14", "ldb": "13", "al": "-1.0", "be": "-1.0"}, "arrays": {"x": {"style": "small", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "12", "m": "9", "k": "7", "incx": "1", "incy": "1", "lda": "14", "ldb": "13", "al": "2.0", "be": "-1.0"}, "arrays": {"x": {"style": "small", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "9", "m": "1", "k": "0", "incx": "0", "incy": "0", "lda": "1", "ldb": "0", "al": "-1.0", "be": "1.0"}, "arrays": {"x": {"style": "small", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}]}], "headers": {"f2c.h": "/* What the routines here need of f2c's header, so that they are read where f2c is not installed. */\n#ifndef F2C_INCLUDE\n#define F2C_INCLUDE\n#include <inttypes.h>\n\ntypedef int32_t integer;\ntypedef int16_t shortint;\ntypedef float real;\ntypedef double doublereal;\ntypedef struct { real r, i; } complex;\ntypedef struct { doublereal r, i; } doublecomplex;\ntypedef int32_t logical;\ntypedef int32_t ftnlen;\ntypedef char integer1;\n\n#define TRUE_ (1)\n#define FALSE_ (0)\n#ifndef Extern\n#define Extern extern\n#endif\n\n#define abs(x) ((x) >= 0 ? (x) : -(x))\n#define dabs(x) (doublereal)abs(x)\n#define min(a, b) ((a) <= (b) ? (a) : (b))\n#define max(a, b) ((a) >= (b) ? (a) : (b))\n#define dmin(a, b) (doublereal)min(a, b)\n#define dmax(a, b) (doublereal)max(a, b)\n#endif\n"}, "objects": [], "own": [], "features": [], "sums": true, "discrete": true, "point": null, "fault": ""} */
#include <math.h>
#include "f2c.h"

/* Subroutine */ int t103_(integer *n, integer *m, integer *k, integer *incx, 
	integer *incy, integer *lda, integer *ldb, doublereal *al, doublereal 
	*be, doublereal *x, doublereal *y, doublereal *a, doublereal *b, 
	integer *iv, doublecomplex *cx, doublecomplex *cy, doublereal *out)
{
    /* System generated locals */
    integer a_dim1, a_offset, b_dim1, b_offset, i__1;
    doublereal d__1;

    /* Local variables */
    static doublereal d__;
    static integer i__, j, l;
    static doublereal s, t, u;
    static integer kk;
    static doublecomplex ct;
    static integer mr, ix, iy;

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
    /*@ begin PerfTuning ( def input_params { param n = 12; param m = 9; param k = 7; param incx = 1; param incy = 2; param lda = 14; param ldb = 13; } ) @*/
    ix = 1;
    iy = 1;
    kk = 0;
    i__1 = *k;
    for (i__ = 1; i__ <= i__1; i__ += 4) {
	x[i__] = t;
/* L20: */
/* L10: */
    }
    ix = 0;
    i__1 = *m;
    for (i__ = 1; i__ <= i__1; ++i__) {
	s -= x[*n + 1 - i__];
	s += u * *al * (y[ix] - .5);
/* Computing 2nd power */
	d__1 = *al * 2.;
	s += d__1 * d__1;
/* L40: */
	ix += *incx;
/* L30: */
    }
    /*@ end @*/
    out[1] = s;
    out[3] = d__;
    out[4] = (doublereal) ix;
    out[5] = (doublereal) iy;
    out[7] = (doublereal) i__;
    out[8] = (doublereal) j;
    out[9] = (doublereal) l;
    out[10] = ct.r;
    return 0;
} /* t103_ */

/* harness */
void t103_call(int function, void **p) { t103_(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11], p[12], p[13], p[14], p[15], p[16]); }
long t103_extent(int function, int slot, void **p) { return 0; }
long t103_row(int function, int slot, void **p) { return 1; }
void *t103_object(int k) { return 0; }
