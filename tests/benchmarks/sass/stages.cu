/* Two stages, unrolled by hand: the first copied without registers, both read two at a time. */
#include <cuda_pipeline.h>

extern "C" __global__ void stages(double *c, const double *a, const double *b)
{
    __shared__ __align__(16) double as[2][64], bs[2][64];
    const int t = threadIdx.x;
    double sum = 0.0;
    __pipeline_memcpy_async(&as[0][2 * t], &a[2 * t], 16);
    __pipeline_memcpy_async(&bs[0][2 * t], &b[2 * t], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    const double2 x = *(const double2 *)&as[0][2 * (t ^ 1)];
    const double2 y = *(const double2 *)&bs[0][2 * (t ^ 2)];
    sum += x.x * y.x;
    __syncthreads();
    as[1][t] = a[64 + t];
    __syncthreads();
    sum += x.y * as[1][t ^ 3];
    sum += y.y * as[1][t ^ 4];
    sum += x.x * as[1][t ^ 5];
    c[t] = sum;
}
