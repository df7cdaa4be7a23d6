/* S0 of the region at line 16: p6, p4 -> threads */
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__) && !defined(__NVCOMPILER)
__attribute__((target("prefer-vector-width=512")))
#endif
static void sd_t_d1_1_1_s0_tuned(
        int p6, int p4, double *restrict t3, const double *restrict t2,
        const double *restrict v2)
{
    const int p4u = 16;
    const int p5u = 16;
    const int p6u = 16;
    const int h1u = 16;
    const int h2u = 16;
    const int h3u = 16;
    const int h7u = 16;
    double v2_tile[4096] __attribute__((aligned(64)));
    for (int h2_s = 0; h2_s < 16; h2_s++) {
        for (int h3_t_s = 0; h3_t_s < 1; h3_t_s++) {
            for (int h7_s2 = 0; h7_s2 < 16; h7_s2++) {
                for (int h3_s = 0; h3_s < 16; h3_s++) {
                    v2_tile[256 * h2_s + 256 * h3_t_s + 16 * h7_s2 + h3_s] = v2[16 * h3_t_s + h3_s + h3u * (h2_s + h2u * (p6 + p6u * h7_s2))];
                }
            }
        }
    }
    const double *restrict v2_in = v2_tile;
    for (int p5 = 0; p5 < p5u; p5++) {
        for (int h1_t = 0; h1_t < h1u; h1_t += 8) {
            double t2_tile[128] __attribute__((aligned(64)));
            for (int h7_s = 0; h7_s < 16; h7_s++) {
                for (int h1_s = 0; h1_s < 8; h1_s++) {
                    t2_tile[8 * h7_s + h1_s] = t2[h7_s + h7u * (p4 + p4u * (p5 + p5u * (h1_t + h1_s)))];
                }
            }
            const double *restrict t2_in = t2_tile;
            for (int h2 = 0; h2 < h2u; h2++) {
                for (int h3_t = 0; h3_t < h3u; h3_t += 16) {
                    for (int h1_r = 0; h1_r < 8; h1_r++) {
                        for (int h3 = h3_t; h3 < h3_t + 16; h3 += 8) {
                            #if defined(__GNUC__) && !defined(__NVCOMPILER)
                            __builtin_prefetch(&t3[h3 + h3u * (h2 + h2u * (h1_t + h1_r + h1u * (p6 + p6u * ((p5 + 1 < p5u ? p5 + 1 : p5) + p5u * p4))))], 0, 2);
                            #endif
                        }
                    }
                    double t3_block[8][16] __attribute__((aligned(64)));
                    for (int h1_r = 0; h1_r < 8; h1_r++) {
                        #pragma omp simd
                        for (int h3_r = 0; h3_r < 16; h3_r++) {
                            t3_block[h1_r][h3_r] = -0.0;
                        }
                    }
                    for (int h7 = 0; h7 < h7u; h7++) {
                        for (int h1_r = 0; h1_r < 8; h1_r++) {
                            #pragma omp simd
                            for (int h3_r = 0; h3_r < 16; h3_r++) {
                                t3_block[h1_r][h3_r] -= t2_in[8 * h7 + h1_r] * v2_in[256 * h2 + 16 * h3_t + 16 * h7 + h3_r];
                            }
                        }
                    }
                    for (int h1_r = 0; h1_r < 8; h1_r++) {
                        #pragma omp simd
                        for (int h3_r = 0; h3_r < 16; h3_r++) {
                            t3[h3_t + h3_r + h3u * (h2 + h2u * (h1_t + h1_r + h1u * (p6 + p6u * (p5 + p5u * p4))))] += t3_block[h1_r][h3_r];
                        }
                    }
                }
            }
        }
    }
}

