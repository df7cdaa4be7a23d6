/* point 8129 random */
/* fuzz f: n=5 */
/* room A: (n + 1) */
#define n 5
void f(double *restrict A, double C[n + 13][n + 4])
{
  int i, j;
  /*@ begin PerfTuning () @*/
  for (i = 2; i < n - 1; i++) {
    for (j = 1; j <= n + 1; j++) {
      A[0] = C[j - 1][i + j - 1] * j;
      A[0] -= C[3 * j - 2][i - 2] * j;
    }
  }
  /*@ end @*/
}
#undef n
