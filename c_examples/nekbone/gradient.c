/* The gradient of local_grad3.c for any number of points, tuned for the three that nekbone runs
 * with: n points along each side of an element, 8, 10 or 12.
 *
 * One text comes out for all three. It has kernels for each, with 1000 elements and with any number of
 * them, and general ones for any other n; which of them run is decided by the arguments of the call.
 */

void gradient(int n, int elements, double *restrict Ut, double *restrict Us, double *restrict Ur,
              const double *restrict D, const double *restrict U, const double *restrict Dt)
{
    /*@ begin PerfTuning (
      def input_params {
        param n[] = [8,10,12];
        param elements = 1000;
      }
    ) @*/
    for (int e = 0; e < elements; e++) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                for (int k = 0; k < n; k++)
                    for (int m = 0; m < n; m++)
                        Ur[e*n*n*n + i*n*n + j*n + k] += D[m*n + k] * U[e*n*n*n + i*n*n + j*n + m];

        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                for (int k = 0; k < n; k++)
                    for (int m = 0; m < n; m++)
                        Us[e*n*n*n + i*n*n + j*n + k] += U[e*n*n*n + i*n*n + m*n + k] * Dt[j*n + m];

        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                for (int k = 0; k < n; k++)
                    for (int m = 0; m < n; m++)
                        Ut[e*n*n*n + i*n*n + j*n + k] += U[e*n*n*n + m*n*n + j*n + k] * Dt[i*n + m];
    }
    /*@ end @*/
}
