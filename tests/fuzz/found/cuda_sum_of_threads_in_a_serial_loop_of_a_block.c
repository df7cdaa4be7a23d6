/* point 6940 first */
/* fuzz f: n=5 m=3 */
static double A_f[4];
double *A_f_place(void) { return &A_f[0]; }
void f(int n, int m)
{
  /*@ begin PerfTuning (def input_params { param n = 5; param m = 3; }) @*/
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < 2; j++) {
      for (int k = j; k < 2; k++) {
        for (int l = 0; l < 2; l++) {
          A_f[0] -= A_f[k + 2];
        }
      }
    }
  }
  /*@ end @*/
}
