/* Arrays that kernels only add to: these begin at nothing, and the host adds to the program's array what
 * comes back. Nothing is -0.0, which added to any number is that number: a sum that begins there has the
 * value and the sign that C gives it, and what kernels leave alone changes nothing.
 */
template <typename Real>
static __global__ void annotune_nothing(Real *__restrict__ first, size_t count)
{
    const size_t k = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < count)
        first[k] = (Real)-0.0;
}

template <typename Real> static cudaError_t annotune_begin(void *first, size_t bytes)
{
    const size_t count = bytes / sizeof(Real);
    annotune_nothing<Real><<<(unsigned)((count + 255) / 256), 256>>>((Real *)first, count);
    return cudaGetLastError();
}

/* Where nothing has come nothing is written: no bit of what is there changes. */
template <typename Real> static void annotune_add(void *to, const void *from, size_t bytes)
{
    Real *const sums = (Real *)to;
    const Real *const terms = (const Real *)from;
    const Real nothing = (Real)-0.0;
    for (size_t k = 0; k < bytes / sizeof(Real); k++)
        if (memcmp(&terms[k], &nothing, sizeof nothing) != 0)
            sums[k] += terms[k];
}

template <typename Real>
static const annotune_adding annotune_host_sums = {annotune_begin<Real>, annotune_add<Real>};
