/* point 33 random */
/* fuzz f33: ni=5; ni=7; ni=1 */
/* einsum C[] += 1 A[i] B[i] where i=ni */
void f33(int ni, double *restrict C, double A[ni], double B[ni])
{
  /*@ begin PerfTuning (def input_params { param ni = 5; }) @*/
  for (int i = 0; i < ni; i++) {
    C[0] += A[i] * B[i];
  }
  /*@ end @*/
}
