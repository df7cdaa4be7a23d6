/* point 828 first */
/* fuzz f: n=6 m=5; n=2 m=3; n=1 m=1 */
double A_f[8][8];
double *A_f_place(void) { return &A_f[0][0]; }
void f(int n, int m, double B[n + 1][n + 1], double C[m + 3])
{
  double t = 1.0;
  /*@ begin PerfTuning (def input_params { param n = 6; param m = 5; }) @*/
  for (int i = 1; i < m; i++) {
    t = C[i] - i;
    A_f[i][2] += t + i;
    A_f[i - 1][0] += t * C[i + 2];
  }
  for (int i = 2; i < n + 1; i++) {
    t = C[0] + B[i][0];
    B[i - 2][0] = t + A_f[i][i];
  }
  /*@ end @*/
}
