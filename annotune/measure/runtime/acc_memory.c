/* A device memory for OpenACC on this CPU: the present table, allocations, copies.

   `annotune.measure.acc_memory` writes the calls around each construct, so that a kernel works on
   copies as on a GPU. What lies on the device begins as NaN and ends at a page that may not be
   touched; what is not where the clauses say stops the program in words. Reference counts are those
   of OpenACC 3.3, section 2.6.7; a section that is present in part only is an error (2.7.3).

   Nothing here knows of OpenACC's syntax: a `map` clause of OpenMP names the same actions. */

#define _GNU_SOURCE
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))
#define HIDDEN __attribute__((visibility("hidden")))

enum {
    PAGE_BYTES = 4096,
    ZONE_BYTES = 512, /* before a section, at least; behind it there are less than ALIGNMENT */
    ALIGNMENT = 16,   /* as malloc's */
    GUARD_BYTES = 256 << 10, /* on both sides, without any access */
    NAME_BYTES = 64
};

/* NaN as a double and as a float; as an int no index that any array has. */
static const uint32_t POISON = 0xFFF7DEAD;

typedef struct {
    unsigned number; /* from 1 on, in the order of the allocations */
    const char *host;
    long long size;
    char *device;
    char *map; /* guard, zone, the section, zone, guard */
    long long mapped;
    int structured, dynamic; /* reference counts */
    char name[NAME_BYTES];
} Section;

/* One clause's share in a section, for the construct that it stands on. */
typedef struct {
    unsigned section; /* its number; 0 where a construct begins */
    int is_copied_out;
} Use;

static Section *sections;
static int section_count, section_capacity;
static Use *uses; /* of all open constructs */
static int use_count, use_capacity;
static int line; /* of the directive that was met last */
static long long bytes_in, bytes_out; /* copied to the device, and from it */

static void copied_in(char *device, const char *host, long long size)
{
    bytes_in += size;
    memcpy(device, host, (size_t)size);
}

static void copied_out(const char *device, const char *host, long long size)
{
    bytes_out += size;
    memcpy((char *)(uintptr_t)host, device, (size_t)size);
}

/* The address sanitizer's, where it is there. */
__attribute__((weak)) void __asan_poison_memory_region(void const volatile *, size_t);
__attribute__((weak)) void __asan_unpoison_memory_region(void const volatile *, size_t);

__attribute__((noreturn, format(printf, 1, 2))) static void stop(const char *format, ...)
{
    va_list values;
    va_start(values, format);
    fflush(stdout);
    fprintf(stderr, "OpenACC at line %d: ", line);
    vfprintf(stderr, format, values);
    fprintf(stderr, "\n");
    fflush(stderr);
    va_end(values);
    abort();
}

static void *grown(void *array, int *capacity, size_t element)
{
    *capacity = *capacity ? 2 * *capacity : 16;
    array = realloc(array, (size_t)*capacity * element);
    if (!array) stop("out of memory");
    return array;
}

static void poison(char *from, const char *end)
{
    for (; from < end; from += sizeof POISON) memcpy(from, &POISON, sizeof POISON);
}

static void check_zone(const Section *s, const char *zone, const char *end)
{
    for (; zone < end; zone++)
        if (*zone != (char)(POISON >> 8 * ((uintptr_t)zone % sizeof POISON)))
            stop("a kernel wrote to '%s' %s its section, at byte %lld of %lld", s->name,
                 zone < s->device ? "before" : "behind", (long long)(zone - s->device), s->size);
}

static void check_zones(void)
{
    static char untouched[PAGE_BYTES + ZONE_BYTES + ALIGNMENT];
    if (__asan_poison_memory_region) return; /* which stops at the access */
    if (!untouched[0]) poison(untouched, untouched + sizeof untouched);
    for (const Section *s = sections; s < sections + section_count; s++) {
        const char *zone = s->map + GUARD_BYTES;
        if (memcmp(zone, untouched, (size_t)(s->device - zone))) check_zone(s, zone, s->device);
        check_zone(s, s->device + s->size, s->map + s->mapped - GUARD_BYTES);
    }
}

