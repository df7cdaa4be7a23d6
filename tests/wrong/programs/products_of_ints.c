/* What the user's text computes of ints in 64 bits: more than an int holds. */

#include <stddef.h>
#include <stdlib.h>

long last(int n, int m, double *restrict x, const double *restrict a)
{
  long i, count = 0;
  /*@ begin PerfTuning ( def input_params { param n = 300; param m = 60; } ) @*/
  for (i = (long)n * m - 6; i < (long)n * m; i++) {
    x[i - (long)n * m + 6] = 2 * a[i - (long)n * m + 7];
    count += 3;
  }
  /*@ end @*/
  return i + count;
}

void far(int n, int m, double *restrict x)
{
  long i;
  const long size = (long)m * n;
  double *const start = x - size;
  /*@ begin PerfTuning ( def input_params { param n = 300; param m = 60; } ) @*/
  for (i = 0; i < n % 7; i++)
    start[size + i] += i;
  /*@ end @*/
}

void of_unsigned(unsigned n, unsigned m, double *restrict x)
{
  /*@ begin PerfTuning ( def input_params { param n = 300; param m = 60; } ) @*/
  for (size_t i = (size_t)n * m; i < (size_t)n * m + 5; i++)
    x[i - (size_t)n * m] += 2;
  /*@ end @*/
}

int of_a_choice(int n, int m, unsigned s, double *restrict x)
{
  long i;
  /*@ begin PerfTuning ( def input_params { param n = 3; param m = 4; param s = 20; } ) @*/
  for (i = 0; i < (s > n * m ? 4L : 7L); i++)
    x[i] += i;
  /*@ end @*/
  return i;
}

void values(int n, int m, unsigned u, double *restrict x, const int *restrict k)
{
  const long all = (long)n * m;
  /*@ begin PerfTuning ( def input_params { param n = 300; param m = 60; param u = 4; } ) @*/
  for (int i = 0; i < 9; i++)
    x[i] = (long)n * m + i + (double)all / ((size_t)u * u + 1) + (long)k[i] * n + (u + 1L) * m
           + (i + (long)n) * m;
  /*@ end @*/
}

long summed(int n, int m, double *restrict x)
{
  long s = 0;
  /*@ begin PerfTuning ( def input_params { param n = 300; param m = 60; } ) @*/
  for (int i = 0; i < 9; i++) {
    if ((long)n * m > 1000 + i)
      x[i] += (long)i * n * m;
    s += (long)n * m;
  }
  /*@ end @*/
  return s;
}

void of_narrow(signed char n, unsigned short m, double *restrict x, const double *restrict y)
{
  const long far = (long)n * 700000001;
  /*@ begin PerfTuning ( def input_params { param n = 6; param m = 9; } ) @*/
  for (long i = (long)n * 700000001; i < (long)n * 700000001 + m; i++)
    x[i - far] = y[i - (long)n * 700000001] + (i - (long)n * 700000001) * 0.5 + (long)m * 100000;
  /*@ end @*/
}

int left_behind(int n, int m, int t, const int *restrict x)
{
  /*@ begin PerfTuning ( def input_params { param n = 6; param m = 9; } ) @*/
  for (long i = (long)n * 700000001; i < (long)n * 700000001 + m; i++)
    for (int j = 0; j < 3; j++)
      t = x[j];
  /*@ end @*/
  return t;
}

void two_unsigned(unsigned u, unsigned v, double *restrict x)
{
  /*@ begin PerfTuning ( def input_params { param u = 7; param v = 8; } ) @*/
  for (long i = (long)u + v; i < (long)u + v + 3; i++)
    x[i - u - v] += 1;
  /*@ end @*/
}

void far_below(int n, double *restrict x)
{
  /*@ begin PerfTuning ( def input_params { param n = 7; } ) @*/
  for (long i = (long)n - 5; i < (long)n - 2; i++)
    x[i - (long)n + 5] += 1;
  /*@ end @*/
}

