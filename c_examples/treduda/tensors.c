/* After F. X. Bayerl's thesis on Treduda (University of Passau, 2012): operations on tensors that
 * are more than one contraction. Section 3.1 has the matrix product with two factors, the form in which
 * Treduda writes every result; section 4.4 adds a product to another matrix, and section 4.2 has the
 * Riemann-Christoffel curvature tensor. The thesis computes in float, this file in double.
 * Its products are of 2048 and 4096 (--set m=2048 --set n=2048 --set k=2048), where the C as it is
 * written takes a minute and more.
 */

/* C = alpha A B + beta C, row-major. */
void matrix_product(int m, int n, int k, double alpha, double beta, double C[restrict m][n],
                    const double A[restrict m][k], const double B[restrict k][n])
{
    /*@ begin PerfTuning (
      def input_params { param m = 1024; param n = 1024; param k = 1024; }
    ) @*/
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int l = 0; l < k; l++)
                sum += A[i][l] * B[l][j];
            C[i][j] = alpha * sum + beta * C[i][j];
        }
    /*@ end @*/
}

/* S = A + B C, row-major. */
void matrix_sum(int m, int n, int k, double S[restrict m][n], const double A[restrict m][n],
                const double B[restrict m][k], const double C[restrict k][n])
{
    /*@ begin PerfTuning (
      def input_params { param m = 1024; param n = 1024; param k = 1024; }
    ) @*/
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = A[i][j];
            for (int l = 0; l < k; l++)
                sum += B[i][l] * C[l][j];
            S[i][j] = sum;
        }
    /*@ end @*/
}

/* C[i,j,k,l] = A[i,j,k,l] - A[i,l,k,j] + sum over m of B[m,j,k] B[i,m,l] - B[m,l,k] B[i,m,j] */
void riemann_christoffel(int n, double C[restrict n][n][n][n],
                         const double A[restrict n][n][n][n], const double B[restrict n][n][n])
{
    /*@ begin PerfTuning (
      def input_params { param n = 64; }
    ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                for (int l = 0; l < n; l++) {
                    double sum = A[i][j][k][l] - A[i][l][k][j];
                    for (int m = 0; m < n; m++)
                        sum += B[m][j][k] * B[i][m][l] - B[m][l][k] * B[i][m][j];
                    C[i][j][k][l] = sum;
                }
    /*@ end @*/
}
