/* What a kernel calls: barriers, shuffles, cached loads, atomics, cp.async, FP64 mma. */
#ifndef ANNOTUNE_CUDA_DEVICE_H
#define ANNOTUNE_CUDA_DEVICE_H

#include "cuda_block.h"

#define __syncthreads() annotune_cpu::barrier(__LINE__)
#define __syncthreads_count(holds) annotune_cpu::vote(__LINE__, (holds))
#define __syncthreads_or(holds) (annotune_cpu::vote(__LINE__, (holds)) != 0)
#define __syncthreads_and(holds) (annotune_cpu::vote(__LINE__, !(holds)) == 0)

ANNOTUNE_ONCE void __syncwarp(unsigned mask = ~0u) { annotune_cpu::sync_warp(mask); }
/* A fence orders one thread's own accesses; it makes no two threads wait. */
ANNOTUNE_ONCE void __threadfence() {}
ANNOTUNE_ONCE void __threadfence_block() {}

namespace annotune_cpu {

/* The value of lane source(lane) within segments of `width`, or the lane's own. */
template <class T>
ANNOTUNE_QUIET T shuffle(unsigned mask, T value, int lane_offset, bool is_xor, bool is_index,
                         int width) {
    static_assert(sizeof(T) <= sizeof(uint64_t), "a shuffle moves at most 8 bytes");
    uint64_t word = 0;
    memcpy(&word, &value, sizeof value);
    unsigned set = meet_warp(mask, word, 0, 0);
    int lane = static_cast<int>(block.running->linear % WARP);
    int segment = lane / width * width;
    int source = is_index ? segment + (lane_offset & (width - 1))
                 : is_xor ? lane ^ lane_offset
                          : lane + lane_offset;
    bool is_inside = source >= segment && source < segment + width;
    memcpy(&value, &lane_words(static_cast<unsigned>(is_inside ? source : lane), set)[0],
           sizeof value);
    return value;
}

template <class T>
ANNOTUNE_QUIET void note_atomic(T *at) {
#if defined(__SANITIZE_THREAD__)
    annotune_race_access(at, sizeof *at, ANNOTUNE_WRITE, ANNOTUNE_ATOMIC);
#else
    (void)at;
#endif
}

/* A type that takes no part in template argument deduction: atomicAdd(double *, int). */
template <class T>
struct Exactly {
    typedef T type;
};

}  // namespace annotune_cpu

template <class T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32) {
    return annotune_cpu::shuffle(mask, value, lane, false, true, width);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32) {
    return annotune_cpu::shuffle(mask, value, static_cast<int>(by), false, false, width);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32) {
    return annotune_cpu::shuffle(mask, value, -static_cast<int>(by), false, false, width);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32) {
    return annotune_cpu::shuffle(mask, value, bits, true, false, width);
}
ANNOTUNE_QUIET ANNOTUNE_ONCE unsigned __ballot_sync(unsigned mask, int holds) {
    unsigned set = annotune_cpu::meet_warp(mask, holds != 0, 0, 0), lanes = 0;
    unsigned first = annotune_cpu::block.running->linear / 32 * 32;
    unsigned total = blockDim.x * blockDim.y * blockDim.z;
    for (unsigned lane = 0; lane < 32 && first + lane < total; lane++)
        if (mask >> lane & 1 && annotune_cpu::lane_words(lane, set)[0]) lanes |= 1u << lane;
    return lanes;
}
ANNOTUNE_ONCE int __any_sync(unsigned mask, int holds) { return __ballot_sync(mask, holds) != 0; }
ANNOTUNE_ONCE int __all_sync(unsigned mask, int holds) { return __ballot_sync(mask, !holds) == 0; }

#define ANNOTUNE_LOAD(NAME)           \
    template <class T>                \
    inline T NAME(const T *address) { \
        return *address;              \
    }
