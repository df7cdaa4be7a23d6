// A small libgomp that plays the threads of a team one after another, for checking.
//
// Linked in place of libgomp, together with race.cpp, under C compiled with
// -fopenmp -fsanitize=thread. Every logical thread has a fiber, because a barrier makes it
// wait for the others; its stack starts as NaN, so that a private which is read before it
// is written shows. The team may have more threads than the machine has processors by any
// factor: with as many threads as iterations each iteration is a thread of its own.

#include "fiber.h"
#include "order.h"
#include "race.h"

#include <time.h>

// A loop of ours must not become a call of memset, which may be wrapped.
#pragma GCC optimize("no-tree-loop-distribute-patterns")

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

using annotune_cpu::Fiber;
using annotune_cpu::Order;

constexpr size_t STACK_BYTES = 8 << 20;  // as Linux gives the first thread
constexpr size_t PAINTED_AT_LEAST = 16 << 10;  // bytes; more once a thread has used more
constexpr size_t FRAME_BYTES = 64 << 10;  // where a forking function's variables are sought
constexpr size_t UNSEEN_BYTES = 4096;  // what library calls may use below instrumented code
constexpr unsigned DEFAULT_THREADS = 64;
constexpr unsigned NESTED_THREADS = 32;  // at most, per team inside a team
constexpr uint64_t POISON = ~uint64_t(0);  // as doubles or floats: NaN

typedef void (*Region)(void *);

// A worksharing loop: its iterations go to the threads in chunks, round robin.
struct Loop {
    unsigned long long start, step, trips, chunk;
    unsigned long long next_chunk;
};

struct Stack {
    Fiber fiber;
    Stack *next;
};

struct Team;

struct Worker {
    Team *team;
    Stack *stack;
    uint32_t number;
    uint32_t inner_phase;  // grows with each team that it forks, joins or synchronizes
    bool is_finished;
    unsigned singles;
    Loop loop;
};

struct Team {
    Region region;
    void *argument;
    unsigned size;
    int level;
    Worker *workers;
    Worker *outer;  // who forked it; null for the program itself
    Fiber scheduler;
    AnnotunePlace place;
    unsigned singles;
    Loop loop;  // of a combined parallel loop
};

unsigned wanted_threads = DEFAULT_THREADS;
uint32_t outer_phase;
unsigned region_count;
const char *forking_frame;  // of the outermost region
Worker *running;
Stack *free_stacks;

[[noreturn]] void stop(const char *what) {
    fprintf(stderr, "annotune: parallel region %u: %s\n", region_count, what);
    fflush(stderr);
    abort();
}

void say_place(const AnnotunePlace *place, char *text, size_t size) {
    int used = snprintf(text, size, "thread %u", place->member[0]);
    for (int level = 1; level < ANNOTUNE_LEVELS && used > 0; level++)
        if (place->phase[level] && place->member[level])
            used += snprintf(text + used, size - static_cast<size_t>(used), ".%u",
                             place->member[level]);
}

void say_address(const void *address, char *text, size_t size) {
    const char *byte = static_cast<const char *>(address);
    for (const Worker *w = running; w; w = w->team->outer) {
        const Fiber &f = w->stack->fiber;
        if (byte >= f.low && byte < f.low + f.size)
            snprintf(text, size, "a variable of an enclosing thread");
    }
    if (byte >= forking_frame && byte < forking_frame + FRAME_BYTES)
        snprintf(text, size, "a variable of the enclosing function");
}

Stack *take_stack() {
    Stack *stack = free_stacks;
    if (stack) {
        free_stacks = stack->next;
    } else {
        stack = static_cast<Stack *>(calloc(1, sizeof(Stack)));
        if (!stack) stop("out of memory");
        annotune_cpu::allocate_stack(stack->fiber, STACK_BYTES);
    }
    size_t depth = annotune_race_deepest_stack() + UNSEEN_BYTES;
    if (depth < PAINTED_AT_LEAST) depth = PAINTED_AT_LEAST;
    depth = depth / sizeof(uint64_t) * sizeof(uint64_t);
    if (depth > stack->fiber.size) depth = stack->fiber.size;
    // A loop, for memset may be wrapped and would count as the program's own writing.
    uint64_t *words = reinterpret_cast<uint64_t *>(stack->fiber.low + stack->fiber.size - depth);
    for (size_t i = 0; i < depth / sizeof *words; i++) words[i] = POISON;
    return stack;
}

