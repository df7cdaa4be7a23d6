/* A macro of the user's is named as an iterator of annotune's: the user's own counts down. */
#define annotune_k {
void counted_down(int n, const double *restrict a, double *restrict d, int *restrict last)
{
    long long k, col = 5;
    /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/
    for (k = n - 1; k > 0; k -= 2)
        for (col = 0; col < n; col++)
            d[k * n + col] -= 2 * a[k];
    for (k = 0; k < n; k++)
        d[k] += a[k];
    /*@ end @*/
    last[0] = k + col;
}
