/* Loops from below 0 that end where their iterator meets a number without a sign. */
#include <stddef.h>

unsigned long met(size_t ld, unsigned long p, long long by, double *restrict d)
{
  int j = 77;
  /*@ begin PerfTuning ( def input_params { param ld = 20; } ) @*/
  for (j = -2; j != (ld % 5); j++) {
    p = p - by;
    d[j + 2] = j / 2;
  }
  /*@ end @*/
  return p + j;
}

int halved(unsigned n, int m, double *restrict d)
{
  int i;
  /*@ begin PerfTuning ( def input_params { param n = 12; param m = 5; } ) @*/
  for (i = m - 9; i != n / 2; i += 1)
    d[i + 9] += i;
  /*@ end @*/
  return i;
}

void ends_below_zero(int n, size_t first, double *restrict x)
{
  int i;
  /*@ begin PerfTuning ( def input_params { param n = 16; param first = 12; } ) @*/
  for (i = first; i < (int)n; i++)
    x[i] = i * 0.5;
  /*@ end @*/
}
