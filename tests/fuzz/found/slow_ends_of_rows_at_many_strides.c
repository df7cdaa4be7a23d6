/* point 3546 first */
/* fuzz f3546: n=4 m=5; n=7 m=4; n=1 m=1 */
/* room A: (m + 21) * (m + 17) * (n + 19) */
void f3546(int n, int m, double *restrict A)
{
  /*@ begin PerfTuning (def input_params { param n = 4; param m = 5; }) @*/
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      if (A[(j + 5) * (m + 17) * (n + 19) + (i + 3) * (n + 19) + 3] != 0.0) {
        for (int k = 1; k <= n; k++) {
          A[(k + 5) * (m + 17) * (n + 19) + (n - j + 1) * (n + 19) + m - i + 2] = (A[(k - i + 5) * (m + 17) * (n + 19) + (3 * j + 2) * (n + 19) + i + 3] + A[(3 * j + 5) * (m + 17) * (n + 19) + (i + 2) * (n + 19) + 3 * k + 3]) * A[(j + 3) * (m + 17) * (n + 19) + (j) * (n + 19) + k + 2];
        }
      }
    }
  }
  for (int i = 0; i < n + 1; i += 3) {
    A[(n - i + 4) * (m + 17) * (n + 19) + (2) * (n + 19) + 4] -= A[(i + 6) * (m + 17) * (n + 19) + (0) * (n + 19) + 3];
  }
  /*@ end @*/
}
