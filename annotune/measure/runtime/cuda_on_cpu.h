/* Compile generated CUDA C++ with g++ and run it on one processor, to check it.
 *
 *     g++ -std=c++17 -x c++ -include cuda_on_cpu.h TRANSLATED.cu -shared -fPIC -o checked.so
 *
 * The text has gone through annotune/measure/cuda_text.py, which rewrites the launches.
 * Device memory lies between watched bytes and starts as NaN, copies and launches are
 * checked as the driver does, blocks and threads run in a chosen order, and a barrier that
 * not all threads reach aborts. docs/execution.md says what this finds and what not.
 */
#ifndef ANNOTUNE_CUDA_ON_CPU_H
#define ANNOTUNE_CUDA_ON_CPU_H

/* Copies in small chunks, made by the calling thread, so that every slot of the ring has turns;
 * and parts of calls wherever kernels can be launched so. */
#ifndef ANNOTUNE_CHUNK
#define ANNOTUNE_CHUNK 16384
#endif
#ifndef ANNOTUNE_SLOTS
#define ANNOTUNE_SLOTS 4
#endif
#ifndef ANNOTUNE_PART
#define ANNOTUNE_PART 1024
#endif
#ifndef ANNOTUNE_COPIERS
#define ANNOTUNE_COPIERS 1
#endif
/* How many devices there are. */
#ifndef ANNOTUNE_DEVICES
#define ANNOTUNE_DEVICES 1
#endif

#include "cuda_types.h"
#include "cuda_block.h"
#include "cuda_device.h"
#include "cuda_memory.h"
#include "cuda_stream.h"
#include "cuda_host.h"

#endif
