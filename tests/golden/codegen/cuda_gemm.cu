
#include <cstdio>
#include <cstdlib>
#include <cstring>

/* The extent of a grid axis for `count` iterations, of which the kernel strides over the rest. */
static inline unsigned annotune_extent(long long count, long long limit)
{
    if (count < 1)
        return 1;
    return (unsigned)(count < limit ? count : limit);
}

/* Whether two ranges of bytes have none in common. */
static inline bool annotune_apart(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    const char *p = (const char *)a, *q = (const char *)b;
    return p + a_bytes <= q || q + b_bytes <= p;
}

/* gemm, statements 0, 1, 2 of the region at line 8:
 * j_t on block.x, i_t on block.y, j on thread.x, i on thread.y. */
__global__ void __launch_bounds__(256, 1) gemm_1_s0_tuned(
        double alpha, double beta, const double *__restrict__ A, const double *__restrict__ B,
        double *__restrict__ C) {
    const long n = 512;
    const long k = 512;
    const long j_t = 32 * (long)blockIdx.x;
    const long i_t = 8 * (long)blockIdx.y;
    const long j = j_t + (long)threadIdx.x;
    const long i = i_t + (long)threadIdx.y;
    double sum;
    sum = 0.0;
    for (long l = 0; l < k; l += 16) {
        sum += A[i * k + l] * B[l * n + j]
            + A[i * k + (l + 1)] * B[(l + 1) * n + j]
            + A[i * k + (l + 2)] * B[(l + 2) * n + j]
            + A[i * k + (l + 3)] * B[(l + 3) * n + j]
            + A[i * k + (l + 4)] * B[(l + 4) * n + j]
            + A[i * k + (l + 5)] * B[(l + 5) * n + j]
            + A[i * k + (l + 6)] * B[(l + 6) * n + j]
            + A[i * k + (l + 7)] * B[(l + 7) * n + j]
            + A[i * k + (l + 8)] * B[(l + 8) * n + j]
            + A[i * k + (l + 9)] * B[(l + 9) * n + j]
            + A[i * k + (l + 10)] * B[(l + 10) * n + j]
            + A[i * k + (l + 11)] * B[(l + 11) * n + j]
            + A[i * k + (l + 12)] * B[(l + 12) * n + j]
            + A[i * k + (l + 13)] * B[(l + 13) * n + j]
            + A[i * k + (l + 14)] * B[(l + 14) * n + j]
            + A[i * k + (l + 15)] * B[(l + 15) * n + j];
    }
    C[i * n + j] = alpha * sum + beta * C[i * n + j];
}

/* gemm, statements 0, 1, 2 of the region at line 8:
 * j_t on block.x, i_t on block.y, j on thread.x, i on thread.y. */
__global__ void __launch_bounds__(256, 1) gemm_1_s0(
        long m, long n, long k, double alpha, double beta, const double *__restrict__ A,
        const double *__restrict__ B, double *__restrict__ C) {
    for (long j_t = 32 * (long)blockIdx.x; j_t < n; j_t += 32 * gridDim.x) {
        for (long i_t = 8 * (long)blockIdx.y; i_t < m; i_t += 8 * gridDim.y) {
            for (long j = j_t + (long)threadIdx.x; j < min((long)(j_t + 32), (long)(n)); j += blockDim.x) {
                for (long i = i_t + (long)threadIdx.y; i < min((long)(i_t + 8), (long)(m)); i += blockDim.y) {
                    double sum;
                    sum = 0.0;
                    for (long l = 0; l < k - k % 16; l += 16) {
                        sum += A[i * k + l] * B[l * n + j]
                            + A[i * k + (l + 1)] * B[(l + 1) * n + j]
                            + A[i * k + (l + 2)] * B[(l + 2) * n + j]
                            + A[i * k + (l + 3)] * B[(l + 3) * n + j]
                            + A[i * k + (l + 4)] * B[(l + 4) * n + j]
                            + A[i * k + (l + 5)] * B[(l + 5) * n + j]
                            + A[i * k + (l + 6)] * B[(l + 6) * n + j]
                            + A[i * k + (l + 7)] * B[(l + 7) * n + j]
                            + A[i * k + (l + 8)] * B[(l + 8) * n + j]
                            + A[i * k + (l + 9)] * B[(l + 9) * n + j]
                            + A[i * k + (l + 10)] * B[(l + 10) * n + j]
                            + A[i * k + (l + 11)] * B[(l + 11) * n + j]
                            + A[i * k + (l + 12)] * B[(l + 12) * n + j]
                            + A[i * k + (l + 13)] * B[(l + 13) * n + j]
                            + A[i * k + (l + 14)] * B[(l + 14) * n + j]
                            + A[i * k + (l + 15)] * B[(l + 15) * n + j];
                    }
                    for (long l = k - k % 16; l < k; l++) {
                        sum += A[i * k + l] * B[l * n + j];
                    }
                    C[i * n + j] = alpha * sum + beta * C[i * n + j];
                }
            }
        }
    }
}

