/* Which part of its arrays the original touches: gcc -fsanitize=thread asks before every access.

   Linked in place of the library that usually receives these calls. */

#include <stddef.h>
#include <stdlib.h>

#define EXPORTED __attribute__((visibility("default")))

typedef struct {
    const char *begin, *end, *low, *high;
} Watched;

static Watched *watched;
static size_t count;

/* Returns the number of the range that is watched from now on, from 0; -1 without memory. */
EXPORTED int annotune_watch(const char *begin, size_t bytes)
{
    Watched *more = realloc(watched, (count + 1) * sizeof *watched);
    if (!more)
        return -1;
    watched = more;
    watched[count] = (Watched){begin, begin + bytes, begin + bytes, begin};
    return (int)count++;
}

/* Where what was touched of a range begins, and where it ends: bytes from the range's start.
   Before, or at, the other where nothing was. */
EXPORTED long annotune_touched_low(int number) { return watched[number].low - watched[number].begin; }
EXPORTED long annotune_touched_high(int number)
{
    return watched[number].high - watched[number].begin;
}

static void touch(const char *at, size_t bytes)
{
    for (Watched *one = watched; one < watched + count; one++) {
        if (at < one->begin || at >= one->end)
            continue;
        if (at < one->low)
            one->low = at;
        if (at + bytes > one->high)
            one->high = at + bytes;
    }
}

#define ACCESSES(BYTES)                                                                            \
    void __tsan_read##BYTES(void *at) { touch(at, BYTES); }                                        \
    void __tsan_write##BYTES(void *at) { touch(at, BYTES); }                                       \
    void __tsan_unaligned_read##BYTES(void *at) { touch(at, BYTES); }                              \
    void __tsan_unaligned_write##BYTES(void *at) { touch(at, BYTES); }                             \
    void __tsan_volatile_read##BYTES(void *at) { touch(at, BYTES); }                               \
    void __tsan_volatile_write##BYTES(void *at) { touch(at, BYTES); }
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
void __tsan_read_range(void *at, size_t bytes) { touch(at, bytes); }
void __tsan_write_range(void *at, size_t bytes) { touch(at, bytes); }
void __tsan_func_entry(void *caller) { (void)caller; }
void __tsan_func_exit(void) {}
void __tsan_init(void) {}
