void gemm(int m, int n, int k, double alpha, double beta, double C[m][n], const double A[m][k],
          const double B[k][n])
{
    /*@ begin PerfTuning (
      def input_params { param m = 16; param n = 24; param k = 8; }
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