void worker_main() {
    Worker &me = *running;
    me.team->region(me.team->argument);
    me.is_finished = true;
    annotune_cpu::switch_fiber(me.stack->fiber, me.team->scheduler, true);
}

void enter_place(const Worker &worker) {
    const Team &team = *worker.team;
    AnnotunePlace place = team.place;
    place.member[team.level] = worker.number;
    if (team.level + 1 < ANNOTUNE_LEVELS) place.phase[team.level + 1] = worker.inner_phase;
    const Fiber &fiber = worker.stack->fiber;
    annotune_race_at(&place, fiber.low, fiber.low + fiber.size);
}

void next_phase(Team &team) {
    uint32_t &phase = team.outer ? team.outer->inner_phase : outer_phase;
    team.place.phase[team.level] = ++phase;
}

// Run `worker` until its next barrier or its end.
void play(Worker &worker) {
    if (!worker.stack) {
        worker.stack = take_stack();
        annotune_cpu::fiber_main = worker_main;
        annotune_cpu::prepare_fiber(worker.stack->fiber, 0);
    }
    running = &worker;
    enter_place(worker);
    annotune_cpu::switch_fiber(worker.team->scheduler, worker.stack->fiber);
    running = worker.team->outer;
    if (!worker.is_finished) return;
    worker.stack->next = free_stacks;
    free_stacks = worker.stack;
}

void run(Team &team) {
    Order order = Order::choose(team.size, region_count);
    for (unsigned finished = 0; finished < team.size;) {
        next_phase(team);
        for (unsigned i = 0; i < team.size; i++) {
            Worker &worker = team.workers[order.at(i)];
            if (worker.is_finished) continue;
            play(worker);
            finished += worker.is_finished;
        }
        if (finished && finished < team.size)
            stop("some threads wait at a barrier that others do not reach");
    }
}

unsigned team_size(unsigned requested, int level) {
    if (requested) return requested;
    if (level == 0 || wanted_threads < NESTED_THREADS) return wanted_threads;
    return NESTED_THREADS;
}

void fork(Region region, void *argument, unsigned requested, const Loop *loop) {
    Team team = {};
    team.region = region;
    team.argument = argument;
    team.outer = running;
    team.level = running ? running->team->level + 1 : 0;
    if (team.level == ANNOTUNE_LEVELS) stop("more than three nested parallel regions");
    team.size = team_size(requested, team.level);
    team.workers = static_cast<Worker *>(calloc(team.size, sizeof(Worker)));
    if (!team.workers) stop("out of memory");
    if (running) {
        team.place = running->team->place;
        team.place.member[running->team->level] = running->number;
    }
    for (unsigned i = 0; i < team.size; i++) {
        team.workers[i].team = &team;
        team.workers[i].number = i;
        if (!loop) continue;
        team.workers[i].loop = *loop;
        team.workers[i].loop.next_chunk = i;
    }
    if (!running) {
        static const AnnotuneWords words = {say_place, say_address};
        static char name[32];
        snprintf(name, sizeof name, "parallel region %u", ++region_count);
        forking_frame = static_cast<const char *>(__builtin_frame_address(0));
        annotune_race_enter(name, &words, 0);
    }
    run(team);
    free(team.workers);
    if (!running) {
        annotune_race_leave();
        return;
    }
    // What the team did is ordered before the rest of its forker, and the forker's
    // variables, which the team may have shared, will be another thread's memory.
    running->inner_phase++;
    enter_place(*running);
    const char *here = static_cast<const char *>(__builtin_frame_address(0));
    const Fiber &fiber = running->stack->fiber;
    annotune_race_forget(here, static_cast<size_t>(fiber.low + fiber.size - here));
}

