/* Device memory: allocations between red zones, checked copies, counters, planned failures. */
#ifndef ANNOTUNE_CUDA_MEMORY_H
#define ANNOTUNE_CUDA_MEMORY_H

#include <pthread.h>
#include <stdarg.h>

#include "cuda_block.h"

#if defined(ANNOTUNE_APART) && !defined(ANNOTUNE_HERE)
#define ANNOTUNE_API extern "C" inline __attribute__((visibility("default")))
#else
#define ANNOTUNE_API extern "C" inline __attribute__((visibility("default"), used))
#endif

enum cudaMemcpyKind {
    cudaMemcpyHostToHost = 0,
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3,
    cudaMemcpyDefault = 4
};

namespace annotune_cpu {

constexpr size_t PAGE = 4096;
constexpr size_t RED_ZONE = 4096;  // bytes before and after each allocation

struct Allocation {
    char *memory;  // red zone, payload, red zone
    size_t mapped, size;
    unsigned number;  // the how-manieth cudaMalloc, from 1
    bool is_managed;
    int device;
};

/* Memory of the host that the device reaches: allocated so, or registered. */
struct Pinned {
    char *memory;
    size_t size;
    bool is_allocated;
    Pinned *next;
};

/* What may fail: requests for memory first. */
enum KindOfCall {
    ALLOCATING, PINNING, CREATING, COPYING, RECORDING, WAITING, FINISHING, FINDING, LAUNCHING,
    KINDS_OF_CALLS
};

struct Host {
    Allocation *allocations;
    unsigned count, capacity, made;
    Pinned *pinned;
    int mallocs, memcpys, frees, launches, violations;
    int pins, events;  // pinned memory that was asked for, and events that there are
    int waits;         // of the host for the device
    long bytes_in, bytes_out;  // copied to the device, and from it
    int calls;               // of what may fail
    int first[KINDS_OF_CALLS], last[KINDS_OF_CALLS];  // of each kind; 0: there was none
    long failing;            // the call that shall fail; 0: none
    bool is_memory_failing;  // and requests for memory from then on
    size_t most;             // bytes of the device's memory, 0: as many as there are
    int devices = ANNOTUNE_DEVICES;
    unsigned used;           // devices, a bit for each, by kernels
    char message[512];
};

ANNOTUNE_STATE Host host;

/* Of each thread of the host: the device that it uses, and the error that it has not asked for. */
ANNOTUNE_STATE thread_local int device;
ANNOTUNE_STATE thread_local cudaError_t last_error;

/* Threads of the host have the runtime one after another, each for a whole call of it. */
ANNOTUNE_STATE pthread_mutex_t turns = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
struct Turn {
    ANNOTUNE_QUIET Turn() { pthread_mutex_lock(&turns); }
    ANNOTUNE_QUIET ~Turn() { pthread_mutex_unlock(&turns); }
};

ANNOTUNE_QUIET ANNOTUNE_ONCE char *payload(const Allocation &a) { return a.memory + RED_ZONE; }

__attribute__((format(printf, 2, 3))) ANNOTUNE_QUIET ANNOTUNE_ONCE cudaError_t fail(
    cudaError_t error, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(host.message, sizeof host.message, format, arguments);
    va_end(arguments);
    return last_error = error;
}

/* Count one API call; true when it shall fail. */
ANNOTUNE_QUIET ANNOTUNE_ONCE bool is_planned_failure(KindOfCall kind) {
    int call = ++host.calls;
    if (!host.first[kind]) host.first[kind] = call;
    host.last[kind] = call;
    if (!host.failing || call < host.failing) return false;
    return call == host.failing || (host.is_memory_failing && kind <= PINNING);
}

/* The allocation in which, or in whose red zones, `address` lies; or null. */
ANNOTUNE_QUIET ANNOTUNE_ONCE const Allocation *allocation_of(const void *address) {
    const char *byte = static_cast<const char *>(address);
    for (unsigned i = 0; i < host.count; i++) {
        const Allocation &a = host.allocations[i];
        if (byte >= a.memory && byte < a.memory + a.mapped) return &a;
    }
    return nullptr;
}

ANNOTUNE_QUIET ANNOTUNE_ONCE bool is_on_device(const void *address, size_t bytes) {
    const Allocation *a = allocation_of(address);
    const char *byte = static_cast<const char *>(address);
    return a && byte >= payload(*a) && byte + bytes <= payload(*a) + a->size;
}

ANNOTUNE_QUIET ANNOTUNE_ONCE void watch_zones(const Allocation &a, bool is_watched) {
#if defined(__SANITIZE_ADDRESS__)
    char *after = payload(a) + a.size;
    size_t after_size = static_cast<size_t>(a.memory + a.mapped - after);
    if (is_watched) {
        __asan_poison_memory_region(a.memory, RED_ZONE);
        __asan_poison_memory_region(after, after_size);
    } else {
        __asan_unpoison_memory_region(a.memory, a.mapped);
    }
#else
    (void)a, (void)is_watched;
#endif
}

/* What a red zone holds at an address: signalling NaN, of doubles and of every other float. What is
 * computed from it is a quiet one, and other allocations have others: a kernel which reads there,
 * and writes or copies it there too, is seen. */
ANNOTUNE_QUIET ANNOTUNE_ONCE char zone_byte(const char *address, unsigned allocation) {
    constexpr unsigned char BYTES[8] = {0xEF, 0xBE, 0xA0, 0x7F, 0xAD, 0xDE, 0xF4, 0x7F};
    size_t place = reinterpret_cast<size_t>(address) % 8;
    return static_cast<char>(BYTES[place] ^ (place % 4 ? 0 : allocation));
}

/* Eight of a zone's bytes at once: all that a launch leaves alone is looked at after it. */
typedef uint64_t __attribute__((may_alias)) ZoneWord;

ANNOTUNE_QUIET ANNOTUNE_ONCE ZoneWord zone_word(unsigned allocation) {
    ZoneWord word = 0;
    for (size_t i = sizeof word; i-- > 0;)
        word = word << 8 | static_cast<unsigned char>(
                               zone_byte(reinterpret_cast<const char *>(i), allocation));
    return word;
}

ANNOTUNE_QUIET ANNOTUNE_ONCE bool has_word(const char *zone, size_t i, size_t size) {
    return reinterpret_cast<size_t>(zone + i) % sizeof(ZoneWord) == 0 &&
           size - i >= sizeof(ZoneWord);
}

ANNOTUNE_QUIET ANNOTUNE_ONCE void fill_zone(char *zone, size_t size, unsigned allocation) {
    const ZoneWord word = zone_word(allocation);
    for (size_t i = 0; i < size;) {
        for (; has_word(zone, i, size); i += sizeof word)
            *reinterpret_cast<ZoneWord *>(zone + i) = word;
        if (i < size) zone[i] = zone_byte(zone + i, allocation), i++;
    }
}

ANNOTUNE_QUIET ANNOTUNE_ONCE void check_zone(const Allocation &a, char *zone, size_t size,
                                      const char *who) {
    const ZoneWord word = zone_word(a.number);
    for (size_t i = 0; i < size; i++) {
        while (has_word(zone, i, size) && *reinterpret_cast<ZoneWord *>(zone + i) == word)
            i += sizeof word;
        if (i == size || zone[i] == zone_byte(zone + i, a.number)) continue;
        host.violations++;
        snprintf(host.message, sizeof host.message,
                 "%s: device allocation %u of %zu bytes was written at byte offset %ld", who,
                 a.number, a.size, static_cast<long>(zone + i - payload(a)));
        fill_zone(zone, size, a.number);  // report it once
        return;
    }
}

ANNOTUNE_QUIET ANNOTUNE_ONCE void check_zones(const Allocation &a, const char *who) {
    char *after = payload(a) + a.size;
    check_zone(a, a.memory, RED_ZONE, who);
    check_zone(a, after, static_cast<size_t>(a.memory + a.mapped - after), who);
}

ANNOTUNE_QUIET ANNOTUNE_ONCE void check_all_zones(const char *who) {
    for (unsigned i = 0; i < host.count; i++) check_zones(host.allocations[i], who);
}

/* Memory filled with NaN between red zones, or null. */
ANNOTUNE_QUIET ANNOTUNE_ONCE void *allocate(size_t size) {
    size_t taken = size;
    for (unsigned i = 0; i < host.count; i++) taken += host.allocations[i].size;
    if (host.most && taken > host.most) return nullptr;
    size_t mapped = (size + PAGE - 1) / PAGE * PAGE + 2 * RED_ZONE;
    if (mapped < size) return nullptr;
    // Pages of its own: a pointer kept beyond cudaFree faults.
    void *memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    if (host.count == host.capacity) {
        host.capacity = host.capacity ? 2 * host.capacity : 16;
        host.allocations = static_cast<Allocation *>(
            realloc(host.allocations, host.capacity * sizeof(Allocation)));
        if (!host.allocations) return nullptr;
    }
    Allocation &a = host.allocations[host.count++];
    a = {static_cast<char *>(memory), mapped, size, ++host.made, false, device};
    fill(memory, POISON, mapped);
    fill_zone(a.memory, RED_ZONE, a.number);
    size_t after = static_cast<size_t>(a.memory + mapped - payload(a) - size);
    fill_zone(payload(a) + size, after, a.number);
    watch_zones(a, true);
#if defined(__SANITIZE_THREAD__)
    annotune_race_device(payload(a), size, 1);
#endif
    return payload(a);
}

ANNOTUNE_QUIET ANNOTUNE_ONCE bool release(void *address) {
    for (unsigned i = 0; i < host.count; i++) {
        Allocation a = host.allocations[i];
        if (payload(a) != address) continue;
        check_zones(a, "cudaFree");
        watch_zones(a, false);
#if defined(__SANITIZE_THREAD__)
        annotune_race_device(address, a.size, 0);
#endif
        munmap(a.memory, a.mapped);
        host.allocations[i] = host.allocations[--host.count];
        return true;
    }
    return false;
}

/* While a kernel runs nobody reaches the memory of other devices: a pointer to it faults. */
ANNOTUNE_QUIET ANNOTUNE_ONCE void reach_others(bool is_reached) {
    for (unsigned i = 0; host.devices > 1 && i < host.count; i++) {
        const Allocation &a = host.allocations[i];
        if (a.device != device && !a.is_managed)
            mprotect(a.memory, a.mapped, is_reached ? PROT_READ | PROT_WRITE : PROT_NONE);
    }
}

/* Whether the device reaches that memory of the host's. */
ANNOTUNE_QUIET ANNOTUNE_ONCE bool is_pinned(const void *address, size_t size) {
    const char *byte = static_cast<const char *>(address);
    for (const Pinned *one = host.pinned; one; one = one->next)
        if (byte >= one->memory && byte + size <= one->memory + one->size) return true;
    return false;
}

ANNOTUNE_QUIET ANNOTUNE_ONCE void pin(void *memory, size_t size, bool is_allocated) {
    host.pinned = new Pinned{static_cast<char *>(memory), size, is_allocated, host.pinned};
#if defined(__SANITIZE_THREAD__)
    if (is_allocated) annotune_race_device(memory, size, 1);
#endif
}

ANNOTUNE_QUIET ANNOTUNE_ONCE bool unpin(void *memory, bool is_allocated) {
    for (Pinned **link = &host.pinned; *link; link = &(*link)->next) {
        Pinned *one = *link;
        if (one->memory != memory || one->is_allocated != is_allocated) continue;
        *link = one->next;
#if defined(__SANITIZE_THREAD__)
        if (is_allocated) annotune_race_device(memory, one->size, 0);
#endif
        if (is_allocated) free(memory);
        delete one;
        return true;
    }
    return false;
}

/* Does [address, address + size) lie on the side that the copy says? Else the message. */
ANNOTUNE_QUIET ANNOTUNE_ONCE bool is_side_right(const void *address, size_t size, bool on_device,
                                         const char *role) {
    const Allocation *a = allocation_of(address);
    if (!on_device) {
        if (a && !a->is_managed)
            fail(cudaErrorInvalidValue, "the %s of a copy should be host memory and lies in "
                 "device allocation %u", role, a->number);
        return !a || a->is_managed;
    }
    if (!a) {
        fail(cudaErrorInvalidValue, "the %s of a copy should be device memory and is not", role);
        return false;
    }
    const char *byte = static_cast<const char *>(address);
    bool is_inside = byte >= payload(*a) && byte <= payload(*a) + a->size &&
                     size <= static_cast<size_t>(payload(*a) + a->size - byte);
    if (!is_inside)
        fail(cudaErrorInvalidValue, "the %s of a copy, %zu bytes from byte offset %ld, exceeds "
             "device allocation %u of %zu bytes", role, size,
             static_cast<long>(byte - payload(*a)), a->number, a->size);
    return is_inside;
}

/* Check a copy as the driver does, and count it. */
ANNOTUNE_QUIET ANNOTUNE_ONCE cudaError_t begin_copy(void *to, const void *from, size_t size, int kind) {
    host.memcpys++;
    if (is_planned_failure(COPYING)) return fail(cudaErrorUnknown, "a copy failed as planned");
    if (size == 0) return cudaSuccess;
    if (kind < 0 || kind > cudaMemcpyDefault)
        return fail(cudaErrorInvalidMemcpyDirection, "%d is no kind of copy", kind);
    bool to_device = kind == cudaMemcpyDefault ? allocation_of(to) != nullptr : kind & 1;
    bool from_device = kind == cudaMemcpyDefault ? allocation_of(from) != nullptr : kind & 2;
    if (!is_side_right(to, size, to_device, "destination")) return last_error;
    if (!is_side_right(from, size, from_device, "source")) return last_error;
    host.bytes_in += to_device && !from_device ? static_cast<long>(size) : 0;
    host.bytes_out += from_device && !to_device ? static_cast<long>(size) : 0;
    return cudaSuccess;
}

}  // namespace annotune_cpu

