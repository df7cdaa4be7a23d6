/* functions {"name": "t116", "text": "", "harness": "", "entries": [{"function": "t116_", "slots": [{"name": "n", "kind": "value", "type": "int"}, {"name": "m", "kind": "value", "type": "int"}, {"name": "k", "kind": "value", "type": "int"}, {"name": "incx", "kind": "value", "type": "int"}, {"name": "incy", "kind": "value", "type": "int"}, {"name": "lda", "kind": "value", "type": "int"}, {"name": "ldb", "kind": "value", "type": "int"}, {"name": "al", "kind": "value", "type": "double"}, {"name": "be", "kind": "value", "type": "double"}, {"name": "x", "kind": "array", "type": "double"}, {"name": "y", "kind": "array", "type": "double"}, {"name": "a", "kind": "array", "type": "double"}, {"name": "b", "kind": "array", "type": "double"}, {"name": "iv", "kind": "array", "type": "int"}, {"name": "cx", "kind": "array", "type": "double complex"}, {"name": "cy", "kind": "array", "type": "double complex"}, {"name": "out", "kind": "array", "type": "double"}], "calls": [{"values": {"n": "12", "m": "9", "k": "7", "incx": "1", "incy": "2", "lda": "14", "ldb": "13", "al": "-1.0", "be": "-1.0"}, "arrays": {"x": {"style": "small", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "0", "m": "0", "k": "0", "incx": "1", "incy": "2", "lda": "14", "ldb": "13", "al": "-1.0", "be": "1.0"}, "arrays": {"x": {"style": "small", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "1", "m": "1", "k": "1", "incx": "1", "incy": "1", "lda": "1", "ldb": "1", "al": "-1.0", "be": "1.0"}, "arrays": {"x": {"style": "small", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "3", "m": "3", "k": "2", "incx": "3", "incy": "3", "lda": "2", "ldb": "2", "al": "1.0", "be": "0.0"}, "arrays": {"x": {"style": "nan", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "nan", "salt": 1, "is_null": false, "same": "", "offset": 0}, "a": {"style": "nan", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "nan", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "11", "m": "11", "k": "3", "incx": "1", "incy": "2", "lda": "5", "ldb": "5", "al": "2.0", "be": "0.0"}, "arrays": {"x": {"style": "nan", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "nan", "salt": 1, "is_null": false, "same": "", "offset": 0}, "a": {"style": "nan", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "nan", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "37", "m": "33", "k": "7", "incx": "1", "incy": "2", "lda": "14", "ldb": "13", "al": "2.0", "be": "0.0"}, "arrays": {"x": {"style": "zeros", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "zeros", "salt": 1, "is_null": false, "same": "", "offset": 0}, "a": {"style": "zeros", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "zeros", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "zeros", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "zeros", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "zeros", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "zeros", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "12", "m": "9", "k": "7", "incx": "3", "incy": "1", "lda": "14", "ldb": "13", "al": "-1.0", "be": "1.0"}, "arrays": {"x": {"style": "nan", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "nan", "salt": 0, "is_null": false, "same": "x", "offset": 0}, "a": {"style": "nan", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "nan", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "nan", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "nan", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "nan", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "nan", "salt": 7, "is_null": false, "same": "", "offset": 0}}}, {"values": {"n": "4", "m": "0", "k": "0", "incx": "1", "incy": "-3", "lda": "0", "ldb": "1", "al": "0.0", "be": "1.0"}, "arrays": {"x": {"style": "small", "salt": 0, "is_null": false, "same": "", "offset": 0}, "y": {"style": "small", "salt": 1, "is_null": false, "same": "", "offset": 0}, "a": {"style": "small", "salt": 2, "is_null": false, "same": "", "offset": 0}, "b": {"style": "small", "salt": 3, "is_null": false, "same": "", "offset": 0}, "iv": {"style": "small", "salt": 4, "is_null": false, "same": "", "offset": 0}, "cx": {"style": "small", "salt": 5, "is_null": false, "same": "", "offset": 0}, "cy": {"style": "small", "salt": 6, "is_null": false, "same": "", "offset": 0}, "out": {"style": "small", "salt": 7, "is_null": false, "same": "", "offset": 0}}}]}], "headers": {"f2c.h": "/* What the routines here need of f2c's header, so that they are read where f2c is not installed. */\n#ifndef F2C_INCLUDE\n#define F2C_INCLUDE\n#include <inttypes.h>\n\ntypedef int32_t integer;\ntypedef int16_t shortint;\ntypedef float real;\ntypedef double doublereal;\ntypedef struct { real r, i; } complex;\ntypedef struct { doublereal r, i; } doublecomplex;\ntypedef int32_t logical;\ntypedef int32_t ftnlen;\ntypedef char integer1;\n\n#define TRUE_ (1)\n#define FALSE_ (0)\n#ifndef Extern\n#define Extern extern\n#endif\n\n#define abs(x) ((x) >= 0 ? (x) : -(x))\n#define dabs(x) (doublereal)abs(x)\n#define min(a, b) ((a) <= (b) ? (a) : (b))\n#define max(a, b) ((a) >= (b) ? (a) : (b))\n#define dmin(a, b) (doublereal)min(a, b)\n#define dmax(a, b) (doublereal)max(a, b)\n#endif\n"}, "objects": [], "own": [], "features": [], "sums": true, "discrete": true, "point": 116, "fault": "openmp -1: does not compile: /tmp/leg/fzs11/fortran-3465/batch/group0/openmp_alone.c: In function \u2018t116_\u2019:\n/tmp/leg/fzs11/fortran-3465/batch/group0/openmp_alone.c:80:24: error: redeclaration of \u2018t_own\u2019 with no linkage\n   80 |                 double t_own;\n      |                        ^~~~~\n/tmp/leg/fzs11/for"} */
#include <math.h>
#include "f2c.h"