void compared(int n, double *restrict x, const double *restrict y)
{
  /*@ begin PerfTuning ( def input_params { param n = 12; } ) @*/
  for (long i = (long)n * 700000001; i < (long)n * 700000001 + 3; i++)
    for (int j = 0; j < n; j++)
      x[i - (long)n * 700000001] = (long)(y[j * 3 + (i - (long)n * 700000001)] > x[i - (long)n * 700000001]
                                          ? y[j * 3 + (i - (long)n * 700000001)]
                                          : x[i - (long)n * 700000001]);
  /*@ end @*/
}

void left_in_an_iterator(unsigned char n, unsigned short count, double *restrict x)
{
  int i;
  /*@ begin PerfTuning ( def input_params { param n = 12; } ) @*/
  for (int j = 0; j < n; j++) {
    unsigned short own = count;
    for (i = 2; i != (long)n * 700000001 / 700000001; i++)
      own += n;
    x[j] += i - 3;
  }
  /*@ end @*/
}

void of_half(int n, double *restrict x)
{
  /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/
  for (long i = (long)(n / 2) * 700000001; i < (long)(n / 2) * 700000001 + 8; i++)
    x[i - (long)(n / 2) * 700000001] += 1;
  /*@ end @*/
}

void of_less(int n, int m, double *restrict x)
{
  /*@ begin PerfTuning ( def input_params { param n = 8; param m = 4; } ) @*/
  for (long i = (long)(n < m ? n : m) * 700000001; i < (long)(n < m ? n : m) * 700000001 + 8; i++)
    x[i - (long)(n < m ? n : m) * 700000001] += 1;
  /*@ end @*/
}

void negated(unsigned char n, double *restrict x)
{
  /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/
  for (long i = (long)-n * 700000001; i < (long)-n * 700000001 + 8; i++)
    x[i - (long)-n * 700000001] += abs(n);
  /*@ end @*/
}

void of_distance(int n, double *restrict x)
{
  /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/
  for (long i = (long)abs(n) * 700000001; i < (long)abs(n) * 700000001 + 8; i++)
    x[i - (long)abs(n) * 700000001] += 1;
  /*@ end @*/
}

void left_far(short n, unsigned m, double *restrict x)
{
  long i;
  /*@ begin PerfTuning ( def input_params { param n = 8; param m = 8; } ) @*/
  for (int j = 0; j < 4; j++) {
    for (i = (long)n * 700000001; i < (long)n * 700000001 + m; i++)
      x[i - (long)n * 700000001 + 8] += j;
    x[j] = i + m;
  }
  /*@ end @*/
}

void down(short n, unsigned m, double *restrict x)
{
  /*@ begin PerfTuning ( def input_params { param n = 8; param m = 8; } ) @*/
  for (long i = (long)n * 700000001 + m - 1; i >= (long)n * 700000001; i--)
    x[i - (long)n * 700000001] += i;
  /*@ end @*/
}

void staged(unsigned short n, short h, int *restrict x, const double *restrict y)
{
  /*@ begin PerfTuning ( def input_params { param n = 4; param h = 12; } ) @*/
  for (long j = 0; j < n; j++)
    for (long i = (long)n * 700000001; i < (long)n * 700000001 + 5; i++)
      x[(i - (long)n * 700000001) * (n + h) + j] =
          (int)(j * y[j * (n + h) + (i - (long)n * 700000001)]) % 1000;
  /*@ end @*/
}

void beyond_a_test(unsigned char n, size_t s, int *restrict x)
{
  /*@ begin PerfTuning ( def input_params { param n = 12; param s = 4; } ) @*/
  for (long i = (long)(n + 1) * 700000001; i < (long)(n + 1) * 700000001 + s; i++)
    for (int j = 0; j < 6; j++)
      if (x[j] > 0)
        x[(i - (long)(n + 1) * 700000001) * (n * 2) + j + 6] = j;
  /*@ end @*/
}
