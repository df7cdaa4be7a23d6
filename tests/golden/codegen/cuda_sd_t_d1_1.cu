
#define ANNOTUNE_PIPELINE
#include "annotune_runtime.h"
ANNOTUNE_NEEDS_RUNTIME(5c3815f8);

/* sd_t_d1_1, statement 0 of the region at line 16:
 * h3_t on block.x, h2_t on block.x, h1 on block.x, p6 on block.x, p5_t on block.x, p4_t on
  * block.x, h3 on thread.x, p5 on thread.y. */
__global__ void __launch_bounds__(128) sd_t_d1_1_1_s0_tuned(
        double *__restrict__ t3, const double *__restrict__ t2, const double *__restrict__ v2) {
    const int p4u = 16;
    const int p5u = 16;
    const int p6u = 16;
    const int h1u = 16;
    const int h2u = 16;
    const int h3u = 16;
    const int h7u = 16;
    __shared__ __align__(16) double v2_tile[2048];
    __shared__ __align__(16) double t2_tile[1024];
    const int annotune_thread = threadIdx.x + 16 * threadIdx.y;
    const int h3_t = 0;
    const int h2_t = 8 * (blockIdx.x % 2);
    const int h1 = blockIdx.x / 2 % 16;
    const int p6 = blockIdx.x / 32 % 16;
    const int p5_t = 8 * (blockIdx.x / 512 % 2);
    const int p4_t = 8 * (blockIdx.x / 1024);
    const int h3 = h3_t + threadIdx.x;
    const int p5 = p5_t + threadIdx.y;
    double t3_block[8][8];
    #pragma unroll
    for (int h2_r = 0; h2_r < 8; h2_r++) {
        const int h2 = h2_t + h2_r;
        #pragma unroll
        for (int p4_r = 0; p4_r < 8; p4_r++) {
            const int p4 = p4_t + p4_r;
            t3_block[h2_r][p4_r] =
                t3[h3 + h3u * (h2 + h2u * (h1 + h1u * (p6 + p6u * (p5 + p5u * p4))))];
        }
    }
    for (int h7_t = 0; h7_t < h7u; h7_t += 16) {
        #pragma unroll
        for (int annotune_k = 0; annotune_k < 8; annotune_k++) {
            const int h3_s = annotune_thread % 8;
            const int h2_s = annotune_thread / 8 % 8;
            const int h7_s = annotune_thread / 64 + 2 * annotune_k;
            __pipeline_memcpy_async(&v2_tile[128 * h7_s + 16 * h2_s + 2 * h3_s],
                                    &v2[h3_t + 2 * h3_s +
                                        h3u * (h2_t + h2_s + h2u * (p6 + p6u * (h7_t + h7_s)))],
                                    sizeof(double2));
        }
        #pragma unroll
        for (int annotune_k = 0; annotune_k < 4; annotune_k++) {
            const int h7_s2 = annotune_thread % 8;
            const int p4_s = annotune_thread / 8 % 8;
            const int p5_s = annotune_thread / 64 + 2 * annotune_k;
            __pipeline_memcpy_async(&t2_tile[16 * p5_s + 128 * p4_s + 2 * h7_s2],
                                    &t2[h7_t + 2 * h7_s2 +
                                        h7u * (p4_t + p4_s + p4u * (p5_t + p5_s + p5u * h1))],
                                    sizeof(double2));
        }
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        for (int h7 = h7_t; h7 < h7_t + 16; h7++) {
            #pragma unroll
            for (int h2_r = 0; h2_r < 8; h2_r++) {
                #pragma unroll
                for (int p4_r = 0; p4_r < 8; p4_r++) {
                    t3_block[h2_r][p4_r] -= t2_tile[16 * (p5 - p5_t) + 128 * p4_r + h7 - h7_t] *
                                            v2_tile[128 * (h7 - h7_t) + 16 * h2_r + h3 - h3_t];
                }
            }
        }
    }
    #pragma unroll
    for (int h2_r = 0; h2_r < 8; h2_r++) {
        const int h2 = h2_t + h2_r;
        #pragma unroll
        for (int p4_r = 0; p4_r < 8; p4_r++) {
            const int p4 = p4_t + p4_r;
            t3[h3 + h3u * (h2 + h2u * (h1 + h1u * (p6 + p6u * (p5 + p5u * p4))))] =
                t3_block[h2_r][p4_r];
        }
    }
}

