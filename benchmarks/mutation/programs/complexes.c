#include <complex.h>
void complexes(int n, int m, const double complex *restrict a, const double complex *restrict x,
               double complex *restrict y)
{
    /*@ begin PerfTuning ( def input_params { param n = 14; param m = 12; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            y[i] += conj(a[i * m + j]) * x[j];
    /*@ end @*/
}
