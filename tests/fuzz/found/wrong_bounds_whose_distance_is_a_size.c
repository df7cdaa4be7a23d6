/* point 535 random */
/* fuzz f: n=3 m=3; n=6 m=6; n=1 m=1 */
void f(int n, int m, double A[5])
{
  /*@ begin PerfTuning (def input_params { param n = 3; param m = 3; }) @*/
  for (int i = 0; i < 2; i += 2) {
    for (int j = i + 1; j < i + m; j++) {
      A[i + j - 1] = j;
    }
  }
  for (int i = 0; i < 2; i++) {
    A[0] = 1.0;
  }
  /*@ end @*/
}
