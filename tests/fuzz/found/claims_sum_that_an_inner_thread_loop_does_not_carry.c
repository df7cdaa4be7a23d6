/* point 3060 first */
/* fuzz f: n=4 m=2; n=1 m=1 */
/* room B: (n + 1) * (m + 2) */
/* room C: (m + 4) */
static double A_f[5][5];
double *A_f_place(void) { return &A_f[0][0]; }
void f(int n, int m, double *restrict B, double *C)
{
  int i, j, k;
  /*@ begin PerfTuning (def input_params { param n = 4; param m = 2; }) @*/
  for (i = 2; i < n; i++) {
    for (j = n - 1; j >= 1; j--) {
      for (k = 0; k < n; k++) {
        if ((k - 1) == j) {
          B[(j - 1) * (m + 2) + k] += A_f[j + 1][k];
          C[i + 2] += 1.0;
        }
      }
      for (k = 2; k < m + 1; k++) {
        C[0] = C[0] + (A_f[0][j - 1] * A_f[k][m - i + 1]);
        A_f[j + 1][n - i] += j;
      }
    }
  }
  /*@ end @*/
}
