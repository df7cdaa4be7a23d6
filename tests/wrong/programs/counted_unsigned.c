#include <stdlib.h>
#include <stddef.h>

static int total;

void by_chars(int n, size_t m, unsigned char t, double *x, const double *y)
{
  long left = 2;
  /*@ begin PerfTuning ( def input_params { param n = 8; param m = 8; } ) @*/
  for (int i = 0; i < n; i++) {
    for (size_t k = 0; k < m; k++)
      left -= t;
    left++;
    for (int j = 0; j < n; j++)
      x[i * n + j] = (y[i] < 0 ? 2 : left) * y[j];
  }
  /*@ end @*/
}

int from_one(unsigned n, signed char s, double *x, const double *y)
{
  total = 3;
  /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/
  for (unsigned e = 1; e < n; e++) {
    x[e] = y[e] * 2;
    for (unsigned k = 0; k < 8; k++) {
      total += -(s);
      x[e] += y[k];
    }
  }
  /*@ end @*/
  return total;
}

void of_ints(unsigned n, int m, int step, size_t *x)
{
  /*@ begin PerfTuning ( def input_params { param n = 8; param m = 9; } ) @*/
  for (unsigned k = 0; k < n; k++)
    for (int j = 0; j < m; j++) {
      size_t sum = 0;
      for (unsigned i = 0; i < n; i++)
        sum += step;
      x[k * m + j] += sum;
    }
  /*@ end @*/
}

void of_shorts(unsigned n, int m, short step, long long *x, unsigned long long *y, unsigned *z)
{
  /*@ begin PerfTuning ( def input_params { param n = 8; param m = 9; } ) @*/
  for (int j = 0; j < m; j++) {
    long long sum = j;
    unsigned long long rest = j;
    unsigned word = 7;
    for (unsigned i = 1; i < n; i += 3) {
      sum -= step;
      rest += step;
      word = word - step;
    }
    x[j] = sum / 2;
    y[j] = rest / 2;
    z[j] = word / 2;
  }
  /*@ end @*/
}

void last_one(unsigned n, unsigned first, int m, double *x, const double *y)
{
  /*@ begin PerfTuning ( def input_params { param n = 8; param first = 1; param m = 9; } ) @*/
  for (int j = 0; j < m; j++) {
    unsigned i;
    for (i = first; i < n; i += 2)
      x[j * n + i] = y[i];
    x[m * n + j] = i;
  }
  /*@ end @*/
}

void squared(int n, int m, double *x, const double *y)
{
  /*@ begin PerfTuning ( def input_params { param n = 8; param m = 9; } ) @*/
  for (int j = 0; j < m; j++) {
    long i;
    for (i = 0; i < n; i++)
      x[i] = y[i];
    x[n + j] = i * i + j;
  }
  /*@ end @*/
}

void many_steps(int n, int m, int step, double *x)
{
  /*@ begin PerfTuning ( def input_params { param n = 8; param m = 9; param step = 2; } ) @*/
  for (int j = 0; j < m; j++) {
    long k = j;
    for (int i = 0; i < n; i++)
      k += step;
    x[j] = k * k;
  }
  /*@ end @*/
}

void down(unsigned n, int m, size_t most, double *x, double *y, const double *z)
{
  /*@ begin PerfTuning ( def input_params { param n = 8; param m = 9; param most = 8; } ) @*/
  for (unsigned i = n; i > 0; i--)
    x[i] = i - 10 + z[i];
  for (int j = 0; j < m; j++) {
    double sum = 0;
    unsigned k;
    for (k = n; k > 2; k -= 2)
      sum += z[k] * (k - 4);
    y[j] += sum + (k - 1);
  }
  for (unsigned long e = most; e >= 2; e--)
    y[e] += (e - 5) / 2;
  /*@ end @*/
}

void down_by(int first, long m, short step, double *x, const double *z)
{
  /*@ begin PerfTuning ( def input_params { param first = 8; param m = 9; } ) @*/
  for (long i = first; i >= 0; i--)
    x[i] = i * i + z[i];
  for (long j = 0; j < m; j++) {
    int t = j;
    for (unsigned u = 3; u < 9; u++)
      t -= step;
    x[j] += t;
  }
  /*@ end @*/
}

double ends(unsigned char m, int n, unsigned short k, double *x, double *y)
{
  unsigned i;
  unsigned long e;
  /*@ begin PerfTuning ( def input_params { param n = 8; param m = 6; param k = 1; } ) @*/
  for (int q = 0; q < 6; q++) {
    for (i = 1; i < (long)m - 1; ++i)
      y[q] += 1;
    x[q] += i;
  }
  for (e = k / 3; e <= abs(n); e++)
    x[e + 6] = e * 0.5;
  /*@ end @*/
  return i + 100.0 * e;
}

void halved(int *ld, double *restrict y, const unsigned *restrict r)
{
  /*@ begin PerfTuning ( def input_params { param ld = 7; } ) @*/
  for (long l = 0; l < *ld; l += 1)
    for (int e = 0; e < *ld; e++) {
      unsigned count = r[e + 3];
      for (int j = -2; j <= 9; j++)
        count = count - *ld;
      y[l * (*ld + 1) + e] += count / 2;
    }
  /*@ end @*/
}
