/* The recorder of `annotune capture`: what stands before a user's file with its regions recorded.

   No header is included, for what the user's file defines before its own headers must still count:
   functions of the C library are declared under names of ours. No floating-point arithmetic is
   done, and errno is left as it was, so that the program does not see its recorder.

   Every call is counted and timed. Of the first call at each of the sizes, and of some later ones
   that a reservoir chooses, the arguments are kept: their bytes in a file of their own, whatever is
   known of them in the index. Each file is written beside its name and moved onto it; the index is
   written anew after every call that is kept, once a second and at the end, so that a program may
   end in any way. A child of a fork begins records of its own. */

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ || __SIZEOF_LONG__ != 8
#error "annotune capture: needs a machine with little-endian numbers and a long of 64 bits"
#endif

struct annotune_time { long s, ns; };

extern int annotune_clock(int, struct annotune_time *) __asm__("clock_gettime");
extern int annotune_pid(void) __asm__("getpid");
extern int annotune_print(char *, unsigned long, const char *, ...) __asm__("snprintf");
extern int annotune_fprint(void *, const char *, ...) __asm__("fprintf");
extern void *annotune_open(const char *, const char *) __asm__("fopen");
extern unsigned long annotune_write(const void *, unsigned long, unsigned long, void *)
    __asm__("fwrite");
extern int annotune_handle(void *) __asm__("fileno");
extern long annotune_put(int, const void *, unsigned long) __asm__("write");
extern int annotune_flush(void *) __asm__("fflush");
extern int annotune_seek(void *, long, int) __asm__("fseek");
extern long annotune_tell(void *) __asm__("ftell");
extern int annotune_close(void *) __asm__("fclose");
extern int annotune_move(const char *, const char *) __asm__("rename");
extern int annotune_remove(const char *) __asm__("remove");
extern char *annotune_environ(const char *) __asm__("getenv");
extern long annotune_number(const char *, char **, int) __asm__("strtol");
extern void *annotune_zeros(unsigned long, unsigned long) __asm__("calloc");
extern void annotune_free(void *) __asm__("free");
extern int annotune_yield(void) __asm__("sched_yield");
extern int *annotune_errno(void) __asm__("__errno_location");
extern void *annotune_stderr __asm__("stderr");

enum { ANNOTUNE_SIZES = 64, ANNOTUNE_BLOCK = 4096 };

/* An array's part in a call: its address, the first element and the count, the bytes of each. */
struct annotune_part { const char *bytes; long first, count, each; };

struct annotune_kept {
    long call, number, size, check[2];
    long *integers;
    unsigned long *reals;
    struct annotune_part *parts;
};

/* All calls at one set of sizes, which are the first integers. */
struct annotune_at { long *sizes, calls, ns, lost, failed; struct annotune_kept **kept; };

struct annotune_region {
    const char *head;
    long sizes, integers, reals, parts;
    long calls, ns, others, others_ns;
    long count;
    struct annotune_at at[ANNOTUNE_SIZES];
};

/* One call while it runs: where it is counted, and which of the kept ones it is to be, or -1. */
struct annotune_call {
    struct annotune_at *at;
    long number, place, begun;
    const long *integers;
    const double *reals;
    struct annotune_part *parts;
};

/* THE REGIONS */

static struct {
    int owner, holder, has_failed;
    long files, written, recording, max_bytes, calls_kept;
    unsigned long run, random;
    char folder[3072];
} annotune_own;

static long annotune_program_begun;

static long annotune_now(int clock)
{
    struct annotune_time now = {0, 0};
    annotune_clock(clock, &now);
    return now.s * 1000000000 + now.ns;
}

__attribute__((constructor)) static void annotune_begin_program(void)
{
    annotune_program_begun = annotune_now(1);
}

