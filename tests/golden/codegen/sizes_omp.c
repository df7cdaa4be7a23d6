/* For n=8, m=7: */
/* S0 of the region at line 3: i_t, j_t -> threads */
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__) && !defined(__NVCOMPILER)
__attribute__((target("prefer-vector-width=512")))
#endif
static void mm_1_s0_n8(
        int i_t, int j_t, double *restrict c, const double *restrict a,
        const double *restrict b)
{
    const int n = 8;
    double c_block[7][8] __attribute__((aligned(64)));
    for (int i_r = 0; i_r < 7; i_r++) {
        #pragma omp simd
        for (int j_r = 0; j_r < 8; j_r++) {
            c_block[i_r][j_r] = -0.0;
        }
    }
    for (int k = 0; k < n; k++) {
        for (int i_r = 0; i_r < 7; i_r++) {
            #pragma omp simd
            for (int j_r = 0; j_r < 8; j_r++) {
                c_block[i_r][j_r] += a[(i_t + i_r) * n + k] * b[k * n + j_t + j_r];
            }
        }
    }
    for (int i_r = 0; i_r < 7; i_r++) {
        #pragma omp simd
        for (int j_r = 0; j_r < 8; j_r++) {
            c[(i_t + i_r) * n + j_t + j_r] += c_block[i_r][j_r];
        }
    }
}

/* For n=10, m=7: */
/* S0 of the region at line 3: i_t, j_t -> threads */
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__) && !defined(__NVCOMPILER)
__attribute__((target("prefer-vector-width=512")))
#endif
static void mm_1_s0_n10(
        int i_t, int j_t, double *restrict c, const double *restrict a,
        const double *restrict b)
{
    const int n = 10;
    double c_block[7][10] __attribute__((aligned(64)));
    for (int i_r = 0; i_r < 7; i_r++) {
        #pragma omp simd
        for (int j_r = 0; j_r < 10; j_r++) {
            c_block[i_r][j_r] = -0.0;
        }
    }
    for (int k = 0; k < n; k++) {
        for (int i_r = 0; i_r < 7; i_r++) {
            #pragma omp simd
            for (int j_r = 0; j_r < 10; j_r++) {
                c_block[i_r][j_r] += a[(i_t + i_r) * n + k] * b[k * n + j_t + j_r];
            }
        }
    }
    for (int i_r = 0; i_r < 7; i_r++) {
        #pragma omp simd
        for (int j_r = 0; j_r < 10; j_r++) {
            c[(i_t + i_r) * n + j_t + j_r] += c_block[i_r][j_r];
        }
    }
}

/* For n=12, m=7: */
/* S0 of the region at line 3: i_t, j_t -> threads */
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__) && !defined(__NVCOMPILER)
__attribute__((target("prefer-vector-width=512")))
#endif
static void mm_1_s0_n12(
        int i_t, int j_t, double *restrict c, const double *restrict a,
        const double *restrict b)
{
    const int n = 12;
    double c_block[7][12] __attribute__((aligned(64)));
    for (int i_r = 0; i_r < 7; i_r++) {
        #pragma omp simd
        for (int j_r = 0; j_r < 12; j_r++) {
            c_block[i_r][j_r] = -0.0;
        }
    }
    for (int k = 0; k < n; k++) {
        for (int i_r = 0; i_r < 7; i_r++) {
            #pragma omp simd
            for (int j_r = 0; j_r < 12; j_r++) {
                c_block[i_r][j_r] += a[(i_t + i_r) * n + k] * b[k * n + j_t + j_r];
            }
        }
    }
    for (int i_r = 0; i_r < 7; i_r++) {
        #pragma omp simd
        for (int j_r = 0; j_r < 12; j_r++) {
            c[(i_t + i_r) * n + j_t + j_r] += c_block[i_r][j_r];
        }
    }
}

