/* In which order the threads of a block, the blocks, or a team's threads are played. */
#ifndef ANNOTUNE_ORDER_H
#define ANNOTUNE_ORDER_H

#include "fiber.h"

namespace annotune_cpu {

enum { FORWARD = 0, REVERSE = 1, SHUFFLED = 2 };

ANNOTUNE_STATE int order_mode = FORWARD;
ANNOTUNE_STATE unsigned order_seed = 1;

/* A permutation of 0 .. count-1 that needs no memory: a step coprime to the count. */
struct Order {
    uint64_t count, start, step;

    /* `salt` makes the shuffles of different blocks differ. */
    ANNOTUNE_QUIET static Order choose(uint64_t count, unsigned salt) {
        if (order_mode == REVERSE) return {count, count - 1, count - 1};
        if (order_mode != SHUFFLED || count < 3) return {count, 0, 1};
        // One step of Knuth's MMIX generator; its high bits are the good ones.
        uint64_t random = (order_seed * 0x100000000u + salt + 1) * 6364136223846793005u +
                          1442695040888963407u;
        uint64_t step = (random >> 33) % (count - 1) + 1;
        while (divisor(step, count) != 1) step = step % (count - 1) + 1;
        return {count, (random >> 17) % count, step};
    }
    ANNOTUNE_QUIET static uint64_t divisor(uint64_t a, uint64_t b) {
        while (b) {
            uint64_t rest = a % b;
            a = b;
            b = rest;
        }
        return a;
    }
    ANNOTUNE_QUIET uint64_t at(uint64_t i) const { return (start + i * step) % count; }
};

}  // namespace annotune_cpu

#endif
