/* point 11 random */
/* fuzz f: n=6 m=5 */
void f(int n, int m, double B[1][6][1])
{
  /*@ begin PerfTuning (def input_params { param n = 6; param m = 5; }) @*/
  for (int i = 0; i < 2; i++) {
    double W2[6];
    for (int j = 0; j < n; j++) {
      W2[j] = B[0][j][0];
    }
  }
  /*@ end @*/
}
