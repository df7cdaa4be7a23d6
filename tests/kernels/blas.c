/* Linear algebra as benchmark suites write it: imperfect nests, running sums, triangles. */

void gemm(int ni, int nj, int nk, double alpha, double beta, double C[restrict ni][nj],
          const double A[restrict ni][nk], const double B[restrict nk][nj])
{
    int i, j, k;
    /*@ begin PerfTuning (def input_params { param ni = 14; param nj = 18; param nk = 11; }) @*/
    for (i = 0; i < ni; i++) {
        for (j = 0; j < nj; j++)
            C[i][j] *= beta;
        for (k = 0; k < nk; k++)
            for (j = 0; j < nj; j++)
                C[i][j] += alpha * A[i][k] * B[k][j];
    }
    /*@ end @*/
}

void two_mm(int ni, int nj, int nk, int nl, double alpha, double beta, double tmp[restrict ni][nj],
            const double A[restrict ni][nk], const double B[restrict nk][nj],
            const double C[restrict nj][nl], double D[restrict ni][nl])
{
    int i, j, k;
    /*@ begin PerfTuning (
      def input_params { param ni = 9; param nj = 11; param nk = 13; param nl = 7; }
    ) @*/
    for (i = 0; i < ni; i++)
        for (j = 0; j < nj; j++) {
            tmp[i][j] = 0.0;
            for (k = 0; k < nk; ++k)
                tmp[i][j] += alpha * A[i][k] * B[k][j];
        }
    for (i = 0; i < ni; i++)
        for (j = 0; j < nl; j++) {
            D[i][j] *= beta;
            for (k = 0; k < nj; ++k)
                D[i][j] += tmp[i][k] * C[k][j];
        }
    /*@ end @*/
}

void three_mm(int ni, int nj, int nk, int nl, int nm, double E[restrict ni][nj],
              const double A[restrict ni][nk], const double B[restrict nk][nj],
              double F[restrict nj][nl], const double C[restrict nj][nm],
              const double D[restrict nm][nl], double G[restrict ni][nl])
{
    int i, j, k;
    /*@ begin PerfTuning (
      def input_params { param ni = 6; param nj = 8; param nk = 7; param nl = 9; param nm = 5; }
    ) @*/
    for (i = 0; i < ni; i++)
        for (j = 0; j < nj; j++) {
            E[i][j] = 0.0;
            for (k = 0; k < nk; ++k)
                E[i][j] += A[i][k] * B[k][j];
        }
    for (i = 0; i < nj; i++)
        for (j = 0; j < nl; j++) {
            F[i][j] = 0.0;
            for (k = 0; k < nm; ++k)
                F[i][j] += C[i][k] * D[k][j];
        }
    for (i = 0; i < ni; i++)
        for (j = 0; j < nl; j++) {
            G[i][j] = 0.0;
            for (k = 0; k < nj; ++k)
                G[i][j] += E[i][k] * F[k][j];
        }
    /*@ end @*/
}

void atax(int m, int n, const double A[restrict m][n], const double x[restrict n],
          double y[restrict n], double tmp[restrict m])
{
    int i, j;
    /*@ begin PerfTuning (def input_params { param m = 13; param n = 17; }) @*/
    for (i = 0; i < n; i++)
        y[i] = 0;
    for (i = 0; i < m; i++) {
        tmp[i] = 0.0;
        for (j = 0; j < n; j++)
            tmp[i] = tmp[i] + A[i][j] * x[j];
        for (j = 0; j < n; j++)
            y[j] = y[j] + A[i][j] * tmp[i];
    }
    /*@ end @*/
}

void bicg(int m, int n, const double A[restrict n][m], double s[restrict m], double q[restrict n],
          const double p[restrict m], const double r[restrict n])
{
    int i, j;
    /*@ begin PerfTuning (def input_params { param m = 15; param n = 11; }) @*/
    for (i = 0; i < m; i++)
        s[i] = 0;
    for (i = 0; i < n; i++) {
        q[i] = 0.0;
        for (j = 0; j < m; j++) {
            s[j] = s[j] + r[i] * A[i][j];
            q[i] = q[i] + A[i][j] * p[j];
        }
    }
    /*@ end @*/
}

void mvt(int n, double x1[restrict n], double x2[restrict n], const double y1[restrict n],
         const double y2[restrict n], const double A[restrict n][n])
{
    int i, j;
    /*@ begin PerfTuning (def input_params { param n = 19; }) @*/
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++)
            x1[i] = x1[i] + A[i][j] * y1[j];
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++)
            x2[i] = x2[i] + A[j][i] * y2[j];
    /*@ end @*/
}

void gemver(int n, double alpha, double beta, double A[restrict n][n], const double u1[restrict n],
            const double v1[restrict n], const double u2[restrict n], const double v2[restrict n],
            double w[restrict n], double x[restrict n], const double y[restrict n],
            const double z[restrict n])
{
    int i, j;
    /*@ begin PerfTuning (def input_params { param n = 16; }) @*/
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++)
            A[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j];
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++)
            x[i] = x[i] + beta * A[j][i] * y[j];
    for (i = 0; i < n; i++)
        x[i] = x[i] + z[i];
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++)
            w[i] = w[i] + alpha * A[i][j] * x[j];
    /*@ end @*/
}

void gesummv(int n, double alpha, double beta, const double A[restrict n][n],
             const double B[restrict n][n], double tmp[restrict n], const double x[restrict n],
             double y[restrict n])
{
    int i, j;
    /*@ begin PerfTuning (def input_params { param n = 18; }) @*/
    for (i = 0; i < n; i++) {
        tmp[i] = 0.0;
        y[i] = 0.0;
        for (j = 0; j < n; j++) {
            tmp[i] = A[i][j] * x[j] + tmp[i];
            y[i] = B[i][j] * x[j] + y[i];
        }
        y[i] = alpha * tmp[i] + beta * y[i];
    }
    /*@ end @*/
}

void syrk(int n, int m, double alpha, double beta, double C[restrict n][n],
          const double A[restrict n][m])
{
    int i, j, k;
    /*@ begin PerfTuning (def input_params { param n = 12; param m = 9; }) @*/
    for (i = 0; i < n; i++) {
        for (j = 0; j <= i; j++)
            C[i][j] *= beta;
        for (k = 0; k < m; k++)
            for (j = 0; j <= i; j++)
                C[i][j] += alpha * A[i][k] * A[j][k];
    }
    /*@ end @*/
}

void trmm(int m, int n, double alpha, const double A[restrict m][m], double B[restrict m][n])
{
    int i, j, k;
    /*@ begin PerfTuning (def input_params { param m = 11; param n = 13; }) @*/
    for (i = 0; i < m; i++)
        for (j = 0; j < n; j++) {
            for (k = i + 1; k < m; k++)
                B[i][j] += A[k][i] * B[k][j];
            B[i][j] = alpha * B[i][j];
        }
    /*@ end @*/
}

void doitgen(int nr, int nq, int np, double A[restrict nr][nq][np], const double C4[restrict np][np],
             double sum[restrict np])
{
    int r, q, p, s;
    /*@ begin PerfTuning (def input_params { param nr = 5; param nq = 6; param np = 7; }) @*/
    for (r = 0; r < nr; r++)
        for (q = 0; q < nq; q++) {
            for (p = 0; p < np; p++) {
                sum[p] = 0.0;
                for (s = 0; s < np; s++)
                    sum[p] += A[r][q][s] * C4[s][p];
            }
            for (p = 0; p < np; p++)
                A[r][q][p] = sum[p];
        }
    /*@ end @*/
}
