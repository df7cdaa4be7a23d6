
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include <cstdint>
#include <cuda/ptx>

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
 * files of a program are built with other figures, those of one are taken. And whether what kernels only
 * add to is left on the host, where what they have computed is added to it.
 */
#ifndef ANNOTUNE_CHUNK
#define ANNOTUNE_CHUNK (1 << 20)
#endif
#ifndef ANNOTUNE_SLOTS
#define ANNOTUNE_SLOTS 64
#endif
#ifndef ANNOTUNE_COPIERS
#define ANNOTUNE_COPIERS 12
#endif
#ifndef ANNOTUNE_ADD_ON_HOST
#define ANNOTUNE_ADD_ON_HOST 1
#endif
static_assert(ANNOTUNE_CHUNK >= 16 && ANNOTUNE_SLOTS > 0 && ANNOTUNE_COPIERS >= 0,
              "the ring needs a slot of some bytes");

/* How the device reaches an array: through the ring, straight, by a copy of its own, in place, or in
 * pinned memory that both sides see. */
enum annotune_way {
    ANNOTUNE_STAGED, ANNOTUNE_STRAIGHT, ANNOTUNE_FOREIGN, ANNOTUNE_IN_PLACE, ANNOTUNE_SEEN
};

/* How what kernels add to nothing is added to an array of the program's. */
struct annotune_adding {
    cudaError_t (*begin)(void *first, size_t bytes); /* have nothing in the device's memory */
    void (*add)(void *to, const void *from, size_t bytes);
};

/* An array of a call. Kernels get a section of memory, of which `bytes` from `before` on are those
 * of the program from `first` on that are sent before the kernels, or fetched behind them. */
struct annotune_array {
    void *first;
    size_t bytes, before, section;
    bool is_sent, is_fetched;
    /* Where each iteration of those that make up the parts touches what lies so many bytes behind what
     * the one before touches; 0 where all parts need all. */
    size_t step = 0;
    /* A scalar that one thread reads and writes: two copies, with an event each, would cost more. */
    bool is_scalar = false;
    /* With strips an iteration touches so many neighbours and, `pitch` bytes behind each, others; the
     * strips between them belong to the next iterations. */
    size_t strip = 0, pitch = 0;
    /* Where kernels only add to an array of the host's, it is not sent, and what comes back is added to
     * it; so many bytes of it have been. */
    const annotune_adding *adding = NULL;
    size_t added = 0;
    annotune_way way = ANNOTUNE_STAGED;
    char *device = NULL;
    /* What is there before the call, where the program's nest may need it after all: so many bytes. */
    char *saved = NULL;
    size_t kept = 0;
    bool is_given = false; /* whether kernels may have written to it */
    /* Where a byte is when they are counted as the iterations touch them. */
    size_t place(size_t number) const
    {
        if (strip == 0)
            return number;
        const size_t all = step / strip * pitch, own = number % all, inside = own % step;
        return number - own + inside / strip * pitch + own / step * strip + inside % strip;
    }
    size_t neighbours(size_t from, size_t end) const
    {
        const size_t left = end - from, own = strip == 0 ? left : strip - from % strip;
        return left < own ? left : own;
    }
};

/* The iterations of a call, and the parts that they run in, one after the other. */
struct annotune_cut {
    long iterations, count;
    long end(long part) const { return iterations * (part + 1) / count; }
    /* How many bytes of an array are there for a part and those before it. */
    size_t sent(const annotune_array &array, long part) const
    {
        const size_t behind = array.step * (size_t)(iterations - end(part));
        return behind < array.bytes ? array.bytes - behind : 0;
    }
    /* How many nobody writes to behind a part, or reads for the first time. */
    size_t done(const annotune_array &array, long part) const
    {
        const size_t ahead = array.step * (size_t)end(part);
        const size_t there = array.is_sent ? sent(array, part) : array.bytes;
        return part == count - 1 ? array.bytes : ahead < there ? ahead : there;
    }
};

/* A chunk in a pinned ring: what a thread has to copy, and what the device does with its memory. */
struct annotune_slot {
    void *to;
    const void *from;
    size_t bytes;
    void (*add)(void *to, const void *from, size_t bytes); /* NULL for a copy */
    int is_done;
    long number; /* of the copy that was begun last */
    annotune_slot *begun; /* which one that number's copy is for, modulo the slots */
    char *memory;
    cudaEvent_t event;
};
/* Events of the parts that are computed: a part may share one with others so far ahead, and waits longer. */
enum { ANNOTUNE_COMPUTED = 16 };
/* The ring of the program, which one call has at a time; copies are taken in the order in which they are
 * begun. What is sent in parts and what is fetched have streams of their own. */
struct annotune_ring {
    pthread_mutex_t call, turn;
    pthread_cond_t more;
    long begun, taken;
    cudaStream_t up, down;
    cudaEvent_t sent, computed[ANNOTUNE_COMPUTED];
    int device, copiers;
    bool ends;
    size_t chunk;
    int most_slots, most_copiers;
    annotune_slot *slots;
    pthread_t *threads;
    annotune_ring *next; /* of another device that works beside this one */
};
__attribute__((weak)) annotune_slot annotune_slots[ANNOTUNE_SLOTS] = {};
__attribute__((weak)) pthread_t annotune_threads[ANNOTUNE_COPIERS + 1] = {};
__attribute__((weak)) annotune_ring annotune_copies = {
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
    0, 0, NULL, NULL, NULL, {}, 0, 0, false, ANNOTUNE_CHUNK, ANNOTUNE_SLOTS, ANNOTUNE_COPIERS,
    annotune_slots, annotune_threads, NULL};
