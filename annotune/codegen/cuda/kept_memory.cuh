/* Memory that calls leave for later ones; annotune_release() gives it back. */
enum { ANNOTUNE_PINNED = -1 };
struct annotune_block {
    void *memory;
    size_t bytes;
    int place; /* the number of a device, or ANNOTUNE_PINNED: memory of the host */
    bool is_free;
    annotune_block *next;
};
/* All blocks of the program. One may be so many bytes longer than twice what is asked for. */
struct annotune_blocks {
    size_t slack;
    annotune_block *first;
    pthread_mutex_t turn;
};
__attribute__((weak)) annotune_blocks annotune_kept = {1 << 20, NULL, PTHREAD_MUTEX_INITIALIZER};
struct annotune_lock {
    pthread_mutex_t *const mutex;
    annotune_lock(pthread_mutex_t *one) : mutex(one) { pthread_mutex_lock(mutex); }
    ~annotune_lock() { pthread_mutex_unlock(mutex); }
};

/* Take the smallest free block of a place with so many bytes that is not much larger. */
static void *annotune_taken(int place, size_t bytes)
{
    const annotune_lock lock(&annotune_kept.turn);
    annotune_block *best = NULL;
    for (annotune_block *one = annotune_kept.first; one != NULL; one = one->next)
        if (one->is_free && one->place == place && bytes <= one->bytes
            && one->bytes <= 2 * bytes + annotune_kept.slack
            && (best == NULL || one->bytes < best->bytes))
            best = one;
    if (best == NULL)
        return NULL;
    best->is_free = false;
    return best->memory;
}

static void annotune_given_back(annotune_block *one)
{
    if (one->place == ANNOTUNE_PINNED)
        cudaFreeHost(one->memory);
    else
        cudaFree(one->memory);
    free(one);
}

/* Give free blocks of a place back: all, or the largest of less than some bytes. */
static void annotune_dropped(int place, bool is_all, size_t below)
{
    const annotune_lock lock(&annotune_kept.turn);
    size_t largest = 0;
    for (annotune_block *one = annotune_kept.first; one != NULL; one = one->next)
        if (one->is_free && one->place == place && one->bytes < below && one->bytes > largest)
            largest = one->bytes;
    for (annotune_block **link = &annotune_kept.first; *link != NULL;) {
        annotune_block *const one = *link;
        if (!one->is_free || one->place != place || !(is_all || one->bytes == largest)) {
            link = &one->next;
            continue;
        }
        *link = one->next;
        annotune_given_back(one);
        if (!is_all)
            return;
    }
}

static cudaError_t annotune_new(void **memory, int place, size_t bytes)
{
    if (place == ANNOTUNE_PINNED)
        return cudaHostAlloc(memory, bytes, cudaHostAllocPortable);
    return cudaMalloc(memory, bytes);
}

/* Get memory of the device in use, or pinned memory of the host. */
static cudaError_t annotune_allocate(void **memory, size_t bytes, bool is_pinned = false)
{
    int place = ANNOTUNE_PINNED;
    *memory = NULL;
    const cudaError_t found = is_pinned ? cudaSuccess : cudaGetDevice(&place);
    if (found != cudaSuccess || bytes == 0)
        return found;
    *memory = annotune_taken(place, bytes);
    if (*memory != NULL)
        return cudaSuccess;
    annotune_dropped(place, false, bytes);
    cudaError_t status = annotune_new(memory, place, bytes);
    if (status == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        annotune_dropped(place, true, 0);
        status = annotune_new(memory, place, bytes);
    }
    if (status != cudaSuccess)
        return status;
    annotune_block *const made = (annotune_block *)malloc(sizeof *made);
    if (made == NULL) {
        if (is_pinned)
            cudaFreeHost(*memory);
        else
            cudaFree(*memory);
        *memory = NULL;
        return cudaErrorMemoryAllocation;
    }
    const annotune_lock lock(&annotune_kept.turn);
    *made = {*memory, bytes, place, false, annotune_kept.first};
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
    const annotune_lock lock(&annotune_kept.turn);
    for (annotune_block **link = &annotune_kept.first; *link != NULL; link = &(*link)->next) {
        annotune_block *const one = *link;
        if (memory == NULL || one->memory != memory)
            continue;
        if (status == cudaSuccess) {
            one->is_free = true;
            return;
        }
        *link = one->next;
        annotune_given_back(one);
        return;
    }
}

/* What else the program keeps between calls, NULL where that is nothing. */
__attribute__((weak)) void (*annotune_release_copies)(void) = NULL;

/* The first place behind another that has free blocks; ANNOTUNE_PINNED where there is none. */
static int annotune_place_behind(int place)
{
    const annotune_lock lock(&annotune_kept.turn);
    int found = ANNOTUNE_PINNED;
    for (annotune_block *one = annotune_kept.first; one != NULL; one = one->next)
        if (one->is_free && one->place > place && (found == ANNOTUNE_PINNED || one->place < found))
            found = one->place;
    return found;
}

extern "C" __attribute__((weak, visibility("default"))) void annotune_release(void)
{
    int own = 0, place = ANNOTUNE_PINNED;
    void (*const release)(void) = __atomic_load_n(&annotune_release_copies, __ATOMIC_ACQUIRE);
    if (release != NULL)
        release();
    annotune_dropped(ANNOTUNE_PINNED, true, 0);
    if (cudaGetDevice(&own) != cudaSuccess)
        return;
    /* No device is looked at that has nothing: that alone would take memory there. */
    while ((place = annotune_place_behind(place)) != ANNOTUNE_PINNED)
        if (cudaSetDevice(place) == cudaSuccess)
            annotune_dropped(place, true, 0);
    cudaSetDevice(own);
}
