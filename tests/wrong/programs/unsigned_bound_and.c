/* all targets, l = -1: C compares k < l as unsigned, so that 6 iterations run; the texts take min(l, 6) of ints: none runs */
#include <stddef.h>
void f(int l, double *restrict w)
{
    /*@ begin PerfTuning ( def input_params { param l = 7; } ) @*/
    for (unsigned k = 0; k < l && k < 6; k++) w[k] *= 2;
    /*@ end @*/
}

void unless(int n, double *restrict x, const double *restrict c)
{
  /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/
  if (c[3] > 0 && c[4] < 1) {
    for (size_t i = 0; i < n; i++)
      for (int j = 0; j < 3; j++)
        x[i] += c[j];
  }
  /*@ end @*/
}

void under_two(int n, int k, double *restrict x, double *restrict y, const double *c)
{
  /*@ begin PerfTuning ( def input_params { param n = 8; } ) @*/
  if (k > 0) {
    if (c[5] > 0)
      for (size_t i = 0; i < n; i++)
        x[i] += c[0];
  }
  for (size_t i = 0; i < n; i++)
    if (c[5] > 0)
      y[i] += 1;
  /*@ end @*/
}

void asked_later(int n, int m, int *restrict q, double *restrict y)
{
  /*@ begin PerfTuning ( def input_params { param n = 30; param m = 9; } def assume { arg whole = True; } ) @*/
  for (int i = 0; i < m; i++)
    if (7 / q[1] > 2)
      y[i] += 2;
  for (int i = 0; i < 4; i++)
    q[i] = 3;
  if (7 / q[1] > 2)
    for (int i = 0; i < n; i++)
      y[i] += 1;
  /*@ end @*/
}
