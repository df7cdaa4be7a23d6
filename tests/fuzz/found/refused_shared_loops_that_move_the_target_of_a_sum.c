/* point 3366 first */
/* fuzz f: n=4 m=5 */
void f(int n, int m, double A[2], double *out)
{
  double s = 1.0;
  /*@ begin PerfTuning (def input_params { param n = 4; param m = 5; }) @*/
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < 2; j++) {
      A[j] = A[j] * 1.0;
      s = fmin(s, j);
    }
  }
  /*@ end @*/
  out[0] = s;
}