/* S0 of the region at line 16: p6, p4 -> threads */
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__) && !defined(__NVCOMPILER)
__attribute__((target("prefer-vector-width=512")))
#endif
static void sd_t_d1_1_1_s0(
        int p6, int p4, int p4u, int p5u, int p6u, int h1u, int h2u, int h3u, int h7u,
        double *restrict t3, const double *restrict t2, const double *restrict v2)
{
    for (int p5 = 0; p5 < p5u; p5++) {
        for (int h1_t = 0; h1_t < h1u; h1_t += 8) {
            for (int h2 = 0; h2 < h2u; h2++) {
                for (int h3_t = 0; h3_t < h3u; h3_t += 16) {
                    if (h1_t + 8 <= h1u && h3_t + 16 <= h3u) {
                        double t3_block[8][16] __attribute__((aligned(64)));
                        for (int h1_r = 0; h1_r < 8; h1_r++) {
                            #pragma omp simd
                            for (int h3_r = 0; h3_r < 16; h3_r++) {
                                t3_block[h1_r][h3_r] = -0.0;
                            }
                        }
                        for (int h7 = 0; h7 < h7u; h7++) {
                            for (int h1_r = 0; h1_r < 8; h1_r++) {
                                #pragma omp simd
                                for (int h3_r = 0; h3_r < 16; h3_r++) {
                                    t3_block[h1_r][h3_r] -= t2[h7 + h7u * (p4 + p4u * (p5 + p5u * (h1_t + h1_r)))] * v2[h3_t + h3_r + h3u * (h2 + h2u * (p6 + p6u * h7))];
                                }
                            }
                        }
                        for (int h1_r = 0; h1_r < 8; h1_r++) {
                            #pragma omp simd
                            for (int h3_r = 0; h3_r < 16; h3_r++) {
                                t3[h3_t + h3_r + h3u * (h2 + h2u * (h1_t + h1_r + h1u * (p6 + p6u * (p5 + p5u * p4))))] += t3_block[h1_r][h3_r];
                            }
                        }
                    }
                    else {
                        const int h1_end = h1_t + 8 < h1u ? h1_t + 8 : h1u;
                        const int h3_end = h3_t + 16 < h3u ? h3_t + 16 : h3u;
                        double t3_block[8][16] __attribute__((aligned(64)));
                        for (int h1 = h1_t; h1 < h1_end; h1++) {
                            #pragma omp simd
                            for (int h3 = h3_t; h3 < h3_end; h3++) {
                                t3_block[h1 - h1_t][h3 - h3_t] = -0.0;
                            }
                        }
                        for (int h7 = 0; h7 < h7u; h7++) {
                            for (int h1 = h1_t; h1 < h1_end; h1++) {
                                #pragma omp simd
                                for (int h3 = h3_t; h3 < h3_end; h3++) {
                                    t3_block[h1 - h1_t][h3 - h3_t] -= t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1))] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * h7))];
                                }
                            }
                        }
                        for (int h1 = h1_t; h1 < h1_end; h1++) {
                            #pragma omp simd
                            for (int h3 = h3_t; h3 < h3_end; h3++) {
                                t3[h3 + h3u * (h2 + h2u * (h1 + h1u * (p6 + p6u * (p5 + p5u * p4))))] += t3_block[h1 - h1_t][h3 - h3_t];
                            }
                        }
                    }
                }
            }
        }
    }
}
{
    if (0 < p4u && 0 < p5u && 0 < p6u && 0 < h1u && 0 < h2u && 0 < h3u && 0 < h7u
        && h1u <= 2147483640 && h3u <= 2147483632) {
        if (p4u == 16 && p5u == 16 && p6u == 16 && h1u == 16 && h2u == 16 && h3u == 16 && h7u == 16) {
            /* S0 of the region at line 16: p6, p4 -> threads */
            #pragma omp parallel for collapse(2) schedule(static)
            for (int p6 = 0; p6 < p6u; p6++)
                for (int p4 = 0; p4 < p4u; p4++)
                    sd_t_d1_1_1_s0_tuned(p6, p4, t3, t2, v2);
        }
        else {
            /* S0 of the region at line 16: p6, p4 -> threads */
            #pragma omp parallel for collapse(2) schedule(static)
            for (int p6 = 0; p6 < p6u; p6++)
                for (int p4 = 0; p4 < p4u; p4++)
                    sd_t_d1_1_1_s0(p6, p4, p4u, p5u, p6u, h1u, h2u, h3u, h7u, t3, t2, v2);
        }
    }
    else {
        /* As written: for loops that do not run, and what the tests exclude. */
        for (int p4 = 0; p4 < p4u; p4++) {
            for (int p5 = 0; p5 < p5u; p5++) {
                for (int p6 = 0; p6 < p6u; p6++) {
                    for (int h1 = 0; h1 < h1u; h1++) {
                        for (int h2 = 0; h2 < h2u; h2++) {
                            for (int h3 = 0; h3 < h3u; h3++) {
                                for (int h7 = 0; h7 < h7u; h7++) {
                                    t3[h3 + h3u * (h2 + h2u * (h1 + h1u * (p6 + p6u * (p5 + p5u * p4))))] -= t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1))] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * h7))];
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
