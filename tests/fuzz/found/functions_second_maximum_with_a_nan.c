/* functions {"name": "t152", "text": "", "harness": "", "entries": [{"function": "t152_", "slots": [{"name": "n", "kind": "value", "type": "int"}, {"name": "m", "kind": "value", "type": "int"}, {"name": "k", "kind": "value", "type": "int"}, {"name": "incx", "kind": "value", "type": "int"}, {"name": "incy", "kind": "value", "type": "int"}, {"name": "lda", "kind": "value", "type": "int"}, {"name": "ldb", "kind": "value", "type": "int"}, {"name": "al", "kind": "value", "type": "double"}, {"name": "be", "kind": "value", "type": "double"}, {"name": "x", "kind": "array", "type": "double"}, {"name": "y", "kind": "array", "type": "double"}, {"name": "a", "kind": "array", "type": "double"}, {"name": "b", "kind": "array", "type": "double"}, {"name": "iv", "kind": "array", "type": "int"}, {"name": "cx", "kind": "array", "type": "double complex"}, {"name": "cy", "kind": "array", "type": "double complex"}, {"name": "out", "kind": "array", "type": "double"}], "calls": [{"values": {"n": "37", "m": "33", "k": "7", "incx": "1", "incy": "2", "lda": "14", "ldb": "13", "al": "2.0", "be": "0.0"}, "arrays": {"x": {"style": "nan", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "nan", "salt": 0, "is_null": false, "same": "x", "offset": 0}, "a": {"style": "nan", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "nan", "salt": 7, "is_null": false, "same": "", "offset": 0}}}]}], "headers": {"f2c.h": "/* What the routines here need of f2c's header, so that they are read where f2c is not installed. */\n#ifndef F2C_INCLUDE\n#define F2C_INCLUDE\n#include <inttypes.h>\n\ntypedef int32_t integer;\ntypedef int16_t shortint;\ntypedef float real;\ntypedef double doublereal;\ntypedef struct { real r, i; } complex;\ntypedef struct { doublereal r, i; } doublecomplex;\ntypedef int32_t logical;\ntypedef int32_t ftnlen;\ntypedef char integer1;\n\n#define TRUE_ (1)\n#define FALSE_ (0)\n#ifndef Extern\n#define Extern extern\n#endif\n\n#define abs(x) ((x) >= 0 ? (x) : -(x))\n#define dabs(x) (doublereal)abs(x)\n#define min(a, b) ((a) <= (b) ? (a) : (b))\n#define max(a, b) ((a) >= (b) ? (a) : (b))\n#define dmin(a, b) (doublereal)min(a, b)\n#define dmax(a, b) (doublereal)max(a, b)\n#endif\n"}, "objects": [], "own": [], "features": [], "sums": true, "discrete": true, "point": 152, "fault": "cuda 5: out[2] is np.float64(3.0), expected np.float64(2.0)"} */
#include "f2c.h"

/* Subroutine */ int t152_(integer *n, integer *m, integer *k, integer *incx, 
	integer *incy, integer *lda, integer *ldb, doublereal *al, doublereal 
	*be, doublereal *x, doublereal *y, doublereal *a, doublereal *b, 
	integer *iv, doublecomplex *cx, doublecomplex *cy, doublereal *out)
{
    integer a_dim1, a_offset, b_dim1, b_offset, i__1, i__2, i__3;
    doublereal d__1, d__2;

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
    kk = 0;
    /*@ begin PerfTuning ( def input_params { param n = 12; param m = 9; param k = 7; param incx = 1; param incy = 2; param lda = 14; param ldb = 13; } ) @*/
    iy = 1;
    i__1 = *m;
    i__2 = *incy;
    for (i__ = 1; i__2 < 0 ? i__ >= i__1 : i__ <= i__1; i__ += i__2) {
	iy += *m;
/* Computing MAX */
	d__1 = d__, d__2 = u * x[i__];
	d__ = max(d__1,d__2);
/* L20: */
/* L10: */
    }
    for (i__ = *k; i__ >= 1; --i__) {
	i__2 = *k;
/* Computing MAX */
	d__1 = d__, d__2 = y[i__ + 1] + 1.;
	d__ = max(d__1,d__2);
/* Computing MAX */
	i__2 = 1, i__1 = i__ - 2;
	i__3 = *n;
/* L40: */
/* L30: */
    }
    /*@ end @*/
    out[1] = s;
    out[2] = t;
    out[3] = d__;
    out[5] = (doublereal) iy;
    out[6] = (doublereal) kk;
    return 0;
} /* t152_ */

/* harness */
void t152_call(int function, void **p) { t152_(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11], p[12], p[13], p[14], p[15], p[16]); }
long t152_extent(int function, int slot, void **p) { return 0; }
long t152_row(int function, int slot, void **p) { return 1; }
void *t152_object(int k) { return 0; }
