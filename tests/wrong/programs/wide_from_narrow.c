/* Iterators that start at what goes round in a narrower unsigned type. */
double left(unsigned n, unsigned m, double *restrict x)
{
  long long i, j;
  int t = 0, q;
  /*@ begin PerfTuning ( def input_params { param n = 12; param m = 5; } ) @*/
  for (i = -n; i < n; i += 2) {
  }
  for (j = n - m; j < 9; j++)
    t++;
  for (q = 0; q < 3; q++)
    x[q] -= x[q] * t;
  /*@ end @*/
  return i + 1000.0 * j;
}

double touched(unsigned n, unsigned m, double *restrict x, const double *restrict y)
{
  long i;
  /*@ begin PerfTuning ( def input_params { param n = 6; param m = 2; } ) @*/
  for (i = n - m; i < 9; i++)
    x[i] += y[i] * 2;
  /*@ end @*/
  return i;
}