/* Subroutine */ int t116_(integer *n, integer *m, integer *k, integer *incx, 
	integer *incy, integer *lda, integer *ldb, doublereal *al, doublereal 
	*be, doublereal *x, doublereal *y, doublereal *a, doublereal *b, 
	integer *iv, doublecomplex *cx, doublecomplex *cy, doublereal *out)
{
    /* System generated locals */
    integer a_dim1, a_offset, b_dim1, b_offset, i__1, i__2;
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
    i__1 = *k;
    for (i__ = 2; i__ <= i__1; i__ += 3) {
/* Computing MAX */
	d__1 = d__, d__2 = b[i__ + i__ * b_dim1] * u;
	d__ = max(d__1,d__2);
	b[i__ + i__ * b_dim1] -= u * *be;
	t = (y[i__] + y[i__]) * .5;
	y[i__] += t * y[i__ + (i__ - 1) * *m];
/* L20: */
/* L10: */
    }
    i__1 = *n - 1;
    for (i__ = 1; i__ <= i__1; i__ += 2) {
	i__2 = *n;
	for (j = 2; j <= i__2; ++j) {
/* Computing MAX */
	    d__1 = y[i__ - 1], d__1 = max(d__1,.5), d__2 = (doublereal) j;
	    t = max(d__1,d__2) * 2.5;
	    y[j + *k] += t * a[j + j * a_dim1];
	    a[j + i__ * a_dim1] = 2.;
/* L60: */
/* L50: */
	}
/* L40: */
/* L30: */
    }
    /*@ end @*/
    out[1] = s;
    out[2] = t;
    out[3] = d__;
    out[6] = (doublereal) kk;
    out[10] = ct.r;
    out[11] = d_imag(&ct);
    return 0;
} /* t116_ */

/* harness */
#ifndef OWN_d_imag
#define OWN_d_imag
double d_imag(doublecomplex *z) { return z->i; }
#endif
void t116_call(int function, void **p) { t116_(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[10], p[11], p[12], p[13], p[14], p[15], p[16]); }
long t116_extent(int function, int slot, void **p) { return 0; }
long t116_row(int function, int slot, void **p) { return 1; }
void *t116_object(int k) { return 0; }
