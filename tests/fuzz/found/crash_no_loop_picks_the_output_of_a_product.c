/* point 4393 random */
/* fuzz f4393: n=4 m=2; n=4 m=4; n=4 m=1 */
/* room A: (n + 1) * (m + 2) * (m + 3) */
#define n 4
double B_f4393[8];
double *B_f4393_place(void) { return &B_f4393[0]; }
void f4393(int m, float *restrict A, double C[n + 1][m + 5][n + 1])
{
  /*@ begin PerfTuning (def input_params { param m = 2; }) @*/
  for (int i = 1; i < m; i++) {
    C[i][0][0] -= B_f4393[i - 1] + i;
    C[0][0][0] += B_f4393[i] * A[((n - i) * (m + 2) + 1) * (m + 3) + 2];
    for (int j = i; j < m; j += 3) {
      C[0][j + i + 1][i] = A[((i) * (m + 2) + j - 1) * (m + 3) + 3];
    }
    double u00 = A[((0) * (m + 2) + i + 1) * (m + 3) + 0] * B_f4393[i];
    B_f4393[2 * i + 1] += u00 + 3.0;
  }
  /*@ end @*/
}
#undef n
