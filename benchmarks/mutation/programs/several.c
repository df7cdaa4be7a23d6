double several(int n, int m, const double *restrict a, double *restrict p, double *restrict q,
               const double *restrict x)
{
    double norm = 0.0;
    /*@ begin PerfTuning ( def input_params { param n = 20; param m = 16; } ) @*/
    for (int i = 0; i < n; i++) {
        p[i] = 0.0;
        for (int j = 0; j < m; j++)
            p[i] += a[i * m + j] * x[j];
    }
    for (int j = 0; j < m; j++) {
        double sum = 0.0;
        for (int i = 0; i < n; i++)
            sum += a[i * m + j] * p[i];
        q[j] = q[j] + sum;
    }
    for (int j = 0; j < m; j++)
        norm += q[j] * q[j];
    /*@ end @*/
    return norm;
}
