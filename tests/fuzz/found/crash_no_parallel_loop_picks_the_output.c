/* point 94 first */
/* fuzz f94: n=6 m=3 */
double A_f94[1];
double *A_f94_place(void) { return &A_f94[0]; }
void f94(int n, int m)
{
  /*@ begin PerfTuning (def input_params { param n = 6; param m = 3; }) @*/
  for (int i = 1; i < 2; i++) {
    for (int j = 0; j < 2; j++) {
      for (int k = 0; k < 2; k++) {
        A_f94[0] += 1.0;
      }
    }
  }
  /*@ end @*/
}
