void imperfect(int n, int m, const double *restrict a, const double *restrict x, double *restrict y,
               double *restrict r)
{
    /*@ begin PerfTuning ( def input_params { param n = 16; param m = 12; } ) @*/
    for (int i = 0; i < n; i++) {
        double t = 0.0, w = y[i];
        for (int j = 0; j < m; j++)
            t += a[i * m + j] * x[j];
        y[i] = w + t;
        for (int j = 0; j < m; j++)
            r[i * m + j] -= t * x[j];
    }
    /*@ end @*/
}