Loop make_loop(bool is_up, unsigned long long start, unsigned long long end,
               unsigned long long step, unsigned long long chunk) {
    unsigned long long distance = is_up ? end - start : start - end;
    unsigned long long stride = is_up ? step : 0 - step;
    unsigned long long trips = (distance + stride - 1) / stride;
    return {start, step, trips, chunk ? chunk : 1, 0};
}

Loop make_signed_loop(long start, long end, long step, long chunk) {
    bool is_up = step > 0;
    if (is_up ? start >= end : start <= end) return {0, 1, 0, 1, 0};
    return make_loop(is_up, static_cast<unsigned long long>(start),
                     static_cast<unsigned long long>(end), static_cast<unsigned long long>(step),
                     static_cast<unsigned long long>(chunk));
}

// The running thread's next chunk as [*first, *end).
template <class Number>
bool take_chunk(Number *first, Number *end) {
    if (!running) stop("a worksharing loop outside a parallel region");
    Loop &loop = running->loop;
    unsigned long long from = loop.next_chunk * loop.chunk;
    if (from >= loop.trips) return false;
    unsigned long long to = from + loop.chunk < loop.trips ? from + loop.chunk : loop.trips;
    loop.next_chunk += running->team->size;
    *first = static_cast<Number>(loop.start + from * loop.step);
    *end = static_cast<Number>(loop.start + to * loop.step);
    return true;
}

void start_loop(Loop loop) {
    if (!running) stop("a worksharing loop outside a parallel region");
    running->loop = loop;
    running->loop.next_chunk = running->number;
}

void wait_for_team() {
    if (!running) return;
    Worker &me = *running;
    annotune_cpu::switch_fiber(me.stack->fiber, me.team->scheduler);
}

// The named critical sections, as exclusions of race.h.
unsigned named_exclusion(void **name) {
    constexpr unsigned MAX_NAMES = 64;
    static void **names[MAX_NAMES];
    for (unsigned i = 0; i < MAX_NAMES; i++) {
        if (!names[i]) names[i] = name;
        if (names[i] == name) return ANNOTUNE_NAMED + i;
    }
    stop("more than 64 named critical sections");
}

}  // namespace

EXPORTED void annotune_omp_set_threads(int threads) {
    wanted_threads = threads > 0 ? static_cast<unsigned>(threads) : DEFAULT_THREADS;
}
EXPORTED void annotune_omp_set_order(int mode, unsigned seed) {
    annotune_cpu::order_mode = mode;
    annotune_cpu::order_seed = seed;
}

EXPORTED void GOMP_parallel(Region region, void *argument, unsigned threads, unsigned) {
    fork(region, argument, threads, nullptr);
}
EXPORTED void GOMP_barrier(void) { wait_for_team(); }
EXPORTED bool GOMP_single_start(void) {
    if (!running) return true;
    // The first to arrive at the n-th `single` runs it.
    if (running->singles++ < running->team->singles) return false;
    running->team->singles++;
    return true;
}
EXPORTED void GOMP_critical_start(void) { annotune_race_exclusion(ANNOTUNE_CRITICAL); }
EXPORTED void GOMP_critical_end(void) { annotune_race_exclusion(ANNOTUNE_PLAIN); }
EXPORTED void GOMP_critical_name_start(void **name) {
    annotune_race_exclusion(named_exclusion(name));
}
EXPORTED void GOMP_critical_name_end(void **) { annotune_race_exclusion(ANNOTUNE_PLAIN); }
EXPORTED void GOMP_atomic_start(void) { annotune_race_exclusion(ANNOTUNE_GOMP_ATOMIC); }
EXPORTED void GOMP_atomic_end(void) { annotune_race_exclusion(ANNOTUNE_PLAIN); }
EXPORTED void GOMP_loop_end(void) { wait_for_team(); }
EXPORTED void GOMP_loop_end_nowait(void) {}

