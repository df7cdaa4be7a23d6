/* point 9 random */
/* fuzz f9: n=6 m=3; n=3 m=5; n=1 m=1 */
void f9(int n, int m, double A[m + 6][m + 7], double B[n + 4][n + 1])
{
  /*@ begin PerfTuning (def input_params { param n = 6; param m = 3; }) @*/
  for (int i = 0; i <= n; i++) {
    B[0][0] = (((i - 1) <= 3) ? B[0][0] : (B[0][0] + 1.0));
    for (int j = 0; j < n + 1; j++) {
      A[i][j] = (((j - 1) > 1) && ((i - 2) < 0)) ? 1.0 : A[i][j];
    }
  }
  /*@ end @*/
}
