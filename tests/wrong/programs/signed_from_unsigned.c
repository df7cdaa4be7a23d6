/* Iterators with a sign that start at numbers without one, as C converts them. */
#include <stddef.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))

void minus(unsigned u, int n, int *restrict x)
{
  /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/
  for (int e = 0; e < 6; e++) {
    int count = 0;
    for (int i = -u; i >= n * 2; i -= 2)
      count += 3;
    x[e] -= count;
  }
  /*@ end @*/
}

int less_a_great_one(unsigned char n, int by, double *restrict x)
{
  unsigned great = -1;
  int count = 0;
  /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/
  for (int k = n - great; k <= 12; k += 3)
    count -= by;
  for (int j = 0; j < n; j++)
    x[j] += 1.0;
  /*@ end @*/
  return count;
}

int beyond_all(int n, long m, const int *restrict a, int *restrict x)
{
  const size_t first = m + 2;
  /*@ begin PerfTuning ( def input_params { param n = 8; param m = 12; } ) @*/
  for (int i = 0; i < n; i++) {
    short count = a[i];
    for (long row = MAX(0, first); row > m - 1; row--)
      count = count - 2;
    x[i] += count;
  }
  /*@ end @*/
  return 0;
}

void asked(int most, double *restrict x)
{
  size_t s = 0;
  /*@ begin PerfTuning ( def input_params { param most = 20; } ) @*/
  for (int j = (s > most ? 1 : 2); j > most % 5; j--)
    x[j + 1] = j / 2;
  for (int j = (s > most ? 1 : 2); j < 9; j++)
    x[j + 3] += 1;
  /*@ end @*/
}

void sizes(unsigned n, unsigned m, size_t s, double *restrict w, double *restrict x)
{
  /*@ begin PerfTuning ( def input_params { param n = 6; param m = 5; param s = 4; } ) @*/
  for (int j = n - 1; j >= 0; j--)
    w[j] += 1;
  for (int i = 0; i < n; i++)
    for (int j = m - 1; j >= 0; j--)
      x[i * m + j] = w[i] * j;
  for (long q = s - 1; q > 0; q--)
    w[q] += x[q];
  /*@ end @*/
}

void halves(size_t great, int n, unsigned *restrict x)
{
  /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/
  for (int i = 0; i < 6; i++) {
    unsigned sum = 0;
    for (int e = 0; e < n; e++)
      sum += great / 2;
    x[i] = sum;
  }
  /*@ end @*/
}

void of_a_long(long t, int m, long *restrict y)
{
  int i, row;
  /*@ begin PerfTuning ( def input_params { param m = 12; } ) @*/
  for (i = 0; i < 6; i++) {
    int count = m;
    for (row = t + 1; row <= m; row++)
      count -= 2;
    y[i] += count - row;
  }
  /*@ end @*/
}

void of_a_local(int n, double *restrict x)
{
  const long p = n + 1;
  /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/
  for (int k = p - 1; k >= p - 1; k--)
    x[k] += 1;
  for (int j = p - 2; j >= p - 4; j--)
    x[j] *= 2;
  /*@ end @*/
}
