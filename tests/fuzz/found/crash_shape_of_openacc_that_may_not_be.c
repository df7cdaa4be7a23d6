/* point 0 first */
/* fuzz f: n=3 m=3; n=3 m=6; n=1 m=1 */
/* room A: (m + 1) */
void f(int n, int m, double *A)
{
  double v = 1.0;
  double t = 1.0;
  /*@ begin PerfTuning (def input_params { param n = 3; param m = 3; }) @*/
  for (int i = 0; i < m; i += 3) {
    for (int j = 1; j < n; j++) {
      v = A[m - i - 1] * A[i];
      A[i + 1] = v + 2.0;
    }
    for (int j = 1; j < 3; j++) {
      t = 3.0 - j;
      if ((j - 1) < j) {
        A[i] = t + A[0];
      }
    }
  }
  /*@ end @*/
}