static struct sigaction action_before;

/* Say next to which section an address lies that no kernel may touch, and die of it. */
static void on_fault(int number, siginfo_t *about, void *context)
{
    const char *address = about->si_addr;
    char words[300];
    (void)context;
    for (const Section *s = sections; s < sections + section_count; s++) {
        if (address < s->map || address >= s->map + s->mapped) continue;
        int length = snprintf(words, sizeof words,
                              "OpenACC at line %d: a kernel used '%s' %s its section, at byte %lld "
                              "of %lld\n",
                              line, s->name, address < s->device ? "before" : "behind",
                              (long long)(address - s->device), s->size);
        if (write(2, words, (size_t)length) < 0) break;
    }
    sigaction(number, &action_before, NULL);
}

static void watch_faults(void)
{
    static int is_watching;
    struct sigaction ours = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    if (!is_watching) sigaction(SIGSEGV, &ours, &action_before);
    is_watching = 1;
}

static void allocate(Section *s)
{
    long long inner = (s->size + ZONE_BYTES + ALIGNMENT + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    s->mapped = inner + 2 * GUARD_BYTES;
    s->map = mmap(NULL, (size_t)s->mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (s->map == MAP_FAILED ||
        mprotect(s->map + GUARD_BYTES, (size_t)inner, PROT_READ | PROT_WRITE))
        stop("there is no memory for the %lld bytes of '%s'", s->size, s->name);
    watch_faults();
    /* As far to the end as the alignment allows: what is read behind it is a fault. */
    char *first = s->map + GUARD_BYTES, *end = first + inner;
    s->device = end - (s->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    poison(first, end);
    if (!__asan_poison_memory_region) return;
    __asan_poison_memory_region(first, (size_t)(s->device - first));
    __asan_poison_memory_region(s->device + s->size, (size_t)(end - s->device - s->size));
}

static void release(Section *s)
{
    if (__asan_unpoison_memory_region)
        __asan_unpoison_memory_region(s->map + GUARD_BYTES, (size_t)(s->mapped - 2 * GUARD_BYTES));
    munmap(s->map, (size_t)s->mapped);
    *s = sections[--section_count];
}

/* The section that holds [first, first + size), or null where there is nothing of it. */
static Section *found(const char *name, const char *first, long long size)
{
    if (size < 0) stop("the section of '%s' has %lld bytes", name, size);
    if (size && !first) stop("'%s' is NULL, and its section has %lld bytes", name, size);
    for (Section *s = sections; s < sections + section_count; s++) {
        long long behind = s->host + s->size - first;
        if (behind <= 0 || first + size <= s->host) continue;
        if (first >= s->host && size <= behind) return s;
        stop("'%s' is present in part only: %lld bytes are wanted, and bytes %lld to %lld of them "
             "are there for '%s'",
             name, size, (long long)(s->host - first), behind, s->name);
    }
    return NULL;
}

static Section *added(const char *name, const char *first, long long size)
{
    static unsigned made;
    if (section_count == section_capacity)
        sections = grown(sections, &section_capacity, sizeof *sections);
    Section *s = &sections[section_count++];
    *s = (Section){.number = ++made, .host = first, .size = size};
    snprintf(s->name, sizeof s->name, "%s", name);
    allocate(s);
    return s;
}

static Section *brought(const char *action, const char *name, const char *first, long long size)
{
    Section *s = found(name, first, size);
    if (s && size) return s;
    if (size && strcmp(action, "present") == 0) stop("'%s' is not present on the device", name);
    s = added(name, first, size);
    if (!strcmp(action, "copy") || !strcmp(action, "copyin"))
        copied_in(s->device, first, size);
    return s;
}

static void let_go(Section *s, int is_copied_out)
{
    if (s->structured || s->dynamic) return;
    if (is_copied_out) copied_out(s->device, s->host, s->size);
    release(s);
}

static void open_use(unsigned section, int is_copied_out)
{
    if (use_count == use_capacity) uses = grown(uses, &use_capacity, sizeof *uses);
    uses[use_count++] = (Use){section, is_copied_out};
}

/* A construct begins at a line of the text. */
HIDDEN void annotune_acc_begin(int at_line)
{
    line = at_line;
    check_zones();
    open_use(0, 0);
}

/* Bring `size` bytes from byte `from` of `base` on to the device, until the construct ends, as the
   clause `action` says. Returns where `base` would lie there. */
HIDDEN void *annotune_acc_map(const char *action, const char *name, const void *base,
                              long long from, long long size)
{
    const char *first = (const char *)base + from;
    Section *s = brought(action, name, first, size);
    s->structured++;
    open_use(s->number, !strcmp(action, "copy") || !strcmp(action, "copyout"));
    return s->device + (first - s->host) - from;
}

/* The construct that began last ends. */
HIDDEN void annotune_acc_end(void)
{
    check_zones();
    while (uses[--use_count].section)
        for (Section *s = sections; s < sections + section_count; s++) {
            if (s->number != uses[use_count].section) continue;
            s->structured--;
            let_go(s, uses[use_count].is_copied_out);
            break;
        }
}

/* Have a variable of a kernel hold what its copy on the device holds, or where its array is. */
HIDDEN void annotune_acc_load(void *variable, const void *device, long long size, int is_array)
{
    memcpy(variable, is_array ? (const void *)&device : device,
           is_array ? sizeof device : (size_t)size);
}

HIDDEN void annotune_acc_store(void *device, const void *variable, long long size, int is_array)
{
    if (!is_array) memcpy(device, variable, (size_t)size);
}

/* Rows of an array are taken whole, or they do not lie one behind the other. */
HIDDEN void annotune_acc_whole(const char *name, long long from, long long size, long long row)
{
    if (from || size != row)
        stop("the section of '%s' takes %lld bytes from byte %lld on of rows of %lld", name, size,
             from, row);
}

HIDDEN void annotune_acc_update(int at_line, int to_device, int is_optional, const char *name,
                                const void *from, long long size)
{
    line = at_line;
    check_zones();
    Section *s = found(name, from, size);
    if (!size || (!s && is_optional)) return;
    if (!s) stop("'%s' is not present on the device", name);
    char *device = s->device + ((const char *)from - s->host);
    if (to_device) copied_in(device, from, size);
    else copied_out(device, from, size);
}

HIDDEN void annotune_acc_enter_data(int at_line, const char *action, const char *name,
                                    const void *from, long long size)
{
    line = at_line;
    check_zones();
    if (size) brought(action, name, from, size)->dynamic++;
}

HIDDEN void annotune_acc_exit_data(int at_line, const char *action, int is_final, const char *name,
                                   const void *from, long long size)
{
    line = at_line;
    check_zones();
    Section *s = found(name, from, size);
    if (!s || !s->dynamic) return;
    s->dynamic = is_final ? 0 : s->dynamic - 1;
    let_go(s, !strcmp(action, "copyout"));
}

/* For a caller whose data stay on the device: bring an array there, and have it back. */
EXPORTED void annotune_acc_keep(const void *array, long long size)
{
    annotune_acc_enter_data(0, "copyin", "an argument", array, size);
}
EXPORTED void annotune_acc_give_back(const void *array, long long size)
{
    annotune_acc_exit_data(0, "copyout", 0, "an argument", array, size);
}
EXPORTED int annotune_acc_live_sections(void) { return section_count; }
EXPORTED long long annotune_acc_bytes_in(void) { return bytes_in; }
EXPORTED long long annotune_acc_bytes_out(void) { return bytes_out; }
