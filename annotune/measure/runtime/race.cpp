// A logical race detector behind gcc's -fsanitize=thread calls, without libtsan.
//
// gcc calls __tsan_read8(p) and the like before every memory access; this file is linked
// in place of the library that usually receives them. The runtime that plays the threads
// says which logical place is running (race.h), so the verdict does not depend on the
// order in which the threads happen to be played.

#include "race.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define EXPORTED extern "C" __attribute__((visibility("default")))
// Hidden, so that the instrumented code calls straight and never another module's copy.
#define HOOK extern "C" __attribute__((visibility("hidden"), used))

// A loop of ours must not become a call of memset, which may be wrapped.
#pragma GCC optimize("no-tree-loop-distribute-patterns")

// The module's own first and last byte, from the linker.
extern "C" char __ehdr_start[] __attribute__((visibility("hidden")));
extern "C" char _end[] __attribute__((visibility("hidden")));

namespace {

typedef uint32_t PlaceId;  // grows by one for each place that touches memory; 0 is nobody

// The accesses to one cell that a later access may still conflict with. Several places
// are kept as one of them and the outermost level at which they differ: a place that is
// unordered with any of them differs from that one at this level or further out.
struct Group {
    PlaceId id;
    uint8_t level;      // 1-based; 0: one place only
    uint8_t exclusion;  // of race.h, or MIXED
};

// Several exclusions in one group; equal to none, so nothing excludes it.
constexpr uint8_t MIXED = 255;

// Four bytes of memory, unpacked into groups while it is visited. `locked` accesses are
// atomic ones and those under a lock. Narrower accesses split the cell; `writer` is then
// the index of its bytes.
struct Cell {
    PlaceId writer, reader, locked_writer, locked_reader;
    uint8_t reader_level, locked_writer_level, locked_reader_level;
    uint8_t locked_writer_exclusion, locked_reader_exclusion;
    uint8_t is_split;
};

constexpr uintptr_t CELL_BYTES = 4;
constexpr uintptr_t PAGE_BYTES = 4096;
constexpr size_t CELLS_PER_PAGE = PAGE_BYTES / CELL_BYTES;
constexpr int MAX_MESSAGES = 32;
constexpr size_t MESSAGE_SIZE = 640;
constexpr size_t PLACES_AT_FIRST = 4096;

struct Page {
    Cell cells[CELLS_PER_PAGE];
    uintptr_t number;
    bool is_device;
    Page *next;
};

struct Split {
    Cell bytes[CELL_BYTES];
};

constexpr size_t CACHE_SIZE = 4096;
constexpr size_t BUCKETS = 1 << 16;
Page *cache[CACHE_SIZE];
Page *buckets[BUCKETS];
Split *splits;
size_t split_count, split_capacity;

AnnotunePlace *places;  // of the ids from `first_id` on; earlier ones are ordered before
size_t place_capacity;
PlaceId first_id = 1, next_id = 1;
uint32_t outer_phase;

AnnotunePlace current;
PlaceId current_id;
uintptr_t private_low, private_high;
unsigned current_exclusion;
bool tracking, device_only;
const char *region_name = "";
AnnotuneWords words;
size_t deepest_stack;  // bytes

int conflict_count;
char messages[MAX_MESSAGES][MESSAGE_SIZE];

[[noreturn]] void give_up(const char *reason) {
    fprintf(stderr, "annotune race detector: %s\n", reason);
    abort();
}

Page *page_of(uintptr_t address) {
    uintptr_t number = address / PAGE_BYTES;
    Page *&cached = cache[number % CACHE_SIZE];
    if (cached && cached->number == number) return cached;
    Page *&bucket = buckets[(number ^ number >> 16) % BUCKETS];
    for (Page *page = bucket; page; page = page->next)
        if (page->number == number) return cached = page;
    // Zeros straight from the system: memory that is only declared costs nothing, and a
    // wrapped calloc would come back here.
    void *fresh_page = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh_page == MAP_FAILED) give_up("out of memory");
    Page *page = static_cast<Page *>(fresh_page);
    page->number = number;
    page->next = bucket;
    bucket = page;
    return cached = page;
}

