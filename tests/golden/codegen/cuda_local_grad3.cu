
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

/* Whether two ranges of bytes have none in common. */
static inline bool annotune_apart(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    const char *p = (const char *)a, *q = (const char *)b;
    return p + a_bytes <= q || q + b_bytes <= p;
}

#undef nelt
#undef lx
#undef ly
#undef lz

/* local_grad3, statements 0, 1 of the region at line 23:
 * e on block.x, i on block.y, k on thread.x, j on thread.y. */
__global__ void __launch_bounds__(100) local_grad3_1_s0(
        double *__restrict__ Ur, const double *__restrict__ D, const double *__restrict__ U,
        double *__restrict__ Us, const double *__restrict__ Dt) {
    const int lx = 10;
    const int ly = 10;
    const int lz = 10;
    const int e = blockIdx.x;
    const int i = blockIdx.y;
    const int k = threadIdx.x;
    const int j = threadIdx.y;
    double Ur_acc = Ur[e * lx * ly * lz + i * ly * lz + j * lz + k];
    double Us_acc = Us[e * lx * ly * lz + i * ly * lz + j * lz + k];
    Ur_acc += D[k] * U[e * lx * ly * lz + i * ly * lz + j * lz]
        + D[ly + k] * U[e * lx * ly * lz + i * ly * lz + j * lz + 1]
        + D[2 * ly + k] * U[e * lx * ly * lz + i * ly * lz + j * lz + 2]
        + D[3 * ly + k] * U[e * lx * ly * lz + i * ly * lz + j * lz + 3]
        + D[4 * ly + k] * U[e * lx * ly * lz + i * ly * lz + j * lz + 4]
        + D[5 * ly + k] * U[e * lx * ly * lz + i * ly * lz + j * lz + 5]
        + D[6 * ly + k] * U[e * lx * ly * lz + i * ly * lz + j * lz + 6]
        + D[7 * ly + k] * U[e * lx * ly * lz + i * ly * lz + j * lz + 7]
        + D[8 * ly + k] * U[e * lx * ly * lz + i * ly * lz + j * lz + 8]
        + D[9 * ly + k] * U[e * lx * ly * lz + i * ly * lz + j * lz + 9];
    Us_acc += U[e * lx * ly * lz + i * ly * lz + k] * Dt[j * ly]
        + U[e * lx * ly * lz + i * ly * lz + lz + k] * Dt[j * ly + 1]
        + U[e * lx * ly * lz + i * ly * lz + 2 * lz + k] * Dt[j * ly + 2]
        + U[e * lx * ly * lz + i * ly * lz + 3 * lz + k] * Dt[j * ly + 3]
        + U[e * lx * ly * lz + i * ly * lz + 4 * lz + k] * Dt[j * ly + 4]
        + U[e * lx * ly * lz + i * ly * lz + 5 * lz + k] * Dt[j * ly + 5]
        + U[e * lx * ly * lz + i * ly * lz + 6 * lz + k] * Dt[j * ly + 6]
        + U[e * lx * ly * lz + i * ly * lz + 7 * lz + k] * Dt[j * ly + 7]
        + U[e * lx * ly * lz + i * ly * lz + 8 * lz + k] * Dt[j * ly + 8]
        + U[e * lx * ly * lz + i * ly * lz + 9 * lz + k] * Dt[j * ly + 9];
    Us[e * lx * ly * lz + i * ly * lz + j * lz + k] = Us_acc;
    Ur[e * lx * ly * lz + i * ly * lz + j * lz + k] = Ur_acc;
}

/* local_grad3, statement 2 of the region at line 23:
 * e on block.x, j on block.y, k on thread.x, i on thread.y. */