/* sd_t_d1_1, statement 0 of the region at line 16:
 * h3_t on block.x, h2_t on block.x, h1 on block.x, p6 on block.x, p5_t on block.x, p4_t on
  * block.x, h3 on thread.x, p5 on thread.y. */
__global__ void __launch_bounds__(128, 1) sd_t_d1_1_1_s0(
        int p4u, int p5u, int p6u, int h1u, int h2u, int h3u, int h7u, double *__restrict__ t3,
        const double *__restrict__ t2, const double *__restrict__ v2) {
    __shared__ double v2_tile[1024];
    __shared__ double t2_tile[527];
    const int annotune_thread = threadIdx.x + 16 * threadIdx.y;
    for (long annotune_b = blockIdx.x;
         annotune_b <
         ((long)(h3u) + 15) / 16 * ((h2u + 3) / 4) * h1u * p6u * ((p5u + 7) / 8) * ((p4u + 3) / 4);
         annotune_b += gridDim.x) {
        const int h3_t = 16 * (annotune_b % ((h3u + 15) / 16));
        const int h2_t = 4 * (annotune_b / (((long)(h3u) + 15) / 16) % ((h2u + 3) / 4));
        const int h1 = annotune_b / (((long)(h3u) + 15) / 16 * ((h2u + 3) / 4)) % h1u;
        const int p6 = annotune_b / (((long)(h3u) + 15) / 16 * ((h2u + 3) / 4) * h1u) % p6u;
        const int p5_t = 8 *
                         (annotune_b / (((long)(h3u) + 15) / 16 * ((h2u + 3) / 4) * h1u * p6u) %
                          ((p5u + 7) / 8));
        const int p4_t = 4 *
                         (annotune_b /
                          (((long)(h3u) + 15) / 16 * ((h2u + 3) / 4) * h1u * p6u *
                           ((p5u + 7) / 8)));
        const int h3 = h3_t + threadIdx.x;
        const int p5 = p5_t + threadIdx.y;
        double t3_block[4][4];
        #pragma unroll
        for (int h2_r = 0; h2_r < 4; h2_r++) {
            const int h2 = h2_t + h2_r;
            #pragma unroll
            for (int p4_r = 0; p4_r < 4; p4_r++) {
                const int p4 = p4_t + p4_r;
                t3_block[h2_r][p4_r] = h3 < h3u && p5 < p5u && h2 < h2u && p4 < p4u
                                       ? t3[h3 +
                                            h3u *
                                            (h2 + h2u * (h1 + h1u * (p6 + p6u * (p5 + p5u * p4))))]
                                       : 0.0;
            }
        }
        for (int h7_t = 0; h7_t < h7u; h7_t += 16) {
            __syncthreads();
            #pragma unroll
            for (int annotune_k = 0; annotune_k < 8; annotune_k++) {
                const int h3_s = annotune_thread % 16;
                const int h2_s = annotune_thread / 16 % 4;
                const int h7_s = annotune_thread / 64 + 2 * annotune_k;
                if (h7_t + h7_s < h7u && h2_t + h2_s < h2u && h3_t + h3_s < h3u)
                    __pipeline_memcpy_async(&v2_tile[64 * h7_s + 16 * h2_s + h3_s],
                                            &v2[h3_t + h3_s +
                                                h3u *
                                                (h2_t + h2_s + h2u * (p6 + p6u * (h7_t + h7_s)))],
                                            sizeof(double));
                else
                    __pipeline_memcpy_async(&v2_tile[64 * h7_s + 16 * h2_s + h3_s], v2,
                                            sizeof(double), sizeof(double));
            }
            #pragma unroll
            for (int annotune_k = 0; annotune_k < 4; annotune_k++) {
                const int h7_s2 = annotune_thread % 16;
                const int p4_s = annotune_thread / 16 % 4;
                const int p5_s = annotune_thread / 64 + 2 * annotune_k;
                if (p5_t + p5_s < p5u && p4_t + p4_s < p4u && h7_t + h7_s2 < h7u)
                    __pipeline_memcpy_async(&t2_tile[p5_s + 8 * p4_s + 33 * h7_s2],
                                            &t2[h7_t + h7_s2 +
                                                h7u *
                                                (p4_t + p4_s + p4u * (p5_t + p5_s + p5u * h1))],
                                            sizeof(double));
                else
                    __pipeline_memcpy_async(&t2_tile[p5_s + 8 * p4_s + 33 * h7_s2], t2,
                                            sizeof(double), sizeof(double));
            }
            __pipeline_commit();
            __pipeline_wait_prior(0);
            __syncthreads();
            for (int h7 = h7_t; h7 < min(h7_t + 16, h7u); h7++) {
                #pragma unroll
                for (int h2_r = 0; h2_r < 4; h2_r++) {
                    #pragma unroll
                    for (int p4_r = 0; p4_r < 4; p4_r++) {
                        t3_block[h2_r][p4_r] -= t2_tile[p5 - p5_t + 8 * p4_r + 33 * (h7 - h7_t)] *
                                                v2_tile[64 * (h7 - h7_t) + 16 * h2_r + h3 - h3_t];
                    }
                }
            }
        }
        #pragma unroll
        for (int h2_r = 0; h2_r < 4; h2_r++) {
            const int h2 = h2_t + h2_r;
            #pragma unroll
            for (int p4_r = 0; p4_r < 4; p4_r++) {
                const int p4 = p4_t + p4_r;
                if (h3 < h3u && p5 < p5u && h2 < h2u && p4 < p4u) {
                    t3[h3 + h3u * (h2 + h2u * (h1 + h1u * (p6 + p6u * (p5 + p5u * p4))))] =
                        t3_block[h2_r][p4_r];
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
                                t3[h3 +
                                   h3u * (h2 + h2u * (h1 + h1u * (p6 + p6u * (p5 + p5u * p4))))] -=
                                    t2[h7 + h7u * (p4 + p4u * (p5 + p5u * h1))] *
                                    v2[h3 + h3u * (h2 + h2u * (p6 + p6u * h7))];
                            }
                        }
                    }
                }
            }
        }
    }
}