PlaceId new_current_id() {
    size_t index = next_id - first_id;
    if (index >= place_capacity) {
        place_capacity = place_capacity ? 2 * place_capacity : PLACES_AT_FIRST;
        places = static_cast<AnnotunePlace *>(
            realloc(places, place_capacity * sizeof(AnnotunePlace)));
        if (!places) give_up("out of memory");
    }
    places[index] = current;
    current_id = next_id++;
    if (next_id == 0) give_up("more than 2^32 places; check a smaller size");
    return current_id;
}

const AnnotunePlace &place_of(PlaceId id) { return places[id - first_id]; }

// Is the running place unordered with one of `group`?
bool conflicts(Group group) {
    if (group.id < first_id) return false;
    if (group.id == current_id && group.level == 0) return false;
    const AnnotunePlace &other = place_of(group.id);
    for (int level = 0; level < ANNOTUNE_LEVELS; level++) {
        if (other.phase[level] != current.phase[level]) return false;
        if (group.level == level + 1) return true;
        if (other.member[level] != current.member[level]) return true;
    }
    return false;
}

// The group with the running place added. What the running place replaces is ordered
// before it, and so before everything that is ordered after it.
Group joined(Group group, unsigned exclusion) {
    uint8_t own = static_cast<uint8_t>(exclusion);
    if (group.id < first_id) return {current_id, 0, own};
    uint8_t both = group.exclusion == own ? own : MIXED;
    const AnnotunePlace &other = place_of(group.id);
    for (int level = 0; level < ANNOTUNE_LEVELS; level++) {
        // Inside one member only: for other members both exclusions still matter.
        if (other.phase[level] != current.phase[level])
            return {current_id, 0, level ? both : own};
        if (group.level == level + 1) return {group.id, group.level, both};
        if (other.member[level] != current.member[level])
            return {group.id, static_cast<uint8_t>(level + 1), both};
    }
    return {current_id, 0, both};
}

void say_place(PlaceId id, char *text, size_t size) {
    snprintf(text, size, "place %u", id);
    if (words.place) words.place(&place_of(id), text, size);
}

void say_address(uintptr_t address, char *text, size_t size) {
    text[0] = 0;
    if (words.address) words.address(reinterpret_cast<void *>(address), text, size);
    if (!text[0]) snprintf(text, size, "address 0x%zx", static_cast<size_t>(address));
}

char *next_message() {
    return conflict_count++ < MAX_MESSAGES ? messages[conflict_count - 1] : nullptr;
}

size_t module_offset(const void *code) {
    return static_cast<size_t>(static_cast<const char *>(code) - __ehdr_start);
}

void report(uintptr_t address, const char *now, Group other, const char *before,
            const void *code) {
    char *message = next_message();
    if (!message) return;
    char me[128], them[128], where[128];
    say_place(current_id, me, sizeof me);
    say_place(other.id, them, sizeof them);
    say_address(address, where, sizeof where);
    snprintf(message, MESSAGE_SIZE,
             "%s: %s %s %s, which %s%s %s; nothing orders the two (code at +0x%zx)",
             region_name, me, now, where, them, other.level ? " and others" : "", before,
             module_offset(code));
}

void report_host_memory(uintptr_t address, const void *code) {
    char *message = next_message();
    if (!message) return;
    char me[128];
    say_place(current_id, me, sizeof me);
    snprintf(message, MESSAGE_SIZE,
             "%s: %s uses address 0x%zx, which is in no device allocation (code at +0x%zx)",
             region_name, me, static_cast<size_t>(address), module_offset(code));
}

struct Access {
    AnnotuneAccess kind;
    unsigned exclusion;
    const void *code;
};

