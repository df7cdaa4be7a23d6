/* Stacks that hand the processor to each other: the threads of a block, played in turn.
 *
 * On x86-64 a switch is a dozen instructions; elsewhere, or with ANNOTUNE_UCONTEXT, it is
 * ucontext's swapcontext, which enters the kernel to save the signal mask.
 */
#ifndef ANNOTUNE_FIBER_H
#define ANNOTUNE_FIBER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#if !defined(__x86_64__) && !defined(ANNOTUNE_UCONTEXT)
#define ANNOTUNE_UCONTEXT
#endif
#if defined(ANNOTUNE_UCONTEXT)
#include <ucontext.h>
#endif
#if defined(__SANITIZE_ADDRESS__)
extern "C" void __sanitizer_start_switch_fiber(void **fake, const void *low, size_t size);
extern "C" void __sanitizer_finish_switch_fiber(void *fake, const void **low, size_t *size);
extern "C" void __asan_unpoison_memory_region(void const volatile *low, size_t size);
extern "C" void __asan_poison_memory_region(void const volatile *low, size_t size);
#endif

/* Code of ours inside an instrumented file: it plays the machine, not the program. */
#define ANNOTUNE_QUIET __attribute__((no_sanitize("thread", "address", "undefined")))
#define ANNOTUNE_STATE inline __attribute__((visibility("hidden")))
/* A function that one object can have for all texts: cuda_on_cpu.cpp has it, and a text that is
 * compiled with ANNOTUNE_APART calls it there. Without that macro each text has its own. g++ drops
 * the body of GNU's extern inline in the end, but optimises it before unless told otherwise. */
#if defined(ANNOTUNE_HERE)
#define ANNOTUNE_ONCE
#elif defined(ANNOTUNE_APART)
#define ANNOTUNE_ONCE extern inline __attribute__((gnu_inline, optimize("O0")))
#else
#define ANNOTUNE_ONCE inline
#endif

namespace annotune_cpu {

struct Fiber {
    void *saved_stack = nullptr;  // where its registers lie while it waits
    char *low = nullptr;
    size_t size = 0;
    void *asan_frames = nullptr;
#if defined(ANNOTUNE_UCONTEXT)
    ucontext_t context;
#endif
};

constexpr size_t GUARD_BYTES = 4096;
// Equal offsets of a thousand stacks would all meet in one cache set: shift them.
constexpr size_t STACK_SHIFT_BYTES = 192;
constexpr unsigned STACK_SHIFTS = 64;

ANNOTUNE_STATE void (*fiber_main)() = nullptr;  // what the next fresh fiber runs
ANNOTUNE_STATE Fiber *left_fiber = nullptr;     // who handed over last

#if !defined(ANNOTUNE_UCONTEXT)
/* Save the registers a call must keep, change the stack, take that stack's registers. */
extern "C" void annotune_switch_stack(void **save_here, void *take_from)
    __attribute__((visibility("hidden")));
__asm__(R"(
    .pushsection .text
    .type annotune_switch_stack, @function
annotune_switch_stack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size annotune_switch_stack, . - annotune_switch_stack
    .popsection
)");
#endif

ANNOTUNE_QUIET ANNOTUNE_ONCE void after_switch() {
#if defined(__SANITIZE_ADDRESS__)
    const void *low;
    size_t size;
    __sanitizer_finish_switch_fiber(nullptr, &low, &size);
    if (!left_fiber->low) {  // the thread's own stack, whose place only ASan knows
        left_fiber->low = static_cast<char *>(const_cast<void *>(low));
        left_fiber->size = size;
    }
#endif
}

ANNOTUNE_QUIET ANNOTUNE_ONCE void fiber_entry() {
    after_switch();
    fiber_main();
    abort();  // fiber_main ends by switching away
}

/* Go on with `to`; comes back when somebody switches to `from`. */
ANNOTUNE_QUIET ANNOTUNE_ONCE void switch_fiber(Fiber &from, Fiber &to, bool is_from_finished = false) {
    left_fiber = &from;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(is_from_finished ? nullptr : &from.asan_frames, to.low,
                                   to.size);
#else
    (void)is_from_finished;
#endif
#if defined(ANNOTUNE_UCONTEXT)
    swapcontext(&from.context, &to.context);
#else
    annotune_switch_stack(&from.saved_stack, to.saved_stack);
#endif
#if defined(__SANITIZE_ADDRESS__)
    const void *low;
    size_t size;
    __sanitizer_finish_switch_fiber(from.asan_frames, &low, &size);
#endif
}

/* Give `fiber` a stack above a page that faults, unless it has one. */
ANNOTUNE_QUIET ANNOTUNE_ONCE void allocate_stack(Fiber &fiber, size_t size) {
    if (fiber.low) return;
    void *memory = mmap(nullptr, size + GUARD_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, GUARD_BYTES, PROT_NONE)) {
        fprintf(stderr, "annotune: no memory for the stack of a thread\n");
        abort();
    }
    fiber.low = static_cast<char *>(memory) + GUARD_BYTES;
    fiber.size = size;
}

/* Let the next switch to `fiber` run fiber_main; `number` shifts its stack. */
ANNOTUNE_QUIET ANNOTUNE_ONCE void prepare_fiber(Fiber &fiber, unsigned number) {
#if defined(__SANITIZE_ADDRESS__)
    __asan_unpoison_memory_region(fiber.low, fiber.size);
#endif
    size_t usable = fiber.size - number % STACK_SHIFTS * STACK_SHIFT_BYTES;
#if defined(ANNOTUNE_UCONTEXT)
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.low;
    fiber.context.uc_stack.ss_size = usable;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, fiber_entry, 0);
#else
    constexpr int SAVED_REGISTERS = 6;
    void **top = reinterpret_cast<void **>(fiber.low + usable);
    *--top = nullptr;  // keeps the stack aligned as after a call
    *--top = reinterpret_cast<void *>(&fiber_entry);
    for (int i = 0; i < SAVED_REGISTERS; i++) *--top = nullptr;
    fiber.saved_stack = top;
#endif
}

}  // namespace annotune_cpu
#endif