/* What another process held when it was forked nobody here will give back. */
static void annotune_lock(int pid)
{
    int holder;
    for (;;) {
        holder = __atomic_load_n(&annotune_own.holder, __ATOMIC_RELAXED);
        if (holder != pid && __atomic_compare_exchange_n(&annotune_own.holder, &holder, pid, 0,
                                                         __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return;
        annotune_yield();
    }
}

static void annotune_unlock(void)
{
    __atomic_store_n(&annotune_own.holder, 0, __ATOMIC_RELEASE);
}

/* The program goes on without records, and says so once. */
static void annotune_fail(const char *path)
{
    if (!annotune_own.has_failed)
        annotune_fprint(annotune_stderr, "annotune capture: cannot write '%s'\n", path);
    annotune_own.has_failed = 1;
}

/* The name of a file of this process, `number` that of its bytes, 0 the index. */
static void annotune_name(char *out, long number, const char *end)
{
    char middle[32] = "";
    if (number) annotune_print(middle, sizeof middle, "-%ld", number);
    annotune_print(out, 4096, "%s/%s-%d-%lx%s.%s%s", annotune_own.folder, annotune_stem,
                   annotune_own.owner, annotune_own.run, middle, number ? "bin" : "json", end);
}

static int annotune_moved(void *file, int is_whole, const char *from, const char *to)
{
    int is_moved = !annotune_close(file) && is_whole && !annotune_move(from, to);
    if (!is_moved) annotune_remove(from);
    return is_moved;
}

/* A number that the environment may say otherwise than the text. */
static long annotune_asked(const char *name, long otherwise)
{
    const char *said = annotune_environ(name);
    long number = said ? annotune_number(said, 0, 10) : 0;
    return number > 0 ? number : otherwise;
}

/* Nothing of another process counts here: of the parent's, say. */
static void annotune_begin_process(int pid)
{
    const char *folder = annotune_environ("ANNOTUNE_CAPTURE");
    long n, a;
    annotune_own.owner = pid;
    annotune_own.files = annotune_own.written = annotune_own.recording = 0;
    annotune_own.has_failed = 0;
    annotune_own.max_bytes = annotune_asked("ANNOTUNE_CAPTURE_BYTES", annotune_max_bytes);
    annotune_own.calls_kept = annotune_asked("ANNOTUNE_CAPTURE_CALLS", annotune_calls_kept);
    annotune_own.run = (unsigned long)annotune_now(0);
    annotune_own.random = annotune_own.run | 1;
    annotune_print(annotune_own.folder, sizeof annotune_own.folder, "%s",
                   folder && *folder ? folder : annotune_folder);
    for (n = 0; n < annotune_region_count; n++) {
        struct annotune_region *region = annotune_regions[n];
        region->calls = region->ns = region->others = region->others_ns = region->count = 0;
        for (a = 0; a < ANNOTUNE_SIZES; a++) region->at[a].sizes = 0;
    }
}

static void annotune_list(void *file, const char *name, const long *numbers, long count)
{
    long n;
    annotune_fprint(file, "\"%s\": [", name);
    for (n = 0; n < count; n++) annotune_fprint(file, "%s%ld", n ? ", " : "", numbers[n]);
    annotune_fprint(file, "]");
}

static void annotune_write_kept(void *file, const struct annotune_region *region,
                                const struct annotune_kept *one)
{
    long n, offset = 0;
    annotune_fprint(file, "\n     {\"call\": %ld, ", one->call);
    annotune_list(file, "integers", one->integers, region->integers);
    annotune_fprint(file, ", \"reals\": [");
    for (n = 0; n < region->reals; n++)
        annotune_fprint(file, "%s\"%016lx\"", n ? ", " : "", one->reals[n]);
    annotune_fprint(file, "],\n      \"file\": \"%s-%d-%lx-%ld.bin\", \"bytes\": %ld, ",
                    annotune_stem_in_json, annotune_own.owner, annotune_own.run, one->number,
                    one->size);
    annotune_list(file, "check", one->check, 2);
    annotune_fprint(file, ", \"arrays\": [");
    for (n = 0; n < region->parts; n++) {
        const struct annotune_part *part = &one->parts[n];
        annotune_fprint(file, "%s[%ld, %ld, %ld]", n ? ", " : "", part->first, part->count, offset);
        offset += (part->count * part->each + 7) / 8 * 8;
    }
    annotune_fprint(file, "]}");
}

static void annotune_write_region(void *file, const struct annotune_region *region)
{
    const char *joint = "";
    long a, k;
    annotune_fprint(file, "  {%s,\n   \"calls\": %ld, \"ns\": %ld, ", region->head, region->calls,
                    region->ns);
    annotune_fprint(file, "\"others\": {\"calls\": %ld, \"ns\": %ld},\n   \"at\": [",
                    region->others, region->others_ns);
    for (a = 0; a < region->count; a++) {
        const struct annotune_at *at = &region->at[a];
        annotune_fprint(file, "%s\n    {", a ? "," : "");
        annotune_list(file, "sizes", at->sizes, region->sizes);
        annotune_fprint(file, ", \"calls\": %ld, \"ns\": %ld, \"beyond_bound\": %ld, ",
                        at->calls, at->ns, at->lost);
        annotune_fprint(file, "\"failed\": %ld, \"kept\": [", at->failed);
        for (k = 0, joint = ""; k < annotune_own.calls_kept; k++) {
            if (!at->kept[k]) continue;
            annotune_fprint(file, "%s", joint);
            annotune_write_kept(file, region, at->kept[k]);
            joint = ",";
        }
        annotune_fprint(file, "]}");
    }
    annotune_fprint(file, "]}");
}

static void annotune_write_index(int has_ended)
{
    char path[4096], beside[4096];
    long n, now = annotune_now(1);
    void *file;
    annotune_name(path, 0, "");
    annotune_name(beside, 0, ".part");
    annotune_own.written = now;
    file = annotune_open(beside, "w");
    if (!file) {
        annotune_fail(path);
        return;
    }
    annotune_fprint(file, "{%s, \"pid\": %d, \"ended\": %s,\n \"program_ns\": %ld, ", annotune_head,
                    annotune_own.owner, has_ended ? "true" : "false",
                    now - annotune_program_begun);
    annotune_fprint(file, "\"recording_ns\": %ld, \"max_bytes\": %ld,\n \"regions\": [\n",
                    annotune_own.recording, annotune_own.max_bytes);
    for (n = 0; n < annotune_region_count; n++) {
        if (n) annotune_fprint(file, ",\n");
        annotune_write_region(file, annotune_regions[n]);
    }
    if (!annotune_moved(file, annotune_fprint(file, "\n ]}\n") > 0, beside, path))
        annotune_fail(path);
}

__attribute__((destructor)) static void annotune_end_program(void)
{
    if (!annotune_own.owner || annotune_own.owner != annotune_pid()) return;
    annotune_lock(annotune_own.owner);
    annotune_write_index(1);
    annotune_unlock();
}

/* Whether so many bytes more fit into what all processes together may keep. A file has a byte for
   each block that is taken: what several append at once is added up. */
static int annotune_fits(long size)
{
    static const char blocks[256] = "";
    long left = (size + ANNOTUNE_BLOCK - 1) / ANNOTUNE_BLOCK, end;
    long most = annotune_own.max_bytes / ANNOTUNE_BLOCK;
    char path[4096];
    void *file;
    annotune_print(path, sizeof path, "%s/%s.taken", annotune_own.folder, annotune_stem);
    file = annotune_open(path, "a");
    if (!file) {
        annotune_fail(path);
        return 0;
    }
    end = annotune_seek(file, 0, 2) ? most : annotune_tell(file);
    if (end + left > most) {
        annotune_close(file);
        return 0;
    }
    for (; left > 0; left -= 256)
        annotune_write(blocks, 1, (unsigned long)(left < 256 ? left : 256), file);
    end = annotune_flush(file) ? -1 : annotune_tell(file);
    annotune_close(file);
    return end >= 0 && end <= most;
}

/* Sums of the words of what is kept, by which the reader knows that nothing of it has changed. */
static void annotune_add(long check[2], const char *bytes, long size)
{
    unsigned long sums[2] = {(unsigned long)check[0], (unsigned long)check[1]}, word;
    long n;
    for (n = 0; n < size; n += 8) {
        word = 0;
        __builtin_memcpy(&word, bytes + n, (unsigned long)(size - n < 8 ? size - n : 8));
        sums[0] += word;
        sums[1] += sums[0];
    }
    check[0] = (long)sums[0];
    check[1] = (long)sums[1];
}

/* Write bytes by calls of the system, which tell where there is no such memory and do not end the
   program: what was proven of a section may not hold where C leaves open what a pointer points at. */
static int annotune_put_all(int file, const char *bytes, long size)
{
    long done;
    for (; size > 0; size -= done, bytes += done) {
        done = annotune_put(file, bytes, (unsigned long)size);
        if (done <= 0) return 0;
    }
    return 1;
}

static int annotune_write_bytes(struct annotune_kept *one, long parts)
{
    static const char zeros[8] = "";
    char path[4096], beside[4096];
    int handle, is_whole = 1;
    long n, size;
    void *file;
    annotune_name(path, one->number, "");
    annotune_name(beside, one->number, ".part");
    file = annotune_open(beside, "w");
    if (!file) {
        annotune_fail(path);
        return 0;
    }
    handle = annotune_handle(file);
    for (n = 0; n < parts && is_whole; n++) {
        size = one->parts[n].count * one->parts[n].each;
        if (!size) continue;
        is_whole &= annotune_put_all(handle, one->parts[n].bytes, size);
        if (size % 8) is_whole &= annotune_put_all(handle, zeros, 8 - size % 8);
        if (is_whole) annotune_add(one->check, one->parts[n].bytes, size);
    }
    return annotune_moved(file, is_whole, beside, path);
}

static struct annotune_kept *annotune_new_kept(const struct annotune_region *region,
                                               const struct annotune_call *call)
{
    unsigned long sizes[3] = {sizeof(long) * (unsigned long)region->integers,
                              sizeof(long) * (unsigned long)region->reals,
                              sizeof(struct annotune_part) * (unsigned long)region->parts};
    char *memory = annotune_zeros(1, sizeof(struct annotune_kept) + sizes[0] + sizes[1] + sizes[2]);
    struct annotune_kept *one = (struct annotune_kept *)memory;
    long n;
    if (!one) return 0;
    one->integers = (long *)(memory + sizeof *one);
    one->reals = (unsigned long *)(memory + sizeof *one + sizes[0]);
    one->parts = (struct annotune_part *)(memory + sizeof *one + sizes[0] + sizes[1]);
    __builtin_memcpy(one->integers, call->integers, sizes[0]);
    __builtin_memcpy(one->reals, call->reals, sizes[1]);
    __builtin_memcpy(one->parts, call->parts, sizes[2]);
    one->call = call->number;
    for (n = 0; n < region->parts; n++) {
        struct annotune_part *part = &one->parts[n];
        if (part->count < 0 || !part->bytes) part->count = 0;
        part->bytes += part->count ? part->first * part->each : 0;
        one->size += (part->count * part->each + 7) / 8 * 8;
    }
    return one;
}

/* Keep the arguments of a call that is about to begin; its parts are known. */
static void annotune_keep(struct annotune_region *region, struct annotune_call *call)
{
    int kept_errno = *annotune_errno();
    long begun = annotune_now(1);
    struct annotune_kept *one, *before;
    char path[4096];
    annotune_lock(annotune_own.owner);
    one = annotune_new_kept(region, call);
    before = call->at->kept[call->place];
    if (!one || ((!before || before->size < one->size) && !annotune_fits(one->size))) {
        call->at->lost++;
        annotune_free(one);
    } else {
        one->number = ++annotune_own.files;
        if (annotune_write_bytes(one, region->parts)) {
            call->at->kept[call->place] = one;
            annotune_write_index(0);
            if (before) {
                annotune_name(path, before->number, "");
                annotune_remove(path);
                annotune_free(before);
            }
        } else {
            call->at->failed++;
            annotune_free(one);
        }
    }
    annotune_own.recording += annotune_now(1) - begun;
    annotune_unlock();
    *annotune_errno() = kept_errno;
}

static struct annotune_at *annotune_found(struct annotune_region *region, const long *sizes)
{
    unsigned long bytes = sizeof(long) * (unsigned long)region->sizes;
    struct annotune_at *at;
    long n;
    for (n = 0; n < region->count; n++)
        if (!__builtin_memcmp(region->at[n].sizes, sizes, bytes)) return &region->at[n];
    if (region->count == ANNOTUNE_SIZES) return 0;
    at = &region->at[region->count];
    at->calls = at->ns = at->lost = at->failed = 0;
    at->sizes = annotune_zeros(1, bytes + 1);
    at->kept = annotune_zeros((unsigned long)annotune_own.calls_kept + 1, sizeof *at->kept);
    if (!at->sizes || !at->kept) return 0;
    __builtin_memcpy(at->sizes, sizes, bytes);
    region->count++;
    return at;
}

/* Of so many calls the first is kept, and of the later ones each with the same chance. */
static long annotune_place(const struct annotune_at *at)
{
    unsigned long random = annotune_own.random, chosen;
    if (at->calls <= annotune_own.calls_kept) return at->calls - 1;
    if (annotune_own.calls_kept < 2) return -1;
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    annotune_own.random = random;
    chosen = random % (unsigned long)(at->calls - 1);
    return chosen < (unsigned long)annotune_own.calls_kept - 1 ? 1 + (long)chosen : -1;
}

/* Count a call, and tell whether its arguments are to be kept. */
static int annotune_begin(struct annotune_region *region, struct annotune_call *call,
                          const long *sizes)
{
    int kept_errno = *annotune_errno(), pid = annotune_pid();
    annotune_lock(pid);
    if (pid != annotune_own.owner) annotune_begin_process(pid);
    call->number = ++region->calls;
    call->at = annotune_found(region, sizes);
    call->place = -1;
    if (call->at) {
        call->at->calls++;
        call->place = annotune_place(call->at);
    }
    annotune_unlock();
    *annotune_errno() = kept_errno;
    return call->place >= 0;
}

static void annotune_start(struct annotune_call *call)
{
    call->begun = annotune_now(1);
}

static void annotune_end(struct annotune_region *region, struct annotune_call *call)
{
    long now = annotune_now(1), took = now - call->begun;
    int kept_errno = *annotune_errno();
    annotune_lock(annotune_own.owner);
    region->ns += took;
    if (call->at) {
        call->at->ns += took;
    } else {
        region->others++;
        region->others_ns += took;
    }
    if (now - annotune_own.written > 1000000000) {
        annotune_write_index(0);
        annotune_own.recording += annotune_now(1) - now;
    }
    annotune_unlock();
    *annotune_errno() = kept_errno;
}
