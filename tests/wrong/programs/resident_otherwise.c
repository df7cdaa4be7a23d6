/* Calls at which OpenACC's kernels stand back, with arrays that the device alone has. */

void sizes(int n, double *restrict x, const double *restrict d)
{
    /*@ begin PerfTuning ( def input_params { param n = 64; } ) @*/
    for (int i = 0; i < n; i++)
        x[i] = d[i % 64];
    /*@ end @*/
}

void solve(unsigned m, double *restrict x, const double *restrict d)
{
    /*@ begin PerfTuning ( def input_params { param m = 8; } ) @*/
    for (unsigned u = 0; u < m; u++) {
        for (unsigned w = 0; w < u; w++)
            x[u] -= d[u * 20 + w] * x[w];
        x[u] *= 2;
    }
    /*@ end @*/
}

double total(int n, int m, double *restrict x, const double *restrict d)
{
    double sum = 1, least = 3;
    /*@ begin PerfTuning ( def input_params { param n = 64; param m = 8; } ) @*/
    for (int i = 0; i < n; i++)
        sum += d[i % 64];
    for (int j = 0; j < m; j++) {
        x[j % 64] = sum + j;
        if (d[j] < least)
            least = d[j];
    }
    /*@ end @*/
    return sum * 100 + least;
}
