void f(int n, double *a)
{
  /*@ begin PerfTuning () @*/
  for (int i = 0; i < n; i++) a[i] = 0.0;
  /*@ end @*/
  asm ;
}