/* Elements of t3 that the region touches. */
static long long sd_t_d1_1_1_t3_count(long long p4u, long long p5u, long long p6u, long long h1u,
                                      long long h2u, long long h3u) {
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
            const dim3 blocks(2048, 1, 1);
            const dim3 threads(16, 8, 1);
            sd_t_d1_1_1_s0_tuned<<<blocks, threads>>>(t3, t2, v2);
        }
    } else {
        {
            const dim3 blocks(annotune_extent(((long)(h3u) + 15) / 16 * ((h2u + 3) / 4) * h1u *
                                              p6u * ((p5u + 7) / 8) * ((p4u + 3) / 4), 2147483647),
                              1, 1);
            const dim3 threads(16, 8, 1);
            sd_t_d1_1_1_s0<<<blocks, threads>>>(p4u, p5u, p6u, h1u, h2u, h3u, h7u, t3, t2, v2);
        }
    }
    return cudaGetLastError();
}

/* The tuned kernels for some of the 2 iterations on their blocks. */
static cudaError_t sd_t_d1_1_1_part(
        int p4u, int p5u, int p6u, int h1u, int h2u, int h3u, int h7u, double *t3,
        const double *t2, const double *v2, long annotune_first, long annotune_count) {
    const long annotune_some = 2 - annotune_first % 2;
    if (annotune_count > annotune_some) {
        const cudaError_t begun =
            sd_t_d1_1_1_part(p4u, p5u, p6u, h1u, h2u, h3u, h7u, t3, t2, v2, annotune_first,
                             annotune_some);
        return begun == cudaSuccess
               ? sd_t_d1_1_1_part(p4u, p5u, p6u, h1u, h2u, h3u, h7u, t3, t2, v2,
                                  annotune_first + annotune_some, annotune_count - annotune_some)
               : begun;
    }
    t3 += annotune_first / 2 * 8388608 + annotune_first % 2 * 524288;
    t2 += annotune_first / 2 * 128 + annotune_first % 2 * 2048;
    cudaError_t status = cudaSuccess;
    if (status == cudaSuccess) {
        {
            const dim3 blocks((unsigned)(annotune_count * 512), 1, 1);
            const dim3 threads(16, 8, 1);
            sd_t_d1_1_1_s0_tuned<<<blocks, threads>>>(t3, t2, v2);
        }
        status = cudaGetLastError();
    }
    return status;
}