#define ANNOTUNE_STORE(NAME)                                                              \
    template <class T>                                                                    \
    inline void NAME(T *address, typename annotune_cpu::Exactly<T>::type value) {         \
        *address = value;                                                                 \
    }
/* What nvcc is told holds on the CPU, too. */
#define __builtin_assume(CONDITION) ((CONDITION) ? (void)0 : __builtin_trap())
ANNOTUNE_LOAD(__ldg)
ANNOTUNE_LOAD(__ldca)
ANNOTUNE_LOAD(__ldcg)
ANNOTUNE_LOAD(__ldcs)
ANNOTUNE_LOAD(__ldcv)
ANNOTUNE_LOAD(__ldlu)
ANNOTUNE_STORE(__stwb)
ANNOTUNE_STORE(__stcg)
ANNOTUNE_STORE(__stcs)
ANNOTUNE_STORE(__stwt)

#define ANNOTUNE_ATOMIC_UPDATE(NAME, VALUE)                                               \
    template <class T>                                                                    \
    ANNOTUNE_QUIET T NAME(T *at, typename annotune_cpu::Exactly<T>::type operand) {       \
        annotune_cpu::note_atomic(at);                                                    \
        T old = *at;                                                                      \
        *at = VALUE;                                                                      \
        return old;                                                                       \
    }
