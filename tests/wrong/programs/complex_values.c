/* Complex numbers beside reals and integers: comparisons, conversions, choices, assignments. */
#include <complex.h>

void compared(int n, double complex *restrict c, const float complex *restrict d, int *restrict k)
{
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 0; i < n; i++) {
        k[i] = (c[i] == 0) + 2 * (c[i] != 1.0) + 4 * (c[i] == d[i]) + 8 * (3 != d[i]);
        k[i] += 16 * (k[i] == c[i]) + 32 * (d[i] != 2.5f) + 64 * (1L == c[i]);
        if (!c[i]) k[i] += 128;
        if (c[i] && d[i]) k[i] += 256;
        if (!(c[i] || d[i])) k[i] += 512;
        k[i] += c[i] ? 1024 : 2048;
        if (c[i] == I) k[i] += 4096;
    }
    /*@ end @*/
}

void converted(int n, double complex *restrict c, float complex *restrict d, double *restrict x,
               float *restrict y, int *restrict k, unsigned char *restrict b)
{
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 0; i < n; i++) {
        x[i] = c[i];
        y[i] = c[i] * d[i];
        k[i] = d[i] + 3;
        b[i] = (_Bool)c[i] + 2 * (_Bool)d[i];
        c[i] = k[i];
        d[i] = c[i] * 0.5 + 0.1;
        x[i] += (int)d[i] + creal(c[i]) - cimag(c[i]);
    }
    /*@ end @*/
}

void chosen(int n, double complex *restrict c, float complex *restrict d, double *restrict x)
{
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 0; i < n; i++) {
        c[i] = x[i] > 0 ? c[i] : 1;
        d[i] = c[i] != 0 ? d[i] : x[i];
        c[i] = x[i] < 2 ? d[i] : c[i] * 0.1;
        c[i] += d[i] ? 0.1f : d[i];
    }
    /*@ end @*/
}

void assigned(int n, double complex *restrict c, float complex *restrict d, double *restrict x,
              float y, long k, double complex z[2])
{
    double complex a = z[0];
    float complex b = z[1];
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 0; i < n; i++) {
        c[i] += x[i];
        c[i] -= y;
        c[i] *= k;
        c[i] /= 4;
        d[i] *= 0.1;
        d[i] += c[i];
        d[i] -= a;
        x[i] += d[i];
        x[i] *= b;
        x[i] -= c[i];
        c[i] = -c[i] + 2 * I - a * b + conj(c[i]) * y;
        d[i]++;
    }
    /*@ end @*/
}

void summed(int n, const double complex *restrict c, const float complex *restrict d,
            double complex *restrict left)
{
    double complex s = left[0];
    float complex t = left[1];
    double complex p = 1;
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 0; i < n; i++) s += c[i] * d[i];
    for (int i = 0; i < n; i++) t += d[i];
    for (int i = 0; i < n; i++) p *= d[i] != 0 ? I : 1;
    /*@ end @*/
    left[0] = s;
    left[1] = t;
    /* Of factors in another order a zero may have the other sign. */
    left[2] = p + (0.0 + 0.0 * I);
}
