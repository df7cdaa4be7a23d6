/* point 0 first */
/* fuzz f: n=5 m=3; n=7 m=9 */
void f(int n, int m, double A[n + 3])
{
  /*@ begin PerfTuning (def input_params { param n = 5; param m = 3; }) @*/
  for (int i = 2; i < n + 1; i++)
    for (int j = i; j < m - i; j += 3) {
      double u = 3.0 + A[i + 1];
      A[2] += u;
    }
  for (int i = 0; i < n; i++)
    A[i] += 1.0;
  /*@ end @*/
}
