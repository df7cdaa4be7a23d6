/* Seconds in OpenACC's kernels on an NVIDIA GPU, between two events of the driver around each launch.

   The OpenACC 2.6 profiling interface (§5) tells of launches; libgomp and nvc's run time both have
   it. A kernel on this host launches nothing, and is not counted. The driver is reached as the run
   time itself does: nothing of CUDA need be installed to build this. */

#include <acc_prof.h>
#include <dlfcn.h>
#include <stddef.h>
#include <time.h>

#define EXPORTED __attribute__((visibility("default")))
enum { L2_CACHE_SIZE = 38 };

static struct {
    int (*event_create)(void **, unsigned);
    int (*event_record)(void *, void *);
    int (*event_synchronize)(void *);
    int (*event_elapsed)(float *, void *, void *);
    int (*allocate)(unsigned long long *, size_t);
    int (*set)(unsigned long long, unsigned char, size_t);
    int (*synchronize)(void);
    int (*device)(int *);
    int (*attribute)(int *, int, int);
} driver;

static void *begin, *end;
static int launched, is_open, flush_wanted;
static double kernel_s, flush_s;

static int reach_driver(void)
{
    static int is_reached;
    void *library;
    if (is_reached) return 1;
    library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) return 0;
    *(void **)&driver.event_create = dlsym(library, "cuEventCreate");
    *(void **)&driver.event_record = dlsym(library, "cuEventRecord");
    *(void **)&driver.event_synchronize = dlsym(library, "cuEventSynchronize");
    *(void **)&driver.event_elapsed = dlsym(library, "cuEventElapsedTime");
    *(void **)&driver.allocate = dlsym(library, "cuMemAlloc_v2");
    *(void **)&driver.set = dlsym(library, "cuMemsetD8_v2");
    *(void **)&driver.synchronize = dlsym(library, "cuCtxSynchronize");
    *(void **)&driver.device = dlsym(library, "cuCtxGetDevice");
    *(void **)&driver.attribute = dlsym(library, "cuDeviceGetAttribute");
    is_reached = driver.event_create && driver.event_record && driver.event_synchronize
        && driver.event_elapsed && driver.allocate && driver.set && driver.synchronize
        && driver.device && driver.attribute && !driver.event_create(&begin, 0)
        && !driver.event_create(&end, 0);
    return is_reached;
}

/* Overwrites the L2, so that the next kernel finds nothing of its own there. */
static void flush(void)
{
    static unsigned long long scratch;
    static size_t bytes;
    struct timespec before, after;
    driver.synchronize();
    clock_gettime(CLOCK_MONOTONIC, &before);
    if (!scratch) {
        int device = 0, l2 = 0;
        driver.device(&device);
        driver.attribute(&l2, L2_CACHE_SIZE, device);
        bytes = 2 * (size_t)l2;
        if (driver.allocate(&scratch, bytes)) scratch = 0;
    }
    if (scratch) driver.set(scratch, 0, bytes);
    driver.synchronize();
    clock_gettime(CLOCK_MONOTONIC, &after);
    flush_s += (double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec);
}

static void before_launch(acc_prof_info *info, acc_event_info *event, acc_api_info *api)
{
    (void)info, (void)event, (void)api;
    if (!reach_driver()) return;
    if (flush_wanted) {
        /* Here, for the copies to the device have left their data in the L2. */
        flush_wanted = 0;
        flush();
    }
    driver.event_record(begin, 0);
}

static void after_launch(acc_prof_info *info, acc_event_info *event, acc_api_info *api)
{
    (void)info, (void)event, (void)api;
    is_open = reach_driver() && !driver.event_record(end, 0);
}

/* The run time has waited for the kernel by then. */
static void after_kernel(acc_prof_info *info, acc_event_info *event, acc_api_info *api)
{
    float ms = 0;
    (void)info, (void)event, (void)api;
    if (!is_open) return;
    is_open = 0;
    if (driver.event_synchronize(end) || driver.event_elapsed(&ms, begin, end)) return;
    kernel_s += 1e-3 * ms;
    launched++;
}

__attribute__((constructor)) static void begin_to_listen(void)
{
    acc_prof_register(acc_ev_enqueue_launch_start, before_launch, acc_reg);
    acc_prof_register(acc_ev_enqueue_launch_end, after_launch, acc_reg);
    acc_prof_register(acc_ev_compute_construct_end, after_kernel, acc_reg);
}

/* Seconds in kernels since the last call of this function. */
EXPORTED double annotune_kernel_seconds(void)
{
    double seconds = kernel_s;
    kernel_s = 0;
    return seconds;
}

EXPORTED int annotune_gpu_launches(void) { return launched; }

/* Has the L2 overwritten before the first kernel of the next call. */
EXPORTED void annotune_flush_l2(void) { flush_wanted = 1; }

/* Seconds that this took since the last call of this function: no part of a call's time. */
EXPORTED double annotune_flush_seconds(void)
{
    double seconds = flush_s;
    flush_s = 0;
    return seconds;
}
