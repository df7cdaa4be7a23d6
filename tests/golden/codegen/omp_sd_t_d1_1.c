/* S0 of the region at line 16: p4_t, p5, p6 -> threads */
static void sd_t_d1_1_1_s0_tuned(
        int p4_t, int p5, int p6, double *restrict t3, const double *restrict t2,
        const double *restrict v2)
{
    const int p4u = 16;
    const int p5u = 16;
    const int p6u = 16;
    const int h1u = 16;
    const int h2u = 16;
    const int h3u = 16;
    const int h7u = 16;
    for (int h1 = 0; h1 < h1u; h1++) {
        for (int h2 = 0; h2 < h2u; h2++) {
            for (int h3_t = 0; h3_t < h3u; h3_t += 16) {
                double t3_block[8][16];
                for (int p4 = p4_t; p4 < p4_t + 8; p4++) {
                    #pragma omp simd
                    for (int h3 = h3_t; h3 < h3_t + 16; h3++) {
                        t3_block[p4 - p4_t][h3 - h3_t] = t3[h3 + h3u * (h2 + h2u * (h1 + h1u * (p6 + p6u * (p5 + p5u * p4))))];
                    }
                }
                for (int h7 = 0; h7 < h7u; h7++) {
                    for (int p4 = p4_t; p4 < p4_t + 8; p4++) {
                        #pragma omp simd
                        for (int h3 = h3_t; h3 < h3_t + 16; h3++) {
                            t3_block[p4 - p4_t][h3 - h3_t] -= t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1))] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * h7))];
                        }
                    }
                }
                for (int p4 = p4_t; p4 < p4_t + 8; p4++) {
                    #pragma omp simd
                    for (int h3 = h3_t; h3 < h3_t + 16; h3++) {
                        t3[h3 + h3u * (h2 + h2u * (h1 + h1u * (p6 + p6u * (p5 + p5u * p4))))] = t3_block[p4 - p4_t][h3 - h3_t];
                    }
                }
            }
        }
    }
}

/* S0 of the region at line 16: p4_t, p5, p6 -> threads */
static void sd_t_d1_1_1_s0(
        int p4_t, int p5, int p6, int p4u, int p5u, int p6u, int h1u, int h2u, int h3u,
        int h7u, double *restrict t3, const double *restrict t2, const double *restrict v2)
{
    for (int h1 = 0; h1 < h1u; h1++) {
        for (int h2 = 0; h2 < h2u; h2++) {
            for (int h3_t = 0; h3_t < h3u; h3_t += 16) {
                if (p4_t + 8 <= p4u && h3_t + 16 <= h3u) {
                    double t3_block[8][16];
                    for (int p4 = p4_t; p4 < p4_t + 8; p4++) {
                        #pragma omp simd
                        for (int h3 = h3_t; h3 < h3_t + 16; h3++) {
                            t3_block[p4 - p4_t][h3 - h3_t] = t3[h3 + h3u * (h2 + h2u * (h1 + h1u * (p6 + p6u * (p5 + p5u * p4))))];
                        }
                    }
                    for (int h7 = 0; h7 < h7u; h7++) {
                        for (int p4 = p4_t; p4 < p4_t + 8; p4++) {
                            #pragma omp simd
                            for (int h3 = h3_t; h3 < h3_t + 16; h3++) {
                                t3_block[p4 - p4_t][h3 - h3_t] -= t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1))] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * h7))];
                            }
                        }
                    }
                    for (int p4 = p4_t; p4 < p4_t + 8; p4++) {
                        #pragma omp simd
                        for (int h3 = h3_t; h3 < h3_t + 16; h3++) {
                            t3[h3 + h3u * (h2 + h2u * (h1 + h1u * (p6 + p6u * (p5 + p5u * p4))))] = t3_block[p4 - p4_t][h3 - h3_t];
                        }
                    }
                }
                else {
                    const int p4_end = p4_t + 8 < p4u ? p4_t + 8 : p4u;
                    const int h3_end = h3_t + 16 < h3u ? h3_t + 16 : h3u;
                    double t3_block[8][16];
                    for (int p4 = p4_t; p4 < p4_end; p4++) {
                        #pragma omp simd
                        for (int h3 = h3_t; h3 < h3_end; h3++) {
                            t3_block[p4 - p4_t][h3 - h3_t] = t3[h3 + h3u * (h2 + h2u * (h1 + h1u * (p6 + p6u * (p5 + p5u * p4))))];
                        }
                    }
                    for (int h7 = 0; h7 < h7u; h7++) {
                        for (int p4 = p4_t; p4 < p4_end; p4++) {
                            #pragma omp simd
                            for (int h3 = h3_t; h3 < h3_end; h3++) {
                                t3_block[p4 - p4_t][h3 - h3_t] -= t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1))] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * h7))];
                            }
                        }
                    }
                    for (int p4 = p4_t; p4 < p4_end; p4++) {
                        #pragma omp simd
                        for (int h3 = h3_t; h3 < h3_end; h3++) {
                            t3[h3 + h3u * (h2 + h2u * (h1 + h1u * (p6 + p6u * (p5 + p5u * p4))))] = t3_block[p4 - p4_t][h3 - h3_t];
                        }
                    }
                }
            }
        }
    }
}
{
    if (0 < p4u && 0 < p5u && 0 < p6u && 0 < h1u && 0 < h2u && 0 < h3u && 0 < h7u) {
        if (p4u == 16 && p5u == 16 && p6u == 16 && h1u == 16 && h2u == 16 && h3u == 16 && h7u == 16) {
            /* S0 of the region at line 16: p4_t, p5, p6 -> threads */
            #pragma omp parallel for collapse(3) schedule(static)
            for (int p4_t = 0; p4_t < p4u; p4_t += 8)
                for (int p5 = 0; p5 < p5u; p5++)
                    for (int p6 = 0; p6 < p6u; p6++)
                        sd_t_d1_1_1_s0_tuned(p4_t, p5, p6, t3, t2, v2);
        }
        else {
            /* S0 of the region at line 16: p4_t, p5, p6 -> threads */
            #pragma omp parallel for collapse(3) schedule(static)
            for (int p4_t = 0; p4_t < p4u; p4_t += 8)
                for (int p5 = 0; p5 < p5u; p5++)
                    for (int p6 = 0; p6 < p6u; p6++)
                        sd_t_d1_1_1_s0(p4_t, p5, p6, p4u, p5u, p6u, h1u, h2u, h3u, h7u, t3, t2, v2);
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
