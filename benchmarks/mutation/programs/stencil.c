void stencil(int n, int m, const double *restrict u, double *restrict v)
{
    /*@ begin PerfTuning (
      def input_params { param n = 18; param m = 34; }
    ) @*/
    for (int i = 1; i < n - 1; i++)
        for (int j = 1; j < m - 1; j++)
            v[i * m + j] = 0.5 * u[i * m + j] + 0.125 * (u[(i - 1) * m + j] + u[(i + 1) * m + j]
                         + u[i * m + j - 1] + u[i * m + j + 1]);
    /*@ end @*/
}
