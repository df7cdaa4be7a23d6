/* Products and quotients of complex numbers with infinities, which C11's annex G recovers. */
#include <complex.h>
#include <math.h>

void products(int n, const double complex a[restrict n], const double complex b[restrict n],
              const float complex f[restrict n], const double r[restrict n],
              double complex out[restrict n][n][8], float complex narrow[restrict n][n][4])
{
    /*@ begin PerfTuning ( def input_params { param n = 25; } ) @*/
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            out[i][j][0] = a[i] * b[j];
            out[i][j][1] = a[i] / b[j];
            out[i][j][2] = r[i] * b[j];
            out[i][j][3] = r[i] / b[j];
            out[i][j][4] = r[i] - b[j];
            out[i][j][5] = f[i] * b[j];
            out[i][j][6] *= b[j];
            out[i][j][7] /= b[j];
            narrow[i][j][0] = f[i] * f[j];
            narrow[i][j][1] = f[i] / f[j];
            narrow[i][j][2] *= a[j];
            narrow[i][j][3] /= f[j];
        }
    }
    /*@ end @*/
    /* Which NaN there is, and the last bits of a quotient, C leaves open. */
    double *parts = (double *)out;
    for (int k = 0; k < n * n * 16; k++)
        parts[k] = isnan(parts[k]) ? 7777 : rint(parts[k] * 4096) / 4096;
    float *halves = (float *)narrow;
    for (int k = 0; k < n * n * 8; k++)
        halves[k] = isnan(halves[k]) ? 7777 : rint(halves[k] * 4096) / 4096;
}
