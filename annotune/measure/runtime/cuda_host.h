/* The part of the CUDA runtime API that emitted host code may call, and the launch. */
#ifndef ANNOTUNE_CUDA_HOST_H
#define ANNOTUNE_CUDA_HOST_H

#include "cuda_stream.h"

namespace annotune_cpu {

/* What cuda_text.py found out about a kernel. */
enum KernelNeeds { PLAIN_LOOPS = 0, FIBERS = 1 };

constexpr unsigned MAX_KERNELS = 256;

struct OptIn {
    const void *kernel;
    size_t dynamic_shared;
};

ANNOTUNE_STATE OptIn opt_ins[MAX_KERNELS];
ANNOTUNE_STATE unsigned opt_in_count;

ANNOTUNE_QUIET ANNOTUNE_ONCE size_t allowed_dynamic_shared(const void *kernel) {
    for (unsigned i = 0; i < opt_in_count; i++)
        if (opt_ins[i].kernel == kernel) return opt_ins[i].dynamic_shared;
    return MAX_STATIC_SHARED;
}

ANNOTUNE_QUIET ANNOTUNE_ONCE void say_place(const AnnotunePlace *place, char *text, size_t size) {
    uint3 b = unflatten(place->member[0], block.grid);
    uint3 t = unflatten(place->member[1] * WARP + place->member[2], block.size);
    snprintf(text, size, "thread (%u,%u,%u) of block (%u,%u,%u) after barrier %u", t.x, t.y, t.z,
             b.x, b.y, b.z, place->phase[1]);
}

ANNOTUNE_QUIET ANNOTUNE_ONCE void say_address(const void *address, char *text, size_t size) {
    const unsigned char *byte = static_cast<const unsigned char *>(address);
    if (const Allocation *a = allocation_of(address)) {
        snprintf(text, size, "byte %ld of device allocation %u (%zu bytes)",
                 static_cast<long>(static_cast<const char *>(address) - payload(*a)), a->number,
                 a->size);
        return;
    }
    for (unsigned i = 0; i < block.shared_count; i++) {
        const SharedVariable &v = block.shared[i];
        if (byte >= v.address && byte < static_cast<unsigned char *>(v.address) + v.size)
            snprintf(text, size, "byte %ld of shared variable %u (%zu bytes)",
                     static_cast<long>(byte - static_cast<unsigned char *>(v.address)), i + 1, v.size);
    }
    if (byte >= dynamic_shared && byte < dynamic_shared + sizeof dynamic_shared)
        snprintf(text, size, "byte %ld of the dynamic shared memory",
                 static_cast<long>(byte - dynamic_shared));
}

/* Check the configuration as the driver does; false: not run. */
ANNOTUNE_QUIET ANNOTUNE_ONCE bool is_launch_right(const char *name, const void *kernel, dim3 grid,
                                           dim3 size, size_t dynamic) {
    constexpr unsigned MAX_GRID_X = 0x7fffffff, MAX_GRID_YZ = 65535, MAX_BLOCK_Z = 64;
    host.launches++;
    if (is_planned_failure(LAUNCHING)) {
        fail(cudaErrorLaunchFailure, "%s: the launch failed as planned", name);
        return false;
    }
    bool is_size_right = size.x && size.y && size.z && size.x <= MAX_BLOCK_THREADS &&
                         size.y <= MAX_BLOCK_THREADS && size.z <= MAX_BLOCK_Z &&
                         size.x * size.y * size.z <= MAX_BLOCK_THREADS;
    bool is_grid_right = grid.x && grid.y && grid.z && grid.x <= MAX_GRID_X &&
                         grid.y <= MAX_GRID_YZ && grid.z <= MAX_GRID_YZ;
    if (!is_size_right || !is_grid_right) {
        fail(cudaErrorInvalidConfiguration, "%s: cannot launch a (%u,%u,%u) grid of (%u,%u,%u) "
             "blocks", name, grid.x, grid.y, grid.z, size.x, size.y, size.z);
        return false;
    }
    if (dynamic > allowed_dynamic_shared(kernel)) {
        fail(cudaErrorInvalidValue, "%s: %zu bytes of dynamic shared memory, %zu are allowed",
             name, dynamic, allowed_dynamic_shared(kernel));
        return false;
    }
    return true;
}

ANNOTUNE_QUIET ANNOTUNE_ONCE void begin_launch(const char *name, dim3 grid, dim3 size, size_t dynamic) {
    block.kernel = name;
    block.launch++;
    block.grid = grid;
    block.size = size;
    block.dynamic_shared = dynamic;
    host.used |= 1u << device;
    reach_others(false);
#if defined(__SANITIZE_THREAD__)
    static const AnnotuneWords words = {say_place, say_address};
    block.place.phase[0] = block.launch;
    annotune_race_enter(name, &words, 1);
#endif
}

ANNOTUNE_QUIET ANNOTUNE_ONCE void end_launch() {
    reach_others(true);
#if defined(__SANITIZE_THREAD__)
    annotune_race_leave();
#endif
#if !defined(__SANITIZE_ADDRESS__)
    check_all_zones(block.kernel);
#endif
    block.kernel = nullptr;
}

template <class T>
ANNOTUNE_QUIET inline bool is_of_host(T *parameter) { return is_pinned(parameter, 1); }
template <class T>
ANNOTUNE_QUIET inline bool is_of_host(T) { return false; }

template <auto KERNEL, int NEEDS, class Signature>
struct Launch;

/* kernel<<<...>>> is rewritten to launch<kernel, needs>("kernel", ...): a value whose call
 * takes the kernel's own parameters, so that arguments convert as in CUDA. */
template <auto KERNEL, int NEEDS, class... Parameters>
struct Launch<KERNEL, NEEDS, void (*)(Parameters...)> {
    const char *name;
    dim3 grid, size;
    size_t dynamic;
    annotune_stream *stream;

