/* The nekbone gradient with the recipe that the decision algorithm of Rivera's thesis
 * (University of Utah, 2014) writes for it: Fig. 3.9b.  Loops and their names are those of
 * Fig. 2.1 (e, j, i, k, m, j outside i), to which that recipe refers.
 *
 * Ut follows the mathematics, U[..m*ly*lz + i*lz + k] * Dt[j*ly + m]; Fig. 2.1 exchanges i and j
 * on its right-hand side and so computes the transposed plane.
 *
 * Statements 0 and 1 are fused into one kernel, statement 2 has its own: `cuda` is given for 0
 * and 2, and the e loop is distributed over the two.
 */
#define lx 10
#define ly 10
#define lz 10
#define nelt 1000

void local_grad3(double *Ut, double *Us, double *Ur, double *D, double *U, double *Dt)
{
    int e, j, i, k, m;

    /*@ begin PerfTuning (
      def performance_params {
        param UF0[] = [1,2,5,10];
        param UF2[] = [1,2,5,10];
      }
    ) @*/
    /*@ begin CHiLL (
      cuda(0, block={"e", "j"},
           thread={"k", "i"})
      cuda(2, block={"e", "j"},
           thread={"k", "i"})

      registers(0, "m")
      registers(1, "m")
      registers(2, "m")

      fuse(0,1)
      unroll(0, "m", UF0)
      unroll(2, "m", UF2)
    ) @*/
    for (e = 0; e < nelt; e++) {
        for (j = 0; j < lx; j++) {
            for (i = 0; i < ly; i++) {
                for (k = 0; k < lz; k++) {
                    for (m = 0; m < lx; m++) {
                        Ur[e*lx*ly*lz + j*ly*lz + i*lz + k] +=
                            D[m*ly + k] * U[e*lx*ly*lz + j*ly*lz + i*lz + m];
                    }
                }
            }
        }
        for (j = 0; j < lx; j++) {
            for (i = 0; i < ly; i++) {
                for (k = 0; k < lz; k++) {
                    for (m = 0; m < ly; m++) {
                        Us[e*lx*ly*lz + j*ly*lz + i*lz + k] +=
                            U[e*lx*ly*lz + j*ly*lz + m*lz + k] * Dt[i*ly + m];
                    }
                }
            }
        }
        for (j = 0; j < lx; j++) {
            for (i = 0; i < ly; i++) {
                for (k = 0; k < lz; k++) {
                    for (m = 0; m < lx; m++) {
                        Ut[e*lx*ly*lz + j*ly*lz + i*lz + k] +=
                            U[e*lx*ly*lz + m*ly*lz + i*lz + k] * Dt[j*ly + m];
                    }
                }
            }
        }
    }
    /*@ end @*/
    /*@ end @*/
}
