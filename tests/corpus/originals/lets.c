/* `let` in every place, an aligned module around the loops, a text that differs. */
void lets(int n, double *y, double *x)
{
  int i;
/*@ begin PerfTuning (
  let HALF = WHOLE / 2;
  def performance_params { let TOP = 4; param UF[] = [1]+list(range(2,TOP)); }
  let WHOLE = 128;
  def input_params { let FULL = 2*HALF; param n = FULL; }
) @*/
/*@ begin Align (x[],y[]) @*/
/*@ begin Loop (
  transform Unroll(ufactor=UF)
  for (i = 0; i < n; i++)
    y[i] = 2*x[i] + 2*x[i];
) @*/
  for (i = 0; i < n; i++)
    y[i] = 2*(x[i] + x[i]);
/*@ end @*/
/*@ end Align @*/
/*@ end PerfTuning @*/
}
