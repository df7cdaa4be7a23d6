/* Arrays that a pointer into their middle is given of, with an unsigned distance to their start. */
void before(unsigned n, const double *restrict u, double *restrict v)
{
    /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/
    for (long i = 0; i < n; i++)
        v[i] = 2 * u[i - n];
    /*@ end @*/
}

void where_asked(int n, const double *restrict u, double *restrict v)
{
    unsigned i;
    long k;
    /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/
    for (i = 0; i < n; i += 2)
        for (k = 0; k < n; k++)
            if (i != n / 2)
                v[i * n + k - 1] = 2 * u[i * n + k - 1];
    /*@ end @*/
}

void rows_before(unsigned n, double *w)
{
    /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/
    for (long i = (long)n * 700000001; i < (long)n * 700000001 + n; i++)
        for (int j = 0; j < 4; j++)
            w[(i - (long)n * 700000001 - 1) * (n + 1) + (i - (long)n * 700000001)] -=
                w[(i - (long)n * 700000001) * (n + 1) + (i - (long)n * 700000001) + 2];
    /*@ end @*/
}
