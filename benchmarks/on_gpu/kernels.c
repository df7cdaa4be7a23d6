/* What memory alone bounds. */

void triad(int n, double s, double *restrict a, const double *restrict b, const double *restrict c)
{
    /*@ begin PerfTuning ( def input_params { param n = 100000000; } ) @*/
    for (int i = 0; i < n; i++)
        a[i] = b[i] + s * c[i];
    /*@ end @*/
}

double dot(int n, const double *restrict a, const double *restrict b)
{
    double sum = 0.0;
    /*@ begin PerfTuning ( def input_params { param n = 100000000; } ) @*/
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i];
    /*@ end @*/
    return sum;
}

/* One step of the heat equation in a cube, with 7 points. */
void heat(int n, double c, double to[restrict n][n][n], const double from[restrict n][n][n])
{
    /*@ begin PerfTuning ( def input_params { param n = 512; } ) @*/
    for (int k = 1; k < n - 1; k++)
        for (int j = 1; j < n - 1; j++)
            for (int i = 1; i < n - 1; i++)
                to[k][j][i] = from[k][j][i]
                    + c * (from[k - 1][j][i] + from[k + 1][j][i] + from[k][j - 1][i]
                           + from[k][j + 1][i] + from[k][j][i - 1] + from[k][j][i + 1]
                           - 6.0 * from[k][j][i]);
    /*@ end @*/
}
