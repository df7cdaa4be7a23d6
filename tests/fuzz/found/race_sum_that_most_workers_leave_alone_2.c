/* point 8033 random */
/* fuzz f: n=4 m=2; n=2 m=3; n=1 m=1 */
/* room B: (m + 1) */
void f(int n, int m, double *B, double *out)
{
  double s = 1.0;
  double q = 1.0;
  /*@ begin PerfTuning (def input_params { param n = 4; param m = 2; }) @*/
  for (int i = 0; i < n; i++) {
    for (int j = 1; j < n; j++) {
      for (int k = 1; k < m; k++) {
        if ((j - 1) >= (n - 2)) {
          s -= B[0] - B[k];
        } else {
          q *= k;
        }
      }
    }
    q -= ((i != (n - 1)) ? 1.0 : i);
  }
  /*@ end @*/
  out[0] = s;
  out[1] = q;
}
