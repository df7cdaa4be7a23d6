/* What a measuring child does beside the code that it times: it drops a range of memory from the
   caches of all cores, so that the next run must fetch it, and makes many short calls at once. */

#include <stddef.h>
#include <stdint.h>

#define LINE 64

typedef void entry(void **arrays, long long *integers, double *reals);

/* A call from here takes nanoseconds, one from Python a microsecond. */
__attribute__((visibility("default"))) void annotune_repeat(entry *call, int count, void ***arrays,
                                                            long long **integers, double **reals)
{
    for (int i = 0; i < count; i++)
        call(arrays[i], integers[i], reals[i]);
}

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
