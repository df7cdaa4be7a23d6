
#define ANNOTUNE_PIPELINE
#include "annotune_runtime.h"
ANNOTUNE_NEEDS_RUNTIME(5c3815f8);

/* gemm, statements 0, 1, 2 of the region at line 8:
 * j_t on block.x, i_t on block.y, j_w on thread.x, i_w on thread.y. */
__global__ void __launch_bounds__(128, 1) gemm_1_s0_tuned(
        double alpha, double beta, const double *__restrict__ A, const double *__restrict__ B,
        double *__restrict__ C) {
    const long n = 512;
    const long k = 512;
    extern __shared__ __align__(16) unsigned char annotune_shared[];
    double *const B_tile = (double *)annotune_shared;
    double *const A_tile = (double *)(annotune_shared + 26112);
    const int annotune_thread = threadIdx.x + 4 * threadIdx.y;
    const long j_t = 32 * (long)blockIdx.x;
    const long i_t = 64 * (long)blockIdx.y;
    const int j_w = threadIdx.x;
    const int i_w = threadIdx.y;
    double sum_block[2][8];
    #pragma unroll
    for (long i_r = 0; i_r < 2; i_r++) {
        #pragma unroll
        for (long j_r = 0; j_r < 8; j_r++) {
            sum_block[i_r][j_r] = 0.0;
        }
    }
    for (int l_t_first = 0; l_t_first < 2; l_t_first++) {
        if (32 * l_t_first < k) {
            #pragma unroll
            for (int annotune_k = 0; annotune_k < 4; annotune_k++) {
                const int j_w_s = annotune_thread % 2;
                const int j_s = annotune_thread / 2 % 8;
                const int l_s = annotune_thread / 16 + 8 * annotune_k;
                __pipeline_memcpy_async(&B_tile[1088 * l_t_first + 34 * l_s + 4 * j_s + 2 * j_w_s],
                                        &B[(32 * l_t_first + l_s) * n +
                                           (j_t + 2 * j_w_s + 4 * j_s)], sizeof(double2));
            }
            #pragma unroll
            for (int annotune_k = 0; annotune_k < 8; annotune_k++) {
                const int l_s2 = annotune_thread % 16;
                const int i_w_s = annotune_thread / 16 + 8 * (annotune_k % 4);
                const int i_s = annotune_k / 4;
                __pipeline_memcpy_async(&A_tile[2300 * l_t_first + 1152 * i_s + 36 * i_w_s +
                                                2 * l_s2],
                                        &A[(i_t + i_w_s + 32 * i_s) * k +
                                           (32 * l_t_first + 2 * l_s2)], sizeof(double2));
            }
        }
        __pipeline_commit();
    }
    {
        const int annotune_step = threadIdx.x;
        const int annotune_pair = threadIdx.y / 2 % 4;
        const int annotune_side = threadIdx.y % 2;
        double annotune_left[2][2], annotune_right[2][4];
        __pipeline_wait_prior(1);
        __syncthreads();
        #pragma unroll
        for (int annotune_row = 0; annotune_row < 2; annotune_row++) {
            annotune_left[0][annotune_row] = A_tile[1152 * annotune_row + 36 * i_w + annotune_step];
        }
        #pragma unroll
        for (int annotune_column = 0; annotune_column < 4; annotune_column++) {
            annotune_right[0][annotune_column] =
                B_tile[34 * annotune_step + annotune_pair +
                       4 * (annotune_column + 2 * (annotune_column / 2) + 2 * annotune_side)];
        }
        for (long l_t = 0; l_t < k; l_t += 32) {
            if (l_t + 64 < k) {
                int l_t_part = l_t / 32 % 3;
                #pragma unroll
                for (int annotune_round = 1; annotune_round <= 8; annotune_round++) {
                    if (annotune_round < 8) {
                        #pragma unroll
                        for (int annotune_row = 0; annotune_row < 2; annotune_row++) {
                            annotune_left[annotune_round % 2][annotune_row] =
                                A_tile[2300 * l_t_part + 1152 * annotune_row + 36 * i_w +
                                       4 * annotune_round + annotune_step];
                        }
                        #pragma unroll
                        for (int annotune_column = 0; annotune_column < 4; annotune_column++) {
                            annotune_right[annotune_round % 2][annotune_column] =
                                B_tile[1088 * l_t_part + 34 * (4 * annotune_round + annotune_step) +
                                       annotune_pair +
                                       4 *
                                       (annotune_column + 2 * (annotune_column / 2) +
                                        2 * annotune_side)];
                        }
                    }
                    #pragma unroll
                    for (int annotune_k = 0; annotune_k < 4; annotune_k++) {
                        if (7 * annotune_k / 12 == annotune_round - 1) {
                            const int j_w_s = annotune_thread % 2;
                            const int j_s = annotune_thread / 2 % 8;
                            const int l_s = annotune_thread / 16 + 8 * annotune_k;
                            __pipeline_memcpy_async(&B_tile[1088 * ((l_t_part + 2) % 3) + 34 * l_s +
                                                            4 * j_s + 2 * j_w_s],
                                                    &B[(l_t + l_s + 64) * n +
                                                       (j_t + 2 * j_w_s + 4 * j_s)],
                                                    sizeof(double2));
                        }
                    }
                    #pragma unroll
                    for (int annotune_k = 0; annotune_k < 8; annotune_k++) {
                        if (7 * (annotune_k + 4) / 12 == annotune_round - 1) {
                            const int l_s2 = annotune_thread % 16;
                            const int i_w_s = annotune_thread / 16 + 8 * (annotune_k % 4);
                            const int i_s = annotune_k / 4;
                            __pipeline_memcpy_async(&A_tile[2300 * ((l_t_part + 2) % 3) +
                                                            1152 * i_s + 36 * i_w_s + 2 * l_s2],
                                                    &A[(i_t + i_w_s + 32 * i_s) * k +
                                                       (l_t + 2 * l_s2 + 64)], sizeof(double2));
                        }
                    }
                    if (annotune_round - 1 == 6) {
                        __pipeline_commit();
                    }
                    if (annotune_round == 8) {
                        __pipeline_wait_prior(1);
                        __syncthreads();
                        #pragma unroll
                        for (int annotune_row = 0; annotune_row < 2; annotune_row++) {
                            annotune_left[0][annotune_row] =
                                A_tile[2300 * ((l_t + 32) / 32 % 3) + 1152 * annotune_row +
                                       36 * i_w + annotune_step];
                        }
                        #pragma unroll
                        for (int annotune_column = 0; annotune_column < 4; annotune_column++) {
                            annotune_right[0][annotune_column] =
                                B_tile[1088 * ((l_t + 32) / 32 % 3) + 34 * annotune_step +
                                       annotune_pair +
                                       4 *
                                       (annotune_column + 2 * (annotune_column / 2) +
                                        2 * annotune_side)];
                        }
                    }
                    #pragma unroll
                    for (int annotune_column = 0; annotune_column < 4; annotune_column++) {
                        const int annotune_first = annotune_column + 2 * (annotune_column / 2);
                        const int annotune_second = annotune_column + 2 * (annotune_column / 2) + 2;
                        #pragma unroll
                        for (int annotune_row = 0; annotune_row < 2; annotune_row += 2) {
                            double annotune_sums[4] =
                                {sum_block[annotune_row][annotune_first],
                                 sum_block[annotune_row][annotune_second],
                                 sum_block[annotune_row + 1][annotune_first],
                                 sum_block[annotune_row + 1][annotune_second]};
                            const double annotune_pairs[2] =
                                {annotune_left[(annotune_round - 1) % 2][annotune_row],
                                 annotune_left[(annotune_round - 1) % 2][annotune_row + 1]};
                            annotune_mma_m16n8k4(annotune_sums, annotune_pairs,
                                                 annotune_right[(annotune_round - 1) %
                                    2][annotune_column]);
                            sum_block[annotune_row][annotune_first] = annotune_sums[0];
                            sum_block[annotune_row][annotune_second] = annotune_sums[1];
                            sum_block[annotune_row + 1][annotune_first] = annotune_sums[2];
                            sum_block[annotune_row + 1][annotune_second] = annotune_sums[3];
                        }
                    }
                }
            }
            else {
                int l_t_part = l_t / 32 % 3;
                if (l_t + 64 < k) {
                    #pragma unroll
                    for (int annotune_k = 0; annotune_k < 4; annotune_k++) {
                        const int j_w_s = annotune_thread % 2;
                        const int j_s = annotune_thread / 2 % 8;
                        const int l_s = annotune_thread / 16 + 8 * annotune_k;
                        __pipeline_memcpy_async(&B_tile[1088 * ((l_t_part + 2) % 3) + 34 * l_s +
                                                        4 * j_s + 2 * j_w_s],
                                                &B[(l_t + l_s + 64) * n +
                                                   (j_t + 2 * j_w_s + 4 * j_s)], sizeof(double2));
                    }
                    #pragma unroll
                    for (int annotune_k = 0; annotune_k < 8; annotune_k++) {
                        const int l_s2 = annotune_thread % 16;
                        const int i_w_s = annotune_thread / 16 + 8 * (annotune_k % 4);
                        const int i_s = annotune_k / 4;
                        __pipeline_memcpy_async(&A_tile[2300 * ((l_t_part + 2) % 3) + 1152 * i_s +
                                                        36 * i_w_s + 2 * l_s2],
                                                &A[(i_t + i_w_s + 32 * i_s) * k +
                                                   (l_t + 2 * l_s2 + 64)], sizeof(double2));
                    }
                }
                __pipeline_commit();
                #pragma unroll
                for (int annotune_round = 1; annotune_round <= 8; annotune_round++) {
                    if (annotune_round < 8) {
                        #pragma unroll
                        for (int annotune_row = 0; annotune_row < 2; annotune_row++) {
                            annotune_left[annotune_round % 2][annotune_row] =
                                A_tile[2300 * l_t_part + 1152 * annotune_row + 36 * i_w +
                                       4 * annotune_round + annotune_step];
                        }
                        #pragma unroll
                        for (int annotune_column = 0; annotune_column < 4; annotune_column++) {
                            annotune_right[annotune_round % 2][annotune_column] =
                                B_tile[1088 * l_t_part + 34 * (4 * annotune_round + annotune_step) +
                                       annotune_pair +
                                       4 *
                                       (annotune_column + 2 * (annotune_column / 2) +
                                        2 * annotune_side)];
                        }
                    }
                    if (annotune_round == 8 && l_t + 32 < k) {
                        __pipeline_wait_prior(1);
                        __syncthreads();
                        #pragma unroll
                        for (int annotune_row = 0; annotune_row < 2; annotune_row++) {
                            annotune_left[0][annotune_row] =
                                A_tile[2300 * ((l_t + 32) / 32 % 3) + 1152 * annotune_row +
                                       36 * i_w + annotune_step];
                        }
                        #pragma unroll
                        for (int annotune_column = 0; annotune_column < 4; annotune_column++) {
                            annotune_right[0][annotune_column] =
                                B_tile[1088 * ((l_t + 32) / 32 % 3) + 34 * annotune_step +
                                       annotune_pair +
                                       4 *
                                       (annotune_column + 2 * (annotune_column / 2) +
                                        2 * annotune_side)];
                        }
                    }
                    #pragma unroll
                    for (int annotune_column = 0; annotune_column < 4; annotune_column++) {
                        const int annotune_first = annotune_column + 2 * (annotune_column / 2);
                        const int annotune_second = annotune_column + 2 * (annotune_column / 2) + 2;
                        #pragma unroll
                        for (int annotune_row = 0; annotune_row < 2; annotune_row += 2) {
                            double annotune_sums[4] =
                                {sum_block[annotune_row][annotune_first],
                                 sum_block[annotune_row][annotune_second],
                                 sum_block[annotune_row + 1][annotune_first],
                                 sum_block[annotune_row + 1][annotune_second]};
                            const double annotune_pairs[2] =
                                {annotune_left[(annotune_round - 1) % 2][annotune_row],
                                 annotune_left[(annotune_round - 1) % 2][annotune_row + 1]};
                            annotune_mma_m16n8k4(annotune_sums, annotune_pairs,
                                                 annotune_right[(annotune_round - 1) %
                                    2][annotune_column]);
                            sum_block[annotune_row][annotune_first] = annotune_sums[0];
                            sum_block[annotune_row][annotune_second] = annotune_sums[1];
                            sum_block[annotune_row + 1][annotune_first] = annotune_sums[2];
                            sum_block[annotune_row + 1][annotune_second] = annotune_sums[3];
                        }
                    }
                }
            }
        }
    }
    #pragma unroll
    for (long i_r = 0; i_r < 2; i_r++) {
        const long i = i_t + i_w + 32 * i_r;
        #pragma unroll
        for (long j_r = 0; j_r < 8; j_r++) {
            const long j = j_t + j_w + 4 * j_r;
            C[i * n + j] = alpha * sum_block[i_r][j_r] + beta * C[i * n + j];
        }
    }
}

