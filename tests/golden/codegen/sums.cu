/* f, statements 0, 1, 2 of the region at line 10:
 * i on block.x, j on thread.x. */
__global__ void __launch_bounds__(64) f_1_s0_tuned(
        double *__restrict__ a, const double *__restrict__ A, const double *__restrict__ b,
        float *__restrict__ c) {
    const long m = 40;
    __shared__ double annotune_team0[64];
    const long i = (long)blockIdx.x;
    if (threadIdx.x == 0) {
        a[i] = 0.0;
    }
    double a_sum = -0.0;
    if (threadIdx.x < 40) {
        const long j = (long)threadIdx.x;
        a_sum += A[i * m + j] * b[j];
    }
    a_sum = annotune_combined<annotune_sum>(a_sum, annotune_team0);
    if (threadIdx.x == 0) {
        a[i] += a_sum;
        c[i] = a[i];
    }
}

/* f, statements 3, 4 of the region at line 10:
 * i_t on block.x, i on thread.x. */
__global__ void __launch_bounds__(256) f_1_s3_tuned(
        const double *__restrict__ a, double *__restrict__ t,
        double *__restrict__ annotune_s_sum, double *__restrict__ annotune_t_max) {
    const long n = 100000;
    __shared__ double annotune_team0[256];
    double s_sum = -0.0;
    double t_max = t[0];
    const long i_t = 256 * (long)blockIdx.x;
    for (long i = i_t + (long)threadIdx.x; i < min((long)(i_t + 256), (long)(n)); i += blockDim.x) {
        s_sum += a[i];
        t_max = fmax(t_max, a[i]);
    }
    s_sum = annotune_combined<annotune_sum>(s_sum, annotune_team0);
    t_max = annotune_combined<annotune_greatest>(t_max, annotune_team0);
    if (threadIdx.x == 0) {
        annotune_s_sum[blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)] = s_sum;
        annotune_t_max[blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)] = t_max;
    }
}

/* What the blocks of f_1_s3_tuned leave, combined. */
__global__ void __launch_bounds__(256) f_1_s3_tuned_last(
        const double *a, double *__restrict__ s, double *t,
        const double *__restrict__ annotune_s_sum, const double *__restrict__ annotune_t_max,
        int annotune_blocks) {
    const long n = 100000;
    __shared__ double annotune_team0[256];
    double s_sum = -0.0;
    double t_max = t[0];
    #pragma unroll 8
    for (int annotune_k = threadIdx.x; annotune_k < annotune_blocks; annotune_k += blockDim.x) {
        s_sum = annotune_sum::of(s_sum, annotune_s_sum[annotune_k]);
    }
    s_sum = annotune_combined<annotune_sum>(s_sum, annotune_team0);
    #pragma unroll 8
    for (int annotune_k = threadIdx.x; annotune_k < annotune_blocks; annotune_k += blockDim.x) {
        t_max = annotune_greatest::of(t_max, annotune_t_max[annotune_k]);
    }
    t_max = annotune_combined<annotune_greatest>(t_max, annotune_team0);
    int t_again = t[0] != t[0];
    __syncthreads();
    if (threadIdx.x == 0) {
        for (long i_t = 0; i_t < (t_again ? n : 0); i_t += 256) {
            for (long i = i_t; i < min((long)(i_t + 256), (long)(n)); i++) {
                t[0] = fmax(t[0], a[i]);
            }
        }
        if (t_again == 0) {
            t[0] = t_max;
        }
        s[0] += s_sum;
    }
}

/* f, statements 0, 1, 2 of the region at line 10:
 * i on block.x, j on thread.x. */
__global__ void __launch_bounds__(64, 1) f_1_s0(
        long n, long m, double *__restrict__ a, const double *__restrict__ A,
        const double *__restrict__ b, float *__restrict__ c) {
    __shared__ double annotune_team0[64];
    for (long i = (long)blockIdx.x; i < n; i += gridDim.x) {
        if (threadIdx.x == 0) {
            a[i] = 0.0;
        }
        double a_sum = -0.0;
        for (long j = (long)threadIdx.x; j < m; j += blockDim.x) {
            a_sum += A[i * m + j] * b[j];
        }
        a_sum = annotune_combined<annotune_sum>(a_sum, annotune_team0);
        if (threadIdx.x == 0) {
            a[i] += a_sum;
            c[i] = a[i];
        }
    }
}

