extern "C" __global__ void tile(double *c, const double *a, const double *b, int n)
{
    __shared__ double as[8 * 16], bs[8 * 16];
    const int x = threadIdx.x, y = threadIdx.y, at = threadIdx.y * 16 + threadIdx.x;
    double sum[2] = {0.0, 0.0};
    for (int k = 0; k < n; k += 8) {
        if (at < 128) {
            as[at] = a[k * 16 + at];
            bs[at] = b[k * 16 + at];
        }
        __syncthreads();
        for (int l = 0; l < 8; l++) {
            sum[0] += as[l * 16 + x] * bs[l * 16 + y];
            sum[1] += as[l * 16 + (x ^ 1)] * bs[l * 16 + y];
        }
        __syncthreads();
    }
    c[at] = sum[0];
    c[at + 256] = sum[1];
}
