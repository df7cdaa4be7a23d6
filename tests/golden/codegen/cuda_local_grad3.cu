
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

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

/* Copies between the program's arrays and the device's memory.
 *
 * The bus is several times faster to and from pinned memory than to and from what malloc returns. So
 * threads copy an array in chunks to, or from, the slots of a pinned ring, while the bus has others.
 * The calling thread alone calls the CUDA library. What the program has pinned itself is copied
 * straight, and what is managed or on the device already is not copied at all.
 *
 * A build may set: the bytes of a chunk, how many slots there are, and how many threads copy. Where
 * files of a program are built with other figures, those of one are taken.
 */
#ifndef ANNOTUNE_CHUNK
#define ANNOTUNE_CHUNK (1 << 20)
#endif
#ifndef ANNOTUNE_SLOTS
#define ANNOTUNE_SLOTS 32
#endif
#ifndef ANNOTUNE_COPIERS
#define ANNOTUNE_COPIERS 12
#endif
static_assert(ANNOTUNE_CHUNK > 0 && ANNOTUNE_SLOTS > 0 && ANNOTUNE_COPIERS >= 0,
              "the ring needs a slot of some bytes");

/* How the device reaches an array: through the ring, straight, by a copy of its own, or in place. */
enum annotune_way { ANNOTUNE_STAGED, ANNOTUNE_STRAIGHT, ANNOTUNE_FOREIGN, ANNOTUNE_IN_PLACE };

/* An array of a call. Kernels get a section of memory, of which `bytes` from `before` on are those
 * of the program from `first` on that are sent before the kernels, or fetched behind them. */
struct annotune_array {
    void *first;
    size_t bytes, before, section;
    bool is_sent, is_fetched;
    annotune_way way = ANNOTUNE_STAGED;
    char *device = NULL;
    /* What is there before the call, where the program's nest may need it after all. */
    char *saved = NULL;
    bool is_given = false; /* whether kernels may have written to it */
};

/* A chunk in a pinned ring: what a thread has to copy, and what the device does with its memory. */
struct annotune_slot {
    void *to;
    const void *from;
    size_t bytes;
    int is_done;
    char *memory;
    cudaEvent_t event;
};
/* The ring of the program, which one call has at a time; copies are begun and taken in order. */
struct annotune_ring {
    pthread_mutex_t call, turn;
    pthread_cond_t more;
    long begun, taken;
    int device, copiers;
    bool ends;
    size_t chunk;
    int most_slots, most_copiers;
    annotune_slot *slots;
    pthread_t *threads;
};
__attribute__((weak)) annotune_slot annotune_slots[ANNOTUNE_SLOTS] = {};
__attribute__((weak)) pthread_t annotune_threads[ANNOTUNE_COPIERS + 1] = {};
__attribute__((weak)) annotune_ring annotune_copies = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
    0, 0, 0, 0, false, ANNOTUNE_CHUNK, ANNOTUNE_SLOTS, ANNOTUNE_COPIERS,
    annotune_slots, annotune_threads};

static annotune_slot &annotune_slot_of(long number)
{
    return annotune_copies.slots[number % annotune_copies.most_slots];
}

/* Copy past the caches: what a chunk overwrites is neither fetched first nor read soon. The slots of
 * the ring stay in them, from where the bus reads. */
static void annotune_copy_past_caches(void *to, const void *from, size_t bytes)
{
#ifdef __SSE2__
    const size_t head = -(size_t)to % 64 < bytes ? -(size_t)to % 64 : bytes;
    const size_t body = (bytes - head) / 64 * 64;
    memcpy(to, from, head);
    char *const lines = (char *)to + head;
    const char *const read = (const char *)from + head;
    for (size_t k = 0; k < body; k += 64) {
        const __m128i *const four = (const __m128i *)(read + k);
        const __m128i a = _mm_loadu_si128(four), b = _mm_loadu_si128(four + 1);
        const __m128i c = _mm_loadu_si128(four + 2), d = _mm_loadu_si128(four + 3);
        __m128i *const line = (__m128i *)(lines + k);
        _mm_stream_si128(line, a);
        _mm_stream_si128(line + 1, b);
        _mm_stream_si128(line + 2, c);
        _mm_stream_si128(line + 3, d);
    }
    _mm_sfence();
    memcpy(lines + body, read + body, bytes - head - body);
#else
    memcpy(to, from, bytes);
#endif
}

