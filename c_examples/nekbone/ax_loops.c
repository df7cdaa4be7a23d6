/* The operator of ax.c with a loop over all elements for each of its steps, as codes for vector machines
 * and most ports to GPUs have it: the gradient, the factors of the points, the transposed gradients.
 * What a step hands on to the next is in arrays of all elements, of the function itself or the caller's.
 */
#include <stdlib.h>

void ax_loops(int n, int elements, double w[restrict elements][n][n][n], const double u[restrict elements][n][n][n],
              const double g[restrict elements][n][n][n][6], const double D[restrict n][n])
{
    double(*ur)[n][n][n] = malloc(sizeof(double[elements][n][n][n]));
    double(*us)[n][n][n] = malloc(sizeof(double[elements][n][n][n]));
    double(*ut)[n][n][n] = malloc(sizeof(double[elements][n][n][n]));

    /*@ begin PerfTuning (
      def input_params { param n = 10; param elements = 1000; }
    ) @*/
    for (int e = 0; e < elements; e++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                for (int i = 0; i < n; i++) {
                    double r = 0.0, s = 0.0, t = 0.0;
                    for (int l = 0; l < n; l++) {
                        r += D[i][l] * u[e][k][j][l];
                        s += D[j][l] * u[e][k][l][i];
                        t += D[k][l] * u[e][l][j][i];
                    }
                    ur[e][k][j][i] = r;
                    us[e][k][j][i] = s;
                    ut[e][k][j][i] = t;
                }

    for (int e = 0; e < elements; e++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                for (int i = 0; i < n; i++) {
                    const double r = ur[e][k][j][i], s = us[e][k][j][i], t = ut[e][k][j][i];
                    ur[e][k][j][i] = g[e][k][j][i][0] * r + g[e][k][j][i][1] * s + g[e][k][j][i][2] * t;
                    us[e][k][j][i] = g[e][k][j][i][1] * r + g[e][k][j][i][3] * s + g[e][k][j][i][4] * t;
                    ut[e][k][j][i] = g[e][k][j][i][2] * r + g[e][k][j][i][4] * s + g[e][k][j][i][5] * t;
                }

    for (int e = 0; e < elements; e++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                for (int i = 0; i < n; i++) {
                    double sum = 0.0;
                    for (int l = 0; l < n; l++)
                        sum += D[l][i] * ur[e][k][j][l] + D[l][j] * us[e][k][l][i] + D[l][k] * ut[e][l][j][i];
                    w[e][k][j][i] = sum;
                }
    /*@ end @*/
    free(ur), free(us), free(ut);
}

/* The same for a caller who wants ur, us and ut, too: the factors times the gradient. */
void ax_kept(int n, int elements, double w[restrict elements][n][n][n], const double u[restrict elements][n][n][n],
             const double g[restrict elements][n][n][n][6], const double D[restrict n][n],
             double ur[restrict elements][n][n][n], double us[restrict elements][n][n][n],
             double ut[restrict elements][n][n][n])
{
    /*@ begin PerfTuning (
      def input_params { param n = 10; param elements = 1000; }
    ) @*/
    for (int e = 0; e < elements; e++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                for (int i = 0; i < n; i++) {
                    double r = 0.0, s = 0.0, t = 0.0;
                    for (int l = 0; l < n; l++) {
                        r += D[i][l] * u[e][k][j][l];
                        s += D[j][l] * u[e][k][l][i];
                        t += D[k][l] * u[e][l][j][i];
                    }
                    ur[e][k][j][i] = r;
                    us[e][k][j][i] = s;
                    ut[e][k][j][i] = t;
                }

    for (int e = 0; e < elements; e++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                for (int i = 0; i < n; i++) {
                    const double r = ur[e][k][j][i], s = us[e][k][j][i], t = ut[e][k][j][i];
                    ur[e][k][j][i] = g[e][k][j][i][0] * r + g[e][k][j][i][1] * s + g[e][k][j][i][2] * t;
                    us[e][k][j][i] = g[e][k][j][i][1] * r + g[e][k][j][i][3] * s + g[e][k][j][i][4] * t;
                    ut[e][k][j][i] = g[e][k][j][i][2] * r + g[e][k][j][i][4] * s + g[e][k][j][i][5] * t;
                }

    for (int e = 0; e < elements; e++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                for (int i = 0; i < n; i++) {
                    double sum = 0.0;
                    for (int l = 0; l < n; l++)
                        sum += D[l][i] * ur[e][k][j][l] + D[l][j] * us[e][k][l][i] + D[l][k] * ut[e][l][j][i];
                    w[e][k][j][i] = sum;
                }
    /*@ end @*/
}
