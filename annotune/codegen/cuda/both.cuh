/* Calls that the host shares with devices. A thread of its own drives each of these, and the calling one,
 * which has the threads of OpenMP, computes the host's iterations. What a device fails at the host computes at
 * the end.
 */
static void annotune_tell(const char *entry, cudaError_t status);

#ifndef ANNOTUNE_SHARES
#define ANNOTUNE_SHARES 64
#endif
static_assert(ANNOTUNE_SHARES > 0, "a call has a share of some iterations");

/* The iterations that nobody has taken. A device takes some from the front, a `split`-th of all there are;
 * the host, which may be much slower, `least` from the back. */
struct annotune_shares {
    long front, back, split, least;
    pthread_mutex_t turn;
    long taken(long *first)
    {
        const annotune_lock lock(&turn);
        const long left = back - front, part = left / split;
        const long some = part > least ? part : left < least ? left : least;
        *first = front;
        front += some;
        return some;
    }
    long hosts(long *first)
    {
        const annotune_lock lock(&turn);
        const long left = back - front, some = left < least ? left : least;
        back -= some;
        *first = back;
        return some;
    }
};

/* An array as some iterations touch it, in memory for the `most` that are taken at once. What all need is on
 * the device already, as in `whole`. */
static annotune_array annotune_some(annotune_array array, const annotune_array &whole, long iterations,
                                    long first, long some, long most)
{
    if (array.step == 0) {
        array.first = whole.device + whole.before;
        return array;
    }
    array.first = (char *)array.first + array.step * (size_t)first;
    /* Memory of one length, which the next one takes again. */
    array.section = array.before + array.bytes - array.step * (size_t)(iterations - most);
    array.bytes -= array.step * (size_t)(iterations - some);
    return array;
}

/* The ring of a device that works beside that in use; NULL where there is no memory. */
__attribute__((weak)) pthread_mutex_t annotune_rings = PTHREAD_MUTEX_INITIALIZER;
static annotune_ring *annotune_ring_beside(int device)
{
    const annotune_lock lock(&annotune_rings);
    annotune_ring *last = &annotune_copies;
    for (; last->next != NULL; last = last->next)
        if (last->next->device == device)
            return last->next;
    annotune_ring *const made = (annotune_ring *)calloc(1, sizeof *made);
    annotune_slot *const slots = (annotune_slot *)calloc(annotune_copies.most_slots, sizeof *slots);
    pthread_t *const threads = (pthread_t *)calloc(annotune_copies.most_copiers + 1, sizeof *threads);
    if (made == NULL || slots == NULL || threads == NULL) {
        free(made);
        free(slots);
        free(threads);
        return NULL;
    }
    pthread_mutex_init(&made->call, NULL);
    pthread_mutex_init(&made->turn, NULL);
    pthread_cond_init(&made->more, NULL);
    made->device = device;
    made->chunk = annotune_copies.chunk;
    made->most_slots = annotune_copies.most_slots;
    made->most_copiers = annotune_copies.most_copiers;
    made->slots = slots;
    made->threads = threads;
    __atomic_store_n(&last->next, made, __ATOMIC_RELEASE);
    return made;
}

/* What a thread does with a device, and what it has left undone. */
template <typename Launch> struct annotune_driven {
    const char *entry;
    const annotune_array *arrays;
    int count;
    long iterations;
    annotune_shares *shares;
    const Launch *launch;
    int device;
    annotune_ring *ring;
    cudaError_t status;
    long first, failed; /* iterations that the device has taken and not computed */
    annotune_aside *asides;
};

/* Compute iterations on a device as long as there are some; `all` has room for the arrays twice. */
template <typename Launch>
static void annotune_drive(annotune_driven<Launch> &own, annotune_array *all)
{
    annotune_array *const whole = all, *const some = all + own.count;
    long most = 0;
    own.status = cudaSetDevice(own.device);
    for (int k = 0; k < own.count; k++) {
        whole[k] = own.arrays[k];
        if (whole[k].step > 0)
            whole[k].bytes = whole[k].section = 0;
        whole[k].is_fetched = false;
        whole[k].adding = NULL;
    }
    if (own.status == cudaSuccess)
        own.status = annotune_send(whole, own.count);
    while (own.status == cudaSuccess && (own.failed = own.shares->taken(&own.first)) > 0) {
        most = own.failed > most ? own.failed : most;
        for (int k = 0; k < own.count; k++)
            some[k] = annotune_some(own.arrays[k], whole[k], own.iterations, own.first, own.failed, most);
        own.status = annotune_call(own.entry, some, own.count, own.failed, [&](long first, long count) {
            return (*own.launch)(some, first, count == 0 ? own.failed : count);
        });
    }
    const cudaError_t ended = annotune_ended(own.entry, whole, own.count, own.status, false);
    own.status = own.status == cudaSuccess ? ended : own.status;
    own.asides = annotune_asides;
    annotune_asides = NULL;
}

