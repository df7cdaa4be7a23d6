/* point 0 first */
/* fuzz f:  */
void f(double A[6][6])
{
  /*@ begin PerfTuning () @*/
  for (int i = 1; i <= 4; i++)
    for (int j = 0; j < 4 - i; j++)
      for (int k = 0; k < 4; k++)
        for (int l = 1; l < 3 - i; l += 2)
          A[j][k + 2] += A[i - 1][j] + A[l][j];
  /*@ end @*/
}
