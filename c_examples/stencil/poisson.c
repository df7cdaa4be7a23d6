/* A sweep of Jacobi's method for the Poisson equation -(u_xx + u_yy + u_zz) = f on a cube of n points a side
 * at distance h, the values on its faces given: the stencil of seven points, as textbooks have it.
 */
void jacobi(int n, double h, double to[restrict n][n][n], const double from[restrict n][n][n],
            const double f[restrict n][n][n])
{
    /*@ begin PerfTuning ( def input_params { param n = 256; } ) @*/
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < n - 1; j++)
            for (int k = 1; k < n - 1; k++)
                to[i][j][k] = (from[i-1][j][k] + from[i+1][j][k] + from[i][j-1][k] + from[i][j+1][k] +
                               from[i][j][k-1] + from[i][j][k+1] + h * h * f[i][j][k]) / 6.0;
    /*@ end @*/
}