/* gemm, statements 0, 1, 2 of the region at line 8:
 * j_t on block.x, i_t on block.y, j_w on thread.x, i_w on thread.y. */
__global__ void __launch_bounds__(128, 1) gemm_1_s0(
        long m, long n, long k, double alpha, double beta, const double *__restrict__ A,
        const double *__restrict__ B, double *__restrict__ C) {
    extern __shared__ __align__(16) unsigned char annotune_shared[];
    double *const B_tile = (double *)annotune_shared;
    double *const A_tile = (double *)(annotune_shared + 26112);
    const int annotune_thread = threadIdx.x + 4 * threadIdx.y;
    for (long j_t = 32 * (long)blockIdx.x; j_t < n; j_t += 32 * gridDim.x) {
        for (long i_t = 64 * (long)blockIdx.y; i_t < m; i_t += 64 * gridDim.y) {
            const int j_w = threadIdx.x;
            const int i_w = threadIdx.y;
            double sum_block[2][8];
            #pragma unroll
            for (long i_r = 0; i_r < 2; i_r++) {
                #pragma unroll
                for (long j_r = 0; j_r < 8; j_r++) {
                    sum_block[i_r][j_r] = 0.0;
                }
            }
            __syncthreads();
            for (int l_t_first = 0; l_t_first < 2; l_t_first++) {
                if (32 * l_t_first < k) {
                    #pragma unroll
                    for (int annotune_k = 0; annotune_k < 8; annotune_k++) {
                        const int j_w_s = annotune_thread % 4;
                        const int j_s = annotune_thread / 4 % 8;
                        const int l_s = annotune_thread / 32 + 4 * annotune_k;
                        if (32 * l_t_first + l_s < k && j_t + j_w_s + 4 * j_s < n)
                            __pipeline_memcpy_async(&B_tile[1088 * l_t_first + 34 * l_s + 4 * j_s +
                                                            j_w_s],
                                                    &B[(32 * l_t_first + l_s) * n +
                                                       (j_t + j_w_s + 4 * j_s)], sizeof(double));
                        else
                            __pipeline_memcpy_async(&B_tile[1088 * l_t_first + 34 * l_s + 4 * j_s +
                                                            j_w_s], B, sizeof(double),
                                                    sizeof(double));
                    }
                    #pragma unroll
                    for (int annotune_k = 0; annotune_k < 16; annotune_k++) {
                        const int l_s2 = annotune_thread % 32;
                        const int i_w_s = annotune_thread / 32 + 4 * (annotune_k % 8);
                        const int i_s = annotune_k / 8;
                        if (i_t + i_w_s + 32 * i_s < m && 32 * l_t_first + l_s2 < k)
                            __pipeline_memcpy_async(&A_tile[2300 * l_t_first + 1152 * i_s +
                                                            36 * i_w_s + l_s2],
                                                    &A[(i_t + i_w_s + 32 * i_s) * k +
                                                       (32 * l_t_first + l_s2)], sizeof(double));
                        else
                            __pipeline_memcpy_async(&A_tile[2300 * l_t_first + 1152 * i_s +
                                                            36 * i_w_s + l_s2], A, sizeof(double),
                                                    sizeof(double));
                    }
                }
                __pipeline_commit();
            }
            for (long l_t = 0; l_t < k; l_t += 32) {
                if (l_t + 64 < k) {
                    int l_t_part = l_t / 32 % 3;
                    __pipeline_wait_prior(1);
                    __syncthreads();
                    {
                        const int annotune_step = threadIdx.x;
                        const int annotune_pair = threadIdx.y / 2 % 4;
                        const int annotune_side = threadIdx.y % 2;
                        double annotune_left[2][2], annotune_right[2][4];
                        #pragma unroll
                        for (int annotune_round = 0; annotune_round <= 8; annotune_round++) {
                            if (annotune_round < 8) {
                                #pragma unroll
                                for (int annotune_row = 0; annotune_row < 2; annotune_row++) {
                                    annotune_left[annotune_round % 2][annotune_row] =
                                        A_tile[2300 * l_t_part + 1152 * annotune_row + 36 * i_w +
                                               4 * annotune_round + annotune_step];
                                }
                                #pragma unroll
                                for (int annotune_column = 0; annotune_column < 4;
                                     annotune_column++) {
                                    annotune_right[annotune_round % 2][annotune_column] =
                                        B_tile[1088 * l_t_part +
                                               34 * (4 * annotune_round + annotune_step) +
                                               annotune_pair +
                                               4 *
                                               (annotune_column + 2 * (annotune_column / 2) +
                                                2 * annotune_side)];
                                }
                            }
                            if (annotune_round > 0) {
                                #pragma unroll
                                for (int annotune_k = 0; annotune_k < 8; annotune_k++) {
                                    if (8 * annotune_k / 24 == annotune_round - 1) {
                                        const int j_w_s = annotune_thread % 4;
                                        const int j_s = annotune_thread / 4 % 8;
                                        const int l_s = annotune_thread / 32 + 4 * annotune_k;
                                        const bool annotune_is_there = l_t + l_s + 64 < k &&
                                            j_t + j_w_s + 4 * j_s < n;
                                        annotune_copy_or_zero<sizeof(double)>(&B_tile[1088 *
                                                ((l_t_part + 2) % 3) + 34 * l_s + 4 * j_s + j_w_s],
                                                annotune_is_there
                                                ? &B[(l_t + l_s + 64) * n + (j_t + j_w_s + 4 * j_s)]
                                                : B, annotune_is_there);
                                    }
                                }
                                #pragma unroll
                                for (int annotune_k = 0; annotune_k < 16; annotune_k++) {
                                    if (8 * (annotune_k + 8) / 24 == annotune_round - 1) {
                                        const int l_s2 = annotune_thread % 32;
                                        const int i_w_s = annotune_thread / 32 +
                                                          4 * (annotune_k % 8);
                                        const int i_s = annotune_k / 8;
                                        const bool annotune_is_there = i_t + i_w_s + 32 * i_s < m &&
                                            l_t + l_s2 + 64 < k;
                                        annotune_copy_or_zero<sizeof(double)>(&A_tile[2300 *
                                                ((l_t_part + 2) % 3) + 1152 * i_s + 36 * i_w_s +
                                                l_s2],
                                                annotune_is_there
                                                ? &A[(i_t + i_w_s + 32 * i_s) * k +
                                                     (l_t + l_s2 + 64)] : A, annotune_is_there);
                                    }
                                }
                                if (annotune_round - 1 == 7) {
                                    __pipeline_commit();
                                }
                                #pragma unroll
                                for (int annotune_column = 0; annotune_column < 4;
                                     annotune_column++) {
                                    const int annotune_first = annotune_column +
                                        2 * (annotune_column / 2);
                                    const int annotune_second = annotune_column +
                                        2 * (annotune_column / 2) + 2;
                                    #pragma unroll
                                    for (int annotune_row = 0; annotune_row < 2;
                                         annotune_row += 2) {
                                        double annotune_sums[4] =
                                            {sum_block[annotune_row][annotune_first],
                                             sum_block[annotune_row][annotune_second],
                                             sum_block[annotune_row + 1][annotune_first],
                                             sum_block[annotune_row + 1][annotune_second]};
                                        const double annotune_pairs[2] =
                                            {annotune_left[(annotune_round - 1) % 2][annotune_row],
                                             annotune_left[(annotune_round - 1) % 2][annotune_row +
                                                1]};
                                        annotune_mma_m16n8k4(annotune_sums, annotune_pairs,
                                                annotune_right[(annotune_round - 1) %
                                                2][annotune_column]);
                                        sum_block[annotune_row][annotune_first] = annotune_sums[0];
                                        sum_block[annotune_row][annotune_second] = annotune_sums[1];
                                        sum_block[annotune_row + 1][annotune_first] =
                                            annotune_sums[2];
                                        sum_block[annotune_row + 1][annotune_second] =
                                            annotune_sums[3];
                                    }
                                }
                            }
                        }
                    }
                }
                else {
                    int l_t_part = l_t / 32 % 3;
                    __pipeline_wait_prior(1);
                    __syncthreads();
                    if (l_t + 64 < k) {
                        #pragma unroll
                        for (int annotune_k = 0; annotune_k < 8; annotune_k++) {
                            const int j_w_s = annotune_thread % 4;
                            const int j_s = annotune_thread / 4 % 8;
                            const int l_s = annotune_thread / 32 + 4 * annotune_k;
                            if (l_t + l_s + 64 < k && j_t + j_w_s + 4 * j_s < n)
                                __pipeline_memcpy_async(&B_tile[1088 * ((l_t_part + 2) % 3) +
                                        34 * l_s + 4 * j_s + j_w_s],
                                                        &B[(l_t + l_s + 64) * n +
                                                           (j_t + j_w_s + 4 * j_s)],
                                                        sizeof(double));
                            else
                                __pipeline_memcpy_async(&B_tile[1088 * ((l_t_part + 2) % 3) +
                                        34 * l_s + 4 * j_s + j_w_s], B, sizeof(double),
                                                        sizeof(double));
                        }
                        #pragma unroll
                        for (int annotune_k = 0; annotune_k < 16; annotune_k++) {
                            const int l_s2 = annotune_thread % 32;
                            const int i_w_s = annotune_thread / 32 + 4 * (annotune_k % 8);
                            const int i_s = annotune_k / 8;
                            if (i_t + i_w_s + 32 * i_s < m && l_t + l_s2 + 64 < k)
                                __pipeline_memcpy_async(&A_tile[2300 * ((l_t_part + 2) % 3) +
                                        1152 * i_s + 36 * i_w_s + l_s2],
                                                        &A[(i_t + i_w_s + 32 * i_s) * k +
                                                           (l_t + l_s2 + 64)], sizeof(double));
                            else
                                __pipeline_memcpy_async(&A_tile[2300 * ((l_t_part + 2) % 3) +
                                        1152 * i_s + 36 * i_w_s + l_s2], A, sizeof(double),
                                                        sizeof(double));
                        }
                    }
                    __pipeline_commit();
                    if (min((long)(l_t + 32), (long)(k)) == (l_t + 32)) {
                        {
                            const int annotune_step = threadIdx.x;
                            const int annotune_pair = threadIdx.y / 2 % 4;
                            const int annotune_side = threadIdx.y % 2;
                            double annotune_left[2][2], annotune_right[2][4];
                            #pragma unroll
                            for (int annotune_round = 0; annotune_round <= 8; annotune_round++) {
                                if (annotune_round < 8) {
                                    #pragma unroll
                                    for (int annotune_row = 0; annotune_row < 2; annotune_row++) {
                                        annotune_left[annotune_round % 2][annotune_row] =
                                            A_tile[2300 * l_t_part + 1152 * annotune_row +
                                                   36 * i_w + 4 * annotune_round + annotune_step];
                                    }
                                    #pragma unroll
                                    for (int annotune_column = 0; annotune_column < 4;
                                         annotune_column++) {
                                        annotune_right[annotune_round % 2][annotune_column] =
                                            B_tile[1088 * l_t_part +
                                                   34 * (4 * annotune_round + annotune_step) +
                                                   annotune_pair +
                                                   4 *
                                                   (annotune_column + 2 * (annotune_column / 2) +
                                                    2 * annotune_side)];
                                    }
                                }
                                if (annotune_round > 0) {
                                    #pragma unroll
                                    for (int annotune_column = 0; annotune_column < 4;
                                         annotune_column++) {
                                        const int annotune_first = annotune_column +
                                            2 * (annotune_column / 2);
                                        const int annotune_second = annotune_column +
                                            2 * (annotune_column / 2) + 2;
                                        #pragma unroll
                                        for (int annotune_row = 0; annotune_row < 2;
                                             annotune_row += 2) {
                                            double annotune_sums[4] =
                                                {sum_block[annotune_row][annotune_first],
                                                 sum_block[annotune_row][annotune_second],
                                                 sum_block[annotune_row + 1][annotune_first],
                                                 sum_block[annotune_row + 1][annotune_second]};
                                            const double annotune_pairs[2] =
                                                {annotune_left[(annotune_round - 1) %
                                                    2][annotune_row],
                                                 annotune_left[(annotune_round - 1) %
                                                    2][annotune_row + 1]};
                                            annotune_mma_m16n8k4(annotune_sums, annotune_pairs,
                                                    annotune_right[(annotune_round - 1) %
                                                    2][annotune_column]);
                                            sum_block[annotune_row][annotune_first] =
                                                annotune_sums[0];
                                            sum_block[annotune_row][annotune_second] =
                                                annotune_sums[1];
                                            sum_block[annotune_row + 1][annotune_first] =
                                                annotune_sums[2];
                                            sum_block[annotune_row + 1][annotune_second] =
                                                annotune_sums[3];
                                        }
                                    }
                                }
                            }
                        }
                    }
                    else {
                        const long annotune_whole = l_t +
                                                    (min((long)(l_t + 32), (long)(k)) - l_t) / 4 *
                                                    4;
                        #pragma unroll 1
                        for (long l = l_t; l < annotune_whole; l += 4) {
                            const int annotune_step = threadIdx.x;
                            const int annotune_pair = threadIdx.y / 2 % 4;
                            const int annotune_side = threadIdx.y % 2;
                            double annotune_left[2], annotune_right[4];
                            #pragma unroll
                            for (int annotune_row = 0; annotune_row < 2; annotune_row++) {
                                annotune_left[annotune_row] =
                                    A_tile[2300 * l_t_part + 1152 * annotune_row + 36 * i_w + l +
                                           annotune_step - l_t];
                            }
                            #pragma unroll
                            for (int annotune_column = 0; annotune_column < 4; annotune_column++) {
                                annotune_right[annotune_column] =
                                    B_tile[1088 * l_t_part + 34 * (l + annotune_step - l_t) +
                                           annotune_pair +
                                           4 *
                                           (annotune_column + 2 * (annotune_column / 2) +
                                            2 * annotune_side)];
                            }
                            #pragma unroll
                            for (int annotune_column = 0; annotune_column < 4; annotune_column++) {
                                const int annotune_first = annotune_column +
                                                           2 * (annotune_column / 2);
                                const int annotune_second = annotune_column +
                                                            2 * (annotune_column / 2) + 2;
                                #pragma unroll
                                for (int annotune_row = 0; annotune_row < 2; annotune_row += 2) {
                                    double annotune_sums[4] =
                                        {sum_block[annotune_row][annotune_first],
                                         sum_block[annotune_row][annotune_second],
                                         sum_block[annotune_row + 1][annotune_first],
                                         sum_block[annotune_row + 1][annotune_second]};
                                    const double annotune_pairs[2] =
                                        {annotune_left[annotune_row],
                                         annotune_left[annotune_row + 1]};
                                    annotune_mma_m16n8k4(annotune_sums, annotune_pairs,
                                                         annotune_right[annotune_column]);
                                    sum_block[annotune_row][annotune_first] = annotune_sums[0];
                                    sum_block[annotune_row][annotune_second] = annotune_sums[1];
                                    sum_block[annotune_row + 1][annotune_first] = annotune_sums[2];
                                    sum_block[annotune_row + 1][annotune_second] = annotune_sums[3];
                                }
                            }
                        }
                        #pragma unroll 1
                        for (long l = annotune_whole; l < min((long)(l_t + 32), (long)(k)); l++) {
                            #pragma unroll
                            for (long i_r = 0; i_r < 2; i_r++) {
                                #pragma unroll
                                for (long j_r = 0; j_r < 8; j_r++) {
                                    sum_block[i_r][j_r] +=
                                        A_tile[2300 * l_t_part + 1152 * i_r + 36 * i_w + l - l_t] *
                                        B_tile[1088 * l_t_part + 34 * (l - l_t) + j_w + 4 * j_r];
                                }
                            }
                        }
                    }
                }
            }
            #pragma unroll
            for (long i_r = 0; i_r < 2; i_r++) {
                const long i = i_t + i_w + 32 * i_r;
                #pragma unroll
                for (long j_r = 0; j_r < 8; j_r++) {
                    const long j = j_t + j_w + 4 * j_r;
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
    cudaError_t status = cudaSuccess;
    if (status == cudaSuccess)
        status =
            cudaFuncSetAttribute(gemm_1_s0_tuned, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 81312);
    if (status == cudaSuccess)
        status =
            cudaFuncSetAttribute(gemm_1_s0, cudaFuncAttributeMaxDynamicSharedMemorySize, 81312);
    if (status == cudaSuccess) {
        if (m == 512 && n == 512 && k == 512) {
            {
                const dim3 blocks(16, 8, 1);
                const dim3 threads(4, 32, 1);
                gemm_1_s0_tuned<<<blocks, threads, 81312>>>(alpha, beta, A, B, C);
            }
        } else {
            {
                const dim3 blocks(annotune_extent((n + 31) / 32, 2147483647),
                                  annotune_extent((m + 63) / 64, 65535), 1);
                const dim3 threads(4, 32, 1);
                gemm_1_s0<<<blocks, threads, 81312>>>(m, n, k, alpha, beta, A, B, C);
            }
        }
        status = cudaGetLastError();
    }
    return status;
}

/* The tuned kernels for some of the 8 iterations on their blocks. */
static cudaError_t gemm_1_part(
        long m, long n, long k, double alpha, double beta, const double *A, const double *B,
        double *C, long annotune_first, long annotune_count) {
    A += annotune_first * 32768;
    C += annotune_first * 32768;
    cudaError_t status = cudaSuccess;
    if (status == cudaSuccess)
        status =
            cudaFuncSetAttribute(gemm_1_s0_tuned, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 81312);
    if (status == cudaSuccess) {
        {
            const dim3 blocks(16, (unsigned)(annotune_count), 1);
            const dim3 threads(4, 32, 1);
            gemm_1_s0_tuned<<<blocks, threads, 81312>>>(alpha, beta, A, B, C);
        }
        status = cudaGetLastError();
    }
    return status;
}

static cudaError_t gemm_1_device(
        long m, long n, long k, double alpha, double beta, const double *A, const double *B,
        double *C) {
    const size_t A_bytes = sizeof(double) * gemm_1_A_count(m, k);
    const size_t B_bytes = sizeof(double) * gemm_1_B_count(n, k);
    const size_t C_bytes = sizeof(double) * gemm_1_C_count(m, n);
    annotune_array arrays[] = {
        {(void *)(A), A_bytes, 0, A_bytes, true, false, sizeof(double) * 32768},
        {(void *)(B), B_bytes, 0, B_bytes, true, false},
        {(void *)(C), C_bytes, 0, C_bytes, true, true, sizeof(double) * 32768},
    };
    const auto launch = [&](long annotune_first, long annotune_count) {
        double *const d_A = (double *)arrays[0].device;
        double *const d_B = (double *)arrays[1].device;
        double *const d_C = (double *)arrays[2].device;
        if (annotune_count == 0)
            return gemm_1_launch(m, n, k, alpha, beta, d_A, d_B, d_C);
        return gemm_1_part(m, n, k, alpha, beta, d_A, d_B, d_C, annotune_first, annotune_count);
    };
    return annotune_call("annotune_gemm_1", arrays, 3, m == 512 && n == 512 && k == 512 ? 8 : 0,
                         launch);
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
        annotune_tell("annotune_gemm_1", status);
    }
    {
        const void *const arrays[] = {
            A,
            B,
            C,
        };
        annotune_on_host("annotune_gemm_1", arrays, 3);
    }
    gemm_1_original(m, n, k, alpha, beta, A, B, C);
}
