/* Types and declarations that -D decides, of what a region uses and of what it does not. */
#ifdef SINGLE
typedef float real;
#else
typedef double real;
#endif
#ifndef ONCE
#define ONCE
typedef real other;
#endif
#ifdef __cplusplus
#include "x.h"
#endif
struct g { int n; };
#if LEVEL > 3
extern double *weights;
#else
extern float weights[30];
#endif
#ifdef UNUSED
typedef int never;
#endif
void f(int n,
#ifdef RSTR
  other *restrict x,
#else
  other *x,
#endif
  const real *y)
{
  /*@ begin PerfTuning ( def input_params { param n = 12; } ) @*/
  for (int i = 0; i < n; i++) x[i] += weights[i%30]*y[i];
  /*@ end @*/
}
