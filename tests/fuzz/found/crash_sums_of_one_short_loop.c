/* point 2375 random */
/* fuzz f: n=1 */
void f(double C[3], double A[3][2][3], double B[2][3])
{
  /*@ begin PerfTuning () @*/
  for (int j = 0; j < 3; j++) {
    double t = 0.0;
    for (int k = 0; k < 2; k++) {
      for (int i = 0; i < 3; i++) {
        t += A[i][k][j] * B[k][i];
      }
    }
    C[j] -= t;
  }
  /*@ end @*/
}