/* For n=8, any m: */
/* S0 of the region at line 3: i_t, j_t -> threads */
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__) && !defined(__NVCOMPILER)
__attribute__((target("prefer-vector-width=512")))
#endif
static void mm_1_s0_n8_any(
        int i_t, int j_t, int m, double *restrict c, const double *restrict a,
        const double *restrict b)
{
    const int n = 8;
    if (i_t + 7 <= m) {
        double c_block[7][8] __attribute__((aligned(64)));
        for (int i_r = 0; i_r < 7; i_r++) {
            #pragma omp simd
            for (int j_r = 0; j_r < 8; j_r++) {
                c_block[i_r][j_r] = -0.0;
            }
        }
        for (int k = 0; k < n; k++) {
            for (int i_r = 0; i_r < 7; i_r++) {
                #pragma omp simd
                for (int j_r = 0; j_r < 8; j_r++) {
                    c_block[i_r][j_r] += a[(i_t + i_r) * n + k] * b[k * n + j_t + j_r];
                }
            }
        }
        for (int i_r = 0; i_r < 7; i_r++) {
            #pragma omp simd
            for (int j_r = 0; j_r < 8; j_r++) {
                c[(i_t + i_r) * n + j_t + j_r] += c_block[i_r][j_r];
            }
        }
    }
    else {
        const int i_end = i_t + 7 < m ? i_t + 7 : m;
        double c_block[7][8] __attribute__((aligned(64)));
        for (int i = i_t; i < i_end; i++) {
            #pragma omp simd
            for (int j_r = 0; j_r < 8; j_r++) {
                c_block[i - i_t][j_r] = -0.0;
            }
        }
        for (int k = 0; k < n; k++) {
            for (int i = i_t; i < i_end; i++) {
                #pragma omp simd
                for (int j_r = 0; j_r < 8; j_r++) {
                    c_block[i - i_t][j_r] += a[i * n + k] * b[k * n + j_t + j_r];
                }
            }
        }
        for (int i = i_t; i < i_end; i++) {
            #pragma omp simd
            for (int j_r = 0; j_r < 8; j_r++) {
                c[i * n + j_t + j_r] += c_block[i - i_t][j_r];
            }
        }
    }
}

/* For n=10, any m: */
/* S0 of the region at line 3: i_t, j_t -> threads */
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__) && !defined(__NVCOMPILER)
__attribute__((target("prefer-vector-width=512")))
#endif
static void mm_1_s0_n10_any(
        int i_t, int j_t, int m, double *restrict c, const double *restrict a,
        const double *restrict b)
{
    const int n = 10;
    if (i_t + 7 <= m) {
        double c_block[7][10] __attribute__((aligned(64)));
        for (int i_r = 0; i_r < 7; i_r++) {
            #pragma omp simd
            for (int j_r = 0; j_r < 10; j_r++) {
                c_block[i_r][j_r] = -0.0;
            }
        }
        for (int k = 0; k < n; k++) {
            for (int i_r = 0; i_r < 7; i_r++) {
                #pragma omp simd
                for (int j_r = 0; j_r < 10; j_r++) {
                    c_block[i_r][j_r] += a[(i_t + i_r) * n + k] * b[k * n + j_t + j_r];
                }
            }
        }
        for (int i_r = 0; i_r < 7; i_r++) {
            #pragma omp simd
            for (int j_r = 0; j_r < 10; j_r++) {
                c[(i_t + i_r) * n + j_t + j_r] += c_block[i_r][j_r];
            }
        }
    }
    else {
        const int i_end = i_t + 7 < m ? i_t + 7 : m;
        double c_block[7][10] __attribute__((aligned(64)));
        for (int i = i_t; i < i_end; i++) {
            #pragma omp simd
            for (int j_r = 0; j_r < 10; j_r++) {
                c_block[i - i_t][j_r] = -0.0;
            }
        }
        for (int k = 0; k < n; k++) {
            for (int i = i_t; i < i_end; i++) {
                #pragma omp simd
                for (int j_r = 0; j_r < 10; j_r++) {
                    c_block[i - i_t][j_r] += a[i * n + k] * b[k * n + j_t + j_r];
                }
            }
        }
        for (int i = i_t; i < i_end; i++) {
            #pragma omp simd
            for (int j_r = 0; j_r < 10; j_r++) {
                c[i * n + j_t + j_r] += c_block[i - i_t][j_r];
            }
        }
    }
}

