/* f, statement 0 of the region at line 3:
 * j_t on block.x, i_t on block.y, j on thread.x, i on thread.y. */
__global__ void __launch_bounds__(32) f_1_s0(const double *__restrict__ b, double *__restrict__ a) {
    const int n = 13;
    const int m = 13;
    const int j_t = 1 + 8 * blockIdx.x;
    const int i_t = 1 + 4 * blockIdx.y;
    if (j_t + 8 <= 12 && i_t + 4 <= 12) {
        const int j = j_t + threadIdx.x;
        const int i = i_t + threadIdx.y;
        if (i + j < n && b[i * m + j] > 0.0) {
            a[i * m + j] = b[i * m + j]
                + b[(i - 1) * m + j]
                + b[(i + 1) * m + j]
                + b[i * m + j - 1]
                + b[i * m + j + 1];
        }
    }
    else {
        for (int j = j_t + threadIdx.x; j < min(j_t + 8, m - 1); j += blockDim.x) {
            for (int i = i_t + threadIdx.y; i < min(i_t + 4, n - 1); i += blockDim.y) {
                if (i + j < n && b[i * m + j] > 0.0) {
                    a[i * m + j] = b[i * m + j]
                        + b[(i - 1) * m + j]
                        + b[(i + 1) * m + j]
                        + b[i * m + j - 1]
                        + b[i * m + j + 1];
                }
            }
        }
    }
}

