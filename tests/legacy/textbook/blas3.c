/* What a textbook makes of routines of ../blas3.c: matrices in columns, as Fortran has them. */

void dgemnn(int m, int n, int k, const double *alpha, const double *restrict a, int lda,
            const double *restrict b, int ldb, const double *beta, double *restrict c, int ldc)
{
    /*@ begin PerfTuning () @*/
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            c[i + j * ldc] *= *beta;
    for (int j = 0; j < n; j++)
        for (int l = 0; l < k; l++)
            for (int i = 0; i < m; i++)
                c[i + j * ldc] += *alpha * b[l + j * ldb] * a[i + l * lda];
    /*@ end @*/
}

void dgemnt(int m, int n, int k, const double *alpha, const double *restrict a, int lda,
            const double *restrict b, int ldb, const double *beta, double *restrict c, int ldc)
{
    /*@ begin PerfTuning () @*/
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            c[i + j * ldc] *= *beta;
    for (int j = 0; j < n; j++)
        for (int l = 0; l < k; l++)
            for (int i = 0; i < m; i++)
                c[i + j * ldc] += *alpha * b[j + l * ldb] * a[i + l * lda];
    /*@ end @*/
}

void dgemtn(int m, int n, int k, const double *alpha, const double *restrict a, int lda,
            const double *restrict b, int ldb, const double *beta, double *restrict c, int ldc)
{
    /*@ begin PerfTuning () @*/
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            double sum = 0.0;
            for (int l = 0; l < k; l++)
                sum += a[l + i * lda] * b[l + j * ldb];
            c[i + j * ldc] = *alpha * sum + *beta * c[i + j * ldc];
        }
    /*@ end @*/
}

void dgemtt(int m, int n, int k, const double *alpha, const double *restrict a, int lda,
            const double *restrict b, int ldb, const double *beta, double *restrict c, int ldc)
{
    /*@ begin PerfTuning () @*/
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            double sum = 0.0;
            for (int l = 0; l < k; l++)
                sum += a[l + i * lda] * b[j + l * ldb];
            c[i + j * ldc] = *alpha * sum + *beta * c[i + j * ldc];
        }
    /*@ end @*/
}
