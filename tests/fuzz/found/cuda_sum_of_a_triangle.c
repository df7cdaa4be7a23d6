/* point 8642 first */
/* fuzz f: n=6 m=3; n=4 m=3; n=1 m=1 */
/* room B: (11) * (m) * (6) */
void f(int n, int m, double *B, double *out)
{
  double q = 1.0;
  /*@ begin PerfTuning (def input_params { param n = 6; param m = 3; }) @*/
  for (int i = 1; i < n + 1; i++) {
    for (int j = 0; j < m; j++) {
      for (int k = j + 1; k <= n; k++) {
        q += B[(2 * i - 2) * (m) * 6 + (j) * 6 + k - 1];
      }
    }
  }
  /*@ end @*/
  out[0] = q;
}