/* The ring of a thread that drives a device. */
static thread_local annotune_ring *annotune_ring_here = &annotune_copies;

static annotune_slot &annotune_slot_of(long number)
{
    return annotune_ring_here->slots[number % annotune_ring_here->most_slots];
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
    annotune_ring &ring = *annotune_ring_here;
    pthread_mutex_lock(&ring.turn);
    const bool is_there = ring.taken < ring.begun && ring.taken <= last;
    annotune_slot *const taken = is_there ? annotune_slot_of(ring.taken++).begun : NULL;
    pthread_mutex_unlock(&ring.turn);
    if (!is_there)
        return false;
    annotune_slot &slot = *taken;
    if (slot.add != NULL)
        slot.add(slot.to, slot.from, slot.bytes);
    else if (slot.bytes > 0 && slot.to == slot.memory)
        memcpy(slot.to, slot.from, slot.bytes);
    else if (slot.bytes > 0)
        annotune_copy_past_caches(slot.to, slot.from, slot.bytes);
    __atomic_store_n(&slot.is_done, 1, __ATOMIC_RELEASE);
    return true;
}

static void *annotune_copier(void *given)
{
    annotune_ring &ring = *(annotune_ring *)given;
    annotune_ring_here = &ring;
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
    annotune_ring &ring = *annotune_ring_here;
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
           && pthread_create(&ring.threads[ring.copiers], &there, annotune_copier, &ring) == 0)
        ring.copiers++;
    pthread_sigmask(SIG_SETMASK, &own, NULL);
    pthread_attr_destroy(&there);
}

static void annotune_begin_copy(annotune_slot &slot, void *to, const void *from, size_t bytes,
                                const annotune_adding *adding = NULL)
{
    annotune_ring &ring = *annotune_ring_here;
    slot.add = adding == NULL ? NULL : adding->add;
    slot.to = to;
    slot.from = from;
    slot.bytes = bytes;
    __atomic_store_n(&slot.is_done, bytes == 0, __ATOMIC_RELAXED);
    if (bytes == 0)
        return;
    pthread_mutex_lock(&ring.turn);
    slot.number = ring.begun++;
    annotune_slot_of(slot.number).begun = &slot;
    pthread_mutex_unlock(&ring.turn);
    if (ring.copiers > 0)
        pthread_cond_signal(&ring.more);
}

/* Wait for a slot's copy; what nobody has taken yet the caller does itself. */
static void annotune_end_copy(annotune_slot &slot)
{
    while (!__atomic_load_n(&slot.is_done, __ATOMIC_ACQUIRE))
        if (!annotune_copy_one(slot.number))
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
    if (array.is_scalar && array.way == ANNOTUNE_STAGED)
        array.way = ANNOTUNE_SEEN;
    const bool is_seen = array.way == ANNOTUNE_SEEN;
    const bool is_host = array.way == ANNOTUNE_STAGED || array.way == ANNOTUNE_STRAIGHT;
    if (!is_host || !ANNOTUNE_ADD_ON_HOST)
        array.adding = NULL;
    array.is_sent = array.is_sent && array.adding == NULL;
    status = annotune_allocate((void **)&array.device, array.section, is_seen);
    if (status == cudaSuccess && array.adding != NULL && array.bytes > 0)
        status = array.adding->begin(array.device + array.before, array.bytes);
    if (status == cudaSuccess && is_seen && array.is_sent)
        memcpy(array.device + array.before, array.first, array.bytes);
    /* What is overwritten without having been read need not be put back. */
    if (status == cudaSuccess && is_host && array.is_sent && array.is_fetched)
        status = annotune_allocate((void **)&array.saved, array.bytes, true);
    return status;
}

enum annotune_purpose { ANNOTUNE_SEND, ANNOTUNE_SAVE, ANNOTUNE_FETCH };

/* The chunks of arrays that are copied for a purpose, part by part. */
struct annotune_chunks {
    annotune_purpose purpose;
    annotune_array *arrays;
    int count;
    annotune_cut parts;
    long part;
    int number; /* of the array */
    size_t from, end;
    annotune_chunks(annotune_purpose why, annotune_array *given, int many, annotune_cut cut)
        : purpose(why), arrays(given), count(many), parts(cut), part(0), number(-1), from(0), end(0)
    {
        skip();
    }
    annotune_array &array() const { return arrays[number]; }
    bool is_there() const { return part < parts.count; }
    bool is_staged() const { return array().way == ANNOTUNE_STAGED || array().adding != NULL; }
    size_t bytes() const
    {
        const bool is_whole = purpose != ANNOTUNE_SAVE && !is_staged();
        /* No number is added in two pieces. */
        const size_t left = array().neighbours(from, end), most = annotune_ring_here->chunk / 16 * 16;
        return is_whole || left < most ? left : most;
    }
    bool is_first() const { return from == up_to(part - 1); }
    char *host() const { return (char *)array().first + array().place(from); }
    char *device() const { return array().device + array().before + array().place(from); }
    /* Whether the chunk passes through its slot's memory: what is saved is sent from there. */
    bool is_in_slot() const
    {
        return is_staged() && (purpose == ANNOTUNE_FETCH || array().saved == NULL);
    }
    /* The host's end of the copy by the bus. */
    char *memory(const annotune_slot &slot) const
    {
        if (is_in_slot())
            return slot.memory;
        return is_staged() ? array().saved + from : host();
    }
    void next()
    {
        from += bytes();
        skip();
    }
    void skip()
    {
        while (is_there() && from == end) {
            if (++number == count) {
                number = 0;
                part++;
            }
            from = is_there() && is_wanted() ? up_to(part - 1) : 0;
            end = is_there() && is_wanted() ? up_to(part) : 0;
        }
    }
    size_t up_to(long one) const
    {
        if (one < 0)
            return 0;
        return purpose == ANNOTUNE_FETCH ? parts.done(array(), one) : parts.sent(array(), one);
    }
    bool is_wanted() const
    {
        const bool is_copied = array().way != ANNOTUNE_IN_PLACE && array().way != ANNOTUNE_SEEN;
        if (array().bytes == 0 || !is_copied)
            return false;
        if (purpose == ANNOTUNE_SAVE)
            return array().saved != NULL && !is_staged();
        return purpose == ANNOTUNE_SEND ? array().is_sent : array().is_fetched;
    }
    /* The bytes of the parts up to one. */
    double total(long last) const
    {
        double sum = 0;
        annotune_chunks all = *this;
        for (all.number = 0; all.number < count; all.number++)
            sum += all.is_wanted() ? all.up_to(last) : 0;
        return sum;
    }
};

