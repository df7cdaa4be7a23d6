/* One sum of 64 bits in C because of an iterator, in whose place an unrolled loop puts numbers. */
void rows(int n, int m, double *restrict b)
{
  /*@ begin PerfTuning ( def input_params { param n = 12; param m = 9; } ) @*/
  for (unsigned e = 0; e < n; e++)
    for (unsigned long j = 0; j < m && j < n; j++)
      b[e * (m + 2) + j] += 1 + b[e * (m + 2) + j - 1];
  /*@ end @*/
}

void columns(unsigned n, double *restrict b, const double *restrict x)
{
  /*@ begin PerfTuning ( def input_params { param n = 12; } ) @*/
  for (unsigned e = 0; e < n; e++)
    for (long j = 0; j < 5; j++)
      b[e + j - 3] += x[e * 7 + j * 2 - 6];
  /*@ end @*/
}
