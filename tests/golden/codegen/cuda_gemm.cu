
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_pipeline.h>

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
 * j_t on block.x, i_t_t on block.y, j_w on thread.x, i_t on thread.y. */
__global__ void __launch_bounds__(128, 1) gemm_1_s0_tuned(
        double alpha, double beta, const double *__restrict__ A, const double *__restrict__ B,
        double *__restrict__ C) {
    const long n = 512;
    const long k = 512;
    __shared__ double B_tile[2048];
    __shared__ double A_tile[1088];
    const int annotune_thread = threadIdx.x + 16 * threadIdx.y;
    const long j_t = 64 * (long)blockIdx.x;
    const long i_t_t = 32 * (long)blockIdx.y;
    const int j_w = threadIdx.x;
    const long i_t = i_t_t + 4 * (long)threadIdx.y;
    double sum_block[4][4];
    #pragma unroll
    for (long i_r = 0; i_r < 4; i_r++) {
        #pragma unroll
        for (long j_r = 0; j_r < 4; j_r++) {
            sum_block[i_r][j_r] = 0.0;
        }
    }
    #pragma unroll
    for (int annotune_k = 0; annotune_k < 8; annotune_k++) {
        const int j_w_s = annotune_thread % 16;
        const int j_s = annotune_thread / 16 % 4;
        const int l_s = annotune_thread / 64 + 2 * annotune_k;
        __pipeline_memcpy_async(&B_tile[64 * l_s + 16 * j_s + j_w_s], &B[l_s * n + (j_t + j_w_s + 16 * j_s)], sizeof(double));
    }
    #pragma unroll
    for (int annotune_k = 0; annotune_k < 4; annotune_k++) {
        const int l_s2 = annotune_thread % 16;
        const int i_s = annotune_thread / 16 % 4;
        const int i_t_s = annotune_thread / 64 + 2 * annotune_k;
        __pipeline_memcpy_async(&A_tile[4 * i_t_s + i_s + 34 * l_s2], &A[(i_t_t + 4 * i_t_s + i_s) * k + l_s2], sizeof(double));
    }
    __pipeline_commit();
    for (long l_t = 0; l_t < k; l_t += 16) {
        int l_t_part = l_t / 16 % 2;
        __pipeline_wait_prior(0);
        __syncthreads();
        if (l_t + 16 < k) {
            #pragma unroll
            for (int annotune_k = 0; annotune_k < 8; annotune_k++) {
                const int j_w_s = annotune_thread % 16;
                const int j_s = annotune_thread / 16 % 4;
                const int l_s = annotune_thread / 64 + 2 * annotune_k;
                __pipeline_memcpy_async(&B_tile[1024 * ((l_t_part + 1) % 2) + 64 * l_s + 16 * j_s + j_w_s], &B[(l_t + l_s + 16) * n + (j_t + j_w_s + 16 * j_s)], sizeof(double));
            }
            #pragma unroll
            for (int annotune_k = 0; annotune_k < 4; annotune_k++) {
                const int l_s2 = annotune_thread % 16;
                const int i_s = annotune_thread / 16 % 4;
                const int i_t_s = annotune_thread / 64 + 2 * annotune_k;
                __pipeline_memcpy_async(&A_tile[544 * ((l_t_part + 1) % 2) + 4 * i_t_s + i_s + 34 * l_s2], &A[(i_t_t + 4 * i_t_s + i_s) * k + (l_t + l_s2 + 16)], sizeof(double));
            }
        }
        __pipeline_commit();
        for (long l = l_t; l < l_t + 16; l += 4) {
            #pragma unroll
            for (long i_r = 0; i_r < 4; i_r++) {
                #pragma unroll
                for (long j_r = 0; j_r < 4; j_r++) {
                    sum_block[i_r][j_r] += A_tile[544 * l_t_part - i_t_t + i_t + i_r + 34 * (l - l_t)] * B_tile[1024 * l_t_part + 64 * (l - l_t) + j_w + 16 * j_r];
                }
            }
            #pragma unroll
            for (long i_r = 0; i_r < 4; i_r++) {
                #pragma unroll
                for (long j_r = 0; j_r < 4; j_r++) {
                    sum_block[i_r][j_r] += A_tile[544 * l_t_part - i_t_t + i_t + i_r + 34 * (l - l_t + 1)] * B_tile[1024 * l_t_part + 64 * (l - l_t + 1) + j_w + 16 * j_r];
                }
            }
            #pragma unroll
            for (long i_r = 0; i_r < 4; i_r++) {
                #pragma unroll
                for (long j_r = 0; j_r < 4; j_r++) {
                    sum_block[i_r][j_r] += A_tile[544 * l_t_part - i_t_t + i_t + i_r + 34 * (l - l_t + 2)] * B_tile[1024 * l_t_part + 64 * (l - l_t + 2) + j_w + 16 * j_r];
                }
            }
            #pragma unroll
            for (long i_r = 0; i_r < 4; i_r++) {
                #pragma unroll
                for (long j_r = 0; j_r < 4; j_r++) {
                    sum_block[i_r][j_r] += A_tile[544 * l_t_part - i_t_t + i_t + i_r + 34 * (l - l_t + 3)] * B_tile[1024 * l_t_part + 64 * (l - l_t + 3) + j_w + 16 * j_r];
                }
            }
        }
    }
    #pragma unroll
    for (long i_r = 0; i_r < 4; i_r++) {
        const long i = i_t + i_r;
        #pragma unroll
        for (long j_r = 0; j_r < 4; j_r++) {
            const long j = j_t + j_w + 16 * j_r;
            C[i * n + j] = alpha * sum_block[i_r][j_r] + beta * C[i * n + j];
        }
    }
}

