/* Loops between numbers that are farther apart than a distance of their type. */
int counted(int s, int n, double *restrict x)
{
  int t = 0, u = 0, i, k;
  /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/
  for (i = s; i < n; i++)
    t++;
  for (k = n; k > s; k -= 2)
    u++;
  for (int j = 0; j < 8; j++)
    x[j] += t + u;
  /*@ end @*/
  return i / 2 + k / 2;
}

double summed(int s, int n, const double *restrict x)
{
  double sum = 0;
  /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/
  for (int j = 0; j < n; j++) {
    int t = 1;
    for (int k = s; k > n; k--)
      t++;
    sum += x[j] * t;
  }
  /*@ end @*/
  return sum;
}

long counted_long(long s, long n, double *restrict x)
{
  long t = 0, u = 0, i, k;
  /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/
  for (i = s; i < n; i++)
    t++;
  for (k = n; k > s; k -= 2)
    u++;
  for (int j = 0; j < 8; j++)
    x[j] += t + u;
  /*@ end @*/
  return i / 2 + k / 2;
}

double summed_long(long s, long n, const double *restrict x)
{
  double sum = 0;
  /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/
  for (long j = 0; j < n; j++) {
    long t = 1;
    for (long k = s; k > n; k--)
      t++;
    sum += x[j] * t;
  }
  /*@ end @*/
  return sum;
}
