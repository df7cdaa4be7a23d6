/* Which elements of x are touched hangs on mx, with which isl counts as with 0 or 1. */
void counted(int n, double mx, const short b[restrict 10], const short *x, short c[restrict n][n + 1],
             const long long *r)
{
  /*@ begin PerfTuning ( def input_params { param n = 5; } ) @*/
  for (int j = 0; j < n / 2; ++j) {
    for (int e = 0; e < (n < 9 ? n : 9); ++e) {
      if (mx != 1) {
        c[j][e] += (x[5 * 3 + 2] * (j <= e ? b[2] : -1));
      }
      if (e <= j) {
        c[j][e] *= r[e * (n + 1) * (n + 1) + e * (n + 1) + j];
      } else {
        c[j][e] += (c[j][j] - j);
      }
    }
  }
  /*@ end @*/
}
