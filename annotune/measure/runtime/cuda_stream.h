/* Streams: the device does what it is asked for as late as it may, so that a missing wait is seen.
 *
 * What is asked of a stream waits until the host waits for it, or another stream does. Until then
 * the host's end of a copy from the device holds NaN; and when a copy runs, the host must have left
 * its end as it was. A stream that has nothing to do begins a kernel at once.
 */
#ifndef ANNOTUNE_CUDA_STREAM_H
#define ANNOTUNE_CUDA_STREAM_H

#include <time.h>

#include "cuda_memory.h"

namespace annotune_cpu {

struct Operation {
    Operation *next = nullptr;
    virtual void run() = 0;
    virtual ~Operation() = default;
};

}  // namespace annotune_cpu

struct annotune_stream {
    annotune_cpu::Operation *first, *last;
    annotune_stream *next;
    int device;
};
typedef annotune_stream *cudaStream_t;

struct annotune_event {
    timespec time;
    annotune_stream *stream;  // where it was recorded last
    long asked, reached;      // how often it was recorded, and how many of these have come
    int device;
};
typedef annotune_event *cudaEvent_t;
enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };
enum { cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2 };

namespace annotune_cpu {

constexpr int MAX_DEVICES = 8;

/* The streams of all devices: those by default, and behind them the others. */
struct Streams {
    annotune_stream by_default[MAX_DEVICES];
    Streams() {
        for (int i = 0; i < MAX_DEVICES; i++)
            by_default[i] = {nullptr, nullptr, i + 1 < MAX_DEVICES ? &by_default[i + 1] : nullptr, i};
    }
    annotune_stream *first() { return by_default; }
    annotune_stream &last_default() { return by_default[MAX_DEVICES - 1]; }
};
ANNOTUNE_STATE Streams streams;

/* The stream of a handle; blocking streams and the default one wait for each other. */
ANNOTUNE_QUIET ANNOTUNE_ONCE annotune_stream &stream_of(cudaStream_t handle) {
    return handle ? *handle : streams.by_default[device];
}

/* Whether a stream is of the device in use; else the message. */
ANNOTUNE_QUIET ANNOTUNE_ONCE bool is_here(const annotune_stream &stream, const char *what) {
    if (stream.device != device)
        fail(cudaErrorInvalidResourceHandle, "%s for device %d in a stream of device %d", what, device,
             stream.device);
    return stream.device == device;
}

template <class Work>
struct Deferred : Operation {
    Work work;
    ANNOTUNE_QUIET explicit Deferred(const Work &work_) : work(work_) {}
    ANNOTUNE_QUIET void run() override { work(); }
};

template <class Work>
ANNOTUNE_QUIET void defer(annotune_stream &stream, const Work &work) {
    Operation *operation = new Deferred<Work>(work);
    (stream.first ? stream.last->next : stream.first) = operation;
    stream.last = operation;
}

ANNOTUNE_QUIET ANNOTUNE_ONCE void run_first(annotune_stream &stream) {
    Operation *operation = stream.first;
    stream.first = operation->next;
    const int before = device;
    device = stream.device;
    operation->run();
    device = before;
    delete operation;
}

ANNOTUNE_QUIET ANNOTUNE_ONCE void finish(annotune_stream &stream) {
    while (stream.first) run_first(stream);
}

/* Of the device in use, or of all; true when there was anything left to do. */
ANNOTUNE_QUIET ANNOTUNE_ONCE bool finish_all(bool is_every_device = false) {
    bool was_busy = false;
    for (annotune_stream *one = streams.first(); one; one = one->next) {
        if (one->device != device && !is_every_device) continue;
        was_busy = was_busy || one->first;
        finish(*one);
    }
    return was_busy;
}

/* Nothing is known of what was under way when a wait fails; no copy writes to managed memory. */
ANNOTUNE_QUIET ANNOTUNE_ONCE cudaError_t fail_waiting() {
    for (unsigned i = 0; i < host.count; i++) {
        const Allocation &a = host.allocations[i];
        if (a.device == device && (!a.is_managed || host.launches > 0)) fill(payload(a), POISON, a.size);
    }
    return fail(cudaErrorLaunchFailure, "a synchronization failed as planned");
}

ANNOTUNE_QUIET ANNOTUNE_ONCE uint64_t checksum(const void *memory, size_t size) {
    const unsigned char *byte = static_cast<const unsigned char *>(memory);
    uint64_t sum = size;
    for (; size >= 8; size -= 8, byte += 8) {
        uint64_t word;
        memcpy(&word, byte, 8);
        sum = (sum ^ word) * 0x9E3779B97F4A7C15u;
        sum ^= sum >> 29;
    }
    for (; size > 0; size--, byte++) sum = (sum ^ *byte) * 0x9E3779B97F4A7C15u;
    return sum;
}

ANNOTUNE_QUIET ANNOTUNE_ONCE void tell(const char *words, size_t size) {
    host.violations++;
    snprintf(host.message, sizeof host.message, words, size);
}

/* The host's end of a copy that is put off: the host leaves it as it is until the copy is made. */
struct HostEnd {
    char *memory;
    size_t size;
    bool is_read, is_poisoned;
    uint64_t before;
    HostEnd *next;
};
ANNOTUNE_STATE HostEnd *host_ends;

ANNOTUNE_QUIET ANNOTUNE_ONCE bool is_to_be_read(const HostEnd &end) {
    for (const HostEnd *one = host_ends; one; one = one->next)
        if (one->is_read && one->memory < end.memory + end.size && end.memory < one->memory + one->size)
            return true;
    return false;
}

/* What will be written has no value from when it has been read by the copies before it. */
ANNOTUNE_QUIET ANNOTUNE_ONCE void poison_ends() {
    for (HostEnd *one = host_ends; one; one = one->next) {
        if (one->is_read || one->is_poisoned || is_to_be_read(*one)) continue;
        fill(one->memory, POISON, one->size);
        one->before = checksum(one->memory, one->size);
        one->is_poisoned = true;
    }
}

ANNOTUNE_QUIET ANNOTUNE_ONCE HostEnd *begin_end(const void *memory, size_t size, bool is_read) {
    if (allocation_of(memory)) return nullptr;
    char *bytes = static_cast<char *>(const_cast<void *>(memory));
    host_ends = new HostEnd{bytes, size, is_read, false, checksum(bytes, size), host_ends};
    HostEnd *made = host_ends;
    poison_ends();
    return made;
}

ANNOTUNE_QUIET ANNOTUNE_ONCE void reach_end(HostEnd *end) {
    if (!end) return;
    for (HostEnd **link = &host_ends; *link; link = &(*link)->next)
        if (*link == end) {
            *link = end->next;
            break;
        }
    if (checksum(end->memory, end->size) != end->before)
        tell(end->is_read ? "the host changed the source of a copy of %zu bytes before the copy was made"
                          : "the host changed the destination of a copy of %zu bytes before the copy was made",
             end->size);
    if (!end->is_read && is_to_be_read(*end))
        tell("a copy of %zu bytes is made before what it overwrites has been read by another one",
             end->size);
    delete end;
}

ANNOTUNE_QUIET ANNOTUNE_ONCE cudaError_t copy_later(void *to, const void *from, size_t size, int kind,
                                             annotune_stream &stream) {
    cudaError_t error = begin_copy(to, from, size, kind);
    if (error != cudaSuccess || size == 0) return error;
    const void *ends[2] = {to, from};
    for (const void *end : ends) {
        if (allocation_of(end) || is_pinned(end, size)) continue;
        // Of memory that is not pinned it returns when that has been read, or written.
        finish(stream);
        memmove(to, from, size);
        return cudaSuccess;
    }
    HostEnd *source = begin_end(from, size, true), *destination = begin_end(to, size, false);
    defer(stream, [=]() ANNOTUNE_QUIET {
        reach_end(source);
        reach_end(destination);
        memmove(to, from, size);
        poison_ends();
    });
    return cudaSuccess;
}

ANNOTUNE_QUIET ANNOTUNE_ONCE void reach(annotune_event *event, long number) {
    event->reached = number;
    clock_gettime(CLOCK_MONOTONIC, &event->time);
}

ANNOTUNE_QUIET ANNOTUNE_ONCE void await(annotune_event *event, long number) {
    while (event->reached < number) run_first(*event->stream);
}

}  // namespace annotune_cpu