/* f, statements 3, 4 of the region at line 10:
 * i_t on block.x, i on thread.x. */
__global__ void __launch_bounds__(256, 1) f_1_s3(
        long n, const double *__restrict__ a, double *__restrict__ t,
        double *__restrict__ annotune_s_sum, double *__restrict__ annotune_t_max) {
    __shared__ double annotune_team0[256];
    double s_sum = -0.0;
    double t_max = t[0];
    for (long i_t = 256 * (long)blockIdx.x; i_t < n; i_t += 256 * gridDim.x) {
        for (long i = i_t + (long)threadIdx.x; i < min((long)(i_t + 256), (long)(n)); i += blockDim.x) {
            s_sum += a[i];
            t_max = fmax(t_max, a[i]);
        }
    }
    s_sum = annotune_combined<annotune_sum>(s_sum, annotune_team0);
    t_max = annotune_combined<annotune_greatest>(t_max, annotune_team0);
    if (threadIdx.x == 0) {
        annotune_s_sum[blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)] = s_sum;
        annotune_t_max[blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)] = t_max;
    }
}

/* What the blocks of f_1_s3 leave, combined. */
__global__ void __launch_bounds__(256, 1) f_1_s3_last(
        long n, const double *a, double *__restrict__ s, double *t,
        const double *__restrict__ annotune_s_sum, const double *__restrict__ annotune_t_max,
        int annotune_blocks) {
    __shared__ double annotune_team0[256];
    double s_sum = -0.0;
    double t_max = t[0];
    #pragma unroll 8
    for (int annotune_k = threadIdx.x; annotune_k < annotune_blocks; annotune_k += blockDim.x) {
        s_sum = annotune_sum::of(s_sum, annotune_s_sum[annotune_k]);
    }
    s_sum = annotune_combined<annotune_sum>(s_sum, annotune_team0);
    #pragma unroll 8
    for (int annotune_k = threadIdx.x; annotune_k < annotune_blocks; annotune_k += blockDim.x) {
        t_max = annotune_greatest::of(t_max, annotune_t_max[annotune_k]);
    }
    t_max = annotune_combined<annotune_greatest>(t_max, annotune_team0);
    int t_again = t[0] != t[0];
    __syncthreads();
    if (threadIdx.x == 0) {
        for (long i_t = 0; i_t < (t_again ? n : 0); i_t += 256) {
            for (long i = i_t; i < min((long)(i_t + 256), (long)(n)); i++) {
                t[0] = fmax(t[0], a[i]);
            }
        }
        if (t_again == 0) {
            t[0] = t_max;
        }
        s[0] += s_sum;
    }
}

/* The nest as written: for sizes, overlaps and errors that the kernels leave. */
static void f_1_original(
        long n, long m, double *a, const double *A, const double *b, float *c, double *s,
        double *t) {
    for (long i = 0; i < n; i++) {
        a[i] = 0.0;
        for (long j = 0; j < m; j++) {
            a[i] += A[i * m + j] * b[j];
        }
        c[i] = a[i];
    }
    for (long i = 0; i < n; i++) {
        s[0] += a[i];
        t[0] = fmax(t[0], a[i]);
    }
}

/* Elements of a that the region touches. */
static long long f_1_a_count(long long n) {
    return n;
}

/* Elements of A that the region touches. */
static long long f_1_A_count(long long n, long long m) {
    return m * n;
}

/* Elements of b that the region touches. */
static long long f_1_b_count(long long m) {
    return m;
}

/* Elements of c that the region touches. */
static long long f_1_c_count(long long n) {
    return n;
}

/* Elements of s that the region touches. */
static long long f_1_s_count() {
    return 1;
}

/* Elements of t that the region touches. */
static long long f_1_t_count() {
    return 1;
}