__global__ void __launch_bounds__(100) local_grad3_1_s2(
        const double *__restrict__ U, const double *__restrict__ Dt, double *__restrict__ Ut) {
    const int lx = 10;
    const int ly = 10;
    const int lz = 10;
    const int e = blockIdx.x;
    const int j = blockIdx.y;
    const int k = threadIdx.x;
    const int i = threadIdx.y;
    double Ut_acc = Ut[e * lx * ly * lz + i * ly * lz + j * lz + k];
    Ut_acc += U[e * lx * ly * lz + j * lz + k] * Dt[i * ly]
        + U[e * lx * ly * lz + ly * lz + j * lz + k] * Dt[i * ly + 1]
        + U[e * lx * ly * lz + 2 * (ly * lz) + j * lz + k] * Dt[i * ly + 2]
        + U[e * lx * ly * lz + 3 * (ly * lz) + j * lz + k] * Dt[i * ly + 3]
        + U[e * lx * ly * lz + 4 * (ly * lz) + j * lz + k] * Dt[i * ly + 4]
        + U[e * lx * ly * lz + 5 * (ly * lz) + j * lz + k] * Dt[i * ly + 5]
        + U[e * lx * ly * lz + 6 * (ly * lz) + j * lz + k] * Dt[i * ly + 6]
        + U[e * lx * ly * lz + 7 * (ly * lz) + j * lz + k] * Dt[i * ly + 7]
        + U[e * lx * ly * lz + 8 * (ly * lz) + j * lz + k] * Dt[i * ly + 8]
        + U[e * lx * ly * lz + 9 * (ly * lz) + j * lz + k] * Dt[i * ly + 9];
    Ut[e * lx * ly * lz + i * ly * lz + j * lz + k] = Ut_acc;
}

/* The nest as written: for sizes, overlaps and errors that the kernels leave. */
static void local_grad3_1_original(
        int nelt, int lx, int ly, int lz, double *Ur, const double *D, const double *U,
        double *Us, const double *Dt, double *Ut) {
    for (int e = 0; e < nelt; e++) {
        for (int i = 0; i < lx; i++) {
            for (int j = 0; j < ly; j++) {
                for (int k = 0; k < lz; k++) {
                    for (int m = 0; m < lx; m++) {
                        Ur[e * lx * ly * lz + i * ly * lz + j * lz + k] += D[m * ly + k] * U[e * lx * ly * lz + i * ly * lz + j * lz + m];
                    }
                }
            }
        }
        for (int i = 0; i < lx; i++) {
            for (int j = 0; j < ly; j++) {
                for (int k = 0; k < lz; k++) {
                    for (int m = 0; m < ly; m++) {
                        Us[e * lx * ly * lz + i * ly * lz + j * lz + k] += U[e * lx * ly * lz + i * ly * lz + m * lz + k] * Dt[j * ly + m];
                    }
                }
            }
        }
        for (int i = 0; i < lx; i++) {
            for (int j = 0; j < ly; j++) {
                for (int k = 0; k < lz; k++) {
                    for (int m = 0; m < lx; m++) {
                        Ut[e * lx * ly * lz + i * ly * lz + j * lz + k] += U[e * lx * ly * lz + m * ly * lz + j * lz + k] * Dt[i * ly + m];
                    }
                }
            }
        }
    }
}

/* Elements of Ur that the region touches. */
static long long local_grad3_1_Ur_count(long long nelt, long long lx, long long ly, long long lz) {
    return lz * ly * lx * nelt;
}

/* Elements of D that the region touches. */
static long long local_grad3_1_D_count(long long lx, long long ly, long long lz) {
    return ly * lx + lz - ly;
}

/* Elements of U that the region touches. */
static long long local_grad3_1_U_count(long long nelt, long long lx, long long ly, long long lz) {
    return lz * ly * lx * nelt + lx - lz;
}

/* Elements of Us that the region touches. */
static long long local_grad3_1_Us_count(long long nelt, long long lx, long long ly, long long lz) {
    return lz * ly * lx * nelt;
}

/* Elements of Dt that the region touches. */
static long long local_grad3_1_Dt_count(long long ly) {
    return ly * ly;
}