// Say which earlier access to the cell conflicts with this one; true when none does.
// "Exclusively" is atomically or under a lock.
bool check(const Cell &cell, uintptr_t address, const Access &access) {
    Group writer = {cell.writer, 0, ANNOTUNE_PLAIN};
    Group reader = {cell.reader, cell.reader_level, ANNOTUNE_PLAIN};
    Group locked_writer = {cell.locked_writer, cell.locked_writer_level,
                           cell.locked_writer_exclusion};
    Group locked_reader = {cell.locked_reader, cell.locked_reader_level,
                           cell.locked_reader_exclusion};
    bool is_write = access.kind == ANNOTUNE_WRITE;
    const char *now = is_write ? "writes" : "reads";
    if (access.exclusion) now = is_write ? "updates exclusively" : "reads exclusively";
    if (conflicts(writer)) {
        report(address, now, writer, "wrote", access.code);
    } else if (locked_writer.exclusion != access.exclusion && conflicts(locked_writer)) {
        report(address, now, locked_writer, "updated exclusively", access.code);
    } else if (is_write && conflicts(reader)) {
        report(address, now, reader, "read", access.code);
    } else if (is_write && locked_reader.exclusion != access.exclusion &&
               conflicts(locked_reader)) {
        report(address, now, locked_reader, "read exclusively", access.code);
    } else {
        return true;
    }
    return false;
}

void remember(PlaceId &id, uint8_t &level, uint8_t &exclusion, unsigned own) {
    Group group = joined({id, level, exclusion}, own);
    id = group.id;
    level = group.level;
    exclusion = group.exclusion;
}

// Check one cell against the access and remember the access. Returns false on a conflict.
bool visit(Cell &cell, uintptr_t address, const Access &access) {
    bool is_clean = check(cell, address, access);
    bool is_write = access.kind == ANNOTUNE_WRITE;
    if (access.exclusion && is_write) {
        remember(cell.locked_writer, cell.locked_writer_level, cell.locked_writer_exclusion,
                 access.exclusion);
    } else if (access.exclusion) {
        remember(cell.locked_reader, cell.locked_reader_level, cell.locked_reader_exclusion,
                 access.exclusion);
    } else if (is_write) {
        cell.writer = current_id;
    } else if (cell.reader < first_id || cell.reader_level != 1) {
        uint8_t plain = ANNOTUNE_PLAIN;
        remember(cell.reader, cell.reader_level, plain, ANNOTUNE_PLAIN);
    }
    return is_clean;
}

Split &split_of(Cell &cell) {
    if (!cell.is_split) {
        if (split_count == split_capacity) {
            split_capacity = split_capacity ? 2 * split_capacity : 1024;
            splits = static_cast<Split *>(realloc(splits, split_capacity * sizeof(Split)));
            if (!splits) give_up("out of memory");
        }
        for (Cell &byte : splits[split_count].bytes) byte = cell;
        cell = Cell();
        cell.is_split = 1;
        cell.writer = static_cast<PlaceId>(split_count++);
    }
    return splits[cell.writer];
}

bool visit_bytes(Cell &cell, uintptr_t from, uintptr_t to, const Access &access) {
    Split &split = split_of(cell);
    for (uintptr_t byte = from; byte < to; byte++)
        if (!visit(split.bytes[byte % CELL_BYTES], byte, access)) return false;
    return true;
}

bool is_same(const Cell &a, const Cell &b) {
    return !__builtin_memcmp(&a, &b, sizeof(Cell));
}

