/* Arrays that stay on the device while the program is in a block of Data.
 *
 * Of each, the values on the host are right, or those on the device, or both. A region asks for them
 * on the device, and a statement of the host's for them on the host; only where they are not right
 * there are they copied. Calls of functions that nobody has looked into have all arrays on the host.
 */
struct annotune_resident {
    annotune_array whole; /* the program's array; what the device has for it, NULL before */
    int place, depth;     /* the number of a device, and of the block */
    bool is_on_host, is_on_device;
    bool is_cut; /* whether the call takes it for memory of the host */
    cudaError_t lost; /* why the only right values cannot be had any more */
    annotune_resident *next;
};
struct annotune_residents {
    annotune_resident *first;
    int depth, aside;
};
/* One for all files of the program, and for each of its threads. */
__attribute__((weak)) thread_local annotune_residents annotune_staying = {NULL, 0, 0};
#define ANNOTUNE_CALLED extern "C" __attribute__((weak, visibility("default")))
ANNOTUNE_CALLED void annotune_data_aside(int is_begun);
/* Whether the call has come to its kernels. */
static thread_local bool annotune_has_begun = false;

static bool annotune_meets(const annotune_resident &one, const void *first, size_t bytes)
{
    const char *const from = (const char *)one.whole.first, *const to = (const char *)first;
    return from < to + bytes && to < from + one.whole.bytes;
}

/* Where a pointer of the program's may lead: also one that stands behind the last element. */
static bool annotune_leads_to(const annotune_resident &one, const void *pointer)
{
    const char *const from = (const char *)one.whole.first, *const to = (const char *)pointer;
    return from <= to && to <= from + one.whole.bytes;
}

/* What the device has is nothing to go by after a failure: only without memory nothing has begun. */
static void annotune_mistrust(cudaError_t status, bool has_begun = false)
{
    if (status == cudaSuccess || (status == cudaErrorMemoryAllocation && !has_begun))
        return;
    for (annotune_resident *one = annotune_staying.first; one != NULL; one = one->next) {
        if (one->is_on_device && !one->is_on_host)
            one->lost = status;
        one->is_on_device = false;
    }
}

static cudaError_t annotune_copied(annotune_resident &one, bool is_sent)
{
    const annotune_ring_turn turn;
    if (turn.status != cudaSuccess)
        return turn.status;
    __atomic_store_n(&annotune_release_copies, &annotune_end_copiers, __ATOMIC_RELEASE);
    if (one.whole.way == ANNOTUNE_STAGED && one.whole.bytes > annotune_copies.chunk
        && annotune_copies.copiers == 0)
        annotune_start_copiers();
    const cudaError_t status = annotune_copy(&one.whole, 1, is_sent);
    /* Pinned memory of the program's is read while the program goes on. */
    const cudaError_t last = one.whole.way == ANNOTUNE_STRAIGHT ? cudaStreamSynchronize(0)
                                                                 : cudaSuccess;
    annotune_mistrust(status == cudaSuccess ? last : status);
    return status == cudaSuccess ? last : status;
}

/* Have the values right on the host. */
static cudaError_t annotune_to_host(annotune_resident &one)
{
    if (one.is_on_host || one.lost != cudaSuccess)
        return one.lost;
    const cudaError_t status = annotune_copied(one, false);
    one.is_on_host = status == cudaSuccess;
    return status;
}

/* Have memory of the device in use, with the values where they are needed. */
static cudaError_t annotune_to_device(annotune_resident &one, bool is_needed)
{
    int place = 0;
    cudaError_t status = cudaGetDevice(&place);
    if (status == cudaSuccess && one.whole.device != NULL && one.place != place) {
        status = annotune_to_host(one);
        if (status == cudaSuccess) {
            annotune_free(one.whole.device, status);
            one.whole.device = NULL;
        }
    }
    if (status == cudaSuccess && one.whole.device == NULL) {
        status = annotune_allocate((void **)&one.whole.device, one.whole.bytes);
        one.place = place;
        one.is_on_device = false;
    }
    if (status == cudaSuccess && is_needed && !one.is_on_device) {
        status = one.lost != cudaSuccess ? one.lost : annotune_copied(one, true);
        one.is_on_device = status == cudaSuccess;
    }
    return status;
}

/* Values of the device's that cannot be had: nothing else has them. */
static void annotune_must(const char *entry, cudaError_t status)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s; what is on the device cannot be copied, stopping\n", entry,
            cudaGetErrorString(status));
    abort();
}

/* Whether the device may have all that a call needs of an array. */
static bool annotune_holds(const annotune_resident &one, const annotune_array &array)
{
    const char *const from = (const char *)one.whole.first;
    const char *const section = (const char *)array.first - array.before;
    return from <= section && section + array.section <= from + one.whole.bytes;
}

/* Let one array of a call be used where it is, if it is whole there. One of which some is elsewhere
 * is copied as if none of it were there, and so are all arrays of the call that share it; and one for
 * which the device has no memory. */
