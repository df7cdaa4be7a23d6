
#define ANNOTUNE_BULK_COPIES
#include "annotune_runtime.h"
ANNOTUNE_NEEDS_RUNTIME(5c3815f8);

#undef nelt
#undef lx
#undef ly
#undef lz

/* local_grad3, statements 0, 1, 2 of the region at line 23:
 * e on block.x, jk on thread.x. */
__global__ void __launch_bounds__(128) local_grad3_1_s0(
        double *__restrict__ Ur, const double *__restrict__ D, const double *__restrict__ U,
        double *__restrict__ Us, const double *__restrict__ Dt, double *__restrict__ Ut) {
    const int lx = 10;
    const int ly = 10;
    __shared__ __align__(16) double Ut_tile[1000];
    __shared__ __align__(16) double Us_tile[1000];
    __shared__ __align__(16) double Ur_tile[1000];
    __shared__ __align__(16) double U_tile[1000];
    __shared__ double Dt_tile[100];
    __shared__ double D_tile[100];
    __shared__ std::uint64_t annotune_arrivals[4];
    annotune_bulk_begin(annotune_arrivals, 4);
    const int e = blockIdx.x;
    annotune_bulk_load(&Ut_tile[0], &Ut[1000 * e], 1000, &annotune_arrivals[0]);
    annotune_bulk_load(&Us_tile[0], &Us[1000 * e], 1000, &annotune_arrivals[1]);
    annotune_bulk_load(&Ur_tile[0], &Ur[1000 * e], 1000, &annotune_arrivals[2]);
    annotune_bulk_load(&U_tile[0], &U[1000 * e], 1000, &annotune_arrivals[3]);
    for (int Dt_s = threadIdx.x; Dt_s < 100; Dt_s += 128) {
        Dt_tile[Dt_s] = Dt[Dt_s];
    }
    for (int D_s = threadIdx.x; D_s < 100; D_s += 128) {
        D_tile[D_s] = D[D_s];
    }
    annotune_bulk_wait(&annotune_arrivals[2], 0);
    annotune_bulk_wait(&annotune_arrivals[3], 0);
    __syncthreads();
    if (threadIdx.x < 100) {
        const int jk = threadIdx.x;
        int j = jk / 10;
        int k = jk % 10;
        for (int i = 0; i < lx; i++) {
            double Ur_acc = Ur_tile[100 * i + jk];
            Ur_acc += D_tile[k] * U_tile[100 * i + 10 * j]
                + D_tile[ly + k] * U_tile[100 * i + 10 * j + 1]
                + D_tile[2 * ly + k] * U_tile[100 * i + 10 * j + 2]
                + D_tile[3 * ly + k] * U_tile[100 * i + 10 * j + 3]
                + D_tile[4 * ly + k] * U_tile[100 * i + 10 * j + 4]
                + D_tile[5 * ly + k] * U_tile[100 * i + 10 * j + 5]
                + D_tile[6 * ly + k] * U_tile[100 * i + 10 * j + 6]
                + D_tile[7 * ly + k] * U_tile[100 * i + 10 * j + 7]
                + D_tile[8 * ly + k] * U_tile[100 * i + 10 * j + 8]
                + D_tile[9 * ly + k] * U_tile[100 * i + 10 * j + 9];
            Ur_tile[100 * i + jk] = Ur_acc;
        }
    }
    annotune_bulk_wait(&annotune_arrivals[1], 0);
    if (threadIdx.x < 100) {
        const int jk = threadIdx.x;
        int j = jk / 10;
        int k = jk % 10;
        for (int i = 0; i < lx; i++) {
            double Us_acc = Us_tile[100 * i + jk];
            Us_acc += U_tile[100 * i + k] * Dt_tile[j * ly]
                + U_tile[100 * i + k + 10] * Dt_tile[j * ly + 1]
                + U_tile[100 * i + k + 20] * Dt_tile[j * ly + 2]
                + U_tile[100 * i + k + 30] * Dt_tile[j * ly + 3]
                + U_tile[100 * i + k + 40] * Dt_tile[j * ly + 4]
                + U_tile[100 * i + k + 50] * Dt_tile[j * ly + 5]
                + U_tile[100 * i + k + 60] * Dt_tile[j * ly + 6]
                + U_tile[100 * i + k + 70] * Dt_tile[j * ly + 7]
                + U_tile[100 * i + k + 80] * Dt_tile[j * ly + 8]
                + U_tile[100 * i + k + 90] * Dt_tile[j * ly + 9];
            Us_tile[100 * i + jk] = Us_acc;
        }
    }
    annotune_bulk_wait(&annotune_arrivals[0], 0);
    if (threadIdx.x < 100) {
        const int jk = threadIdx.x;
        for (int i = 0; i < lx; i++) {
            double Ut_acc = Ut_tile[100 * i + jk];
            Ut_acc += U_tile[jk] * Dt_tile[i * ly]
                + U_tile[jk + 100] * Dt_tile[i * ly + 1]
                + U_tile[jk + 200] * Dt_tile[i * ly + 2]
                + U_tile[jk + 300] * Dt_tile[i * ly + 3]
                + U_tile[jk + 400] * Dt_tile[i * ly + 4]
                + U_tile[jk + 500] * Dt_tile[i * ly + 5]
                + U_tile[jk + 600] * Dt_tile[i * ly + 6]
                + U_tile[jk + 700] * Dt_tile[i * ly + 7]
                + U_tile[jk + 800] * Dt_tile[i * ly + 8]
                + U_tile[jk + 900] * Dt_tile[i * ly + 9];
            Ut_tile[100 * i + jk] = Ut_acc;
        }
    }
    annotune_bulk_fence();
    __syncthreads();
    annotune_bulk_store(&Ur[1000 * e], &Ur_tile[0], 1000);
    annotune_bulk_store(&Us[1000 * e], &Us_tile[0], 1000);
    annotune_bulk_store(&Ut[1000 * e], &Ut_tile[0], 1000);
    annotune_bulk_finish();
}