/* gemm, statements 0, 1, 2 of the region at line 8:
 * j_t on block.x, i_t_t on block.y, j_w on thread.x, i_t on thread.y. */
__global__ void __launch_bounds__(128, 1) gemm_1_s0(
        long m, long n, long k, double alpha, double beta, const double *__restrict__ A,
        const double *__restrict__ B, double *__restrict__ C) {
    __shared__ double B_tile[2048];
    __shared__ double A_tile[1088];
    const int annotune_thread = threadIdx.x + 16 * threadIdx.y;
    for (long j_t = 64 * (long)blockIdx.x; j_t < n; j_t += 64 * gridDim.x) {
        for (long i_t_t = 32 * (long)blockIdx.y; i_t_t < m; i_t_t += 32 * gridDim.y) {
            const int j_w = threadIdx.x;
            const long i_t = i_t_t + 4 * (long)threadIdx.y;
            double sum_block[4][4];
            #pragma unroll
            for (long i_r = 0; i_r < 4; i_r++) {
                #pragma unroll
                for (long j_r = 0; j_r < 4; j_r++) {
                    sum_block[i_r][j_r] = 0.0;
                }
            }
            __syncthreads();
            #pragma unroll
            for (int annotune_k = 0; annotune_k < 8; annotune_k++) {
                const int j_w_s = annotune_thread % 16;
                const int j_s = annotune_thread / 16 % 4;
                const int l_s = annotune_thread / 64 + 2 * annotune_k;
                if (l_s < k && j_t + j_w_s + 16 * j_s < n)
                    __pipeline_memcpy_async(&B_tile[64 * l_s + 16 * j_s + j_w_s], &B[l_s * n + (j_t + j_w_s + 16 * j_s)], sizeof(double));
                else
                    __pipeline_memcpy_async(&B_tile[64 * l_s + 16 * j_s + j_w_s], B, sizeof(double), sizeof(double));
            }
            #pragma unroll
            for (int annotune_k = 0; annotune_k < 4; annotune_k++) {
                const int l_s2 = annotune_thread % 16;
                const int i_s = annotune_thread / 16 % 4;
                const int i_t_s = annotune_thread / 64 + 2 * annotune_k;
                if (i_t_t + 4 * i_t_s + i_s < m && l_s2 < k)
                    __pipeline_memcpy_async(&A_tile[4 * i_t_s + i_s + 34 * l_s2], &A[(i_t_t + 4 * i_t_s + i_s) * k + l_s2], sizeof(double));
                else
                    __pipeline_memcpy_async(&A_tile[4 * i_t_s + i_s + 34 * l_s2], A, sizeof(double), sizeof(double));
            }
            __pipeline_commit();
            for (long l_t = 0; l_t < k; l_t += 16) {
                int l_t_part = l_t / 16 % 2;
                __pipeline_wait_prior(0);
                __syncthreads();
                if (l_t + 16 < k) {
                    #pragma unroll
                    for (int annotune_k = 0; annotune_k < 8; annotune_k++) {
                        const int j_w_s = annotune_thread % 16;
                        const int j_s = annotune_thread / 16 % 4;
                        const int l_s = annotune_thread / 64 + 2 * annotune_k;
                        if (l_t + l_s + 16 < k && j_t + j_w_s + 16 * j_s < n)
                            __pipeline_memcpy_async(&B_tile[1024 * ((l_t_part + 1) % 2) + 64 * l_s + 16 * j_s + j_w_s], &B[(l_t + l_s + 16) * n + (j_t + j_w_s + 16 * j_s)], sizeof(double));
                        else
                            __pipeline_memcpy_async(&B_tile[1024 * ((l_t_part + 1) % 2) + 64 * l_s + 16 * j_s + j_w_s], B, sizeof(double), sizeof(double));
                    }
                    #pragma unroll
                    for (int annotune_k = 0; annotune_k < 4; annotune_k++) {
                        const int l_s2 = annotune_thread % 16;
                        const int i_s = annotune_thread / 16 % 4;
                        const int i_t_s = annotune_thread / 64 + 2 * annotune_k;
                        if (i_t_t + 4 * i_t_s + i_s < m && l_t + l_s2 + 16 < k)
                            __pipeline_memcpy_async(&A_tile[544 * ((l_t_part + 1) % 2) + 4 * i_t_s + i_s + 34 * l_s2], &A[(i_t_t + 4 * i_t_s + i_s) * k + (l_t + l_s2 + 16)], sizeof(double));
                        else
                            __pipeline_memcpy_async(&A_tile[544 * ((l_t_part + 1) % 2) + 4 * i_t_s + i_s + 34 * l_s2], A, sizeof(double), sizeof(double));
                    }
                }
                __pipeline_commit();
                for (long l = l_t; l < min((long)(l_t + 16), (long)(k)) - (min((long)(l_t + 16), (long)(k)) - l_t) % 4; l += 4) {
                    #pragma unroll
                    for (long i_r = 0; i_r < 4; i_r++) {
                        #pragma unroll
                        for (long j_r = 0; j_r < 4; j_r++) {
                            sum_block[i_r][j_r] += A_tile[544 * l_t_part - i_t_t + i_t + i_r + 34 * (l - l_t)] * B_tile[1024 * l_t_part + 64 * (l - l_t) + j_w + 16 * j_r];
                        }
                    }
                    #pragma unroll
                    for (long i_r = 0; i_r < 4; i_r++) {
                        #pragma unroll
                        for (long j_r = 0; j_r < 4; j_r++) {
                            sum_block[i_r][j_r] += A_tile[544 * l_t_part - i_t_t + i_t + i_r + 34 * (l - l_t + 1)] * B_tile[1024 * l_t_part + 64 * (l - l_t + 1) + j_w + 16 * j_r];
                        }
                    }
                    #pragma unroll
                    for (long i_r = 0; i_r < 4; i_r++) {
                        #pragma unroll
                        for (long j_r = 0; j_r < 4; j_r++) {
                            sum_block[i_r][j_r] += A_tile[544 * l_t_part - i_t_t + i_t + i_r + 34 * (l - l_t + 2)] * B_tile[1024 * l_t_part + 64 * (l - l_t + 2) + j_w + 16 * j_r];
                        }
                    }
                    #pragma unroll
                    for (long i_r = 0; i_r < 4; i_r++) {
                        #pragma unroll
                        for (long j_r = 0; j_r < 4; j_r++) {
                            sum_block[i_r][j_r] += A_tile[544 * l_t_part - i_t_t + i_t + i_r + 34 * (l - l_t + 3)] * B_tile[1024 * l_t_part + 64 * (l - l_t + 3) + j_w + 16 * j_r];
                        }
                    }
                }
                #pragma unroll 1
                for (long l = min((long)(l_t + 16), (long)(k)) - (min((long)(l_t + 16), (long)(k)) - l_t) % 4; l < min((long)(l_t + 16), (long)(k)); l++) {
                    #pragma unroll
                    for (long i_r = 0; i_r < 4; i_r++) {
                        #pragma unroll
                        for (long j_r = 0; j_r < 4; j_r++) {
                            sum_block[i_r][j_r] += A_tile[544 * l_t_part - i_t_t + i_t + i_r + 34 * (l - l_t)] * B_tile[1024 * l_t_part + 64 * (l - l_t) + j_w + 16 * j_r];
                        }
                    }
                }
            }
            #pragma unroll
            for (long i_r = 0; i_r < 4; i_r++) {
                const long i = i_t + i_r;
                #pragma unroll
                for (long j_r = 0; j_r < 4; j_r++) {
                    const long j = j_t + j_w + 16 * j_r;
                    if (i < m && j < n) {
                        C[i * n + j] = alpha * sum_block[i_r][j_r] + beta * C[i * n + j];
                    }
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
            const dim3 blocks(8, 16, 1);
            const dim3 threads(16, 8, 1);
            gemm_1_s0_tuned<<<blocks, threads>>>(alpha, beta, A, B, C);
        }
    } else {
        {
            const dim3 blocks(annotune_extent((n + 63) / 64, 2147483647), annotune_extent((m + 31) / 32, 65535), 1);
            const dim3 threads(16, 8, 1);
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
