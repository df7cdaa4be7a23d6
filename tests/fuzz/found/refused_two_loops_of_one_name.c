/* point 352 first */
/* fuzz f: n=6 m=5; n=6 m=3; n=1 m=1 */
void f(int n, int m, double A[m + 9][n + 6])
{
  double t = 1.0;
  /*@ begin PerfTuning (def input_params { param n = 6; param m = 5; }) @*/
  for (int i = 0; i < n + 1; i++) {
    for (int j = 0; j <= n; j++) {
      A[j + 4][i + 2] = (A[j + 3][i + 2] - 3.0) + 3.0;
    }
    for (int j = 0; j < m - 1; j++) {
      if (j == n) {
        t = 3.0 + A[i + 1][j + 3];
        A[j][i + 1] = t + A[i + 2][3 * j + 2];
      } else {
        A[j + 3][i + 2] = A[i + 2][0];
      }
    }
  }
  /*@ end @*/
}
