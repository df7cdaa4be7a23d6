/* point 558 first */
/* fuzz f: n=6 m=4; n=3 m=2; n=1 m=1 */
/* room B: (m + 1) * (m) */
void f(int n, int m, double A[m + 2][n + 1], double *restrict B, double *out)
{
  double q = 1.0;
  /*@ begin PerfTuning (def input_params { param n = 6; param m = 4; }) @*/
  for (int i = 2; i <= n - 1; i++) {
    if (A[i - 2][0] >= B[(i - 2) * (m) + 0]) {
      for (int j = 1; j < n; j++) {
        A[i][j] = i;
        q -= j;
      }
    }
  }
  /*@ end @*/
  out[0] = q;
}
