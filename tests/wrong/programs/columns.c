/* Steps along columns whose rows are contiguous, as atmosphere and ocean codes have them. */
void down(int nz, int n, double x[restrict nz][n], const double a[restrict nz][n],
          double c[restrict nz][n])
{
    /*@ begin PerfTuning ( def input_params { param nz = 5; param n = 200; } ) @*/
    for (int k = 1; k < nz; k++)
        for (int i = 0; i < n; i++) {
            c[k][i] = 2.0 - a[k][i] * c[k - 1][i];
            x[k][i] = (x[k][i] - a[k][i] * x[k - 1][i]) * c[k][i];
        }
    /*@ end @*/
}

void up(int nz, int n, double x[restrict nz][n], const double a[restrict nz][n])
{
    /*@ begin PerfTuning ( def input_params { param nz = 5; param n = 200; } ) @*/
    for (int i = 0; i < n; i++)
        for (int k = nz - 2; k >= 0; k--)
            x[k][i] -= a[k][i] * x[k + 1][i];
    /*@ end @*/
}

void half(int n, int m, double c[restrict n][n], const double a[restrict n][m])
{
    /*@ begin PerfTuning ( def input_params { param n = 40; param m = 30; } ) @*/
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            for (int k = 0; k < m; k++)
                c[i][j] += a[i][k] * a[j][k];
    /*@ end @*/
}

void sweep(int nz, int n, double x[restrict nz][n], const double a[restrict nz][n],
           double c[restrict nz][n])
{
    int i, k;
    double t;
    /*@ begin PerfTuning ( def input_params { param nz = 5; param n = 200; } ) @*/
    for (k = 1; k < nz; ++k) {
        for (i = 0; i < n; ++i) {
            t = a[k][i] * c[k - 1][i];
            if (t > 0.0)
                c[k][i] = 2.0 - t;
        }
        for (i = 0; i < n; ++i) {
            t = a[k][i] * x[k - 1][i];
            x[k][i] = (x[k][i] - t) * c[k][i];
        }
    }
    /*@ end @*/
}

void physics(int nz, int n, double t[restrict nz][n], double q[restrict nz][n],
             const double dz[restrict nz], double rain[restrict n])
{
    /*@ begin PerfTuning ( def input_params { param nz = 5; param n = 200; } ) @*/
    for (int k = 0; k < nz; k++) {
        double f = dz[k] * 2.0;
        if (k > 2)
            f = f - dz[k - 1];
        for (int i = 0; i < n; i++) {
            double d = t[k][i] - q[k][i];
            q[k][i] += d * f;
            rain[i] += d;
        }
        f += 1.0;
        for (int i = 0; i < n; i++) {
            double e = rain[i] * f;
            rain[i] -= e;
            t[k][i] += e;
        }
    }
    /*@ end @*/
}

/* The last value of t is that of the last row, whatever the order of the columns. */
void last(int nz, int n, double x[restrict nz][n], const double a[restrict nz][n],
          double c[restrict nz][n])
{
    int i, k;
    double t = 7.0;
    /*@ begin PerfTuning ( def input_params { param nz = 5; param n = 200; } ) @*/
    for (k = 1; k < nz; ++k) {
        for (i = 0; i < n; ++i) {
            if (a[k][i] > 2.0)
                t = 1000.0 * k + i;
            c[k][i] = 2.0 - c[k - 1][i];
        }
        for (i = 0; i < n; ++i)
            x[k][i] += c[k][i];
    }
    /*@ end @*/
    if (nz > 0)
        x[0][0] = t;
}