/* Do the oldest copy that nobody has taken, and none behind `last`; false where there is none. */
static bool annotune_copy_one(long last)
{
    annotune_ring &ring = annotune_copies;
    pthread_mutex_lock(&ring.turn);
    const bool is_there = ring.taken < ring.begun && ring.taken <= last;
    const long number = is_there ? ring.taken++ : 0;
    pthread_mutex_unlock(&ring.turn);
    if (!is_there)
        return false;
    annotune_slot &slot = annotune_slot_of(number);
    if (slot.bytes > 0 && slot.to == slot.memory)
        memcpy(slot.to, slot.from, slot.bytes);
    else if (slot.bytes > 0)
        annotune_copy_past_caches(slot.to, slot.from, slot.bytes);
    __atomic_store_n(&slot.is_done, 1, __ATOMIC_RELEASE);
    return true;
}

static void *annotune_copier(void *)
{
    annotune_ring &ring = annotune_copies;
    for (;;) {
        pthread_mutex_lock(&ring.turn);
        while (ring.taken == ring.begun && !ring.ends)
            pthread_cond_wait(&ring.more, &ring.turn);
        const bool ends = ring.ends;
        const long last = ring.begun;
        pthread_mutex_unlock(&ring.turn);
        if (ends)
            return NULL;
        annotune_copy_one(last);
    }
}

extern "C" {
__attribute__((weak)) int omp_get_num_places(void);
__attribute__((weak)) int omp_get_place_num_procs(int place);
__attribute__((weak)) void omp_get_place_proc_ids(int place, int *processors);
}
/* Find the processors that the caller may use: also where OpenMP has bound it to one of its places. */
static int annotune_usable(cpu_set_t *usable)
{
    CPU_ZERO(usable);
    if (sched_getaffinity(0, sizeof *usable, usable) != 0)
        return 1;
    const bool is_openmp = omp_get_num_places != NULL && omp_get_place_num_procs != NULL
                           && omp_get_place_proc_ids != NULL;
    const int places = is_openmp ? omp_get_num_places() : 0;
    int found[CPU_SETSIZE];
    for (int place = 0; place < places; place++) {
        const int count = omp_get_place_num_procs(place);
        if (count > CPU_SETSIZE)
            continue;
        omp_get_place_proc_ids(place, found);
        for (int k = 0; k < count; k++)
            if (found[k] < CPU_SETSIZE)
                CPU_SET(found[k], usable);
    }
    return CPU_COUNT(usable);
}

/* Start the threads, one less than the processors that the caller may use; it copies, too. */
static void annotune_start_copiers(void)
{
    annotune_ring &ring = annotune_copies;
    cpu_set_t usable;
    const int found = annotune_usable(&usable);
    const int wanted = (found < ring.most_copiers ? found : ring.most_copiers) - 1;
    pthread_attr_t there;
    if (wanted <= ring.copiers || pthread_attr_init(&there) != 0)
        return;
    pthread_attr_setaffinity_np(&there, sizeof usable, &usable);
    /* Signals are for the threads of the program, but what touching its memory raises. */
    sigset_t all, own;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &own);
    while (ring.copiers < wanted
           && pthread_create(&ring.threads[ring.copiers], &there, annotune_copier, NULL) == 0)
        ring.copiers++;
    pthread_sigmask(SIG_SETMASK, &own, NULL);
    pthread_attr_destroy(&there);
}

static void annotune_begin_copy(long number, void *to, const void *from, size_t bytes)
{
    annotune_ring &ring = annotune_copies;
    annotune_slot &slot = annotune_slot_of(number);
    slot.to = to;
    slot.from = from;
    slot.bytes = bytes;
    __atomic_store_n(&slot.is_done, 0, __ATOMIC_RELAXED);
    pthread_mutex_lock(&ring.turn);
    ring.begun = number + 1;
    pthread_mutex_unlock(&ring.turn);
    if (ring.copiers > 0 && bytes > 0)
        pthread_cond_signal(&ring.more);
}

/* Wait for a copy; what nobody has taken yet the caller does itself. */
static void annotune_end_copy(long number)
{
    while (!__atomic_load_n(&annotune_slot_of(number).is_done, __ATOMIC_ACQUIRE))
        if (!annotune_copy_one(number))
            sched_yield();
}

