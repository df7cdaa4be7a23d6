/* Several transformations in a row, one inside a loop over time, names in the closers. */
void sweep(int n, int steps, double u[n], double v[n])
{
/*@ begin PerfTuning (
  def performance_params { param TC[] = [32,64]; param BC[] = [14,28]; param PL[] = [16,48]; }
  def input_params { param n = 64; param steps = 4; }
) @*/
  int t, i;
/*@ begin Loop (
  for (t = 0; t < steps; t++) {
    transform CUDA(threadCount=TC, blockCount=BC, preferL1Size=PL)
    for (i = 1; i < n-1; i++)
      v[i] = 0.5*(u[i-1] + u[i+1]);

    transform CUDA(threadCount=TC, blockCount=BC)
    for (i = 1; i < n-1; i++)
      u[i] = v[i];
  }
) @*/
/*@ end Loop @*/
/*@ end PerfTuning @*/
}