// Every kind of schedule becomes chunks dealt round robin, which each of them may do.
#define ANNOTUNE_SCHEDULE(KIND)                                                             \
    EXPORTED bool GOMP_loop_##KIND##_start(long start, long end, long step, long chunk,     \
                                           long *first, long *last) {                       \
        start_loop(make_signed_loop(start, end, step, chunk));                              \
        return take_chunk(first, last);                                                     \
    }                                                                                       \
    EXPORTED bool GOMP_loop_##KIND##_next(long *first, long *last) {                        \
        return take_chunk(first, last);                                                     \
    }                                                                                       \
    EXPORTED bool GOMP_loop_ull_##KIND##_start(                                             \
        bool is_up, unsigned long long start, unsigned long long end,                       \
        unsigned long long step, unsigned long long chunk, unsigned long long *first,       \
        unsigned long long *last) {                                                         \
        bool is_empty = is_up ? start >= end : start <= end;                                \
        start_loop(is_empty ? Loop{0, 1, 0, 1, 0} : make_loop(is_up, start, end, step, chunk)); \
        return take_chunk(first, last);                                                     \
    }                                                                                       \
    EXPORTED bool GOMP_loop_ull_##KIND##_next(unsigned long long *first,                    \
                                              unsigned long long *last) {                   \
        return take_chunk(first, last);                                                     \
    }                                                                                       \
    EXPORTED void GOMP_parallel_loop_##KIND(Region region, void *argument, unsigned threads, \
                                            long start, long end, long step, long chunk,    \
                                            unsigned) {                                     \
        Loop loop = make_signed_loop(start, end, step, chunk);                              \
        fork(region, argument, threads, &loop);                                             \
    }
ANNOTUNE_SCHEDULE(static)
ANNOTUNE_SCHEDULE(dynamic)
ANNOTUNE_SCHEDULE(guided)
ANNOTUNE_SCHEDULE(nonmonotonic_dynamic)
ANNOTUNE_SCHEDULE(nonmonotonic_guided)

#define ANNOTUNE_RUNTIME_SCHEDULE(KIND)                                                     \
    EXPORTED bool GOMP_loop_##KIND##_start(long start, long end, long step, long *first,    \
                                           long *last) {                                    \
        start_loop(make_signed_loop(start, end, step, 1));                                  \
        return take_chunk(first, last);                                                     \
    }                                                                                       \
    EXPORTED bool GOMP_loop_##KIND##_next(long *first, long *last) {                        \
        return take_chunk(first, last);                                                     \
    }                                                                                       \
    EXPORTED void GOMP_parallel_loop_##KIND(Region region, void *argument, unsigned threads, \
                                            long start, long end, long step, unsigned) {    \
        Loop loop = make_signed_loop(start, end, step, 1);                                  \
        fork(region, argument, threads, &loop);                                             \
    }
ANNOTUNE_RUNTIME_SCHEDULE(runtime)
ANNOTUNE_RUNTIME_SCHEDULE(nonmonotonic_runtime)
ANNOTUNE_RUNTIME_SCHEDULE(maybe_nonmonotonic_runtime)

EXPORTED int omp_get_thread_num(void) {
    return running ? static_cast<int>(running->number) : 0;
}
EXPORTED int omp_get_num_threads(void) {
    return running ? static_cast<int>(running->team->size) : 1;
}
EXPORTED int omp_get_max_threads(void) {
    return static_cast<int>(team_size(0, running ? running->team->level + 1 : 0));
}
EXPORTED int omp_get_num_procs(void) { return static_cast<int>(wanted_threads); }
EXPORTED int omp_in_parallel(void) { return running != nullptr; }
EXPORTED int omp_get_level(void) { return running ? running->team->level + 1 : 0; }
EXPORTED void omp_set_num_threads(int) {}
EXPORTED void omp_set_dynamic(int) {}
EXPORTED void omp_set_nested(int) {}
EXPORTED void omp_set_max_active_levels(int) {}
EXPORTED double omp_get_wtime(void) {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
