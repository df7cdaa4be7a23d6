/* The operator of nekbone, w = A u on every spectral element, A being the discrete Laplacian: the gradient
 * (local_grad3), the geometric factors of each point, the transposed gradient (local_grad3_t).
 *
 * An element has n points along each side. Nekbone's arrays are Fortran's: i, its first index, comes last
 * here. D[i][l] differentiates; g has the six different entries of a symmetric 3 by 3 matrix for each
 * point. What nekbone adds to w after it, add2s2 with 0.1, is in cg.c.
 */
void ax(int n, int elements, double w[restrict elements][n][n][n], const double u[restrict elements][n][n][n],
        const double g[restrict elements][n][n][n][6], const double D[restrict n][n])
{
    double ur[n][n][n], us[n][n][n], ut[n][n][n];

    /*@ begin PerfTuning (
      def input_params { param n = 10; param elements = 1000; }
    ) @*/
    for (int e = 0; e < elements; e++) {
        /* local_grad3, and the factors of the point */
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                for (int i = 0; i < n; i++) {
                    double r = 0.0, s = 0.0, t = 0.0;
                    for (int l = 0; l < n; l++) {
                        r += D[i][l] * u[e][k][j][l];
                        s += D[j][l] * u[e][k][l][i];
                        t += D[k][l] * u[e][l][j][i];
                    }
                    ur[k][j][i] = g[e][k][j][i][0] * r + g[e][k][j][i][1] * s + g[e][k][j][i][2] * t;
                    us[k][j][i] = g[e][k][j][i][1] * r + g[e][k][j][i][3] * s + g[e][k][j][i][4] * t;
                    ut[k][j][i] = g[e][k][j][i][2] * r + g[e][k][j][i][4] * s + g[e][k][j][i][5] * t;
                }

        /* local_grad3_t */
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                for (int i = 0; i < n; i++) {
                    double sum = 0.0;
                    for (int l = 0; l < n; l++)
                        sum += D[l][i] * ur[k][j][l] + D[l][j] * us[k][l][i] + D[l][k] * ut[l][j][i];
                    w[e][k][j][i] = sum;
                }
    }
    /*@ end @*/
}
