/* The gradient of a field on spectral elements: each element e holds lx * ly * lz values of U,
 * and D, with its transpose Dt, differentiates along one direction at a time.
 *
 * After local_grad3 of nekbone and Fig. 2.5b of Rivera's thesis (University of Utah, 2014); the
 * figure's Ut reads Dt[j*ly + m], which sums the outer direction with the wrong row.
 *
 * One operator serves all directions, so lx = ly = lz; nekbone runs with 8, 10 or 12.
 * Compile with -Dlx=12 and -Dnelt=20000 for other sizes.
 */
#ifndef lx
#define lx 10
#endif
#define ly lx
#define lz lx
#ifndef nelt
#define nelt 1000
#endif

void local_grad3(double *Ut, double *Us, double *Ur, double *D, double *U, double *Dt)
{
    int e, i, j, k, m;

    /*@ begin PerfTuning () @*/
    for (e = 0; e < nelt; e++) {
        for (i = 0; i < lx; i++)
            for (j = 0; j < ly; j++)
                for (k = 0; k < lz; k++)
                    for (m = 0; m < lx; m++)
                        Ur[e*lx*ly*lz + i*ly*lz + j*lz + k] +=
                            D[m*ly + k] * U[e*lx*ly*lz + i*ly*lz + j*lz + m];

        for (i = 0; i < lx; i++)
            for (j = 0; j < ly; j++)
                for (k = 0; k < lz; k++)
                    for (m = 0; m < ly; m++)
                        Us[e*lx*ly*lz + i*ly*lz + j*lz + k] +=
                            U[e*lx*ly*lz + i*ly*lz + m*lz + k] * Dt[j*ly + m];

        for (i = 0; i < lx; i++)
            for (j = 0; j < ly; j++)
                for (k = 0; k < lz; k++)
                    for (m = 0; m < lx; m++)
                        Ut[e*lx*ly*lz + i*ly*lz + j*lz + k] +=
                            U[e*lx*ly*lz + m*ly*lz + j*lz + k] * Dt[i*ly + m];
    }
    /*@ end @*/
}
