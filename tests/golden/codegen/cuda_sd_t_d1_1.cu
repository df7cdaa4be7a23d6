
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

/* sd_t_d1_1, statement 0 of the region at line 16:
 * h2 on block.x, p6 on block.y, h3 on thread.x, h1 on thread.y. */
__global__ void __launch_bounds__(256) sd_t_d1_1_1_s0_tuned(
        double *__restrict__ t3, const double *__restrict__ t2, const double *__restrict__ v2) {
    const int p4u = 16;
    const int p5u = 16;
    const int p6u = 16;
    const int h1u = 16;
    const int h2u = 16;
    const int h3u = 16;
    const int h7u = 16;
    const int h2 = blockIdx.x;
    const int p6 = blockIdx.y;
    const int h3 = threadIdx.x;
    const int h1 = threadIdx.y;
    for (int p5 = 0; p5 < p5u; p5++) {
        for (int p4 = 0; p4 < p4u; p4++) {
            double t3_acc = t3[h3 + h3u * (h2 + h2u * (h1 + h1u * (p6 + p6u * (p5 + p5u * p4))))];
            t3_acc -= t2[h7u * (p4 + p4u * (p5 + p5u * h1))] * v2[h3 + h3u * (h2 + h2u * p6)]
                + t2[h7u * (p4 + p4u * (p5 + p5u * h1)) + 1] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u))]
                + t2[h7u * (p4 + p4u * (p5 + p5u * h1)) + 2] * v2[h3 + h3u * (h2 + h2u * (p6 + 2 * p6u))]
                + t2[h7u * (p4 + p4u * (p5 + p5u * h1)) + 3] * v2[h3 + h3u * (h2 + h2u * (p6 + 3 * p6u))]
                + t2[h7u * (p4 + p4u * (p5 + p5u * h1)) + 4] * v2[h3 + h3u * (h2 + h2u * (p6 + 4 * p6u))]
                + t2[h7u * (p4 + p4u * (p5 + p5u * h1)) + 5] * v2[h3 + h3u * (h2 + h2u * (p6 + 5 * p6u))]
                + t2[h7u * (p4 + p4u * (p5 + p5u * h1)) + 6] * v2[h3 + h3u * (h2 + h2u * (p6 + 6 * p6u))]
                + t2[h7u * (p4 + p4u * (p5 + p5u * h1)) + 7] * v2[h3 + h3u * (h2 + h2u * (p6 + 7 * p6u))]
                + t2[h7u * (p4 + p4u * (p5 + p5u * h1)) + 8] * v2[h3 + h3u * (h2 + h2u * (p6 + 8 * p6u))]
                + t2[h7u * (p4 + p4u * (p5 + p5u * h1)) + 9] * v2[h3 + h3u * (h2 + h2u * (p6 + 9 * p6u))]
                + t2[h7u * (p4 + p4u * (p5 + p5u * h1)) + 10] * v2[h3 + h3u * (h2 + h2u * (p6 + 10 * p6u))]
                + t2[h7u * (p4 + p4u * (p5 + p5u * h1)) + 11] * v2[h3 + h3u * (h2 + h2u * (p6 + 11 * p6u))]
                + t2[h7u * (p4 + p4u * (p5 + p5u * h1)) + 12] * v2[h3 + h3u * (h2 + h2u * (p6 + 12 * p6u))]
                + t2[h7u * (p4 + p4u * (p5 + p5u * h1)) + 13] * v2[h3 + h3u * (h2 + h2u * (p6 + 13 * p6u))]
                + t2[h7u * (p4 + p4u * (p5 + p5u * h1)) + 14] * v2[h3 + h3u * (h2 + h2u * (p6 + 14 * p6u))]
                + t2[h7u * (p4 + p4u * (p5 + p5u * h1)) + 15] * v2[h3 + h3u * (h2 + h2u * (p6 + 15 * p6u))];
            t3[h3 + h3u * (h2 + h2u * (h1 + h1u * (p6 + p6u * (p5 + p5u * p4))))] = t3_acc;
        }
    }
}

