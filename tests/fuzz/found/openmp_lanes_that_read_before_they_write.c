/* point 1 first */
/* fuzz f: n=40 m=3; n=6 m=5; n=1 m=1 */
void f(int n, int m, double A[m + 70][n])
{
  /*@ begin PerfTuning (def input_params { param n = 40; param m = 3; }) @*/
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < n; j++) {
      A[i + 3][j] = 4.0;
      A[i + 10][j] += A[2 * m - i][j];
    }
  }
  /*@ end @*/
}
