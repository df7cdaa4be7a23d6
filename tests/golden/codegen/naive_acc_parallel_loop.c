{
    #pragma acc parallel loop copyin(D[0:ly * lx + lz - ly], U[0:lz * ly * lx * nelt + lx - lz], Dt[0:ly * ly]) copy(Ur[0:lz * ly * lx * nelt], Us[0:lz * ly * lx * nelt], Ut[0:lz * ly * lx * nelt]) private(i, j, k, m)
    for (e = 0; e < nelt; e++) {
        #pragma acc loop collapse(3) private(m)
        for (i = 0; i < lx; i++)
            for (j = 0; j < ly; j++)
                for (k = 0; k < lz; k++)
                    for (m = 0; m < lx; m++)
                        Ur[e*lx*ly*lz + i*ly*lz + j*lz + k] +=
                            D[m*ly + k] * U[e*lx*ly*lz + i*ly*lz + j*lz + m];

        #pragma acc loop collapse(3) private(m)
        for (i = 0; i < lx; i++)
            for (j = 0; j < ly; j++)
                for (k = 0; k < lz; k++)
                    for (m = 0; m < ly; m++)
                        Us[e*lx*ly*lz + i*ly*lz + j*lz + k] +=
                            U[e*lx*ly*lz + i*ly*lz + m*lz + k] * Dt[j*ly + m];

        #pragma acc loop collapse(3) private(m)
        for (i = 0; i < lx; i++)
            for (j = 0; j < ly; j++)
                for (k = 0; k < lz; k++)
                    for (m = 0; m < lx; m++)
                        Ut[e*lx*ly*lz + i*ly*lz + j*lz + k] +=
                            U[e*lx*ly*lz + m*ly*lz + j*lz + k] * Dt[i*ly + m];
    }
}
