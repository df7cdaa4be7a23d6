void guarded(int n, int m, int edge, const int *restrict kind, const double *restrict u,
             double *restrict v)
{
    /*@ begin PerfTuning ( def input_params { param n = 12; param m = 20; param edge = 3; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            if (kind[j] > 2)
                v[i * m + j] = u[i * m + j] - 1.0;
            if (j >= edge && u[i * m + j] < 0.5)
                v[i * m + j] += 0.25;
        }
    /*@ end @*/
}
