/* Macros of every kind that -D may change, in the region, its declarations and a header. */
#include <math.h>
#include "macro_texts.h"
#ifndef SCALE
# define SCALE (2.0 *3.0) /* c */ -1.0
#endif
#ifndef AT
#define AT(a,i,j) a[(i)*n+( j )]
#endif
#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif
#ifndef LOOP
#define LOOP(v, lo, hi) for(int v=(lo);v<(hi);v ++)
#endif
#ifndef STEP
#define STEP 2
#endif
#ifndef W
#define W 4
#endif
#ifndef MAXI
#define MAXI(a,b) ((a)>(b)?(a):(b))
#endif
#ifndef RST
#define RST restrict
#endif
#ifndef STR
#define STR "a\"b" 'c'
#endif
void f(int n, real_t *RST x, const REAL * RST y, double gain0)
{
  /*@ begin PerfTuning ( def input_params { param n = 12; } ) @*/
  LOOP(i, 0, n) {
    REAL t[W];
    for (int k = 0; k < 4; k++) t[k] = 0.5*k;
    for (int j = 0; j < n; j += STEP)
      AT(x,i,j) += GAIN(y[j]) * SCALE + M_PI + t[j%4] + MAXI(y[i], SETTLED);
  }
  /*@ end @*/
}
