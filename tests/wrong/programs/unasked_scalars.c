/* A scalar of which plain expressions keep nothing is passed to no kernel. */
static double left;

void unasked(int n, int m, double *restrict r, int *restrict u)
{
  /*@ begin PerfTuning ( def input_params { param n = 6; } ) @*/
  for (int j = 0; j < n; j++)
    r[j] += j + r[j];
  left = m - m;
  for (int i = 0; i < n; i++)
    u[i] = 4;
  /*@ end @*/
  r[0] += left;
}