/* Find out how the device reaches an array, and get the memory for it. */
static cudaError_t annotune_place(annotune_array &array)
{
    int device = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status != cudaSuccess)
        return status;
    cudaPointerAttributes of_first, of_last;
    char *const first = (char *)array.first, *const section = first - array.before;
    array.way = ANNOTUNE_STAGED;
    if (array.bytes > 0 && cudaPointerGetAttributes(&of_first, first) == cudaSuccess
        && cudaPointerGetAttributes(&of_last, first + array.bytes - 1) == cudaSuccess
        && of_first.type == of_last.type) {
        const bool is_device = of_first.type == cudaMemoryTypeDevice;
        const bool is_near = of_first.type == cudaMemoryTypeManaged
                             || (is_device && of_first.device == device);
        /* Kernels read neighbours at once, from where memory of the library's begins. */
        if (is_near && (size_t)section % 16 == 0)
            array.way = ANNOTUNE_IN_PLACE;
        else if (is_near || is_device)
            array.way = ANNOTUNE_FOREIGN;
        else if (of_first.type == cudaMemoryTypeHost)
            array.way = ANNOTUNE_STRAIGHT;
    } else {
        cudaGetLastError();
    }
    if (array.way == ANNOTUNE_IN_PLACE) {
        array.device = section;
        return cudaSuccess;
    }
    status = annotune_allocate((void **)&array.device, array.section);
    /* What is overwritten without having been read need not be put back. */
    const bool is_host = array.way == ANNOTUNE_STAGED || array.way == ANNOTUNE_STRAIGHT;
    if (status == cudaSuccess && is_host && array.is_sent && array.is_fetched)
        status = annotune_allocate((void **)&array.saved, array.bytes, true);
    return status;
}

enum annotune_purpose { ANNOTUNE_SEND, ANNOTUNE_SAVE, ANNOTUNE_FETCH };

/* The chunks of arrays that are copied for a purpose, numbered one after the other. */
struct annotune_chunks {
    const annotune_purpose purpose;
    annotune_array *array, *const end;
    size_t from;
    long number;
    annotune_chunks(annotune_purpose why, annotune_array *arrays, int count)
        : purpose(why), array(arrays), end(arrays + count), from(0), number(0)
    {
        skip();
    }
    bool is_there() const { return array != end; }
    bool is_staged() const { return array->way == ANNOTUNE_STAGED; }
    size_t bytes() const
    {
        const bool is_whole = purpose != ANNOTUNE_SAVE && !is_staged();
        const size_t left = array->bytes - from, most = annotune_copies.chunk;
        return is_whole || left < most ? left : most;
    }
    char *host() const { return (char *)array->first + from; }
    char *device() const { return array->device + array->before + from; }
    /* Whether the chunk passes through its slot's memory: what is saved is sent from there. */
    bool is_in_slot() const
    {
        return is_staged() && (purpose == ANNOTUNE_FETCH || array->saved == NULL);
    }
    /* The host's end of the copy by the bus. */
    char *memory() const
    {
        if (is_in_slot())
            return annotune_slot_of(number).memory;
        return is_staged() ? array->saved + from : host();
    }
    void next()
    {
        from += bytes();
        number++;
        if (from == array->bytes) {
            array++;
            skip();
        }
    }
    void skip()
    {
        for (from = 0; array != end && !is_wanted(); array++) {
        }
    }
    bool is_wanted() const
    {
        if (array->bytes == 0 || array->way == ANNOTUNE_IN_PLACE)
            return false;
        if (purpose == ANNOTUNE_SAVE)
            return array->saved != NULL && !is_staged();
        return purpose == ANNOTUNE_SEND ? array->is_sent : array->is_fetched;
    }
};

/* Wait until the device has done with a slot, and see that it has all that the chunk needs. */
static cudaError_t annotune_ready(const annotune_chunks &chunk)
{
    annotune_slot &slot = annotune_slot_of(chunk.number);
    cudaError_t status = cudaSuccess;
    if (slot.event == NULL)
        status = cudaEventCreateWithFlags(&slot.event, cudaEventDisableTiming);
    else
        status = cudaEventSynchronize(slot.event);
    if (status == cudaSuccess && slot.memory == NULL && chunk.is_in_slot())
        status = cudaHostAlloc((void **)&slot.memory, annotune_copies.chunk,
                               cudaHostAllocPortable);
    return status;
}

/* Put a chunk's copy by the bus into the stream of the kernels. */
static cudaError_t annotune_ship(const annotune_chunks &chunk)
{
    const bool is_sent = chunk.purpose == ANNOTUNE_SEND;
    char *const to = is_sent ? chunk.device() : chunk.memory();
    const char *const from = is_sent ? chunk.memory() : chunk.device();
    const cudaError_t status = cudaMemcpyAsync(to, from, chunk.bytes(), cudaMemcpyDefault, 0);
    if (status != cudaSuccess)
        return status;
    return cudaEventRecord(annotune_slot_of(chunk.number).event, 0);
}

