/* point 6697 random */
/* fuzz f: n=6 m=4; n=4 m=5; n=1 m=1 */
static double A_f[9][7];
double *A_f_place(void) { return &A_f[0][0]; }
static double C_f[4][1][1];
double *C_f_place(void) { return &C_f[0][0][0]; }
void f(int n, int m, double B[n + 10][5], double *out)
{
  double s = 1.0;
  /*@ begin PerfTuning (def input_params { param n = 6; param m = 4; }) @*/
  for (int i = 1; i < m; i += 2) {
    for (int j = i; j < m; j++) {
      for (int k = 0; k < n; k++) {
        for (int l = 1; l <= j + 2; l += 2) {
          if (B[3 * k][l - 1] > A_f[j][l + 1]) {
            C_f[i - 1][0][0] += 1.0;
          } else {
            s += i + A_f[2 * j][0];
          }
        }
      }
      A_f[m - i - 1][j + 2] -= A_f[j][i + 2];
    }
  }
  /*@ end @*/
  out[0] = s;
}
