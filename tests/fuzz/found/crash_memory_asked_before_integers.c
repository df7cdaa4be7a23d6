/* point 7840 first */
/* fuzz f: n=6 m=5 */
/* room C: (7) */
#define n 6
#define m 5
double A_f[1][2][6];
double *A_f_place(void) { return &A_f[0][0][0]; }
void f(double *restrict C)
{
  int i, j, k;
  /*@ begin PerfTuning () @*/
  for (i = 0; i <= 4; i++) {
    for (j = i; j <= n; j++) {
      if ((C[j] >= 0.0) || (j < i)) {
        for (k = j + 1; k < n; k++) {
          if (i < 0) {
            A_f[0][0][k - 1] += 1.0;
          }
        }
      }
    }
  }
  /*@ end @*/
}
#undef n
#undef m