/* Begin what comes first of a chunk: the threads' copy, or the bus's of what is fetched. */
static cudaError_t annotune_begin(const annotune_chunks &chunk)
{
    cudaError_t status = cudaSuccess;
    const int slots = annotune_copies.most_slots;
    if (chunk.purpose == ANNOTUNE_FETCH && chunk.number >= slots)
        annotune_end_copy(chunk.number - slots);
    if (chunk.purpose != ANNOTUNE_SAVE)
        status = annotune_ready(chunk);
    if (status != cudaSuccess)
        return status;
    if (chunk.purpose == ANNOTUNE_FETCH)
        return annotune_ship(chunk);
    char *const to = chunk.is_staged() ? chunk.memory() : chunk.array->saved + chunk.from;
    const bool is_copied = chunk.is_staged() || chunk.purpose == ANNOTUNE_SAVE;
    annotune_begin_copy(chunk.number, to, chunk.host(), is_copied ? chunk.bytes() : 0);
    return cudaSuccess;
}

/* Wait for what came first, and go on with the rest. */
static cudaError_t annotune_go_on(const annotune_chunks &chunk)
{
    if (chunk.purpose != ANNOTUNE_FETCH) {
        annotune_end_copy(chunk.number);
        return chunk.purpose == ANNOTUNE_SEND ? annotune_ship(chunk) : cudaSuccess;
    }
    const cudaError_t status = cudaEventSynchronize(annotune_slot_of(chunk.number).event);
    if (status == cudaSuccess) {
        const size_t bytes = chunk.is_staged() ? chunk.bytes() : 0;
        annotune_begin_copy(chunk.number, chunk.host(), chunk.memory(), bytes);
    }
    return status;
}

/* Copy all chunks for a purpose. Of the slots half are with the threads and half with the bus: a
 * slot is taken anew when what was begun with it is long done. */
static cudaError_t annotune_move(annotune_purpose purpose, annotune_array *arrays, int count)
{
    annotune_ring &ring = annotune_copies;
    pthread_mutex_lock(&ring.turn);
    ring.begun = ring.taken = 0;
    pthread_mutex_unlock(&ring.turn);
    annotune_chunks ahead(purpose, arrays, count), behind(purpose, arrays, count);
    cudaError_t status = cudaSuccess;
    for (; status == cudaSuccess && behind.is_there(); behind.next()) {
        for (; status == cudaSuccess && ahead.is_there()
               && ahead.number < behind.number + (ring.most_slots + 1) / 2; ahead.next())
            status = annotune_begin(ahead);
        if (status == cudaSuccess)
            status = annotune_go_on(behind);
    }
    const long begun = ring.begun;
    for (long one = begun < ring.most_slots ? 0 : begun - ring.most_slots; one < begun; one++)
        annotune_end_copy(one);
    return status;
}

/* A call's turn to have the ring, whose events are of the device in use. */
struct annotune_ring_turn {
    const annotune_lock lock;
    cudaError_t status;
    annotune_ring_turn() : lock(&annotune_copies.call)
    {
        annotune_ring &ring = annotune_copies;
        int device = 0;
        status = cudaGetDevice(&device);
        if (status != cudaSuccess || device == ring.device)
            return;
        for (int k = 0; k < ring.most_slots; k++) {
            annotune_slot &slot = ring.slots[k];
            if (slot.event != NULL && cudaEventSynchronize(slot.event) == cudaSuccess)
                cudaEventDestroy(slot.event);
            slot.event = NULL;
        }
        ring.device = device;
    }
};

/* Give the ring back, and end its threads. */
static void annotune_end_copiers(void)
{
    annotune_ring &ring = annotune_copies;
    const annotune_ring_turn turn;
    pthread_mutex_lock(&ring.turn);
    ring.ends = true;
    pthread_mutex_unlock(&ring.turn);
    pthread_cond_broadcast(&ring.more);
    while (ring.copiers > 0)
        pthread_join(ring.threads[--ring.copiers], NULL);
    ring.ends = false;
    for (int k = 0; k < ring.most_slots; k++) {
        annotune_slot &slot = ring.slots[k];
        if (slot.event != NULL) {
            cudaEventSynchronize(slot.event);
            cudaEventDestroy(slot.event);
        }
        if (slot.memory != NULL)
            cudaFreeHost(slot.memory);
        slot.event = NULL;
        slot.memory = NULL;
    }
}