/* All chunks of a call in the order in which they are begun. What is fetched of a part takes turns with
 * what is sent for the next one, by the bytes of each. */
struct annotune_course {
    annotune_chunks sends, saves, fetches;
    double first, rest, back, sent, fetched;
    long number;
    annotune_course(annotune_array *arrays, int count, annotune_cut parts, bool is_in, bool is_out)
        : sends(ANNOTUNE_SEND, arrays, count, parts), saves(ANNOTUNE_SAVE, arrays, count, parts),
          fetches(ANNOTUNE_FETCH, arrays, count, parts), first(sends.total(0)),
          rest(sends.total(parts.count - 1) - first), back(fetches.total(parts.count - 1)), sent(0),
          fetched(0), number(0)
    {
        if (!is_in)
            sends.part = saves.part = parts.count;
        if (!is_out)
            fetches.part = parts.count;
    }
    /* How many parts all has been sent for, and kept of. */
    long ready() const { return sends.part < saves.part ? sends.part : saves.part; }
    bool is_there() const
    {
        return sends.is_there() || saves.is_there() || fetches.is_there();
    }
    annotune_chunks &now()
    {
        const bool is_up = sends.is_there() && sends.part <= saves.part;
        const bool is_in = sends.is_there() || saves.is_there();
        const bool is_out = fetches.is_there() && fetches.part < ready();
        if (is_out && (!is_in || fetched * rest <= (sent - first) * back))
            return fetches;
        return is_up ? sends : saves;
    }
    annotune_slot &slot() const { return annotune_slot_of(number); }
    void next()
    {
        annotune_chunks &chunk = now();
        sent += chunk.purpose == ANNOTUNE_SEND ? chunk.bytes() : 0;
        fetched += chunk.purpose == ANNOTUNE_FETCH ? chunk.bytes() : 0;
        chunk.next();
        number++;
    }
};

/* Wait until the device has done with a slot, and see that it has all that the chunk needs. */
static cudaError_t annotune_ready(const annotune_chunks &chunk, annotune_slot &slot)
{
    cudaError_t status = cudaSuccess;
    if (slot.event == NULL)
        status = cudaEventCreateWithFlags(&slot.event, cudaEventDisableTiming);
    else
        status = cudaEventSynchronize(slot.event);
    if (status == cudaSuccess && slot.memory == NULL && chunk.is_in_slot())
        status = cudaHostAlloc((void **)&slot.memory, annotune_ring_here->chunk,
                               cudaHostAllocPortable);
    return status;
}

/* Put a chunk's copy by the bus into the stream of the kernels, or of its direction if it is one of
 * several parts. */
static cudaError_t annotune_ship(const annotune_chunks &chunk, annotune_slot &slot)
{
    const annotune_ring &ring = *annotune_ring_here;
    const bool is_sent = chunk.purpose == ANNOTUNE_SEND;
    const cudaStream_t stream = chunk.parts.count == 1 ? 0 : is_sent ? ring.up : ring.down;
    /* Other parts may be launched already, for which this one does not wait. */
    if (stream == ring.down && stream != 0 && chunk.is_first()) {
        const cudaEvent_t computed = ring.computed[chunk.part % ANNOTUNE_COMPUTED];
        const cudaError_t found = cudaStreamWaitEvent(stream, computed, 0);
        if (found != cudaSuccess)
            return found;
    }
    char *const to = is_sent ? chunk.device() : chunk.memory(slot);
    const char *const from = is_sent ? chunk.memory(slot) : chunk.device();
    const cudaError_t status = cudaMemcpyAsync(to, from, chunk.bytes(), cudaMemcpyDefault, stream);
    if (status != cudaSuccess)
        return status;
    return cudaEventRecord(slot.event, stream);
}

/* Begin what comes first of a chunk: the threads' copy, or the bus's of what is fetched. */
static cudaError_t annotune_begin(const annotune_chunks &chunk, annotune_slot &slot)
{
    cudaError_t status = cudaSuccess;
    annotune_end_copy(slot);
    if (chunk.purpose != ANNOTUNE_SAVE)
        status = annotune_ready(chunk, slot);
    if (status != cudaSuccess)
        return status;
    if (chunk.purpose == ANNOTUNE_FETCH)
        return annotune_ship(chunk, slot);
    char *const to = chunk.is_staged() ? chunk.memory(slot) : chunk.array().saved + chunk.from;
    const bool is_copied = chunk.is_staged() || chunk.purpose == ANNOTUNE_SAVE;
    annotune_begin_copy(slot, to, chunk.host(), is_copied ? chunk.bytes() : 0);
    return cudaSuccess;
}

