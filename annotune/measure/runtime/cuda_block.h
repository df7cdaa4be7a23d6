/* One thread block on one processor: threads as fibers, barriers, warps, shared memory. */
#ifndef ANNOTUNE_CUDA_BLOCK_H
#define ANNOTUNE_CUDA_BLOCK_H

#include "cuda_types.h"
#include "fiber.h"
#include "order.h"
#include "race.h"

static constexpr int warpSize = 32;

namespace annotune_cpu {

constexpr unsigned WARP = 32;
constexpr unsigned MAX_BLOCK_THREADS = 1024;
constexpr size_t STACK_BYTES = 256 << 10;
constexpr size_t MAX_STATIC_SHARED = 48 << 10;  // bytes; also dynamic without opting in
constexpr size_t MAX_SHARED = 227 << 10;        // bytes, sm_90
constexpr size_t SHARED_ZONE = 4096;            // watched bytes after dynamic shared memory
constexpr unsigned char POISON = 0xff;          // as a double or float: NaN
constexpr unsigned MAX_SHARED_VARIABLES = 64;
constexpr unsigned MAX_BULK = 64;  // mbarriers of a block, and copies under way

struct Thread;

/* A cp.async that has been issued and may not have happened yet. */
struct DeferredCopy {
    void *to;
    const void *from;
    size_t size, zeros;
    unsigned group;
};

/* A cp.async.bulk that has been asked for: into shared memory, counted by an mbarrier, or out of it. */
struct BulkCopy {
    void *to;
    const void *from;
    size_t size;
    void *arrival;  // null: out of shared memory
    Thread *thread;
    bool is_committed;
};

/* An mbarrier: the arrivals and bytes that its phase waits for, and who has seen the last one end. */
struct Arrival {
    void *address;
    unsigned expected, pending, phase;
    size_t bytes;
    bool seen[MAX_BLOCK_THREADS];
};

struct Thread {
    Fiber fiber;
    uint3 index;
    unsigned linear;
    bool is_finished;
    Thread *next, *previous;  // the ring of threads that still run
    unsigned warp_steps;      // warp-wide operations it has arrived at
    unsigned warp_syncs;      // those that order memory
    uint64_t published[2][3];
    unsigned fenced;          // the interval of its last fence of shared memory, from 1
    DeferredCopy *copies;
    unsigned copy_count, copy_capacity, open_group;
};

struct SharedVariable {
    void *address;
    size_t size;
};

struct Block {
    uint3 index;
    dim3 size, grid;
    Thread *threads;
    Thread *running;
    Fiber launcher;
    unsigned live, waiting, finished, interval, wait_line;
    unsigned votes[2];
    unsigned long progress;  // grows whenever a thread gets anywhere
    SharedVariable shared[MAX_SHARED_VARIABLES];
    unsigned shared_count;
    BulkCopy bulk[MAX_BULK];
    Arrival arrivals[MAX_BULK];
    unsigned bulk_count, arrival_count;
    size_t static_shared;
    size_t dynamic_shared;
    const char *kernel;
    unsigned launch;  // from 1
    uint3 thread_index;
    void (*body)(void *);
    void *arguments;
    const char *stack_top;  // of the launch, in a kernel without fibers
    AnnotunePlace place;
};

ANNOTUNE_STATE Block block;
alignas(128) ANNOTUNE_STATE unsigned char dynamic_shared[MAX_SHARED + SHARED_ZONE];

[[noreturn]] ANNOTUNE_QUIET ANNOTUNE_ONCE void stop(const char *what) {
    const uint3 &b = block.index, &t = block.thread_index;
    fprintf(stderr, "annotune: %s: block (%u,%u,%u) thread (%u,%u,%u): %s\n",
            block.kernel ? block.kernel : "outside a kernel", b.x, b.y, b.z, t.x, t.y, t.z, what);
    fflush(stderr);
    abort();
}

ANNOTUNE_QUIET inline uint3 unflatten(uint64_t linear, dim3 size) {
    uint64_t row = linear / size.x;
    return {static_cast<unsigned>(linear % size.x), static_cast<unsigned>(row % size.y),
            static_cast<unsigned>(row / size.y)};
}

ANNOTUNE_QUIET ANNOTUNE_ONCE void fill(void *to, unsigned char value, size_t size) {
#if defined(__SANITIZE_ADDRESS__)
    // It may cross what ASan watches; volatile, lest it become a call of ASan's memset.
    volatile unsigned char *bytes = static_cast<volatile unsigned char *>(to);
    for (size_t i = 0; i < size; i++) bytes[i] = value;
#else
    memset(to, value, size);
#endif
}

/* Tell the race detector which thread runs from here on. */
ANNOTUNE_QUIET inline void enter_place(unsigned linear, unsigned warp_syncs, const void *low,
                                       const void *high) {
#if defined(__SANITIZE_THREAD__)
    AnnotunePlace &place = block.place;
    place.phase[1] = block.interval;
    place.member[1] = linear / WARP;
    place.phase[2] = warp_syncs;
    place.member[2] = linear % WARP;
    annotune_race_at(&place, low, high);
#else
    (void)linear, (void)warp_syncs, (void)low, (void)high;
#endif
}

ANNOTUNE_QUIET inline void enter_place(const Thread &thread) {
    enter_place(thread.linear, thread.warp_syncs, thread.fiber.low,
                thread.fiber.low + thread.fiber.size);
}

ANNOTUNE_QUIET ANNOTUNE_ONCE void switch_thread(Thread &from, Thread &to) {
    block.running = &to;
    block.thread_index = to.index;
    enter_place(to);
    switch_fiber(from.fiber, to.fiber, from.is_finished);
}

/* Let the others go on; abort when no other thread gets anywhere either. */
ANNOTUNE_QUIET ANNOTUNE_ONCE void let_others_run(const char *waits_for) {
    Thread &me = *block.running;
    unsigned long before = block.progress;
    if (me.next != &me) switch_thread(me, *me.next);
    if (block.progress == before) stop(waits_for);
}

ANNOTUNE_QUIET ANNOTUNE_ONCE void thread_main() {
    block.body(block.arguments);
    Thread &me = *block.running;
    me.is_finished = true;
    block.progress++;
    block.finished++;
    block.live--;
    if (block.waiting) stop("left the kernel while others wait in __syncthreads (divergent barrier)");
    me.next->previous = me.previous;
    me.previous->next = me.next;
    if (block.live) switch_thread(me, *me.next);
    else switch_fiber(me.fiber, block.launcher, true);
}

/* A block-wide barrier; `line` tells apart the barriers of two branches. */
#if defined(ANNOTUNE_APART) && !defined(ANNOTUNE_HERE)
ANNOTUNE_QUIET void barrier(unsigned line);
#else
ANNOTUNE_QUIET ANNOTUNE_ONCE __attribute__((noinline)) void barrier(unsigned line) {
    if (block.finished) stop("__syncthreads after another thread has left (divergent barrier)");
    if (block.waiting && block.wait_line != line)
        stop("__syncthreads on another line than other threads (divergent barrier)");
    block.wait_line = line;
    block.progress++;
    if (++block.waiting == block.live) {
        block.waiting = 0;
        block.interval++;
        enter_place(*block.running);
        return;
    }
    for (unsigned interval = block.interval; interval == block.interval;)
        let_others_run("waits in __syncthreads for threads that wait elsewhere (divergent barrier)");
}
#endif

ANNOTUNE_QUIET ANNOTUNE_ONCE int vote(unsigned line, bool holds) {
    unsigned turn = block.interval & 1;  // the next vote counts elsewhere
    block.votes[turn] += holds;
    barrier(line);
    int total = static_cast<int>(block.votes[turn]);
    barrier(line);
    block.votes[turn] = 0;
    return total;
}

/* Publish three words, wait for the lanes of `mask`; then lane_words reads theirs. */
ANNOTUNE_QUIET ANNOTUNE_ONCE unsigned meet_warp(unsigned mask, uint64_t a, uint64_t b, uint64_t c) {
    Thread &me = *block.running;
    unsigned first = me.linear / WARP * WARP;
    unsigned total = block.size.x * block.size.y * block.size.z;
    unsigned last = first + WARP < total ? first + WARP : total;
    if (!(mask >> (me.linear % WARP) & 1)) stop("is not in the mask of its own warp operation");
    // Two sets of words: a lane that is one step ahead must not overwrite what is read.
    unsigned step = ++me.warp_steps, set = step & 1;
    me.published[set][0] = a;
    me.published[set][1] = b;
    me.published[set][2] = c;
    block.progress++;
    for (unsigned i = first; i < last; i++) {
        const Thread &lane = block.threads[i];
        if (!(mask >> (i - first) & 1)) continue;
        while (!lane.is_finished && static_cast<int>(lane.warp_steps - step) < 0)
            let_others_run("waits for lanes of its warp that wait elsewhere");
    }
    return set;
}

ANNOTUNE_QUIET ANNOTUNE_ONCE const uint64_t *lane_words(unsigned lane, unsigned set) {
    unsigned linear = block.running->linear / WARP * WARP + lane;
    unsigned total = block.size.x * block.size.y * block.size.z;
    return block.threads[linear < total ? linear : block.running->linear].published[set];
}

ANNOTUNE_QUIET ANNOTUNE_ONCE void sync_warp(unsigned mask) {
    meet_warp(mask, 0, 0, 0);
    Thread &me = *block.running;
    // Lanes outside a partial mask are not ordered; then none is counted as ordered.
    if (mask == ~0u) me.warp_syncs++;
    enter_place(me);
}

/* Called where a __shared__ variable is declared; the block's first thread poisons it. */
ANNOTUNE_QUIET ANNOTUNE_ONCE void declare_shared(const volatile void *variable, size_t size) {
    void *address = const_cast<void *>(variable);
    for (unsigned i = 0; i < block.shared_count; i++)
        if (block.shared[i].address == address) return;
    if (block.shared_count == MAX_SHARED_VARIABLES) stop("more than 64 shared variables");
    block.shared[block.shared_count++] = {address, size};
    block.static_shared += size;
    if (block.static_shared > MAX_STATIC_SHARED) stop("more than 48 KiB of static shared memory");
    if (block.static_shared + block.dynamic_shared > MAX_SHARED)
        stop("more than 227 KiB of shared memory");
    fill(address, POISON, size);
#if defined(__SANITIZE_THREAD__)
    annotune_race_forget(address, size);
#endif
}

/* Has every thread waited for what a phase has brought? */
ANNOTUNE_QUIET ANNOTUNE_ONCE void check_seen(const Arrival &arrival) {
    unsigned count = block.size.x * block.size.y * block.size.z;
    for (unsigned i = 0; arrival.phase && i < count; i++)
        if (!arrival.seen[i]) stop("not every thread has waited for a bulk copy");
}

ANNOTUNE_QUIET ANNOTUNE_ONCE void begin_block(uint3 index) {
    block.index = index;
    block.shared_count = 0;
    block.static_shared = 0;
    block.bulk_count = block.arrival_count = 0;
    block.interval = 0;
#if defined(__SANITIZE_THREAD__)
    block.place.member[0] = index.x + block.grid.x * (index.y + block.grid.y * index.z);
#endif
    if (!block.dynamic_shared) return;
#if defined(__SANITIZE_ADDRESS__)
    __asan_unpoison_memory_region(dynamic_shared, sizeof dynamic_shared);
#endif
    fill(dynamic_shared, POISON, block.dynamic_shared + SHARED_ZONE);
#if defined(__SANITIZE_ADDRESS__)
    __asan_poison_memory_region(dynamic_shared + block.dynamic_shared, SHARED_ZONE);
#endif
#if defined(__SANITIZE_THREAD__)
    annotune_race_forget(dynamic_shared, block.dynamic_shared);
#endif
}

ANNOTUNE_QUIET ANNOTUNE_ONCE void end_block() {
    if (block.bulk_count) stop("a bulk copy of shared memory that nobody has waited for");
    for (unsigned k = 0; k < block.arrival_count; k++) check_seen(block.arrivals[k]);
    if (!block.dynamic_shared) return;
    const unsigned char *end = dynamic_shared + block.dynamic_shared;
    for (size_t i = 0; i < SHARED_ZONE; i++)
        if (end[i] != POISON) stop("wrote past the end of its dynamic shared memory");
}

ANNOTUNE_QUIET ANNOTUNE_ONCE void run_fibers() {
    unsigned count = block.size.x * block.size.y * block.size.z;
    if (!block.threads)
        block.threads = static_cast<Thread *>(calloc(MAX_BLOCK_THREADS, sizeof(Thread)));
    if (!block.threads) stop("out of memory");
    unsigned number = static_cast<unsigned>(
        block.index.x + block.grid.x * (block.index.y + block.grid.y * block.index.z));
    Order order = Order::choose(count, number);
    fiber_main = thread_main;
    for (unsigned i = 0; i < count; i++) {
        Thread &thread = block.threads[i];
        allocate_stack(thread.fiber, STACK_BYTES);
        prepare_fiber(thread.fiber, i);
        thread.index = unflatten(i, block.size);
        thread.linear = i;
        thread.fenced = 0;
        thread.is_finished = false;
        thread.warp_steps = thread.warp_syncs = 0;
        thread.copy_count = thread.open_group = 0;
        Thread &ahead = block.threads[order.at(i)];
        Thread &behind = block.threads[order.at((i + 1) % count)];
        ahead.next = &behind;
        behind.previous = &ahead;
    }
    block.live = count;
    block.waiting = block.finished = 0;
    Thread &first = block.threads[order.at(0)];
    block.running = &first;
    block.thread_index = first.index;
    enter_place(first);
    switch_fiber(block.launcher, first.fiber);
}

}  // namespace annotune_cpu

static const uint3 &threadIdx = annotune_cpu::block.thread_index;
static const uint3 &blockIdx = annotune_cpu::block.index;
static const dim3 &blockDim = annotune_cpu::block.size;
static const dim3 &gridDim = annotune_cpu::block.grid;

#endif
