/* What f2c's texts call of its library, so that they run where that is not installed. */
#include "f2c.h"
#include <math.h>

double pow_dd(doublereal *a, doublereal *b) { return pow(*a, *b); }

double pow_di(doublereal *a, integer *n)
{
    double result = 1.0, base = *n < 0 ? 1.0 / *a : *a;
    for (unsigned long left = *n < 0 ? -(unsigned long)*n : (unsigned long)*n; left; left >>= 1) {
        if (left & 1)
            result *= base;
        base *= base;
    }
    return result;
}

double d_sign(doublereal *a, doublereal *b)
{
    double x = *a >= 0 ? *a : -*a;
    return *b >= 0 ? x : -x;
}

integer i_dnnt(doublereal *x) { return (integer)(*x >= 0. ? floor(*x + .5) : -floor(.5 - *x)); }

double d_int(doublereal *x) { return *x > 0 ? floor(*x) : -floor(-*x); }

double d_imag(doublecomplex *z) { return z->i; }

void d_cnjg(doublecomplex *result, doublecomplex *z)
{
    result->r = z->r;
    result->i = -z->i;
}

double z_abs(doublecomplex *z)
{
    double big = z->r < 0 ? -z->r : z->r, small = z->i < 0 ? -z->i : z->i, ratio;
    if (small > big) {
        ratio = big;
        big = small;
        small = ratio;
    }
    if (big + small == big)
        return big;
    ratio = small / big;
    return big * sqrt(1. + ratio * ratio);
}

void z_div(doublecomplex *c, doublecomplex *a, doublecomplex *b)
{
    double size_r = b->r < 0. ? -b->r : b->r, size_i = b->i < 0. ? -b->i : b->i, ratio, den, cr;
    if (size_r <= size_i) {
        ratio = b->r / b->i;
        den = b->i * (1 + ratio * ratio);
        cr = (a->r * ratio + a->i) / den;
        c->i = (a->i * ratio - a->r) / den;
    } else {
        ratio = b->i / b->r;
        den = b->r * (1 + ratio * ratio);
        cr = (a->r + a->i * ratio) / den;
        c->i = (a->i - a->r * ratio) / den;
    }
    c->r = cr;
}
