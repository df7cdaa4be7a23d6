/* The race detector's logical view of a run: who is executing, never when.
 *
 * A place names the code that is running by three nested levels, outermost first:
 *
 *     CUDA     (launch, block)            (barrier interval, warp)   (warp interval, lane)
 *     OpenMP   (region or phase, thread)  the same, nested           the same, nested again
 *
 * Two places are ordered if, at the first level where they differ, their phases differ.
 * If the phases agree there and the members differ, nothing orders them.
 */
#ifndef ANNOTUNE_RACE_H
#define ANNOTUNE_RACE_H

#include <stddef.h>
#include <stdint.h>

#define ANNOTUNE_LEVELS 3

typedef struct {
    uint32_t phase[ANNOTUNE_LEVELS];
    uint32_t member[ANNOTUNE_LEVELS];
} AnnotunePlace;

/* How a runtime says in words where a place or an address is. */
typedef struct {
    void (*place)(const AnnotunePlace *place, char *text, size_t size);
    void (*address)(const void *address, char *text, size_t size);
} AnnotuneWords;

typedef enum { ANNOTUNE_READ, ANNOTUNE_WRITE } AnnotuneAccess;

/* What makes accesses exclude each other: nothing, one instruction, or a lock. */
enum { ANNOTUNE_PLAIN, ANNOTUNE_ATOMIC, ANNOTUNE_GOMP_ATOMIC, ANNOTUNE_CRITICAL, ANNOTUNE_NAMED };

#ifdef __cplusplus
extern "C" {
#endif
/* Everything before is ordered before everything after; tracking goes on until leave.
 * `device_only` is nonzero when an access to memory that was not declared by
 * annotune_race_device (or to the module's own data) is a mistake of its own. */
void annotune_race_enter(const char *region, const AnnotuneWords *words, int device_only);
void annotune_race_leave(void);
/* The code that runs next; [private_low, private_high) is its own stack. A null
 * private_low stands for the current stack pointer. */
void annotune_race_at(const AnnotunePlace *place, const void *private_low,
                      const void *private_high);
/* Later accesses belong to another object, for it has been reused. */
void annotune_race_forget(const void *address, size_t size);
void annotune_race_device(const void *address, size_t size, int is_device);
/* The exclusion under which this place runs from now on; returns the one before. */
unsigned annotune_race_exclusion(unsigned kind);
void annotune_race_access(const void *address, size_t size, AnnotuneAccess access,
                          unsigned exclusion);
/* The most bytes of its own stack that instrumented code has used at any place so far. */
size_t annotune_race_deepest_stack(void);

/* For the tests and the measuring child. */
int annotune_race_count(void);
const char *annotune_race_message(int index);
void annotune_race_reset(void);
#ifdef __cplusplus
}
#endif
#endif