/* For n=12, any m: */
/* S0 of the region at line 3: i_t, j_t -> threads */
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__) && !defined(__NVCOMPILER)
__attribute__((target("prefer-vector-width=512")))
#endif
static void mm_1_s0_n12_any(
        int i_t, int j_t, int m, double *restrict c, const double *restrict a,
        const double *restrict b)
{
    const int n = 12;
    if (i_t + 7 <= m) {
        double c_block[7][12] __attribute__((aligned(64)));
        for (int i_r = 0; i_r < 7; i_r++) {
            #pragma omp simd
            for (int j_r = 0; j_r < 12; j_r++) {
                c_block[i_r][j_r] = -0.0;
            }
        }
        for (int k = 0; k < n; k++) {
            for (int i_r = 0; i_r < 7; i_r++) {
                #pragma omp simd
                for (int j_r = 0; j_r < 12; j_r++) {
                    c_block[i_r][j_r] += a[(i_t + i_r) * n + k] * b[k * n + j_t + j_r];
                }
            }
        }
        for (int i_r = 0; i_r < 7; i_r++) {
            #pragma omp simd
            for (int j_r = 0; j_r < 12; j_r++) {
                c[(i_t + i_r) * n + j_t + j_r] += c_block[i_r][j_r];
            }
        }
    }
    else {
        const int i_end = i_t + 7 < m ? i_t + 7 : m;
        double c_block[7][12] __attribute__((aligned(64)));
        for (int i = i_t; i < i_end; i++) {
            #pragma omp simd
            for (int j_r = 0; j_r < 12; j_r++) {
                c_block[i - i_t][j_r] = -0.0;
            }
        }
        for (int k = 0; k < n; k++) {
            for (int i = i_t; i < i_end; i++) {
                #pragma omp simd
                for (int j_r = 0; j_r < 12; j_r++) {
                    c_block[i - i_t][j_r] += a[i * n + k] * b[k * n + j_t + j_r];
                }
            }
        }
        for (int i = i_t; i < i_end; i++) {
            #pragma omp simd
            for (int j_r = 0; j_r < 12; j_r++) {
                c[i * n + j_t + j_r] += c_block[i - i_t][j_r];
            }
        }
    }
}

/* For all other sizes: */
/* S0 of the region at line 3: i_t, j_t -> threads */
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__) && !defined(__NVCOMPILER)
__attribute__((target("prefer-vector-width=512")))
#endif
static void mm_1_s0(
        int i_t, int j_t, int m, int n, double *restrict c, const double *restrict a,
        const double *restrict b)
{
    if (i_t + 7 <= m && j_t + 8 <= n) {
        double c_block[7][8] __attribute__((aligned(64)));
        for (int i_r = 0; i_r < 7; i_r++) {
            #pragma omp simd
            for (int j_r = 0; j_r < 8; j_r++) {
                c_block[i_r][j_r] = -0.0;
            }
        }
        for (int k = 0; k < n; k++) {
            for (int i_r = 0; i_r < 7; i_r++) {
                #pragma omp simd
                for (int j_r = 0; j_r < 8; j_r++) {
                    c_block[i_r][j_r] += a[(i_t + i_r) * n + k] * b[k * n + j_t + j_r];
                }
            }
        }
        for (int i_r = 0; i_r < 7; i_r++) {
            #pragma omp simd
            for (int j_r = 0; j_r < 8; j_r++) {
                c[(i_t + i_r) * n + j_t + j_r] += c_block[i_r][j_r];
            }
        }
    }
    else {
        const int i_end = i_t + 7 < m ? i_t + 7 : m;
        const int j_end = j_t + 8 < n ? j_t + 8 : n;
        double c_block[7][8] __attribute__((aligned(64)));
        for (int i = i_t; i < i_end; i++) {
            #pragma omp simd
            for (int j = j_t; j < j_end; j++) {
                c_block[i - i_t][j - j_t] = -0.0;
            }
        }
        for (int k = 0; k < n; k++) {
            for (int i = i_t; i < i_end; i++) {
                #pragma omp simd
                for (int j = j_t; j < j_end; j++) {
                    c_block[i - i_t][j - j_t] += a[i * n + k] * b[k * n + j];
                }
            }
        }
        for (int i = i_t; i < i_end; i++) {
            #pragma omp simd
            for (int j = j_t; j < j_end; j++) {
                c[i * n + j] += c_block[i - i_t][j - j_t];
            }
        }
    }
}

