/* The calls that gcc -fsanitize=thread inserts, answered by race.cpp, which includes this. */
#ifndef ANNOTUNE_RACE_HOOKS_H
#define ANNOTUNE_RACE_HOOKS_H

HOOK void __tsan_init(void) {}
HOOK void __tsan_func_exit(void) {}
HOOK void __tsan_func_entry(void *) {
    uintptr_t here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    bool is_on_own_stack = tracking && here >= private_low && here < private_high;
    if (is_on_own_stack && private_high - here > deepest_stack)
        deepest_stack = private_high - here;
}

#define ANNOTUNE_ACCESS(NAME, SIZE, KIND)                                             \
    HOOK void NAME(void *at) {                                                        \
        access(at, SIZE, KIND, ANNOTUNE_PLAIN, __builtin_return_address(0));          \
    }
#define ANNOTUNE_ACCESSES(SIZE)                                                       \
    ANNOTUNE_ACCESS(__tsan_read##SIZE, SIZE, ANNOTUNE_READ)                           \
    ANNOTUNE_ACCESS(__tsan_write##SIZE, SIZE, ANNOTUNE_WRITE)                         \
    ANNOTUNE_ACCESS(__tsan_unaligned_read##SIZE, SIZE, ANNOTUNE_READ)                 \
    ANNOTUNE_ACCESS(__tsan_unaligned_write##SIZE, SIZE, ANNOTUNE_WRITE)               \
    ANNOTUNE_ACCESS(__tsan_volatile_read##SIZE, SIZE, ANNOTUNE_READ)                  \
    ANNOTUNE_ACCESS(__tsan_volatile_write##SIZE, SIZE, ANNOTUNE_WRITE)                \
    ANNOTUNE_ACCESS(__tsan_unaligned_volatile_read##SIZE, SIZE, ANNOTUNE_READ)        \
    ANNOTUNE_ACCESS(__tsan_unaligned_volatile_write##SIZE, SIZE, ANNOTUNE_WRITE)
ANNOTUNE_ACCESSES(1)
ANNOTUNE_ACCESSES(2)
ANNOTUNE_ACCESSES(4)
ANNOTUNE_ACCESSES(8)
ANNOTUNE_ACCESSES(16)
ANNOTUNE_ACCESS(__tsan_vptr_read, 8, ANNOTUNE_READ)

HOOK void __tsan_vptr_update(void *at, void *) {
    access(at, 8, ANNOTUNE_WRITE, ANNOTUNE_PLAIN, __builtin_return_address(0));
}
HOOK void __tsan_read_range(void *at, size_t size) {
    access(at, size, ANNOTUNE_READ, ANNOTUNE_PLAIN, __builtin_return_address(0));
}
HOOK void __tsan_write_range(void *at, size_t size) {
    access(at, size, ANNOTUNE_WRITE, ANNOTUNE_PLAIN, __builtin_return_address(0));
}
HOOK void __tsan_atomic_thread_fence(int) {}
HOOK void __tsan_atomic_signal_fence(int) {}

// Threads are played one after another, so the atomic operations can be plain ones.
#define ANNOTUNE_NOTE(KIND) \
    access((const void *)at, sizeof *at, KIND, ANNOTUNE_ATOMIC, __builtin_return_address(0))
#define ANNOTUNE_FETCH(BITS, T, NAME, VALUE)                                          \
    HOOK T __tsan_atomic##BITS##_##NAME(volatile T *at, T operand, int) {             \
        ANNOTUNE_NOTE(ANNOTUNE_WRITE);                                                \
        T old = *at;                                                                  \
        *at = static_cast<T>(VALUE);                                                  \
        return old;                                                                   \
    }
#define ANNOTUNE_COMPARE(BITS, T, NAME)                                               \
    HOOK int __tsan_atomic##BITS##_##NAME(volatile T *at, T *expected, T desired, int, int) { \
        ANNOTUNE_NOTE(ANNOTUNE_WRITE);                                                \
        T old = *at;                                                                  \
        bool is_equal = old == *expected;                                             \
        if (is_equal) *at = desired;                                                  \
        else *expected = old;                                                         \
        return is_equal;                                                              \
    }
#define ANNOTUNE_ATOMICS(BITS, T)                                                     \
    HOOK T __tsan_atomic##BITS##_load(const volatile T *at, int) {                    \
        ANNOTUNE_NOTE(ANNOTUNE_READ);                                                 \
        return *at;                                                                   \
    }                                                                                 \
    HOOK void __tsan_atomic##BITS##_store(volatile T *at, T value, int) {             \
        ANNOTUNE_NOTE(ANNOTUNE_WRITE);                                                \
        *at = value;                                                                  \
    }                                                                                 \
    HOOK T __tsan_atomic##BITS##_compare_exchange_val(volatile T *at, T expected,     \
                                                      T desired, int, int) {          \
        ANNOTUNE_NOTE(ANNOTUNE_WRITE);                                                \
        T old = *at;                                                                  \
        if (old == expected) *at = desired;                                           \
        return old;                                                                   \
    }                                                                                 \
    ANNOTUNE_COMPARE(BITS, T, compare_exchange_strong)                                \
    ANNOTUNE_COMPARE(BITS, T, compare_exchange_weak)                                  \
    ANNOTUNE_FETCH(BITS, T, exchange, operand)                                        \
    ANNOTUNE_FETCH(BITS, T, fetch_add, old + operand)                                 \
    ANNOTUNE_FETCH(BITS, T, fetch_sub, old - operand)                                 \
    ANNOTUNE_FETCH(BITS, T, fetch_and, old & operand)                                 \
    ANNOTUNE_FETCH(BITS, T, fetch_or, old | operand)                                  \
    ANNOTUNE_FETCH(BITS, T, fetch_xor, old ^ operand)                                 \
    ANNOTUNE_FETCH(BITS, T, fetch_nand, ~(old & operand))
ANNOTUNE_ATOMICS(8, uint8_t)
ANNOTUNE_ATOMICS(16, uint16_t)
ANNOTUNE_ATOMICS(32, uint32_t)
ANNOTUNE_ATOMICS(64, uint64_t)

// Linked with -Wl,--wrap=malloc and so on: a library call is an access too, and memory
// that malloc hands out again is another object. Without the option nothing calls these.
extern "C" void *__real_malloc(size_t) __attribute__((weak));
extern "C" void *__real_calloc(size_t, size_t) __attribute__((weak));
extern "C" int __real_posix_memalign(void **, size_t, size_t) __attribute__((weak));
extern "C" void *__real_aligned_alloc(size_t, size_t) __attribute__((weak));
extern "C" void *__real_memcpy(void *, const void *, size_t) __attribute__((weak));
extern "C" void *__real_memmove(void *, const void *, size_t) __attribute__((weak));
extern "C" void *__real_memset(void *, int, size_t) __attribute__((weak));

static void *fresh(void *block, size_t size, bool is_zeroed) {
    if (!block || !tracking) return block;
    annotune_race_forget(block, size);
    if (!is_zeroed) __real_memset(block, 0xff, size);  // NaN: reading it shows
    return block;
}

HOOK void *__wrap_malloc(size_t size) { return fresh(__real_malloc(size), size, false); }
HOOK void *__wrap_calloc(size_t count, size_t size) {
    return fresh(__real_calloc(count, size), count * size, true);
}
HOOK void *__wrap_aligned_alloc(size_t alignment, size_t size) {
    return fresh(__real_aligned_alloc(alignment, size), size, false);
}
HOOK int __wrap_posix_memalign(void **block, size_t alignment, size_t size) {
    int error = __real_posix_memalign(block, alignment, size);
    if (!error) fresh(*block, size, false);
    return error;
}
HOOK void *__wrap_memcpy(void *to, const void *from, size_t size) {
    access(from, size, ANNOTUNE_READ, ANNOTUNE_PLAIN, __builtin_return_address(0));
    access(to, size, ANNOTUNE_WRITE, ANNOTUNE_PLAIN, __builtin_return_address(0));
    return __real_memcpy(to, from, size);
}
HOOK void *__wrap_memmove(void *to, const void *from, size_t size) {
    access(from, size, ANNOTUNE_READ, ANNOTUNE_PLAIN, __builtin_return_address(0));
    access(to, size, ANNOTUNE_WRITE, ANNOTUNE_PLAIN, __builtin_return_address(0));
    return __real_memmove(to, from, size);
}
HOOK void *__wrap_memset(void *to, int value, size_t size) {
    access(to, size, ANNOTUNE_WRITE, ANNOTUNE_PLAIN, __builtin_return_address(0));
    return __real_memset(to, value, size);
}

#endif
