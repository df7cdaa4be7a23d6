/* Loops that only add up, of which the inner one ends or begins where the outer one has come. */
#include <complex.h>

void lower(int n, int lda, double alpha, double *restrict y, const double *restrict x,
           const double *restrict a)
{
    double t;
    /*@ begin PerfTuning ( def input_params { param n = 16; param lda = 16; } ) @*/
    for (int j = 0; j < n; j++) {
        t = alpha * x[j];
        for (int i = j; i < n; i++)
            y[i] += t * a[j * lda + i];
    }
    /*@ end @*/
}

void downwards(int n, int lda, double *restrict y, const double *restrict x, const double *restrict a)
{
    double t;
    /*@ begin PerfTuning ( def input_params { param n = 16; param lda = 16; } ) @*/
    for (int j = n - 1; j >= 0; j--) {
        t = x[j];
        for (int i = j - 1; i >= 0; i--)
            y[i] -= t * a[j * lda + i];
    }
    /*@ end @*/
}

void band(int m, int n, int kl, int ku, float *restrict y, const double *restrict x,
          const double *restrict a)
{
    /*@ begin PerfTuning ( def input_params { param m = 16; param n = 14; param kl = 3; param ku = 2; } ) @*/
    for (int j = 0; j < n; j++)
        for (int i = (j - ku > 0 ? j - ku : 0); i < (m < j + kl + 1 ? m : j + kl + 1); i++)
            y[i] = y[i] + x[j] * a[(ku + i - j) + j * 40];
    /*@ end @*/
}

void slopes(int n, int m, int s, double *restrict y, double *restrict z, const double *restrict x)
{
    /*@ begin PerfTuning ( def input_params { param n = 16; param m = 18; param s = 2; } ) @*/
    for (int j = s; j < n; j++)
        for (int i = n - j; i < m; i++)
            y[i] += x[j] * (i + 1);
    for (int j = 1; j < n; j++)
        for (int i = s; i < m - j; i++)
            z[i] = x[j] * x[i] + z[i];
    for (int j = 0; j < n; j++)
        for (int i = j - s; i < m - j; i++)
            if (i >= 0)
                y[i] -= x[j] * z[j];
    /*@ end @*/
}

/* Two bounds on each side, and one of the outer loop's in each. */
void both(int n, int m, int k, double _Complex *restrict y, const double _Complex *restrict x)
{
    /*@ begin PerfTuning ( def input_params { param n = 16; param m = 12; param k = 3; } ) @*/
    for (int j = (k > 1 ? k : 1); j < (n < m ? n : m); j++)
        for (int i = (j - k > 2 ? j - k : 2); i < j; i++)
            y[i] += x[j] * x[i];
    /*@ end @*/
}

/* Half of a matrix: of each element two rows have something. */
void half(int n, int lda, double alpha, double *restrict y, const double *restrict x,
          const double *restrict a)
{
    double temp1, temp2;
    /*@ begin PerfTuning ( def input_params { param n = 16; param lda = 16; } ) @*/
    for (int j = 0; j < n; j++) {
        temp1 = alpha * x[j];
        temp2 = 0.0;
        y[j] += temp1 * a[j + j * lda];
        for (int i = j + 1; i < n; i++) {
            y[i] += temp1 * a[i + j * lda];
            temp2 += a[i + j * lda] * x[i];
        }
        y[j] -= alpha * temp2;
    }
    /*@ end @*/
}

/* The same in a rectangle, where nothing is to be turned. */
void mirrored(int n, int m, double *restrict y, const double *restrict x, const double *restrict a)
{
    double s;
    /*@ begin PerfTuning ( def input_params { param n = 16; param m = 12; } ) @*/
    for (int j = 0; j < n; j++) {
        s = 0.5;
        for (int i = 0; i < m; i++) {
            y[i] += x[j] * a[i + j * m];
            s += a[i + j * m] * x[i];
        }
        y[j] += s;
    }
    /*@ end @*/
}

/* Only where the element is not 0. */
void skipped(int n, int lda, double *restrict y, const double *restrict x, const double *restrict a)
{
    double t;
    /*@ begin PerfTuning ( def input_params { param n = 16; param lda = 16; } def assume { arg whole = True; } ) @*/
    for (int j = 0; j < n; j++)
        if (x[j] != 0.0) {
            t = x[j] * 0.5;
            for (int i = 0; i < j; i++)
                y[i] = y[i] + t * a[j * lda + i];
        }
    /*@ end @*/
}

/* What is not the same in another order, or not linear, stays. */

void of_shorts(int n, short *restrict y, const double *restrict x)
{
    /*@ begin PerfTuning ( def input_params { param n = 16; } ) @*/
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < j; i++)
            y[i] += x[j] * 0.25;
        y[j] += x[j] * 0.75;
    }
    /*@ end @*/
}

void reads_another(int n, double *restrict y, const double *restrict x)
{
    /*@ begin PerfTuning ( def input_params { param n = 16; } ) @*/
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < j; i++)
            y[i] += y[j] * x[i] * 0.5;
        y[j] += x[j] * 0.75;
    }
    /*@ end @*/
}

void asks_another(int n, double *restrict y, const double *restrict x)
{
    /*@ begin PerfTuning ( def input_params { param n = 16; } def assume { arg whole = True; } ) @*/
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < j; i++)
            if (y[j] > 3.0)
                y[i] += x[i];
        y[j] += x[j];
    }
    /*@ end @*/
}

void scaled(int n, double *restrict y, const double *restrict x)
{
    /*@ begin PerfTuning ( def input_params { param n = 16; } ) @*/
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < j; i++)
            y[i] += x[j];
        y[j] *= x[j];
    }
    /*@ end @*/
}

void steps(int n, double *restrict y, double *restrict z, const double *restrict x)
{
    /*@ begin PerfTuning ( def input_params { param n = 16; } ) @*/
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i += 2)
            y[i] += x[j];
    for (int j = 0; j < n; j += 2)
        for (int i = j; i < n; i++)
            z[i] += x[j];
    for (int j = 0; j < n; j++)
        for (int i = 0; i < 2 * j; i++)
            z[i] += x[j];
    /*@ end @*/
}

int left_behind(int n, double *restrict y, const double *restrict x)
{
    int i = -1, j;
    /*@ begin PerfTuning ( def input_params { param n = 16; } ) @*/
    for (j = 0; j < n; j++)
        for (i = 0; i < j; i++)
            y[i] += x[j];
    /*@ end @*/
    return 100 * j + i;
}