static cudaError_t annotune_settle(annotune_resident &one, annotune_array &array)
{
    const char *const from = (const char *)one.whole.first;
    const bool is_whole = array.first == one.whole.first && array.bytes == one.whole.bytes
                          && array.section == array.bytes && array.before == 0;
    cudaError_t status = cudaSuccess;
    if (!one.is_cut)
        status = annotune_to_device(one, array.is_sent || !is_whole);
    if (!one.is_cut && status == cudaSuccess) {
        array.first = one.whole.device + ((const char *)array.first - from);
        return status;
    }
    if (status != cudaSuccess && status != cudaErrorMemoryAllocation)
        return status;
    cudaGetLastError();
    one.is_cut = true;
    status = annotune_to_host(one);
    one.is_on_device = one.is_on_device && !array.is_fetched;
    return status;
}

/* Settle all arrays of a call. */
static cudaError_t annotune_settled(annotune_array *arrays, int count)
{
    annotune_resident *const first = annotune_staying.aside ? NULL : annotune_staying.first;
    for (annotune_resident *one = first; one != NULL; one = one->next) {
        one->is_cut = false;
        for (int k = 0; k < count; k++)
            if (arrays[k].bytes > 0 && annotune_meets(*one, arrays[k].first, arrays[k].bytes)
                && !annotune_holds(*one, arrays[k]))
                one->is_cut = true;
    }
    for (int k = 0; k < count; k++) {
        void *const given = arrays[k].first;
        annotune_resident *one = arrays[k].bytes > 0 ? first : NULL;
        for (; one != NULL && arrays[k].first == given; one = one->next) {
            if (!annotune_meets(*one, given, arrays[k].bytes))
                continue;
            const cudaError_t status = annotune_settle(*one, arrays[k]);
            if (status != cudaSuccess)
                return status;
        }
    }
    return cudaSuccess;
}

/* What stays on the device and has the array of a call, NULL for others. */
static annotune_resident *annotune_resident_of(const annotune_array &array)
{
    const char *const first = (const char *)array.first;
    annotune_resident *one = array.bytes > 0 ? annotune_staying.first : NULL;
    while (one != NULL
           && (first < one->whole.device || one->whole.device + one->whole.bytes <= first))
        one = one->next;
    return one;
}

/* The arrays of a call but for those that kernels use where they stay. */
enum { ANNOTUNE_MOST_ARRAYS = 32 };
struct annotune_others {
    annotune_array all[ANNOTUNE_MOST_ARRAYS];
    int place[ANNOTUNE_MOST_ARRAYS];
    int count;
    annotune_others(const annotune_array *arrays, int given) : count(0)
    {
        for (int k = 0; k < given; k++) {
            if (arrays[k].way == ANNOTUNE_IN_PLACE && annotune_resident_of(arrays[k]) != NULL)
                continue;
            place[count] = k;
            all[count++] = arrays[k];
        }
    }
    void put_back(annotune_array *arrays) const
    {
        for (int n = 0; n < count; n++)
            arrays[place[n]] = all[n];
    }
};

/* Let a call use arrays where they are, and send the others. */
[[maybe_unused]] static cudaError_t annotune_send_resident(annotune_array *arrays, int count)
{
    /* An error of earlier calls is not to pass for one of these launches. */
    cudaGetLastError();
    annotune_has_begun = false;
    if (count > ANNOTUNE_MOST_ARRAYS) {
        annotune_data_aside(1);
        annotune_data_aside(0);
        return annotune_send(arrays, count);
    }
    cudaError_t status = annotune_settled(arrays, count);
    if (status != cudaSuccess)
        return status;
    for (int k = 0; k < count; k++) {
        char *const section = (char *)arrays[k].first - arrays[k].before;
        /* Kernels read neighbours at once, from where memory of the library's begins. */
        if (annotune_resident_of(arrays[k]) == NULL || (size_t)section % 16 != 0)
            continue;
        arrays[k].way = ANNOTUNE_IN_PLACE;
        arrays[k].device = section;
    }
    annotune_others others(arrays, count);
    status = others.count > 0 ? annotune_send(others.all, others.count) : cudaSuccess;
    others.put_back(arrays);
    return status;
}

/* Whether a call may return before the device has done with an array that is copied. */
static bool annotune_is_left(const annotune_array &array)
{
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
    return false;
#endif
    return array.bytes == 0 || (array.way == ANNOTUNE_STAGED && !array.is_fetched);
}

/* Leave what kernels have written where it is, and fetch the rest. */
[[maybe_unused]] static cudaError_t annotune_fetch_resident(
        const char *entry, annotune_array *arrays, int count, cudaError_t status)
{
    if (count > ANNOTUNE_MOST_ARRAYS)
        return annotune_fetch(entry, arrays, count, status);
    annotune_others others(arrays, count);
    bool is_awaited = status != cudaSuccess;
    for (int n = 0; n < others.count; n++)
        is_awaited = is_awaited || !annotune_is_left(others.all[n]);
    if (is_awaited)
        status = annotune_fetch(entry, others.all, others.count, status);
    for (int n = 0; n < others.count && !is_awaited; n++)
        annotune_free(others.all[n].device, status);
    for (int k = 0; k < count; k++) {
        annotune_resident *const one = annotune_resident_of(arrays[k]);
        if (one == NULL || !arrays[k].is_fetched || status != cudaSuccess)
            continue;
        one->is_on_device = true;
        one->is_on_host = false;
        one->lost = cudaSuccess;
    }
    annotune_mistrust(status, annotune_has_begun);
    return status;
}

