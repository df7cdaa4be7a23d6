/* point 0 first */
/* fuzz f: n=6; n=3 */
void f(int n, double A[n + 1][n + 2])
{
  /*@ begin PerfTuning (def input_params { param n = 6; }) @*/
  for (int i = 1; i < n; i++) {
    double W[5];
    for (int j = 0; j < 5; j++)
      W[j] = A[0][0] + j;
    for (int j = 0; j < n; j++)
      A[j][0] = W[0] + A[1][i];
  }
  /*@ end @*/
}