/* The nest as written: for sizes, overlaps and errors that the kernels leave. */
static void gemm_1_original(
        long m, long n, long k, double alpha, double beta, const double *A, const double *B,
        double *C) {
    double sum;
    for (long i = 0; i < m; i++) {
        for (long j = 0; j < n; j++) {
            sum = 0.0;
            for (long l = 0; l < k; l++) {
                sum += A[i * k + l] * B[l * n + j];
            }
            C[i * n + j] = alpha * sum + beta * C[i * n + j];
        }
    }
}

/* Elements of A that the region touches. */
static long long gemm_1_A_count(long long m, long long k) {
    return k * m;
}

/* Elements of B that the region touches. */
static long long gemm_1_B_count(long long n, long long k) {
    return n * k;
}

/* Elements of C that the region touches. */
static long long gemm_1_C_count(long long m, long long n) {
    return n * m;
}

static cudaError_t gemm_1_launch(
        long m, long n, long k, double alpha, double beta, const double *A, const double *B,
        double *C) {
    if (m == 512 && n == 512 && k == 512) {
        {
            const dim3 blocks(16, 64, 1);
            const dim3 threads(32, 8, 1);
            gemm_1_s0_tuned<<<blocks, threads>>>(alpha, beta, A, B, C);
        }
    } else {
        {
            const dim3 blocks(annotune_extent((n + 31) / 32, 2147483647), annotune_extent((m + 7) / 8, 65535), 1);
            const dim3 threads(32, 8, 1);
            gemm_1_s0<<<blocks, threads>>>(m, n, k, alpha, beta, A, B, C);
        }
    }
    return cudaGetLastError();
}

static cudaError_t gemm_1_device(
        long m, long n, long k, double alpha, double beta, const double *A, const double *B,
        double *C) {
    const size_t A_bytes = sizeof(double) * gemm_1_A_count(m, k);
    const size_t B_bytes = sizeof(double) * gemm_1_B_count(n, k);
    const size_t C_bytes = sizeof(double) * gemm_1_C_count(m, n);
    double *d_A = NULL;
    double *d_B = NULL;
    double *d_C = NULL;
    cudaError_t status = cudaSuccess;
    if (status == cudaSuccess)
        status = cudaMalloc((void **)&d_A, A_bytes);
    if (status == cudaSuccess)
        status = cudaMalloc((void **)&d_B, B_bytes);
    if (status == cudaSuccess)
        status = cudaMalloc((void **)&d_C, C_bytes);
    if (status == cudaSuccess)
        status = cudaMemcpy(d_A, A, A_bytes, cudaMemcpyHostToDevice);
    if (status == cudaSuccess)
        status = cudaMemcpy(d_B, B, B_bytes, cudaMemcpyHostToDevice);
    if (status == cudaSuccess)
        status = cudaMemcpy(d_C, C, C_bytes, cudaMemcpyHostToDevice);
    if (status == cudaSuccess)
        status = gemm_1_launch(m, n, k, alpha, beta, d_A, d_B, d_C);
    if (status == cudaSuccess)
        status = cudaDeviceSynchronize();
    if (status == cudaSuccess)
        status = cudaMemcpy(C, d_C, C_bytes, cudaMemcpyDeviceToHost);
    cudaFree(d_A);
    cudaFree(d_B);
    cudaFree(d_C);
    return status;
}

extern "C" void annotune_gemm_1(
        long m, long n, long k, double alpha, double beta, const double *A, const double *B,
        double *C) {
    const size_t A_bytes = sizeof(double) * gemm_1_A_count(m, k);
    const size_t B_bytes = sizeof(double) * gemm_1_B_count(n, k);
    const size_t C_bytes = sizeof(double) * gemm_1_C_count(m, n);
    bool fits = true;
    fits = fits && 0 < m;
    fits = fits && 0 < n;
    fits = fits && 0 < k;
    fits = fits && annotune_apart(A, A_bytes, C, C_bytes);
    fits = fits && annotune_apart(B, B_bytes, C, C_bytes);
    if (fits) {
        const cudaError_t status = gemm_1_device(m, n, k, alpha, beta, A, B, C);
        if (status == cudaSuccess)
            return;
        fprintf(stderr, "annotune_gemm_1: %s; running the original nest\n", cudaGetErrorString(status));
    }
    gemm_1_original(m, n, k, alpha, beta, A, B, C);
}
