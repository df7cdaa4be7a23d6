/* point 584 first */
/* fuzz f: n=5 m=4; n=7 m=6; n=1 m=1 */
/* room A: (n + 1) * (1) */
void f(int n, int m, double *restrict A, double alpha, double *out)
{
  double t = 1.0;
  double q = 1.0;
  /*@ begin PerfTuning (def input_params { param n = 5; param m = 4; }) @*/
  for (int i = 1; i <= n; i++) {
    t = alpha;
    for (int j = 0; j < 2; j += 3) {
      for (int k = 0; k < 2; k++) {
        t = A[(n - 1) * 1 + 0];
      }
    }
    q = fmin(q, t);
  }
  /*@ end @*/
  out[0] = q;
}