/* Wait for what came first, and go on with the rest. What is fetched straight nobody else waits for. */
static cudaError_t annotune_go_on(const annotune_chunks &chunk, annotune_slot &slot)
{
    if (chunk.purpose != ANNOTUNE_FETCH) {
        annotune_end_copy(slot);
        if (chunk.array().saved != NULL && (chunk.purpose == ANNOTUNE_SAVE || chunk.is_staged()))
            chunk.array().kept = chunk.from + chunk.bytes();
        return chunk.purpose == ANNOTUNE_SEND ? annotune_ship(chunk, slot) : cudaSuccess;
    }
    if (!chunk.is_staged())
        return cudaSuccess;
    const cudaError_t status = cudaEventSynchronize(slot.event);
    annotune_array &array = chunk.array();
    if (status != cudaSuccess)
        return status;
    annotune_begin_copy(slot, chunk.host(), chunk.memory(slot), chunk.bytes(), array.adding);
    array.added = array.adding == NULL ? 0 : chunk.from + chunk.bytes();
    return cudaSuccess;
}

/* Copy all chunks, and launch each part when all has been sent for it. Of the slots half are with the
 * threads and half with the bus: a slot is taken anew when what was begun with it is long done. */
template <typename Launch>
static cudaError_t annotune_move(annotune_course course, const Launch &launch)
{
    annotune_ring &ring = *annotune_ring_here;
    pthread_mutex_lock(&ring.turn);
    ring.begun = ring.taken = 0;
    pthread_mutex_unlock(&ring.turn);
    for (int k = 0; k < ring.most_slots; k++)
        ring.slots[k].is_done = 1;
    annotune_course ahead = course, behind = course;
    cudaError_t status = cudaSuccess;
    for (long launched = 0; status == cudaSuccess; behind.next()) {
        while (status == cudaSuccess && launched < behind.ready())
            status = launch(launched++);
        for (; status == cudaSuccess && ahead.is_there()
               && ahead.number < behind.number + (ring.most_slots + 1) / 2; ahead.next()) {
            const annotune_chunks &chunk = ahead.now();
            if (chunk.purpose == ANNOTUNE_FETCH && chunk.part >= launched)
                break;
            status = annotune_begin(chunk, ahead.slot());
        }
        if (status != cudaSuccess || !behind.is_there())
            break;
        status = annotune_go_on(behind.now(), behind.slot());
    }
    for (int k = 0; k < ring.most_slots; k++)
        annotune_end_copy(ring.slots[k]);
    return status;
}

/* Send, and keep, or fetch all chunks of a call that runs as one. */
static cudaError_t annotune_copy(annotune_array *arrays, int count, bool is_in)
{
    return annotune_move(annotune_course(arrays, count, {0, 1}, is_in, !is_in),
                         [](long) { return cudaSuccess; });
}

/* Give events and streams back, which are of one device. */
static void annotune_forget_device(void)
{
    annotune_ring &ring = *annotune_ring_here;
    cudaStream_t *const streams[] = {&ring.up, &ring.down};
    for (cudaStream_t *one : streams) {
        if (*one != NULL && cudaStreamSynchronize(*one) == cudaSuccess)
            cudaStreamDestroy(*one);
        *one = NULL;
    }
    for (int k = -1 - ANNOTUNE_COMPUTED; k < ring.most_slots; k++) {
        cudaEvent_t &event = k >= 0 ? ring.slots[k].event
                             : k == -1 ? ring.sent : ring.computed[k + 1 + ANNOTUNE_COMPUTED];
        if (event != NULL && cudaEventSynchronize(event) == cudaSuccess)
            cudaEventDestroy(event);
        event = NULL;
    }
}

/* A call's turn to have the ring, whose events are of the device in use. */
struct annotune_ring_turn {
    const annotune_lock lock;
    cudaError_t status;
    annotune_ring_turn() : lock(&annotune_ring_here->call)
    {
        int device = 0;
        status = cudaGetDevice(&device);
        if (status != cudaSuccess || device == annotune_ring_here->device)
            return;
        annotune_forget_device();
        annotune_ring_here->device = device;
    }
};

/* Give a ring back, and end its threads. */
static void annotune_end_ring(void)
{
    annotune_ring &ring = *annotune_ring_here;
    const annotune_lock lock(&ring.call);
    pthread_mutex_lock(&ring.turn);
    ring.ends = true;
    pthread_mutex_unlock(&ring.turn);
    pthread_cond_broadcast(&ring.more);
    while (ring.copiers > 0)
        pthread_join(ring.threads[--ring.copiers], NULL);
    ring.ends = false;
    annotune_forget_device();
    for (int k = 0; k < ring.most_slots; k++) {
        if (ring.slots[k].memory != NULL)
            cudaFreeHost(ring.slots[k].memory);
        ring.slots[k].memory = NULL;
    }
}
static void annotune_end_copiers(void)
{
    annotune_ring *const own = annotune_ring_here;
    annotune_ring *one = &annotune_copies;
    for (; one != NULL; one = __atomic_load_n(&one->next, __ATOMIC_ACQUIRE)) {
        annotune_ring_here = one;
        annotune_end_ring();
    }
    annotune_ring_here = own;
}

/* Get memory of the device for the arrays of a call. */
static cudaError_t annotune_placed(annotune_array *arrays, int count)
{
    cudaError_t status = cudaSuccess;
    for (int k = 0; status == cudaSuccess && k < count; k++)
        status = annotune_place(arrays[k]);
    return status;
}

