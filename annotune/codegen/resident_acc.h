/* Arrays that stay on the device while the program is in a block of Data.
 *
 * Of each, the values on the host are right, or those on the device, or both. A region asks for them
 * on the device, and a statement of the host's for them on the host; only where they are not right
 * there are they copied. Calls of functions that nobody has looked into have all arrays on the host.
 */
#ifndef ANNOTUNE_RESIDENT
#define ANNOTUNE_RESIDENT
struct annotune_resident {
    const char *first, *end;
    int depth; /* of the block */
    int is_on_host, is_on_device; /* whose values are right */
    int is_there;                 /* whether the device has memory for it */
};
enum { ANNOTUNE_MOST_RESIDENT = 256 }; /* what goes beyond is copied as ever */
struct annotune_residents {
    int count, depth, aside;
    struct annotune_resident all[ANNOTUNE_MOST_RESIDENT];
};
/* One for all files of the program, and for each of its threads. */
__attribute__((weak)) _Thread_local struct annotune_residents annotune_staying = {0};
/* What a region uses of an array. */
struct annotune_used {
    const void *first, *end;
    int is_read, is_written;
};

__attribute__((unused)) static void annotune_update(struct annotune_resident *one, int to_device)
{
    char *const first = (char *)one->first;
    const unsigned long bytes = (unsigned long)(one->end - one->first);
    (void)first;
    (void)bytes;
    if (to_device) {
#pragma acc update device(first[0:bytes])
        one->is_on_device = 1;
    } else {
#pragma acc update self(first[0:bytes])
        one->is_on_host = 1;
    }
}

__attribute__((unused)) static void annotune_to_host(struct annotune_resident *one)
{
    if (!one->is_on_host)
        annotune_update(one, 0);
}

__attribute__((unused)) static void annotune_have_there(struct annotune_resident *one, int is_there)
{
    char *const first = (char *)one->first;
    const unsigned long bytes = (unsigned long)(one->end - one->first);
    (void)first;
    (void)bytes;
    if (one->is_there == is_there)
        return;
    if (is_there) {
#pragma acc enter data create(first[0:bytes])
    } else {
#pragma acc exit data delete(first[0:bytes])
    }
    one->is_there = is_there;
    one->is_on_device = 0;
}

__attribute__((unused)) static int annotune_meets(
        const struct annotune_resident *one, const void *first, const void *end)
{
    return one->first < (const char *)end && (const char *)first < one->end;
}

/* Have the arrays of a region on the device, if they are whole in one that stays there. One of which
 * some is elsewhere is the host's for this call, and so are all that share it. */
__attribute__((unused)) static void annotune_data_use(int count, const struct annotune_used *used)
{
    for (int n = 0; n < annotune_staying.count && !annotune_staying.aside; n++) {
        struct annotune_resident *const one = &annotune_staying.all[n];
        int is_met = 0, is_cut = 0, is_needed = 0, is_written = 0;
        for (int k = 0; k < count; k++) {
            const char *const first = (const char *)used[k].first, *const end = (const char *)used[k].end;
            if (!annotune_meets(one, first, end))
                continue;
            is_met = 1;
            is_cut |= first < one->first || one->end < end;
            is_needed |= used[k].is_read || one->first < first || end < one->end;
            is_written |= used[k].is_written;
        }
        if (!is_met)
            continue;
        if (is_cut) {
            annotune_to_host(one);
            annotune_have_there(one, 0);
            continue;
        }
        annotune_have_there(one, 1);
        if (is_needed && !one->is_on_device)
            annotune_update(one, 1);
        one->is_on_host = one->is_on_host && !is_written;
        one->is_on_device = one->is_on_device || is_written;
    }
}

/* Let a nest run as written on the host: of sizes that kernels do not take nobody knows which arrays
 * it uses. */
__attribute__((unused)) static void annotune_data_all_on_host(void)
{
    for (int n = 0; n < annotune_staying.count && !annotune_staying.aside; n++) {
        annotune_to_host(&annotune_staying.all[n]);
        annotune_staying.all[n].is_on_device = 0;
    }
}

__attribute__((unused)) static void annotune_data_begin(void) { annotune_staying.depth++; }

__attribute__((unused)) static void annotune_data_enter(const void *array, unsigned long bytes)
{
    const char *const first = (const char *)array;
    if (!first || !bytes || annotune_staying.aside)
        return;
    for (int n = 0; n < annotune_staying.count; n++)
        if (annotune_meets(&annotune_staying.all[n], first, first + bytes))
            return;
    if (annotune_staying.count == ANNOTUNE_MOST_RESIDENT)
        return;
    const struct annotune_resident made = {first, first + bytes, annotune_staying.depth, 1, 0, 0};
    annotune_staying.all[annotune_staying.count++] = made;
}

__attribute__((unused)) static void annotune_forgotten(int number)
{
    annotune_have_there(&annotune_staying.all[number], 0);
    annotune_staying.all[number] = annotune_staying.all[--annotune_staying.count];
}

__attribute__((unused)) static void annotune_data_exit(const void *array)
{
    const char *const first = (const char *)array;
    for (int n = 0; n < annotune_staying.count; n++)
        if (annotune_staying.all[n].depth == annotune_staying.depth
            && annotune_staying.all[n].first <= first && first <= annotune_staying.all[n].end)
            annotune_to_host(&annotune_staying.all[n]);
}

__attribute__((unused)) static void annotune_data_end(void)
{
    for (int n = annotune_staying.count - 1; n >= 0; n--)
        if (annotune_staying.all[n].depth == annotune_staying.depth)
            annotune_forgotten(n);
    annotune_staying.depth--;
}

/* Have an array right on the host, also one behind whose last element the pointer stands. */
__attribute__((unused)) static void annotune_data_on_host(const void *array, int is_written)
{
    const char *const place = (const char *)array;
    for (int n = 0; n < annotune_staying.count && !annotune_staying.aside; n++) {
        struct annotune_resident *const one = &annotune_staying.all[n];
        if (place < one->first || one->end < place)
            continue;
        annotune_to_host(one);
        one->is_on_device = one->is_on_device && !is_written;
    }
}

__attribute__((unused)) static void annotune_data_aside(int is_begun)
{
    for (int n = 0; n < annotune_staying.count && is_begun && !annotune_staying.aside; n++) {
        annotune_to_host(&annotune_staying.all[n]);
        annotune_have_there(&annotune_staying.all[n], 0);
    }
    annotune_staying.aside += is_begun ? 1 : -1;
}

/* The program gives memory back that it had for an array. */
__attribute__((unused)) static void annotune_data_forget(const void *array)
{
    const char *const first = (const char *)array;
    for (int n = annotune_staying.count - 1; first && n >= 0; n--)
        if (annotune_meets(&annotune_staying.all[n], first, first + 1)) {
            annotune_to_host(&annotune_staying.all[n]);
            annotune_forgotten(n);
        }
}
#endif