template <typename Launch> static void *annotune_driver(void *given)
{
    annotune_driven<Launch> &own = *(annotune_driven<Launch> *)given;
    annotune_array *const all = (annotune_array *)malloc(2 * own.count * sizeof *all);
    annotune_ring *const before = annotune_ring_here;
    int device = own.device;
    cudaGetDevice(&device);
    own.status = cudaErrorMemoryAllocation;
    annotune_ring_here = own.ring;
    if (all != NULL && own.ring != NULL)
        annotune_drive(own, all);
    annotune_ring_here = before;
    if (device != own.device)
        cudaSetDevice(device);
    free(all);
    return NULL;
}

/* Whether the host may read and write all arrays while the device works. */
static bool annotune_are_hosts(const annotune_array *arrays, int count)
{
    for (int k = 0; k < count; k++) {
        cudaPointerAttributes found;
        if (cudaPointerGetAttributes(&found, arrays[k].first) != cudaSuccess)
            cudaGetLastError();
        else if (found.type == cudaMemoryTypeDevice || found.type == cudaMemoryTypeManaged)
            return false;
    }
    return true;
}

/* The devices that share a call, that in use first: so many as there are of those that are wanted. */
enum { ANNOTUNE_MOST_DEVICES = 16 };
static int annotune_devices(int *found, int wanted)
{
    int count = 0;
    if (cudaGetDevice(&found[0]) != cudaSuccess || cudaGetDeviceCount(&count) != cudaSuccess)
        return 0;
    const int most = wanted < ANNOTUNE_MOST_DEVICES ? wanted : ANNOTUNE_MOST_DEVICES;
    const int many = most < count ? most : count;
    for (int k = 1; k < many; k++)
        found[k] = (found[0] + k) % count;
    return many;
}

/* Run a call of which the host computes the last `own` iterations, or, where that is less than 0, what it comes
 * to, and so many devices the others. `launch` gets the arrays as well, `host` the first iteration and the one
 * behind the last. */
template <typename Launch, typename Host>
static cudaError_t annotune_call_of_both(const char *entry, annotune_array *arrays, int count,
                                         long iterations, long own, int wanted, const Launch &launch,
                                         const Host &host)
{
    int devices[ANNOTUNE_MOST_DEVICES];
    const bool is_shared = iterations > 0 && annotune_are_hosts(arrays, count);
    const int many = is_shared ? annotune_devices(devices, wanted) : 0;
    if (many == 0)
        return annotune_call(entry, arrays, count, iterations, [&](long first, long some) {
            return launch(arrays, first, some);
        });
    const bool is_counted = own < 0;
    const long least = iterations / ANNOTUNE_SHARES > 0 ? iterations / ANNOTUNE_SHARES : 1;
    const long split = is_counted ? 8 * many : many > 1 ? 2 * many : 1;
    annotune_shares shares = {0, is_counted ? iterations : iterations - own, split, least,
                              PTHREAD_MUTEX_INITIALIZER};
    annotune_driven<Launch> driven[ANNOTUNE_MOST_DEVICES];
    pthread_t threads[ANNOTUNE_MOST_DEVICES];
    bool is_started[ANNOTUNE_MOST_DEVICES];
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
    /* The other threads' streams do not wait for this one's. */
    cudaStreamSynchronize(cudaStreamPerThread);
#endif
    for (int k = 0; k < many; k++) {
        annotune_ring *const ring = k == 0 ? &annotune_copies : annotune_ring_beside(devices[k]);
        driven[k] = {entry, arrays, count, iterations, &shares, &launch, devices[k], ring,
                     cudaSuccess, 0, 0, NULL};
        is_started[k] = pthread_create(&threads[k], NULL, annotune_driver<Launch>, &driven[k]) == 0;
    }
    const auto compute = [&] {
        long first, some;
        while ((some = shares.hosts(&first)) > 0)
            host(first, first + some);
    };
    if (own > 0)
        host(iterations - own, iterations);
    if (is_counted)
        compute();
    for (int k = 0; k < many; k++) {
        if (is_started[k])
            pthread_join(threads[k], NULL);
        else
            annotune_driver<Launch>(&driven[k]);
    }
    compute();
    for (int k = 0; k < many; k++) {
        if (driven[k].status == cudaSuccess)
            continue;
        annotune_tell(entry, driven[k].status);
        if (driven[k].failed > 0)
            host(driven[k].first, driven[k].first + driven[k].failed);
        annotune_asides = driven[k].asides;
        annotune_put_back();
    }
    return cudaSuccess;
}
