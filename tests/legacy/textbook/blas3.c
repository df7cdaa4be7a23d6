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

void dsyrkn(int n, int k, const double *alpha, const double *restrict a, int lda,
            const double *beta, double *restrict c, int ldc)
{
    /*@ begin PerfTuning () @*/
    for (int j = 0; j < n; j++)
        for (int i = 0; i <= j; i++)
            c[i + j * ldc] *= *beta;
    for (int j = 0; j < n; j++)
        for (int l = 0; l < k; l++)
            for (int i = 0; i <= j; i++)
                c[i + j * ldc] += *alpha * a[j + l * lda] * a[i + l * lda];
    /*@ end @*/
}

void dsyrkt(int n, int k, const double *alpha, const double *restrict a, int lda,
            const double *beta, double *restrict c, int ldc)
{
    /*@ begin PerfTuning () @*/
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double sum = 0.0;
            for (int l = 0; l < k; l++)
                sum += a[l + i * lda] * a[l + j * lda];
            c[i + j * ldc] = *alpha * sum + *beta * c[i + j * ldc];
        }
    /*@ end @*/
}

void dsyr2k(int n, int k, const double *alpha, const double *restrict a, int lda,
            const double *restrict b, int ldb, double *restrict c, int ldc)
{
    /*@ begin PerfTuning () @*/
    for (int j = 0; j < n; j++)
        for (int l = 0; l < k; l++)
            for (int i = 0; i <= j; i++)
                c[i + j * ldc] += *alpha * a[i + l * lda] * b[j + l * ldb]
                                  + *alpha * b[i + l * ldb] * a[j + l * lda];
    /*@ end @*/
}

void dsr2kt(int n, int k, const double *alpha, const double *restrict a, int lda,
            const double *restrict b, int ldb, const double *beta, double *restrict c, int ldc)
{
    /*@ begin PerfTuning () @*/
    for (int j = 0; j < n; j++)
        for (int i = 0; i <= j; i++) {
            double sum = 0.0;
            for (int l = 0; l < k; l++)
                sum += a[l + i * lda] * b[l + j * ldb] + b[l + i * ldb] * a[l + j * lda];
            c[i + j * ldc] = *alpha * sum + *beta * c[i + j * ldc];
        }
    /*@ end @*/
}

void dtrmlu(int m, int n, const double *alpha, const double *restrict a, int lda,
            double *restrict b, int ldb)
{
    /*@ begin PerfTuning () @*/
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            double sum = 0.0;
            for (int k = i; k < m; k++)
                sum += a[i + k * lda] * b[k + j * ldb];
            b[i + j * ldb] = *alpha * sum;
        }
    /*@ end @*/
}

void dtrslu(int m, int n, const double *alpha, const double *restrict a, int lda,
            double *restrict b, int ldb)
{
    /*@ begin PerfTuning () @*/
    for (int j = 0; j < n; j++)
        for (int i = m - 1; i >= 0; i--) {
            double sum = *alpha * b[i + j * ldb];
            for (int k = i + 1; k < m; k++)
                sum -= a[i + k * lda] * b[k + j * ldb];
            b[i + j * ldb] = sum / a[i + i * lda];
        }
    /*@ end @*/
}
