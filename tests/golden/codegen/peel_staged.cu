/* f, statement 0 of the region at line 3:
 * j_t on block.x, i_t on block.y, j on thread.x, i on thread.y. */
__global__ void __launch_bounds__(32) f_1_s0_tuned(
        double *__restrict__ a, const double *__restrict__ b) {
    const int m = 13;
    __shared__ double b_tile[60];
    const int annotune_thread = threadIdx.x + 8 * threadIdx.y;
    const int j_t = 1 + 8 * blockIdx.x;
    const int i_t = 1 + 4 * blockIdx.y;
    if (j_t + 8 <= 12 && i_t + 4 <= 12) {
        const int j = j_t + threadIdx.x;
        const int i = i_t + threadIdx.y;
        #pragma unroll
        for (int annotune_k = 0; annotune_k < 2; annotune_k++) {
            const int j_s = annotune_thread % 10;
            const int i_s = annotune_thread / 10 + 3 * annotune_k;
            if (annotune_thread < 30) {
                b_tile[10 * i_s + j_s] = (1 <= i_s && i_s < 5) || (1 <= j_s && j_s < 9)
                                         ? b[(i_t + i_s - 1) * m + j_t + j_s - 1] : 0.0;
            }
        }
        __syncthreads();
        a[i * m + j] = b_tile[10 * (i - i_t + 1) + j - j_t + 1]
            + b_tile[10 * (i - i_t) + j - j_t + 1]
            + b_tile[10 * (i - i_t + 2) + j - j_t + 1]
            + b_tile[10 * (i - i_t + 1) + j - j_t]
            + b_tile[10 * (i - i_t + 1) + j - j_t + 2];
    }
    else {
        const int j = j_t + threadIdx.x;
        const int i = i_t + threadIdx.y;
        #pragma unroll
        for (int annotune_k = 0; annotune_k < 2; annotune_k++) {
            const int j_s = annotune_thread % 10;
            const int i_s = annotune_thread / 10 + 3 * annotune_k;
            if (annotune_thread < 30) {
                b_tile[10 * i_s + j_s] =
                    (1 <= i_s && i_s < 5 && i_t + i_s - 1 < 12 && j_t + j_s - 1 < 13) ||
                    (i_t + i_s - 1 < 13 && 1 <= j_s && j_s < 9 && j_t + j_s - 1 < 12)
                    ? b[(i_t + i_s - 1) * m + j_t + j_s - 1] : 0.0;
            }
        }
        __syncthreads();
        if (j < 12 && i < 12) {
            a[i * m + j] = b_tile[10 * (i - i_t + 1) + j - j_t + 1]
                + b_tile[10 * (i - i_t) + j - j_t + 1]
                + b_tile[10 * (i - i_t + 2) + j - j_t + 1]
                + b_tile[10 * (i - i_t + 1) + j - j_t]
                + b_tile[10 * (i - i_t + 1) + j - j_t + 2];
        }
    }
}

/* f, statement 0 of the region at line 3:
 * j_t on block.x, i_t on block.y, j on thread.x, i on thread.y. */
__global__ void __launch_bounds__(32, 1) f_1_s0(
        int n, int m, double *__restrict__ a, const double *__restrict__ b) {
    __shared__ double b_tile[60];
    const int annotune_thread = threadIdx.x + 8 * threadIdx.y;
    for (int j_t = 1 + 8 * blockIdx.x; j_t < m - 1; j_t += 8 * gridDim.x) {
        for (int i_t = 1 + 4 * blockIdx.y; i_t < n - 1; i_t += 4 * gridDim.y) {
            if (m - j_t - 1 >= 8 && n - i_t - 1 >= 4) {
                const int j = j_t + threadIdx.x;
                const int i = i_t + threadIdx.y;
                __syncthreads();
                #pragma unroll
                for (int annotune_k = 0; annotune_k < 2; annotune_k++) {
                    const int j_s = annotune_thread % 10;
                    const int i_s = annotune_thread / 10 + 3 * annotune_k;
                    if (annotune_thread < 30) {
                        b_tile[10 * i_s + j_s] = (1 <= i_s && i_s < 5 && i_t + i_s - 1 < n - 1) ||
                                                 (1 <= j_s && j_s < 9 && j_t + j_s - 1 < m - 1)
                                                 ? b[(i_t + i_s - 1) * m + j_t + j_s - 1] : 0.0;
                    }
                }
                __syncthreads();
                a[i * m + j] = b_tile[10 * (i - i_t + 1) + j - j_t + 1]
                    + b_tile[10 * (i - i_t) + j - j_t + 1]
                    + b_tile[10 * (i - i_t + 2) + j - j_t + 1]
                    + b_tile[10 * (i - i_t + 1) + j - j_t]
                    + b_tile[10 * (i - i_t + 1) + j - j_t + 2];
            }
            else {
                const int j = j_t + threadIdx.x;
                const int i = i_t + threadIdx.y;
                __syncthreads();
                #pragma unroll
                for (int annotune_k = 0; annotune_k < 2; annotune_k++) {
                    const int j_s = annotune_thread % 10;
                    const int i_s = annotune_thread / 10 + 3 * annotune_k;
                    if (annotune_thread < 30) {
                        b_tile[10 * i_s + j_s] =
                            (1 <= i_s && i_s < 5 && i_t + i_s - 1 < n - 1 && j_t + j_s - 1 < m) ||
                            (i_t + i_s - 1 < n && 1 <= j_s && j_s < 9 && j_t + j_s - 1 < m - 1)
                            ? b[(i_t + i_s - 1) * m + j_t + j_s - 1] : 0.0;
                    }
                }
                __syncthreads();
                if (j < m - 1 && i < n - 1) {
                    a[i * m + j] = b_tile[10 * (i - i_t + 1) + j - j_t + 1]
                        + b_tile[10 * (i - i_t) + j - j_t + 1]
                        + b_tile[10 * (i - i_t + 2) + j - j_t + 1]
                        + b_tile[10 * (i - i_t + 1) + j - j_t]
                        + b_tile[10 * (i - i_t + 1) + j - j_t + 2];
                }
            }
        }
    }
}

