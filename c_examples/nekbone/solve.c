/* Nekbone's conjugate gradients: A x = f, where A is the operator of ax.c with a tenth of u added to it, as
 * nekbone does. The steps are nekbone's: cg, solveM, glsc3, add2s1 and add2s2.
 *
 * All arrays are on the device from the first iteration to the last. What comes back are sums.
 */
static void ax(int n, int elements, double w[restrict elements][n][n][n],
               const double u[restrict elements][n][n][n],
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

/* The scalar product of a and b, in which c counts every point that elements share once. */
static double glsc3(int n, const double *restrict a, const double *restrict b, const double *restrict c)
{
    double sum = 0.0;

    /*@ begin PerfTuning ( def input_params { param n = 1000000; } ) @*/
    for (int i = 0; i < n; i++)
        sum += a[i] * b[i] * c[i];
    /*@ end @*/
    return sum;
}

/* a = c a + b: the new direction of the search */
static void add2s1(int n, double *restrict a, const double *restrict b, double c)
{
    /*@ begin PerfTuning ( def input_params { param n = 1000000; } ) @*/
    for (int i = 0; i < n; i++)
        a[i] = c * a[i] + b[i];
    /*@ end @*/
}

/* a = a + c b: a step along the direction */
static void add2s2(int n, double *restrict a, const double *restrict b, double c)
{
    /*@ begin PerfTuning ( def input_params { param n = 1000000; } ) @*/
    for (int i = 0; i < n; i++)
        a[i] = a[i] + c * b[i];
    /*@ end @*/
}

/* z = r: nekbone has no preconditioner either */
static void solveM(int n, double *restrict z, const double *restrict r)
{
    /*@ begin PerfTuning ( def input_params { param n = 1000000; } ) @*/
    for (int i = 0; i < n; i++)
        z[i] = r[i];
    /*@ end @*/
}

/* Improve x in so many iterations, and return the square of the norm of what is left in r.
 *
 * r is f - A x on entry, p, w and z are work arrays, of which p begins with zeros. c is that of glsc3.
 */
double cg(int n, int elements, int iterations, double *x, double *r, double *p, double *w, double *z,
          const double *c, const double *g, const double *D)
{
    const int points = elements * n * n * n;
    double rtz = 1.0, rtr = 0.0;

    /*@ begin Data (
      enter = "x[points], r[points], p[points], w[points], z[points], c[points], g[6*points], D[n*n]";
      exit = "x, r"
    ) @*/
    for (int iteration = 0; iteration < iterations; iteration++) {
        const double before = rtz;

        solveM(points, z, r);
        rtz = glsc3(points, r, c, z);
        add2s1(points, p, z, iteration == 0 ? 0.0 : rtz / before);
        ax(n, elements, (double (*)[n][n][n])w, (const double (*)[n][n][n])p,
           (const double (*)[n][n][n][6])g, (const double (*)[n])D);
        add2s2(points, w, p, 0.1);

        const double alpha = rtz / glsc3(points, w, c, p);

        add2s2(points, x, p, alpha);
        add2s2(points, r, w, -alpha);
        rtr = glsc3(points, r, c, r);
    }
    /*@ end @*/
    return rtr;
}
