/* Bounds that C compares with a sign, made of numbers without one. */
#include <stddef.h>

double casts(unsigned n, size_t m, double *restrict x, double *restrict y)
{
  long i;
  int k;
  /*@ begin PerfTuning ( def input_params { param n = 8; param m = 6; } ) @*/
  for (i = 1; i < (long)m - 1; i++)
    x[i] = i * 0.5;
  for (k = n - 1; k != (int)n; ++k)
    y[k + 1] += k;
  for (int q = 0; q < 6; q++) {
    long t = q;
    for (k = 1; k < (long)n - 1; ++k)
      t -= 2;
    y[q] += t - k;
  }
  /*@ end @*/
  return i + 1000.0 * k;
}

double doubled(unsigned n, unsigned short m, double *restrict x)
{
  long long i;
  /*@ begin PerfTuning ( def input_params { param n = 8; param m = 6; } ) @*/
  for (i = -2; i < n * 2; i++)
    x[i + 2] = i * 0.5;
  /*@ end @*/
  return i;
}

double from_one(long n, size_t m, int first, double *restrict x, const double *restrict y)
{
  long i, j;
  /*@ begin PerfTuning ( def input_params { param n = 8; param m = 6; } ) @*/
  for (i = (m > n ? 1 : 2); i < (long)m - 1; i += 2)
    for (j = 0; j < (long)m - i; j++)
      x[i * 9 + j] = y[j];
  /*@ end @*/
  return i;
}
