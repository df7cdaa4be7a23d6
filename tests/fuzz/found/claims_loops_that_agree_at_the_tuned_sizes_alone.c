/* point 84 first */
/* fuzz f84: z=2 n=4 m=4; z=4 n=4 m=4; z=3 n=3 m=4; z=1 n=1 m=1 */
void f84(int z, int n, int m, double C[n + 1][n + 2][4])
{
  /*@ begin PerfTuning (def input_params { param z = 2; param n = 4; param m = 4; }) @*/
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < m; j++) {
      for (int k = 0; k < m; k++) {
        for (int l = 0; l < m; l++) {
          C[i][j][k] = 1.0;
        }
      }
    }
  }
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < m; j++) {
      for (int k = 0; k < m; k++) {
        for (int l = 0; l < n; l++) {
          C[i][j][k] += 1.0;
        }
      }
    }
  }
  /*@ end @*/
}
