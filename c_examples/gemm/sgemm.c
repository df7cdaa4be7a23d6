/* C = alpha A B + beta C in single precision, by columns and with leading dimensions, as BLAS sgemm
 * defines it for matrices that are not transposed, but for beta = 0, where BLAS does not read C.
 */
void sgemm(int m, int n, int k, float alpha, const float *restrict A, int lda,
           const float *restrict B, int ldb, float beta, float *restrict C, int ldc)
{
    /*@ begin PerfTuning (
      def input_params {
        param m = 512; param n = 512; param k = 512;
        param lda = 512; param ldb = 512; param ldc = 512;
      }
    ) @*/
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            float sum = 0.0f;
            for (int l = 0; l < k; l++)
                sum += A[i + l*lda] * B[l + j*ldb];
            C[i + j*ldc] = alpha * sum + beta * C[i + j*ldc];
        }
    /*@ end @*/
}
