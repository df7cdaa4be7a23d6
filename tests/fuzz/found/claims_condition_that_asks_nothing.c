/* point 507 random */
/* fuzz f: n=5 m=4 */
/* room A: (1) */
static double B_f[1];
double *B_f_place(void) { return &B_f[0]; }
void f(int n, int m, double *restrict A, double C[1])
{
  /*@ begin PerfTuning (def input_params { param n = 5; param m = 4; }) @*/
  for (int i = 0; i < 2; i++) {
    if (A[0] >= 0.0) {
      for (int j = 0; j < 2; j++) {
        if (((j + 1) <= (j + 1)) || (1.0 <= B_f[0])) {
          C[0] = 1.0;
          B_f[0] = 1.0;
        }
      }
    }
  }
  /*@ end @*/
}
