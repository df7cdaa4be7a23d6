"""Memory of the device that calls leave for later ones, as text of ``S.cu``.

A program calls a region again and again with arrays of the same sizes, and an allocation costs more
than many a kernel. So what a call has had stays, block by block, until the program asks for it
back; a request finds a block that is not much larger, else it replaces one that is too small. All
files of a program share the blocks: their definitions are weak.
"""

from __future__ import annotations

from collections.abc import Collection

ALLOCATE, FREE, TELL = "annotune_allocate", "annotune_free", "annotune_tell"

KEPT = """\
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
"""


# A program whose device fails calls its regions a million times.
TOLD = """\
/* Say once in a program that a device has failed, however many calls do. */
__attribute__((weak)) bool annotune_is_told = false;
static void annotune_tell(const char *entry, cudaError_t status)
{
    if (!annotune_is_told)
        fprintf(stderr, "%s: %s; running the original nest, as all calls that fail\\n", entry,
                cudaGetErrorString(status));
    annotune_is_told = true;
}
"""


def kept_memory(called: Collection[str]) -> str:
    """Return the functions for a text that allocates, empty for others."""
    return KEPT if ALLOCATE in called else ""