{
    if (0 < m && 0 < n && m <= 2147483641 && n <= 2147483640) {
        if (m == 7 && n == 8) {
            /* S0 of the region at line 3: i_t, j_t -> threads */
            #pragma omp parallel for collapse(2) schedule(static)
            for (int i_t = 0; i_t < m; i_t += 7)
                for (int j_t = 0; j_t < n; j_t += 8)
                    mm_1_s0_n8(i_t, j_t, c, a, b);
        }
        else if (m == 7 && n == 10) {
            /* S0 of the region at line 3: i_t, j_t -> threads */
            #pragma omp parallel for collapse(2) schedule(static)
            for (int i_t = 0; i_t < m; i_t += 7)
                for (int j_t = 0; j_t < n; j_t += 10)
                    mm_1_s0_n10(i_t, j_t, c, a, b);
        }
        else if (m == 7 && n == 12) {
            /* S0 of the region at line 3: i_t, j_t -> threads */
            #pragma omp parallel for collapse(2) schedule(static)
            for (int i_t = 0; i_t < m; i_t += 7)
                for (int j_t = 0; j_t < n; j_t += 12)
                    mm_1_s0_n12(i_t, j_t, c, a, b);
        }
        else if (n == 8) {
            /* S0 of the region at line 3: i_t, j_t -> threads */
            #pragma omp parallel for collapse(2) schedule(static)
            for (int i_t = 0; i_t < m; i_t += 7)
                for (int j_t = 0; j_t < n; j_t += 8)
                    mm_1_s0_n8_any(i_t, j_t, m, c, a, b);
        }
        else if (n == 10) {
            /* S0 of the region at line 3: i_t, j_t -> threads */
            #pragma omp parallel for collapse(2) schedule(static)
            for (int i_t = 0; i_t < m; i_t += 7)
                for (int j_t = 0; j_t < n; j_t += 10)
                    mm_1_s0_n10_any(i_t, j_t, m, c, a, b);
        }
        else if (n == 12) {
            /* S0 of the region at line 3: i_t, j_t -> threads */
            #pragma omp parallel for collapse(2) schedule(static)
            for (int i_t = 0; i_t < m; i_t += 7)
                for (int j_t = 0; j_t < n; j_t += 12)
                    mm_1_s0_n12_any(i_t, j_t, m, c, a, b);
        }
        else {
            /* S0 of the region at line 3: i_t, j_t -> threads */
            #pragma omp parallel for collapse(2) schedule(static)
            for (int i_t = 0; i_t < m; i_t += 7)
                for (int j_t = 0; j_t < n; j_t += 8)
                    mm_1_s0(i_t, j_t, m, n, c, a, b);
        }
    }
    else {
        /* As written: for loops that do not run, and what the tests exclude. */
        for (int i = 0; i < m; i++) {
            for (int j = 0; j < n; j++) {
                for (int k = 0; k < n; k++) {
                    c[i * n + j] += a[i * n + k] * b[k * n + j];
                }
            }
        }
    }
}