/* The nest as written: for sizes, overlaps and errors that the kernels leave. */
static void local_grad3_1_original(
        int nelt, int lx, int ly, int lz, double *Ur, const double *D, const double *U,
        double *Us, const double *Dt, double *Ut) {
    for (int e = 0; e < nelt; e++) {
        for (int i = 0; i < lx; i++) {
            for (int j = 0; j < ly; j++) {
                for (int k = 0; k < lz; k++) {
                    for (int m = 0; m < lx; m++) {
                        Ur[e * lx * ly * lz + i * ly * lz + j * lz + k] += D[m * ly + k] *
                            U[e * lx * ly * lz + i * ly * lz + j * lz + m];
                    }
                }
            }
        }
        for (int i = 0; i < lx; i++) {
            for (int j = 0; j < ly; j++) {
                for (int k = 0; k < lz; k++) {
                    for (int m = 0; m < ly; m++) {
                        Us[e * lx * ly * lz + i * ly * lz + j * lz + k] +=
                            U[e * lx * ly * lz + i * ly * lz + m * lz + k] * Dt[j * ly + m];
                    }
                }
            }
        }
        for (int i = 0; i < lx; i++) {
            for (int j = 0; j < ly; j++) {
                for (int k = 0; k < lz; k++) {
                    for (int m = 0; m < lx; m++) {
                        Ut[e * lx * ly * lz + i * ly * lz + j * lz + k] +=
                            U[e * lx * ly * lz + m * ly * lz + j * lz + k] * Dt[i * ly + m];
                    }
                }
            }
        }
    }
}

/* Elements of Ur that the region touches. */
static long long local_grad3_1_Ur_count(long long nelt, long long lx, long long ly, long long lz) {
    return lz * ly * lx * nelt;
}

/* Elements of D that the region touches. */
static long long local_grad3_1_D_count(long long lx, long long ly, long long lz) {
    return ly * lx + lz - ly;
}

/* Elements of U that the region touches. */
static long long local_grad3_1_U_count(long long nelt, long long lx, long long ly, long long lz) {
    return lz * ly * lx * nelt + lx - lz;
}

/* Elements of Us that the region touches. */
static long long local_grad3_1_Us_count(long long nelt, long long lx, long long ly, long long lz) {
    return lz * ly * lx * nelt;
}

/* Elements of Dt that the region touches. */
static long long local_grad3_1_Dt_count(long long ly) {
    return ly * ly;
}

/* Elements of Ut that the region touches. */
static long long local_grad3_1_Ut_count(long long nelt, long long lx, long long ly, long long lz) {
    return lz * ly * lx * nelt;
}

static cudaError_t local_grad3_1_launch(
        int nelt, int lx, int ly, int lz, double *Ur, const double *D, const double *U,
        double *Us, const double *Dt, double *Ut) {
    {
        const dim3 blocks(1000, 1, 1);
        const dim3 threads(128, 1, 1);
        local_grad3_1_s0<<<blocks, threads>>>(Ur, D, U, Us, Dt, Ut);
    }
    return cudaGetLastError();
}

/* The tuned kernels for some of the 1000 iterations on their blocks. */
static cudaError_t local_grad3_1_part(
        int nelt, int lx, int ly, int lz, double *Ur, const double *D, const double *U,
        double *Us, const double *Dt, double *Ut, long annotune_first, long annotune_count) {
    Ur += annotune_first * 1000;
    U += annotune_first * 1000;
    Us += annotune_first * 1000;
    Ut += annotune_first * 1000;
    cudaError_t status = cudaSuccess;
    if (status == cudaSuccess) {
        {
            const dim3 blocks((unsigned)(annotune_count), 1, 1);
            const dim3 threads(128, 1, 1);
            local_grad3_1_s0<<<blocks, threads>>>(Ur, D, U, Us, Dt, Ut);
        }
        status = cudaGetLastError();
    }
    return status;
}

