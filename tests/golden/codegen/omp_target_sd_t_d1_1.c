{
    if (0 < p4u && 0 < p5u && 0 < p6u && 0 < h1u && 0 < h2u && 0 < h3u && 0 < h7u
        && (t2 + h7u * p4u * p5u * h1u <= v2 || v2 + h3u * h2u * p6u * h7u <= t2 || (t2 == v2 && t2 + h7u * p4u * p5u * h1u == v2 + h3u * h2u * p6u * h7u))) {
        if (p4u == 16 && p5u == 16 && p6u == 16 && h1u == 16 && h2u == 16 && h3u == 16 && h7u == 16) {
            /* S0 of the region at line 16: p4_t, p6, h1, h2_t -> teams; p5, h3 -> threads and lanes */
            #pragma omp target teams distribute collapse(4) num_teams(4096) thread_limit(256) \
                map(to: t2[0:h7u * p4u * p5u * h1u], v2[0:h3u * h2u * p6u * h7u]) map(tofrom: t3[0:h3u * h2u * h1u * p6u * p5u * p4u])
            for (int p4_t = 0; p4_t < p4u; p4_t += 4)
                for (int p6 = 0; p6 < p6u; p6++)
                    for (int h1 = 0; h1 < h1u; h1++)
                        for (int h2_t = 0; h2_t < h2u; h2_t += 4) {
                            #pragma omp parallel for simd collapse(2)
                            for (int p5 = 0; p5 < p5u; p5++)
                                for (int h3 = 0; h3 < h3u; h3++) {
                                    double t3_block[4][4];
                                    #pragma GCC unroll 4
                                    for (int p4 = p4_t; p4 < p4_t + 4; p4++) {
                                        #pragma GCC unroll 4
                                        for (int h2 = h2_t; h2 < h2_t + 4; h2++) {
                                            t3_block[p4 - p4_t][h2 - h2_t] = t3[h3 + h3u * (h2 + h2u * (h1 + h1u * (p6 + p6u * (p5 + p5u * p4))))];
                                        }
                                    }
                                    for (int h7 = 0; h7 < h7u; h7++) {
                                        #pragma GCC unroll 4
                                        for (int p4 = p4_t; p4 < p4_t + 4; p4++) {
                                            #pragma GCC unroll 4
                                            for (int h2 = h2_t; h2 < h2_t + 4; h2++) {
                                                t3_block[p4 - p4_t][h2 - h2_t] -= t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1))] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * h7))];
                                            }
                                        }
                                    }
                                    #pragma GCC unroll 4
                                    for (int p4 = p4_t; p4 < p4_t + 4; p4++) {
                                        #pragma GCC unroll 4
                                        for (int h2 = h2_t; h2 < h2_t + 4; h2++) {
                                            t3[h3 + h3u * (h2 + h2u * (h1 + h1u * (p6 + p6u * (p5 + p5u * p4))))] = t3_block[p4 - p4_t][h2 - h2_t];
                                        }
                                    }
                                }
                        }
        }
        else {
            /* S0 of the region at line 16: p4, p5, p6, h2 -> teams; h1, h3 -> threads and lanes */
            #pragma omp target teams distribute collapse(4) num_teams(32768) \
                thread_limit(256) map(to: t2[0:h7u * p4u * p5u * h1u], v2[0:h3u * h2u * p6u * h7u]) \
                map(tofrom: t3[0:h3u * h2u * h1u * p6u * p5u * p4u])
            for (int p4 = 0; p4 < p4u; p4++)
                for (int p5 = 0; p5 < p5u; p5++)
                    for (int p6 = 0; p6 < p6u; p6++)
                        for (int h2 = 0; h2 < h2u; h2++) {
                            #pragma omp parallel for simd collapse(2)
                            for (int h1 = 0; h1 < h1u; h1++)
                                for (int h3 = 0; h3 < h3u; h3++) {
                                    double t3_acc = t3[h3 + h3u * (h2 + h2u * (h1 + h1u * (p6 + p6u * (p5 + p5u * p4))))];
                                    for (int h7 = 0; h7 < h7u - h7u % 16; h7 += 16) {
                                        t3_acc += -(t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1))] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * h7))])
                                            - t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1)) + 1] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * (h7 + 1)))]
                                            - t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1)) + 2] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * (h7 + 2)))]
                                            - t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1)) + 3] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * (h7 + 3)))]
                                            - t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1)) + 4] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * (h7 + 4)))]
                                            - t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1)) + 5] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * (h7 + 5)))]
                                            - t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1)) + 6] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * (h7 + 6)))]
                                            - t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1)) + 7] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * (h7 + 7)))]
                                            - t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1)) + 8] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * (h7 + 8)))]
                                            - t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1)) + 9] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * (h7 + 9)))]
                                            - t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1)) + 10] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * (h7 + 10)))]
                                            - t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1)) + 11] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * (h7 + 11)))]
                                            - t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1)) + 12] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * (h7 + 12)))]
                                            - t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1)) + 13] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * (h7 + 13)))]
                                            - t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1)) + 14] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * (h7 + 14)))]
                                            - t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1)) + 15] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * (h7 + 15)))];
                                    }
                                    for (int h7 = h7u - h7u % 16; h7 < h7u; h7++) {
                                        t3_acc -= t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1))] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * h7))];
                                    }
                                    t3[h3 + h3u * (h2 + h2u * (h1 + h1u * (p6 + p6u * (p5 + p5u * p4))))] = t3_acc;
                                }
                        }
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
