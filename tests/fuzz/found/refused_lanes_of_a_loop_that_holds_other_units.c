/* point 3222 first */
/* fuzz f: n=4 m=4; n=4 m=5; n=4 m=1 */
/* room B: (m + 7) * (m + 1) */
#define n 4
static double A_f[6];
double *A_f_place(void) { return &A_f[0]; }
void f(int m, double *restrict B)
{
  double t = 1.0;
  int i, j, k, l;
  /*@ begin PerfTuning (def input_params { param m = 4; }) @*/
  for (i = 0; i < n; i++) {
    for (j = 0; j < n; j++) {
      for (k = 0; k < m - 1; k++) {
        for (l = 2; l < n; l++) {
          t = i * 2.0;
          A_f[l + 2] = t + 2.0;
        }
        A_f[j + 1] -= (B[(k + 2) * (m + 1) + 0] + A_f[k + 2]) + 2.0;
        B[(3 * j) * (m + 1) + n - k] = fmax(A_f[k], A_f[2]);
      }
    }
    A_f[i + 2] += i - A_f[i + 2];
  }
  /*@ end @*/
}
#undef n