static cudaError_t local_grad3_1_device(
        int nelt, int lx, int ly, int lz, double *Ur, const double *D, const double *U,
        double *Us, const double *Dt, double *Ut) {
    const size_t Ur_bytes = sizeof(double) * local_grad3_1_Ur_count(nelt, lx, ly, lz);
    const size_t D_bytes = sizeof(double) * local_grad3_1_D_count(lx, ly, lz);
    const size_t U_bytes = sizeof(double) * local_grad3_1_U_count(nelt, lx, ly, lz);
    const size_t Us_bytes = sizeof(double) * local_grad3_1_Us_count(nelt, lx, ly, lz);
    const size_t Dt_bytes = sizeof(double) * local_grad3_1_Dt_count(ly);
    const size_t Ut_bytes = sizeof(double) * local_grad3_1_Ut_count(nelt, lx, ly, lz);
    annotune_array arrays[] = {
        {(void *)(Ur), Ur_bytes, 0, Ur_bytes, true, true, sizeof(double) * 1000, false, 0, 0,
         annotune_host_sums<double>()},
        {(void *)(D), D_bytes, 0, D_bytes, true, false},
        {(void *)(U), U_bytes, 0, U_bytes, true, false, sizeof(double) * 1000},
        {(void *)(Us), Us_bytes, 0, Us_bytes, true, true, sizeof(double) * 1000, false, 0, 0,
         annotune_host_sums<double>()},
        {(void *)(Dt), Dt_bytes, 0, Dt_bytes, true, false},
        {(void *)(Ut), Ut_bytes, 0, Ut_bytes, true, true, sizeof(double) * 1000, false, 0, 0,
         annotune_host_sums<double>()},
    };
    const auto launch = [&](long annotune_first, long annotune_count) {
        double *const d_Ur = (double *)arrays[0].device;
        double *const d_D = (double *)arrays[1].device;
        double *const d_U = (double *)arrays[2].device;
        double *const d_Us = (double *)arrays[3].device;
        double *const d_Dt = (double *)arrays[4].device;
        double *const d_Ut = (double *)arrays[5].device;
        if (annotune_count == 0)
            return local_grad3_1_launch(nelt, lx, ly, lz, d_Ur, d_D, d_U, d_Us, d_Dt, d_Ut);
        return local_grad3_1_part(nelt, lx, ly, lz, d_Ur, d_D, d_U, d_Us, d_Dt, d_Ut,
                                  annotune_first, annotune_count);
    };
    return annotune_call("annotune_local_grad3_1", arrays, 6, 1000, launch);
}

extern "C" void annotune_local_grad3_1(
        int nelt, int lx, int ly, int lz, double *Ur, const double *D, const double *U,
        double *Us, const double *Dt, double *Ut) {
    const size_t Ur_bytes = sizeof(double) * local_grad3_1_Ur_count(nelt, lx, ly, lz);
    const size_t D_bytes = sizeof(double) * local_grad3_1_D_count(lx, ly, lz);
    const size_t U_bytes = sizeof(double) * local_grad3_1_U_count(nelt, lx, ly, lz);
    const size_t Us_bytes = sizeof(double) * local_grad3_1_Us_count(nelt, lx, ly, lz);
    const size_t Dt_bytes = sizeof(double) * local_grad3_1_Dt_count(ly);
    const size_t Ut_bytes = sizeof(double) * local_grad3_1_Ut_count(nelt, lx, ly, lz);
    bool fits = true;
    fits = fits && nelt == 1000;
    fits = fits && lx == 10;
    fits = fits && ly == 10;
    fits = fits && lz == 10;
    fits = fits && annotune_apart(Ur, Ur_bytes, D, D_bytes);
    fits = fits && annotune_apart(Ur, Ur_bytes, U, U_bytes);
    fits = fits && annotune_apart(Ur, Ur_bytes, Us, Us_bytes);
    fits = fits && annotune_apart(Ur, Ur_bytes, Dt, Dt_bytes);
    fits = fits && annotune_apart(Ur, Ur_bytes, Ut, Ut_bytes);
    fits = fits && annotune_apart(D, D_bytes, Us, Us_bytes);
    fits = fits && annotune_apart(D, D_bytes, Ut, Ut_bytes);
    fits = fits && annotune_apart(U, U_bytes, Us, Us_bytes);
    fits = fits && annotune_apart(U, U_bytes, Ut, Ut_bytes);
    fits = fits && annotune_apart(Us, Us_bytes, Dt, Dt_bytes);
    fits = fits && annotune_apart(Us, Us_bytes, Ut, Ut_bytes);
    fits = fits && annotune_apart(Dt, Dt_bytes, Ut, Ut_bytes);
    if (fits) {
        const cudaError_t status = local_grad3_1_device(nelt, lx, ly, lz, Ur, D, U, Us, Dt, Ut);
        if (status == cudaSuccess)
            return;
        annotune_tell("annotune_local_grad3_1", status);
    }
    {
        const void *const arrays[] = {
            Ur,
            D,
            U,
            Us,
            Dt,
            Ut,
        };
        annotune_on_host("annotune_local_grad3_1", arrays, 6);
    }
    local_grad3_1_original(nelt, lx, ly, lz, Ur, D, U, Us, Dt, Ut);
    annotune_put_back();
}