/* See that there are threads to copy the arrays of a call, and that they are given back some day. */
static void annotune_have_copiers(const annotune_array *arrays, int count)
{
    size_t copied = 0;
    for (int k = 0; k < count; k++) {
        const annotune_array &array = arrays[k];
        const bool is_staged = array.way == ANNOTUNE_STAGED && (array.is_sent || array.is_fetched);
        copied += is_staged || array.adding != NULL || array.saved != NULL ? array.bytes : 0;
    }
    __atomic_store_n(&annotune_release_copies, &annotune_end_copiers, __ATOMIC_RELEASE);
    if (copied > annotune_ring_here->chunk)
        annotune_start_copiers();
}

/* Put copies of what is read into the device's memory; what is written is kept while the bus reads what
 * the program has pinned. */
static cudaError_t annotune_sent(annotune_array *arrays, int count)
{
    const annotune_ring_turn turn;
    if (turn.status != cudaSuccess)
        return turn.status;
    annotune_have_copiers(arrays, count);
    const cudaError_t status = annotune_copy(arrays, count, true);
    for (int k = 0; k < count; k++)
        arrays[k].is_given = status == cudaSuccess;
    return status;
}

[[maybe_unused]] static cudaError_t annotune_send(annotune_array *arrays, int count)
{
    const cudaError_t status = annotune_placed(arrays, count);
    return status == cudaSuccess ? annotune_sent(arrays, count) : status;
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

/* Copy to the program's array what has been kept of it, or was added: so many bytes. */
static void annotune_restore(const annotune_array &array, const char *from, size_t bytes)
{
    for (size_t k = 0, n; k < bytes; k += n) {
        n = array.neighbours(k, bytes);
        memcpy((char *)array.first + array.place(k), from + k, n);
    }
}

/* What has been added to an array of the program's before its call failed: its nest adds it a second time.
 * Nothing else that the nest computes depends on it. */
struct annotune_aside {
    annotune_array array;
    char *sums;
    annotune_aside *next;
};
static thread_local annotune_aside *annotune_asides = NULL;

static void annotune_set_aside(const char *entry, const annotune_array &array)
{
    annotune_aside *const made = (annotune_aside *)malloc(sizeof *made);
    char *const sums = (char *)malloc(array.added);
    if (made == NULL || sums == NULL) {
        fprintf(stderr, "%s: no memory for what has been added already, stopping\n", entry);
        abort();
    }
    for (size_t k = 0, n; k < array.added; k += n) {
        n = array.neighbours(k, array.added);
        memcpy(sums + k, (const char *)array.first + array.place(k), n);
    }
    *made = {array, sums, annotune_asides};
    annotune_asides = made;
}

/* Behind the program's nest. */
[[maybe_unused]] static void annotune_put_back(void)
{
    while (annotune_asides != NULL) {
        annotune_aside *const one = annotune_asides;
        annotune_restore(one->array, one->sums, one->array.added);
        annotune_asides = one->next;
        free(one->sums);
        free(one);
    }
}

/* End a call. Where something has failed the arrays are left, or put back, as they were before; those on
 * the device cannot be. */
static cudaError_t annotune_ended(const char *entry, annotune_array *arrays, int count,
                                  cudaError_t status, bool is_spoilt)
{
    const cudaError_t last = cudaStreamSynchronize(0);
    status = status == cudaSuccess ? last : status;
    /* Where something has failed, the wait even, what is under way may still read and write. */
    if (status != cudaSuccess)
        cudaDeviceSynchronize();
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
        if (status != cudaSuccess && is_spoilt)
            annotune_restore(array, array.saved, array.kept);
        if (status != cudaSuccess && array.added > 0)
            annotune_set_aside(entry, array);
        if (status == cudaSuccess && array.way == ANNOTUNE_SEEN)
            memcpy(array.first, array.device + array.before, array.bytes);
        if (array.way != ANNOTUNE_IN_PLACE)
            annotune_free(array.device, status);
        annotune_free(array.saved, status);
    }
    /* The next call is not to take this one's error for its own. */
    if (status != cudaSuccess)
        cudaGetLastError();
    return status;
}

/* Fetch what the kernels of a call have written, where nothing has failed. */
static cudaError_t annotune_fetch(
        const char *entry, annotune_array *arrays, int count, cudaError_t status)
{
    bool is_spoilt = false;
    if (status == cudaSuccess) {
        const annotune_ring_turn turn;
        status = turn.status;
        is_spoilt = status == cudaSuccess;
        if (status == cudaSuccess)
            status = annotune_copy(arrays, count, false);
    }
    return annotune_ended(entry, arrays, count, status, is_spoilt);
}

/* Arrays that kernels only add to: these begin at nothing, and the host adds to the program's array what
 * comes back. Nothing is -0.0, which added to any number is that number: a sum that begins there has the
 * value and the sign that C gives it, and what kernels leave alone changes nothing.
 */
template <typename Real>
static __global__ void annotune_nothing(Real *__restrict__ first, size_t count)
{
    const size_t k = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < count)
        first[k] = (Real)-0.0;
}

template <typename Real> static cudaError_t annotune_begin(void *first, size_t bytes)
{
    const size_t count = bytes / sizeof(Real);
    annotune_nothing<Real><<<(unsigned)((count + 255) / 256), 256>>>((Real *)first, count);
    return cudaGetLastError();
}

