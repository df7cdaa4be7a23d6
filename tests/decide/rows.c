#include <complex.h>
#include <math.h>

/* Each iteration has rows of arrays for itself: small dense work, columns, structures. */

void lu8(int nb, double *restrict A)
{
    /*@ begin PerfTuning (def input_params { param nb = 96; }) @*/
    for (int e = 0; e < nb; e++)
        for (int k = 0; k < 8; k++) {
            for (int i = k + 1; i < 8; i++)
                A[e*64 + i*8 + k] /= A[e*64 + k*8 + k] + 9;
            for (int i = k + 1; i < 8; i++)
                for (int j = k + 1; j < 8; j++)
                    A[e*64 + i*8 + j] -= A[e*64 + i*8 + k] * A[e*64 + k*8 + j];
        }
    /*@ end @*/
}

void cholesky(int nb, float A[][6][6])
{
    int e;
    /*@ begin PerfTuning (def input_params { param nb = 96; }) @*/
    for (e = 0; e < nb; e++)
        for (int j = 0; j < 6; j++) {
            float d = A[e][j][j];
            for (int k = 0; k < j; k++)
                d -= A[e][j][k] * A[e][j][k];
            d = sqrtf(d*d + 1.0f);
            A[e][j][j] = d;
            for (int i = j + 1; i < 6; i++) {
                float s = A[e][i][j];
                for (int k = 0; k < j; k++)
                    s -= A[e][i][k] * A[e][j][k];
                A[e][i][j] = s / d;
            }
        }
    /*@ end @*/
}

struct point { double x, y, z; };

void unit(int n, struct point *p)
{
    /*@ begin PerfTuning (def input_params { param n = 96; }) @*/
    for (int i = 0; i < n; i++) {
        double r = 1.0 / (p[i].x*p[i].x + p[i].y*p[i].y + p[i].z*p[i].z + 1);
        p[i].x *= r;
        p[i].y *= r;
        p[i].z *= r;
    }
    /*@ end @*/
}

void solve4(long n, const double *restrict A, double *restrict b)
{
    /*@ begin PerfTuning (def input_params { param n = 96; }) @*/
    for (long e = 0; e < n; e++) {
        const double *a = A + 16*e;
        double *x = b + 4*e;
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < i; j++)
                x[i] -= a[4*i + j] * x[j];
        for (int i = 3; i >= 0; i--) {
            for (int j = i + 1; j < 4; j++)
                x[i] -= a[4*i + j] * x[j];
            x[i] /= a[4*i + i] + 8;
        }
    }
    /*@ end @*/
}

void column(int n, double *restrict t, const double *restrict q, const double *restrict p)
{
    /*@ begin PerfTuning (def input_params { param n = 96; }) @*/
    for (int i = 0; i < n; i++) {
        double flux = 0.0;
        for (int k = 0; k < 20; k++) {
            double w = q[i*20 + k] / (1.0 + p[i*20 + k]);
            flux = 0.9*flux + w;
            t[i*20 + k] += flux;
        }
        for (int k = 18; k >= 0; k--)
            t[i*20 + k] += 0.1 * t[i*20 + k + 1];
    }
    /*@ end @*/
}

void sort4(int n, double *v)
{
    int i;
    /*@ begin PerfTuning (def input_params { param n = 96; }) @*/
    for (i = 1; i <= n; i++) {
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3 - a; b++)
                if (v[4*(i - 1) + b] > v[4*(i - 1) + b + 1]) {
                    double h = v[4*(i - 1) + b];
                    v[4*(i - 1) + b] = v[4*(i - 1) + b + 1];
                    v[4*(i - 1) + b + 1] = h;
                }
    }
    /*@ end @*/
}

/* As f2c writes it, with the arrays before their first elements. */
typedef double doublereal;
typedef int integer;
int inverse2(integer *n, doublereal *restrict a, doublereal *restrict b)
{
    integer i__1, e;
    doublereal d__;
    a -= 7;
    b -= 7;
    /*@ begin PerfTuning (def input_params { param n = 96; }) @*/
    i__1 = *n;
    for (e = 1; e <= i__1; ++e) {
        d__ = a[((e << 1) + 1 << 1) + 1] * a[((e << 1) + 2 << 1) + 2] - a[((e << 1) + 2 << 1) + 1] * a[((e << 1) + 1 << 1) + 2] + 100;
        b[((e << 1) + 1 << 1) + 1] = a[((e << 1) + 2 << 1) + 2] / d__;
        b[((e << 1) + 2 << 1) + 2] = a[((e << 1) + 1 << 1) + 1] / d__;
        b[((e << 1) + 1 << 1) + 2] = -a[((e << 1) + 1 << 1) + 2] / d__;
        b[((e << 1) + 2 << 1) + 1] = -a[((e << 1) + 2 << 1) + 1] / d__;
    }
    /*@ end @*/
    return 0;
}

void rotated(int n, double complex *restrict u, const double *restrict g)
{
    /*@ begin PerfTuning (def input_params { param n = 96; }) @*/
    for (int s = 0; s < n; s++) {
        double complex t[3];
        for (int a = 0; a < 3; a++) {
            t[a] = 0;
            for (int b = 0; b < 3; b++)
                t[a] += g[9*s + 3*a + b] * u[3*s + b];
        }
        for (int a = 0; a < 3; a++)
            u[3*s + a] = t[a];
    }
    /*@ end @*/
}

/* The first of three elements is another array's: the part that is copied has gaps of them. */
void apart(int n, double *restrict y, const double *restrict x)
{
    /*@ begin PerfTuning (def input_params { param n = 96; }) @*/
    for (int i = 0; i < n; i++) {
        double s = 0;
        for (int k = 0; k < 5; k++)
            s = 0.5*s + x[12*i + 2*k + 1];
        for (int k = 0; k < 5; k++)
            y[12*i + 2*k + 1] = s + x[12*i + 2*k + 1];
    }
    /*@ end @*/
}

/* By columns, with the elements counted down: rows begin where a size says. */
void jordan5(int n, float *restrict A, float *restrict x)
{
    int e, i, j, k;
    /*@ begin PerfTuning (def input_params { param n = 96; }) @*/
    for (e = n - 1; e >= 0; e--) {
        for (k = 0; k < 5; k++) {
            float p = 1.0f / (A[25*e + 5*k + k] + 9.0f);
            for (j = k; j < 5; j++) A[25*e + 5*j + k] *= p;
            x[5*e + k] *= p;
            for (i = 0; i < 5; i++)
                if (i != k) {
                    float f = A[25*e + 5*k + i];
                    for (j = k; j < 5; j++) A[25*e + 5*j + i] -= f * A[25*e + 5*j + k];
                    x[5*e + i] -= f * x[5*e + k];
                }
        }
    }
    /*@ end @*/
}