    ANNOTUNE_QUIET void operator()(Parameters... parameters) const {
        const void *kernel = reinterpret_cast<const void *>(KERNEL);
        const Turn turn;
        if (!is_launch_right(name, kernel, grid, size, dynamic)) return;
        if (!is_here(*stream, name)) return;
        // What the host sees by itself a kernel writes as late as it may.
        if (!stream->first && !(is_of_host(parameters) || ...)) return run(parameters...);
        defer(*stream, [=, self = *this]() ANNOTUNE_QUIET { self.run(parameters...); });
    }

    ANNOTUNE_QUIET void run(Parameters... parameters) const {
        begin_launch(name, grid, size, dynamic);
        auto body = [&]() ANNOTUNE_QUIET { KERNEL(parameters...); };
        block.body = [](void *closure) ANNOTUNE_QUIET {
            (*static_cast<decltype(body) *>(closure))();
        };
        block.arguments = &body;
        uint64_t blocks = static_cast<uint64_t>(grid.x) * grid.y * grid.z;
        Order order = Order::choose(blocks, block.launch);
        for (uint64_t i = 0; i < blocks; i++) {
            begin_block(unflatten(order.at(i), grid));
            if constexpr (NEEDS == FIBERS) run_fibers();
            else run_loops(body);
            end_block();
        }
        end_launch();
    }

    /* Without a barrier a thread is an iteration. */
    template <class Body>
    ANNOTUNE_QUIET void run_loops(const Body &body) const {
        const void *top = __builtin_frame_address(0);
        unsigned threads = size.x * size.y * size.z, linear = 0;
        if (order_mode == FORWARD) {
            for (unsigned z = 0; z < size.z; z++)
                for (unsigned y = 0; y < size.y; y++)
                    for (unsigned x = 0; x < size.x; x++) {
                        block.thread_index = {x, y, z};
                        enter_place(linear++, 0, nullptr, top);
                        body();
                    }
            return;
        }
        Order order = Order::choose(threads, block.index.x);
        for (unsigned i = 0; i < threads; i++) {
            linear = static_cast<unsigned>(order.at(i));
            block.thread_index = unflatten(linear, size);
            enter_place(linear, 0, nullptr, top);
            body();
        }
    }
};

template <auto KERNEL, int NEEDS>
ANNOTUNE_QUIET Launch<KERNEL, NEEDS, decltype(KERNEL)> launch(const char *name, dim3 grid,
                                                              dim3 size, size_t dynamic = 0,
                                                              cudaStream_t stream = nullptr) {
    return {name, grid, size, dynamic, &stream_of(stream)};
}

}  // namespace annotune_cpu

