/* functions {"name": "t108", "text": "", "harness": "", "entries": [{"function": "t108_", "slots": [{"name": "n", "kind": "value", "type": "int"}, {"name": "m", "kind": "value", "type": "int"}, {"name": "k", "kind": "value", "type": "int"}, {"name": "incx", "kind": "value", "type": "int"}, {"name": "incy", "kind": "value", "type": "int"}, {"name": "lda", "kind": "value", "type": "int"}, {"name": "ldb", "kind": "value", "type": "int"}, {"name": "al", "kind": "value", "type": "double"}, {"name": "be", "kind": "value", "type": "double"}, {"name": "x", "kind": "array", "type": "double"}, {"name": "y", "kind": "array", "type": "double"}, {"name": "a", "kind": "array", "type": "double"}, {"name": "b", "kind": "array", "type": "double"}, {"name": "iv", "kind": "array", "type": "int"}, {"name": "cx", "kind": "array", "type": "double complex"}, {"name": "cy", "kind": "array", "type": "double complex"}, {"name": "out", "kind": "array", "type": "double"}], "calls": [{"values": {"n": "12", "m": "9", "k": "7", "incx": "1", "incy": "2", "lda": "14", "ldb": "13", "al": "1.0", "be": "1.0"}, "arrays": {"x": {"style": "small", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "0", "m": "0", "k": "0", "incx": "1", "incy": "2", "lda": "14", "ldb": "13", "al": "-1.0", "be": "-1.0"}, "arrays": {"x": {"style": "small", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 0, "is_null": false, "same": "x", "offset": 1}, "a": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "1", "m": "1", "k": "1", "incx": "1", "incy": "1", "lda": "1", "ldb": "1", "al": "1.0", "be": "-1.0"}, "arrays": {"x": {"style": "small", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "2", "m": "3", "k": "3", "incx": "3", "incy": "2", "lda": "2", "ldb": "2", "al": "0.0", "be": "-1.0"}, "arrays": {"x": {"style": "small", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "6", "m": "9", "k": "3", "incx": "3", "incy": "6", "lda": "5", "ldb": "5", "al": "2.0", "be": "-1.0"}, "arrays": {"x": {"style": "small", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "37", "m": "33", "k": "7", "incx": "1", "incy": "2", "lda": "14", "ldb": "13", "al": "-1.0", "be": "-1.0"}, "arrays": {"x": {"style": "small", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "12", "m": "9", "k": "7", "incx": "1", "incy": "3", "lda": "14", "ldb": "13", "al": "-1.0", "be": "1.0"}, "arrays": {"x": {"style": "small", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "4", "m": "-3", "k": "0", "incx": "0", "incy": "-3", "lda": "-3", "ldb": "1", "al": "-1.0", "be": "1.0"}, "arrays": {"x": {"style": "nan", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "nan", "salt": 1, "is_null": false, "same": "", "offset": 0}, "a": {"style": "nan", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "nan", "salt": 7, "is_null": false, "same": "", "offset": 0}}}]}], "headers": {"f2c.h": "/* What the routines here need of f2c's header, so that they are read where f2c is not installed. */\n#ifndef F2C_INCLUDE\n#define F2C_INCLUDE\n#include <inttypes.h>\n\ntypedef int32_t integer;\ntypedef int16_t shortint;\ntypedef float real;\ntypedef double doublereal;\ntypedef struct { real r, i; } complex;\ntypedef struct { doublereal r, i; } doublecomplex;\ntypedef int32_t logical;\ntypedef int32_t ftnlen;\ntypedef char integer1;\n\n#define TRUE_ (1)\n#define FALSE_ (0)\n#ifndef Extern\n#define Extern extern\n#endif\n\n#define abs(x) ((x) >= 0 ? (x) : -(x))\n#define dabs(x) (doublereal)abs(x)\n#define min(a, b) ((a) <= (b) ? (a) : (b))\n#define max(a, b) ((a) >= (b) ? (a) : (b))\n#define dmin(a, b) (doublereal)min(a, b)\n#define dmax(a, b) (doublereal)max(a, b)\n#endif\n"}, "objects": [["P", "double", 40], ["CA", "double", 1]], "own": [], "features": [], "sums": true, "discrete": true, "point": null, "fault": ""} */
#include <math.h>
#include "f2c.h"

/* Common Block Declarations */

struct {
    doublereal p[40], ca;
} ct108_;

#define ct108_1 ct108_

/* Table of constant values */

static doublereal c_b4 = 2.;

/* Subroutine */ int t108_(integer *n, integer *m, integer *k, integer *incx, 
	integer *incy, integer *lda, integer *ldb, doublereal *al, doublereal 
	*be, doublereal *x, doublereal *y, doublereal *a, doublereal *b, 
	integer *iv, doublecomplex *cx, doublecomplex *cy, doublereal *out)
{
    /* System generated locals */
    integer a_dim1, a_offset, b_dim1, b_offset, i__1;
    doublereal d__1;

    /* Builtin functions */
    double d_sign(doublereal *, doublereal *), d_imag(doublecomplex *);

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
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; i__ += 3) {
	if (*al != 0.) {
	    ct108_1.p[i__] = d_sign(&c_b4, &ct108_1.ca);
	}
	x[i__ * 2] -= abs(t);
/* Computing MIN */
	d__1 = b[i__ + i__ * b_dim1];
	s -= min(d__1,ct108_1.ca) * (doublereal) i__;
/* L20: */
/* L10: */
    }
    /*@ end @*/
    out[1] = s;
    out[2] = t;
    out[5] = (doublereal) iy;
    out[10] = ct.r;
    out[11] = d_imag(&ct);
    return 0;
} /* t108_ */

/* harness */
#ifndef OWN_d_sign
#define OWN_d_sign
double d_sign(doublereal *a, doublereal *b)
{ double x = *a >= 0 ? *a : -*a; return *b >= 0 ? x : -x; }
#endif
#ifndef OWN_d_imag
#define OWN_d_imag
double d_imag(doublecomplex *z) { return z->i; }
#endif
void t108_call(int function, void **p) { t108_(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11], p[12], p[13], p[14], p[15], p[16]); }
long t108_extent(int function, int slot, void **p) { return 0; }
long t108_row(int function, int slot, void **p) { return 1; }
void *t108_object(int k) { return k ? (void *)&ct108_.ca : (void *)&ct108_.p; }
