/* point 0 first */
/* fuzz f: n=7; n=1 */
void f(int n, const double A[n][n], double *out)
{
  double v = 1.0;
  /*@ begin PerfTuning (def input_params { param n = 7; }) @*/
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      v = 2.0 * A[i][j];
  /*@ end @*/
  out[0] = v;
}
