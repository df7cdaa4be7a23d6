
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_pipeline.h>
#include <atomic>

/* Memory of the device that calls leave for later ones; annotune_release() gives it back. */
struct annotune_block {
    void *memory;
    size_t bytes;
    int device;
    bool is_free;
    annotune_block *next;
};
/* All blocks of the program. One may be so many bytes longer than twice what is asked for. */
struct annotune_blocks {
    size_t slack;
    annotune_block *first;
    std::atomic_flag is_taken;
};
__attribute__((weak)) annotune_blocks annotune_kept = {1 << 20, NULL, ATOMIC_FLAG_INIT};
struct annotune_blocks_lock {
    annotune_blocks_lock()
    {
        while (annotune_kept.is_taken.test_and_set(std::memory_order_acquire)) {
        }
    }
    ~annotune_blocks_lock() { annotune_kept.is_taken.clear(std::memory_order_release); }
};

/* Take the smallest free block of a device with so many bytes that is not much larger. */
static void *annotune_taken(int device, size_t bytes)
{
    const annotune_blocks_lock lock;
    annotune_block *best = NULL;
    for (annotune_block *one = annotune_kept.first; one != NULL; one = one->next)
        if (one->is_free && one->device == device && bytes <= one->bytes
            && one->bytes <= 2 * bytes + annotune_kept.slack
            && (best == NULL || one->bytes < best->bytes))
            best = one;
    if (best == NULL)
        return NULL;
    best->is_free = false;
    return best->memory;
}

/* Give free blocks of a device back to it: all, or the largest of less than some bytes. */
static void annotune_dropped(int device, bool is_all, size_t below)
{
    const annotune_blocks_lock lock;
    size_t largest = 0;
    for (annotune_block *one = annotune_kept.first; one != NULL; one = one->next)
        if (one->is_free && one->device == device && one->bytes < below && one->bytes > largest)
            largest = one->bytes;
    for (annotune_block **link = &annotune_kept.first; *link != NULL;) {
        annotune_block *const one = *link;
        if (!one->is_free || one->device != device || !(is_all || one->bytes == largest)) {
            link = &one->next;
            continue;
        }
        *link = one->next;
        cudaFree(one->memory);
        free(one);
        if (!is_all)
            return;
    }
}

static cudaError_t annotune_allocate(void **memory, size_t bytes)
{
    int device = 0;
    *memory = NULL;
    const cudaError_t found = cudaGetDevice(&device);
    if (found != cudaSuccess || bytes == 0)
        return found;
    *memory = annotune_taken(device, bytes);
    if (*memory != NULL)
        return cudaSuccess;
    annotune_dropped(device, false, bytes);
    cudaError_t status = cudaMalloc(memory, bytes);
    if (status == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        annotune_dropped(device, true, 0);
        status = cudaMalloc(memory, bytes);
    }
    if (status != cudaSuccess)
        return status;
    annotune_block *const made = (annotune_block *)malloc(sizeof *made);
    if (made == NULL) {
        cudaFree(*memory);
        *memory = NULL;
        return cudaErrorMemoryAllocation;
    }
    const annotune_blocks_lock lock;
    *made = {*memory, bytes, device, false, annotune_kept.first};
    annotune_kept.first = made;
    return cudaSuccess;
}

/* Leave memory for later calls; after a failure it goes back, whatever has become of the device. */
static void annotune_free(void *memory, cudaError_t status)
{
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
    /* Who has it next may use another stream. */
    cudaStreamSynchronize(cudaStreamPerThread);
#endif
    const annotune_blocks_lock lock;
    for (annotune_block **link = &annotune_kept.first; *link != NULL; link = &(*link)->next) {
        annotune_block *const one = *link;
        if (memory == NULL || one->memory != memory)
            continue;
        if (status == cudaSuccess) {
            one->is_free = true;
            return;
        }
        *link = one->next;
        cudaFree(memory);
        free(one);
        return;
    }
}

extern "C" __attribute__((weak, visibility("default"))) void annotune_release(void)
{
    int own = 0, devices = 0;
    if (cudaGetDevice(&own) != cudaSuccess || cudaGetDeviceCount(&devices) != cudaSuccess)
        return;
    for (int device = 0; device < devices; device++)
        if (cudaSetDevice(device) == cudaSuccess)
            annotune_dropped(device, true, 0);
    cudaSetDevice(own);
}