/* Elements of Ut that the region touches. */
static long long local_grad3_1_Ut_count(long long nelt, long long lx, long long ly, long long lz) {
    return lz * ly * lx * nelt;
}

static cudaError_t local_grad3_1_launch(
        int nelt, int lx, int ly, int lz, double *Ur, const double *D, const double *U,
        double *Us, const double *Dt, double *Ut) {
    {
        const dim3 blocks(1000, 10, 1);
        const dim3 threads(10, 10, 1);
        local_grad3_1_s0<<<blocks, threads>>>(Ur, D, U, Us, Dt);
    }
    {
        const dim3 blocks(1000, 10, 1);
        const dim3 threads(10, 10, 1);
        local_grad3_1_s2<<<blocks, threads>>>(U, Dt, Ut);
    }
    return cudaGetLastError();
}

static cudaError_t local_grad3_1_device(
        int nelt, int lx, int ly, int lz, double *Ur, const double *D, const double *U,
        double *Us, const double *Dt, double *Ut) {
    const size_t Ur_bytes = sizeof(double) * local_grad3_1_Ur_count(nelt, lx, ly, lz);
    const size_t D_bytes = sizeof(double) * local_grad3_1_D_count(lx, ly, lz);
    const size_t U_bytes = sizeof(double) * local_grad3_1_U_count(nelt, lx, ly, lz);
    const size_t Us_bytes = sizeof(double) * local_grad3_1_Us_count(nelt, lx, ly, lz);
    const size_t Dt_bytes = sizeof(double) * local_grad3_1_Dt_count(ly);
    const size_t Ut_bytes = sizeof(double) * local_grad3_1_Ut_count(nelt, lx, ly, lz);
    double *d_Ur = NULL;
    double *d_D = NULL;
    double *d_U = NULL;
    double *d_Us = NULL;
    double *d_Dt = NULL;
    double *d_Ut = NULL;
    double *h_Ur = NULL;
    double *h_Us = NULL;
    double *h_Ut = NULL;
    cudaError_t status = cudaSuccess;
    if (status == cudaSuccess)
        status = annotune_allocate((void **)&d_Ur, Ur_bytes);
    if (status == cudaSuccess)
        status = annotune_allocate((void **)&d_D, D_bytes);
    if (status == cudaSuccess)
        status = annotune_allocate((void **)&d_U, U_bytes);
    if (status == cudaSuccess)
        status = annotune_allocate((void **)&d_Us, Us_bytes);
    if (status == cudaSuccess)
        status = annotune_allocate((void **)&d_Dt, Dt_bytes);
    if (status == cudaSuccess)
        status = annotune_allocate((void **)&d_Ut, Ut_bytes);
    if (status == cudaSuccess)
        status = cudaMemcpy(d_Ur, Ur, Ur_bytes, cudaMemcpyHostToDevice);
    if (status == cudaSuccess)
        status = cudaMemcpy(d_D, D, D_bytes, cudaMemcpyHostToDevice);
    if (status == cudaSuccess)
        status = cudaMemcpy(d_U, U, U_bytes, cudaMemcpyHostToDevice);
    if (status == cudaSuccess)
        status = cudaMemcpy(d_Us, Us, Us_bytes, cudaMemcpyHostToDevice);
    if (status == cudaSuccess)
        status = cudaMemcpy(d_Dt, Dt, Dt_bytes, cudaMemcpyHostToDevice);
    if (status == cudaSuccess)
        status = cudaMemcpy(d_Ut, Ut, Ut_bytes, cudaMemcpyHostToDevice);
    if (status == cudaSuccess)
        status = local_grad3_1_launch(nelt, lx, ly, lz, d_Ur, d_D, d_U, d_Us, d_Dt, d_Ut);
    if (status == cudaSuccess)
        status = cudaDeviceSynchronize();
    if (status == cudaSuccess) {
        h_Ur = (double *)malloc(Ur_bytes);
        if (h_Ur == NULL)
            status = cudaErrorMemoryAllocation;
    }
    if (status == cudaSuccess) {
        h_Us = (double *)malloc(Us_bytes);
        if (h_Us == NULL)
            status = cudaErrorMemoryAllocation;
    }
    if (status == cudaSuccess) {
        h_Ut = (double *)malloc(Ut_bytes);
        if (h_Ut == NULL)
            status = cudaErrorMemoryAllocation;
    }
    if (status == cudaSuccess)
        status = cudaMemcpy(h_Ur, d_Ur, Ur_bytes, cudaMemcpyDeviceToHost);
    if (status == cudaSuccess)
        status = cudaMemcpy(h_Us, d_Us, Us_bytes, cudaMemcpyDeviceToHost);
    if (status == cudaSuccess)
        status = cudaMemcpy(h_Ut, d_Ut, Ut_bytes, cudaMemcpyDeviceToHost);
    if (status == cudaSuccess) {
        memcpy(Ur, h_Ur, Ur_bytes);
        memcpy(Us, h_Us, Us_bytes);
        memcpy(Ut, h_Ut, Ut_bytes);
    }
    free(h_Ur);
    free(h_Us);
    free(h_Ut);
    annotune_free(d_Ur, status);
    annotune_free(d_D, status);
    annotune_free(d_U, status);
    annotune_free(d_Us, status);
    annotune_free(d_Dt, status);
    annotune_free(d_Ut, status);
    return status;
}