static cudaError_t f_1_launch(
        long n, long m, double *a, const double *A, const double *b, float *c, double *s,
        double *t) {
    double *f_1_s3_s_sum = NULL;
    double *f_1_s3_t_max = NULL;
    cudaError_t status = cudaSuccess;
    if (status == cudaSuccess)
        status = annotune_allocate((void **)&f_1_s3_s_sum, 1024 * sizeof(double));
    if (status == cudaSuccess)
        status = annotune_allocate((void **)&f_1_s3_t_max, 1024 * sizeof(double));
    if (status == cudaSuccess) {
        if (n == 100000 && m == 40) {
            {
                const dim3 blocks(100000, 1, 1);
                const dim3 threads(64, 1, 1);
                f_1_s0_tuned<<<blocks, threads>>>(a, A, b, c);
            }
            {
                const dim3 blocks(391, 1, 1);
                const dim3 threads(256, 1, 1);
                f_1_s3_tuned<<<blocks, threads>>>(a, t, f_1_s3_s_sum, f_1_s3_t_max);
                f_1_s3_tuned_last<<<1, threads>>>(a, s, t, f_1_s3_s_sum, f_1_s3_t_max, (int)(blocks.x * blocks.y * blocks.z));
            }
        } else {
            {
                const dim3 blocks(annotune_extent(n, 2147483647), 1, 1);
                const dim3 threads(64, 1, 1);
                f_1_s0<<<blocks, threads>>>(n, m, a, A, b, c);
            }
            {
                const dim3 blocks(annotune_extent((n + 255) / 256, 1024), 1, 1);
                const dim3 threads(256, 1, 1);
                f_1_s3<<<blocks, threads>>>(n, a, t, f_1_s3_s_sum, f_1_s3_t_max);
                f_1_s3_last<<<1, threads>>>(n, a, s, t, f_1_s3_s_sum, f_1_s3_t_max, (int)(blocks.x * blocks.y * blocks.z));
            }
        }
        status = cudaGetLastError();
    }
    annotune_free(f_1_s3_s_sum, status);
    annotune_free(f_1_s3_t_max, status);
    return status;
}

static cudaError_t f_1_device(
        long n, long m, double *a, const double *A, const double *b, float *c, double *s,
        double *t) {
    const size_t a_bytes = sizeof(double) * f_1_a_count(n);
    const size_t A_bytes = sizeof(double) * f_1_A_count(n, m);
    const size_t b_bytes = sizeof(double) * f_1_b_count(m);
    const size_t c_bytes = sizeof(float) * f_1_c_count(n);
    const size_t s_bytes = sizeof(double) * f_1_s_count();
    const size_t t_bytes = sizeof(double) * f_1_t_count();
    annotune_array arrays[] = {
        {(void *)(a), a_bytes, 0, a_bytes, true, true},
        {(void *)(A), A_bytes, 0, A_bytes, true, false},
        {(void *)(b), b_bytes, 0, b_bytes, true, false},
        {(void *)(c), c_bytes, 0, c_bytes, false, true},
        {(void *)(s), s_bytes, 0, s_bytes, true, true, 0, true},
        {(void *)(t), t_bytes, 0, t_bytes, true, true},
    };
    cudaError_t status = annotune_send(arrays, 6);
    double *const d_a = (double *)arrays[0].device;
    double *const d_A = (double *)arrays[1].device;
    double *const d_b = (double *)arrays[2].device;
    float *const d_c = (float *)arrays[3].device;
    double *const d_s = (double *)arrays[4].device;
    double *const d_t = (double *)arrays[5].device;
    if (status == cudaSuccess)
        status = f_1_launch(n, m, d_a, d_A, d_b, d_c, d_s, d_t);
    return annotune_fetch("annotune_f_1", arrays, 6, status);
}

extern "C" void annotune_f_1(
        long n, long m, double *a, const double *A, const double *b, float *c, double *s,
        double *t) {
    const size_t s_bytes = sizeof(double) * f_1_s_count();
    const size_t t_bytes = sizeof(double) * f_1_t_count();
    bool fits = true;
    fits = fits && 0 < n;
    fits = fits && 0 < m;
    fits = fits && annotune_apart(s, s_bytes, t, t_bytes);
    if (fits) {
        const cudaError_t status = f_1_device(n, m, a, A, b, c, s, t);
        if (status == cudaSuccess)
            return;
        annotune_tell("annotune_f_1", status);
    }
    {
        const void *const arrays[] = {
            a,
            A,
            b,
            c,
            s,
            t,
        };
        annotune_on_host("annotune_f_1", arrays, 6);
    }
    f_1_original(n, m, a, A, b, c, s, t);
}