static cudaError_t sd_t_d1_1_1_device(
        int p4u, int p5u, int p6u, int h1u, int h2u, int h3u, int h7u, double *t3,
        const double *t2, const double *v2) {
    const size_t t3_bytes = sizeof(double) * sd_t_d1_1_1_t3_count(p4u, p5u, p6u, h1u, h2u, h3u);
    const size_t t2_bytes = sizeof(double) * sd_t_d1_1_1_t2_count(p4u, p5u, h1u, h7u);
    const size_t v2_bytes = sizeof(double) * sd_t_d1_1_1_v2_count(p6u, h2u, h3u, h7u);
    annotune_array arrays[] = {
        {(void *)(t3), t3_bytes, 0, t3_bytes, true, true, sizeof(double) * 4194304, false,
         sizeof(double) * 524288, sizeof(double) * 1048576, annotune_host_sums<double>()},
        {(void *)(t2), t2_bytes, 0, t2_bytes, true, false},
        {(void *)(v2), v2_bytes, 0, v2_bytes, true, false},
    };
    const auto launch = [&](long annotune_first, long annotune_count) {
        double *const d_t3 = (double *)arrays[0].device;
        double *const d_t2 = (double *)arrays[1].device;
        double *const d_v2 = (double *)arrays[2].device;
        if (annotune_count == 0)
            return sd_t_d1_1_1_launch(p4u, p5u, p6u, h1u, h2u, h3u, h7u, d_t3, d_t2, d_v2);
        return sd_t_d1_1_1_part(p4u, p5u, p6u, h1u, h2u, h3u, h7u, d_t3, d_t2, d_v2, annotune_first,
                                annotune_count);
    };
    return annotune_call("annotune_sd_t_d1_1_1", arrays, 3,
                         p4u == 16 && p5u == 16 && p6u == 16 && h1u == 16 && h2u == 16 &&
                         h3u == 16 && h7u == 16 ? 4 : 0, launch);
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
    fits = fits && h3u <= 2147483617;
    fits = fits && h2u <= 2147483644;
    fits = fits && p5u <= 2147483633;
    fits = fits && p4u <= 2147483644;
    fits = fits && h7u <= 2147483632;
    if (fits) {
        const cudaError_t status =
            sd_t_d1_1_1_device(p4u, p5u, p6u, h1u, h2u, h3u, h7u, t3, t2, v2);
        if (status == cudaSuccess)
            return;
        annotune_tell("annotune_sd_t_d1_1_1", status);
    }
    {
        const void *const arrays[] = {
            t3,
            t2,
            v2,
        };
        annotune_on_host("annotune_sd_t_d1_1_1", arrays, 3);
    }
    sd_t_d1_1_1_original(p4u, p5u, p6u, h1u, h2u, h3u, h7u, t3, t2, v2);
    annotune_put_back();
}
