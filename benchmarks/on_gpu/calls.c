/* Times calls of one function from a program, with arrays from malloc or pinned by the program.
 *
 * Which function is said by -DTRIAD, -DGEMM, -DTRIPLES, -DLONG_TRIPLES or -DGRADIENT; -DBUS measures copies
 * alone. Prints the milliseconds of the first call, of the median and of the least of the later ones, and a number made of all
 * bits of the outputs after one call: equal ones were equally computed.
 */
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CALLS = 12, MOST = 8 };

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * now.tv_sec + 1e-6 * now.tv_nsec;
}

static void *memory(size_t bytes, int is_pinned)
{
    void *found = NULL;
    if (is_pinned)
        cudaMallocHost(&found, bytes);
    else
        found = malloc(bytes);
    if (found == NULL) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        exit(1);
    }
    return found;
}

static int by_value(const void *one, const void *other)
{
    const double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

#ifdef BUS
static double gb_s(int is_up, int is_down)
{
    const size_t bytes = (size_t)256 << 20;
    static void *host[2], *device[2];
    static cudaStream_t streams[2];
    for (int k = 0; k < 2 && host[k] == NULL; k++) {
        host[k] = memory(bytes, 1);
        cudaMalloc(&device[k], bytes);
        cudaStreamCreateWithFlags(&streams[k], cudaStreamNonBlocking);
    }
    double least_ms = 1e9;
    for (int call = 0; call < CALLS; call++) {
        const double begun_ms = now_ms();
        if (is_up)
            cudaMemcpyAsync(device[0], host[0], bytes, cudaMemcpyHostToDevice, streams[0]);
        if (is_down)
            cudaMemcpyAsync(host[1], device[1], bytes, cudaMemcpyDeviceToHost, streams[1]);
        cudaDeviceSynchronize();
        const double took_ms = now_ms() - begun_ms;
        least_ms = took_ms < least_ms ? took_ms : least_ms;
    }
    return 1e-6 * bytes / least_ms;
}

int main(void)
{
    printf("bus: %.1f GB/s to the device, %.1f back, %.1f each way at once\n", gb_s(1, 0), gb_s(0, 1),
           gb_s(1, 1));
    return 0;
}
#else
#if defined(TRIAD)
enum { N = 100000000 };
void triad(int n, double *a, const double *b, const double *c);
static const size_t lengths[MOST] = {N, N, N};
static const int outputs = 1;
static void call(double **p) { triad(N, p[0], p[1], p[2]); }
#elif defined(GEMM)
enum { N = 4096 };
void gemm(int m, int n, int k, double alpha, double beta, double *c, const double *a, const double *b);
static const size_t lengths[MOST] = {(size_t)N * N, (size_t)N * N, (size_t)N * N};
static const int outputs = 1;
static void call(double **p) { gemm(N, N, N, 1.5, 0.5, p[0], p[1], p[2]); }
#elif defined(TRIPLES) || defined(LONG_TRIPLES)
#ifdef TRIPLES
enum { LAST = 16 };
#else
enum { LAST = 64 };
#endif
enum { N = 16, N4 = N * N * N * N };
void sd_t_d1_1(int h3u, int h2u, int h1u, int p6u, int p5u, int p4u, int h7u, double *t3,
               const double *t2, const double *v2);
static const size_t lengths[MOST] = {N4 * N * LAST, N * N * N * LAST, N4};
static const int outputs = 1;
static void call(double **p) { sd_t_d1_1(N, N, N, N, N, LAST, N, p[0], p[1], p[2]); }
#elif defined(GRADIENT)
enum { N = 10, ELEMENTS = 1000, POINTS = ELEMENTS * N * N * N };
void local_grad3(double *Ut, double *Us, double *Ur, double *D, double *U, double *Dt);
static const size_t lengths[MOST] = {POINTS, POINTS, POINTS, N * N, POINTS, N * N};
static const int outputs = 3;
static void call(double **p) { local_grad3(p[0], p[1], p[2], p[3], p[4], p[5]); }
#endif

int main(int count, char **given)
{
    const int is_pinned = count > 1 && strcmp(given[1], "pinned") == 0;
    double *p[MOST], times_ms[CALLS];
    int arrays = 0;
    uint64_t bits = 0;
    for (; arrays < MOST && lengths[arrays] > 0; arrays++) {
        p[arrays] = (double *)memory(8 * lengths[arrays], is_pinned);
        for (size_t k = 0; k < lengths[arrays]; k++)
            p[arrays][k] = (double)((k * 2654435761u + arrays) % 1000) / 1000;
    }
    for (int n = 0; n < CALLS; n++) {
        const double begun_ms = now_ms();
        call(p);
        times_ms[n] = now_ms() - begun_ms;
        for (int k = 0; n == 0 && k < outputs; k++)
            for (size_t i = 0; i < lengths[k]; i++) {
                uint64_t word;
                memcpy(&word, &p[k][i], sizeof word);
                bits = (bits ^ word) * 0x9E3779B97F4A7C15u + (bits >> 29);
            }
    }
    const double first_ms = times_ms[0];
    qsort(times_ms + 1, CALLS - 1, sizeof *times_ms, by_value);
    printf("%-7s first %7.2f median %7.3f least %7.3f ms  %016llx\n", is_pinned ? "pinned" : "malloc",
           first_ms, times_ms[1 + (CALLS - 1) / 2], times_ms[1], (unsigned long long)bits);
    return 0;
}
#endif
