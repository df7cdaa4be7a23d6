/* The loop stands in the annotation and after it, as Orio's users write it. */
void axpy_both(int N, double *y, double a, double *x)
{
/*@ begin PerfTuning (
  def build { arg build_command = 'cc'; }     # no @CFLAGS: the list below changes nothing
  def performance_params {
    param UF[] = range(1,5);
    param CFLAGS[] = ['-O2', '-O3'];
    # constraint even = (UF % 2 == 0);
  }
  def input_params { param N[] = [2048]; }
  def input_vars {
    decl dynamic double x[N] = random;
    decl double static y[N] = 0;
    decl double a = random;
  }
  def search { arg algorithm = 'Exhaustive'; arg time_limit = 0.1; }
) @*/
  register int i;
/*@ begin Loop (
  transform Unroll(ufactor=UF)
  for (i = 0; i <= N-1; i++)
    y[i] = y[i] + a*x[i];
) @*/
  for (i = 0; i <= N-1; i++)
    y[i] = y[i] + a*x[i];
/*@ end Loop @*/
/*@ end PerfTuning @*/
}
