/* CUDA's words for g++: qualifiers, vector types, dim3, error codes. */
#ifndef ANNOTUNE_CUDA_TYPES_H
#define ANNOTUNE_CUDA_TYPES_H

/* The C headers as they are; libstdc++'s wrappers double the time of a compilation. */
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS
/* A later <math.h> or <stdlib.h> must not bring the wrappers after all. */
#define _GLIBCXX_MATH_H 1
#define _GLIBCXX_STDLIB_H 1
#include <stddef.h>
#include <stdint.h>

#define ANNOTUNE_CPU 1

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
/* Away from what the program keeps, which a write beyond their end would change. */
#define __shared__ static __attribute__((section("annotune_shared")))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __CUDACC__ 1

struct uint3 {
    unsigned x, y, z;
};

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 size) : x(size.x), y(size.y), z(size.z) {}
};

#define ANNOTUNE_VECTOR(T, NAME)                                                       \
    struct NAME##1 { T x; };                                                           \
    struct alignas(2 * sizeof(T)) NAME##2 { T x, y; };                                 \
    struct NAME##3 { T x, y, z; };                                                     \
    struct alignas(4 * sizeof(T) < 16 ? 4 * sizeof(T) : 16) NAME##4 { T x, y, z, w; }; \
    inline NAME##1 make_##NAME##1(T x) { return {x}; }                                 \
    inline NAME##2 make_##NAME##2(T x, T y) { return {x, y}; }                         \
    inline NAME##3 make_##NAME##3(T x, T y, T z) { return {x, y, z}; }                 \
    inline NAME##4 make_##NAME##4(T x, T y, T z, T w) { return {x, y, z, w}; }
ANNOTUNE_VECTOR(float, float)
ANNOTUNE_VECTOR(double, double)
ANNOTUNE_VECTOR(int, int)
ANNOTUNE_VECTOR(long long, longlong)
ANNOTUNE_VECTOR(unsigned long long, ulonglong)
ANNOTUNE_VECTOR(short, short)
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

/* name, number, what CUDA says */
#define ANNOTUNE_CUDA_ERRORS(ROW)                                                      \
    ROW(cudaSuccess, 0, "no error")                                                    \
    ROW(cudaErrorInvalidValue, 1, "invalid argument")                                  \
    ROW(cudaErrorMemoryAllocation, 2, "out of memory")                                 \
    ROW(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")            \
    ROW(cudaErrorInvalidSymbol, 13, "invalid device symbol")                           \
    ROW(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                   \
    ROW(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")      \
    ROW(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                  \
    ROW(cudaErrorInvalidDevice, 101, "invalid device ordinal")                         \
    ROW(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                \
    ROW(cudaErrorNotReady, 600, "device not ready")                                    \
    ROW(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")      \
    ROW(cudaErrorLaunchFailure, 719, "unspecified launch failure")                     \
    ROW(cudaErrorUnknown, 999, "unknown error")
#define ANNOTUNE_ROW(NAME, NUMBER, TEXT) NAME = NUMBER,
enum cudaError { ANNOTUNE_CUDA_ERRORS(ANNOTUNE_ROW) };
#undef ANNOTUNE_ROW
typedef cudaError cudaError_t;

inline const char *cudaGetErrorName(cudaError_t error) {
    switch (error) {
#define ANNOTUNE_ROW(NAME, NUMBER, TEXT) case NAME: return #NAME;
        ANNOTUNE_CUDA_ERRORS(ANNOTUNE_ROW)
#undef ANNOTUNE_ROW
    }
    return "unrecognized error code";
}

inline const char *cudaGetErrorString(cudaError_t error) {
    switch (error) {
#define ANNOTUNE_ROW(NAME, NUMBER, TEXT) case NAME: return TEXT;
        ANNOTUNE_CUDA_ERRORS(ANNOTUNE_ROW)
#undef ANNOTUNE_ROW
    }
    return "unrecognized error code";
}

/* CUDA overloads these; C's int abs(int) would cut a double. */
#define ANNOTUNE_ORDERED(T)                                  \
    inline T max(T a, T b) { return a < b ? b : a; }         \
    inline T min(T a, T b) { return b < a ? b : a; }
ANNOTUNE_ORDERED(int)
ANNOTUNE_ORDERED(unsigned)
ANNOTUNE_ORDERED(long)
ANNOTUNE_ORDERED(unsigned long)
ANNOTUNE_ORDERED(long long)
ANNOTUNE_ORDERED(unsigned long long)
inline float max(float a, float b) { return fmaxf(a, b); }
inline float min(float a, float b) { return fminf(a, b); }
inline double max(double a, double b) { return fmax(a, b); }
inline double min(double a, double b) { return fmin(a, b); }
inline double abs(double x) { return fabs(x); }
inline float abs(float x) { return fabsf(x); }
inline long abs(long x) { return labs(x); }
inline long long abs(long long x) { return llabs(x); }
#define ANNOTUNE_FLOAT_OVERLOAD(NAME) inline float NAME(float x) { return NAME##f(x); }
ANNOTUNE_FLOAT_OVERLOAD(fabs)
ANNOTUNE_FLOAT_OVERLOAD(sqrt)
ANNOTUNE_FLOAT_OVERLOAD(exp)
ANNOTUNE_FLOAT_OVERLOAD(log)
ANNOTUNE_FLOAT_OVERLOAD(sin)
ANNOTUNE_FLOAT_OVERLOAD(cos)
ANNOTUNE_FLOAT_OVERLOAD(tanh)
ANNOTUNE_FLOAT_OVERLOAD(floor)
ANNOTUNE_FLOAT_OVERLOAD(ceil)
inline float fma(float a, float b, float c) { return fmaf(a, b, c); }
inline float pow(float a, float b) { return powf(a, b); }
inline float fmax(float a, float b) { return fmaxf(a, b); }
inline float fmin(float a, float b) { return fminf(a, b); }
inline double rsqrt(double x) { return 1.0 / sqrt(x); }
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fmul_rn(float a, float b) { return a * b; }

#endif