/* Where nothing has come nothing is written: no bit of what is there changes. */
template <typename Real> static void annotune_add(void *to, const void *from, size_t bytes)
{
    Real *const sums = (Real *)to;
    const Real *const terms = (const Real *)from;
    const Real nothing = (Real)-0.0;
    for (size_t k = 0; k < bytes / sizeof(Real); k++)
        if (memcmp(&terms[k], &nothing, sizeof nothing) != 0)
            sums[k] += terms[k];
}

template <typename Real>
static const annotune_adding annotune_host_sums = {annotune_begin<Real>, annotune_add<Real>};

/* Calls whose kernels are launched in parts: what comes next is sent while a part is computed, and what has
 * been computed is fetched, so that both directions of the bus work beside the kernels.
 *
 * A build may set of how many bytes a part is worth its launch, and how many parts there are at most. A part
 * more saves its share of the copies that nothing else runs beside, and costs launches, copies and events.
 */
#ifndef ANNOTUNE_PART
#define ANNOTUNE_PART (32 << 20)
#endif
#ifndef ANNOTUNE_MOST_PARTS
#define ANNOTUNE_MOST_PARTS 16
#endif
static_assert(ANNOTUNE_PART > 0 && ANNOTUNE_MOST_PARTS > 0, "a call has a part of some bytes");

/* How many parts the iterations of a call are worth. */
static annotune_cut annotune_parts_of(annotune_array *arrays, int count, long iterations)
{
    size_t moved = 0;
    for (int k = 0; k < count; k++) {
        annotune_array &array = arrays[k];
        /* Of which nearly all is needed for the first part, that comes whole. */
        if (array.step * (size_t)iterations <= array.bytes / 2)
            array.step = 0;
        if (array.step > 0 && array.way != ANNOTUNE_IN_PLACE)
            moved += array.bytes * (size_t)(array.is_sent + array.is_fetched);
    }
    long parts = (long)(moved / ANNOTUNE_PART);
    parts = parts < ANNOTUNE_MOST_PARTS ? parts : ANNOTUNE_MOST_PARTS;
    parts = parts < iterations ? parts : iterations;
    for (int k = 0; k < count && parts < 2; k++)
        arrays[k].step = arrays[k].strip = 0;
    return {iterations, parts > 1 ? parts : 1};
}

/* Have streams for both directions, which begin behind what the program has asked for. */
static cudaError_t annotune_directions(long parts)
{
    annotune_ring &ring = *annotune_ring_here;
    cudaError_t status = cudaSuccess;
    cudaStream_t *const streams[] = {&ring.up, &ring.down};
    for (cudaStream_t *one : streams)
        if (status == cudaSuccess && *one == NULL)
            status = cudaStreamCreateWithFlags(one, cudaStreamNonBlocking);
    for (int k = -1; k < parts && k < ANNOTUNE_COMPUTED; k++) {
        cudaEvent_t &event = k < 0 ? ring.sent : ring.computed[k];
        if (status == cudaSuccess && event == NULL)
            status = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    }
    if (status == cudaSuccess)
        status = cudaEventRecord(ring.computed[0], 0);
    return status == cudaSuccess ? cudaStreamWaitEvent(ring.up, ring.computed[0], 0) : status;
}

/* Run a call part by part. `launch` gets the first of a part's iterations, and how many they are; 0 and 0
 * where the call runs as one. */
