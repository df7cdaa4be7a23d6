/* point 0 first */
/* fuzz f: n=6 m=5; n=3 m=3 */
void f(int n, int m, double A[n + 2], double B[n + 2], double alpha)
{
  double t;
  /*@ begin PerfTuning (def input_params { param n = 6; param m = 5; }) @*/
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      t = i + alpha;
      B[j] += t;
    }
  for (int i = 0; i < m; i++) {
    t = 1.0 + i;
    A[i] = t;
  }
  /*@ end @*/
}