/* Let the program's nest run on its arrays: those that it writes are right on the host alone then. */
[[maybe_unused]] static void annotune_on_host_resident(
        const char *entry, const annotune_array *arrays, int count)
{
    for (int k = 0; k < count; k++) {
        const annotune_array &array = arrays[k];
        annotune_resident *one = annotune_staying.aside ? NULL : annotune_staying.first;
        bool is_staying = false;
        for (; one != NULL; one = one->next) {
            if ((long long)array.bytes <= 0 || !annotune_meets(*one, array.first, array.bytes))
                continue;
            annotune_must(entry, annotune_to_host(*one));
            one->is_on_device = one->is_on_device && !array.is_fetched;
            is_staying = true;
        }
        if (!is_staying)
            annotune_on_host(entry, &array.first, 1);
    }
}

/* What the program calls in a block of Data. */
ANNOTUNE_CALLED void annotune_data_begin(void)
{
    annotune_staying.depth++;
}

ANNOTUNE_CALLED void annotune_data_enter(const void *array, unsigned long bytes)
{
    cudaPointerAttributes found;
    if (array == NULL || bytes == 0)
        return;
    const cudaError_t status = cudaPointerGetAttributes(&found, array);
    if (status != cudaSuccess)
        cudaGetLastError();
    const bool is_pinned = status == cudaSuccess && found.type == cudaMemoryTypeHost;
    if (status == cudaSuccess && !is_pinned && found.type != cudaMemoryTypeUnregistered)
        return;
    for (annotune_resident *one = annotune_staying.first; one != NULL; one = one->next)
        if (annotune_meets(*one, array, bytes))
            return;
    annotune_resident *const made = (annotune_resident *)calloc(1, sizeof *made);
    /* Without it the array is copied as ever. */
    if (made == NULL || annotune_staying.aside) {
        free(made);
        return;
    }
    made->whole.first = (void *)array;
    made->whole.bytes = made->whole.section = bytes;
    made->whole.is_sent = made->whole.is_fetched = true;
    made->whole.way = is_pinned ? ANNOTUNE_STRAIGHT : ANNOTUNE_STAGED;
    made->is_on_host = true;
    made->depth = annotune_staying.depth;
    made->next = annotune_staying.first;
    annotune_staying.first = made;
}

/* Have arrays right on the host: of a pointer, or of all where that is NULL. */
static void annotune_wanted(const void *pointer, bool is_written)
{
    for (annotune_resident *one = annotune_staying.first; one != NULL; one = one->next) {
        if (pointer != NULL && !annotune_leads_to(*one, pointer))
            continue;
        annotune_must("annotune_data", annotune_to_host(*one));
        one->is_on_device = one->is_on_device && !is_written;
    }
}

/* Let the program's nest run on any array: of sizes that kernels do not take nobody knows which. */
[[maybe_unused]] static void annotune_all_on_host(void)
{
    if (!annotune_staying.aside)
        annotune_wanted(NULL, true);
}

ANNOTUNE_CALLED void annotune_data_on_host(const void *array, int is_written)
{
    if (array != NULL && annotune_staying.first != NULL && !annotune_staying.aside)
        annotune_wanted(array, is_written != 0);
}

ANNOTUNE_CALLED void annotune_data_aside(int is_begun)
{
    if (is_begun && !annotune_staying.aside)
        annotune_wanted(NULL, true);
    annotune_staying.aside += is_begun ? 1 : -1;
}

static void annotune_forgotten(annotune_resident **link)
{
    annotune_resident *const one = *link;
    *link = one->next;
    annotune_free(one->whole.device, cudaSuccess);
    free(one);
}

ANNOTUNE_CALLED void annotune_data_exit(const void *array)
{
    for (annotune_resident *one = annotune_staying.first; one != NULL; one = one->next)
        if (one->depth == annotune_staying.depth && annotune_leads_to(*one, array))
            annotune_must("annotune_data", annotune_to_host(*one));
}

ANNOTUNE_CALLED void annotune_data_end(void)
{
    /* Behind a block the device has done with it, also with what nobody has asked for. */
    annotune_mistrust(cudaStreamSynchronize(0), true);
    for (annotune_resident **link = &annotune_staying.first; *link != NULL;) {
        if ((*link)->depth == annotune_staying.depth)
            annotune_forgotten(link);
        else
            link = &(*link)->next;
    }
    annotune_staying.depth--;
}

/* The program gives memory back that it had for an array. */
ANNOTUNE_CALLED void annotune_data_forget(const void *array)
{
    for (annotune_resident **link = &annotune_staying.first; array != NULL && *link != NULL;) {
        if ((*link)->whole.first == array || annotune_meets(**link, array, 1)) {
            annotune_must("annotune_data", annotune_to_host(**link));
            annotune_forgotten(link);
        } else {
            link = &(*link)->next;
        }
    }
}
