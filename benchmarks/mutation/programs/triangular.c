void triangular(int n, const double *restrict l, const double *restrict b, double *restrict c)
{
    /*@ begin PerfTuning ( def input_params { param n = 24; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            for (int k = j; k <= i; k++)
                c[i * n + j] -= l[i * n + k] * b[k * n + j];
    /*@ end @*/
}
