/* A switch of unsigned type that starts below 0: C takes another number for it. */
#include <stddef.h>
void switched(int n, const double *restrict a, const int *restrict b, double *restrict y)
{
    size_t on = -1;
    unsigned plain = -1;
    /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/
    for (int i = 0; i < n; i++)
        y[i] = a[i] + (on > 1 ? b[i + 20] : i) + (plain > 5 ? b[i + 40] : 1);
    /*@ end @*/
}
