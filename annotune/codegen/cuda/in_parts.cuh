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