ANNOTUNE_ONCE cudaError_t cudaMalloc(void **address, size_t size) {
    const annotune_cpu::Turn turn;
    using namespace annotune_cpu;
    host.mallocs++;
    *address = nullptr;
    if (is_planned_failure(ALLOCATING)) return fail(cudaErrorMemoryAllocation, "cudaMalloc failed as planned");
    if (size == 0) return cudaSuccess;
    *address = allocate(size);
    if (!*address) return fail(cudaErrorMemoryAllocation, "no memory for %zu bytes", size);
    return cudaSuccess;
}
template <class T>
cudaError_t cudaMalloc(T **address, size_t size) {
    const annotune_cpu::Turn turn;
    return cudaMalloc(reinterpret_cast<void **>(address), size);
}
ANNOTUNE_ONCE cudaError_t cudaFree(void *address) {
    const annotune_cpu::Turn turn;
    using namespace annotune_cpu;
    if (!address) return cudaSuccess;
    finish_all();
    host.frees++;
    if (release(address)) return cudaSuccess;
    return fail(cudaErrorInvalidValue, "cudaFree of what cudaMalloc did not return, or twice");
}
ANNOTUNE_ONCE cudaError_t cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind kind) {
    const annotune_cpu::Turn turn;
    using namespace annotune_cpu;
    cudaError_t error = copy_later(to, from, size, kind, stream_of(nullptr));
    finish(stream_of(nullptr));
    return error;
}
ANNOTUNE_ONCE cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind kind,
                                   cudaStream_t stream = nullptr) {
    const annotune_cpu::Turn turn;
    using namespace annotune_cpu;
    return copy_later(to, from, size, kind, stream_of(stream));
}
ANNOTUNE_ONCE cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from,
                                     size_t from_pitch, size_t width, size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
    const annotune_cpu::Turn turn;
    for (size_t row = 0; row < height; row++) {
        cudaError_t error = cudaMemcpyAsync(static_cast<char *>(to) + row * to_pitch,
                                            static_cast<const char *>(from) + row * from_pitch,
                                            width, kind, stream);
        if (error) return error;
    }
    return cudaSuccess;
}
ANNOTUNE_ONCE cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                                size_t width, size_t height, cudaMemcpyKind kind) {
    const annotune_cpu::Turn turn;
    cudaError_t error = cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind);
    annotune_cpu::finish(annotune_cpu::stream_of(nullptr));
    return error;
}
ANNOTUNE_ONCE cudaError_t cudaMemsetAsync(void *to, int value, size_t size, cudaStream_t stream = nullptr) {
    const annotune_cpu::Turn turn;
    using namespace annotune_cpu;
    finish(stream_of(stream));
    host.memcpys++;
    if (is_planned_failure(COPYING)) return fail(cudaErrorUnknown, "cudaMemset failed as planned");
    if (size && !is_side_right(to, size, true, "destination")) return last_error;
    memset(to, value, size);
    return cudaSuccess;
}
ANNOTUNE_ONCE cudaError_t cudaMemset(void *to, int value, size_t size) {
    const annotune_cpu::Turn turn;
    return cudaMemsetAsync(to, value, size);
}
template <class T>
cudaError_t cudaMemcpyToSymbol(T &symbol, const void *from, size_t size, size_t offset = 0,
                               cudaMemcpyKind = cudaMemcpyHostToDevice) {
    const annotune_cpu::Turn turn;
    using namespace annotune_cpu;
    finish(stream_of(nullptr));
    host.memcpys++;
    if (is_planned_failure(COPYING)) return fail(cudaErrorUnknown, "a copy failed as planned");
    if (offset > sizeof symbol || size > sizeof symbol - offset)
        return fail(cudaErrorInvalidValue, "%zu bytes exceed a symbol of %zu", size, sizeof symbol);
    memcpy(reinterpret_cast<char *>(&symbol) + offset, from, size);
    return cudaSuccess;
}
template <class T>
cudaError_t cudaGetSymbolAddress(void **address, T &symbol) {
    const annotune_cpu::Turn turn;
    using namespace annotune_cpu;
    *address = nullptr;
    if (is_planned_failure(FINDING)) return fail(cudaErrorUnknown, "cudaGetSymbolAddress failed as planned");
    *address = &symbol;
    return cudaSuccess;
}
enum { cudaHostAllocDefault = 0, cudaHostAllocPortable = 1 };
ANNOTUNE_ONCE cudaError_t cudaHostAlloc(void **address, size_t size, unsigned) {
    const annotune_cpu::Turn turn;
    using namespace annotune_cpu;
    host.pins++;
    *address = nullptr;
    if (is_planned_failure(PINNING)) return fail(cudaErrorMemoryAllocation, "no pinned memory, as planned");
    // On pages of its own: kernels may use it.
    *address = aligned_alloc(PAGE, (size + PAGE - 1) / PAGE * PAGE);
    if (!*address) return fail(cudaErrorMemoryAllocation, "no host memory");
    fill(*address, POISON, size);
    pin(*address, size, true);
    return cudaSuccess;
}
ANNOTUNE_ONCE cudaError_t cudaMallocHost(void **address, size_t size) {
    const annotune_cpu::Turn turn;
    return cudaHostAlloc(address, size, cudaHostAllocDefault);
}
template <class T>
cudaError_t cudaMallocHost(T **address, size_t size) {
    const annotune_cpu::Turn turn;
    return cudaMallocHost(reinterpret_cast<void **>(address), size);
}
ANNOTUNE_ONCE cudaError_t cudaFreeHost(void *address) {
    const annotune_cpu::Turn turn;
    using namespace annotune_cpu;
    if (!address) return cudaSuccess;
    finish_all();
    if (unpin(address, true)) return cudaSuccess;
    return fail(cudaErrorInvalidValue, "cudaFreeHost of what cudaHostAlloc did not return, or twice");
}
ANNOTUNE_ONCE cudaError_t cudaHostRegister(void *address, size_t size, unsigned) {
    const annotune_cpu::Turn turn;
    annotune_cpu::pin(address, size, false);
    return cudaSuccess;
}
ANNOTUNE_ONCE cudaError_t cudaHostUnregister(void *address) {
    const annotune_cpu::Turn turn;
    using namespace annotune_cpu;
    finish_all();
    if (unpin(address, false)) return cudaSuccess;
    return fail(cudaErrorInvalidValue, "cudaHostUnregister of what is not registered");
}
enum cudaMemoryType {
    cudaMemoryTypeUnregistered = 0,
    cudaMemoryTypeHost = 1,
    cudaMemoryTypeDevice = 2,
    cudaMemoryTypeManaged = 3
};
struct cudaPointerAttributes {
    cudaMemoryType type;
    int device;
    void *devicePointer, *hostPointer;
};
ANNOTUNE_ONCE cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *found, const void *address) {
    const annotune_cpu::Turn turn;
    using namespace annotune_cpu;
    const Allocation *a = allocation_of(address);
    void *own = const_cast<void *>(address);
    *found = {cudaMemoryTypeUnregistered, 0, nullptr, own};
    if (a)
        *found = {a->is_managed ? cudaMemoryTypeManaged : cudaMemoryTypeDevice, a->device, own, own};
    else if (is_pinned(address, 1)) *found = {cudaMemoryTypeHost, 0, own, own};
    return cudaSuccess;
}
ANNOTUNE_ONCE cudaError_t cudaGetLastError() {
    const annotune_cpu::Turn turn;
    cudaError_t error = annotune_cpu::last_error;
    annotune_cpu::last_error = cudaSuccess;
    return error;
}
ANNOTUNE_ONCE cudaError_t cudaPeekAtLastError() { return annotune_cpu::last_error; }
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel *kernel, int attribute, int value) {
    const annotune_cpu::Turn turn;
    using namespace annotune_cpu;
    if (is_planned_failure(FINDING)) return fail(cudaErrorUnknown, "an attribute is not set, as planned");
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    if (value < 0 || static_cast<size_t>(value) > MAX_SHARED)
        return fail(cudaErrorInvalidValue, "%d bytes of dynamic shared memory, at most %zu", value,
                    MAX_SHARED);
    const void *address = reinterpret_cast<const void *>(kernel);
    for (unsigned i = 0; i < opt_in_count; i++)
        if (opt_ins[i].kernel == address) {
            opt_ins[i].dynamic_shared = static_cast<size_t>(value);
            return cudaSuccess;
        }
    if (opt_in_count == MAX_KERNELS) return fail(cudaErrorUnknown, "more than 256 kernels");
    opt_ins[opt_in_count++] = {address, static_cast<size_t>(value)};
    return cudaSuccess;
}