ANNOTUNE_ATOMIC_UPDATE(atomicAdd, old + operand)
ANNOTUNE_ATOMIC_UPDATE(atomicSub, old - operand)
ANNOTUNE_ATOMIC_UPDATE(atomicMax, operand > old ? operand : old)
ANNOTUNE_ATOMIC_UPDATE(atomicMin, operand < old ? operand : old)
ANNOTUNE_ATOMIC_UPDATE(atomicAnd, old &operand)
ANNOTUNE_ATOMIC_UPDATE(atomicOr, old | operand)
ANNOTUNE_ATOMIC_UPDATE(atomicExch, operand)
template <class T>
ANNOTUNE_QUIET T atomicCAS(T *at, typename annotune_cpu::Exactly<T>::type expected,
                           typename annotune_cpu::Exactly<T>::type desired) {
    annotune_cpu::note_atomic(at);
    T old = *at;
    if (old == expected) *at = desired;
    return old;
}
ANNOTUNE_ONCE long long __double_as_longlong(double value) {
    long long bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
ANNOTUNE_ONCE double __longlong_as_double(long long bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

namespace annotune_cpu {

/* Under ASan and in the race check a copy of ours must be seen like the program's own. */
template <class Word>
inline void copy_words(void *to, const void *from, size_t count) {
    for (size_t i = 0; i < count; i++)
        static_cast<Word *>(to)[i] = static_cast<const Word *>(from)[i];
}

/* Of `bytes` from an address on, are all in one allocation of the device? cuda_memory.h knows. */
ANNOTUNE_QUIET ANNOTUNE_ONCE bool is_on_device(const void *address, size_t bytes);

ANNOTUNE_QUIET ANNOTUNE_ONCE bool is_shared(const void *address, size_t bytes) {
    const unsigned char *byte = static_cast<const unsigned char *>(address);
    if (byte >= dynamic_shared && byte + bytes <= dynamic_shared + block.dynamic_shared) return true;
    for (unsigned i = 0; i < block.shared_count; i++) {
        const unsigned char *start = static_cast<unsigned char *>(block.shared[i].address);
        if (byte >= start && byte + bytes <= start + block.shared[i].size) return true;
    }
    return false;
}

/* By value: the queue is ours, and the race check must not see it as the program's. */
ANNOTUNE_ONCE void perform(DeferredCopy copy) {
    unsigned char *to = static_cast<unsigned char *>(copy.to);
    size_t size = copy.size - copy.zeros;
    if (size == copy.size) copy_words<uint32_t>(to, copy.from, size / sizeof(uint32_t));
    else copy_words<unsigned char>(to, copy.from, size);
    for (size_t i = size; i < copy.size; i++) to[i] = 0;
}

}  // namespace annotune_cpu

/* The copy happens as late as the program allows: where a wait first covers it. */
ANNOTUNE_QUIET ANNOTUNE_ONCE void __pipeline_memcpy_async(void *to, const void *from, size_t size,
                                                   size_t zeros = 0) {
    annotune_cpu::Thread &me = *annotune_cpu::block.running;
    if (size != 4 && size != 8 && size != 16) annotune_cpu::stop("cp.async of other than 4, 8 or 16 bytes");
    if ((uintptr_t)to % size || (uintptr_t)from % size) annotune_cpu::stop("misaligned cp.async");
    if (zeros > size) annotune_cpu::stop("cp.async with more zeros than bytes");
    if (!annotune_cpu::is_shared(to, size)) annotune_cpu::stop("cp.async to what is no shared memory");
    if (size > zeros && !annotune_cpu::is_on_device(from, size - zeros))
        annotune_cpu::stop("cp.async reads outside of every device allocation");
    if (me.copy_count == me.copy_capacity) {
        me.copy_capacity = me.copy_capacity ? 2 * me.copy_capacity : 32;
        me.copies = static_cast<annotune_cpu::DeferredCopy *>(
            realloc(me.copies, me.copy_capacity * sizeof *me.copies));
        if (!me.copies) annotune_cpu::stop("out of memory");
    }
#if defined(__SANITIZE_THREAD__)
    // It may as well happen now, while others still read what it replaces.
    annotune_race_access(from, size - zeros, ANNOTUNE_READ, ANNOTUNE_PLAIN);
    annotune_race_access(to, size, ANNOTUNE_WRITE, ANNOTUNE_PLAIN);
#endif
    me.copies[me.copy_count++] = {to, from, size, zeros, me.open_group};
    // Until the wait that covers it the place has no value, neither the old one nor the new one.
    annotune_cpu::fill(to, annotune_cpu::POISON, size);
}
ANNOTUNE_QUIET ANNOTUNE_ONCE void __pipeline_commit() { annotune_cpu::block.running->open_group++; }
ANNOTUNE_QUIET ANNOTUNE_ONCE void __pipeline_wait_prior(size_t newest) {
    annotune_cpu::Thread &me = *annotune_cpu::block.running;
    unsigned kept = 0;
    for (unsigned i = 0; i < me.copy_count; i++) {
        if (me.copies[i].group + newest < me.open_group) annotune_cpu::perform(me.copies[i]);
        else me.copies[kept++] = me.copies[i];
    }
    me.copy_count = kept;
}

namespace annotune_cpu {

ANNOTUNE_QUIET ANNOTUNE_ONCE Arrival &arrival_at(const void *address) {
    for (unsigned k = 0; k < block.arrival_count; k++)
        if (block.arrivals[k].address == address) return block.arrivals[k];
    stop("an mbarrier that has not been initialised");
}

ANNOTUNE_QUIET ANNOTUNE_ONCE void check_bulk(const void *shared, const void *device, size_t size) {
    if (size % 16 || (uintptr_t)shared % 16 || (uintptr_t)device % 16)
        stop("cp.async.bulk of other than a multiple of 16 bytes, or misaligned");
    if (!is_shared(shared, size)) stop("cp.async.bulk outside of shared memory");
    if (!is_on_device(device, size)) stop("cp.async.bulk outside of every device allocation");
}

ANNOTUNE_QUIET ANNOTUNE_ONCE void defer_bulk(void *to, const void *from, size_t size, void *arrival) {
    if (block.bulk_count == MAX_BULK) stop("more than 64 bulk copies under way");
#if defined(__SANITIZE_THREAD__)
    // It may as well happen now, while others still use what it reads and replaces.
    annotune_race_access(from, size, ANNOTUNE_READ, ANNOTUNE_PLAIN);
    annotune_race_access(to, size, ANNOTUNE_WRITE, ANNOTUNE_PLAIN);
#endif
    block.bulk[block.bulk_count++] = {to, from, size, arrival, block.running, false};
}

/* Make the copies that count for an mbarrier, or those out of shared memory of this thread. */
ANNOTUNE_QUIET ANNOTUNE_ONCE size_t perform_bulk(const void *arrival) {
    size_t bytes = 0;
    unsigned kept = 0;
    for (unsigned i = 0; i < block.bulk_count; i++) {
        BulkCopy copy = block.bulk[i];
        bool is_out = !copy.arrival && copy.thread == block.running && copy.is_committed;
        if (arrival ? copy.arrival != arrival : !is_out) {
            block.bulk[kept++] = copy;
            continue;
        }
        bytes += copy.size;
#if defined(__SANITIZE_THREAD__)
        // Who has waited comes after the copy, whichever thread asked for it.
        if (arrival) annotune_race_forget(copy.to, copy.size);
#endif
        perform({copy.to, copy.from, copy.size, 0, 0});
#if defined(__SANITIZE_THREAD__)
        if (arrival) annotune_race_forget(copy.to, copy.size);
#endif
    }
    block.bulk_count = kept;
    return bytes;
}

}  // namespace annotune_cpu

/* What kernels call of <cuda/ptx>. */
namespace cuda {
namespace ptx {

struct sem_release_t {};
struct scope_cta_t {};
struct scope_cluster_t {};
struct space_shared_t {};
struct space_cluster_t {};
struct space_global_t {};
constexpr sem_release_t sem_release{};
constexpr scope_cta_t scope_cta{};
constexpr scope_cluster_t scope_cluster{};
constexpr space_shared_t space_shared{};
constexpr space_cluster_t space_cluster{};
constexpr space_global_t space_global{};
template <int annotune_number>
struct n32_t {};

ANNOTUNE_QUIET ANNOTUNE_ONCE void mbarrier_init(uint64_t *address, uint32_t count) {
    using namespace annotune_cpu;
    if (!is_shared(address, sizeof *address)) stop("an mbarrier outside of shared memory");
    if (!count) stop("an mbarrier of no arrivals");
    if (block.arrival_count == MAX_BULK) stop("more than 64 mbarriers");
    Arrival &made = block.arrivals[block.arrival_count++];
    memset(&made, 0, sizeof made);
    made.address = address;
    made.expected = made.pending = count;
}
ANNOTUNE_QUIET ANNOTUNE_ONCE void fence_mbarrier_init(sem_release_t, scope_cluster_t) {}
ANNOTUNE_QUIET ANNOTUNE_ONCE void fence_proxy_async(space_shared_t) {
    annotune_cpu::block.running->fenced = annotune_cpu::block.interval + 1;
}
ANNOTUNE_QUIET ANNOTUNE_ONCE void mbarrier_arrive_expect_tx(sem_release_t, scope_cta_t, space_shared_t,
                                                     uint64_t *address, uint32_t bytes) {
    using namespace annotune_cpu;
    Arrival &arrival = arrival_at(address);
    check_seen(arrival);
    if (!arrival.pending) stop("more arrivals at an mbarrier than its phase has");
    arrival.pending--;
    arrival.bytes += bytes;
}
/* Like cp.async, as late as the program allows; until then the place has no value. */
ANNOTUNE_QUIET ANNOTUNE_ONCE void cp_async_bulk(space_cluster_t, space_global_t, void *to, const void *from,
                                         uint32_t size, uint64_t *arrival) {
    using namespace annotune_cpu;
    check_bulk(to, from, size);
    arrival_at(arrival);
    defer_bulk(to, from, size, arrival);
    fill(to, POISON, size);
}
ANNOTUNE_QUIET ANNOTUNE_ONCE void cp_async_bulk(space_global_t, space_shared_t, void *to, const void *from,
                                         uint32_t size) {
    using namespace annotune_cpu;
    check_bulk(from, to, size);
    unsigned count = block.size.x * block.size.y * block.size.z;
    for (unsigned i = 0; i < count; i++)
        if (!block.threads[i].is_finished && block.threads[i].fenced != block.interval)
            stop("a bulk copy of shared memory without a fence of every thread, and a barrier, before");
    defer_bulk(to, from, size, nullptr);
}
ANNOTUNE_QUIET ANNOTUNE_ONCE void cp_async_bulk_commit_group() {
    using namespace annotune_cpu;
    for (unsigned i = 0; i < block.bulk_count; i++)
        if (block.bulk[i].thread == block.running) block.bulk[i].is_committed = true;
}
ANNOTUNE_QUIET ANNOTUNE_ONCE void cp_async_bulk_wait_group_read(n32_t<0>) {
    annotune_cpu::perform_bulk(nullptr);
}
ANNOTUNE_QUIET ANNOTUNE_ONCE bool mbarrier_try_wait_parity(const uint64_t *address, uint32_t parity) {
    using namespace annotune_cpu;
    Arrival &arrival = arrival_at(address);
    if (arrival.phase % 2 == parity % 2) {
        if (arrival.pending) {
            let_others_run("waits at an mbarrier for threads that wait elsewhere");
            return false;
        }
        if (perform_bulk(address) != arrival.bytes)
            stop("an mbarrier that expects other bytes than bulk copies bring");
        arrival.bytes = 0;
        arrival.pending = arrival.expected;
        arrival.phase++;
        memset(arrival.seen, 0, sizeof arrival.seen);
        block.progress++;
    }
    arrival.seen[block.running->linear] = true;
    return true;
}

}  // namespace ptx
}  // namespace cuda

/* d += a * b on the fragments of one warp, as PTX lays them out: in A a lane holds row
 * lane/4 (and 8 below), column lane%4; in B row lane%4, column lane/4; in C two
 * neighbouring columns 2*(lane%4) of each of its rows. */
ANNOTUNE_QUIET ANNOTUNE_ONCE void annotune_mma_rows(double *d, const double *a, double b, unsigned rows) {
    uint64_t words[3] = {0, 0, 0};
    memcpy(words, a, rows * sizeof *a);
    memcpy(words + 2, &b, sizeof b);
    unsigned set = annotune_cpu::meet_warp(~0u, words[0], words[1], words[2]);
    unsigned lane = annotune_cpu::block.running->linear % 32;
    for (unsigned row = 0; row < rows; row++)
        for (unsigned side = 0; side < 2; side++)
            for (unsigned k = 0; k < 4; k++) {
                double left, right;
                unsigned column = 2 * (lane % 4) + side;
                memcpy(&left, annotune_cpu::lane_words(lane / 4 * 4 + k, set) + row, sizeof left);
                memcpy(&right, annotune_cpu::lane_words(column * 4 + k, set) + 2, sizeof right);
                d[2 * row + side] = fma(left, right, d[2 * row + side]);
            }
}
ANNOTUNE_ONCE void annotune_mma_m16n8k4(double (&d)[4], const double (&a)[2], double b) {
    annotune_mma_rows(d, a, b, 2);
}
/* More steps are 4 of them after another: a lane has rows lane/4 and 8 below at step lane%4 of each. */
ANNOTUNE_ONCE void annotune_mma_m16n8k8(double (&d)[4], const double (&a)[4], const double (&b)[2]) {
    for (unsigned part = 0; part < 2; part++) annotune_mma_rows(d, a + 2 * part, b[part], 2);
}
ANNOTUNE_ONCE void annotune_mma_m16n8k16(double (&d)[4], const double (&a)[8], const double (&b)[4]) {
    for (unsigned part = 0; part < 4; part++) annotune_mma_rows(d, a + 2 * part, b[part], 2);
}
ANNOTUNE_ONCE void annotune_mma_m8n8k4(double (&d)[2], double a, double b) {
    annotune_mma_rows(d, &a, b, 1);
}

#endif