/* sd_t_d1_1, statement 0 of the region at line 16:
 * h2 on block.x, p6 on block.y, h3 on thread.x, h1 on thread.y. */
__global__ void __launch_bounds__(256, 1) sd_t_d1_1_1_s0(
        int p4u, int p5u, int p6u, int h1u, int h2u, int h3u, int h7u, double *__restrict__ t3,
        const double *__restrict__ t2, const double *__restrict__ v2) {
    for (int h2 = blockIdx.x; h2 < h2u; h2 += gridDim.x) {
        for (int p6 = blockIdx.y; p6 < p6u; p6 += gridDim.y) {
            for (int h3 = threadIdx.x; h3 < h3u; h3 += blockDim.x) {
                for (int h1 = threadIdx.y; h1 < h1u; h1 += blockDim.y) {
                    for (int p5 = 0; p5 < p5u; p5++) {
                        for (int p4 = 0; p4 < p4u; p4++) {
                            double t3_acc = t3[h3 + h3u * (h2 + h2u * (h1 + h1u * (p6 + p6u * (p5 + p5u * p4))))];
                            for (int h7 = 0; h7 < h7u - h7u % 16; h7 += 16) {
                                t3_acc -= t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1))] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * h7))]
                                    + t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1)) + 1] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * (h7 + 1)))]
                                    + t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1)) + 2] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * (h7 + 2)))]
                                    + t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1)) + 3] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * (h7 + 3)))]
                                    + t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1)) + 4] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * (h7 + 4)))]
                                    + t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1)) + 5] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * (h7 + 5)))]
                                    + t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1)) + 6] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * (h7 + 6)))]
                                    + t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1)) + 7] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * (h7 + 7)))]
                                    + t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1)) + 8] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * (h7 + 8)))]
                                    + t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1)) + 9] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * (h7 + 9)))]
                                    + t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1)) + 10] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * (h7 + 10)))]
                                    + t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1)) + 11] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * (h7 + 11)))]
                                    + t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1)) + 12] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * (h7 + 12)))]
                                    + t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1)) + 13] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * (h7 + 13)))]
                                    + t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1)) + 14] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * (h7 + 14)))]
                                    + t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1)) + 15] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * (h7 + 15)))];
                            }
                            for (int h7 = h7u - h7u % 16; h7 < h7u; h7++) {
                                t3_acc -= t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1))] * v2[h3 + h3u * (h2 + h2u * (p6 + p6u * h7))];
                            }
                            t3[h3 + h3u * (h2 + h2u * (h1 + h1u * (p6 + p6u * (p5 + p5u * p4))))] = t3_acc;
                        }
                    }
                }
            }
        }
    }
}

