/* point 0 first */
/* fuzz f:  */
void f(double A[3], double B[3])
{
  /*@ begin PerfTuning () @*/
  for (int i = 2; i < 5; i++) {
    for (int j = i; j < 2; j++)
      B[0] += A[j - 4];
    B[0] -= A[i - 2];
  }
  /*@ end @*/
}
