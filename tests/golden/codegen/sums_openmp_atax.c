/* S0, S1 of the region at line 4: i -> threads */
static void f_1_s0_tuned(
        int i, double *restrict z, const double *restrict A, const double *restrict x)
{
    const int m = 48;
    z[i] = 0.0;
    double z_sum = -0.0;
    #pragma omp simd reduction(+:z_sum)
    for (int j = 0; j < m; j++) {
        z_sum += A[i * m + j] * x[j];
    }
    z[i] += z_sum;
}

/* S2 of the region at line 4: j_t -> threads */
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__) && !defined(__NVCOMPILER)
__attribute__((target("prefer-vector-width=512")))
#endif
static void f_1_s2_tuned(
        int j_t, const double *restrict z, const double *restrict A, double *restrict y)
{
    const int n = 40;
    const int m = 48;
    double y_block[16] __attribute__((aligned(64)));
    #pragma omp simd
    for (int j_r = 0; j_r < 16; j_r++) {
        y_block[j_r] = -0.0;
    }
    for (int i = 0; i < n; i++) {
        #pragma omp simd
        for (int j_r = 0; j_r < 16; j_r++) {
            y_block[j_r] += A[i * m + j_t + j_r] * z[i];
        }
    }
    #pragma omp simd
    for (int j_r = 0; j_r < 16; j_r++) {
        y[j_t + j_r] += y_block[j_r];
    }
}

/* S0, S1 of the region at line 4: i -> threads */
static void f_1_s0(
        int i, int m, double *restrict z, const double *restrict A, const double *restrict x)
{
    z[i] = 0.0;
    double z_sum = -0.0;
    #pragma omp simd reduction(+:z_sum)
    for (int j = 0; j < m; j++) {
        z_sum += A[i * m + j] * x[j];
    }
    z[i] += z_sum;
}

/* S2 of the region at line 4: j_t -> threads */
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__) && !defined(__NVCOMPILER)
__attribute__((target("prefer-vector-width=512")))
#endif
static void f_1_s2(
        int j_t, int n, int m, const double *restrict z, const double *restrict A,
        double *restrict y)
{
    if (j_t + 16 <= m) {
        double y_block[16] __attribute__((aligned(64)));
        #pragma omp simd
        for (int j_r = 0; j_r < 16; j_r++) {
            y_block[j_r] = -0.0;
        }
        for (int i = 0; i < n; i++) {
            #pragma omp simd
            for (int j_r = 0; j_r < 16; j_r++) {
                y_block[j_r] += A[i * m + j_t + j_r] * z[i];
            }
        }
        #pragma omp simd
        for (int j_r = 0; j_r < 16; j_r++) {
            y[j_t + j_r] += y_block[j_r];
        }
    }
    else {
        const int j_end = j_t + 16 < m ? j_t + 16 : m;
        double y_block[16] __attribute__((aligned(64)));
        #pragma omp simd
        for (int j = j_t; j < j_end; j++) {
            y_block[j - j_t] = -0.0;
        }
        for (int i = 0; i < n; i++) {
            #pragma omp simd
            for (int j = j_t; j < j_end; j++) {
                y_block[j - j_t] += A[i * m + j] * z[i];
            }
        }
        #pragma omp simd
        for (int j = j_t; j < j_end; j++) {
            y[j] += y_block[j - j_t];
        }
    }
}
{
    if (0 < n && 0 < m && m <= 2147483632) {
        if (n == 40 && m == 48) {
            /* S0, S1 of the region at line 4: i -> threads */
            #pragma omp parallel for schedule(static)
            for (int i = 0; i < n; i++)
                f_1_s0_tuned(i, z, A, x);
            /* S2 of the region at line 4: j_t -> threads */
            #pragma omp parallel for schedule(static)
            for (int j_t = 0; j_t < m; j_t += 16)
                f_1_s2_tuned(j_t, z, A, y);
        }
        else {
            /* S0, S1 of the region at line 4: i -> threads */
            #pragma omp parallel for schedule(static)
            for (int i = 0; i < n; i++)
                f_1_s0(i, m, z, A, x);
            /* S2 of the region at line 4: j_t -> threads */
            #pragma omp parallel for schedule(static)
            for (int j_t = 0; j_t < m; j_t += 16)
                f_1_s2(j_t, n, m, z, A, y);
        }
    }
    else {
        /* As written: for loops that do not run, and what the tests exclude. */
        for (int i = 0; i < n; i++) {
            z[i] = 0.0;
            for (int j = 0; j < m; j++) {
                z[i] += A[i * m + j] * x[j];
            }
            for (int j = 0; j < m; j++) {
                y[j] += A[i * m + j] * z[i];
            }
        }
    }
}
