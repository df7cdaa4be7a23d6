/* point 2179 first */
/* fuzz f: n=6 m=5; n=7 m=3; n=1 m=1 */
float A[7];
float *A_place(void) { return &A[0]; }
void f(int n, int m, float B[n])
{
  /*@ begin PerfTuning (def input_params { param n = 6; param m = 5; }) @*/
  for (int i = 0; i < n; i++) {
    for (int j = 1; j < n; j++) {
      for (int k = 0; k <= m - 1; k += 2) {
        B[k] *= fmin(A[j], k);
        A[0] *= 3.0;
      }
    }
  }
  /*@ end @*/
}
