/* f, statement 0 of the region at line 4:
 * h3_t on block.x, h2_t on block.x, h1 on block.x, p6 on block.x, p5_t on block.x, p4_t on
  * block.x, h3 on thread.x, p5 on thread.y. */
__global__ void __launch_bounds__(8) f_1_s0_tuned(
        double *__restrict__ T, const double *__restrict__ t, const double *__restrict__ v) {
    const long n = 6;
    __shared__ __align__(16) double v_tile[32];
    __shared__ __align__(16) double t_tile[16];
    const int annotune_thread = threadIdx.x + 4 * threadIdx.y;
    const long h3_t = 4 * (long)(blockIdx.x % 2);
    const long h2_t = 2 * (long)(blockIdx.x / 2 % 3);
    const long h1 = (long)blockIdx.x / 6 % 6;
    const long p6 = (long)blockIdx.x / 36 % 6;
    const long p5_t = 2 * (long)(blockIdx.x / 216 % 3);
    const long p4_t = 2 * (long)(blockIdx.x / 648);
    const long h3 = h3_t + (long)threadIdx.x;
    const long p5 = p5_t + (long)threadIdx.y;
    #pragma unroll
    for (int annotune_k = 0; annotune_k < 1; annotune_k++) {
        const int h3_s = annotune_thread % 2;
        const int h2_s = annotune_thread / 2 % 2;
        const int h7_s = annotune_thread / 4;
        if (h3_t + 2 * h3_s < 6)
            __pipeline_memcpy_async(&v_tile[8 * h7_s + 4 * h2_s + 2 * h3_s],
                                    &v[((h7_s * n + p6) * n + (h2_t + h2_s)) * n +
                                       (h3_t + 2 * h3_s)], sizeof(double2));
        else
            __pipeline_memcpy_async(&v_tile[8 * h7_s + 4 * h2_s + 2 * h3_s], v, sizeof(double2),
                                    sizeof(double2));
    }
    #pragma unroll
    for (int annotune_k = 0; annotune_k < 1; annotune_k++) {
        const int h7_s2 = 0;
        const int p4_s = annotune_thread % 2;
        const int p5_s = annotune_thread / 2;
        if (annotune_thread < 4) {
            __pipeline_memcpy_async(&t_tile[2 * p5_s + 4 * p4_s + 2 * h7_s2],
                                    &t[((h1 * n + (p5_t + p5_s)) * n + (p4_t + p4_s)) * n +
                                       2 * h7_s2], sizeof(double2));
        }
    }
    __pipeline_commit();
    double T_block[2][2];
    #pragma unroll
    for (long h2_r = 0; h2_r < 2; h2_r++) {
        const long h2 = h2_t + h2_r;
        #pragma unroll
        for (long p4_r = 0; p4_r < 2; p4_r++) {
            const long p4 = p4_t + p4_r;
            T_block[h2_r][p4_r] = h3 < 6
                                  ? T[((((p4 * n + p5) * n + p6) * n + h1) * n + h2) * n + h3]
                                  : 0.0;
        }
    }
    for (long h7_t = 0; h7_t < n; h7_t += 2) {
        int h7_t_part = h7_t / 2 % 2;
        __pipeline_wait_prior(0);
        __syncthreads();
        if (h7_t + 2 < n) {
            #pragma unroll
            for (int annotune_k = 0; annotune_k < 1; annotune_k++) {
                const int h3_s = annotune_thread % 2;
                const int h2_s = annotune_thread / 2 % 2;
                const int h7_s = annotune_thread / 4;
                if (h3_t + 2 * h3_s < 6)
                    __pipeline_memcpy_async(&v_tile[16 * ((h7_t_part + 1) % 2) + 8 * h7_s +
                                                    4 * h2_s + 2 * h3_s],
                                            &v[(((h7_t + h7_s + 2) * n + p6) * n + (h2_t + h2_s)) *
                                               n + (h3_t + 2 * h3_s)], sizeof(double2));
                else
                    __pipeline_memcpy_async(&v_tile[16 * ((h7_t_part + 1) % 2) + 8 * h7_s +
                                                    4 * h2_s + 2 * h3_s], v, sizeof(double2),
                                            sizeof(double2));
            }
            #pragma unroll
            for (int annotune_k = 0; annotune_k < 1; annotune_k++) {
                const int h7_s2 = 0;
                const int p4_s = annotune_thread % 2;
                const int p5_s = annotune_thread / 2;
                if (annotune_thread < 4) {
                    __pipeline_memcpy_async(&t_tile[8 * ((h7_t_part + 1) % 2) + 2 * p5_s +
                                                    4 * p4_s + 2 * h7_s2],
                                            &t[((h1 * n + (p5_t + p5_s)) * n + (p4_t + p4_s)) * n +
                                               (h7_t + 2 * h7_s2 + 2)], sizeof(double2));
                }
            }
        }
        __pipeline_commit();
        for (long h7 = h7_t; h7 < h7_t + 2; h7++) {
            #pragma unroll
            for (long h2_r = 0; h2_r < 2; h2_r++) {
                #pragma unroll
                for (long p4_r = 0; p4_r < 2; p4_r++) {
                    T_block[h2_r][p4_r] -=
                        t_tile[8 * h7_t_part + 2 * (p5 - p5_t) + 4 * p4_r + h7 - h7_t] *
                        v_tile[16 * h7_t_part + 8 * (h7 - h7_t) + 4 * h2_r + h3 - h3_t];
                }
            }
        }
    }
    #pragma unroll
    for (long h2_r = 0; h2_r < 2; h2_r++) {
        const long h2 = h2_t + h2_r;
        #pragma unroll
        for (long p4_r = 0; p4_r < 2; p4_r++) {
            const long p4 = p4_t + p4_r;
            if (h3 < 6) {
                T[((((p4 * n + p5) * n + p6) * n + h1) * n + h2) * n + h3] = T_block[h2_r][p4_r];
            }
        }
    }
}