/* Say once in a program that a device has failed, however many calls do. */
__attribute__((weak)) bool annotune_is_told = false;
static void annotune_tell(const char *entry, cudaError_t status)
{
    if (!annotune_is_told)
        fprintf(stderr, "%s: %s; running the original nest, as all calls that fail\n", entry,
                cudaGetErrorString(status));
    annotune_is_told = true;
}

/* The extent of a grid axis for `count` iterations, of which the kernel strides over the rest. */
static inline unsigned annotune_extent(long long count, long long limit)
{
    if (count < 1)
        return 1;
    return (unsigned)(count < limit ? count : limit);
}

/* sd_t_d1_1, statement 0 of the region at line 16:
 * h3_t on block.x, h2_t on block.x, h1 on block.x, p6 on block.x, p5_t on block.x, p4_t on block.x, h3 on thread.x, p5 on thread.y. */
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
            t3_block[h2_r][p4_r] = t3[h3 + h3u * (h2 + h2u * (h1 + h1u * (p6 + p6u * (p5 + p5u * p4))))];
        }
    }
    for (int h7_t = 0; h7_t < h7u; h7_t += 16) {
        #pragma unroll
        for (int annotune_k = 0; annotune_k < 8; annotune_k++) {
            const int h3_s = annotune_thread % 8;
            const int h2_s = annotune_thread / 8 % 8;
            const int h7_s = annotune_thread / 64 + 2 * annotune_k;
            __pipeline_memcpy_async(&v2_tile[128 * h7_s + 16 * h2_s + 2 * h3_s], &v2[h3_t + 2 * h3_s + h3u * (h2_t + h2_s + h2u * (p6 + p6u * (h7_t + h7_s)))], sizeof(double2));
        }
        #pragma unroll
        for (int annotune_k = 0; annotune_k < 4; annotune_k++) {
            const int h7_s2 = annotune_thread % 8;
            const int p4_s = annotune_thread / 8 % 8;
            const int p5_s = annotune_thread / 64 + 2 * annotune_k;
            __pipeline_memcpy_async(&t2_tile[16 * p5_s + 128 * p4_s + 2 * h7_s2], &t2[h7_t + 2 * h7_s2 + h7u * (p4_t + p4_s + p4u * (p5_t + p5_s + p5u * h1))], sizeof(double2));
        }
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        for (int h7 = h7_t; h7 < h7_t + 16; h7++) {
            #pragma unroll
            for (int h2_r = 0; h2_r < 8; h2_r++) {
                #pragma unroll
                for (int p4_r = 0; p4_r < 8; p4_r++) {
                    t3_block[h2_r][p4_r] -= t2_tile[16 * (p5 - p5_t) + 128 * p4_r + h7 - h7_t] * v2_tile[128 * (h7 - h7_t) + 16 * h2_r + h3 - h3_t];
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
            t3[h3 + h3u * (h2 + h2u * (h1 + h1u * (p6 + p6u * (p5 + p5u * p4))))] = t3_block[h2_r][p4_r];
        }
    }
}

/* sd_t_d1_1, statement 0 of the region at line 16:
 * h3_t on block.x, h2_t on block.x, h1 on block.x, p6 on block.x, p5_t on block.x, p4_t on block.x, h3 on thread.x, p5 on thread.y. */
__global__ void __launch_bounds__(128, 1) sd_t_d1_1_1_s0(
        int p4u, int p5u, int p6u, int h1u, int h2u, int h3u, int h7u, double *__restrict__ t3,
        const double *__restrict__ t2, const double *__restrict__ v2) {
    __shared__ double v2_tile[1024];
    __shared__ double t2_tile[527];
    const int annotune_thread = threadIdx.x + 16 * threadIdx.y;
    for (long annotune_b = blockIdx.x; annotune_b < ((long)(h3u) + 15) / 16 * ((h2u + 3) / 4) * h1u * p6u * ((p5u + 7) / 8) * ((p4u + 3) / 4); annotune_b += gridDim.x) {
        const int h3_t = 16 * (annotune_b % ((h3u + 15) / 16));
        const int h2_t = 4 * (annotune_b / (((long)(h3u) + 15) / 16) % ((h2u + 3) / 4));
        const int h1 = annotune_b / (((long)(h3u) + 15) / 16 * ((h2u + 3) / 4)) % h1u;
        const int p6 = annotune_b / (((long)(h3u) + 15) / 16 * ((h2u + 3) / 4) * h1u) % p6u;
        const int p5_t = 8 * (annotune_b / (((long)(h3u) + 15) / 16 * ((h2u + 3) / 4) * h1u * p6u) % ((p5u + 7) / 8));
        const int p4_t = 4 * (annotune_b / (((long)(h3u) + 15) / 16 * ((h2u + 3) / 4) * h1u * p6u * ((p5u + 7) / 8)));
        const int h3 = h3_t + threadIdx.x;
        const int p5 = p5_t + threadIdx.y;
        double t3_block[4][4];
        #pragma unroll
        for (int h2_r = 0; h2_r < 4; h2_r++) {
            const int h2 = h2_t + h2_r;
            #pragma unroll
            for (int p4_r = 0; p4_r < 4; p4_r++) {
                const int p4 = p4_t + p4_r;
                t3_block[h2_r][p4_r] = h3 < h3u && p5 < p5u && h2 < h2u && p4 < p4u ? t3[h3 + h3u * (h2 + h2u * (h1 + h1u * (p6 + p6u * (p5 + p5u * p4))))] : 0.0;
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
                    __pipeline_memcpy_async(&v2_tile[64 * h7_s + 16 * h2_s + h3_s], &v2[h3_t + h3_s + h3u * (h2_t + h2_s + h2u * (p6 + p6u * (h7_t + h7_s)))], sizeof(double));
                else
                    __pipeline_memcpy_async(&v2_tile[64 * h7_s + 16 * h2_s + h3_s], v2, sizeof(double), sizeof(double));
            }
            #pragma unroll
            for (int annotune_k = 0; annotune_k < 4; annotune_k++) {
                const int h7_s2 = annotune_thread % 16;
                const int p4_s = annotune_thread / 16 % 4;
                const int p5_s = annotune_thread / 64 + 2 * annotune_k;
                if (p5_t + p5_s < p5u && p4_t + p4_s < p4u && h7_t + h7_s2 < h7u)
                    __pipeline_memcpy_async(&t2_tile[p5_s + 8 * p4_s + 33 * h7_s2], &t2[h7_t + h7_s2 + h7u * (p4_t + p4_s + p4u * (p5_t + p5_s + p5u * h1))], sizeof(double));
                else
                    __pipeline_memcpy_async(&t2_tile[p5_s + 8 * p4_s + 33 * h7_s2], t2, sizeof(double), sizeof(double));
            }
            __pipeline_commit();
            __pipeline_wait_prior(0);
            __syncthreads();
            for (int h7 = h7_t; h7 < min(h7_t + 16, h7u); h7++) {
                #pragma unroll
                for (int h2_r = 0; h2_r < 4; h2_r++) {
                    #pragma unroll
                    for (int p4_r = 0; p4_r < 4; p4_r++) {
                        t3_block[h2_r][p4_r] -= t2_tile[p5 - p5_t + 8 * p4_r + 33 * (h7 - h7_t)] * v2_tile[64 * (h7 - h7_t) + 16 * h2_r + h3 - h3_t];
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
                    t3[h3 + h3u * (h2 + h2u * (h1 + h1u * (p6 + p6u * (p5 + p5u * p4))))] = t3_block[h2_r][p4_r];
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
            const dim3 blocks(2048, 1, 1);
            const dim3 threads(16, 8, 1);
            sd_t_d1_1_1_s0_tuned<<<blocks, threads>>>(t3, t2, v2);
        }
    } else {
        {
            const dim3 blocks(annotune_extent(((long)(h3u) + 15) / 16 * ((h2u + 3) / 4) * h1u * p6u * ((p5u + 7) / 8) * ((p4u + 3) / 4), 2147483647), 1, 1);
            const dim3 threads(16, 8, 1);
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
        status = annotune_allocate((void **)&d_t3, t3_bytes);
    if (status == cudaSuccess)
        status = annotune_allocate((void **)&d_t2, t2_bytes);
    if (status == cudaSuccess)
        status = annotune_allocate((void **)&d_v2, v2_bytes);
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
    annotune_free(d_t3, status);
    annotune_free(d_t2, status);
    annotune_free(d_v2, status);
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
    fits = fits && h3u <= 2147483617;
    fits = fits && h2u <= 2147483644;
    fits = fits && p5u <= 2147483633;
    fits = fits && p4u <= 2147483644;
    fits = fits && h7u <= 2147483632;
    if (fits) {
        const cudaError_t status = sd_t_d1_1_1_device(p4u, p5u, p6u, h1u, h2u, h3u, h7u, t3, t2, v2);
        if (status == cudaSuccess)
            return;
        annotune_tell("annotune_sd_t_d1_1_1", status);
    }
    sd_t_d1_1_1_original(p4u, p5u, p6u, h1u, h2u, h3u, h7u, t3, t2, v2);
}
