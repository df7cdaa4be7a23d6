/*@ begin PerfTuning (
  def performance_params {
    param T_I[] = [1,16,32];
    param U_J[] = range(1,5);
    param VEC[] = [False,True];
  }
  def input_params { param M = 24; param N = 40; }
  def input_vars {
    decl static double A[M][N] = random;
    decl static double x[N] = random;
    decl static double y[M] = 0;
    decl double scale = 0.5;
  }
  def validation { arg validation_file = 'no_such_file.c'; }
) @*/

#define max(a,b) ((a) > (b) ? (a) : (b))
int i;

/*@ begin Loop (
  transform Composite(
    tile = [('i',T_I,'ii')],
    unrolljam = (['j'],[U_J]),
    vector = (VEC, ['ivdep'])
  )
  for (i = 0; i <= M-1; i++)
    for (j = 0; j <= N-1; j++)
      y[i] = y[i] + scale*A[i][j]*x[j];
) @*/

/*@ end @*/
/*@ end @*/
