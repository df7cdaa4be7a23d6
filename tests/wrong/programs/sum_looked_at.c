/* Sums of which each step is looked at by another statement. */
void looked_at(int n, const double *restrict a, double *restrict x, double *restrict d)
{
    /*@ begin PerfTuning ( def input_params { param n = 24; } ) @*/
    for (int e = 0; e < n; e++)
        for (int i = 0; i < n; i++) {
            x[e] -= a[i * n + e];
            for (int j = 0; j < n; j++)
                d[(e * n + i) * n + j] = x[e];
        }
    /*@ end @*/
}

void stored(int n, const double *restrict a, double *restrict x, double *restrict d)
{
    /*@ begin PerfTuning ( def input_params { param n = 24; } ) @*/
    for (int i = 0; i < n; i++)
        for (int e = 0; e < n; e++) {
            x[e] += a[i * n + e];
            d[i * n + e] = x[e] * 0.5;
        }
    /*@ end @*/
}
