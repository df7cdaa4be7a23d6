/* point 8033 random */
/* fuzz f: n=4 m=2 */
void f(int n, int m, double *out)
{
  double s = 1.0;
  /*@ begin PerfTuning (def input_params { param n = 4; param m = 2; }) @*/
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < n; j++) {
      for (int k = 0; k < 2; k++) {
        if ((j - 1) >= (n - 2)) {
          s -= 1.0;
        }
      }
    }
  }
  /*@ end @*/
  out[0] = s;
}
