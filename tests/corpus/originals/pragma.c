void scale(int n, double *y, double a)
{
  int i;
#pragma Orio Loop(transform Unroll(ufactor=3, parallelize=True))
  for (i = 0; i <= n-1; i++) y[i] *= a;
#pragma Oiro
}
