/* f, statement 0 of the region at line 3:
 * i_t on block.x, j_t on block.y, j on thread.x. */
__global__ void __launch_bounds__(4) f_1_s0_tuned(
        double *__restrict__ a, const double *__restrict__ b) {
    const int m = 13;
    const int i_t = 1 + 6 * blockIdx.x;
    const int j_t = 1 + 4 * blockIdx.y;
    if (j_t + 4 <= 12 && i_t + 6 <= 12) {
        const int j = j_t + threadIdx.x;
        double a_block[6];
        #pragma unroll
        for (int i_r = 0; i_r < 6; i_r++) {
            const int i = i_t + i_r;
            a_block[i_r] = a[i * m + j];
        }
        for (int k = 0; k < m; k++) {
            #pragma unroll
            for (int i_r = 0; i_r < 6; i_r++) {
                const int i = i_t + i_r;
                a_block[i_r] += b[i * m + k] * b[j * m + k];
            }
        }
        #pragma unroll
        for (int i_r = 0; i_r < 6; i_r++) {
            const int i = i_t + i_r;
            a[i * m + j] = a_block[i_r];
        }
    }
    else {
        for (int j = j_t + threadIdx.x; j < min(j_t + 4, m - 1); j += blockDim.x) {
            double a_block[6];
            #pragma unroll
            for (int i_r = 0; i_r < 6; i_r++) {
                const int i = i_t + i_r;
                a_block[i_r] = i < 12 ? a[i * m + j] : 0.0;
            }
            for (int k = 0; k < m; k++) {
                #pragma unroll
                for (int i_r = 0; i_r < 6; i_r++) {
                    const int i = i_t + i_r;
                    if (i < 12) {
                        a_block[i_r] += b[i * m + k] * b[j * m + k];
                    }
                }
            }
            #pragma unroll
            for (int i_r = 0; i_r < 6; i_r++) {
                const int i = i_t + i_r;
                if (i < 12) {
                    a[i * m + j] = a_block[i_r];
                }
            }
        }
    }
}

/* f, statement 0 of the region at line 3:
 * i_t on block.x, j_t on block.y, j on thread.x. */
__global__ void __launch_bounds__(4, 1) f_1_s0(
        int n, int m, double *__restrict__ a, const double *__restrict__ b) {
    for (int i_t = 1 + 6 * blockIdx.x; i_t < n - 1; i_t += 6 * gridDim.x) {
        for (int j_t = 1 + 4 * blockIdx.y; j_t < m - 1; j_t += 4 * gridDim.y) {
            if (m - j_t - 1 >= 4 && n - i_t - 1 >= 6) {
                const int j = j_t + threadIdx.x;
                double a_block[6];
                #pragma unroll
                for (int i_r = 0; i_r < 6; i_r++) {
                    const int i = i_t + i_r;
                    a_block[i_r] = a[i * m + j];
                }
                for (int k = 0; k < m; k++) {
                    #pragma unroll
                    for (int i_r = 0; i_r < 6; i_r++) {
                        const int i = i_t + i_r;
                        a_block[i_r] += b[i * m + k] * b[j * m + k];
                    }
                }
                #pragma unroll
                for (int i_r = 0; i_r < 6; i_r++) {
                    const int i = i_t + i_r;
                    a[i * m + j] = a_block[i_r];
                }
            }
            else {
                for (int j = j_t + threadIdx.x; j < min(j_t + 4, m - 1); j += blockDim.x) {
                    double a_block[6];
                    #pragma unroll
                    for (int i_r = 0; i_r < 6; i_r++) {
                        const int i = i_t + i_r;
                        a_block[i_r] = i < n - 1 ? a[i * m + j] : 0.0;
                    }
                    for (int k = 0; k < m; k++) {
                        #pragma unroll
                        for (int i_r = 0; i_r < 6; i_r++) {
                            const int i = i_t + i_r;
                            if (i < n - 1) {
                                a_block[i_r] += b[i * m + k] * b[j * m + k];
                            }
                        }
                    }
                    #pragma unroll
                    for (int i_r = 0; i_r < 6; i_r++) {
                        const int i = i_t + i_r;
                        if (i < n - 1) {
                            a[i * m + j] = a_block[i_r];
                        }
                    }
                }
            }
        }
    }
}

