/* point 0 first */
/* fuzz f: m=5; m=2 */
double A[6][3];
double *A_place(void) { return &A[0][0]; }
void f(int m, double B[6][8])
{
  double v = 1.0;
  /*@ begin PerfTuning (def input_params { param m = 5; }) @*/
  for (int i = 0; i < m; i++) {
    for (int j = 1; j < 4; j++)
      B[j][i + 2] *= A[i][0];
    v = B[i][0];
    B[i][4] = v;
  }
  /*@ end @*/
}
