/* point 480 first */
/* fuzz f: n=5 m=3; n=4 m=4; n=1 m=1 */
/* room B: (m + 1) */
double C_f[1][2];
double *C_f_place(void) { return &C_f[0][0]; }
void f(int n, int m, double *restrict B)
{
  /*@ begin PerfTuning (def input_params { param n = 5; param m = 3; }) @*/
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < 2; j++) {
      C_f[0][j] = 1.0;
      for (int k = 0; k < 2; k++) {
        B[0] += 1.0;
      }
    }
    B[0] += C_f[0][0];
  }
  /*@ end @*/
}
