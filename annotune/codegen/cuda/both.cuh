/* Calls that the host and the device share. A thread of its own drives the device, and the calling one,
 * which has the threads of OpenMP, computes the host's iterations. What the device fails at the host
 * computes at the end.
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

/* An array as some iterations touch it. What all need is on the device already, as in `whole`. */
static annotune_array annotune_some(annotune_array array, const annotune_array &whole, long iterations,
                                    long first, long some)
{
    if (array.step == 0) {
        array.first = whole.device + whole.before;
        return array;
    }
    array.first = (char *)array.first + array.step * (size_t)first;
    array.bytes -= array.step * (size_t)(iterations - some);
    array.section = array.before + array.bytes;
    return array;
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
    cudaError_t status;
    long first, failed; /* iterations that the device has taken and not computed */
    annotune_aside *asides;
};

/* Compute iterations on a device as long as there are some; `all` has room for the arrays twice. */
template <typename Launch>
static void annotune_drive(annotune_driven<Launch> &own, annotune_array *all)
{
    annotune_array *const whole = all, *const some = all + own.count;
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
        for (int k = 0; k < own.count; k++)
            some[k] = annotune_some(own.arrays[k], whole[k], own.iterations, own.first, own.failed);
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
    own.status = cudaErrorMemoryAllocation;
    if (all != NULL)
        annotune_drive(own, all);
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

/* Run a call of which the host computes the last `own` iterations, or, where that is less than 0, what it comes
 * to. `launch` gets the arrays as well, `host` the first iteration and the one behind the last. */
template <typename Launch, typename Host>
static cudaError_t annotune_call_of_both(const char *entry, annotune_array *arrays, int count,
                                         long iterations, long own, const Launch &launch,
                                         const Host &host)
{
    int device = 0;
    const bool is_shared = iterations > 0 && annotune_are_hosts(arrays, count)
                           && cudaGetDevice(&device) == cudaSuccess;
    if (!is_shared)
        return annotune_call(entry, arrays, count, iterations, [&](long first, long some) {
            return launch(arrays, first, some);
        });
    const bool is_counted = own < 0;
    const long least = iterations / ANNOTUNE_SHARES > 0 ? iterations / ANNOTUNE_SHARES : 1;
    annotune_shares shares = {0, is_counted ? iterations : iterations - own, is_counted ? 8 : 1, least,
                              PTHREAD_MUTEX_INITIALIZER};
    annotune_driven<Launch> driven = {entry, arrays, count, iterations, &shares, &launch, device,
                                      cudaSuccess, 0, 0, NULL};
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
    /* The other thread's stream does not wait for this one's. */
    cudaStreamSynchronize(cudaStreamPerThread);
#endif
    pthread_t thread;
    const bool is_started = pthread_create(&thread, NULL, annotune_driver<Launch>, &driven) == 0;
    const auto compute = [&] {
        long first, some;
        while ((some = shares.hosts(&first)) > 0)
            host(first, first + some);
    };
    if (own > 0)
        host(iterations - own, iterations);
    if (is_counted)
        compute();
    if (is_started)
        pthread_join(thread, NULL);
    else
        annotune_driver<Launch>(&driven);
    if (driven.status == cudaSuccess)
        return cudaSuccess;
    annotune_tell(entry, driven.status);
    if (driven.failed > 0)
        host(driven.first, driven.first + driven.failed);
    compute();
    annotune_asides = driven.asides;
    annotune_put_back();
    return cudaSuccess;
}
