/* Drops a range of memory from the caches of all cores, so that the next run must fetch it. */

#include <stddef.h>
#include <stdint.h>

#define LINE 64

/* Returns 1, or 0 for a processor that this does not know how to ask. */
__attribute__((visibility("default"))) int annotune_evict(void *first, size_t bytes)
{
#if defined(__x86_64__) || defined(__aarch64__)
    uintptr_t end = (uintptr_t)first + bytes;
    for (uintptr_t line = (uintptr_t)first & ~(uintptr_t)(LINE - 1); line < end; line += LINE) {
#if defined(__x86_64__)
        __asm__ volatile("clflush (%0)" : : "r"(line) : "memory");
#else
        __asm__ volatile("dc civac, %0" : : "r"(line) : "memory");
#endif
    }
#if defined(__x86_64__)
    __asm__ volatile("mfence" : : : "memory");
#else
    __asm__ volatile("dsb sy" : : : "memory");
#endif
    return 1;
#else
    (void)first;
    (void)bytes;
    return 0;
#endif
}
