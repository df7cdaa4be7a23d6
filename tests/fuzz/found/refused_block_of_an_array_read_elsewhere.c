/* point 8020 first */
/* fuzz f: n=3 m=4 */
/* room C: (6) * (n + 2) */
#define n 3
#define m 4
double B_f[5][6];
double *B_f_place(void) { return &B_f[0][0]; }
void f(double *C, double W3[m], double alpha)
{
  /*@ begin PerfTuning () @*/
  for (int i = 0; i < m; i++) {
    for (int j = 2; j < m; j++) {
      for (int k = i; k < 2; k++) {
        for (int l = 1; l < n; l++) {
          W3[l] = B_f[k][i] + 1.0;
        }
        for (int l = 0; l < n; l += 3) {
          C[(k + i) * (n + 2) + 0] += W3[l] + C[(2) * (n + 2) + k];
        }
      }
      if (C[(j + 2) * (n + 2) + i + 1] > B_f[j][i + 2]) {
        C[(i + 2) * (n + 2) + 0] += (alpha * alpha) + j;
      }
    }
  }
  /*@ end @*/
}
#undef n
#undef m