ANNOTUNE_API void annotune_cpu_set_order(int mode) { annotune_cpu::order_mode = mode; }
ANNOTUNE_API void annotune_cpu_set_seed(unsigned seed) { annotune_cpu::order_seed = seed; }
/* Make the n-th call from here on fail; with -n also all requests for memory behind it. */
ANNOTUNE_API void annotune_cpu_fail_at(int n) {
    annotune_cpu::host.failing = n ? annotune_cpu::host.calls + labs(n) : 0;
    annotune_cpu::host.is_memory_failing = n < 0;
}
/* Fill in what to make fail: of each kind the first call since the last reset and the last one,
 * from which on there is no memory where it asks for some. Returns how many. */
ANNOTUNE_API int annotune_cpu_failing(int *calls) {
    using namespace annotune_cpu;
    int count = 0;
    for (int kind = 0; kind < KINDS_OF_CALLS; kind++) {
        bool is_memory = kind <= PINNING;
        int first = host.first[kind], last = host.last[kind];
        if (first) calls[count++] = first;
        if (is_memory && last) calls[count++] = -last;
        else if (last != first) calls[count++] = last;
    }
    return count;
}
/* Have so many bytes of memory on the device, until the next reset. */
ANNOTUNE_API void annotune_cpu_have(size_t bytes) { annotune_cpu::host.most = bytes; }
/* The devices that have run kernels, a bit for each. */
ANNOTUNE_API unsigned annotune_cpu_devices_used(void) { return annotune_cpu::host.used; }
/* How many calls since the last reset may be made to fail. */
ANNOTUNE_API int annotune_cpu_calls(void) { return annotune_cpu::host.calls; }
ANNOTUNE_API int annotune_cpu_mallocs(void) { return annotune_cpu::host.mallocs; }
ANNOTUNE_API int annotune_cpu_memcpys(void) { return annotune_cpu::host.memcpys; }
ANNOTUNE_API int annotune_cpu_waits(void) { return annotune_cpu::host.waits; }
ANNOTUNE_API long annotune_cpu_bytes_in(void) { return annotune_cpu::host.bytes_in; }
ANNOTUNE_API long annotune_cpu_bytes_out(void) { return annotune_cpu::host.bytes_out; }
ANNOTUNE_API int annotune_cpu_pins(void) { return annotune_cpu::host.pins; }
ANNOTUNE_API int annotune_cpu_frees(void) { return annotune_cpu::host.frees; }
ANNOTUNE_API int annotune_cpu_launches(void) { return annotune_cpu::host.launches; }
/* What a program calls for the memory that its calls have left for later ones. */
extern "C" __attribute__((weak)) void annotune_release(void);
/* What is left when no call is under way. */
ANNOTUNE_API int annotune_cpu_live_allocations(void) {
    if (annotune_release) annotune_release();
    int pinned = 0;
    for (const annotune_cpu::Pinned *one = annotune_cpu::host.pinned; one; one = one->next)
        pinned += one->is_allocated;
    return static_cast<int>(annotune_cpu::host.count) + pinned + annotune_cpu::host.events;
}
/* The last thing that went wrong, in words; "" when nothing did. */
ANNOTUNE_API const char *annotune_cpu_message(void) { return annotune_cpu::host.message; }
/* Device memory for a caller whose data is resident; not counted, never made to fail. */
ANNOTUNE_API void *annotune_cpu_device_malloc(size_t size) { return annotune_cpu::allocate(size); }
ANNOTUNE_API void *annotune_cpu_managed_malloc(size_t size) {
    void *memory = annotune_cpu::allocate(size);
    if (memory) annotune_cpu::host.allocations[annotune_cpu::host.count - 1].is_managed = true;
    return memory;
}
/* A caller's own memory that it has pinned. */
ANNOTUNE_API void annotune_cpu_pin(void *memory, size_t size) { annotune_cpu::pin(memory, size, false); }
ANNOTUNE_API int annotune_cpu_unpin(void *memory) { return annotune_cpu::unpin(memory, false); }
ANNOTUNE_API int annotune_cpu_device_free(void *address) { return annotune_cpu::release(address); }
#endif
