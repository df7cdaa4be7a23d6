/* point 9024 first */
/* fuzz f: n=3 m=5 */
/* room A: (1) */
void f(int n, int m, double *restrict A, double *out)
{
  double v = 1.0;
  /*@ begin PerfTuning (def input_params { param n = 3; param m = 5; }) @*/
  for (int i = 0; i < n; i++) {
    v = i;
    A[0] = 1.0;
    for (int j = 0; j < 2; j++) {
      for (int k = 1; k < 2; k++) {
        v = 1.0;
      }
    }
  }
  /*@ end @*/
  out[0] = v;
}
