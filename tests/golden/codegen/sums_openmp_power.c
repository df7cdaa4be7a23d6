/* S1, S2 of the region at line 4: i -> threads */
static void f_1_s1(
        int i, int n, double *restrict y, const double *restrict A, const double *restrict x)
{
    y[i] = 0.0;
    double y_sum = -0.0;
    #pragma omp simd reduction(+:y_sum)
    for (int j = 0; j < n; j++) {
        y_sum += A[i * n + j] * x[j];
    }
    y[i] += y_sum;
}
{
    if (0 < n) {
        double s;
        for (int t = 0; t < 3; t++) {
            /* S0 of the region at line 4: serial */
            s = 0.0;
            /* S1, S2 of the region at line 4: i -> threads */
            #pragma omp parallel for schedule(static)
            for (int i = 0; i < n; i++)
                f_1_s1(i, n, y, A, x);
            /* S3 of the region at line 4: i -> threads */
            {
                double s_sum = -0.0;
                #pragma omp parallel for simd schedule(static) reduction(+:s_sum)
                for (int i = 0; i < n; i++) {
                    s_sum += y[i] * y[i];
                }
                s += s_sum;
            }
            /* S4 of the region at line 4: i -> threads */
            #pragma omp parallel for simd schedule(static)
            for (int i = 0; i < n; i++) {
                x[i] = y[i] / s;
            }
        }
    }
    else {
        /* As written: for loops that do not run, and what the tests exclude. */
        double s;
        for (int t = 0; t < 3; t++) {
            s = 0.0;
            for (int i = 0; i < n; i++) {
                y[i] = 0.0;
                for (int j = 0; j < n; j++) {
                    y[i] += A[i * n + j] * x[j];
                }
            }
            for (int i = 0; i < n; i++) {
                s += y[i] * y[i];
            }
            for (int i = 0; i < n; i++) {
                x[i] = y[i] / s;
            }
        }
    }
}
