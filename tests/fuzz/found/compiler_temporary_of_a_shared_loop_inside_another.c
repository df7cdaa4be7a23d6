/* point 3868 first */
/* fuzz f: n=4 m=2 */
void f(int n, int m, double A[2], double B[2], double *out)
{
  double s = 1.0;
  /*@ begin PerfTuning (def input_params { param n = 4; param m = 2; }) @*/
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < 2; j++) {
      double u00 = j;
      B[i] += A[i];
      s += u00;
    }
  }
  /*@ end @*/
  out[0] = s;
}
