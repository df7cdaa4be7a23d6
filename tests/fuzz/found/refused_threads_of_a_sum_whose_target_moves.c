/* point 3570 first */
/* fuzz f: n=3 m=4 */
void f(int n, int m, double A[3][2][2], double *out)
{
  double s = 1.0;
  /*@ begin PerfTuning (def input_params { param n = 3; param m = 4; }) @*/
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < 2; j++) {
      for (int x = 0; x < 2; x++) {
        for (int l = 0; l < 2; l++) {
          if ((i - A[2][l][i]) > s) {
            s = i - A[2][l][i];
          }
          A[j][0][0] += x;
        }
      }
    }
    s = s;
  }
  /*@ end @*/
  out[0] = s;
}
