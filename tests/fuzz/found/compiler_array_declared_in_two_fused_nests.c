/* point 9201 random */
/* fuzz f: n=3 m=2 */
/* room B: (2) * (m) * (n) */
/* room W2: (m + 1) */
#define n 3
#define m 2
void f(double A[1][n + 1][1], double *restrict B, double *W2)
{
  /*@ begin PerfTuning () @*/
  for (int i = 0; i < 2; i += 3) {
    A[0][0][0] = 1.0;
    for (int j = 1; j < n; j++) {
      for (int k = 0; k < 2; k++) {
        W2[0] = k;
      }
      for (int k = i; k < m; k++) {
        B[((j - 1) * (m) + 0) * (n) + i] = W2[0];
      }
    }
  }
  /*@ end @*/
}
#undef n
#undef m