extern "C" void annotune_local_grad3_1(
        int nelt, int lx, int ly, int lz, double *Ur, const double *D, const double *U,
        double *Us, const double *Dt, double *Ut) {
    const size_t Ur_bytes = sizeof(double) * local_grad3_1_Ur_count(nelt, lx, ly, lz);
    const size_t D_bytes = sizeof(double) * local_grad3_1_D_count(lx, ly, lz);
    const size_t U_bytes = sizeof(double) * local_grad3_1_U_count(nelt, lx, ly, lz);
    const size_t Us_bytes = sizeof(double) * local_grad3_1_Us_count(nelt, lx, ly, lz);
    const size_t Dt_bytes = sizeof(double) * local_grad3_1_Dt_count(ly);
    const size_t Ut_bytes = sizeof(double) * local_grad3_1_Ut_count(nelt, lx, ly, lz);
    bool fits = true;
    fits = fits && nelt == 1000;
    fits = fits && lx == 10;
    fits = fits && ly == 10;
    fits = fits && lz == 10;
    fits = fits && annotune_apart(Ur, Ur_bytes, D, D_bytes);
    fits = fits && annotune_apart(Ur, Ur_bytes, U, U_bytes);
    fits = fits && annotune_apart(Ur, Ur_bytes, Us, Us_bytes);
    fits = fits && annotune_apart(Ur, Ur_bytes, Dt, Dt_bytes);
    fits = fits && annotune_apart(Ur, Ur_bytes, Ut, Ut_bytes);
    fits = fits && annotune_apart(D, D_bytes, Us, Us_bytes);
    fits = fits && annotune_apart(D, D_bytes, Ut, Ut_bytes);
    fits = fits && annotune_apart(U, U_bytes, Us, Us_bytes);
    fits = fits && annotune_apart(U, U_bytes, Ut, Ut_bytes);
    fits = fits && annotune_apart(Us, Us_bytes, Dt, Dt_bytes);
    fits = fits && annotune_apart(Us, Us_bytes, Ut, Ut_bytes);
    fits = fits && annotune_apart(Dt, Dt_bytes, Ut, Ut_bytes);
    if (fits) {
        const cudaError_t status = local_grad3_1_device(nelt, lx, ly, lz, Ur, D, U, Us, Dt, Ut);
        if (status == cudaSuccess)
            return;
        annotune_tell("annotune_local_grad3_1", status);
    }
    local_grad3_1_original(nelt, lx, ly, lz, Ur, D, U, Us, Dt, Ut);
}
