/* Expressions and storage as f2c writes them, with f2c.h's macros and the library's functions. */
#include <math.h>
typedef int integer;
typedef double doublereal;
typedef float real;
typedef struct { doublereal r, i; } doublecomplex;
#define abs(x) ((x) >= 0 ? (x) : -(x))
#define min(a,b) ((a) <= (b) ? (a) : (b))
#define max(a,b) ((a) >= (b) ? (a) : (b))
double d_sign(doublereal *, doublereal *), pow_di(doublereal *, integer *), z_abs(doublecomplex *);
integer i_dnnt(doublereal *);
void z_div(doublecomplex *, doublecomplex *, doublecomplex *);
void d_cnjg(doublecomplex *, doublecomplex *);

union {
    struct { doublereal u[400], v[400], dt; integer nx, k[400]; } _1;
    struct { doublereal uv[800], dt; } _2;
} fld_;
#define fld_1 (fld_._1)
#define fld_2 (fld_._2)
struct { doublereal s, w[400]; } aux_;
#define aux_1 aux_

int temps_(integer *n, doublereal *x, doublereal *y, doublereal *z__, doublereal *w, integer *k)
{
    integer i__1, i__2;
    doublereal d__1, d__2, d__3;
    real r__1;
    integer i__;
    --k; --z__; --y; --x;
    /*@ begin PerfTuning (
        def input_params { param n = 37; }
        def assume { arg disjoint = True; }
    ) @*/
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
        d__2 = x[i__], d__3 = (d__1 = y[i__], abs(d__1));
        z__[i__] = max(d__2,d__3);
        if (i__ > 2 && (d__1 = x[i__] - y[i__], abs(d__1)) > *w) {
            z__[i__] += 1.;
        }
        r__1 = x[i__] / 3;
        d__1 = x[i__] * 2;
        z__[i__] = r__1;
        k[i__] = (i__2 = k[i__] - i__, abs(i__2)) + (integer)d__1;
    }
    /*@ end @*/
    return 0;
}

int library_(integer *n, doublereal *x, doublereal *y, integer *k, integer *m, doublereal *z__)
{
    integer i__1, i__;
    doublereal d__1;
    --z__; --k; --y; --x;
    /*@ begin PerfTuning (
        def input_params { param n = 37; param m = 3; }
        def assume { arg disjoint = True; }
    ) @*/
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
        d__1 = y[i__] - 1.;
        z__[i__] = d_sign(&x[i__], &d__1) + pow_di(&x[i__], m);
        d__1 = x[i__] * .75;
        k[i__] += i_dnnt(&d__1);
    }
    /*@ end @*/
    return 0;
}

int complex_(integer *n, doublecomplex *a, doublecomplex *b, doublecomplex *c__, doublereal *w)
{
    integer i__1, i__2, i__3, i__;
    doublecomplex z__1, z__2, z__3;
    --w; --c__; --b; --a;
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    i__1 = *n;
    for (i__ = 1; i__ <= i__1; ++i__) {
        i__2 = i__;
        i__3 = i__;
        z__3.r = b[i__3].r + 40., z__3.i = b[i__3].i + 1.;
        z_div(&z__2, &a[i__], &z__3);
        d_cnjg(&z__3, &a[i__]);
        z__1.r = c__[i__3].r + z__2.r * z__3.r - z__2.i * z__3.i, z__1.i = c__[i__3].i
            + z__2.r * z__3.i + z__2.i * z__3.r;
        c__[i__2].r = z__1.r, c__[i__2].i = z__1.i;
        w[i__] = z_abs(&c__[i__]) + w[i__];
    }
    /*@ end @*/
    return 0;
}

int common_(integer *n, doublereal *x, doublereal *result)
{
    integer i__1, i__;
    fld_1.nx = *n;
    fld_1.dt = .5;
    aux_1.s = 2.;
    for (i__ = 1; i__ <= 400; ++i__) {
        fld_1.u[i__ - 1] = x[i__ - 1];
        fld_1.v[i__ - 1] = i__;
        fld_1.k[i__ - 1] = i__ % 7;
        aux_1.w[i__ - 1] = i__ / 4;
    }
    /*@ begin PerfTuning ( def input_params { param nx = 37; } ) @*/
    i__1 = fld_1.nx;
    for (i__ = 1; i__ <= i__1; ++i__) {
        fld_1.u[i__ - 1] += fld_1.dt * fld_1.v[i__ - 1] * aux_1.w[
            i__ - 1] - aux_1.s + fld_1.k[i__ - 1];
        aux_1.w[i__ - 1] = d_sign(&fld_1.u[i__ - 1], &aux_1.w[i__ - 1]);
    }
    /*@ end @*/
    for (i__ = 1; i__ <= 400; ++i__) {
        result[i__ - 1] = fld_1.u[i__ - 1] + aux_1.w[i__ - 1];
    }
    return 0;
}

int equiv_(integer *n, doublereal *s, doublereal *result)
{
    static doublereal equiv_1[200];
    integer i__;
#define x (equiv_1)
#define z__ (equiv_1 + 100)
    /*@ begin PerfTuning ( def input_params { param n = 37; } ) @*/
    for (i__ = 1; i__ <= 100; ++i__) {
        x[i__ - 1] = i__ * *s;
        z__[i__ - 1] = x[i__ - 1] + 1;
    }
    /*@ end @*/
    for (i__ = 1; i__ <= 100; ++i__) {
        result[i__ - 1] = x[i__ - 1] + z__[i__ - 1];
    }
    return 0;
}
#undef z__
#undef x