template <typename Launch>
static cudaError_t annotune_call(const char *entry, annotune_array *arrays, int count,
                                 long iterations, const Launch &launch)
{
    annotune_ring &ring = *annotune_ring_here;
    cudaError_t status = annotune_placed(arrays, count);
    const annotune_cut parts = annotune_parts_of(arrays, count, iterations);
    if (status != cudaSuccess || parts.count == 1) {
        status = status == cudaSuccess ? annotune_sent(arrays, count) : status;
        status = status == cudaSuccess ? launch(0L, 0L) : status;
        return annotune_fetch(entry, arrays, count, status);
    }
    bool is_spoilt = false;
    const annotune_ring_turn turn;
    const auto launched = [&](long part) {
        const long first = part > 0 ? parts.end(part - 1) : 0;
        cudaError_t found = cudaEventRecord(ring.sent, ring.up);
        if (found == cudaSuccess)
            found = cudaStreamWaitEvent(0, ring.sent, 0);
        if (found != cudaSuccess)
            return found;
        is_spoilt = true;
        for (int k = 0; k < count; k++)
            arrays[k].is_given = true;
        found = launch(first, parts.end(part) - first);
        return found == cudaSuccess ? cudaEventRecord(ring.computed[part % ANNOTUNE_COMPUTED], 0) : found;
    };
    annotune_have_copiers(arrays, count);
    status = turn.status == cudaSuccess ? annotune_directions(parts.count) : turn.status;
    if (status == cudaSuccess)
        status = annotune_move(annotune_course(arrays, count, parts, true, true), launched);
    const cudaStream_t streams[] = {ring.up, ring.down};
    for (const cudaStream_t one : streams) {
        const cudaError_t last = one == NULL ? cudaSuccess : cudaStreamSynchronize(one);
        status = status == cudaSuccess ? last : status;
    }
    return annotune_ended(entry, arrays, count, status, is_spoilt);
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

/* Copies that the device makes by itself from sm_90 on; before, the threads of a block do. */
#if __CUDA_ARCH__ >= 900 || defined(ANNOTUNE_CPU)
static __device__ __forceinline__ bool annotune_is_first()
{
    return threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0;
}
#else
template <class T>
static __device__ __forceinline__ void annotune_copied(T *to, const T *from, int count)
{
    const int first = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    for (int k = first; k < count; k += blockDim.x * blockDim.y * blockDim.z)
        to[k] = from[k];
}
#endif
static __device__ __forceinline__ void annotune_bulk_begin(std::uint64_t *arrivals, int count)
{
#if __CUDA_ARCH__ >= 900 || defined(ANNOTUNE_CPU)
    if (annotune_is_first()) {
        for (int k = 0; k < count; k++)
            cuda::ptx::mbarrier_init(&arrivals[k], 1);
        cuda::ptx::fence_mbarrier_init(cuda::ptx::sem_release, cuda::ptx::scope_cluster);
    }
    __syncthreads();
#endif
}
template <class T>
static __device__ __forceinline__ void annotune_bulk_load(
        T *to, const T *from, int count, std::uint64_t *arrival)
{
#if __CUDA_ARCH__ >= 900 || defined(ANNOTUNE_CPU)
    if (annotune_is_first()) {
        const std::uint32_t bytes = count * sizeof(T);
        cuda::ptx::mbarrier_arrive_expect_tx(cuda::ptx::sem_release, cuda::ptx::scope_cta,
                                             cuda::ptx::space_shared, arrival, bytes);
        cuda::ptx::cp_async_bulk(cuda::ptx::space_cluster, cuda::ptx::space_global, to, from,
                                 bytes, arrival);
    }
#else
    annotune_copied(to, from, count);
#endif
}
static __device__ __forceinline__ void annotune_bulk_wait(std::uint64_t *arrival, unsigned phase)
{
#if __CUDA_ARCH__ >= 900 || defined(ANNOTUNE_CPU)
    while (!cuda::ptx::mbarrier_try_wait_parity(arrival, phase)) {
    }
#else
    __syncthreads();
#endif
}
static __device__ __forceinline__ void annotune_bulk_fence()
{
#if __CUDA_ARCH__ >= 900 || defined(ANNOTUNE_CPU)
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
#endif
}
template <class T>
static __device__ __forceinline__ void annotune_bulk_store(T *to, const T *from, int count)
{
#if __CUDA_ARCH__ >= 900 || defined(ANNOTUNE_CPU)
    if (annotune_is_first()) {
        cuda::ptx::cp_async_bulk(cuda::ptx::space_global, cuda::ptx::space_shared, to, from,
                                 (std::uint32_t)(count * sizeof(T)));
        cuda::ptx::cp_async_bulk_commit_group();
    }
#else
    annotune_copied(to, from, count);
#endif
}
static __device__ __forceinline__ void annotune_bulk_finish()
{
#if __CUDA_ARCH__ >= 900 || defined(ANNOTUNE_CPU)
    if (annotune_is_first())
        cuda::ptx::cp_async_bulk_wait_group_read(cuda::ptx::n32_t<0>());
#endif
}

#undef nelt
#undef lx
#undef ly
#undef lz

/* local_grad3, statements 0, 1, 2 of the region at line 23:
 * e on block.x, jk on thread.x. */
__global__ void __launch_bounds__(128) local_grad3_1_s0(
        double *__restrict__ Ur, const double *__restrict__ D, const double *__restrict__ U,
        double *__restrict__ Us, const double *__restrict__ Dt, double *__restrict__ Ut) {
    const int lx = 10;
    const int ly = 10;
    __shared__ __align__(16) double Ut_tile[1000];
    __shared__ __align__(16) double Us_tile[1000];
    __shared__ __align__(16) double Ur_tile[1000];
    __shared__ __align__(16) double U_tile[1000];
    __shared__ double Dt_tile[100];
    __shared__ double D_tile[100];
    __shared__ std::uint64_t annotune_arrivals[4];
    annotune_bulk_begin(annotune_arrivals, 4);
    const int e = blockIdx.x;
    annotune_bulk_load(&Ut_tile[0], &Ut[1000 * e], 1000, &annotune_arrivals[0]);
    annotune_bulk_load(&Us_tile[0], &Us[1000 * e], 1000, &annotune_arrivals[1]);
    annotune_bulk_load(&Ur_tile[0], &Ur[1000 * e], 1000, &annotune_arrivals[2]);
    annotune_bulk_load(&U_tile[0], &U[1000 * e], 1000, &annotune_arrivals[3]);
    for (int Dt_s = threadIdx.x; Dt_s < 100; Dt_s += 128) {
        Dt_tile[Dt_s] = Dt[Dt_s];
    }
    for (int D_s = threadIdx.x; D_s < 100; D_s += 128) {
        D_tile[D_s] = D[D_s];
    }
    annotune_bulk_wait(&annotune_arrivals[2], 0);
    annotune_bulk_wait(&annotune_arrivals[3], 0);
    __syncthreads();
    if (threadIdx.x < 100) {
        const int jk = threadIdx.x;
        int j = jk / 10;
        int k = jk % 10;
        for (int i = 0; i < lx; i++) {
            double Ur_acc = Ur_tile[100 * i + jk];
            Ur_acc += D_tile[k] * U_tile[100 * i + 10 * j]
                + D_tile[ly + k] * U_tile[100 * i + 10 * j + 1]
                + D_tile[2 * ly + k] * U_tile[100 * i + 10 * j + 2]
                + D_tile[3 * ly + k] * U_tile[100 * i + 10 * j + 3]
                + D_tile[4 * ly + k] * U_tile[100 * i + 10 * j + 4]
                + D_tile[5 * ly + k] * U_tile[100 * i + 10 * j + 5]
                + D_tile[6 * ly + k] * U_tile[100 * i + 10 * j + 6]
                + D_tile[7 * ly + k] * U_tile[100 * i + 10 * j + 7]
                + D_tile[8 * ly + k] * U_tile[100 * i + 10 * j + 8]
                + D_tile[9 * ly + k] * U_tile[100 * i + 10 * j + 9];
            Ur_tile[100 * i + jk] = Ur_acc;
        }
    }
    annotune_bulk_wait(&annotune_arrivals[1], 0);
    if (threadIdx.x < 100) {
        const int jk = threadIdx.x;
        int j = jk / 10;
        int k = jk % 10;
        for (int i = 0; i < lx; i++) {
            double Us_acc = Us_tile[100 * i + jk];
            Us_acc += U_tile[100 * i + k] * Dt_tile[j * ly]
                + U_tile[100 * i + k + 10] * Dt_tile[j * ly + 1]
                + U_tile[100 * i + k + 20] * Dt_tile[j * ly + 2]
                + U_tile[100 * i + k + 30] * Dt_tile[j * ly + 3]
                + U_tile[100 * i + k + 40] * Dt_tile[j * ly + 4]
                + U_tile[100 * i + k + 50] * Dt_tile[j * ly + 5]
                + U_tile[100 * i + k + 60] * Dt_tile[j * ly + 6]
                + U_tile[100 * i + k + 70] * Dt_tile[j * ly + 7]
                + U_tile[100 * i + k + 80] * Dt_tile[j * ly + 8]
                + U_tile[100 * i + k + 90] * Dt_tile[j * ly + 9];
            Us_tile[100 * i + jk] = Us_acc;
        }
    }
    annotune_bulk_wait(&annotune_arrivals[0], 0);
    if (threadIdx.x < 100) {
        const int jk = threadIdx.x;
        for (int i = 0; i < lx; i++) {
            double Ut_acc = Ut_tile[100 * i + jk];
            Ut_acc += U_tile[jk] * Dt_tile[i * ly]
                + U_tile[jk + 100] * Dt_tile[i * ly + 1]
                + U_tile[jk + 200] * Dt_tile[i * ly + 2]
                + U_tile[jk + 300] * Dt_tile[i * ly + 3]
                + U_tile[jk + 400] * Dt_tile[i * ly + 4]
                + U_tile[jk + 500] * Dt_tile[i * ly + 5]
                + U_tile[jk + 600] * Dt_tile[i * ly + 6]
                + U_tile[jk + 700] * Dt_tile[i * ly + 7]
                + U_tile[jk + 800] * Dt_tile[i * ly + 8]
                + U_tile[jk + 900] * Dt_tile[i * ly + 9];
            Ut_tile[100 * i + jk] = Ut_acc;
        }
    }
    annotune_bulk_fence();
    __syncthreads();
    annotune_bulk_store(&Ur[1000 * e], &Ur_tile[0], 1000);
    annotune_bulk_store(&Us[1000 * e], &Us_tile[0], 1000);
    annotune_bulk_store(&Ut[1000 * e], &Ut_tile[0], 1000);
    annotune_bulk_finish();
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
        const dim3 blocks(1000, 1, 1);
        const dim3 threads(128, 1, 1);
        local_grad3_1_s0<<<blocks, threads>>>(Ur, D, U, Us, Dt, Ut);
    }
    return cudaGetLastError();
}