/* Get memory of the device for the arrays of a call, and put copies of what is read there. */
static cudaError_t annotune_send(annotune_array *arrays, int count)
{
    size_t copied = 0;
    for (int k = 0; k < count; k++) {
        const annotune_array &array = arrays[k];
        const cudaError_t status = annotune_place(arrays[k]);
        if (status != cudaSuccess)
            return status;
        const bool is_staged = array.way == ANNOTUNE_STAGED && (array.is_sent || array.is_fetched);
        copied += is_staged || array.saved != NULL ? array.bytes : 0;
    }
    const annotune_ring_turn turn;
    if (turn.status != cudaSuccess)
        return turn.status;
    __atomic_store_n(&annotune_release_copies, &annotune_end_copiers, __ATOMIC_RELEASE);
    if (copied > annotune_copies.chunk)
        annotune_start_copiers();
    cudaError_t status = annotune_move(ANNOTUNE_SEND, arrays, count);
    /* While the bus reads what the program has pinned. */
    if (status == cudaSuccess)
        status = annotune_move(ANNOTUNE_SAVE, arrays, count);
    for (int k = 0; k < count; k++)
        arrays[k].is_given = status == cudaSuccess;
    return status;
}

/* Let the program's nest run on its arrays, which must be the host's then. */
static void annotune_on_host(const char *entry, const void *const *arrays, int count)
{
    for (int k = 0; k < count; k++) {
        cudaPointerAttributes found;
        if (cudaPointerGetAttributes(&found, arrays[k]) != cudaSuccess) {
            cudaGetLastError();
            continue;
        }
        const bool is_managed = found.type == cudaMemoryTypeManaged;
        if (is_managed ? cudaDeviceSynchronize() == cudaSuccess : found.type != cudaMemoryTypeDevice)
            continue;
        fprintf(stderr, "%s: the nest runs on the host, and an array is in memory of the device; "
                "stopping\n", entry);
        abort();
    }
}

/* Fetch what the kernels of a call have written, where nothing has failed. Else the arrays are left,
 * or put back, as they were before; those on the device cannot be. */
static cudaError_t annotune_fetch(
        const char *entry, annotune_array *arrays, int count, cudaError_t status)
{
    bool is_spoilt = false;
    if (status == cudaSuccess) {
        const annotune_ring_turn turn;
        status = turn.status;
        is_spoilt = status == cudaSuccess;
        if (status == cudaSuccess)
            status = annotune_move(ANNOTUNE_FETCH, arrays, count);
    }
    /* Also where something has failed: what is under way still reads and writes. */
    const cudaError_t last = cudaStreamSynchronize(0);
    status = status == cudaSuccess ? last : status;
    for (int k = 0; k < count; k++) {
        annotune_array &array = arrays[k];
        /* Of memory of the device the program has no other copy. */
        const bool is_changed = array.way == ANNOTUNE_IN_PLACE ? array.is_given
                                : array.way == ANNOTUNE_FOREIGN && is_spoilt;
        if (status != cudaSuccess && array.is_fetched && is_changed) {
            fprintf(stderr, "%s: %s; the device's data are changed already, stopping\n", entry,
                    cudaGetErrorString(status));
            abort();
        }
        if (status != cudaSuccess && is_spoilt && array.saved != NULL)
            memcpy(array.first, array.saved, array.bytes);
        if (array.way != ANNOTUNE_IN_PLACE)
            annotune_free(array.device, status);
        annotune_free(array.saved, status);
    }
    /* The next call is not to take this one's error for its own. */
    if (status != cudaSuccess)
        cudaGetLastError();
    return status;
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
    annotune_array arrays[] = {
        {(void *)(Ur), Ur_bytes, 0, Ur_bytes, true, true},
        {(void *)(D), D_bytes, 0, D_bytes, true, false},
        {(void *)(U), U_bytes, 0, U_bytes, true, false},
        {(void *)(Us), Us_bytes, 0, Us_bytes, true, true},
        {(void *)(Dt), Dt_bytes, 0, Dt_bytes, true, false},
        {(void *)(Ut), Ut_bytes, 0, Ut_bytes, true, true},
    };
    cudaError_t status = annotune_send(arrays, 6);
    double *const d_Ur = (double *)arrays[0].device;
    double *const d_D = (double *)arrays[1].device;
    double *const d_U = (double *)arrays[2].device;
    double *const d_Us = (double *)arrays[3].device;
    double *const d_Dt = (double *)arrays[4].device;
    double *const d_Ut = (double *)arrays[5].device;
    if (status == cudaSuccess)
        status = local_grad3_1_launch(nelt, lx, ly, lz, d_Ur, d_D, d_U, d_Us, d_Dt, d_Ut);
    return annotune_fetch("annotune_local_grad3_1", arrays, 6, status);
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
    {
        const void *const arrays[] = {
            Ur,
            D,
            U,
            Us,
            Dt,
            Ut,
        };
        annotune_on_host("annotune_local_grad3_1", arrays, 6);
    }
    local_grad3_1_original(nelt, lx, ly, lz, Ur, D, U, Us, Dt, Ut);
}
