/* Records what the original touches, and leaves a call that C does not define.

   The original is compiled with -fsanitize=thread,undefined and linked with this file in place of
   the two libraries: every access calls __tsan_*, every undefined operation __ubsan_*. */
#include <fenv.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/time.h>

#define MOST_ZONES 64
#define MOST_ACCESSES 400000
/* Processor time, for loops that touch nothing. */
#define MOST_MICROSECONDS 500000

static struct {
  char *begin, *end, *low, *high;
} zones[MOST_ZONES];
static int zone_count, is_on;
static long accesses;
static sigjmp_buf escape;

enum { DONE, UNDEFINED, TOO_LONG, CRASHED };

void touched_zone(char *begin, char *end)
{
  zones[zone_count].begin = begin;
  zones[zone_count].end = end;
  zones[zone_count].low = end;
  zones[zone_count++].high = begin;
}

void touched_forget(void) { zone_count = 0; }
char *touched_low(int k) { return zones[k].low; }
char *touched_high(int k) { return zones[k].high; }

static void touch(char *place, size_t bytes)
{
  if (!is_on)
    return;
  if (++accesses > MOST_ACCESSES) {
    is_on = 0;
    siglongjmp(escape, TOO_LONG);
  }
  for (int k = 0; k < zone_count; k++)
    if (place >= zones[k].begin && place < zones[k].end) {
      if (place < zones[k].low)
        zones[k].low = place;
      if (place + bytes > zones[k].high)
        zones[k].high = place + bytes;
    }
}

static void crashed(int signal)
{
  is_on = 0;
  siglongjmp(escape, signal == SIGPROF ? TOO_LONG : CRASHED);
}

/* The exceptions of the call are left in `exceptions`: inexact, overflow, invalid. */
int touched_call(void (*call)(int, void **), int function, void **arguments, int *exceptions)
{
  static const int signals[] = {SIGSEGV, SIGFPE, SIGBUS, SIGILL, SIGPROF};
  struct sigaction mine, before[5];
  memset(&mine, 0, sizeof mine);
  mine.sa_handler = crashed;
  mine.sa_flags = SA_NODEFER;
  for (int k = 0; k < 5; k++)
    sigaction(signals[k], &mine, &before[k]);
  accesses = 0;
  struct itimerval limit = {{0, 0}, {0, MOST_MICROSECONDS}}, none = {{0, 0}, {0, 0}};
  setitimer(ITIMER_PROF, &limit, NULL);
  int how = sigsetjmp(escape, 1);
  if (!how) {
    is_on = 1;
    feclearexcept(FE_ALL_EXCEPT);
    call(function, arguments);
    *exceptions = (fetestexcept(FE_INEXACT) ? 1 : 0) | (fetestexcept(FE_OVERFLOW) ? 2 : 0) |
                  (fetestexcept(FE_INVALID) ? 4 : 0);
  }
  is_on = 0;
  setitimer(ITIMER_PROF, &none, NULL);
  for (int k = 0; k < 5; k++)
    sigaction(signals[k], &before[k], NULL);
  return how;
}

static void undefined(void)
{
  if (!is_on)
    return;
  is_on = 0;
  siglongjmp(escape, UNDEFINED);
}

#define ACCESS(bytes)                                                                              \
  void __tsan_read##bytes(char *p) { touch(p, bytes); }                                            \
  void __tsan_write##bytes(char *p) { touch(p, bytes); }                                           \
  void __tsan_unaligned_read##bytes(char *p) { touch(p, bytes); }                                  \
  void __tsan_unaligned_write##bytes(char *p) { touch(p, bytes); }                                 \
  void __tsan_volatile_read##bytes(char *p) { touch(p, bytes); }                                   \
  void __tsan_volatile_write##bytes(char *p) { touch(p, bytes); }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)
void __tsan_read_range(char *p, size_t n) { if (n) touch(p, n); }
void __tsan_write_range(char *p, size_t n) { if (n) touch(p, n); }
void __tsan_func_entry(void *p) { (void)p; }
void __tsan_func_exit(void) {}
void __tsan_init(void) {}

#define REPORT(name) void __ubsan_handle_##name(void) { undefined(); }
REPORT(add_overflow)
REPORT(sub_overflow)
REPORT(mul_overflow)
REPORT(negate_overflow)
REPORT(divrem_overflow)
REPORT(shift_out_of_bounds)
REPORT(out_of_bounds)
REPORT(vla_bound_not_positive)
REPORT(load_invalid_value)
REPORT(type_mismatch)
REPORT(type_mismatch_v1)
REPORT(float_cast_overflow)
REPORT(pointer_overflow)
REPORT(builtin_unreachable)
REPORT(missing_return)
REPORT(nonnull_arg)
REPORT(nonnull_return_v1)
REPORT(invalid_builtin)
REPORT(alignment_assumption)