/* The tuned kernels for some of the 1000 iterations on their blocks. */
static cudaError_t local_grad3_1_part(
        int nelt, int lx, int ly, int lz, double *Ur, const double *D, const double *U,
        double *Us, const double *Dt, double *Ut, long annotune_first, long annotune_count) {
    Ur += annotune_first * 1000;
    U += annotune_first * 1000;
    Us += annotune_first * 1000;
    Ut += annotune_first * 1000;
    cudaError_t status = cudaSuccess;
    if (status == cudaSuccess) {
        {
            const dim3 blocks((unsigned)(annotune_count), 1, 1);
            const dim3 threads(128, 1, 1);
            local_grad3_1_s0<<<blocks, threads>>>(Ur, D, U, Us, Dt, Ut);
        }
        status = cudaGetLastError();
    }
    return status;
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
        {(void *)(Ur), Ur_bytes, 0, Ur_bytes, true, true, sizeof(double) * 1000, false, 0, 0, &annotune_host_sums<double>},
        {(void *)(D), D_bytes, 0, D_bytes, true, false},
        {(void *)(U), U_bytes, 0, U_bytes, true, false, sizeof(double) * 1000},
        {(void *)(Us), Us_bytes, 0, Us_bytes, true, true, sizeof(double) * 1000, false, 0, 0, &annotune_host_sums<double>},
        {(void *)(Dt), Dt_bytes, 0, Dt_bytes, true, false},
        {(void *)(Ut), Ut_bytes, 0, Ut_bytes, true, true, sizeof(double) * 1000, false, 0, 0, &annotune_host_sums<double>},
    };
    const auto launch = [&](long annotune_first, long annotune_count) {
        double *const d_Ur = (double *)arrays[0].device;
        double *const d_D = (double *)arrays[1].device;
        double *const d_U = (double *)arrays[2].device;
        double *const d_Us = (double *)arrays[3].device;
        double *const d_Dt = (double *)arrays[4].device;
        double *const d_Ut = (double *)arrays[5].device;
        if (annotune_count == 0)
            return local_grad3_1_launch(nelt, lx, ly, lz, d_Ur, d_D, d_U, d_Us, d_Dt, d_Ut);
        return local_grad3_1_part(nelt, lx, ly, lz, d_Ur, d_D, d_U, d_Us, d_Dt, d_Ut, annotune_first, annotune_count);
    };
    return annotune_call("annotune_local_grad3_1", arrays, 6, 1000, launch);
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
    annotune_put_back();
}