// An access that neither is private nor outside a region.
void track(uintptr_t address, size_t size, const Access &access) {
    if (!current_id) new_current_id();
    uintptr_t end = address + size;
    const Page *checked = nullptr;
    while (address < end) {
        Page *page = page_of(address);
        if (device_only && page != checked && !page->is_device &&
            (address < reinterpret_cast<uintptr_t>(__ehdr_start) ||
             address >= reinterpret_cast<uintptr_t>(_end)))
            return report_host_memory(address, access.code);
        checked = page;
        Cell &cell = page->cells[address % PAGE_BYTES / CELL_BYTES];
        uintptr_t cell_end = (address & ~(CELL_BYTES - 1)) + CELL_BYTES;
        uintptr_t stop = end < cell_end ? end : cell_end;
        if (cell.is_split || stop - address < CELL_BYTES) {
            // One message per access: the other bytes would say the same.
            if (!visit_bytes(cell, address, stop, access)) return;
            address = stop;
            continue;
        }
        // The halves of a double mostly have the same past; then check it once.
        bool has_twin = address % (2 * CELL_BYTES) == 0 && end - address >= 2 * CELL_BYTES &&
                        is_same((&cell)[0], (&cell)[1]);
        if (!visit(cell, address, access)) return;
        if (has_twin) (&cell)[1] = cell;
        address = stop + (has_twin ? CELL_BYTES : 0);
    }
}

// The stack of the running place is its own. Its frames lie above this function's.
__attribute__((always_inline)) inline bool is_private(uintptr_t address) {
    uintptr_t low = private_low
                        ? private_low
                        : reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
    return address >= low && address < private_high;
}

__attribute__((always_inline)) inline void access(const void *at, size_t size,
                                                  AnnotuneAccess kind, unsigned exclusion,
                                                  const void *code) {
    if (!tracking) return;
    uintptr_t address = reinterpret_cast<uintptr_t>(at);
    if (is_private(address)) return;
    track(address, size, {kind, exclusion ? exclusion : current_exclusion, code});
}

}  // namespace

EXPORTED void annotune_race_enter(const char *region, const AnnotuneWords *region_words,
                                  int is_device_only) {
    region_name = region;
    words = *region_words;
    device_only = is_device_only;
    tracking = true;
    first_id = next_id;
    outer_phase = UINT32_MAX;
    current_id = 0;
    current_exclusion = ANNOTUNE_PLAIN;
}

EXPORTED void annotune_race_leave(void) { tracking = false; }

EXPORTED void annotune_race_at(const AnnotunePlace *place, const void *low,
                               const void *high) {
    // A new outermost phase is ordered after everything: the table can start again.
    if (place->phase[0] != outer_phase) first_id = next_id;
    outer_phase = place->phase[0];
    current = *place;
    current_id = 0;
    private_low = reinterpret_cast<uintptr_t>(low);
    private_high = reinterpret_cast<uintptr_t>(high);
}

EXPORTED void annotune_race_forget(const void *from, size_t size) {
    uintptr_t address = reinterpret_cast<uintptr_t>(from);
    for (uintptr_t end = address + size; address < end; address += CELL_BYTES)
        page_of(address)->cells[address % PAGE_BYTES / CELL_BYTES] = Cell();
}

EXPORTED void annotune_race_device(const void *from, size_t size, int is_device) {
    uintptr_t address = reinterpret_cast<uintptr_t>(from) & ~(PAGE_BYTES - 1);
    uintptr_t end = reinterpret_cast<uintptr_t>(from) + size;
    for (; address < end; address += PAGE_BYTES) page_of(address)->is_device = is_device;
}

EXPORTED unsigned annotune_race_exclusion(unsigned kind) {
    unsigned before = current_exclusion;
    current_exclusion = kind;
    return before;
}

EXPORTED __attribute__((noinline)) void annotune_race_access(const void *address, size_t size,
                                                             AnnotuneAccess kind,
                                                             unsigned exclusion) {
    access(address, size, kind, exclusion, __builtin_return_address(0));
}

EXPORTED size_t annotune_race_deepest_stack(void) { return deepest_stack; }

EXPORTED int annotune_race_count(void) { return conflict_count; }

EXPORTED const char *annotune_race_message(int index) {
    return index >= 0 && index < conflict_count && index < MAX_MESSAGES ? messages[index] : "";
}

EXPORTED void annotune_race_reset(void) { conflict_count = 0; }

#include "race_hooks.h"
