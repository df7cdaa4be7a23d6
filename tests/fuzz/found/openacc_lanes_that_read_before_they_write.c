/* point 8200 first */
/* fuzz f: n=5 m=5; n=6 m=5; n=1 m=1 */
void f(int n, int m, double A[m + 6][m + 2])
{
  /*@ begin PerfTuning (def input_params { param n = 5; param m = 5; }) @*/
  for (int i = 1; i < n - 1; i += 2) {
    for (int j = 0; j < m; j++) {
      A[j][i + 3] = 4.0;
      A[j][i + 2] += A[j][m - i];
    }
  }
  /*@ end @*/
}
