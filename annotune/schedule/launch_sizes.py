"""What every GPU allows of a launch, and the usual sizes of blocks and tiles."""

from __future__ import annotations

from annotune.transforms.map import WARP as WARP

# Sixteen doubles are one line of 128 bytes, which a half-warp then loads or stores at once.
LINE = 16
# A tile's surplus above this share of it is worth a shorter tile.
SURPLUS = 0.2
# Threads and blocks on a multiprocessor at most, of compute capability 8.0 or 9.0 (CUDA C++
# Programming Guide, Technical Specifications per Compute Capability).
SM_THREADS = 2048
SM_BLOCKS = 32
# Threads that an H200 runs at once, on 132 multiprocessors.
DEVICE_THREADS = 132 * SM_THREADS
# 32-bit registers of a multiprocessor, all of which one block may have (the same).
SM_REGISTERS = 64 * 1024
# Shared memory of a multiprocessor of compute capability 8.0, and what of it each block takes for
# the system (the same); 9.0 has more.
SM_SHARED_BYTES, RESERVED_BYTES = 164 * 1024, 1024
# A grid and a block have the axes x, y and z.
MAX_AXES = 3
# Threads of a block along its third axis at most (the same).
MAX_ALONG_Z = 64
# Blocks of a grid along its second and third axes at most (the same).
MAX_BLOCKS_YZ = 65535
# A loop that would fill a block alone is cut into tiles of one warp, the unit that loads
# coalesce over; the second axis adds warps up to 256 threads, the usual start for occupancy.
TILE_X = 32
TILE_Y = 8
# Without a second axis the tile is the whole block, or two warps of a loop that is shorter.
TILE_ALONE = 256
# More iterations than this on one thread axis are tiled when a block axis is free.
WIDE_AXIS = 64
# Threads that combine one sum, at most: enough to hide the latency of their loads, and few
# enough that the tree over them is short.
TEAM = 256
# Blocks that combine one reduction, at most. More would not run at once on any device so far
# (132 multiprocessors of an H200 with 8 blocks of 256 threads each), and one block combines
# what they leave.
COMBINING_BLOCKS = 1024
# The same of blocks whose threads have a tile of an output each, in registers: a loop over tiles in
# each block would take more of these. The last of them reads 256 KiB then.
PART_BLOCKS = 32 * COMBINING_BLOCKS
# Outer iterations that make as many blocks of their own.
ENOUGH_BLOCKS = 64