ANNOTUNE_ONCE cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
    const annotune_cpu::Turn turn;
    using annotune_cpu::streams;
    *stream = nullptr;
    if (flags != cudaStreamNonBlocking) return cudaSuccess;
    annotune_stream &before = streams.last_default();
    *stream = before.next = new annotune_stream{nullptr, nullptr, before.next, annotune_cpu::device};
    return cudaSuccess;
}
ANNOTUNE_ONCE cudaError_t cudaStreamCreate(cudaStream_t *stream) {
    const annotune_cpu::Turn turn;
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
ANNOTUNE_ONCE cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    const annotune_cpu::Turn turn;
    if (!stream) return cudaSuccess;
    annotune_cpu::finish(*stream);
    annotune_stream *before = annotune_cpu::streams.first();
    while (before->next != stream) before = before->next;
    before->next = stream->next;
    delete stream;
    return cudaSuccess;
}
ANNOTUNE_ONCE cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
    const annotune_cpu::Turn turn;
    using namespace annotune_cpu;
    host.waits++;
    if (is_planned_failure(FINISHING)) return fail_waiting();
    finish(stream_of(stream));
    return cudaSuccess;
}
ANNOTUNE_ONCE cudaError_t cudaDeviceSynchronize() {
    const annotune_cpu::Turn turn;
    using namespace annotune_cpu;
    host.waits++;
    if (is_planned_failure(FINISHING)) return fail_waiting();
    finish_all();
    return cudaSuccess;
}
ANNOTUNE_ONCE cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
    const annotune_cpu::Turn turn;
    using namespace annotune_cpu;
    *event = nullptr;
    if (is_planned_failure(CREATING)) return fail(cudaErrorMemoryAllocation, "no event, as planned");
    *event = new annotune_event{{}, &stream_of(nullptr), 0, 0, device};
    host.events++;
    return cudaSuccess;
}
ANNOTUNE_ONCE cudaError_t cudaEventCreate(cudaEvent_t *event) {
    const annotune_cpu::Turn turn;
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}
ANNOTUNE_ONCE cudaError_t cudaEventDestroy(cudaEvent_t event) {
    const annotune_cpu::Turn turn;
    // A stream may still have to wait for it, so it is not deleted.
    annotune_cpu::await(event, event->asked);
    annotune_cpu::host.events--;
    return cudaSuccess;
}
ANNOTUNE_ONCE cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle = nullptr) {
    const annotune_cpu::Turn turn;
    using namespace annotune_cpu;
    if (is_planned_failure(RECORDING)) return fail(cudaErrorUnknown, "cudaEventRecord failed as planned");
    annotune_stream &stream = stream_of(handle);
    if (event->device != stream.device)
        return fail(cudaErrorInvalidResourceHandle, "an event of device %d in a stream of device %d",
                    event->device, stream.device);
    // Nobody can wait any more for what was recorded elsewhere.
    if (event->stream != &stream) await(event, event->asked);
    event->stream = &stream;
    long number = ++event->asked;
    if (stream.first) defer(stream, [=]() ANNOTUNE_QUIET { reach(event, number); });
    else reach(event, number);
    return cudaSuccess;
}
ANNOTUNE_ONCE cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    const annotune_cpu::Turn turn;
    using namespace annotune_cpu;
    host.waits++;
    if (is_planned_failure(WAITING)) return fail_waiting();
    await(event, event->asked);
    return cudaSuccess;
}
ANNOTUNE_ONCE cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned = 0) {
    const annotune_cpu::Turn turn;
    using namespace annotune_cpu;
    if (is_planned_failure(RECORDING)) return fail(cudaErrorUnknown, "cudaStreamWaitEvent failed as planned");
    long number = event->asked;
    if (event->reached < number)
        defer(stream_of(handle), [=]() ANNOTUNE_QUIET { await(event, number); });
    return cudaSuccess;
}
ANNOTUNE_ONCE cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to) {
    const annotune_cpu::Turn turn;
    *milliseconds = static_cast<float>((to->time.tv_sec - from->time.tv_sec) * 1e3 +
                                       (to->time.tv_nsec - from->time.tv_nsec) * 1e-6);
    return cudaSuccess;
}

/* What has gone wrong: writes around allocations, copies out of order, work left undone. */
ANNOTUNE_API int annotune_cpu_red_zone_violations(void) {
    using namespace annotune_cpu;
    const Turn turn;
    check_all_zones("at the end");
    if (finish_all(true)) {
        host.violations++;
        snprintf(host.message, sizeof host.message, "a call has returned before its work was done");
    }
    return host.violations;
}
/* Frees what is left, zeroes the counters, forward order, no planned failure. */
ANNOTUNE_API void annotune_cpu_reset(void) {
    using namespace annotune_cpu;
    const Turn turn;
    finish_all(true);
    host.failing = 0;
    if (annotune_release) annotune_release();
    while (host.count) release(payload(host.allocations[0]));
    while (host.pinned) unpin(host.pinned->memory, host.pinned->is_allocated);
    free(host.allocations);
    host = Host();
    last_error = cudaSuccess;
    order_mode = FORWARD;
    order_seed = 1;
}

#endif
