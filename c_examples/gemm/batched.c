/* C = alpha A B + beta C for many small square matrices, row-major, one behind the other: Fig. 3 of
 * A. Abdelfattah et al., "High-Performance Tensor Contractions for GPUs", ICCS 2016,
 * doi:10.1016/j.procs.2016.05.302, which has 100,000 of them, n up to 32.
 */
void batched_gemm(int batch, int n, double alpha, double beta, double C[restrict batch][n][n],
                  const double A[restrict batch][n][n], const double B[restrict batch][n][n])
{
    /*@ begin PerfTuning (
      def input_params { param batch = 100000; param n = 8; }
    ) @*/
    for (int b = 0; b < batch; b++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double sum = 0.0;
                for (int k = 0; k < n; k++)
                    sum += A[b][i][k] * B[b][k][j];
                C[b][i][j] = alpha * sum + beta * C[b][i][j];
            }
    /*@ end @*/
}