ANNOTUNE_ONCE cudaError_t cudaSetDevice(int device) {
    const annotune_cpu::Turn turn;
    using namespace annotune_cpu;
    if (device < 0 || device >= host.devices || device >= MAX_DEVICES)
        return fail(cudaErrorInvalidDevice, "device %d", device);
    annotune_cpu::device = device;
    return cudaSuccess;
}
ANNOTUNE_ONCE cudaError_t cudaGetDevice(int *device) {
    const annotune_cpu::Turn turn;
    *device = annotune_cpu::device;
    return cudaSuccess;
}
ANNOTUNE_ONCE cudaError_t cudaGetDeviceCount(int *count) {
    const annotune_cpu::Turn turn;
    *count = annotune_cpu::host.devices;
    return cudaSuccess;
}
enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};
/* Few multiprocessors, so that persistent blocks loop over their tiles here too. */
ANNOTUNE_ONCE cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int) {
    const annotune_cpu::Turn turn;
    constexpr int MULTIPROCESSORS = 3;
    switch (attribute) {
        case cudaDevAttrMaxThreadsPerBlock: *value = annotune_cpu::MAX_BLOCK_THREADS; break;
        case cudaDevAttrMultiProcessorCount: *value = MULTIPROCESSORS; break;
        case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = annotune_cpu::MAX_SHARED; break;
    }
    return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Kernel *, int, size_t) {
    const annotune_cpu::Turn turn;
    *blocks = 1;
    return cudaSuccess;
}

#endif
