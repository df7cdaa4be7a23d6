"""Clocks that one thread waits for what it needs next, with the device under load.

Unloaded, an H100 answers from L1 after some 40 clocks, from L2 after 260 and from device memory
after 480 (W. Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture via
Microbenchmarking", IPDPS 2024, arXiv:2402.13499). The figures here are fitted to kernels that were
measured on an H200 (docs/model.md), and taken for other devices too.
"""

from __future__ import annotations

# A round trip to device memory and to L2, queues included.
MEMORY_CLOCKS = 900
L2_CLOCKS = 300
# One term of a sum that a thread loads and adds to what it has.
TERM_CLOCKS = 95
# One step of a tree over a block, or one barrier: shared memory there and back.
BARRIER_CLOCKS = 60
# From the end of one copy's use to the beginning of the next: loads from L2, stores, barriers.
STAGE_CLOCKS = 900