/* The nest as written: for sizes, overlaps and errors that the kernels leave. */
static void sd_t_d1_1_1_original(
        int p4u, int p5u, int p6u, int h1u, int h2u, int h3u, int h7u, double *t3,
        const double *t2, const double *v2) {
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

/* Elements of t3 that the region touches. */
static long long sd_t_d1_1_1_t3_count(long long p4u, long long p5u, long long p6u, long long h1u, long long h2u, long long h3u) {
    return h3u * h2u * h1u * p6u * p5u * p4u;
}

/* Elements of t2 that the region touches. */
static long long sd_t_d1_1_1_t2_count(long long p4u, long long p5u, long long h1u, long long h7u) {
    return h7u * p4u * p5u * h1u;
}

/* Elements of v2 that the region touches. */
static long long sd_t_d1_1_1_v2_count(long long p6u, long long h2u, long long h3u, long long h7u) {
    return h3u * h2u * p6u * h7u;
}

static cudaError_t sd_t_d1_1_1_launch(
        int p4u, int p5u, int p6u, int h1u, int h2u, int h3u, int h7u, double *t3,
        const double *t2, const double *v2) {
    if (p4u == 16 && p5u == 16 && p6u == 16 && h1u == 16 && h2u == 16 && h3u == 16 && h7u == 16) {
        {
            const dim3 blocks(16, 16, 1);
            const dim3 threads(16, 16, 1);
            sd_t_d1_1_1_s0_tuned<<<blocks, threads>>>(t3, t2, v2);
        }
    } else {
        {
            const dim3 blocks(annotune_extent(h2u, 2147483647), annotune_extent(p6u, 65535), 1);
            const dim3 threads(16, 16, 1);
            sd_t_d1_1_1_s0<<<blocks, threads>>>(p4u, p5u, p6u, h1u, h2u, h3u, h7u, t3, t2, v2);
        }
    }
    return cudaGetLastError();
}

static cudaError_t sd_t_d1_1_1_device(
        int p4u, int p5u, int p6u, int h1u, int h2u, int h3u, int h7u, double *t3,
        const double *t2, const double *v2) {
    const size_t t3_bytes = sizeof(double) * sd_t_d1_1_1_t3_count(p4u, p5u, p6u, h1u, h2u, h3u);
    const size_t t2_bytes = sizeof(double) * sd_t_d1_1_1_t2_count(p4u, p5u, h1u, h7u);
    const size_t v2_bytes = sizeof(double) * sd_t_d1_1_1_v2_count(p6u, h2u, h3u, h7u);
    double *d_t3 = NULL;
    double *d_t2 = NULL;
    double *d_v2 = NULL;
    cudaError_t status = cudaSuccess;
    if (status == cudaSuccess)
        status = cudaMalloc((void **)&d_t3, t3_bytes);
    if (status == cudaSuccess)
        status = cudaMalloc((void **)&d_t2, t2_bytes);
    if (status == cudaSuccess)
        status = cudaMalloc((void **)&d_v2, v2_bytes);
    if (status == cudaSuccess)
        status = cudaMemcpy(d_t3, t3, t3_bytes, cudaMemcpyHostToDevice);
    if (status == cudaSuccess)
        status = cudaMemcpy(d_t2, t2, t2_bytes, cudaMemcpyHostToDevice);
    if (status == cudaSuccess)
        status = cudaMemcpy(d_v2, v2, v2_bytes, cudaMemcpyHostToDevice);
    if (status == cudaSuccess)
        status = sd_t_d1_1_1_launch(p4u, p5u, p6u, h1u, h2u, h3u, h7u, d_t3, d_t2, d_v2);
    if (status == cudaSuccess)
        status = cudaDeviceSynchronize();
    if (status == cudaSuccess)
        status = cudaMemcpy(t3, d_t3, t3_bytes, cudaMemcpyDeviceToHost);
    cudaFree(d_t3);
    cudaFree(d_t2);
    cudaFree(d_v2);
    return status;
}

extern "C" void annotune_sd_t_d1_1_1(
        int p4u, int p5u, int p6u, int h1u, int h2u, int h3u, int h7u, double *t3,
        const double *t2, const double *v2) {
    bool fits = true;
    fits = fits && 0 < p4u;
    fits = fits && 0 < p5u;
    fits = fits && 0 < p6u;
    fits = fits && 0 < h1u;
    fits = fits && 0 < h2u;
    fits = fits && 0 < h3u;
    fits = fits && 0 < h7u;
    if (fits) {
        const cudaError_t status = sd_t_d1_1_1_device(p4u, p5u, p6u, h1u, h2u, h3u, h7u, t3, t2, v2);
        if (status == cudaSuccess)
            return;
        fprintf(stderr, "annotune_sd_t_d1_1_1: %s; running the original nest\n", cudaGetErrorString(status));
    }
    sd_t_d1_1_1_original(p4u, p5u, p6u, h1u, h2u, h3u, h7u, t3, t2, v2);
}
